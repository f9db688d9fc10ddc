"""Copies: bytes that are made anew from others; the source is what is written, the copy named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.core import Span
from retrokit.discovery.candidates import pack
from retrokit.discovery.copies import Copy, find_copies
from retrokit.discovery.prove import random_bytes, rising_moments
from retrokit.discovery.score import find_score
from retrokit.values import Variable

SCORE, COPY, HIGH, BUFFER = 0x80, 0x90, 0xA0, 0xB0  # tests/cores/arena.h and arena_copies.c
OFFSETS = (SCORE + 2, SCORE + 1, SCORE)
NUMBER = Variable(OFFSETS, "bcd")
Arena = Callable[..., Any]


def copies_in(played: Any, offsets: tuple[int, ...] = OFFSETS) -> list[Copy]:
    rng, (packed, _) = np.random.default_rng(0), pack(NUMBER)
    pokes = {}
    for moment in rising_moments(played.recording, NUMBER, OFFSETS):
        before = played.prober.bytes_at(moment, offsets)
        pokes[moment] = [random_bytes(packed, before, rng, whole=True) for _ in range(6)]
    return find_copies(played.prober, offsets, pokes)


def test_copies_are_told_from_the_source(arena: Arena) -> None:
    """A copy of each frame, and one that is made when points come; the high score is neither."""
    found = {copy.offset: copy for copy in copies_in(arena("arena_copies"))}
    low, high = "low digit", "high digit"
    assert found == {
        at + n: Copy(at + n, SCORE + n // 2, high if n % 2 else low, slope, base, at == COPY)
        for at, slope, base in ((COPY, 1, 0), (BUFFER, 8, 0x20))
        for n in range(6)
    }


def test_the_high_score_follows_and_is_no_copy(arena: Arena) -> None:
    assert not {HIGH, HIGH + 1, HIGH + 2} & {c.offset for c in copies_in(arena("arena_copies"))}


def test_without_copies_there_are_none(arena: Arena) -> None:
    assert copies_in(arena("arena_bcd")) == []


def test_a_copy_has_no_copies(arena: Arena) -> None:
    """What is written into it never reaches the score, nor anything else."""
    assert copies_in(arena("arena_copies"), (COPY + 4, COPY + 2, COPY)) == []


def test_the_evidence_of_a_score_names_its_copies(arena: Arena) -> None:
    _, recording, prober = arena("arena_copies")
    spans = (Span("SYSTEM_RAM", 0, len(recording.initial)),)
    best = find_score(prober, spans, 0, lambda stage, share: None)[0]
    assert (best.grade, best.offsets) == ("proved", OFFSETS)
    assert len(best.evidence["copies"]) == 12
    assert best.evidence["copies"][0] == "0x90: copy of 0x80 (low digit)"


@pytest.mark.parametrize(
    ("copy", "words"),
    [
        (Copy(0x90, 0x80, "", 1, 0, True), "0x90: copy of 0x80"),
        (Copy(0x90, 0x80, "", 1, 3, True), "0x90: copy of 0x80 (it + 0x3)"),
        (
            Copy(0x190, 0x80, "high digit", 8, 0x10, False),
            "OTHER 0x90: copy, when it changes, of 0x80 (high digit x 8 + 0x10)",
        ),
    ],
    ids=["whole", "shifted", "table"],
)
def test_a_copy_is_told_in_words(copy: Copy, words: str) -> None:
    spans = (Span("SYSTEM_RAM", 0, 0x100), Span("OTHER", 0x100, 0x100))
    assert copy.told(spans) == words
