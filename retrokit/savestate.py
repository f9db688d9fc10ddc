"""Savestates on their way in and out: our header, and the containers other frontends write.

A core believes any bytes of about the right size, so the header says whose state it is and the
checks happen before the core sees a byte (facts/cores.md: fceumm, gambatte and mgba "load" random
bytes; Stella aborts on them).
"""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass

from .errors import SavestateRefused

MAGIC = b"RKSTATE1"
# magic, crc32 of the body, body size, sha1 of "name\0version", sha1 of the content's payload
HEADER = struct.Struct("<8sIQ20s20s")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose savestate it is: core (name and version) and content, as 20-byte SHA-1 digests."""

    core: bytes
    content: bytes


def pack(body: bytes | bytearray, owner: Owner) -> bytes:
    """Return ``body`` with our header in front."""
    return HEADER.pack(MAGIC, zlib.crc32(body), len(body), owner.core, owner.content) + body


def unpack(state: bytes, owner: Owner, size: int) -> bytes | memoryview:
    """Return the core's own bytes of a savestate.

    Args:
        state: Bytes with our header; a RetroArch ``RASTATE`` or ``#RZIPv1#`` container or a gzip
            file is taken too, when what is inside has the right size.
        owner: Who is about to load it.
        size: Bytes the core's savestates have now.

    Raises:
        SavestateRefused: Damaged, of another core, version or content, or of a wrong size.
    """
    if state[:8] == MAGIC:
        return _checked(state, owner)  # of whatever size it had: it may change while a game runs
    body = _foreign(state)
    if len(body) != size:
        raise SavestateRefused(
            f"savestate of {len(body)} bytes",
            f"{size} bytes, the size this core saves",
            "It was made by another core, core version or game.",
        )
    return body


def body_of(state: bytes, owner: Owner) -> memoryview:
    """Return the core's bytes of a state from `pack`; all is checked but the sum, which is slow."""
    if state[:8] != MAGIC:
        raise SavestateRefused("bytes without our header", "a savestate from Core.save()")
    return _checked(state, owner, summed=False)


def _checked(state: bytes, owner: Owner, *, summed: bool = True) -> memoryview:
    if len(state) < HEADER.size:
        raise SavestateRefused(f"savestate cut off after {len(state)} bytes")
    _, crc, size, core, content = HEADER.unpack_from(state)
    body = memoryview(state)[HEADER.size :]
    if len(body) != size:
        raise SavestateRefused(f"savestate body of {len(body)} bytes", f"{size} bytes")
    if core != owner.core:
        raise SavestateRefused("savestate of another core or version", remedy="Make it anew.")
    if content != owner.content:
        raise SavestateRefused("savestate of another game", remedy="Load that game first.")
    if summed and zlib.crc32(body) != crc:
        raise SavestateRefused("savestate with a wrong checksum", remedy="The file is damaged.")
    return body


def _foreign(given: bytes) -> bytes:
    state = given
    if state[:2] == b"\x1f\x8b":
        try:
            state = gzip.decompress(state)
        except (OSError, EOFError, zlib.error) as error:
            raise SavestateRefused(f"damaged gzip savestate ({error})") from None
    if state[:5] == b"#RZIP":
        state = _rzip(state)
    if state[:7] == b"RASTATE":
        return _rastate(state)
    if state is given:  # a core would believe them: Stella aborts, gambatte segfaults
        raise SavestateRefused("bare bytes", "a savestate with a header, ours or RetroArch's")
    return state


def _rzip(state: bytes) -> bytes:
    """Inflate RetroArch's chunked container: magic ``#RZIPv`` 1 ``#``, chunk size, total size."""
    if state[:8] != b"#RZIPv\x01#":
        raise SavestateRefused(f"RZIP savestate of version {state[6:7].hex() or '?'}", "version 01")
    try:
        total = struct.unpack_from("<Q", state, 12)[0]
        out, at = b"", 20
        while at < len(state):
            length = struct.unpack_from("<I", state, at)[0]
            out += zlib.decompress(state[at + 4 : at + 4 + length])
            at += 4 + length
    except (struct.error, zlib.error) as error:
        raise SavestateRefused(f"damaged RZIP savestate ({error})") from None
    if len(out) != total:
        raise SavestateRefused(f"RZIP savestate of {len(out)} bytes", f"{total} bytes")
    return out


def _rastate(state: bytes) -> bytes:
    """Take the MEM block out of RetroArch's container: magic, version, then 8-aligned blocks."""
    at = 8
    while at + 8 <= len(state):
        name, length = state[at : at + 4], struct.unpack_from("<I", state, at + 4)[0]
        if name == b"MEM ":
            return state[at + 8 : at + 8 + length]
        at += 8 + (length + 7) // 8 * 8
    raise SavestateRefused("RASTATE file without a MEM block")
