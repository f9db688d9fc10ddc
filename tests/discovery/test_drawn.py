"""Digits told by their ten glyphs alone, where nothing moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.chains import chains
from retrokit.discovery.drawn import LARGEST, MAP, SMALL, _drawing, drawn_digits
from retrokit.discovery.poke import Moment, Prober
from retrokit.discovery.record import Recording

SCORE, HIGH, LIVES = 0x80, 0xA0, 0x40  # tests/cores/arena.h
CONSTANT = 8  # tests/cores/arena_odd.c
Arena = Callable[..., Any]


def test_digits_that_never_moved_are_found(arena: Arena) -> None:
    _, recording, prober = arena("arena_odd", fire=(), ODD=CONSTANT)
    assert (recording.series(SCORE) == 0).all()
    found = [
        [chain.digits[place].unit for place in sorted(chain.digits)]
        for chain in chains(drawn_digits(prober))
    ]
    for number in (SCORE, HIGH):
        assert [(number + n // 2, ("low", "high")[n % 2]) for n in range(6)] in [
            [(unit.offset, unit.kind) for unit in units] for units in found
        ]
    assert [LIVES] in [[unit.offset for unit in units] for units in found]


def test_of_large_ram_only_what_draws_is_gone_through(arena: Arena) -> None:
    _, recording, prober = arena("arena_odd", fire=(), ODD=CONSTANT)
    assert len(recording.initial) > SMALL
    hit = _drawing(prober, range(len(recording.initial)), Moment(0, 90))
    assert {SCORE, SCORE + 1, SCORE + 2, HIGH, HIGH + 1, HIGH + 2, LIVES} <= set(hit)
    assert len(hit) <= 16 * 8  # whole groups of those that draw


def test_ram_that_is_too_large_is_left_alone() -> None:
    nothing = np.zeros((1, 60), np.uint16)
    ram = np.zeros((1, 60, 0), np.uint8)
    memory = np.zeros(LARGEST + 1, np.uint8)
    recording = Recording(b"", nothing, ram, memory, np.zeros(0, np.int32), ["a"], 60, [[]])
    core: Any = None  # none is asked
    assert drawn_digits(Prober(core, recording, (8, 8))) == []


@pytest.mark.parametrize(("bytes_", "kept"), [(16 * (MAP - 1), True), (16 * MAP, False)])
def test_the_screens_own_memory_is_left_out(arena: Arena, bytes_: int, kept: bool) -> None:
    """A long run of bytes that all draw holds pictures of the digits, and a score is elsewhere."""
    _, recording, prober = arena("arena_screen", fire=(), MAP_BYTES=bytes_)
    hit = _drawing(prober, range(len(recording.initial)), Moment(0, 90))
    assert bool({0x400, 0x400 + bytes_ - 1} & set(hit)) is kept
    assert {SCORE, SCORE + 1, SCORE + 2} <= set(hit)
