"""Frames per second of retrokit's host and of others, against a bare C loop on the same core.

Each host is a process of its own. They take turns: in each round every host runs the same frames
of the same button log, so that a busy machine slows all alike, and ratios are taken round by
round. Time is CPU time. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

from retrokit.buttons import to_mask
from retrokit.systems import data_path, find_core, package_folder

HERE = Path(__file__).parent
ROUNDS = 40
SLICE_S = 0.15  # of the bare loop; slower hosts take longer over the same frames
WARM_UP = 10  # batches before anything is measured
BATCH = 60
BAR = 0.97
AV = (9, 8)  # what retrokit answers on seen and on unseen frames
BUTTONS = ("SELECT", "", "START", "", "B", "LEFT", "B", "RIGHT", "UP", "B", "DOWN", "LEFT B",
           "UP", "RIGHT B")  # fmt: skip
MASKS = [to_mask(names.split()) for names in BUTTONS]
BARES = ("bare", "bare_av")
OTHERS = ("ctypes", "libretro_py", "stable_retro")
# Those whose RAM must be the same in the end. libretro.py shows a button a frame late to cores that
# poll late, and stable-retro keeps RAM to itself.
SAME_WORK = ("bare", "bare_av", "retrokit", "retrokit_84")

Result = dict[str, Any]


def games() -> dict[str, tuple[str, Path]]:
    """Return core and content by the game's name, of those that are here."""
    places: dict[str, tuple[str, Path | None, str]] = {
        "airstriker": ("genesis_plus_gx",
                       package_folder("stable-retro", "*/Airstriker-Genesis-v0/rom.md"), "rom.md"),
        "ms_pacman": ("stella", package_folder("ale-py", "*/roms/*.bin"), "ms_pacman.bin"),
        "burrow": ("fbneo", data_path("games"), "burrow/burrow.zip"),
        "skydrop": ("fbneo", data_path("games"), "skydrop/skydrop.zip"),
    }  # fmt: skip
    here = {name: (core, folder / file) for name, (core, folder, file) in places.items() if folder}
    return {name: place for name, place in here.items() if place[1].is_file()}


class Child:
    """A contender's process."""

    def __init__(self, command: list[str], setup: Result, log: Path) -> None:
        """Start it and wait until its content is loaded."""
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        first = json.dumps(setup) if command[0] == sys.executable else None
        self.alive = self.ask(first) == "ready"

    def ask(self, line: str | None) -> str:
        """Send a line, or nothing, and return the answer; empty when it died."""
        assert self.process.stdin and self.process.stdout
        try:
            if line is not None:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        except BrokenPipeError:
            return ""

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def start(name: str, setup: Result, bare: Path) -> Child:
    """Start a contender."""
    folder = Path(setup["folder"]) / name
    for sub in ("system", "save"):
        (folder / sub).mkdir(parents=True)
    own = setup | {"system": str(folder / "system"), "save": str(folder / "save")}
    if name in BARES:
        flags = AV if name == "bare_av" else (-1, -1)
        options = [part for option in setup["options"].items() for part in option]
        masks = ",".join(map(str, setup["masks"]))
        # A file of its own, as retrokit has, lest one bare loop warms the caches for the other.
        core = shutil.copy(setup["core"], folder)
        command = [str(bare), core, setup["content"], own["system"], own["save"], masks,
                   *map(str, flags), *options]  # fmt: skip
    else:
        command = [sys.executable, str(HERE / "contenders.py"), name]
    return Child(command, own, folder / "log")


def measure(core: str, content: Path, bare: Path, folder: Path, rounds: int) -> Result:
    """Let all contenders take turns on one game; return seconds by contender, and frames."""
    setup: Result = {"core": str(find_core(core).path), "content": str(content), "masks": MASKS,
                     "options": {}, "folder": str(folder)}  # fmt: skip
    with ExitStack() as stack:
        children: dict[str, Child] = {}
        for name in ("retrokit", *BARES, "retrokit_84", *OTHERS):
            child = start(name, setup, bare)
            stack.callback(child.close)
            if not child.alive:
                if name in OTHERS:
                    continue
                sys.exit(f"{name} does not start: {(folder / name / 'log').read_text()[-2000:]}")
            children[name] = child
            if name == "retrokit":
                setup["options"] = json.loads(child.ask("options"))
        warm = {name: float(child.ask(str(WARM_UP))) for name, child in children.items()}
        batches = max(1, round(SLICE_S / warm["bare_av"] * WARM_UP))
        seconds: dict[str, list[float]] = {name: [] for name in children}
        turns = list(children)
        for _ in range(rounds):
            random.Random(len(seconds["bare"])).shuffle(turns)  # nobody always follows another
            for name in turns:
                seconds[name].append(float(children[name].ask(str(batches))))
        ram = {name: children[name].ask("ram") for name in SAME_WORK if name in children}
    return {"frames": batches * BATCH, "seconds": seconds, "ram": ram}


def quartiles(values: list[float]) -> list[float]:
    """Return first quartile, median, third quartile."""
    return [round(value, 4) for value in statistics.quantiles(values, n=4, method="inclusive")]


def judge(raw: Result) -> Result:
    """Return frames per second by contender and the ratios between them."""
    seconds = raw["seconds"]

    def ratio(over: str, under: str) -> list[float] | None:
        if over not in seconds or under not in seconds:
            return None
        pairs = zip(seconds[under], seconds[over], strict=True)
        return quartiles([other / own for other, own in pairs])

    return {
        "fps": {name: round(raw["frames"] / statistics.median(s)) for name, s in seconds.items()},
        "same_ram": {name: ram == raw["ram"]["bare"] for name, ram in raw["ram"].items()},
        "over_bare": ratio("retrokit", "bare_av"),
        "over_bare_84": ratio("retrokit_84", "bare_av"),
        "over_bare_without_av": ratio("retrokit", "bare"),
        **{f"over_{name}": ratio("retrokit", name) for name in OTHERS},
    }


def machine() -> str:
    """Return the processor's name and the number of cores we may use."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} CPUs"


def table(results: dict[str, Result]) -> str:
    """Return the results as a Markdown table."""
    columns = {"retrokit / bare": "over_bare", "with grey 84x84": "over_bare_84",
               "/ stable-retro": "over_stable_retro", "/ libretro.py": "over_libretro_py",
               "/ ctypes": "over_ctypes"}  # fmt: skip
    lines = [["game", "bare, AV ignored", "bare, AV flags", "retrokit", *columns]]
    for name, result in results.items():
        fps = [f"{result['fps'][host]:,}" for host in (*BARES, "retrokit")]
        ratios = []
        for key in columns.values():
            q = result[key]
            ratios.append(f"{q[1]:.3f} ({q[0]:.3f}–{q[2]:.3f})" if q else "does not load it")
        lines.append([name, *fps, *ratios])
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    """Measure, print the table, and say whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    arguments = parser.parse_args()
    results: dict[str, Result] = {}
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        include = HERE.parent / "retrokit" / "host"
        compiler = os.environ.get("CC", "gcc")
        subprocess.run([compiler, "-O2", "-std=gnu11", f"-I{include}", str(HERE / "bare.c"), "-o",
                        str(bare), "-ldl"], check=True)  # fmt: skip
        for name, (core, content) in games().items():
            print(f"{name} on {core} …", file=sys.stderr, flush=True)
            raw = measure(core, content, bare, Path(folder) / name, arguments.rounds)
            results[name] = judge(raw) | {"core": core}
            unlike = [host for host, same in results[name]["same_ram"].items() if not same]
            if unlike:
                print(f"{name}: RAM differs from the bare loop's: {unlike}", file=sys.stderr)
    print(f"{date.today()}, {machine()}, {arguments.rounds} rounds, ratios: median (quartiles)\n")
    print(table(results))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        record = {"date": str(date.today()), "machine": machine(), "bar": BAR,
                  "rounds": arguments.rounds, "games": results}  # fmt: skip
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")
    missed = [name for name, result in results.items() if result["over_bare"][1] < BAR]
    if missed:
        print(f"below {BAR} of the bare loop: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
