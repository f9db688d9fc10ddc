"""Memory that moves, shrinks, vanishes or never was; the savestate taken as memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrokit.core import SAVESTATE, Core, Counts, Span
from retrokit.errors import CoreError, NoMemory

Open = Callable[..., Core]
NONE = np.zeros(60, np.uint16)


def test_ram_that_moves_is_found_again(open_fake: Open) -> None:
    core = open_fake("moving_ram")
    core.run(10)
    assert core.read()[0] == 10
    state = core.save()
    core.reset()
    assert not core.read().any()
    core.load(state)
    assert core.read()[0] == 10
    core.run(45)  # it moved at frame 50
    assert core.read()[0] == core.memory["SYSTEM_RAM"][0] == 55
    core.poke([77], [3])
    core.run()
    assert core.read()[77] == 3


def test_whole_loops_follow_moving_ram(open_fake: Open) -> None:
    core = open_fake("moving_ram")
    state = core.save()
    kept = np.array([0, 77], np.int32)
    ram, _ = core.record(NONE, kept)
    assert (ram[:, 0] == np.arange(1, 61)).all()
    counts = Counts.of(core.ram_size, 1000)
    core.load(state)
    core.count(NONE, counts)
    assert counts.changes[0] == 60
    assert not counts.changes[1:].any() and not counts.whole.any()
    pokes = (np.array([[77], [-1]]), np.array([[9], [9]]))
    got = core.branch(state, NONE, [0, 49, 50, 60], pokes=pokes, kept=kept)
    assert (got.ram[:, :, 0] == [0, 49, 50, 60]).all()
    assert (got.ram[:, :, 1] == [[9], [0]]).all()


def test_a_region_without_pointer_or_size_is_not_offered(open_fake: Open) -> None:
    core = open_fake("null_region")
    assert [(region.name, region.size, region.start) for region in core.regions()] == [
        ("MAP_300", 16, 0x300)
    ]
    assert core.spans == (Span("MAP_300", 0, 16),)
    core.run(1, 5)
    assert core.read()[0] == 5  # the map's offset counts


def test_ram_that_shrinks_and_vanishes_reads_as_zeros(open_fake: Open) -> None:
    core = open_fake("vanishing_ram")
    core.run(9)
    assert core.read()[[0, -1]].tolist() == [9, 7]
    core.run()
    assert core.read()[[0, -1]].tolist() == [10, 0]
    core.poke([5119], [1])  # beyond what is left: nowhere to write
    core.run(10)
    assert not core.read().any()
    with pytest.raises(CoreError, match="not offered now"):
        core.poke([0], [1])
    assert core.regions() == []


def test_savestate_as_memory(open_fake: Open) -> None:
    core = open_fake("savestate_only")
    assert core.spans == (Span(SAVESTATE, 0, 5120),)
    core.run(3)
    assert core.read()[0] == 3
    assert core.memory[SAVESTATE][0] == 3
    core.poke([0, 200], [40, 1])
    core.run(2)
    assert core.read()[[0, 200]].tolist() == [42, 1]
    ram, _ = core.record(NONE, np.array([0], np.int32))
    assert (ram[:, 0] == np.arange(43, 103)).all()
    pokes = (np.array([[0], [0]]), np.array([[10], [20]]))
    got = core.branch(core.save(), NONE, [5], pokes=pokes, kept=np.array([0]))
    assert got.ram[:, 0, 0].tolist() == [15, 25]


def test_cores_toml_can_ask_for_the_savestate(open_fake: Open) -> None:
    assert open_fake("counter", memory="savestate").spans == (Span(SAVESTATE, 0, 5120),)


def test_a_savestate_that_grows(open_fake: Open) -> None:
    """It writes all it has, whatever room it is given: the host must ask for the size anew."""
    core = open_fake("growing_state")
    assert core.ram_size == 5120
    early = core.save()
    core.run(250)
    late = core.save()
    assert len(late) == len(early) + 128
    assert core.read()[0] == 250
    assert core.read().size == 5120
    core.poke([0, 1], [99, 0])
    core.run()
    assert core.read()[0] == 100
    core.load(late)
    assert core.read()[0] == 250
    core.load(early)
    assert core.read()[0] == 0


def test_a_savestate_that_is_late(open_fake: Open) -> None:
    core = open_fake("late_state")
    assert core.spans == ()
    with pytest.raises(NoMemory):
        core.read()
    core.run()
    assert core.select() == (Span(SAVESTATE, 0, 5120),)
    assert core.read()[0] == 1
