"""Lives: the counter whose last loss ends the game, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit.discovery.lives import (
    Control,
    Lives,
    _measure,
    _stays,
    _suspect,
    find_lives,
    play_ends,
    suspects,
)
from retrokit.discovery.poke import Unit

MODE, LIVES, EXTRA = 4, 0x40, 0x60  # tests/cores/arena.h
TITLE, DYING, OVER = 0, 2, 3
BLINK, ENERGY, TIMER, BOMBS, MIRROR = 1, 2, 3, 4, 5  # tests/cores/arena_decoys.c
SCORE_BYTES = (0x80, 0x81, 0x82)
DECOYS = ["blink", "energy", "timer", "bombs", "copy"]
Arena = Callable[..., Any]


def lives_of(played: Any) -> Lives | None:
    return find_lives(played.prober, SCORE_BYTES)


# -- suspicion -------------------------------------------------------------------------------------


def falling(*frames: int, start: int = 3, by: int = -1) -> NDArray[np.int64]:
    out = np.full((2, 800), start, np.int64)
    for frame in frames:
        out[:, frame:] += by
    return out


def suspect(series: NDArray[np.int64], start: int = 3) -> bool:
    return _suspect(Unit(0, "byte"), series, start) is not None


def test_what_falls_by_one_now_and_then_is_suspect() -> None:
    assert suspect(falling(200, 450, 700))
    assert suspect(falling(200))


@pytest.mark.parametrize(
    ("series", "start"),
    [
        (falling(), 3),  # still
        (falling(200, 450, by=1), 3),  # rises
        (falling(200, 450, start=9, by=-2), 9),
        (falling(200, 450, start=40), 40),  # far more than lives
        (falling(200, 450, start=0), 0),
        (falling(10), 3),  # too early to poke before it
        (np.tile(np.arange(800) % 2, (2, 1)) + 3, 3),
    ],
    ids=["still", "rises", "by two", "large", "none", "early", "flickers"],
)
def test_what_does_not_is_not(series: NDArray[np.int64], start: int) -> None:
    assert not suspect(series, start)


def test_losses_lie_a_lead_after_their_moments() -> None:
    found = _suspect(Unit(0, "byte"), falling(200, 450), 3)
    assert found is not None
    assert [moment.frame for moment in found.losses] == [180, 180, 430, 430]
    assert {moment.episode for moment in found.losses} == {0, 1}


def test_a_clock_weighs_less_than_losses_at_random() -> None:
    regular = _suspect(Unit(0, "byte"), falling(*range(100, 700, 100), start=8), 8)
    random = _suspect(Unit(0, "byte"), falling(100, 150, 380, 400, 570, 690, start=8), 8)
    assert regular is not None and random is not None
    assert regular.weight < random.weight


def test_the_score_can_be_left_out(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    assert LIVES in {s.unit.offset for s in suspects(recording)}
    assert LIVES not in {s.unit.offset for s in suspects(recording, [LIVES])}


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        (Control(16, True), Control(1, False), True),
        (Control(16, True), Control(2, False), True),
        (Control(16, True), Control(16, False), True),  # a demo, stirred by the port
        (Control(16, False), Control(16, False), False),
        (Control(16, True), Control(5, True), False),
    ],
)
def test_control_that_is_gone(before: Control, after: Control, gone: bool) -> None:
    assert after.gone(before) is gone


@pytest.mark.parametrize(("mode", "stays"), [(DYING, False), (TITLE, True)], ids=["dying", "title"])
def test_control_comes_back_after_a_death_only(arena: Arena, mode: int, stays: bool) -> None:
    core, recording, _ = arena("arena_bcd", DEATH=220)
    before = Control(16, True)
    core.load(recording.state)
    core.poke([MODE], [mode])
    core.run(30)
    assert _measure(core).gone(before)
    assert _stays(core, before) is stays


# -- proof -----------------------------------------------------------------------------------------


def proved(lives: Lives | None, offset: int = LIVES) -> Lives:
    assert lives is not None
    assert (lives.offset, lives.grade) == (offset, "proved")
    return lives


@pytest.mark.parametrize("demo", [{}, {"DEMO_SCORES": 1}], ids=["title", "demo"])
def test_lives_that_end_at_0(arena: Arena, demo: dict[str, int]) -> None:
    """Whether a still title or a demo that moves follows the end of the game."""
    lives = proved(lives_of(arena("arena_bcd", **demo)))
    assert (lives.start, lives.last, lives.rule) == (3, 0, "lives == 0")
    assert (lives.mask, lives.shift, lives.signed) == (0xFF, 0, False)
    assert not lives.cuts_last_life
    assert lives.evidence["control"]["last"] == "gone"


def test_spare_lives_that_end_below_0(arena: Arena) -> None:
    lives = proved(lives_of(arena("arena_bcd", SPARE_LIVES=1)))
    assert (lives.last, lives.rule, lives.signed) == (-1, "lives == -1", True)


def test_the_last_spare_life_is_not_the_end(arena: Arena) -> None:
    """With 1 written the loss leaves 0, a life to play: only the one after it ends the game."""
    lives = proved(lives_of(arena("arena_bcd", SPARE_LIVES=1, LIVES_AT_START=5)))
    assert lives.last == -1 or lives.cuts_last_life


@pytest.mark.parametrize(
    "decoy",
    [BLINK, ENERGY, TIMER, BOMBS, MIRROR],
    ids=DECOYS,
)
def test_the_lives_are_proved_beside_a_decoy(arena: Arena, decoy: int) -> None:
    """Cases 21: 0 for three frames while a life remains, a bar that costs a life, a power-up."""
    proved(lives_of(arena("arena_decoys", DECOY=decoy)))


@pytest.mark.parametrize(
    "decoy",
    [BLINK, ENERGY, TIMER, BOMBS, MIRROR],
    ids=DECOYS,
)
def test_a_decoy_alone_is_not_proved(arena: Arena, decoy: int) -> None:
    """With the lives out of sight nothing else may take their place."""
    _, _, prober = arena("arena_decoys", DECOY=decoy)
    lives = find_lives(prober, (*SCORE_BYTES, LIVES))
    assert lives is None or lives.grade == "unproved"


def test_nobody_dies_no_lives(arena: Arena) -> None:
    assert lives_of(arena("arena_bcd", frames=100)) is None


@pytest.mark.parametrize(
    "death",
    [
        180,
        220,
    ],
)
def test_a_long_death_is_no_end(arena: Arena, death: int) -> None:
    """A bar at 1 costs a life, and for seconds nothing obeys; then play goes on."""
    _, recording, prober = arena("arena_decoys", DECOY=ENERGY, DEATH=death)
    assert EXTRA in {s.unit.offset for s in suspects(recording, [LIVES])}
    lives = find_lives(prober, (*SCORE_BYTES, LIVES))
    assert lives is None or lives.grade == "unproved"


# -- where play ends -------------------------------------------------------------------------------


def game_overs(recording: Any) -> NDArray[np.int64]:
    over = recording.series(MODE) == OVER
    assert over.any(axis=1).all()
    return over.argmax(axis=1) + 1


@pytest.mark.parametrize("defines", [{}, {"DEMO_SCORES": 1}], ids=["title", "demo"])
def test_play_ends_with_the_last_life(arena: Arena, defines: dict[str, int]) -> None:
    _, recording, prober = played = arena("arena_bcd", **defines)
    assert np.array_equal(play_ends(prober, lives_of(played)), game_overs(recording))


@pytest.mark.parametrize("defines", [{}, {"DEMO_SCORES": 1}], ids=["title", "demo"])
def test_without_lives_play_ends_where_control_does(arena: Arena, defines: dict[str, int]) -> None:
    """A little early: between the death and the next checkpoint nothing is to be seen."""
    _, recording, prober = arena("arena_bcd", **defines)
    early = game_overs(recording) - play_ends(prober, None)
    assert (early >= 0).all()
    assert (early <= 40 + 120 + 2 * recording.every).all()


def test_play_that_goes_on_does_not_end(arena: Arena) -> None:
    _, recording, prober = played = arena("arena_bcd", frames=100)
    assert (play_ends(prober, lives_of(played)) == 100).all()


def test_after_its_end_nothing_moves(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd", DEMO_SCORES=1)
    ends = game_overs(recording)
    ended = recording.ending(ends)
    for episode, end in enumerate(ends):
        assert np.array_equal(ended.ram[episode, :end], recording.ram[episode, :end])
        assert (ended.ram[episode, end:] == recording.ram[episode, end - 1]).all()
    assert (recording.ram != ended.ram).any()
