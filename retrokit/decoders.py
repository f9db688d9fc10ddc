"""The ways in which games write a number into bytes; import them from ``retrokit.values``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import UserError

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Blank = int | Sequence[int] | None
LIMIT = 2**62  # any sum of two values below it fits int64


@dataclass(frozen=True)
class Decoder:
    """One way of writing a number into bytes.

    Every byte holds one or two *digit codes*. A code's digit is ``code - base``; a code that is
    ``blank`` (how a game hides a leading zero) counts as 0. Where a code is no legal digit the
    arithmetic still goes on, so ``decode`` never fails; ``valid`` tells.

    Attributes:
        name: Its key in ``DECODERS``.
        radix: What one digit is worth to the next: 10, 100 or 256.
        codes: ``(shift, mask)`` of each digit code in a byte, most significant first.
        based: Whether a ``base`` other than 0 makes sense.
        signed: Two's complement over all bytes.
    """

    name: str
    radix: int
    codes: tuple[tuple[int, int], ...] = ((0, 0xFF),)
    based: bool = False
    signed: bool = False

    @property
    def digits_per_byte(self) -> int:
        """Decimal digits that a byte shows: 2, 1, or 0 for the binary encodings."""
        return len(self.codes) * {10: 1, 100: 2}.get(self.radix, 0)

    @property
    def step(self) -> int:
        """What a byte is worth to the next: 100, 10 or 256."""
        return int(self.radix ** len(self.codes))

    @property
    def bits(self) -> int:
        """The bits of a byte that its codes lie in: 0x0F for ``nibbles_low``."""
        return sum(mask << shift for shift, mask in self.codes)

    def capacity(self, n: int) -> int:
        """Return the largest value of *n* bytes plus one: where a counter wraps."""
        return int(self.step**n) // (2 if self.signed else 1)

    def bound(self, n: int) -> int:
        """Return the largest magnitude that ``decode`` can give for *n* bytes, legal or not."""
        worst = 255 if len(self.codes) == 1 else 165
        return worst * (int(self.step**n) - 1) // (self.step - 1)

    def decode(self, data: ArrayLike, base: int = 0, blank: Blank = None) -> Numbers:
        """Decode bytes.

        Args:
            data: uint8[..., n], most significant byte first.
            base: The code that draws 0.
            blank: The code, or codes, of a blanked leading zero (a nibble for the BCD forms).

        Returns:
            int64[...].

        Raises:
            UserError: *n* is 0 or too wide for int64.
        """
        data = np.asarray(data)
        n = self._width(data)
        table = _table(self, base, as_blanks(blank))[0]
        total = table[data[..., 0]]
        for place in range(1, n):
            total = total * self.step + table[data[..., place]]
        if self.signed:
            total = total - (total >= self.capacity(n)) * 256**n
        return np.asarray(total, np.int64)

    def valid(self, data: ArrayLike, base: int = 0, blank: Blank = None) -> Flags:
        """Tell which byte patterns are legal: every code a digit, blanks before the first digit.

        Args:
            data: uint8[..., n], most significant byte first.
            base: As for ``decode``.
            blank: As for ``decode``.

        Returns:
            bool[...].
        """
        data = np.asarray(data)
        n = self._width(data)
        _, legal, has_blank, has_digit = _table(self, base, as_blanks(blank))
        good = legal[data[..., 0]]
        digit_seen = has_digit[data[..., 0]]
        for place in range(1, n):
            byte = data[..., place]
            good = good & legal[byte] & ~(digit_seen & has_blank[byte])
            digit_seen = digit_seen | has_digit[byte]
        return np.asarray(good, np.bool_)

    def encode(self, value: int, n: int, base: int = 0, blank: Blank = None) -> bytes:
        """Write a number into *n* bytes, most significant first; leading zeros become *blank*.

        Raises:
            UserError: It does not fit.
        """
        low, high = (-self.capacity(n) if self.signed else 0), self.capacity(n) - 1
        if not low <= value <= high:
            raise UserError(f"{value} does not fit {n} bytes of {self.name}", f"{low} to {high}")
        blanks = as_blanks(blank)
        rest = value % 256**n if self.signed else value
        count = n * len(self.codes)
        out = bytearray(n)
        for place in reversed(range(count)):
            leading = rest == 0 and place < count - 1
            rest, digit = divmod(rest, self.radix)
            code = blanks[0] if leading and blanks else (digit + base) & 0xFF
            out[place // len(self.codes)] |= code << self.codes[place % len(self.codes)][0]
        return bytes(out)

    def _width(self, data: NDArray[Any]) -> int:
        n = data.shape[-1] if data.ndim else 0
        if not n or self.bound(n) >= LIMIT:
            raise UserError(f"{n} bytes of {self.name}", "at least one, and a value below 2**62")
        return n


# A new decoder is one entry here; the parametrised tests and the search pick it up.
DECODERS: dict[str, Decoder] = {
    decoder.name: decoder
    for decoder in (
        Decoder("bcd", 10, ((4, 15), (0, 15))),  # packed: two digits a byte
        Decoder("digits", 10, based=True),  # one digit a byte, often a tile number
        Decoder("nibbles_low", 10, ((0, 15),)),  # one digit a byte, high nibble something else
        Decoder("nibbles_high", 10, ((4, 15),)),
        Decoder("base100", 100),  # a byte counts to 99
        Decoder("uint", 256),
        Decoder("int", 256, signed=True),
    )
}


def as_blanks(blank: Blank) -> tuple[int, ...]:
    """Return the blank codes as a tuple."""
    if blank is None:
        return ()
    return (int(blank),) if isinstance(blank, (int, np.integer)) else tuple(map(int, blank))


@lru_cache(maxsize=1024)
def _table(
    decoder: Decoder, base: int, blanks: tuple[int, ...]
) -> tuple[Numbers, Flags, Flags, Flags]:
    """Return, for each of the 256 bytes: its value, legal, holds a blank, holds a digit."""
    byte = np.arange(256, dtype=np.int64)
    value = np.zeros(256, np.int64)
    legal = np.ones(256, np.bool_)
    has_blank, has_digit = ~legal, ~legal
    for shift, mask in decoder.codes:
        code = byte >> shift & mask
        is_blank = np.isin(code, blanks)
        digit = np.where(is_blank, 0, code - base & 0xFF)
        value = value * decoder.radix + digit
        legal = legal & (digit < decoder.radix) & ~(is_blank & has_digit)
        has_blank = has_blank | is_blank
        has_digit = has_digit | ~is_blank
    return value, legal, has_blank, has_digit


def base_encoding(encoding: str) -> str:
    """Return the key in ``DECODERS``: ``"bcd_le"`` → ``"bcd"``.

    Raises:
        UserError: There is no such encoding.
    """
    name = encoding[:-3] if encoding.endswith(("_le", "_be")) else encoding
    if name not in DECODERS:
        raise UserError(f"unknown encoding {encoding!r}", "one of " + " ".join(DECODERS))
    return name


def encoding_name(encoding: str, addrs: Sequence[int]) -> str:
    """Return the name for a file: ``_le`` where offsets descend, ``_be`` where they ascend."""
    return base_encoding(encoding) + direction(addrs)


def direction(addrs: Sequence[int]) -> str:
    """Return ``_be`` where offsets ascend, ``_le`` where they descend, else nothing."""
    steps = {later > earlier for earlier, later in zip(addrs, addrs[1:], strict=False)}
    return "" if len(steps) != 1 else "_be" if steps.pop() else "_le"
