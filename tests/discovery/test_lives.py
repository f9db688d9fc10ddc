"""Lives: the counter whose last loss ends the game, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from retrokit.discovery.lives import Lives, _last_loss, find_lives
from retrokit.discovery.poke import Moment
from retrokit.discovery.suspects import LEAD, Field, is_clock, suspects

MODE, LIVES, EXTRA = 4, 0x40, 0x60  # tests/cores/arena.h
BLINK, ENERGY, TIMER, BOMBS, MIRROR, CLOCK = range(1, 7)  # tests/cores/arena_decoys.c
BELOW, FILLED, STAYS, FIRE_ONLY, MOVES_ON, _, TURNS, _, AMMO = range(
    1, 10
)  # tests/cores/arena_ends.c
BAR = EXTRA + 1
SCORE_BYTES = (0x80, 0x81, 0x82)
DECOYS = ["blink", "energy", "timer", "bombs", "copy", "clock"]
Arena = Callable[..., Any]


def lives_of(played: Any) -> Lives | None:
    return find_lives(played.prober, SCORE_BYTES)


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


def test_the_last_life_may_be_played_at_minus_one(arena: Arena) -> None:
    """Written 0 or 1 the loss leaves a life to play."""
    lives = proved(lives_of(arena("arena_ends", END=BELOW)))
    assert (lives.last, lives.low, lives.rule) == (-2, -1, "lives == -2")
    assert lives.signed and not lives.cuts_last_life


@pytest.mark.parametrize(
    ("end", "rule"),
    [(FILLED, "game_over == 0"), (STAYS, "lives == 1 and game_over == 0")],
    ids=["filled", "stays"],
)
def test_a_counter_that_does_not_tell_the_end_is_helped_by_a_flag(
    arena: Arena, end: int, rule: str
) -> None:
    """Filled at once for the next game it tells nothing; left at 1 it tells too much."""
    lives = proved(lives_of(arena("arena_ends", END=end, LIVES_AT_START=9, FOE_WAITS=6)))
    assert (lives.rule, lives.resets) == (rule, end == FILLED)
    assert lives.flag is not None and lives.flag.offset == MODE
    assert lives.evidence["game_over"] == {"grade": "likely", "games": 6}
    assert not lives.cuts_last_life


@pytest.mark.parametrize("end", [FIRE_ONLY, MOVES_ON], ids=["no directions", "moves on"])
def test_control_may_show_by_fire_alone(arena: Arena, end: int) -> None:
    """There are no directions, or they go on to move the player when the game is over."""
    played = arena("arena_ends", END=end)
    lives = proved(lives_of(played))
    assert lives.evidence["control"]["by"] == "fire"
    told = played.prober.witness.of(lives)
    assert [e.claim["fire"] for e in told if e.kind in ("alive", "gone")] == [True] * 3


def test_control_that_comes_and_goes_proves_nothing(arena: Arena) -> None:
    """A bar that costs one's turn: for many seconds nothing obeys, and so it is without the bar."""
    played = arena("arena_ends", END=TURNS)
    lives = lives_of(played)
    assert lives is not None and (lives.offset, lives.grade) == (BAR, "unproved")


def test_ammunition_is_no_life(arena: Arena) -> None:
    """With none left fire does nothing any more; but without fire there is no loss either."""
    played = arena("arena_ends", END=AMMO)
    assert BAR in {suspect.field.offset for suspect in suspects(played.recording)}
    lives = find_lives(played.prober, (*SCORE_BYTES, LIVES))
    assert lives is not None and (lives.offset, lives.grade) == (BAR, "unproved")


@pytest.mark.parametrize(
    "decoy",
    [BLINK, ENERGY, TIMER, BOMBS, MIRROR, CLOCK],
    ids=DECOYS,
)
def test_the_lives_are_proved_beside_a_decoy(arena: Arena, decoy: int) -> None:
    """Cases 21: 0 for three frames while a life remains, a bar that costs a life, a power-up."""
    proved(lives_of(arena("arena_decoys", DECOY=decoy)))


@pytest.mark.parametrize(
    "decoy",
    [BLINK, ENERGY, TIMER, BOMBS, MIRROR, CLOCK],
    ids=DECOYS,
)
def test_a_decoy_alone_is_not_proved(arena: Arena, decoy: int) -> None:
    """With the lives out of sight nothing else may take their place."""
    _, _, prober = arena("arena_decoys", DECOY=decoy)
    lives = find_lives(prober, (*SCORE_BYTES, LIVES))
    assert lives is None or lives.grade == "unproved"


def test_bits_that_stand_for_things_are_no_number(arena: Arena) -> None:
    """As of Gopher's carrots: 3 is followed by 2, but 2 not by 1; beside them stands a bit."""
    _, recording, prober = arena("arena_standing", BITS=1, ALONE=1, HOUSES=2, frames=300)
    assert {int(byte) & 3 for byte in np.unique(recording.series(EXTRA))} == {3, 2}
    bits = next(one for one in suspects(recording) if one.field.offset == EXTRA)
    found, _, why = _last_loss(prober, bits, bits.field, bits.losses[0])
    assert found is None and "another number" in why


def test_a_clock_falls_whatever_is_pressed(arena: Arena) -> None:
    _, recording, prober = arena("arena_decoys", DECOY=CLOCK)
    falls = {s.field.offset: s for s in suspects(recording)}
    told = {offset: is_clock(prober, falls[offset].field, falls[offset].losses[-1])
            for offset in (EXTRA, LIVES)}  # fmt: skip
    assert told == {EXTRA: True, LIVES: False}


@pytest.mark.parametrize(
    ("later", "clock"),
    [((90, 90, 92), True), ((70, 82, 91), False), ((90, 90, 100), False)],
    ids=["clock", "ball", "not in all"],
)
def test_what_falls_in_the_same_frames_of_every_episode_is_a_clock(
    later: tuple[int, ...], clock: bool
) -> None:
    """However soon: the first of Private Eye's three minutes is over after 59 frames.

    Breakout's first ball is lost in the same frame of every episode too, the next ones are not.
    """
    ram = np.full((3, 100, 1), 3, np.uint8)
    ram[:, 59:] = 2
    for row, frame in zip(ram, later, strict=True):
        row[frame:] = 1
    recording: Any = SimpleNamespace(series=lambda offset: ram[:, :, 0])
    moment = Moment(0, 59 - LEAD)
    assert is_clock(cast(Any, SimpleNamespace(recording=recording)), Field(0), moment) is clock


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
    assert EXTRA in {s.field.offset for s in suspects(recording, [LIVES])}
    lives = find_lives(prober, (*SCORE_BYTES, LIVES))
    assert lives is None or lives.grade == "unproved"
