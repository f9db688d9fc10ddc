"""What a search looked like, as plain data: discovery takes it where the core is, views draw it.

Pictures are uint8 [height, width, 3] RGB, upright; a frame counts what has run since its episode
began.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


class Box(NamedTuple):
    """A half-open rectangle in pixels of the upright picture."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, eq=False)
class Still:
    """One picture of the recorded play.

    Attributes:
        episode, frame: When: after this frame of this episode has run.
        picture: What the screen showed.
        held: Name of a trace → its value in RAM then.
        read: The number of the best candidate as the screen showed it, drawn zeros included; None
            where none could be read or none is known.
    """

    episode: int
    frame: int
    picture: Picture
    held: dict[str, int] = field(default_factory=dict)
    read: int | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """One number over time.

    Attributes:
        name: ``score``, ``lives``, or the candidate's rank such as ``candidate 2``.
        grade: How well it is established.
        values: int64 [episodes, frames]: its value in RAM after each frame.
        start: Its value where every episode starts.
    """

    name: str
    grade: str
    values: NDArray[np.int64]
    start: int


@dataclass(frozen=True, eq=False)
class Shown:
    """The best or the nearest candidate as the screen draws it.

    Attributes:
        still: Index of the still that the places are drawn on.
        places: Where each decimal place is drawn, 0 the rightmost that RAM holds.
        zeros: Where zeros are drawn that RAM does not hold, from left to right.
        around: The places with some room around them.
        held: The number's bytes at that moment, most significant first.
        glyphs: Digit → bool [height, width], True where ink is, as pokes taught them.
    """

    still: int
    places: tuple[Box, ...]
    zeros: tuple[Box, ...]
    around: Box
    held: tuple[int, ...]
    glyphs: dict[int, NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Trial:
    """One joint poke: another number written just before a recorded rise.

    Attributes:
        episode, frame: When it was written: before this frame ran.
        before, written: The number's bytes, most significant first, and what took their place.
        was, number: The number before, and the number written.
        added: The points added: RAM held the number written plus these afterwards.
        read: The number on the screen then, where it showed what RAM held; else None.
        pictures: Caption → the number on the screen just before, afterwards as recorded, and
            afterwards with the other number written.
    """

    episode: int
    frame: int
    before: tuple[int, ...]
    written: tuple[int, ...]
    was: int
    number: int
    added: int
    read: int | None
    pictures: dict[str, Picture]


@dataclass(frozen=True, eq=False)
class Album:
    """Everything a report draws.

    Attributes:
        fps: Frames a second of play.
        size: Width and height of the core's picture; boxes count in it, and stills may be smaller.
        aspect: Width over height at which it is meant to be seen.
        styles: Name of the way of playing, per episode.
        ends: Frames until each game was over.
        stills: The film strip.
        traces: Numbers over time.
        shown: The best candidate, or what came nearest, where it is drawn on the screen.
        trials: Its joint pokes.
        fates: Caption → picture some time after one recorded loss of a life, for each number of
            lives written before it.
        recorded: Whether the stills are of recorded episodes, or only of the game's beginning.
    """

    fps: float
    size: tuple[int, int]
    aspect: float
    styles: tuple[str, ...]
    ends: tuple[int, ...]
    stills: tuple[Still, ...] = ()
    traces: tuple[Trace, ...] = ()
    shown: Shown | None = None
    trials: tuple[Trial, ...] = ()
    fates: dict[str, Picture] = field(default_factory=dict)
    recorded: bool = True
