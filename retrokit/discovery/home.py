"""Runs that repeat although the core keeps a paddle outside its savestates, as Stella does.

The paddle is driven to one end, its home, before a savestate is entered (`enter`). Only what
must repeat is worth the frames: recordings, states and proofs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core import Branches, Core
from ..paddle import HOME, forgets_paddle


def find_home(core: Core, state: bytes) -> None:
    """Give the core a ``home`` where it forgets a paddle."""
    core.may_forget = forgets_paddle(core, state)
    core.home = HOME if core.may_forget else None


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
