"""After a lost life: control that comes back, or is gone for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core import Core
from .control import PLAY_LATER, PRESCREEN, Control, controls, glance
from .control import Kind as Measure
from .poke import Moment, Prober

WAITS = range(100, 651, 50)  # frames after the loss at which control may be back
MOST_WAITS = 3
GAPS = (170, 260, 350)  # frames between the looks that find control still gone; no common beat
Poke = tuple[Sequence[int], Sequence[int]]  # offsets and their bytes
Alive = tuple[int, NDArray[np.uint16], Control, Control]


def in_control(
    prober: Prober,
    moment: Moment,
    log: NDArray[np.uint16],
    raised: Poke,
    kind: Measure,
) -> list[Alive]:
    """Return a time after a loss at which control is back, whether or not one life was added.

    Control is measured by directions, and by fire where a player moves on after the end or has no
    directions.

    Returns:
        Frames run, the buttons up to the last look that follows, control untouched and raised.
    """
    core, state = prober.core, prober.state(moment)
    played = np.resize(prober.recording.buttons[moment.episode], WAITS[-1] + sum(GAPS))
    for tail in (np.zeros_like(played), played):  # some games wait for a button, some take one
        for wait in _promising(core, state, log, tail, kind):
            judged = np.concatenate([log, tail[: wait + sum(GAPS)]])
            end = len(log) + wait
            alive = control_after(core, state, judged[:end], None, kind)
            if alive.variety < PLAY_LATER:
                continue  # still dying, or dead
            higher = control_after(core, state, judged[:end], raised, kind)
            if higher.variety < PLAY_LATER or higher.steers < alive.steers:
                continue
            # Where control comes and goes by itself, its loss would prove nothing.
            later = later_looks(end)[1:]
            if not all(lost for lost, _ in controls(core, state, judged, later, raised, alive)):
                return [(end, judged, alive, higher)]
    return []


def _promising(
    core: Core, state: bytes, log: NDArray[np.uint16], tail: NDArray[np.uint16], kind: Measure
) -> Iterator[int]:
    """Yield frames after a loss at which inputs may matter again, few and the likeliest first."""
    core.load(state)
    core.record(log)
    seen: dict[int, int] = {}
    for before, wait in pairwise((0, *WAITS)):
        core.record(tail[before:wait])
        seen[wait] = glance(core, kind)
        if seen[wait] == PRESCREEN:
            here = core.save()
            yield wait
            core.load(here)
            if sum(shown == PRESCREEN for shown in seen.values()) >= MOST_WAITS:
                return
    best = max(seen, key=lambda wait: seen[wait] % PRESCREEN)
    if 1 < seen[best] < PRESCREEN:
        yield best


def later_looks(end: int) -> list[int]:
    """Return the frames at which control is judged, from the first on."""
    return [end + sum(GAPS[:n]) for n in range(len(GAPS) + 1)]


def control_after(
    core: Core,
    state: bytes,
    log: NDArray[np.uint16],
    poke: Poke | None,
    kind: Measure,
) -> Control:
    """Measure control at the end of a replay that began with a poke."""
    seen, steers = next(controls(core, state, log, [len(log)], poke, kind=kind))
    return Control(seen, bool(steers), kind)
