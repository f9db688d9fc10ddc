"""Ammunition and energy: what no shot is fired without; what costs a life when there is none.

Both are judged by what happens when there is none: many a byte falls, a shot's own place too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..buttons import to_mask
from ..core import Span
from .candidates import Grade
from .fact import Fact, byte_at, sampled
from .lives import Lives
from .motion import bar
from .poke import Moment, Prober
from .record import Recording
from .screen import Pictures

Late = Callable[[], bool]
LEVELS = 4  # values seen at least
CALM = 0.2  # a gauge changes in fewer frames
SMALL = 16  # it falls by no more at once
SHOT, RUN = 8, 20  # frames before a recorded fall, and after it
STATES = 8
LEAST_STATES = 3
LOOKS = (2, 4, 7)  # frames after a poke
SHADES = 9  # values drawn
SEVERAL = 5
STEP, SOONER = (
    5,
    20,
)  # frames between looks at the lives, and by which none left must cost one sooner
LEAD, OUT = 30, 240  # frames before a recorded fall, and until none left has cost a life


def find_ammunition(
    prober: Prober, spans: Sequence[Span], fire: Sequence[str], known: Sequence[int], late: Late
) -> Fact | None:
    """Find what each shot takes some of, and without which nothing fires.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        fire: The fire buttons.
        known: Offsets that hold something else.
        late: Tells that time is up.

    Returns:
        ``ammunition``, proved; None where nothing of the kind was found.
    """
    gauges = [offset for offset in _gauges(prober.recording, 2.0) if offset not in known]
    for offset in gauges if fire else []:
        states, shots, needed = 0, 0, 0
        prober.witness.begin()
        for moment in _falls(prober.recording, offset, SHOT, STATES):
            if late() or states >= 2 and not shots:
                break
            states += 1
            cost = _shot(prober, moment, offset, to_mask(fire))
            if cost:
                shots += 1
                needed += _needed(prober, moment, offset, to_mask(fire), cost)
        if (
            shots >= LEAST_STATES
            and 2 * shots >= states
            and needed >= max(LEAST_STATES, 0.8 * shots)
        ):
            evidence = {
                "grade": "proved",
                "behaviour": {"falls": states, "by_fire": shots},
                "poke": {"states": shots, "none_fires_nothing": needed},
            }
            fact = Fact("ammunition", byte_at(offset, spans), "proved", evidence)
            prober.witness.proves(fact)
            return fact
    return None


def _shot(prober: Prober, moment: Moment, offset: int, fire: int) -> int:
    """Return what a recorded shot took, 0 where the byte falls without fire or not for good."""
    rows, at, looks = [[-1], [-1]], [offset], [1, SHOT + 2, SHOT + RUN]
    log = _logs(prober, moment, fire)
    ram, _ = prober.after(moment, rows, at, looks, at, False, log, proof=True)
    cost = shot_cost(ram[..., 0].astype(np.int64))
    if cost:
        prober.witness.shows("shot", cost=cost)
    return cost


def shot_cost(held: NDArray[np.int64]) -> int:
    """Return what a shot took, 0 for nothing; held int64 [2, 3] without fire and with it."""
    idle, fired = held
    if (idle != idle[0]).any() or fired[1] != fired[2]:  # a step, and no place of a shot
        return 0
    return int(max(0, idle[2] - fired[2]))


def _needed(prober: Prober, moment: Moment, offset: int, fire: int, cost: int) -> bool:
    """Tell whether a shot goes off with one shot's worth, and none with nothing."""
    logs, looks, seen = _logs(prober, moment, fire), range(1, SHOT + RUN + 1), []
    for value in (cost, 0):
        rows, at = [[value]] * 2, [offset]
        _, views = prober.after(moment, rows, at, looks, at, log=logs, proof=True)
        seen.append((value, bool((views[0] != views[1]).any()), prober.witness.latest))
    if [fires for _, fires, _ in seen] != [True, False]:
        return False
    for value, fires, experiment in seen:
        prober.witness.shows("needed", experiment, written=value, fires=fires)
    return True


def _logs(prober: Prober, moment: Moment, fire: int) -> NDArray[np.uint16]:
    """Return what was pressed around a recorded fall, without and with fire [2, frames]."""
    recorded = prober.recording.buttons[moment.episode, moment.frame : moment.frame + SHOT + 1]
    log = np.zeros((2, SHOT + RUN), np.uint16)
    log[:, : len(recorded)] = recorded
    log[:, len(recorded) :] = recorded[-1] & ~np.uint16(fire)
    log[0] &= ~np.uint16(fire)
    return log


def find_energy(
    prober: Prober,
    spans: Sequence[Span],
    lives: Lives | None,
    known: Sequence[int],
    late: Late,
) -> Fact | None:
    """Find what is drawn as a bar, and costs a life when there is none left.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        lives: The lives counter; nothing is proved without a proved one.
        known: Offsets that hold something else.
        late: Tells that time is up.

    Returns:
        ``energy``: proved where it costs lives, else unproved; None where no bar is drawn.
    """
    best: Fact | None = None
    for offset in _gauges(prober.recording, 0.1):
        counts_lives = lives is not None and offset == lives.offset
        prober.witness.begin()
        if offset in known or counts_lives or late() or not _drawn(prober, offset):
            continue
        costs = states = 0
        if lives is not None and lives.grade == "proved":
            costs, states = _costs(prober, offset, lives, late)
        if states >= LEAST_STATES > costs:
            continue
        grade: Grade = "proved" if costs == states >= LEAST_STATES else "unproved"
        evidence = {
            "grade": grade,
            "behaviour": {"falls": int((_steps(prober.recording, offset) < 0).sum())},
            "screen": {"drawn": "bar"},
            "poke": {"states": states, "none_costs_a_life": costs},
        }
        if best is None or grade == "proved":
            best = Fact("energy", byte_at(offset, spans), grade, evidence)
            prober.witness.proves(best)
        if grade == "proved":
            break
    return best


def _steps(recording: Recording, offset: int) -> NDArray[np.int64]:
    """Return how a byte moves from frame to frame, int64 [episodes, frames]."""
    first = np.full((recording.episodes, 1), recording.initial[offset], np.int64)
    series = recording.series(offset).astype(np.int64)
    return np.diff(np.concatenate([first, series], axis=1), axis=1)


def _falls(recording: Recording, offset: int, lead: int, most: int) -> list[Moment]:
    """Return moments some frames before a byte's recorded falls, spread over them."""
    falls = np.argwhere(_steps(recording, offset) < 0)
    ends = recording.ends[falls[:, 0]]
    good = (falls[:, 1] >= lead) & (falls[:, 1] < ends - RUN)
    falls = falls[np.flatnonzero(good)]
    chosen = np.unique(np.linspace(0, len(falls) - 1, min(most, len(falls))).round())
    return [Moment(int(e), int(i) - lead) for e, i in falls[chosen.astype(np.int64)]]


def _gauges(recording: Recording, ratio: float) -> list[int]:
    """Return bytes that fall now and then, by little, and *ratio* times as often as they rise."""
    changes, out = recording.changes(), []
    for column in np.flatnonzero((changes > 0) & (changes < CALM)).tolist():
        offset = int(recording.offsets[column])
        if len(np.unique(recording.ram[:, :, column])) < LEVELS:
            continue
        steps = _steps(recording, offset)
        falls, rises = steps[steps < 0], int((steps > 0).sum())
        if len(falls) >= LEVELS and len(falls) >= ratio * rises and (falls >= -SMALL).mean() >= 0.8:
            out.append(offset)
    return out


def _drawn(prober: Prober, offset: int) -> bool:
    """Tell whether the byte is drawn as a bar, in two states."""
    seen = np.unique(prober.recording.series(offset)).astype(np.int64)
    picked = seen[np.unique(np.linspace(0, len(seen) - 1, SHADES).round().astype(np.int64))]
    for moment in sampled(prober.recording, 2):
        _, pictures = prober.after(moment, picked[[0, -1], None], [offset], LOOKS[1:2])
        if (pictures[0] == pictures[1]).all():
            return False
        rows, at = picked[:, None], [offset]
        ram, pictures = prober.after(moment, rows, at, LOOKS, at, proof=True)
        look = bar_at(ram[..., 0].astype(np.int64), pictures, picked)
        if look < 0:
            return False
        prober.witness.shows("bar", look=look)
    return True


def bar_at(held: NDArray[np.int64], pictures: Pictures, written: NDArray[np.int64]) -> int:
    """Return the first look at which values written are drawn as a bar, or -1."""
    kept = np.abs(held - written[:, None]) <= SMALL  # 0 may have wrapped
    for look, own in enumerate(kept.T):
        if bar(pictures[own, look], held[own, look].tolist()):
            return look
    return -1


def _costs(prober: Prober, offset: int, lives: Lives, late: Late) -> tuple[int, int]:
    """Return in how many states none left costs a life that is kept otherwise, and of how many."""
    recording = prober.recording
    most = int(recording.series(offset).max())
    costs = states = 0
    for moment in _falls(recording, offset, LEAD, SEVERAL):
        if late():
            break
        rows = [[-1], [most], [0], [1]]
        looks = range(STEP, OUT + 1, STEP)
        at = [lives.offset]
        ram, _ = prober.after(moment, rows, [offset], looks, at, pictures=False, proof=True)
        kept, out = first_losses(lives.read(ram[..., 0]))
        # A life that is lost anyway, before none left could cost it, tells nothing.
        if out + SOONER <= kept or kept >= OUT - SOONER:
            states += 1
            if out + SOONER <= kept:
                costs += 1
                prober.witness.shows("costs")
    return costs, states


def first_losses(lives: NDArray[np.int64]) -> tuple[int, int]:
    """Return the frames until a life is lost, with energy and without; lives int64 [4, looks]."""
    falls = np.diff(lives, axis=1) < 0
    frames = [int(row.argmax()) * STEP if row.any() else OUT for row in np.asarray(falls)]
    return min(frames[:2]), min(frames[2:])
