#!/usr/bin/env python3
"""What a whole search takes of a machine with much RAM: memory, processor time, and what is found.

`python benchmarks/memory.py [--frames N] [--seed N] [CASE …]`: a made-up machine of 64 kB to 2 MB
(tests/cores/arena_big.c; needs gcc) and, where ../shared is, real games with 64 kB or more. Exit
code 1 when a search holds more than 1 GB or does not prove the made-up machine's score.
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
MADE_UP = {"64 kB": 1 << 16, "512 kB": 1 << 19, "2 MB": 1 << 21}
REAL = {"miniplanets": "genesis/miniplanets-rev04.bin", "snes07-pong": "snes/snes07-pong.sfc"}
SCORE = 0x80  # of tests/cores/arena.h
MOST_BYTES = 1_000_000_000


def place(size: int) -> int:
    """Return where the game lies in a made-up machine's RAM."""
    return size - size // 10 + 37


def made_up(size: int, folder: Path) -> tuple[Content, FoundCore]:
    """Compile a made-up machine."""
    sources, core = REPO / "tests" / "cores", folder / f"big{size}_libretro.so"
    gcc = [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", "-fPIC", "-shared"]
    defines = [f"-DRAM_BYTES={size}", f"-DAT={place(size)}", "-Wl,-Bsymbolic"]
    files = [f"-I{REPO / 'retrokit' / 'host'}", sources / "arena_big.c", sources / "fake.c"]
    subprocess.run([*gcc, *defines, *files, "-o", core], check=True)
    rom, data = folder / "big.bin", b"a game"
    rom.write_bytes(data)
    sha1 = hashlib.sha1(data).hexdigest()
    content = Content(rom, "big", "unknown", sha1, sha1, len(data), "", "rom", rom, data)
    spec = CoreSpec(
        "big", "big", (core.stem,), (), ("bin",), {}, "regions", frozenset(), "", "", ""
    )
    return content, FoundCore(spec, core, "here")


def one(case: str, settings: Settings) -> dict[str, Any]:
    """Search one game; run in a process of its own, whose only child is the search."""
    with tempfile.TemporaryDirectory() as folder:
        if case in MADE_UP:
            content, found = made_up(MADE_UP[case], Path(folder))
        else:
            content = identify(SHARED / "corpus" / REAL[case] if case in REAL else Path(case))
            found = core_for(content.system)
        row: dict[str, Any] = {"case": case, "core": found.spec.name}
        kept = 0

        def hear(event: tuple[Any, ...]) -> None:
            nonlocal kept
            kept = len(event[2]) if event[0] == "episode" else kept

        try:
            answer = sandbox.call(search, (content, found, settings), on_event=hear)
        except RetrokitError as error:
            row["error"] = str(error)[:200]
        else:
            best, lives = answer.best, answer.lives
            row |= {
                "ram": sum(span.size for span in answer.spans),
                "frames": answer.frames,
                "score": best.offsets if best else (),
                "score_grade": best.grade if best else "nothing scored",
                "lives_grade": lives.grade if lives else "none",
                "stages": {name: round(value, 1) for name, value in answer.timings.items()},
            }
            if case in MADE_UP:
                at = place(MADE_UP[case]) + SCORE
                row["right"] = list(row["score"]) == [at + 2, at + 1, at]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    row |= {
        "kept": kept,
        "bytes": used.ru_maxrss * 1024,
        "parent_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "seconds": round(used.ru_utime + used.ru_stime, 1),
    }
    return row


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    found = row.get("error") or f"score {row['score_grade']}, lives {row['lives_grade']}"
    if "right" in row:
        found += ": right" if row["right"] else ": WRONG"
    stages = ", ".join(f"{name} {value}" for name, value in row.get("stages", {}).items())
    cells = [
        f"{row['case']} ({row['core']})",
        f"{row.get('ram', 0):,}",
        f"{row.get('frames', 0):,}",
        f"{row['kept']:,}",
        f"{row['bytes'] / 1e6:.0f}",
        f"{row['parent_bytes'] / 1e6:.0f}",
        f"{row['seconds']}",
        stages,
        found,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Search all cases; prints a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="only these; a path is a game")
    parser.add_argument("--frames", type=int, default=Settings().frames)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    settings = Settings(given.frames, given.seed)
    if given.one:
        print(json.dumps(one(given.cases[0], settings)))
        return 0
    real = [name for name, path in REAL.items() if (SHARED / "corpus" / path).exists()]
    print(f"{date.today()}, {platform.machine()}, seed {given.seed}\n")
    print(
        "| game (core) | RAM | frames | bytes kept | peak MB | of the parent | CPU s | stages, s"
        " | found |\n|---|---|---|---|---|---|---|---|---|"
    )
    bad = 0
    for case in given.cases or [*MADE_UP, *real]:
        choices = ["--frames", str(given.frames), "--seed", str(given.seed), "--one", case]
        command = [sys.executable, __file__, *choices]
        row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        print(line(row), flush=True)
        good = row.get("right", True) and row.get("score_grade") == "proved"
        bad += row["bytes"] > MOST_BYTES or case in MADE_UP and not good
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
