"""What an environment shows, pays and ends by: one frozen object, checked when it is made."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, get_args

from .errors import UserError

Observation = Literal["grey", "rgb", "ram", "grey+ram", "rgb+ram"]
RamChoice = Sequence[int] | Mapping[str, Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """The options of `RetroEnv` and `RetroVectorEnv`.

    Attributes:
        observation: ``grey`` or ``rgb``: the upright picture. ``ram``: bytes of memory. With
            ``+ram`` a Dict of ``picture`` and ``ram``.
        size: Width and height of the picture, resized by area; None keeps the game's own.
        crop: Pixels cut off the upright picture before: top, bottom, left, right.
        stack: Observations in a row that are seen at once, the newest last. With more than 1 they
            have a first dimension of that length.
        ram: Which bytes: offsets into SYSTEM_RAM, or region name → offsets (None: all of it). None
            is all of SYSTEM_RAM.
        ram_floats: Bytes as float32 from 0 to 1; otherwise uint8.
        skip: Frames of a step; its buttons are held for all of them.
        last_two: The brighter of a step's last two frames, pixel by pixel, for games that draw
            every other frame.
        sticky: Chance, each frame, that the buttons of the frame before are held on.
        noops: A reset waits for 0 to so many frames, drawn evenly, with nothing pressed.
        starts: Where episodes start, one drawn evenly: a savestate of ``Core.save``, or a number of
            frames to wait after the start sequence.
        reward: ``raw``: points; ``clip``: points cut to -1 to 1; or variable → weight: the weighted
            sum of how far each moved (falls of the score are no loss, see ``Integration.reward``).
        life_episodes: An episode ends with each life, and the next goes on with the game.
        max_frames: Frames after which a game is truncated; None for never.
        stall: Steps without progress after which it is truncated; None for never.
        stall_penalty: What the reward of that last step is lowered by.
        progress: The variables whose new best of the episode is progress.

    Raises:
        UserError: An option cannot be; says which.
    """

    observation: Observation = "grey"
    size: tuple[int, int] | None = (84, 84)
    crop: tuple[int, int, int, int] = (0, 0, 0, 0)
    stack: int = 4
    ram: RamChoice | None = None
    ram_floats: bool = True
    skip: int = 4
    last_two: bool = False
    sticky: float = 0.0
    noops: int = 0
    starts: Sequence[bytes | int] = (0,)
    reward: Literal["raw", "clip"] | Mapping[str, float] = "raw"
    life_episodes: bool = False
    max_frames: int | None = 108_000
    stall: int | None = None
    stall_penalty: float = 0.0
    progress: Sequence[str] = ("score",)

    def __post_init__(self) -> None:
        """Check each option, then those that depend on one another; numbers become plain ones."""
        kinds = get_args(Observation)
        if self.observation not in kinds:
            raise _wrong("observation", self.observation, "one of " + " ".join(kinds))
        if self.size is not None:
            self._whole("size", 2, 1, 4096)
        self._whole("crop", 4, 0, 4096)
        for name, least, most in (("stack", 1, 64), ("skip", 1, 1000), ("noops", 0, 10_000)):
            self._whole(name, 1, least, most)
        for name in ("max_frames", "stall"):
            if getattr(self, name) is not None:
                self._whole(name, 1, 1, 2**62)
        for name in ("ram_floats", "last_two", "life_episodes"):
            if getattr(self, name) not in (True, False):
                raise _wrong(name, getattr(self, name), "True or False")
        if not _finite(self.sticky) or not 0 <= self.sticky < 1:
            raise _wrong("sticky", self.sticky, "a chance from 0 to below 1")
        if not _finite(self.stall_penalty) or self.stall_penalty < 0:
            raise _wrong("stall_penalty", self.stall_penalty, "a number from 0")
        if self.last_two and self.skip < 2:
            raise _wrong("last_two", f"last_two with skip {self.skip}", "a skip of 2 or more")
        if self.stall_penalty and self.stall is None:
            raise _wrong("stall_penalty", self.stall_penalty, "stall too: the steps it takes")
        self._check_ram()
        self._check_starts()
        self._check_names()

    def _whole(self, name: str, count: int, least: int, most: int) -> None:
        """Refuse what is not so many whole numbers in a range."""
        found = getattr(self, name)
        numbers = _integers(found if count > 1 else [found])
        if len(numbers) != count or not all(least <= n <= most for n in numbers):
            many = f"{count} whole numbers" if count > 1 else "a whole number"
            raise _wrong(name, found, f"{many} from {least} to {most}")
        object.__setattr__(self, name, numbers if count > 1 else numbers[0])

    def _check_ram(self) -> None:
        """Refuse memory that is not chosen by offsets, or not observed; sizes are the core's."""
        if self.ram is None:
            return
        if not self.sees_ram:
            kinds = " ".join(kind for kind in get_args(Observation) if kind.endswith("ram"))
            found = f"ram with observation {self.observation!r}"
            raise UserError(f"ram: found {found}", f"an observation that shows it: {kinds}")
        regions = self.ram if isinstance(self.ram, Mapping) else {"SYSTEM_RAM": self.ram}
        for region, offsets in regions.items():
            if offsets is not None and not _integers(offsets):
                wanted = "offsets, at least one, or region → offsets"
                raise _wrong("ram", {region: offsets} if regions is self.ram else offsets, wanted)

    def _check_starts(self) -> None:
        """Refuse what is neither savestates nor frames to wait."""
        starts = () if isinstance(self.starts, (bytes, str)) else self.starts
        if not isinstance(starts, Sequence) or not starts:
            raise _wrong("starts", self.starts, "a list of at least one")
        for start in starts:
            waits = () if isinstance(start, bytes) else _integers([start]) or (-1,)
            if not all(0 <= frames <= 1_000_000 for frames in waits):
                raise _wrong("starts", start, "a savestate, or a whole number from 0 to 1000000")

    def _check_names(self) -> None:
        """Refuse what names no variables; whether the game has them is not known here."""
        weights = {} if isinstance(self.reward, str) else self.reward
        if not isinstance(weights, Mapping) or not (weights or self.reward in ("raw", "clip")):
            raise _wrong("reward", self.reward, "raw, clip, or variables → weights")
        for name, weight in weights.items():
            if not _finite(weight):
                raise _wrong("reward", {name: weight}, "a number for each weight")
        names = self.progress
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise _wrong("progress", names, "a list of the names of variables")

    @classmethod
    def of(cls, options: EnvOptions | None, changes: Mapping[str, Any]) -> EnvOptions:
        """Return options with some of them changed.

        Raises:
            UserError: There is no such option, or one cannot be.
        """
        names = [field.name for field in fields(cls)]
        for name in changes:
            if name not in names:
                raise UserError(f"no option is called {name!r}", "one of " + " ".join(names))
        if options is not None and not isinstance(options, EnvOptions):
            raise _wrong("options", options, "an EnvOptions; or single options by their names")
        given = {} if options is None else {name: getattr(options, name) for name in names}
        return cls(**{**given, **changes})

    @property
    def picture(self) -> int:
        """Channels of the observed picture: 0 where none is observed."""
        return {"grey": 1, "rgb": 3}.get(self.observation.partition("+")[0], 0)

    @property
    def sees_ram(self) -> bool:
        """Whether memory is observed."""
        return self.observation.endswith("ram")

    @property
    def randomness(self) -> tuple[str, ...]:
        """What is drawn at random; with nothing, every episode under one policy is the same one."""
        return tuple(
            name
            for name, drawn in (
                ("starts", len(self.starts) > 1),
                ("noops", self.noops > 0),
                ("sticky", self.sticky > 0),
            )
            if drawn
        )


def _integers(found: Any) -> tuple[int, ...]:
    """Return whole numbers of any type as plain ones; nothing where other things are among them."""
    try:
        return tuple(operator.index(number) for number in found)
    except TypeError:
        return ()


def _finite(found: Any) -> bool:
    return isinstance(found, Real) and math.isfinite(found)


def _wrong(name: str, found: Any, wanted: str) -> UserError:
    return UserError(f"{name}: found {found!r}", wanted)
