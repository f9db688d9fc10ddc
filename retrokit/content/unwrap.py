"""From a file to its identity, whatever it is wrapped in."""

from __future__ import annotations

import difflib
import stat
from pathlib import Path

from retrokit.content.archive import Zip, gunzip
from retrokit.content.cartridge import take_apart
from retrokit.content.disc import IMAGES, identify_cue, identify_image, refuse_bare_track
from retrokit.content.model import (
    IN_MEMORY_LIMIT,
    Content,
    crc32_of,
    sha1_of,
    sha1_of_file,
    unreadable,
)
from retrokit.content.romset import identify_romdata, identify_romset
from retrokit.errors import ContentError, UserError
from retrokit.systems import check_system

_WANTED = "a ROM, .zip, .dat, .cue or .m3u file"


def identify(path: str | Path, system: str | None = None) -> Content:
    """Return what a file holds and who it is.

    Args:
        path: A ROM (bare, headed, byte-swapped, in a zip or gzip), an arcade zip or its RomData
            ``.dat``, a ``.cue``, an ``.m3u`` or a disc image.
        system: A key of ``systems.SYSTEMS``; guessed from the bytes, then the name, when None.

    Raises:
        ContentError: The file is missing, a folder, empty, damaged, encrypted, too large, holds
            several games, lacks its other files, or ``system`` is no system.
    """
    path = Path(path)
    if system is not None:
        try:
            system = check_system(system)
        except UserError as error:
            raise ContentError(*error.args) from error
    size = _size(path)
    suffix = path.suffix.lower()
    if suffix == ".cue":
        return identify_cue(path, system)
    if suffix == ".m3u":
        return _identify_playlist(path, system)
    if suffix == ".dat":
        return identify_romdata(path)
    if suffix == ".7z":
        raise ContentError(f"{path} is a 7z archive", "a .zip", "Repack it as a zip.")
    if suffix in IMAGES:
        return identify_image(path, system)
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise unreadable(path, error) from error
    if suffix == ".zip" or head.startswith(b"PK\x03\x04"):
        return _identify_zip(path, system)
    refuse_bare_track(path, head)
    if size > IN_MEMORY_LIMIT:
        raise ContentError(
            f"{path} has {size} bytes", "a ROM of at most 1 GiB", "Give a disc by its .cue."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if head.startswith(b"\x1f\x8b"):
        inner = path.stem if suffix == ".gz" else path.name
        return _rom(path, gunzip(raw, path), inner, system, sha1_of(raw))
    return _rom(path, raw, path.name, system, sha1_of(raw), bare=True)


def _identify_zip(path: Path, system: str | None) -> Content:
    """Return the ROM in a zip, or the zip as an arcade romset."""
    archive = Zip(path)
    game = archive.game(system)
    if game is None:
        return identify_romset(path, archive)
    name, raw = game
    return _rom(path, raw, name, system, sha1_of_file(path))


def _identify_playlist(path: Path, system: str | None) -> Content:
    """Return an m3u as its discs: with one disc it is that disc."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error
    entries = [line.strip() for line in text.splitlines()]
    discs = [path.parent / entry for entry in entries if entry and not entry.startswith("#")]
    if not discs or any(disc.suffix.lower() == ".m3u" for disc in discs):
        raise ContentError(f"{path} lists no discs", "one .cue file a line")
    try:
        found = [identify(disc, system) for disc in discs]
    except ContentError as error:
        raise ContentError(f"{path}: {error.found}", error.wanted, error.remedy) from error
    joined = sha1_of("".join(f"{disc.sha1}\n" for disc in found).encode())
    return Content(
        path=path,
        name=path.stem,
        system=found[0].system,
        sha1=found[0].sha1 if len(found) == 1 else joined,
        file_sha1=sha1_of_file(path),
        size=sum(disc.size for disc in found),
        crc32="",
        kind="playlist",
        core_path=path,
        problems=tuple(problem for disc in found for problem in disc.problems),
    )


def _rom(
    path: Path, raw: bytes, name: str, system: str | None, file_sha1: str, bare: bool = False
) -> Content:
    """Return a ROM as content; ``bare`` when ``raw`` is the whole of ``path``."""
    rom = take_apart(raw, name, system)
    stem = Path(name).stem
    as_it_lies = bare and rom.data is raw and rom.extension == path.suffix.lower()
    return Content(
        path=path,
        name=stem,
        system=rom.system,
        sha1=sha1_of(rom.payload),
        file_sha1=file_sha1,
        size=len(rom.payload),
        crc32=crc32_of(rom.payload),
        kind="rom",
        core_path=path if as_it_lies else path / f"{stem}{rom.extension}",
        data=rom.data,
        problems=rom.problems,
    )


def _size(path: Path) -> int:
    """Return the size of a regular file that is not empty."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ContentError(f"there is no file {path}", _WANTED, _similar(path)) from None
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise ContentError(f"{str(path)!r} is no path: {error}", _WANTED) from error
    if stat.S_ISDIR(status.st_mode):
        raise ContentError(f"{path} is a folder", _WANTED, _listing(path))
    if not stat.S_ISREG(status.st_mode):
        raise ContentError(f"{path} is not a regular file", _WANTED)
    if not status.st_size:
        raise ContentError(f"{path} is empty (0 bytes)", _WANTED, "Get the file again.")
    return status.st_size


def _names(folder: Path) -> list[str]:
    """Return the names of the files in a folder; none when it cannot be listed."""
    try:
        return sorted(
            entry.name
            for entry in folder.iterdir()
            if entry.is_file() and not entry.name.startswith(".")
        )
    except OSError:
        return []


def _listing(folder: Path) -> str:
    """Return a sentence that names some files of a folder."""
    names = _names(folder)
    if not names:
        return "It holds no files."
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"It holds {', '.join(names[:5])}{more}."


def _similar(path: Path) -> str:
    """Return a question that offers files of a like name."""
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    names = {name.lower(): name for name in _names(path.parent)}
    stems = {Path(name).stem: name for name in names}
    close = difflib.get_close_matches(path.name.lower(), names, n=3)
    close += [stems[stem] for stem in difflib.get_close_matches(path.stem.lower(), stems, n=3)]
    offered = list(dict.fromkeys(names[name] for name in close))[:3]
    return f"Did you mean {' or '.join(offered)}?" if offered else ""
