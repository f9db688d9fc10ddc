"""ROM bytes: which system they are for, and the payload below headers and byte orders."""

from __future__ import annotations

import array
from pathlib import PurePath
from typing import NamedTuple

from retrokit.systems import SYSTEMS, UNKNOWN_SYSTEM

_COPIER = 512  # bytes a copier put before the ROM
_SMD_BLOCK = 0x4000
_NINTENDO_GB = bytes.fromhex("CEED6666CC0D000B")  # the logo's first bytes
_NINTENDO_GBA = bytes.fromhex("24FFAE51699AA221")
_Z64, _V64, _N64 = b"\x80\x37\x12\x40", b"\x37\x80\x40\x12", b"\x40\x12\x37\x80"
_ATARI_SIZES = {2048, 4096, 6144, 8192, 8448, 10240, 10495, 12288, 16384, 32768, 65536}

EXTENSIONS = {ext: system for system, (_, exts) in SYSTEMS.items() for ext in exts}
"""System of each extension that belongs to one system alone; ``.bin`` belongs to many."""


class Cartridge(NamedTuple):
    """A ROM taken apart.

    Attributes:
        system: A key of ``SYSTEMS``, or ``unknown``.
        payload: The bytes that identify the game.
        data: The bytes a core is handed.
        extension: The extension that tells a core what ``data`` is, with its dot.
        problems: What may keep a core from running it.
    """

    system: str
    payload: bytes
    data: bytes
    extension: str
    problems: tuple[str, ...] = ()


def take_apart(raw: bytes, name: str, system: str | None = None) -> Cartridge:
    """Return a ROM's system and payload.

    Args:
        raw: The file's bytes, not empty.
        name: Its name; only the extension counts, and only where the bytes say nothing.
        system: The system when it is known; the bytes then only tell the header.
    """
    extension = PurePath(name).suffix.lower()
    system = system or sniff(raw) or by_name(extension, len(raw)) or UNKNOWN_SYSTEM
    payload, data, problems = _strip(raw, system)
    if data is not raw and extension in {".smd", ".n64", ".v64"}:
        extension = {"genesis": ".md", "n64": ".z64"}.get(system, extension)
    fits = EXTENSIONS.get(extension) == system or (
        extension == ".bin" and system in {"genesis", "atari2600"}
    )
    if not fits and system in SYSTEMS and SYSTEMS[system][1]:
        extension = SYSTEMS[system][1][0]
    return Cartridge(system, payload, data, extension, problems)


def by_name(extension: str, size: int) -> str | None:
    """Return the system an extension stands for; ``.bin`` only of an Atari 2600 size."""
    if extension == ".bin" and size in _ATARI_SIZES:
        return "atari2600"
    return None if extension == ".exe" else EXTENSIONS.get(extension)  # Windows has them too


def looks_like_atari(raw: bytes) -> bool:
    """Return whether the last bytes hold a 6507's reset vector: to ROM, which has A12 set."""
    return len(raw) in _ATARI_SIZES and raw[-3] & 0x10 == 0x10 and raw[-4:-2] != b"\xff\xff"


def sniff(raw: bytes) -> str | None:
    """Return the system that the bytes themselves name, below any copier header, or None."""
    for magic, offset, system in (
        (b"NES\x1a", 0, "nes"),
        (b"FDS\x1a", 0, "nes"),
        (b"\x01*NINTENDO-HVC*", 0, "nes"),
        (b"UNIF", 0, "nes"),
        (b"LYNX\0", 0, "lynx"),
        (b"ATARI7800", 1, "atari7800"),
        (b"PS-X EXE", 0, "psx"),
        (_Z64, 0, "n64"),
        (_V64, 0, "n64"),
        (_N64, 0, "n64"),
        (_NINTENDO_GBA, 0xC0, "nds"),
        (_NINTENDO_GBA, 4, "gba"),
        (b"COPYRIGHT BY SNK", 0, "ngp"),
        (b" LICENSED BY SNK", 0, "ngp"),
    ):
        if raw.startswith(magic, offset):
            return system
    for start in (0, _COPIER):
        if system_below := _sniff_rom(raw, start):
            return system_below
    if _is_interleaved(raw, _COPIER) or _is_interleaved(raw, 0):
        return "genesis"
    start = _COPIER if len(raw) % 1024 == _COPIER else 0
    return "snes" if _snes_score(raw, start) >= 3 else None


def _sniff_rom(raw: bytes, start: int) -> str | None:
    """Return the system whose header lies inside a ROM that begins at ``start``."""
    if raw.startswith(_NINTENDO_GB, start + 0x104):
        return "gbc" if raw[start + 0x143 : start + 0x144] >= b"\x80" else "gb"
    if raw.startswith(b"SEGA 32X", start + 0x100):
        return "32x"
    if raw.startswith(b"SEGA", start + 0x100) or raw.startswith(b" SEGA", start + 0x100):
        return "genesis"
    for offset in (0x7FF0, 0x3FF0, 0x1FF0):
        if raw.startswith(b"TMR SEGA", start + offset):
            region = raw[start + offset + 15] >> 4 if len(raw) > start + offset + 15 else 0
            return "gamegear" if region in {5, 6, 7} else "sms"
    return None


def _strip(raw: bytes, system: str) -> tuple[bytes, bytes, tuple[str, ...]]:
    """Return ``(payload, data, problems)``; ``data`` is ``raw`` itself where nothing changed."""
    if system == "nes":
        if raw.startswith(b"NES\x1a") and len(raw) > 16:
            return raw[16 + (512 if raw[6] & 4 and len(raw) > 528 else 0) :], raw, ()
        if raw.startswith(b"FDS\x1a") and len(raw) > 16:
            return raw[16:], raw, ()
        if raw.startswith((b"UNIF", b"\x01*NINTENDO-HVC*")):
            return raw, raw, ()
        return raw, raw, ("it has no iNES header, without which NES cores refuse it",)
    if system == "lynx" and raw.startswith(b"LYNX\0") and len(raw) > 64:
        return raw[64:], raw, ()
    if system == "atari7800" and raw.startswith(b"ATARI7800", 1) and len(raw) > 128:
        return raw[128:], raw, ()
    if system == "n64":
        rom = _big_endian(raw)
    elif system == "genesis" and _is_interleaved(raw, _COPIER):
        rom = _deinterleave(raw[_COPIER:])
    elif system == "genesis" and _is_interleaved(raw, 0):
        rom = _deinterleave(raw)
    elif _has_copier_header(raw, system):
        rom = raw[_COPIER:]
    else:
        rom = raw
    return rom, rom, ()


def _has_copier_header(raw: bytes, system: str) -> bool:
    """Return whether a ROM begins after 512 bytes: the size says so and the ROM's own header."""
    if len(raw) <= _COPIER:
        return False
    if system == "snes" and len(raw) % 1024 == _COPIER:
        below, bare = _snes_score(raw, _COPIER), _snes_score(raw, 0)
        return below > bare or (below == bare and _is_blank(raw))
    if system == "pce" and len(raw) % 0x2000 == _COPIER:
        below, bare = _pce_starts(raw, _COPIER), _pce_starts(raw, 0)
        return below > bare or (below == bare and _is_blank(raw))
    headed = len(raw) % 1024 == _COPIER and _sniff_rom(raw, 0) is None
    return headed and _sniff_rom(raw, _COPIER) is not None


def _is_blank(raw: bytes) -> bool:
    """Return whether the first 512 bytes are nearly all zero, as copiers left their header."""
    return raw.count(0, 16, _COPIER) >= _COPIER - 32


def _snes_score(raw: bytes, start: int) -> int:
    """Return how much the best place for a SNES header looks like one, 0 to 5."""
    best = 0
    for offset in (0x7FC0, 0xFFC0, 0x40FFC0):
        head = raw[start + offset : start + offset + 64]
        if len(head) < 64:
            continue
        checksum, complement = int.from_bytes(head[30:32], "little"), head[28:30]
        agrees = checksum ^ int.from_bytes(complement, "little") == 0xFFFF
        titled = all(32 <= byte < 127 for byte in head[:21])
        mapped = head[21] & 0xE0 == 0x20 and 7 <= head[23] <= 13
        boots = head[61] >= 0x80  # the reset vector points into ROM
        best = max(best, (2 if agrees else 0) + titled + (mapped and boots) + (titled and mapped))
    return best


def _pce_starts(raw: bytes, start: int) -> bool:
    """Return whether the reset vector at the first bank's end points into that bank."""
    high = raw[start + 0x1FFF] if len(raw) > start + 0x1FFF else 0
    return high >= 0xE0 or high & 7 == 7  # American cards have their bits reversed


def _is_interleaved(raw: bytes, start: int) -> bool:
    """Return whether the first 16 kB block at ``start`` reads SEGA once put in order."""
    if len(raw) - start < _SMD_BLOCK or (len(raw) - start) % _SMD_BLOCK:
        return False
    odd, even = raw[start + 0x80 : start + 0x83], raw[start + 0x2080 : start + 0x2083]
    return bytes(byte for pair in zip(even, odd, strict=True) for byte in pair) in {
        b"SEGA M",
        b"SEGA G",
        b"SEGA 3",
        b"SEGA S",
        b" SEGA ",
    }


def _deinterleave(rom: bytes) -> bytes:
    """Return an SMD ROM in order: each 16 kB block holds its odd bytes, then its even ones."""
    out = bytearray(len(rom))
    for block in range(0, len(rom), _SMD_BLOCK):
        middle, end = block + _SMD_BLOCK // 2, block + _SMD_BLOCK
        out[block + 1 : end : 2] = rom[block:middle]
        out[block:end:2] = rom[middle:end]
    return bytes(out)


def _big_endian(raw: bytes) -> bytes:
    """Return a Nintendo 64 ROM in the byte order of the machine (``.z64``)."""
    typecode = {_V64: "H", _N64: "I"}.get(raw[:4])
    if typecode is None or len(raw) % array.array(typecode).itemsize:
        return raw
    words = array.array(typecode, raw)
    words.byteswap()
    return words.tobytes()
