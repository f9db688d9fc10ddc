"""cores.toml holds what its readers expect, and cores are found in the stated order."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from retrokit import systems
from retrokit.errors import CoreNotFound, UserError
from retrokit.systems import CoreSpec, core_for, core_specs, find_core

SUFFIX = systems._SUFFIX

# Asks every core of a folder what it loads, in a process of its own: cores run code when loaded.
ASK = """
import ctypes, json, pathlib, sys
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "version", "extensions")]
    _fields_ += [("full", ctypes.c_bool), ("block", ctypes.c_bool)]
found = {}
for path in map(pathlib.Path, sys.argv[1:]):
    info = Info()
    ctypes.CDLL(str(path)).retro_get_system_info(ctypes.byref(info))
    found[path.stem] = info.extensions.decode().split("|")
print(json.dumps(found))
"""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders, searched in order, as the only places where cores lie."""
    places = [tmp_path / "first", tmp_path / "second"]
    for place in places:
        place.mkdir()
    monkeypatch.setattr(systems, "search_folders", lambda: [(p.name, p) for p in places])
    return places


def put(folder: Path, stem: str) -> Path:
    path = folder / f"{stem}{SUFFIX}"
    path.write_bytes(b"a core")
    return path


@pytest.mark.parametrize("name", core_specs())
def test_table_of_cores_toml(name: str) -> None:
    spec = core_specs()[name]
    assert spec.files
    assert all(file.endswith("_libretro") for file in spec.files)
    assert spec.systems
    assert set(spec.systems) <= systems.SYSTEMS.keys()
    assert spec.quirks <= systems.QUIRKS.keys()
    assert spec.memory in {"regions", "savestate"}
    assert all(ext == ext.lower().lstrip(".") for ext in spec.extensions)
    assert spec.title and spec.licence and spec.get
    assert spec.source.startswith("https://")


def test_cores_toml_has_no_unread_key() -> None:
    tables = tomllib.loads(systems.data_path("cores.toml").read_text())
    known = {field.name for field in fields(CoreSpec)} - {"name"}
    assert {key for table in tables.values() for key in table} <= known


def test_extensions_are_what_the_cores_say() -> None:
    wheel = [core for core in systems.found_cores() if core.where == "stable-retro wheel"]
    if not wheel:
        pytest.skip("the stable-retro wheel is not installed")
    assert all(core.spec.source for core in wheel), "a core of the wheel is not in cores.toml"
    command = [sys.executable, "-c", ASK, *(str(core.path) for core in wheel)]
    answer = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    told = json.loads(answer.splitlines()[-1])
    said = {core.path.stem: list(core.spec.extensions) for core in wheel}
    assert {stem: sorted(exts) for stem, exts in said.items()} == {
        stem: sorted(exts) for stem, exts in told.items()
    }


def test_commercial_use_is_said_to_be_barred() -> None:
    for name in ("fbneo", "genesis_plus_gx", "snes9x", "picodrive", "mame2003_plus"):
        assert "non-commercial" in core_specs()[name].licence


def test_folders_come_in_the_stated_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    retroarch = tmp_path / "retroarch" / "cores"
    retroarch.mkdir(parents=True)
    monkeypatch.setenv("RETROKIT_CORES", f"{tmp_path / 'a'}{systems.os.pathsep}{tmp_path / 'b'}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(systems, "package_folder", lambda *_: tmp_path / "wheel")
    places = systems.search_folders()
    kinds = [kind for kind, _ in places if kind != "Debian"]
    assert kinds[:4] == ["RETROKIT_CORES", "RETROKIT_CORES", "stable-retro wheel", "RetroArch"]
    assert [folder for _, folder in places][:3] == [tmp_path / name for name in ("a", "b", "wheel")]
    assert retroarch in [folder for _, folder in places]


def test_wheels_are_read_and_never_imported() -> None:
    code = (
        "import sys; from retrokit import systems; systems.found_cores();"
        "systems.package_folder('ale-py', 'ale_py/roms/*.bin');"
        "print({'stable_retro', 'ale_py', 'numpy'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "set()\n"


def test_a_wheel_that_is_not_there() -> None:
    assert systems.package_folder("no-such-distribution", "*") is None


@pytest.mark.parametrize(
    "name", ["fbneo", "FBNeo", "fbneo_libretro", f"fbneo_libretro{SUFFIX}", "fbneo-libretro"]
)
def test_names_of_a_core(folders: list[Path], name: str) -> None:
    later = put(folders[1], "fbneo_libretro")
    assert find_core(name).path == later
    first = put(folders[0], "fbneo_libretro")
    found = find_core(name)
    assert (found.path, found.where, found.spec.name) == (first, "first", "fbneo")


def test_beetle_is_the_new_name_of_mednafen(folders: list[Path]) -> None:
    put(folders[0], "mednafen_psx_libretro")
    assert find_core("beetle-psx").spec is core_specs()["mednafen_psx"]


def test_core_by_path(tmp_path: Path, folders: list[Path]) -> None:
    known = find_core(put(tmp_path, "stella_libretro"))
    assert (known.spec.name, known.where) == ("stella", "given path")
    unknown = find_core(str(put(tmp_path, "fake_nomem_libretro")))
    assert (unknown.spec.name, unknown.spec.systems) == ("fake_nomem", ())


def test_core_unknown_to_cores_toml_is_found_by_name(folders: list[Path]) -> None:
    path = put(folders[1], "homemade_libretro")
    assert find_core("homemade").path == path
    assert [core.spec.name for core in systems.found_cores()] == ["homemade"]


def test_missing_core_says_how_to_get_it(folders: list[Path]) -> None:
    put(folders[0], "stella_libretro")
    with pytest.raises(CoreNotFound) as caught:
        find_core("fbneo")
    assert f"fbneo_libretro{SUFFIX}" in caught.value.wanted
    assert "'.[cores]'" in caught.value.remedy
    assert "Present: stella" in caught.value.remedy
    assert caught.value.exit_code == 2


def test_misspelt_core_and_missing_path(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(CoreNotFound, match="Did you mean fbneo"):
        find_core("fbnoe")
    with pytest.raises(CoreNotFound, match="no core file"):
        find_core(tmp_path / "gone_libretro.so")
    with pytest.raises(CoreNotFound, match="No core is present"):
        find_core("zzz")


def test_preferred_core_of_a_system(folders: list[Path]) -> None:
    put(folders[0], "picodrive_libretro")
    assert core_for("genesis").spec.name == "picodrive"
    put(folders[1], "genesis_plus_gx_libretro")
    assert core_for("GENESIS").spec.name == "genesis_plus_gx"
    assert core_for("32x").spec.name == "picodrive"
    present = [core.spec.name for core in systems.found_cores()]
    assert present == ["genesis_plus_gx", "picodrive"]
    missing = [spec.name for spec in systems.missing_cores()]
    assert sorted(present + missing) == sorted(core_specs())


def test_no_core_for_a_system(folders: list[Path]) -> None:
    with pytest.raises(CoreNotFound, match="libretro-beetle-psx"):
        core_for("psx")
    with pytest.raises(CoreNotFound, match="--system"):
        core_for(systems.UNKNOWN_SYSTEM)


@pytest.mark.parametrize(
    ("name", "meant"), [("megadrive", "genesis"), ("Super Nintendo", "snes"), ("gameboy", "gb")]
)
def test_unknown_system_suggests_the_one_meant(name: str, meant: str) -> None:
    with pytest.raises(UserError, match=f"Did you mean {meant}"):
        systems.check_system(name)


def test_every_system_has_a_core() -> None:
    emulated = {system for spec in core_specs().values() for system in spec.systems}
    assert emulated == systems.SYSTEMS.keys()


def test_data_lies_in_the_package_or_in_the_checkout(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert systems.data_path("cores.toml") == repo / "cores.toml"
    installed = tmp_path / "site-packages" / "retrokit"
    (installed / "data" / "games").mkdir(parents=True)
    (installed.parent / "integrations").mkdir()  # somebody else's
    monkeypatch.setattr(systems.importlib.resources, "files", lambda _: installed)
    assert systems.data_path("games") == installed / "data" / "games"
    assert systems.data_path("integrations") == installed / "data" / "integrations"
