"""The wheel: what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import retrokit

REPO = Path(__file__).parent.parent


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command and return what it printed; its errors when it fails."""
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("name", retrokit.__all__)
def test_public_names_load_at_their_first_use(name: str) -> None:
    assert getattr(retrokit, name) is not None
    assert name in dir(retrokit)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Cor'"):
        retrokit.Cor  # noqa: B018


@pytest.mark.parametrize(
    ("fails_on", "line"),
    [
        ("version_info", "3.10.1 is too old; wanted 3.11 or newer: make PYTHON=python3.12 …"),
        ("ensurepip", "cannot make virtual environments. On Debian or Ubuntu: apt-get install"),
        ("Python.h", "are not installed. On Debian or Ubuntu: apt-get install python3-dev"),
        ("no compiler", "there is no C compiler. On Debian or Ubuntu: apt-get install gcc"),
        ("no python", "python3. On Debian or Ubuntu: apt-get install python3"),
    ],
)
def test_make_says_what_a_bare_machine_lacks(tmp_path: Path, fails_on: str, line: str) -> None:
    python = tmp_path / "python3"
    if fails_on != "no python":
        script = 'case "$*" in *--version*) echo Python 3.10.1 ;; *"$FAILS_ON"*) exit 1 ;; esac'
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    env = os.environ | {"FAILS_ON": fails_on}
    if fails_on == "no compiler":
        env["CC"] = "nocc"
    command = ["make", "-f", REPO / "Makefile", f"PYTHON={python}", ".venv/bin/pip"]
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert result.returncode == 2
    first, *rest = result.stderr.splitlines()
    assert first.startswith("retrokit: error: ") and line in first
    assert len(rest) == 1  # make's own


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, without what lies about in a working tree."""
    copy = tmp_path_factory.mktemp("source")
    listing = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=REPO)
    for name in listing.splitlines():
        if (REPO / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built without the network."""
    target = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", target, ".", cwd=source)
    return next(target.glob("retrokit-*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_the_data_and_nothing_else(
    source: Path, wheel: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    compiled = {name for name in names if name.startswith("retrokit/_host.")}
    code = {str(path.relative_to(source)) for path in (source / "retrokit").rglob("*.py")}
    games = [f"games/{name}/*.{kind}" for name in ("burrow", "skydrop") for kind in ("zip", "dat")]
    patterns = ("cores.toml", "integrations/**/*.yaml", *games)  # no variants: they are for tests
    data = {
        f"retrokit/data/{path.relative_to(source)}"
        for pattern in patterns
        for path in source.glob(pattern)
    }
    assert len(compiled) == 1
    assert names - compiled == code | data | {"retrokit/py.typed", "retrokit/views/report.css"}
    assert "retrokit/data/games/burrow/burrow.zip" in data  # the demo's game


@pytest.mark.slow
def test_an_installed_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    options = ("--no-deps", "--no-index", "--quiet")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, cwd=tmp_path)
    # Lends the dependencies of this environment; .pth files there, so its retrokit, stay out.
    paths = {"base": str(tmp_path / "venv"), "platbase": str(tmp_path / "venv")}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")

    version = run(tmp_path / "venv/bin/retrokit", "--version", cwd=tmp_path)
    assert version == f"retrokit {retrokit.__version__}\n"
    code = (
        "import retrokit.core; from retrokit.systems import core_specs, data_path;"
        "assert core_specs(); print(data_path('games/burrow/burrow.zip'), retrokit.core.__file__)"
    )
    game, module = run(python, "-I", "-c", code, cwd=tmp_path).split()
    for path in (game, module):
        assert Path(path).is_file() and Path(path).is_relative_to(tmp_path)
