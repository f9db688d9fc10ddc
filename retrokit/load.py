"""From an integration to a game that can be run: its core, its content, and what does not match.

Every command that takes an integration finds the content here, in the same way.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .content import (
    Content,
    RomDirs,
    describe_mismatch,
    find_content,
    identify,
    rom_folders,
)
from .core import Core
from .errors import ContentError, IntegrationError
from .integration import Integration
from .systems import FoundCore, find_core, shipped_integrations


@dataclass(frozen=True)
class Game:
    """An integration with the core and the content to run it on.

    Attributes:
        integration: The game's facts.
        content: What the core loads.
        found: The core, on this machine.
    """

    integration: Integration
    content: Content
    found: FoundCore

    def open(self) -> Core:
        """Open the core in this process and load the content.

        Raises:
            CoreError: The core cannot be opened, or refuses the content.
        """
        return Core.open(self.found, self.content)

    @property
    def warnings(self) -> list[str]:
        """One line for each way in which content and core are not what was wanted.

        The core's version is known only once it runs: see ``core_warnings``.
        """
        lines = [f"{self.content.path}: {problem}" for problem in self.content.problems]
        wanted = self.integration.rom_sha1
        if not self.content.has_sha1(wanted.values()):
            lines.append(f"another ROM: {describe_mismatch(self.content, wanted)}")
        if self.found.spec.name != self.integration.core:
            lines.append(f"another core: {self.found.spec.name}; wanted {self.integration.core}")
        return lines

    def core_warnings(self, version: str) -> list[str]:
        """Return a warning where the running core's version is not the recorded one."""
        wanted = self.integration.core_version
        if not wanted or version.split() == wanted.split():  # FBNeo's has two blanks in it
            return []
        return [f"another core version: found {version}; wanted {wanted}"]


def find_integration(name: str | os.PathLike[str]) -> Path:
    """Return the file of an integration: itself, or the one of that name that ships.

    Raises:
        IntegrationError: There is neither; close names are offered.
    """
    path = Path(name)
    if path.is_file() or path.name != str(name) or path.suffix in (".yaml", ".yml"):
        return path
    shipped = shipped_integrations()
    if path.name in shipped:
        return shipped[path.name]
    close = difflib.get_close_matches(path.name.lower(), shipped, 1)
    raise IntegrationError(
        f"no integration is called {path.name!r}",
        "the path of a file, or one of " + " ".join(shipped),
        f"Did you mean {close[0]}?" if close else "",
    )


def open_game(
    integration: Integration | str | os.PathLike[str],
    content: str | os.PathLike[str] | None = None,
    rom_dirs: RomDirs = (),
    core: str | Path | None = None,
) -> Game:
    """Find what an integration runs on; nothing is started.

    Args:
        integration: The integration, the path of its file, or the name of one that ships.
        content: The content's path; found by hash when None.
        rom_dirs: Folders, or one, to search first, before those of ``content.rom_folders``.
        core: A core's name or library file, instead of the integration's.

    Raises:
        IntegrationError: The file is malformed; names file, line and key.
        CoreNotFound: The core is not on this machine.
        ContentError: The content cannot be used, or none with a wanted hash was found.
    """
    if not isinstance(integration, Integration):
        integration = Integration.load(find_integration(integration))
    found = find_core(core or integration.core)
    if content is not None:
        return Game(integration, identify(Path(content), integration.system), found)
    loaded = content_of(integration.game, integration.rom_sha1, rom_dirs)
    return Game(integration, loaded, found)


def content_of(game: str, sha1s: Mapping[str, str], rom_dirs: RomDirs = ()) -> Content:
    """Find a game's content by its hashes.

    Args:
        game: The game's name.
        sha1s: Accepted hashes by their labels, as ``rom_sha1`` of an integration.
        rom_dirs: Folders, or one, to search first, before those of ``content.rom_folders``.

    Raises:
        ContentError: There is none.
    """
    content = find_content(sha1s.values(), rom_dirs)
    if content is None:
        wanted = " or ".join(f"sha1 {sha1} ({name})" for name, sha1 in sha1s.items())
        folders = ", ".join(str(folder) for folder in rom_folders(rom_dirs)) or "no folder"
        raise ContentError(
            f"no content of {game} in {folders}",
            wanted,
            "Name the file (content), or its folder (rom_dirs, --rom-dir, RETROKIT_ROMS).",
        )
    return content
