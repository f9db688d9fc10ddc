#!/usr/bin/env python3
"""Build retrokit's own arcade games: Z80 source and ASCII art in, FBNeo content out.

`python games/build.py` writes each game's .zip and .dat (RomData: FBNeo runs any program
on a board it knows) and its .toml, the truth about its RAM. `--check` builds aside and
compares byte for byte. Tests call `build_variant` for games whose score and lives lie
elsewhere, in another form. Nothing here depends on the machine: times are fixed and the
zip stores its files, because deflate's output differs between zlib versions.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

sys.path.insert(0, str(HERE))  # the sibling modules, also when a test loads this file by path
from art import FONT as FONT  # noqa: E402
from burrow_roms import BURROW  # noqa: E402
from model import ENCODINGS, BuildError, Game, Options, Symbols  # noqa: E402
from skydrop_roms import SKYDROP  # noqa: E402

GAMES = {game.name: game for game in (BURROW, SKYDROP)}
FREE = {
    # RAM no hardware looks at, less the stack
    "digdug": ((0x8400, 0x8B00), (0x9000, 0x9380), (0x9800, 0x9B80)),
    "galaxian": ((0x4000, 0x43C0),),
}
# The same game with its numbers elsewhere and in another form, for the demo and for tests.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "burrow2": ("burrow", {"score_encoding": "digits", "score_at": 0x530, "lives_at": 0x612}),
    "burrow3": ("burrow", {"score_encoding": "binary", "score_at": 0x4A1, "lives_at": 0xC5F}),
    "burrow4": ("burrow", {"lsb_first": False, "score_at": 0xC33, "lives_at": 0x4F0}),
    "skydrop2": ("skydrop", {"score_encoding": "digits", "digit_base": 0x30, "score_at": 0x180}),
    "skydrop3": ("skydrop", {"lsb_first": False, "score_at": 0x2D1, "lives_at": 0x141}),
}
MODES = {"test": 0, "attract": 1, "play": 2, "over": 3}


def assemble(game: Game, options: Options, work: Path) -> tuple[bytes, Symbols]:
    """Assemble a game with `options`.

    Returns:
        The program and the value of every symbol.
    """
    if shutil.which("pasmo") is None:
        raise BuildError("install pasmo (Debian: apt-get install pasmo)")
    values = {
        "SCORE_AT": game.address(options.score_at),
        "HISCORE_AT": game.address(options.hiscore_at),
        "SCORE_LEN": options.score_len,
        "SCORE_ENC": ENCODINGS[options.score_encoding],
        "SCORE_DESC": int(options.lsb_first),
        "DIGIT_BASE": options.digit_base,
        "DRAWN_ZERO": int(options.drawn_zero),
        "LIVES_AT": game.address(options.lives_at),
        "LIVES_BASE": options.lives_base,
        "LIVES_START": options.lives,
        "SEED": options.seed,
        **{key.upper(): value for key, value in game.screen.items()},
        **game.equates(),
    }
    (work / "config.inc").write_text("".join(f"{k} equ {v}\n" for k, v in values.items()))
    hiscore = ",".join(str(b) for b in options.number(game.hiscore))
    (work / "hiscore.inc").write_text(f"hi_init: db {hiscore}\n")
    folder = HERE / game.name
    command = ["pasmo", "-I", str(work), "-I", str(folder), "-I", str(HERE), "--bin"]
    command += [str(folder / f"{game.name}.asm"), "game.bin", "game.sym"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{game.name}: pasmo: {done.stderr.strip() or done.stdout.strip()}")
    symbols = {}
    for line in (work / "game.sym").read_text().splitlines():
        name, _, value = line.split()
        symbols[name] = int(value.rstrip("Hh"), 16)
    program = (work / "game.bin").read_bytes()  # pasmo writes on to the last variable
    return program[: symbols["code_end"]], symbols


def check_places(game: Game, options: Options, symbols: Symbols) -> None:
    """Refuse a score or lives that would overwrite the game's other RAM."""
    taken = range(symbols["vars"], symbols["vars_end"])
    score = range(game.address(options.score_at), game.address(options.hiscore_at) + 8)
    lives = game.address(options.lives_at)
    limits = [(lo, hi) for lo, hi in FREE[game.driver] if lo <= score[0] < hi]
    if lives in score or lives in taken or any(a in taken for a in score):
        raise BuildError(f"{game.name}: score, lives and variables overlap")
    if not limits or score[-1] >= limits[0][1]:
        raise BuildError(f"{game.name}: {options.score_at:#x} is not free RAM for a score")
    if not any(lo <= lives < hi for lo, hi in FREE[game.driver]):
        raise BuildError(f"{game.name}: {options.lives_at:#x} is not free RAM for lives")


def truth(game: Game, options: Options, symbols: Symbols, name: str) -> dict[str, object]:
    """Say where everything is: what a search should find, for tests to judge it by."""
    where = {"mode": "mode", "level": "level", "credits": "credits"}
    where |= {f"player_{axis}": s for axis, s in zip("xy", game.player, strict=True) if s}
    at = {key: game.offset(symbols[symbol]) for key, symbol in where.items()}
    encoding = {"bcd": "bcd", "digits": "digits", "binary": "uint"}[options.score_encoding]
    return {
        "game": name,
        "board": game.driver,
        "rotate": 270,
        "score_addrs": options.addresses(options.score_at),
        "score_encoding": encoding,
        "score_order": "lsb_first" if options.lsb_first else "msb_first",
        "score_scale": 10 if options.drawn_zero else 1,
        "score_base": options.digit_base,
        "lives_addr": options.lives_at,
        "lives_base": options.lives_base,
        "lives_at_start": options.lives,
        "hiscore_addrs": options.addresses(options.hiscore_at),
        "hiscore_at_start": game.hiscore,
        **{f"{key}_addr": value for key, value in at.items()},
        "modes": MODES,
        "start": {"wait": 300, "buttons": ["SELECT", "START"], "hold": 10, "gap": 10},
        "screen": {"text": "1UP", "cell": 8, **game.screen},
        "notes": list(game.notes),
    }


def toml(value: object) -> str:
    """One value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + "}"
    return str(value)


def toml_text(facts: dict[str, object]) -> str:
    """The truth as a TOML document; addresses in hexadecimal."""
    lines = ["# Written by build.py: where things are. For tests to judge by, never to search by."]
    for key, value in facts.items():
        if key.endswith("_addr"):
            lines.append(f"{key} = {value:#05x}")
        elif key.endswith("_addrs") and isinstance(value, list):
            lines.append(f"{key} = [{', '.join(f'{a:#05x}' for a in value)}]")
        elif not isinstance(value, dict):
            lines.append(f"{key} = {toml(value)}")
    for key, value in facts.items():
        if isinstance(value, dict):
            lines += ["", f"[{key}]", *(f"{k} = {toml(v)}" for k, v in value.items())]
    return "\n".join(lines) + "\n"


def write_content(game: Game, code: bytes, name: str, out: Path) -> tuple[Path, Path]:
    """Write NAME.zip and NAME.dat, the pair FBNeo loads."""
    out.mkdir(parents=True, exist_ok=True)
    roms = game.romset(code)
    with zipfile.ZipFile(out / f"{name}.zip", "w", zipfile.ZIP_STORED) as archive:
        for rom in roms:
            info = zipfile.ZipInfo(f"{name}.{rom.name}", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # the same on every system
            archive.writestr(info, rom.data)
    title = game.title if name == game.name else f"{game.title} ({name})"
    lines = [f"ZipName: {name}", f"DrvName: {game.driver}", f'FullName: "{title}"', ""]
    for rom in roms:
        role = "PRG" if rom.kind == 1 else "GRA"
        crc = zlib.crc32(rom.data)
        lines.append(
            f'"{name}.{rom.name}", 0x{len(rom.data):x}, 0x{crc:08x}, '
            f"BRF_ESS | BRF_{role} | {rom.kind}"
        )
    (out / f"{name}.dat").write_text("\n".join(lines) + "\n", newline="\n")
    return out / f"{name}.zip", out / f"{name}.dat"


def build(
    game: Game, options: Options, out: Path, name: str
) -> tuple[tuple[Path, Path], dict[str, object]]:
    """Build one game.

    Returns:
        The paths of its .zip and .dat, and its truth.
    """
    with tempfile.TemporaryDirectory() as work:
        code, symbols = assemble(game, options, Path(work))
    check_places(game, options, symbols)
    facts = truth(game, options, symbols, name)
    return write_content(game, code, name, out), facts


def build_variant(
    game: str, out_dir: str | Path, name: str = "variant", **choices: Any
) -> tuple[tuple[Path, Path], dict[str, object]]:
    """Build a game whose RAM is laid out as a test wishes.

    Args:
        game: "burrow" or "skydrop".
        out_dir: Where NAME.zip and NAME.dat go.
        name: Name of the content, lower-case.
        choices: Fields of `Options`; what is not given stays the default.

    Returns:
        The paths of the .zip and the .dat, and the truth, keyed as in the .toml files.
    """
    if game not in GAMES:
        raise BuildError(f"no game {game!r}; there are {', '.join(GAMES)}")
    options = replace(GAMES[game].defaults, **choices)
    if options.score_encoding not in ENCODINGS:
        raise BuildError(f"score_encoding {options.score_encoding!r}: one of {list(ENCODINGS)}")
    if options.digit_base and options.score_encoding != "digits":
        raise BuildError("digit_base needs score_encoding='digits'")
    return build(GAMES[game], options, Path(out_dir), name)


def build_all(out: Path) -> list[Path]:
    """Build the games and their variants under `out`; returns the files, relative to it."""
    written = []
    for game in GAMES.values():
        content, facts = build(game, game.defaults, out / game.name, game.name)
        (out / f"{game.name}.toml").write_text(toml_text(facts), newline="\n")
        written += [path.relative_to(out) for path in content] + [Path(f"{game.name}.toml")]
    for number, (name, (base, choices)) in enumerate(VARIANTS.items()):
        content, facts = build_variant(base, out / "variants", name, seed=number + 2, **choices)
        (out / "variants" / f"{name}.toml").write_text(toml_text(facts), newline="\n")
        written += [path.relative_to(out) for path in (*content, content[0].with_suffix(".toml"))]
    return written


def check() -> list[str]:
    """Build aside and compare; returns the names of the files that differ."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        return [
            str(path)
            for path in build_all(fresh)
            if not (HERE / path).exists()
            or (HERE / path).read_bytes() != (fresh / path).read_bytes()
        ]


def main() -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Build retrokit's own arcade games.")
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    arguments = parser.parse_args()
    try:
        if arguments.check:
            different = check()
            if different:
                print("differs from a fresh build: " + ", ".join(different), file=sys.stderr)
            return int(bool(different))
        for path in build_all(HERE):
            print(path)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
