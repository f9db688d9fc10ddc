"""Movies replayed for a film, each in its own process: cores share nothing."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from .. import sandbox
from ..album import Picture
from ..core import Core
from ..movie import Movie
from ..sound import Sound, heard, listen
from .pictures import turned

AHEAD = 8  # frames that a replay may be ahead of the film


@dataclass(frozen=True)
class Source:
    """A movie and what it is replayed with.

    Attributes:
        movie: Itself, or its file.
        content: The content's path; found by hash when None.
        rom_dirs: Folders to search for it first.
        core: A core's name or library file, instead of the recorded one.
        rotate: Degrees counter-clockwise that the core's picture is turned by, instead of what the
            core asks for; None leaves it to the core.
        sound: Whether it is heard.
    """

    movie: Movie | Path
    content: str | os.PathLike[str] | None = None
    rom_dirs: Sequence[Path] = ()
    core: str | Path | None = None
    rotate: int | None = None
    sound: bool = False


class Head(NamedTuple):
    """What is known before the first frame.

    Attributes:
        fps: Frames a second.
        aspect: Width over height at which the picture is meant to be seen.
        sound_rate: Samples a second.
        frames: How many frames come.
    """

    fps: float
    aspect: float
    sound_rate: float
    frames: int


class Frame(NamedTuple):
    """One frame: the upright picture, uint8 [height, width, 3], and its sound."""

    picture: Picture
    sound: Sound | None


def turn_left(core: Core, rotate: int | None) -> int:
    """Return the degrees by which the core's upright picture is turned once more."""
    return 0 if rotate is None else (rotate - core.info.rotation) % 360


def aspect_of(core: Core, turn: int = 0) -> float:
    """Return width over height at which the core's picture is meant to be seen; 0: not told.

    Some cores whose picture stands on its side tell the shape that it has lying.
    """
    aspect = core.info.aspect
    width, height = core.frame_size
    if aspect > 0 and core.info.rotation % 180 and (aspect > 1) != (width > height):
        aspect = 1 / aspect
    return 1 / aspect if aspect > 0 and turn % 180 else aspect


def roll(emit: sandbox.Emit, source: Source) -> None:
    """Replay a movie and send its `Head` and each `Frame`; runs in a sandbox.

    Raises:
        ReplayDiffers: It ended in another RAM than it was recorded with.
    """
    movie = source.movie if isinstance(source.movie, Movie) else Movie.load(source.movie)
    with movie.open(source.content, source.rom_dirs, source.core) as core:
        turn, begun = turn_left(core, source.rotate), False
        for _ in movie.play(core):
            if not begun:
                info, begun = core.info, True
                emit(Head(info.fps or 60.0, aspect_of(core, turn), info.sample_rate, movie.frames))
                listen(core, source.sound)
            emit(Frame(turned(core.frame(), turn), heard(core) if source.sound else None))


class Reel:
    """A replay in a process of its own, whose frames come as they are asked for.

    Args:
        source: What is replayed.

    Attributes:
        head: What is known before the first frame.

    Raises:
        RetrokitError: The replay failed; raised where its frames are asked for, too.
    """

    def __init__(self, source: Source) -> None:
        self._frames: queue.Queue[Any] = queue.Queue(AHEAD)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(source,), daemon=True)
        self._thread.start()
        self.head: Head = self._next()

    def _run(self, source: Source) -> None:
        try:
            sandbox.call(roll, (source,), on_event=self._put)
            self._put(None)
        except _Closed:
            pass
        except BaseException as error:  # it is raised by whoever asks for the next frame
            self._put(error)

    def _put(self, event: Any) -> None:
        while not self._closed.is_set():
            try:
                return self._frames.put(event, timeout=0.2)
            except queue.Full:
                continue
        raise _Closed

    def _next(self) -> Any:
        event = self._frames.get()
        if isinstance(event, BaseException):
            raise event
        return event

    def __iter__(self) -> Iterator[Frame]:
        """Yield its frames, once."""
        while (frame := self._next()) is not None:
            yield frame

    def close(self) -> None:
        """End its process; closing twice is harmless."""
        self._closed.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """End its process."""
        self.close()


class _Closed(BaseException):
    """Nobody wants the frames any more."""
