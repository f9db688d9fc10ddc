"""Digits of a number by their place on the screen, whatever their order in RAM."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrokit.core import Span
from retrokit.discovery.chains import (
    Chain,
    Digit,
    chains,
    goes_on_left,
    half_read,
    parts,
    to_variable,
)
from retrokit.discovery.poke import Moment
from retrokit.discovery.screen import Cell
from retrokit.discovery.units import Kind, Unit

GLYPHS = {d: np.random.default_rng(d).random((7, 5)) < 0.5 for d in range(10)}
SPANS = (Span("SYSTEM_RAM", 0, 4096), Span("VIDEO_RAM", 4096, 4096))
AT = Moment(0, 100)


def digit(
    right: int, offset: int, kind: Kind = "low", top: int = 20, base: int = 0, width: int = 5
) -> Digit:
    glyphs = {n: glyph[:, :width] for n, glyph in GLYPHS.items()}
    return Digit(Unit(offset, kind, base), Cell(top, top + 7, right - width, right, glyphs), AT)


def one(found: list[Chain]) -> Chain:
    assert len(found) == 1
    return found[0]


def decoded(
    units: dict[int, Unit], ram: NDArray[np.uint8], zeros: int = 0, seen: int | None = None
) -> int:
    """Return what the variable of a chain makes of RAM."""
    bytes_seen = {
        unit.offset: np.array([[ram[unit.offset] if seen is None else seen]], np.uint8)
        for unit in units.values()
    }
    variable, _ = to_variable(units, bytes_seen, SPANS, zeros)
    memory = {span.region: ram[span.start : span.start + span.size] for span in SPANS}
    return int(variable.decode(memory))


# -- places ----------------------------------------------------------------------------------------


@given(
    places=st.integers(2, 8), pitch=st.integers(6, 10), right=st.integers(90, 200),
    seed=st.integers(0, 999),
)  # fmt: skip
def test_places_come_from_the_screen(places: int, pitch: int, right: int, seed: int) -> None:
    offsets = random.Random(seed).sample(range(4096), places)
    digits = [digit(right - pitch * n, offset) for n, offset in enumerate(offsets)]
    random.Random(seed).shuffle(digits)
    chain = one(chains(digits))
    assert [chain.units[n].offset for n in range(places)] == offsets
    assert chain.line.pitch == pitch
    assert chain.line.cell.right == right


def test_a_place_in_the_middle_may_be_missing() -> None:
    chain = one(chains([digit(100, 1), digit(92, 2), digit(76, 4)]))
    assert sorted(chain.digits) == [0, 1, 3]
    assert chain.holes and not one(chains([digit(100, 1), digit(92, 2)])).holes
    assert not any(part.holes for part in parts(chain))


@pytest.mark.parametrize(
    ("drawn", "goes_on"),
    [([[0, 0, 5], [0, 1, 2]], True), ([[None, 0, 5], [None, 1, 2]], False),
     ([[None, 0, 5], [1, 1, 2]], False), ([], False)],
    ids=["a zero", "nothing", "one of two", "no picture"],
)  # fmt: skip
def test_a_digit_left_of_a_number_belongs_to_it(
    drawn: list[list[int | None]], goes_on: bool
) -> None:
    pictures = np.zeros((len(drawn), 40, 120), np.uint16)
    for picture, digits in zip(pictures, drawn, strict=True):
        for place, value in enumerate(reversed(digits)):
            if value is not None:
                picture[20:27, 95 - 8 * place : 100 - 8 * place] = GLYPHS[value]
    chain = one(chains([digit(100, 1), digit(92, 2)]))
    assert goes_on_left(chain.line, 2, pictures) is goes_on
    assert not goes_on_left(chain.line, 12, pictures)  # beyond the picture


def test_a_pitch_of_half_pixels_is_averaged() -> None:
    chain = one(chains([digit(round(200 - 8.5 * n), n) for n in range(7)]))
    assert sorted(chain.digits) == list(range(7))
    assert chain.line.pitch == pytest.approx(8.5, abs=0.1)


def test_two_scores_apart_on_one_line_stay_two_numbers() -> None:
    first = [digit(60 - 8 * n, n) for n in range(6)]
    second = [digit(160 - 8 * n, 10 + n) for n in range(6)]
    found = chains(first + second)
    assert sorted(min(unit.offset for unit in c.units.values()) for c in found) == [0, 10]
    assert all(sorted(c.digits) == list(range(6)) for c in found)


def test_lines_and_fonts_part_numbers() -> None:
    other = {n: ~np.roll(glyph, n + 1, 0)[::-1] for n, glyph in GLYPHS.items()}
    foreign = Digit(Unit(9, "low"), Cell(20, 27, 71, 76, other), AT)
    found = chains([digit(100, 1), digit(92, 2), digit(84, 3, top=40), foreign])
    assert sorted(len(c.digits) for c in found) == [1, 1, 2]
    assert [sorted(c.digits) for c in found][0] == [0, 1]  # the longest first


def test_a_line_of_score_and_lives_parts_at_the_hole() -> None:
    """One font, one pitch, one place free between them: both readings are tried."""
    score = [digit(100 - 8 * n, n) for n in range(4)]
    lives = [digit(100 - 8 * 5, 40)]
    whole = one(chains(score + lives))
    assert sorted(whole.digits) == [0, 1, 2, 3, 5]
    first, second = parts(whole)
    assert [unit.offset for _, unit in sorted(first.units.items())] == [0, 1, 2, 3]
    assert {place: unit.offset for place, unit in second.units.items()} == {0: 40}
    assert (first.line.cell.right, second.line.cell.right) == (100, 60)
    assert first.line.pitch == second.line.pitch == whole.line.pitch


def test_a_line_without_a_hole_has_no_parts() -> None:
    assert parts(one(chains([digit(100 - 8 * n, n) for n in range(6)]))) == []


def test_two_units_on_one_place_count_once() -> None:
    chain = one(chains([digit(100, 1), digit(100, 7), digit(92, 2)]))
    assert sorted(chain.digits) == [0, 1]


def test_no_digits_are_no_numbers() -> None:
    assert chains([]) == []


# -- variables -------------------------------------------------------------------------------------

Layout = dict[int, Unit]


def scattered(places: int, seed: int) -> Layout:
    offsets = random.Random(seed).sample(range(4096), places)
    return {n: Unit(offset, "low") for n, offset in enumerate(offsets)}


def packed(places: int, step: int) -> Layout:
    return {n: Unit(500 + step * (n // 2), ("low", "high")[n % 2]) for n in range(places)}


def nibbles(places: int, seed: int) -> Layout:
    """Nibbles of many bytes in no order at all."""
    every: list[tuple[int, Kind]] = [(o, k) for o in range(300, 320) for k in ("low", "high")]
    chosen = random.Random(seed).sample(every, places)
    return {n: Unit(offset, kind) for n, (offset, kind) in enumerate(chosen)}


LAYOUTS = {
    "bcd, high byte first": packed(6, -1),
    "bcd, low byte first": packed(6, 1),
    "bcd, every second byte": packed(4, 2),
    "bcd, half a byte on top": packed(5, 1),
    "digit a byte": {n: Unit(500 - n, "low") for n in range(6)},
    "digit a byte, low first": {n: Unit(500 + n, "low") for n in range(6)},
    "digit a byte, scattered": scattered(6, 1),
    "high nibbles": {n: Unit(500 + n, "high") for n in range(4)},
    "nibbles anywhere": nibbles(6, 2),
    "nibbles elsewhere": nibbles(7, 3),
    "a hole": {0: Unit(5, "low"), 2: Unit(7, "low")},
    "two regions": {0: Unit(4090, "low"), 1: Unit(4100, "low")},
}


def write(layout: Layout, number: int, ram: NDArray[np.uint8]) -> int:
    """Write a number digit by digit; return it without the digits that have no place."""
    kept = 0
    for place, unit in layout.items():
        digit = number // 10**place % 10
        kept += digit * 10**place
        ram[unit.offset] = unit.write(int(ram[unit.offset]), digit)
    return kept


@pytest.mark.parametrize("name", LAYOUTS)
@given(number=st.integers(0, 10**7 - 1), zeros=st.integers(0, 2))
def test_every_layout_decodes_what_its_digits_say(name: str, number: int, zeros: int) -> None:
    layout = LAYOUTS[name]
    ram = np.zeros(8192, np.uint8)
    expected = write(layout, number, ram)
    assert decoded(layout, ram, zeros, seen=0) == expected * 10**zeros


def plain(layout: Layout, seen: dict[int, list[int]] | None = None) -> tuple[object, ...]:
    values = {
        unit.offset: np.array([(seen or {}).get(unit.offset, [0, 1, 5, 9])], np.uint8)
        for unit in layout.values()
    }
    variable, offsets = to_variable(layout, values, SPANS)
    assert variable.addrs == offsets
    return variable.encoding, variable.addrs, variable.base, variable.blank


def test_packed_bytes_are_bcd_most_significant_first() -> None:
    assert plain(packed(6, 1)) == ("bcd", (502, 501, 500), 0, None)
    assert plain(packed(6, -1)) == ("bcd", (498, 499, 500), 0, None)


def test_half_a_byte_on_top_still_is_bcd() -> None:
    assert plain(packed(5, 1)) == ("bcd", (502, 501, 500), 0, None)


@pytest.mark.parametrize("base", [0, 0x30, 0xA0])
@pytest.mark.parametrize("blank", [None, 0x20, 0x0F])
def test_a_digit_a_byte_has_its_base_and_its_blank(base: int, blank: int | None) -> None:
    seen = {n: [base, base + 3, base + 9] for n in range(3)}
    if blank is not None and not base <= blank <= base + 9:
        seen[2].append(blank)
    layout = {n: Unit(n, "low") for n in range(3)}
    assert plain(layout, seen) == ("digits", (2, 1, 0), base, blank)


@pytest.mark.parametrize("blank", [0xA, 0xF])
def test_blanked_nibbles_are_no_digits(blank: int) -> None:
    """0xAA 0xA5 is 5, not 115: a number that grows must not fall when a blank turns into a 1."""
    layout, ram = packed(6, -1), np.zeros((9, 8192), np.uint8)
    numbers = [0, 5, 9, 10, 95, 100, 987, 12_345, 987_654]
    for row, number in zip(ram, numbers, strict=True):
        write(layout, number, row)
        for place in range(max(1, len(str(number))), 6):
            row[layout[place].offset] = layout[place].write(int(row[layout[place].offset]), blank)
    seen = {offset: ram[:, offset] for offset in (498, 499, 500)}
    variable, offsets = to_variable(layout, seen, SPANS)
    assert (variable.encoding, variable.blank, offsets) == ("bcd", blank, (498, 499, 500))
    assert variable.decode({"SYSTEM_RAM": ram[:, :4096]}).tolist() == numbers


def test_eight_times_a_digit_is_read_with_a_shift() -> None:
    layout: Layout = {n: Unit(500 + n, "eighth") for n in range(4)}
    ram = np.zeros((3, 8192), np.uint8)
    for row, number in zip(ram, (7, 42, 9876), strict=True):
        write(layout, number, row)
        for place in range(len(str(number)), 4):
            row[500 + place] = 8 * 12  # the picture of nothing
    variable, offsets = to_variable(layout, {o: ram[:, o] for o in range(500, 504)}, SPANS)
    assert (variable.encoding, variable.shift, offsets) == ("digits", 3, (503, 502, 501, 500))
    assert variable.decode({"SYSTEM_RAM": ram[:, :4096]}).tolist() == [7, 42, 9876]


def test_a_nibble_that_draws_nothing_may_hold_flags() -> None:
    """Three digits in two bytes: the fourth nibble is left out where it is read by halves."""
    layout: Layout = {0: Unit(500, "low"), 1: Unit(500, "high"), 2: Unit(501, "low")}
    digits = [
        digit(100 - 8 * place, unit.offset, unit.kind) for place, unit in sorted(layout.items())
    ]
    assert half_read(one(chains(digits)))
    assert not half_read(one(chains(digits[:2])))
    ram = np.zeros(8192, np.uint8)
    write(layout, 987, ram)
    ram[501] |= 0x70
    seen = {offset: ram[offset : offset + 1] for offset in (500, 501)}
    whole, halves = (to_variable(layout, seen, SPANS, halves=halves)[0] for halves in (False, True))
    memory = {"SYSTEM_RAM": ram[:4096]}
    assert (int(whole.decode(memory)), int(halves.decode(memory))) == (7987, 987)


def test_tile_numbers_that_cross_a_nibble_keep_their_base() -> None:
    layout = {n: Unit(n, "byte", 0x6C) for n in range(2)}
    seen = {n: [0x6C, 0x70, 0x75] for n in range(2)}
    assert plain(layout, seen) == ("digits", (1, 0), 0x6C, None)


def test_bytes_with_something_else_on_top_are_low_nibbles() -> None:
    seen = {n: [0x13, 0x24, 0x97, 0x58, 0xC1] for n in range(2)}
    layout = {n: Unit(n, "low") for n in range(2)}
    assert plain(layout, seen)[:2] == ("nibbles_low", (1, 0))


def test_nibbles_in_no_order_become_terms() -> None:
    layout: Layout = {0: Unit(7, "high"), 1: Unit(3, "low"), 2: Unit(3, "high")}
    variable, offsets = to_variable(layout, {o: np.zeros((1, 1), np.uint8) for o in (3, 7)}, SPANS)
    assert variable.terms
    assert sorted(set(offsets)) == [3, 7]


def test_offsets_count_within_the_region() -> None:
    layout = {n: Unit(4096 + 32 + n, "low") for n in range(3)}
    variable, offsets = to_variable(
        layout, {4128 + n: np.array([[0, 4, 9]], np.uint8) for n in range(3)}, SPANS
    )
    assert (variable.region, variable.addrs) == ("VIDEO_RAM", (34, 33, 32))
    assert offsets == (4130, 4129, 4128)


def test_digits_above_what_ram_holds_raise_the_scale() -> None:
    layout = {n: Unit(n, "low") for n in range(3)}
    seen = {n: np.array([[0, 4, 9]], np.uint8) for n in range(3)}
    assert to_variable(layout, seen, SPANS, zeros=2)[0].scale == 100
