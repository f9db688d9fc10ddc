"""The timer: a number that ticks by itself, keeps what is written to it, and is drawn in digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..values import DECODERS, Variable
from .candidates import Series, pack, place
from .fact import Fact, unmoved
from .poke import LOOKS, Moment, Prober
from .prove import binary_units, find_binary
from .record import Recording
from .units import Unit

FASTEST, SLOWEST = 4, 600  # frames from tick to tick
SECOND = 66  # what counts up more slowly is rather the other side's points
LEAST_TICKS = 8
BUSY = 0.5  # share of the play in which it ticks
REGULAR = 0.8  # share of the gaps that are alike; a clock may rest while the player dies
STEADY = 0.85  # share of the ticks that count by one; a digit turns over every ten
FIRST = 4  # ticks that come at the same frames whatever is pressed
TURNS = (10, 60, 100)  # values after which the byte above counts
LEAST_TURNS = 2
MOST_UPPER = 3

Late = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class _Count:
    """A byte that counts by one.

    Attributes:
        offset: Where it lies in the selected regions.
        encoding: ``bcd`` or ``uint``.
        values: int64 [episodes, frames + 1]: its value at the start and after each frame.
        step: 1 or -1.
    """

    offset: int
    encoding: str
    values: Series
    step: int

    @property
    def ticks(self) -> NDArray[np.bool_]:
        """Frames in which it moved, bool [episodes, frames]."""
        return np.asarray(self.values[:, 1:] != self.values[:, :-1], np.bool_)

    @property
    def turns(self) -> NDArray[np.bool_]:
        """Frames in which it began anew, bool [episodes, frames]."""
        return np.asarray(self.ticks & (np.diff(self.values, axis=1) != self.step), np.bool_)

    @property
    def gap(self) -> float | None:
        """Frames from tick to tick, None where that is irregular."""
        gaps = np.concatenate([np.diff(np.flatnonzero(row)) for row in self.ticks])
        if len(gaps) < LEAST_TICKS:
            return None
        gap = float(np.median(gaps))
        alike = float((np.abs(gaps - gap) <= 1).mean())
        slowest = SECOND if self.step > 0 else SLOWEST
        busy = self.ticks.sum() * gap / self.ticks.size  # points may be counted up as regularly
        if not FASTEST <= gap <= slowest or alike < REGULAR or busy < BUSY:
            return None
        return gap


def find_timer(
    prober: Prober, spans: Sequence[Span], known: Sequence[int], late: Late
) -> Fact | None:
    """Find a clock that is drawn.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        known: Offsets that hold something else.
        late: Tells that time is up.

    Returns:
        ``timer``, proved: it ticks whatever is pressed, keeps what is written, and draws the ten
        glyphs. None without; a clock on no screen is one of many.
    """
    clocks = [
        count
        for count in _counts(prober.recording)
        if count.offset not in known and count.gap is not None and unmoved(count.ticks, FIRST)
    ]
    found: list[tuple[int, Fact]] = []
    for clock in clocks:
        if late():
            break
        moments = prober.accumulators([clock.offset]).get(clock.offset, [])
        if len(moments) < 2:
            continue
        prober.witness.begin()
        shown = _shown(prober, clock, moments[0], spans)
        if shown is None:
            continue
        digits, variable = shown
        evidence = {
            "grade": "proved",
            "behaviour": {
                "ticks": int(clock.ticks.sum()),
                "frames_a_tick": clock.gap,
                "step": clock.step,
            },
            "poke": {"kept": len(moments)},
            "screen": {"digits": digits},
        }
        weight = digits + len(variable.terms)
        fact = Fact("timer", variable, "proved", evidence)
        _tell(prober, clock, moments, fact.offsets(spans), pack(variable)[0])
        prober.witness.proves(fact)
        found.append((weight, fact))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _tell(
    prober: Prober, clock: _Count, moments: Sequence[Moment], offsets: list[int], packed: Variable
) -> None:
    """Show the witness that the clock keeps what is written, and ticks whatever is pressed."""

    def number(ram: NDArray[np.uint8]) -> NDArray[np.int64]:
        value: NDArray[np.int64] = packed.decode({packed.region: ram})
        return value

    for moment in moments[:2]:
        byte = int(prober.bytes_at(moment, [clock.offset])[0])
        last = byte & 15 if clock.encoding == "bcd" else byte % 10
        other = byte - last + (6 if last < 4 else 2)  # no carry comes of it
        rows, settled = np.full((2, len(offsets)), -1), (LOOKS[0],)
        rows[1, offsets.index(clock.offset)] = other
        now = prober.bytes_at(moment, offsets)
        before = int(number(now))
        written = int(number(np.where(rows[1] < 0, now, rows[1]).astype(np.uint8)))
        ram, _ = prober.after(moment, rows, offsets, settled, offsets, False, proof=True)
        plain, end = number(ram[:, 0]).tolist()
        if plain != before and end == written + plain - before:
            numbers = {"before": before, "written": written, "points": plain - before}
            prober.witness.shows("added", **numbers, settled=0, unit=1, look=-1, shown=end)
    starts: dict[tuple[int, ...], list[int]] = {}
    for episode, row in enumerate(clock.ticks):
        frames = np.flatnonzero(row)
        starts.setdefault(tuple(frames[frames > 0][:FIRST].tolist()), []).append(episode)
    alike = max((frames for frames in starts if frames), key=lambda frames: len(starts[frames]))
    looks = [look for frame in alike for look in (frame, frame + 1)]
    for episode in starts[alike][:2]:
        moment, rows = Moment(episode, 0), np.full((1, len(offsets)), -1)
        ram, _ = prober.after(moment, rows, offsets, looks, offsets, False, proof=True)
        if (np.diff(number(ram[0]))[::2] == clock.step).all():
            prober.witness.shows("ticks", step=clock.step)


def _counts(recording: Recording) -> Iterator[_Count]:
    """Yield the bytes that count by one, as packed decimal where that fits."""
    for offset, encoding, values in _numbers(recording):
        steps = np.diff(values, axis=1)
        moved = steps[steps != 0]
        for step in (-1, 1):
            if (moved == step).sum() >= STEADY * len(moved) > 0:
                yield _Count(offset, encoding, values, step)


def _numbers(recording: Recording) -> Iterator[tuple[int, str, Series]]:
    """Yield every byte that moves seldom enough, read once: as packed decimal where that fits."""
    seldom = recording.changes()
    for column in np.flatnonzero((seldom > 0) & (seldom <= 1 / FASTEST)).tolist():
        offset = int(recording.offsets[column])
        first = np.full((recording.episodes, 1), recording.initial[offset], np.uint8)
        data = np.concatenate([first, recording.ram[:, :, column]], axis=1)[..., None]
        encoding = "bcd" if DECODERS["bcd"].valid(data).all() else "uint"
        yield offset, encoding, DECODERS[encoding].decode(data)


def _shown(
    prober: Prober, clock: _Count, moment: Moment, spans: Sequence[Span]
) -> tuple[int, Variable] | None:
    """Return how many digits the clock draws, and how it is read; None where it draws none."""
    top = int(clock.values.max())
    if clock.encoding == "uint" and top > 9:
        binary = find_binary(prober, clock.offset, moment)
        if binary is None:
            return None
        offsets, encoding = binary_units(binary)
        prober.draw(Unit(clock.offset, "byte", 10), moment, worth=1)  # and no carry
        region, _ = place(offsets[0], spans)
        addrs = tuple(place(offset, spans)[1] for offset in offsets)
        return 2, Variable(addrs, encoding, region)
    units = (Unit(clock.offset, "low"), Unit(clock.offset, "high"))[: 1 + (top > 9)]
    if not all(prober.draw(unit, moment, worth=10**n) for n, unit in enumerate(units)):
        return None
    return len(units), _variable(clock, _uppers(prober.recording, clock), spans)


def _uppers(recording: Recording, clock: _Count) -> list[tuple[_Count, int]]:
    """Return the bytes that count when the clock turns over, with what they are worth."""
    numbers = list(_numbers(recording))
    out: list[tuple[_Count, int]] = []
    lower, worth = clock, 1
    while len(out) < MOST_UPPER and lower.turns.any():
        steps = np.diff(lower.values, axis=1)
        jumps = np.abs(steps[lower.turns]) + 1
        turn = int(np.bincount(jumps).argmax())
        turned = steps == (1 - turn) * lower.step  # other jumps set it anew
        if turn not in TURNS or turned.sum() < LEAST_TURNS:
            break
        near = _beside(lower.turns)
        for offset, encoding, values in numbers:
            upper = _Count(offset, encoding, values, clock.step)
            if offset == lower.offset or 2 * (upper.ticks & near).sum() < upper.ticks.sum():
                continue  # it moves at other times too, more than a new game explains
            counted = _beside(upper.ticks & ~upper.turns)
            if counted[turned].mean() >= STEADY:
                lower, worth = upper, worth * turn
                out.append((upper, worth))
                break
        else:
            break
    return out


def _beside(frames: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the frames and their neighbours [episodes, frames]."""
    out = frames.copy()
    out[:, 1:] |= frames[:, :-1]
    out[:, :-1] |= frames[:, 1:]
    return out


def _variable(
    clock: _Count, uppers: Sequence[tuple[_Count, int]], spans: Sequence[Span]
) -> Variable:
    def one(count: _Count, scale: int) -> Variable:
        region, addr = place(count.offset, spans)
        return Variable((addr,), count.encoding, region, scale)

    terms = tuple(one(count, worth) for count, worth in uppers)
    return replace(one(clock, 1), terms=terms)
