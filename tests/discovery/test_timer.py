"""Clocks that are drawn, and what ticks besides (tests/cores/arena_more.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.fact import Fact, unmoved
from retrokit.discovery.timer import find_timer

SECONDS, MINUTES, CLOCK = 0x60, 0x61, 1  # arena_more.c
Arena = Callable[..., Any]


def timer(played: Any, known: tuple[int, ...] = ()) -> Fact | None:
    return find_timer(played.prober, played.core.spans, known, lambda: False)


def test_minutes_and_seconds_are_one_number(arena: Arena) -> None:
    fact = timer(arena("arena_more", MORE=CLOCK))
    assert fact is not None and (fact.name, fact.grade) == ("timer", "proved")
    ram = np.zeros(256, np.uint8)
    ram[[MINUTES, SECONDS]] = 0x03, 0x42
    assert fact.variable.decode({"SYSTEM_RAM": ram}) == 3 * 60 + 42
    ticks = fact.evidence["behaviour"]
    assert (ticks["frames_a_tick"], ticks["step"]) == (20.0, -1)
    assert fact.evidence["screen"]["digits"] == 2


def test_a_clock_on_no_screen_is_no_timer(arena: Arena) -> None:
    assert timer(arena("arena_more", MORE=CLOCK, FALSE=1)) is None


def test_points_and_frame_counters_are_no_timer(arena: Arena) -> None:
    assert timer(arena("arena_bcd")) is None


def test_what_is_known_is_left_out(arena: Arena) -> None:
    assert timer(arena("arena_more", MORE=CLOCK), (SECONDS,)) is None


@pytest.mark.parametrize(
    ("frames", "alone"),
    [
        ([[5, 9], [5, 9], [5, 9], [5, 9]], True),
        ([[5, 9], [5, 9], [5, 9], [5, 11]], True),
        ([[5, 9], [5, 8], [6, 9], [5, 11]], False),
        ([[5, 9], [5], [], []], False),  # one episode says nothing
        ([[5, 9], [5, 9], [], []], True),
    ],
)
def test_what_moves_whatever_is_pressed(frames: list[list[int]], alone: bool) -> None:
    moves = np.zeros((4, 20), np.bool_)
    for row, at in zip(moves, frames, strict=True):
        row[at] = True
    assert unmoved(moves, 2) is alone
