"""Which bytes of large RAM can be counters: told from how each byte moved, frame by frame.

Megabytes hold more than counters: pictures, sound, whole levels that are loaded. What counts moves
seldom, by few different steps, hardly ever back to what it just was, and not together with all that
lies around it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core import Core, Counts
from ..team import each
from .home import enter

BUSY = 0.25  # a byte that changes in more frames than this is no counter on a screen
PIECE = 240  # frames between reports
# Steps of digits, of nibbles and of small counts, modulo 64: other data has all of them.
NATURAL = sum(1 << step % 64 for step in (*range(-9, 10), 16, 32, 48))
BY_CHANCE = NATURAL.bit_count() / 64
MOSTLY = 0.9  # share of natural steps that a counter makes
NEAR = 8  # bytes around one that counts in which the rest of its number is looked for
ALL = (1 << 64) - 1


def counted(
    core: Core, state: bytes, buttons: NDArray[np.uint16], advance: Callable[[int], None]
) -> Counts:
    """Play episodes and count how every byte moves.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: Savestate of the start of all of them.
        buttons: uint16 [episodes, frames].
        advance: Called with a number of frames as they are finished; may raise to stop.
    """
    known: dict[int, Counts] = {}  # by instance: they play at once

    def play(core: Core, log: NDArray[np.uint16]) -> None:
        if id(core) not in known:
            known[id(core)] = Counts.of(core.ram_size, int(BUSY * buttons.size))
        counts = known[id(core)]
        enter(core, state)
        counts.before[:] = core.read()
        for at in range(0, len(log), PIECE):
            core.count(log[at : at + PIECE], counts)
            advance(len(log[at : at + PIECE]))

    for _ in each(core, play, list(buttons)):
        pass
    first, *others = known.values()
    for other in others:
        for mine, its in zip(first.added, other.added, strict=True):
            mine += its
        np.bitwise_or(first.steps, other.steps, out=first.steps)
    return first


def likeliest(counts: Counts, frames: int, most: int) -> NDArray[np.int32]:
    """Return the bytes that can be counters, int32 [kept], ascending.

    Args:
        counts: How every byte moved.
        frames: In so many frames.
        most: How many to return at most: the likeliest.
    """
    total = counts.total()
    found = np.flatnonzero((total > 0) & (total <= BUSY * frames)).astype(np.int32)
    if len(found) <= most:
        return found
    order = np.argsort(-likelihood(counts, found), kind="stable")
    return np.sort(found[order[:most]])


def likelihood(counts: Counts, offsets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how much likelier bytes move like that if they count, float64 [offsets].

    It is a sum of logarithms: each change that repeats a step, each step that is natural or not.
    Changes back count for nothing, and those with all around it as little as they can. The first
    bytes of a number hardly move, so half of what is said for a byte is said for those near it.

    Args:
        counts: How every byte moved.
        offsets: Which ones are asked for, ascending.
    """
    alone = counts.alone[offsets].astype(np.int64)
    back = counts.back[offsets].astype(np.int64)
    kinds, natural = (_bits(counts.steps[offsets] & np.uint64(m)) for m in (ALL, NATURAL))
    onward = np.maximum(0, alone - 2 * back)  # a change back undoes another one
    repeats = np.maximum(0, onward - kinds)
    odds = repeats * np.log(64 / np.maximum(1, kinds))
    odds += np.minimum(onward, natural) * np.log(MOSTLY / BY_CHANCE)
    odds += (kinds - natural) * np.log((1 - MOSTLY) / (1 - BY_CHANCE))
    odds *= alone / np.maximum(1, counts.total()[offsets])
    around = np.maximum(odds, 0)
    for step in range(1, NEAR + 1):
        near = np.flatnonzero(offsets[step:] - offsets[:-step] <= NEAR)
        around[near] = np.maximum(around[near], odds[near + step])
        around[near + step] = np.maximum(around[near + step], odds[near])
    return np.where(alone > 0, odds + around / 2, -np.inf)


def _bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.bitwise_count(words).astype(np.int64)
