"""Policies: what to press. Fire-aware random play is the one that needs no learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .buttons import DIRECTIONS, to_mask

Buttons = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Style:
    """One way of playing at random.

    Attributes:
        hold: Shortest and longest time one action is held, in frames.
        fire: Share of the actions that also press a fire button.
        dominant: Share of the actions that repeat the episode's own favourite direction.
    """

    name: str
    hold: tuple[int, int]
    fire: float
    dominant: float


# Games score under different habits: short taps, long walks, one direction held, steady fire.
STYLES = (
    Style("lively", (3, 12), 0.5, 0.0),
    Style("walking", (8, 32), 0.4, 0.0),
    Style("firing", (4, 12), 0.9, 0.0),
    Style("one direction", (6, 24), 0.5, 0.5),
)
HELD = Style("held direction", (10, 60), 0.3, 0.9)  # the road is crossed by whoever keeps walking

PLAIN = 6  # episodes played in the STYLES; where nothing scored, directions are held after that


def style_of(number: int) -> tuple[Style, int | None]:
    """Return how the search plays one of its episodes, and the number of its held direction.

    Args:
        number: Of the episode, from 0, over all rounds of a search.
    """
    if number < PLAIN or number % 3 == 2:
        return STYLES[number % len(STYLES)], None
    return HELD, number - PLAIN - (number - PLAIN) // 3


def random_play(
    seed: int | Sequence[int],
    frames: int,
    actions: Sequence[Sequence[str]],
    style: Style = STYLES[0],
    fire: Sequence[str] = (),
    favourite: int | None = None,
) -> Buttons:
    """Return a seeded random button log.

    Args:
        seed: Two equal seeds give equal logs.
        frames: Its length.
        actions: The action set: button names of each action.
        style: How to play.
        fire: The fire buttons; ``style.fire`` decides how often one is pressed. Empty when the
            action set must be taken as it is.
        favourite: Number of the direction that a ``style`` with a dominant one repeats; None draws.

    Returns:
        uint16 [frames], RetroPad masks.
    """
    rng = np.random.default_rng(seed)
    fires = [to_mask([name]) for name in fire]
    every_fire = sum(fires)
    masks = sorted({to_mask(action) & ~every_fire for action in actions} or {0})
    if not fires:
        masks = sorted({to_mask(action) for action in actions} or {0})
    moves = [mask for mask in masks if mask & to_mask(DIRECTIONS)] or masks
    drawn = int(rng.integers(len(moves)))
    preferred = moves[drawn if favourite is None else favourite % len(moves)]
    log = np.zeros(frames, np.uint16)
    at = 0
    while at < frames:
        hold = int(rng.integers(style.hold[0], style.hold[1] + 1))
        steady = rng.random() < style.dominant
        mask = preferred if steady else masks[int(rng.integers(len(masks)))]
        if fires and rng.random() < style.fire:
            mask |= fires[int(rng.integers(len(fires)))]
        log[at : at + hold] = mask
        at += hold
    return log
