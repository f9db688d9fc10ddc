"""Exploring, on a corridor whose end pays: random play hardly leaves its second leg."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrokit.content import Content
from retrokit.core import Core
from retrokit.discovery.actions import Buttons
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.explore import AT_RANDOM, EXPLORED, LONGER, long_play
from retrokit.discovery.record import Recording, join, record
from retrokit.discovery.search import EPISODES, search
from retrokit.load import Game
from retrokit.policy import STYLES
from retrokit.systems import FoundCore
from retrokit.verify_proof import judge, replay

Y, SCORE = 5, 0x80  # tests/cores/maze.c
STICK = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))
BUTTONS = Buttons([list(action) for action in STICK], ["LEFT", "RIGHT", "UP", "DOWN"], [], [], [])


@pytest.fixture(scope="module")
def maze(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> tuple[FoundCore, Content]:
    return fake_core("maze"), fake_content()


@pytest.fixture(scope="module")
def plain(maze: tuple[FoundCore, Content]) -> Recording:
    """Two rounds of plain play."""
    with Core.open(*maze) as core:
        core.run(2)
        state = core.save()
        rounds = [
            record(core, state, STICK, (), seed=turn, first=turn * EPISODES) for turn in range(2)
        ]
    return join(*rounds)


def played(game: tuple[FoundCore, Content], plain: Recording, seed: int) -> np.ndarray:
    with Core.open(*game) as core:
        core.run(1)
        logs, names = long_play(core, plain, BUTTONS, None, EPISODES, [seed])
    assert names == [*(style.name for style in STYLES), *[EXPLORED] * (EPISODES - AT_RANDOM)]
    return logs


def test_restarts_go_where_random_play_does_not(
    maze: tuple[FoundCore, Content], plain: Recording
) -> None:
    assert not plain.series(SCORE).any()
    logs = played(maze, plain, 0)
    assert logs.shape == (EPISODES, LONGER * plain.buttons.shape[1]) and logs.dtype == np.uint16
    assert len({log[:300].tobytes() for log in logs}) == EPISODES  # each is a game of its own
    with Core.open(*maze) as core:
        core.run(1)
        again = record(core, plain.state, STICK, (), known=logs, frames=logs.shape[1])
    far, scored = again.series(Y).max(axis=1), again.series(SCORE).any(axis=1)
    assert far[:AT_RANDOM].max() < far[AT_RANDOM:].max()
    assert not scored[:AT_RANDOM].any() and scored[AT_RANDOM:].any()


def test_same_seed_same_play(
    maze: tuple[FoundCore, Content], plain: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrokit.discovery.explore.BUDGET", 1500)
    one, again, other = (played(maze, plain, seed) for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert (one != other).any(axis=1).all()


def test_what_was_played_before_is_not_played_again(
    maze: tuple[FoundCore, Content], plain: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrokit.discovery.explore.BUDGET", 200)
    known = [np.full(LONGER * plain.buttons.shape[1], number, np.uint16) for number in range(6)]
    with Core.open(*maze) as core:
        logs, _ = long_play(core, plain, BUTTONS, None, EPISODES, [0], known)
        assert np.array_equal(logs, known)
        logs, _ = long_play(core, plain, BUTTONS, None, EPISODES, [0], known[:5])
        assert not np.array_equal(logs[0], known[0])


def test_episodes_are_shorter_where_much_ram_moves(
    maze: tuple[FoundCore, Content], plain: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrokit.discovery.explore.BUDGET", 200)
    moving = int((plain.changes() > 0).sum())
    monkeypatch.setattr("retrokit.discovery.explore.LONG_BYTES", 18 * moving * 2000)
    assert played(maze, plain, 0).shape == (EPISODES, 2000)


def test_nobody_explores_with_a_paddle_that_is_forgotten(
    maze: tuple[FoundCore, Content], plain: Recording
) -> None:
    with Core.open(*maze) as core:
        core.home = np.zeros(1, np.uint16)
        _, names = long_play(core, plain, BUTTONS, None, EPISODES, [0])
    assert EXPLORED not in names and len(names) == EPISODES


@pytest.fixture(scope="module")
def answer(maze: tuple[FoundCore, Content]) -> Answer:
    settings = Settings(actions=STICK, start=("WAIT:2",))
    return search(lambda event: None, maze[1], maze[0], settings)


def test_a_score_at_the_end_of_a_corridor_is_proved(answer: Answer) -> None:
    best = answer.candidates[0]
    assert (best.grade, sorted(best.offsets)) == ("proved", [SCORE, SCORE + 1, SCORE + 2])
    assert answer.scoring[EXPLORED] > 0
    assert sum(rises for style, rises in answer.scoring.items() if style != EXPLORED) == 0


def test_the_proof_is_made_again_from_power_on(
    answer: Answer, maze: tuple[FoundCore, Content]
) -> None:
    """The bundle holds all buttons from the start of play to the state that was gone on from."""
    found, content = maze
    assert answer.bundle is not None
    assert max(e.frame for e in answer.bundle.experiments) > 1500  # beyond any plain episode
    game = Game(answer.integration(content), content, found)
    told = replay(lambda event: None, game, answer.bundle, Path("maze.proof.npz"))
    findings = {finding.fact: finding for finding in judge(game.integration, answer.bundle, *told)}
    assert findings["score"].holds and findings["score"].experiments > 4
    shorter = replace(answer.bundle, buttons=answer.bundle.buttons.copy())
    shorter.buttons[-1, :600] = 0  # without the way there, nothing is as it was
    told = replay(lambda event: None, game, shorter, Path("maze.proof.npz"))
    wrong = [f for f in judge(game.integration, shorter, *told) if f.fact == "score"]
    assert wrong[0].holds is False or shorter.experiments[-1].episode != len(shorter.buttons) - 1
