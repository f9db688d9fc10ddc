"""Play before somebody's eyes: what is seen is what the environment played, frame by frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.learning.evaluate import Evaluator, draws_of
from retrokit.learning.players import random_player
from retrokit.load import Game, open_game
from retrokit.movie import Movie
from retrokit.options import EnvOptions
from retrokit.policy import Decision, RandomPlay
from retrokit.sandbox import Stopped
from retrokit.views.play import Agent, Person, Play, Stage
from retrokit.views.scene import Command, Input, Scene
from retrokit.views.watch import Watch

OPTIONS = EnvOptions(skip=4, sticky=0.3)
START = 1 << 3
Three = Callable[..., Game]


class Counting:
    """A policy that takes the actions in turn and expects their number."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, observations: Any, draws: Any) -> Decision:
        action = self.asked % 3
        self.asked += 1
        chances = np.eye(3, dtype=np.float32)[[action]]
        return Decision(np.array([action]), np.array([float(self.asked)], np.float32), chances)


class Keys:
    """A screen that presses keys by the number of its looks, and keeps what it was shown."""

    real_time = False

    def __init__(self, commands: dict[int, Command], buttons: int = 0) -> None:
        self.commands, self.buttons, self.looks = commands, buttons, 0
        self.shown: list[Scene] = []

    def input(self) -> Input:
        self.looks += 1
        given = self.commands.get(self.looks)
        return Input(self.buttons, (given,) if given else ())

    def show(self, scene: Scene) -> None:
        self.shown.append(scene)


@pytest.fixture
def playing() -> Iterator[Callable[..., Play]]:
    """Make a play that is closed at the end of the test."""
    made: list[Play] = []

    def make(game: Game, player: Any = None, seed: int = 0, **stage: Any) -> Play:
        made.append(Play(Stage(game, **stage), player or Person(), seed))
        return made[-1]

    yield make
    for play in made:
        play.close()


def test_an_agent_is_seen_frame_by_frame(three: Three, playing: Callable[..., Play]) -> None:
    game = three(LENGTH=30)
    agent = Agent(game, OPTIONS, Counting(), "counting", None)
    play = playing(game, agent, 3)
    scenes = []
    while not play.over:
        scenes.append(play.frame(0))
    ended, scenes = scenes[-1], scenes[:-1]
    movie = agent.movie(play.stage)
    assert ended.over == "game over" and len(scenes) == movie.frames
    assert [scene.frame for scene in scenes] == list(range(1, movie.frames + 1))
    held = [scene.variables["held"] for scene in scenes]
    assert held == (movie.buttons[:, 0] & 0xFF).tolist()
    assert scenes[-1].variables["mode"] == 2 and scenes[-2].variables["mode"] == 1
    # An environment shows the frame after its start, which nobody has decided.
    assert scenes[0].thought is None
    decided = [scene.thought.action for scene in scenes[1:] if scene.thought is not None]
    assert decided == [step % 3 for step in range(8) for _ in range(4)][: movie.frames - 1]
    assert scenes[-1].values.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert scenes[0].actions == ("nothing", "B", "A")


def test_games_of_equal_seeds_are_those_of_an_evaluation(
    three: Three, playing: Callable[..., Play]
) -> None:
    game = three(LENGTH=40)
    player = random_player(game)
    with Evaluator(game, OPTIONS, num_envs=2) as evaluator:
        judged = evaluator.frame(player, 3, 50)
    play = playing(game, Agent(game, OPTIONS, RandomPlay(3), "random play", draws_of), 50)
    for points, frames in zip(judged["return"], judged["frames"], strict=True):
        while not play.over:
            scene = play.frame(0)
        assert (scene.variables["score"] - 5, scene.frame) == (points, frames)  # 5 come before
        play.begin()


def test_a_person_plays(three: Three, playing: Callable[..., Play]) -> None:
    play = playing(three(LENGTH=10))
    scenes = [play.frame(number % 2) for number in range(10)]
    assert [scene.variables["held"] for scene in scenes] == [0, 1] * 5
    assert [scene.buttons for scene in scenes[:2]] == [(), ("B",)]
    assert scenes[-1].over == "game over" and scenes[-2].over == ""
    assert scenes[-1].variables["score"] == 10 * 5 + 5
    after = play.frame(1)
    assert after.over and after.frame == 10  # nothing runs on: the demo is not watched
    movie = play.movie()
    assert (movie.frames, movie.facts["score"], movie.facts["player"]) == (10, 55, "you")
    play.begin()
    assert play.frame(0).frame == 1 and play.episode == 2


def test_a_persons_game_from_a_state(three: Three, playing: Callable[..., Play]) -> None:
    game = three(LENGTH=50)
    first = playing(game)
    for _ in range(7):
        first.frame(1)
    state = first.stage.core.save()
    second = playing(game, Person(state))
    assert second.frame(0).variables["score"] == 7 * 6 + 5
    assert second.movie().savestate == state


def test_the_picture_is_turned_and_heard_on_demand(
    three: Three, playing: Callable[..., Play]
) -> None:
    straight, turned = playing(three()), playing(three(), rotate=90)
    one, other = straight.frame(0), turned.frame(0)
    assert (np.rot90(one.picture) == other.picture).all()
    assert turned.stage.aspect == pytest.approx(1 / straight.stage.aspect)
    assert one.sound is None
    assert playing(three(), sound=True).frame(0).sound is not None


# -- the loop ------------------------------------------------------------------------------------


def nothing(event: Any) -> None:
    """Be the parent that says nothing."""


def test_pause_step_and_restart(three: Three, playing: Callable[..., Play]) -> None:
    play = playing(three(LENGTH=1000))
    keys = Keys({4: "pause", 7: "step", 8: "step", 10: "pause", 12: "restart", 15: "quit"})
    seen = Watch(play, keys, nothing).run()
    frames = [(scene.episode, scene.frame, scene.speed) for scene in keys.shown]
    assert frames[:3] == [(1, 1, 1), (1, 2, 1), (1, 3, 1)]
    assert frames[3:6] == [(1, 3, 0)] * 3
    assert frames[6:9] == [(1, 4, 0), (1, 5, 0), (1, 5, 0)]
    assert frames[9:] == [(1, 6, 1), (1, 7, 1), (2, 1, 1), (2, 2, 1), (2, 3, 1)]
    assert (seen.frames, seen.ended) == ([7, 3], ["", ""])


def test_speeds_and_their_limits(three: Three, playing: Callable[..., Play]) -> None:
    keys = Keys({1: "slower", **{look: "faster" for look in range(3, 9)}, 12: "quit"})
    Watch(playing(three(LENGTH=1000)), keys, nothing).run()
    speeds = [scene.speed for scene in keys.shown]
    assert speeds == [0.5, 0.5, 1, 2, 4, 4, 4, 4, 4, 4, 4]


def test_games_go_on_and_movies_are_kept(
    three: Three, playing: Callable[..., Play], tmp_path: Path
) -> None:
    play = playing(three(LENGTH=10))
    keys = Keys({}, buttons=1)
    seen = Watch(play, keys, nothing, games=2, record=tmp_path / "a.movie").run()
    assert (seen.scores, seen.ended, seen.frames) == ([60, 60], ["game over"] * 2, [10, 10])
    assert seen.files == [tmp_path / "a.movie", tmp_path / "a-2.movie"]
    for path in seen.files:
        assert Movie.load(path).frames == 10
    ends = [scene.over for scene in keys.shown if scene.episode == 1]
    assert len(ends) == 10 + 89  # the end stays to be seen for a second and a half


def test_a_state_is_saved_where_games_can_start(
    three: Three, playing: Callable[..., Play], tmp_path: Path
) -> None:
    game = three(LENGTH=1000)
    keys = Keys({6: "save", 9: "quit"}, buttons=1)
    seen = Watch(playing(game), keys, nothing, folder=tmp_path).run()
    assert seen.files == [tmp_path / "three-1-5.state"]
    assert "saved three-1-5.state" in [scene.note for scene in keys.shown]
    again = playing(game, Person(seen.files[0].read_bytes()))
    assert again.frame(0).variables["score"] == 5 * 6 + 5


def test_seconds_are_the_cores_own(three: Three, playing: Callable[..., Play]) -> None:
    keys = Keys({})
    seen = Watch(playing(three(LENGTH=1000)), keys, nothing, seconds=0.5).run()
    assert seen.frames == [30]


def test_ctrl_c_ends_it_in_order(
    three: Three, playing: Callable[..., Play], tmp_path: Path
) -> None:
    def emit(event: Any) -> None:
        if event == ("frame", 5):
            raise Stopped

    play = playing(three(LENGTH=1000))
    seen = Watch(play, Keys({}), emit, record=tmp_path / "a.movie").run()
    assert seen.frames == [5] and Movie.load(tmp_path / "a.movie").frames == 5


def test_the_game_runs_at_its_own_speed(three: Three, playing: Callable[..., Play]) -> None:
    class Slow(Keys):
        real_time = True

        def show(self, scene: Scene) -> None:
            super().show(scene)
            time.sleep(0.03)  # two frames' time

    keys = Slow({})
    begun = time.monotonic()
    Watch(playing(three(LENGTH=1000)), keys, nothing, seconds=1.0).run()
    assert 0.9 < time.monotonic() - begun < 1.8
    assert 15 <= len(keys.shown) < 45  # some frames were not shown, so that time is kept


def test_a_real_game_looks_the_same_to_agent_and_stage(playing: Callable[..., Play]) -> None:
    pytest.importorskip("stable_retro")
    game = open_game("burrow")
    agent = Agent(game, EnvOptions(noops=30, sticky=0.25), RandomPlay(18), "random", draws_of)
    play = playing(game, agent, 7)
    for _ in range(600):
        play.frame(0)
    lanes = agent._env.lanes
    while agent._frames:
        play.frame(0)
    assert (play.stage.core.read() == lanes.ram(0)).all()
