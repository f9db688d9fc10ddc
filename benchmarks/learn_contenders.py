#!/usr/bin/env python3
"""The learners of benchmarks/learn.py, each a process: PPO on the same game, network and settings.

A process reads its setup as JSON, says ``ready``, and for each line of input does one iteration (a
rollout and its update) and answers with its seconds as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from retrokit.learning.config import TrainConfig
from retrokit.learning.ppo import PPO
from retrokit.learning.settle import settle, suited
from retrokit.learning.training import open_envs
from retrokit.load import open_game
from retrokit.vector import RetroVectorEnv

Seconds = dict[str, float]


@dataclass(frozen=True)
class Setup:
    """What all learners have in common.

    Attributes:
        game: Name or file of the integration.
        envs: Environments.
    """

    game: str
    envs: int

    def config(self, **changes: Any) -> TrainConfig:
        """Return retrokit's defaults for the game; the others take their numbers from here."""
        env = suited(open_game(self.game).integration)
        config = TrainConfig(self.game, num_envs=self.envs, env=env, device="cpu")
        return replace(config, **changes)


def retrokit(setup: Setup, precision: str) -> Iterator[Seconds]:
    """Train as `retrokit train` does, with what it measures at its start."""
    game = open_game(setup.game)
    config = setup.config(precision=precision)
    (probe,) = open_envs(game, replace(config, num_envs=1), 1)
    config, _ = settle(config, probe.single_observation_space, probe.single_action_space)
    probe.close()
    print(f"{precision}: {config.shards} × {config.threads}, {config.precision}", file=sys.stderr)
    learner = PPO(open_envs(game, config, config.shards), config)
    learner.start()
    yield {}
    while True:
        yield learner.iterate().seconds


def layer(made: nn.Linear | nn.Conv2d, gain: float = 2**0.5) -> nn.Linear | nn.Conv2d:
    """Return a layer with orthogonal weights."""
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    """The Nature network as single-file learners write it."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(),
            layer(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)), nn.ReLU(),
            nn.Flatten(), layer(nn.Linear(3136, 512)), nn.ReLU(),
        )  # fmt: skip
        self.actor = layer(nn.Linear(512, actions), 0.01)
        self.critic = layer(nn.Linear(512, 1), 1.0)

    def forward(self, seen: torch.Tensor) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        """Return the policy's distribution and the values."""
        features = self.body(seen / 255.0)
        logits = self.actor(features)
        return torch.distributions.Categorical(logits=logits), self.critic(features).flatten()


def plain(setup: Setup) -> Iterator[Seconds]:
    """Train in one straight loop, as single-file implementations do, with torch's own threads."""
    config = setup.config()
    torch.manual_seed(1)
    envs = RetroVectorEnv(setup.game, setup.envs, options=config.env)
    agent = Agent(int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), config.learning_rate, eps=1e-5)
    steps, count = config.rollout, setup.envs
    shape = envs.single_observation_space.shape
    seen = torch.zeros((steps, count, *shape))
    actions, log_probs, rewards, begins, values = (torch.zeros(steps, count) for _ in range(5))
    now = torch.tensor(envs.reset(seed=1)[0], dtype=torch.float32)
    begun = torch.zeros(count)
    yield {}
    while True:
        start, playing = time.perf_counter(), 0.0
        for step in range(steps):
            seen[step], begins[step] = now, begun
            with torch.no_grad():
                policy, value = agent(now)
                action = policy.sample()
            values[step], actions[step] = value, action
            log_probs[step] = policy.log_prob(action)
            before = time.perf_counter()
            observed, reward, terminated, truncated, _ = envs.step(action.numpy())
            playing += time.perf_counter() - before
            rewards[step] = torch.tensor(reward)
            now = torch.tensor(observed, dtype=torch.float32)
            begun = torch.tensor(terminated | truncated, dtype=torch.float32)
        with torch.no_grad():
            follows, ends = agent(now)[1], begun
        advantage, last = torch.zeros_like(rewards), torch.zeros(count)
        for step in reversed(range(steps)):
            surprise = rewards[step] + config.gamma * follows * (1 - ends) - values[step]
            last = surprise + config.gamma * config.gae_lambda * (1 - ends) * last
            advantage[step], follows, ends = last, values[step], begins[step]
        collected = time.perf_counter()
        flat = [seen.flatten(0, 1), *(x.flatten() for x in (actions, log_probs, advantage, values))]
        plain_update(agent, optimizer, flat, config)
        end = time.perf_counter()
        yield _seconds(start, collected, end, playing)


def plain_update(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    flat: Sequence[torch.Tensor],
    config: TrainConfig,
) -> None:
    """Go through the rollout ``config.epochs`` times."""
    seen, actions, old, advantages, values = flat
    order = np.arange(len(actions))
    size = len(order) // config.minibatches
    for _ in range(config.epochs):
        np.random.shuffle(order)
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            policy, value = agent(seen[rows])
            ratio = (policy.log_prob(actions[rows]) - old[rows]).exp()
            part = advantages[rows]
            part = (part - part.mean()) / (part.std() + 1e-8)
            clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
            policy_loss = torch.max(-part * ratio, -part * clipped).mean()
            target = advantages[rows] + values[rows]
            near = values[rows] + (value - values[rows]).clamp(-config.clip, config.clip)
            value_loss = 0.5 * torch.max((value - target) ** 2, (near - target) ** 2).mean()
            loss = policy_loss - config.entropy * policy.entropy().mean() + 0.5 * value_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), config.max_grad_norm)
            optimizer.step()


def sb3(setup: Setup) -> Iterator[Seconds]:
    """Train with Stable-Baselines3's PPO and CnnPolicy."""
    from stable_baselines3 import PPO as Theirs
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv

    playing = 0.0

    class Adapted(VecEnv):
        """Our environments as theirs: an end's infos carry the last observation."""

        def __init__(self) -> None:
            options = setup.config().env
            self.envs = RetroVectorEnv(
                setup.game, setup.envs, options=options, autoreset_mode="SameStep"
            )
            spaces = self.envs.single_observation_space, self.envs.single_action_space
            super().__init__(setup.envs, *spaces)

        def reset(self) -> Any:
            return self.envs.reset(seed=1)[0]

        def step_async(self, actions: Any) -> None:
            self.actions = actions

        def step_wait(self) -> Any:
            nonlocal playing
            before = time.perf_counter()
            seen, rewards, terminated, truncated, infos = self.envs.step(self.actions)
            playing += time.perf_counter() - before
            out: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
            for row in np.flatnonzero(terminated | truncated):
                out[row] = {
                    "terminal_observation": infos["final_obs"][row],
                    "TimeLimit.truncated": bool(truncated[row]),
                }
            return seen, rewards.astype(np.float32), terminated | truncated, out

        def close(self) -> None:
            self.envs.close()

        def get_attr(self, attr_name: str, indices: Any = None) -> Any:
            return [getattr(self.envs, attr_name, None)] * self.num_envs

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            raise NotImplementedError

        def env_method(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> Any:
            return [False] * self.num_envs

    class Quiet(BaseCallback):
        def _on_step(self) -> bool:
            return True

    config = setup.config()
    model = Theirs(
        "CnnPolicy", Adapted(), n_steps=config.rollout, n_epochs=config.epochs,
        batch_size=config.batch // config.minibatches, learning_rate=config.learning_rate,
        gamma=config.gamma, gae_lambda=config.gae_lambda, clip_range=config.clip,
        clip_range_vf=config.clip, ent_coef=config.entropy, vf_coef=config.value,
        max_grad_norm=config.max_grad_norm, seed=1, device="cpu",
    )  # fmt: skip
    _, callback = model._setup_learn(10**9, Quiet())
    yield {}
    while True:
        start, playing = time.perf_counter(), 0.0
        model.collect_rollouts(model.env, callback, model.rollout_buffer, config.rollout)
        collected = time.perf_counter()
        model.train()
        yield _seconds(start, collected, time.perf_counter(), playing)


def _seconds(start: float, collected: float, end: float, playing: float) -> Seconds:
    rollout = collected - start
    parts = {"playing": playing, "thinking": rollout - playing}
    return {"rollout": rollout, **parts, "update": end - collected}


CONTENDERS: dict[str, Callable[[Setup], Iterator[Seconds]]] = {
    "retrokit": lambda setup: retrokit(setup, "auto"),
    "retrokit_fp32": lambda setup: retrokit(setup, "fp32"),
    "retrokit_bf16": lambda setup: retrokit(setup, "bf16"),
    "plain": plain,
    "sb3": sb3,
}


def main() -> None:
    """Make the learner and serve the lines of standard input."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # cores print
    warnings.simplefilter("ignore")
    setup = Setup(**json.loads(sys.stdin.readline()))
    learner = CONTENDERS[sys.argv[1]](setup)
    next(learner)
    print("ready", file=out)
    for _ in sys.stdin:
        used = time.process_time()
        seconds = next(learner)
        print(json.dumps({**seconds, "cpu": time.process_time() - used}), file=out)
    os._exit(0)  # cores die in their exit handlers


if __name__ == "__main__":
    main()
