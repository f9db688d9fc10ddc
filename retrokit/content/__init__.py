"""Content: a ROM, zip, cue or dat, and its identity.

``identify`` says what a file is; ``find_content`` finds the file that has a wanted hash.
"""

from retrokit.content.find import RomDirs, describe_mismatch, find_content, rom_folders
from retrokit.content.model import Content, Member
from retrokit.content.unwrap import identify

__all__ = [
    "Content",
    "Member",
    "RomDirs",
    "describe_mismatch",
    "find_content",
    "identify",
    "rom_folders",
]
