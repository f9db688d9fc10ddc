"""The score: from a recording to ranked, graded candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core import Span
from ..values import Variable
from .candidates import (
    Candidate,
    alone,
    behaviour,
    by_behaviour,
    describe,
    goes_on,
    pack,
    place,
    values_of,
)
from .chains import Chain, Digit, chains, goes_on_left, half_read, parts, right_of, to_variable
from .copies import find_copies
from .drawn import drawn_digits
from .film import film
from .grade import MANY, answers_presses, counts_presses, grade, own_first, rank, weight
from .poke import LATE, LOOKS, Moment, Prober
from .prove import (
    SMALL_RAM,
    Binary,
    binary_units,
    extend,
    find_binary,
    prove,
    random_bytes,
    rising_moments,
    spread,
)
from .record import Recording
from .screen import Line
from .units import Unit

Report = Callable[[str, float], None]
CALM = 0.05  # a byte that changes in more frames than this is no digit of a score
MOST_PLACES = 10  # of a score; what is longer is several numbers
MOST_CHAINS = 8  # numbers on the screen that are followed up
LONG = 3  # digits of a number that is followed up though it never moved
UNSEEN = 5  # numbers on no screen that are listed
WRITTEN = 6  # numbers written at each moment to tell copies by


def find_score(
    prober: Prober,
    spans: Sequence[Span],
    seed: int,
    report: Report,
    sieve: dict[str, int] | None = None,
    taps: Sequence[int] = (),
    still: bool = True,
) -> list[Candidate]:
    """Find the numbers on the screen that RAM holds and rank those that behave like a score.

    Args:
        prober: The prober of a recording.
        spans: The core's selected regions.
        seed: Of the random numbers the proof writes.
        report: Called with what is being done and the share that is finished.
        sieve: Filled with how many bytes were left after each stage, for a person to read.
        taps: RetroPad masks of the buttons, to tell counters of presses by.
        still: Where nothing is proved, look for numbers that never moved too.

    Returns:
        Numbers on the screen, the best first; at most one is ``proved``. What only behaves like a
        score, on no screen, is ``unproved``; where nothing does, so are the bytes that are added
        to.
    """
    recording = prober.recording
    changes = recording.changes()
    calm = recording.offsets[(changes > 0) & (changes <= CALM)].tolist()
    adders = prober.accumulators(calm, lambda share: report("poking what changes", share))
    drawn, found = _on_screen(prober, spans, adders, seed, report, taps)
    if adders and len(recording.initial) > SMALL_RAM and not _any_told(found):
        # Soon after the event nothing is pressed: points that go on coming outrun the picture.
        prober.looks, prober.pressed = LATE, LOOKS[-1]
        late = _on_screen(prober, spans, adders, seed, report, taps)
        if _any_told(late[1]) or len(late[0].digits) > len(drawn.digits):
            drawn, found = late
        else:
            prober.looks, prober.pressed = LOOKS, None
    if sieve is not None:
        units = {digit.unit.offset for digit in drawn.digits}
        sieve |= {
            "all": len(recording.initial), "changed": int((changes > 0).sum()), "calm": len(calm),
            "added": len(adders), "visible": len(drawn.visible), "digits": len(units),
        }  # fmt: skip
    if still and all(candidate.grade != "proved" for candidate in found):
        report("looking for digits all over the screen", 1.0)
        for chain in chains(drawn_digits(prober))[:MOST_CHAINS]:
            if len(chain.digits) >= LONG:
                line_digits = [chain.digits[power] for power in sorted(chain.digits)]
                found += _candidates(prober, spans, line_digits, None, seed, taps)
    known = {offset for candidate in found for offset in candidate.offsets}
    rest = [offset for offset in adders if offset not in known]
    listed = [*found, *by_behaviour(recording, spans, rest, UNSEEN)]
    ranked = own_first(prober, rank(listed or alone(recording, spans, rest, UNSEEN)))
    for candidate in ranked:
        if candidate.grade == "proved":
            _name_copies(prober, spans, candidate, seed)
    return ranked


def _any_told(found: list[Candidate]) -> bool:
    """Tell whether any number of several digits is more than unproved."""
    return any(c.grade != "unproved" and c.evidence["screen"]["cells"] > 1 for c in found)


def _name_copies(prober: Prober, spans: Sequence[Span], candidate: Candidate, seed: int) -> None:
    """Say in a number's evidence which bytes are its copies: they hold it, and are no source."""
    packed, _ = pack(candidate.variable)
    rng, offsets, pokes = np.random.default_rng(seed), candidate.offsets, {}
    for moment in rising_moments(prober.recording, candidate.variable, offsets):
        before = prober.bytes_at(moment, offsets)
        pokes[moment] = [random_bytes(packed, before, rng, whole=True) for _ in range(WRITTEN)]
    if copies := find_copies(prober, offsets, pokes):
        candidate.evidence["copies"] = [copy.told(spans) for copy in copies]


def _is_long(candidate: Candidate) -> bool:
    """Tell a proved number of many digits: single digits beside it are not followed up."""
    return candidate.grade == "proved" and candidate.evidence["screen"]["cells"] >= MANY


class _Drawn(NamedTuple):
    """The cells that adding bytes draw, and when each byte drew anything at all."""

    digits: list[Digit]
    visible: dict[int, Moment]


def _on_screen(
    prober: Prober,
    spans: Sequence[Span],
    adders: dict[int, list[Moment]],
    seed: int,
    report: Report,
    taps: Sequence[int],
) -> tuple[_Drawn, list[Candidate]]:
    """Return what the adding bytes draw, and the numbers on the screen that this leads to."""
    drawn = _digits(prober, adders, report)
    found: list[Candidate] = []
    for number, (digits, binary) in enumerate(_numbers(prober, *drawn)[:MOST_CHAINS]):
        report("proving what is on the screen", number / MOST_CHAINS)
        if binary is None and len(digits) == 1 and any(_is_long(c) for c in found):
            continue
        found += _candidates(prober, spans, digits, binary, seed, taps)
    return drawn, found


def _digits(prober: Prober, adders: dict[int, list[Moment]], report: Report) -> _Drawn:
    """Return what the adding bytes draw."""
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
    return _Drawn(out, {offset: units[0][1] for offset, units in visible.items()})


def _visible(
    prober: Prober, adders: dict[int, list[Moment]]
) -> dict[int, list[tuple[Unit, Moment]]]:
    """Return the units of each adding byte that change the picture, and when they do."""
    out: dict[int, list[tuple[Unit, Moment]]] = {}
    for turn in range(2):
        due: dict[Moment, list[Unit]] = {}
        for offset, moments in adders.items():
            if offset not in out and turn < len(moments):
                due.setdefault(moments[turn], []).extend(_units(prober.recording, offset))
        for moment in sorted(due):
            for unit in prober.touching(due[moment], moment):
                out.setdefault(unit.offset, []).append((unit, moment))
    return out


def _units(recording: Recording, offset: int) -> list[Unit]:
    """Return the digits that a byte may hold, by the values it had."""
    values = np.unique(recording.series(offset))
    eighths = not (values % 8).any() and (values % 16).any()  # sixteenths are tens in packed BCD
    if len(values) >= 3 and eighths and int((values > 72).sum()) <= 1:
        return [Unit(offset, "eighth")]
    base = _digit_base(recording, offset)
    units = [Unit(offset, "low"), Unit(offset, "high")]
    return [*units, Unit(offset, "byte", base)] if base else units


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


def _candidates(
    prober: Prober,
    spans: Sequence[Span],
    digits: list[Digit],
    binary: Binary | None,
    seed: int,
    taps: Sequence[int],
) -> list[Candidate]:
    """Return the number that some digits belong to; where it is not proved, also its parts."""
    if binary is not None:
        line, whole = _looked_around(prober, binary.line, 0, seed)
        offsets, encoding = binary_units(binary)
        region = place(offsets[0], spans)[0]
        addrs = tuple(place(offset, spans)[1] for offset in offsets)
        variable = Variable(addrs, encoding, region, 10**line.zeros)
        judged = _judged(prober, variable, offsets, line, whole, 0, seed, taps)
        return [] if judged is None else [judged]
    around = extend(prober, digits)
    lines = chains(around)
    chain, full = _longest(lines, digits), spread(prober, around)
    if full is not None:
        spaced, known = _longest(chains(full), digits), 0 if chain is None else len(chain.digits)
        if spaced is not None and not spaced.holes and len(spaced.digits) >= known:
            chain = spaced
        else:  # something drew over a digit, as a pointer to its picture does
            full = None
    if chain is None:
        return []
    ours = set(chain.units.values())
    others = [other for other in lines if ours.isdisjoint(other.units.values())]
    out: list[Candidate] = []
    for number in (chain, *parts(chain)):
        line, places = number.line, max(number.digits) + 1
        if full is not None:
            line, places = replace(line, floats=True), 0
        line, whole = _looked_around(prober, line, places, seed)
        whole = whole and not number.holes
        if max(number.digits) + line.zeros >= MOST_PLACES:
            continue
        seen = {u.offset: prober.recording.series(u.offset) for u in number.units.values()}
        cells = len(number.digits)
        for halves in (False, True) if half_read(number) else (False,):
            variable, offsets = to_variable(number.units, seen, spans, line.zeros, halves)
            judged = _judged(prober, variable, offsets, line, whole, cells, seed, taps)
            if judged is None:
                continue
            if any(len(other.digits) == cells for other in others):
                judged.evidence["screen"]["twin"] = True
            if judged.grade == "proved":
                return [judged]
            out.append(judged)
    return out


def _judged(
    prober: Prober,
    variable: Variable,
    offsets: tuple[int, ...],
    line: Line,
    whole: bool,
    cells: int,
    seed: int,
    taps: Sequence[int],
) -> Candidate | None:
    """Prove and grade a number; ``cells`` is 0 for a binary one."""
    recording = prober.recording
    series, start = values_of(recording, variable, offsets)
    moved = behaviour(series, start)
    whole = whole and not goes_on(recording, series, offsets)
    if not cells:
        cells = max(2, len(str(moved.highest // 10**line.zeros)))
    packed, _ = pack(variable)
    moments = rising_moments(recording, variable, offsets)
    proof = prove(prober, offsets, packed, line, moments, seed)
    presses = counts_presses(prober, moved, offsets, taps, seed)
    if cells < MANY and not presses:
        presses = answers_presses(prober, offsets, moments)
    graded = grade(moved, cells, whole, presses, proof)
    if not moved.rises and not moved.falls and graded == "unproved":
        return None  # a constant
    evidence: dict[str, Any] = {
        "grade": graded,
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
    if presses:
        evidence["note"] = "it counts presses of a button"
    order = weight(moved, cells, presses, proof)
    return Candidate(variable, offsets, moved, graded, evidence, order, line)


def _looked_around(prober: Prober, line: Line, places: int, seed: int) -> tuple[Line, bool]:
    """Return the line with its drawn zeros, and whether it holds its last place and its first.

    With 0 places the number's length is its value's, and nothing is looked for before it.
    """
    views = np.array([prober.seen(moment)[1][1] for moment in film(prober, seed)])
    if not len(views):
        return line, True
    zeros, changing = right_of(line, views)
    more = places > 0 and goes_on_left(line, places, views)
    return replace(line, zeros=zeros), not changing and not more


def _longest(found: list[Chain], digits: list[Digit]) -> Chain | None:
    """Return the longest chain that holds one of the digits it grew from."""
    ours = {(d.unit.offset, d.unit.kind) for d in digits}
    for chain in found:
        if any((u.offset, u.kind) in ours for u in chain.units.values()):
            return chain
    return found[0] if found else None
