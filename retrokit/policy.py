"""Policies: what to press. Random play is the one that needs no learning.

`Policy` is what environments are played by: observations go in, actions come out. `random_play` is
the fire-aware button log of the search, which knows no steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .buttons import DIRECTIONS, to_mask

Buttons = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a policy made of a batch of observations.

    Attributes:
        actions: int64 [n], numbers into the action set.
        values: float32 [n], the return it expects from here; None where it expects nothing.
        probabilities: float32 [n, actions], how likely each action was.
    """

    actions: NDArray[np.int64]
    values: NDArray[np.float32] | None
    probabilities: NDArray[np.float32]


class Policy(Protocol):
    """What plays: a pure function. Whoever plays owns the draws, so a seed fixes an episode."""

    def act(self, observations: Any, draws: NDArray[np.float64] | None) -> Decision:
        """Choose an action for each row.

        Args:
            observations: A batch as `RetroVectorEnv` gives it: an array [n, …], or a dict of them.
            draws: float64 [n], uniform from 0 to below 1, which `choose` turns into actions; None
                takes the likeliest action of each row.
        """
        ...


def choose(
    probabilities: NDArray[np.floating[Any]], draws: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    """Return an action a row: drawn by the inverse of the distribution, or the likeliest.

    Args:
        probabilities: [n, actions]; a row need not add up to 1 exactly.
        draws: float64 [n], from 0 to below 1; None takes the likeliest, the first of equals.

    Returns:
        int64 [n]; an action whose probability is 0 is never drawn.
    """
    actions: NDArray[np.int64]
    if draws is None:
        actions = probabilities.argmax(axis=1)
        return actions
    rising = probabilities.cumsum(axis=1, dtype=np.float64)
    # Rounding may lift a draw to the whole sum itself: then the last action that is possible.
    below = np.minimum(draws * rising[:, -1], np.nextafter(rising[:, -1], 0))
    actions = (rising <= below[:, None]).sum(axis=1)
    return actions


def rows_of(observations: Any) -> int:
    """Return how many rows a batch of observations has."""
    first = next(iter(observations.values())) if isinstance(observations, dict) else observations
    return len(first)


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """The policy that takes every action as often as any other, whatever it sees.

    It knows no likeliest action: without draws it takes the first.

    Attributes:
        n_actions: Size of the action set.
    """

    n_actions: int

    def act(self, observations: Any, draws: NDArray[np.float64] | None) -> Decision:
        """Choose an action for each row; see `Policy`."""
        shape = rows_of(observations), self.n_actions
        even = np.full(shape, 1 / self.n_actions, np.float32)
        actions = np.zeros(shape[0], np.int64)
        if draws is not None:
            actions = (draws * self.n_actions).astype(np.int64)
        return Decision(actions, None, even)


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
