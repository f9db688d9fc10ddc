"""Content and its members: what was found in a file, and how it is hashed."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from retrokit.errors import ContentError

IN_MEMORY_LIMIT = 1 << 30
"""Bytes a ROM may have; only disc images, which are never read whole, may be larger."""

Kind = Literal["rom", "romset", "romdata", "disc", "playlist"]


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an arcade romset.

    Attributes:
        name: Its name without folders.
        size: Its size in bytes.
        crc32: Its CRC32, 8 hexadecimal digits.
        sha1: Its SHA-1, 40 hexadecimal digits; empty when only listed by a ``.dat``.
    """

    name: str
    size: int
    crc32: str
    sha1: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What a core loads, and who it is.

    The identity (``sha1``) is that of the payload: the same game bare, under a header, in an
    archive or in another byte order is one identity. An arcade romset is identified by the SHA-1
    of its members' sorted ``crc32:size`` lines, so that names, order and compression don't matter.

    Attributes:
        path: The file that was given.
        name: The ROM's stem; of arcade content the romset's name.
        system: A key of ``systems.SYSTEMS``, or ``unknown``.
        sha1: Identity of the payload, 40 hexadecimal digits, lower case.
        file_sha1: SHA-1 of the file as it lies on disk.
        size: Bytes of payload.
        crc32: CRC32 of what ``sha1`` is the hash of, 8 hexadecimal digits; of a disc it is empty.
        kind: ``rom``, ``romset`` (arcade zip), ``romdata`` (arcade zip with its ``.dat``), ``disc``
            or ``playlist``.
        core_path: The path to tell the core. Where the content was unpacked or re-ordered it is a
            name below ``path`` that does not exist; ``as_file`` makes it one.
        data: What a core is handed in memory: with an iNES header, without a copier header, in
            the system's own byte order. None for arcade romsets and discs, which go by path.
        members: The files of an arcade romset, sorted by name.
        problems: What may keep a core from running it, one clause each.
    """

    path: Path
    name: str
    system: str
    sha1: str
    file_sha1: str
    size: int
    crc32: str
    kind: Kind
    core_path: Path
    data: bytes | None = field(default=None, repr=False)
    members: tuple[Member, ...] = ()
    problems: tuple[str, ...] = ()

    def has_sha1(self, sha1s: Collection[str]) -> bool:
        """Return whether one of the hashes, in any case, is of the payload or of the file."""
        wanted = {sha1.strip().lower() for sha1 in sha1s}
        return self.sha1 in wanted or self.file_sha1 in wanted

    def as_file(self, folder: Path) -> Path:
        """Return the path of a file for a core that loads by path.

        Args:
            folder: Where to write content that was unpacked or re-ordered; it is the caller's to
                delete, once the core is closed.
        """
        if self.data is None or self.core_path.is_file():
            return self.core_path
        file = folder / self.core_path.name
        file.write_bytes(self.data)
        return file


def sha1_of(data: bytes) -> str:
    """Return the SHA-1 of bytes as 40 hexadecimal digits."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def crc32_of(data: bytes) -> str:
    """Return the CRC32 of bytes as 8 hexadecimal digits."""
    return f"{zlib.crc32(data):08x}"


def sha1_of_file(path: Path) -> str:
    """Return the SHA-1 of a file of any size.

    Raises:
        ContentError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha1").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> ContentError:
    """Return the error for a file that the system will not let us read."""
    reason = error.strerror or type(error).__name__
    return ContentError(f"{path} cannot be read: {reason}", "a readable file")
