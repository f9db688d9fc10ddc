"""``retrokit cores``: the emulator cores of this machine, and how to get those it lacks."""

from __future__ import annotations

import json as jsonlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import fill
from typing import TypedDict

from ..systems import FoundCore, found_cores, missing_cores
from . import output

ASK_SECONDS = 20.0

# Runs in a child: asking a core for its name executes its code, which may crash. With ctypes, so
# that the list comes quickly and even where the host is not built.
_ASK = """
import ctypes, json, sys
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "version", "extensions")]
    _fields_ += [("need_fullpath", ctypes.c_bool), ("block_extract", ctypes.c_bool)]
info = Info()
ctypes.CDLL(sys.argv[1]).retro_get_system_info(ctypes.byref(info))
texts = (info.name, info.version, info.extensions)
print("\\n" + json.dumps([(text or b"").decode("utf-8", "replace") for text in texts]))
"""


class Answer(TypedDict, total=False):
    """What a core says of itself; ``problem`` alone when it does not load."""

    library_name: str
    version: str
    extensions: list[str]
    problem: str


def ask(path: Path) -> Answer:
    """Ask a core file for its name, version and extensions (lower case, without the dot)."""
    command = [sys.executable, "-c", _ASK, str(path)]
    try:
        child = subprocess.run(command, capture_output=True, timeout=ASK_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"problem": f"does not answer within {ASK_SECONDS:.0f} s"}
    if child.returncode:
        lines = child.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1].removeprefix("OSError: ") if lines else f"exit code {child.returncode}"
        return {"problem": f"does not load: {why}"}
    name, version, extensions = jsonlib.loads(child.stdout.splitlines()[-1])
    listed = [extension.lower() for extension in extensions.split("|") if extension]
    return {"library_name": name, "version": version.strip(), "extensions": listed}


def cores(json: output.JsonOption = False) -> None:
    """Print each core found, with version, systems and place, then the missing ones."""
    found = found_cores()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, [core.path for core in found]))
    missing = missing_cores()
    if json:
        here = [
            {
                "core": core.spec.name,
                "title": core.spec.title,
                "systems": core.spec.systems,
                "licence": core.spec.licence,
                "where": core.where,
                "path": core.path,
                **answer,
            }
            for core, answer in zip(found, answers, strict=True)
        ]
        lacking = [
            {
                "core": spec.name,
                "title": spec.title,
                "systems": spec.systems,
                "licence": spec.licence,
                "get": spec.get,
            }
            for spec in missing
        ]
        output.print_json({"cores": here, "missing": lacking})
        return

    if found:
        _print_found(found, answers)
    else:
        print("No core is on this machine.")
    if missing:
        print("\nNot here, by the way to get them:")
    for way in dict.fromkeys(spec.get for spec in missing):
        names = [f"{spec.name} ({' '.join(spec.systems)})" for spec in missing if spec.get == way]
        print(fill(", ".join(names), 96, initial_indent=f"  {way}: ", subsequent_indent="    "))


def _print_found(found: list[FoundCore], answers: list[Answer]) -> None:
    from pandas import DataFrame

    rows = [
        (
            core.spec.name,
            answer.get("version") or answer.get("problem", ""),
            " ".join(core.spec.systems) or "unknown",
            core.where,
        )
        for core, answer in zip(found, answers, strict=True)
    ]
    output.print_table(DataFrame(rows, columns=["core", "version", "systems", "where"]))
    print()
    for where, folder in sorted({(core.where, str(core.path.parent)) for core in found}):
        print(f"{where}: {folder}")
