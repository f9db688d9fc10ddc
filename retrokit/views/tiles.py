"""Several pictures as one: captions above them, rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np

from ..album import Picture
from .pictures import GREY, WHITE, Colour, text_width, write

PAPER: Colour = (24, 27, 32)
GAP = 8  # pixels between two tiles
SMALLEST, LARGEST = 11, 30  # pixels of a caption's letters
WIDE = 16 / 9  # the shape that rows and columns come near


def caption_size(width: int, lines: Sequence[str]) -> int:
    """Return how large letters may be so that each line fits into a width, in pixels."""
    fits = [size for size in range(SMALLEST, LARGEST + 1) if _longest(lines, size) <= width - 4]
    return max(fits, default=SMALLEST)


def _longest(lines: Sequence[str], size: int) -> int:
    return max((text_width(line, size) for line in lines), default=0)


def caption(width: int, lines: Sequence[str], size: int) -> Picture:
    """Return a band of text, the first line in white, the rest in grey, in the middle."""
    pitch = round(size * 1.3)
    band = np.full((pitch * len(lines) + size // 3, width, 3), PAPER, np.uint8)
    rows = [
        (width // 2, pitch * number + size // 6, line, WHITE if number == 0 else GREY)
        for number, line in enumerate(lines)
    ]
    write(band, rows, size, "middle")
    return band


def captioned(picture: Picture, lines: Sequence[str], size: int | None = None) -> Picture:
    """Return a picture below its caption, whose letters are as large as its width allows."""
    width = picture.shape[1]
    band = caption(width, lines, size or min(16, caption_size(width, lines)))
    return np.concatenate([band, picture])


def waste(count: int, columns: int, size: tuple[int, int]) -> float:
    """Return how far tiles in so many columns are from a full 16:9 picture, from 0 to below 1.

    Args:
        count: How many tiles.
        columns: In how many columns.
        size: Width and height of one.
    """
    rows = ceil(count / columns)
    wide, high = columns * (size[0] + GAP), rows * (size[1] + GAP)
    apart = abs(log(wide / high / WIDE)) + 0.5 * (columns * rows - count) / count
    return 1 - 1 / (1 + apart)


def sheet(cells: Sequence[Picture], columns: int | None = None) -> Picture:
    """Return pictures of one size in rows and columns, a gap around each.

    Args:
        cells: At least one.
        columns: How many; None: what comes nearest to 16:9.
    """
    high, wide = cells[0].shape[:2]
    across = columns or min(
        range(1, len(cells) + 1), key=lambda columns: waste(len(cells), columns, (wide, high))
    )
    rows = ceil(len(cells) / across)
    size = (rows * (high + GAP) + GAP, across * (wide + GAP) + GAP, 3)
    out = np.full(size, PAPER, np.uint8)
    for number, cell in enumerate(cells):
        row, column = divmod(number, across)
        top, left = GAP + row * (high + GAP), GAP + column * (wide + GAP)
        out[top : top + high, left : left + wide] = cell
    return out
