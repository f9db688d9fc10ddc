"""A training run: environments and learner made, iterations counted, everything kept.

A checkpoint holds all that the next step depends on (network, optimiser, generator, games under
way, the window of recent games), so a run that goes on is the run that was never interrupted.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import RetrokitError, UserError
from ..load import Game
from ..run import Run
from ..vector import RetroVectorEnv
from .config import TrainConfig
from .ppo import PPO, Iteration
from .rollout import Episode, Shard
from .settle import check_device, settle
from .shards import Way
from .trained import unpack

# What a run can never change: its weights, its games and its arithmetic depend on them.
FIXED = {
    "integration", "core", "num_envs", "width", "autoreset", "seed", "device", "precision",
    "shards", "threads", "env",
}  # fmt: skip
WINDOW = 100  # games that means are of
PACE = 10  # iterations that the speed is of


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes:
        step: Steps of all environments.
        total_steps: When it ends.
        games: Whole games that ended so far.
        score: Mean return in points of the last 100 games; NaN before the first.
        survival: Mean steps of them.
        steps_per_second: Over the last iterations.
        seconds_left: At that speed.
        metrics: The row of this update.
        checkpoint: Whether one was written just now.
    """

    step: int
    total_steps: int
    games: int
    score: float
    survival: float
    steps_per_second: float
    seconds_left: float
    metrics: dict[str, float]
    checkpoint: bool

    @property
    def points_per_step(self) -> float:
        """Points of the last 100 games over their steps; NaN before the first."""
        return self.score / self.survival if self.survival else float("nan")


def open_envs(game: Game, config: TrainConfig, shards: int) -> list[RetroVectorEnv]:
    """Return the environments of a run, in so many equal parts.

    Raises:
        UserError: Game and options do not go together.
        CoreError: The core cannot be opened or fails.
    """
    envs: list[RetroVectorEnv] = []
    workers = config.workers and max(1, config.workers // shards)
    try:
        for _ in range(shards):
            envs.append(
                RetroVectorEnv(
                    game,
                    config.num_envs // shards,
                    threads=1,
                    workers=workers,
                    autoreset_mode=config.autoreset,
                    copy=False,
                    options=config.env,
                )
            )
    except BaseException:
        for env in envs:
            env.close()
        raise
    return envs


def new_run(
    root: Path, config: TrainConfig, game: Game, text: str
) -> tuple[Run, TrainConfig, Sequence[Way]]:
    """Settle what is open, and make a run's folder.

    Args:
        root: Where runs lie.
        config: What was asked for.
        game: What is played.
        text: Of the integration's file.

    Returns:
        The run, its settled settings, and the ways of doing the arithmetic that were measured.

    Raises:
        RetrokitError: Game and options do not go together, or the folder cannot be written.
    """
    (probe,) = open_envs(game, replace(config, num_envs=1, shards=1), 1)
    try:
        spaces = probe.single_observation_space, probe.single_action_space
        version = probe.lanes.info.version
    finally:
        probe.close()
    config, ways = settle(config, *spaces)
    facts = {
        "content": {"name": game.content.name, "sha1": game.content.sha1},
        "core": {"name": game.found.spec.name, "version": version},
        "torch": torch.__version__,
        "measured": [way._asdict() for way in ways],
    }
    return Run.create(root, game.integration.game, config.to_dict(), text, facts), config, ways


def resumed(run: Run, settings: Iterable[str]) -> tuple[TrainConfig, Mapping[str, Any]]:
    """Return the settings to go on with, and what to go on from: the newest sound checkpoint.

    Args:
        run: What to go on with.
        settings: ``name=value`` each, over those of the run.

    Raises:
        UserError: There is no checkpoint, or a setting cannot change in the middle of a run.
    """
    checkpoint, payload = run.read_newest()
    state = unpack(checkpoint, payload)
    old = TrainConfig.from_dict(state["config"])
    # The run's own, not the checkpoint's: they may have changed since it was written.
    new = TrainConfig.from_dict(run.config).changed(settings)
    if fixed := [name for name in sorted(FIXED) if getattr(new, name) != getattr(old, name)]:
        raise UserError(f"{fixed[0]} changed in the middle of a run", "a new run for it")
    return new, state


def train(
    run: Run,
    config: TrainConfig,
    game: Game,
    *,
    state: Mapping[str, Any] | None = None,
    keep: int | None = None,
    watch: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Train until the end or until told to stop; a checkpoint is written either way.

    Args:
        run: Where everything goes; open for writing.
        config: Settled settings (``settle``).
        game: What is played.
        state: What to go on from; see `resumed`.
        keep: How many checkpoints stay; None keeps all.
        watch: Is told of every iteration.
        stop: Asked after every iteration.

    Returns:
        Whether it came to its end.

    Raises:
        RetrokitError: Something fails; the newest checkpoint is kept.
    """
    check_device(config.device)
    learner = PPO(open_envs(game, config, config.shards), config, config.device)
    history = History(config)
    try:
        if state is not None:
            load(learner, history, state)
            run.configure(config.to_dict())
            run.metrics.cut(learner.step)
        else:
            learner.start()
            _keep(run, learner, history, keep)  # what has learned nothing is a baseline
        written = learner.step
        while learner.step < config.total_steps:
            row, episodes, progress = history.add(learner.iterate(), learner.step)
            stopped = stop()
            last = learner.step >= config.total_steps or stopped
            due = learner.step // config.checkpoint_steps > written // config.checkpoint_steps
            run.metrics.append("episodes", episodes)
            run.metrics.append("updates", row)
            if due or last:
                _keep(run, learner, history, keep)
                written = learner.step
            watch(replace(progress, checkpoint=due or last))
            if stopped:
                break
        return learner.step >= config.total_steps
    except torch.cuda.OutOfMemoryError:
        remedy = "Take more minibatches (--set minibatches=N), or fewer environments in a new run."
        raise RetrokitError(f"{config.device} has no memory left", remedy=remedy) from None
    finally:
        learner.close()


class History:
    """The recent past of a run: what means and speed are made of.

    Args:
        config: The run's settings.

    Attributes:
        recent: Return and steps of the last games.
        games: Games so far.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.recent: deque[tuple[float, int]] = deque(maxlen=WINDOW)
        self.games = 0
        self._pace: deque[float] = deque(maxlen=PACE)

    def add(
        self, iteration: Iteration, step: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]], Progress]:
        """Take in an iteration; return rows for ``updates`` and ``episodes``, and how far it is.

        Args:
            iteration: What the learner returned.
            step: Steps of all environments after it.
        """
        config = self.config
        begun = step - config.batch
        for episode in iteration.episodes:
            self.recent.append((episode.total, episode.length))
        self.games += len(iteration.episodes)
        score, survival = self.means()
        self._pace.append(iteration.seconds["rollout"] + iteration.seconds["update"])
        speed = config.batch / float(np.mean(self._pace))
        row = {
            "step": step,
            "games": self.games,
            "return": score,
            "length": survival,
            "points_per_step": score / survival if survival else float("nan"),
            **iteration.metrics,
            "steps_per_second": speed,
            "frames_per_second": speed * config.env.skip,
            **{f"{name}_seconds": value for name, value in iteration.seconds.items()},
        }
        rows = [_row(episode, begun, config.num_envs) for episode in iteration.episodes]
        left = max(config.total_steps - step, 0) / speed
        progress = Progress(
            step, config.total_steps, self.games, score, survival, speed, left,
            iteration.metrics, False,
        )  # fmt: skip
        return row, rows, progress

    def means(self) -> tuple[float, float]:
        """Return mean return and steps of the recent games; NaN where there are none."""
        if not self.recent:
            return float("nan"), float("nan")
        returns, lengths = zip(*self.recent, strict=True)
        return float(np.mean(returns)), float(np.mean(lengths))


def _row(episode: Episode, begun: int, num_envs: int) -> dict[str, Any]:
    return {
        "step": begun + (episode.time + 1) * num_envs,
        "env": episode.env,
        "return": episode.total,
        "length": episode.length,
        "frames": episode.frames,
        "ended_by": episode.ended_by,
    }


def _keep(run: Run, learner: PPO, history: History, keep: int | None) -> None:
    """Write a checkpoint."""
    score, survival = history.means()
    facts: dict[str, Any] = {"game": run.game, "games": history.games}
    if history.recent:
        facts |= {"return": score, "length": survival, "window": len(history.recent)}
    run.write_checkpoint(learner.step, pack(learner, history), facts, keep)


def pack(learner: PPO, history: History) -> bytes:
    """Return all that the next step depends on, and what a policy needs to play."""
    file = io.BytesIO()
    torch.save(
        {
            "config": learner.config.to_dict(),
            "network": learner.network.facts,
            "weights": learner.network.state_dict(),
            "optimizer": learner.optimizer.state_dict(),
            "random": learner.random.bit_generator.state,
            "step": learner.step,
            # Bytes are no tensors' type, and only tensors and plain data are loaded again.
            "envs": [_tensor(_env(shard).state()) for shard in learner.shards],
            "dead": [torch.from_numpy(shard.dead.copy()) for shard in learner.shards],
            "recent": list(history.recent),
            "games": history.games,
        },
        file,
    )
    return file.getvalue()


def load(learner: PPO, history: History, state: Mapping[str, Any]) -> None:
    """Take up what `pack` put down; the environments play their games up to there again.

    Raises:
        RetrokitError: It is of other settings.
    """
    try:
        learner.network.load_state_dict(state["weights"])
        learner.optimizer.load_state_dict(state["optimizer"])
        learner.random.bit_generator.state = state["random"]
        learner.step = state["step"]
        history.recent.extend((total, length) for total, length in state["recent"])
        history.games = state["games"]
        states: Sequence[Any] = state["envs"]
        dead = state["dead"]
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        word = str(error).partition("\n")[0]
        raise UserError(f"the checkpoint does not fit ({word})", "this run's own") from None
    if len(states) != len(learner.shards):
        raise RetrokitError(f"a checkpoint of {len(states)} shards", f"{len(learner.shards)}")

    def restore(number: int) -> None:
        shard = learner.shards[number]
        shard.begin(_env(shard).restore(states[number].numpy().tobytes()))
        shard.dead = dead[number].numpy().copy()

    learner.team.each(restore)


def _env(shard: Shard) -> RetroVectorEnv:
    assert isinstance(shard.env, RetroVectorEnv)
    return shard.env


def _tensor(data: bytes) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(data, np.uint8).copy())
