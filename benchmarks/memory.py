#!/usr/bin/env python3
"""What a whole search of a machine with much RAM takes: memory, processor time, and what it finds.

`python benchmarks/memory.py [--frames N] [--seed N] [GAME …]`: a made-up machine of 64 kB to 2 MB
(tests/cores/arena_big.c; needs gcc) and, where ../shared is, real games. Exit code 1 when a search
holds more than 1 GB, or does not prove score and lives of the made-up machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from retrokit import sandbox
from retrokit.content import Content, identify
from retrokit.discovery.answer import Settings
from retrokit.discovery.search import search
from retrokit.errors import RetrokitError
from retrokit.systems import CoreSpec, FoundCore, core_for

REPO = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RETROKIT_SHARED", REPO.parent / "shared"))
STICK = (("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))
# Name → bytes of RAM, and the actions: without fire nothing scores, and three recordings are made.
MADE_UP = {
    "64 kB": (1 << 16, None),
    "512 kB": (1 << 19, None),
    "2 MB": (1 << 21, None),
    "2 MB, no fire": (1 << 21, STICK),
}
REAL = {"miniplanets": "genesis/miniplanets-rev04.bin", "snes07-pong": "snes/snes07-pong.sfc"}
LIVES, SCORE = 0x40, 0x80  # of tests/cores/arena.h
MOST_BYTES = 1_000_000_000


def place(size: int) -> int:
    """Return where the game lies in a made-up machine's RAM."""
    return size - size // 10 + 37


def made_up(size: int, folder: Path) -> tuple[Content, FoundCore]:
    """Return a made-up machine and its content; it is compiled where it is not yet."""
    core, rom, data = folder / f"big{size}_libretro.so", folder / "big.bin", b"a game"
    if not core.exists():
        sources = REPO / "tests" / "cores"
        gcc = [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", "-fPIC", "-shared"]
        defines = [f"-DRAM_BYTES={size}", f"-DAT={place(size)}", "-Wl,-Bsymbolic"]
        files = [f"-I{REPO / 'retrokit' / 'host'}", sources / "arena_big.c", sources / "fake.c"]
        subprocess.run([*gcc, *defines, *files, "-o", core], check=True)
        rom.write_bytes(data)
    sha1 = hashlib.sha1(data).hexdigest()
    content = Content(rom, "big", "unknown", sha1, sha1, len(data), "", "rom", rom, data)
    spec = CoreSpec(
        "big", "big", (core.stem,), (), ("bin",), {}, "regions", frozenset(), "", "", ""
    )
    return content, FoundCore(spec, core, "here")


def one(game: str, frames: int, seed: int, folder: Path) -> dict[str, Any]:
    """Search one game; run in a process of its own, whose only child is the search."""
    size, actions = MADE_UP.get(game, (0, None))
    if size:
        content, found = made_up(size, folder)
    else:
        content = identify(SHARED / "corpus" / REAL[game] if game in REAL else Path(game))
        found = core_for(content.system)
    row: dict[str, Any] = {"game": content.name if not size else game, "core": found.spec.name}
    kept: list[int] = [0]

    def hear(event: tuple[Any, ...]) -> None:
        if event[0] == "episode":
            kept.append(len(event[2]))

    settings = Settings(frames, seed, actions=actions)
    try:
        answer = sandbox.call(search, (content, found, settings), on_event=hear)
    except RetrokitError as error:
        row["error"] = str(error)[:200]
    else:
        best, lives = answer.best, answer.lives
        row |= {
            "ram": sum(span.size for span in answer.spans),
            "frames": answer.frames,
            "score": list(best.offsets) if best else [],
            "lives": lives.offset if lives else -1,
            "grades": [best.grade if best else "none", lives.grade if lives else "none"],
            "stages": {name: round(value, 1) for name, value in answer.timings.items()},
        }
        if size:
            at, bytes_ = place(size), range(2, -1, -1)
            right = row["score"] == [at + SCORE + n for n in bytes_] or actions == STICK
            row["right"] = right and row["lives"] == at + LIVES
            row["right"] &= row["grades"][1] == "proved"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return row | {
        "kept": kept[-1],
        "peak": used.ru_maxrss * 1024,
        "parent": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "seconds": round(used.ru_utime + used.ru_stime, 1),
    }


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    found = row.get("error") or "score {}, lives {}".format(*row["grades"])
    if "right" in row:
        found += ": right" if row["right"] else ": WRONG"
    stages = ", ".join(f"{name} {value}" for name, value in row.get("stages", {}).items())
    numbers = [f"{row.get(name, 0):,}" for name in ("ram", "frames", "kept")]
    sizes = [f"{row[name] / 1e6:.0f}" for name in ("peak", "parent")]
    cells = [f"{row['game']} ({row['core']})", *numbers, *sizes, str(row["seconds"]), stages, found]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Search all games; prints a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="only these: names of rows, or files")
    parser.add_argument("--frames", type=int, default=Settings().frames)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.games[0], given.frames, given.seed, given.one)))
        return 0
    real = [name for name, path in REAL.items() if (SHARED / "corpus" / path).exists()]
    print(f"{date.today()}, {platform.machine()}, seed {given.seed}\n")
    heads = "game (core)|RAM|frames|bytes kept|peak MB|parent MB|CPU s|where it went, s|found"
    print(f"| {heads.replace('|', ' | ')} |\n{'|---' * 9}|")
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        for game in given.games or [*MADE_UP, *real]:
            if game in MADE_UP:
                made_up(MADE_UP[game][0], Path(folder))
            choices = ["--frames", str(given.frames), "--seed", str(given.seed), "--one", folder]
            command = [sys.executable, __file__, game, *choices]
            row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            print(line(row), flush=True)
            bad |= row["peak"] > MOST_BYTES or game in MADE_UP and not row.get("right", False)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
