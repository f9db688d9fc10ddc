"""Rollouts: environments stepped by a policy, and what became of each step.

Vector environments reset themselves in one of two ways (``AutoresetMode``). Both give the same
transitions here:

- NEXT_STEP: the step that ends an episode returns its last observation. The step after it is a
  reset: its action is thrown away and its reward is 0. It is no transition; it is ``dead``.
- SAME_STEP: the step that ends an episode returns the next one's first observation; the last one is
  ``infos["final_obs"]``.

Either way ``next_values`` are of the observation that the action really led to, so a truncated
episode bootstraps from its last observation (Pardo et al. 2018) and a terminated one from nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..policy import choose
from .networks import Network, Weights


class Episode(NamedTuple):
    """A game that ended: a whole one, over all its lives, in its own points.

    Attributes:
        time: Step of the rollout that ended it, from 0.
        env: Number of its environment.
        total: Return in points.
        length: Steps.
        frames: Frames; 0 where the environment has none.
        ended_by: Such as ``game over``.
    """

    time: int
    env: int
    total: float
    length: int
    frames: int
    ended_by: str


@dataclass(frozen=True)
class Rollout:
    """What happened, [steps, environments] each.

    Attributes:
        parts: What was seen, as the network takes it.
        actions: int64.
        log_probs: float32, of the actions taken.
        values: float32, of what was seen.
        next_values: float32, of what the action led to.
        rewards: float32.
        terminated: bool: the game ended; nothing follows.
        ended: bool: it ended, or was truncated.
        dead: bool: no transition but a reset, see above.
    """

    parts: dict[str, Tensor]
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    next_values: Tensor
    rewards: Tensor
    terminated: Tensor
    ended: Tensor
    dead: Tensor

    @classmethod
    def empty(
        cls, steps: int, count: int, seen: Mapping[str, Tensor], device: torch.device
    ) -> Rollout:
        """Return room for so many steps and environments; ``seen`` is an observation of one."""

        def room(dtype: torch.dtype, *shape: int) -> Tensor:
            return torch.zeros((steps, count, *shape), dtype=dtype, device=device)

        parts = {name: room(part.dtype, *part.shape) for name, part in seen.items()}
        floats = [room(torch.float32) for _ in range(4)]
        flags = [room(torch.bool) for _ in range(3)]
        return cls(parts, room(torch.int64), *floats, *flags)

    def flat(self) -> Rollout:
        """Return the same memory as [steps × environments]."""
        parts = {name: part.flatten(0, 1) for name, part in self.parts.items()}
        rest = {name: vars(self)[name].flatten() for name in vars(self) if name != "parts"}
        return Rollout(parts, **rest)


class Shard:
    """Some environments, and where they are.

    Args:
        env: With ``autoreset_mode`` NEXT_STEP or SAME_STEP in its metadata.
        first: Number of its first environment among all.
        device: Where the network is.

    Attributes:
        env: The environments.
        rows: Their columns in a `Rollout`.
        dead: bool [environments]: the next step of these is a reset.
        playing: Seconds in the environments during the last `collect`.
        thinking: Seconds in the network.

    Raises:
        UserError: The environments do not reset themselves.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], first: int, device: torch.device) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            raise UserError(f"autoreset mode {mode}", "NextStep or SameStep")
        self.env, self.device = env, device
        self.same_step = mode == AutoresetMode.SAME_STEP
        self.rows = slice(first, first + env.num_envs)
        self.dead = np.zeros(env.num_envs, np.bool_)
        self.sums = np.zeros((env.num_envs, 2))  # rewards and steps, where no info counts games
        self.playing = self.thinking = 0.0
        self._seen: Any = None

    def reset(self, seed: int) -> None:
        """Begin all episodes; environment *n* of all takes ``seed + n``."""
        self.begin(self.env.reset(seed=seed + self.rows.start)[0])

    def begin(self, observations: Any) -> None:
        """Go on from observations that a reset, or the environments' ``restore``, returned."""
        self._seen = observations

    def parts(self, network: Network) -> dict[str, Tensor]:
        """Return what is seen now, as the network takes it."""
        return network.see(self._seen, self.device)

    @torch.inference_mode()
    def collect(
        self, into: Rollout, network: Network, weights: Weights, draws: NDArray[np.float64]
    ) -> list[Episode]:
        """Play, and write what happens into the columns of ``into``.

        Args:
            into: Its first dimension says how long.
            network: What decides.
            weights: Its weights, cast.
            draws: float64 [steps, environments of all], uniform in [0, 1): the chance in actions.
        """
        episodes = []
        rows = self.rows
        started, self.playing = time.perf_counter(), 0.0
        for now in range(len(into.actions)):
            for kind, part in self.parts(network).items():
                into.parts[kind][now, rows] = part
            seen = {kind: part[now, rows] for kind, part in into.parts.items()}
            logits, values = network(seen, weights)
            log_probs = torch.log_softmax(logits, 1)
            acted = choose(log_probs.exp().cpu().numpy(), draws[now, rows])
            actions = torch.as_tensor(acted, device=self.device)
            into.actions[now, rows] = actions
            into.log_probs[now, rows] = log_probs.gather(1, actions[:, None])[:, 0]
            into.values[now, rows] = values
            into.dead[now, rows] = torch.as_tensor(self.dead)
            if now:
                self._link(into, now - 1, values)
            before = time.perf_counter()
            self._seen, rewards, terminated, truncated, infos = self.env.step(acted)
            self.playing += time.perf_counter() - before
            ended = terminated | truncated
            into.rewards[now, rows] = torch.as_tensor(rewards, dtype=torch.float32)
            into.terminated[now, rows] = torch.as_tensor(terminated)
            into.ended[now, rows] = torch.as_tensor(ended)
            if self.same_step:
                self._bootstrap(into, now, truncated & ~terminated, infos, network, weights)
            episodes += self._games(now, rewards, ended, infos)
            if not self.same_step:
                self.dead = ended
        self._link(into, len(into.actions) - 1, network(self.parts(network), weights)[1])
        self.thinking = time.perf_counter() - started - self.playing
        return episodes

    def _link(self, into: Rollout, now: int, values: Tensor) -> None:
        """Note the values of what step ``now`` led to, except where an episode began in it."""
        follows = ~into.ended[now, self.rows] if self.same_step else torch.ones_like(values) > 0
        into.next_values[now, self.rows] = torch.where(
            follows, values, into.next_values[now, self.rows]
        )

    def _bootstrap(
        self,
        into: Rollout,
        now: int,
        truncated: NDArray[Any],
        infos: Mapping[str, Any],
        network: Network,
        weights: Weights,
    ) -> None:
        """Note the values of last observations that the environment has already replaced."""
        into.next_values[now, self.rows] = 0.0
        rows = np.flatnonzero(truncated)
        if not len(rows):
            return
        last = [infos["final_obs"][row] for row in rows]
        if isinstance(last[0], Mapping):
            stacked: Any = {name: np.stack([one[name] for one in last]) for name in last[0]}
        else:
            stacked = np.stack(last)
        values = network(network.see(stacked, self.device), weights)[1]
        into.next_values[now, rows + self.rows.start] = values

    def _games(
        self, now: int, rewards: NDArray[Any], ended: NDArray[Any], infos: Mapping[str, Any]
    ) -> list[Episode]:
        """Return the games that ended in a step."""
        first = self.rows.start
        self.sums[~self.dead] += np.stack([rewards, np.ones(len(rewards))], 1)[~self.dead]
        if not ended.any():
            return []
        if "raw_reward" not in infos:
            out = []
            for row in np.flatnonzero(ended).tolist():
                total, length = self.sums[row].tolist()
                out.append(Episode(now, first + row, total, int(length), 0, "end"))
                self.sums[row] = 0
            return out
        # Of retrokit: an end may be a life's, and rewards may be clipped; this is the whole game.
        of = infos.get("final_info", infos) if self.same_step else infos
        if "raw_episode" not in of:
            return []
        games, by = of["raw_episode"], of["ended_by"]
        return [
            Episode(
                now,
                first + row,
                float(games["return"][row]),
                int(games["length"][row]),
                int(games["frames"][row]),
                str(by[row]),
            )
            for row in np.flatnonzero(of["_raw_episode"]).tolist()
        ]
