"""Counting in C says what a slow look at every byte of every frame says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.core import Core, Counts
from retrokit.systems import FoundCore

Build = Callable[..., FoundCore]
Open = Callable[..., Core]
EVER = 1 << 30


def slowly(core: Core, frames: int, counts: Counts) -> None:
    """Add what `Core.count` adds, byte by byte and line by line."""
    was = core.read().astype(np.int64)
    for _ in range(frames):
        core.run(1)
        now = core.read().astype(np.int64)
        for at in range(0, len(now), 64):
            changed = [i for i in range(at, min(at + 64, len(now))) if now[i] != was[i]]
            if len(changed) == 64:
                counts.whole[at // 64] += 1
                continue
            for i in changed:
                counts.changes[i] += 1
                if len(changed) <= 32 or at + 64 > len(now):
                    counts.alone[i] += 1
                    counts.back[i] += int(counts.before[i] == now[i])
                    counts.before[i] = was[i]
                    counts.steps[i] |= np.uint64(1 << int(now[i] - was[i]) % 64)
        was = now


@given(size=st.sampled_from([1000, 1024, 1087]), pieces=st.lists(st.integers(0, 30), max_size=4))
def test_counts_are_those_of_a_slow_look(
    fake_core: Build, fake_content: Callable[[], object], size: int, pieces: list[int]
) -> None:
    found = fake_core("scribble", RAM_BYTES=size)
    with Core.open(found, fake_content()) as core, Core.open(found, fake_content()) as other:
        fast, slow = Counts.of(size, EVER), Counts.of(size, EVER)
        for frames in (60, *pieces):
            core.count(np.zeros(frames, np.uint16), fast)
            slowly(other, frames, slow)
    for name, array in fast._asdict().items():
        assert np.array_equal(array, getattr(slow, name)), name
    assert fast.whole.any() and fast.back.any()
    assert (fast.alone < fast.changes).any()
    assert fast.total()[64] == fast.changes[64] + fast.whole[1]


def test_what_changes_too_often_is_counted_no_further(open_fake: Open) -> None:
    core = open_fake("scribble", RAM_BYTES=1024)
    all_of_it, some = Counts.of(1024, EVER), Counts.of(1024, 40)
    for counts in (all_of_it, some):
        core.reset()
        for _ in range(12):
            core.count(np.zeros(100, np.uint16), counts)
    often, seen = all_of_it.total(), some.total()
    assert (often[seen != often] > 40).all() and (seen[seen != often] > 40).all()
    assert (seen < often).sum() > 500


def test_counts_of_other_memory_are_refused(open_fake: Open) -> None:
    core = open_fake("counter")
    with pytest.raises(ValueError, match="5120 bytes"):
        core.count(np.zeros(2, np.uint16), Counts.of(5000, 9))
