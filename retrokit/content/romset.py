"""Arcade romsets: a zip identified by its members, and FBNeo's RomData ``.dat`` beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from retrokit.content.archive import Zip
from retrokit.content.model import Content, Member, crc32_of, sha1_of, sha1_of_file, unreadable
from retrokit.errors import ContentError

_ENTRY = re.compile(r'^\s*"(?P<name>[^"]+)"\s*,\s*(?P<size>\w+)\s*,\s*(?P<crc>\w+)')
_FIELD = re.compile(r'^\s*(?P<key>ZipName|DrvName)\s*:\s*"?(?P<value>[^"]*?)"?\s*$', re.IGNORECASE)
_PATH_LIMIT = 250  # characters FBNeo was seen to take; 270 were refused


class RomData(NamedTuple):
    """What a RomData ``.dat`` says.

    Attributes:
        path: The ``.dat`` file.
        zip_name: Stem of the zip beside it.
        driver: The arcade board's driver, such as ``galaxian``.
        members: The files it wants, without SHA-1.
    """

    path: Path
    zip_name: str
    driver: str
    members: tuple[Member, ...]


def read_romdata(path: Path) -> RomData:
    """Return a RomData file.

    Raises:
        ContentError: It cannot be read or is no RomData; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error
    fields: dict[str, str] = {}
    members = []
    for number, line in enumerate(text.splitlines(), 1):
        if field := _FIELD.match(line):
            fields[field["key"].lower()] = field["value"]
        elif entry := _ENTRY.match(line):
            try:
                size, crc = int(entry["size"], 0), int(entry["crc"], 16)
            except ValueError as error:
                raise ContentError(
                    f"{path}, line {number}: {error}", '"file", 0xsize, 0xcrc, flags'
                ) from error
            members.append(Member(entry["name"], size, f"{crc:08x}"))
    for key in ("ZipName", "DrvName"):
        if not fields.get(key.lower()):
            raise ContentError(f"{path} has no {key} line", "an FBNeo RomData file")
    if not members:
        raise ContentError(f"{path} lists no ROM files", 'lines of "file", 0xsize, 0xcrc, flags')
    zip_name = re.sub(r"\.zip$", "", fields["zipname"], flags=re.IGNORECASE)
    return RomData(path, zip_name, fields["drvname"], tuple(members))


def identify_romdata(path: Path) -> Content:
    """Return the content of a ``.dat`` and the zip beside it.

    Raises:
        ContentError: The zip, or a file in it, is missing.
    """
    romdata = read_romdata(path)
    archive = beside(path, f"{romdata.zip_name}.zip")
    if archive is None:
        raise ContentError(
            f"{path} wants {romdata.zip_name}.zip, which is not beside it",
            f"{romdata.zip_name}.zip in {path.parent}",
        )
    found = Zip(archive).members()
    missing, problems = compare(romdata, found)
    if missing:
        raise ContentError(f"{archive} lacks {', '.join(missing)}", f"every file {path.name} lists")
    return _content(path, romdata.zip_name, found, romdata, problems)


def identify_romset(path: Path, archive: Zip) -> Content:
    """Return the content of an arcade zip, run through a RomData ``.dat`` beside it if any."""
    found = archive.members()
    dat = beside(path, f"{path.stem}.dat")
    if dat is not None:
        try:
            romdata = read_romdata(dat)
        except ContentError:
            return _content(path, path.stem, found)  # some other kind of .dat
        missing, problems = compare(romdata, found)
        if romdata.zip_name.lower() == path.stem.lower() and not missing:
            return _content(path, romdata.zip_name, found, romdata, problems)
    return _content(path, path.stem, found)


def compare(romdata: RomData, found: tuple[Member, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of files that are missing, and a clause for each that differs."""
    by_name = {member.name.lower(): member for member in found}
    missing = []
    problems = []
    for want in romdata.members:
        have = by_name.get(want.name.lower())
        if have is None:
            missing.append(want.name)
        elif (have.size, have.crc32) != (want.size, want.crc32):
            problems.append(
                f"{want.name} is {have.size} bytes, CRC {have.crc32}; "
                f"{romdata.path.name} wants {want.size}, {want.crc32}"
            )
    return missing, tuple(problems)


def beside(path: Path, name: str) -> Path | None:
    """Return the file of that name in the same folder, in this or another case, or None."""
    exact = path.parent / name
    if exact.is_file():
        return exact
    try:
        siblings = sorted(path.parent.iterdir())
    except OSError:
        return None
    for sibling in siblings:
        if sibling.name.lower() == name.lower() and sibling.is_file():
            return sibling
    return None


def romset_sha1(members: tuple[Member, ...]) -> str:
    """Return the identity of a romset: the SHA-1 of its members' sorted ``crc32:size`` lines."""
    return sha1_of(_lines(members))


def _lines(members: tuple[Member, ...]) -> bytes:
    """Return the text a romset is identified by, one line a member, each ended by a newline."""
    return "".join(sorted(f"{member.crc32}:{member.size}\n" for member in members)).encode()


def _content(
    path: Path,
    name: str,
    members: tuple[Member, ...],
    romdata: RomData | None = None,
    problems: tuple[str, ...] = (),
) -> Content:
    """Return an arcade romset as content."""
    core_path = romdata.path if romdata else path
    if len(str(core_path.absolute())) > _PATH_LIMIT:
        problems += (f"its path is longer than {_PATH_LIMIT} characters, which FBNeo refuses",)
    return Content(
        path=path,
        name=name,
        system="arcade",
        sha1=romset_sha1(members),
        file_sha1=sha1_of_file(path),
        size=sum(member.size for member in members),
        crc32=crc32_of(_lines(members)),
        kind="romdata" if romdata else "romset",
        core_path=core_path,
        members=members,
        problems=problems,
    )
