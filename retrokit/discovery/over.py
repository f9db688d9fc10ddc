"""A byte that tells the game is over, where the counter is 0 while the last life is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core import Core
from ..team import each
from .home import enter
from .poke import Moment, Prober

Bytes = NDArray[np.uint8]
SAMPLED = (120, 600, 30)  # first, last and step in frames after the last loss
EPISODES = 6  # games played on their last life


@dataclass(frozen=True, slots=True)
class Flag:
    """A byte of the selected regions that holds ``value`` after the game, and never in it."""

    offset: int
    value: int


def find_flag(
    prober: Prober, offset: int, last: int, losses: Sequence[Moment], lead: int
) -> Flag | None:
    """Find a byte that separates the last life from what comes after it.

    Args:
        prober: The prober of a recording.
        offset: The lives byte, written with ``last`` to make a life the last one.
        last: The byte's value in the last life, which it keeps after the end.
        losses: Moments ``lead`` frames before recorded losses.
        lead: Frames from such a moment to the loss.

    Returns:
        The byte, or None when no byte keeps one value after every end and never has it before.
    """
    recording = prober.recording
    alive = [
        recording.ram[episode, :end].reshape(-1, len(recording.offsets))
        for episode, end in enumerate(recording.ends.tolist())
    ]
    over: list[Bytes] = []
    first, _, step = SAMPLED
    games = list(each(prober.core, partial(_last_life, prober, offset, last, lead), losses))
    for moment, ram in zip(losses, games, strict=True):
        loss = moment.frame + lead
        alive.append(ram[: loss - lead // 2])
        over.append(ram[loss + first :: step])
    if not over:
        return None
    ended = np.concatenate(over)
    value = ended[0]
    same = (ended == value).all(axis=0)
    before = np.concatenate(alive)
    never = ~(before == value).any(axis=0)
    good = np.flatnonzero(same & never)
    if not len(good):
        return None
    kinds = [len(np.unique(before[:, column])) for column in good]  # a mode byte has few values
    column = int(good[int(np.argmin(kinds))])
    flag = Flag(int(recording.offsets[column]), int(value[column]))
    for moment, ram in zip(losses, games, strict=True):
        loss = moment.frame + lead
        start, log = Moment(moment.episode, 0), _buttons(prober, moment, lead)
        looks, held = range(1, len(log) + 1), ram[None, :, column : column + 1]
        prober.tell(start, [[last]], [offset], log, looks, [flag.offset], held)
        prober.witness.shows(
            "over", value=flag.value, last=loss - lead // 2, first=loss + first, step=step
        )
    return flag


def _last_life(
    prober: Prober, offset: int, last: int, lead: int, core: Core, moment: Moment
) -> Bytes:
    """Play one recorded episode on its last life, from its start to the loss and beyond it.

    Returns:
        The kept bytes after every frame, uint8 [frames, kept].
    """
    recording = prober.recording
    enter(core, recording.checkpoints[moment.episode][0])
    core.poke([offset], [last])
    return core.record(_buttons(prober, moment, lead), recording.offsets)[0]


def _buttons(prober: Prober, moment: Moment, lead: int) -> NDArray[np.uint16]:
    """Return the buttons from an episode's start to the loss, and what is pressed after it."""
    log = prober.recording.buttons[moment.episode]
    # The buttons go on: a flag must not depend on them.
    return np.concatenate([log[: moment.frame + lead], np.resize(log, SAMPLED[1])])
