from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from corridor import Corridor
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from retrokit.errors import UserError
from retrokit.learning.ppo import PPO
from retrokit.learning.rollout import Shard

Make = Callable[..., PPO]


def value_of(learner: PPO, seen: float) -> float:
    with torch.no_grad():
        weights = learner.network.weights(torch.float32)
        return float(learner.network({"vector": torch.tensor([[seen]])}, weights)[1])


def test_next_step_marks_the_resets_and_bootstraps_from_the_last_observation(
    corridors: Make,
) -> None:
    learner = corridors([3], "NextStep", truncates=True)
    rollout, episodes = learner.collect()
    assert rollout.parts["vector"][:, 0, 0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert rollout.rewards[:, 0].tolist() == [1, 2, 3, 0, 1, 2, 3, 0]
    assert rollout.dead[:, 0].tolist() == [False, False, False, True] * 2
    assert rollout.ended[:, 0].tolist() == [False, False, True, False] * 2
    assert not rollout.terminated.any()
    wanted = [value_of(learner, seen) for seen in (1, 2, 3)]
    assert rollout.next_values[:3, 0].tolist() == pytest.approx(wanted)
    assert [(one.total, one.length, one.time) for one in episodes] == [(6, 3, 2), (6, 3, 6)]


def test_same_step_gives_the_same_transitions_without_resets(corridors: Make) -> None:
    learner = corridors([3], "SameStep", truncates=True, rollout=6)
    rollout, episodes = learner.collect()
    assert rollout.parts["vector"][:, 0, 0].tolist() == [0, 1, 2] * 2
    assert rollout.rewards[:, 0].tolist() == [1, 2, 3] * 2
    assert rollout.ended[:, 0].tolist() == [False, False, True] * 2
    assert not rollout.dead.any()
    wanted = [value_of(learner, seen) for seen in (1, 2, 3)] * 2
    assert rollout.next_values[:, 0].tolist() == pytest.approx(wanted)
    assert [(one.total, one.length) for one in episodes] == [(6, 3), (6, 3)]


def test_an_episode_goes_on_in_the_next_rollout(corridors: Make) -> None:
    learner = corridors([5], "NextStep", rollout=3)
    seen = [learner.collect()[0].parts["vector"][:, 0, 0].tolist() for _ in range(3)]
    assert sum(seen, []) == [0, 1, 2, 3, 4, 5, 0, 1, 2]


def test_environments_of_all_shards_have_their_own_columns(corridors: Make) -> None:
    whole = corridors([3, 4, 5, 6], "NextStep").collect()
    split = corridors([3, 4, 5, 6], "NextStep", shards=2).collect()
    assert torch.equal(whole[0].rewards, split[0].rewards)
    assert torch.equal(whole[0].actions, split[0].actions)
    assert whole[1] == split[1] and [one.env for one in whole[1]] == [0, 1, 2, 3, 0]


def test_actions_follow_the_draws(corridors: Make) -> None:
    rollout, _ = corridors([99], "NextStep", rollout=400).collect()
    chances = rollout.log_probs.exp().numpy()
    assert abs(rollout.actions.float().mean() - 0.5) < 0.1
    assert np.allclose(chances, 0.5, atol=0.2)


def test_environments_must_reset_themselves() -> None:
    env = SyncVectorEnv([lambda: Corridor(3)], autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(UserError, match="NextStep or SameStep"):
        Shard(env, 0, torch.device("cpu"))
    env.close()
