"""``retrokit runs``: what was trained, how far it came, and its numbers as CSV."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any, Literal

import typer

from ..errors import UserError
from ..learning.players import sound_checkpoints
from ..run import ROOT, Run
from . import output

Table = Literal["updates", "episodes", "evaluations"]


def runs(
    run: Annotated[
        str | None, typer.Argument(help="One run: its folder, game/time, or a game (its newest).")
    ] = None,
    csv: Annotated[Table | None, typer.Option(help="Print this table of the run as CSV.")] = None,
    json: output.JsonOption = False,
) -> None:
    """List the runs under ./runs, or the checkpoints of one."""
    if csv is not None:
        if run is None or json:
            raise UserError(
                "--csv " + ("with --json" if json else "without a run"), "--csv TABLE and one RUN"
            )
        Run.find(run).metrics.frame(csv).to_csv(sys.stdout, index=False)
        return
    if run is not None:
        _print_one(Run.find(run), json)
        return
    found = [_facts(one) for one in Run.list()]
    if json:
        output.print_json({"runs": found})
    elif not found:
        output.note(f"no run in {ROOT}; `retrokit train` begins one")
    else:
        from pandas import DataFrame

        output.print_table(DataFrame([_line(facts) for facts in found]))


def _facts(run: Run) -> dict[str, Any]:
    """Return what is told of a run."""
    checkpoints = sound_checkpoints(run)
    newest, best = (checkpoints[-1] if checkpoints else None), run.best()
    step, total = newest.step if newest else 0, run.config.get("total_steps")
    ended = total is not None and step >= total
    return {
        "run": run.name,
        "path": run.path,
        "begun": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.facts["created"])),
        "state": "training" if run.busy else "ended" if ended else "stopped",
        "step": step,
        "total_steps": total,
        "return": newest.facts.get("return") if newest else None,
        "best": {"step": best.step, "return": best.facts["return"]} if best else None,
        "checkpoints": len(checkpoints),
        "retrokit": run.facts.get("retrokit"),
    }


def _line(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the table."""
    total, best = facts["total_steps"], facts["best"]
    return {
        "run": facts["run"],
        "begun": facts["begun"],
        "state": facts["state"],
        "step": f"{facts['step']:,}" + (f" of {total:,}" if total else ""),
        "return": output.points(facts["return"]),
        "best": f"{output.points(best['return'])} at {best['step']:,}" if best else "",
        "checkpoints": facts["checkpoints"],
    }


def _print_one(run: Run, json: bool) -> None:
    from pandas import DataFrame

    facts = _facts(run)
    rows: list[dict[str, Any]] = [
        {
            "step": one.step,
            "return": one.facts.get("return"),
            "path": one.path,
            "sha256": one.sha256,
        }
        for one in sound_checkpoints(run)
    ]
    if json:
        about = {"config": run.config, "facts": run.facts, "checkpoints": rows}
        output.print_json(facts | about)
        return
    best = facts["best"]
    lines = [
        {
            "step": f"{row['step']:,}",
            "return": output.points(row["return"]) + (" best" if _is(best, row) else ""),
            "checkpoint": row["path"],
        }
        for row in rows
    ]
    print(f"{facts['run']}  {facts['state']}, begun {facts['begun']}, in {run.path}")
    if lines:
        output.print_table(DataFrame(lines))
    if facts["state"] == "stopped":
        print(f"go on with: retrokit train --resume {run.path}")


def _is(best: dict[str, Any] | None, row: dict[str, Any]) -> bool:
    return best is not None and bool(best["step"] == row["step"])
