"""The search from the screen's side: any byte that draws a digit, whether or not it ever moved.

Where nothing scored, or too seldom, a long number on the screen is still told by its ten glyphs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chains import Digit
from .poke import Moment, Prober
from .units import Unit

LARGEST = 1 << 14  # bytes of RAM that are gone through
GROUP = 16  # bytes that are poked at once; most draw nothing
MAP = 8  # so many groups in a row that draw are the screen's own memory, or the sprites'
SMALL = 512  # RAM up to this size is poked byte by byte
WHEN = (90, 400)  # frames into an episode


def drawn_digits(prober: Prober) -> list[Digit]:
    """Return every digit cell that a nibble of RAM draws early in play.

    Args:
        prober: The prober of a recording.

    Returns:
        The digits of the first moment that shows any; none for RAM above 16 KiB.
    """
    recording = prober.recording
    total = len(recording.initial)
    if total > LARGEST:
        return []
    offsets = np.flatnonzero(recording.saved).tolist()
    for episode, frame in zip((0, recording.episodes - 1), WHEN, strict=True):
        moment = Moment(episode, min(frame, int(recording.ends[episode]) // 2))
        found = offsets if total <= SMALL else _drawing(prober, offsets, moment)
        units = [Unit(offset, kind) for offset in found for kind in ("low", "high")]
        digits = [
            Digit(unit, cell, moment)
            for unit in prober.touching(units, moment)
            for cell in prober.draw(unit, moment)
        ]
        if digits:
            return digits
    return []


def _drawing(prober: Prober, offsets: Sequence[int], moment: Moment) -> list[int]:
    """Return the bytes of those groups that change the picture when poked together.

    The screen's own memory is left out: what is drawn there is a copy.
    """
    padded = np.full(-(-len(offsets) // GROUP) * GROUP, -1, np.int64)
    padded[: len(offsets)] = offsets
    groups = padded.reshape(-1, GROUP)
    before = prober.bytes_at(moment, np.maximum(padded, 0).tolist()).astype(np.int64)
    low, high = (before & 15) % 9 + 1, (before >> 4) % 9 + 1
    values = np.where(padded >= 0, high << 4 | low, -1).reshape(-1, GROUP)
    _, plain = prober.after(moment, [[-1]], [0])
    hit: list[bool] = []
    for at in range(0, len(groups), 8 * GROUP):
        part = slice(at, at + 8 * GROUP)
        _, pictures = prober.after(moment, values[part], np.maximum(groups[part], 0))
        hit += (pictures != plain).any(axis=(1, 2, 3)).tolist()
    runs = np.split(np.flatnonzero(hit), np.flatnonzero(np.diff(np.flatnonzero(hit)) > 1) + 1)
    few = [number for run in runs if len(run) < MAP for number in run]
    return [offset for offset in groups[few].reshape(-1).tolist() if offset >= 0]
