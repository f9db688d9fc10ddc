"""Evaluation counts whole games in raw points, and an episode is fixed by its seed alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from retrokit.errors import UserError
from retrokit.learning.evaluate import (
    BATCH,
    Evaluator,
    copies,
    decide,
    median_episode,
    play,
)
from retrokit.learning.players import Player, options_of, random_player
from retrokit.learning.statistics import summarise
from retrokit.load import Game
from retrokit.movie import Movie
from retrokit.options import EnvOptions
from retrokit.policy import Decision, RandomPlay, choose
from retrokit.run import Run
from retrokit.vector import RetroVectorEnv

Three = Callable[..., Game]
RAM: dict[str, Any] = {"observation": "ram", "ram": [4, 5, 6, 7, 9, 10], "stack": 1, "skip": 2}


class Always:
    """The policy that always acts the same."""

    def __init__(self, action: int) -> None:
        self.action, self.batches = action, 0

    def act(self, observations: Any, draws: Any) -> Decision:
        self.batches += 1
        assert len(observations) == BATCH
        likely = np.zeros((BATCH, 3), np.float32)
        likely[:, self.action] = 1
        return Decision(choose(likely, draws), np.zeros(BATCH, np.float32), likely)


class Seeing:
    """A policy whose choice hangs on all that it sees."""

    def act(self, observations: Any, draws: Any) -> Decision:
        seen = observations["ram"] if isinstance(observations, dict) else observations
        flat = seen.reshape(len(seen), -1).astype(np.float64) * 7.3
        likely = np.stack([np.sin(flat.sum(1) * k) ** 2 + 0.05 for k in (1, 2, 3)], 1)
        likely = (likely / likely.sum(1, keepdims=True)).astype(np.float32)
        return Decision(choose(likely, draws), None, likely)


def player(policy: Any, how: Any = "greedy", checkpoint: str = "abc", step: int = 512) -> Player:
    return Player(checkpoint, step, how, lambda: policy)


def evaluated(game: Game, who: Player, episodes: int = 15, **options: Any) -> pd.DataFrame:
    num_envs = options.pop("num_envs", BATCH)
    with Evaluator(game, EnvOptions(**{**RAM, **options}), num_envs=num_envs) as evaluator:
        return evaluator.frame(who, episodes)


def test_a_policy_that_always_acts_the_same_plays_one_episode(three: Three) -> None:
    frame = evaluated(three(LENGTH=11), player(Always(1)))
    summary = summarise(frame["return"], frame["steps"], frame["trace"])
    assert (summary.episodes, summary.distinct, summary.interval) == (15, 1, None)
    assert copies(frame) == [list(range(10_000, 10_015))]
    assert set(frame["return"]) == {
        10 * 6.0
    }  # the first frame is the reset's; with B held one pays 6
    assert set(evaluated(three(LENGTH=11), player(Always(0)))["return"]) == {10 * 5.0}


def test_episodes_that_differ_are_no_copies(three: Three) -> None:
    frame = evaluated(three(LENGTH=11), player(Seeing(), "sampled"))
    assert frame["trace"].nunique() > 10
    assert frame["seed"].tolist() == list(range(10_000, 10_015))


@pytest.mark.parametrize("how", ["greedy", "sampled"])
@pytest.mark.parametrize("more", [{"noops": 4, "sticky": 0.25}, {"observation": "grey+ram"}])
def test_the_number_of_environments_changes_nothing(
    three: Three, how: str, more: dict[str, Any]
) -> None:
    game = three(LENGTH=23, LIVES=2)
    frames = [
        evaluated(game, player(Seeing(), how), 19, num_envs=count, **more)
        for count in (1, 4, 16, 19)
    ]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0])
    if "sticky" in more:
        assert frames[0]["trace"].nunique() > 10


def test_a_greedy_player_begins_each_game_in_another_way(three: Three) -> None:
    """While there are others: of 15 waits out of 20 chance alone would leave some twice."""
    game = three(LENGTH=60)
    for num_envs in (4, 16):
        frame = evaluated(game, player(Always(1)), noops=19, skip=1, num_envs=num_envs)
        assert frame["frames"].nunique() == 1 and frame["steps"].nunique() == 15
        assert frame["seed"].is_unique and frame["seed"].max() > 10_014
    few = evaluated(game, player(Always(1)), noops=2, skip=1)
    assert few["steps"].nunique() == 3 and len(few) == 15 and few["seed"].is_unique
    for how, more in (("sampled", {}), ("greedy", {"sticky": 0.5})):
        frame = evaluated(game, player(Always(1), how), noops=19, skip=1, **more)
        assert frame["seed"].tolist() == list(range(10_000, 10_015))


def test_a_networks_floats_do_not_hang_on_how_many_are_asked() -> None:
    """Though a batch of another size rounds another way."""
    pytest.importorskip("torch")
    from retrokit.learning.config import TrainConfig
    from retrokit.learning.networks import Network
    from retrokit.learning.trained import TrainedPolicy

    policy = TrainedPolicy(Network({"picture": (4, 84, 84)}, False, 18), TrainConfig("three"))
    seen = np.random.default_rng(0).integers(256, size=(40, 4, 84, 84)).astype(np.uint8)
    every = decide(policy, seen, None)
    for count in (1, 3, 15, 17):
        some = decide(policy, seen[:count], None)
        assert np.array_equal(some.probabilities, every.probabilities[:count])
        assert some.values is not None and every.values is not None
        assert np.array_equal(some.values, every.values[:count])
    moved = decide(policy, np.roll(seen, 5, axis=0), None)
    assert np.array_equal(np.roll(every.probabilities, 5, axis=0), moved.probabilities)


def test_games_are_whole_and_points_raw(three: Three) -> None:
    """Though training clips the reward and ends an episode with each life."""
    config = {"env": {**RAM, "reward": "clip", "life_episodes": True, "stall": 3, "size": [9, 9]}}
    options = options_of(config)
    assert options.size == (9, 9) and options.stall is None
    game = three(LENGTH=20, LIVES=3)
    with Evaluator(game, options) as evaluator:
        frame = evaluator.frame(player(Always(1)), 2)
    assert frame["return"].tolist() == [354.0, 354.0]  # 59 frames after the reset's
    assert frame["steps"].tolist() == [30, 30] and set(frame["ended_by"]) == {"game over"}
    assert frame["points_per_step"].tolist() == [11.8, 11.8]
    with Evaluator(game, options_of({"env": {**RAM, "max_frames": 8}})) as evaluator:
        assert set(evaluator.frame(player(Always(1)), 2)["ended_by"]) == {"frames"}


def test_random_play_is_a_player(three: Three) -> None:
    game = three(LENGTH=40)
    who = random_player(game)
    assert who.name == "random"
    frame = evaluated(game, who, 30)
    assert frame["step"].isna().all() and frame["trace"].nunique() == 30
    assert 200 + 40 * 0.2 < frame["return"].mean() < 200 + 40 * 0.5  # B in a third of the steps


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run.create(tmp_path, "three", {}, "", {})
    made.close()
    return Run.open(made.path)  # a reader may keep what it played


def test_nothing_is_played_twice(three: Three, run: Run) -> None:
    policy = Always(1)
    game, options = three(LENGTH=11), EnvOptions(**RAM)
    told: list[int] = []

    def report(played: int, steps: int) -> None:
        told.append(played)

    with Evaluator(game, options, run) as evaluator:
        first = evaluator.frame(player(policy), 5, report=report)
        assert told[0] == 0 and len(told) > 3
        told.clear()
        batches = policy.batches
        pd.testing.assert_frame_equal(evaluator.frame(player(policy), 5), first)
        assert policy.batches == batches and evaluator.frame(player(policy), 3).shape[0] == 3
        evaluator.frame(player(policy), 7, report=report)  # two more
        assert told[0] == 5 and policy.batches > batches
        batches = policy.batches
        evaluator.frame(player(policy), 5, again=True)
        assert policy.batches > batches
    # Another checkpoint, another way of playing, other settings: not the same episodes.
    table = run.metrics.frame("evaluations")
    assert len(table) == 5 + 2 + 5
    for who, changes in (
        (player(policy, checkpoint="abd"), {}),
        (player(policy, "sampled"), {}),
        (player(policy), {"noops": 1}),
    ):
        with Evaluator(game, EnvOptions(**{**RAM, **changes}), run) as evaluator:
            told.clear()
            evaluator.frame(who, 2, report=report)
            assert told[0] == 0


def test_each_episode_leaves_its_movie(three: Three, run: Run) -> None:
    with Evaluator(three(LENGTH=11), EnvOptions(**RAM, noops=6), run, num_envs=2) as evaluator:
        frame = evaluator.frame(player(Always(1), step=5), 3)
        random = evaluator.frame(random_player(evaluator.game), 1)
    assert random["movie"].tolist() == [f"movies/random-10000-{evaluator.settings[:6]}.movie"]
    for row in frame.itertuples():
        assert row.movie.startswith(f"movies/0000000005-greedy-{row.seed}-")
        movie = Movie.load(run.path / row.movie)
        assert movie.facts["seed"] == row.seed and movie.facts["trace"] == row.trace
        assert len(movie.buttons) + movie.wait >= row.frames


def test_what_ended_before_ctrl_c_is_kept(three: Three, run: Run) -> None:
    class Tired(Always):
        def act(self, observations: Any, draws: Any) -> Decision:
            if self.batches == 14:
                raise KeyboardInterrupt
            return super().act(observations, draws)

    options = EnvOptions(**RAM)
    with Evaluator(three(LENGTH=11), options, run, num_envs=2) as evaluator:
        with pytest.raises(KeyboardInterrupt):
            evaluator.frame(player(Tired(1)), 15)
        assert len(run.metrics.frame("evaluations")) == 4
        told: list[tuple[int, int]] = []
        frame = evaluator.frame(player(Always(1)), 15, report=lambda *now: told.append(now))
    assert told[0] == (4, 0) and told[-1][1] == frame["steps"][4:].sum()
    assert len(frame) == 15 and frame["seed"].is_unique
    assert frame["trace"].nunique() == 1


def test_autoreset_must_be_off(three: Three) -> None:
    envs = RetroVectorEnv(three(), 2)
    with pytest.raises(UserError, match="autoreset NextStep; wanted Disabled"):
        next(play(RandomPlay(3), envs, [1], True))
    envs.close()


def test_a_policy_is_always_asked_for_as_many_rows() -> None:
    class Counting:
        def act(self, observations: Any, draws: Any) -> Decision:
            assert observations["picture"].shape == (BATCH, 2) and draws.shape == (BATCH,)
            number = observations["picture"][:, 0]
            return Decision(number, number.astype(np.float32), np.ones((BATCH, 1), np.float32))

    for count in (1, 15, 16, 17, 40):
        seen = {"picture": np.arange(count * 2).reshape(count, 2), "ram": np.zeros((count, 1))}
        decision = decide(Counting(), seen, np.zeros(count))
        assert decision.actions.tolist() == list(range(0, 2 * count, 2))
        assert decision.values is not None and len(decision.values) == count
        assert decision.probabilities.shape == (count, 1)
    assert decide(RandomPlay(4), np.zeros((3, 1)), np.zeros(3)).values is None


def test_the_median_episode() -> None:
    frame = pd.DataFrame(
        {"return": [5.0, 1, 9, 5], "steps": [8, 1, 1, 7], "seed": [0, 1, 2, 3], "movie": "m"}
    )
    assert median_episode(frame)["seed"] == 3
    assert median_episode(frame[:3])["seed"] == 0
    assert median_episode(frame[:1])["return"] == 5
