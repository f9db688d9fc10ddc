"""Suspects: units that fall by one, rarely, from a small number, as lives do; no proof yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .poke import Kind, Moment, Unit
from .record import Recording

LEAD = 20  # frames between the poke and the recorded loss
KINDS: tuple[Kind, ...] = ("byte", "low", "high")


@dataclass(frozen=True, slots=True)
class Suspect:
    """A unit that falls by one now and then."""

    unit: Unit
    losses: tuple[Moment, ...]
    start: int
    weight: float


def suspects(recording: Recording, exclude: Sequence[int] = ()) -> list[Suspect]:
    """Return the units that fall by one, rarely, from a small number, the likeliest first.

    Args:
        recording: The recording.
        exclude: Offsets that are known to be something else, such as the score's.
    """
    out = []
    changes = recording.changes()
    for column, offset in enumerate(recording.offsets.tolist()):
        if offset in exclude or not 0 < changes[column] < 0.02:
            continue
        byte = recording.ram[:, :, column].astype(np.int64)
        first = int(recording.initial[offset])
        for kind in KINDS:
            unit = Unit(offset, kind)
            suspect = _suspect(unit, unit.read(byte), int(unit.read(first)))
            if suspect is not None:
                out.append(suspect)
                break  # the whole byte, where it counts, is the simplest answer
    return sorted(out, key=lambda s: -s.weight)


def _suspect(unit: Unit, series: NDArray[np.int64], start: int) -> Suspect | None:
    if not 1 <= start <= 9:
        return None
    full = np.concatenate([np.full((len(series), 1), start, np.int64), series], axis=1)
    steps = np.diff(full, axis=1)
    loss = steps == -1
    moves = int((steps != 0).sum())
    losses = int(loss.sum())
    # Falls of one make up most of its moves; a new game may lift it, an extra life too.
    if losses < 1 or losses < 0.6 * moves or moves > 12 * len(series):
        return None
    below = 255 if unit.kind == "byte" else 15  # -1: the game is over
    if int(((full > 9) & (full != below)).sum()) > 0.2 * full.size:
        return None
    moments = [
        Moment(int(e), int(i) - LEAD)
        for e, i in zip(*np.nonzero(loss), strict=True)
        if i > LEAD + 5 and full[e, i] >= 1
    ]
    if not moments:
        return None
    moments.sort(key=lambda m: (m.frame, m.episode))
    if _burns(loss) or _is_refilled(full, start):
        return None
    weight = losses / moves + 0.3 * (2 <= start <= 5) + 0.2 * min(1.0, losses / 5)
    return Suspect(unit, tuple(moments), start, weight)


def _burns(loss: NDArray[np.bool_]) -> bool:
    """Tell a fuse (fuel, a timer) from lives: nearly all of its falls come after equal times."""
    falls = [np.flatnonzero(row) for row in loss if row.any()]
    if len(falls) >= 3:  # since the start of play, whatever was pressed
        shared = [(np.abs(other - at).min() <= 3) for row in falls for at in row for other in falls]
        if np.mean(shared) >= 0.8:
            return True
    gaps = np.concatenate([np.diff(np.flatnonzero(row)) for row in loss])
    if len(gaps) < 8:
        return False
    near = np.abs(gaps[:, None] - gaps[None, :]) <= 2
    return bool(near.sum(axis=1).max() >= 0.75 * len(gaps))


def _is_refilled(full: NDArray[np.int64], start: int) -> bool:
    """Tell what is filled up again and again (oxygen, energy) from lives."""
    before, after = full[:, :-1], full[:, 1:]
    filled = (after == start) & (before >= 1) & (before < start)
    return int(filled.sum()) >= max(3, 0.15 * int((after == before - 1).sum()))
