"""``retrokit eval``: what checkpoints score in whole games, next to random play."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..checkpoint import Checkpoint, look_at
from ..errors import MissingExtra, RetrokitError, UserError
from ..learning.config import ENV
from ..learning.evaluate import EPISODES, KEPT, SEED, Evaluator
from ..learning.players import (
    PLAYS,
    Play,
    Player,
    checkpoints_of,
    game_of,
    options_of,
    players_of,
    random_player,
    settings_of,
    trained_on,
    whole_games,
)
from ..load import open_game
from ..run import Run, run_of
from . import output
from .eval_table import Judged, print_judged, to_dict

if TYPE_CHECKING:
    from pandas import DataFrame

Which = Literal["greedy", "sampled", "both"]


@dataclass(frozen=True)
class Job:
    """Checkpoints of one run, one checkpoint that lies in none, or random play alone."""

    run: Run | None
    checkpoints: Sequence[Checkpoint]


def evaluate(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="Runs or checkpoints.  [the newest run, all its checkpoints]"),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Whole games of each.")] = EPISODES,
    median: Annotated[
        bool, typer.Option("--median", help="Name the median episode of each, and its movie.")
    ] = False,
    play: Annotated[
        Which, typer.Option(help="The likeliest action, drawn actions, or both, told apart.")
    ] = "both",
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode.")] = SEED,
    frames: Annotated[
        int | None, typer.Option(min=1, help="Most frames of a game.  [as in training]")
    ] = None,
    integration: Annotated[
        str | None,
        typer.Option(help="Random play alone; or the game of a checkpoint that lies in no run."),
    ] = None,
    content: output.ContentOption = None,
    rom_dir: output.RomDirOption = None,
    again: Annotated[
        bool, typer.Option("--again", help="Play episodes anew that the run has already.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print a row for each episode.")] = False,
    json: output.JsonOption = False,
) -> None:
    """Play whole games with each checkpoint and at random, and say what can be said."""
    if csv and json:
        raise UserError("--csv with --json", "one of them")
    plays: tuple[Play, ...] = PLAYS if play == "both" else (play,)
    jobs = _jobs(what or []) if what or integration is None else [Job(None, [])]
    if integration is not None and any(job.run is not None for job in jobs):
        raise UserError("--integration with a run", "one of them: a run has its own integration")
    judged: list[Judged] = []
    try:
        for job in jobs:
            with _evaluator(job, integration, content, rom_dir or [], frames) as evaluator:
                _judge(evaluator, job, plays, episodes, seed, again, judged)
    except KeyboardInterrupt:
        if judged and not (json or csv):
            print_judged(judged, median)
        kept = any(job.run is not None for job in jobs)
        raise KeyboardInterrupt(KEPT if kept else "") from None
    if not judged:
        raise RetrokitError("nothing was evaluated")
    if csv:
        _episodes(judged).to_csv(sys.stdout, index=False)
    elif json:
        output.print_json(to_dict(judged))
    else:
        print_judged(judged, median)


def _jobs(what: Sequence[str]) -> list[Job]:
    """Return what to evaluate, run by run."""
    if not what:
        newest = Run.newest()
        output.note(f"evaluating the newest run, {newest.name}")
        return [Job(newest, checkpoints_of(newest))]
    found: dict[Path, tuple[Run | None, list[Checkpoint]]] = {}
    for name in what:
        path = Path(name)
        if path.suffix == ".ckpt":
            some, run = [look_at(path)], run_of(path)
        else:
            run = Run.find(name)
            some = checkpoints_of(run)
        _, all_of_run = found.setdefault((run.path if run else path).resolve(), (run, []))
        all_of_run += [one for one in some if one not in all_of_run]
    return [Job(run, sorted(some, key=lambda one: one.step)) for run, some in found.values()]


def _evaluator(
    job: Job,
    integration: str | None,
    content: Path | None,
    rom_dirs: Sequence[Path],
    frames: int | None,
) -> Evaluator:
    """Return what plays a job's games; episodes are kept where there is a run to keep them in."""
    if job.run is None and not job.checkpoints:
        assert integration is not None
        game, options = open_game(integration, content, rom_dirs), whole_games(ENV)
    elif job.run is None:
        config = settings_of(job.checkpoints[0])
        game = trained_on(config, integration or config["integration"], content, rom_dirs)
        options = options_of(config)
    else:
        game = game_of(job.run, content, rom_dirs)
        options = options_of(job.run.config)
    output.warn(game.warnings)
    run = job.run
    if run is not None and not os.access(run.path, os.W_OK):
        output.note(f"{run.path} cannot be written: episodes are not kept")
        run = None
    if frames is not None:
        options = replace(options, max_frames=frames)
    return Evaluator(game, options, run)


def _judge(
    evaluator: Evaluator,
    job: Job,
    plays: Sequence[Play],
    episodes: int,
    seed: int,
    again: bool,
    judged: list[Judged],
) -> None:
    """Play a job's episodes and add a result for each player that has all of them."""
    players = [random_player(evaluator.game)]
    for checkpoint in job.checkpoints:
        players += players_of(checkpoint, evaluator.game, plays)
    game, total = evaluator.game.integration.game, episodes * len(players)
    with output.progress(f"{total:,} episodes of {game}", total) as advance:
        for number, player in enumerate(players):

            def report(
                played: int, steps: int, player: Player = player, number: int = number
            ) -> None:
                word = f"{player.name}, {played} of {episodes}, {steps:,} steps"
                advance(number * episodes + played, word)

            try:
                frame = evaluator.frame(player, episodes, seed, again=again, report=report)
            except MissingExtra:
                raise
            except UserError as error:  # damaged, or a run in training let it go meanwhile
                output.warn([f"{player.name} is left out: {error.found}"])
                continue
            judged.append(Judged.of(player, frame, job.run))
        advance(total)


def _episodes(judged: Sequence[Judged]) -> DataFrame:
    """Return all episodes in one table."""
    from pandas import concat

    frames = [one.frame.astype({"step": "Int64"}).assign(player=one.name) for one in judged]
    return concat(frames, ignore_index=True)
