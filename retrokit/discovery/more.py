"""What else a game counts, after score and lives: the player's place."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..core import Span
from .actions import Buttons
from .fact import Fact
from .poke import Prober
from .position import find_positions

# Processor seconds: what is not found until then is not looked for.
LEAST_S, MOST_S, WHOLE = 4.0, 10.0, 1 << 16


def find_more(
    prober: Prober, spans: Sequence[Span], buttons: Buttons, known: Sequence[int]
) -> list[Fact]:
    """Find the variables of a game beyond score and lives.

    Args:
        prober: The prober of a recording whose ends are known.
        spans: The core's selected regions.
        buttons: What the buttons do in play.
        known: Offsets that hold the score or the lives.

    Returns:
        Facts of any grade, each name once.
    """
    share = min(1.0, prober.core.ram_size / WHOLE)
    end = time.process_time() + LEAST_S + (MOST_S - LEAST_S) * share

    def late() -> bool:
        return time.process_time() > end

    return find_positions(prober, spans, buttons.useful, known, late)
