"""Pokes: write other values into RAM just before something happens, replay the same buttons, look.

Everything compares restored with restored: a run continued from play can differ from the same run
restored (facts/cores.md).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Core
from ..team import Team
from .bundle import Experiment, Witness, fingerprints
from .home import apart, enter
from .kinds import UNITS
from .record import Recording
from .screen import HALF, Cell, Pictures, may_draw, ten_drawn
from .units import Unit

BEFORE = 3  # frames between the poke and the event
LOOKS = (BEFORE + 2, BEFORE + 4, BEFORE + 7)  # frames run when pictures are taken; both parities
KEPT_STATES = 64 << 20
MOST_REOPENED = 6  # a core that is broken more often than this just does not repeat
OTHERS = {3: (8, 7), 7: (3, 4)}  # digits written in place of these; elsewhere 3 and 7
MOST_MOVED = 2500  # pixels that a digit's poke can change: a whole number may come to light
LATE = (BEFORE + 12, BEFORE + 24, BEFORE + 45)  # for games that draw a score after a tune
BATCH = 128  # futures at once
PICTURE_BYTES = 64 << 20  # of theirs
SMALL_RAM = 1 << 16  # what is seen of it is kept whole
EARLIEST, LATEST = 8, 12  # frames of an episode's ends in which no event is looked for


class Moment(NamedTuple):
    """A frame of an episode, before it has run."""

    episode: int
    frame: int


class Prober:
    """States before any recorded frame, and futures from there with other bytes."""

    def __init__(
        self,
        core: Core,
        recording: Recording,
        size: tuple[int, int],
        witness: Witness | None = None,
    ) -> None:
        """Take a core with the recording's content loaded; ``size`` is the picture's."""
        self.core, self.recording, self.size = core, recording, size
        self.witness = Witness() if witness is None else witness
        self._states: OrderedDict[Moment, bytes] = OrderedDict()
        self._seen: dict[tuple[Moment, int], tuple[NDArray[np.uint8], Pictures]] = {}
        # Several numbers on a screen ask for the same bytes; by moment and looks.
        self._touched: dict[tuple[Moment, int], dict[Unit, NDArray[np.bool_]]] = {}
        self._drawn: dict[tuple[Unit, Moment, int], tuple[list[Cell], bool]] = {}
        shown = 2 * size[0] * size[1] * len(LOOKS)
        self._batch = max(8, min(BATCH, PICTURE_BYTES // max(1, shown)))
        self.looks: tuple[int, ...] = LOOKS
        self.pressed: int | None = None  # frames after which nothing is pressed; None: all are
        self._reopened = 0
        self._room = max(4, KEPT_STATES // max(1, len(recording.state)))

    def state(self, moment: Moment) -> bytes:
        """Return the savestate before a frame, replayed from the nearest state before it."""
        if moment in self._states:
            self._states.move_to_end(moment)
            return self._states[moment]
        state = self._replayed(moment)
        if isinstance(self.core, Team) and self._reopened < MOST_REOPENED:
            if not self._as_recorded(moment):  # a poke broke the core for good
                self._reopened += 1
                self.core.reopen()
                state = self._replayed(moment)
        self._states[moment] = state
        while len(self._states) > self._room:
            self._states.popitem(last=False)
        return state

    def _replayed(self, moment: Moment) -> bytes:
        recording = self.recording
        point = moment.frame // recording.every
        at, state = point * recording.every, recording.checkpoints[moment.episode][point]
        # Only checkpoints are exact starts: a state saved half-way and restored is another run.
        enter(self.core, state)
        if moment.frame > at:
            self.core.record(recording.buttons[moment.episode, at : moment.frame])
            state = self.core.save()
        return state

    def _as_recorded(self, moment: Moment) -> bool:
        """Tell whether RAM, where the core stands, is what was recorded before a moment."""
        recording = self.recording
        if not 0 < moment.frame <= recording.ends[moment.episode]:
            return True
        recorded = recording.ram[moment.episode, moment.frame - 1]
        return bool((self.core.read()[recording.offsets] == recorded).all())

    def bytes_at(self, moment: Moment, offsets: Sequence[int]) -> NDArray[np.uint8]:
        """Return RAM bytes just before a frame."""
        state, kept = self.state(moment), np.asarray(offsets, np.int32)
        ram = self.core.branch(state, np.zeros(1, np.uint16), [0], kept=kept).ram
        return np.asarray(ram[0, 0], np.uint8)

    def after(
        self,
        moment: Moment,
        pokes: NDArray[np.int64] | Sequence[Sequence[int]],
        offsets: Sequence[int] | NDArray[np.int64],
        looks: Sequence[int] | None = None,
        kept: Sequence[int] = (),
        pictures: bool = True,
        log: NDArray[np.uint16] | None = None,
        proof: bool = False,
    ) -> tuple[NDArray[np.uint8], Pictures]:
        """Poke before ``moment`` and replay the recorded buttons.

        Args:
            moment: When to poke.
            pokes: [branches, len(offsets)] bytes to write; -1 leaves a byte as it is.
            offsets: Where they go: [len(offsets)] for all branches, or [branches, pokes].
            looks: Frames run at each look; by default the prober's own.
            kept: Offsets to read at each look.
            pictures: Take pictures too.
            log: Buttons to press instead of the recorded ones, [frames] or [branches, frames].
            proof: Make it repeatable, and tell the witness.

        Returns:
            ram uint8 [branches, looks, kept], pictures uint16 [branches, looks, height, width].
        """
        looks = self.looks if looks is None else looks
        values = np.asarray(pokes, np.int64)
        where = np.where(values >= 0, np.asarray(offsets, np.int64), -1)
        if log is None:
            log = self.recording.log(*moment, looks[-1], self.pressed)
        run = partial(apart, self.core) if proof else self.core.branch
        result = run(
            self.state(moment),
            log,
            looks,
            pokes=(where, np.maximum(values, 0)),
            kept=np.asarray(kept, np.int32) if len(kept) else None,
            size=self.size if pictures else None,
        )
        if proof:
            views = result.pictures if pictures else None
            self.tell(moment, values, offsets, log, looks, kept, result.ram, views)
        return result.ram, result.pictures

    def seen(
        self, moment: Moment, offsets: Sequence[int] = ()
    ) -> tuple[NDArray[np.uint8], Pictures]:
        """Return what the recording shows after a moment; kept, for every number asks.

        Returns:
            ram uint8 [looks, offsets], pictures uint16 [looks, height, width].
        """
        total = len(self.recording.initial)
        small = total <= SMALL_RAM
        key = moment, self.looks[-1]
        if key not in self._seen:
            kept = np.arange(total if small else 0)
            ram, pictures = self.after(moment, [[-1]], [0], kept=kept.tolist(), proof=True)
            self._seen[key] = ram[0], pictures[0]
        ram, views = self._seen[key]
        if small or not len(offsets):
            return ram[:, list(offsets)], views
        ram, _ = self.after(moment, [[-1]], [0], kept=offsets, pictures=False, proof=True)
        return ram[0], views

    def tell(
        self,
        moment: Moment,
        rows: NDArray[np.int64] | Sequence[Sequence[int]],
        offsets: Sequence[int] | NDArray[np.int64],
        log: NDArray[np.uint16],
        looks: Sequence[int],
        kept: Sequence[int] = (),
        ram: NDArray[np.uint8] | None = None,
        pictures: Pictures | None = None,
        control: Sequence[Sequence[int]] = (),
    ) -> None:
        """Tell the witness of an experiment that was made; see `after` and `Experiment`."""
        self.witness.latest = Experiment(
            *moment,
            self.bytes_at(moment, self.recording.offsets.tolist()),
            np.array(rows, np.int64),
            np.array(offsets, np.int64),
            np.atleast_2d(np.array(log, np.uint16)),
            np.array(looks, np.int64),
            np.array(kept, np.int64),
            np.zeros((len(rows), len(looks), 0), np.uint8) if ram is None else ram,
            fingerprints(pictures),
            np.array(control, np.int64).reshape(-1, 2),
        )

    def events(self, offset: int) -> list[Moment]:
        """Return moments just before a byte's own changes; rises only, where it has any."""
        return [self._moment(at) for at in self._events(offset).tolist()]

    def _moment(self, at: int) -> Moment:
        """Return the moment so many frames into all episodes, one after the other."""
        return Moment(*divmod(at, self.recording.buttons.shape[1]))

    def _events(self, offset: int) -> NDArray[np.int32]:
        """Return the `events` of a byte as frames into all episodes."""
        series = self.recording.series(offset)
        good = np.zeros(series.shape, np.bool_)  # by the frame before the change
        good[:, :-1] = series[:, 1:] != series[:, :-1]
        changed = good.copy()
        # The byte must rest before the poke is judged, and the episode go on after it.
        for back in range(1, BEFORE + 1):
            good[:, back:] &= ~changed[:, :-back]
        frames = np.arange(self.recording.buttons.shape[1])
        good &= (frames >= EARLIEST) & (frames < self.recording.lengths[:, None] - 1 - LATEST)
        found = np.flatnonzero(good)
        rises = series.reshape(-1)[found + 1] > series.reshape(-1)[found]
        return (found[rises] if rises.any() else found).astype(np.int32) + 1 - BEFORE

    def accumulators(
        self, offsets: Sequence[int], report: Callable[[float], None] = lambda share: None
    ) -> dict[int, list[Moment]]:
        """Return the bytes that are added to rather than overwritten, with events that show it.

        Written a little other than it was just before its own recorded change, such a byte ends as
        the written value plus the change; a display copy ends as it did without the poke. One poke
        sorts out most bytes, four more at up to three moments decide about the rest.
        """
        events = {offset: self._events(offset) for offset in offsets}
        crowd = np.zeros(self.recording.buttons.size, np.int32)
        for frames in events.values():
            crowd[frames] += 1
        # Bytes that change together share a state, so each goes to its most popular moments.
        events = {o: f[np.argsort(-crowd[f], kind="stable")] for o, f in events.items()}
        left = {offset: events[offset] for offset in self._added(events, 1, (1,), report)}
        return self._added(left, 3, (1, 2, 4, 3), lambda share: None)

    def _added(
        self,
        events: Mapping[int, NDArray[np.int32]],
        wanted: int,
        steps: Sequence[int],
        report: Callable[[float], None],
    ) -> dict[int, list[Moment]]:
        """Return the bytes that passed, with the moments at which they did (at most ``wanted``)."""
        passed: dict[int, list[Moment]] = {}
        failed: set[int] = set()
        for turn in range(wanted + 1):  # one more: a replay may miss its event
            due: dict[Moment, list[int]] = {}
            for offset, frames in events.items():
                enough = len(passed.get(offset, ())) >= wanted or offset in failed
                if not enough and turn < len(frames):
                    at = int(frames[turn * max(1, len(frames) // (wanted + 1))])
                    due.setdefault(self._moment(at), []).append(offset)
            for number, moment in enumerate(sorted(due)):
                report((turn + number / len(due)) / (wanted + 1))
                for offset, held in self._kept(moment, due[moment], steps):
                    if held:
                        passed.setdefault(offset, []).append(moment)
                    elif wanted == 1:
                        failed.add(offset)
        return passed

    def _kept(
        self, moment: Moment, offsets: list[int], steps: Sequence[int]
    ) -> Iterator[tuple[int, bool]]:
        """Poke each byte alone; yield which kept that plus the recorded change, where it came."""
        tries = len(steps)
        for at in range(0, len(offsets), BATCH):
            some = offsets[at : at + BATCH]
            before = self.bytes_at(moment, some).tolist()
            pokes = [-1]
            for byte in before:
                for step in steps:
                    near = ((byte & 15) + step) % (10 if byte & 15 <= 9 else 16)
                    pokes.append(byte & 0xF0 | near if step != 3 else byte + 3 & 255)
            where = np.repeat([0, *some], [1, *[tries] * len(some)])[:, None]
            rows = np.array(pokes)[:, None]
            ram, _ = self.after(moment, rows, where, (LOOKS[0],), some, pictures=False)
            ends = ram[:, 0].astype(np.int64)
            for n, offset in enumerate(some):
                old, plain = before[n], int(ends[0, n])
                if plain == old:
                    continue
                hits = 0
                for row in range(1 + n * tries, 1 + (n + 1) * tries):
                    end = int(ends[row, n])
                    off = (end - pokes[row] - plain + old) % 256
                    # A carry takes 100 out of a base-100 byte, and 6 more into a packed decimal.
                    carried = end != plain and (off in (100, 156) or off & 15 in (0, 6, 10))
                    hits += off == 0 or carried
                yield offset, hits >= max(1, tries - 1)

    def touching(
        self, units: Sequence[Unit], moment: Moment, rows: slice = slice(None)
    ) -> list[Unit]:
        """Return the units whose digit changes the picture, in these rows and hardly elsewhere."""
        touched = self._touched.setdefault((moment, self.looks[-1]), {})
        new = [unit for unit in dict.fromkeys(units) if unit not in touched]
        before = self.bytes_at(moment, [unit.offset for unit in new]).tolist() if new else []
        tried = [
            (unit, unit.write(byte, digit) & 255)
            for unit, byte in zip(new, before, strict=True)
            for digit in OTHERS.get(int(unit.read(byte)), (3, 7))
        ]
        plain = self.after(moment, [[-1]], [0])[1] if new else None
        for at in range(0, len(tried), self._batch):
            part = tried[at : at + self._batch]
            pokes = np.array([[byte] for _, byte in part])
            where = np.array([[unit.offset] for unit, _ in part])
            _, pictures = self.after(moment, pokes, where)
            moved = pictures != plain
            small = moved.sum(axis=(2, 3)).min(axis=1) <= MOST_MOVED
            lines = moved.any(axis=(1, 3)) & small[:, None]
            for (unit, _), line in zip(part, lines, strict=True):
                touched[unit] = touched.get(unit, line) | line
        return [unit for unit in units if touched[unit][rows].any()]

    def draw(
        self, unit: Unit, moment: Moment, beside: Mapping[int, int] | None = None, worth: int = 0
    ) -> list[Cell]:
        """Write ten digits into a unit and return the cells that draw it.

        Args:
            unit: The unit.
            moment: When to write. Where the unit itself changes then, what it draws a little later
                is surer: a picture may lag behind.
            beside: Offset → byte that is written along.
            worth: Tell the witness that a digit here is worth so much; 0 tells it nothing.
        """
        cells, changes = self._draw(unit, moment, beside or {}, worth)
        later = Moment(moment.episode, moment.frame + self.looks[-1])
        if changes and later.frame < self.recording.lengths[moment.episode]:
            quiet, changes_again = self._draw(unit, later, beside or {}, worth)
            cells = quiet if quiet and not changes_again else cells or quiet
        return cells

    def _draw(
        self, unit: Unit, moment: Moment, beside: Mapping[int, int], worth: int
    ) -> tuple[list[Cell], bool]:
        """Return the cells, and whether the byte did not stay as it was written."""
        key = unit, moment, self.looks[-1]
        if not beside and not worth and key in self._drawn:
            return self._drawn[key]
        before = beside.get(unit.offset, int(self.bytes_at(moment, [unit.offset])[0]))
        values = [unit.write(before, digit) for digit in range(10)]
        if max(values) > 255:
            return [], False
        others = {offset: byte for offset, byte in beside.items() if offset != unit.offset}
        pokes, offsets = [[value, *others.values()] for value in values], [unit.offset, *others]
        write = partial(self.after, moment, offsets=offsets, kept=[unit.offset], proof=worth > 0)
        ram, pictures = write(pokes if worth else pokes[:HALF])
        if not worth:  # most draw nothing
            digits = [unit.read(ram[:, look, 0]) for look in range(len(LOOKS))]
            if any(may_draw(pictures[:, look], ends) for look, ends in enumerate(digits)):
                rest = write(pokes[HALF:])
                ram, pictures = np.concatenate([ram, rest[0]]), np.concatenate([pictures, rest[1]])
        for look in (1, 2, 0):
            if cells := ten_drawn(pictures[:, look], unit.read(ram[:, look, 0])):
                break
        if cells and worth:
            claim = {"base": unit.base, "worth": worth, "look": look, "cells": len(cells)}
            self.witness.shows("digits", None, unit=UNITS.index(unit.kind), **claim)
        drawn = cells, bool((ram[:, 0, 0] != np.array(values[: len(ram)])).any())
        if not beside:
            self._drawn[key] = drawn
        return drawn
