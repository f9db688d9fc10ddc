"""Many savestates in little memory: most of a game's memory rests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..core import Core

LINE = 64  # bytes
NEAREST = 12  # frames between checkpoints, or 2, 4, 8, … times as many
TRIAL = 300  # frames of play after which it is seen how far a savestate is from the first


class States(Sequence[bytes]):
    """Savestates, each kept as the lines of 64 bytes in which it differs from one of them all."""

    def __init__(self, base: bytes) -> None:
        self._base = base
        self._kept: list[tuple[int, NDArray[np.int32], NDArray[np.uint64], bytes]] = []

    def append(self, state: bytes) -> None:
        """Keep a savestate; it may be of another size than the others."""
        lines, base = _lines(state), _lines(self._base)
        differs = np.ones(len(lines), np.bool_)
        both = min(len(lines), len(base))
        differs[:both] = (lines[:both] != base[:both]).any(axis=1)
        where = np.flatnonzero(differs).astype(np.int32)
        self._kept.append((len(lines), where, lines[where], state[lines.nbytes :]))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._kept)

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> list[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | list[bytes]:
        """Return a savestate as it was given."""
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        count, where, changed, rest = self._kept[number]
        lines = np.zeros((count, LINE // 8), np.uint64)
        base = _lines(self._base)[:count]
        lines[: len(base)] = base
        lines[where] = changed
        return lines.tobytes() + rest

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return sum(where.nbytes + lines.nbytes + len(rest) for _, where, lines, rest in self._kept)


def _lines(state: bytes) -> NDArray[np.uint64]:
    count = len(state) // LINE
    return np.frombuffer(state, np.uint64, count * LINE // 8).reshape(count, LINE // 8)


def spacing(core: Core, state: bytes, log: NDArray[np.uint16], frames: int, most: int) -> int:
    """Return how many frames apart savestates can be kept in a limited number of bytes.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate that play begins with.
        log: uint16 [frames]: some of the play.
        frames: All frames of play.
        most: Bytes for the savestates of them all.
    """
    if len(state) * frames <= most * NEAREST:
        return NEAREST
    later = States(state)
    core.load(state)
    core.record(log[:TRIAL])
    later.append(core.save())
    each = min(len(state), 2 * later.nbytes + len(state) // 32)  # it goes on from there
    every = NEAREST
    while every < frames and each * frames > most * every:
        every *= 2  # roughly: the same in every run, though a few bytes of a state may not be
    return every
