#!/usr/bin/env python3
"""Search Atari games that nobody here ever looked at, and let ALE's own numbers judge.

`python benchmarks/unseen.py [--keep FILE] [GAME …]` searches every ROM of ale-py whose truth is not
in ``../shared/truth``, on libretro Stella from power-on. What was proved is then decoded from ALE's
RAM while ALE plays at random, and compared with ALE's rewards and lives on every frame. ALE has no
part in the search. Its lives are not always right: read the lines that differ before believing
either. Exit code 1 when a proved score differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from truths import SHARED

from retrokit import sandbox
from retrokit.content import identify
from retrokit.discovery.answer import Settings
from retrokit.discovery.search import search
from retrokit.errors import RetrokitError
from retrokit.systems import core_for, package_folder

FRAMES, HOLD = 12_000, (3, 16)
Numbers = NDArray[np.int64]


def supported(rom: Path) -> bool:
    """Tell whether ALE plays a ROM with one player; it ends the process at others."""
    import ale_py

    return ale_py.ALEInterface.isSupportedROM(rom) is not None


def play(rom: Path, frames: int = FRAMES) -> tuple[NDArray[np.uint8], Numbers, Numbers, Numbers]:
    """Return RAM, points gained, lives and number of the game on each frame of random play."""
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(rom)
    actions, rng = ale.getMinimalActionSet(), np.random.default_rng(3)
    ram = np.zeros((frames, 128), np.uint8)
    points, lives, game = (np.zeros(frames, np.int64) for _ in range(3))
    ale.reset_game()
    held, action, number = 0, actions[0], 0
    for frame in range(frames):
        if ale.game_over():
            ale.reset_game()
            number += 1
        if held == 0:
            held, action = int(rng.integers(*HOLD)), actions[rng.integers(len(actions))]
        held -= 1
        # Where ALE takes the opponent's points off, only the player's own are judged.
        points[frame] = max(ale.act(action), 0)
        ram[frame], lives[frame], game[frame] = ale.getRAM(), ale.lives(), number
    return ram, points, lives, game


def differing(score: Numbers, points: Numbers, game: Numbers) -> int:
    """Return on how many frames a score did not rise by the points, up to one factor for all."""
    going = np.diff(game, prepend=-1) == 0  # not the first frame of a game
    rises = np.diff(score, prepend=score[0])
    moved = going & (points != 0)
    factor = rises[moved].sum() / points[moved].sum() if points[moved].sum() else 1
    return int(np.count_nonzero(rises[going] != np.round(factor * points[going])))


def offset(ours: Numbers, theirs: Numbers) -> float:
    """Return the share of frames on which lives differ by the commonest difference."""
    _, counts = np.unique(ours - theirs, return_counts=True)
    return float(counts.max() / counts.sum())


def one(rom: Path) -> dict[str, Any]:
    """Search one game and let ALE judge it."""
    began, row = time.perf_counter(), {"game": rom.stem}
    content = identify(rom)
    try:
        given = (content, core_for(content.system), Settings())
        answer = sandbox.call(search, given)
        made = answer.integration(content)
    except RetrokitError as error:
        return row | {"error": str(error)[:300], "seconds": round(time.perf_counter() - began, 1)}
    row |= {"seconds": round(time.perf_counter() - began, 1), "grade": answer.candidates[0].grade}
    ram, points, lives, game = play(rom)
    values = made.values({"SYSTEM_RAM": ram})
    row["rises"] = int(np.count_nonzero(points))
    row["differing"] = differing(values["score"], points, game)
    if "lives" in values:
        row["lives_grade"] = answer.lives.grade if answer.lives else ""
        row["lives_agree"] = round(offset(values["lives"], lives), 3)
    return row


def main() -> int:
    """Search all; prints and keeps a row as each is finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="only these")
    parser.add_argument("--keep", type=Path, help="where the rows are kept; what is there is done")
    given = parser.parse_args()
    roms = package_folder("ale-py", "*/roms/ms_pacman.bin")
    known = json.loads((SHARED / "truth" / "atari.json").read_text())["games"]
    rows: list[dict[str, Any]] = []
    if given.keep is not None and given.keep.exists():
        rows = json.loads(given.keep.read_text())
    done = {row["game"] for row in rows}
    for rom in sorted(roms.glob("*.bin")) if roms else []:
        if rom.stem in known or rom.stem in done or (given.games and rom.stem not in given.games):
            continue
        if not supported(rom):
            print(f"{rom.stem}: ALE does not play it alone", flush=True)
            continue
        rows.append(one(rom))
        print(rows[-1], flush=True)
        if given.keep is not None:
            given.keep.write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [r["game"] for r in rows if r.get("grade") == "proved" and r["differing"] > 0]
    lives = [r["game"] for r in rows if r.get("lives_agree", 1) < 0.99]
    print(
        f"{len(rows)} games; proved scores that differ from ALE's: {wrong}; lives that do: {lives}"
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
