"""Chains: digit cells of one font on one line are one number; the screen gives the place values.

Nothing is assumed about the layout in RAM: reversed, scattered, nibble-wise and digit-per-byte
numbers come out of the same three rules (one line, one font, one pitch).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..values import Variable
from .candidates import place
from .poke import Moment
from .screen import FONT_AGREES, Cell, Line, Pictures, read_digit, same_font
from .units import Unit

REACH = 2.3  # pitches to the next digit of the same number; two players' scores lie further apart


@dataclass(frozen=True, eq=False)
class Digit:
    """A unit of RAM and the cell it draws, seen after ``moment``."""

    unit: Unit
    cell: Cell
    moment: Moment


@dataclass(frozen=True, eq=False)
class Chain:
    """A number: digits by decimal place, 0 the rightmost that RAM holds.

    Attributes:
        digits: Place → digit.
        line: How to read the number on the screen.
    """

    digits: dict[int, Digit]
    line: Line

    @property
    def holes(self) -> bool:
        """Whether a place between the first and the last is held by no RAM that is known."""
        return max(self.digits) - min(self.digits) >= len(self.digits)

    @property
    def units(self) -> dict[int, Unit]:
        """Place → unit of RAM."""
        return {place: digit.unit for place, digit in self.digits.items()}


def on_one_line(a: Cell, b: Cell) -> bool:
    """Tell whether two cells can be digits of one number."""
    return abs(a.bottom - b.bottom) <= 2 and abs(a.top - b.top) <= 2


def chains(digits: Sequence[Digit]) -> list[Chain]:
    """Build the numbers that a set of digit cells can form, longest first."""
    left = sorted(digits, key=lambda d: -d.cell.right)
    out: list[Chain] = []
    while left:
        head = left[0]
        family = [
            d
            for d in left
            if d is head
            or (on_one_line(head.cell, d.cell) and same_font(head.cell, d.cell) >= FONT_AGREES - 1)
        ]
        for run in _runs(family):
            out.append(run)
        left = [d for d in left if not any(d is member for member in family)]
    return sorted(out, key=lambda chain: -len(chain.digits))


def _runs(family: list[Digit]) -> Iterable[Chain]:
    width = max(4, min(d.cell.width for d in family))
    columns: list[list[Digit]] = []  # digits that share a right edge, from the right
    for digit in family:
        if columns and columns[-1][0].cell.right - digit.cell.right <= max(2, width // 2):
            columns[-1].append(digit)
        else:
            columns.append([digit])
    gaps = [a[0].cell.right - b[0].cell.right for a, b in zip(columns, columns[1:], strict=False)]
    pitch = min(gaps, default=width + 1)
    pitch = pitch if pitch <= 2 * width else width + 1
    run: list[list[Digit]] = []
    for column, gap in zip(columns, [0, *gaps], strict=True):
        if run and gap > REACH * pitch:
            yield _chain(run, pitch)
            run = []
        run.append(column)
    yield _chain(run, pitch)


def _chain(run: list[list[Digit]], pitch: float) -> Chain:
    right = run[0][0].cell.right
    steps = [round((right - column[0].cell.right) / pitch) for column in run]
    if len(run) > 1:  # the mean over the whole run is finer than the narrowest gap
        pitch = (right - run[-1][0].cell.right) / steps[-1]
    digits = {}
    for step, column in zip(steps, run, strict=True):
        digits[step] = max(column, key=lambda d: (len(d.cell.glyphs), d.unit.kind == "low"))
    return Chain(digits, _line(digits, pitch))


def _line(digits: dict[int, Digit], pitch: float) -> Line:
    cells = {place: digit.cell for place, digit in digits.items()}
    own = {place: _font([cell, *cells.values()], cell) for place, cell in cells.items()}
    return Line(_font(list(cells.values())), pitch, own=own)


def _font(cells: list[Cell], head: Cell | None = None) -> Cell:
    """Return a cell, the rightmost, with glyphs it lacks (a blanked zero) taken from its like."""
    head = head or max(cells, key=lambda cell: cell.right)
    glyphs = {digit: glyph for digit, glyph in head.glyphs.items() if glyph.any()}
    for cell in cells:
        if (cell.bottom - cell.top, cell.width) == (head.bottom - head.top, head.width):
            for digit, glyph in cell.glyphs.items():
                if digit not in glyphs and glyph.any():
                    glyphs[digit] = glyph
    return replace(head, glyphs=glyphs)


def parts(chain: Chain) -> list[Chain]:
    """Return the runs of places without a hole: a line can hold the score and the lives too."""
    places = sorted(chain.digits)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    out = []
    for run in runs if len(runs) > 1 else []:
        digits = {int(at - run[0]): chain.digits[int(at)] for at in run}
        out.append(Chain(digits, _line(digits, chain.line.pitch)))
    return sorted(out, key=lambda part: -len(part.digits))


def right_of(line: Line, pictures: Pictures) -> tuple[int, bool]:
    """Look at the places to the right of a number.

    Args:
        line: The number.
        pictures: uint16 [n, height, width] of play at different times.

    Returns:
        How many zeros stand there in every picture that shows the number, and whether the next
        place shows digits that change: then the number's last places are missing.
    """
    found = [(picture, *line.find(picture)) for picture in pictures]
    views = [(picture, right) for picture, number, right in found if number is not None]
    zeros = 0
    while views and zeros < 4:
        beyond = (zeros + 1) * line.pitch
        parts = [line.cell.cut(view, round(right + beyond)) for view, right in views]
        seen = {read_digit(line.cell, part) for part in parts}
        if seen != {0}:
            return zeros, len(seen - {None}) > 1
        zeros += 1
    return zeros, False


def goes_on_left(line: Line, places: int, pictures: Pictures) -> bool:
    """Tell whether a digit stands left of a number in every picture that shows it.

    Args:
        line: The number.
        places: How many RAM is known to hold.
        pictures: uint16 [n, height, width] of play at different times.
    """
    right = round(line.cell.right - places * line.pitch)
    if right < line.cell.width:
        return False
    views = [picture for picture in pictures if line.read(picture) is not None]
    seen = [read_digit(line.cell, line.cell.cut(view, right)) for view in views]
    return bool(seen) and None not in seen


def to_variable(
    units: dict[int, Unit],
    bytes_seen: dict[int, NDArray[np.uint8]],
    spans: Sequence[Span],
    zeros: int = 0,
    halves: bool = False,
) -> tuple[Variable, tuple[int, ...]]:
    """Return the variable that decodes a chain, and its offsets in the selected regions.

    Args:
        units: Place → unit of RAM.
        bytes_seen: Values seen of each byte, to tell ASCII or tile digits from bare nibbles.
        spans: The core's selected regions.
        zeros: Zeros drawn to the right that may lie in no RAM.
        halves: Read no nibble that was not seen to draw: it may hold flags.
    """
    units = {power + zeros: unit for power, unit in units.items()}
    whole = max(units) - min(units) == len(units) - 1
    if whole and all(unit.kind == "eighth" for unit in units.values()):
        return _eighths(units, bytes_seen, spans)
    units = _whole_bytes(units, bytes_seen)
    packed = None if halves else _as_bcd(units, bytes_seen)
    packed = packed or _as_digits(units, bytes_seen)
    if packed is not None:
        offsets, encoding, base, blank, low = packed
        region, _ = place(offsets[0], spans)
        addrs = tuple(place(offset, spans)[1] for offset in offsets)
        if all(place(offset, spans)[0] == region for offset in offsets):
            return Variable(addrs, encoding, region, 10**low, base, blank), offsets
    terms, offsets = [], ()
    for power in sorted(units, reverse=True):
        unit, below = units[power], units.get(power - 1)
        region, addr = place(unit.offset, spans)
        if unit.kind == "low" and units.get(power + 1) == replace(unit, kind="high"):
            continue  # read with its upper half
        packed_byte = unit.kind == "high" and below == replace(unit, kind="low")
        kind = {"low": "nibbles_low", "high": "nibbles_high"}.get(unit.kind, "digits")
        kind, at = ("bcd", power - 1) if packed_byte else (kind, power)
        shift = 3 if unit.kind == "eighth" else 0
        terms.append(Variable((addr,), kind, region, 10**at, unit.base, shift=shift))
        offsets += (unit.offset,)
    if len(terms) == 1:
        return terms[0], offsets
    return Variable(terms=tuple(terms), region=terms[0].region), offsets


def half_read(chain: Chain) -> bool:
    """Tell whether a packed byte of a number draws with one nibble only."""
    nibbles = {(u.offset, u.kind) for u in chain.units.values() if u.kind in ("low", "high")}
    offsets = [offset for offset, _ in nibbles]
    return 0 < sum(offsets.count(offset) == 1 for offset in offsets) < len(offsets)


def _eighths(
    units: dict[int, Unit], bytes_seen: dict[int, NDArray[np.uint8]], spans: Sequence[Span]
) -> tuple[Variable, tuple[int, ...]]:
    """Return the variable of a number whose bytes hold eight times their digit."""
    powers = sorted(units, reverse=True)
    offsets = tuple(units[power].offset for power in powers)
    codes = np.unique(np.concatenate([np.unique(bytes_seen[offset]) for offset in offsets])) >> 3
    blank = tuple(np.unique(codes[codes > 9]).tolist()) or None
    region = place(offsets[0], spans)[0]
    addrs = tuple(place(offset, spans)[1] for offset in offsets)
    return Variable(addrs, "digits", region, 10 ** powers[-1], blank=blank, shift=3), offsets


def _whole_bytes(
    units: dict[int, Unit], bytes_seen: dict[int, NDArray[np.uint8]]
) -> dict[int, Unit]:
    """Return the units with nibbles as whole bytes where their neighbours are whole bytes."""
    bases = {unit.base for unit in units.values() if unit.kind == "byte"}
    if len(bases) != 1:
        return units
    base = bases.pop()
    return {
        power: Unit(unit.offset, "byte", base)
        if unit.kind == "low" and (bytes_seen[unit.offset] & 0xF0 == base).any()
        else unit
        for power, unit in units.items()
    }


Packed = tuple[tuple[int, ...], str, int, tuple[int, ...] | None, int]


def _as_bcd(units: dict[int, Unit], bytes_seen: dict[int, NDArray[np.uint8]]) -> Packed | None:
    """Return packed BCD when both nibbles of a byte are neighbouring places, byte after byte."""
    by_byte: dict[int, dict[str, int]] = {}
    for power, unit in units.items():
        if unit.kind == "byte":
            return None
        by_byte.setdefault(unit.offset, {})[unit.kind] = power
    if not any(len(kinds) == 2 for kinds in by_byte.values()):
        return None
    lows = {}
    for offset, kinds in by_byte.items():
        low = kinds["low"] if "low" in kinds else kinds["high"] - 1
        if kinds.get("high", low + 1) != low + 1 or low in lows:
            return None
        lows[low] = offset
    bottom, top = min(lows), max(lows)
    if sorted(lows) != list(range(bottom, top + 1, 2)) or bottom < 0:
        return None
    offsets = tuple(lows[power] for power in sorted(lows, reverse=True))
    return offsets, "bcd", 0, _blanks([bytes_seen[offset] for offset in offsets], 0xFF), bottom


def _blanks(series: Iterable[NDArray[np.uint8]], mask: int) -> tuple[int, ...] | None:
    """Return the one or two nibble codes beyond 9 that hide a leading zero, or None."""
    values = np.unique(np.concatenate([np.unique(bytes_) for bytes_ in series]))
    nibbles = np.concatenate([values & 15] * (mask & 15 > 0) + [values >> 4] * (mask >> 4 > 0))
    codes = np.unique(nibbles[nibbles > 9])
    return tuple(codes.tolist()) if 1 <= len(codes) <= 2 else None


def _as_digits(units: dict[int, Unit], bytes_seen: dict[int, NDArray[np.uint8]]) -> Packed | None:
    """Return one digit a byte when the places have no hole and all units are of one kind."""
    powers = sorted(units, reverse=True)
    kinds = {(unit.kind, unit.base) for unit in units.values()}
    if len(kinds) != 1 or powers != list(range(powers[0], powers[-1] - 1, -1)):
        return None
    kind, base = kinds.pop()
    offsets = tuple(units[power].offset for power in powers)
    if len(set(offsets)) < len(offsets):
        return None
    if kind == "high":
        blank = _blanks([bytes_seen[offset] for offset in offsets], 0xF0)
        return offsets, "nibbles_high", 0, blank, powers[-1]
    values, counts = np.unique(
        np.concatenate([bytes_seen[offset].reshape(-1) for offset in offsets]), return_counts=True
    )
    if kind == "low":  # the nibble above the digit tells ASCII and tile codes from bare digits
        highs = np.bincount((values >> 4)[values & 15 <= 9], counts[values & 15 <= 9], 16)
        base = int(highs.argmax()) << 4
    others = tuple(int(value) for value in values if not base <= value <= base + 9)
    if len(others) <= 2:
        return offsets, "digits", base, others or None, powers[-1]
    blank = _blanks([bytes_seen[offset] for offset in offsets], 0x0F)
    return offsets, "nibbles_low", 0, blank, powers[-1]
