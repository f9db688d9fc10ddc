"""What a lane's game was so far, in as few numbers as it takes to play it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .host.binding import ffi


@dataclass(frozen=True, slots=True)
class LaneLog:
    """A lane's game since its savestate was restored, ``rk_log`` of host/lane.h.

    Attributes:
        known: Whether there is one: not where the core is new in the place of one that died.
        chosen: The number of the start that was asked for; -1: it was drawn.
        start: The number of the start.
        then: The state of the lane's generator before the start was drawn.
        now: Its state now.
        actions: int32 [steps]: numbers into the action set; -1 is a reset that went on with the
            game after a life was lost.
        buttons: uint16 [frames]: RetroPad masks since the savestate, waits included.
    """

    known: bool
    chosen: int
    start: int
    then: int
    now: int
    actions: NDArray[np.int32]
    buttons: NDArray[np.uint16]

    @classmethod
    def of(cls, raw: Any) -> Self:
        """Return a copy of an ``rk_log``."""
        actions = np.frombuffer(ffi.buffer(raw.actions, 4 * raw.n_actions), np.int32).copy()
        buttons = np.frombuffer(ffi.buffer(raw.buttons, 2 * raw.n_frames), np.uint16).copy()
        return cls(
            bool(raw.known), raw.chosen, raw.start, raw.then, raw.now, actions, buttons
        )  # fmt: skip


def raw_logs(logs: Sequence[LaneLog]) -> tuple[Any, list[Any]]:
    """Return an array of ``rk_log`` to play again from, and what must live as long as it."""
    raw, kept = ffi.new("rk_log[]", len(logs)), []
    for one, log in zip(raw, logs, strict=True):
        kept.append(ffi.new("int32_t[]", log.actions.tolist()))
        one.known, one.chosen, one.then, one.now = log.known, log.chosen, log.then, log.now
        one.actions, one.n_actions = kept[-1], len(log.actions)
    return raw, kept
