#!/usr/bin/env python3
"""Search every game whose truth is known, from power-on, and judge what comes out.

`python benchmarks/discovery.py [--seed 1] [--jobs 2] [GAME …]` prints a row a game and the sums,
and keeps the rows in ``benchmarks/results/discovery-seed0.json``; games that stand there already
are not searched again unless ``--fresh`` is given. Exit code 1 when something proved is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from judging import EVERY, lives_right, play, scored, verdict
from truths import REPO, Truth, truths

from retrokit import sandbox
from retrokit.content import identify
from retrokit.discovery.answer import Settings
from retrokit.discovery.search import search
from retrokit.errors import RetrokitError
from retrokit.systems import core_for
from retrokit.views import words


def one(truth: Truth, seed: int) -> dict[str, Any]:
    """Search one game and judge it."""
    row: dict[str, Any] = {"game": truth.name, "group": truth.group, "known": bool(truth.places)}
    began = time.perf_counter()
    episodes: dict[int, Any] = {}

    def keep(event: Any) -> None:
        if event[0] == "episode":
            episodes[event[1]] = (event[2], event[4][::EVERY])

    try:
        content = identify(truth.path)
        found = core_for(content.system)
        answer = sandbox.call(search, (content, found, Settings(seed=seed)), on_event=keep)
    except RetrokitError as error:
        return row | {"error": str(error)[-600:], "seconds": round(time.perf_counter() - began, 1)}
    row["seconds"] = round(time.perf_counter() - began, 1)
    row["stages"] = {name: round(value, 1) for name, value in answer.timings.items()}
    row["start"], row["frames"], row["play"] = answer.start_buttons, answer.frames, answer.scoring
    ram = sandbox.call(play, (content, found, answer))
    row["scored"] = scored(truth, episodes, answer.spans[0].size)
    row["candidates"] = [
        {
            **dict(zip(("verdict", "of"), verdict(candidate, truth, ram, answer), strict=True)),
            "grade": candidate.grade,
            "addrs": list(candidate.offsets),
            "encoding": candidate.variable.encoding,
            "evidence": candidate.evidence,
        }
        for candidate in answer.candidates
    ]
    row["players"] = list(truth.places) if len(truth.places) > 1 else []
    row["why"] = words.failures(answer.to_dict(content))
    lives = answer.lives
    row["has_lives"] = truth.lives is not None
    if lives is not None:
        right = lives_right(truth, ram, answer)
        row["lives"] = {"right": right, "grade": lives.grade, "addr": lives.offset}
    return row


def first(row: dict[str, Any]) -> dict[str, Any]:
    """Return the first candidate of a row."""
    return (row.get("candidates") or [{"verdict": "none", "grade": "none"}])[0]


def both(row: dict[str, Any]) -> list[str]:
    """Return the players whose own counter was proved."""
    proved = [c for c in row.get("candidates", []) if c["grade"] == "proved"]
    return sorted({c.get("of", "") for c in proved if c["verdict"] == "complete"})


def wrong_lives(row: dict[str, Any]) -> bool:
    """Tell whether lives were proved that are not the game's."""
    lives = row.get("lives") or {}
    return bool(row.get("has_lives") and lives.get("grade") == "proved" and not lives["right"])


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Return the sums, a line each."""
    out = []
    for group in ("atari", "corpus", "own"):
        some = [row for row in rows if row["group"] == group]
        if not some:
            continue
        good = [r for r in some if first(r)["verdict"] in ("complete", "partial")]
        proved = [r for r in some if first(r)["grade"] == "proved"]
        complete = [r for r in proved if first(r)["verdict"] == "complete"]
        wrong = [r["game"] for r in proved if first(r)["verdict"] == "wrong"]
        part = [r["game"] for r in proved if first(r)["verdict"] in ("partial", "elsewhere")]
        lived = [r for r in some if r.get("lives", {}).get("grade") == "proved"]
        right = [r for r in lived if r["lives"]["right"]]
        bad = [r["game"] for r in lived if wrong_lives(r)]
        other = [r["game"] for r in lived if not r["lives"]["right"] and not r["has_lives"]]
        graded = [c for r in some for c in r.get("candidates", []) if c["grade"] == "likely"]
        held = sum(c["verdict"] in ("complete", "partial") for c in graded)
        likely = [r for r in some if first(r)["grade"] == "likely"]
        likely_good = [r for r in likely if first(r)["verdict"] in ("complete", "partial")]
        times = [r["seconds"] for r in some]
        slow = sorted(some, key=lambda r: -r["seconds"])[:3]
        out += [
            f"{group}: {len(some)} games, {sum(bool(r.get('scored')) for r in some)} scored, "
            f"true score at rank 1 in {len(good)}; proved {len(proved)}: {len(complete)} complete, "
            f"{len(part)} in part {part}, {len(wrong)} wrong {wrong}; likely and at rank 1: "
            f"{len(likely)}, right {len(likely_good)}; at any rank: {len(graded)}, right {held}",
            f"  lives proved right in {len(right)} of {sum(r.get('has_lives', 0) for r in some)}, "
            f"wrong {len(bad)} {bad}; in games without a known counter {other}",
            f"  seconds: median {statistics.median(times):.1f}, slowest "
            + ", ".join(f"{r['game']} {r['seconds']} {r.get('stages', '')}" for r in slow),
            f"  no start: {[r['game'] for r in some if 'error' in r]}",
        ]
        two = [r for r in some if r.get("players")]
        done = [r for r in two if both(r) == sorted(r["players"])]
        out += two and [
            f"  games of two counters: both proved in {len(done)} of {len(two)}; else "
            + str({r["game"]: both(r) for r in two if r not in done}),
        ]
    return out


def why(row: dict[str, Any]) -> str:
    """Return what decided about the first candidate, or why there is none that is right."""
    best = first(row)
    told = best.get("evidence", {})
    decided = "; ".join(f"{key} {told[key]}" for key in ("screen", "poke") if key in told)
    if best["grade"] == "proved" and best["verdict"] == "complete":
        return decided
    frames = f"{row['frames']:,} frames of play" if "frames" in row else "what was played"
    if not row["known"]:
        said = "no number in this memory is its score"
    elif not row["scored"]:
        said = f"did not score in {frames}"
    else:
        said = f"scored in {frames}, but " + {
            "none": "no number on the screen was found",
            "wrong": f"another number came first ({best['grade']})",
            "partial": f"digits are missing ({best['grade']})",
            "elsewhere": f"what came first lies in other memory ({best['grade']})",
            "complete": f"it is no more than {best['grade']}",
        }.get(best["verdict"], best["verdict"])
    return f"{said}; {decided}" if decided else said


def line(row: dict[str, Any]) -> str:
    """Return a table row."""
    if "error" in row:
        said = " ".join(row["error"].split())
        return f"| {row['game']} | error | | | {row['seconds']} | | {said[:200]} |"
    best, lives = first(row), row.get("lives")
    shown = f"{best['verdict']}, {best['grade']}"
    mark = "" if lives is None else f"{'right' if lives['right'] else 'other'}, {lives['grade']}"
    stages = ", ".join(f"{name} {value}" for name, value in row["stages"].items())
    told = why(row)
    if row.get("players"):
        told += f"; counters proved: {both(row)} of {row['players']}"
    told += "".join(f"; {text}" for text in row.get("why", []))
    return (
        f"| {row['game']} | {'yes' if row['scored'] else 'no'} | {shown} | {mark} | "
        f"{row['seconds']} | {stages} | {told} |"
    )


def main() -> int:
    """Search all games; prints one row each as it is finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="only these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="games at once; they share the cores")
    parser.add_argument("--fresh", action="store_true", help="search again what is kept")
    parser.add_argument("--keep", type=Path, help="where the rows are kept")
    given = parser.parse_args()
    kept = given.keep or REPO / "benchmarks" / "results" / f"discovery-seed{given.seed}.json"
    rows: dict[str, Any] = {}
    if kept.exists():
        rows = {row["game"]: row for row in json.loads(kept.read_text())}
    todo = [t for t in truths() if not given.games or t.name in given.games]
    todo = [t for t in todo if given.fresh or t.name not in rows]
    print(f"{date.today()}, {platform.machine()}, seed {given.seed}, {given.jobs} at once\n")
    print("| game | scored | score | lives | seconds | where the time went | why |")
    print("|---|---|---|---|---|---|---|")
    cores = sorted(os.sched_getaffinity(0))

    def work(number: int, truth: Truth) -> dict[str, Any]:
        share = cores[number % given.jobs :: given.jobs] or cores
        os.sched_setaffinity(0, share)  # of this thread and the children it starts
        return one(truth, given.seed)

    with ThreadPoolExecutor(given.jobs) as pool:
        lanes: list[Any] = []
        queue = list(todo)

        def lane(number: int) -> None:
            while queue:
                truth = queue.pop(0)
                row = work(number, truth)
                rows[row["game"]] = row
                print(line(row), flush=True)
                part = kept.with_suffix(".part")
                part.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
                part.replace(kept)

        lanes = [pool.submit(partial(lane, number)) for number in range(given.jobs)]
        for one_lane in lanes:
            one_lane.result()
    wanted = [row for row in rows.values() if not given.games or row["game"] in given.games]
    print("\n" + "\n".join(summary(wanted)))
    return int(
        any(first(r)["grade"] == "proved" and first(r)["verdict"] == "wrong" for r in wanted)
        or any(wrong_lives(r) for r in wanted)
    )


if __name__ == "__main__":
    sys.exit(main())
