"""PPO, all of it in one file, to be read and changed.

Schulman et al. 2017, "Proximal Policy Optimization Algorithms", with the details that Huang et al.
2022, "The 37 Implementation Details of Proximal Policy Optimization", found to matter. Their 13
core details, and where they are:

 1. vectorised architecture: `PPO.collect`, the same environments go on between rollouts
 2. orthogonal weights, constant biases: `networks.Network`
 3. Adam's epsilon of 1e-5: `PPO.__init__`
 4. annealed learning rate: `PPO.learning_rate`
 5. generalised advantage estimation (Schulman et al. 2016): `advantages`
 6. minibatches, drawn anew each epoch: `PPO.update`
 7. advantages normalised, per minibatch: `PPO._learn`
 8. clipped surrogate objective: `losses`
 9. clipped value loss: `losses`
10. one loss, with an entropy bonus: `losses`
11. gradient cut to a global length: `PPO._learn`
12. debug variables (losses, KL, clip fraction, explained variance): `PPO.update`
13. policy and value share their body, for vectors too: `networks.Network`

Their 9 Atari details are options of the environment, or the network's: no-ops at a reset
(``noops``), skipped frames and the brighter of the last two (``skip``, ``last_two``), a life as an
episode (``life_episodes``), FIRE at a reset (the integration's ``start_buttons``), 84 × 84 grey
(``size``), clipped rewards (``reward``), four frames at once (``stack``), the Nature CNN and its
scaled pictures (`networks.Network`).

Two things are not in their list. A step that only resets is no transition: it is in no minibatch,
so no loss, no entropy and no normalisation ever sees it. And minibatches are cut into a piece for
each shard; the gradients are added up in order.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import Tensor, nn

from .config import TrainConfig
from .networks import Network
from .rollout import Episode, Rollout, Shard
from .shards import Team

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Iteration(NamedTuple):
    """What one rollout and its update came to.

    Attributes:
        episodes: Games that ended, in the order of steps and environments.
        metrics: Name → number; the debug variables, the same in every repetition.
        seconds: Name → seconds: ``rollout``, of which ``playing`` and ``thinking`` (the mean of the
            shards), and ``update``.
    """

    episodes: list[Episode]
    metrics: dict[str, float]
    seconds: dict[str, float]


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> Tensor:
    """Return generalised advantages, float32 [steps, environments]; 0 where ``dead``.

    After an episode that was truncated comes what its last observation is worth; after one that
    terminated, nothing. Neither reaches into the episode that follows.
    """
    future = rollout.next_values * ~rollout.terminated
    surprise = rollout.rewards + gamma * future - rollout.values
    goes_on = gamma * gae_lambda * ~rollout.ended
    out = torch.zeros_like(surprise)
    after = torch.zeros_like(surprise[0])
    for now in range(len(surprise) - 1, -1, -1):
        after = torch.where(rollout.dead[now], 0.0, surprise[now] + goes_on[now] * after)
        out[now] = after
    return out


class Batch(NamedTuple):
    """Transitions to learn from, [n] each.

    Attributes:
        parts: What was seen.
        actions: int64, taken then.
        log_probs: float32, of those actions then.
        values: float32, then.
        advantages: float32, normalised.
        returns: float32: what values should have been.
    """

    parts: dict[str, Tensor]
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    returns: Tensor


def losses(
    logits: Tensor, values: Tensor, batch: Batch, config: TrainConfig
) -> tuple[Tensor, Tensor]:
    """Return the loss to minimise and the debug variables, each a sum over the transitions.

    Returns:
        The loss; and float32 [5]: policy loss, value loss, entropy, KL (Schulman's estimator k3),
        transitions whose ratio was clipped.
    """
    all_log_probs = torch.log_softmax(logits, 1)
    log_probs = all_log_probs.gather(1, batch.actions[:, None])[:, 0]
    entropy = -(all_log_probs.exp() * all_log_probs).sum(1)
    log_ratio = log_probs - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy = torch.maximum(-batch.advantages * ratio, -batch.advantages * clipped)
    value = (values - batch.returns) ** 2
    if config.clip_values:
        near = batch.values + (values - batch.values).clamp(-config.clip, config.clip)
        value = torch.maximum(value, (near - batch.returns) ** 2)
    value = 0.5 * value
    loss = policy - config.entropy * entropy + config.value * value
    with torch.no_grad():
        kl = ratio - 1 - log_ratio
        outside = ((ratio - 1).abs() > config.clip).float()
        debug = torch.stack([one.sum() for one in (policy, value, entropy, kl, outside)])
    return loss.sum(), debug


class PPO:
    """The learner: environments, network, optimiser and the one generator of its chance.

    Args:
        envs: Vector environments, one a shard, all of the same game.
        config: Its ``precision``, ``shards`` and ``threads`` are those measured.
        device: Where the network is.

    Attributes:
        step: Steps of all environments so far, dead ones included.
        network: What it learns.
        shards: The environments and where they are.
    """

    def __init__(
        self,
        envs: Sequence[VectorEnv[Any, Any, Any]],
        config: TrainConfig,
        device: torch.device | str = "cpu",
    ) -> None:
        self.config, self.device = config, torch.device(device)
        self.dtype = DTYPES[config.precision]
        self.step = 0
        first = np.cumsum([0, *(env.num_envs for env in envs)]).tolist()
        self.shards = [Shard(env, at, self.device) for env, at in zip(envs, first, strict=False)]
        spaces = envs[0].single_observation_space, envs[0].single_action_space
        self.network = Network.of(*spaces, config.width, config.seed).to(self.device)
        self.parameters = list(self.network.parameters())
        on_cpu = self.device.type == "cpu"
        self.optimizer = torch.optim.Adam(
            self.parameters, config.learning_rate, eps=1e-5, fused=True
        )
        self.random = np.random.default_rng(config.seed)
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(config.threads)
        self.team = Team(len(envs), config.threads)
        # A GPU takes a minibatch whole; there the shards only play.
        self.pieces = len(envs) if on_cpu else 1
        self.rollout: Rollout | None = None

    def start(self) -> None:
        """Begin all episodes."""
        self.team.each(lambda shard: self.shards[shard].reset(self.config.seed))

    def learning_rate(self) -> float:
        """Return the rate of the next update."""
        left = 1 - self.step / self.config.total_steps if self.config.anneal else 1.0
        return self.config.learning_rate * max(left, 0.0)

    def iterate(self) -> Iteration:
        """Collect a rollout and learn from it."""
        begun = time.perf_counter()
        rollout, episodes = self.collect()
        collected = time.perf_counter()
        metrics = self.update(rollout)
        self.step += rollout.actions.numel()
        seconds = {
            "rollout": collected - begun,
            "playing": float(np.mean([shard.playing for shard in self.shards])),
            "thinking": float(np.mean([shard.thinking for shard in self.shards])),
            "update": time.perf_counter() - collected,
        }
        return Iteration(episodes, metrics, seconds)

    def collect(self) -> tuple[Rollout, list[Episode]]:
        """Play ``config.rollout`` steps in every environment."""
        count = self.shards[-1].rows.stop
        if self.rollout is None:
            seen = {name: part[0] for name, part in self.shards[0].parts(self.network).items()}
            self.rollout = Rollout.empty(self.config.rollout, count, seen, self.device)
        rollout = self.rollout
        draws = self.random.random((self.config.rollout, count))
        with torch.no_grad():
            weights = self.network.weights(self.dtype)
        played = self.team.each(
            lambda shard: self.shards[shard].collect(rollout, self.network, weights, draws)
        )
        return rollout, sorted(episode for part in played for episode in part)

    def update(self, rollout: Rollout) -> dict[str, float]:
        """Learn from a rollout; return the debug variables."""
        config = self.config
        rate = self.learning_rate()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        advantage = advantages(rollout, config.gamma, config.gae_lambda)
        flat = rollout.flat()
        data = Batch(
            flat.parts,
            flat.actions,
            flat.log_probs,
            flat.values,
            advantage.flatten(),
            (advantage + rollout.values).flatten(),
        )
        living = np.flatnonzero(~flat.dead.cpu().numpy())
        sums, norms = torch.zeros(5), []
        for _ in range(config.epochs):
            self.random.shuffle(living)
            for rows in np.array_split(living, config.minibatches):
                debug, norm = self._learn(data, torch.from_numpy(rows).to(self.device))
                sums += debug
                norms.append(norm)
        policy, value, entropy, kl, clipped = (sums / (len(living) * config.epochs)).tolist()
        at = torch.from_numpy(np.sort(living)).to(self.device)
        return {
            "learning_rate": rate,
            "policy_loss": policy,
            "value_loss": value,
            "entropy": entropy,
            "approx_kl": kl,
            "clip_fraction": clipped,
            "explained_variance": explained_variance(data.values[at], data.returns[at]),
            "grad_norm": float(np.mean(norms)),
            "dead_transition_frac": 1 - len(living) / flat.dead.numel(),
        }

    def _learn(self, data: Batch, rows: Tensor) -> tuple[Tensor, float]:
        """Follow the gradient of a minibatch; return sums of the debug variables, and its norm."""
        advantage = data.advantages[rows]
        spread = advantage.std(correction=0) + 1e-8
        advantage = (advantage - advantage.mean()) / spread
        pieces = list(
            zip(rows.tensor_split(self.pieces), advantage.tensor_split(self.pieces), strict=True)
        )

        def piece(number: int) -> tuple[Sequence[Tensor], Tensor]:
            at, normalised = pieces[number]
            parts = {name: part.index_select(0, at) for name, part in data.parts.items()}
            rest = (data.actions[at], data.log_probs[at], data.values[at])
            batch = Batch(parts, *rest, normalised, data.returns[at])
            logits, values = self.network(parts, self.network.weights(self.dtype))
            loss, debug = losses(logits, values, batch, self.config)
            return torch.autograd.grad(loss / len(rows), self.parameters), debug

        found = self.team.each(piece) if self.pieces > 1 else [piece(0)]
        gradient = list(found[0][0])
        for more, _ in found[1:]:
            torch._foreach_add_(gradient, list(more))
        for parameter, part in zip(self.parameters, gradient, strict=True):
            parameter.grad = part.contiguous()  # as the optimiser takes it for granted
        norm = nn.utils.clip_grad_norm_(self.parameters, self.config.max_grad_norm)
        self.optimizer.step()
        return torch.stack([debug for _, debug in found]).sum(0).cpu(), float(norm)

    def close(self) -> None:
        """End the threads and close the environments."""
        self.team.close()
        torch.set_num_threads(self._threads_before)
        for shard in self.shards:
            shard.env.close()


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """Return the share of the returns' variance that values foresaw; NaN where there is none."""
    spread = returns.var(correction=0)
    if not spread > 0:
        return float("nan")
    return float(1 - (returns - values).var(correction=0) / spread)
