"""RAM bytes ↔ numbers, both ways: the one decoder that search, verify and env share.

A number lies in a list of byte offsets, **most significant first**; the list order is all that
counts, so reversed, word-swapped and scattered layouts need no case of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .decoders import (
    DECODERS,
    LIMIT,
    Decoder,
    Numbers,
    as_blanks,
    base_encoding,
    direction,
    encoding_name,
)
from .errors import UserError

__all__ = ["DECODERS", "Decoder", "Variable", "VariableError", "base_encoding", "encoding_name"]
SYSTEM_RAM = "SYSTEM_RAM"


@lru_cache(maxsize=1024)
def _lookup(
    encoding: str, base: int, blanks: tuple[int, ...], mask: int, shift: int
) -> tuple[Numbers, list[int]]:
    """Return the value of each of the 256 bytes, mask and shift included, as array and list."""
    byte = (np.arange(256, dtype=np.uint8) & np.uint8(mask)) >> np.uint8(shift)
    values = DECODERS["uint" if encoding == "int" else encoding].decode(byte[:, None], base, blanks)
    return values, values.tolist()


class VariableError(UserError):
    """A variable whose fields contradict each other; ``field`` names the one to mend."""

    def __init__(self, field: str, found: str, wanted: str) -> None:
        """Keep the field beside what was found and wanted."""
        super().__init__(found, wanted)
        self.args = (field, found, wanted)  # so that it survives pickling
        self.field = field


class Part(NamedTuple):
    """Bytes that are decoded together, as a machine without a decoder of its own needs them.

    ``offset + scale × map(sign(Σ table[byte] × step**place))``.
    """

    region: str
    addrs: tuple[int, ...]
    table: Numbers  # int64 [256]: what each byte is worth
    step: int
    sign_bits: int
    map: Mapping[int, int]
    default: int | None
    scale: int
    offset: int


@dataclass(frozen=True)
class Variable:
    """One number of a game: where its bytes lie and how they are read.

    ``value = offset + scale × (own + Σ terms)``, where *own* comes from each byte by
    ``(byte & mask) >> shift``, then the decoder, then the sign, then ``map``.

    Attributes:
        addrs: Offsets into the region, most significant first; empty only with ``terms``.
        encoding: A key of ``DECODERS``; ``_le``/``_be`` is accepted, checked and dropped.
        region: Name of the memory region.
        scale: 10 when a drawn zero is not stored; negative for a count of penalties.
        base: For ``digits``: the byte that draws 0.
        blank: The code, or codes, of a blanked leading zero, after mask and shift.
        mask: Bits of each byte that count.
        shift: How far each masked byte is shifted right.
        signed: For ``uint``: the top bit of what mask and shift leave is the sign.
        offset: Added at the end.
        map: Decoded value → value.
        default: What ``map`` gives for all other values; None leaves them as they are.
        terms: Further variables that are added.
        modulus: Where the value wraps to ``offset``; None derives it where that is certain.
        falls: The value may fall in play (see ``may_fall``).

    Raises:
        VariableError: The fields contradict each other.
    """

    addrs: tuple[int, ...] = ()
    encoding: str = "uint"
    region: str = SYSTEM_RAM
    scale: int = 1
    base: int = 0
    blank: int | tuple[int, ...] | None = None
    mask: int = 0xFF
    shift: int = 0
    signed: bool = False
    offset: int = 0
    map: Mapping[int, int] | None = None
    default: int | None = None
    terms: tuple[Variable, ...] = ()
    modulus: int | None = None
    falls: bool = False

    def __post_init__(self) -> None:
        """Bring the fields to one form, then check them together."""
        written, blanks = self.encoding, as_blanks(self.blank)
        normal = {
            "addrs": tuple(int(a) for a in np.atleast_1d(self.addrs)),  # one int will do
            "encoding": base_encoding(written),
            "blank": blanks[0] if len(blanks) == 1 else blanks or None,
            "terms": tuple(self.terms),
        }
        for field, value in normal.items():
            object.__setattr__(self, field, value)
        self._check(written[-3:])

    def _check(self, suffix: str) -> None:
        decoder, addrs = self._decoder, self.addrs
        run = direction(addrs)
        digits = range(self.base, self.base + decoder.radix)
        if not addrs and not self.terms:
            raise VariableError("addrs", "no address", "at least one offset, or terms")
        if addrs and min(addrs) < 0:
            raise VariableError("addrs", f"the offset {min(addrs)}", "offsets from 0 up")
        if len(set(addrs)) < len(addrs):
            raise VariableError("addrs", "the same offset twice", "each byte once")
        if run and suffix in ("_le", "_be") and suffix != run:
            order = "ascend" if run == "_be" else "descend"
            raise VariableError(
                "encoding",
                f"{self.encoding}{suffix} with addresses that {order}",
                f"{self.encoding}{run}, or the addresses most significant first",
            )
        if self.base and not decoder.based:
            raise VariableError("base", f"a base with encoding {self.encoding}", "it with digits")
        if self.blank is not None and decoder.radix == 256:
            raise VariableError("blank", f"a blank with {self.encoding}", "it with digit encodings")
        if any(code in digits[1:] for code in as_blanks(self.blank)):
            raise VariableError("blank", "a blank that is also a digit", "a code that draws none")
        if self.signed and decoder.radix != 256:
            raise VariableError("signed", f"signed {self.encoding}", "it with uint")
        if self.scale == 0:
            raise VariableError("scale", "a scale of 0", "any other")
        if not 0 < self.mask <= 0xFF:
            raise VariableError("mask", f"the mask {self.mask:#x}", "0x01 to 0xFF, for each byte")
        if self.mask >> self.shift == 0:
            raise VariableError("shift", "a shift that leaves no bit of the mask", "a smaller one")
        if self.default is not None and self.map is None:
            raise VariableError("default", "a default without a map", "a map too")
        if any(term.terms for term in self.terms):
            raise VariableError("terms", "terms inside a term", "one flat list")
        if self._bound >= LIMIT:
            raise VariableError("addrs", "a value that can pass 2**62", "fewer bytes or less scale")

    @property
    def _decoder(self) -> Decoder:
        return DECODERS["uint" if self.encoding == "int" else self.encoding]

    @property
    def _sign_bits(self) -> int:
        """Width of a two's complement value after mask and shift; 0 when unsigned."""
        if not (self.signed or self.encoding == "int"):
            return 0
        return 8 * (len(self.addrs) - 1) + (self.mask >> self.shift).bit_length()

    def _ram(self, memory: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return its region, long enough for every address."""
        if self.region not in memory:
            raise UserError(f"no region {self.region}", "one of " + " ".join(memory))
        ram = memory[self.region]
        if max(self.addrs) >= ram.shape[-1]:
            raise UserError(
                f"offset {max(self.addrs):#x} in {self.region} of {ram.shape[-1]:#x} bytes",
                remedy="Offsets count from the start of the region; they are no bus addresses.",
            )
        return ram

    def _own(self, ram: NDArray[np.uint8]) -> Any:
        """Decode its own bytes: int for uint8[size], int64[...] for uint8[..., size]."""
        one = ram.ndim == 1  # plain ints are ten times as fast as arrays of no dimension
        table: Any = _lookup(self.encoding, self.base, as_blanks(self.blank), self.mask, self.shift)
        step, value = self._decoder.step, 0
        for a in self.addrs:
            value = value * step + (table[1][ram.item(a)] if one else table[0][ram[..., a]])
        if bits := self._sign_bits:
            value = value - (value >> bits - 1 << bits)
        if self.map is None:
            return value
        if one:
            return self.map.get(value, value if self.default is None else self.default)
        mapped: Any = value if self.default is None else np.full_like(value, self.default)
        for before, after in self.map.items():
            mapped = np.where(value == before, after, mapped)
        return mapped

    @property
    def _bound(self) -> int:
        own = self._decoder.bound(len(self.addrs)) if self.addrs else 0
        mapped = [abs(value) for value in (*(self.map or {}).values(), self.default or 0)]
        total = max(own, *mapped) + sum(term._bound for term in self.terms)
        return total * abs(self.scale) + abs(self.offset)

    @property
    def parts(self) -> Iterator[Variable]:
        """Itself, where it has bytes of its own, and its terms."""
        if self.addrs:
            yield self
        yield from self.terms

    @property
    def may_fall(self) -> bool:
        """Whether a fall is part of the game: declared, signed, or a part with a negative scale."""
        return self.falls or any(
            part.falls or part.signed or part.encoding == "int" or part.scale < 0
            for part in (self, *self.terms)
        )

    @property
    def wraps_at(self) -> int | None:
        """The modulus: as declared, or the capacity of a plain unsigned counter, or None."""
        plain = self.mask == 0xFF and self.map is None and not self.terms and not self.may_fall
        if self.modulus is not None or not plain:
            return self.modulus
        return self._decoder.capacity(len(self.addrs)) * self.scale

    def compiled(self) -> list[Part]:
        """Return its parts; their sum, times ``scale``, plus ``offset``, is the value."""
        out = []
        for part in self.parts:
            blanks = as_blanks(part.blank)
            table, _ = _lookup(part.encoding, part.base, blanks, part.mask, part.shift)
            outer = (1, 0) if part is self else (part.scale, part.offset)
            step, bits = part._decoder.step, part._sign_bits
            mapped = (part.map or {}, part.default)
            out.append(Part(part.region, part.addrs, table, step, bits, *mapped, *outer))
        return out

    def decode(self, memory: Mapping[str, NDArray[np.uint8]]) -> Any:
        """Read the value.

        Args:
            memory: Region name → uint8[size], or uint8[..., size] for many frames at once.

        Returns:
            A Python int for uint8[size], else int64[...].

        Raises:
            UserError: A region is missing or too short.
        """
        total = self._own(self._ram(memory)) if self.addrs else 0
        for term in self.terms:
            total = total + term.decode(memory)
        return total * self.scale + self.offset

    def valid(self, memory: Mapping[str, NDArray[np.uint8]]) -> Any:
        """Tell whether every byte is legal: bool for uint8[size], else bool[...]."""
        good: Any = True
        for part in self.parts:
            data = part._ram(memory)[..., list(part.addrs)] & np.uint8(part.mask)
            good = part._decoder.valid(data >> part.shift, part.base, part.blank) & good
        return good if np.ndim(good) else bool(good)

    def encode(self, value: int, current: bytes = b"") -> bytes:
        """Return the bytes at ``addrs`` that make the variable *value*.

        Args:
            value: The wanted value.
            current: The bytes there now, whose bits outside the field are kept; default zeros.

        Raises:
            UserError: The value does not fit, or the variable is a sum.
        """
        own, rest = divmod(value - self.offset, self.scale)
        if rest or self.terms:
            raise UserError(f"{value} cannot be written", "a multiple of scale, and no terms")
        inverse = {after: before for before, after in (self.map or {}).items()}
        own = inverse.get(own, own)
        n = len(self.addrs)
        data = self._decoder.encode(
            own % (1 << self._sign_bits) if self._sign_bits else own, n, self.base, self.blank
        )
        field = self._decoder.bits << self.shift & self.mask
        mixed = bytes(
            old & ~field & 0xFF | new << self.shift & field
            for old, new in zip(current or bytes(n), data, strict=True)
        )
        packed = replace(self, addrs=tuple(range(n)))
        if packed.decode({self.region: np.frombuffer(mixed, np.uint8)}) != value:
            raise UserError(f"{value} does not fit the variable", "a value that its bytes can hold")
        return mixed

    def columns(self, offsets: ArrayLike) -> Variable:
        """Return this variable for a recording that kept only some offsets of one region.

        Args:
            offsets: int[kept], the offset that each column of ``ram`` uint8[frames, kept] holds.

        Raises:
            UserError: An offset was not kept, or the terms lie in several regions.
        """
        place = {int(offset): column for column, offset in enumerate(np.asarray(offsets))}
        if len({part.region for part in self.parts}) > 1:
            raise UserError("a variable over several regions", "a recording of one region")
        missing = [a for part in self.parts for a in part.addrs if a not in place]
        if missing:
            raise UserError(f"offset {missing[0]:#x} is not in the recording")
        terms = tuple(term.columns(offsets) for term in self.terms)
        return replace(self, addrs=tuple(place[a] for a in self.addrs), terms=terms)

    def delta(self, previous: int, current: int) -> int:
        """Return how far the value moved, through the wrap where that is the plain reading.

        A fall is a wrap when the way over the top is at most a tenth of ``wraps_at`` and
        *current* is not the value of all zeros: 999,990 → 10 is +20; 999,990 → 0 is a new game.
        """
        change = int(current) - int(previous)
        modulus = self.wraps_at
        if change < 0 and modulus and current != self.offset and (change + modulus) * 10 <= modulus:
            return change + modulus
        return change

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not default, under the keys of the integration file."""
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "encoding" and (value != "uint" or len(self.addrs) > 1):
                out["encoding"] = encoding_name(value, self.addrs)
            elif field.name == "terms" and value:
                out["terms"] = [term.to_dict() for term in value]
            elif value != field.default:
                out[field.name] = list(value) if isinstance(value, tuple) else value
        return out
