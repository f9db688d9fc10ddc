"""``retrokit ramsearch``: our own games and their variants found, and nothing ever lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrokit.cli import main, ramsearch
from retrokit.cli.ramsearch_table import why
from retrokit.core import Span
from retrokit.discovery.answer import Settings
from retrokit.discovery.search import search
from retrokit.discovery.tape import Origin, Tape
from retrokit.errors import CoreNotFound
from retrokit.systems import core_for

REPO = Path(__file__).resolve().parents[2]
GAMES = REPO / "games"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def arcade() -> None:
    try:
        core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command in an empty folder; returns exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def call(*args: object) -> tuple[int, str, str]:
        code = main(["ramsearch", *map(str, args)])
        return code, *capsys.readouterr()

    return call


# -- mistakes, all before any core runs -----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["burow"], "Did you mean burrow"),
        (["./burrow.zip"], "there is no file"),
        (["burrow", "--core", "fbneoo"], "Did you mean fbneo?"),
        (["burrow", "--system", "arcad"], "Did you mean arcade?"),
        (["burrow", "--actions", "UP,FIRE"], "unknown button 'FIRE'"),
        (["burrow", "--actions", "UP,,B"], "unknown button ''"),
        (["burrow", "--start", "COIN:4"], "COIN"),
        (["burrow", "--frames", "10"], "--frames"),
        (["burrow", "--seed", "-1"], "--seed"),
        (["burrow", "--rom-dir", "nowhere"], "there is no folder nowhere"),
        (["burrow", "--out", "nowhere/a.yaml"], "cannot write into nowhere"),
        (["burrow", "--record", "nowhere/a.npz"], "cannot write into nowhere"),
        (["burrow", "--out", "."], ". is a folder"),
        (["burrow", "--resume", "a.npz"], "there is no recording a.npz"),
        (["burrow", "--resume", "a.npz", "--seed", "1"], "--seed and --resume together"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else "",
)
def test_mistakes_are_told_at_once(arcade: None, run: Run, args: list[str], said: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1
    code, out, _ = run(*args, "--json")
    assert code == 2
    assert set(json.loads(out)) == {"error"}


@pytest.mark.parametrize(("option", "name"), [("--out", "mine"), ("--record", "mine.npz")])
def test_existing_files_are_kept(
    arcade: None, run: Run, tmp_path: Path, option: str, name: str
) -> None:
    (tmp_path / name).write_text("by hand")
    code, _, err = run("burrow", option, name)
    wanted = f"{name} is kept; wanted a new file. Give --force or another {option}"
    assert code == 2 and wanted in err
    assert (tmp_path / name).read_text() == "by hand"
    (tmp_path / "burrow.yaml").touch()
    assert run("burrow")[0] == 2


def test_a_recording_has_its_suffix(arcade: None, run: Run) -> None:
    """Under another name it could not be opened again."""
    code, _, err = run("burrow", "--record", "mine.rec")
    assert code == 2 and "a name that ends in .npz" in err


def test_the_game_itself_is_no_place_to_write(arcade: None, run: Run, tmp_path: Path) -> None:
    for suffix in (".zip", ".dat"):
        shutil.copy(GAMES / "burrow" / f"burrow{suffix}", tmp_path)
    code, _, err = run("burrow.zip", "--out", "burrow.zip", "--force")
    assert code == 2 and "is the game itself" in err


def test_content_that_is_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing to play")
    (tmp_path / "empty.nes").touch()
    assert run("notes.txt")[0] == 2
    assert run("empty.nes")[0] == 2
    assert run(tmp_path)[0] == 2


def test_a_core_that_refuses_the_content(arcade: None, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.nes").write_bytes(b"NES\x1a\x01\x01" + bytes(10 + 16384 + 8192))
    code, out, err = run("a.nes", "--core", "fbneo", "--json")
    answer = json.loads(out)
    assert code == 1 and "Traceback" not in err
    assert (answer["candidates"], answer["scored"]) == ([], False)
    assert answer["error"]["type"] == "LoadRefused"
    assert not (tmp_path / "a.yaml").exists()


def test_a_rom_folder_comes_first(arcade: None, run: Run, tmp_path: Path) -> None:
    roms = tmp_path / "roms" / "below"
    roms.mkdir(parents=True)
    (roms / "burrow.zip").write_bytes(b"no zip at all")
    code, _, err = run("burrow", "--rom-dir", tmp_path / "roms", "--start", "WAIT:9", "--out", ".")
    assert code == 2 and "is a folder" in err  # what cannot be used is passed over


# -- what is kept when the child dies, or the user has enough --------------------------------------

ORIGIN = Origin(
    "0" * 40, "fbneo", "1", (Span("SYSTEM_RAM", 0, 2),), 0, 9000, ("WAIT:60",), ((), ("B",)),
    ("B",), b"state",
)  # fmt: skip


def two_episodes(emit: Callable[[Any], None]) -> None:
    emit(("stage", "playing at random", 0.5))
    emit(("origin", ORIGIN))
    for number in range(2):
        ram = np.full((5, 2), number, np.uint8)
        emit(("episode", number, np.arange(2, dtype=np.int32), np.zeros(5, np.uint16), ram))


def dies(emit: Callable[[Any], None], *_: Any) -> None:
    two_episodes(emit)
    os.kill(os.getpid(), signal.SIGSEGV)


def is_interrupted(emit: Callable[[Any], None], *_: Any) -> None:
    two_episodes(emit)
    emit(("nothing", bytes(4 << 20)))  # more than a pipe holds: what came before has been read
    os.kill(os.getppid(), signal.SIGINT)
    signal.pause()


def is_interrupted_early(emit: Callable[[Any], None], *_: Any) -> None:
    emit(("stage", "finding the start", 0.1))
    os.kill(os.getppid(), signal.SIGINT)
    signal.pause()


def dies_late(emit: Callable[[Any], None], *given: Any) -> Any:
    module = sys.modules["retrokit.discovery.search"]
    module.find_more = lambda *_: os.kill(os.getpid(), signal.SIGSEGV)  # type: ignore[attr-defined]
    return search(emit, *given)


def test_a_crash_in_what_comes_last_costs_neither_score_nor_lives(
    arcade: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3-D Tic-Tac-Toe brought Stella down while a bar of energy was looked for."""
    monkeypatch.setattr(ramsearch_module(), "search", dies_late)
    code, out, err = run("burrow", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["candidates"][0]["grade"] == "proved"
    assert answer["lives"]["grade"] == "proved"
    assert "SIGSEGV" in err and "score and lives were found before" in err
    assert (tmp_path / "burrow.yaml").exists()


def fails_late(emit: Callable[[Any], None], *_: Any) -> None:
    two_episodes(emit)
    emit(("answer", "score and lives"))
    raise ValueError("a bug of ours")


def test_a_bug_in_what_comes_last_is_no_crash_of_the_core(
    arcade: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ramsearch_module(), "search", fails_late)
    code, _, err = run("burrow")
    assert code == 1 and "a bug of ours" in err and "found before" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["burrow.recording.npz"]


@pytest.mark.parametrize("named", [(), ("--record", "mine.npz")], ids=["", "named"])
def test_a_crash_keeps_the_recording(
    arcade: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ramsearch_module(), "search", dies)
    file = named[1] if named else "burrow.recording.npz"
    code, out, err = run("burrow", "--json", *named)
    answer = json.loads(out)
    assert code == 1
    assert (answer["error"]["type"], answer["recording"]) == ("CoreCrashed", file)
    assert answer["candidates"] == []
    assert f"--resume {file}" in err and "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [file]
    tape = Tape.load(tmp_path / file)
    assert (tape.episodes, tape.origin) == (2, ORIGIN)


def test_ctrl_c_keeps_the_recording_and_every_other_file(
    arcade: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ramsearch_module(), "search", is_interrupted)
    (tmp_path / "burrow.recording.npz").write_text("an older one")
    code, out, err = run("burrow", "--seed", "0")
    assert (code, out) == (130, "")
    assert "--resume burrow.recording2.npz" in err and "Traceback" not in err
    assert (tmp_path / "burrow.recording.npz").read_text() == "an older one"
    assert Tape.load(tmp_path / "burrow.recording2.npz").episodes == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_there_is_anything(
    arcade: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ramsearch_module(), "search", is_interrupted_early)
    code, _, err = run("burrow")
    assert code == 130 and "nothing is kept" in err
    assert list(tmp_path.iterdir()) == []


def test_a_recording_of_another_game_is_refused(arcade: None, run: Run, tmp_path: Path) -> None:
    tape = Tape()
    tape.origin = ORIGIN
    tape.save(tmp_path / "a.npz")
    code, _, err = run("burrow", "--resume", "a.npz")
    assert code == 2
    assert f"a.npz is a recording of the ROM with sha1 {'0' * 40}; wanted one of" in err


def ramsearch_module() -> ModuleType:
    return sys.modules["retrokit.cli.ramsearch"]


# -- small things ---------------------------------------------------------------------------------


def test_actions_are_read_as_they_are_printed() -> None:
    actions = ramsearch._actions("NOOP,up,UP+B, B ,UP")
    assert actions == ((), ("UP",), ("UP", "B"), ("B",))
    assert ramsearch._settings(None, None, None, "WAIT:300 SELECT:4") == Settings(
        start=("WAIT:300", "SELECT:4")
    )


def test_why_says_it_in_one_phrase() -> None:
    evidence = {
        "behaviour": {"rises": 9, "falls": 0},
        "screen": {"cells": 6, "film": "12 of 12"},
        "poke": {"rises": 4, "added": 4, "read_back": 4},
    }
    assert why(evidence) == (
        "6 digits on screen, 4 of 4 pokes added up and read back; 12 of 12 frames of the film agree"
    )
    evidence["poke"] = {"rises": 1, "added": 1, "read_back": 0}
    assert "1 of 1 poke added up and 0 read back" in why(evidence)
    evidence["poke"] = {"rises": 0, "added": 0, "read_back": 0}
    assert (
        why(evidence) == "6 digits on screen, which never moved; 12 of 12 frames of the film agree"
    )
    assert why({"behaviour": {"rises": 9, "falls": 1}}) == "rose 9 times, fell 1"
