"""``retrokit ramsearch``: our own games and their variants found, and nothing ever lost."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrokit.cli import main, ramsearch
from retrokit.cli.ramsearch_table import why
from retrokit.core import Span
from retrokit.discovery.search import Settings
from retrokit.discovery.tape import Origin, Tape
from retrokit.errors import CoreNotFound
from retrokit.integration import Integration
from retrokit.systems import core_for
from retrokit.values import Variable, base_encoding

REPO = Path(__file__).resolve().parents[2]
GAMES = REPO / "games"
RUN = "import sys; from retrokit.cli import main; sys.exit(main())"
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


def start_child(folder: Path, home: Path, *args: object) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    command = [sys.executable, "-c", RUN, "ramsearch", *map(str, args)]
    environment = os.environ | {"PYTHONPATH": str(home), "NO_COLOR": "1"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def without_times(answer: dict[str, Any]) -> dict[str, Any]:
    left_out = ("seconds", "timings", "out", "recording")
    return {key: value for key, value in answer.items() if key not in left_out}


def truth_of(game: str) -> dict[str, Any]:
    return tomllib.loads((GAMES / f"{game}.toml").read_text())


def check_truth(answer: dict[str, Any], truth: dict[str, Any]) -> None:
    """Compare an answer with where things really are."""
    best = answer["candidates"][0]
    assert best["grade"] == "proved", answer
    assert best["score_addrs"] == truth["score_addrs"], answer
    assert base_encoding(best["score_encoding"]) == truth["score_encoding"]
    assert (best["score_scale"], best["score_base"]) == (
        truth["score_scale"],
        truth["score_base"],
    )
    assert answer["lives_addr"] == truth["lives_addr"], answer
    assert answer["lives_grade"] == "proved", answer
    assert answer["rotate"] == truth["rotate"]
    assert answer["terminated"] == "lives == 0"
    assert [c["rank"] for c in answer["candidates"]] == list(
        range(1, len(answer["candidates"]) + 1)
    )
    for other in answer["candidates"][1:]:
        assert other["grade"] != "proved"
        assert not set(other["score_addrs"]) & set(truth["hiscore_addrs"])


# -- our own game, in a copy that holds no truth and no integration -------------------------------


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed to search burrow, and no more."""
    home = tmp_path_factory.mktemp("bare")
    shutil.copytree(REPO / "retrokit", home / "retrokit", ignore=shutil.ignore_patterns("*.pyc"))
    for name in ("cores.toml", "pyproject.toml"):
        shutil.copy(REPO / name, home)
    (home / "games").mkdir()
    for suffix in (".zip", ".dat"):
        shutil.copy(GAMES / "burrow" / f"burrow{suffix}", home / "games")
    return home


@pytest.fixture(scope="session")
def burrow(
    arcade: None, bare: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path, str]:
    """The one full search for burrow: its object, its folder, and what it said meanwhile."""
    folder = tmp_path_factory.mktemp("burrow")
    child = start_child(folder, bare, "burrow", "--json", "--record", "frames.npz")
    out, err = child.communicate()
    assert child.returncode == 0, err + out
    return json.loads(out), folder, err


@pytest.mark.slow
def test_burrow_is_found_as_it_is(burrow: tuple[dict[str, Any], Path, str]) -> None:
    answer, folder, err = burrow
    check_truth(answer, truth_of("burrow"))
    assert answer["scored"] is True
    assert (answer["out"], answer["recording"]) == ("burrow.yaml", "frames.npz")
    assert sorted(path.name for path in folder.iterdir()) == ["burrow.yaml", "frames.npz"]
    assert err.splitlines()[0].startswith("searching burrow")
    assert "playing at random" in err and "\x1b" not in err


@pytest.mark.slow
def test_burrows_file_holds_and_starts_play(burrow: tuple[dict[str, Any], Path, str]) -> None:
    from retrokit.content import identify
    from retrokit.core import Core

    _, folder, _ = burrow
    truth = truth_of("burrow")
    integration = Integration.load(folder / "burrow.yaml")
    assert integration.variables["score"].addrs == tuple(truth["score_addrs"])
    assert integration.variables["lives"].addrs == (truth["lives_addr"],)
    assert integration.evidence["score"]["grade"] == "proved"
    with Core.open(core_for("arcade"), identify(GAMES / "burrow/burrow.zip")) as core:
        core.record(integration.start_frames())
        ram = core.memory["SYSTEM_RAM"]
        assert ram[truth["mode_addr"]] == truth["modes"]["play"]
        assert integration.score({"SYSTEM_RAM": ram}) == 0
        assert integration.lives({"SYSTEM_RAM": ram}) == truth["lives_at_start"]


@pytest.mark.slow
def test_the_recording_shows_the_same_score(burrow: tuple[dict[str, Any], Path, str]) -> None:
    answer, folder, _ = burrow
    best = answer["candidates"][0]
    with np.load(folder / "frames.npz") as arrays:
        ram, offsets, buttons = arrays["ram"], arrays["offsets"], arrays["buttons"]
        restarts = arrays["restarts"]
    assert (ram.dtype, buttons.dtype) == (np.uint8, np.uint16)
    assert len(ram) == len(buttons) == answer["frames"]
    assert ram.shape[1] == len(offsets)
    assert restarts[0] == 0 and len(restarts) >= 6
    memory = np.zeros((len(ram), int(offsets.max()) + 1), np.uint8)
    memory[:, offsets] = ram
    encoding = base_encoding(best["score_encoding"])
    score = Variable(tuple(best["score_addrs"]), encoding).decode({"SYSTEM_RAM": memory})
    assert set(best["seen"]) <= set(score.tolist())
    steps = np.diff(score)
    assert set(best["evidence"]["behaviour"]["steps"]) <= set(steps[steps > 0].tolist())
    assert (score[restarts] == 0).all()


@pytest.mark.slow
def test_an_interrupted_search_ends_as_an_undisturbed_one(
    burrow: tuple[dict[str, Any], Path, str], tmp_path: Path, run: Run
) -> None:
    child = start_child(tmp_path, REPO, "burrow", "--json")
    assert child.stderr is not None
    for line in child.stderr:  # lines come every few seconds
        if "playing at random" in line:
            break
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert child.returncode == 130
    assert json.loads(out)["error"]["found"] == "interrupted"
    assert "To go on: retrokit ramsearch burrow --resume burrow.recording.npz" in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["burrow.recording.npz"]
    cut = tmp_path / "burrow.recording.npz"
    keep(cut, min(2, Tape.load(cut).episodes))
    code, out, err = run("burrow", "--json", "--resume", "burrow.recording.npz")
    assert code == 0, err
    answer, folder, _ = burrow
    assert without_times(json.loads(out)) == without_times(answer)
    assert (tmp_path / "burrow.yaml").read_text() == (folder / "burrow.yaml").read_text()


def keep(path: Path, episodes: int) -> None:
    """Cut a recording down to its first episodes, as an earlier Ctrl-C would have."""
    whole, part = Tape.load(path), Tape()
    part.origin = whole.origin
    for number in range(episodes):
        part.put(number, whole.offsets, whole.buttons[number], whole.ram(number))
    part.save(path)


# -- variants that nobody has seen ----------------------------------------------------------------


@pytest.fixture(scope="session")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("games_build_for_search", GAMES / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pasmo") is None, reason="pasmo is not installed")
@pytest.mark.parametrize(
    "choices",
    [
        {"score_at": 0xC10, "lives_at": 0x1003},
        {
            "score_at": 0x520, "lives_at": 0x431, "score_encoding": "digits",
            "digit_base": 0x30, "lsb_first": False,
        },
        {"score_at": 0xC80, "lives_at": 0x5FF, "score_encoding": "binary", "seed": 0xBEEF},
    ],
    ids=["elsewhere", "digits", "binary"],
)  # fmt: skip
def test_variants_are_found(
    arcade: None, build: ModuleType, tmp_path: Path, run: Run, choices: dict[str, Any]
) -> None:
    (archive, _), truth = build.build_variant("burrow", tmp_path / "roms", "odd", **choices)
    code, out, err = run(archive, "--json")
    assert code == 0, err
    check_truth(json.loads(out), truth)
    assert (tmp_path / "odd.yaml").is_file()


# -- mistakes, all before any core runs -----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["burow"], "Did you mean burrow?"),
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


@pytest.mark.parametrize("option", ["--out", "--record"])
def test_existing_files_are_kept(arcade: None, run: Run, tmp_path: Path, option: str) -> None:
    (tmp_path / "mine").write_text("by hand")
    code, _, err = run("burrow", option, "mine")
    assert code == 2 and f"mine is kept; wanted a new file. Give --force or another {option}" in err
    assert (tmp_path / "mine").read_text() == "by hand"
    (tmp_path / "burrow.yaml").touch()
    assert run("burrow")[0] == 2


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
    assert why({"behaviour": {"rises": 9, "falls": 1}}) == "rose 9 times, fell 1"
