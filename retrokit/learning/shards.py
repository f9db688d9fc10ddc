"""Shards: threads that play and learn at once, each with its share of everything.

A second thread inside torch's operators waits more than it works on layers as small as these; a
thread with half of the environments and half of each minibatch does not (docs/train.md has the
numbers). What shards return is added up in their order, so the result does not depend on which
was first.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import torch

T = TypeVar("T")
Precision = Literal["fp32", "bf16"]


class Team:
    """Threads, one a shard, that keep their work for themselves.

    Args:
        count: How many.
        threads: Of each one's arithmetic.
    """

    def __init__(self, count: int, threads: int = 1) -> None:
        self.count = count
        # A pool of one each: a core is always entered by the same thread.
        self._pools = [
            ThreadPoolExecutor(1, f"shard {number}", torch.set_num_threads, (threads,))
            for number in range(count)
        ]

    def each(self, work: Callable[[int], T]) -> list[T]:
        """Return what ``work(shard)`` returned in each; all at once, and all are waited for."""
        futures = [pool.submit(work, number) for number, pool in enumerate(self._pools)]
        for future in futures:
            future.exception()
        return [future.result() for future in futures]

    def close(self) -> None:
        """End the threads."""
        for pool in self._pools:
            pool.shutdown()


class Way(NamedTuple):
    """One way of doing the arithmetic, and how fast it was.

    Attributes:
        shards: Threads with a share each.
        threads: Of each one's arithmetic.
        precision: ``fp32`` or ``bf16``.
        rate: Steps learned from a second in the measurement.
    """

    shards: int
    threads: int
    precision: Precision
    rate: float


def has_bf16() -> bool:
    """Tell whether the processor multiplies bfloat16 itself."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return platform.machine() == "arm64"
    return not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(flags.split())


def measure(
    counts: Sequence[int],
    processors: int,
    precisions: Sequence[Precision],
    work: Callable[[Team, Precision], int],
) -> list[Way]:
    """Time the ways of doing some work; return them, the fastest first.

    Args:
        counts: Numbers of shards to try.
        processors: What their threads share.
        precisions: Those to try.
        work: Does it with a team and a precision; returns how many steps that was.
    """
    ways = []
    for shards in counts:
        threads = max(1, processors // shards)
        team = Team(shards, threads)
        for precision in precisions:
            work(team, precision)  # kernels are made at their first use
            best = 0.0
            for _ in range(3):
                started = time.perf_counter()
                steps = work(team, precision)
                best = max(best, steps / (time.perf_counter() - started))
            ways.append(Way(shards, threads, precision, best))
        team.close()
    return sorted(ways, key=lambda way: way.rate, reverse=True)
