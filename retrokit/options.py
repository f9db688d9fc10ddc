"""What an environment shows, pays and ends by: one frozen object, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
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
        """Check each option, then those that depend on one another."""
        kinds = get_args(Observation)
        if self.observation not in kinds:
            raise _wrong("observation", self.observation, "one of " + " ".join(kinds))
        if self.size is not None:
            self._whole("size", self.size, 2, 1, 4096)
        self._whole("crop", self.crop, 4, 0, 4096)
        for name, least, most in (("stack", 1, 64), ("skip", 1, 1000), ("noops", 0, 10_000)):
            self._whole(name, [getattr(self, name)], 1, least, most)
        for name in ("max_frames", "stall"):
            if getattr(self, name) is not None:
                self._whole(name, [getattr(self, name)], 1, 1, 2**62)
        if not isinstance(self.sticky, (int, float)) or not 0 <= self.sticky < 1:
            raise _wrong("sticky", self.sticky, "a chance from 0 to below 1")
        if self.last_two and self.skip < 2:
            raise _wrong("last_two", f"last_two with skip {self.skip}", "a skip of 2 or more")
        if self.stall_penalty and self.stall is None:
            raise _wrong("stall_penalty", self.stall_penalty, "stall too: the steps it takes")
        if not self.starts:
            raise _wrong("starts", "no start", "at least one")
        for start in self.starts:
            if not isinstance(start, bytes):
                self._whole("starts", [start], 1, 0, 1_000_000)
        if isinstance(self.reward, str) and self.reward not in ("raw", "clip"):
            raise _wrong("reward", self.reward, "raw, clip, or variable → weight")
        if not self.reward or isinstance(self.progress, str) or not self.progress:
            raise _wrong("reward or progress", "nothing", "the names of variables")

    def _whole(self, name: str, found: Any, count: int, least: int, most: int) -> None:
        """Refuse what is not so many whole numbers in a range."""
        whole = all(isinstance(n, int) and least <= n <= most for n in found)
        if not whole or len(found) != count:
            many = f"{count} whole numbers" if count > 1 else "a whole number"
            value = found if count > 1 else found[0]
            raise _wrong(name, value, f"{many} from {least} to {most}")

    @classmethod
    def of(cls, options: EnvOptions | None, changes: Mapping[str, Any]) -> EnvOptions:
        """Return options with some of them changed.

        Raises:
            UserError: There is no such option, or it cannot be.
        """
        names = [field.name for field in fields(cls)]
        for name in changes:
            if name not in names:
                raise UserError(f"no option is called {name!r}", "one of " + " ".join(names))
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


def _wrong(name: str, found: Any, wanted: str) -> UserError:
    return UserError(f"{name}: found {found!r}", wanted)
