"""What ``retrokit ramsearch`` shows a person."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from ..content import Content
from ..discovery.answer import Answer
from ..discovery.candidates import Candidate, name_of
from ..discovery.fact import Fact
from ..views.words import failures, why
from . import output


def print_answer(answer: Answer, content: Content) -> None:
    """Print the table of candidates, what else was found, and why what was not."""
    print_candidates(answer.candidates)
    lines = [("lives", _lives(answer)), ("start", " ".join(answer.start_buttons))]
    actions = ["+".join(action) or "NOOP" for action in answer.buttons.action_set]
    lines += [
        ("game over", answer.terminated or "no rule found"),
        ("actions", ", ".join(actions)),
        ("rotation", f"{answer.rotation} degrees"),
    ]
    if answer.best is not None and (copies := answer.best.evidence.get("copies")):
        lines.insert(0, ("copies", "; ".join(copies)))
    lines[1:1] = [(fact.name, _fact(fact)) for fact in answer.more if fact.grade != "unproved"]
    if answer.scoring:
        plays = [f"{style} {rises}" for style, rises in answer.scoring.items()]
        lines.append(("scored", "rises by way of playing: " + ", ".join(plays)))
    lines += [("why not", text) for text in failures(answer.to_dict(content))]
    lines.append(("time", f"{answer.seconds:.0f} s, {answer.frames:,} frames recorded"))
    width = 10_000 if output.is_plain(sys.stdout) else max(40, shutil.get_terminal_size().columns)
    for key, value in lines:
        for text in textwrap.wrap(value, width - 12, break_on_hyphens=False) or [""]:
            print(f"{key:<10}  {text}")
            key = ""


def print_candidates(candidates: Sequence[Candidate]) -> None:
    """Print a table of candidates, and a line without anything; nothing where there are none."""
    from pandas import DataFrame

    if candidates:
        rows = [_row(number, c) for number, c in enumerate(candidates, 1)]
        columns = ["rank", "addresses", "encoding", "scale", "grade", "seen", "why"]
        output.print_table(DataFrame(rows, columns=columns))
        print()


def _row(number: int, candidate: Candidate) -> tuple[Any, ...]:
    data = candidate.to_dict(number)
    parts = list(candidate.variable.parts)
    addresses = " ".join(f"0x{addr:x}" for part in parts for addr in part.addrs)
    if "score_region" in data:
        addresses = f"{data['score_region']} {addresses}"
    low, high = data["seen"]
    scale = " ".join(str(part.scale) for part in parts)
    encoding = " ".join(dict.fromkeys(part.encoding for part in parts))
    seen = f"{low:,} to {high:,}"
    return number, addresses, encoding, scale, candidate.grade, seen, why(candidate.evidence)


def _fact(fact: Fact) -> str:
    parts = []
    for part in fact.variable.parts:
        where = "" if part.region == "SYSTEM_RAM" else f"{part.region} "
        scale = "" if part.scale == 1 else f" x {part.scale}"
        parts.append(f"{where}{' '.join(f'0x{addr:x}' for addr in part.addrs)}{scale}")
    encoding = "" if fact.variable.encoding == "uint" else f" ({fact.variable.encoding})"
    return f"{' + '.join(parts)}{encoding}, {fact.grade}"


def _lives(answer: Answer) -> str:
    lives = answer.lives
    if lives is None:
        return "not found"
    where = name_of(lives.offset, answer.spans)
    bits = "" if lives.mask == 0xFF else f" (bits 0x{lives.mask:02x})"
    made = ""
    if lives.tally is not None:
        parts = [name_of(offset, answer.spans) for offset in lives.tally.offsets]
        made = f" (made anew from what stands at {' '.join(parts)})"
    return f"{where}{bits}{made}, {lives.grade}, {lives.start} at the start"
