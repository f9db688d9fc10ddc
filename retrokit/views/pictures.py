"""Pictures by hand: whole-pixel zoom, turning, text, and many of them evenly out of a long row.

A picture is uint8 [height, width, 3] RGB, upright.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..album import Picture
from ..errors import MissingExtra, UserError

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError:
    raise MissingExtra("Pillow is not installed", remedy="pip install 'retrokit[video]'") from None

Colour = tuple[int, int, int]
TURNS = (0, 90, 180, 270)
WHITE, GREY, BLACK = (255, 255, 255), (150, 158, 168), (0, 0, 0)


def pixel_shape(size: tuple[int, int], aspect: float) -> tuple[int, int]:
    """Return how many times wide and high a pixel is drawn to come near the core's own aspect.

    Whole times only, so that text stays sharp: an Atari's 160 columns are drawn twice.

    Args:
        size: Width and height of the picture in pixels.
        aspect: Width over height at which it is meant to be seen; 0 where the core does not tell.
    """
    wide = aspect * size[1] / size[0] if aspect > 0 else 1.0
    return max(1, round(wide)), max(1, round(1 / wide))


def zoom_into(size: tuple[int, int], aspect: float, height: int) -> tuple[int, int]:
    """Return the pixel shape at the largest whole zoom that stays within a height, at least 1."""
    across, down = pixel_shape(size, aspect)
    times = max(1, height // (size[1] * down))
    return across * times, down * times


def zoomed(picture: Picture, times: tuple[int, int]) -> Picture:
    """Return a picture with each pixel drawn so many times across and down."""
    for axis, count in ((1, times[0]), (0, times[1])):  # short rows first: long ones copy fast
        picture = picture if count == 1 else picture.repeat(count, axis=axis)
    return picture


def fitted(picture: Picture, size: tuple[int, int]) -> Picture:
    """Return a picture at another width and height, each pixel the area it comes from."""
    if (picture.shape[1], picture.shape[0]) == size:
        return picture
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def turned(picture: Picture, degrees: int) -> Picture:
    """Return a picture turned counter-clockwise by a multiple of 90 degrees."""
    return np.ascontiguousarray(np.rot90(picture, degrees // 90))


def check_turn(degrees: int | None) -> int | None:
    """Return degrees that a picture can be turned by.

    Raises:
        UserError: They are none of 0, 90, 180 and 270.
    """
    if degrees is not None and degrees not in TURNS:
        raise UserError(f"--rotate {degrees}", "one of " + " ".join(map(str, TURNS)))
    return degrees


def dimmed(picture: Picture) -> Picture:
    """Return a picture at a third of its brightness."""
    return picture // 3


@lru_cache(maxsize=16)
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own font in a size in pixels."""
    return ImageFont.load_default(size)


@lru_cache(maxsize=4096)  # most of what is written is written again in the next frame
def ink(text: str, size: int) -> NDArray[np.uint8]:
    """Return how much ink a line of text leaves, uint8 [height, width]; do not write into it."""
    _, _, right, bottom = (ceil(side) for side in font(size).getbbox(text))
    image = Image.new("L", (max(1, right), max(1, bottom)))
    ImageDraw.Draw(image).text((0, 0), text, fill=255, font=font(size))
    return np.asarray(image)


def text_width(text: str, size: int) -> int:
    """Return how many pixels wide a line of text is."""
    return len(ink(text, size)[0])


def write(
    picture: Picture,
    lines: Sequence[tuple[int, int, str, Colour]],
    size: int,
    align: str = "left",
) -> None:
    """Write lines of text into a picture, in place; what does not fit is cut off.

    Args:
        picture: What to write on; must be writable.
        lines: Left (or the middle, or the right) and top in pixels, the text, its colour.
        size: Of the font, in pixels.
        align: ``left``, ``middle`` or ``right``: what of the text stands at that place.
    """
    for at, top, text, colour in lines:
        drawn = ink(text, size)
        width = drawn.shape[1]
        left = max(0, at - {"left": 0, "middle": width // 2, "right": width}[align])
        part = picture[top : top + drawn.shape[0], left : left + width]
        share = drawn[: part.shape[0], : part.shape[1], None].astype(np.int16)
        part += (
            ((np.array(colour, np.int16) - part) * (share / 255)).astype(np.int16).astype(np.uint8)
        )


class Stills:
    """Pictures evenly out of a row whose length is not known beforehand.

    At any time it holds between half of ``most`` and ``most`` pictures, every n-th and the first.

    Args:
        most: How many, an even number.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._every = 1
        self._kept: list[tuple[int, Picture]] = []

    def add(self, number: int, picture: Picture) -> None:
        """Look at the next picture; it is copied where it is kept."""
        if number % self._every:
            return
        if len(self._kept) == self.most:
            del self._kept[1::2]
            self._every *= 2
            if number % self._every:
                return
        self._kept.append((number, picture.copy()))

    def __iter__(self) -> Iterator[tuple[int, Picture]]:
        """Yield number and picture of those kept, in their order."""
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def evenly(total: int, wanted: int) -> NDArray[np.int64]:
    """Return at most so many numbers out of 0 to ``total - 1``, first and last among them."""
    return np.unique(np.linspace(0, max(0, total - 1), min(total, wanted)).round().astype(np.int64))
