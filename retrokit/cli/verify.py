"""``retrokit verify``: does an integration hold on the real core and content?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ..integration import Integration
from ..load import open_game
from ..verify import EPISODES, FRAMES, Check, Verdict
from ..verify import verify as prove
from . import output

WORDS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


def verify(
    integration: Annotated[Path, typer.Argument(help="The integration file.")],
    content: Annotated[
        Path | None, typer.Argument(help="The ROM, zip or dat; found by its hash when not given.")
    ] = None,
    rom_dir: Annotated[
        list[Path] | None, typer.Option(help="A folder to search for the content; repeatable.")
    ] = None,
    core: Annotated[
        str | None, typer.Option(help="A core's name or library file, not the integration's.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Random episodes to play.")] = EPISODES,
    frames: Annotated[int, typer.Option(min=1, help="Most frames of an episode.")] = FRAMES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random play.")] = 0,
    json: output.JsonOption = False,
) -> int:
    """Play the integration in a sandbox and print what holds.

    Returns:
        0 when it holds, 1 when it falls short.
    """
    started = time.monotonic()
    game = open_game(Integration.load(integration), content, rom_dir or (), core)
    for line in game.warnings:
        output.note(f"retrokit: warning: {line}")
    with output.progress(f"verifying {game.integration.game}", 100) as advance:
        verdict = prove(
            game,
            episodes=episodes,
            frames=frames,
            seed=seed,
            report=lambda share, text: advance(int(100 * share), text),
        )
        advance(100)
    seconds = time.monotonic() - started
    if json:
        about = {"integration": integration, "content": game.content.path, "core": game.found.path}
        output.print_json(about | verdict.to_dict() | {"seconds": round(seconds, 2)})
    else:
        _print(verdict, game.integration.game, seconds)
    return 0 if verdict.holds else 1


def _print(verdict: Verdict, name: str, seconds: float) -> None:
    from pandas import DataFrame

    rows = [
        (check.name, WORDS[check.status], check.seen, _where(check)) for check in verdict.checks
    ]
    output.print_table(DataFrame(rows, columns=["check", "", "seen", "first at"]))
    word = "holds" if verdict.holds else "FALLS SHORT"
    played = f"{sum(verdict.frames):,} frames in {len(verdict.frames)} episodes"
    print(f"\n{name} {word}: {played}, {seconds:.1f} s")


def _where(check: Check) -> str:
    where = check.where
    return f"episode {where.episode}, frame {where.frame}" if where else ""
