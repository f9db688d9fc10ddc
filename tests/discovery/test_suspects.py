"""What falls like lives, and what only looks like it: clocks, fuses, refilled bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit.discovery.poke import Unit
from retrokit.discovery.suspects import LEAD, _suspect, suspects

LIVES = 0x40  # tests/cores/arena.h
Arena = Callable[..., Any]


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
    assert [moment.frame for moment in found.losses] == [200 - LEAD] * 2 + [450 - LEAD] * 2
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
