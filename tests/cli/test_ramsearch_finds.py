"""``retrokit ramsearch`` finds burrow, variants nobody has seen, and the same after Ctrl-C."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrokit.cli import main
from retrokit.content import identify
from retrokit.core import Core
from retrokit.discovery.search import EPISODES, PHASES
from retrokit.discovery.tape import Tape
from retrokit.errors import CoreNotFound
from retrokit.integration import Integration
from retrokit.systems import core_for
from retrokit.values import Variable, base_encoding

REPO = Path(__file__).resolve().parents[2]
GAMES = REPO / "games"
RUN = """
import sys
from retrokit.cli import main, output
output.PLAIN_SECONDS = 0.1
sys.exit(main())
"""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def arcade() -> None:
    try:
        core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))


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


def test_burrow_is_found_as_it_is(burrow: tuple[dict[str, Any], Path, str]) -> None:
    answer, folder, err = burrow
    check_truth(answer, truth_of("burrow"))
    assert answer["scored"] is True
    assert (answer["out"], answer["recording"]) == ("burrow.yaml", "frames.npz")
    written = ["burrow.proof.npz", "burrow.yaml", "frames.npz"]
    assert sorted(path.name for path in folder.iterdir()) == written
    assert err.splitlines()[0].startswith("searching burrow")
    assert "playing at random" in err and "\x1b" not in err


def test_burrows_file_holds_and_starts_play(burrow: tuple[dict[str, Any], Path, str]) -> None:
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


def test_burrows_proof_is_made_again(
    burrow: tuple[dict[str, Any], Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder, _ = burrow
    content = str(GAMES / "burrow/burrow.zip")
    assert main(["verify", str(folder / "burrow.yaml"), content, "--proof", "--json"]) == 0
    start, score, lives = json.loads(capsys.readouterr().out)["facts"][:3]
    assert start["holds"] and score["holds"] and lives["holds"]
    assert score["equal"] == score["experiments"] >= 14
    assert (folder / "burrow.proof.npz").stat().st_size < 200_000


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


def test_an_interrupted_search_ends_as_an_undisturbed_one(
    burrow: tuple[dict[str, Any], Path, str], tmp_path: Path
) -> None:
    child = start_child(tmp_path, REPO, "burrow", "--json")
    assert child.stderr is not None
    low, high = (100 * share for share in PHASES["record"])
    for line in child.stderr:
        share = re.search(r": (\d+)%.* playing at random", line)
        if share and int(share[1]) >= low + (high - low) * 2.5 / EPISODES:
            break
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert child.returncode == 130
    assert json.loads(out)["error"]["found"] == "interrupted"
    assert "To go on: retrokit ramsearch burrow --resume burrow.recording.npz" in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["burrow.recording.npz"]
    cut = tmp_path / "burrow.recording.npz"
    assert Tape.load(cut).episodes >= 2
    keep(cut, 2)
    child = start_child(tmp_path, REPO, "burrow", "--json", "--resume", "burrow.recording.npz")
    out, err = child.communicate()
    assert child.returncode == 0, err
    answer, folder, _ = burrow
    assert without_times(json.loads(out)) == without_times(answer)
    assert (tmp_path / "burrow.yaml").read_text() == (folder / "burrow.yaml").read_text()


def keep(path: Path, episodes: int) -> None:
    """Cut a recording down to its first episodes, as an earlier Ctrl-C would have."""
    whole, part = Tape.load(path), Tape()
    part.origin = whole.origin
    for number in range(episodes):
        part.put(number, whole.offsets, whole.logs[number], whole.ram(number))
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
    arcade: None, build: ModuleType, tmp_path: Path, choices: dict[str, Any]
) -> None:
    (archive, _), truth = build.build_variant("burrow", tmp_path / "roms", "odd", **choices)
    child = start_child(tmp_path, REPO, archive, "--json")
    out, err = child.communicate()
    assert child.returncode == 0, err
    check_truth(json.loads(out), truth)
    assert (tmp_path / "odd.yaml").is_file()
