"""What pictures of one moment show when a byte holds other values: a thing that slides, or a bar.

All pictures come from futures of one savestate at one frame, so whatever does not hang on the byte
is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .screen import Pictures

LARGEST = 0.35  # share of the picture that may vary: more is the whole scene, no sprite
LEAST_INK = 3  # pixels
LONGEST = 1 / 3  # share of the picture's width or height that one thing covers
OFF = 1.5  # pixels that a place may lie beside the straight line
ALIKE = 0.2  # share of a thing's pixels that must be the same where it has gone
SLID = 0.7  # share of the values whose thing must lie on the line


class Slide(NamedTuple):
    """Pixels a step of the value, negative for up or left, and how far beside that it lay."""

    unit: float
    error: float


def slide(pictures: Pictures, values: Sequence[int], axis: int) -> Slide | None:
    """Return how far one small thing moves along an axis for each step of the value.

    Args:
        pictures: uint16 [values, height, width]; the first is what the others are compared with.
        values: The value in each picture; at least three differ.
        axis: 0 for down, 1 for right.

    Returns:
        None where nothing moves, or not in proportion.
    """
    box = _varying(pictures)
    if box is None or len(set(values)) < 3:
        return None
    part = pictures[:, box[0], box[1]] if axis else pictures[:, box[0], box[1]].swapaxes(1, 2)
    steps = np.asarray(values, np.float64) - values[0]
    low, high = part[int(steps.argmin())], part[int(steps.argmax())]
    # Neither end covers the middle, where most pictures may show the thing itself.
    ink = part != np.where(low == high, low, most_common(part))
    visible = ink.sum(axis=(1, 2)) >= LEAST_INK  # it may have left the picture
    if not visible[0] or _large(ink[visible], pictures.shape[1:], axis):
        return None
    found = [_shift(part[0], part[n], ink[0], ink[n]) for n in range(len(part))]
    shifts = np.array([shift for shift, _ in found], np.float64)
    alike = np.array([share for _, share in found])
    other = visible & (steps != 0)
    if other.sum() < 3:
        return None
    unit = float(np.median(shifts[other] / steps[other]))
    errors = np.abs(shifts - unit * steps)
    good = other & (errors <= OFF) & (alike >= ALIKE)
    if not unit or len({0, *shifts[good].tolist()}) < 3 or good.sum() < SLID * other.sum():
        return None
    return Slide(unit, float(errors[good].mean()))


def bar(pictures: Pictures, values: Sequence[int]) -> bool:
    """Tell whether the value is drawn as a length: each pixel turns once as the value grows.

    Args:
        pictures: uint16 [values, height, width].
        values: The value in each picture; at least four differ.
    """
    box = _varying(pictures)
    if box is None or len(set(values)) < 4:
        return False
    order = np.argsort(np.asarray(values), kind="stable")
    part = pictures[:, box[0], box[1]][order]
    turns = (part[1:] != part[:-1]).sum(axis=0)
    once = (turns == 1).sum() >= 0.95 * (turns > 0).sum()
    grows = (part[1:] != part[:-1]).any(axis=(1, 2)).mean() >= 0.5
    high, wide = part.shape[1:]
    return bool(once and grows and max(high, wide) >= 2 * min(high, wide))


def most_common(stack: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the commonest colour of each pixel over a stack of pictures [pictures, ...]."""
    ordered = np.sort(stack, axis=0)
    best = ordered[0].copy()
    run = np.ones(best.shape, np.int64)
    most = run.copy()
    for before, now in zip(ordered[:-1], ordered[1:], strict=True):
        run = np.where(now == before, run + 1, 1)
        longer = run > most
        most, best = np.where(longer, run, most), np.where(longer, now, best)
    return np.asarray(best, np.uint16)


def _varying(pictures: Pictures) -> tuple[slice, slice] | None:
    """Return the rows and columns of what differs, or None where that is nothing or too much."""
    varies = (pictures != pictures[:1]).any(axis=0)
    if not varies.any() or varies.mean() > LARGEST:
        return None
    rows, columns = np.flatnonzero(varies.any(axis=1)), np.flatnonzero(varies.any(axis=0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _large(ink: NDArray[np.bool_], shape: tuple[int, ...], axis: int) -> bool:
    """Tell whether what moves is too long for a sprite: scenery, or a field of things."""
    high, wide = shape if axis else shape[::-1]
    for lines, whole in ((ink.any(axis=2), high), (ink.any(axis=1), wide)):
        lengths = [int(np.ptp(np.flatnonzero(line))) + 1 for line in np.asarray(lines)]
        if np.median(lengths) > LONGEST * whole:
            return True
    return False


def _shift(
    here: NDArray[np.uint16],
    there: NDArray[np.uint16],
    ink_here: NDArray[np.bool_],
    ink_there: NDArray[np.bool_],
) -> tuple[int, float]:
    """Return how many columns the ink moved, and the share of its pixels that are the same."""
    width = here.shape[1]
    room = 2 * width
    spectrum = np.fft.rfft(ink_here, room).conj() * np.fft.rfft(ink_there, room)
    overlap = np.fft.irfft(spectrum.sum(axis=0), room)
    shift = int(overlap.argmax())
    shift -= room if shift >= width else 0
    a = slice(max(0, -shift), min(width, width - shift))
    b = slice(max(0, shift), min(width, width + shift))
    same = int((ink_here[:, a] & ink_there[:, b] & (here[:, a] == there[:, b])).sum())
    union = int(ink_here.sum()) + int(ink_there.sum()) - same
    return shift, same / max(1, union)
