"""A game-over flag, where no lives counter tells: a byte with its own value after every end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core import Span
from .candidates import Grade
from .control import GONE, PLAY_LATER, controls
from .fact import Fact, byte_at, sampled
from .over import SAMPLED
from .poke import Moment, Prober

Late = Callable[[], bool]
DYING = 60  # frames before a measured end that count neither as play nor as over
LEAST_ENDS = 2
JUDGED, ALIVE = (60, 170, 430), 2  # frames after a poke: control is gone, at the first two not else
STATES, TRIED = 2, 6  # of play, in which it is written, and looked for


def find_game_over(prober: Prober, spans: Sequence[Span], late: Late) -> Fact | None:
    """Find a byte that holds one value after every recorded end, and never in play.

    Args:
        prober: The prober of a recording whose ends were measured by control.
        spans: The core's selected regions.
        late: Tells that time is up.

    Returns:
        ``game_over``, with its ``value`` in the evidence: proved where writing it in play ends
        control for good, likely where that could not be tried or came out once, else unproved.
        None where fewer than two games ended, or no byte is such.
    """
    recording = prober.recording
    ended = np.flatnonzero((recording.ends < recording.lengths) & (recording.ends > DYING)).tolist()
    if len(ended) < LEAST_ENDS:
        return None
    first, last, step = SAMPLED
    kept = recording.offsets
    over, looks = [], range(first, last + 1, step)
    for episode in ended:
        moment = Moment(episode, int(recording.ends[episode]))
        log = np.resize(recording.buttons[episode], last)  # a flag must not depend on them
        over.append(prober.core.branch(prober.state(moment), log[None], looks, kept=kept).ram[0])
    after = np.concatenate(over)
    alive = [
        recording.ram[episode, : max(0, end - DYING)]
        for episode, end in enumerate(recording.ends.tolist())
    ]
    before = np.concatenate(alive)
    value = after[0]
    good = np.flatnonzero((after == value).all(axis=0) & ~(before == value).any(axis=0))
    if not len(good):
        return None
    kinds = [len(np.unique(before[:, column])) for column in good]  # a mode byte has few values
    column = int(good[int(np.argmin(kinds))])
    offset, flag = int(kept[column]), int(value[column])
    prober.witness.begin()
    gone, states = _ends_play(prober, offset, flag, late)
    grade: Grade = "unproved" if states and not gone else "likely"
    if gone == states == STATES:
        grade = "proved"
    evidence = {
        "grade": grade,
        "value": flag,
        "behaviour": {"games_ended": len(ended)},
        "poke": {"states": states, "control_gone": gone},
    }
    fact, rows, at = Fact("game_over", byte_at(offset, spans), grade, evidence), [[-1]], [offset]
    for episode in ended[:LEAST_ENDS]:
        end = int(recording.ends[episode])
        log = np.resize(recording.buttons[episode], last)
        ram, _ = prober.after(Moment(episode, end), rows, at, looks, at, False, log, proof=True)
        if (ram == flag).all():
            prober.witness.shows("over", value=flag, last=0, first=0, step=1)
        played = range(1, max(2, end - DYING))
        ram, _ = prober.after(Moment(episode, 0), rows, at, played, at, False, proof=True)
        if not (ram == flag).any():
            prober.witness.shows("playing", value=flag)
    prober.witness.proves(fact)
    return fact


def _ends_play(prober: Prober, offset: int, value: int, late: Late) -> tuple[int, int]:
    """Return in how many states of play the value ends control for good, and of how many."""
    core, gone, states = prober.core, 0, 0
    for moment in sampled(prober.recording, TRIED):
        if late() or states == STATES:
            break
        log = prober.recording.buttons[moment.episode, moment.frame :][: JUDGED[-1]]
        log = np.pad(log, (0, JUDGED[-1] - len(log)))
        state, rows = prober.state(moment), ([[-1]], [[value]])
        alive = list(controls(core, state, log, JUDGED[:ALIVE], None))
        if any(seen < PLAY_LATER for seen, _ in alive):  # it ends here anyway
            continue
        states += 1
        after = list(controls(core, state, log, JUDGED, ([offset], [value])))
        if all(seen <= GONE for seen, _ in after):
            gone += 1
            prober.tell(moment, rows[0], [offset], log, JUDGED[:ALIVE], control=alive)
            prober.witness.shows("alive", written=-1, fire=False)
            prober.tell(moment, rows[1], [offset], log, JUDGED, control=after)
            prober.witness.shows("stops", written=value, fire=False)
    return gone, states
