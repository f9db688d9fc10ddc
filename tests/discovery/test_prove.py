"""Proof by play: pokes at rises, the film, numbers the game turns into decimal itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.candidates import pack
from retrokit.discovery.chains import Digit
from retrokit.discovery.poke import BEFORE, Moment, Unit
from retrokit.discovery.prove import (
    Binary,
    binary_units,
    extend,
    find_binary,
    prove,
    read_film,
    rising_moments,
)
from retrokit.discovery.screen import Line
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
    from retrokit.discovery.prove import _random_bytes

    rng = np.random.default_rng(0)
    for encoding, width, base in (("bcd", 3, 0), ("digits", 4, 0x30), ("uint", 2, 0)):
        variable = Variable(tuple(range(width)), encoding, base=base)
        before = np.full(width, base, np.uint8)
        poke = np.array(_random_bytes(variable, before, rng), np.uint8)
        memory = {"SYSTEM_RAM": poke}
        assert variable.valid(memory)
        assert variable.decode(memory) != variable.decode({"SYSTEM_RAM": before})
