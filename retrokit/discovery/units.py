"""Units: where one decimal digit may lie in RAM, and how it is written and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kinds import Held

Kind = Held


@dataclass(frozen=True, slots=True)
class Unit:
    """Where one decimal digit may lie.

    A nibble, a byte that draws ``base`` as 0, or one that holds eight times the digit: the place of
    its picture in a table of eight rows each.
    """

    offset: int
    kind: Kind
    base: int = 0

    def write(self, byte: int, digit: int) -> int:
        """Return ``byte`` with this unit's digit replaced."""
        if self.kind == "low":
            return byte & 0xF0 | digit
        if self.kind == "eighth":
            return 8 * digit
        return byte & 0x0F | digit << 4 if self.kind == "high" else self.base + digit

    def read(self, byte: NDArray[np.integer[Any]] | int) -> NDArray[np.int64]:
        """Return this unit's digit; not in 0–9 where the byte holds none."""
        value = np.asarray(byte, np.int64)
        if self.kind == "byte":
            return value - self.base
        if self.kind == "eighth":
            return np.where(value % 8 == 0, value // 8, -1)
        return value & 15 if self.kind == "low" else value >> 4
