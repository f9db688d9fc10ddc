"""A fact beyond score and lives: a named number of the game, and how well it is established."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..values import Variable
from .candidates import Grade, place
from .poke import Moment
from .record import Recording

GOLDEN = 0.618  # multiples of it fall evenly into a whole
ALONE = 0.6  # share of the episodes in which a byte moves alike, whatever is pressed


@dataclass
class Fact:
    """One variable of a game.

    Attributes:
        name: Its key in the integration: ``player_x``, ``timer``, …
        variable: How it is read; offsets count within ``variable.region``.
        grade: How well it is established.
        evidence: What was tried and what came out, ready for the integration file.
    """

    name: str
    variable: Variable
    grade: Grade
    evidence: dict[str, Any] = field(default_factory=dict)

    def offsets(self, spans: Sequence[Span]) -> list[int]:
        """Return where its bytes lie in the selected regions."""
        starts = {span.region: span.start for span in spans}
        return [starts[part.region] + addr for part in self.variable.parts for addr in part.addrs]

    def to_dict(self) -> dict[str, Any]:
        """Return the fact for JSON: the keys of an integration's variable, grade and evidence."""
        known = {"grade": self.grade, "evidence": self.evidence}
        return {"name": self.name, **self.variable.to_dict(), **known}


def byte_at(offset: int, spans: Sequence[Span]) -> Variable:
    """Return the variable of one whole byte of the selected regions."""
    region, addr = place(offset, spans)
    return Variable((addr,), "uint", region)


def sampled(recording: Recording, count: int) -> list[Moment]:
    """Return moments of play that have checkpoints; the first few are spread over the play too."""
    out = []
    for number in range(count):
        episode = number % recording.episodes
        share = 0.1 + 0.75 * (number * GOLDEN % 1.0)
        point = int(share * recording.ends[episode]) // recording.every
        out.append(Moment(episode, point * recording.every))
    return out


def unmoved(moves: NDArray[np.bool_], first: int) -> bool:
    """Tell whether a byte moves whatever is pressed: at the same frames in most episodes.

    Args:
        moves: bool [episodes, frames]: where it moved; all episodes start from one state.
        first: How many of its moves are compared.
    """
    starts = [tuple(np.flatnonzero(row)[:first].tolist()) for row in moves]
    starts = [frames for frames in starts if len(frames) == first]
    alike = max((starts.count(frames) for frames in starts), default=0)
    return alike >= max(2, ALONE * len(starts))
