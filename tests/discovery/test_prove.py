"""Proof by play: pokes at rises, the film, numbers the game turns into decimal itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.candidates import pack
from retrokit.discovery.chains import Digit
from retrokit.discovery.film import read_film
from retrokit.discovery.poke import BEFORE, LOOKS, Moment
from retrokit.discovery.prove import (
    MORE,
    Binary,
    binary_units,
    extend,
    find_binary,
    prove,
    rising_moments,
    spread,
)
from retrokit.discovery.screen import Cell, Line
from retrokit.discovery.units import Unit
from retrokit.values import Variable

SCORE, COPY, HIGH = 0x80, 0x90, 0xA0  # tests/cores/arena.h
Arena = Callable[..., Any]


def line_at(prober: Any, offset: int, pitch: int = 8) -> Line:
    """Return the line of a score whose low digit lies at an offset."""
    moment = prober.events(SCORE)[0]
    return Line(prober.draw(Unit(offset, "low"), moment)[0], pitch)


def proof(prober: Any, variable: Variable, line: Line) -> Any:
    offsets = variable.addrs
    moments = rising_moments(prober.recording, variable, offsets)
    return prove(prober, offsets, pack(variable)[0], line, moments, 0)


# -- neighbours that never moved -------------------------------------------------------------------


def test_digits_that_never_moved_are_found(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    moment = prober.events(SCORE)[0]
    unit = Unit(SCORE, "low")
    cell = prober.draw(unit, moment)[0]
    found = extend(prober, [Digit(unit, cell, moment)])
    every = {(SCORE + n // 2, ("low", "high")[n % 2]) for n in range(6)}
    assert {(d.unit.offset, d.unit.kind) for d in found} == every


def test_digits_of_another_scene_do_not_displace_those_of_the_first(arena: Arena) -> None:
    """The same byte, seen to draw elsewhere at another moment, is the byte of the head's line."""
    _, _, prober = arena("arena_bcd")
    moment, *_, other = prober.events(SCORE)
    cell = prober.draw(Unit(SCORE, "low"), moment)[0]
    head = Digit(Unit(SCORE, "low"), cell, moment)
    tens = prober.draw(Unit(SCORE, "high"), moment)[0]
    astray = Digit(Unit(SCORE, "high"), shifted(tens, 3), other)  # as if the line moved
    foreign = Digit(Unit(HIGH, "low"), shifted(tens, -1), other)  # on a place that is taken
    further = Digit(Unit(HIGH, "high"), shifted(cell, 8), other)  # where there is room
    found = extend(prober, [head, astray, foreign, further])
    places = {(d.unit.offset, d.unit.kind): (d.cell.right, d.moment) for d in found}
    assert places[SCORE, "high"] == (tens.right, moment)
    assert (HIGH, "low") not in places
    assert places[HIGH, "high"] == (cell.right + 8, other)
    assert len(found) == 7


def shifted(cell: Cell, right: int) -> Cell:
    return replace(cell, left=cell.left + right, right=cell.right + right)


def test_a_centred_number_is_drawn_again_at_full_width(arena: Arena) -> None:
    """Of few digits each byte draws half a place from the next, over its neighbour."""
    _, _, prober = arena("arena_odd", ODD=1, POINTS=7)
    moment = prober.events(SCORE)[0]
    units = [Unit(SCORE + n // 2, ("low", "high")[n % 2]) for n in range(6)]
    few = [Digit(unit, prober.draw(unit, moment)[0], moment) for unit in units]
    assert 4 in {a.cell.right - b.cell.right for a, b in pairwise(few)}
    full = spread(prober, few)
    assert full is not None
    assert [digit.unit for digit in full] == units
    assert [digit.cell.right for digit in full] == [89 - 8 * n for n in range(6)]


def test_a_number_that_stands_still_is_not_drawn_again(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    moment = prober.events(SCORE)[0]
    units = [Unit(SCORE + n // 2, ("low", "high")[n % 2]) for n in range(4)]
    plain = [Digit(unit, prober.draw(unit, moment)[0], moment) for unit in units]
    assert spread(prober, plain) is None
    twice = [*plain, replace(plain[0], moment=Moment(0, 99))]  # seen again is no collision
    assert spread(prober, twice) is None


# -- proof -----------------------------------------------------------------------------------------


def test_the_score_is_proved(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd", scale=10)
    line = Line(line_at(prober, SCORE).cell, 8, zeros=1)
    said = proof(prober, variable, line)
    assert said.rises == said.added == said.read == 4
    assert said.film == said.shown == 12


def test_a_number_read_without_its_drawn_zero_is_another(arena: Arena) -> None:
    """The screen says ten times what the bytes say: the film must not agree with that."""
    _, _, prober = arena("arena_bcd")
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd")
    right = line_at(prober, SCORE).cell
    shifted = type(right)(right.top, right.bottom, right.left + 8, right.right + 8, right.glyphs)
    said = proof(prober, variable, Line(shifted, 8))
    assert said.rises == 4
    assert said.read == 0
    assert said.film <= 6  # 0 reads as 0 either way


def test_bytes_in_the_wrong_order_are_not_proved(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd", POINTS=7)
    line = line_at(prober, SCORE)
    said = proof(prober, Variable((SCORE, SCORE + 1, SCORE + 2), "bcd"), line)
    assert said.read == 0


@pytest.mark.parametrize(
    "copy",
    [
        Variable((HIGH + 2, HIGH + 1, HIGH), "bcd"),
        Variable(tuple(COPY + n for n in reversed(range(6))), "digits"),
    ],
    ids=["high score", "display copy"],
)
def test_copies_do_not_add(arena: Arena, copy: Variable) -> None:
    _, _, prober = arena("arena_copies", POINTS=7)
    said = proof(prober, copy, line_at(prober, SCORE))
    assert said.rises >= 2
    assert said.added == 0


def test_a_number_drawn_nowhere_is_read_nowhere(arena: Arena) -> None:
    _, _, shown = arena("arena_bcd")
    _, _, prober = arena("arena_unseen")
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd")
    said = proof(prober, variable, line_at(shown, SCORE))
    assert said.added == said.rises > 0
    assert (said.read, said.film) == (0, 0)


def test_points_that_carry_for_known_digits_only_are_proved(arena: Arena) -> None:
    """Steps of 50 by turning the 5 on and off: a random 3 would become a 6."""
    _, recording, prober = arena("arena_odd", ODD=5)
    variable, line = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd"), line_at(prober, SCORE + 1)
    line = replace(line, cell=shifted(line.cell, 16))
    said = proof(prober, variable, line)
    assert said.added == said.rises == said.read == 4
    tens = {e.claim["written"] // 10 % 10 for e in told(prober, line) if e.kind == "added"}
    assert tens & {0, 5} and tens <= {0, 2, 5}  # of the digits 1 to 4 only 2 works as well


def test_points_that_are_added_digit_by_digit_settle_later(arena: Arena) -> None:
    """One digit a frame: at the first look a carry is still on its way."""
    _, _, prober = arena("arena_odd", ODD=4, POINTS=37)
    line = line_at(prober, SCORE)
    said = proof(prober, Variable((SCORE + 2, SCORE + 1, SCORE), "bcd"), line)
    assert said.added == said.rises == said.read == 4
    assert max(e.claim["settled"] for e in told(prober, line) if e.kind == "added") > 0


def test_a_score_that_is_drawn_late_is_read_at_the_last_look(arena: Arena) -> None:
    _, _, plain = arena("arena_bcd")
    _, _, prober = arena("arena_odd", ODD=3, LAG=12, POINTS=7)
    line = line_at(plain, SCORE)
    said = proof(prober, Variable((SCORE + 2, SCORE + 1, SCORE), "bcd"), line)
    assert said.added == said.rises == said.read == 4
    added = [e for e in told(prober, line) if e.kind == "added"]
    assert [int(e.looks[e.claim["look"]]) for e in added] == [LOOKS[-1] + MORE] * 4


def test_one_rise_is_proved_by_two_numbers(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd", scale=10)
    moment = rising_moments(recording, variable, variable.addrs)[0]
    after = np.arange(1200) >= moment.frame + BEFORE
    ram = recording.ram.copy()
    ram[:, :, SCORE : SCORE + 3] = 0  # a recording of all the same, but for one rise
    ram[moment.episode, after, SCORE] = 1
    once = replace(recording, ram=ram)
    assert rising_moments(once, variable, variable.addrs) == [moment] * 2
    line = Line(line_at(prober, SCORE).cell, 8, zeros=1)
    said = prove(prober, variable.addrs, pack(variable)[0], line, [moment] * 2, 0)
    assert said.added == said.rises == 2
    written = {e.claim["written"] for e in told(prober, line) if e.kind == "added"}
    assert len(written) == 2


def told(prober: Any, line: Line) -> Any:
    """Return the experiments that the witness keeps for a line."""
    return prober.witness.of(line)


def test_the_film_is_compared_frame_by_frame(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd", POINTS=7)
    line = Line(line_at(prober, SCORE).cell, 8, zeros=1)
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd", scale=10)
    packed, _ = pack(variable)
    assert read_film(prober, packed, variable.addrs, line, 10, 0) == (12, 12)
    other = Variable((SCORE + 1, SCORE), "bcd", scale=10, offset=70)
    hits, shown = read_film(prober, pack(other)[0], other.addrs, line, 10, 0)
    assert (hits, shown) == (0, 12)


def test_rising_moments_are_spread_and_lie_before_rises(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    variable = Variable((SCORE + 2, SCORE + 1, SCORE), "bcd")
    moments = rising_moments(recording, variable, variable.addrs)
    assert len(moments) == 4
    assert len({moment.episode for moment in moments}) >= 3
    series = recording.series(SCORE).astype(int)
    for episode, frame in moments:
        assert len(set(series[episode, frame - 1 : frame + BEFORE + 1])) == 2


def test_a_number_that_never_rose_has_no_moments(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    variable = Variable((HIGH + 2, HIGH + 1, HIGH), "bcd")
    assert rising_moments(recording, variable, variable.addrs) == []


# -- binary ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "width"), [("uint", 1), ("uint", 2), ("base100", 2), ("base100", 3)]
)
def test_binary_numbers_are_known_by_their_carries(arena: Arena, encoding: str, width: int) -> None:
    radix = {"uint": 256, "base100": 100}[encoding]
    _, _, prober = arena("arena_binary", POINTS=3, RADIX=radix, BYTES=width)
    binary = find_binary(prober, SCORE, prober.events(SCORE)[0])
    assert binary is not None
    wanted = tuple(SCORE + n for n in reversed(range(width)))
    if width > 1:
        assert binary_units(binary) == (wanted, encoding)
    assert binary.weights == {SCORE + n: radix**n for n in range(width)}


def test_digits_are_no_binary_number(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    assert find_binary(prober, SCORE, prober.events(SCORE)[0]) is None


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        ({5: 1}, ((5,), "uint")),
        ({5: 1, 4: 256}, ((4, 5), "uint")),
        ({5: 1, 6: 256, 9: 65_536}, ((9, 6, 5), "uint")),
        ({5: 1, 6: 100}, ((6, 5), "base100")),
    ],
)
def test_weights_give_order_and_encoding(
    weights: dict[int, int], wanted: tuple[tuple[int, ...], str]
) -> None:
    line: Any = None
    assert binary_units(Binary(weights, line, Moment(0, 0))) == wanted


def test_random_pokes_differ_from_what_was_there(arena: Arena) -> None:
    """A joint poke must change the number, or agreement would mean nothing."""
    from retrokit.discovery.prove import random_bytes

    rng = np.random.default_rng(0)
    for encoding, width, base in (("bcd", 3, 0), ("digits", 4, 0x30), ("uint", 2, 0)):
        variable = Variable(tuple(range(width)), encoding, base=base)
        before = np.full(width, base, np.uint8)
        poke = np.array(random_bytes(variable, before, rng), np.uint8)
        memory = {"SYSTEM_RAM": poke}
        assert variable.valid(memory)
        assert variable.decode(memory) != variable.decode({"SYSTEM_RAM": before})
