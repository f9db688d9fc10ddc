"""``retrokit train``: an agent learns a game; Ctrl-C keeps everything, ``--resume`` goes on."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import learning
from ..checkpoint import KEEP
from ..errors import RetrokitError, UserError
from ..integration import Integration
from ..learning.players import game_of
from ..load import Game, find_integration, open_game
from ..run import ROOT, Run
from . import output

if TYPE_CHECKING:
    from ..learning import Progress, TrainConfig

PLAIN_SECONDS = 15.0  # between two lines where no panel can be drawn


def train(
    run: Annotated[
        str | None,
        typer.Argument(help="With --resume: a run's folder, or its game.  [the newest run]"),
    ] = None,
    integration: Annotated[
        str | None, typer.Option(help="The integration's file, or the name of one that ships.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of all environments.")] = None,
    envs: Annotated[int | None, typer.Option(min=1, help="Environments.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything drawn.")] = None,
    device: Annotated[
        str | None, typer.Option(help="auto, cpu, cuda: where the network is.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, any setting; repeatable.")
    ] = None,
    content: output.ContentOption = None,
    core: Annotated[
        str | None, typer.Option(help="A core's name or library file, not the integration's.")
    ] = None,
    rom_dir: output.RomDirOption = None,
    runs: Annotated[Path, typer.Option(help="Where runs lie.")] = ROOT,
    keep: Annotated[int, typer.Option(min=1, help="Checkpoints that stay.")] = KEEP,
    json: output.JsonOption = False,
) -> int:
    """Train with PPO until the steps are done or Ctrl-C; both write a checkpoint."""
    given = {"total_steps": steps, "num_envs": envs, "seed": seed, "device": device}
    changes = [f"{name}={value}" for name, value in given.items() if value is not None]
    changes += settings or ()
    rom_dirs = rom_dir or ()
    if resume:
        if integration or content or core:
            raise UserError("a run to go on with, and another game", "one of the two")
        going = Run.find(run, runs) if run else Run.newest(runs)
        config, game, state = _taken_up(going, changes, rom_dirs)
    else:
        if run is not None or integration is None:
            raise UserError("no game to train on", "--integration FILE|NAME, or --resume [RUN]")
        path = find_integration(integration)
        game = open_game(Integration.load(path), content, rom_dirs, core)
        config = learning.TrainConfig(
            integration,
            str(content.resolve()) if content else "",
            core or "",
            env=learning.suited(game.integration),
        ).changed(changes)
        state = None
        going, config, ways = learning.new_run(runs, config, game, path.read_text("utf-8"))
        _tell(going, game, config, ways)
    with going, _asked_to_stop() as stop, _panel(going.name) as watch:
        begun, last = time.monotonic(), None

        def told(progress: Progress) -> None:
            nonlocal last
            last = progress
            watch(progress)

        go_on = f"Go on with: retrokit train --resume {going.path}"
        try:
            finished = learning.train(
                going, config, game, state=state, keep=keep, watch=told, stop=stop
            )
        except RetrokitError as error:
            if going.checkpoints():
                error.remedy = f"{error.remedy} {go_on}".lstrip()
            raise
        except KeyboardInterrupt:  # the second
            finished = False
    seconds = round(time.monotonic() - begun, 1)
    if not finished:
        raise KeyboardInterrupt(go_on)
    if json:
        output.print_json({"run": going.path, "seconds": seconds, **_facts(last)})
    elif last is None:
        print(f"{going.path}: all {config.total_steps:,} steps are made; --steps makes it longer")
    else:
        print(f"{going.path}: {config.total_steps:,} steps; {line(last)}")
    return 0


def _taken_up(
    run: Run, changes: list[str], rom_dirs: Sequence[Path]
) -> tuple[TrainConfig, Game, Any]:
    """Take a run's lock, and return its settings, its game and what to go on from."""
    run.lock()
    try:
        config, state = learning.resumed(run, changes)
        if config.total_steps < state["step"]:
            found = f"{config.total_steps:,} steps of a run that has made {state['step']:,}"
            raise UserError(found, "more")
        game = game_of(run, rom_dirs=rom_dirs)
    except BaseException:
        run.close()
        raise
    output.note(f"{run.path}: going on at step {state['step']:,} of {config.total_steps:,}")
    return config, game, state


def _tell(run: Run, game: Game, config: TrainConfig, ways: Sequence[Any]) -> None:
    """Say what is about to be done, and what was measured."""
    output.note(f"{run.path}: {game.integration.game}, {config.total_steps:,} steps")
    for way in ways:
        shards = f"{way.shards} shards" if way.shards > 1 else "1 shard"
        threads = f"{way.threads} threads each" if way.threads > 1 else "1 thread each"
        output.note(f"  {shards}, {threads}, {way.precision}: {way.rate:,.0f} samples/s")
    if ways:
        output.note(f"  taken: {config.shards} × {config.threads}, {config.precision}")


def _facts(progress: Progress | None) -> dict[str, Any]:
    if progress is None:
        return {}
    return {
        "steps": progress.step,
        "games": progress.games,
        "return": progress.score,
        "length": progress.survival,
        "points_per_step": progress.points_per_step,
        "steps_per_second": progress.steps_per_second,
    }


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a question's answer; the second interrupts as ever."""
    asked = False

    def handle(*_: Any) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        output.note("Ctrl-C: finishing this update, then writing a checkpoint …")

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def line(progress: Progress) -> str:
    """Return where a run stands, in one line."""
    if math.isnan(progress.score):
        played = "no game has ended yet"
    else:
        played = (
            f"return {progress.score:,.0f}, survival {progress.survival:,.0f} steps,"
            f" {progress.points_per_step:.3g} points a step"
        )
    return f"{played}; {progress.steps_per_second:,.0f} steps/s"


def span(seconds: float) -> str:
    """Return a time as people say it: 42 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def _panel(name: str) -> Iterator[Callable[[Progress], None]]:
    """Show where a run stands: one live panel, or a line every now and then."""
    if output.is_plain(sys.stderr):
        said = -math.inf

        def say(progress: Progress) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said >= PLAIN_SECONDS or progress.step >= progress.total_steps:
                said = now
                share = f"{progress.step:,} of {progress.total_steps:,}"
                left = f"{span(progress.seconds_left)} left"
                output.note(f"{share}: {line(progress)}, {left}")

        yield say
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False) as live:
        yield lambda progress: live.update(_drawn(name, progress), refresh=True)


def _number(value: float, form: str, unit: str = "") -> str:
    """Return a number as people read it, a dash where there is none yet."""
    return "–" if math.isnan(value) else f"{value:{form}}{unit}"


def _drawn(name: str, progress: Progress) -> Any:
    from rich.panel import Panel
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    rows = (
        ("return", _number(progress.score, ",.1f")),
        ("survival", _number(progress.survival, ",.0f", " steps")),
        ("points a step", _number(progress.points_per_step, ".3g")),
        ("games", f"{progress.games:,}"),
        ("speed", f"{progress.steps_per_second:,.0f} steps/s"),
        ("left", span(progress.seconds_left)),
    )
    deeper = [(key.replace("_", " "), _number(x, ".3g")) for key, x in progress.metrics.items()]
    tables = []
    for part in (rows, deeper):
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column(justify="right")
        for row in part:
            table.add_row(*row)
        tables.append(table)
    both = Table.grid(padding=(0, 4))  # as wide as needed: where it fills the line, ^C breaks it
    both.add_row(*tables)
    whole = Table.grid()
    whole.add_row(ProgressBar(progress.total_steps, progress.step, width=64))
    whole.add_row(both)
    title = f"{name}  step {progress.step:,} of {progress.total_steps:,}"
    return Panel(whole, title=title, expand=False)
