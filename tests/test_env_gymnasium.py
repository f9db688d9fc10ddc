"""RetroEnv among Gymnasium's own: wrappers, processes, the registry."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import retrokit
from retrokit.load import Game

PLAIN: dict[str, Any] = {"skip": 1, "stack": 1, "size": None}
B = 1  # the action
Three = Callable[..., Game]


def test_gymnasiums_statistics(three: Three) -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(retrokit.make(three(), reward="clip", **PLAIN))
    env.reset()
    for _ in range(3):
        *_, info = env.step(0)
    assert (info["episode"]["r"], info["episode"]["l"]) == (3.0, 3)  # what the agent was paid
    assert info["raw_episode"]["return"] == 15.0  # what the game counted
    env.close()


def test_gymnasiums_video(three: Three, tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    env = gymnasium.wrappers.RecordVideo(
        retrokit.make(three(), render_mode="rgb_array", **PLAIN), str(folder)
    )
    env.reset()
    for _ in range(3):
        env.step(0)
    env.close()
    (video,) = folder.glob("*.mp4")
    assert b"ftyp" in video.read_bytes()[:16]  # an MP4 file, and no empty one


def test_gymnasium_runs_it_in_processes(three: Three) -> None:
    factory = partial(retrokit.make, three(LENGTH=20), **PLAIN, observation="ram")
    envs = gymnasium.vector.AsyncVectorEnv([factory] * 2, context="spawn")
    solo = factory()
    envs.reset(seed=[4, 4])
    solo.reset(seed=4)
    for _ in range(30):
        seen, rewards, terminated, _, _ = envs.step(np.array([B, B]))
        expected = solo.step(B)
        assert (seen == expected[0]).all() and (rewards == expected[1]).all()
        if terminated.any():
            break
    envs.close()
    solo.close()


CHILD = """
import hashlib, sys, retrokit
env = retrokit.make("burrow", noops=30, sticky=0.25)
env.reset(seed=7)
digest = hashlib.sha1()
for step in range(200):
    seen, _, terminated, truncated, _ = env.step(step * 7 % env.action_space.n)
    digest.update(seen.tobytes() + env.lanes.cores[0].read().tobytes())
    if terminated or truncated:
        env.reset()
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_an_episode_is_the_same_in_a_fresh_process(repo: Path) -> None:
    pytest.importorskip("stable_retro")
    runs = {
        subprocess.run(
            [sys.executable, "-c", CHILD], cwd=repo, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1 and runs.pop().strip()


@pytest.mark.parametrize("name", ["burrow", "skydrop"])
def test_games_that_ship_are_registered(name: str) -> None:
    pytest.importorskip("stable_retro")
    env = gymnasium.make(f"retrokit.gym:retrokit/{name}", render_mode="rgb_array")
    assert f"retrokit/{name}" in gymnasium.registry
    assert env.observation_space.shape == (4, 84, 84)
    check_env(env.unwrapped)
    env.close()


def test_a_registered_game_has_its_own_vector_environment() -> None:
    pytest.importorskip("stable_retro")
    envs = gymnasium.make_vec("retrokit.gym:retrokit/burrow", num_envs=2)
    assert isinstance(envs.unwrapped, retrokit.RetroVectorEnv)
    assert envs.reset(seed=1)[0].shape == (2, 4, 84, 84)
    envs.close()


def test_any_integration_goes_by_an_id_that_frameworks_take() -> None:
    pytest.importorskip("stable_retro")
    file = Path(__file__).parent.parent / "integrations" / "arcade" / "burrow.yaml"
    env = gymnasium.make("retrokit.gym:retrokit/Game", game=str(file), stack=1)
    assert env.reset(seed=1)[0].shape == (84, 84)
    env.close()
