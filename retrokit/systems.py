"""Systems and cores: what ``cores.toml`` says, and which core files this machine has.

A *system* is the emulated machine (``nes``, ``arcade``); a *core* is a libretro library that
emulates one or more of them. Cores are data: a new core is one table in ``cores.toml``.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.resources
import os
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

from retrokit.errors import CoreNotFound, UserError

SYSTEMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "arcade": ("Arcade", ()),
    "atari2600": ("Atari 2600", (".a26",)),
    "atari7800": ("Atari 7800", (".a78",)),
    "lynx": ("Atari Lynx", (".lnx", ".lyx")),
    "nes": ("Nintendo Entertainment System / Famicom", (".nes", ".fds", ".unf", ".unif")),
    "snes": ("Super Nintendo / Super Famicom", (".sfc", ".smc", ".swc", ".fig")),
    "n64": ("Nintendo 64", (".z64", ".n64", ".v64")),
    "gb": ("Game Boy", (".gb", ".dmg")),
    "gbc": ("Game Boy Color", (".gbc", ".cgb")),
    "gba": ("Game Boy Advance", (".gba", ".agb")),
    "nds": ("Nintendo DS", (".nds",)),
    "vb": ("Virtual Boy", (".vb", ".vboy")),
    "genesis": ("Sega Genesis / Mega Drive", (".md", ".gen", ".smd", ".68k", ".sgd")),
    "32x": ("Sega 32X", (".32x",)),
    "segacd": ("Sega CD / Mega-CD", ()),
    "saturn": ("Sega Saturn", ()),
    "sms": ("Sega Master System / Mark III", (".sms",)),
    "gamegear": ("Sega Game Gear", (".gg",)),
    "sg1000": ("Sega SG-1000", (".sg", ".sc")),
    "pce": ("PC Engine / TurboGrafx-16", (".pce",)),
    "ngp": ("Neo Geo Pocket / Color", (".ngp", ".ngc", ".ngpc")),
    "wswan": ("WonderSwan / Color", (".ws", ".wsc")),
    "psx": ("Sony PlayStation", (".exe",)),
}
"""Name of each system: its title, and the file extensions that belong to it alone."""

UNKNOWN_SYSTEM = "unknown"
"""The system of content that neither its bytes nor its extension tell."""

QUIRKS = {
    "own_process": "private copies in one process disturb one another: one process each",
    "no_reload": "unload then load crashes: close the core and open a fresh copy",
    "one_init": "a second retro_init in one loaded image crashes",
    "hardware_render": "needs hardware rendering, which the host refuses",
    "needs_bios": "refuses or crashes without its BIOS in the system directory",
    "true_on_refusal": "retro_load_game says true when it refused; SYSTEM_RAM of size 0 tells",
    "word_swapped": "the RAM of its 68000 systems has the bytes of each 16-bit word swapped",
    "in_place": "the memory in its savestate lies in its own data, and is read there",
    "not_repeatable": "the same inputs give different runs",
}
"""Every quirk ``cores.toml`` may name, and what it means."""

_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


@dataclass(frozen=True, slots=True)
class CoreSpec:
    """What we know of a core.

    Attributes:
        name: Our name for it, such as ``fbneo``.
        title: The name people know it by.
        files: File stems to look for, such as ``fbneo_libretro``, best first.
        systems: Keys of ``SYSTEMS`` it emulates; empty when unknown.
        extensions: File extensions it loads, lower case, without the dot.
        options: Core options we set instead of the core's own defaults.
        memory: ``regions``, or ``savestate`` when it offers no RAM but in its savestate.
        quirks: Keys of ``QUIRKS``.
        licence: Its licence; says so where commercial use is not allowed.
        source: Where its source code is.
        get: How to get it, one line.
    """

    name: str
    title: str
    files: tuple[str, ...]
    systems: tuple[str, ...]
    extensions: tuple[str, ...]
    options: dict[str, str]
    memory: Literal["regions", "savestate"]
    quirks: frozenset[str]
    licence: str
    source: str
    get: str


@dataclass(frozen=True, slots=True)
class FoundCore:
    """A core file on this machine.

    Attributes:
        spec: What we know of it.
        path: The core's library file.
        where: The kind of place it was found in, such as ``stable-retro wheel``.
    """

    spec: CoreSpec
    path: Path
    where: str


def data_path(name: str) -> Path:
    """Return where a file or folder of ours lies: ``cores.toml``, ``integrations``, ``games``.

    An installed package carries them in ``retrokit/data``; a checkout has them in its root.
    The path need not exist.
    """
    package = Path(str(importlib.resources.files("retrokit")))
    packaged = package / "data" / name
    checkout = package.parent
    if not packaged.exists() and (checkout / "pyproject.toml").is_file():
        return checkout / name
    return packaged


def shipped_integrations() -> dict[str, Path]:
    """Return name → file of the integrations that ship."""
    return {path.stem: path for path in sorted(data_path("integrations").rglob("*.yaml"))}


@cache
def package_folder(distribution: str, pattern: str) -> Path | None:
    """Return the folder of the first file of an installed distribution that matches.

    Only the package metadata is read: nothing of the package is imported.

    Args:
        distribution: Name of the distribution, such as ``stable-retro``.
        pattern: Glob over its files, such as ``*/cores/*_libretro.so``.
    """
    try:
        package = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    # The raw list: stable-retro has 6,000 files, and a path object for each takes half a second.
    listed = (package.read_text("RECORD") or "").splitlines()
    names = (line.split(",", 1)[0].strip('"') for line in listed)
    hit = next((name for name in names if fnmatchcase(f"/{name}", f"*/{pattern}")), None)
    folder = Path(str(package.locate_file(hit))).parent if hit else None
    return folder if folder and folder.is_dir() else None


@cache
def core_specs() -> dict[str, CoreSpec]:
    """Return every core of ``cores.toml`` by name, the preferred one of each system first."""
    tables = tomllib.loads(data_path("cores.toml").read_text(encoding="utf-8"))
    return {name: _spec(name, table) for name, table in tables.items()}


def _spec(name: str, table: dict[str, Any]) -> CoreSpec:
    """Return one table of ``cores.toml`` as a spec; ``KeyError`` names a missing key."""
    return CoreSpec(
        name=name,
        title=table["title"],
        files=tuple(table.get("files", (f"{name}_libretro",))),
        systems=tuple(table["systems"]),
        extensions=tuple(table["extensions"]),
        options=dict(table.get("options", {})),
        memory=table.get("memory", "regions"),
        quirks=frozenset(table.get("quirks", ())),
        licence=table["licence"],
        source=table["source"],
        get=table["get"],
    )


def _generic(stem: str) -> CoreSpec:
    """Return a spec for a core file that ``cores.toml`` does not know."""
    name = stem.removesuffix("_libretro")
    return CoreSpec(name, name, (stem,), (), (), {}, "regions", frozenset(), "unknown", "", "")


def search_folders() -> list[tuple[str, Path]]:
    """Return ``(kind of place, folder)`` in the order searched.

    Folders of ``RETROKIT_CORES`` are listed as given; the others only where they exist.
    """
    given = os.environ.get("RETROKIT_CORES", "").split(os.pathsep)
    folders = [("RETROKIT_CORES", Path(entry)) for entry in given if entry]
    if wheel := package_folder("stable-retro", f"*/cores/*_libretro{_SUFFIX}"):
        folders.append(("stable-retro wheel", wheel))
    triplet = sysconfig.get_config_var("MULTIARCH") or "*"  # a foreign core would not load
    shared = [*sorted(Path("/usr/lib").glob(f"{triplet}/libretro")), Path("/usr/lib/libretro")]
    folders += [("Debian", folder) for folder in shared if folder.is_dir()]
    home = Path(os.path.expanduser("~"))
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    flatpak = home / ".var/app/org.libretro.RetroArch/config"
    own = [config / "retroarch/cores", flatpak / "retroarch/cores"]
    if sys.platform == "win32":
        own.append(Path(os.environ.get("APPDATA", home)) / "RetroArch/cores")
    elif sys.platform == "darwin":
        own.append(home / "Library/Application Support/RetroArch/cores")
    return folders + [("RetroArch", folder) for folder in own if folder.is_dir()]


def check_system(name: str) -> str:
    """Return the system's name as ``SYSTEMS`` spells it.

    Raises:
        UserError: There is no such system; close names are suggested.
    """
    wanted = name.strip().lower()
    if wanted in SYSTEMS:
        return wanted
    squeezed = _squeeze(name)
    close = [key for key, (title, _) in SYSTEMS.items() if squeezed and squeezed in _squeeze(title)]
    close += [key for key in difflib.get_close_matches(wanted, SYSTEMS) if key not in close]
    raise UserError(
        f"no system is called {name!r}",
        "one of " + ", ".join(SYSTEMS),
        _did_you_mean(close),
    )


def find_core(name_or_path: str | Path) -> FoundCore:
    """Find a core by name (``fbneo``, ``beetle-psx``) or by the path of its library file.

    Raises:
        CoreNotFound: It is not on this machine; says what is, and how to get it.
    """
    text = str(name_or_path)
    path = Path(name_or_path)
    if path.suffix in {".so", ".dll", ".dylib"} or path.name != text:
        if path.is_file():
            return FoundCore(_known(path.stem) or _generic(path.stem), path, "given path")
        if path.name != text:
            raise CoreNotFound(
                f"there is no core file {text}", "a libretro library or a core's name", _present()
            )
    spec: CoreSpec | None = _known(path.stem)
    for where, folder in search_folders():
        for stem in spec.files if spec else (f"{path.stem}_libretro", path.stem):
            file = folder / f"{stem}{_SUFFIX}"
            if file.is_file():
                return FoundCore(spec or _generic(stem), file, where)
    if spec is None:
        close = difflib.get_close_matches(_key(text), core_specs())
        raise CoreNotFound(f"no core is called {text!r}", "", _did_you_mean(close) or _present())
    raise CoreNotFound(
        f"the core {spec.name} ({spec.title}) is not on this machine",
        " or ".join(f"{stem}{_SUFFIX}" for stem in spec.files),
        f"Get it: {spec.get}. {_present()}",
    )


def core_for(system: str) -> FoundCore:
    """Return the preferred core for a system among those present.

    Raises:
        UserError: There is no such system.
        CoreNotFound: No core for it is present (says how to get one), or the system is
            ``unknown`` (says how to name it).
    """
    if system == UNKNOWN_SYSTEM:
        raise CoreNotFound(
            "neither its bytes nor its name tell which system this content is for",
            "a system or a core",
            "Give --system NAME or --core NAME.",
        )
    system = check_system(system)
    specs = [spec for spec in core_specs().values() if system in spec.systems]
    for spec in specs:
        for where, folder in search_folders():
            for stem in spec.files:
                if (file := folder / f"{stem}{_SUFFIX}").is_file():
                    return FoundCore(spec, file, where)
    ways = "; ".join(f"{spec.name}: {spec.get}" for spec in specs)
    raise CoreNotFound(
        f"no core for {SYSTEMS[system][0]} is on this machine",
        "one of " + ", ".join(spec.name for spec in specs),
        f"Get one: {ways}." if specs else "No core we know emulates it; give --core FILE.",
    )


def found_cores() -> list[FoundCore]:
    """Return the cores on this machine, one a name: those of ``cores.toml``, then unknown ones."""
    found: dict[str, FoundCore] = {}
    for where, folder in search_folders():
        for file in sorted(folder.glob(f"*_libretro{_SUFFIX}")):
            spec = _known(file.stem) or _generic(file.stem)
            found.setdefault(spec.name, FoundCore(spec, file, where))
    known = [found.pop(name) for name in core_specs() if name in found]
    return known + list(found.values())


def missing_cores() -> list[CoreSpec]:
    """Return the cores of ``cores.toml`` that are not on this machine."""
    present = {core.spec.name for core in found_cores()}
    return [spec for spec in core_specs().values() if spec.name not in present]


def _key(name: str) -> str:
    """Return a core's name in one spelling; libretro renamed Mednafen's cores to Beetle."""
    name = name.lower().replace("-", "_").removesuffix("_libretro")
    return name.replace("beetle_", "mednafen_", 1)


def _known(name: str) -> CoreSpec | None:
    """Return the spec whose name or file stem this is."""

    def spellings() -> Iterator[tuple[str, CoreSpec]]:
        for spec in core_specs().values():
            for spelling in (spec.name, *spec.files):
                yield _key(spelling), spec

    return dict(spellings()).get(_key(name))


def _squeeze(name: str) -> str:
    """Return only the letters and digits of a name, lower case."""
    return "".join(char for char in name.lower() if char.isalnum())


def _did_you_mean(names: list[str]) -> str:
    """Return a question that offers the names, or nothing."""
    return f"Did you mean {' or '.join(names[:3])}?" if names else ""


def _present() -> str:
    """Return a sentence naming the cores present."""
    names = [core.spec.name for core in found_cores()]
    if names:
        return f"Present: {', '.join(names)}."
    return "No core is present: pip install '.[cores]', or set RETROKIT_CORES to a folder."
