"""Narrowing, as in a cheat search: which bytes, read how, fit what a person saw on the screen.

Filters are kept as a list and applied through each lens (see `lens`) by itself, so another type
recomputes and loses nothing, and a filter never adds a hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..errors import UserError
from ..values import DECODERS, Variable
from .candidates import place
from .lens import TOP_BASE, Lens, every_lens, number

Bytes = NDArray[np.uint8]
Kind = Literal["equal", "rose", "fell", "changed", "same"]
MANY = 1 << 14  # hits of a lens that are not kept, but found anew, because of the memory they take


@dataclass(frozen=True)
class Filter:
    """What a person saw.

    Attributes:
        kind: ``equal`` to the number on the screen, or what became of it since the snapshot before.
        at: The snapshot, from 0; one with another before it unless ``equal``.
        amount: The number on the screen, or how much ``rose`` and ``fell`` are worth there, > 0.
    """

    kind: Kind
    at: int
    amount: int | None = None

    @classmethod
    def parse(cls, words: Sequence[str], last: int) -> Filter:
        """Return the filter of ``equal 430``, ``rose``, ``rose 50 #3``; snapshots count from 1.

        Args:
            words: The kind, then perhaps an amount and a snapshot.
            last: The snapshot that is meant where none is named.

        Raises:
            UserError: A word has no meaning here.
        """
        kind, *rest = words
        amount, at = None, last
        for word in rest:
            if word.startswith("#"):
                at = number(word[1:])
            elif amount is None and kind in ("equal", "rose", "fell"):
                amount = number(word)
            else:
                raise UserError(f"{word!r} after {kind}", "a snapshot such as #3, or nothing")
        if kind == "equal" and amount is None:
            raise UserError("equal without a number", "the number on the screen")
        if kind != "equal" and amount is not None and amount <= 0:
            raise UserError(f"{kind} {amount}", "by how much, from 1 up")
        return cls(kind, at - 1, amount)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """Return the words that `parse` reads."""
        amount = "" if self.amount is None else f" {self.amount}"
        return f"{self.kind}{amount} #{self.at + 1}"


class Choice(NamedTuple):
    """A scale that fits a hit, and the lowest and highest base that fit with it."""

    scale: int
    low: int
    high: int


class Reading(NamedTuple):
    """One hit.

    Attributes:
        lens: How the bytes are read.
        offsets: The bytes, most significant first.
        choices: What fits, by ascending scale.
        also: Other encodings that read the same bytes and fit too.
    """

    lens: Lens
    offsets: tuple[int, ...]
    choices: tuple[Choice, ...]
    also: tuple[str, ...] = ()

    def variables(self, spans: Sequence[Span]) -> list[Variable]:
        """Return it as a variable for each choice, with the roundest base."""
        region = place(self.offsets[0], spans)[0]
        addrs = tuple(place(offset, spans)[1] for offset in self.offsets)
        out = []
        for scale, low, high in self.choices:
            base = high & 0xF0 if high & 0xF0 >= low else low
            blank = self.lens.blank
            out.append(
                Variable(addrs, self.lens.encoding, region, scale=scale, base=base, blank=blank)
            )
        return out


@dataclass
class Hits:
    """What one lens sees.

    Attributes:
        lens: The lens.
        starts: int32 [hits]: see `Lens.offsets`.
        low, high: uint8 [scales, hits]: the bases that fit, per scale; none where low > high.
    """

    lens: Lens
    starts: NDArray[np.int32]
    low: Bytes = field(repr=False)
    high: Bytes = field(repr=False)

    @classmethod
    def all(cls, lens: Lens, spans: tuple[Span, ...], among: NDArray[np.bool_] | None) -> Hits:
        """Return every place; with *among*, bool [bytes], only what has one of these bytes."""
        starts = lens.starts(spans)
        if among is not None:
            starts = starts[among[lens.offsets(starts, spans)].any(axis=1)]
        shape = (len(lens.scales), len(starts))
        low, high = (0, TOP_BASE) if lens.base is None else (lens.base, lens.base)
        return cls(lens, starts, np.full(shape, low, np.uint8), np.full(shape, high, np.uint8))

    def readings(self, spans: tuple[Span, ...]) -> Iterator[Reading]:
        """Yield the hits, in the order of their places."""
        offsets = self.lens.offsets(self.starts, spans)
        for at in range(len(self.starts)):
            bounds = zip(self.lens.scales, self.low[:, at], self.high[:, at], strict=True)
            choices = [Choice(scale, int(low), int(high)) for scale, low, high in bounds]
            fitting = tuple(choice for choice in choices if choice.low <= choice.high)
            yield Reading(self.lens, tuple(offsets[at].tolist()), fitting)

    def narrowed(self, spans: tuple[Span, ...], rows: Sequence[Bytes], by: Filter) -> Hits:
        """Return those of the hits that fit a filter; both snapshots must hold legal digits."""
        lens, starts, low, high = self.lens, self.starts, self.low, self.high
        at = lens.offsets(starts, spans)
        seen = [row[at] for row in rows[by.at - (by.kind != "equal") : by.at + 1]]
        if by.kind in ("rose", "fell", "changed"):  # few bytes move: the rest is not decoded
            moved = np.flatnonzero((seen[0] != seen[1]).any(axis=1))
            seen = [data[moved] for data in seen]
            starts, low, high = starts[moved], low[:, moved], high[:, moved]
        if lens.base is None:
            together = np.concatenate(seen, axis=1)
            low = np.maximum(low, np.maximum(together.max(axis=1), 9) - 9)
            high = np.minimum(high, together.min(axis=1))
        else:
            decoder = DECODERS[lens.encoding]
            legal = np.all([decoder.valid(data, lens.base, lens.blank) for data in seen], axis=0)
            high = np.where(legal, high, 0)
            low = np.where(legal, low, 1)
        values = [DECODERS[lens.encoding].decode(data, lens.base or 0, lens.blank) for data in seen]
        bounds = [_fitting(lens, by, values, scale) for scale in lens.scales]
        low = np.maximum(low, np.stack([bound[0] for bound in bounds]))
        high = np.minimum(high, np.stack([bound[1] for bound in bounds]))
        keep = (low <= high).any(axis=0)
        return Hits(lens, starts[keep], low[:, keep], high[:, keep])


def _fitting(
    lens: Lens, by: Filter, values: list[NDArray[np.int64]], scale: int
) -> tuple[Bytes, Bytes]:
    """Return the lowest and highest base that fit a filter, uint8 [hits] each; 255 and 0 for none.

    Args:
        lens: The lens; where its base is None the values were decoded with base 0.
        by: The filter.
        values: int64 [hits] in the filter's snapshots, as stored.
        scale: What the screen shows per point stored.
    """
    amount, rest = divmod(by.amount or 0, scale)
    if by.kind == "equal":
        over = values[0] - amount
        if lens.base is None:  # a base is worth one in every digit: 111111 for six
            base, off = np.divmod(over, (10**lens.width - 1) // 9)
            fits = (off == 0) & (base >= 0) & (base <= TOP_BASE) & (rest == 0)
            return _bytes(fits, base, 255), _bytes(fits, base, 0)
        fits = over == 0
    else:
        moved = values[1] - values[0]
        if by.amount is not None:
            fits = moved == (amount if by.kind == "rose" else -amount)
        else:
            ways = {"rose": moved > 0, "fell": moved < 0, "same": moved == 0, "changed": moved != 0}
            fits = ways[by.kind]
    fits = fits & (rest == 0)
    return _bytes(fits, 0, 255), _bytes(fits, 255, 0)


def _bytes(choose: NDArray[np.bool_], one: NDArray[np.int64] | int, other: int) -> Bytes:
    return np.where(choose, one, other).astype(np.uint8)


@dataclass(frozen=True)
class Narrowing:
    """A cheat search: snapshots, what was seen in them, and the types looked through.

    It is never changed: what adds to it returns another one, so that undo is to go back to an
    earlier one.

    Attributes:
        spans: The regions.
        rows: The snapshots, uint8 [bytes] each.
        filters: In the order they were given, which does not matter.
        lenses: The types.
        among: bool [bytes]: only numbers that have one of these bytes; None for all.
    """

    spans: tuple[Span, ...]
    rows: tuple[Bytes, ...] = ()
    filters: tuple[Filter, ...] = ()
    lenses: tuple[Lens, ...] = field(default_factory=every_lens)
    among: NDArray[np.bool_] | None = None
    _known: dict[Lens, Hits] = field(default_factory=dict, repr=False)

    def snap(self, row: Bytes) -> Narrowing:
        """Return it with another snapshot, uint8 [bytes]."""
        return replace(self, rows=(*self.rows, row))

    def by(self, filter: Filter) -> Narrowing:
        """Return it with another filter.

        Raises:
            UserError: It speaks of a snapshot that there is not.
        """
        first = 0 if filter.kind == "equal" else 1
        if not first <= filter.at < len(self.rows):
            raise UserError(
                f"{filter.kind} at snapshot {filter.at + 1} of {len(self.rows)}",
                "a snapshot" + " with one before it" * first,
                "Take one with: snap",
            )
        hits = (self._of(lens).narrowed(self.spans, self.rows, filter) for lens in self.lenses)
        known = {found.lens: found for found in hits if len(found.starts) <= MANY}
        return replace(self, filters=(*self.filters, filter), _known=known)

    def through(self, lenses: Iterable[Lens]) -> Narrowing:
        """Return it with other types; all filters are applied anew."""
        return replace(self, lenses=tuple(lenses))

    def cleared(self) -> Narrowing:
        """Return it without filters; the snapshots stay."""
        return replace(self, filters=(), _known={})

    def _of(self, lens: Lens) -> Hits:
        if (known := self._known.get(lens)) is not None:
            return known
        hits = Hits.all(lens, self.spans, self.among)
        for one in sorted(self.filters, key=lambda f: f.kind != "equal"):  # the strictest first
            hits = hits.narrowed(self.spans, self.rows, one)
        if len(hits.starts) <= MANY:
            self._known[lens] = hits
        return hits

    def look(self, most: int, *, alone: bool = True) -> tuple[int, list[Reading]]:
        """Return the number of hits, and at most *most* of them, the likeliest first.

        The number counts places under each lens.

        Args:
            most: Of the list.
            alone: The same bytes stand once in it, with the other encodings beside them.
        """
        count = 0
        out: dict[tuple[object, ...], Reading] = {}
        for lens in self.lenses:
            hits = self._of(lens)
            count += len(hits.starts)
            for reading in hits.readings(self.spans):
                key = reading.offsets if alone else (reading.offsets, lens)
                first = out.get(key)
                if first is not None:
                    also = dict.fromkeys([*first.also, lens.encoding])
                    also.pop(first.lens.encoding, None)
                    out[key] = first._replace(also=tuple(also))
                elif len(out) < most:
                    out[key] = reading
                else:
                    break
        return count, list(out.values())
