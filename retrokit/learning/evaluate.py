"""Evaluation: whole games, raw points, a seed for each, and nothing played twice.

An episode is fixed by its seed alone: the environment's generator and the policy's draws come from
it, and a policy is asked in batches of one size, so that neither the number of environments nor
what the others do changes a float.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..errors import UserError
from ..lanes import REST
from ..load import Game
from ..metrics import EVALUATIONS
from ..options import EnvOptions
from ..policy import Decision, Policy, rows_of
from ..run import Run
from ..vector import RetroVectorEnv
from .players import RANDOM, Player

if TYPE_CHECKING:
    from pandas import DataFrame

EPISODES = 15
SEED = 10_000  # far from those of training, which count from the run's own
KEPT = "finished episodes are kept: the same command goes on"  # after Ctrl-C
BATCH = 16  # rows a policy is asked for at once: another size may round another way
_CANDIDATES = 8  # seeds that are looked at for each one that is wanted
_BEGINNINGS = (("starts",), ("noops",), ("starts", "noops"))  # what is random then is the beginning
_DRAWS = 0x706C6179  # parts a policy's draws from the environment's of the same seed


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole game.

    Attributes:
        seed: What it was played with.
        points: Its return, raw.
        steps, frames: Its length; frames count from the savestate, waits included.
        ended_by: ``game over``, ``frames`` (the limit) or ``crash``.
        trace: Of actions and points, step by step: copies have the same.
    """

    seed: int
    points: float
    steps: int
    frames: int
    ended_by: str
    trace: str


def play(
    policy: Policy,
    envs: RetroVectorEnv,
    seeds: Sequence[int],
    sampled: bool,
    tick: Callable[[int], None] = lambda steps: None,
) -> Iterator[tuple[int, Episode]]:
    """Play an episode of each seed, and yield each as it ends, with its environment's row.

    Those that end first are the short ones: judge none before all have ended.

    Args:
        policy: What plays.
        envs: With autoreset DISABLED and raw rewards. While an episode is yielded, its row still
            shows the end.
        seeds: Of the episodes.
        sampled: Draw actions; otherwise take the likeliest.
        tick: Is told after each step how many were played so far.
    """
    if envs.autoreset_mode is not AutoresetMode.DISABLED:
        raise UserError(f"autoreset {envs.autoreset_mode.value}", "Disabled")
    waiting = iter(seeds)
    lanes = [_Lane(next(waiting, None)) for _ in range(envs.num_envs)]
    observations, _ = envs.reset(seed=[lane.seed or 0 for lane in lanes])
    steps = 0
    while playing := sum(lane.seed is not None for lane in lanes):
        draws = np.array([lane.draw() for lane in lanes]) if sampled else None
        actions = decide(policy, observations, draws).actions
        actions = np.array([lane.act(action) for lane, action in zip(lanes, actions, strict=True)])
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for lane, reward in zip(lanes, rewards, strict=True):
            lane.rewards.append(reward)
        steps += playing
        tick(steps)
        ended = terminated | truncated
        for row in np.flatnonzero(ended).tolist():
            if lanes[row].seed is not None:
                yield row, lanes[row].episode(infos, row)
            if not lanes[row].rests:
                lanes[row] = _Lane(next(waiting, None), rests=True)
        begin = ended & [lane.seed is not None for lane in lanes]
        if begin.any():
            fresh = [lane.seed for lane in lanes]
            observations, _ = envs.reset(seed=fresh, options={"reset_mask": begin})


class _Lane:
    """The episode under way in one environment; without a seed nobody's, and at last at rest."""

    def __init__(self, seed: int | None, rests: bool = False) -> None:
        self.seed, self.rests = seed, rests and seed is None
        self.actions: list[int] = []
        self.rewards: list[float] = []
        self.random = draws_of(seed or 0)

    def draw(self) -> float:
        return self.random.random()

    def act(self, action: int) -> int:
        self.actions.append(action)
        return REST if self.rests else action

    def episode(self, infos: Mapping[str, Any], row: int) -> Episode:
        game = infos["raw_episode"]
        trace = hashlib.sha256(np.array(self.actions, np.int32).tobytes())
        trace.update(np.array(self.rewards, np.float64).tobytes())
        assert self.seed is not None
        return Episode(
            seed=self.seed,
            points=float(game["return"][row]),
            steps=int(game["length"][row]),
            frames=int(game["frames"][row]),
            ended_by=str(infos["ended_by"][row]),
            trace=trace.hexdigest()[:16],
        )


def draws_of(seed: int) -> np.random.Generator:
    """Return what a sampled policy draws from in the episode of a seed, a number a step."""
    return np.random.default_rng([_DRAWS, seed])


def decide(policy: Policy, observations: Any, draws: NDArray[np.float64] | None) -> Decision:
    """Ask a policy in batches of `BATCH` rows, the last one filled up."""
    count = rows_of(observations)
    parts = []
    for first in range(0, count, BATCH):
        rows = np.minimum(np.arange(first, first + BATCH), count - 1)
        if isinstance(observations, dict):
            some: Any = {name: part[rows] for name, part in observations.items()}
        else:
            some = observations[rows]
        parts.append(policy.act(some, None if draws is None else draws[rows]))
    values = None
    if parts[0].values is not None:
        values = np.concatenate([part.values for part in parts])[:count]
    return Decision(
        np.concatenate([part.actions for part in parts])[:count],
        values,
        np.concatenate([part.probabilities for part in parts])[:count],
    )


class Evaluator:
    """Plays whole games of one game, and keeps them in the run they belong to.

    Args:
        game: What is played.
        options: As `options_of` gives them.
        run: Keeps episodes and movies; None keeps nothing.
        num_envs: Environments at once; changes nothing but the time.
        threads: At work at once; None: as many as there are CPUs.
    """

    def __init__(
        self,
        game: Game,
        options: EnvOptions,
        run: Run | None = None,
        *,
        num_envs: int = BATCH,
        threads: int | None = None,
    ) -> None:
        self.game, self.options, self.run = game, options, run
        self.num_envs, self.threads = num_envs, threads
        self.settings = _settings(game, options)
        self._envs: RetroVectorEnv | None = None

    def frame(
        self,
        player: Player,
        episodes: int = EPISODES,
        seed: int = SEED,
        *,
        again: bool = False,
        report: Callable[[int, int], None] = lambda played, steps: None,
    ) -> DataFrame:
        """Return a row for each of a player's episodes, in the order of their seeds.

        What the run has of this checkpoint, these settings and these seeds is not played again.

        Args:
            player: Who plays.
            episodes: How many.
            seed: Of the first; the others are the next ones, see `seeds`.
            again: Play all, whatever there is.
            report: Is told how many there are by now, and how many steps were played for them;
                after each step.

        Returns:
            ``checkpoint``, ``step``, ``play``, ``settings``, ``seed``, ``return``, ``steps``,
            ``frames``, ``points_per_step``, ``ended_by``, ``trace``, and ``movie``: relative to the
            run's folder, or None.
        """
        from pandas import DataFrame

        seeds = self.seeds(player, episodes, seed)
        known = {} if again or self.run is None else self._known(player)
        rows = {seed: known[seed] for seed in seeds if seed in known}
        missing = [seed for seed in seeds if seed not in rows]
        report(len(rows), 0)
        if missing:
            envs, sampled = self._open(episodes), player.play == "sampled"

            def tick(steps: int) -> None:
                report(len(rows), steps)

            for lane, episode in play(player.load(), envs, missing, sampled, tick):
                row = self._row(player, episode)
                row["movie"] = self._film(envs, lane, row)
                if self.run is not None and episode.ended_by != "crash":
                    self.run.metrics.append(EVALUATIONS, row)
                rows[episode.seed] = row
        return DataFrame([rows[seed] for seed in seeds])

    def seeds(self, player: Player, episodes: int = EPISODES, seed: int = SEED) -> Sequence[int]:
        """Return the seeds of a player's episodes: the first and those that follow it.

        A greedy player that waits as long at the same start plays the same game, unless buttons
        stick. So seeds are passed over that begin as one before, while there are others: of the
        beginnings that a game has, each is played once before one is played again.
        """
        plain = range(seed, seed + episodes)
        if player.play == "sampled" or self.options.randomness not in _BEGINNINGS:
            return plain
        envs = self._open(episodes)
        chosen: list[int] = []
        begun: set[tuple[int, int]] = set()
        for first in range(seed, seed + _CANDIDATES * episodes, envs.num_envs):
            some = range(first, first + envs.num_envs)
            envs.reset(seed=list(some))
            for row, candidate in enumerate(some):
                start, buttons = envs.log(row)
                if (start, len(buttons)) not in begun and len(chosen) < episodes:
                    begun.add((start, len(buttons)))
                    chosen.append(candidate)
            if len(chosen) == episodes:
                return chosen
        others = (candidate for candidate in itertools.count(seed) if candidate not in chosen)
        return sorted([*chosen, *itertools.islice(others, episodes - len(chosen))])

    def _known(self, player: Player) -> dict[int, dict[str, Any]]:
        """Return by seed the rows that the run has of a player under these settings."""
        assert self.run is not None
        frame = self.run.metrics.frame(EVALUATIONS)
        if frame.empty:
            return {}
        wanted = {
            "checkpoint": player.checkpoint, "play": player.play, "settings": self.settings,
        }  # fmt: skip
        for name, value in wanted.items():
            frame = frame[frame[name] == value]
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        step = {"step": player.step}  # older runs have it as a float
        return {int(row["seed"]): {str(k): v for k, v in row.items()} | step for row in rows}

    def _open(self, episodes: int) -> RetroVectorEnv:
        count = max(1, min(self.num_envs, episodes))
        if self._envs is None or self._envs.num_envs < count:
            self.close()
            self._envs = RetroVectorEnv(
                self.game,
                count,
                threads=self.threads,
                autoreset_mode=AutoresetMode.DISABLED,
                options=self.options,
            )
        return self._envs

    def _row(self, player: Player, episode: Episode) -> dict[str, Any]:
        return {
            "checkpoint": player.checkpoint,
            "step": player.step,
            "play": player.play,
            "settings": self.settings,
            "seed": episode.seed,
            "return": episode.points,
            "steps": episode.steps,
            "frames": episode.frames,
            "points_per_step": episode.points / max(episode.steps, 1),
            "ended_by": episode.ended_by,
            "trace": episode.trace,
        }

    def _film(self, envs: RetroVectorEnv, lane: int, row: Mapping[str, Any]) -> str | None:
        """Keep the movie of an episode that just ended; a crash leaves none."""
        if self.run is None or row["ended_by"] == "crash":
            return None
        step = RANDOM if row["step"] is None else f"{row['step']:010d}-{row['play']}"
        # Under other settings the same seed is another game.
        path = Path("movies") / f"{step}-{row['seed']}-{self.settings[:6]}.movie"
        (self.run.path / "movies").mkdir(exist_ok=True)
        envs.movie(lane, dict(row)).save(self.run.path / path)
        return str(path)

    def close(self) -> None:
        """Close the environments; closing twice is harmless."""
        envs, self._envs = self._envs, None
        if envs is not None:
            envs.close()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def median_episode(frame: DataFrame) -> dict[str, Any]:
    """Return the row in the middle by return; of an even number, the lower of the two.

    Equal returns are ordered by length, then by seed.
    """
    ordered = frame.sort_values(["return", "steps", "seed"])
    return {str(name): value for name, value in ordered.iloc[(len(frame) - 1) // 2].items()}


def copies(frame: DataFrame) -> list[list[int]]:
    """Return the seeds of episodes that are copies of one another, group by group."""
    groups = frame.groupby("trace", sort=False)["seed"].agg(list)
    return [seeds for seeds in groups if len(seeds) > 1]


def _settings(game: Game, options: EnvOptions) -> str:
    """Return a digest of all that an episode depends on beside its seed and who plays."""
    facts = asdict(options)
    facts["starts"] = [
        hashlib.sha256(start).hexdigest() if isinstance(start, bytes) else start
        for start in options.starts
    ]
    integration = {k: v for k, v in game.integration.to_dict().items() if k != "evidence"}
    known = [game.content.sha1, game.found.spec.name, _core_hash(game), facts, integration]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def _core_hash(game: Game) -> str:
    with game.found.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
