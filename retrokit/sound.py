"""What a core plays: kept on demand, handed out frame by frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .core import Core
from .host.binding import ffi, lib

Sound = NDArray[np.int16]


def listen(core: Core, on: bool = True) -> None:
    """Keep the sound of the frames that run from now on, or no longer.

    A core of ours otherwise runs silently, which is faster. The rate is ``core.info.sample_rate``.
    """
    lib.rk_hear(core.handle(), on)


def heard(core: Core) -> Sound:
    """Return what was played since the last call, int16 [samples, 2]: left and right.

    More than 2^20 samples (20 seconds) are not kept.
    """
    out = np.zeros((lib.rk_sound(core.handle(), ffi.NULL), 2), np.int16)
    if len(out):
        lib.rk_sound(core.handle(), ffi.from_buffer("int16_t[]", out))
    return out
