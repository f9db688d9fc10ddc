"""From a recording to ranked, graded candidates, on games whose score is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.discovery import poke
from retrokit.discovery.candidates import Candidate, values_of
from retrokit.discovery.ends import play_ends
from retrokit.discovery.poke import Prober
from retrokit.discovery.score import _units, find_score
from retrokit.values import Variable

MODE, DEMO, SCORE, COPY, HIGH = 4, 4, 0x80, 0x90, 0xA0  # tests/cores/arena.h
CENTRED, SLANT, LATE, RIPPLE, HALVES, STROKES, HITS, CONSTANT, WIDE, MONEY = range(1, 11)
EIGHTHS, POINTED = 11, 12
Arena = Callable[..., Any]
SIX = tuple(SCORE + n for n in reversed(range(6)))


def found(played: Any) -> list[Candidate]:
    core, _, prober = played
    taps = [MASKS["B"], MASKS["LEFT"]]
    return find_score(prober, core.spans, 0, lambda text, share: None, None, taps)


def best(candidates: list[Candidate]) -> tuple[Any, ...]:
    candidate = candidates[0]
    v = candidate.variable
    assert [c.grade for c in candidates].count("proved") <= 1
    return candidate.grade, v.addrs, v.encoding, v.scale, v.blank


def test_packed_digits_with_a_drawn_zero(arena: Arena) -> None:
    candidates = found(arena("arena_bcd"))
    assert best(candidates) == ("proved", (SCORE + 2, SCORE + 1, SCORE), "bcd", 10, None)
    evidence = candidates[0].evidence
    assert evidence["screen"]["cells"] == 6
    assert evidence["screen"]["drawn_zeros"] == 1
    assert evidence["poke"]["rises"] == evidence["poke"]["added"] == 4
    assert evidence["grade"] == "proved"


def test_a_constant_high_score_is_never_a_candidate(arena: Arena) -> None:
    for candidate in found(arena("arena_bcd")):
        assert not {HIGH, HIGH + 1, HIGH + 2} & set(candidate.offsets)


def test_six_bytes_low_digit_first_blanked_with_0f(arena: Arena) -> None:
    """Cases 19: order, blank and scale are found."""
    candidates = found(arena("arena_digits", BLANK=0x0F))
    assert best(candidates) == ("proved", SIX, "digits", 10, 0x0F)


@pytest.mark.parametrize(("lag", "looks"), [(20, poke.LATE), (60, poke.LOOKS)])
def test_late_looks_are_kept_only_where_they_show_digits(
    arena: Arena, lag: int, looks: tuple[int, ...]
) -> None:
    """They take five times as long, and so does all that follows."""
    played = arena("arena_odd", ODD=LATE, POINTS=7, LAG=lag)
    prober = Prober(played.core, played.recording, played.prober.size)
    found(played._replace(prober=prober))
    assert prober.looks == looks


def test_a_picture_that_points_outrun_is_waited_for(arena: Arena) -> None:
    """Points come more often than they are drawn, until nothing is pressed any more."""
    more = {"REACH": 200, "COOLING": 4, "FOE_WAITS": 99}
    candidates = found(arena("arena_odd", ODD=LATE, POINTS=7, LAG=44, **more))
    assert best(candidates)[:3] == ("proved", (SCORE + 2, SCORE + 1, SCORE), "bcd")
    evidence = candidates[0].evidence
    assert evidence["screen"]["film"] == "12 of 12"
    assert evidence["poke"]["read_back"] == evidence["poke"]["rises"] == 4


def test_the_upper_part_of_a_centred_number_is_not_proved(arena: Arena) -> None:
    """Its last two places lie where nothing may be written; the screen shows that they move."""
    core, recording, prober = arena("arena_odd", ODD=CENTRED, POINTS=737)
    saved = recording.saved.copy()
    saved[SCORE] = False
    part = replace(recording.narrowed(recording.offsets != SCORE), saved=saved)
    upper = [
        candidate
        for candidate in found((core, part, Prober(core, part, prober.size)))
        if set(candidate.offsets) >= {SCORE + 1, SCORE + 2}
    ]
    assert [c.evidence["screen"]["whole"] for c in upper if c.line] == [False]
    assert all(candidate.grade != "proved" for candidate in upper)


def test_places_that_moved_are_found_blanked_with_20(arena: Arena) -> None:
    """Cases 19 again; with this blank the places that never moved stay hidden: see below."""
    candidates = found(arena("arena_digits", BLANK=0x20, POINTS=37))
    grade, addrs, *rest = best(candidates)
    assert (grade, *rest) == ("proved", "digits", 10, 0x20)
    assert addrs == SIX[-len(addrs) :] and len(addrs) >= 3


def test_six_bytes_low_digit_first_blanked_with_20(arena: Arena) -> None:
    """A nibble written into 0x20 gives 0x23, no digit: the whole byte must be tried."""
    candidates = found(arena("arena_digits", BLANK=0x20, POINTS=7))
    assert best(candidates) == ("proved", SIX, "digits", 10, 0x20)


def test_the_true_score_wins_over_its_copies(arena: Arena) -> None:
    """Cases 22: a display copy, and a high score that is equal in the first game."""
    candidates = found(arena("arena_copies", POINTS=7))
    assert best(candidates)[:3] == ("proved", (SCORE + 2, SCORE + 1, SCORE), "bcd")
    copies = {*range(COPY, COPY + 6), *range(HIGH, HIGH + 3)}
    for candidate in candidates:
        assert candidate.grade == "unproved" or not copies & set(candidate.offsets)


def test_one_number_is_one_candidate(arena: Arena) -> None:
    """Its digits show in two places, in its display copy and in the high score."""
    candidates = found(arena("arena_copies", POINTS=7))
    assert len({c.offsets for c in candidates}) == len(candidates)


def test_a_score_that_no_picture_shows_is_not_claimed(arena: Arena) -> None:
    assert all(c.grade == "unproved" for c in found(arena("arena_unseen")))


def test_binary_scores(arena: Arena) -> None:
    candidates = found(arena("arena_binary", POINTS=19, RADIX=256, BYTES=2))
    assert best(candidates) == ("proved", (SCORE + 1, SCORE), "uint", 1, None)


@pytest.mark.parametrize("seed", [0, 3])
def test_scores_of_base_100(arena: Arena, seed: int) -> None:
    """The hundreds alone are no score: the digits to their right move too."""
    candidates = found(arena("arena_binary", seed=seed, POINTS=19, RADIX=100, BYTES=2))
    assert best(candidates) == ("proved", (SCORE + 1, SCORE), "base100", 1, None)


@pytest.mark.parametrize(
    ("odd", "points", "lag"),
    [
        (CENTRED, 7, 0), (SLANT, 7, 0), (LATE, 7, 5), (LATE, 7, 20), (RIPPLE, 37, 0),
        (HALVES, 1, 0), (MONEY, 25, 0),
    ],
    ids=["centred", "slanted", "late", "very late", "digit by digit", "in halves", "money"],
)  # fmt: skip
def test_odd_numbers_are_proved(arena: Arena, odd: int, points: int, lag: int) -> None:
    candidates = found(arena("arena_odd", ODD=odd, POINTS=points, LAG=lag))
    assert best(candidates) == ("proved", (SCORE + 2, SCORE + 1, SCORE), "bcd", 1, None)
    assert candidates[0].evidence["screen"]["film"] == "12 of 12"


def test_bytes_may_hold_eight_times_the_digit(arena: Arena) -> None:
    candidates = found(arena("arena_odd", ODD=EIGHTHS, POINTS=7))
    assert best(candidates) == ("proved", SIX, "digits", 1, None)
    assert candidates[0].variable.shift == 3


def test_what_draws_over_a_digit_leaves_no_hole(arena: Arena) -> None:
    """In Crazy Climber a pointer draws the tens too: once its neighbours were proved alone."""
    candidates = found(arena("arena_odd", ODD=POINTED, POINTS=7))
    assert best(candidates) == ("proved", SIX, "digits", 1, None)


def test_strokes_are_no_score(arena: Arena) -> None:
    """Each press counts one; a score of one point needs a hit."""
    strokes, hits = (found(arena("arena_odd", ODD=odd))[0] for odd in (STROKES, HITS))
    assert strokes.offsets == hits.offsets == (SCORE + 2, SCORE + 1, SCORE)
    assert strokes.behaviour.steps == hits.behaviour.steps == (1,)
    assert (strokes.grade, hits.grade) == ("likely", "proved")
    assert strokes.evidence["note"] == "it counts presses of a button"
    assert "note" not in hits.evidence


def test_no_number_has_more_than_ten_places(arena: Arena) -> None:
    """Twenty digits in a row could pass what a variable can hold."""
    for candidate in found(arena("arena_odd", ODD=WIDE, POINTS=7)):
        assert candidate.grade == "unproved" and len(candidate.offsets) <= 8


def in_play(played: Any) -> Any:
    """Return the game with what follows its game overs left out, as the search does."""
    core, recording, prober = played
    ends = play_ends(prober, None)
    return played._replace(prober=Prober(core, recording.ending(ends), prober.size))


def test_frames_of_the_demo_do_not_break_the_proof(arena: Arena) -> None:
    """After the game a demo plays itself and scores in the same bytes."""
    played = arena("arena_bcd", DEMO_SCORES=1)
    series, _ = values_of(played.recording, Variable((SCORE,), "bcd"), [SCORE])
    demo = (played.recording.series(MODE) == DEMO)[:, 1:]
    assert ((np.diff(series) > 0) & demo).any()
    wanted = ("proved", (SCORE + 2, SCORE + 1, SCORE), "bcd", 10, None)
    assert best(found(played)) == best(found(in_play(played))) == wanted


def test_frames_of_the_demo_do_not_make_the_proof(arena: Arena) -> None:
    """Without fire nobody scores but the demo, which no input reaches."""
    played = arena("arena_bcd", fire=(), DEMO_SCORES=1)
    assert best(found(played))[0] == "proved"  # so the demo alone would be enough
    assert best(found(in_play(played)))[0] == "likely"


@pytest.mark.parametrize("core", ["arena_bcd", "arena_odd"], ids=["rewritten", "left alone"])
def test_where_nothing_scores_a_number_at_0_is_likely_and_a_constant_none(
    arena: Arena, core: str
) -> None:
    """Digits that never moved are told by their glyphs; 750,000 is a high score."""
    candidates = found(arena(core, fire=(), ODD=CONSTANT))
    assert best(candidates)[:3] == ("likely", (SCORE + 2, SCORE + 1, SCORE), "bcd")
    assert candidates[0].evidence["screen"]["film"] == "12 of 12"
    for candidate in candidates[1:]:
        assert candidate.grade == "unproved"
        assert not {HIGH, HIGH + 1, HIGH + 2} & set(candidate.offsets)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ((0, 48, 96), {"low", "high"}),  # Krull's 0, 30, 60 points, which read as 0, 6, blank
        ((0, 8, 16, 24, 128), {"eighth"}),  # Alien's pointers to glyphs, and its blank
    ],
)
def test_tens_in_packed_bcd_are_no_pointers(values: tuple[int, ...], kinds: set[str]) -> None:
    seen: Any = SimpleNamespace(series=lambda offset: np.array([values], np.uint8))
    assert {unit.kind for unit in _units(seen, 30)} == kinds
