"""``retrokit progression``: one film of several checkpoints, each tile a median game."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from .. import sandbox
from ..checkpoint import Checkpoint, look_at
from ..errors import RetrokitError, UserError
from ..learning.evaluate import EPISODES, KEPT, SEED, Evaluator, copies, median_episode
from ..learning.players import (
    Play,
    Player,
    checkpoints_of,
    game_of,
    options_of,
    players_of,
    random_player,
)
from ..load import Game
from ..run import Run, its_run
from . import output

if TYPE_CHECKING:
    from pandas import DataFrame

TILES = 5  # checkpoints beside random play


def progression(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="A run, or checkpoints of one.  [the newest run]"),
    ] = None,
    checkpoints: Annotated[
        int, typer.Option(min=1, help="How many of a run's, from the first to the newest.")
    ] = TILES,
    episodes: Annotated[int, typer.Option(min=1, help="Whole games of each.")] = EPISODES,
    play: Annotated[
        Play, typer.Option(help="Drawn actions, as in training, or the likeliest.")
    ] = "sampled",
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode.")] = SEED,
    out: Annotated[
        Path | None, typer.Option(help="The film: .mp4, .gif or .png.  [RUN/progression.mp4]")
    ] = None,
    rotate: Annotated[
        int | None, typer.Option(help="Turn the core's picture by 0, 90, 180 or 270, not its own.")
    ] = None,
    sound: Annotated[bool, typer.Option("--sound", help="With the newest one's sound.")] = False,
    content: output.ContentOption = None,
    rom_dir: output.RomDirOption = None,
    json: output.JsonOption = False,
) -> None:
    """Play whole games with each, and film the median one of each beside the others."""
    from ..views.film import check_name
    from ..views.pictures import check_turn
    from ..views.progression import Tile, film_tiles
    from ..views.reel import Source

    check_turn(rotate)
    run, chosen = _chosen(what or [], checkpoints)
    path = run.path / "progression.mp4" if out is None else out
    check_name(path)
    if sound and path.suffix.lower() != ".mp4":
        raise UserError("--sound", "an .mp4")
    if not os.access(run.path, os.W_OK):
        raise UserError(f"{run.path} cannot be written", "a run whose movies can be kept in it")
    game = game_of(run, content, rom_dir or ())
    output.warn(game.warnings)
    players = [random_player(game)]
    players += [player for one in chosen for player in players_of(one, game, (play,))]
    upright = check_upright(game, rotate)
    if episodes == 1:
        output.note("one game of each tells nothing of how good it is; take more --episodes")
    try:
        rows = _played(run, game, players, episodes, seed)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(KEPT) from None
    where: dict[str, Any] = {
        "content": game.content.path, "rom_dirs": tuple(rom_dir or ()), "rotate": rotate,
        "core": run.config.get("core") or None,
    }  # fmt: skip
    tiles = [
        Tile(
            caption(row), Source(run.path / row["movie"], sound=sound and row is rows[-1], **where)
        )
        for row in rows
    ]
    with output.progress(f"filming {len(tiles)} games", 100) as advance:
        film = film_tiles(path, tiles, lambda share: advance(int(100 * share)))
        advance(100)
    if json:
        told = {"run": run.path, "episodes": episodes, "seed": seed, "upright": upright}
        output.print_json(told | {"tiles": rows, "film": film.to_dict()})
        return
    _print(rows)
    print(f"\nwritten  {film}")


def _chosen(what: Sequence[str], most: int) -> tuple[Run, list[Checkpoint]]:
    """Return the run, and the checkpoints that are shown of it, oldest first."""
    named = [Path(name) for name in what if Path(name).suffix == ".ckpt"]
    if named and len(named) == len(what):
        runs = {(run := its_run(path)).path.resolve(): run for path in named}
        if len(runs) != 1:
            raise UserError(f"checkpoints of {len(runs)} runs", "of one")
        (run,) = runs.values()
        return run, sorted((look_at(path) for path in named), key=lambda one: one.step)
    if len(what) > 1:
        raise UserError(f"{len(what)} names", "one run, or checkpoints of one")
    run = Run.find(what[0]) if what else Run.newest()
    if not what:
        output.note(f"filming the newest run, {run.name}")
    known = checkpoints_of(run)
    numbers = np.linspace(0, len(known) - 1, min(most, len(known))).round().astype(int)
    return run, [known[number] for number in (numbers if most > 1 else [-1])]


def check_upright(game: Game, rotate: int | None) -> bool | None:
    """Look whether a film's picture stands upright, by what directions move on it.

    Returns:
        True; None where directions do not tell.

    Raises:
        RetrokitError: It lies on its side or stands on its head, and nobody asked for that.
    """
    from ..views.upright import look

    seen = sandbox.run(look, game, rotate)
    if seen is None or seen.needed is None:
        output.note("whether the picture is upright cannot be told from what directions move")
        return None
    if seen.needed == 0:
        return True
    said = f"the picture stands turned by {360 - seen.needed} degrees, as RIGHT and DOWN show"
    if rotate is None:
        raise RetrokitError(said, remedy=f"--rotate {seen.rotate} makes it upright.")
    output.warn([f"{said}; --rotate {seen.rotate} would make it upright"])
    return False


def _played(
    run: Run, game: Game, players: Sequence[Player], episodes: int, seed: int
) -> list[dict[str, Any]]:
    """Return each player's median episode; what the run has already is not played again."""
    total, rows = episodes * len(players), []
    with (
        Evaluator(game, options_of(run.config), run) as evaluator,
        output.progress(f"{total:,} episodes of {game.integration.game}", total) as advance,
    ):
        for number, player in enumerate(players):
            name, before = player.name, number * episodes

            def report(played: int, steps: int, name: str = name, before: int = before) -> None:
                advance(before + played, f"{name}, {played} of {episodes}")

            frame = evaluator.frame(player, episodes, seed, report=report)
            if not all(isinstance(m, str) and (run.path / m).is_file() for m in frame["movie"]):
                frame = evaluator.frame(player, episodes, seed, again=True, report=report)
            rows.append(_median(player, frame))
        advance(total)
    return rows


def _median(player: Player, frame: DataFrame) -> dict[str, Any]:
    """Return a player's median episode, and how many there are to be the median of."""
    kept = frame[frame["movie"].notna()]  # an episode whose core crashed has no movie
    if kept.empty:
        raise RetrokitError(f"{player.name}: the core crashed in each of {len(frame)} games")
    row = median_episode(kept)
    copied = sum(len(seeds) - 1 for seeds in copies(kept))
    names = ("step", "play", "seed", "return", "steps", "frames", "points_per_step", "movie")
    told = {name: row[name] for name in names}
    return told | {"player": player.name, "episodes": len(kept), "distinct": len(kept) - copied}


def caption(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what stands above a tile: who plays, what it scored, how long it survived."""
    who = "random play" if row["step"] is None else f"{row['step']:,} steps"
    greedy = ", greedy" if row["play"] == "greedy" and row["step"] is not None else ""
    if row["episodes"] == 1:
        of = "one game, no median"
    elif row["distinct"] < row["episodes"]:
        of = f"median of {row['episodes']}, {row['distinct']} distinct"
    else:
        of = f"median of {row['episodes']}"
    return (
        who + greedy,
        f"scored {output.points(row['return'])}",
        f"survived {row['steps']:,} steps",
        of,
    )


def _print(rows: Sequence[dict[str, Any]]) -> None:
    from pandas import DataFrame

    table = [
        {
            "player": row["player"],
            "scored": output.points(row["return"]),
            "survived": f"{row['steps']:,} steps",
            "points/step": f"{row['points_per_step']:.2f}",
            "median of": row["episodes"],
            "distinct": row["distinct"],
            "seed": row["seed"],
            "movie": row["movie"],
        }
        for row in rows
    ]
    output.print_table(DataFrame(table))
