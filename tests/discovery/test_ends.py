"""Where recorded games were over: by the rule, or by control that never comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit.discovery.candidates import values_of
from retrokit.discovery.ends import COARSE, play_ends
from retrokit.discovery.lives import find_lives
from retrokit.discovery.poke import Prober
from retrokit.values import Variable

MODE, DYING, OVER = 4, 2, 3  # tests/cores/arena.h
SCORE = (0x82, 0x81, 0x80)
BONUS, WAITS = 6, 8  # tests/cores/arena_ends.c
Arena = Callable[..., Any]


def game_overs(recording: Any) -> NDArray[np.int64]:
    over = recording.series(MODE) == OVER
    assert over.any(axis=1).all()
    return over.argmax(axis=1) + 1


@pytest.mark.parametrize("defines", [{}, {"DEMO_SCORES": 1}], ids=["title", "demo"])
def test_play_ends_with_the_last_life(arena: Arena, defines: dict[str, int]) -> None:
    _, recording, prober = arena("arena_bcd", **defines)
    lives = find_lives(prober, SCORE)
    assert lives is not None and lives.grade == "proved"
    assert np.array_equal(play_ends(prober, lives), game_overs(recording))


@pytest.mark.parametrize("death", [40, 220], ids=["short death", "long death"])
@pytest.mark.parametrize("demo", [{}, {"DEMO_SCORES": 1}], ids=["title", "demo"])
def test_without_lives_play_ends_where_control_does(
    arena: Arena, demo: dict[str, int], death: int
) -> None:
    """Not at the first death, however long: it is looked for backwards, a coarse step at a time."""
    _, recording, prober = arena("arena_bcd", frames=1200 + 6 * death, DEATH=death, **demo)
    dead = game_overs(recording) - death  # nothing obeys from here on
    late = play_ends(prober, None) - dead
    assert (late > -72).all()  # a measure of control looks so far ahead
    assert (late <= COARSE + recording.every).all()


def test_points_at_the_very_end_count(arena: Arena) -> None:
    _, recording, prober = arena("arena_ends", END=BONUS)
    ends = play_ends(prober, None)
    assert (ends >= game_overs(recording)).all()
    series, _ = values_of(recording.ending(ends), Variable(SCORE, "bcd"), SCORE)
    assert (series[:, -1] >= 5000).all()


@pytest.mark.parametrize("fire", [("B",), ()], ids=["pressed", "never"])
def test_a_round_that_waits_for_a_button_is_not_the_end(arena: Arena, fire: tuple[str]) -> None:
    """Unless that button is never pressed."""
    core, recording, prober = arena("arena_ends", fire=fire, END=WAITS, frames=400)
    point = 400 // recording.every - 1
    checkpoints = [list(states) for states in recording.checkpoints]
    for states in checkpoints:
        core.load(states[point])
        core.poke([MODE], [DYING])
        states[point:] = [core.save()] * len(states[point:])
    waiting = Prober(core, replace(recording, checkpoints=checkpoints), prober.size)
    ends = play_ends(waiting, None)
    assert (ends == 400).all() if fire else (ends < 400).all()


def test_what_is_known_is_not_asked_again(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    ends = play_ends(prober, None)
    known = np.array([7, 8, 9], np.int64)
    assert play_ends(prober, None, known).tolist() == [7, 8, 9, *ends[3:].tolist()]


def test_play_that_goes_on_does_not_end(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd", frames=100)
    assert (play_ends(prober, None) == 100).all()


def test_where_control_is_too_weak_nothing_ends(arena: Arena) -> None:
    """The directions of this game do nothing."""
    _, _, prober = arena("arena_ends", END=4)
    assert (play_ends(prober, None) == 1200).all()


def test_after_its_end_nothing_moves(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd", DEMO_SCORES=1)
    ends = game_overs(recording)
    ended = recording.ending(ends)
    for episode, end in enumerate(ends):
        assert np.array_equal(ended.ram[episode, :end], recording.ram[episode, :end])
        assert (ended.ram[episode, end:] == recording.ram[episode, end - 1]).all()
    assert (recording.ram != ended.ram).any()
