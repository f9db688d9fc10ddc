"""What falls like lives, and what only looks like it: clocks, fuses, refilled bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit.discovery.suspects import LEAD, NONE, Field, _carries, _coded, _suspect, suspects

LIVES = 0x40  # tests/cores/arena.h
Arena = Callable[..., Any]


def falling(*frames: int, start: int = 3, by: int = -1) -> NDArray[np.int64]:
    out = np.full((2, 800), start, np.int64)
    for frame in frames:
        out[:, frame:] += by
    return out


def suspect(series: NDArray[np.int64], start: int = 3) -> bool:
    return _suspect(Field(0), series, start) is not None


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
    found = _suspect(Field(0), falling(200, 450), 3)
    assert found is not None
    assert [moment.frame for moment in found.losses] == [200 - LEAD] * 2 + [450 - LEAD] * 2
    assert {moment.episode for moment in found.losses} == {0, 1}


def test_a_fuse_is_no_suspect() -> None:
    """Fuel burns at equal times; lives are lost when the player is hit."""
    assert not suspect(falling(*range(100, 700, 100), start=8), 8)
    assert suspect(falling(100, 150, 380, 400, 570, 690, start=8), 8)


def test_bits_that_count_beside_flags_are_suspect() -> None:
    """Entombed keeps lives in three bits below one that tells of a death."""
    byte = np.array([0xB3, 0xBA, 0xB2, 0xB9, 0xB1, 0xB8]).repeat(100)[None].astype(np.uint8)
    found = [
        mask
        for mask in (0xFF, 0x0F, 0xF0, 0x07)
        if _suspect(Field(0, mask), Field(0, mask).read(byte), int(Field(0, mask).read(0xB3)))
    ]
    assert found == [0x07]


def test_a_byte_that_goes_through_the_same_values_is_a_counter() -> None:
    """Places of glyphs, or copies of a sprite that are bits: no number, and yet they count."""
    rows = [np.array(v).repeat(200) for v in ([24, 16, 8, 89], [24, 24, 16, 8], [24, 16, 16, 8])]
    field = _coded(7, np.array(rows, np.uint8))
    assert field == Field(7, codes=(89, 8, 16, 24))
    assert field.read(np.array([24, 16, 8, 89, 5], np.uint8)).tolist() == [3, 2, 1, 0, NONE]
    assert field.write(24, 1) == 8
    back = [np.array(v).repeat(200) for v in ([1, 2, 1, 2], [2, 1, 2, 1], [1, 1, 2, 1])]
    assert _coded(7, np.array(back, np.uint8)) is None


def test_a_stage_of_the_game_that_comes_again_is_no_counter() -> None:
    """Krull's stages are 0, 3, 2, 3 …: as codes they would be lives, all lost at the second 2."""
    stages = [np.array(v).repeat(300) for v in ([0, 0, 3, 2], [0, 3, 2, 3], [0, 0, 3, 2])]
    assert _coded(34, np.array(stages, np.uint8)) is None


@pytest.mark.parametrize(
    ("held", "counts"),
    [
        ([[260, 500, 400], [500, 300, 500], [380, 600, 600]], True),
        ([[236, 1032, 300], [236, 1030, 300], [236, 700, 300]], False),  # Beam Rider's 2, 3, 5
        ([[489, 400, 484], [485, 400, 444], [521, 400, 500]], False),  # the same time after another
    ],
)
def test_codes_that_change_by_the_clock_are_stages(held: list[list[int]], counts: bool) -> None:
    rows = [np.repeat([1, 2, 3, 5], [0, *times]) for times in held]
    rows.append(np.repeat([1, 2, 3, 5], [36, *held[0]]))  # begun a little later
    shortest = min(map(len, rows))
    found = _coded(12, np.array([row[:shortest] for row in rows], np.uint8))
    assert (found == Field(12, codes=(5, 3, 2))) == counts
    assert counts or found is None


def test_bits_of_a_wider_number_are_no_counter() -> None:
    """The high bits of a place fall as it passes 64, the low bits of a clock as it ticks."""
    place = (100 - np.arange(80))[None].astype(np.uint8)
    clock = (40 - np.arange(20)).repeat(50)[None].astype(np.uint8)
    lives = np.array([0x45, 0x4F, 0x40, 0x35, 0x31]).repeat(20)[None].astype(np.uint8)
    assert _carries(place, Field(0, 0xC0, 6)) and _carries(clock, Field(0, 0x03))
    assert not _carries(lives, Field(0, 0xF0, 4)) and not _carries(place, Field(0))


def test_a_field_is_written_and_leaves_its_neighbours_alone() -> None:
    assert Field(0, 0x07).write(0xBA, 1) == 0xB9
    assert Field(0, 0xF0, 4).write(0x4F, 3) == 0x3F
    assert (Field(0, 0x07).top, Field(0).top, Field(0, codes=(4, 2, 1)).top) == (7, 9, 2)


def test_what_a_game_sets_up_first_is_its_start() -> None:
    late = falling(200, 450)
    late[:, :40] = 0
    found = _suspect(Field(0), late, 0)
    assert found is not None and found.start == 3
    assert {moment.frame + LEAD for moment in found.losses} == {200, 450}


def test_what_is_refilled_again_and_again_is_no_suspect() -> None:
    """Oxygen and energy fill up before they are empty; a new game begins after none is left."""
    fills = np.array([3, 3, 2, 1, 3, 2, 3, 2, 1, 3, 3, 2]).repeat(67)[None]
    games = np.array([3, 3, 2, 1, 0, 3, 2, 1, 0, 3, 3, 2]).repeat(67)[None]
    uneven = np.delete(np.arange(fills.size), np.arange(80, 140))  # no fuse
    assert not suspect(fills[:, uneven])
    assert suspect(games[:, uneven])


def test_the_score_can_be_left_out(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    assert LIVES in {s.field.offset for s in suspects(recording)}
    assert LIVES not in {s.field.offset for s in suspects(recording, [LIVES])}
