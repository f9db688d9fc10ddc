"""Which content a command line means: a file, or a game by its name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from ..content import Content, identify, rom_folders
from ..content.find import content_files
from ..errors import ContentError


def open_content(text: str, rom_dirs: Sequence[Path] = (), system: str | None = None) -> Content:
    """Return the content a user named.

    Args:
        text: A path; or the name, with or without extension, of a file in a folder of ROMs (see
            content.rom_folders).
        rom_dirs: Folders of ROMs to search first.
        system: The system, where the user knows better than the guess.

    Raises:
        ContentError: There is none (close names are offered), or it cannot be used.
        UserError: There is no such system.
    """
    path = Path(text)
    if path.is_file() or path.name != text:
        return identify(path, system)
    return _named(text, rom_dirs, system)


def _named(name: str, rom_dirs: Sequence[Path], system: str | None) -> Content:
    """Return the first usable file of that name in the folders of ROMs."""
    names: set[str] = set()
    unusable: ContentError | None = None
    folders = rom_folders(rom_dirs)
    for folder in folders:
        for path in content_files(folder):
            names.add(path.stem)
            if name.lower() not in (path.name.lower(), path.stem.lower()):
                continue
            try:
                return identify(path, system)
            except ContentError as error:
                unusable = unusable or error
    if unusable is not None:
        raise unusable
    if Path(name).is_dir():
        raise ContentError(f"{name} is a folder, and no game's name", "a file, or a game's name")
    close = difflib.get_close_matches(name.lower(), sorted(names))
    raise ContentError(
        f"there is no file {name}, and no game of that name in "
        + ", ".join(str(folder) for folder in folders),
        "a file, or the name of one in --rom-dir or RETROKIT_ROMS",
        f"Did you mean {' or '.join(close)}?" if close else "",
    )
