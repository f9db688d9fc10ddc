"""The games' build: reproducible, truthful, and refusing what cannot work."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

GAMES = Path(__file__).resolve().parents[2] / "games"
needs_pasmo = pytest.mark.skipif(
    shutil.which("pasmo") is None, reason="pasmo is not installed (apt-get install pasmo)"
)


def load_build():
    """The build script as a module; games/ is no package."""
    spec = importlib.util.spec_from_file_location("games_build", GAMES / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


build = load_build()
NAMES = sorted(build.GAMES)


@needs_pasmo
def test_rebuild_equals_committed():
    assert build.check() == []


@needs_pasmo
def test_check_says_so_when_a_file_differs(tmp_path):
    copy = tmp_path / "games"
    shutil.copytree(GAMES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    toml = copy / "burrow.toml"
    toml.write_text(toml.read_text().replace("lives_addr", "lives_address"))
    done = subprocess.run(
        [sys.executable, copy / "build.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "differs from a fresh build: burrow.toml\n"


def test_without_pasmo_the_remedy_is_named():
    done = subprocess.run(
        [sys.executable, GAMES / "build.py", "--check"],
        capture_output=True,
        text=True,
        env={"PATH": ""},
    )
    assert done.returncode == 2
    assert done.stderr == "install pasmo (Debian: apt-get install pasmo)\n"


@needs_pasmo
@pytest.mark.parametrize("name", NAMES)
def test_truth_agrees_with_symbols(name, tmp_path):
    game = build.GAMES[name]
    _, symbols = build.assemble(game, game.defaults, tmp_path)
    facts = tomllib.loads((GAMES / f"{name}.toml").read_text())
    score = facts["score_addrs"]
    assert game.address(score[-1]) == symbols["SC_LS"]
    assert game.address(facts["hiscore_addrs"][-1]) == symbols["HI_LS"]
    assert game.address(facts["lives_addr"]) == symbols["LIVES_AT"]
    assert game.address(facts["level_addr"]) == symbols["level"]
    assert game.address(facts["mode_addr"]) == symbols["mode"]
    for mode in ("attract", "play", "over"):
        assert facts["modes"][mode] == symbols[f"MODE_{mode.upper()}"]
    assert score == sorted(score, reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_dat_describes_the_zip(name):
    lines = (GAMES / name / f"{name}.dat").read_text().splitlines()
    assert f"ZipName: {name}" in lines
    listed = {}
    for line in lines:
        if line.startswith('"'):
            file, size, crc, _ = line.split(", ")
            listed[file.strip('"')] = (int(size, 16), int(crc, 16))
    with zipfile.ZipFile(GAMES / name / f"{name}.zip") as archive:
        found = {i.filename: (i.file_size, i.CRC) for i in archive.infolist()}
        assert all(i.compress_type == zipfile.ZIP_STORED for i in archive.infolist())
    assert listed == found


def test_font_is_whole_and_no_two_glyphs_are_alike():
    assert set(build.FONT) == set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for rows in build.FONT.values():
        assert len(rows) == 7
        assert {len(row) for row in rows} == {5}
        assert set("".join(rows)) == {".", "#"}
    assert len({tuple(rows) for rows in build.FONT.values()}) == len(build.FONT)


@needs_pasmo
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ["bcd", "digits", "binary"])
@pytest.mark.parametrize("lsb_first", [True, False])
@pytest.mark.parametrize("drawn_zero", [True, False])
def test_variants_build(name, encoding, lsb_first, drawn_zero, tmp_path):
    (content, dat), facts = build.build_variant(
        name,
        tmp_path,
        "odd",
        score_at=0x300 if name == "skydrop" else 0xC11,
        score_encoding=encoding,
        lsb_first=lsb_first,
        drawn_zero=drawn_zero,
        lives_base=255,
    )
    assert content.exists() and dat.exists()
    run = facts["score_addrs"]
    assert run == sorted(run, reverse=lsb_first)
    assert facts["score_scale"] == (10 if drawn_zero else 1)


@needs_pasmo
@pytest.mark.parametrize(
    "choices",
    [{"score_at": 0}, {"score_at": 0x840}, {"lives_at": 0x424}, {"score_encoding": "gray"}],
)
def test_impossible_variants_are_refused(choices, tmp_path):
    with pytest.raises(build.BuildError):
        build.build_variant("burrow", tmp_path, **choices)
