"""Finding content by its hash, and saying how other content differs from it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from retrokit.content.cartridge import EXTENSIONS
from retrokit.content.model import Content
from retrokit.content.unwrap import identify
from retrokit.errors import ContentError
from retrokit.systems import data_path, package_folder

RomDirs = Sequence[str | os.PathLike[str]] | str | os.PathLike[str]
_SIZE_LIMIT = 64 << 20  # bytes; larger files are hashed only where a cue sheet or m3u names them
_SUFFIXES = {*EXTENSIONS, ".bin", ".zip", ".dat", ".gz", ".rom", ".cue", ".m3u"}
_ROMS_OF_ALE = "ale_py/roms/*.bin"


def rom_folders(rom_dirs: RomDirs = ()) -> list[Path]:
    """Return the folders searched for content, in order.

    They are the given ones (or the given one), those of ``RETROKIT_ROMS``, ale-py's ROMs and our
    own games.

    Raises:
        ContentError: A given one does not exist.
    """
    if isinstance(rom_dirs, (str, os.PathLike)):
        rom_dirs = [rom_dirs]
    given = [Path(folder) for folder in rom_dirs]
    for folder in given:
        if not folder.is_dir():
            raise ContentError(f"there is no folder {folder}", "a folder with ROMs")
    named = os.environ.get("RETROKIT_ROMS", "").split(os.pathsep)
    folders = [*given, *(Path(entry) for entry in named if entry)]
    if ale := package_folder("ale-py", _ROMS_OF_ALE):
        folders.append(ale)
    folders.append(data_path("games"))
    return [folder for folder in folders if folder.is_dir()]


def find_content(sha1s: Iterable[str], rom_dirs: RomDirs = ()) -> Content | None:
    """Return the first content whose payload or file has one of these hashes, or None.

    Folders are those of ``rom_folders``, searched with what lies below them; files that cannot be
    used are passed over.

    Args:
        sha1s: SHA-1 hashes, 40 hexadecimal digits in any case.
        rom_dirs: Folders to search first.

    Raises:
        ContentError: A given folder does not exist.
    """
    wanted = frozenset(sha1.strip().lower() for sha1 in sha1s)
    for folder in rom_folders(rom_dirs):
        for path in content_files(folder):
            content = _identified(path, wanted)
            if content is not None:
                return content
    return None


def describe_mismatch(
    content: Content, wanted_sha1s: Mapping[str, str], known: Mapping[str, str] | None = None
) -> str:
    """Return one line that says what was found, what was wanted and what the content is.

    Args:
        content: What was found.
        wanted_sha1s: The accepted hashes by their labels, as ``rom_sha1`` of an integration.
        known: Names of games by their hashes, from every integration at hand.
    """
    names = {sha1.strip().lower(): name for sha1, name in (known or {}).items()}
    wanted = " or ".join(
        f"{sha1.strip().lower()} ({label})" if label else sha1.strip().lower()
        for label, sha1 in wanted_sha1s.items()
    )
    line = f"found sha1 {content.sha1} ({content.size} bytes); wanted {wanted or 'no hash at all'}"
    name = names.get(content.sha1) or names.get(content.file_sha1)
    return f"{line}; this is {name}" if name else line


def _identified(path: Path, wanted: Collection[str]) -> Content | None:
    """Return the content of a file if it has one of these hashes; None too if it has none."""
    try:
        content = identify(path)
    except ContentError:
        return None
    return content if content.has_sha1(wanted) else None


def content_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may be content, in order, hidden folders left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if path.suffix.lower() not in _SUFFIXES:
                continue
            try:
                if 0 < path.stat().st_size <= _SIZE_LIMIT:
                    yield path
            except OSError:
                continue
