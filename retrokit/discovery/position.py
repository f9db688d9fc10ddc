"""The player's place: of the bytes that directions steer, the one that moves the sprite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..buttons import MASKS
from ..core import Span
from .candidates import Grade
from .fact import Fact, byte_at
from .motion import slide
from .poke import Prober
from .screen import Pictures
from .steered import AXES, FRAMES, Axis, Late, Steered, Trials, latency, signed, steer, tell_order

STAGES = (0, 8, 16)  # states: more are tried on an axis where the first ones prove nothing
PADDLE_STAGES = (0, 4)
POKED, SHOWN = 6, 3  # states in which a byte is poked or watched, and how many must show it
KEPT = 4  # by how much a byte may move on by itself after a poke
LOOKS = (2, 3, 4, 5, 6)  # frames after a poke; some games draw on every other one
REACH, POKES = 40, 8
TRIED = 8  # bytes of an axis that are poked
SAME_UNIT = 1.3
HELD = 6  # frames, once it parts, that a direction is held where a byte was sent: too few to meet
OBEYED, LEAST_OBEYED = 0.25, 3  # of the places, where it must obey; the others may lie in walls
MOSTLY = 0.6  # instead, where few pokes showed
BEHIND, LATEST = 3, 12  # frames: what parts this much later than another byte follows the player


@dataclass
class _Byte:
    """A byte that may be the player's place on one axis.

    Attributes:
        steered: How it behaves.
        parts: Frames of opposite directions until it parts, the median over states.
        poked: States in which it was poked.
        moved: Pixels a step in each of those where something slid.
        seen: Pixels a step in each state whose unpoked futures show something that slid.
        error: Pixels that it lay beside the byte's place there, summed.
        followed: Bytes that took the poke over.
        obeyed, sent: Of the places it was sent to, from how many directions still part it.
        behind: Another byte parts well before it.
    """

    steered: Steered
    parts: float
    poked: int = 0
    moved: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    error: float = 0.0
    followed: set[int] = field(default_factory=set)
    obeyed: int = 0
    sent: int = 0
    behind: bool = False

    @property
    def offset(self) -> int:
        """Where it lies in the selected regions."""
        return self.steered.offset

    @property
    def unit(self) -> float:
        """Pixels a step; 0 where nothing slid."""
        units = self.moved or self.seen
        return float(np.median(units)) if units else 0.0

    @property
    def grade(self) -> Grade:
        """Proved where pokes move something in two states; likely where it only moves along."""
        # Scenery scrolls the other way than the direction that is held.
        if self.behind or (self.unit < 0) != self.steered.turned:
            return "unproved"
        if len(self.moved) >= 2 and _alike(self.moved):
            # What follows the player goes the player's way, wherever it is sent.
            share = OBEYED if 2 * len(self.moved) >= self.poked else MOSTLY
            obeys = self.obeyed >= LEAST_OBEYED and self.obeyed >= share * self.sent
            return "proved" if obeys else "unproved"
        along = len(self.seen) >= 2 and _alike(self.moved + self.seen)
        often = 2 * len(self.steered.moments) >= self.steered.moved_in
        return "likely" if along and often else "unproved"

    @property
    def rank(self) -> tuple[bool, bool, float, float, int]:
        """Orders bytes of one axis: proved, likely, nearest to one pixel a step, nearest to it."""
        far = round(abs(float(np.log2(abs(self.unit)))), 1) if self.unit else 9.0
        grade, states = self.grade, len(self.steered.moments)
        return grade == "proved", grade == "likely", -far, -self.error, states


def find_positions(
    prober: Prober,
    spans: Sequence[Span],
    useful: Sequence[str],
    known: Sequence[int] = (),
    late: Late = lambda: False,
) -> list[Fact]:
    """Find the player's place on each axis whose directions matter.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        useful: Buttons that matter in play.
        known: Offsets that hold something else.
        late: Tells that time is up; what was tried until then is graded.

    Returns:
        At most one fact an axis: ``player_x``, ``player_y``.
    """
    axes = [axis for axis in AXES if {axis.negative, axis.positive} <= {*useful}]
    found = _found(prober, axes, STAGES, known, late)
    # Stella keeps a paddle's place outside the savestate: it must be driven there each time.
    if not found and len(axes) == 1 and prober.core.spec.name == "stella":
        found = _found(prober, [axes[0]._replace(paddle=True)], PADDLE_STAGES, known, late)
    facts = []
    for axis in axes:
        if (byte := found.get(axis.name)) is not None:
            facts.append(_fact(axis.name, byte, spans))
            if byte.grade == "proved":
                prober.witness.begin()
                tell_order(prober, byte.steered, axis)
                prober.witness.proves(facts[-1], byte)
    return facts


def _found(
    prober: Prober, axes: Sequence[Axis], stages: Sequence[int], known: Sequence[int], late: Late
) -> dict[str, _Byte]:
    """Return the best byte of each axis that has one, by the axis' name."""
    trials = Trials(prober, axes, known, stages[-1])
    out: dict[str, _Byte] = {}
    for first, last in pairwise(stages):
        due = [axis for axis in axes if axis.name not in out or out[axis.name].grade != "proved"]
        trials.run(first, last, due, late)
        for axis in due:
            best = None if late() else _best(prober, trials.steered(axis), axis, late)
            if best is not None:
                out[axis.name] = max(best, out.get(axis.name, best), key=lambda byte: byte.rank)
    return out


def _fact(name: str, byte: _Byte, spans: Sequence[Span]) -> Fact:
    evidence: dict[str, Any] = {
        "grade": byte.grade,
        "behaviour": {
            "in_order": len(byte.steered.moments),
            "moved_in": byte.steered.moved_in,
            "frames_to_part": byte.parts,
            "seen": [int(byte.steered.values[0]), int(byte.steered.values[-1])],
        },
        "poke": {
            "states": byte.poked,
            "moved": len(byte.moved),
            "obeyed": f"{byte.obeyed} of {byte.sent}",
        },
        "screen": {"moved_along": len(byte.seen)},
        "pixels_a_step": round(byte.unit, 2),
    }
    return Fact(name, byte_at(byte.offset, spans), byte.grade, evidence)


def _best(prober: Prober, found: list[Steered], axis: Axis, late: Late) -> _Byte | None:
    """Return the byte that moves the sprite, and that no other one moves."""
    tried = _timed(prober, _keeping(prober, found)[:TRIED], axis)
    for byte in tried:
        if late():
            break
        prober.witness.begin()
        others = [other.offset for other in tried if other is not byte]
        _poke(prober, byte, [byte.offset, *others], axis)
        if len(byte.moved) >= 2:
            _send(prober, byte, axis)
        prober.witness.proves(byte)
    for byte in tried:
        if not any(other.grade == "proved" for other in tried) and not late():
            _watch(prober, byte, axis)
    sources = [
        byte
        for byte in tried
        if not any(
            byte.offset in other.followed
            and other.offset not in byte.followed
            and (other.grade == "proved" or byte.grade != "proved")
            for other in tried
        )
    ]
    return max(sources, key=lambda byte: byte.rank, default=None)


def _keeping(prober: Prober, found: list[Steered]) -> list[Steered]:
    """Order bytes: first those that keep a poke, since a copy is made anew each frame."""
    if len(found) < 2:
        return found
    offsets = np.array([byte.offset for byte in found[: 8 * TRIED]], np.int32)
    moment = found[0].moments[0]
    before = prober.bytes_at(moment, offsets.tolist()).astype(np.int64)
    pokes = (np.append(offsets, -1)[:, None], np.append((before + 4) % 256, 0)[:, None])
    state, idle = prober.state(moment), np.zeros(LOOKS[0], np.uint16)
    ram = prober.core.branch(state, idle, [LOOKS[0]], pokes=pokes, kept=offsets).ram[:, 0]
    moved = signed(np.diagonal(ram).astype(np.int64) - ram[-1])
    keeps = dict(zip(offsets.tolist(), (moved == 4).tolist(), strict=True))
    return sorted(found, key=lambda byte: not keeps.get(byte.offset, False))


def _timed(prober: Prober, found: list[Steered], axis: Axis) -> list[_Byte]:
    """Measure how soon bytes part, and mark those that part behind another one."""
    if not found or axis.paddle:
        return [_Byte(steered, 0.0) for steered in found]
    offsets = np.array([steered.offset for steered in found], np.int32)
    often = Counter(moment for steered in found for moment in steered.moments)
    taken = sorted(often, key=lambda moment: (-often[moment], moment))[:POKED]
    parts = {m: latency(prober.core, prober.state(m), axis, offsets) for m in taken}
    out = []
    for n, steered in enumerate(found):
        own = [int(parts[m][n]) for m in taken if m in steered.moments]
        out.append(_Byte(steered, float(np.median(own)) if own else FRAMES + 1.0))
    first = min(byte.parts for byte in out)
    for byte in out:
        byte.behind = byte.parts > min(first + BEHIND, LATEST)
    return out


def _poke(prober: Prober, byte: _Byte, kept: list[int], axis: Axis) -> None:
    """Write places that play reached, and note what slides by how much; its own byte first."""
    for moment in byte.steered.moments[:POKED]:
        here = int(prober.bytes_at(moment, [byte.offset])[0])
        near = byte.steered.values[np.abs(byte.steered.values.astype(np.int64) - here) <= REACH]
        near = near[near != here]
        if len(byte.moved) >= SHOWN or byte.poked >= SHOWN and not byte.moved:
            break
        if len(near) < 3:
            continue
        picked = near[np.unique(np.linspace(0, len(near) - 1, POKES).round().astype(np.int64))]
        values = np.concatenate([[here], picked.astype(np.int64)])
        byte.poked += 1
        for mask in (0, MASKS[axis.positive]):  # some games draw a place anew when it changes
            ram, pictures = prober.after(
                moment,
                values[:, None],
                [byte.offset],
                LOOKS,
                kept,
                log=np.full(LOOKS[-1], mask, np.uint16),
                proof=True,
            )
            after = ram.astype(np.int64)  # [values, looks, kept]
            taken = kept_on(after, values)
            byte.followed |= {kept[n] for n in np.flatnonzero(taken[:2].all(axis=0))}
            if not taken[:2, 0].all():
                break  # the game writes it anew
            unit = goes_along(after[:, :, 0], pictures, taken[:, 0], axis.across)
            if unit is not None:
                byte.moved.append(unit)
                prober.witness.shows("placed", across=axis.across, unit=round(100 * unit))
                break


def goes_along(
    held: NDArray[np.int64], pictures: Pictures, looks: NDArray[np.bool_], across: int
) -> float | None:
    """Return by how many pixels a step one thing goes along with a byte; None where none does.

    Args:
        held: int64 [values, looks]: what became of each value written, the recorded one first.
        pictures: uint16 [values, looks, height, width].
        looks: bool [looks]: at which of them it still was what was written.
        across: The axis: 0 down, 1 right.
    """
    steps = signed(held - held[0])
    found = [
        slide(pictures[:, look], steps[:, look].tolist(), across) for look in np.flatnonzero(looks)
    ]
    units = [slid.unit for slid in found if slid is not None]
    # A speed moves things by more and more.
    return float(np.median(units)) if len(units) >= 2 and _alike(units) else None


def kept_on(held: NDArray[np.int64], written: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell at which looks bytes are what was written, or went on from it, bool [looks, bytes].

    Args:
        held: int64 [values, looks, bytes]: what became of each value, the recorded one first.
        written: int64 [values]: each value.
    """
    away = signed(held - held[:1]) - signed(written - written[0])[:, None, None]
    return np.asarray((np.abs(away) <= KEPT).mean(axis=0) >= 0.7, np.bool_)


def _send(prober: Prober, byte: _Byte, axis: Axis) -> None:
    """Write places further away, and note from how many of them directions part the byte."""
    values = byte.steered.values.astype(np.int64)
    frames = HELD + int(byte.parts)
    for moment in byte.steered.moments[:SHOWN]:
        here = int(prober.bytes_at(moment, [byte.offset])[0])
        away = np.abs(signed(values - here))
        there = values[away > byte.steered.spread // 2]
        if not len(there):
            continue
        there = there[np.unique(np.linspace(0, len(there) - 1, POKES).round().astype(np.int64))]
        logs = np.full((2 * len(there), frames), MASKS[axis.negative], np.uint16)
        logs[len(there) :] = MASKS[axis.positive]
        rows, at = np.tile(there, 2)[:, None], [byte.offset]
        ram, _ = prober.after(moment, rows, at, [frames], at, False, logs, proof=True)
        obeyed = parted(ram[:, 0, 0].astype(np.int64), byte.steered.turned)
        if obeyed:
            prober.witness.shows("obeyed", turned=byte.steered.turned, parted=obeyed)
        byte.obeyed += obeyed
        byte.sent += len(there)


def parted(ends: NDArray[np.int64], turned: bool) -> int:
    """Return from how many places two directions, a half of the ends each, part as they must."""
    half = len(ends) // 2
    steps = signed(ends[half:] - ends[:half])
    return int(((steps < 0) if turned else (steps > 0)).sum())


def _watch(prober: Prober, byte: _Byte, axis: Axis) -> None:
    """Note whether something slides along with the byte in its unpoked futures."""
    kept = np.array([byte.offset], np.int32)
    for number, moment in enumerate(byte.steered.moments[:POKED]):
        if len(byte.seen) >= SHOWN:
            break
        state = prober.state(moment)
        ran = steer(prober.core, state, axis, bool(number % 2), kept, prober.size)
        ends = ran.ram[:, 1, 0].astype(np.int64)
        middle = len(ends) // 2
        order = [middle, *(n for n in range(len(ends)) if n != middle)]
        values = signed(ends - ends[middle])[order].tolist()
        slid = slide(ran.pictures[order, 1], values, axis.across)
        if slid is not None:
            byte.seen.append(slid.unit)
            byte.error += slid.error


def _alike(units: Sequence[float]) -> bool:
    """Tell whether several measures of pixels a step agree."""
    low, high = min(map(abs, units)), max(map(abs, units))
    return len({unit > 0 for unit in units}) == 1 and high <= SAME_UNIT * low
