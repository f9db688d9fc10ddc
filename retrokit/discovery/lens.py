"""Lenses: the types under which a cheat search looks at bytes, and where such numbers can lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..errors import UserError
from ..values import DECODERS, base_encoding
from .candidates import GROUPS, PRIOR

SCALES = (1, 10, 100, 1000)  # what the screen shows per point stored: drawn zeros
# Order → whether the least significant byte comes first, and the size of the words whose bytes the
# core keeps exchanged (16 bits: Genesis cores; 32 bits: Nintendo 64).
ORDERS = {
    "be": (False, 1),
    "le": (True, 1),
    "be16": (False, 2),
    "le16": (True, 2),
    "be32": (False, 4),
}
TOP_BASE = 246  # the highest byte that can draw 0 when ten bytes draw digits


@dataclass(frozen=True)
class Lens:
    """One way to read a number.

    Attributes:
        encoding: A key of ``DECODERS``.
        width: Bytes, 1 to 4; to 8 where a byte holds one digit.
        order: A key of ``ORDERS``: how they lie in memory.
        base: The byte that draws 0, for ``digits``; None tries all from 0 to 246.
        blank: The code of a blanked leading zero, or None; not where any base is tried.
        scales: Those of ``SCALES`` that are tried.

    Raises:
        UserError: There is no such lens.
    """

    encoding: str
    width: int = 1
    order: str = "be"
    base: int | None = 0
    blank: int | None = None
    scales: tuple[int, ...] = SCALES

    def __post_init__(self) -> None:
        """Check the fields."""
        decoder = DECODERS[base_encoding(self.encoding)]
        most = widest(self.encoding)
        if not 1 <= self.width <= most:
            raise UserError(f"{self.width} bytes of {self.encoding}", f"1 to {most}")
        if self.order not in ORDERS:
            raise UserError(f"the order {self.order}", "one of " + " ".join(ORDERS))
        if self.base != 0 and not decoder.based:
            raise UserError(f"a base with {self.encoding}", "it with digits")
        if self.base is not None and not 0 <= self.base <= TOP_BASE:
            raise UserError(f"the base {self.base}", f"0 to {TOP_BASE}")
        if self.blank is not None and (self.base is None or decoder.radix == 256):
            raise UserError("a blank here", "it with decimal digits and a base")
        if not self.scales or not set(self.scales) <= set(SCALES):
            raise UserError(f"the scale {self.scales}", "one of " + " ".join(map(str, SCALES)))

    @classmethod
    def parse(cls, words: Sequence[str]) -> Lens:
        """Return the lens of ``bcd 3 le``, ``digits 6 be base=0x30 blank=0x20``, ``uint 2 x10``.

        Without a base ``digits`` means any base; without an order the bytes ascend; without a
        width it is one byte; without a scale all are tried.

        Raises:
            UserError: A word has no meaning here.
        """
        encoding = base_encoding(words[0].lower() if words else "")
        fields: dict[str, int | str | tuple[int, ...] | None] = {}
        if DECODERS[encoding].based:
            fields["base"] = None
        for word in (word.lower() for word in words[1:]):
            name, equals, text = word.partition("=")
            if word in ORDERS:
                fields["order"] = word
            elif word.isdecimal():
                fields["width"] = int(word)
            elif word[0] == "x" and word[1:].isdecimal():
                fields["scales"] = (int(word[1:]),)
            elif equals and name in ("base", "blank"):
                fields[name] = number(text)
            else:
                wanted = f"a width, one of {' '.join(ORDERS)}, x10, base=0x30 or blank=0x20"
                raise UserError(f"{word!r} in a type", wanted)
        return cls(encoding, **fields)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """Return what `parse` reads."""
        words = [self.encoding, str(self.width)]
        if self.width > 1:
            words.append(self.order)
        if DECODERS[self.encoding].based and self.base is not None:
            words.append(f"base={self.base:#x}")
        if self.blank is not None:
            words.append(f"blank={self.blank:#x}")
        if len(self.scales) == 1:
            words.append(f"x{self.scales[0]}")
        return " ".join(words)

    def offsets(self, starts: NDArray[np.int32], spans: tuple[Span, ...]) -> NDArray[np.int32]:
        """Return a number's bytes at each start, int32 [starts, width], most significant first.

        Args:
            starts: int32 [starts]: the lowest byte, before words are exchanged.
            spans: The regions that offsets count in.
        """
        little, word = ORDERS[self.order]
        steps = np.arange(self.width, dtype=np.int32)
        places = starts[:, None] + (steps[::-1] if little else steps)
        return np.asarray(_exchanged(spans, word)[places], np.int32)

    def starts(self, spans: tuple[Span, ...]) -> NDArray[np.int32]:
        """Return where a number can start, int32: within one region, in whole words."""
        word = ORDERS[self.order][1]
        return np.concatenate(
            [
                np.arange(s.start, s.start + s.size // word * word - self.width + 1, dtype=np.int32)
                for s in spans
            ]
        )


def widest(encoding: str) -> int:
    """Return the most bytes that a number of an encoding has here."""
    return 8 if DECODERS[encoding].digits_per_byte == 1 else 4


def number(text: str) -> int:
    """Return a number a person typed, decimal or ``0x`` hex.

    Raises:
        UserError: It is none.
    """
    try:
        return int(text, 16 if text.lower().lstrip("-").startswith("0x") else 10)
    except ValueError:
        raise UserError(f"{text!r}", "a number, decimal or 0x hex") from None


@lru_cache(maxsize=1)
def every_lens() -> tuple[Lens, ...]:
    """Return all lenses, the likeliest first; ``digits`` of any base."""
    usual = {group: rank for rank, group in enumerate(GROUPS)}
    lenses = [
        Lens(name, width, order, None if decoder.based else 0)
        for name, decoder in DECODERS.items()
        for width in range(1, widest(name) + 1)
        for order in (ORDERS if width > 1 else ("be",))
    ]
    orders = list(ORDERS)

    def rank(lens: Lens) -> tuple[int, int, float]:
        group = usual.get((lens.encoding, lens.width), len(usual))
        return orders.index(lens.order) // 2, group, -PRIOR.get(lens.encoding, 0.0)

    return tuple(sorted(lenses, key=rank))


@lru_cache(maxsize=8)
def _exchanged(spans: tuple[Span, ...], word: int) -> NDArray[np.int32]:
    """Return where each byte really lies when the bytes of words are exchanged, int32 [bytes]."""
    parts = [np.arange(s.size // word * word, dtype=np.int32) ^ (word - 1) for s in spans]
    out = np.zeros(sum(s.size for s in spans), np.int32)
    for span, part in zip(spans, parts, strict=True):
        out[span.start : span.start + len(part)] = span.start + part
    return out
