"""What is shown of one frame of play, and the buttons and commands that come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..album import Picture
from ..sound import Sound

Command = Literal["pause", "step", "slower", "faster", "save", "restart", "quit"]
KEYS = (  # what each player's screen tells of its keys
    ("space", "pause"), (".", "one step"), ("- +", "speed"), ("F5", "save state"),
    ("R", "new game"), ("Esc", "quit"),
)  # fmt: skip
PADS = (("arrows", "directions"), ("Z X A S", "B A Y X"), ("Enter", "Start"), ("Tab", "Select"))


class Thought(NamedTuple):
    """What the agent decided for the frames under way.

    Attributes:
        action: Number of the action.
        value: Its estimate of the return to come; None: it has none.
        probabilities: float32 [actions].
    """

    action: int
    value: float | None
    probabilities: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scene:
    """What is shown of one frame.

    Attributes:
        picture: uint8 [height, width, 3] RGB, upright.
        game: The game's name.
        player: Who plays, such as ``you`` or ``500,000 steps``.
        episode: Number of the game, from 1.
        frame: Frames since it began.
        variables: Name → value, ``score`` first.
        actions: Name of each action.
        thought: What the agent decided; None where a person plays.
        values: Its last value estimates, oldest first, float32 [steps].
        buttons: What is pressed, as names.
        sound: int16 [samples, 2] of this frame.
        over: How the game ended; empty while it goes on.
        speed: Times the core's own; 0 while paused.
        note: What was just done, such as a state saved.
    """

    picture: Picture
    game: str = ""
    player: str = ""
    episode: int = 1
    frame: int = 0
    variables: Mapping[str, int] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    thought: Thought | None = None
    values: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    buttons: tuple[str, ...] = ()
    sound: Sound | None = None
    over: str = ""
    speed: float = 1.0
    note: str = ""


class Input(NamedTuple):
    """What a screen has taken since it was asked last.

    Attributes:
        buttons: RetroPad mask held now.
        commands: In the order they were given.
    """

    buttons: int = 0
    commands: tuple[Command, ...] = ()


class Screen(Protocol):
    """Where scenes are shown: a window, a terminal, a film.

    Attributes:
        real_time: Whether it wants the game at its own speed, rather than as fast as it runs.
    """

    real_time: bool

    def show(self, scene: Scene) -> None:
        """Show a scene."""

    def input(self) -> Input:
        """Return what was pressed."""
