"""Tallies: lives that are made anew from what stands, and are proved by what stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.core import Span
from retrokit.discovery.lives import find_lives
from retrokit.discovery.suspects import LEAD, Suspect, suspects
from retrokit.discovery.tally import Mark, Tally, find_tally

LIVES, HOUSE = 0x40, 0x60  # tests/cores/arena.h and arena_standing.c
MIRROR, EXTRA = 5, 0x60  # tests/cores/arena_decoys.c
SCORE_BYTES = (0x80, 0x81, 0x82)
BYTES = tuple(Mark(HOUSE + n, 0xFF, tuple(range(1, 256)), 0x41 + 3 * n, 0) for n in range(4))
Arena = Callable[..., Any]


def suspect_at(recording: Any, offset: int) -> Suspect:
    return next(s for s in suspects(recording) if s.field.offset == offset)


def test_the_counter_is_made_from_houses(arena: Arena) -> None:
    _, recording, prober = arena("arena_standing")
    assert find_tally(prober, suspect_at(recording, LIVES)) == Tally(LIVES, BYTES)


def test_the_counter_is_made_from_bits(arena: Arena) -> None:
    _, recording, prober = arena("arena_standing", BITS=1)
    marks = tuple(Mark(HOUSE, 1 << n, (1 << n,), 1 << n, 0) for n in range(4))
    assert find_tally(prober, suspect_at(recording, LIVES)) == Tally(LIVES, marks)


@pytest.mark.parametrize("bits", [{}, {"BITS": 1}], ids=["bytes", "bits"])
def test_lives_are_proved_by_what_stands(arena: Arena, bits: dict[str, int]) -> None:
    _, recording, prober = arena("arena_standing", **bits)
    lives = find_lives(prober, SCORE_BYTES)
    assert lives is not None
    assert (lives.offset, lives.grade, lives.rule) == (LIVES, "proved", "lives == 0")
    assert lives.tally is not None and len(lives.tally.marks) == 4
    variable = lives.variable((Span("SYSTEM_RAM", 0, len(recording.initial)),))
    assert not variable.addrs and len(variable.terms) == 4
    column = [recording.series(offset) for offset in range(0x100)]
    held = np.asarray(variable.decode({"SYSTEM_RAM": np.stack(column, axis=-1)}))
    assert (held == recording.series(LIVES)).all()


def test_a_counter_of_its_own_is_no_tally(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    assert find_tally(prober, suspect_at(recording, LIVES)) is None


def test_a_copy_of_a_counter_is_no_tally(arena: Arena) -> None:
    _, recording, prober = arena("arena_decoys", DECOY=MIRROR)
    assert find_tally(prober, suspect_at(recording, EXTRA)) is None


def test_what_falls_at_the_loss_is_kept(arena: Arena) -> None:
    """With one standing it must be the one that the recorded loss takes."""
    _, recording, prober = arena("arena_standing")
    moment = suspect_at(recording, LIVES).losses[0]
    ordered = Tally(LIVES, BYTES).before(prober, moment)
    first = recording.series(ordered.marks[0].offset)[moment.episode]
    assert first[moment.frame] and not first[moment.frame + LEAD]
    before = prober.bytes_at(moment, ordered.offsets).tolist()
    left = ordered.written(before, 1)
    assert [n for n, byte in zip(ordered.offsets, left, strict=True) if byte] == [
        ordered.marks[0].offset
    ]


@pytest.mark.parametrize("number", range(-1, 4))
def test_a_number_is_written_by_letting_so_many_stand(number: int) -> None:
    tally = Tally(LIVES, BYTES, -1)
    written = tally.written([0x41, 0, 0x99, 0], number)
    assert sum(byte > 0 for byte in written) == number + 1
    assert written[0] in (0, 0x41) and written[2] in (0, 0x99)


@pytest.mark.parametrize(
    ("mark", "byte", "worth"),
    [
        (Mark(5, 0x04, (4,), 4, 0), 0xFF, 1),
        (Mark(5, 0x04, (0,), 0, 4), 0xFF, 0),
        (Mark(5, 0x04, (0,), 0, 4), 0xFB, 1),
        (Mark(5, 0xFE, tuple(v for v in range(0, 256, 2) if v != 4), 0, 4), 5, 0),
        (Mark(5, 0xFE, tuple(v for v in range(0, 256, 2) if v != 4), 0, 4), 9, 1),
        (Mark(5, 0xFF, tuple(range(1, 256)), 1, 0), 0, 0),
        (Mark(5, 0xFF, tuple(range(1, 256)), 1, 0), 200, 1),
    ],
)
def test_a_mark_is_a_variable(mark: Mark, byte: int, worth: int) -> None:
    spans = (Span("SYSTEM_RAM", 0, 16),)
    ram = np.full(16, byte, np.uint8)
    assert mark.variable(spans).decode({"SYSTEM_RAM": ram}) == worth
    assert bool(mark.stands(byte)) == bool(worth)
