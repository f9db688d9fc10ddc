"""A run's folder outlives kill -9 and a full disk, and has one writer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import retrokit
from retrokit.errors import RetrokitError, UserError
from retrokit.run import Run, run_of

ROOT = Path(retrokit.__file__).parent.parent
PYTHON = [sys.executable, "-S", "-W", "error", "-c"]  # a run needs the standard library alone
SAVES = """
import os, random, signal, sys, time
sys.path.insert(0, sys.argv[1])
from retrokit.run import Run

def save(known, told):
    run = Run.open(sys.argv[2], write=True)
    while True:
        known += 1
        payload = known.to_bytes(8, "little") * 30_000
        run.write_checkpoint(known, payload, {"return": known % 10}, keep=4)
        run.metrics.append("updates", {"step": known})
        os.write(told, known.to_bytes(8, "little"))

print("ready", flush=True)
known, delays, told = 0, random.Random(5), os.pipe()
for number in range(100):
    child = os.fork()
    if not child:
        save(known, told[1])
    for _ in range(delays.choice([0, 1, 2]) if known else 1):
        known = int.from_bytes(os.read(told[0], 8), "little")
    time.sleep(delays.uniform(0, 0.012))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    os.set_blocking(told[0], False)
    try:
        while True:
            known = int.from_bytes(os.read(told[0], 8), "little")
    except BlockingIOError:
        os.set_blocking(told[0], True)
    checkpoint, payload = Run.open(sys.argv[2]).read_newest()
    assert checkpoint.step in (known, known + 1), (number, checkpoint.step, known)
    assert payload == checkpoint.step.to_bytes(8, "little") * 30_000
    known = checkpoint.step
print(known, flush=True)
"""
HOLDS = """
import sys, time
sys.path.insert(0, sys.argv[1])
from retrokit.run import Run
run = Run.open(sys.argv[2], write=True)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with Run.create(tmp_path, "dig", {"total_steps": 9}, "game: dig\n", {"content": "abc"}) as run:
        yield run


def start(code: str, run: Run) -> subprocess.Popen[str]:
    """Start a process and wait until it says that it is ready."""
    command = [*PYTHON, code, str(ROOT), str(run.path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def kill(child: subprocess.Popen[str]) -> str:
    child.send_signal(signal.SIGKILL)
    out, _ = child.communicate()
    assert child.returncode == -signal.SIGKILL
    return out


def test_what_a_run_is_made_of(run: Run) -> None:
    assert run.game == "dig" and run.name == f"dig/{run.path.name}"
    again = Run.open(run.path)
    assert again.config == {"total_steps": 9} and again.facts == run.facts
    assert run.facts["content"] == "abc" and run.facts["retrokit"] == retrokit.__version__
    assert set(run.facts["machine"]) == {"system", "processor", "cpus", "python"}
    assert (run.path / "integration.yaml").read_text() == "game: dig\n"


def test_runs_are_found_by_name(tmp_path: Path) -> None:
    made = []
    for game in ("dig", "dug", "dig"):
        made.append(Run.create(tmp_path, game, {}, "", {}))
        made[-1].close()
    assert [run.path for run in Run.list(tmp_path)] == [run.path for run in made]
    assert Run.newest(tmp_path).path == made[2].path == Run.find("dig", tmp_path).path
    assert Run.newest(tmp_path, "dug").path == made[1].path
    for name in (made[0].name, str(made[0].path)):
        assert Run.find(name, tmp_path).path == made[0].path
    with pytest.raises(UserError, match=r"no run is called 'digg'.*Did you mean dig\?"):
        Run.find("digg", tmp_path)
    with pytest.raises(UserError, match="no run of dag in .*retrokit train"):
        Run.newest(tmp_path, "dag")


def test_a_damaged_run_is_told_and_left_out(run: Run, tmp_path: Path) -> None:
    (run.path / "config.json").write_text("{")
    with pytest.warns(UserWarning, match="is no run, or it is damaged"):
        assert Run.list(tmp_path) == []


def test_the_best_and_the_newest_are_kept(run: Run) -> None:
    for step, worth in enumerate([3, 9, 4, 9, 2, 1, 1, 1, 1, 1, None, 1]):
        run.write_checkpoint(step, b"x", {"return": worth}, keep=4)
    best = run.best()
    assert best is not None and best.step == 3
    assert [int(path.stem) for path in run.checkpoints()] == [0, 3, 10, 11]
    assert run_of(run.checkpoints()[0]).path == run.path  # type: ignore[union-attr]
    assert run_of(Path("a/b/c.ckpt")) is None
    run.write_checkpoint(12, b"x", {}, keep=None)
    assert len(run.checkpoints()) == 5


def test_a_damaged_checkpoint_gives_way_to_the_one_before(run: Run) -> None:
    with pytest.raises(UserError, match="no checkpoint that loads"):
        run.read_newest()
    for step in (1, 2):
        run.write_checkpoint(step, bytes([step]) * 100, {})
    newest = run.checkpoints()[-1]
    newest.write_bytes(newest.read_bytes()[:-1] + b"!")
    with pytest.warns(UserWarning, match=r"0002.ckpt is no checkpoint, .*taking the one before"):
        checkpoint, payload = run.read_newest()
    assert checkpoint.step == 1 and payload == b"\1" * 100


def test_a_reader_writes_no_checkpoint(run: Run) -> None:
    with pytest.raises(UserError, match="open for reading"):
        Run.open(run.path).write_checkpoint(1, b"", {})


def test_a_run_has_one_writer(run: Run) -> None:
    with pytest.raises(UserError, match=r"is being written by process \d+\. Wait for it"):
        Run.open(run.path, write=True)
    assert Run.open(run.path).busy and run.busy
    run.close()
    assert not Run.open(run.path).busy
    child = start(HOLDS, run)
    with pytest.raises(UserError, match=f"is being written by process {child.pid}"):
        Run.open(run.path, write=True)
    kill(child)
    Run.open(run.path, write=True).close()


def test_a_hundred_saves_under_kill_leave_the_newest_whole(run: Run) -> None:
    run.close()
    mother = start(SAVES, run)
    known = int(mother.communicate()[0])
    assert mother.returncode == 0 and known > 100
    with Run.open(run.path, write=True) as after:
        names = [path.name for path in (run.path / "checkpoints").iterdir()]
        assert all(name.endswith(".ckpt") for name in names)  # what was half written is gone
        after.write_checkpoint(known + 1, b"", {"return": -1}, keep=4)
        assert len(after.checkpoints()) <= 5
        assert after.metrics.frame("updates")["step"].is_monotonic_increasing


def test_a_full_disk_loses_nothing_and_is_one_line(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can make a small disk")
    try:
        with Run.create(disk, "dig", {}, "", {}) as run:
            step = 0
            with pytest.raises(RetrokitError) as caught:
                for step in range(1, 100):
                    run.write_checkpoint(step, bytes(300_000), {}, keep=None)
            kept = [int(path.stem) for path in run.checkpoints()]
            assert kept == list(range(1, step)) and len(kept) >= 4
            assert str(caught.value) == (
                f"cannot write the checkpoint {run.path}/checkpoints/{step:010d}.ckpt (No space"
                f" left on device). Step {step - 1} is kept."
            )
            assert run.read_newest()[0].step == step - 1
            (disk / "filler").write_bytes(b"")
            with pytest.raises(RetrokitError, match="cannot write .* (full|No space left)"):
                for _ in range(10_000):
                    run.metrics.append("updates", [{"step": 1, "text": "x" * 1000}] * 20)
            run.checkpoints()[0].unlink()  # room
            before = len(run.metrics.frame("updates"))
            run.metrics.append("updates", {"step": 2})
            assert len(run.metrics.frame("updates")) == before + 1
            run.write_checkpoint(step, b"", {})
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_nowhere_to_write_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*runs.dig \(Not a directory\)"):
        Run.create(tmp_path / "runs", "dig", {}, "", {})


def test_a_run_that_goes_on_says_what_is_asked_for_now(run: Run) -> None:
    run.configure({"total_steps": 20})
    assert run.config == Run.open(run.path).config == {"total_steps": 20}
    with pytest.raises(UserError, match="open for reading"):
        Run.open(run.path).configure({"total_steps": 30})
    assert [path.name for path in run.path.glob(".*")] == []


def test_config_is_kept_as_it_was(run: Run) -> None:
    assert json.loads((run.path / "config.json").read_text()) == {"total_steps": 9}
