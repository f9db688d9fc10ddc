"""The compiled host as Python sees it; the only module that imports ``retrokit._host``.

Functions take the raw handle of one core instance; `retrokit.core.Core` is what everybody uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import CoreError

try:
    from .._host import ffi as ffi
    from .._host import lib as lib
except ImportError as error:  # pragma: no cover - needs a broken installation
    raise CoreError(
        f"the compiled host is missing ({error})", remedy="Install again: pip install ."
    ) from None

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CoreInfo:
    """What a core says of itself; sizes in pixels, rotation in degrees counter-clockwise."""

    name: str
    version: str
    extensions: tuple[str, ...]
    need_fullpath: bool
    supports_no_game: bool
    fps: float
    sample_rate: float
    base_size: tuple[int, int]
    max_size: tuple[int, int]
    aspect: float
    pixel_format: str
    rotation: int
    asks_av_enable: bool
    asks_hardware: bool
    shutdown: bool
    savestate_size: int
    savestate_quirks: int
    dupes: int
    oversize: int


@dataclass(frozen=True, slots=True)
class Region:
    """A named block of memory; ``start`` is the console's own address where the core gives it."""

    id: int
    name: str
    size: int
    flags: int
    start: int


class Branches(NamedTuple):
    """What `Core.branch` saw, per branch and capture; parts not asked for are empty."""

    ram: Bytes  # [branches, captures, kept]
    hashes: NDArray[np.uint64]  # [branches, captures]
    pictures: NDArray[np.uint16]  # [branches, captures, height, width], upright RGB565


class Counts(NamedTuple):
    """How every selected byte moved in the frames of `Core.count`, added up over several calls.

    Memory is compared in lines of 64 bytes. A byte's change is *alone* where at most half of its
    line changes with it, and goes *back* where it undoes the byte's last change alone. An episode
    begins with what the bytes are in ``before``.
    """

    changes: NDArray[np.uint32]  # [bytes]: frames in which it changed, but not all of its line
    alone: NDArray[np.uint32]  # [bytes]: of those, the ones alone
    back: NDArray[np.uint32]  # [bytes]: of those alone, the ones that go back
    steps: NDArray[np.uint64]  # [bytes]: a bit for each step of those alone, modulo 64
    before: NDArray[np.uint8]  # [bytes]: its value before its last change alone
    whole: NDArray[np.uint32]  # [lines]: frames in which all of the line changed
    most: int  # a line all of whose bytes changed in more frames is counted no further

    @classmethod
    def of(cls, size: int, most: int) -> Self:
        """Return counts of nothing yet, for so many bytes."""
        changes, alone, back = (np.zeros(size, np.uint32) for _ in range(3))
        steps, before = np.zeros(size, np.uint64), np.zeros(size, np.uint8)
        return cls(changes, alone, back, steps, before, np.zeros(size // 64, np.uint32), most)

    @property
    def added(self) -> tuple[NDArray[np.uint32], ...]:
        """The arrays that several counts of the same bytes are added up by."""
        return self.changes, self.alone, self.back, self.whole

    def total(self) -> NDArray[np.uint32]:
        """Return the frames in which each byte changed, uint32 [bytes]."""
        out = self.changes.copy()
        out[: 64 * len(self.whole)] += np.repeat(self.whole, 64)
        return out


SMALL_MAP = 1 << 16  # descriptors beyond SYSTEM_RAM are searched only up to this size
CONST_MAP = 1  # RETRO_MEMDESC_CONST
BOXES = 16
_boxes: list[Any] = []  # black boxes in shared memory, set in the child of a sandbox


def box_bytes(count: int = BOXES) -> int:
    """Return the size of so many black boxes."""
    return count * int(ffi.sizeof("rk_blackbox"))


def boxes_in(memory: Any) -> list[Any]:
    """Return the black boxes in a writable buffer of `box_bytes` bytes, valid while it lives."""
    array = ffi.from_buffer("rk_blackbox[]", memory, require_writable=True)
    return [ffi.addressof(array, number) for number in range(len(array))]


def use_boxes(memory: Any) -> None:
    """Let every core opened from now on keep its black box in ``memory``; catch fatal signals."""
    _boxes[:] = boxes_in(memory)
    lib.rk_catch_signals()


def take_box() -> Any:
    """Return the next black box in turn; null outside a sandbox."""
    if not _boxes:
        return ffi.NULL
    _boxes.append(_boxes.pop(0))
    return _boxes[-1]


def call_name(call: int) -> str:
    """Return the libretro function behind a black box's call number; empty outside the core."""
    return text(lib.rk_call_name(call))


def text(raw: Any) -> str:
    """Return a C string as text; a null pointer is empty."""
    return "" if raw == ffi.NULL else ffi.string(raw).decode("utf-8", "replace")


def last_error() -> str:
    """Return why the host's latest failing call on this thread failed."""
    return text(lib.rk_error())


def check(result: int, kind: type[CoreError] = CoreError) -> None:
    """Raise ``kind`` with the host's reason unless a call succeeded."""
    if result <= 0:
        raise kind(last_error())


def pointer(kind: str, array: NDArray[Any] | None) -> Any:
    """Return a C pointer to an array's data; null for None and for empty arrays."""
    return ffi.NULL if array is None or array.size == 0 else ffi.from_buffer(kind, array)


def core_info(host: Any) -> CoreInfo:
    """Return what a core says of itself, as of now."""
    raw = ffi.new("rk_info *")
    lib.rk_get_info(host, raw)
    return CoreInfo(
        name=text(raw.name),
        version=text(raw.version),
        extensions=tuple(filter(None, text(raw.extensions).split("|"))),
        need_fullpath=bool(raw.need_fullpath),
        supports_no_game=bool(raw.supports_no_game),
        fps=raw.fps,
        sample_rate=raw.sample_rate,
        base_size=(raw.base_width, raw.base_height),
        max_size=(raw.max_width, raw.max_height),
        aspect=raw.aspect,
        pixel_format=("0RGB1555", "XRGB8888", "RGB565")[raw.pixel_format],
        rotation=raw.rotation,
        asks_av_enable=bool(raw.asks_av_enable),
        asks_hardware=bool(raw.asks_hardware),
        shutdown=bool(raw.shutdown),
        savestate_size=raw.savestate_size,
        savestate_quirks=raw.savestate_quirks,
        dupes=raw.dupes,
        oversize=raw.oversize,
    )


def core_options(host: Any) -> dict[str, dict[str, Any]]:
    """Return value, default and allowed values of each core option."""
    out: dict[str, dict[str, Any]] = {}
    option = ffi.new("rk_option *")
    while lib.rk_option_get(host, len(out), option) > 0:
        out[text(option.key)] = {
            "value": text(option.value),
            "default": text(option.default_value),
            "values": list(filter(None, text(option.values).split("|"))),
        }
    return out


def core_inputs(host: Any) -> list[tuple[int, int, int, int, str]]:
    """Return the input descriptors: port, device, index, id, the game's name for it."""
    out: list[tuple[int, int, int, int, str]] = []
    raw = ffi.new("rk_input *")
    while lib.rk_input_get(host, len(out), raw) > 0:
        out.append((raw.port, raw.device, raw.index, raw.id, text(raw.description)))
    return out


def core_log(box: Any) -> list[str]:
    """Return the log lines in a black box (at most 200), oldest first."""
    count = box.log_count
    return [text(box.log[n % 200]) for n in range(max(0, count - 200), count)]


def core_regions(host: Any) -> list[tuple[Region, Any]]:
    """Return the regions offered now, each with its pointer."""
    raw = ffi.new("rk_region[]", 64)
    count = lib.rk_regions(host, raw, 64)
    return [(Region(r.id, text(r.name), r.size, r.flags, r.start), r.data) for r in raw[0:count]]


def searchable(regions: list[tuple[Region, Any]]) -> list[Region]:
    """Return SYSTEM_RAM and the small writable maps that do not lie inside what is taken."""
    taken: list[tuple[int, int]] = []
    chosen: list[Region] = []
    for region, data in sorted(regions, key=lambda r: r[0].name != "SYSTEM_RAM"):
        start = int(ffi.cast("uintptr_t", data))
        wanted = region.name == "SYSTEM_RAM" or (
            region.name.startswith("MAP_")
            and 0 < region.size <= SMALL_MAP
            and not region.flags & CONST_MAP
        )
        if wanted and all(start + region.size <= a or start >= b for a, b in taken):
            chosen.append(region)
            taken.append((start, start + region.size))
    return chosen


def record(
    host: Any,
    buttons: NDArray[np.uint16],
    kept: NDArray[np.int32] | None,
    every: int,
    size: tuple[int, int],
) -> tuple[Bytes, NDArray[np.uint16]]:
    """Run one button log; see `Core.record`."""
    buttons = np.ascontiguousarray(buttons, np.uint16)
    if buttons.ndim != 1:
        raise ValueError("buttons must be one mask a frame")
    n_kept = 0 if kept is None else len(kept)
    ram = np.empty((len(buttons), n_kept), np.uint8)
    shown = len(buttons) // every if every else 0
    pictures = np.empty((shown, size[1], size[0]), np.uint16)
    check(
        lib.rk_record(
            host,
            len(buttons),
            pointer("uint16_t[]", buttons),
            pointer("int32_t[]", kept),
            n_kept,
            pointer("uint8_t[]", ram),
            every,
            pointer("uint16_t[]", pictures),
            size[0],
            size[1],
        )
    )
    return ram, pictures


def count(host: Any, buttons: NDArray[np.uint16], counts: Counts, size: int) -> None:
    """Run one button log and count how ``size`` selected bytes move; see `Core.count`."""
    if any(len(array) != size for array in counts[:5]):
        raise ValueError(f"counts must be of {size} bytes")
    buttons = np.ascontiguousarray(buttons, np.uint16)
    raw = ffi.new("rk_counts *", {"most": counts.most})
    held = [pointer("uint32_t[]", array) for array in counts.added]
    raw.changes, raw.alone, raw.back, raw.whole = held
    raw.steps, raw.before = pointer("uint64_t[]", counts.steps), pointer("uint8_t[]", counts.before)
    check(lib.rk_count(host, len(buttons), pointer("uint16_t[]", buttons), raw))


def branch(
    host: Any,
    body: memoryview,
    buttons: NDArray[np.uint16],
    captures: Sequence[int],
    pokes: tuple[NDArray[Any], NDArray[Any]] | None,
    branches: int | None,
    kept: NDArray[np.int32] | None,
    hashes: bool,
    size: tuple[int, int] | None,
) -> Branches:
    """Run many futures of one savestate; see `Core.branch`."""
    buttons = np.ascontiguousarray(buttons, np.uint16)
    shared = buttons.ndim == 1
    offsets = values = None
    if pokes is not None:
        offsets = np.ascontiguousarray(pokes[0], np.int32)
        values = np.ascontiguousarray(pokes[1], np.uint8)
        if offsets.shape != values.shape or offsets.ndim != 2:
            raise ValueError("pokes are two arrays [branches, pokes] of one shape")
    count = branches or (len(offsets) if offsets is not None else 1 if shared else len(buttons))
    if not shared and len(buttons) != count or offsets is not None and len(offsets) != count:
        raise ValueError("buttons, pokes and branches disagree on the number of branches")
    looks = np.ascontiguousarray(captures, np.uint32)
    if not len(looks) or (looks[1:] < looks[:-1]).any() or looks[-1] > buttons.shape[-1]:
        raise ValueError("captures must ascend and lie within the button log")
    n_kept = 0 if kept is None else len(kept)
    ram = np.empty((count, len(looks), n_kept), np.uint8)
    seen = np.zeros((count, len(looks)) if hashes else (0, 0), np.uint64)
    width, height = size or (0, 0)
    pictures = np.empty((count, len(looks), height, width), np.uint16)
    check(
        lib.rk_branch(
            host,
            ffi.from_buffer("uint8_t[]", body),
            len(body),
            count,
            buttons.shape[-1],
            pointer("uint16_t[]", buttons),
            shared,
            0 if offsets is None else offsets.shape[1],
            pointer("int32_t[]", offsets),
            pointer("uint8_t[]", values),
            len(looks),
            pointer("uint32_t[]", looks),
            pointer("int32_t[]", kept),
            n_kept,
            pointer("uint8_t[]", ram),
            pointer("uint64_t[]", seen),
            pointer("uint16_t[]", pictures),
            width,
            height,
        )
    )
    return Branches(ram, seen, pictures)
