"""``ramsearch RECORDING.npz`` and ``--hint``: what was recorded is searched without playing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..discovery.candidates import Candidate, by_behaviour, values_of
from ..discovery.hint import Hint, find, named, nearby
from ..discovery.score import CALM
from ..discovery.tape import Tape
from ..errors import UserError
from ..values import Variable
from . import output
from .ramsearch_table import print_candidates

LISTED = 10  # that behave like a score, where no hint says which one it is
PARTS = 20  # between which progress is shown
UNPROVED = "Without the core nothing is proved, and nothing is written."
MORE = "Behaviour alone often misleads: say what the screen showed with --hint or --interactive."


def is_recording(content: str) -> bool:
    """Tell whether a command line names a recording instead of a game."""
    return Path(content).suffix == ".npz"


def refuse(given: Mapping[str, Any], beside: str, remedy: str = "") -> None:
    """Refuse options that have no meaning beside another.

    Raises:
        UserError: One of them has a value.
    """
    for option, value in given.items():
        if value is not None and value is not False:
            raise UserError(f"{option} and {beside} together", "one of them", remedy)


def read_hints(texts: Sequence[str], tape: Tape) -> tuple[Hint, ...]:
    """Return the hints of a command line, checked against the recording they speak of.

    Raises:
        UserError: One cannot be read, or is not in the recording.
    """
    assert tape.origin is not None
    fps, frames = tape.origin.fps, tape.longest
    hints = tuple(Hint.parse(text, fps) for text in texts)
    for hint in hints:
        hint.check(tape.episodes, frames, fps)
    return hints


def search_recording(path: Path, texts: Sequence[str], json: bool) -> int:
    """Search a recording by behaviour and hints, and list what fits; none of it is proved.

    Returns:
        0 when something is listed, 1 when nothing is.

    Raises:
        UserError: The recording or a hint cannot be used.
    """
    tape = Tape.load(path)
    assert tape.origin is not None
    hints, origin = read_hints(texts, tape), tape.origin
    if not tape.episodes:
        raise UserError(f"{path} holds no finished episode", "a recording with play in it")
    found = {name: hits(tape, named(hints, name)) for name in names_of(hints)}
    score = found.pop("score", None)
    if not hints:
        score = _behaving(tape)
    if json:
        output.print_json(
            {
                "recording": path,
                "game": origin.game,
                "system": origin.system,
                "core": origin.core,
                "core_version": origin.core_version,
                "rom_sha1": {origin.game: origin.rom_sha1},
                "scored": bool(score),
                "candidates": [c.to_dict(rank) for rank, c in enumerate(score or (), 1)],
                "hints": facts(found),
                "out": None,
            }
        )
    else:
        print_candidates(score or [])
        print_hits(found)
    output.note(UNPROVED if hints else f"{UNPROVED} {MORE}")
    return 0 if score or any(found.values()) else 1


def names_of(hints: Sequence[Hint]) -> list[str]:
    """Return the variables that hints speak of."""
    return list(dict.fromkeys(hint.name for hint in hints))


def hits(tape: Tape, hints: Sequence[Hint]) -> list[Candidate]:
    """Return what fits the hints of one variable; where nothing does, say what nearly would."""
    assert tape.origin is not None
    recording, spans = tape.recording(), tape.origin.spans
    count, found = find(recording, spans, hints)
    texts = ", ".join(hint.text for hint in hints)
    if count > len(found):
        said = f"{count} places fit; listed are the likeliest {len(found)}"
        output.note(f"{texts}: {said}. A hint for another number leaves fewer.")
    score = hints[0].name == "score"
    if not any(c.behaviour.like_a_score for c in found) if score else not found:
        output.note(f"{texts}: nothing {'that behaves like a score ' * score}fits")
        for line in nearby(recording, spans, hints, tape.origin.fps):
            output.note(f"nearly, {line}")
    return found


def beside(
    tape: Tape, hints: Sequence[Hint], known: Mapping[str, Variable]
) -> dict[str, list[Candidate]]:
    """Compare what a search found with hints for other variables than the score.

    Args:
        tape: What was recorded.
        hints: All hints.
        known: What the search found: its readings are told where they differ.

    Returns:
        What fits, for each variable that the search did not find.
    """
    assert tape.origin is not None
    found: dict[str, list[Candidate]] = {}
    starts = {span.region: span.start for span in tape.origin.spans}
    for name in names_of(hints):
        variable = known.get(name)
        if name != "score" and variable is None:
            found[name] = hits(tape, named(hints, name))
        elif name != "score" and variable is not None:
            parts = [(starts[part.region] + a) for part in variable.parts for a in part.addrs]
            values, start = values_of(tape.recording(), variable, parts)
            for hint in named(hints, name):
                if not hint.fits(values, start):
                    output.note(f"{hint.text}: {hint.told(values, start, tape.origin.fps)}")
    return found


def facts(found: Mapping[str, Sequence[Candidate]]) -> dict[str, Any]:
    """Return what fits hints as ``--json`` shows it: variables, by name."""
    return {
        name: [candidate.variable.to_dict() for candidate in candidates]
        for name, candidates in found.items()
    }


def print_hits(found: Mapping[str, Sequence[Candidate]]) -> None:
    """Print what fits hints, a table for each variable."""
    for name, candidates in found.items():
        if candidates:
            print(f"{name} may be:")
            print_candidates(candidates)


def _behaving(tape: Tape) -> list[Candidate]:
    """Return what behaves like a score, the likeliest first."""
    assert tape.origin is not None
    recording = tape.recording()
    changes = recording.changes()
    calm = recording.offsets[(changes > 0) & (changes <= CALM)]
    found: list[Candidate] = []
    with output.progress("searching the recording", PARTS) as advance:
        for number, part in enumerate(np.array_split(calm, PARTS)):
            found += by_behaviour(recording, tape.origin.spans, part.tolist(), LISTED)
            advance(number + 1)
    return sorted(found, key=lambda candidate: -candidate.weight)[:LISTED]
