"""``retrokit doctor``: what of retrokit's surroundings is there, and what to do about the rest."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from ..errors import RetrokitError
from . import output


@dataclass(frozen=True)
class Check:
    """One line of the report.

    Attributes:
        name: What was looked for.
        ok: Whether it is there.
        found: What was found, in a few words.
        remedy: What to do when it is missing, or what goes without it.
        required: Whether nothing works without it.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""
    required: bool = False


def doctor(json: output.JsonOption = False) -> int:
    """Print every check; the exit code is 1 when something required is missing."""
    checks = [check() for check in CHECKS]
    healthy = all(check.ok for check in checks if check.required)
    if json:
        rows = [asdict(check) | ({"remedy": ""} if check.ok else {}) for check in checks]
        output.print_json({"retrokit": __version__, "healthy": healthy, "checks": rows})
    else:
        for check in checks:
            state = "ok" if check.ok else "MISSING" if check.required else "missing"
            print(f"{state:<8}{check.name:<11}{check.found}")
            if not check.ok:
                print(f"{'':<19}→ {check.remedy}")
    return 0 if healthy else 1


def _python() -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    return Check("python", sys.version_info >= (3, 11), found, "needs 3.11 or newer", True)


def _host() -> Check:
    try:
        import_module("retrokit.core")
    except (ImportError, RetrokitError) as error:
        remedy = "build it: pip install -e . (needs gcc and the Python headers: python3-dev)"
        return Check("host", False, str(error), remedy, True)
    return Check("host", True, "retrokit._host loads", required=True)


def _compiler() -> Check:
    path = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    remedy = "needed only to rebuild the host; Debian and Ubuntu: apt-get install gcc"
    return Check("compiler", path is not None, path or "neither gcc nor cc", remedy)


def _cores() -> Check:
    from ..systems import found_cores

    found = found_cores()
    folders = sorted({str(core.path.parent) for core in found})
    text = f"{len(found)} in {', '.join(folders)}" if found else "none"
    return Check("cores", bool(found), text, "pip install '.[cores]'; retrokit cores", True)


def _roms() -> Check:
    from ..content import rom_folders

    named = [
        Path(entry) for entry in os.environ.get("RETROKIT_ROMS", "").split(os.pathsep) if entry
    ]
    if absent := [str(folder) for folder in named if not folder.is_dir()]:
        return Check("roms", False, f"no folder {', '.join(absent)}", "correct RETROKIT_ROMS")
    folders = [str(folder) for folder in rom_folders()]
    remedy = "set RETROKIT_ROMS to folders with ROMs; for Atari: pip install '.[atari]'"
    return Check("roms", bool(folders), ", ".join(folders) or "no folder with ROMs", remedy)


def _torch() -> Check:
    found = _distribution("torch")
    remedy = "needed only to train; pip install '.[train]'"
    return Check("torch", found is not None, found or "not installed", remedy)


def _gpu() -> Check:
    remedy = "training runs on the CPU"
    if tool := shutil.which("nvidia-smi"):
        names = subprocess.run(
            [tool, "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        if names.returncode == 0 and names.stdout.strip():
            return Check("gpu", True, ", ".join(names.stdout.strip().splitlines()))
    return Check("gpu", False, "no NVIDIA GPU answers", remedy)


def _video() -> Check:
    return _extra("video", "av", "films")


def _pygame() -> Check:
    return _extra("watch", "pygame-ce", "retrokit watch in a window")


def _extra(name: str, distribution: str, use: str) -> Check:
    """Look for what an extra brings."""
    found = _distribution(distribution)
    text = f"{distribution} {found}" if found else "not installed"
    return Check(name, found is not None, text, f"needed only for {use}; pip install '.[{name}]'")


def _display() -> Check:
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    return Check("display", bool(display), display or "none", "needed only to watch live play")


def _distribution(name: str) -> str | None:
    """Return the version of an installed distribution without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


CHECKS: tuple[Callable[[], Check], ...] = (
    _python, _compiler, _host, _cores, _roms, _torch, _gpu, _video, _pygame, _display,
)  # fmt: skip
