"""What else a game counts, after score and lives: place, timer, ammunition, energy, level, end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ..core import Span
from .actions import Buttons
from .ended import find_game_over
from .fact import Fact
from .gauge import find_ammunition, find_energy
from .kinds import ENDED, NEEDED
from .level import find_level
from .lives import Lives
from .poke import Prober
from .position import find_positions
from .timer import find_timer

# Processor seconds, by the size of RAM: what is not found until then is not looked for.
LEAST_S, MOST_S, WHOLE = 3.0, 10.0, 1 << 16


def find_more(
    prober: Prober,
    spans: Sequence[Span],
    buttons: Buttons,
    lives: Lives | None,
    known: Sequence[int],
    report: Callable[[str, float], None] = lambda stage, share: None,
) -> list[Fact]:
    """Find the variables of a game beyond score and lives.

    Args:
        prober: The prober of a recording whose ends are known.
        spans: The core's selected regions.
        buttons: What the buttons do in play.
        lives: The lives counter, or what may be one.
        known: Offsets that hold a number which is more than unproved.
        report: Called with what is looked for and the share that is finished.

    Returns:
        Facts of any grade, each name once. When time is up what is left is not looked for.
    """
    whole = LEAST_S + (MOST_S - LEAST_S) * min(1.0, prober.core.ram_size / WHOLE)
    began, ends = time.process_time(), whole
    counted = lives is not None and lives.grade == "proved"
    taken = list(known)
    if lives is not None and counted:
        taken += [lives.offset, *lives.field.offsets]

    def late() -> bool:
        return time.process_time() > began + ends

    searches: list[tuple[str, float, Callable[[], Sequence[Fact | None]]]] = [
        ("its place", 0.6, lambda: find_positions(prober, spans, buttons.useful, taken, late)),
        ("a timer", 0.7, lambda: [find_timer(prober, spans, taken, late)]),
        ("ammunition", 0.8, lambda: [find_ammunition(prober, spans, buttons.fire, taken, late)]),
        ("energy", 0.9, lambda: [find_energy(prober, spans, lives, taken, late)]),
        ("the level", 1.0, lambda: [find_level(prober, spans, lives, taken, late)]),
        ("the end", 1.0, lambda: [None if counted else find_game_over(prober, spans, late)]),
    ]
    out: list[Fact] = []
    for what, share, look in searches:
        report(f"looking for {what}", share)
        ends = whole * share
        for fact in look() if not late() else ():
            if fact is not None:
                _covered(prober, fact)
                out.append(fact)
                taken += fact.offsets(spans) if fact.grade != "unproved" else []
    return out


def _covered(prober: Prober, fact: Fact) -> None:
    """Make a proved fact likely where not all that it rests on could be shown to the witness."""
    shown = {experiment.kind for experiment in prober.witness.of(fact)}
    needed = ENDED if fact.name == "game_over" else NEEDED[fact.name]
    if fact.grade == "proved" and not shown.issuperset(needed):
        fact.grade = "likely"
        fact.evidence["grade"] = "likely"
