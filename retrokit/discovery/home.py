"""Runs that repeat although the core keeps a paddle outside its savestates, as Stella does.

The paddle is driven to one end, its home, before a savestate is entered (`enter`). Only what
must repeat is worth the frames: recordings, states and proofs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..buttons import MASKS
from ..core import Branches, Core

HOME = np.full(90, MASKS["UP"] | MASKS["LEFT"], np.uint16)  # a paddle is at its end after 70
HOME.setflags(write=False)


def forgets_paddle(core: Core, state: bytes) -> bool:
    """Tell whether the core keeps a paddle's place outside its savestates, and the game reads it.

    Stella does (facts/cores.md): what was pressed before a restore then shows after it.
    """
    if core.spec.name != "stella":
        return False
    logs = np.zeros((4, 60), np.uint16)
    one_end, other_end = MASKS["UP"] | MASKS["LEFT"], MASKS["DOWN"] | MASKS["RIGHT"]
    logs[0], logs[2] = one_end, other_end
    logs[1, :20] = logs[3, :20] = other_end  # a paddle at rest is not looked at
    kept = np.arange(core.ram_size, dtype=np.int32)
    # One instance for all four: the odd ones start where the even ones left the paddle.
    futures_ = Core.branch(core, state, logs, [60], kept=kept, hashes=True)
    return bool(
        futures_.hashes[1, 0] != futures_.hashes[3, 0]
        or (futures_.ram[1, 0] != futures_.ram[3, 0]).any()
    )


def find_home(core: Core, state: bytes) -> None:
    """Give the core a ``home`` where it forgets a paddle."""
    core.home = HOME if forgets_paddle(core, state) else None


def enter(core: Core, state: bytes) -> None:
    """Restore a savestate so that what follows does not hang on what ran before."""
    core.load(state)
    if core.home is not None:
        core.record(core.home)
        core.load(state)


def apart(
    core: Core,
    state: bytes,
    log: NDArray[np.uint16],
    looks: Sequence[int],
    pokes: tuple[NDArray[np.int64], NDArray[np.int64]],
    kept: NDArray[np.int32] | None,
    size: tuple[int, int] | None,
) -> Branches:
    """Run futures of a savestate, none of which hangs on the one before; see `Core.branch`."""
    if core.home is None:
        return core.branch(state, log, looks, pokes=pokes, kept=kept, size=size)
    runs = []
    for n in range(len(pokes[0])):
        own = log if log.ndim == 1 else log[n : n + 1]
        poke = pokes[0][n : n + 1], pokes[1][n : n + 1]
        enter(core, state)
        runs.append(core.branch(state, own, looks, pokes=poke, kept=kept, size=size))
    return Branches(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))
