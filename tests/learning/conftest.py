"""Learning is tested on environments that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

pytest.importorskip("torch")

from retrokit.learning.config import TrainConfig
from retrokit.learning.ppo import PPO


class Corridor(gymnasium.Env[Any, Any]):
    """Sees the number of its step; the reward of step n is n; it ends after ``length`` steps.

    Args:
        length: Steps of an episode.
        truncates: The end is none of the game's.
    """

    def __init__(self, length: int, truncates: bool = False) -> None:
        self.observation_space = spaces.Box(0, 100, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length, self.truncates, self.at = length, truncates, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return np.array([0], np.float32), {}

    def step(self, action: Any) -> Any:
        self.at += 1
        ended = self.at == self.length
        seen = np.array([self.at], np.float32)
        return seen, float(self.at), ended and not self.truncates, ended and self.truncates, {}


def small(**settings: Any) -> TrainConfig:
    """Return settings of a learner that takes no time."""
    return TrainConfig(
        "none", **{"num_envs": 2, "rollout": 8, "minibatches": 2, "width": 16, "total_steps": 64}
        | {"precision": "fp32", "shards": 1, "threads": 1, "device": "cpu"} | settings,
    )  # fmt: skip


@pytest.fixture
def corridors() -> Iterator[Callable[..., PPO]]:
    """Make a learner of corridors: ``corridors([3, 5], mode, truncates=…, shards=…)``."""
    made: list[PPO] = []

    def make(
        lengths: list[int], mode: str, truncates: bool = False, shards: int = 1, **settings: Any
    ) -> PPO:
        parts = np.array_split(np.array(lengths), shards)
        envs = [
            SyncVectorEnv(
                [lambda n=n: Corridor(int(n), truncates) for n in part], autoreset_mode=mode
            )
            for part in parts
        ]
        config = small(num_envs=len(lengths), shards=shards, autoreset=mode, **settings)
        made.append(PPO(envs, config))
        made[-1].start()
        return made[-1]

    yield make
    for learner in made:
        learner.close()
