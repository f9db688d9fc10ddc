"""Candidates: numbers that may be the score, how they behave, how well each is established.

Behaviour sorts and rejects; it never proves (facts/discovery.md: alone it was confidently wrong
in 40 of 56 games).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..values import DECODERS, Variable, encoding_name
from .record import Recording
from .screen import Line

Grade = Literal["proved", "likely", "unproved"]
Series = NDArray[np.int64]
BIGGEST_STEP = 100_000
CARRIES, CARRIED = 5, 0.9  # rises, and the share of them that must be a carry
OFTEN = 12  # rises in an episode by which a pace is told
PACED = 0.8  # of the logarithms of two intervals in a row, nine times of ten
ALIKE = 3  # episodes that are alike before that says anything
CALM = 0.95  # share of frames in which a score stands still


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a number moved, over all episodes.

    Attributes:
        rises: Frames in which it rose; neither resets nor what sets it up are counted.
        falls: Frames in which it fell, resets not counted.
        resets: Falls to where an episode starts, or to 0.
        steps: Sizes of the rises, the commonest first.
        drops: Sizes of the falls, resets not counted, the commonest first.
        still: Share of frames without a change.
        clock: It rises by one or two step sizes at regular intervals, or at a pace that changes
            slowly, as a distance does.
        lowest, highest: Values seen.
        scoring: Episodes in which it rose.
        begins: What it was set up to where play began.
    """

    rises: int
    falls: int
    resets: int
    steps: tuple[int, ...]
    drops: tuple[int, ...]
    still: float
    clock: bool
    lowest: int
    highest: int
    scoring: int
    begins: int = 0

    @property
    def like_a_score(self) -> bool:
        """Rises, hardly falls, mostly stands still, is no clock."""
        return (
            self.rises >= 1
            and self.falls <= 0.03 * self.rises
            and self.resets <= 0.2 * self.rises + 2
            and self.still >= CALM
            and not self.clock
            and self.lowest >= 0
        )

    @property
    def like_an_account(self) -> bool:
        """Moves both ways or down by different and by large steps: money, or points to lose.

        A fuse burns by one step size, and energy by small ones.
        """
        sizes = {*self.steps, *(-drop for drop in self.drops)}
        return (
            self.falls >= 1
            and self.rises + self.falls >= 2
            and len(sizes) >= 2
            and max(abs(size) for size in sizes) >= 10
            and self.still >= CALM
            and not self.clock
            and self.lowest >= 0
        )


def behaviour(series: Series, start: int) -> Behaviour:
    """Describe a number over time.

    Args:
        series: int64 [episodes, frames]: its value after each frame.
        start: Its value where every episode starts.
    """
    full = np.concatenate([np.full((len(series), 1), start, np.int64), series], axis=1)
    steps = np.diff(full, axis=1)
    up, down = steps > 0, steps < 0
    set_up = _set_up(steps)
    up &= ~set_up
    reset = down & ((series == start) | (series == 0))
    sizes, counts = np.unique(steps[up], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    lost, often = np.unique(-steps[down & ~reset], return_counts=True)
    common = np.argsort(-often, kind="stable")
    gaps = np.concatenate([np.diff(np.flatnonzero(row)) for row in up] or [np.zeros(0, np.int64)])
    paced = not (down & ~reset).any() and _is_paced(up)
    regular = len(gaps) >= 5 and float(np.std(gaps)) < 0.25 * float(np.mean(gaps))
    return Behaviour(
        rises=int(up.sum()),
        falls=int((down & ~reset).sum()),
        resets=int(reset.sum()),
        steps=tuple(int(size) for size in sizes[order][:8]),
        drops=tuple(int(size) for size in lost[common][:8]),
        still=float((steps == 0).mean()),
        # A clock ticks in every game.
        clock=bool(len(sizes) <= 2 and (paced or regular and up.any(axis=1).all())),
        lowest=int(full.min()),
        highest=int(full.max()),
        scoring=int(up.any(axis=1).sum()),
        begins=start + int((steps * set_up).max()),
    )


def _set_up(steps: Series) -> NDArray[np.bool_]:
    """Return where episodes set the number up: all by one step, half of them in one frame."""
    rises = steps > 0
    first, rows = rises.argmax(axis=1), np.arange(len(steps))
    set_up = np.zeros_like(rises)
    if len(steps) >= ALIKE and rises.any(axis=1).all() and not np.ptp(steps[rows, first]):
        together = np.count_nonzero(first <= first.min() + 1)
        set_up[rows, first] = 2 * together >= len(steps)
    return set_up


def _is_paced(up: NDArray[np.bool_]) -> bool:
    """Tell a distance from points: each interval is much like the one before it.

    Intervals between independent events differ by a factor of 19 or more one time in ten.
    """
    times = [np.flatnonzero(row) for row in up]
    often = [np.log(np.diff(at)) for at in times if len(at) >= OFTEN]
    if 2 * len(often) < len(up):
        return False
    changes = np.abs(np.concatenate([np.diff(gaps) for gaps in often]))
    # Points that are counted up one by one come at equal intervals.
    return bool(np.quantile(changes, 0.9) < PACED and np.median(changes) > 0)


def goes_on(recording: Recording, series: Series, offsets: Sequence[int]) -> bool:
    """Tell whether a digit beside a number's last byte wraps whenever the number rises.

    The number is then the upper part of a longer one, such as a distance without its tenths.
    """
    episode, frame = np.nonzero(np.diff(series, axis=1) > 0)
    if len(frame) < CARRIES:
        return False
    for offset in range(offsets[-1] - 1, offsets[-1] + 2):
        byte = recording.series(offset) if 0 <= offset < len(recording.initial) else None
        for shift in (0, 4) if byte is not None else ():
            assert byte is not None
            before = byte[episode, frame] >> shift & 15
            after = byte[episode, frame + 1] >> shift & 15
            if np.mean((before >= 8) & (before <= 9) & (after <= 1)) >= CARRIED:
                return True
    return False


@dataclass
class Candidate:
    """A number in RAM that may be the score.

    Attributes:
        variable: How it is decoded; offsets count within ``variable.region``.
        offsets: Its bytes in the core's selected regions, most significant first.
        behaviour: How it moved in the recording.
        grade: How well it is established.
        evidence: What was tried and what came out, ready for the integration file.
        weight: Orders candidates of one grade.
        line: How the number is read on the screen, where it is drawn.
    """

    variable: Variable
    offsets: tuple[int, ...]
    behaviour: Behaviour
    grade: Grade = "unproved"
    evidence: dict[str, Any] = field(default_factory=dict)
    weight: float = 0.0
    line: Line | None = None

    @property
    def shown(self) -> bool:
        """Whether it is a number of several digits that the screen showed as RAM held it."""
        screen, poke = self.evidence.get("screen", {}), self.evidence.get("poke", {})
        return bool(screen.get("cells", 0) >= 2 and poke.get("read_back", 0))

    def to_dict(self, rank: int) -> dict[str, Any]:
        """Return the candidate with the keys of the integration file."""
        v = self.variable
        out: dict[str, Any] = {
            "rank": rank,
            "score_addrs": [addr for part in v.parts for addr in part.addrs],
            "score_encoding": encoding_name(v.encoding, v.addrs),
            "score_scale": v.scale,
            "score_base": v.base,
            "score_blank": v.blank,
            "variable": v.to_dict(),  # all of it, as under ``variables`` in the file
            "grade": self.grade,
            "seen": [self.behaviour.lowest, self.behaviour.highest],
            "evidence": self.evidence,
        }
        if v.region != "SYSTEM_RAM":
            out["score_region"] = v.region
        if v.terms:
            out["score_terms"] = [
                {"addrs": list(t.addrs), "encoding": t.encoding, "scale": t.scale} for t in v.terms
            ]
        return out


def place(offset: int, spans: Sequence[Span]) -> tuple[str, int]:
    """Return the region of an offset into the selected regions, and the offset within it."""
    for span in spans:
        if span.start <= offset < span.start + span.size:
            return span.region, offset - span.start
    raise ValueError(f"offset {offset} lies in no selected region")


def name_of(offset: int, spans: Sequence[Span]) -> str:
    """Return an offset into the selected regions as a person writes it: ``0x41c``, ``VRAM 0x9``."""
    region, addr = place(offset, spans)
    return f"{addr:#x}" if region == "SYSTEM_RAM" else f"{region} {addr:#x}"


def values_of(
    recording: Recording, variable: Variable, offsets: Sequence[int]
) -> tuple[Series, int]:
    """Decode a number over a recording.

    Args:
        recording: The recording.
        variable: How to decode; all its parts' bytes in order are ``offsets``.
        offsets: Where those bytes lie in the selected regions.

    Returns:
        int64 [episodes, frames], and its value at the start of every episode.
    """
    packed, number = pack(variable)
    columns = [recording.series(offset) for offset in offsets]
    memory = {packed.region: np.stack(columns, axis=-1)}
    first = {packed.region: np.array([recording.initial[offset] for offset in offsets], np.uint8)}
    assert number == len(offsets)
    return np.asarray(packed.decode(memory), np.int64), int(packed.decode(first))


def pack(variable: Variable) -> tuple[Variable, int]:
    """Return the variable with its bytes at 0, 1, 2, … in order, and how many there are."""
    at = len(variable.addrs)
    terms = []
    for term in variable.terms:
        terms.append(replace(term, addrs=tuple(range(at, at + len(term.addrs))), region="PACKED"))
        at += len(term.addrs)
    own = tuple(range(len(variable.addrs)))
    return replace(variable, addrs=own, region="PACKED", terms=tuple(terms)), at


def by_behaviour(
    recording: Recording, spans: Sequence[Span], lowest: Sequence[int], most: int = 20
) -> Iterator[Candidate]:
    """Yield byte groups that behave like a score, under every decoder and both orders.

    Args:
        recording: The recording.
        spans: The core's selected regions.
        lowest: Offsets that may hold the least significant byte: those that move.
        most: How many to yield, best first.
    """
    total = len(recording.initial)
    found: list[Candidate] = []
    for offset in lowest:
        for encoding, width in GROUPS:
            for step in (-1, 1) if width > 1 else (1,):
                offsets = tuple(offset + step * n for n in reversed(range(width)))
                if min(offsets) < 0 or max(offsets) >= total:
                    continue
                if place(offsets[0], spans)[0] != place(offsets[-1], spans)[0]:
                    continue
                candidate = _group(recording, spans, encoding, offsets)
                if candidate is not None:
                    found.append(candidate)
    found.sort(key=lambda c: -c.weight)
    taken: set[tuple[int, ...]] = set()
    for candidate in found:
        if len(taken) >= most:
            return
        if candidate.offsets not in taken:
            taken.add(candidate.offsets)
            yield candidate


def alone(
    recording: Recording, spans: Sequence[Span], offsets: Sequence[int], most: int
) -> list[Candidate]:
    """Return single bytes as numbers of their own, those that fall least first.

    Args:
        recording: The recording.
        spans: The core's selected regions.
        offsets: Bytes that are added to.
        most: How many to return.
    """
    out = []
    for offset in offsets:
        region, addr = place(offset, spans)
        variable = Variable((addr,), "uint", region)
        seen = behaviour(*values_of(recording, variable, (offset,)))
        falls = (seen.falls + seen.resets) / max(1, seen.rises)
        evidence = {"behaviour": describe(seen)}
        out.append(Candidate(variable, (offset,), seen, "unproved", evidence, -falls))
    return sorted(out, key=lambda c: -c.weight)[:most]


# Widths that real integrations have (facts/priors.md), the commonest first.
GROUPS = (
    ("bcd", 3), ("bcd", 2), ("bcd", 4), ("bcd", 1), ("digits", 6), ("digits", 5), ("digits", 4),
    ("digits", 3), ("digits", 8), ("uint", 2), ("uint", 3), ("uint", 4), ("uint", 1),
    ("base100", 2), ("base100", 3),
)  # fmt: skip
PRIOR = {"bcd": 0.44, "digits": 0.27, "uint": 0.29, "base100": 0.05}


def _group(
    recording: Recording, spans: Sequence[Span], encoding: str, offsets: tuple[int, ...]
) -> Candidate | None:
    columns = np.stack([recording.series(offset) for offset in offsets], axis=-1)
    first = np.array([recording.initial[offset] for offset in offsets], np.uint8)
    moving = [bool((columns[..., n] != first[n]).any()) for n in range(len(offsets))]
    if not moving[-1] or (encoding == "uint" and len(offsets) > 1 and not any(moving[:-1])):
        return None
    base = 0
    if encoding == "digits":
        base = int(first[-1]) & 0xF0
    variable = Variable(
        tuple(place(o, spans)[1] for o in offsets), encoding, place(offsets[0], spans)[0], base=base
    )
    decoder = DECODERS[encoding]
    if not decoder.valid(columns, base).all():
        return None
    series, start = values_of(recording, variable, offsets)
    seen = behaviour(series, start)
    if (
        not seen.like_a_score
        or seen.rises < 2
        or seen.highest < 10
        or max(seen.steps) > BIGGEST_STEP
    ):
        return None
    round_steps = sum(step % 5 == 0 for step in seen.steps) / max(1, len(seen.steps))
    weight = (
        PRIOR[encoding]
        + 0.4 * round_steps
        + 0.3 * min(1.0, seen.rises / 10)
        + 0.15 * (len(seen.steps) > 1)
        + 0.2 * (seen.highest >= 100)
        - 0.1 * (start != 0)
    )
    return Candidate(variable, offsets, seen, "unproved", {"behaviour": describe(seen)}, weight)


def describe(seen: Behaviour) -> dict[str, Any]:
    """Return a behaviour as evidence for the integration file."""
    return {
        "rises": seen.rises,
        "falls": seen.falls,
        "resets": seen.resets,
        "steps": list(seen.steps),
        "drops": list(seen.drops),
        "still": round(seen.still, 4),
        "clock": seen.clock,
        "episodes_scoring": seen.scoring,
    }
