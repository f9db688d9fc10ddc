"""A paddle that the core keeps outside its savestates, as Stella does, and the way to its home.

What was pressed before a restore shows after it, unless the paddle is driven to one end first.
"""

from __future__ import annotations

import numpy as np

from .buttons import MASKS
from .core import Core

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
