"""Copies: bytes that the game makes anew from others, so that a poke of them proves nothing.

Who is copied and who is the copy is told by pokes on both sides, restored against restored: other
numbers written into the source come out in the copy, each through one and the same function; what
is written into the copy is gone by then, and never reaches the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from .candidates import name_of
from .poke import LOOKS, Moment, Prober

SOON = 2  # frames in which what is made anew in every frame has been made anew
LEAST_VALUES = 4  # different ones of a source by which a function is told
MOST_SLOPE = 16  # what one more in the source is worth in a copy: eight in tables of glyphs
PARTS = {"": (0xFF, 0), "low digit": (0x0F, 0), "high digit": (0xF0, 4)}
BATCH = 128  # futures at once


class Copy(NamedTuple):
    """A byte that is made from another: ``slope * part + base``, modulo 256.

    Attributes:
        offset, source: The two bytes, in the selected regions.
        part: What of the source it holds, a key of ``PARTS``.
        slope, base: How.
        always: It is made anew in every frame, not only when the number changes.
    """

    offset: int
    source: int
    part: str
    slope: int
    base: int
    always: bool

    def told(self, spans: Sequence[Span]) -> str:
        """Return it in words, such as ``0x90: copy of 0x80 (low digit x 8 + 0x10)``."""
        how = f"{self.part} x {self.slope}" if self.slope > 1 else self.part
        if self.base:
            how = f"{how or 'it'} + {self.base:#x}"
        names = [name_of(offset, spans) for offset in (self.offset, self.source)]
        what = "copy" if self.always else "copy, when it changes,"
        return f"{names[0]}: {what} of {names[1]}" + (f" ({how})" if how else "")


def find_copies(
    prober: Prober, offsets: Sequence[int], pokes: Mapping[Moment, Sequence[Sequence[int]]]
) -> list[Copy]:
    """Find the copies of a number.

    Args:
        prober: The prober of a recording.
        offsets: The number's bytes.
        pokes: Moment just before a change of it → other bytes to write, [branches, offsets].

    Returns:
        Copies among the recorded bytes, in their order.
    """
    kept = prober.recording.offsets
    columns = [prober.recording.column(offset) for offset in offsets]
    own = [column for column in columns if column is not None]
    if not pokes or len(own) < len(offsets):
        return []
    looks = (SOON, LOOKS[0], LOOKS[-1])
    seen, plain = [], {}
    for moment, rows in pokes.items():
        table = np.array([[-1] * len(offsets), *rows])
        ram, _ = prober.after(moment, table, offsets, looks, kept.tolist(), pictures=False)
        plain[moment] = ram[0]
        seen.append(ram[1:])
    poked = np.concatenate(seen).astype(np.int64)  # [branches, looks, kept]
    found: dict[int, Copy] = {}
    for look, always in ((0, True), (2, False)):
        views = poked[:, look]
        varied = np.flatnonzero([len(np.unique(view)) >= LEAST_VALUES for view in views.T])
        for column in varied.tolist():
            offset = int(kept[column])
            if offset in offsets or offset in found:
                continue
            made = _made_of(views[:, column], views[:, own], offsets)
            if made is not None:
                found[offset] = Copy(offset, *made, always)
    lasting = _lasting(prober, list(found.values()), plain, looks, own)
    return [found[offset] for offset in sorted(found) if offset not in lasting]


def _made_of(
    copy: NDArray[np.int64], sources: NDArray[np.int64], offsets: Sequence[int]
) -> tuple[int, str, int, int] | None:
    """Return source, part, slope and base that make a copy, int64 [branches]; else None."""
    for number, offset in enumerate(offsets):
        for name, (mask, shift) in PARTS.items():
            part = (sources[:, number] & mask) >> shift
            if len(np.unique(part)) < LEAST_VALUES:
                continue
            for slope in range(1, MOST_SLOPE + 1):
                bases = np.unique((copy - slope * part) % 256)
                if len(bases) == 1:
                    return offset, name, slope, int(bases[0])
    return None


def _lasting(
    prober: Prober,
    copies: Sequence[Copy],
    plain: Mapping[Moment, NDArray[np.uint8]],
    looks: Sequence[int],
    own: list[int],
) -> set[int]:
    """Return those in which a poke lasts, or from which it reaches the number: they are none.

    Args:
        prober: The prober.
        copies: What follows the number.
        plain: Moment → uint8 [looks, kept]: all bytes without a poke.
        looks: Frames run.
        own: The number's columns.
    """
    kept = prober.recording.offsets
    out: set[int] = set()
    for moment, untouched in plain.items():
        before = prober.bytes_at(moment, [copy.offset for copy in copies]).astype(np.int64)
        for flip in (0x05, 0xA0) if len(copies) else ():
            for at in range(0, len(copies), BATCH):
                some = copies[at : at + BATCH]
                rows = (before[at : at + BATCH] ^ flip)[:, None]
                where = np.array([[copy.offset] for copy in some])
                ram, _ = prober.after(moment, rows, where, looks, kept.tolist(), pictures=False)
                for copy, row in zip(some, ram, strict=True):
                    look, column = 0 if copy.always else 2, prober.recording.column(copy.offset)
                    back = row[look, column] == untouched[look, column]
                    if not back or (row[:, own] != untouched[:, own]).any():
                        out.add(copy.offset)
    return out
