"""Proofs: which numbers on the screen are held by which bytes, and which of them is the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..values import Variable
from .candidates import values_of
from .chains import Digit, on_one_line
from .film import read_film, shown_at
from .poke import BEFORE, LOOKS, Moment, Prober
from .record import Recording
from .screen import FONT_AGREES, Cell, Line, Pictures, find_cells, same_font
from .units import Kind, Unit

NEAR = 8  # bytes around a known digit in which its neighbours are looked for
SMALL_RAM = 512  # RAM up to this size is searched whole for further digits
VALUES = 40  # consecutive values that a binary number is recognised by
FEW = 14  # of them that are tried first
MORE = 6  # frames: some games draw a number digit by digit
MOMENTS = 4  # rises at which the joint proof is made


def extend(prober: Prober, digits: Sequence[Digit]) -> list[Digit]:
    """Find the digits of a number that never moved: they redraw with those that did.

    Args:
        prober: The prober.
        digits: The digits known so far, of one line and font.

    Returns:
        Every unit near them that draws a cell of the same font on the same line at the moment of
        the first, and those that were seen to draw at other moments where these leave room.
    """
    total = len(prober.recording.initial)
    head = digits[0]
    # The line may stand elsewhere in another scene: one moment for all, if it can be had.
    out = [d for d in digits if d.moment == head.moment]
    known = {(d.unit.offset, d.unit.kind) for d in out}
    near = {d.unit.offset + step for d in digits for step in range(-NEAR, NEAR + 1)}
    offsets = range(total) if total <= SMALL_RAM else sorted(o for o in near if 0 <= o < total)
    kinds: list[tuple[Kind, int]] = [("low", 0), ("high", 0)]
    above = int(prober.recording.initial[head.unit.offset]) & 0xF0
    if head.unit.kind == "eighth":
        kinds = [("eighth", 0)]
    elif head.unit.kind == "byte":
        kinds = [("byte", head.unit.base)]
    elif head.unit.kind == "low":
        kinds.append(("byte", above))
    units = [
        Unit(offset, kind, base)
        for offset in offsets
        for kind, base in kinds
        if (offset, kind) not in known
        and prober.recording.saved[offset]
        # A blank has another upper nibble than the digits: there the whole byte must be written.
        and (kind != "byte" or int(prober.recording.initial[offset]) & 0xF0 != above)
    ]
    strip = slice(head.cell.top, head.cell.bottom)
    for unit in prober.touching(units, head.moment, strip):
        for cell in prober.draw(unit, head.moment):
            if on_one_line(cell, head.cell) and same_font(cell, head.cell) >= FONT_AGREES - 1:
                out.append(Digit(unit, cell, head.moment))
    held = {(d.unit.offset, d.unit.kind) for d in out}
    taken = [d.cell.right for d in out]
    for digit in digits:
        free = all(abs(digit.cell.right - right) > digit.cell.width // 2 for right in taken)
        if free and (digit.unit.offset, digit.unit.kind) not in held:
            out.append(digit)
    return out


def spread(prober: Prober, digits: Sequence[Digit]) -> list[Digit] | None:
    """Draw a number's digits again with all its places filled, where places seem to collide.

    A number that is centred, or begins at the left, draws a digit elsewhere for each one more.

    Returns:
        The digits at full width, or None where no two bytes drew in one place.
    """
    collide = any(
        abs(a.cell.right - b.cell.right) < min(a.cell.width, b.cell.width)
        and a.unit.offset != b.unit.offset
        and a.moment == b.moment
        for n, a in enumerate(digits)
        for b in digits[n + 1 :]
    )
    if not collide:
        return None
    filled = {d.unit.offset: d.unit.write(0x11, 1) for d in digits}
    out: list[Digit] = []
    head = digits[0]
    for digit in digits:
        for cell in prober.draw(digit.unit, head.moment, filled):
            if on_one_line(cell, head.cell) and same_font(cell, head.cell) >= FONT_AGREES - 1:
                out.append(Digit(digit.unit, cell, head.moment))
    return out


@dataclass(frozen=True, eq=False)
class Binary:
    """A number that the game turns into decimal itself.

    Attributes:
        weights: Offset → what one of this byte is worth on the screen.
        line: How to read it on the screen.
        moment: When it was found.
    """

    weights: dict[int, int]
    line: Line
    moment: Moment


def find_binary(prober: Prober, offset: int, moment: Moment) -> Binary | None:
    """Tell whether a byte is the low part of a binary or base-100 number on the screen.

    `VALUES` consecutive values must repeat the ten glyphs of the last place every ten, and the
    place before must count their turns.
    """
    # Low enough that neither 256 nor the 100 of a base-100 byte is reached.
    start = min(int(prober.bytes_at(moment, [offset])[0]), 20)
    for values in (FEW, VALUES):  # a few first: most bytes are none
        pokes = [[start + n] for n in range(values)]
        ram, pictures = prober.after(moment, pokes, [offset], kept=[offset])
        found = []
        for look in (1, 2, 0):
            ends = ram[:, look, 0].astype(np.int64)
            steps = ends[1:] - ends[:-1]
            if not np.isin(steps, (1, -255, -99)).all():  # a wrap is a carry: the number goes on
                continue
            views = pictures[:, look]
            same = np.all([views[n] == views[n + 10] for n in range(values - 10)], axis=0)
            periodic = np.where(same[None], views[:10], views[:1])
            found += [(look, cell) for cell in find_cells(periodic, list(range(10)))]
        if not found:
            return None
    for look, cell in found:
        line = _line_by_carry(cell, pictures[:, look])
        weights = _weights(prober, moment, offset, line, look) if line is not None else {}
        if line is not None and weights:
            return Binary(weights, line, moment)
    return None


def _line_by_carry(cell: Cell, views: Pictures) -> Line | None:
    """Return the line whose number counts on by one from picture to picture.

    Args:
        cell: The last place; its glyphs are labelled by the number of the picture.
        views: uint16 [values, height, width].
    """
    left = max(0, cell.left - 4 * cell.width)
    strip = views[:, cell.top : cell.bottom, left : cell.left]
    changed = (strip[1:] != strip[:-1]).any(axis=(1, 2))
    turns = {(int(n) + 1) % 10 for n in np.flatnonzero(changed)}
    if len(turns) != 1:  # the place before must change once in ten
        return None
    turn = turns.pop()
    glyphs = {(n - turn) % 10: glyph for n, glyph in cell.glyphs.items()}
    cell = replace(cell, glyphs=glyphs)
    for pitch in sorted(range(cell.width, 3 * cell.width), key=lambda p: abs(p - cell.width - 2)):
        line = Line(cell, pitch)
        first = line.read(views[0])
        if first is not None and all(
            line.read(view) == first + n for n, view in enumerate(views) if n
        ):
            return line
    return None


def _weights(prober: Prober, moment: Moment, offset: int, line: Line, look: int) -> dict[int, int]:
    """Return what each byte around a binary number's low byte adds to the number on the screen."""
    total = len(prober.recording.initial)
    saved = prober.recording.saved
    offsets = [o for o in range(offset - 4, offset + 5) if 0 <= o < total and saved[o]]
    before = prober.bytes_at(moment, offsets).astype(np.int64)
    rows = np.full((1 + 2 * len(offsets), len(offsets)), -1, np.int64)
    for n, byte in enumerate(before):
        low = 0 if byte > 250 else int(byte)
        rows[1 + 2 * n, n], rows[2 + 2 * n, n] = low + 1, low + 2
    _, pictures = prober.after(moment, rows, offsets)
    read = [line.read(view) for view in pictures[:, look]]
    weights: dict[int, int] = {}
    for n, at in enumerate(offsets):
        one, two = read[1 + 2 * n], read[2 + 2 * n]
        if one is not None and two is not None and two > one and (two - one) in WORTH:
            weights[at] = two - one
    if weights.get(offset) != 1 or len(set(weights.values())) < len(weights):
        return {}
    for worth in (256, 100):
        chain = {o: w for o, w in weights.items() if w in (1, worth, worth**2, worth**3)}
        if len(chain) > 1:
            return chain
    return {offset: 1}


WORTH = (1, 100, 10_000, 256, 65_536, 16_777_216)


def binary_units(binary: Binary) -> tuple[tuple[int, ...], str]:
    """Return the offsets, most significant first, and the encoding of a binary number."""
    ordered = sorted(binary.weights, key=lambda offset: -binary.weights[offset])
    hundred = any(weight in (100, 10_000) for weight in binary.weights.values())
    return tuple(ordered), "base100" if hundred else "uint"


@dataclass(frozen=True, slots=True)
class Proof:
    """What the joint pokes and the film said.

    Attributes:
        added: Rises at which every poked digit was kept and the points were added.
        rises: Rises at which the joint poke was made.
        legible: Of those, how often the screen then showed a number.
        read: How often it was the right one.
        shown: Moments of the recording whose picture shows a number there.
        film: How often it was the one that RAM holds.
    """

    added: int
    rises: int
    legible: int
    read: int
    film: int
    shown: int


def prove(
    prober: Prober,
    offsets: Sequence[int],
    packed: Variable,
    line: Line,
    moments: Sequence[Moment],
    seed: int,
) -> Proof:
    """Write a random number before recorded rises; it must come back plus the points, on screen.

    Args:
        prober: The prober.
        offsets: The candidate's bytes in the selected regions, in the order of ``packed``.
        packed: The candidate with its bytes at 0, 1, 2, … (see candidates.pack).
        line: How to read the number on the screen.
        moments: Moments just before recorded rises.
        seed: Of the random numbers.
    """
    rng = np.random.default_rng(seed)
    scale = 10**line.zeros
    added = rises = legible = read = 0
    looks = (*prober.looks, prober.looks[-1] + MORE)
    prober.witness.begin()

    def number(row: np.ndarray) -> int:
        return int(packed.decode({packed.region: row.astype(np.uint8)}))

    seen = [_digits_seen(prober.recording, offset) for offset in offsets]
    for moment in moments:
        before = prober.bytes_at(moment, offsets)
        was = number(before)
        poke = random_bytes(packed, before, rng)
        # Some games add and carry right only for digits that their own points can leave.
        for row in (poke, random_bytes(packed, before, rng, seen)):
            rows = [[-1] * len(offsets), row]
            ram, pictures = prober.after(moment, rows, offsets, looks, kept=offsets, proof=True)
            plain, held = ([number(view) for view in branch] for branch in ram)
            written = number(np.array(row, np.uint8))
            good = [
                look
                for look in range(len(looks))
                if plain[look] != was
                # Places right of the line are not seen; a forgotten carry bit can sit there.
                and held[look] // scale - written // scale == plain[look] // scale - was // scale
            ]
            if good:
                break
        if plain == [was] * len(plain):
            continue
        rises += 1
        if not good:
            continue
        added += 1
        look = shown_at(line, pictures[1], held, scale)
        read += look >= 0
        legible += look >= 0 or any(line.read(view) is not None for view in pictures[1])
        prober.witness.shows(
            "added",
            before=was,
            written=written,
            points=plain[good[0]] - was,
            settled=good[0],
            unit=scale,
            look=look,
            shown=held[look],
        )
    film, shown = read_film(prober, packed, offsets, line, scale, seed)
    prober.witness.proves(line)
    return Proof(added, rises, legible, read, film, shown)


def _digits_seen(recording: Recording, offset: int) -> tuple[list[int], list[int]]:
    """Return the decimal digits that a byte's low and high nibble had in the recording."""
    values = np.unique(recording.series(offset)).astype(int)
    low, high = np.unique(values & 15), np.unique(values >> 4)
    return low[low <= 9].tolist(), high[high <= 9].tolist()


def random_bytes(
    packed: Variable,
    before: np.ndarray,
    rng: np.random.Generator,
    seen: Sequence[tuple[list[int], list[int]]] = (),
    *,
    whole: bool = False,
) -> list[int]:
    """Return bytes of another legal number, digit for digit unlike the old one where possible.

    With ``seen``, digits that moved, and those of the last byte, take only values that they had.
    The first digit of packed decimal stays 0 unless ``whole``: it may be drawn nowhere.
    """
    out = []
    for part in packed.parts:
        for position, addr in enumerate(part.addrs):
            old = int(before[addr])
            high = int(rng.integers(1, 5))
            low = int(rng.integers(1, 6))
            if seen and not part.shift:
                lows, highs = seen[addr]
                few = 1 if addr == len(seen) - 1 else 2  # the last place may always be 0
                low = int(rng.choice(lows)) if len(lows) >= few else low
                high = int(rng.choice(highs)) if len(highs) >= few else high
            if part.encoding == "bcd":
                out.append((high if whole or position or len(part.addrs) == 1 else 0) << 4 | low)
            elif part.encoding == "digits":
                out.append(part.base + low << part.shift)
            elif part.encoding == "nibbles_low":
                out.append(old & 0xF0 | low)
            elif part.encoding == "nibbles_high":
                out.append(old & 0x0F | low << 4)
            elif position == 0 and len(part.addrs) > 1:
                out.append(low)  # a large top byte could pass the digits on the screen
            else:
                out.append(int(rng.integers(11, 90)))
    return out


def rising_moments(
    recording: Recording, variable: Variable, offsets: Sequence[int], most: int = MOMENTS
) -> list[Moment]:
    """Return moments just before the number's recorded rises, spread over the recording."""
    series, start = values_of(recording, variable, offsets)
    full = np.concatenate([np.full((len(series), 1), start, np.int64), series], axis=1)
    steps = np.diff(full, axis=1)
    good = steps > 0 if (steps > 0).any() else steps != 0
    good[:, :8] = good[:, -12:] = False
    frames = np.arange(good.shape[1])
    good &= frames < recording.ends[:, None] - LOOKS[-1]  # what follows must still be play
    for back in range(1, BEFORE + 1):  # one rise at a time
        good[:, back:] &= steps[:, :-back] == 0
    all_moments = [Moment(int(e), int(i) - BEFORE) for e, i in zip(*np.nonzero(good), strict=True)]
    if len(all_moments) == 1:
        return all_moments * 2  # one rise is proved by two different numbers
    if len(all_moments) <= most:
        return all_moments
    return [all_moments[i] for i in np.linspace(0, len(all_moments) - 1, most).astype(int)]
