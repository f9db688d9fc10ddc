"""Digits on the screen: cells that pokes redraw, the font they share, numbers read back.

No OCR model and no font file: ten values written into one place of RAM draw the ten glyphs of the
game's own digits, and cells of one font on one line give the place values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Pictures = NDArray[np.uint16]
Glyph = NDArray[np.bool_]

ROW_GAP, COLUMN_GAP = 3, 5  # pixels without change that part two boxes
SMALLEST, TALLEST, WIDEST = 3, 44, 40
MOST_BOXES = 12
DISTINCT = 8  # of ten values, how many must look different
HALF = 5  # of them, that are tried first
SAME = 0.04  # share of a glyph's pixels that may differ
SLANT = (0, -1, 1, -2, 2)  # pixels that a digit may stand higher or lower than its line
FONT_AGREES = 7  # glyphs of ten that two cells of one font share


@dataclass(frozen=True, eq=False)
class Cell:
    """A place on the screen that draws one decimal digit.

    Attributes:
        top, bottom, left, right: Half-open box in pixels of the upright picture.
        glyphs: Digit → bool [bottom - top, right - left], True where ink is.
    """

    top: int
    bottom: int
    left: int
    right: int
    glyphs: Mapping[int, Glyph]

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.right - self.left

    def cut(self, picture: Pictures, right: int | None = None, down: int = 0) -> Pictures:
        """Return this cell's part of a picture, or that of its like elsewhere on the line."""
        end = self.right if right is None else right
        top = max(0, self.top + down)
        return picture[top : self.bottom + down, max(0, end - self.width) : end]


def boxes(
    mask: NDArray[np.bool_], row_gap: int = ROW_GAP, column_gap: int = COLUMN_GAP
) -> list[tuple[int, int, int, int]]:
    """Split a mask [height, width] into boxes (top, bottom, left, right), rows first."""
    out: list[tuple[int, int, int, int]] = []
    rows = np.flatnonzero(mask.any(axis=1))
    for band in np.split(rows, np.flatnonzero(np.diff(rows) > row_gap) + 1) if len(rows) else []:
        top, bottom = int(band[0]), int(band[-1]) + 1
        columns = np.flatnonzero(mask[top:bottom].any(axis=0))
        for part in np.split(columns, np.flatnonzero(np.diff(columns) > column_gap) + 1):
            left, right = int(part[0]), int(part[-1]) + 1
            inner = np.flatnonzero(mask[top:bottom, left:right].any(axis=1))
            out.append((top + int(inner[0]), top + int(inner[-1]) + 1, left, right))
    return out


def ten_drawn(pictures: Pictures, ends: NDArray[np.int64]) -> list[Cell]:
    """Return the cells that draw a digit; 0 to 9 was written, and has become `ends` by then."""
    wrapped = (ends < np.arange(len(ends))).astype(np.int64)
    return find_cells(pictures, ends.tolist(), wrapped.tolist())


def may_draw(pictures: Pictures, ends: NDArray[np.int64]) -> bool:
    """Tell whether `ten_drawn` may find a cell once the rest of ten digits are written too."""
    shown = [n for n, digit in enumerate(ends.tolist()) if 0 <= digit <= 9]
    least = DISTINCT - (10 - len(ends))
    seen = {ends[n] for n in shown}, {pictures[n].tobytes() for n in shown}
    return min(map(len, seen)) >= least


def find_cells(
    pictures: Pictures, digits: Sequence[int], groups: Sequence[int] | None = None
) -> list[Cell]:
    """Find the cells that draw one digit among pictures of ten futures.

    Args:
        pictures: uint16 [values, height, width], one per written value.
        digits: The digit each value ends as; values beyond 0–9 are left out.
        groups: Futures with different numbers differ elsewhere too (a carry changed the next
            cell), so only pixels that vary within one group count.

    Returns:
        Cells with at least `DISTINCT` different glyphs that are digits rather than bitmaps or
        sprites on the move.
    """
    shown = [n for n, digit in enumerate(digits) if 0 <= digit <= 9]
    if len({digits[n] for n in shown}) < DISTINCT:
        return []
    group = [0] * len(digits) if groups is None else list(groups)
    varies = np.zeros(pictures.shape[1:], np.bool_)
    # A 0 may be blank, and one digit more can bring the zeros behind it to light.
    inked = [n for n in shown if digits[n]]
    for number in set(group[n] for n in inked):
        same = [n for n in inked if group[n] == number]
        varies |= (pictures[same[1:]] != pictures[same[0]]).any(axis=0)
    for gap in (COLUMN_GAP, 2, 0):
        found = boxes(varies, column_gap=gap)
        if len(found) > MOST_BOXES:
            return []
        cells = [cell for box in found if (cell := _cell(pictures, digits, shown, box))]
        if cells:
            return cells
    return []


def _cell(
    pictures: Pictures, digits: Sequence[int], shown: list[int], box: tuple[int, int, int, int]
) -> Cell | None:
    top, bottom, left, right = box
    if not (SMALLEST < bottom - top <= TALLEST and 1 < right - left <= WIDEST):
        return None
    part = pictures[shown, top:bottom, left:right]
    if len({image.tobytes() for image in part}) < DISTINCT:
        return None
    ink = part != background(part)
    glyphs = {digits[n]: image for n, image in zip(shown, ink, strict=True)}
    if _is_bitmap(glyphs) or _moves(list(ink)):
        return None
    return Cell(top, bottom, left, right, glyphs)


def background(part: Pictures) -> int:
    """Return the commonest colour of a stack of pictures."""
    colours, counts = np.unique(part, return_counts=True)
    return int(colours[counts.argmax()])


def _is_bitmap(glyphs: Mapping[int, Glyph]) -> bool:
    """Tell a playfield byte from a digit: there every bit draws pixels of its own."""
    sums = ((3, 1, 2), (5, 4, 1), (6, 4, 2), (9, 8, 1))
    known = [(a, b, c) for a, b, c in sums if {a, b, c} <= glyphs.keys()]
    hits = sum(
        bool((glyphs[a] ^ glyphs[0] == (glyphs[b] ^ glyphs[0]) | (glyphs[c] ^ glyphs[0])).all())
        if 0 in glyphs
        else bool((glyphs[a] == (glyphs[b] | glyphs[c])).all())
        for a, b, c in known
    )
    return len(known) >= 2 and hits == len(known)


def _moves(images: list[Glyph]) -> bool:
    """Tell a sprite's coordinate from a digit: each picture is the one before, shifted."""
    hits = 0
    for before, after in zip(images, images[1:], strict=False):
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1), (1, 2), (1, -2)):
            shifted = np.roll(before, step, axis)
            inner = [slice(None), slice(None)]
            inner[axis] = slice(step, None) if step > 0 else slice(None, step)
            a, b = shifted[tuple(inner)], after[tuple(inner)]
            if a.any() and (a != b).mean() <= SAME / 2:
                hits += 1
                break
    return hits >= 5


def same_font(a: Cell, b: Cell) -> int:
    """Return how many digits two cells draw alike, at the best common shift of up to 2 pixels."""
    height = min(a.bottom - a.top, b.bottom - b.top)
    if abs((a.bottom - a.top) - (b.bottom - b.top)) > 2 or abs(a.width - b.width) > 3:
        return 0
    common = a.glyphs.keys() & b.glyphs.keys()
    narrow, wide = (a, b) if a.width <= b.width else (b, a)
    best = 0
    for down in range(-2, 3):
        for side in range(-1, wide.width - narrow.width + 2):
            alike = 0
            for digit in common:
                one, two = narrow.glyphs[digit], wide.glyphs[digit]
                x = _overlap(one, two, height, down, side)
                alike += x is not None and min(x, 1 - x) <= SAME  # either polarity
            best = max(best, alike)
    return best


def _overlap(one: Glyph, two: Glyph, height: int, down: int, side: int) -> float | None:
    """Return the share of pixels that differ where two glyphs overlap at a shift."""
    top = max(0, down)
    rows = min(height, one.shape[0] - max(0, -down), two.shape[0] - top)
    left = max(0, side)
    columns = min(one.shape[1] - max(0, -side), two.shape[1] - left)
    if rows < 0.75 * one.shape[0] or columns < 0.75 * one.shape[1]:
        return None
    a = one[max(0, -down) :][:rows, max(0, -side) :][:, :columns]
    b = two[top : top + rows, left : left + columns]
    return float((a != b).mean())


@dataclass(frozen=True, eq=False)
class Line:
    """A number on the screen: one font, one pitch, places counted from the right.

    Attributes:
        cell: The rightmost known cell, whose glyphs are the font.
        pitch: Pixels from one digit to the next.
        zeros: Zeros drawn to the right of ``cell`` that no RAM holds (the ×10 of the account).
        floats: The number is centred or starts at the left, so that its right end moves.
        own: Place → the cell that was seen to draw it, which may stand a little off the line.
    """

    cell: Cell
    pitch: float
    zeros: int = 0
    floats: bool = False
    own: Mapping[int, Cell] = field(default_factory=dict)

    def read(self, picture: Pictures, most: int = 10) -> int | None:
        """Read the number, place by place to the left until nothing is drawn.

        Returns:
            The number without the drawn zeros, or None where the rightmost cell shows no digit.
        """
        number, _ = self.find(picture, most)
        return number

    def find(self, picture: Pictures, most: int = 10) -> tuple[int | None, float]:
        """Return the number, as `read` does, and the right end of its last place."""
        for half in range(2 * most if self.floats else 1):
            right = self.cell.right - half * self.pitch / 2
            number = self._read(picture, right, most)
            if number is not None:
                return number, right
        return None, float(self.cell.right)

    def _read(self, picture: Pictures, right: float, most: int) -> int | None:
        number, place = 0, 0
        while place < most and right - self.cell.width >= 0:
            digit = self._digit(picture, place, round(right))
            if digit is None:
                break
            number += digit * 10**place
            place, right = place + 1, right - self.pitch
        return number if place else None

    def _digit(self, picture: Pictures, place: int, right: int) -> int | None:
        own = None if self.floats else self.own.get(place)
        digit = None if own is None else read_digit(own, own.cut(picture))
        if digit is not None:
            return digit
        parts = (self.cell.cut(picture, right, down) for down in SLANT)
        digits = (read_digit(self.cell, part) for part in parts)
        return next((d for d in digits if d is not None), None)


def read_digit(cell: Cell, part: Pictures) -> int | None:
    """Return the digit drawn in a part of a picture, or None when none fits or it is empty."""
    if part.shape != (cell.bottom - cell.top, cell.width):
        return None
    colours, counts = np.unique(part, return_counts=True)
    if len(colours) < 2:
        return None
    # Of three colours, the commonest is not the background in every digit; of two, it matters not.
    papers = colours[np.argsort(-counts, kind="stable")][: len(colours) - 1][:2]
    inks = [ink for paper in papers for ink in (part != paper, part == paper)]
    misses = {
        digit: min(float((ink != glyph).mean()) for ink in inks)
        for digit, glyph in cell.glyphs.items()
    }
    ranked = sorted(misses.values())
    best = min(misses, key=misses.__getitem__)
    clear = len(ranked) < 2 or ranked[1] > ranked[0] + 0.02
    return best if misses[best] <= 2 * SAME and clear else None
