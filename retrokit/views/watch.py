"""The loop between a game and whoever looks at it: pause, step, speed, states, games, movies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..files import whole_file
from ..sandbox import Stopped
from .film import Camera
from .panel import whole
from .play import Play
from .scene import Command, Input, Scene, Screen

SPEEDS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
OVER_S = 1.5  # seconds that the end of a game stays to be seen
NOTE_S = 3.0  # seconds that a note stays
LATE_S = 0.25  # seconds behind after which time is not made up for
POLL_S = 1 / 60  # between two looks at the keys while nothing runs


@dataclass
class Seen:
    """What was played while somebody looked.

    Attributes:
        scores: Score of each game, in their order; the last one may have been left.
        ended: How each game ended; empty for one that was left.
        frames: Frames of each game.
        files: Movies and states that were written.
    """

    scores: list[int] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


class FilmScreen:
    """Films scenes, as fast as they come."""

    real_time = False

    def __init__(self, camera: Camera, aspect: float) -> None:
        self._camera, self._aspect = camera, aspect

    def input(self) -> Input:
        """Return that nothing was pressed."""
        return Input()

    def show(self, scene: Scene) -> None:
        """Film a scene."""
        self._camera.add(whole(scene, self._aspect), scene.sound)


class Watch:
    """Games under way on a screen.

    Args:
        play: The games.
        screen: Where they are seen.
        emit: Is told ``("frame", frames so far)``; Ctrl-C comes back from it.
        games: How many; None goes on until somebody quits.
        seconds: Of play after which it ends, at the core's own pace; None: none.
        record: Where the first game's movie goes; the next ones get a number. None: nowhere.
        folder: Where states go.
    """

    def __init__(
        self,
        play: Play,
        screen: Screen,
        emit: Callable[[Any], None],
        *,
        games: int | None = None,
        seconds: float | None = None,
        record: Path | None = None,
        folder: Path = Path(),
    ) -> None:
        self.play, self.screen, self.seen = play, screen, Seen()
        self._emit, self._games, self._record, self._folder = emit, games, record, folder
        self._fps = play.stage.core.info.fps or 60.0
        self._left = None if seconds is None else round(seconds * self._fps)
        self._paused, self._speed, self._steps, self._total = False, SPEEDS.index(1.0), 0, 0
        self._note, self._note_ends, self._over = "", 0.0, 0
        self._due = time.monotonic()
        self._scene: Scene | None = None

    def run(self) -> Seen:
        """Play until somebody quits or what was asked for has been seen."""
        try:
            while self._turn():
                pass
        except Stopped:
            pass
        if self.play.frames and len(self.seen.scores) < self.play.episode:
            self._finish("")
        return self.seen

    def _turn(self) -> bool:
        """Take what was pressed and run a frame if it is time; False to end."""
        held, commands = self.screen.input()
        for command in commands:
            if command == "quit":
                return False
            self._do(command)
        if self._paused and not self._steps:
            if self._scene is not None:
                self.screen.show(self._told(self._scene))
            self._emit(("frame", self._total))
            time.sleep(POLL_S)
            self._due = time.monotonic()
            return True
        self._steps = 0
        self._scene = self.play.frame(held)
        self._total += 1
        if self._scene.over and not self._end():
            return False
        if self._left is not None and self._total >= self._left:
            return False
        self._emit(("frame", self._total))
        if not self._late():
            self.screen.show(self._told(self._scene))
        self._wait()
        return True

    def _do(self, command: Command) -> None:
        if command == "pause":
            self._paused = not self._paused
        elif command == "step":
            self._paused, self._steps = True, 1
        elif command in ("slower", "faster"):
            change = 1 if command == "faster" else -1
            self._speed = min(max(0, self._speed + change), len(SPEEDS) - 1)
        elif command == "save":
            self._save()
        elif command == "restart":
            self._finish("")
            self._begin()

    def _save(self) -> None:
        """Write a state that games can start from."""
        play = self.play
        name = f"{play.stage.game.integration.game}-{play.episode}-{play.frames}.state"
        with whole_file(self._folder / name, "the state ") as file:
            file.write(play.stage.core.save())
        self.seen.files.append(self._folder / name)
        self._say(f"saved {name}")

    def _say(self, note: str) -> None:
        self._note, self._note_ends = note, time.monotonic() + NOTE_S

    def _end(self) -> bool:
        """Let the end of a game be seen, then begin the next; False after the last one."""
        self._over += 1
        if self._over == 1:
            self._finish(self.play.over)
        if self._over < OVER_S * self._fps:
            return True
        if self._games is not None and len(self.seen.scores) >= self._games:
            return False
        self._begin()
        return True

    def _begin(self) -> None:
        self.play.begin()
        self._over = 0

    def _finish(self, ended: str) -> None:
        """Note what came of a game, and keep its movie."""
        if not self.play.frames or len(self.seen.scores) >= self.play.episode:
            return
        scene = self._scene
        self.seen.scores.append(scene.variables.get("score", 0) if scene is not None else 0)
        self.seen.ended.append(ended)
        self.seen.frames.append(self.play.frames)
        if self._record is not None:
            number = len(self.seen.scores)
            path = self._record
            if number > 1:
                path = path.with_name(f"{path.stem}-{number}{path.suffix}")
            self.play.movie().save(path)
            self.seen.files.append(path)

    def _told(self, scene: Scene) -> Scene:
        """Return a scene with what the game does not know."""
        speed = 0.0 if self._paused else SPEEDS[self._speed]
        note = self._note if time.monotonic() < self._note_ends else ""
        return replace(scene, speed=speed, note=note)

    def _late(self) -> bool:
        """Tell whether this frame need not be shown, to keep the game's own pace."""
        behind = time.monotonic() - self._due
        return self.screen.real_time and 1 / self._fps < behind < LATE_S and self._total % 4 != 0

    def _wait(self) -> None:
        """Wait for the next frame's time."""
        if not self.screen.real_time:
            return
        now = time.monotonic()
        self._due += 1 / (self._fps * SPEEDS[self._speed])
        if self._due > now:
            time.sleep(self._due - now)
        elif now - self._due > LATE_S:
            self._due = now
