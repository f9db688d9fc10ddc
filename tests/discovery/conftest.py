"""Recordings of the arena games (tests/cores/arena*.c), whose counters are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.content import Content
from retrokit.core import Core
from retrokit.discovery.poke import Prober
from retrokit.discovery.record import Recording, record
from retrokit.systems import FoundCore

STICK = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))


class Played(NamedTuple):
    """A recording of an arena game, and what pokes it."""

    core: Core
    recording: Recording
    prober: Prober


Arena = Callable[..., Played]


@pytest.fixture(scope="session")
def arena(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Iterator[Arena]:
    """Record an arena game: ``arena("arena_bcd", fire=("B",), seed=0, DEFINE=1)``."""
    cores: list[Core] = []

    @cache
    def play(
        name: str,
        fire: tuple[str, ...] = ("B",),
        seed: int = 0,
        frames: int = 1200,
        **defines: int | str,
    ) -> Played:
        core = Core.open(fake_core(name, **defines), fake_content())
        cores.append(core)
        core.record(np.array([0, 0] + [MASKS["START"]] * 6 + [0] * 4, np.uint16))
        start = core.save()
        recording = record(core, start, STICK, fire, seed=seed, frames=frames)
        core.run(1)
        return Played(core, recording, Prober(core, recording, core.frame_size))

    yield play
    for core in cores:
        core.close()
