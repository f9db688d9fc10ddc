"""``.bk2`` movies, as stable-retro plays and writes them.

A zip of a header, a log with a row of letters a frame, and a savestate of the core. What
stable-retro does around it was measured with 1.0.1:

- From power-on its environment runs two frames that no row tells of. Then, or after it restored the
  savestate, comes the frame of its reset: the first row is read and not pressed.
- It loads no movie without a savestate, and so none of those that it wrote from power-on; an empty
  one will do.
- It finds the players in a log key that has lost its beginning, for that is how it writes it.
- It has no letter for RESET of the Atari 2600 and PAUSE of the Master System, and drops them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import savestate
from .buttons import BUTTONS, to_names
from .content import Content
from .core import Core
from .errors import ReplayDiffers, UserError
from .files import reading, whole_file
from .load import Game
from .movie import Movie, identity, ram_hash
from .systems import package_folder

SUFFIX = ".bk2"
WANTED = "a .bk2 that stable-retro or retrokit wrote"
HEADER, LOG, STATE = "Header.txt", "Input Log.txt", "Core.bin"
UNSEEN = 2  # frames that stable-retro runs after power-on without a row


class Pad(NamedTuple):
    """A platform's name in the header, and the letter of each RetroPad button; a dot: none."""

    platform: str
    letters: str


SEGA = "BAMSUDLRCYXZ"
NINTENDO = "B.sSUDLRA"
PADS = {
    "arcade": Pad("FBNeo", SEGA),
    "atari2600": Pad("A26", "B.s.UDLR"),
    "nes": Pad("NES", NINTENDO),
    "snes": Pad("SNES", "BYsSUDLRAXlr"),
    "gb": Pad("GameBoy", NINTENDO),
    "gbc": Pad("GbColor", NINTENDO),
    "gba": Pad("GbAdvance", "B.sSUDLRA.lr"),
    "nds": Pad("NintendoDs", "BYsSUDLRAXlr"),
    "genesis": Pad("GEN", SEGA),
    "32x": Pad("32x", SEGA),
    "segacd": Pad("SCD", SEGA),
    "saturn": Pad("Saturn", SEGA),
    "sms": Pad("Sms", "B...UDLRA"),
    "gamegear": Pad("GameGear", "B..SUDLRA"),
}
LOST = {"atari2600": "RESET"}  # what starts a game and has no letter
COLUMNS = {"S": "Start", "s": "Select", "M": "Mode", "U": "Up", "D": "Down", "L": "Left",
           "R": "Right", "l": "L", "r": "R"}  # fmt: skip


def pad_of(system: str) -> Pad:
    """Return a system's pad.

    Raises:
        UserError: stable-retro does not know it.
    """
    if system not in PADS:
        raise UserError(f"a .bk2 of {system}", "one of " + " ".join(PADS))
    return PADS[system]


# -- read --------------------------------------------------------------------------------------


def read(path: Path, game: Game) -> Movie:
    """Read a ``.bk2`` and play it once, to know the RAM that it ends in.

    Args:
        path: The file.
        game: What it is of; the file only says a name.

    Raises:
        UserError: It cannot be read, is of another platform, or presses what no button is.
        CoreError: The core failed, or its savestate is of another core.
    """
    pad = pad_of(game.content.system)
    with reading(path, ".bk2 movie", WANTED), zipfile.ZipFile(path) as file:
        header = dict(_headers(file.read(HEADER).decode()))
        log = file.read(LOG).decode()
        state = file.read(STATE) if STATE in file.namelist() else b""
    if header.get("MovieVersion") != "Retro":
        found = f"{path} is of {header.get('MovieVersion', 'no movie version')}"
        raise UserError(found, WANTED, "Emulators differ in what a frame is.")
    if header.get("Platform") != pad.platform:
        found = f"{path} is of platform {header.get('Platform', 'unknown')}"
        raise UserError(found, f"{pad.platform}, the platform of {game.integration.game}")
    buttons = presses(path, log.splitlines(), pad)
    if buttons[0].any():  # recorded from after the reset: its frame has no row
        buttons = np.concatenate([np.zeros_like(buttons[:1]), buttons])
    with game.open() as core:
        movie = Movie(
            buttons=buttons,
            ram_sha1="",
            start=np.zeros(0 if state else UNSEEN, np.uint16),
            savestate=_packed(path, state, core) if state else b"",
            facts={"imported": path.name, "game": header.get("GameName", "")},
            **identity(game, core.info.version),
        )
        return replace(movie, ram_sha1=_played(movie, core))


def _headers(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        yield key, value.strip()


def presses(path: Path, lines: Sequence[str], pad: Pad) -> NDArray[np.uint16]:
    """Return the buttons of an input log, uint16 [frames, players].

    Raises:
        UserError: A row is not what it must be; names its line.
    """
    bits = {letter: 1 << number for number, letter in enumerate(pad.letters) if letter != "."}
    rows: list[list[int]] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            continue
        where = f"{path}, line {number} of {LOG}"
        switches, *players = line.strip("|").split("|")
        if switches.strip("."):
            raise UserError(f"{where} presses a switch of the console", "the buttons of pads alone")
        if not players or rows and len(players) != len(rows[0]):
            raise UserError(
                f"{where} has {len(players)} players", "as many as the first, one or more"
            )
        unknown = sorted(set("".join(players)) - set(bits) - {"."})
        if unknown:
            raise UserError(f"{where} presses {unknown[0]!r}", "one of " + " ".join(bits))
        rows.append([sum(bits[key] for key in set(keys) - {"."}) for keys in players])
    if not rows:
        raise UserError(f"{path} has no frame", WANTED)
    return np.array(rows, np.uint16)


def _packed(path: Path, state: bytes, core: Core) -> bytes:
    if len(state) != core.info.savestate_size:
        raise UserError(
            f"{path} begins from a savestate of {len(state):,} bytes",
            f"{core.info.savestate_size:,}, the size that {core.info.name} saves",
            "It was recorded on another core or core version.",
        )
    return savestate.pack(state, core.owner)


def _played(movie: Movie, core: Core) -> str:
    """Return the hash of the RAM that a movie ends in."""
    movie.begin(core)
    for masks in movie.buttons.tolist():
        core.run(1, masks, see=False)
    return ram_hash(core)


# -- write -------------------------------------------------------------------------------------


def write(movie: Movie, path: Path, open_core: Callable[[], Core]) -> bool:
    """Write a ``.bk2`` that stable-retro plays to the RAM that the movie ends in.

    It begins at power-on where that comes out the same, and otherwise from a savestate. Both are
    tried here, with the frames that stable-retro will run.

    Args:
        movie: What to write.
        path: Where.
        open_core: `Movie.open` of it with its arguments.

    Returns:
        Whether it begins at power-on.

    Raises:
        UserError: A ``.bk2`` cannot say what is pressed, or the file cannot be written.
        ReplayDiffers: Played in stable-retro's way it ends in another RAM.
    """
    pad = pad_of(movie.system)
    with open_core() as core:
        assert core.content is not None
        name = game_name(core.content, movie.game)
        state = movie.begin(core)
        body = bytes(savestate.body_of(state, core.owner)) if state else b""
    problem: UserError | ReplayDiffers | None = None
    for begun in [b""] * (not movie.savestate) + [state] * bool(state):
        rows = movie.buttons if begun else _from_power_on(movie)
        unseen = 0 if begun else UNSEEN
        problem = _unsaid(rows, unseen + 1, pad) or _tried(movie, rows, begun, open_core)
        if problem is None:
            log = log_text(rows[unseen:], pad)
            state = body if begun else b""
            _write(path, {HEADER: _header(movie, pad, name), LOG: log, STATE: state})
            return not begun
    assert problem is not None  # a movie without a savestate begins at power-on
    raise problem


def _from_power_on(movie: Movie) -> NDArray[np.uint16]:
    """Return the buttons of all frames from power-on, as if the core had gone on at the start."""
    before = np.zeros((len(movie.start) + movie.wait, movie.buttons.shape[1]), np.uint16)
    before[: len(movie.start), 0] = movie.start
    return np.concatenate([before, movie.buttons])


def _unsaid(rows: NDArray[np.uint16], blank: int, pad: Pad) -> UserError | None:
    """Return what of these buttons no ``.bk2`` can say; the first rows are not pressed at all."""
    said = [number for number, letter in enumerate(pad.letters) if letter != "."]
    if rows[:blank].any() or len(rows) < blank:
        return UserError(f"it presses something in its first {blank} frames", "nothing there")
    unsaid = rows & ~np.uint16(sum(1 << number for number in said))
    if not unsaid.any():
        return None
    frame = int(unsaid.any(axis=1).argmax())
    pressed = " ".join(to_names(int(unsaid[frame].max())))
    wanted = " ".join(BUTTONS[number] for number in said)
    return UserError(
        f"frame {frame} presses {pressed}",
        f"the buttons that a .bk2 of {pad.platform} has letters for: {wanted}",
    )


def _tried(
    movie: Movie, rows: NDArray[np.uint16], state: bytes, open_core: Callable[[], Core]
) -> ReplayDiffers | None:
    """Return what is wrong with a ``.bk2`` of these rows, when stable-retro plays it."""
    with open_core() as core:
        if state:
            core.run(UNSEEN, see=False)
            core.load(state)
        for masks in rows.tolist():
            core.run(1, masks, see=False)
        found = ram_hash(core)
    if found == movie.ram_sha1:
        return None
    how = "from a savestate" if state else "from power-on"
    return ReplayDiffers(
        f"a .bk2 {how} ends in RAM with sha1 {found}",
        f"{movie.ram_sha1}, which the movie ended in",
        "It cannot be told as a .bk2; keep the .movie.",
    )


def _header(movie: Movie, pad: Pad, name: str) -> str:
    facts = {
        "MovieVersion": "Retro", "Author": "?", "emuVersion": "?", "Platform": pad.platform,
        "GameName": name, "SHA1": movie.content[0], "Core": movie.core, "rerecordCount": "1",
    }  # fmt: skip
    return "".join(f"{key} {value}\n" for key, value in facts.items())


def log_text(rows: NDArray[np.uint16], pad: Pad) -> str:
    """Return the input log of these buttons, uint16 [frames, players]."""
    letters = [(number, key) for number, key in enumerate(pad.letters) if key != "."]
    names = [COLUMNS.get(key, key) for _, key in letters]
    players = range(1, rows.shape[1] + 1)
    lines = ["[Input]", "".join(f"P{player} {name}|" for player in players for name in names)]
    for masks in rows.tolist():
        pads = ["".join(k if mask >> n & 1 else "." for n, k in letters) for mask in masks]
        lines.append("|..|" + "".join(f"{pad}|" for pad in pads))
    return "\n".join([*lines, "[/Input]"])


def _write(path: Path, parts: Mapping[str, str | bytes]) -> None:
    with whole_file(path, "the movie ") as file, zipfile.ZipFile(file, "w") as out:
        for name, body in parts.items():
            out.writestr(zipfile.ZipInfo(name), body, zipfile.ZIP_DEFLATED)


def game_name(content: Content, name: str) -> str:
    """Return what stable-retro calls a game: by the hash of its ROM, or else our name."""
    folder = package_folder("stable-retro", "data/stable/*/rom.sha")
    for file in sorted(folder.parent.glob("*/rom.sha")) if folder else ():
        if {content.sha1, content.file_sha1} & set(file.read_text().lower().split()):
            return file.parent.name
    return name
