"""Bytes that directions steer: those that part ways under opposite held directions, in order.

A future holds one direction for some frames and the opposite one for the rest, so seven of them
end in seven places, in order. What only holds the last direction, or counts how long it was held,
does not end in seven values in that order; a byte of another axis does not part at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buttons import MASKS
from ..core import Branches, Core
from .fact import sampled
from .poke import Moment, Prober

FRAMES, RUNG = 24, 4  # length of a future, and frames by which two neighbours differ
LEAST_STATES = 3  # in which a byte must end in order
LEAST_STEPS = 3  # of six; the rest may be walls
HOMING = 60  # frames that drive a paddle to its end, or to the other one
TURNED = (12, HOMING + 1, 6)  # frames that a paddle is turned back; at first it does not show

Bytes = NDArray[np.uint8]
Late = Callable[[], bool]


class Axis(NamedTuple):
    """An axis of the picture, 0 down or 1 right, and the directions along it."""

    name: str
    negative: str
    positive: str
    across: int
    paddle: bool = False


AXES = (Axis("player_x", "LEFT", "RIGHT", 1), Axis("player_y", "UP", "DOWN", 0))


@dataclass(frozen=True)
class Steered:
    """A byte that one axis' directions steer.

    Attributes:
        offset: Where it lies in the selected regions.
        moments: States in which its futures ended in order.
        moved_in: States in which they ended in several places.
        values: uint8: all values it ended in, ascending.
        spread: Steps between the two ends of the order, where they lay furthest apart.
        turned: It falls towards the right or the bottom.
        flipped: In which of the states the positive direction was held first.
    """

    offset: int
    moments: list[Moment]
    moved_in: int
    values: Bytes
    spread: int
    turned: bool
    flipped: list[bool]


class Trials:
    """Futures of many states of play, and how each byte ended in them."""

    def __init__(
        self, prober: Prober, axes: Sequence[Axis], known: Sequence[int], most: int
    ) -> None:
        """Take the axes to try, offsets that hold something else, and how many states at most."""
        saved = prober.recording.saved
        self.prober, self.axes = prober, list(axes)
        kept = np.flatnonzero(saved).astype(np.int32)
        self.kept = kept[~np.isin(kept, list(known))]
        self.moments = sampled(prober.recording, most)
        self._order = np.zeros((len(axes), most, len(self.kept)), np.int8)
        self._flipped = np.zeros(most, np.bool_)
        self._moved = np.zeros((len(axes), len(self.kept)), np.int8)
        self._ends: dict[tuple[int, int, int], Bytes] = {}  # axis, state, column → of each future

    def run(self, first: int, last: int, axes: Sequence[Axis], late: Late) -> None:
        """Run some axes' futures from states *first* to before *last*."""
        episodes = self.prober.recording.episodes
        for number in range(first, last):
            self._flipped[number] = (number + number // episodes) % 2
            for axis in axes:
                if late():
                    return
                n, state = self.axes.index(axis), self.prober.state(self.moments[number])
                flip = bool(self._flipped[number])
                ran = steer(self.prober.core, state, axis, flip, self.kept)
                order = self._order[n, number] = in_order(ran.ram)
                for column in np.flatnonzero(order).tolist():
                    self._ends[n, number, column] = ran.ram[:, 1, column].copy()
                steps = (ran.ram[1:, 1] != ran.ram[:-1, 1]).sum(axis=0)
                self._moved[n] += steps >= LEAST_STEPS

    def steered(self, axis: Axis) -> list[Steered]:
        """Return the bytes that ended in order in enough states, the likeliest first."""
        n, order = self.axes.index(axis), self._order
        up, down = (order > 0).sum(axis=1), (order < 0).sum(axis=1)
        most = np.maximum(up, down)[n]
        good = (most >= LEAST_STATES) & (5 * np.minimum(up, down)[n] <= most)
        # Both ways of holding: what counts how long one was held passes in one of them.
        good &= (order[n, self._flipped] != 0).any(axis=0)
        good &= (order[n, ~self._flipped] != 0).any(axis=0)
        good &= 3 * (up + down).sum(axis=0) <= 4 * most  # the other axis leaves it alone
        out = []
        for column in np.flatnonzero(good)[np.argsort(-most[good], kind="stable")].tolist():
            turned = bool(down[n, column] > up[n, column])
            rows = np.flatnonzero(order[n, :, column] * (-1 if turned else 1) > 0).tolist()
            ends = np.array([self._ends[n, row, column] for row in rows], np.int64)
            spread = int(np.abs(signed(np.diff(ends, axis=1)).sum(axis=1)).max())
            moments, moved = [self.moments[row] for row in rows], int(self._moved[n, column])
            values, offset = np.unique(ends).astype(np.uint8), int(self.kept[column])
            flipped = self._flipped[rows].tolist()
            out.append(Steered(offset, moments, moved, values, spread, turned, flipped))
        return out


def futures(negative: str, positive: str, flip: bool = False) -> NDArray[np.uint16]:
    """Return button logs that end in seven places, the one nearest to the top left first.

    Args:
        negative: The direction to the top left.
        positive: The other one.
        flip: Hold the positive one first.

    Returns:
        uint16 [7, frames].
    """
    first, second = (positive, negative) if flip else (negative, positive)
    held = np.arange(0, FRAMES + 1, RUNG)[:, None]
    rows = np.where(np.arange(FRAMES) < held, MASKS[first], MASKS[second]).astype(np.uint16)
    return rows if flip else rows[::-1].copy()


def steer(
    core: Core,
    state: bytes,
    axis: Axis,
    flip: bool,
    kept: NDArray[np.int32],
    size: tuple[int, int] | None = None,
) -> Branches:
    """Run an axis' futures from a state, the one nearest to the top left first.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: A savestate of play.
        axis: The axis.
        flip: Hold the positive direction first; a paddle is always turned the same way.
        kept: int32 [kept] offsets to read.
        size: Width and height of pictures; None keeps none.

    Returns:
        Looks at the last frame but two of each future, and after the last.
    """
    if not axis.paddle:
        logs = futures(axis.negative, axis.positive, flip)
        return core.branch(state, logs, [FRAMES - 2, FRAMES], kept=kept, size=size)
    # Stella keeps a paddle outside its savestates: drive it to one end before each future.
    home = np.full((1, HOMING), MASKS[axis.negative], np.uint16)
    core.branch(state, home, [HOMING])
    runs = []
    for held in range(*TURNED):
        core.branch(state, home, [HOMING])
        log = np.zeros((1, HOMING), np.uint16)
        log[0, -held:] = MASKS[axis.positive]  # still moving at the look: what lags is told apart
        runs.append(core.branch(state, log, [HOMING - 2, HOMING], kept=kept, size=size))
    ram, hashes, pictures = (np.concatenate(parts) for parts in zip(*runs, strict=True))
    return Branches(ram, hashes, pictures)


def tell_order(prober: Prober, steered: Steered, axis: Axis) -> None:
    """Show the witness some futures that end in order, of both ways of holding."""
    tried = list(zip(steered.moments, steered.flipped, strict=True))
    for flip in (False, True):
        for moment in [moment for moment, flipped in tried if flipped is flip][:LEAST_STATES]:
            logs, at = futures(axis.negative, axis.positive, flip), [steered.offset]
            rows, looks = [[-1]] * len(logs), (FRAMES - 2, FRAMES)
            ram, _ = prober.after(moment, rows, at, looks, at, False, logs, proof=True)
            if order := int(in_order(ram)[0]):
                prober.witness.shows("steered", order=order)
                break


def in_order(ram: Bytes) -> NDArray[np.int8]:
    """Tell which bytes end in the order of their futures.

    Args:
        ram: uint8 [futures, 2, kept]: the bytes two frames before the end, and at the end.

    Returns:
        int8 [kept]: 1 rising, -1 falling, 0 out of order or still. A wrap at 256 is no break.
    """
    steps = (ram[1:, 1] - ram[:-1, 1]).view(np.int8)  # RAM may be megabytes
    last = (ram[:, 1] - ram[:, 0]).view(np.int8)
    # A fraction that turns over in every frame can look slow from future to future.
    far, near = (np.abs(part.astype(np.int16)).max(axis=0, initial=1) for part in (steps, last))
    up = (steps >= 0).all(axis=0) & ((steps > 0).sum(axis=0) >= LEAST_STEPS)
    down = (steps <= 0).all(axis=0) & ((steps < 0).sum(axis=0) >= LEAST_STEPS)
    return np.asarray((up.astype(np.int8) - down.astype(np.int8)) * (near <= far), np.int8)


def signed(difference: NDArray[Any]) -> NDArray[np.int64]:
    """Return differences of bytes as -128 to 127."""
    return np.asarray((difference + 128) % 256 - 128, np.int64)


def latency(core: Core, state: bytes, axis: Axis, offsets: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return after how many frames of opposite directions bytes part, int64 [offsets].

    What only follows the player parts later than the player; one that never does gives
    ``FRAMES + 1``.
    """
    logs = np.full((2, FRAMES), MASKS[axis.negative], np.uint16)
    logs[1] = MASKS[axis.positive]
    ram = core.branch(state, logs, range(1, FRAMES + 1), kept=offsets).ram
    apart = ram[0] != ram[1]
    return np.where(apart.any(axis=0), apart.argmax(axis=0) + 1, FRAMES + 1)
