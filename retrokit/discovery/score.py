"""The score: from a recording to ranked, graded candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..core import Span
from ..values import Variable
from .candidates import Candidate, Grade, behaviour, describe, pack, place, values_of
from .chains import Chain, Digit, chains, drawn_zeros, to_variable
from .poke import Kind, Moment, Prober, Unit
from .prove import (
    Binary,
    Proof,
    binary_units,
    extend,
    find_binary,
    prove,
    rising_moments,
)
from .record import Recording
from .screen import Line

Report = Callable[[str, float], None]
CALM = 0.12  # a byte that changes in more frames than this is no digit of a score
MOST_CHAINS = 8  # numbers on the screen that are followed up


def find_score(prober: Prober, spans: Sequence[Span], seed: int, report: Report) -> list[Candidate]:
    """Find the numbers on the screen that RAM holds and rank those that behave like a score.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        seed: Of the random numbers the proof writes.
        report: Called with what is being done and the share that is finished.

    Returns:
        Candidates that rose in the recording, the best first; at most one is ``proved``.
    """
    recording = prober.recording
    changes = recording.changes()
    calm = [int(o) for o, share in zip(recording.offsets, changes, strict=True) if 0 < share <= CALM]
    adders = prober.accumulators(calm, lambda share: report("poking bytes before they change", share))
    digits = _digits(prober, adders, report)
    found: list[Candidate] = []
    for number, (line_digits, binary) in enumerate(_numbers(prober, digits, adders)[:MOST_CHAINS]):
        report("proving what is on the screen", number / MOST_CHAINS)
        candidate = _candidate(prober, spans, line_digits, binary, seed)
        if candidate is not None:
            found.append(candidate)
    return rank(found)


def _digits(prober: Prober, adders: dict[int, list[Moment]], report: Report) -> list[Digit]:
    """Return the cells that the nibbles and bytes which add up draw."""
    out: list[Digit] = []
    for number, (offset, moments) in enumerate(adders.items()):
        report("reading the game's digits", number / len(adders))
        base = _digit_base(prober.recording, offset)
        kinds: list[tuple[Kind, int]] = [("low", 0), ("high", 0)]
        for kind, zero in [*kinds, ("byte", base)] if base else kinds:
            unit = Unit(offset, kind, zero)
            for moment in moments:
                cells = prober.draw(unit, moment)
                out += [Digit(unit, cell, moment) for cell in cells]
                if cells:
                    break
    return out


def _digit_base(recording: Recording, offset: int) -> int:
    """Return the byte that draws 0 when a byte's values are ten neighbours across a nibble, or 0."""
    values = np.unique(recording.series(offset))
    low, high = int(values[0]), int(values[-1])
    crosses = low >> 4 != high >> 4 or (high & 15) > 9
    return low if high > 9 and high - low <= 9 and crosses else 0


def _numbers(
    prober: Prober, digits: list[Digit], adders: dict[int, list[Moment]]
) -> list[tuple[list[Digit], Binary | None]]:
    """Return the digits of each number on the screen, and its binary form where it has one."""
    out: list[tuple[list[Digit], Binary | None]] = []
    binary_at: set[int] = set()
    for digit in digits:
        offset = digit.unit.offset
        if digit.unit.kind != "low" or offset in binary_at:
            continue
        binary = find_binary(prober, offset, adders[offset][0])
        if binary is not None and not binary_at & set(binary.weights):
            binary_at |= set(binary.weights)
            out.append(([digit], binary))
    rest = [d for d in digits if d.unit.offset not in binary_at]
    for chain in chains(rest):
        out.append(([chain.digits[power] for power in sorted(chain.digits)], None))
    return sorted(out, key=lambda item: (item[1] is None, -len(item[0])))


def _candidate(
    prober: Prober,
    spans: Sequence[Span],
    digits: list[Digit],
    binary: Binary | None,
    seed: int,
) -> Candidate | None:
    recording = prober.recording
    moment = digits[0].moment
    if binary is not None:
        line, cells = binary.line, 2
        line = replace(line, zeros=_zeros(prober, line, moment))
        offsets, encoding = binary_units(binary)
        region = place(offsets[0], spans)[0]
        addrs = tuple(place(offset, spans)[1] for offset in offsets)
        variable = Variable(addrs, encoding, region, 10**line.zeros)
    else:
        chain = _longest(chains(extend(prober, digits)), digits)
        line, cells = chain.line, len(chain.digits)
        line = replace(line, zeros=_zeros(prober, line, moment))
        seen = {unit.offset: recording.series(unit.offset) for unit in chain.units.values()}
        variable, offsets = to_variable(chain.units, seen, spans, line.zeros)
    series, start = values_of(recording, variable, offsets)
    moved = behaviour(series, start)
    if not moved.rises:
        return None
    packed, _ = pack(variable)
    moments = rising_moments(recording, variable, offsets)
    proof = prove(prober, offsets, packed, line, moments, seed)
    grade = _grade(moved.like_a_score, cells, proof)
    evidence = {
        "grade": grade,
        "behaviour": describe(moved),
        "screen": {
            "cells": cells,
            "box": [line.cell.left, line.cell.top, line.cell.right, line.cell.bottom],
            "drawn_zeros": line.zeros,
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
    return Candidate(variable, offsets, moved, grade, evidence, weight)


def _zeros(prober: Prober, line: Line, moment: Moment) -> int:
    """Return the zeros drawn behind a number, at the moment of the poke and later."""
    _, pictures = prober.after(moment, [[-1]], [0])
    return drawn_zeros(line, pictures[0, 1:])


def _longest(found: list[Chain], digits: list[Digit]) -> Chain:
    """Return the longest chain that holds one of the digits it grew from."""
    ours = {(d.unit.offset, d.unit.kind) for d in digits}
    for chain in found:
        if any((u.offset, u.kind) in ours for u in chain.units.values()):
            return chain
    return found[0]


def _grade(like_a_score: bool, cells: int, proof: Proof) -> Grade:
    """Grade a number: proof takes behaviour, a joint poke at two rises, and the screen."""
    if not like_a_score or not proof.added:
        return "unproved"
    caused = proof.rises >= 2 and proof.added == proof.rises
    shown = proof.read >= 2 and 2 * proof.read >= proof.rises and 3 * proof.film >= proof.shown
    return "proved" if cells >= 2 and caused and shown else "likely"


def rank(found: list[Candidate]) -> list[Candidate]:
    """Order candidates by grade and weight; only one number can be the score."""
    order = {"proved": 0, "likely": 1, "unproved": 2}
    found = sorted(found, key=lambda c: (order[c.grade], -c.weight))
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
