#!/usr/bin/env python3
"""How fast retrokit learns, and what: against Stable-Baselines3, a plain loop, and itself.

`python benchmarks/learn.py speed [--game GAME] [--rounds N] [--json FILE]`: one rollout and
its update by each learner in turn, in rounds of shuffled order; medians, and ratios round by round.

`python benchmarks/learn.py curve GAME --steps N [--runs DIR] [--json FILE]`: a run, its checkpoints
evaluated next to random play. Interrupt it; the same command goes on.

`python benchmarks/learn.py agree [--game GAME] [--steps N] [--seeds N]`: curves of fp32 and bf16.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from env_processes import last_line
from host import Child, machine, quartiles
from learn_contenders import CONTENDERS, Setup

from retrokit.learning.shards import has_bf16
from retrokit.run import Run

HERE = Path(__file__).parent
MS_PACMAN = str(HERE / "ms_pacman.yaml")
OTHERS = ("sb3", "plain")
# What retrokit's steps per second must be at least, as a multiple of each other learner's.
BARS = {
    "retrokit": {"sb3": 2.2, "plain": 2.0},  # where the processor has bf16 instructions
    "retrokit_fp32": {"sb3": 1.3, "plain": 1.3},
}
PARTS = ("playing", "thinking", "update")
CHECKPOINTS = 6  # of a curve

Result = dict[str, Any]


class Learner(Child):
    """A learner's process."""

    def __init__(self, name: str, setup: Setup, folder: Path) -> None:
        """Start it and wait until it is ready."""
        self.name, self.log = name, folder / f"{name}.log"
        command = [sys.executable, str(HERE / "learn_contenders.py"), name]
        super().__init__(command, asdict(setup), self.log)

    def iterate(self) -> dict[str, float]:
        """Let it do one rollout and its update; return the seconds of its parts."""
        answer = self.ask("go")
        if not answer:
            sys.exit(f"{self.name} died: {last_line(self.log)}")
        seconds: dict[str, float] = json.loads(answer)
        return seconds


def speed(setup: Setup, names: list[str], rounds: int) -> Result:
    """Let the learners take turns.

    Returns:
        ``rates``, ``per_cpu``: learner → steps per second (of the clock, of all processors), round
        by round; ``shares``: learner → median share of each part.
    """
    batch = setup.config().batch
    with tempfile.TemporaryDirectory() as folder:
        learners = {name: Learner(name, setup, Path(folder)) for name in names}
        parts: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for learner in learners.values():
            learner.iterate()  # kernels are made at their first use
        turns = list(names)
        for number in range(rounds):
            random.Random(number).shuffle(turns)
            for name in turns:
                parts[name].append(learners[name].iterate())
                done = parts[name][-1]
                rate = batch / (done["rollout"] + done["update"])
                print(f"round {number + 1}: {name} {rate:,.0f} steps/s", file=sys.stderr)
        for learner in learners.values():
            learner.close()
    return {
        "rates": {
            name: [batch / (one["rollout"] + one["update"]) for one in parts[name]]
            for name in names
        },
        "per_cpu": {name: [batch / one["cpu"] for one in parts[name]] for name in names},
        "shares": {
            name: {
                part: statistics.median(
                    one[part] / (one["rollout"] + one["update"]) for one in parts[name]
                )
                for part in PARTS
            }
            for name in names
        },
    }


def judge(raw: Result) -> Result:
    """Return medians, and ratios of each of ours over each of the others: quartiles of rounds."""

    def over(kind: str) -> Result:
        return {
            name: {
                other: quartiles([a / b for a, b in zip(own, raw[kind][other], strict=True)])
                for other in OTHERS
                if other in raw[kind]
            }
            for name, own in raw[kind].items()
            if name.startswith("retrokit")
        }

    return {
        "steps_per_second": {n: round(statistics.median(r)) for n, r in raw["rates"].items()},
        "steps_per_cpu_second": {n: round(statistics.median(r)) for n, r in raw["per_cpu"].items()},
        "shares": raw["shares"],
        "over": over("rates"),
        "over_per_cpu": over("per_cpu"),
        "rounds": len(next(iter(raw["rates"].values()))),
    }


def speed_table(result: Result) -> str:
    """Return the speeds as a Markdown table."""
    head = ["learner", "steps/s", "a CPU second", *PARTS, *(f"over {one}" for one in OTHERS)]
    lines = [head, ["---"] * len(head)]
    for name, rate in result["steps_per_second"].items():
        shares = [f"{100 * result['shares'][name][part]:.0f}%" for part in PARTS]
        ratios = [
            f"{found[1]:.2f} ({found[0]:.2f}–{found[2]:.2f})" if found else ""
            for found in (result["over"].get(name, {}).get(other) for other in OTHERS)
        ]
        cpu = f"{result['steps_per_cpu_second'][name]:,}"
        lines.append([name, f"{rate:,}", cpu, *shares, *ratios])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def missed(result: Result) -> list[str]:
    """Return the bars that were not reached."""
    return [
        f"{name} over {other}: {result['over'][name][other][1]}; wanted {bar}"
        for name, bars in BARS.items()
        for other, bar in bars.items()
        if (name != "retrokit" or has_bf16())
        and other in result["over"].get(name, {})
        and result["over"][name][other][1] < bar
    ]


def retrokit(*arguments: str) -> int:
    """Run a command of ours; what it prints is shown."""
    return subprocess.run([sys.executable, "-m", "retrokit", *arguments]).returncode


def curve(game: str, steps: int, seed: int, runs: Path, settings: list[str]) -> int:
    """Train, or go on, and evaluate the checkpoints next to random play."""
    more = [part for setting in settings for part in ("--set", setting)]
    going = [run for run in Run.list(runs) if run.config["seed"] == seed]
    if going:
        run = going[-1]
        ended = run.checkpoints() and int(run.checkpoints()[-1].stem) >= steps
        arguments = ["train", "--resume", str(run.path), "--steps", str(steps)]
        if not ended and (code := retrokit(*arguments)):
            return code
    else:
        arguments = ["train", "--integration", game, "--steps", str(steps), "--seed", str(seed)]
        if code := retrokit(*arguments, "--runs", str(runs), *more):
            return code
        run = Run.newest(runs)
    kept = run.checkpoints()
    wanted = sorted({round(at * (len(kept) - 1) / CHECKPOINTS) for at in range(CHECKPOINTS + 1)})
    paths = [str(kept[at]) for at in wanted]
    return retrokit("eval", *paths, "--episodes", "15", "--median")


def agree(game: str, steps: int, seeds: int, runs: Path) -> int:
    """Train with both precisions under several seeds, and print the curves side by side."""
    for precision in ("fp32", "bf16"):
        for seed in range(1, seeds + 1):
            known = [
                run
                for run in Run.list(runs)
                if (run.config["precision"], run.config["seed"]) == (precision, seed)
            ]
            arguments = ["train", "--integration", game, "--steps", str(steps), "--seed", str(seed)]
            arguments += ["--runs", str(runs), "--set", f"precision={precision}"]
            if known:
                if int(known[-1].checkpoints()[-1].stem) >= steps:
                    continue
                arguments = ["train", "--resume", str(known[-1].path)]
            if code := retrokit(*arguments):
                return code
    print("| precision | seed | " + " | ".join(f"{n / 4:.0%}" for n in range(1, 5)) + " |")
    print("|" + "---|" * 6)
    for run in Run.list(runs):
        frame = run.metrics.frame("updates").dropna(subset=["return"])
        at = [frame[frame["step"] <= steps * n / 4]["return"].iloc[-1] for n in range(1, 5)]
        cells = " | ".join(f"{value:,.0f}" for value in at)
        print(f"| {run.config['precision']} | {run.config['seed']} | {cells} |")
    return 0


def main() -> int:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("speed")
    one.add_argument("--game", default=MS_PACMAN)
    one.add_argument("--envs", type=int, default=16)
    one.add_argument("--rounds", type=int, default=9)
    one.add_argument("--json", type=Path)
    one.add_argument("learners", nargs="*", choices=[*CONTENDERS, []])
    one = parts.add_parser("curve")
    one.add_argument("game")
    one.add_argument("--steps", type=int, default=10_000_000)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--runs", type=Path, default=Path("runs/curve"))
    one.add_argument("--set", action="append", default=[], dest="settings")
    one = parts.add_parser("agree")
    one.add_argument("--game", default=MS_PACMAN)
    one.add_argument("--steps", type=int, default=200_000)
    one.add_argument("--seeds", type=int, default=3)
    one.add_argument("--runs", type=Path, default=Path("runs/agree"))
    given = parser.parse_args()
    if given.part == "curve":
        return curve(given.game, given.steps, given.seed, given.runs, given.settings)
    if given.part == "agree":
        return agree(given.game, given.steps, given.seeds, given.runs)
    names = given.learners or [name for name in CONTENDERS if name != "retrokit_bf16"]
    if has_bf16() and not given.learners:
        names.append("retrokit_bf16")
    result = judge(speed(Setup(given.game, given.envs), names, given.rounds))
    result |= {"machine": machine(), "date": str(date.today()), "bf16": has_bf16()}
    result |= {"game": Path(given.game).stem, "envs": given.envs}
    print(f"{result['game']}, {given.envs} environments, {result['machine']}\n")
    print(speed_table(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    for line in missed(result):
        print(line)
    return int(bool(missed(result)))


if __name__ == "__main__":
    sys.exit(main())
