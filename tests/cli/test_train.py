"""``retrokit train`` as it is typed: a run from nothing, interrupted, killed and gone on with."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from retrokit import learning
from retrokit.cli import main
from retrokit.errors import UserError
from retrokit.learning.players import game_of
from retrokit.run import Run

torch = pytest.importorskip("torch")

from retrokit.cli.train import _drawn, line, span  # noqa: E402
from retrokit.learning import Progress, load_policy, resumed  # noqa: E402
from retrokit.learning.ppo import PPO  # noqa: E402

ROM = b"a game"
FILE = f"""\
game: three
system: unknown
core: three
rom_sha1: {{rom: {hashlib.sha1(ROM).hexdigest()}}}
score_addrs: [6, 7]
score_encoding: uint_be
lives_addr: 5
variables: {{mode: {{addrs: [4]}}}}
start_buttons: [WAIT:2, START:1]
action_set: [[], [B], [A]]
terminated: mode == 2
"""
SETTINGS = [
    "observation=ram", "ram=[4,5,6,7]", "ram_floats=false", "width=16", "rollout=16",
    "checkpoint_steps=128", "noops=3", "sticky=0.2", "device=cpu", "precision=fp32", "shards=2",
    "threads=1",
]  # fmt: skip


@pytest.fixture
def game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_core: Callable[..., Any]
) -> list[str]:
    """The arguments of a training of a small game; its core lies where cores are searched."""
    core = fake_core("three", LENGTH=40, LIVES=3)
    (tmp_path / "three_libretro.so").symlink_to(core.path)
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roms").mkdir()
    (tmp_path / "roms/three.bin").write_bytes(ROM)
    (tmp_path / "three.yaml").write_text(FILE)
    more = ["--rom-dir", "roms", "--steps", "1024", "--envs", "4"]
    more += [part for setting in SETTINGS for part in ("--set", setting)]
    return ["train", "--integration", "three.yaml", *more]


def history(run: Run) -> tuple[Any, Any, Any]:
    """Return weights, updates and episodes of a run, times left out."""
    _, state = resumed(run, [])
    updates = run.metrics.frame("updates")
    timed = [name for name in updates if "second" in name]
    return state, updates.drop(columns=timed), run.metrics.frame("episodes")


def assert_same(one: Run, other: Run) -> None:
    first, second = history(one), history(other)
    for name, part in first[0]["weights"].items():
        assert torch.equal(part, second[0]["weights"][name]), name
    for table in (1, 2):
        assert first[table].equals(second[table])
    assert first[0]["random"] == second[0]["random"]
    assert all(map(torch.equal, first[0]["envs"], second[0]["envs"]))


def test_a_run_is_whole(game: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(game) == 0
    out, err = capsys.readouterr()
    run = Run.newest()
    assert out.startswith(f"{run.path}: 1,024 steps; return ")
    assert "1,024 of 1,024: return " in err and "0 s left" in err
    assert run.config["env"]["life_episodes"] and run.config["env"]["reward"] == "clip"
    assert run.config["shards"] == 2 and run.facts["content"]["name"] == "three"
    updates, episodes = run.metrics.frame("updates"), run.metrics.frame("episodes")
    assert updates["step"].tolist() == list(range(64, 1025, 64))
    # Games, not lives: 120 frames of 5 points or 6 each, whatever rewards were clipped to.
    assert set(episodes["ended_by"]) == {"game over"}
    assert episodes["return"].between(580, 720).all()
    assert episodes["length"].between(29, 33).all()
    assert (updates["dead_transition_frac"] > 0).any()
    assert [int(path.stem) for path in run.checkpoints()][0] == 0
    assert run.read_newest()[0].facts["game"] == "three"
    policy = load_policy(run.checkpoints()[-1])
    assert policy.n_actions == 3 and policy.config.env.ram == (4, 5, 6, 7)


def test_json_is_one_object(game: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*game, "--json", "--set", "autoreset=SameStep"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == 1024 and found["games"] > 0
    assert Run.open(found["run"]).config["autoreset"] == "SameStep"
    frame = Run.open(found["run"]).metrics.frame("updates")
    assert not frame["dead_transition_frac"].any()


def test_a_full_gpu_is_one_line(
    game: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(learner: PPO) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

    monkeypatch.setattr(PPO, "iterate", full)
    assert main(game) == 1
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith("retrokit: error: cpu has no memory left. Take more minibatches")
    assert last.endswith(f"Go on with: retrokit train --resume {Run.newest().path}")


def test_a_gpu_that_is_gone_is_one_line(
    game: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of a machine with a GPU is gone on with on another."""
    assert main([*game, "--steps", "64"]) == 0
    with Run.open(Run.newest().path, write=True) as run:
        checkpoint, payload = run.read_newest()
        state = torch.load(BytesIO(payload), weights_only=True)
        state["config"]["device"] = run.config["device"] = "cuda:9"
        file = BytesIO()
        torch.save(state, file)
        run.write_checkpoint(checkpoint.step, file.getvalue(), checkpoint.facts)
        (run.path / "config.json").write_text(json.dumps(run.config))
    assert main(["train", "--resume", "--rom-dir", "roms", "--steps", "128"]) == 2
    err = capsys.readouterr().err
    assert "device cuda:9 (" in err and "wanted auto, cpu or cuda" in err


def test_what_is_open_is_measured_and_said(
    game: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*game, "--set", "shards=0", "--set", "threads=0", "--steps", "64"]) == 0
    err = capsys.readouterr().err
    run = Run.newest()
    assert "samples/s" in err and f"taken: {run.config['shards']} ×" in err
    assert run.config["shards"] >= 1 and run.facts["measured"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "--integration FILE|NAME"),
        (["train", "--resume"], "no run in runs"),
        (["train", "--integration", "nope"], "no integration is called 'nope'"),
        (["train", "--resume", "--integration", "three.yaml"], "another game"),
        (["train", "--integration", "three.yaml", "--set", "sticki=1"], "Did you mean sticky?"),
        (["train", "--integration", "three.yaml", "--device", "warp"], "device warp"),
    ],
)
def test_a_mistake_is_one_line(
    game: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main([*arguments, "--rom-dir", "roms"]) == 2
    err = capsys.readouterr().err
    assert words in err and "Traceback" not in err


def test_a_run_keeps_its_settings(game: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*game, "--steps", "128"]) == 0
    again = ["train", "--resume", "--rom-dir", "roms"]
    assert main([*again, "--set", "width=32"]) == 2
    assert "width changed in the middle of a run" in capsys.readouterr().err
    assert main([*again, "--steps", "256"]) == 0  # longer it may be
    assert Run.newest().metrics.frame("updates")["step"].max() == 256
    with pytest.raises(UserError, match="env changed"):
        resumed(Run.newest(), ["sticky=0"])


def test_a_longer_run_says_how_long_it_is(
    game: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In its config.json too, also where it was killed before the next checkpoint."""
    assert main([*game, "--steps", "128"]) == 0
    again = ["train", "--resume", "--rom-dir", "roms"]
    capsys.readouterr()
    assert main(again) == 0
    assert "all 128 steps are made; --steps makes it longer" in capsys.readouterr().out
    with Run.open(Run.newest().path, write=True) as run:
        config, state = resumed(run, ["total_steps=256", "learning_rate=0.001"])

        def killed(*_: Any) -> bool:
            raise MemoryError

        with pytest.raises(MemoryError):
            learning.train(run, config, game_of(run, rom_dirs=[Path("roms")]), state=state,
                           stop=killed)  # fmt: skip
    assert [int(path.stem) for path in run.checkpoints()] == [0, 128]
    assert main(["runs"]) == 0
    assert "stopped  128 of 256" in capsys.readouterr().out
    assert main(again) == 0
    assert main(["runs"]) == 0
    assert "ended  256 of 256" in capsys.readouterr().out
    assert json.loads((run.path / "config.json").read_text())["learning_rate"] == 0.001
    assert main([*again, "--steps", "200"]) == 2
    assert "200 steps of a run that has made 256; wanted more" in capsys.readouterr().err


def room(disk: Path, size: str) -> None:
    """Make a disk that holds so much, or change how much it holds."""
    how = f"remount,size={size}" if disk.is_mount() else f"size={size}"
    mount = ["mount", "-t", "tmpfs", "-o", how, "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can make a small disk")


def test_a_full_disk_ends_it_with_one_line_and_room_lets_it_go_on(
    game: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*game, "--runs", "whole"]) == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    room(disk, "200k")
    try:
        capsys.readouterr()
        assert main([*game, "--runs", str(disk), "--set", "total_steps=1024"]) == 1
        *_, last = capsys.readouterr().err.splitlines()
        run = Run.newest(disk)
        assert last.startswith("retrokit: error: cannot write ") and "full" in last.lower()
        assert last.endswith(f"Go on with: retrokit train --resume {run.path}")
        assert run.read_newest()[0].step == int(run.checkpoints()[-1].stem)
        again = ["train", "--resume", str(run.path), "--rom-dir", "roms"]
        assert main(again) == 1  # still no room, and one line
        assert "Go on with" in capsys.readouterr().err
        room(disk, "4m")
        assert main(again) == 0
        assert_same(Run.newest(Path("whole")), run)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def started(arguments: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "retrokit", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_killed_at_any_moment_it_goes_on_as_if_nothing_had_been(game: list[str], mode: str) -> None:
    game += ["--set", f"autoreset={mode}"]
    assert main([*game, "--runs", "whole"]) == 0
    chance = random.Random(mode)
    arguments = [*game, "--runs", "killed"]
    for _ in range(3):
        process = started(arguments)
        for path in iter(lambda: list(Path("killed").glob("*/*/checkpoints/*.ckpt")), None):
            if path or process.poll() is not None:
                break
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 1.5))
        process.kill()
        process.communicate()
        arguments = ["train", "--resume", "--rom-dir", "roms", "--runs", "killed"]
    assert main(arguments) == 0
    assert_same(Run.newest(Path("whole")), Run.newest(Path("killed")))


@pytest.mark.slow
def test_ctrl_c_writes_a_checkpoint_and_says_how_to_go_on(game: list[str]) -> None:
    assert main([*game, "--runs", "whole"]) == 0
    process = started([*game, "--runs", "stopped", "--set", "total_steps=1024"])
    assert process.stderr is not None
    for said in process.stderr:
        if " of 1,024: " in said:
            process.send_signal(signal.SIGINT)
            break
    _, err = process.communicate()
    run = Run.newest(Path("stopped"))
    if process.returncode == 0:
        pytest.skip("it was quicker than Ctrl-C")
    assert process.returncode == 130
    assert f"Go on with: retrokit train --resume {run.path}" in err
    assert run.metrics.frame("updates")["step"].max() == int(run.checkpoints()[-1].stem)
    assert main(["train", "--resume", str(run.path), "--rom-dir", "roms"]) == 0
    assert_same(Run.newest(Path("whole")), run)


def test_without_torch_one_line_says_what_to_install(game: list[str]) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from retrokit.cli import main; sys.exit(main({game!r}))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1 and "pip install 'retrokit[train]'" in found.stderr


def test_asking_for_help_loads_no_torch() -> None:
    code = (
        "import sys; from retrokit.cli import main; main(['train', '--help'])\n"
        "print(sorted({'torch', 'pandas'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.endswith("[]\n")


@pytest.mark.parametrize(("score", "shown"), [(1234.5, "1,234.5"), (float("nan"), "–")])
def test_the_panel_says_how_far_it_is(score: float, shown: str) -> None:
    metrics = {"entropy": 1.5, "explained_variance": score, "dead_transition_frac": 0.002}
    progress = Progress(50_000, 100_000, 7, score, score / 2, 640.0, 78.1, metrics, False)
    console = Console(width=100, file=StringIO())
    console.print(_drawn("burrow/1", progress))
    text = console.file.getvalue()
    assert "burrow/1  step 50,000 of 100,000" in text and shown in text
    for word in ("640 steps/s", "78 s", "dead transition frac 0.002"):
        assert word in " ".join(text.split()), word
    assert ("2 points a step" in line(progress)) != (shown == "–")
    assert "nan" not in text and max(map(len, text.splitlines())) < 80


@pytest.mark.parametrize(
    ("seconds", "words"), [(42.4, "42 s"), (600, "10 min"), (12_000, "3 h 20 min")]
)
def test_time_is_told_as_people_do(seconds: float, words: str) -> None:
    assert span(seconds) == words
