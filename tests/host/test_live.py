"""Memory that only a savestate tells of, read where the core has it: the same values, sooner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from retrokit.core import SAVESTATE
from retrokit.errors import CoreError
from retrokit.host.binding import ffi, lib
from retrokit.lanes import Lanes
from retrokit.load import Game
from retrokit.options import EnvOptions

OPTIONS = EnvOptions(skip=1, stack=1, max_frames=None)


@pytest.fixture
def saved(three: Callable[..., Game]) -> Callable[..., Game]:
    """Make the game of three.c with its facts in the savestate."""

    def make(**build: Any) -> Game:
        game = three(LENGTH=3000, **build)
        variables = {
            name: replace(variable, region=SAVESTATE)
            for name, variable in game.integration.variables.items()
        }
        return replace(game, integration=replace(game.integration, variables=variables))

    return make


def last_call(lanes: Lanes) -> str:
    box = lib.rk_box(lanes.cores[0].handle())
    return ffi.string(lib.rk_call_name(box.last_call)).decode()


def play(lanes: Lanes, steps: int) -> list[Any]:
    lanes.reset(seeds=np.arange(1, lanes.count + 1, dtype=np.uint64))
    out = []
    for number in range(steps):
        lanes.send(np.full(lanes.count, number % 7 == 0, np.int32))
        lanes.wait()
        arrays = lanes.batch.arrays
        out.append((arrays["values"].tolist(), arrays["results"]["reward"].tolist()))
    return out


def test_values_are_those_of_the_savestate(saved: Callable[..., Game]) -> None:
    with Lanes(saved(), OPTIONS, 2) as slow, Lanes(saved(quirks="in_place"), OPTIONS, 2) as fast:
        assert play(slow, 700) == play(fast, 700)
        assert last_call(slow) == "retro_serialize"
        assert last_call(fast) == "retro_run"


def test_the_first_looks_are_at_the_savestate(saved: Callable[..., Game]) -> None:
    with Lanes(saved(quirks="in_place"), OPTIONS, 2) as lanes:
        play(lanes, 10)
        assert last_call(lanes) == "retro_serialize"


def test_memory_that_is_the_savestates_no_more_is_told(saved: Callable[..., Game]) -> None:
    with Lanes(saved(core="three_leaving", quirks="in_place"), OPTIONS) as lanes:
        with pytest.raises(CoreError, match="the core's memory moved"):
            play(lanes, 2000)
        with Lanes(saved(core="three_leaving"), OPTIONS) as slow:
            assert play(lanes, 700) == play(slow, 700)  # from now on savestates are made
        assert last_call(lanes) == "retro_serialize"
