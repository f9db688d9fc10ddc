"""What it takes to call a number the score, and how numbers are ordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.discovery.candidates import Behaviour, Candidate, Grade, behaviour, values_of
from retrokit.discovery.grade import (
    IDLE,
    counts_presses,
    grade,
    known_rises,
    own_first,
    rank,
    weight,
)
from retrokit.discovery.prove import Proof
from retrokit.discovery.screen import Cell, Line
from retrokit.values import Variable

SCORE = (0x82, 0x81, 0x80)  # tests/cores/arena.h
STROKES, HITS = 6, 7  # tests/cores/arena_odd.c
TAPS = (MASKS["LEFT"], MASKS["B"])
Arena = Callable[..., Any]

OFTEN = Behaviour(9, 0, 1, (10, 50), (), 0.99, False, 0, 190, 4)
ONCE = Behaviour(1, 0, 0, (100,), (), 0.999, False, 0, 100, 1)
TWICE = replace(ONCE, rises=2, scoring=2)
ONE_EPISODE = replace(OFTEN, rises=5, scoring=1)
STILL = Behaviour(0, 0, 0, (), (), 1.0, False, 0, 0, 0)
CONSTANT = replace(STILL, lowest=750_000, highest=750_000)
CLOCK = replace(OFTEN, steps=(1,), clock=True)
MONEY = Behaviour(6, 9, 0, (25, 100), (700,), 0.99, False, 100, 9200, 4)
ONLY_PAYS = Behaviour(0, 6, 0, (), (20, 50), 0.99, False, 100, 500, 0)
FUEL = Behaviour(0, 40, 3, (), (1,), 0.96, False, 0, 99, 0)
LOSES_ONE_SIZE = Behaviour(0, 6, 0, (), (500,), 0.99, False, 500, 5000, 0)

GOOD = Proof(added=4, rises=4, legible=4, read=4, film=12, shown=12)
UNMOVED = Proof(added=0, rises=0, legible=0, read=0, film=12, shown=12)


@pytest.mark.parametrize(
    ("moved", "cells", "proof", "wanted"),
    [
        (OFTEN, 2, GOOD, "proved"),
        (OFTEN, 2, Proof(2, 2, 2, 1, 4, 12), "proved"),
        (OFTEN, 1, GOOD, "likely"),  # one digit has no font partner
        (OFTEN, 6, Proof(3, 4, 3, 3, 12, 12), "unproved"),  # once the points were not added: a copy
        (OFTEN, 6, Proof(0, 0, 0, 0, 12, 12), "unproved"),  # never tried
        (OFTEN, 6, Proof(1, 1, 1, 1, 12, 12), "likely"),
        (OFTEN, 6, Proof(4, 4, 4, 4, 0, 12), "likely"),  # the film shows another number
        (OFTEN, 6, Proof(4, 4, 4, 1, 12, 12), "likely"),  # the pokes mostly do
        (OFTEN, 6, Proof(4, 4, 4, 0, 0, 12), "unproved"),
        # Some games hide the digits at times: what is not legible is no misreading.
        (OFTEN, 6, Proof(4, 4, 1, 1, 2, 2), "proved"),
        (OFTEN, 6, Proof(4, 4, 0, 0, 12, 12), "likely"),
        (OFTEN, 1, Proof(2, 2, 2, 1, 0, 0), "unproved"),  # a sprite that passed for a digit once
        (OFTEN, 2, Proof(4, 4, 0, 0, 0, 0), "unproved"),
        # Few rises of a short number prove nothing: levels, lives won, balls.
        (ONCE, 3, Proof(2, 2, 2, 2, 12, 12), "likely"),
        (ONCE, 4, Proof(2, 2, 2, 2, 12, 12), "proved"),
        (TWICE, 3, GOOD, "likely"),
        (TWICE, 4, GOOD, "proved"),
        (ONE_EPISODE, 3, GOOD, "likely"),
        (ONE_EPISODE, 4, GOOD, "proved"),
        (replace(OFTEN, begins=30), 3, GOOD, "likely"),  # a floor, a stage
        (replace(OFTEN, begins=30), 4, GOOD, "proved"),
        # What falls is money, where it is long and moves by two sizes.
        (MONEY, 4, GOOD, "proved"),
        (MONEY, 3, GOOD, "unproved"),
        (ONLY_PAYS, 4, GOOD, "proved"),
        (FUEL, 4, GOOD, "unproved"),
        (FUEL, 5, GOOD, "likely"),  # too long for a counter of time or energy
        (LOSES_ONE_SIZE, 4, GOOD, "unproved"),
        (CLOCK, 6, GOOD, "unproved"),
        # What never moved is told by its length and its pictures alone, and stands at 0.
        (STILL, 4, UNMOVED, "likely"),
        (STILL, 3, UNMOVED, "unproved"),
        (STILL, 6, Proof(0, 0, 0, 0, 3, 3), "likely"),
        (STILL, 6, Proof(0, 0, 0, 0, 2, 2), "unproved"),
        (STILL, 6, Proof(0, 0, 0, 0, 11, 12), "unproved"),
        (STILL, 6, GOOD, "likely"),
        (CONSTANT, 6, UNMOVED, "unproved"),
    ],
)
def test_grades(moved: Behaviour, cells: int, proof: Proof, wanted: Grade) -> None:
    assert grade(moved, cells, True, False, proof) == wanted


def test_a_number_whose_last_place_is_missing_is_not_proved() -> None:
    assert grade(OFTEN, 6, False, False, GOOD) == "likely"
    assert grade(STILL, 6, False, False, UNMOVED) == "unproved"


def test_a_counter_of_presses_is_not_proved_and_weighs_less() -> None:
    assert grade(OFTEN, 6, True, True, GOOD) == "likely"
    assert weight(OFTEN, 6, True, GOOD) < weight(OFTEN, 4, False, GOOD)


def test_what_behaves_like_a_score_weighs_most() -> None:
    order = [
        weight(OFTEN, 6, False, GOOD), weight(OFTEN, 3, False, GOOD),
        weight(FUEL, 6, False, GOOD), weight(STILL, 6, False, UNMOVED),
        weight(CLOCK, 3, False, GOOD),
    ]  # fmt: skip
    assert order == sorted(order, reverse=True)
    assert weight(MONEY, 4, False, GOOD) > weight(MONEY, 3, False, GOOD) + 2


# -- presses ---------------------------------------------------------------------------------------


def presses(played: Any, masks: tuple[int, ...] = TAPS) -> bool:
    series, start = values_of(played.recording, Variable(SCORE, "bcd"), SCORE)
    return counts_presses(played.prober, behaviour(series, start), SCORE, masks, 0)


def test_presses_count_and_hits_do_not(arena: Arena) -> None:
    """Both go up by one; tapped where nothing else is pressed only strokes count each time."""
    strokes, hits = (arena("arena_odd", ODD=odd) for odd in (STROKES, HITS))
    assert presses(strokes) and not presses(hits)
    assert not presses(strokes, TAPS[:1])  # no stroke is made by LEFT
    assert not presses(strokes, ())


def test_larger_steps_are_no_presses(arena: Arena) -> None:
    assert not presses(arena("arena_odd", ODD=3, POINTS=7))


# -- order -----------------------------------------------------------------------------------------


def graded(
    known: Grade,
    order: float,
    offset: int,
    offsets: tuple[int, ...] = (),
    cell: Cell | None = None,
) -> Candidate:
    offsets = offsets or (offset,)
    line = None if cell is None else Line(cell, 8)
    variable = Variable(offsets, "bcd")
    return Candidate(variable, offsets, OFTEN, known, {"grade": known}, order, line)


def test_only_one_number_can_be_the_score() -> None:
    ranked = rank(
        [
            graded("unproved", 9, 1), graded("likely", 1, 2),
            graded("proved", 2, 3), graded("proved", 3, 4),
        ]
    )  # fmt: skip
    assert [c.offsets[0] for c in ranked] == [4, 3, 2, 1]
    assert [c.grade for c in ranked] == ["proved", "likely", "likely", "unproved"]
    assert ranked[1].evidence["grade"] == "likely"
    assert "note" in ranked[1].evidence
    assert rank([]) == []


GLYPHS = {n: np.random.default_rng(n).random((7, 5)) < 0.5 for n in range(10)}
OTHER = {n: ~np.roll(glyph, n + 1, 0)[::-1] for n, glyph in GLYPHS.items()}
BOX = Cell(20, 27, 100, 105, GLYPHS)


@pytest.mark.parametrize(
    ("cell", "offsets", "rival"),
    [
        (replace(BOX, left=160, right=165), (11, 10), True),
        (replace(BOX, top=40, bottom=47), (11, 10), False),  # another line
        (replace(BOX, left=160, right=165, glyphs=OTHER), (11, 10), False),  # another font
        (replace(BOX, left=160, right=165), (12, 11, 10), False),  # longer
        (replace(BOX, left=160, right=165), (11, 2), False),  # it shares a byte
        (None, (11, 10), False),
    ],
    ids=["rival", "line", "font", "length", "shared", "unseen"],
)
def test_the_other_player_has_a_score_too(
    cell: Cell | None, offsets: tuple[int, ...], rival: bool
) -> None:
    """The same digits in the same font on the same line; other counters look otherwise."""
    ours = graded("proved", 2, 2, (2, 1), BOX)
    theirs = graded("proved", 1, 0, offsets, cell)
    first, second = rank([theirs, ours])
    assert (first, second) == (ours, theirs) and first.grade == "proved"
    assert second.grade == ("proved" if rival else "likely")
    assert ("other player" in second.evidence["note"]) is rival


def idle_play(rises: int) -> Any:
    """Return a prober in whose games the byte at 2 rises so often in ten idle seconds."""
    ram = np.zeros((IDLE, 2), np.uint8)
    ram[:, 0] = np.arange(IDLE) * (rises + 1) // IDLE if rises else 0
    core = SimpleNamespace(load=lambda state: None, record=lambda log, kept: (ram, None))
    buttons, ends = np.zeros((5, 100), np.uint16), np.full(5, 100)
    recording = SimpleNamespace(state=b"", buttons=buttons, episodes=5, ends=ends)
    return SimpleNamespace(
        core=core, recording=recording, looks=(10,), state=lambda moment: bytes(0)
    )


@pytest.mark.parametrize("known", ["proved", "likely"])
@pytest.mark.parametrize(("idle", "swapped"), [(48, True), (0, False)])
def test_the_players_own_score_comes_first(idle: int, swapped: bool, known: Grade) -> None:
    """The rival scores whoever plays, and more than a random player does."""
    theirs = graded("proved", 2, 2, (2,), BOX)
    ours = graded(known, 1, 1, (1,), replace(BOX, left=160, right=165))
    theirs.behaviour, ours.behaviour = replace(POINT, rises=40), POINT
    first, second = own_first(idle_play(idle), rank([theirs, ours]))
    assert (first is ours) is swapped
    assert first.grade == (known if swapped else "proved") and "note" not in first.evidence
    if swapped or known == "proved":
        assert "other player" in second.evidence["note"]


@pytest.mark.parametrize(
    ("screen", "idle", "proves"),
    [
        ({"cells": 5, "twin": True}, 48, "likely"), ({"cells": 5, "twin": True}, 0, "proved"),
        ({"cells": 5}, 48, "proved"),
        # Of 40 rises in 500 frames of play, 24 in 600 are half.
        ({"cells": 2}, 30, "likely"), ({"cells": 2}, 20, "proved"),
    ],
)  # fmt: skip
def test_play_must_raise_what_is_short_or_beside_one_of_its_kind(
    screen: dict[str, Any], idle: int, proves: Grade
) -> None:
    theirs = graded("proved", 2, 2, (2,), BOX)
    theirs.behaviour = replace(POINT, rises=40)
    theirs.evidence["screen"] = screen
    (only,) = own_first(idle_play(idle), rank([theirs]))
    assert only.grade == only.evidence["grade"] == proves
    assert ("nobody plays" in only.evidence.get("note", "")) is (proves == "likely")


def test_what_comes_in_many_sizes_may_come_by_itself() -> None:
    """Thwaite pays for each house that stands when a wave is over, to those who sat still too."""
    pays = graded("proved", 2, 2, (2,), BOX)
    pays.behaviour = replace(POINT, rises=40, steps=(3000, 4000, 5000))
    pays.evidence["screen"] = {"cells": 2}
    assert own_first(idle_play(48), rank([pays])) == [pays] and pays.grade == "proved"


POINT = Behaviour(8, 0, 0, (1,), (), 0.99, False, 0, 3, 5)
DIGIT = {"screen": {"cells": 1}, "poke": {"added": 4, "rises": 4, "read_back": 2}}


@pytest.mark.parametrize(
    ("moved", "told", "others", "proves"),
    [
        (POINT, DIGIT, 0, "proved"),
        (replace(POINT, scoring=2), DIGIT, 0, "likely"),
        (replace(POINT, falls=1), DIGIT, 0, "likely"),
        (replace(POINT, resets=1), DIGIT, 0, "likely"),
        (replace(POINT, steps=(1, 5)), DIGIT, 0, "likely"),
        (POINT, DIGIT | {"note": "it counts presses of a button"}, 0, "likely"),
        (POINT, DIGIT | {"poke": {"added": 3, "rises": 4, "read_back": 2}}, 0, "likely"),
        (POINT, DIGIT | {"poke": {"added": 4, "rises": 4, "read_back": 0}}, 0, "likely"),
        (POINT, DIGIT, 1, "likely"),  # something else counts too
    ],
    ids=["points", "once", "falls", "resets", "steps", "presses", "kept", "unread", "third"],
)
def test_two_digits_that_are_all_there_is_are_points(
    moved: Behaviour, told: dict[str, Any], others: int, proves: Grade
) -> None:
    ours = graded("likely", 3, 2, (), BOX)
    theirs = graded("likely", 2, 1, (), replace(BOX, left=160, right=165))
    ours.behaviour, theirs.behaviour = moved, POINT
    ours.evidence, theirs.evidence = dict(told), dict(DIGIT)
    ranked = rank([ours, theirs, *(graded("likely", 1, 7 + n) for n in range(others))])
    assert [c.grade for c in ranked[:2]] == [proves, proves]


def test_one_number_drawn_twice_is_one_candidate() -> None:
    assert [c.weight for c in rank([graded("likely", 1, 5), graded("likely", 2, 5)])] == [2]


def test_rises_are_told_by_the_style_of_play(arena: Arena) -> None:
    played = arena("arena_bcd")
    candidate = replace(graded("proved", 1, 0), variable=Variable(SCORE, "bcd"), offsets=SCORE)
    series, start = values_of(played.recording, candidate.variable, SCORE)
    rises = known_rises(played.recording, candidate)
    assert set(rises) == set(played.recording.styles)
    assert sum(rises.values()) == behaviour(series, start).rises > 0
