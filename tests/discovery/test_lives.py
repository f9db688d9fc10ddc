"""Lives: the counter whose last loss ends the game, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit.discovery.lives import Lives, _suspect, find_lives, suspects
from retrokit.discovery.poke import Unit

MODE, LIVES, EXTRA = 4, 0x40, 0x60  # tests/cores/arena.h
BLINK, ENERGY, TIMER, BOMBS, MIRROR = 1, 2, 3, 4, 5  # tests/cores/arena_decoys.c
BELOW, FILLED, STAYS, FIRE_ONLY, MOVES_ON, _, TURNS = range(1, 8)  # tests/cores/arena_ends.c
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


def test_a_fuse_is_no_suspect() -> None:
    """Fuel burns at equal times; lives are lost when the player is hit."""
    assert not suspect(falling(*range(100, 700, 100), start=8), 8)
    assert suspect(falling(100, 150, 380, 400, 570, 690, start=8), 8)


def test_what_falls_at_the_same_times_in_every_game_is_no_suspect() -> None:
    """Whatever was pressed: few falls, at no equal gaps, and yet a clock."""
    alike, hit = np.full((3, 800), 5, np.int64), np.full((3, 800), 5, np.int64)
    for game, row in enumerate(hit):
        for frame in (150, 420):
            alike[game, frame:] -= 1
            row[frame + 40 * game :] -= 1
    assert not suspect(alike, 5)
    assert suspect(hit, 5)


def test_what_is_refilled_again_and_again_is_no_suspect() -> None:
    """Oxygen and energy fill up before they are empty; a new game begins after none is left."""
    fills = np.array([3, 3, 2, 1, 3, 2, 3, 2, 1, 3, 3, 2]).repeat(67)[None]
    games = np.array([3, 3, 2, 1, 0, 3, 2, 1, 0, 3, 3, 2]).repeat(67)[None]
    uneven = np.delete(np.arange(fills.size), np.arange(80, 140))  # no fuse
    assert not suspect(fills[:, uneven])
    assert suspect(games[:, uneven])


def test_the_score_can_be_left_out(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    assert LIVES in {s.unit.offset for s in suspects(recording)}
    assert LIVES not in {s.unit.offset for s in suspects(recording, [LIVES])}


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
    assert lives is not None and (lives.offset, lives.grade) == (EXTRA + 1, "unproved")


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
