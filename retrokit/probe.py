"""What a core is and does with some content, found out in child processes.

One child a stage, so that a crash is a line of the report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import sandbox
from .content import Content
from .errors import CoreCrashed, CoreError
from .probe_stages import (
    Answer,
    Check,
    Facts,
    Look,
    copies,
    fork,
    play,
    reopen,
    repeat,
    savestates,
    speed,
)
from .systems import FoundCore

STAGES = {
    "repeat": repeat,
    "savestates": savestates,
    "copies": copies,
    "reopen": reopen,
    "fork": fork,
    "speed": speed,
}
"""What follows once the content runs, in this order; before them is ``play``."""
_QUESTIONS = {"savestates": ("exact", "continues")}  # of a stage that puts others than its own
AS_ALONE = {"copies", "reopen", "fork"}  # questions that compare with the first run


@dataclass(slots=True)
class Report:
    """All that is known of a core.

    Attributes:
        facts: What it says and offers, ready for JSON; keys as in docs/probe-core.md.
        checks: Answers by question.
        error: Why it cannot be used with this content, or None.
    """

    facts: Facts = field(default_factory=dict)
    checks: dict[str, Check] = field(default_factory=dict)
    error: CoreError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the one object of ``--json``."""
        checks = {name: check._asdict() for name, check in self.checks.items()}
        out = {**self.facts, "checks": checks}
        return out if self.error is None else out | {"error": self.error.to_dict()}


def probe(
    found: FoundCore,
    content: Content | None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> Report:
    """Find out what a core is and, with content, what it does.

    Args:
        found: The core.
        content: What to load; None asks only what can be known without.
        on_stage: Called as a stage begins with its name: ``play``, then those of `STAGES`.

    Returns:
        The report; its ``error`` says that the core died, hung, refused the content or showed
        no sign of running it.
    """
    report = Report({"core": found.spec.name, "path": str(found.path), "where": found.where})
    if content is not None:
        report.facts["content"] = {
            "path": str(content.path),
            "system": content.system,
            "sha1": content.sha1,
            "size": content.size,
            "problems": list(content.problems),
        }
    on_stage("play")
    try:
        sandbox.call(play, (found, content), on_event=report.facts.update)
    except CoreError as error:
        if content is None or "moved" not in report.facts:
            report.error = error
            return report
        report.checks["close"] = Check(False, _why(error))
    solo: list[Look] = report.facts.pop("looks", [])
    if content is None:
        return report
    if not any(report.facts["moved"].values()):
        report.error = CoreError(
            f"{found.spec.name} loaded {content.path.name}, but nothing moved in "
            f"{report.facts['frames']} frames",
            "pictures that differ or RAM that changes",
            "Is it for this core?",
        )
        return report
    for stage in STAGES:
        on_stage(stage)
        _ask(stage, report, (found, content, solo))
        if stage == "repeat":  # only what two plain runs agree on can tell of anything else
            agreed = report.facts.pop("repeating", [])
            solo = [{name: look[name] for name in agreed} for look in solo]
    report.checks.setdefault("close", Check(True, "no stage crashed on closing the core"))
    return report


def _ask(stage: str, report: Report, arguments: tuple[FoundCore, Content, list[Look]]) -> None:
    """Run one stage in a child and write its answer into the report."""
    answers: list[Answer] = []
    try:
        sandbox.call(STAGES[stage], arguments, on_event=answers.append)
    except CoreError as error:
        names = ("close",) if answers else _QUESTIONS.get(stage, (stage,))
        report.checks |= dict.fromkeys(names, Check(False, _why(error)))
    for answer in answers:
        report.facts |= answer.facts
        report.checks |= answer.checks
    solo = arguments[-1]
    if stage in AS_ALONE and not solo[0] and answers:
        report.checks[stage] = Check(None, "cannot be told: two plain runs agree on nothing")


def _why(error: CoreError) -> str:
    if isinstance(error, CoreCrashed):
        log = f" ({error.log[-1]})" if error.log else ""
        return f"died of {error.signal} in {error.last_call}{log}"
    return error.found
