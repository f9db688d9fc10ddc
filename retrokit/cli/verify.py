"""``retrokit verify``: does an integration hold on the real core and content?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..discovery.bundle import Bundle, proof_path
from ..integration import Integration
from ..load import open_game
from ..verify import EPISODES, FRAMES, Check, Verdict
from ..verify import verify as prove
from ..verify_proof import Finding, reprove
from . import output

WORDS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}
AGAIN = {True: "proved again", False: "FAIL", None: "not covered"}
LIKELY = "as likely as it was"  # its experiments came out the same, and prove no more than then


def verify(
    integration: Annotated[Path, typer.Argument(help="The integration file.")],
    content: output.ContentArgument = None,
    rom_dir: output.RomDirOption = None,
    core: Annotated[
        str | None, typer.Option(help="A core's name or library file, not the integration's.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Random episodes to play.")] = EPISODES,
    frames: Annotated[int, typer.Option(min=1, help="Most frames of an episode.")] = FRAMES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random play.")] = 0,
    proof: Annotated[
        bool, typer.Option("--proof", help="Instead make ramsearch's experiments once more.")
    ] = False,
    bundle: Annotated[
        Path | None, typer.Option(help="The proof's file.  [INTEGRATION, as .proof.npz]")
    ] = None,
    json: output.JsonOption = False,
) -> int:
    """Play the integration in a sandbox, or repeat its proof, and print what holds.

    Returns:
        0 when it holds, 1 when it falls short.
    """
    started = time.monotonic()
    facts = Integration.load(integration)
    path = bundle or proof_path(integration)
    kept = Bundle.load(path) if proof or bundle is not None else None
    game = open_game(facts, content, rom_dir or (), core)
    about = {"integration": integration, "content": game.content.path, "core": game.found.path}
    if kept is not None:
        with output.progress(f"repeating the proof of {facts.game}", 100) as advance:
            found = reprove(game, kept, path, lambda share, text: advance(int(100 * share), text))
            advance(100)
        return _print_proof(found, facts.game, about | {"proof": path}, started, json)
    output.warn(game.warnings)
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
        output.print_json(about | verdict.to_dict() | {"seconds": round(seconds, 2)})
    else:
        _print(verdict, game.integration.game, seconds)
    return 0 if verdict.holds else 1


def _print_proof(
    findings: list[Finding], name: str, about: dict[str, Any], started: float, json: bool
) -> int:
    """Print what became of each fact's proof; return the exit code."""
    from pandas import DataFrame

    holds = all(finding.holds is not False for finding in findings)
    seconds = time.monotonic() - started
    if json:
        facts = [f._asdict() | {"where": f.where and f.where._asdict()} for f in findings]
        output.print_json(about | {"holds": holds, "facts": facts, "seconds": round(seconds, 2)})
        return int(not holds)
    columns = ["fact", "experiments", "equal", "verdict", "seen", "first at"]
    rows = [(f.fact, f.experiments, f.equal, _verdict(f), f.seen, _where(f)) for f in findings]
    output.print_table(DataFrame(rows, columns=columns))
    word = "is proved again" if holds else "IS NOT PROVED AGAIN"
    print(f"\n{name} {word}: {sum(f.experiments for f in findings)} experiments, {seconds:.1f} s")
    return int(not holds)


def _verdict(finding: Finding) -> str:
    return LIKELY if finding.likely and finding.holds else AGAIN[finding.holds]


def _print(verdict: Verdict, name: str, seconds: float) -> None:
    from pandas import DataFrame

    rows = [
        (check.name, WORDS[check.status], check.seen, _where(check)) for check in verdict.checks
    ]
    output.print_table(DataFrame(rows, columns=["check", "", "seen", "first at"]))
    word = "holds" if verdict.holds else "FALLS SHORT"
    played = f"{sum(verdict.frames):,} frames in {len(verdict.frames)} episodes"
    print(f"\n{name} {word}: {played}, {seconds:.1f} s")


def _where(check: Check | Finding) -> str:
    where = check.where
    return f"episode {where.episode}, frame {where.frame}" if where else ""
