"""The level: a digit on the screen that starts at 1, rises by one now and then, and never falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from .candidates import Grade
from .fact import Fact, byte_at, sampled, unmoved
from .lives import Lives
from .poke import Moment, Prober
from .record import Recording
from .screen import Pictures
from .units import Unit

Late = Callable[[], bool]
MOST_RISES = 5  # in an episode
NEAR, DEATHS = 90, 0.5  # what rises so near to so many of the losses counts lives lost
BEFORE, AFTER, STEP = 30, 80, 10  # frames around a rise between which pictures are compared
MUCH, TIMES = 0.1, 3.0  # share of the picture that changes, and of what changes at other times
WATCHED = 3
TRIED = 6


def find_level(
    prober: Prober, spans: Sequence[Span], lives: Lives | None, known: Sequence[int], late: Late
) -> Fact | None:
    """Find the level.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        lives: The lives counter, or what may be one.
        known: Offsets that hold something else.
        late: Tells that time is up.

    Returns:
        ``level``: proved where a digit draws it, it starts at 1 and its rises change much of the
        picture; likely where one of the last two is missing, unproved without the digit.
    """
    recording, found = prober.recording, []
    known = [*known, lives.offset] if lives is not None else known
    lost = _losses(recording, lives)
    for offset in _rising(recording, lost, known)[:TRIED]:
        if late():
            break
        moments = prober.events(offset)[:WATCHED]
        if not moments:
            continue
        prober.witness.begin()
        digit = any(prober.draw(Unit(offset, "low"), moment, worth=1) for moment in moments[:2])
        usual = float(np.median([_change(prober, m) for m in sampled(recording, WATCHED)]))
        changes = [_change(prober, moment, offset) for moment in moments]
        much = sum(change >= max(MUCH, TIMES * usual) for change in changes)
        first = int(recording.initial[offset])
        new = much == len(moments) >= 2
        if not new and not (digit and first == 1):
            continue
        grade: Grade = "likely" if digit else "unproved"
        if digit and first == 1 and new:
            grade = "proved"
        rises = int((_steps(recording, offset) > 0).sum())
        evidence = {
            "grade": grade,
            "behaviour": {"first": first, "rises": rises},
            "screen": {"digit": digit, "new_pictures": f"{much} of {len(moments)}"},
        }
        found.append(Fact("level", byte_at(offset, spans), grade, evidence))
        prober.after(Moment(0, 0), [[-1]], [offset], [1], [offset], False, proof=True)
        prober.witness.shows("begins", value=first)
        prober.witness.proves(found[-1])
    order = ("proved", "likely", "unproved")
    return min(found, key=lambda fact: order.index(fact.grade), default=None)


def _steps(recording: Recording, offset: int) -> NDArray[np.int64]:
    first = np.full((recording.episodes, 1), recording.initial[offset], np.int64)
    series = recording.series(offset).astype(np.int64)
    return np.diff(np.concatenate([first, series], axis=1), axis=1)


def _losses(recording: Recording, lives: Lives | None) -> NDArray[np.bool_]:
    """Return the frames in which a life was lost, bool [episodes, frames]."""
    if lives is None or lives.grade != "proved":
        return np.zeros(recording.buttons.shape, np.bool_)
    first = np.full((recording.episodes, 1), lives.start, np.int64)
    values = np.concatenate([first, lives.read(recording.series(lives.offset))], axis=1)
    return np.asarray(np.diff(values, axis=1) < 0, np.bool_)


def _rising(recording: Recording, lost: NDArray[np.bool_], known: Sequence[int]) -> list[int]:
    """Return bytes that rise by one now and then, and neither by themselves nor with the losses."""
    changes, out = recording.changes(), []
    most = MOST_RISES / recording.buttons.shape[1]
    for column in np.flatnonzero((changes > 0) & (changes <= most)).tolist():
        offset = int(recording.offsets[column])
        if offset in known or recording.initial[offset] > 9:
            continue
        steps = _steps(recording, offset)
        rises = steps != 0
        if (steps[rises] == 1).all() and rises.sum() >= 2 and not unmoved(rises, 1):
            near = [rises[e, max(0, i - NEAR) : i + NEAR].any() for e, i in np.argwhere(lost)]
            if sum(near) <= DEATHS * len(near):
                out.append(offset)
    # The level starts at 1; what starts elsewhere has less to go by.
    return sorted(out, key=lambda offset: int(recording.initial[offset]) != 1)


def _change(prober: Prober, moment: Moment, offset: int | None = None) -> float:
    """Return the largest share of the picture that changes at once around a moment, of a rise."""
    start = Moment(moment.episode, max(0, moment.frame - BEFORE))
    looks, at = range(STEP, BEFORE + AFTER + 1, STEP), [] if offset is None else [offset]
    written = at or [0]
    ram, pictures = prober.after(start, [[-1]], written, looks, at, proof=offset is not None)
    share = new_share(pictures[0])
    if offset is not None:
        before, after = int(prober.bytes_at(start, at)[0]), int(ram[0, -1, 0])
        if after == before + 1 and share >= MUCH:
            thousandths = int(1000 * share)
            prober.witness.shows("redrawn", before=before, after=after, share=thousandths)
    return share


def new_share(pictures: Pictures) -> float:
    """Return the largest share of the picture that is new from one of a few to the next."""
    return float((pictures[1:] != pictures[:-1]).mean(axis=(1, 2)).max())
