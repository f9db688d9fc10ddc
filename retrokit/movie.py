"""Movies: how a game began and the buttons of every frame, replayed to the same RAM.

A movie holds no pictures and, where the game began at power-on, no savestate: a few kilobytes. Its
replay needs the same content and core, and proves itself by the RAM at the end (docs/movies.md).
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .content import Content, describe_mismatch, identify
from .core import Core
from .errors import ContentError, ReplayDiffers
from .files import reading, whole_file
from .lanes import Lanes, in_savestate, proving
from .load import Game, content_of
from .plan import NO_BUTTONS
from .sealed import seal, unseal
from .systems import find_core
from .workers import Workers

MAGIC = b"RKMOVIE1"
SUFFIX = ".movie"
WANTED = "a file that retrokit recorded"
PLAIN = ("game", "system", "content", "core", "core_version", "core_sha1", "restored", "wait")


@dataclass(frozen=True, eq=False)
class Movie:
    """A recorded game.

    Attributes:
        game: Its name, as in the integration.
        system: The content's system, a key of ``systems.SYSTEMS``.
        content: SHA-1 of the content: of its payload and of its file.
        core: The core's name in cores.toml.
        core_version: What the core says of itself.
        core_sha1: SHA-1 of the core's library file.
        buttons: uint16 [frames, ports], RetroPad masks from the start on.
        ram_sha1: SHA-1 of `proving` memory after the last frame.
        start: uint16 [frames], what is pressed from power-on to the start.
        restored: At the start the core saves and restores itself, as an environment does; a core
            that goes on may play differently.
        wait: Frames with nothing pressed that follow, and then the same once more.
        savestate: From ``Core.save``, in place of start and wait; empty: none.
        home: uint16 [frames], pressed at the start, which is then restored once more: for a core
            that keeps a paddle outside its savestates.
        kept: Of a core without SYSTEM_RAM, the offsets into its savestate that the proof is of.
        facts: What else there is to know: ``score``, ``steps``, ``seed``, … Plain JSON.
    """

    game: str
    system: str
    content: Sequence[str]
    core: str
    core_version: str
    core_sha1: str
    buttons: NDArray[np.uint16]
    ram_sha1: str
    start: NDArray[np.uint16] = field(default_factory=NO_BUTTONS.copy)
    restored: bool = False
    wait: int = 0
    savestate: bytes = b""
    home: NDArray[np.uint16] = field(default_factory=NO_BUTTONS.copy)
    kept: Sequence[int] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def frames(self) -> int:
        """How many frames it has, from the start on."""
        return len(self.buttons)

    @classmethod
    def recorded(cls, lanes: Lanes | Workers, row: int, facts: Mapping[str, Any]) -> Self:
        """Return the movie of a lane's game, up to now.

        Args:
            lanes: At rest.
            row: The lane.
            facts: What else to keep.
        """
        log, game = lanes.log(row), lanes.game
        start = lanes.options.starts[log.start]
        powered: dict[str, Any] = {"start": game.integration.start_frames(), "wait": start}
        return cls(
            buttons=log.buttons[:, None],
            ram_sha1=_sum(lanes.ram(row)),
            restored=True,
            home=lanes.home,
            kept=in_savestate(game.integration),
            facts=facts,
            **identity(game, lanes.info.version),
            **({"savestate": start} if isinstance(start, bytes) else powered),
        )

    # -- replay ----------------------------------------------------------------------------------

    def open(
        self,
        content: str | os.PathLike[str] | None = None,
        rom_dirs: Sequence[Path] = (),
        core: str | Path | None = None,
    ) -> Core:
        """Open the core that it was recorded on, with the same content; nothing runs yet.

        Args:
            content: The content's path; found by hash when None.
            rom_dirs: Folders to search first.
            core: A core's name or library file, instead of the recorded one.

        Raises:
            CoreNotFound: There is no such core here.
            ContentError: The content is another, or none with its hash was found.
            CoreError: The core cannot be opened, or refuses the content.
        """
        found = find_core(core or self.core)
        return Core.open(found, self._content(content, rom_dirs))

    def _content(self, path: str | os.PathLike[str] | None, rom_dirs: Sequence[Path]) -> Content:
        wanted = {self.game: self.content[0]}
        if path is None:
            return content_of(self.game, wanted | {"file": self.content[-1]}, rom_dirs)
        content = identify(Path(path), self.system)
        if not content.has_sha1(self.content):
            raise ContentError(
                f"{path} is another ROM than the movie's: {describe_mismatch(content, wanted)}"
            )
        return content

    def differences(self, core: Core) -> list[str]:
        """Return a line for each way in which a core is not the one it was recorded on."""
        lines = []
        if core.spec.name != self.core:
            lines.append(f"another core: found {core.spec.name}; wanted {self.core}")
        elif core.info.version.split() != self.core_version.split():
            lines.append(
                f"another core version: found {core.info.version}; wanted {self.core_version}"
            )
        elif file_hash(core.found.path) != self.core_sha1:
            lines.append(
                f"another build of the core: found sha1 {file_hash(core.found.path)}; "
                f"wanted {self.core_sha1}"
            )
        return lines

    def play(self, core: Core, every: int = 1) -> Iterator[int]:
        """Play it on a core from `open`, from power-on.

        After each yield ``core.frame()`` gives the upright picture and ``core.read()`` the RAM.

        Args:
            core: Nothing has run on it.
            every: How many frames pass between two yields.

        Yields:
            The number of frames played since the start; the last time after the last frame.

        Raises:
            ReplayDiffers: It ended in another RAM.
            SavestateRefused: Its savestate is of another core, version or content.
        """
        self.begin(core)
        rows = self.buttons.tolist()
        for number, masks in enumerate(rows, 1):
            shown = number % every == 0 or number == len(rows)
            core.run(1, masks, see=shown)
            if shown:
                yield number
        self._prove(core)

    def prove(self, core: Core) -> None:
        """Play it on a core from `open` without a look at any frame; see `play`."""
        for _ in self.play(core, max(1, self.frames)):
            pass

    def begin(self, core: Core) -> bytes:
        """Bring a core from power-on to the start, and return the savestate that it restored there.

        Returns:
            Of ``Core.save``; empty where it went on from power-on.
        """
        if self.savestate:
            core.run(1, see=False)  # no core is asked to restore before it ran
            core.load(state := self.savestate)
        else:
            core.record(self.start)
            state = core.save() if self.restored else b""
        if self.restored:
            core.load(state)
        if self.wait:
            core.run(self.wait, see=False)
            core.load(state := core.save())
        if len(self.home):
            core.record(self.home)
            core.load(state)
        return state

    def _prove(self, core: Core) -> None:
        found = ram_hash(core, self.kept)
        if found != self.ram_sha1:
            why = "; ".join(self.differences(core))
            raise ReplayDiffers(
                f"after {self.frames:,} frames the RAM of {self.game} has sha1 {found}",
                f"{self.ram_sha1}, which the movie ended in",
                f"Here is {why}." if why else "Core and content are the same, and it differs: "
                "retrokit probe-core tells whether the core repeats itself.",
            )  # fmt: skip

    # -- files -----------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return it as the bytes of a file."""
        facts = {name: getattr(self, name) for name in PLAIN} | {
            "content": list(self.content),
            "ram_sha1": self.ram_sha1,
            "shape": self.buttons.shape,
            "sizes": [2 * len(self.start), 2 * len(self.home), self.buttons.nbytes],
            "kept": list(self.kept),
            "facts": dict(self.facts),
        }
        parts = (
            *(part.tobytes() for part in (self.start, self.home, self.buttons)),
            self.savestate,
        )
        return seal(MAGIC, facts, zlib.compress(b"".join(parts), 9))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the movie") -> Self:
        """Return what `to_bytes` made.

        Raises:
            UserError: It is something else, of another version, or damaged.
        """
        facts, packed = unseal(MAGIC, data, name, "movie")
        body, shape = zlib.decompress(packed), facts.pop("shape")
        start, home, buttons, savestate = np.split(
            np.frombuffer(body, np.uint8), np.cumsum(facts.pop("sizes"))
        )
        return cls(
            start=start.view(np.uint16),
            home=home.view(np.uint16),
            buttons=buttons.view(np.uint16).reshape(shape),
            savestate=savestate.tobytes(),
            **facts,
        )

    def save(self, path: Path) -> None:
        """Write it, as a whole or not at all.

        Raises:
            UserError: It cannot be written.
        """
        with whole_file(path, "the movie ") as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read it.

        Raises:
            UserError: There is no such file, or it is something else, of another version or
                damaged.
        """
        with reading(path, "movie", WANTED):
            data = path.read_bytes()
        return cls.from_bytes(data, str(path))


def identity(game: Game, version: str) -> dict[str, Any]:
    """Return what a movie keeps of content and core."""
    content = game.content
    return {
        "game": game.integration.game,
        "system": content.system,
        "content": (content.sha1, content.file_sha1),
        "core": game.found.spec.name,
        "core_version": version,
        "core_sha1": file_hash(game.found.path),
    }


def ram_hash(core: Core, kept: Sequence[int] = ()) -> str:
    """Return the SHA-1 of `proving` memory, 40 hexadecimal digits."""
    return _sum(proving(core, kept))


def _sum(ram: NDArray[np.uint8]) -> str:
    return hashlib.sha1(ram.tobytes(), usedforsecurity=False).hexdigest()


@cache
def file_hash(path: Path) -> str:
    """Return the SHA-1 of a core's file, which is read once a process."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()
