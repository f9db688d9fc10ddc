"""Learning is tested on environments that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

pytest.importorskip("torch")

from corridor import Corridor, small

from retrokit.learning.ppo import PPO


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
