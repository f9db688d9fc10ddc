"""The film: pictures all over the recording, on which a number in RAM must be read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..values import Variable
from .poke import Moment, Prober
from .screen import Line, Pictures


def film(prober: Prober, seed: int, looks: int = 12) -> list[Moment]:
    """Return moments of play all over the recording."""
    recording = prober.recording
    rng = np.random.default_rng([seed, 1])
    out = []
    for n in range(looks):
        episode = n % recording.episodes
        last = int(recording.ends[episode]) - prober.looks[-1] - 1
        if last > 8:
            out.append(Moment(episode, int(rng.integers(8, last))))
    return out


def read_film(
    prober: Prober,
    packed: Variable,
    offsets: Sequence[int],
    line: Line,
    scale: int,
    seed: int,
) -> tuple[int, int]:
    """Compare the number on the screen with the one in RAM at moments all over the recording.

    Returns:
        How often they are equal, and how often there is a number: some games hide it at times.
    """
    hits = shown = 0
    for moment in film(prober, seed):
        ram, views = prober.seen(moment, offsets)
        looks = prober.looks
        log = prober.recording.log(*moment, looks[-1], prober.pressed)
        rows = [[-1] * len(offsets)]
        prober.tell(moment, rows, offsets, log, looks, offsets, ram[None], views[None])
        held = packed.decode({packed.region: ram}).tolist()
        look = shown_at(line, views, held, scale)
        hits += look >= 0
        shown += look >= 0 or any(line.read(view) is not None for view in views)
        prober.witness.shows("film", look=look, shown=held[look])
    return hits, shown


def shown_at(line: Line, views: Pictures, held: Sequence[int], scale: int) -> int:
    """Return the first look at which the screen shows what RAM holds, or -1."""
    matches = (line.read(view) == value // scale for view, value in zip(views, held, strict=True))
    return next((look for look, match in enumerate(matches) if match), -1)
