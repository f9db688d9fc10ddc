#!/usr/bin/env python3
"""What `retrokit ramsearch` finds from power-on, judged by the truth, and where the time goes.

`python benchmarks/search.py [--json FILE]`: burrow, skydrop and the built variants on FBNeo, and
Ms. Pac-Man on Stella where ale-py is installed. Exit code 1 when a fact differs from the truth.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from retrokit import sandbox
from retrokit.content import identify
from retrokit.discovery.answer import Settings
from retrokit.discovery.search import search
from retrokit.systems import core_for, package_folder

REPO = Path(__file__).resolve().parent.parent
GAMES = REPO / "games"
MS_PACMAN = {
    "score_addrs": [0x7A, 0x79, 0x78],
    "score_encoding": "bcd",
    "score_scale": 1,
    "lives_addr": 0x7B,
}


def cases() -> list[tuple[Path, dict[str, Any]]]:
    """Return the content and the truth of each case."""
    found = []
    for table in sorted([*GAMES.glob("*.toml"), *GAMES.glob("variants/*.toml")]):
        folder = GAMES / table.stem if table.parent == GAMES else table.parent
        found.append((folder / f"{table.stem}.zip", tomllib.loads(table.read_text())))
    roms = package_folder("ale-py", "*/roms/ms_pacman.bin")
    if roms is not None:
        found.append((roms / "ms_pacman.bin", MS_PACMAN))
    return found


def one(path: Path, truth: dict[str, Any], seed: int) -> dict[str, Any]:
    """Search one game and judge it."""
    content = identify(path)
    began = time.perf_counter()
    answer = sandbox.call(search, (content, core_for(content.system), Settings(seed=seed)))
    seconds = time.perf_counter() - began
    best, lives = answer.best, answer.lives
    same = best is not None and (
        list(best.variable.addrs) == truth["score_addrs"]
        and best.variable.encoding == truth["score_encoding"]
        and best.variable.scale == truth["score_scale"]
    )
    return {
        "game": content.name,
        "score": bool(same),
        "score_grade": best.grade if best else "",
        "lives": lives is not None and lives.offset == truth["lives_addr"],
        "lives_grade": lives.grade if lives else "",
        "seconds": round(seconds, 1),
        "stages": {name: round(value, 1) for name, value in answer.timings.items()},
    }


def main() -> int:
    """Run all cases; prints one row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    arguments = parser.parse_args()
    rows = []
    print(f"{date.today()}, {platform.machine()}, seed {arguments.seed}\n")
    print("| game | score | lives | seconds | where the time went |")
    print("|---|---|---|---|---|")
    for path, truth in cases():
        row = one(path, truth, arguments.seed)
        rows.append(row)
        stages = ", ".join(f"{name} {value}" for name, value in row["stages"].items())
        verdict = [
            f"{'right' if row[key] else 'WRONG'}, {row[f'{key}_grade']}"
            for key in ("score", "lives")
        ]
        print(
            f"| {row['game']} | {' | '.join(verdict)} | {row['seconds']} | {stages} |", flush=True
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(not all(row["score"] and row["lives"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
