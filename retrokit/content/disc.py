"""Disc images: a cue sheet and its tracks, and single-file images; hashed without being loaded."""

from __future__ import annotations

import re
from pathlib import Path

from retrokit.content.model import Content, sha1_of, sha1_of_file, unreadable
from retrokit.content.romset import beside
from retrokit.errors import ContentError
from retrokit.systems import UNKNOWN_SYSTEM

IMAGES = {".chd", ".iso", ".img", ".pbp", ".mdf", ".cso"}
"""Extensions of images that are one file and may be of any size."""

_FILE = re.compile(r'^FILE\s+(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+))\s+(?P<type>\S+)$', re.IGNORECASE)
_STRUCTURE = re.compile(r"^(TRACK|INDEX|PREGAP|POSTGAP|FLAGS)\s", re.IGNORECASE)
_SYNC = b"\0" + b"\xff" * 10 + b"\0"  # how a raw CD sector begins
_SNIFFED = 80 * 2352  # bytes: the system area, the volume descriptor and the root directory
_BRANDS = (
    (b"SEGADISCSYSTEM", "segacd"),
    (b"SEGA SEGASATURN", "saturn"),
    (b"PC Engine CD-ROM SYSTEM", "pce"),
    (b"PLAYSTATION", "psx"),
    (b"Sony Computer Entertainment", "psx"),
    (b"SYSTEM.CNF", "psx"),
)


def identify_cue(path: Path, system: str | None) -> Content:
    """Return the content of a cue sheet: its tracks' hashes under the sheet's structure.

    File names, titles and remarks are left out of the identity.

    Raises:
        ContentError: It is no cue sheet, or files it names are missing or empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error
    tracks: list[Path] = []
    missing: list[str] = []
    problems: list[str] = []
    structure: list[str | Path] = []
    for line in map(str.strip, text.splitlines()):
        if file := _FILE.match(line):
            name = file["quoted"] or file["bare"] or ""
            track = beside(path.parent / name.replace("\\", "/"), Path(name).name)
            if track is None:
                missing.append(name)
                continue
            tracks.append(track)
            structure += [f"FILE {file['type'].upper()}", track]
        elif _STRUCTURE.match(line):
            structure.append(" ".join(line.upper().split()))
            if "MODE1/2048" in line.upper():
                problems.append("a MODE1/2048 track, on which the core beetle-psx aborts")
    if missing:
        raise ContentError(
            f"{path} names {', '.join(missing)}, which is not there",
            f"every track file in {path.parent}",
        )
    if not tracks or "TRACK" not in {str(part)[:5] for part in structure if part not in tracks}:
        raise ContentError(f"{path} is no cue sheet: no FILE and TRACK lines", "a cue sheet")
    if empty := [track.name for track in tracks if not track.stat().st_size]:
        raise ContentError(f"{', '.join(empty)} of {path} is empty", "the track's data")
    system = system or _brand(tracks[0])
    lines = [part if isinstance(part, str) else sha1_of_file(part) for part in structure]
    return Content(
        path=path,
        name=path.stem,
        system=system,
        sha1=sha1_of("".join(f"{line}\n" for line in lines).encode()),
        file_sha1=sha1_of_file(path),
        size=sum(track.stat().st_size for track in tracks),
        crc32="",
        kind="disc",
        core_path=path,
        problems=tuple(problems) if system in {"psx", UNKNOWN_SYSTEM} else (),
    )


def identify_image(path: Path, system: str | None) -> Content:
    """Return the content of a disc image that is one file, hashed as it lies there."""
    sha1 = sha1_of_file(path)
    system = system or ("psx" if path.suffix.lower() == ".pbp" else _brand(path))
    size = path.stat().st_size
    return Content(path, path.stem, system, sha1, sha1, size, "", "disc", path)


def refuse_bare_track(path: Path, head: bytes) -> None:
    """Refuse a raw CD track given without its cue sheet.

    Raises:
        ContentError: The bytes begin as a raw CD sector does; names the cue if it is there.
    """
    if head.startswith(_SYNC):
        cue = beside(path, f"{path.stem}.cue")
        raise ContentError(
            f"{path} is one track of a CD",
            "the cue sheet of the disc",
            f"Give {cue} instead." if cue else f"Put {path.stem}.cue beside it and give that.",
        )


def _brand(track: Path) -> str:
    """Return the system a disc's first sectors name."""
    try:
        with track.open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError as error:
        raise unreadable(track, error) from error
    return next((system for brand, system in _BRANDS if brand in head), UNKNOWN_SYSTEM)
