"""Which way up a game's picture stands, told by the picture alone.

What RIGHT moves goes right on an upright picture, and what DOWN moves goes down. So from one
savestate each direction is held for a moment; what stands in different places afterwards tells how
the picture is turned. No configuration and no font is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, to_mask
from ..core import Core
from ..load import Game
from ..policy import STYLES, random_play
from ..sandbox import Emit
from .pictures import TURNS
from .reel import turn_left

Way = tuple[float, float]
Codes = NDArray[np.uint16]
WAITS = 30  # moments that are looked at, at most
APART = 40  # frames between them
HELD = (8, 16)  # frames that a direction is held until the picture is taken
MOVED = 3.0  # pixels that a thing must have moved
LARGEST = 0.1  # share of the picture that a thing may cover; a scrolling one tells nothing
ENOUGH, PLENTY = 4, 12  # ways that must be seen; that end the look
AGREE = 0.8  # share of them that must fit one turn


def ways(pictures: Codes, usual: Codes) -> dict[str, Way]:
    """Return which way things moved under opposite directions.

    Args:
        pictures: [4, height, width] of any colour code: with UP, DOWN, LEFT and RIGHT held, from
            one state.
        usual: [height, width]: what mostly stands there.

    Returns:
        ``right`` and ``down`` → pixels to the right and down between the thing's place under one
        direction and under its opposite; without those that told nothing.
    """
    up, down, left, right = pictures
    out: dict[str, Way] = {}
    for name, start, end in (("right", left, right), ("down", up, down)):
        apart = start != end
        places = [np.argwhere(apart & (picture != usual)) for picture in (start, end)]
        if min(map(len, places)) and max(map(len, places)) <= LARGEST * usual.size:
            rows, columns = (places[1].mean(axis=0) - places[0].mean(axis=0)).tolist()
            if np.hypot(rows, columns) >= MOVED:
                out[name] = columns, rows
    return out


def turn_of(seen: Sequence[Mapping[str, Way]]) -> int | None:
    """Return the counter-clockwise turn, in degrees, that makes a picture upright.

    Args:
        seen: What `ways` told at several moments.

    Returns:
        0 for an upright picture; None where the directions do not tell.
    """
    fits = dict.fromkeys(TURNS, 0)
    for moment in seen:
        for name, way in moment.items():
            for turn in TURNS:
                across, down = turned_way(way, turn)
                along, aside = (across, down) if name == "right" else (down, across)
                fits[turn] += along > 2 * abs(aside)  # a slanting way fits none: one was blocked
    best, total = max(TURNS, key=fits.__getitem__), sum(fits.values())
    return best if total >= ENOUGH and fits[best] >= AGREE * total else None


def turned_way(way: Way, degrees: int) -> Way:
    """Return a way in a picture after the picture was turned counter-clockwise."""
    for _ in range(degrees // 90):
        way = way[1], -way[0]
    return way


class Seen(NamedTuple):
    """How a picture stands.

    Attributes:
        needed: Degrees counter-clockwise by which it must still be turned; None: not told.
        rotate: Degrees by which the core's own picture must be turned in all; None: not told.
    """

    needed: int | None
    rotate: int | None


def look(emit: Emit, game: Game, rotate: int | None = None) -> Seen:
    """Return how a game's picture stands; runs in a sandbox.

    Args:
        emit: Not used.
        game: What to look at.
        rotate: Degrees by which the core's picture is turned, instead of what the core asks for.
    """
    with game.open() as core:
        core.record(game.integration.start_frames())
        core.run(1)
        turn = turn_of(_moments(core, game))
        if turn is None:
            return Seen(None, None)
        needed = (turn - turn_left(core, rotate)) % 360
        return Seen(needed, (turn + core.info.rotation) % 360)


def _moments(core: Core, game: Game) -> list[Mapping[str, Way]]:
    """Return what directions did at moments of a random game."""
    allowed = {name for names in game.integration.action_set for name in names}
    held = np.zeros((4, HELD[-1]), np.uint16)
    for row, name in enumerate(DIRECTIONS):
        held[row] = to_mask([name]) if name in allowed else 0
    size, seen = core.frame_size, list[Mapping[str, Way]]()
    log = random_play(0, WAITS * APART, game.integration.action_set, STYLES[0])
    before: Codes | None = None
    for part in log.reshape(WAITS, APART):
        state = core.save()
        looks = core.branch(state, held, HELD, size=size).pictures
        if before is not None:
            both = np.concatenate([before, looks]).reshape(-1, *looks.shape[2:])
            usual = np.partition(both, len(both) // 2, axis=0)[len(both) // 2]
            seen += [ways(looks[:, at], usual) for at in range(len(HELD))]
        if sum(map(len, seen)) >= PLENTY and turn_of(seen) is not None:
            break
        before = looks
        core.load(state)
        core.record(part)
    return seen
