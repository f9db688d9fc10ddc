#!/usr/bin/env python3
"""Steps per second of retrokit's vector environment, against the limit and against others.

`python benchmarks/env.py [--rounds N] [--json FILE] [GAME …]`: skip 4, grey 84x84, stack 4. Every
contender is a process of its own; they take turns in short rounds on the same games from the same
start, and ratios are taken round by round. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import psx
from env_contenders import SKIP, Setup
from env_processes import (
    Bare,
    Contender,
    at_once,
    cpu_seconds,
    family,
    memory,
    open_all,
    start_state,
)
from host import games, machine, quartiles

from retrokit.errors import CoreNotFound
from retrokit.load import find_integration
from retrokit.systems import find_core

HERE = Path(__file__).parent
ROUNDS = 15
SLICE_S = 0.4  # of retrokit; others take longer over the same steps
SCALE = (1, 2, 4, 8, 16, 32)
STABLE = {"ms_pacman": "MsPacman-Atari2600-v0", "airstriker": "Airstriker-Genesis-v0"}
OWN = {"airstriker": HERE / "airstriker.yaml"}  # the search's own finds only the score's last byte
PSX = "made-up PlayStation"
OURS = ("retrokit", "retrokit_workers", "retrokit_av")
ATARI = ("ale_async", "ale_vector", "envpool", "ale_bare")
# Contender → what retrokit's steps must be at least, as a multiple of its.
BARS = {"limit": 0.90, "stable_retro": 1.8, "ale_async": 0.95, "retrokit_av": 1.8}

Result = dict[str, Any]


def measure(
    setup: Setup, names: Sequence[str], program: Path, rounds: int, slice_s: float
) -> Result:
    """Let the contenders take turns on one game.

    Returns:
        ``rates``: contender → steps per second, round by round; ``cpu``: contender → steps per
        second of processor time; ``same``: whether all of ours saw and held the same.
    """
    options = start_state(setup)
    with ExitStack() as stack:
        bares = [Bare(n, setup, program, options) for n in range(setup.threads)]
        for bare in bares:
            stack.callback(bare.close)
        running = open_all(names, setup, stack)
        running["retrokit"].run(10)
        steps = max(10, round(slice_s * 40 / running["retrokit"].run(40)))
        for contender in running.values():
            contender.run(max(10, steps // 10))  # warm-up
        turns: list[str] = ["limit", "at once", *running]
        rates: dict[str, list[float]] = {name: [] for name in turns}
        used = dict.fromkeys(turns, 0.0)
        same = True
        for number in range(rounds):
            random.Random(number).shuffle(turns)  # nobody always follows another
            for name in turns:
                busy = bares if name == "at once" else [running.get(name, bares[0])]
                before = sum(cpu_seconds(child.process.pid) for child in busy)
                if name == "at once":
                    seconds = at_once(bares, steps)
                else:
                    seconds = running.get(name, bares[0]).run(steps)
                used[name] += sum(cpu_seconds(child.process.pid) for child in busy) - before
                speed = setup.threads if name in ("limit", "ale_bare") else 1
                rates[name].append(speed * steps * setup.envs / seconds)
            sums = {name: running[name].ask("sum").split() for name in OURS if name in running}
            if any(len(set(part) - {"-"}) > 1 for part in zip(*sums.values(), strict=True)):
                print(f"round {number} of {steps} steps: {sums}", file=sys.stderr)
                same = False
    total = rounds * steps * setup.envs
    return {
        "rates": rates,
        "cpu": {name: total / max(used[name], 0.01) for name in turns},
        "same": same,
    }


def judge(raw: Result) -> Result:
    """Return medians, and what retrokit is as a multiple of each contender: quartiles of rounds."""
    rates = raw["rates"]
    own = rates["retrokit"]
    over = {
        name: quartiles([a / b for a, b in zip(own, other, strict=True)])
        for name, other in rates.items()
        if name != "retrokit"
    }
    return {
        "steps_per_second": {name: round(statistics.median(r)) for name, r in rates.items()},
        "steps_per_cpu_second": {name: round(rate) for name, rate in raw["cpu"].items()},
        "retrokit_over": over,
        "same": raw["same"],
        "rounds": len(own),
    }


def scale(setup: Setup, rounds: int, slice_s: float) -> Result:
    """Measure few to many environments, their memory, and resets, next to stable-retro's."""
    out: Result = {"envs": {}, "resets_per_second": {}}
    with ExitStack() as stack:
        several = {}
        for envs in SCALE:
            more = replace(setup, envs=envs, threads=min(envs, setup.threads))
            several[envs] = open_all(["retrokit"], more, stack)["retrokit"]
        steps = {}
        for envs, contender in several.items():
            contender.run(10)
            steps[envs] = max(10, round(slice_s * 40 / contender.run(40)))
        rates: dict[int, list[float]] = {envs: [] for envs in SCALE}
        for _ in range(rounds):
            for envs, contender in several.items():
                rates[envs].append(envs * steps[envs] / contender.run(steps[envs]))
        held = {envs: memory(contender.process.pid) for envs, contender in several.items()}
        for envs in SCALE:
            each = (held[envs] - held[1]) / (envs - 1) if envs > 1 else held[1]
            out["envs"][envs] = {
                "steps_per_second": round(statistics.median(rates[envs])),
                "mb_each": round(each / 1e6, 1),
            }
        one = {"retrokit": several[1]}
        if setup.stable:
            one |= open_all(["stable_retro_one"], replace(setup, envs=1, threads=1), stack)
            out["stable_retro_mb_each"] = stable_memory(setup, one)
        counts = {name: resets_in(contender, slice_s) for name, contender in one.items()}
        speeds: dict[str, list[float]] = {name: [] for name in one}
        for _ in range(rounds):
            for name, contender in one.items():
                seconds = contender.seconds("reset", counts[name])
                speeds[name].append(counts[name] / seconds)
        for name, values in speeds.items():
            out["resets_per_second"][name] = round(statistics.median(values))
    return out


def stable_memory(setup: Setup, one: dict[str, Contender]) -> float | None:
    """Return the MB that one more environment of stable-retro takes, or None where it is not."""
    if "stable_retro_one" not in one:
        return None
    with ExitStack() as stack:
        several = open_all(["stable_retro"], setup, stack)
        if not several:
            return None
        several["stable_retro"].run(10)
        pid = several["stable_retro"].process.pid
        children = family(pid)[1:]
        return round(sum(memory(child) for child in children) / setup.envs / 1e6, 1)


def resets_in(contender: Contender, seconds: float) -> int:
    """Return how many resets take about so long."""
    contender.seconds("reset", 3)
    return max(3, round(5 * seconds / contender.seconds("reset", 5)))


def main_table(results: dict[str, Result]) -> str:
    """Return a row for each game and contender."""
    heads = "game|contender|steps/s|retrokit over it|bar|steps/CPU s|retrokit over it|of own bare"
    lines = [heads.split("|"), ["---"] * 8]
    for game, result in results.items():
        speed, cpu = result["steps_per_second"], result["steps_per_cpu_second"]
        for name, rate in speed.items():
            q = result["retrokit_over"].get(name)
            shown = f"{q[1]:.3f} ({q[0]:.3f}–{q[2]:.3f})" if q else ""
            bar = f"≥ {BARS[name]:.2f}" if (game, name) in bars(results) else ""
            over = f"{cpu['retrokit'] / cpu[name]:.2f}" if q else ""
            own = "ale_bare" if name in ATARI else "limit"
            share = f"{rate / speed[own]:.2f}" if own in speed else ""
            lines.append([game, name, f"{rate:,}", shown, bar, f"{cpu[name]:,}", over, share])
    return as_table(lines)


def scale_table(scales: dict[str, Result]) -> str:
    """Return a row for each game."""
    heads = [f"{n}: steps/s (MB each)" for n in SCALE]
    lines = [["game", *heads, "stable-retro MB each", "resets/s", "stable-retro resets/s"]]
    lines.append(["---"] * len(lines[0]))
    for game, result in scales.items():
        cells = [f"{r['steps_per_second']:,} ({r['mb_each']})" for r in result["envs"].values()]
        resets = result["resets_per_second"]
        other = resets.get("stable_retro_one")
        mb = result.get("stable_retro_mb_each")
        lines.append([game, *cells, str(mb or ""), f"{resets['retrokit']:,}",
                      f"{other:,}" if other else ""])  # fmt: skip
    return as_table(lines)


def as_table(lines: list[list[str]]) -> str:
    """Return lines as Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bars(results: dict[str, Result]) -> dict[tuple[str, str], bool]:
    """Return whether each bar that applies is met, by game and contender."""
    return {
        (game, name): result["retrokit_over"][name][1] >= BARS[name]
        for game, result in results.items()
        for name in BARS
        if name in result["retrokit_over"]
    }


def main() -> int:
    """Measure, print the tables, and say which bars are missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="only these")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--slice", type=float, default=SLICE_S, help="seconds of a turn")
    parser.add_argument("--envs", type=int, default=8, help="default 8")
    parser.add_argument("--no-scale", action="store_true", help="not for 1 to 32 environments")
    given = parser.parse_args()
    results: dict[str, Result] = {}
    scales: dict[str, Result] = {}
    threads = min(2, len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as top:
        program = Path(top) / "bare"
        defines = [f"-DBATCH={SKIP}", "-DCLOCK=CLOCK_MONOTONIC"]
        include = HERE.parent / "retrokit" / "host"
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-std=gnu11", f"-I{include}", *defines,
                        str(HERE / "bare.c"), "-o", str(program), "-ldl"], check=True)  # fmt: skip
        for game, (core, content, integration) in places(Path(top)).items():
            if given.games and game not in given.games:
                continue
            folder = Path(top) / game
            folder.mkdir(exist_ok=True)
            setup = Setup(
                str(integration),
                str(content),
                str(find_core(core).path),
                str(folder),
                given.envs,
                threads,
                STABLE.get(game, ""),
            )
            print(f"{game} on {core} …", file=sys.stderr, flush=True)
            names = contenders(game, core)
            results[game] = judge(measure(setup, names, program, given.rounds, given.slice))
            if not given.no_scale and game != PSX:
                scales[game] = scale(setup, max(3, given.rounds // 3), given.slice)
    print(f"{date.today()}, {machine()}, load {os.getloadavg()[0]:.1f}, {given.rounds} rounds, "
          f"{given.envs} environments on {threads} CPUs; ratios: median (quartiles)\n")  # fmt: skip
    print(main_table(results))
    if scales:
        print("\n" + scale_table(scales))
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        record = {"date": str(date.today()), "machine": machine(), "load": os.getloadavg()[0],
                  "bars": BARS, "games": results, "scale": scales}  # fmt: skip
        given.json.write_text(json.dumps(record, indent=2) + "\n")
    missed = [f"{game}: {name}" for (game, name), met in bars(results).items() if not met]
    unlike = [game for game, result in results.items() if not result["same"]]
    if missed:
        print(f"bars missed: {', '.join(missed)}", file=sys.stderr)
    if unlike:
        print(f"pictures or RAM of ours differ: {', '.join(unlike)}", file=sys.stderr)
    return int(bool(missed or unlike))


def places(top: Path) -> dict[str, tuple[str, Path, Path]]:
    """Return core, content and integration of each game that is here."""
    out = {
        game: (core, content, OWN.get(game) or find_integration(game))
        for game, (core, content) in games().items()
    }
    try:
        found = find_core("mednafen_psx")
    except CoreNotFound as error:
        print(f"no PlayStation: {error}", file=sys.stderr)
        return out
    folder = top / PSX
    folder.mkdir()
    os.environ["RETROKIT_SYSTEM"] = str(folder)  # the boot ROM's place, for the children too
    integration, content = psx.make(folder, found)
    return out | {PSX: (found.spec.name, content, integration)}


def contenders(game: str, core: str) -> list[str]:
    """Return who takes part in a game."""
    asks = core == "fbneo"  # for what is seen and heard; the others draw always
    return [
        "retrokit",
        "retrokit_workers",
        *["retrokit_av"] * asks,
        *(("stable_retro", "stable_retro_lean") if game in STABLE else ()),
        *(ATARI if game == "ms_pacman" else ()),
    ]


if __name__ == "__main__":
    sys.exit(main())
