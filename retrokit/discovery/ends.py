"""Where each recorded game was over: by the proved rule, else by control that never comes back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .control import PLAY_LATER, Control, gone, measure_control
from .lives import Lives
from .poke import Prober

COARSE = 100  # frames: how closely the end of a game is told by control alone
GAPS = (170, 260, 350)  # frames played on between the looks that find control still gone


def play_ends(
    prober: Prober, lives: Lives | None, known: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the frame count at which each recorded game was over, int64 [episodes].

    With proved lives the rule tells. Without, control is measured where the episodes end and, where
    the game played on does not give it back, between the checkpoints. ``known`` spares the first
    episodes that.
    """
    recording = prober.recording
    ends = recording.lengths.copy()
    if lives is not None and lives.grade == "proved":
        over = lives.read(recording.series(lives.offset)) == lives.last
        for episode in np.flatnonzero(over.any(axis=1)).tolist():
            ends[episode] = min(int(ends[episode]), int(over[episode].argmax()) + 1)
        return ends
    core = prober.core
    core.load(recording.state)
    before = measure_control(core)
    if before.variety < PLAY_LATER:
        return ends  # control is too weak a measure in this game
    first = 0 if known is None else len(known)
    ends[:first] = known if known is not None else ends[:0]
    for episode in range(first, recording.episodes):
        point = len(recording.checkpoints[episode]) - 1
        if not _over_at(prober, episode, point, before):
            continue
        # Backwards, since control is gone for a while in play too. Where it goes points may still
        # be given, so the later checkpoint counts.
        step = max(1, COARSE // recording.every)
        while point > step:
            core.load(recording.checkpoints[episode][point - step])
            if not gone(core, before):
                break
            point -= step
        ends[episode] = point * recording.every
    return ends


def _over_at(prober: Prober, episode: int, point: int, before: Control) -> bool:
    """Tell whether control is gone at a checkpoint, and random play does not bring it back.

    A round that ends and waits for a button is not the end of the game.
    """
    core, recording = prober.core, prober.recording
    core.load(recording.checkpoints[episode][point])
    if not gone(core, before):
        return False
    for gap in GAPS:
        core.record(recording.buttons[episode][:gap])
        if not gone(core, before):
            return False
    return True
