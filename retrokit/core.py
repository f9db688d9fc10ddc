"""A libretro core in this process: open, run, look, read and write RAM, save and restore.

Everything slow happens in C with the GIL released,
so several cores run in several threads; calls on one core must not overlap.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from . import savestate
from .content import Content
from .errors import CoreError, CoreStateError, LoadRefused, NoMemory, SavestateRefused, UserError
from .host import binding
from .host.binding import Branches, CoreInfo, Counts, Region, check, ffi, lib
from .systems import CoreSpec, FoundCore

__all__ = ["Branches", "Core", "CoreInfo", "Counts", "Region", "Span"]
Bytes = NDArray[np.uint8]
Ints = Sequence[int] | NDArray[Any]
SAVESTATE = "SAVESTATE"
STATE_REGION = Region(lib.RK_SAVESTATE_REGION, SAVESTATE, 0, 0, 0)


class Span(NamedTuple):
    """Where a selected region lies in the one piece that `Core.read` returns."""

    region: str
    start: int
    size: int


class Core:
    """One core instance with its own private copy of the shared object.

    Args:
        found: Where the core lies and what is known of it.
        options: Core options by key, over the core's own and cores.toml's defaults.
        private: Load a private copy (the default), so that instances share no globals.

    Raises:
        CoreError: The file is no libretro core or cannot be loaded.
    """

    home: NDArray[np.uint16] | None = None  # buttons that bring back what savestates leave out
    may_forget = True  # whether savestates may leave out anything so; true until it was asked

    def __init__(
        self,
        found: FoundCore,
        *,
        options: Mapping[str, str] | None = None,
        private: bool = True,
    ) -> None:
        self._host: Any = None
        self.found = found
        self.spec: CoreSpec = found.spec
        self.content: Content | None = None
        self._process = os.getpid()
        # A fresh save directory a run: FBNeo writes EEPROM files that would change the next boot.
        self._folder = tempfile.TemporaryDirectory(prefix="retrokit-")
        system = os.environ.get("RETROKIT_SYSTEM") or os.path.join(self._folder.name, "system")
        save = os.path.join(self._folder.name, "save")
        for folder in (system, save):
            os.makedirs(folder, exist_ok=True)
        host = lib.rk_open(
            os.fsencode(found.path),
            private,
            os.fsencode(self._folder.name),
            os.fsencode(os.path.abspath(system)),
            os.fsencode(save),
            binding.take_box(),
        )
        if host == ffi.NULL:
            self._folder.cleanup()
            raise CoreError(f"cannot open the core {found.path}: {binding.last_error()}")
        self._host = host
        for key, value in {**self.spec.options, **(options or {})}.items():
            lib.rk_option_set(host, key.encode(), str(value).encode())
        self._spans: tuple[Span, ...] = ()

    @classmethod
    def open(
        cls,
        found: FoundCore,
        content: Content | None,
        *,
        options: Mapping[str, str] | None = None,
    ) -> Core:
        """Open a core and load content; nothing stays open when either fails."""
        core = cls(found, options=options)
        try:
            core.load_content(content)
        except BaseException:
            core.close()
            raise
        return core

    def load_content(self, content: Content | None) -> None:
        """Load content once; None starts a core that runs without.

        Raises:
            LoadRefused: The core refused, or accepted and then offers nothing (FBNeo returns true
                and shows an error screen).
        """
        host = self.handle()
        path, body = content.core_path if content else None, b""
        if content is not None and self.info.need_fullpath:
            path = content.as_file(Path(self._folder.name))
        elif content is not None:
            body = content.core_path.read_bytes() if content.data is None else content.data
        where = os.fsencode(os.path.abspath(path)) if path else ffi.NULL
        data = ffi.from_buffer(body) if path and not self.info.need_fullpath else ffi.NULL
        if lib.rk_load(host, where, data, len(body)) <= 0:
            raise self._refusal(content, binding.last_error())
        self.content = content
        names = [region.name for region in self.regions()]
        if "true_on_refusal" in self.spec.quirks and "SYSTEM_RAM" not in names:
            wanted = "a romset this core version knows, complete and under its own name"
            raise self._refusal(content, "it returned true but shows an error screen", wanted)
        self.owner = savestate.Owner(
            hashlib.sha1(f"{self.info.name}\0{self.info.version}".encode()).digest(),
            bytes.fromhex(content.sha1) if content is not None else bytes(20),
        )
        self.select()

    def _refusal(self, content: Content | None, why: str, wanted: str = "") -> LoadRefused:
        name = content.path.name if content is not None else "to run without content"
        log = [line for line in self.log() if line.startswith(("error", "warning"))] or self.log()
        said = "The core's log: " + " | ".join(log[-3:]) if log else "The core logged nothing."
        return LoadRefused(f"{self.info.name} refused {name}: {why}", wanted, said)

    def close(self) -> None:
        """Unload, deinit and unmap the core, in this order and once; closing twice is harmless."""
        host, self._host = self._host, None
        if host is not None:
            lib.rk_close(host)
            if os.getpid() == self._process:  # a forked child leaves the folder to its parent
                self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the core."""
        self.close()

    def __del__(self) -> None:
        """Close what was left open."""
        if getattr(self, "_host", None) is not None:
            self.close()

    def handle(self) -> Any:
        """Return the host's raw handle."""
        if self._host is None:
            raise CoreStateError("the core is closed", remedy="Open it anew.")
        return self._host

    # -- what it is ------------------------------------------------------------------------------

    @property
    def info(self) -> CoreInfo:
        """What the core says of itself, as of now."""
        return binding.core_info(self.handle())

    def options(self) -> dict[str, dict[str, Any]]:
        """Return the core's options: value, default and allowed values by key."""
        return binding.core_options(self.handle())

    def set_option(self, key: str, value: str) -> None:
        """Override a core option; the core sees it at its next frame."""
        lib.rk_option_set(self.handle(), key.encode(), value.encode())

    def inputs(self) -> list[tuple[int, int, int, int, str]]:
        """Return the input descriptors: port, device, index, id, the game's name for it."""
        return binding.core_inputs(self.handle())

    def log(self) -> list[str]:
        """Return the core's last log lines (at most 200), oldest first."""
        return binding.core_log(lib.rk_box(self.handle()))

    # -- running ---------------------------------------------------------------------------------

    def run(self, frames: int = 1, buttons: int | Sequence[int] = 0, *, see: bool = True) -> None:
        """Run frames in C with the GIL released.

        Args:
            frames: How many retro_run calls, >= 0.
            buttons: RetroPad mask held for all of them; one mask a port for several players.
            see: Keep the last frame's picture for `frame`.
        """
        ports = [buttons] if isinstance(buttons, (int, np.integer)) else list(buttons)
        masks = ffi.new("uint16_t[]", [int(mask) for mask in ports])
        check(lib.rk_run(self.handle(), frames, masks, len(ports), see))

    def reset(self) -> None:
        """Press the console's reset switch."""
        check(lib.rk_reset(self.handle()))

    def set_av(self, seen: int = 9, unseen: int = 8) -> None:
        """Set the GET_AUDIO_VIDEO_ENABLE flags of seen and unseen frames, for cores that ask.

        Bits: 0 video, 1 audio, 2 fast savestates, 3 audio off for good.
        """
        lib.rk_set_av(self.handle(), seen, unseen)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width and height of the upright picture in pixels.

        Raises:
            CoreStateError: No frame has been seen since load, reset or restore.
        """
        width, height = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        if lib.rk_frame_size(self.handle(), width, height) <= 0:
            raise CoreStateError(binding.last_error())
        return width[0], height[0]

    def frame(self, size: tuple[int, int] | None = None, *, grey: bool = False) -> Bytes:
        """Return the last seen frame, upright.

        Args:
            size: Width and height to resize to by area; None keeps the core's own.
            grey: Luma (ITU-R BT.601) instead of RGB.

        Returns:
            uint8 [height, width, 3] RGB, or [height, width] grey; a copy.
        """
        width, height = size or self.frame_size
        out = np.empty((height, width) if grey else (height, width, 3), np.uint8)
        pixels = ffi.from_buffer("uint8_t[]", out)
        check(lib.rk_frame(self.handle(), pixels, width, height, 1 if grey else 3), CoreStateError)
        return out

    # -- memory ----------------------------------------------------------------------------------

    def regions(self) -> list[Region]:
        """Return the memory the core offers now; empty before content is loaded."""
        return [region for region, _ in binding.core_regions(self.handle())]

    @property
    def memory(self) -> dict[str, Bytes]:
        """Live, writable views by region name, uint8 [size].

        They are valid until the next run, reset, restore or close: cores move their RAM. The
        savestate of a core without regions appears as ``SAVESTATE``, a read-only copy.
        """
        views = {
            region.name: np.frombuffer(ffi.buffer(data, region.size), np.uint8)
            for region, data in binding.core_regions(self.handle())
        }
        if any(span.region == SAVESTATE for span in self._spans):
            views[SAVESTATE] = np.frombuffer(savestate.body_of(self.save(), self.owner), np.uint8)
        return views

    def select(self, names: Sequence[str] | None = None) -> tuple[Span, ...]:
        """Choose the regions that `read`, `poke`, `record` and `branch` see as one piece.

        Args:
            names: Region names; None takes SYSTEM_RAM and the small writable maps beside it, or
                the savestate where a core offers no memory at all (possibly nothing).
        """
        regions = binding.core_regions(self.handle())
        if names is None:
            chosen = binding.searchable(regions)
            if not chosen or self.spec.memory == "savestate":
                chosen = [STATE_REGION] if self.info.savestate_size else []
        else:
            known = {**{region.name: region for region, _ in regions}, SAVESTATE: STATE_REGION}
            unknown = [name for name in names if name not in known]
            if unknown:
                raise UserError(f"no memory region {unknown[0]}", "one of " + " ".join(known))
            chosen = [known[name] for name in names]
        total = lib.rk_select(self.handle(), [region.id for region in chosen], len(chosen))
        if total < 0:
            raise CoreError(binding.last_error())
        plain = sum(region.size for region in chosen)  # the savestate's size is in the total alone
        spans: list[Span] = []
        for region in chosen:
            size = region.size if region.name != SAVESTATE else total - plain
            spans.append(Span(region.name, spans[-1].start + spans[-1].size if spans else 0, size))
        self._spans = tuple(span for span in spans if span.size)
        return self._spans

    @property
    def spans(self) -> tuple[Span, ...]:
        """The selected regions and where each lies in the one piece."""
        return self._spans

    @property
    def ram_size(self) -> int:
        """Bytes in the selected regions."""
        return sum(span.size for span in self._spans)

    def read(self) -> Bytes:
        """Return a copy of the selected regions in one piece, uint8 [ram_size]."""
        if not self._spans:
            raise NoMemory(f"{self.info.name} offers no memory and no savestate to search")
        ram = np.empty(self.ram_size, np.uint8)
        check(lib.rk_read(self.handle(), ffi.from_buffer("uint8_t[]", ram)))
        return ram

    def poke(self, offsets: Ints, values: Ints) -> None:
        """Write bytes at offsets of the selected regions."""
        at = self._offsets(np.asarray(offsets, np.int32))
        body = bytes(np.broadcast_to(np.asarray(values, np.uint8), at.shape))
        check(lib.rk_poke(self.handle(), ffi.from_buffer("int32_t[]", at), body, len(at)))

    # -- savestates ------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Return a savestate with our header (core, version, content, size, checksum)."""
        size = lib.rk_savestate_size(self.handle())  # asked anew: it may change while a game runs
        body = bytearray(size)
        if not size or lib.rk_save(self._host, ffi.from_buffer(body), size) <= 0:
            raise CoreError(f"{self.info.name} cannot save its state")
        return savestate.pack(body, self.owner)

    def load(self, state: bytes) -> None:
        """Restore a savestate; inputs are released, and there is no picture until a frame ran.

        Raises:
            SavestateRefused: It is damaged, foreign or of a wrong size, or the core refused it.
        """
        body = savestate.unpack(state, self.owner, lib.rk_savestate_size(self.handle()))
        check(lib.rk_restore(self._host, ffi.from_buffer(body), len(body)), SavestateRefused)

    # -- whole loops in C ------------------------------------------------------------------------

    def record(
        self,
        buttons: NDArray[np.uint16],
        kept: NDArray[np.int32] | None = None,
        *,
        every: int = 0,
        size: tuple[int, int] = (0, 0),
    ) -> tuple[Bytes, NDArray[np.uint16]]:
        """Run one button log and keep RAM bytes and pictures.

        Args:
            buttons: uint16 [frames] RetroPad masks of port 0.
            kept: int32 [kept] offsets into the selected regions; None keeps no RAM.
            every: Keep a picture every so many frames; 0 keeps none.
            size: Width and height of those pictures; the core's own is cut or padded to it.

        Returns:
            ram uint8 [frames, kept] after each frame; pictures uint16 [frames // every, h, w].
        """
        checked = None if kept is None else self._offsets(kept)
        return binding.record(self.handle(), buttons, checked, every, size)

    def count(self, buttons: NDArray[np.uint16], counts: Counts) -> None:
        """Run one button log; add to ``counts``, of `ram_size` bytes, how each of them moves."""
        binding.count(self.handle(), buttons, counts, self.ram_size)

    def branch(
        self,
        state: bytes,
        buttons: NDArray[np.uint16],
        captures: Sequence[int],
        *,
        pokes: tuple[NDArray[Any], NDArray[Any]] | None = None,
        branches: int | None = None,
        kept: NDArray[np.int32] | None = None,
        hashes: bool = False,
        size: tuple[int, int] | None = None,
    ) -> Branches:
        """Run many futures of one savestate: restore, poke, press, look.

        Stella keeps paddles outside its savestates: there, what ran before a restore still shows.

        Args:
            state: From `save`.
            buttons: uint16 [frames] shared by all, or [branches, frames].
            captures: Frames run so far at each look, ascending, within the button log.
            pokes: Offsets and values, int [branches, pokes] each; an offset of -1 writes nothing.
            branches: Their number when neither buttons nor pokes tell it.
            kept: int32 [kept] offsets to read at each look; None reads none.
            hashes: Keep a 64-bit hash of each picture.
            size: Width and height to keep pictures in; None keeps none.
        """
        checked = None if kept is None else self._offsets(kept)
        if pokes is not None:
            pokes = (self._offsets(pokes[0], least=-1), pokes[1])
        body = savestate.body_of(state, self.owner)
        seen = (buttons, captures, pokes, branches, checked, hashes, size)
        return binding.branch(self.handle(), body, *seen)

    def _offsets(self, offsets: NDArray[Any], least: int = 0) -> NDArray[np.int32]:
        if offsets.size and (offsets.min() < least or offsets.max() >= self.ram_size):
            raise ValueError(f"offsets must lie in 0..{self.ram_size - 1}")
        return np.ascontiguousarray(offsets, np.int32)
