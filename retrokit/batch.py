"""The arrays that lanes write: what each shows, earned and ended with, one row a lane."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# rk_result of host/lane.h.
RESULT = np.dtype(
    [
        ("reward", np.float64),
        ("raw_reward", np.float64),
        ("game_return", np.float64),
        ("game_steps", np.int64),
        ("frame", np.int64),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("ended", np.uint8),
        ("unused", np.uint8, 5),
    ]
)
_ALIGN = 64  # a row begins a line of cache: threads do not write to one line


@dataclass(frozen=True)
class Layout:
    """The shape of one lane's row.

    Attributes:
        picture: Of the observed picture with its stack; empty where none is observed.
        ram: Of the observed memory with its stack; empty where none is observed.
        ram_floats: Memory as float32 instead of uint8.
        variables: How many the integration has.
    """

    picture: tuple[int, ...]
    ram: tuple[int, ...]
    ram_floats: bool
    variables: int

    def arrays(self) -> Iterator[tuple[str, DTypeLike, tuple[int, ...]]]:
        """Yield name, dtype and shape of each array, without the lanes' dimension."""
        for prefix in ("", "final_"):
            if self.picture:
                yield prefix + "picture", np.uint8, self.picture
            if self.ram:
                yield prefix + "ram", np.float32 if self.ram_floats else np.uint8, self.ram
            yield prefix + "results", RESULT, ()
            yield prefix + "values", np.int64, (self.variables,)


class Batch:
    """The arrays of some lanes, in one piece of memory.

    Args:
        layout: The shape of a row.
        count: How many lanes.
        buffer: Writable memory of at least `size_of` bytes, such as one that processes share; None
            takes fresh memory.

    Attributes:
        arrays: Name → array [lanes, …]: ``picture``, ``ram``, ``results``, ``values``, and
            ``final_…`` of each for what ended in the step that already began anew.
        seen: The names of those that are observed.
    """

    def __init__(self, layout: Layout, count: int, buffer: Any = None) -> None:
        self.layout = layout
        self.count = count
        memory = np.zeros(self.size_of(layout, count), np.uint8) if buffer is None else buffer
        self.arrays: dict[str, NDArray[Any]] = {}
        at = 0
        for name, dtype, shape in layout.arrays():
            self.arrays[name] = np.ndarray((count, *shape), dtype, memory, at)
            at += _padded(self.arrays[name].nbytes)
        self.seen = tuple(name for name in ("picture", "ram") if name in self.arrays)

    @staticmethod
    def size_of(layout: Layout, count: int) -> int:
        """Return the bytes that so many rows take."""
        return sum(
            _padded(count * math.prod(shape) * np.dtype(dtype).itemsize)
            for _, dtype, shape in layout.arrays()
        )

    def rows(self, first: int, stop: int) -> Batch:
        """Return the lanes from ``first`` up to ``stop``, in the same memory."""
        part = Batch(self.layout, 0)
        part.count = stop - first
        part.arrays = {name: array[first:stop] for name, array in self.arrays.items()}
        return part


class Copy:
    """Fresh arrays for what one step tells; each lane writes its part when it is finished.

    Args:
        batch: What it is a copy of.
        observed: Observations too.

    Attributes:
        seen: The observations by name, ``picture`` and ``ram``; empty unless ``observed``.
        earned: float64 [2, lanes]: rewards and raw rewards.
        numbers: int64 [1 + variables, lanes]: frames, and the variables.
        flags: bool [2, lanes]: terminated and truncated.
    """

    def __init__(self, batch: Batch, observed: bool) -> None:
        arrays, count = batch.arrays, batch.count
        self.seen = {name: np.empty_like(arrays[name]) for name in batch.seen if observed}
        self.earned = np.empty((2, count))
        self.numbers = np.empty((1 + batch.layout.variables, count), np.int64)
        self.flags = np.empty((2, count), np.bool_)

    def fill(self, batch: Batch) -> None:
        """Copy all lanes."""
        results = batch.arrays["results"]
        for name, array in self.seen.items():
            np.copyto(array, batch.arrays[name])
        self.earned[:] = results["reward"], results["raw_reward"]
        self.flags[:] = results["terminated"], results["truncated"]
        self.numbers[0], self.numbers[1:] = results["frame"], batch.arrays["values"].T


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN
