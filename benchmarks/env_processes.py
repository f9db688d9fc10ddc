"""The processes of the environment benchmark: contenders, the bare loop, and what they use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from env_contenders import Setup, action_log
from host import Child

from retrokit import savestate
from retrokit.load import open_game

HERE = Path(__file__).parent
AV = (9, 8)  # what retrokit answers on seen and on unseen frames


class Contender(Child):
    """A contender's process and those that it starts."""

    def __init__(self, name: str, setup: Setup) -> None:
        """Start it and wait until it is ready."""
        self.name, self.setup = name, setup
        self.log = Path(setup.folder) / f"{name}.log"
        command = [sys.executable, str(HERE / "env_contenders.py"), name]
        super().__init__(command, asdict(setup), self.log)

    def run(self, steps: int) -> float:
        """Run so many steps of each environment from their start; return seconds."""
        return self.seconds("run", steps * (self.setup.envs if self.name == "ale_bare" else 1))

    def seconds(self, word: str, number: int) -> float:
        """Ask for something so many times; return the seconds it took."""
        answer = self.ask(f"{word} {number}")
        if not answer:
            sys.exit(f"{self.name} died: {last_line(self.log)}")
        return float(answer)

    def close(self) -> None:
        """End it and its children: without a goodbye they would live on."""
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Bare(Child):
    """The bare loop: one instance that plays all environments' games in turn."""

    def __init__(self, number: int, setup: Setup, program: Path, options: dict[str, str]) -> None:
        """Start it on the start state that `start_state` has written."""
        self.setup, folder = setup, Path(setup.folder) / f"bare{number}"
        for sub in ("system", "save"):
            (folder / sub).mkdir(parents=True)
        game = open_game(setup.game, setup.content, core=setup.core)
        masks = game.integration.action_masks().tolist()
        log = ",".join(str(masks[action]) for action in action_log(len(masks)))
        system = os.environ.get("RETROKIT_SYSTEM") or str(folder / "system")
        # A file of its own, as each of retrokit's cores has.
        command = [str(program), shutil.copy(setup.core, folder), setup.content,
                   system, str(folder / "save"), log, *map(str, AV),
                   *(part for option in options.items() for part in option)]  # fmt: skip
        super().__init__(command, {}, folder / "log")
        if not self.alive:
            sys.exit(f"the bare loop does not start: {last_line(folder / 'log')}")
        self.ask("1")  # no core is asked to restore before it ran

    def run(self, steps: int) -> float:
        """Play every environment's steps; return seconds."""
        return sum(self.play(steps) for _ in range(self.setup.envs))

    def play(self, steps: int) -> float:
        """Play one environment's steps."""
        if self.ask(f"load {self.setup.folder}/start") != "loaded":
            sys.exit("the bare loop cannot restore the start state")
        return float(self.ask(str(steps)))


def last_line(log: Path) -> str:
    """Return the last line of a log, for a contender that did not start."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")


def start_state(setup: Setup) -> dict[str, str]:
    """Write the core's bytes of the start state; return the core's options."""
    game = open_game(setup.game, setup.content, core=setup.core)
    with game.open() as core:
        core.record(game.integration.start_frames())
        (Path(setup.folder) / "start").write_bytes(savestate.body_of(core.save(), core.owner))
        return {key: option["value"] for key, option in core.options().items()}


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    out = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            out += family(int(child))
    return out


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and all below it."""
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Return the bytes of a process and all below it, shared pages by their share."""
    total = 0
    for one in family(pid):
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            total += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
    return total


def open_all(names: Iterable[str], setup: Setup, stack: ExitStack) -> dict[str, Contender]:
    """Start contenders; those that do not start are left out, and said."""
    out = {}
    for name in names:
        contender = Contender(name, setup)
        stack.callback(contender.close)
        if contender.alive:
            out[name] = contender
        elif name == "retrokit":
            sys.exit(f"retrokit does not start: {last_line(contender.log)}")
        else:
            print(f"  {name} does not start: {last_line(contender.log)}", file=sys.stderr)
    return out


def at_once(bares: Sequence[Bare], steps: int) -> float:
    """Let all bare loops run at the same time, each its share; return the slowest one's seconds."""
    assert bares[0].setup.envs % len(bares) == 0
    seconds = [0.0] * len(bares)
    for _ in range(bares[0].setup.envs // len(bares)):
        for bare in bares:
            if bare.ask(f"load {bare.setup.folder}/start") != "loaded":
                sys.exit("the bare loop cannot restore the start state")
        for bare in bares:
            assert bare.process.stdin
            bare.process.stdin.write(f"{steps}\n")
            bare.process.stdin.flush()
        seconds = [s + float(bare.ask(None)) for s, bare in zip(seconds, bares, strict=True)]
    return max(seconds)
