from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from corridor import small
from gymnasium.vector import SyncVectorEnv

from retrokit.learning.ppo import PPO, Batch, advantages, explained_variance, losses
from retrokit.learning.rollout import Rollout

Make = Callable[..., PPO]


def rollout(rewards: list[float], values: list[float], after: list[float], **flags: Any) -> Rollout:
    """Return a rollout of one environment."""
    steps = len(rewards)
    columns = {name: torch.tensor(flags.get(name, [False] * steps))[:, None] for name in FLAGS}
    floats = [torch.tensor(given)[:, None] for given in (values, after, rewards)]
    empty = torch.zeros(steps, 1)
    return Rollout({}, empty.long(), empty, *floats, **columns)


FLAGS = ("terminated", "ended", "dead")
NO, YES = False, True


def test_advantages_by_hand() -> None:
    # gamma 0.5, lambda 0.5; surprises r + 0.5 v' - v: 1+1-1=1, 2+1.5-2=1.5, 3+2-3=2.
    found = advantages(rollout([1, 2, 3], [1, 2, 3], [2.0, 3.0, 4.0]), 0.5, 0.5)
    assert found[:, 0].tolist() == [1 + 0.25 * (1.5 + 0.25 * 2), 1.5 + 0.25 * 2, 2]


def test_nothing_follows_a_terminated_episode() -> None:
    ends = {"terminated": [NO, YES, NO], "ended": [NO, YES, NO]}
    found = advantages(rollout([1, 2, 3], [1, 2, 3], [2.0, 9.0, 4.0], **ends), 0.5, 0.5)
    # The second: 2 - 2 = 0, whatever follows; nothing of the third reaches it.
    assert found[:, 0].tolist() == [1, 0, 2]


def test_a_truncated_episode_is_worth_its_last_observation() -> None:
    found = advantages(
        rollout([1, 2, 3], [1, 2, 3], [2.0, 9.0, 4.0], ended=[NO, YES, NO]), 0.5, 0.5
    )
    assert found[:, 0].tolist() == [1 + 0.25 * 4.5, 2 + 4.5 - 2, 2]


def test_dead_transitions_reach_nothing() -> None:
    ends = {"terminated": [YES, NO, NO], "ended": [YES, NO, NO], "dead": [NO, YES, NO]}
    found = advantages(rollout([1, 100, 3], [1, 50, 3], [9.0, 9.0, 4.0], **ends), 0.5, 0.5)
    assert found[:, 0].tolist() == [0, 0, 2]


def test_both_autoreset_modes_give_the_same_advantages(corridors: Make) -> None:
    per_mode = []
    for mode, steps in (("NextStep", 8), ("SameStep", 6)):
        learner = corridors([3], mode, truncates=True, rollout=steps, seed=5)
        found, _ = learner.collect()
        advantage = advantages(found, 0.99, 0.95)
        per_mode.append(advantage[~found.dead][:5])  # the sixth waits for no more steps in one
    torch.testing.assert_close(*per_mode)


def batch(advantage: list[float], log_ratio: list[float], values: list[float]) -> Any:
    """Return logits, values and a batch of one state with two actions, 0 taken."""
    old = torch.full((len(advantage),), math.log(0.5))
    chance = (old + torch.tensor(log_ratio)).exp()
    logits = torch.stack([chance, 1 - chance], 1).log().requires_grad_()
    zeros = torch.zeros(len(advantage))
    given = Batch({}, zeros.long(), old, zeros, torch.tensor(advantage), zeros + 1)
    return logits, torch.tensor(values), given


def test_losses_by_hand() -> None:
    config = small(clip=0.1, entropy=0.0, value=1.0)
    up, down = math.log(1.3), math.log(0.7)
    found, debug = losses(*batch([1, 1, -1, -1], [up, down, up, down], [0.0] * 4), config)
    # Better than thought: followed up to 1.1 times; worse: away from it, down to 0.9.
    policy = -1.1 - 0.7 + 1.3 + 0.9
    assert debug[0].item() == pytest.approx(policy, abs=1e-5)
    assert debug[1].item() == pytest.approx(4 * 0.5 * 1.0)
    assert found.item() == pytest.approx(policy + 2, abs=1e-5)
    assert debug[4].item() == 4


def test_a_clipped_ratio_is_not_followed_further() -> None:
    config = small(clip=0.1, entropy=0.0, value=0.0)
    logits, values, given = batch([1, -1], [math.log(1.3), math.log(0.7)], [0, 0])
    loss, _ = losses(logits, values, given, config)
    assert not torch.autograd.grad(loss, logits)[0].any()


@pytest.mark.parametrize(("clip_values", "loss"), [(True, 0.5 * 0.9**2), (False, 0.5 * 0.4**2)])
def test_value_loss_is_clipped_by_option(clip_values: bool, loss: float) -> None:
    config = small(clip=0.1, clip_values=clip_values)
    _, debug = losses(*batch([0], [0], [0.6]), config)  # it was 0 and should be 1
    assert debug[1].item() == pytest.approx(loss)


def test_entropy_is_that_of_a_coin() -> None:
    _, debug = losses(*batch([0], [0], [0]), small())
    assert debug[2].item() == pytest.approx(math.log(2))
    assert debug[3].item() == pytest.approx(0, abs=1e-6)


def test_dead_transitions_are_in_no_minibatch(
    corridors: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = corridors([1, 3], "NextStep", rollout=16, minibatches=3)
    found, _ = learner.collect()
    learned: list[int] = []
    real = PPO._learn

    def spy(self: PPO, data: Batch, rows: torch.Tensor) -> Any:
        learned.extend(rows.tolist())
        return real(self, data, rows)

    monkeypatch.setattr(PPO, "_learn", spy)
    metrics = learner.update(found)
    dead = set(np.flatnonzero(found.dead.flatten().numpy()).tolist())
    assert len(dead) == 8 + 4 and not dead & set(learned)
    assert len(learned) == learner.config.epochs * (32 - 12)
    assert metrics["dead_transition_frac"] == pytest.approx(12 / 32)


@pytest.mark.parametrize("poison", ["rewards", "values", "log_probs"])
def test_what_a_reset_holds_changes_nothing(corridors: Make, poison: str) -> None:
    """Whatever stands in a dead transition, weights come out the same, bit for bit."""
    results = []
    for bad in (False, True):
        learner = corridors([2, 3], "NextStep", rollout=12, seed=2)
        found, _ = learner.collect()
        assert found.dead.any()
        if bad:
            getattr(found, poison)[found.dead] = 1e6
        metrics = learner.update(found)
        results.append((metrics, [part.clone() for part in learner.network.parameters()]))
    assert results[0][0] == results[1][0]
    assert all(torch.equal(a, b) for a, b in zip(results[0][1], results[1][1], strict=True))


def test_shards_learn_what_one_learns(corridors: Make) -> None:
    weights = []
    for shards in (1, 2):
        learner = corridors([3, 4, 5, 6], "NextStep", shards=shards)
        for _ in range(3):
            learner.iterate()
        weights.append(torch.cat([part.flatten() for part in learner.network.parameters()]))
    torch.testing.assert_close(*weights, atol=1e-5, rtol=1e-4)


def test_a_run_can_be_repeated(corridors: Make) -> None:
    def play() -> Any:
        learner = corridors([3, 4, 5, 6], "NextStep", shards=2)
        out = [learner.iterate() for _ in range(4)]
        weights = [part.clone() for part in learner.network.parameters()]
        return [(one.metrics, one.episodes) for one in out], weights

    first, second = play(), play()
    assert first[0] == second[0]
    assert all(torch.equal(a, b) for a, b in zip(first[1], second[1], strict=True))


def test_the_learning_rate_falls_to_nothing(corridors: Make) -> None:
    learner = corridors([3, 4], "NextStep", learning_rate=0.4)
    rates = [learner.iterate().metrics["learning_rate"] for _ in range(4)]
    assert rates == pytest.approx([0.4, 0.3, 0.2, 0.1])
    learner.config = replace(learner.config, anneal=False)
    assert learner.learning_rate() == 0.4


def test_explained_variance() -> None:
    returns = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(torch.zeros(3), returns) == 0
    assert math.isnan(explained_variance(returns, torch.ones(3)))


def cartpole(mode: str, seed: int, mask: bool = True) -> tuple[float, int, int]:
    """Train on CartPole; return the last episodes' mean, transitions learned, junk among them."""
    config = small(
        total_steps=24_576, num_envs=8, rollout=32, width=64, epochs=10, minibatches=1,
        learning_rate=2e-3, gamma=0.98, gae_lambda=0.8, clip=0.2, clip_values=False, value=0.02,
        entropy=0.0, autoreset=mode, seed=seed,
    )  # fmt: skip
    env = SyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1")] * config.num_envs, autoreset_mode=mode
    )
    learner = PPO([env], config)
    learner.start()
    totals: list[float] = []
    learned = junk = 0
    while learner.step < config.total_steps:
        found, episodes = learner.collect()
        totals += [episode.total for episode in episodes]
        dead = int(found.dead.sum())
        if not mask:
            junk += dead
            found.dead[:] = False
        learner.update(found)
        learned += int((~found.dead).sum())
        learner.step += config.batch
    learner.close()
    return float(np.mean(totals[-40:])), learned, junk


@pytest.mark.slow
def test_cartpole_learns_alike_in_both_autoreset_modes() -> None:
    per_mode = {
        mode: [cartpole(mode, seed) for seed in (1, 2, 3)] for mode in ("NextStep", "SameStep")
    }
    means = {mode: np.mean([mean for mean, _, _ in runs]) for mode, runs in per_mode.items()}
    # Random play lasts 22 steps. Either learns; and they differ by less than two runs of one do.
    assert min(means.values()) > 90, means
    assert max(means.values()) < 2.5 * min(means.values()), means
    same = per_mode["SameStep"][0]
    masked = per_mode["NextStep"][0]
    assert same[1] == 24_576 and masked[1] < 24_576 and masked[2] == same[2] == 0
    _, learned, junk = cartpole("NextStep", 1, mask=False)
    assert learned == 24_576 and junk > 200  # steps that never happened, learned from
