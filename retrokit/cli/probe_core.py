"""``retrokit probe-core``: what a core is, and how far it can be trusted with some content."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..content import identify
from ..probe import STAGES, Report, probe
from ..probe_stages import Check
from ..systems import QUIRKS, find_core
from . import output

QUESTIONS = {
    "repeat": "repeatable",
    "exact": "savestates exact",
    "continues": "restored = continued",
    "copies": "private copies",
    "reopen": "can be reopened",
    "close": "closes cleanly",
    "fork": "survives a fork",
    "speed": "speed",
}
"""Name of each check in a report: how the table calls it; in the table's order."""


def probe_core(
    core: Annotated[str, typer.Argument(help="A core's name, or its library file.")],
    content: Annotated[Path | None, typer.Argument(help="A ROM, zip, dat or cue.")] = None,
    json: output.JsonOption = False,
) -> int:
    """Print what a core is and, with content, what it does; nothing hostile runs in this process.

    Returns:
        0, or 1 when the core died, hung, refused the content or showed no sign of running it.
    """
    found = find_core(core)
    loaded = identify(content) if content else None
    output.warn(f"{content}: {problem}" for problem in (loaded.problems if loaded else ()))
    stages = ["play", *STAGES] if loaded else ["play"]
    with output.progress(f"probing {found.spec.name}", len(stages)) as advance:
        report = probe(found, loaded, lambda stage: advance(stages.index(stage), stage))
        advance(len(stages))
    if json:
        output.print_json(report.to_dict())
    else:
        _print(report)
    if report.error is None:
        return 0
    output.report(report.error, json=False)
    for quirk in sorted(found.spec.quirks):
        output.note(f"retrokit: known of {found.spec.name}: {QUIRKS[quirk]}")
    return report.error.exit_code


def _print(report: Report) -> None:
    from pandas import DataFrame

    lines = _lines(report.facts)
    width = max(len(key) for key, _ in lines)
    for key, value in lines:
        print(f"{key:<{width}}  {value}")
    if report.checks:
        print()
        rows = [(QUESTIONS[name], _word(check), check.detail)
                for name in QUESTIONS if (check := report.checks.get(name))]  # fmt: skip
        output.print_table(DataFrame(rows, columns=["question", "answer", "because"]))
    if options := report.facts.get("options"):
        print()
        table = [(key, option["value"], " | ".join(option["values"]))
                 for key, option in options.items()]  # fmt: skip
        output.print_table(DataFrame(table, columns=["option", "value", "allowed"]))


def _word(check: Check) -> str:
    return {True: "yes", False: "no", None: "-"}[check.ok]


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known as key and value; parts not reached are left out."""
    lines = [("core", f"{facts['core']} ({facts['where']}: {facts['path']})")]
    if "name" in facts:
        lines.append(("name", f"{facts['name']} {facts['version']}"))
        by_path = ", by path" if facts["need_fullpath"] else ""
        lines.append(("extensions", " ".join(facts["extensions"]) + by_path))
        lines.append(("without content", "runs" if facts["supports_no_game"] else "does not run"))
    if content := facts.get("content"):
        lines.append(
            ("content", f"{content['path']} ({content['system']}, {content['size']:,} bytes, "
                        f"sha1 {content['sha1']})")
        )  # fmt: skip
    if "fps" in facts:
        lines += _loaded_lines(facts)
    if moved := facts.get("moved"):
        does = [f"{name} {'changes' if it else 'never changes'}" for name, it in moved.items()]
        lines.append(("moved", f"in {facts['frames']} frames {', '.join(does)}"))
    if speed := facts.get("speed"):
        bare = speed["fps_without_av"]
        av = f", {bare:,.0f} without picture and sound" if bare else ""
        lines.append(("speed", f"{speed['fps']:,.0f} frames per second{av}"))
    return lines


def _loaded_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    base, most = (f"{w}x{h}" for w, h in (facts["base_size"], facts["max_size"]))
    turned = f", turned {facts['rotation']} degrees" if facts["rotation"] else ""
    picture = f"{base}, at most {most}, {facts['pixel_format']}{turned}, {facts['fps']:.3f} fps"
    if facts["asks_hardware"]:
        picture += "; it wanted hardware rendering and was refused"
    lines = [("picture", picture)]
    memory = [f"{region['name']} {region['size']:,}" for region in facts["memory"]]
    lines.append(("memory", ", ".join(memory) or "none offered"))
    lines.append(("to search", _searched(facts["searched"])))
    state = facts["savestate"]
    size = f"{state['size']:,} bytes" if state["size"] else "none"
    if "save_us" in state:
        size += f", save {state['save_us']:,.0f} µs, load {state['load_us']:,.0f} µs"
        size += f" (in a branch {state['restore_us']:,.0f} µs)"
    return [*lines, ("savestate", size)]


def _searched(searched: dict[str, Any]) -> str:
    if searched["kind"] == "savestate":
        return f"no memory offered: the savestate is searched instead ({searched['size']:,} bytes)"
    if searched["kind"] == "nothing":
        return "nothing: no memory offered, and no savestate"
    names = [f"{region['region']} {region['size']:,}" for region in searched["regions"]]
    total = f" = {searched['size']:,}" if len(names) > 1 else ""
    return f"{' + '.join(names)}{total} bytes"
