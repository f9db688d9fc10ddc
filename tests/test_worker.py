"""The life of a worker process: it ends with its parent, survives its forks, and leaks nothing."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from retrokit import worker
from retrokit.errors import CoreError, CoreStateError
from retrokit.load import Game
from retrokit.vector import RetroVectorEnv
from retrokit.workers import Workers

Three = Callable[..., Game]
Make = Callable[..., RetroVectorEnv]
A = 2  # the action under which three_falls falls


def processes(env: RetroVectorEnv) -> list[int]:
    assert isinstance(env.lanes, Workers)
    return [worker.process.pid for worker in env.lanes._workers if worker.process]


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_closing_leaves_nothing(falling: Make) -> None:
    env = falling(2, 2)
    env.reset()
    pids, folder = processes(env), Path(env.lanes._folder)
    env.step_async(np.zeros(2, int))
    env.close()
    env.close()
    assert not any(map(alive, pids)) and not folder.exists()
    with pytest.raises(CoreError, match="closed"):
        env.reset()


def test_what_is_forgotten_is_ended(three: Three) -> None:
    env = RetroVectorEnv(three(), 2, workers=2)
    pids = processes(env)
    del env
    gc.collect()
    assert not any(map(alive, pids))


PARENT = """
import pickle, sys, numpy as np
from retrokit.vector import RetroVectorEnv
game, action = pickle.loads(bytes.fromhex(sys.argv[1])), int(sys.argv[2])
env = RetroVectorEnv(game, 2, workers=2)
env.reset(seed=1)
print(*[w.process.pid for w in env.lanes._workers], env.lanes._folder, flush=True)
while True:
    env.step(np.full(2, action))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("action", [0, A])
def test_workers_die_with_their_parent(three: Three, repo: Path, number: int, action: int) -> None:
    """Killed, or interrupted; also while a core hangs."""
    game = pickle.dumps(three(core="three_falls", HOW=2)).hex()
    shared = set(os.listdir("/dev/shm"))
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT, game, str(action)],
        cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None and parent.stderr is not None
        *pids, folder = parent.stdout.readline().split()
        time.sleep(0.3)
        assert all(alive(int(pid)) for pid in pids)
        (os.killpg if number == signal.SIGINT else os.kill)(parent.pid, number)
        said = parent.stderr.read()
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in said and "Warning" not in said
    deadline = time.monotonic() + 10
    while any(alive(int(pid)) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(int(pid)) for pid in pids)
    assert not Path(folder).exists()
    assert set(os.listdir("/dev/shm")) <= shared


def test_ctrl_c_in_a_step_loses_nothing(falling: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    env = falling(2, 2, 2)
    env.reset(seed=1)
    monkeypatch.setattr(worker, "CALL_LIMIT_S", 1.0)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            env.step(np.array([0, A]))
    finally:
        signal.signal(signal.SIGALRM, previous)
    _, infos = env.reset(seed=1)  # the step is finished first: the core that hangs is replaced
    assert infos["score"].tolist() == [5, 5] and env.restarts.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_the_workers_alone(falling: Make) -> None:
    env = falling(2, 2)
    env.reset(seed=1)
    child = os.fork()
    if not child:
        code = 1
        try:
            with pytest.raises(CoreStateError, match="another process"):
                env.step(np.zeros(2, int))
            env.close()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(map(alive, processes(env)))
    assert env.step(np.zeros(2, int))[1].tolist() == [5, 5]


def test_gymnasium_has_vector_environments_in_its_processes(three: Three) -> None:
    """A daemon of multiprocessing may have workers of its own."""
    factory = partial(one_lane, three(LENGTH=20))
    envs = gymnasium.vector.AsyncVectorEnv([factory] * 2, context="spawn")
    envs.reset(seed=3)
    seen, rewards, *_ = envs.step(np.array([1, 1]))
    assert rewards.tolist() == [6, 6]
    envs.close()


class one_lane(gymnasium.Env[Any, Any]):
    """A vector environment of one lane in a worker, as a plain environment."""

    def __init__(self, game: Game) -> None:
        self.inner = RetroVectorEnv(game, 1, workers=1, skip=1)
        self.observation_space = self.inner.single_observation_space
        self.action_space = self.inner.single_action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.inner.reset(seed=seed)[0][0], {}

    def step(self, action: Any) -> Any:
        seen, *flags, _ = self.inner.step(np.array([action]))
        return seen[0], *(flag[0].item() for flag in flags), {}

    def close(self) -> None:
        self.inner.close()


def test_a_thousand_resets_take_no_memory_in_a_worker(three: Three) -> None:
    env = RetroVectorEnv(three(), 2, workers=1, observation="rgb", render_mode="rgb_array")

    def resident() -> int:
        return int(Path(f"/proc/{processes(env)[0]}/statm").read_text().split()[1]) * 4096

    def resets(count: int) -> None:
        for _ in range(count):
            env.reset(), env.step(np.zeros(2, int))

    resets(200)
    before = resident()
    resets(1000)
    env.render()
    assert resident() - before < 1 << 20
    env.close()
