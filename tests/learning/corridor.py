"""A game that can be worked out by hand, and a learner that takes no time."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from retrokit.learning.config import TrainConfig


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
