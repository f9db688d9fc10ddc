"""``retrokit replay`` as it is typed: what holds, what does not, and what a movie becomes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrokit.cli import main
from retrokit.load import open_game
from retrokit.movie import Movie
from retrokit.vector import RetroVectorEnv

ROM = b"a game" * 2000  # large enough for an Atari cartridge's name
FILE = """\
game: three
system: sms
core: three
rom_sha1: {sha1}
score_addrs: [6, 7]
score_encoding: uint
start_buttons: [WAIT:3, START:1]
action_set: [[], [B], [A]]
terminated: "mode == 2"
variables:
  mode: {{addrs: [4]}}
"""


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_core: Callable[..., object]
) -> Path:
    """A folder with a core, a ROM, an integration and a movie of a game."""
    import hashlib

    found = fake_core("three", LENGTH=40)
    (tmp_path / "three_libretro.so").symlink_to(found.path)  # type: ignore[attr-defined]
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    monkeypatch.setenv("RETROKIT_ROMS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("three.sms").write_bytes(ROM)
    Path("three.yaml").write_text(FILE.format(sha1=hashlib.sha1(ROM).hexdigest()))
    env = RetroVectorEnv(open_game("three.yaml"), 1, noops=5)
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.ones(1, int))
    env.movie(0, {"seed": 1, "score": 131}).save(Path("a.movie"))
    env.close()
    return tmp_path


def test_what_holds_is_said_and_exit_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "a.movie"]) == 0
    out, err = capsys.readouterr()
    first, second = out.splitlines()
    assert first == "three on three 1, score 131, seed 1, frame skip 4"
    assert second.endswith("end in the same RAM")
    assert "warning" not in err
    assert main(["replay", "a.movie", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["ram_sha1"] == Movie.load(Path("a.movie")).ram_sha1
    assert facts["frames"] == Movie.load(Path("a.movie")).frames
    assert facts["facts"] == {"frame_skip": 4, "score": 131, "seed": 1}
    evaluated = {"return": 131.0, "steps": 5}  # as an evaluation's movies have it
    replace(Movie.load(Path("a.movie")), facts=evaluated).save(Path("b.movie"))
    assert main(["replay", "b.movie"]) == 0
    assert capsys.readouterr().out.startswith("three on three 1, score 131, steps 5\n")


def test_other_ram_is_exit_1_and_names_the_core(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    movie = Movie.load(Path("a.movie"))
    replace(movie, core_version="0.9").save(Path("older.movie"))
    assert main(["replay", "older.movie"]) == 0  # it holds all the same
    err = capsys.readouterr().err
    assert "warning: another core version: found 1; wanted 0.9" in err
    replace(movie, core_version="0.9", ram_sha1="0" * 40).save(Path("other.movie"))
    assert main(["replay", "other.movie"]) == 1
    err = capsys.readouterr().err
    line = [line for line in err.splitlines() if "RAM of three has sha1" in line]
    assert len(line) == 1 and "another core version: found 1; wanted 0.9" in line[0]


def test_mistakes_are_exit_2_and_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path("a.movie").read_bytes()
    Path("cut.movie").write_bytes(data[:-5])
    Path("other.sms").write_bytes(b"another")
    replace(Movie.load(Path("a.movie")), core="nowhere").save(Path("core.movie"))
    for arguments, line in (
        (["none.movie"], "there is no movie none.movie"),
        (["cut.movie"], "cut.movie is damaged"),
        (["three.yaml"], "three.yaml is no movie"),
        (["core.movie"], "nowhere"),
        (["a.movie", "other.sms"], "other.sms is another ROM than the movie's: found sha1"),
        (["a.movie", "--out", "a.avi"], "--out a.avi; wanted a name that ends in"),
        (["a.movie", "--integration", "three.yaml"], "--integration with a .movie"),
        (["a.bk2"], "a.bk2, which names no ROM; wanted --integration"),
        (["a.bk2", "--integration", "three.yaml"], "there is no .bk2 movie a.bk2"),
        (["a.movie", "--out", "nowhere/a.bk2"], "cannot write the movie nowhere/a.bk2"),
    ):
        assert main(["replay", *arguments]) == 2, arguments
        err = [text for text in capsys.readouterr().err.splitlines() if "replaying" not in text]
        assert len(err) == 1 and line in err[0], (arguments, err)
    Path("three.sms").unlink()
    assert main(["replay", "a.movie"]) == 2
    assert "no content of three in" in capsys.readouterr().err


def test_a_movie_is_filmed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av")
    assert main(["replay", "a.movie", "--out", "a.mp4", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["out"]
    movie = Movie.load(Path("a.movie"))
    assert (facts["frames"], facts["codec"]) == (movie.frames, "h264")
    assert Path("a.mp4").stat().st_size > 500
    assert main(["replay", "a.movie", "--out", "a.png", "--sound"]) == 2
    assert "--sound; wanted --out with an .mp4" in capsys.readouterr().err
    replace(movie, ram_sha1="0" * 40).save(Path("other.movie"))
    assert main(["replay", "other.movie", "--out", "other.mp4"]) == 1
    assert not Path("other.mp4").exists()


def test_a_movie_becomes_a_bk2_and_comes_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "a.movie", "--out", "a.bk2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "a.bk2, from a savestate"
    command = ["replay", "a.bk2", "--integration", "three.yaml", "--out", "b.movie"]
    assert main(command) == 0
    assert Movie.load(Path("b.movie")).ram_sha1 == Movie.load(Path("a.movie")).ram_sha1
