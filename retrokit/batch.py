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


def columns(results: NDArray[Any], first: str, last: str) -> NDArray[Any]:
    """Return a batch's results from one field to another, all of one size, [fields, lanes]; a view.

    Its type is the first's.
    """
    assert RESULT.fields is not None
    dtype, start = RESULT.fields[first][:2]
    stop = RESULT.fields[last][1] + dtype.itemsize
    rows = results.view(np.uint8).reshape(len(results), -1)
    return rows[:, start:stop].view(dtype).T


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN
