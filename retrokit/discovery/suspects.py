"""Suspects: what falls by one, rarely, from a small number, as lives do; no proof yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .candidates import ALIKE
from .control import futures
from .poke import Moment, Prober
from .record import Recording

LEAD = 20  # frames between the poke and the recorded loss
# Mask and shift, the simplest first: a byte, a nibble, two or three bits beside flags.
BITS = ((0xFF, 0), (0x0F, 0), (0xF0, 4), (0x07, 0), (0x03, 0), (0xE0, 5), (0xC0, 6))
PLAIN = (0xFF, 0x0F, 0xF0)
MOST_CHANGES = 12  # of a field in an episode
STARTING = 120  # frames in which a game may still set up what it counts
NONE = 99  # what a field reads where its bits stand for no number
AHEAD, NEAR, FUTURES = 600, 4, 8  # frames, frames and plays by which a clock is told
LEAST = 0.8  # weight
CODES = 9  # a field with codes has at most so many


@dataclass(frozen=True, slots=True)
class Field:
    """Bits of a byte that count; where they are no plain number, ``codes`` has those of 0, 1, …."""

    offset: int
    mask: int = 0xFF
    shift: int = 0
    codes: tuple[int, ...] = ()

    @property
    def offsets(self) -> list[int]:
        """The bytes that are written."""
        return [self.offset]

    @property
    def top(self) -> int:
        """The largest number that it is used to hold."""
        return min(9, self.mask >> self.shift, len(self.codes) - 1 if self.codes else 9)

    def read(self, byte: NDArray[np.integer[Any]] | int) -> NDArray[np.int64]:
        """Return the numbers in bytes."""
        bits = (np.asarray(byte, np.int64) & self.mask) >> self.shift
        if not self.codes:
            return bits
        table = np.full(256, NONE, np.int64)
        table[list(self.codes)] = range(len(self.codes))
        return np.asarray(table[bits], np.int64)

    def counted(self, byte: NDArray[np.uint8], full: int) -> NDArray[np.int64]:
        """Return the numbers in bytes, negative where they fell below 0 from ``full`` at most."""
        values, room = self.read(byte), (self.mask >> self.shift) + 1
        below = not self.codes and values > min(9, max(full, room - 2))
        return np.where(below, values - room, values)

    def write(self, byte: int, number: int) -> int:
        """Return ``byte`` with another number in it."""
        bits = self.codes[number] if self.codes else number
        return byte & ~self.mask & 0xFF | bits << self.shift & self.mask

    def written(self, before: Sequence[int], number: int) -> list[int]:
        """Return the bytes at ``offsets`` with another number in them."""
        return [self.write(int(before[0]), number)]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A field that falls by one now and then."""

    field: Field
    losses: tuple[Moment, ...]
    start: int
    weight: float


def suspects(recording: Recording, exclude: Sequence[int] = ()) -> list[Suspect]:
    """Return the fields that fall by one, rarely, from a small number, the likeliest first.

    Args:
        recording: The recording.
        exclude: Offsets that are known to be something else, such as the score's.
    """
    out = []
    changes = recording.changes()
    most = MOST_CHANGES * recording.episodes
    for column, offset in enumerate(recording.offsets.tolist()):
        if offset in exclude or not 0 < changes[column]:
            continue
        byte = recording.ram[:, :, column]
        first = int(recording.initial[offset])
        calm = changes[column] * recording.buttons.shape[1] <= 2 * MOST_CHANGES
        found: list[Suspect] = []
        fields = [Field(offset, mask, shift) for mask, shift in BITS]
        if calm and (coded := _coded(offset, byte)) is not None:
            fields.append(coded)
        for field in fields:
            moves = _moves(byte & np.uint8(field.mask), first & field.mask)
            if 0 < moves <= most and not _carries(byte, field):
                suspect = _suspect(field, field.read(byte), int(field.read(first)))
                found += [] if suspect is None else [suspect]
        if found:  # the first of equals is the simplest
            out.append(max(found, key=lambda s: s.weight))
    return sorted(out, key=lambda s: -s.weight)


def _moves(bits: NDArray[np.uint8], first: int) -> int:
    return int(np.count_nonzero(np.diff(bits, axis=1)) + np.count_nonzero(bits[:, 0] != first))


def _carries(byte: NDArray[np.uint8], field: Field) -> bool:
    """Tell whether the bits are a part of a wider number, such as a place: they move by its carry.

    The high bits fall while the whole hardly moves, or the low bits wrap and the
    rest falls by one.
    """
    if field.mask == 0xFF:
        return False
    whole, bits = np.diff(byte.astype(np.int64), axis=1), field.read(byte)
    steps = np.diff(bits, axis=1)
    if field.shift:
        falls = whole[steps == -1]
        return bool(len(falls)) and float(np.mean(abs(falls) < 1 << field.shift - 2)) >= 0.5
    rest = np.diff(byte.astype(np.int64) - bits, axis=1)
    return bool(((steps == field.mask) & (rest == -1 - field.mask)).any())


def _coded(offset: int, byte: NDArray[np.uint8]) -> Field | None:
    """Return the field of a byte that goes through the same few values in the same order.

    So do the places of glyphs in a table, and copies of a sprite that are bits.
    """
    heads: Counter[int] = Counter()
    follow: dict[int, Counter[int]] = {}
    when: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in byte if byte.shape[1] > STARTING else byte[:0]:
        at = np.flatnonzero(np.diff(row[STARTING:])) + STARTING
        values = [int(row[STARTING]), *row[at + 1].tolist()]
        heads[values[0]] += 1
        before_it = np.flatnonzero(np.diff(row[: STARTING + 1]))[-1:].tolist() or [0]
        frames = [*before_it, *at.tolist()]
        for n, (before, after) in enumerate(pairwise(values)):
            follow.setdefault(before, Counter())[after] += 1
            when.setdefault((before, after), []).append((frames[n + 1], frames[n + 1] - frames[n]))
    if not heads:
        return None
    chain = [heads.most_common(1)[0][0]]
    while (after := follow.get(chain[-1])) and len(chain) <= CODES:
        value, times = after.most_common(1)[0]
        if value in chain or times < 0.7 * after.total():
            break
        chain.append(value)
    # The last life is followed by a new game, if by anything: what climbs again is a stage.
    climbs = any(value in chain[1:] for value in follow.get(chain[-1], ()))
    timed = any(_is_timed(when[link]) for link in pairwise(chain))
    if climbs or timed or not 3 <= len(chain) <= CODES:
        return None
    return Field(offset, codes=tuple(reversed(chain)))


def _is_timed(changes: Sequence[tuple[int, int]]) -> bool:
    """Tell whether changes, by frame and by time since the one before, come as a stage ends."""
    spans = np.ptp(np.array(changes), axis=0)
    return len(changes) >= ALIKE and bool((spans <= NEAR).any())


def _suspect(field: Field, series: NDArray[np.int64], start: int) -> Suspect | None:
    if start < 1 or start > 9:  # some games set up what they count in their first frames
        start = int(np.bincount(series[:, min(STARTING, series.shape[1] - 1)]).argmax())
        if not 1 <= start <= 9:
            return None
        series = series.copy()
        for row in series[:, : STARTING + 1]:
            row[: int((row == start).argmax())] = start
    full = np.concatenate([np.full((len(series), 1), start, np.int64), series], axis=1)
    steps = np.diff(full, axis=1)
    loss = steps == -1
    moves = int((steps != 0).sum())
    losses = int(loss.sum())
    # Falls of one make up most of its moves; a new game may lift it, an extra life too.
    if losses < 1 or losses < 0.6 * moves:
        return None
    below = field.mask >> field.shift  # -1: the game is over
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
    weight -= 0.5 * bool(field.codes) + 0.2 * (field.mask not in PLAIN)
    return Suspect(field, tuple(moments), start, weight) if weight >= LEAST else None


def _burns(loss: NDArray[np.bool_]) -> bool:
    """Tell a fuse (fuel, a timer) from lives: nearly all of its falls come after equal times."""
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


def tries(prober: Prober, suspect: Suspect, most: int) -> list[Moment]:
    """Return a few losses to try, first one where fewer than at the start were left.

    A counter may be cut to what it holds at the start, and one more is then no more.
    """
    losses = suspect.losses
    series = suspect.field.read(prober.recording.series(suspect.field.offset))
    fewer = [m for m in losses if 2 <= series[m.episode, m.frame + LEAD - 1] < suspect.start]
    return spread([*fewer[:1], *(m for m in losses if m not in fewer[:1])], most)


def is_clock(prober: Prober, field: Field, moment: Moment) -> bool:
    """Tell whether the loss comes when it comes, whatever is pressed for ten seconds before it."""
    loss, recording = moment.frame + LEAD, prober.recording
    steps = np.diff(field.read(recording.series(field.offset)), axis=1)
    falls = [np.flatnonzero(row == -1) for row in steps]
    alike = len(falls) >= ALIKE and len({len(row) for row in falls}) == 1 and len(falls[0]) > 0
    if alike and np.ptp(np.array(falls), axis=0).max() <= NEAR:
        return True  # in every episode all fell then, and each was played otherwise
    ahead = min(AHEAD, loss)
    if ahead < AHEAD // 2:
        return False
    state = prober.state(Moment(moment.episode, loss - ahead))
    frames = ahead + NEAR + 1
    logs = np.stack([futures("both", seed, frames, 0) for seed in range(FUTURES)])
    kept, looks = np.array([field.offset], np.int32), [ahead - NEAR, frames]
    for part in (logs[:2], logs[2:]):  # two tell most that is no clock
        values = field.read(prober.core.branch(state, part, looks, kept=kept).ram[:, :, 0])
        if (values[:, 1] != values[:, 0] - 1).any():
            return False
    return True


def spread(moments: Sequence[Moment], most: int) -> list[Moment]:
    """Return a few moments, each of another episode first."""
    picked: list[Moment] = []
    for moment in moments:
        if all(moment.episode != other.episode for other in picked):
            picked.append(moment)
    picked += [moment for moment in moments if moment not in picked]
    return picked[:most]
