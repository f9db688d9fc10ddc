"""The score: from a recording to ranked, graded candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..core import Span
from ..values import Variable
from .candidates import (
    Candidate,
    Grade,
    alone,
    behaviour,
    by_behaviour,
    describe,
    pack,
    place,
    values_of,
)
from .chains import Chain, Digit, chains, right_of, to_variable
from .poke import Moment, Prober, Unit
from .prove import (
    Binary,
    Proof,
    binary_units,
    extend,
    film,
    find_binary,
    prove,
    rising_moments,
)
from .record import Recording
from .screen import Line

Report = Callable[[str, float], None]
CALM = 0.12  # a byte that changes in more frames than this is no digit of a score
MOST_CHAINS = 8  # numbers on the screen that are followed up
UNSEEN = 5  # numbers on no screen that are listed


def find_score(
    prober: Prober,
    spans: Sequence[Span],
    seed: int,
    report: Report,
    sieve: dict[str, int] | None = None,
) -> list[Candidate]:
    """Find the numbers on the screen that RAM holds and rank those that behave like a score.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        seed: Of the random numbers the proof writes.
        report: Called with what is being done and the share that is finished.
        sieve: Filled with how many bytes were left after each stage, for a person to read.

    Returns:
        Candidates that rose in the recording, the best first; at most one is ``proved``. What only
        behaves like a score, on no screen, is ``unproved``; where nothing does, so are the bytes
        that are added to.
    """
    recording = prober.recording
    changes = recording.changes()
    calm = recording.offsets[(changes > 0) & (changes <= CALM)].tolist()
    adders = prober.accumulators(calm, lambda share: report("poking what changes", share))
    digits, visible = _digits(prober, adders, report)
    if sieve is not None:
        drawn = {digit.unit.offset for digit in digits}
        sieve |= {
            "all": len(recording.initial), "changed": int((changes > 0).sum()), "calm": len(calm),
            "added": len(adders), "visible": len(visible), "digits": len(drawn),
        }  # fmt: skip
    found: list[Candidate] = []
    for number, (line_digits, binary) in enumerate(_numbers(prober, digits, visible)[:MOST_CHAINS]):
        report("proving what is on the screen", number / MOST_CHAINS)
        candidate = _candidate(prober, spans, line_digits, binary, seed)
        if candidate is not None:
            found.append(candidate)
    known = {offset for candidate in found for offset in candidate.offsets}
    rest = [offset for offset in adders if offset not in known]
    listed = [*found, *by_behaviour(recording, spans, rest, UNSEEN)]
    return rank(listed or alone(recording, spans, rest, UNSEEN))


def _digits(
    prober: Prober, adders: dict[int, list[Moment]], report: Report
) -> tuple[list[Digit], dict[int, Moment]]:
    """Return the cells that the adding bytes draw, and when each byte drew anything at all."""
    visible = _visible(prober, adders)
    out: list[Digit] = []
    for number, (offset, units) in enumerate(visible.items()):
        report("reading the game's digits", number / len(visible))
        for unit, moment in units:
            others = [later for later in adders[offset] if later != moment]
            for again in (moment, *others[:1]):
                cells = prober.draw(unit, again)
                out += [Digit(unit, cell, again) for cell in cells]
                if cells:
                    break
    return out, {offset: units[0][1] for offset, units in visible.items()}


def _visible(
    prober: Prober, adders: dict[int, list[Moment]]
) -> dict[int, list[tuple[Unit, Moment]]]:
    """Return the units of each adding byte that change the picture, and when they do."""
    out: dict[int, list[tuple[Unit, Moment]]] = {}
    for turn in range(2):
        due: dict[Moment, list[Unit]] = {}
        for offset, moments in adders.items():
            if offset not in out and turn < len(moments):
                base = _digit_base(prober.recording, offset)
                units = [Unit(offset, "low"), Unit(offset, "high")]
                due.setdefault(moments[turn], []).extend(
                    [*units, Unit(offset, "byte", base)] if base else units
                )
        for moment in sorted(due):
            for unit in prober.touching(due[moment], moment):
                out.setdefault(unit.offset, []).append((unit, moment))
    return out


def _digit_base(recording: Recording, offset: int) -> int:
    """Return the byte that draws 0 where ten neighbouring values cross a nibble, or 0."""
    values = np.unique(recording.series(offset))
    low, high = int(values[0]), int(values[-1])
    crosses = low >> 4 != high >> 4 or (high & 15) > 9
    return low if high > 9 and high - low <= 9 and crosses else 0


def _numbers(
    prober: Prober, digits: list[Digit], visible: dict[int, Moment]
) -> list[tuple[list[Digit], Binary | None]]:
    """Return the digits of each number on the screen, or its binary form where it has one."""
    decimal = _plainly_decimal(chains(digits))
    binaries: list[Binary] = []
    for offset, moment in visible.items():
        if offset in decimal or any(offset in binary.weights for binary in binaries):
            continue
        binary = find_binary(prober, offset, moment)
        if binary is not None:
            binaries.append(binary)
    out: list[tuple[list[Digit], Binary | None]] = [([], binary) for binary in binaries]
    rest = [d for d in digits if not any(d.unit.offset in b.weights for b in binaries)]
    for chain in chains(rest):
        out.append(([chain.digits[power] for power in sorted(chain.digits)], None))
    return out


def _plainly_decimal(found: list[Chain]) -> set[int]:
    """Return the bytes that need not be asked whether they are binary.

    Both nibbles draw neighbouring digits, or they are one of three or more bytes of a digit each.
    """
    out: set[int] = set()
    for chain in found:
        units = chain.units
        packed = {
            unit.offset
            for place, unit in units.items()
            if unit.kind == "low" and units.get(place + 1) == Unit(unit.offset, "high", unit.base)
        }
        out |= (
            packed if packed else {u.offset for u in units.values()} if len(units) >= 3 else set()
        )
    return out


def _candidate(
    prober: Prober,
    spans: Sequence[Span],
    digits: list[Digit],
    binary: Binary | None,
    seed: int,
) -> Candidate | None:
    recording = prober.recording
    if binary is not None:
        cells = 2
        line, whole = _looked_around(prober, binary.line, seed)
        offsets, encoding = binary_units(binary)
        region = place(offsets[0], spans)[0]
        addrs = tuple(place(offset, spans)[1] for offset in offsets)
        variable = Variable(addrs, encoding, region, 10**line.zeros)
    else:
        chain = _longest(chains(extend(prober, digits)), digits)
        cells = len(chain.digits)
        line, whole = _looked_around(prober, chain.line, seed)
        seen = {unit.offset: recording.series(unit.offset) for unit in chain.units.values()}
        variable, offsets = to_variable(chain.units, seen, spans, line.zeros)
    series, start = values_of(recording, variable, offsets)
    moved = behaviour(series, start)
    if not moved.rises:
        return None
    if binary is not None:
        cells = max(cells, len(str(moved.highest // 10**line.zeros)))
    packed, _ = pack(variable)
    moments = rising_moments(recording, variable, offsets)
    proof = prove(prober, offsets, packed, line, moments, seed)
    grade = _grade(moved.like_a_score, cells, proof)
    if grade == "proved" and not whole:
        grade = "likely"
    evidence = {
        "grade": grade,
        "behaviour": describe(moved),
        "screen": {
            "cells": cells,
            "box": [line.cell.left, line.cell.top, line.cell.right, line.cell.bottom],
            "drawn_zeros": line.zeros,
            "whole": whole,
            "film": f"{proof.film} of {proof.shown}",
        },
        "poke": {"rises": proof.rises, "added": proof.added, "read_back": proof.read},
    }
    weight = (
        2.0 * moved.like_a_score
        + 0.2 * min(cells, 6)
        + proof.read / max(1, proof.rises)
        + 0.5 * (proof.film >= proof.shown / 2)
        + 0.2 * min(1.0, moved.rises / 5)
        + 0.1 * len(str(moved.highest))
        - 1.5 * moved.clock
    )
    return Candidate(variable, offsets, moved, grade, evidence, weight, line)


def _looked_around(prober: Prober, line: Line, seed: int) -> tuple[Line, bool]:
    """Return the line with its drawn zeros, and whether it holds its last place."""
    views = [prober.after(moment, [[-1]], [0])[1][0, 1] for moment in film(prober, seed)]
    zeros, changing = right_of(line, np.array(views)) if views else (0, False)
    return replace(line, zeros=zeros), not changing


def _longest(found: list[Chain], digits: list[Digit]) -> Chain:
    """Return the longest chain that holds one of the digits it grew from."""
    ours = {(d.unit.offset, d.unit.kind) for d in digits}
    for chain in found:
        if any((u.offset, u.kind) in ours for u in chain.units.values()):
            return chain
    return found[0]


def _grade(like_a_score: bool, cells: int, proof: Proof) -> Grade:
    """Grade a number: proof takes behaviour, a joint poke at two rises, and the screen."""
    if not like_a_score or not proof.rises or proof.added < proof.rises:
        return "unproved"
    filmed = 3 * proof.film >= proof.shown
    read = 2 * proof.read >= proof.rises
    if cells >= 2 and proof.rises >= 2 and read and filmed:
        return "proved"
    return "likely" if filmed or (cells >= 3 and read) else "unproved"


def rank(found: list[Candidate]) -> list[Candidate]:
    """Order candidates by grade and weight; only one number can be the score."""
    order = {"proved": 0, "likely": 1, "unproved": 2}
    found = sorted(found, key=lambda c: (order[c.grade], -c.weight))
    first: dict[frozenset[int], Candidate] = {}
    for candidate in found:  # one number drawn twice is one candidate
        first.setdefault(frozenset(candidate.offsets), candidate)
    found = list(first.values())
    for candidate in found[1:]:
        if candidate.grade == "proved":
            candidate.grade = "likely"
            candidate.evidence["grade"] = "likely"
            candidate.evidence["note"] = "another counter on the screen is proved and weighs more"
    return found


def known_rises(recording: Recording, candidate: Candidate) -> dict[str, int]:
    """Return how often the score rose in each way of playing, by the style's name."""
    series, start = values_of(recording, candidate.variable, candidate.offsets)
    out: dict[str, int] = {}
    for style, row in zip(recording.styles, series, strict=True):
        rises = int((row[1:] > row[:-1]).sum()) + int(row[0] > start)
        out[style] = out.get(style, 0) + rises
    return out
