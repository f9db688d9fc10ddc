"""Zip and gzip: what lies in them, and which of it is a game."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from retrokit.content.cartridge import EXTENSIONS, looks_like_atari, sniff, take_apart
from retrokit.content.model import IN_MEMORY_LIMIT, Member, crc32_of, sha1_of
from retrokit.errors import ContentError

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError),
    *(OSError, IndexError),
)
_OTHERS = 3  # this many other files beside a ROM make a romset
_DOCUMENTS = {
    *(".txt", ".nfo", ".diz", ".me", ".1st", ".doc", ".pdf", ".htm", ".html", ".url", ".xml"),
    *(".jpg", ".jpeg", ".png", ".gif", ".bmp", ".ini", ".cfg", ".json", ".yaml", ".rtf", ".sfv"),
    *(".sav", ".srm", ".state", ".ips", ".bps", ".asm", ".s", ".c", ".h", ".inc", ".md5", ".sha1"),
}


class Zip:
    """A zip file open for reading; every failure is a ``ContentError``."""

    def __init__(self, path: Path) -> None:
        """List the files of the zip at ``path``; documents and litter are left out."""
        self.path = path
        with self._guard(), zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
        self.files = [info for info in infos if info.file_size and not _is_junk(info.filename)]
        if locked := [info.filename for info in self.files if info.flag_bits & 1]:
            raise ContentError(
                f"{path} is encrypted ({locked[0]})",
                "a zip without a password",
                "Unpack it and give the file itself.",
            )
        if not self.files:
            names = ", ".join(info.filename for info in infos[:5]) or "nothing"
            raise ContentError(f"{path} holds no ROM: {names}", "a zip with a ROM inside")
        if any(info.file_size > IN_MEMORY_LIMIT for info in self.files):
            raise ContentError(
                f"a file in {path} is larger than 1 GiB", "a ROM", "Unpack a disc image first."
            )

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn what a broken zip raises into one error."""
        try:
            yield
        except _BROKEN as error:
            raise ContentError(
                f"{self.path} is a damaged zip: {str(error) or type(error).__name__}",
                "an intact zip",
                "Get the file again, or unpack it with a repair tool.",
            ) from error

    def read(self, info: zipfile.ZipInfo) -> bytes:
        """Return one file, its CRC checked."""
        with self._guard(), zipfile.ZipFile(self.path) as archive:
            return archive.read(info)

    def members(self) -> tuple[Member, ...]:
        """Return every file but documents, read and checked, sorted by name."""
        found = []
        with self._guard(), zipfile.ZipFile(self.path) as archive:
            for info in self.files:
                data = archive.read(info)
                name = PurePosixPath(info.filename).name
                found.append(Member(name, len(data), crc32_of(data), sha1_of(data)))
        return tuple(sorted(found, key=lambda member: (member.name, member.crc32)))

    def game(self, system: str | None) -> tuple[str, bytes] | None:
        """Return ``(name, bytes)`` of the one ROM inside, or None for an arcade romset.

        Args:
            system: The system when it is known; ``arcade`` makes every zip a romset.

        Raises:
            ContentError: Two different games are inside, or something that must be unpacked.
        """
        if system == "arcade":
            return None
        self._refuse_nested()
        chosen = self._candidates(system)
        if not chosen:
            return None
        roms = [(PurePosixPath(info.filename).name, self.read(info)) for info in chosen]
        identities = {sha1_of(take_apart(raw, name, system).payload) for name, raw in roms}
        if len(identities) > 1:
            names = ", ".join(info.filename for info in chosen[:6])
            raise ContentError(
                f"{self.path} holds {len(identities)} different games: {names}",
                "one game",
                "Unpack the zip and give the one you mean.",
            )
        return roms[0]

    def _refuse_nested(self) -> None:
        """Refuse what neither we nor a core can load out of a zip."""
        for info in self.files:
            disc = _suffix(info) == ".cue"
            if disc or (_suffix(info) in {".zip", ".7z"} and len(self.files) == 1):
                raise ContentError(
                    f"{self.path} holds {'a disc image' if disc else 'another archive'} "
                    f"({info.filename})",
                    "a ROM",
                    "Unpack the zip and give what is inside.",
                )

    def _candidates(self, system: str | None) -> list[zipfile.ZipInfo]:
        """Return the files that are games of their own; none in a romset."""
        if len(self.files) == 1:
            return self.files
        heads = {info.filename: self._head(info) for info in self.files}
        files = [info for info in self.files if not _is_prose(info, heads[info.filename])]
        named = [info for info in files if _suffix(info) in EXTENSIONS]
        told = [info for info in files if sniff(heads[info.filename]) is not None]
        for some in (named, told):
            if some and len(files) - len(some) < _OTHERS:
                return some
        binaries = [info for info in files if _suffix(info) == ".bin"]
        if binaries and all(looks_like_atari(self.read(info)) for info in binaries):
            return binaries
        return files if system else []

    def _head(self, info: zipfile.ZipInfo) -> bytes:
        """Return the first 64 kB of a file, and so much more that its size is the same mod 1 kB."""
        with self._guard(), zipfile.ZipFile(self.path) as archive, archive.open(info) as file:
            return file.read(0x10000 + info.file_size % 1024)


def gunzip(raw: bytes, path: Path) -> bytes:
    """Return the content of gzip bytes.

    Raises:
        ContentError: They are damaged, empty, or hold more than ``IN_MEMORY_LIMIT`` bytes.
    """
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(raw, IN_MEMORY_LIMIT + 1)
        if len(data) > IN_MEMORY_LIMIT:
            raise ContentError(f"{path} unpacks to more than 1 GiB", "a ROM")
        if not unpacker.eof:
            raise EOFError("it ends too early")
        data = gzip.decompress(raw) if unpacker.unused_data else data  # several parts in one file
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise ContentError(
            f"{path} is a damaged gzip file: {error}", "an intact one", "Get the file again."
        ) from error
    if not data:
        raise ContentError(f"{path} is an empty gzip file", "a ROM")
    return data


def _suffix(info: zipfile.ZipInfo) -> str:
    """Return the lower-case extension of a zip's file, with its dot."""
    return PurePosixPath(info.filename).suffix.lower()


def _is_prose(info: zipfile.ZipInfo, head: bytes) -> bool:
    """Return whether a file named as a Genesis ROM is Markdown."""
    return _suffix(info) == ".md" and b"\0" not in head


def _is_junk(filename: str) -> bool:
    """Return whether a zip's file is a folder, a document or litter of a file manager."""
    path = PurePosixPath(filename.replace("\\", "/"))
    named = path.name.lower()
    return (
        filename.endswith(("/", "\\"))
        or "__MACOSX" in path.parts
        or named.startswith(
            (".", "readme", "read_me", "licence", "license", "copying", "changelog")
        )
        or named in {"thumbs.db", "desktop.ini"}
        or path.suffix.lower() in _DOCUMENTS
    )
