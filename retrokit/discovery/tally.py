"""Tallies: counters that the game makes anew in each frame from what stands, such as houses.

A poke of the counter itself is overwritten at once. What it is made from is found by pokes too,
and a number is written by letting so many stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..values import Variable
from .candidates import place
from .copies import BATCH, SOON
from .poke import Moment, Prober
from .suspects import LEAD, Suspect

SMALL_RAM = 512  # RAM up to this size is asked whole what the counter is made from
COUNTED = 6  # frames in which the game has counted anew
NEAR = 8  # bytes beside what fell in which others that never fell may lie
BEFORE_LOSS = 3  # frames in which what stands has fallen before the counter tells
STATES = 3  # of play that are asked
JOINT = 24  # random choices of what stands, in each of them
MOST = 9  # of what stands
AGREES = 0.98  # share of the frames of play in which the counter is what stands


class Mark(NamedTuple):
    """What stands or has fallen: some bits of a byte.

    Attributes:
        offset: The byte, in the selected regions.
        mask: The bits that decide.
        standing: Their values with which it stands.
        up, down: What is written there to let it stand, or fall.
    """

    offset: int
    mask: int
    standing: tuple[int, ...]
    up: int
    down: int

    def stands(self, byte: NDArray[np.integer[Any]] | int) -> NDArray[np.bool_]:
        """Tell where it stands."""
        return np.isin(np.asarray(byte, np.int64) & self.mask, self.standing)

    def variable(self, spans: Sequence[Span]) -> Variable:
        """Return it as 1 where it stands and 0 where it has fallen."""
        region, addr = place(self.offset, spans)
        shift = (self.mask & -self.mask).bit_length() - 1
        if self.mask == 1 << shift and self.up:
            return Variable((addr,), "uint", region, mask=self.mask, shift=shift)
        few = self.standing if len(self.standing) <= len(self._fallen()) else self._fallen()
        kind = int(few is self.standing)
        table = {value >> shift: kind for value in few}
        return Variable(
            (addr,), "uint", region, mask=self.mask, shift=shift, map=table, default=1 - kind
        )

    def _fallen(self) -> tuple[int, ...]:
        values = {value & self.mask for value in range(256)}
        return tuple(sorted(values - set(self.standing)))


@dataclass(frozen=True)
class Tally:
    """A counter of what stands; it is read and written as a `Field` is.

    Attributes:
        offset: The counter itself, which the game makes anew.
        marks: What stands, in the order in which it is kept: the first falls last.
        base: What the counter holds where nothing stands: 0, or -1 where the last is spared.
    """

    offset: int
    marks: tuple[Mark, ...]
    base: int = 0
    mask: int = 0xFF
    shift: int = 0
    codes: tuple[int, ...] = ()

    @property
    def top(self) -> int:
        """The largest number that it can hold."""
        return len(self.marks) + self.base

    @property
    def offsets(self) -> list[int]:
        """The bytes that are written."""
        return sorted({mark.offset for mark in self.marks})

    def read(self, byte: NDArray[np.integer[Any]] | int) -> NDArray[np.int64]:
        """Return the numbers in bytes of the counter."""
        value = np.asarray(byte, np.int64)
        return np.where(value > 0x7F, value - 0x100, value)

    def counted(self, byte: NDArray[np.uint8], full: int) -> NDArray[np.int64]:
        """Return the same, see `Field.counted`."""
        return self.read(byte)

    def written(self, before: Sequence[int], number: int) -> list[int]:
        """Return the bytes at ``offsets`` with as many standing as make a number."""
        out = dict(zip(self.offsets, map(int, before), strict=True))
        for n, mark in enumerate(self.marks):
            stand = n < number - self.base
            if bool(mark.stands(out[mark.offset])) != stand:
                bits = mark.up if stand else mark.down
                out[mark.offset] = out[mark.offset] & ~mark.mask & 0xFF | bits
        return [out[offset] for offset in self.offsets]

    def before(self, prober: Prober, moment: Moment) -> Tally:
        """Return it for a moment `LEAD` frames before a loss: what falls then is the first.

        So that the loss still comes when few are left, and whatever stands comes before the rest.
        """
        loss, recording = moment.frame + LEAD, prober.recording
        held = dict(zip(self.offsets, prober.bytes_at(moment, self.offsets).tolist(), strict=True))

        def order(mark: Mark) -> tuple[bool, bool]:
            later = recording.series(mark.offset)[moment.episode, loss]
            stands = bool(mark.stands(held[mark.offset]))
            return not (stands and not mark.stands(int(later))), not stands

        return replace(self, marks=tuple(sorted(self.marks, key=order)))

    def terms(self, spans: Sequence[Span]) -> tuple[Variable, ...]:
        """Return what stands as variables whose sum is the number."""
        return tuple(mark.variable(spans) for mark in self.marks)


def find_tally(prober: Prober, suspect: Suspect) -> Tally | None:
    """Find what a counter is made from in each frame, by pokes.

    Args:
        prober: The prober of a recording.
        suspect: The counter.

    Returns:
        The tally; None where a poke of the counter lasts, or it is made from anything but things
        that stand or have fallen and count one each.
    """
    moments, offset = _moments(prober, suspect), suspect.field.offset
    if suspect.field.mask != 0xFF or suspect.field.codes:
        return None
    if not all(made_anew(prober, offset, moment) for moment in moments):
        return None
    marks: list[Mark] = []
    asked: set[int] = {offset}
    near = _near(prober, suspect)
    while new := sorted(near - asked):
        asked |= set(new)
        marks += _marks(prober, offset, new, moments)
        if len(marks) > MOST:
            return None
        beside = range(-NEAR, NEAR + 1)
        near = {mark.offset + step for mark in marks for step in beside}
        near &= set(prober.recording.offsets.tolist())
    if len(marks) < 2:
        return None
    plain, *held = prober.bytes_at(moments[0], [offset, *(m.offset for m in marks)]).tolist()
    standing = sum(bool(mark.stands(byte)) for mark, byte in zip(marks, held, strict=True))
    tally = Tally(offset, tuple(marks), plain - standing)
    return tally if tally.base in (0, -1) and _agrees(prober, tally, moments) else None


def made_anew(prober: Prober, offset: int, moment: Moment) -> bool:
    """Tell whether a poke of a byte is gone after `SOON` frames and left no trace there."""
    before = int(prober.bytes_at(moment, [offset])[0])
    rows = [[-1], [before ^ 0x05], [before ^ 0xA0]]
    ram, _ = prober.after(moment, rows, [offset], (SOON,), [offset], pictures=False)
    return bool((ram[1:] == ram[0]).all())


def _moments(prober: Prober, suspect: Suspect) -> list[Moment]:
    """Return moments of play: before a loss, when most stands, and before a later one."""
    losses = sorted(suspect.losses, key=lambda m: m.frame)
    picked = [losses[n] for n in np.linspace(0, len(losses) - 1, STATES).astype(int)]
    return list(dict.fromkeys(picked))


def _near(prober: Prober, suspect: Suspect) -> set[int]:
    """Return the bytes that the counter may be made from: what moved as it fell, or all."""
    recording = prober.recording
    if len(recording.initial) <= SMALL_RAM:
        return set(recording.offsets.tolist())
    moved = np.zeros(len(recording.offsets), np.bool_)
    for moment in suspect.losses:
        loss = moment.frame + LEAD
        rows = recording.ram[moment.episode, loss - BEFORE_LOSS : loss + 1]
        moved |= (rows != rows[0]).any(axis=0)
    return set(recording.offsets[moved].tolist())


def _marks(
    prober: Prober, counter: int, offsets: Sequence[int], moments: Sequence[Moment]
) -> list[Mark]:
    """Return what stands in some bytes: whose bits, one at a time, count one up or down."""
    flips = [1 << bit for bit in range(8)] + [0xFF]
    hit: set[int] = set()
    for moment in moments:
        before = prober.bytes_at(moment, offsets).astype(np.int64)
        rows = (before[:, None] ^ np.array(flips)).reshape(-1, 1)
        where = np.repeat(np.array(offsets), len(flips))[:, None]
        plain, *counts = _counts(prober, counter, moment, rows, where)
        moved = np.abs(np.array(counts) - plain).reshape(len(offsets), -1)
        hit |= {offsets[n] for n in np.flatnonzero((moved == 1).any(axis=1)).tolist()}
    out: list[Mark] = []
    for offset in sorted(hit):
        out += _of_byte(prober, counter, offset, moments[0])
    return out


def _of_byte(prober: Prober, counter: int, offset: int, moment: Moment) -> list[Mark]:
    """Return what stands in one byte, by all its values: nothing, one thing, or one a bit."""
    _, *counts = _counts(
        prober, counter, moment, np.arange(256)[:, None], np.full((256, 1), offset)
    )
    worth = np.array(counts) - min(counts)
    values = np.arange(256)
    deciding = [1 << bit for bit in range(8) if (worth[values] != worth[values ^ 1 << bit]).any()]
    seen = np.unique(prober.recording.series(offset))
    if worth.max() == 1:
        mask = sum(deciding)
        standing = tuple(sorted({int(v) & mask for v in values[worth == 1]}))
        up, down = (_usual(values[worth == kind], seen, mask) for kind in (1, 0))
        return [Mark(offset, mask, standing, up, down)]
    steps = {bit: int(worth[bit] - worth[0]) for bit in deciding}
    total = worth[0] + sum(step * ((values & bit) > 0) for bit, step in steps.items())
    if set(steps.values()) - {-1, 1} or not (total == worth).all():
        return []
    return [
        Mark(offset, bit, (bit if step > 0 else 0,), *((bit, 0) if step > 0 else (0, bit)))
        for bit, step in steps.items()
    ]


def _usual(values: NDArray[np.int64], seen: NDArray[np.uint8], mask: int) -> int:
    """Return the bits of one of some values, of one that was seen if any was."""
    known = values[np.isin(values, seen)]
    return int((known if len(known) else values)[0]) & mask


def _counts(
    prober: Prober,
    counter: int,
    moment: Moment,
    rows: NDArray[np.int64],
    where: NDArray[np.int64],
) -> list[int]:
    """Return the counter soon after a moment: without a poke, then with each."""
    out: list[int] = []
    rows = np.concatenate([np.full((1, rows.shape[1]), -1), rows])
    where = np.concatenate([where[:1], where]).astype(np.int64)
    for at in range(0, len(rows), BATCH):
        part = slice(at, at + BATCH)
        ram, _ = prober.after(
            moment, rows[part], where[part], (COUNTED,), [counter], pictures=False
        )
        out += ram[:, 0, 0].astype(np.int8).tolist()
    return out


def _agrees(prober: Prober, tally: Tally, moments: Sequence[Moment]) -> bool:
    """Tell whether the counter is what stands: however it is poked, and all through play."""
    rng, recording = np.random.default_rng(0), prober.recording
    for moment in moments:
        before = prober.bytes_at(moment, tally.offsets)
        numbers = rng.integers(tally.base, tally.top + 1, JOINT)
        rows = []
        for number in numbers.tolist():
            mixed = [tally.marks[n] for n in rng.permutation(len(tally.marks))]
            rows.append(replace(tally, marks=tuple(mixed)).written(before.tolist(), number))
        where = np.tile(tally.offsets, (JOINT, 1))
        _, *counts = _counts(prober, tally.offset, moment, np.array(rows), where)
        if counts != numbers.tolist():
            return False
    stand = sum(mark.stands(recording.series(mark.offset)).astype(int) for mark in tally.marks)
    same = np.asarray(stand) + tally.base == tally.read(recording.series(tally.offset))
    return bool(np.mean([same[n, :end].mean() for n, end in enumerate(recording.ends)]) >= AGREES)
