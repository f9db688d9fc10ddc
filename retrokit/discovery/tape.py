"""Tapes: finished episodes kept outside the search, so that Ctrl-C or a crash costs none of them.

The search runs in a child that may die; the tape is its parent's. Only `save` makes a file that
anyone can see: a ``.npz`` with the frames to judge an answer by and all it takes to go on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..errors import UserError
from ..files import reading, whole_file
from ..policy import style_of
from .record import Recording, join

# What a person's session adds to a recording; see `retrokit.discovery.session`.
SESSION = ("snapshots", "snapshot_ram", "filters", "types", "marks")


@dataclass(frozen=True)
class Origin:
    """What was recorded, and all that a search found out before.

    Attributes:
        rom_sha1: The content.
        core, core_version: What ran it.
        spans: The regions that the offsets count in.
        seed, frames: Those of the search's settings.
        start_buttons: The start sequence.
        action_set: The buttons held in each action.
        fire: The fire buttons.
        state: Savestate after the start sequence.
        game, system: Name and system of the content; empty in files of older versions.
        fps: Frames a second of play.
        memory: All bytes of the regions in ``state``; empty in files of older versions.
    """

    rom_sha1: str
    core: str
    core_version: str
    spans: tuple[Span, ...]
    seed: int
    frames: int
    start_buttons: tuple[str, ...]
    action_set: tuple[tuple[str, ...], ...]
    fire: tuple[str, ...]
    state: bytes
    game: str = ""
    system: str = ""
    fps: float = 60.0
    memory: bytes = b""

    def check(self, path: Path, **found: Any) -> None:
        """Refuse to go on with something else than was recorded.

        Args:
            path: The recording, for the message.
            found: Attribute → its value here and now.

        Raises:
            UserError: One differs.
        """
        names = {"rom_sha1": "the ROM with sha1", "spans": "the memory", "core": "the core"}
        for key, value in found.items():
            recorded = getattr(self, key)
            if recorded != value:
                name = names.get(key, f"the {key.replace('_', ' ')}")
                raise UserError(
                    f"{path} is a recording of {name} {recorded}",
                    f"one of {value}",
                    "Give the content and the core it was made with, or leave --resume out.",
                )


class Tape:
    """Episodes of one search in a nameless temporary file.

    Attributes:
        styles: Name of the way of playing, per episode.
        extra: Further arrays that are written and read with it: those of a person's session.
    """

    def __init__(self) -> None:
        self.origin: Origin | None = None
        self.extra: dict[str, NDArray[Any]] = {}
        self.offsets = np.zeros(0, np.int32)
        self.styles: list[str] = []
        self._logs: list[NDArray[np.uint16]] = []
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the tape

    def __del__(self) -> None:
        """Close the file, which has no name and is gone then."""
        self._file.close()

    @property
    def episodes(self) -> int:
        """How many episodes are kept."""
        return len(self._logs)

    @property
    def logs(self) -> list[NDArray[np.uint16]]:
        """Their buttons, uint16 [frames] each."""
        return list(self._logs)

    @property
    def frames(self) -> int:
        """How many frames are kept, of all episodes together."""
        return sum(len(log) for log in self._logs)

    @property
    def longest(self) -> int:
        """Frames of the longest episode."""
        return max((len(log) for log in self._logs), default=0)

    def ram(self, number: int) -> NDArray[np.uint8]:
        """Return the bytes after each frame of an episode, uint8 [frames, kept]."""
        shape = (len(self._logs[number]), len(self.offsets))
        data = os.pread(self._file.fileno(), shape[0] * shape[1], self._begins(number))
        return np.frombuffer(data, np.uint8).reshape(shape)

    def _begins(self, number: int) -> int:
        """Return where an episode's bytes begin in the file."""
        return sum(len(log) for log in self._logs[:number]) * len(self.offsets)

    def recording(self) -> Recording:
        """Return what was recorded, without the savestates in between."""
        assert self.origin is not None
        parts = [
            Recording(
                self.origin.state,
                log[None],
                self.ram(number)[None],
                self._memory(),
                self.offsets,
                [self.styles[number]],
                0,
                [[]],
            )
            for number, log in enumerate(self._logs)
        ]
        return join(*parts)

    def _memory(self) -> NDArray[np.uint8]:
        """Return all bytes at the start of play; older files tell only those after one frame."""
        assert self.origin is not None
        if self.origin.memory:
            return np.frombuffer(self.origin.memory, np.uint8).copy()
        out = np.zeros(sum(span.size for span in self.origin.spans), np.uint8)
        if self.episodes:
            out[self.offsets] = self.ram(0)[0]
        return out

    def put(
        self,
        number: int,
        offsets: NDArray[np.int32],
        buttons: NDArray[np.uint16],
        ram: NDArray[np.uint8],
        style: str = "",
    ) -> None:
        """Keep an episode: the next one, or another take of an earlier one.

        A take of another length ends the tape. Without a name the style is that of the number.
        """
        self.offsets = offsets
        if number < self.episodes and len(self._logs[number]) != len(buttons):
            del self._logs[number:], self.styles[number:]
        self._file.seek(self._begins(number))
        self._file.write(np.ascontiguousarray(ram).data)
        self._file.flush()
        # Last, since Ctrl-C may come at any moment: what is not listed was not recorded.
        self.styles[number : number + 1] = [style or style_of(number)[0].name]
        self._logs[number : number + 1] = [buttons]

    def save(self, path: Path) -> None:
        """Write a compressed ``.npz``, as a whole or not at all.

        Arrays: ``ram`` uint8 [frames, kept], all episodes one after the other; ``offsets`` int32
        [kept] into the core's selected regions; ``buttons`` uint16 [frames] RetroPad masks;
        ``restarts`` int64 [episodes], the frame each episode starts at; and what is in `Origin`,
        its spans as ``regions``, ``region_starts`` and ``region_sizes``; and ``extra``.

        Raises:
            UserError: It cannot be written.
        """
        assert self.origin is not None
        origin, shape = self.origin, (self.frames, len(self.offsets))
        ram = np.zeros(shape, np.uint8)
        if ram.size:
            ram = np.memmap(self._file, np.uint8, "r", shape=shape)
        with whole_file(path, "the recording ") as file:
            np.savez_compressed(
                file,
                ram=ram,
                offsets=self.offsets,
                buttons=np.concatenate([np.zeros(0, np.uint16), *self._logs]),
                restarts=np.cumsum([0, *(len(log) for log in self._logs)], dtype=np.int64)[:-1],
                styles=texts(self.styles),
                rom_sha1=np.array(origin.rom_sha1),
                core=np.array(origin.core),
                core_version=np.array(origin.core_version),
                **span_arrays(origin.spans),
                seed=np.array(origin.seed),
                frames=np.array(origin.frames),
                start_buttons=texts(origin.start_buttons),
                action_set=texts("+".join(action) for action in origin.action_set),
                fire=texts(origin.fire),
                state=np.frombuffer(origin.state, np.uint8),
                game=np.array(origin.game),
                system=np.array(origin.system),
                fps=np.array(origin.fps),
                memory=np.frombuffer(origin.memory, np.uint8),
                **self.extra,  # type: ignore[arg-type]
            )

    @classmethod
    def load(cls, path: Path) -> Tape:
        """Read what `save` wrote.

        Raises:
            UserError: There is no such file, or it is something else, or damaged.
        """
        with reading(path, "recording", "a file that ramsearch --record or Ctrl-C has written"):
            with path.open("rb") as file, np.load(file) as arrays:
                return cls._read({name: arrays[name] for name in arrays.files})

    @classmethod
    def _read(cls, arrays: dict[str, NDArray[Any]]) -> Tape:
        tape = cls()
        tape.origin = Origin(
            str(arrays["rom_sha1"]),
            str(arrays["core"]),
            str(arrays["core_version"]),
            spans_of(arrays),
            int(arrays["seed"]),
            int(arrays["frames"]),
            tuple(arrays["start_buttons"].tolist()),
            tuple(tuple(filter(None, text.split("+"))) for text in arrays["action_set"].tolist()),
            tuple(arrays["fire"].tolist()),
            arrays["state"].tobytes(),
            str(arrays.get("game", "")),
            str(arrays.get("system", "")),
            float(arrays.get("fps", 60.0)),
            arrays["memory"].tobytes() if "memory" in arrays else b"",
        )
        restarts, offsets = arrays["restarts"].tolist(), arrays["offsets"].astype(np.int32)
        buttons, ram = arrays["buttons"].astype(np.uint16), arrays["ram"].astype(np.uint8)
        if ram.shape != (len(buttons), len(offsets)) or restarts[:1] not in ([], [0]):
            raise ValueError("its parts do not fit")
        styles = arrays["styles"].tolist() if "styles" in arrays else [""] * len(restarts)
        for number, (first, end) in enumerate(pairwise([*restarts, len(buttons)])):
            tape.put(number, offsets, buttons[first:end], ram[first:end], styles[number])
        tape.extra = {name: array for name, array in arrays.items() if name in SESSION}
        return tape


def span_arrays(spans: Sequence[Span]) -> dict[str, Any]:
    """Return the selected regions as the arrays of a ``.npz``; `spans_of` reads them."""
    return {
        "regions": texts(span.region for span in spans),
        "region_starts": np.array([span.start for span in spans], np.int64),
        "region_sizes": np.array([span.size for span in spans], np.int64),
    }


def spans_of(arrays: Mapping[str, NDArray[Any]]) -> tuple[Span, ...]:
    """Return the regions that `span_arrays` wrote."""
    columns = [arrays[name].tolist() for name in ("regions", "region_starts", "region_sizes")]
    return tuple(Span(*span) for span in zip(*columns, strict=True))


def texts(lines: Iterable[str]) -> NDArray[np.str_]:
    """Return lines of text as an array that needs no pickle."""
    return np.array(list(lines), np.str_)
