"""Lives and the end of the game: poke the counter before a recorded loss, play to the death, look.

At game over the player's inputs stop mattering; written one higher, the same loss leaves play as it
was. That is proof: no copy, timer or energy bar does both (facts/discovery.md, point 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, to_mask
from ..core import Core
from .candidates import Grade
from .control import (
    PLAY_LATER,
    PRESCREEN,
    Control,
    controls,
    glance,
    gone,
    measure_control,
)
from .control import Kind as Measure
from .over import EPISODES, Flag, find_flag
from .poke import Moment, Prober
from .suspects import LEAD, PLAIN, Field, Suspect, is_clock, spread, suspects, tries

WAITS = range(100, 651, 50)  # frames after the loss at which control may be back
MOST_WAITS = 3
MOST_LOSSES = 2
SETTLED = 150  # frames after the end of a game at which control must be gone
GAPS = (170, 260, 350)  # frames between the looks that find control still gone; no common beat
LOWS = (1, 0, -1)  # what is written to make the loss the last one
MEASURES: tuple[Measure, ...] = ("directions", "fire")
LATER = (60, 120, 200, 400)  # frames after a loss; at one of them its being the last shows in RAM
PARTED = 3  # bytes of which that is more than chance
TRIED = 4  # candidates that are poked


@dataclass
class Lives:
    """The lives counter and how the game ends.

    Attributes:
        offset: Its byte in the selected regions.
        mask, shift: Which bits hold it.
        signed: Its end is a negative number.
        start: Its value at the start of play.
        last: Its value after the last life has ended.
        cuts_last_life: The value is reached as the last life begins, and no flag tells its end.
        grade: How well it is established.
        evidence: What was tried and seen.
        flag: A byte that tells the last life's end where the counter does not.
        resets: After the last life the counter is filled for the next game at once.
        low: What was written to make a loss the last one; it equals ``last`` where the counter
            holds that while the last life is played.
        codes: The bits that stand for 0, 1, … where they are no plain number.
    """

    offset: int
    mask: int
    shift: int
    signed: bool
    start: int
    last: int
    cuts_last_life: bool
    grade: Grade
    evidence: dict[str, Any] = field(default_factory=dict)
    flag: Flag | None = None
    resets: bool = False
    low: int = 1
    codes: tuple[int, ...] = ()

    @property
    def field(self) -> Field:
        """The bits that hold it."""
        return Field(self.offset, self.mask, self.shift, self.codes)

    def read(self, byte: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the counter's value in its byte."""
        value = self.field.read(byte)
        top = (self.mask >> self.shift) + 1
        return np.where(self.signed & (value >= top // 2), value - top, value)

    @property
    def rule(self) -> str:
        """The rule of game over in the integration's words."""
        lives = f"lives == {self.last}"
        if self.flag is None:
            return lives
        over = f"game_over == {self.flag.value}"
        return over if self.resets else f"{lives} and {over}"


def find_lives(
    prober: Prober,
    exclude: Sequence[int] = (),
    report: Callable[[float], None] = lambda share: None,
    tried: set[Field] | None = None,
    most: int = TRIED,
) -> Lives | None:
    """Find the lives counter.

    Args:
        prober: The prober of a recording in which lives were lost.
        exclude: Offsets that hold something else.
        report: Called with the share that is finished.
        tried: Fields that earlier recordings of this game ruled out; those tried here are added.
        most: How many are tried.

    Returns:
        The proved counter; else the likeliest suspect, ``unproved``; None without suspects.
    """
    found, tried = suspects(prober.recording, exclude), set() if tried is None else tried
    untried = [suspect for suspect in found if suspect.field not in tried][:most]
    tried |= {suspect.field for suspect in untried}
    for number, suspect in enumerate(untried):
        report(number / len(untried))
        for moment in tries(prober, suspect, MOST_LOSSES if number < 2 else 1):
            if is_clock(prober, suspect.field, moment):
                continue
            lives, refuted = _last_loss(prober, suspect, moment)
            if lives is not None and not _contradicted(prober, lives):
                return lives
            if refuted:
                break
    for best in found:
        bits = best.field
        if bits.mask in PLAIN and not bits.codes:  # odd bits are worth nothing without proof
            return Lives(
                bits.offset, bits.mask, bits.shift, False, best.start, 0, False, "unproved"
            )
    return None


def _contradicted(prober: Prober, lives: Lives) -> bool:
    """Tell whether recorded games went on after what should be their end, or begin with it."""
    core, recording = prober.core, prober.recording
    if lives.flag is None and int(lives.read(recording.initial)[lives.offset]) == lives.last:
        return True
    core.load(recording.state)
    before = measure_control(core, lives.evidence["control"]["by"])
    if before.variety < PLAY_LATER or lives.last == lives.low:
        return False
    over = lives.read(recording.series(lives.offset)) == lives.last
    for episode in np.flatnonzero(over.any(axis=1)).tolist()[:2]:
        first = int(over[episode].argmax()) + SETTLED
        frames = [n * recording.every for n in range(len(recording.checkpoints[episode]))]
        later = [n for n, at in enumerate(frames) if at >= first and over[episode, at]]
        for point in later[:: max(1, len(later) // 3)][:4]:
            core.load(recording.checkpoints[episode][point])
            if not gone(core, before):
                return True
    return False


def _last_loss(prober: Prober, suspect: Suspect, moment: Moment) -> tuple[Lives | None, bool]:
    """Make one recorded loss the last, and one more than it was; compare control afterwards.

    Returns:
        The proved lives, and whether play went on with whatever was written: no life was lost then.
    """
    core, recording, field = prober.core, prober.recording, suspect.field
    witness = prober.witness
    witness.begin()
    byte = int(prober.bytes_at(moment, [field.offset])[0])
    value = int(field.read(byte))
    state = prober.state(moment)
    log = recording.buttons[moment.episode, moment.frame : moment.frame + LEAD + 2]
    rows = [[-1], [field.write(byte, min(field.top, value + 1))]]
    at = [field.offset]
    ram, _ = prober.after(moment, rows, at, (len(log),), at, pictures=False, proof=True)
    plain, higher = (int(field.read(int(x))) for x in ram[:, 0, 0])
    if plain != value - 1 or (value < field.top and higher != value):
        return None, False  # the replay missed the loss, or something else writes the byte
    lows = [n for n in LOWS if n < value and (n >= 0 or field.mask == 0xFF and not field.codes)]
    ending = _ending(prober, suspect, moment, log, rows, lows)
    if not ending:
        return None, True
    witness.shows("loss", before=value, written=min(field.top, value + 1))
    raised = (field.offset, rows[1][0])
    held = log & np.uint16(to_mask(DIRECTIONS))
    ram, _ = prober.after(moment, rows[:1], at, (len(log),), at, pictures=False, log=held)
    spent = int(field.read(int(ram[0, 0, 0]))) != value - 1  # ammunition: no fire, no loss
    refuted = ending == lows
    for kind in MEASURES[:1] if spent else MEASURES:
        times = _in_control(prober, moment, log, raised, kind)
        refuted &= bool(times) or kind == "fire"
        fire = kind == "fire"
        for low, (end, judged, alive, more) in product(ending, times):
            poke = (field.offset, field.write(byte, low))
            after = _value_after(prober, field, moment, judged, poke, low, suspect.start)
            if after is None:
                refuted = False
                continue
            last = witness.latest
            looks = _looks(end)
            if not all(lost for lost, _ in controls(core, state, judged, looks, poke, alive)):
                continue
            for row, seen in ((-1, alive), (raised[1], more)):
                prober.tell(moment, [[row]], at, judged[:end], [end], control=[seen[:2]])
                witness.shows(
                    "alive", written=-1 if row < 0 else min(field.top, value + 1), fire=fire
                )
            witness.shows("last", last, written=low, after=after, last=LEAD + 1)
            prober.tell(moment, [[poke[1]]], at, judged, looks, control=[(1, 0)] * len(looks))
            witness.shows(
                "gone", written=low, variety=alive.variety, steers=alive.steers, fire=fire
            )
            return _proved(prober, suspect, moment, after, low, alive, more), False
    return None, refuted


def _ending(
    prober: Prober,
    suspect: Suspect,
    moment: Moment,
    log: NDArray[np.uint16],
    rows: list[list[int]],
    lows: list[int],
) -> list[int]:
    """Return what may make the loss the last: RAM parts ways with it, more than with one more.

    Most of what falls like lives is told here, and cheaply.
    """
    field, recording = suspect.field, prober.recording
    byte = int(prober.bytes_at(moment, [field.offset])[0])
    rows = [*rows, *([field.write(byte, low)] for low in lows)]
    looks = (len(log), *(len(log) + later for later in LATER))
    kept, column = recording.offsets.tolist(), recording.column(field.offset)
    played = np.resize(recording.buttons[moment.episode], LATER[-1])
    for tail in (np.zeros_like(played), played):
        judged = np.concatenate([log, tail])
        ram, _ = prober.after(moment, rows, [field.offset], looks, kept, pictures=False, log=judged)
        moved = (ram[1:, 1:] != ram[0, 1:]).sum(axis=2)
        parted = (moved[1:] >= np.maximum(PARTED, 1.5 * moved[0])).any(axis=1)
        left = field.counted(ram[2:, 0, column], suspect.start).tolist()
        good = [
            low
            for low, shows, after in zip(lows, parted, left, strict=True)
            if shows and after in _last(low, suspect.start)
        ]
        if good:
            return good
    return []


Alive = tuple[int, NDArray[np.uint16], Control, Control]


def _in_control(
    prober: Prober,
    moment: Moment,
    log: NDArray[np.uint16],
    raised: tuple[int, int],
    kind: Measure,
) -> list[Alive]:
    """Return a time after a loss at which control is back, whether or not one life was added.

    Control is measured by directions, and by fire where a player moves on after the end or has no
    directions.

    Returns:
        Frames run, the buttons up to the last look that follows, control untouched and raised.
    """
    core, state = prober.core, prober.state(moment)
    played = np.resize(prober.recording.buttons[moment.episode], WAITS[-1] + sum(GAPS))
    for tail in (np.zeros_like(played), played):  # some games wait for a button, some take one
        for wait in _promising(core, state, log, tail, kind):
            judged = np.concatenate([log, tail[: wait + sum(GAPS)]])
            end = len(log) + wait
            alive = _control(core, state, judged[:end], None, kind)
            if alive.variety < PLAY_LATER:
                continue  # still dying, or dead
            higher = _control(core, state, judged[:end], raised, kind)
            if higher.variety < PLAY_LATER or higher.steers < alive.steers:
                continue
            # Where control comes and goes by itself, its loss would prove nothing.
            later = _looks(end)[1:]
            if not all(lost for lost, _ in controls(core, state, judged, later, raised, alive)):
                return [(end, judged, alive, higher)]
    return []


def _promising(
    core: Core, state: bytes, log: NDArray[np.uint16], tail: NDArray[np.uint16], kind: Measure
) -> Iterator[int]:
    """Yield frames after a loss at which inputs may matter again, few and the likeliest first."""
    core.load(state)
    core.record(log)
    seen: dict[int, int] = {}
    for before, wait in pairwise((0, *WAITS)):
        core.record(tail[before:wait])
        seen[wait] = glance(core, kind)
        if seen[wait] == PRESCREEN:
            here = core.save()
            yield wait
            core.load(here)
            if sum(shown == PRESCREEN for shown in seen.values()) >= MOST_WAITS:
                return
    best = max(seen, key=lambda wait: seen[wait] % PRESCREEN)
    if 1 < seen[best] < PRESCREEN:
        yield best


def _looks(end: int) -> list[int]:
    """Return the frames at which control is judged, from the first on."""
    return [end + sum(GAPS[:n]) for n in range(len(GAPS) + 1)]


def _value_after(
    prober: Prober,
    field: Field,
    moment: Moment,
    log: NDArray[np.uint16],
    poke: tuple[int, int],
    low: int,
    full: int,
) -> int | None:
    """Return the counter right after the loss that should be the last, or None if it was not.

    It must not fall once more while control is judged: then another life was played.
    """
    looks, at = range(1, len(log) + 1), [field.offset]
    ram, _ = prober.after(moment, [[poke[1]]], at, looks, at, pictures=False, log=log, proof=True)
    values = field.counted(ram[0, :, 0], full)
    after, later = int(values[LEAD + 1]), values[LEAD + 1 :]
    changes = np.flatnonzero(later != after)
    fell_again = len(changes) and int(later[changes[0]]) == after - 1
    return after if after in _last(low, full) and not fell_again else None


def _last(low: int, full: int) -> tuple[int, ...]:
    """Return what the counter may hold after the last loss; an energy bar is filled up instead."""
    return {1: (0, 1), 0: (0, -1, full), -1: (-2,)}[low]


def _control(
    core: Core,
    state: bytes,
    log: NDArray[np.uint16],
    poke: tuple[int, int] | None,
    kind: Measure,
) -> Control:
    """Measure control at the end of a replay that began with a poke."""
    seen, steers = next(controls(core, state, log, [len(log)], poke, kind=kind))
    return Control(seen, bool(steers), kind)


def _proved(
    prober: Prober,
    suspect: Suspect,
    moment: Moment,
    after: int,
    low: int,
    alive: Control,
    more: Control,
) -> Lives:
    bits = suspect.field
    evidence = {
        "control": {
            "by": alive.kind,
            "untouched": alive.variety,
            "one_more": more.variety,
            "last": "gone",
        },
        "poked": low,
        "after_last_loss": after,
        "episode": moment.episode,
        "frame": moment.frame + LEAD,
    }
    resets = after > max(low, 0)
    last = 0 if resets else after
    lives = Lives(
        bits.offset,
        bits.mask,
        bits.shift,
        after < 0,
        suspect.start,
        last,
        False,
        "proved",
        evidence,
    )
    lives.resets, lives.low, lives.codes = resets, low, bits.codes
    if last == low:  # the counter holds that while the last life is played
        byte = bits.write(int(prober.recording.initial[bits.offset]), low & bits.mask)
        losses = spread(suspect.losses, EPISODES)
        lives.flag = find_flag(prober, bits.offset, byte, losses, LEAD)
        lives.cuts_last_life = lives.flag is None
        if lives.flag is not None:
            evidence["game_over"] = {"grade": "likely", "games": len(losses)}
    prober.witness.proves(lives)
    return lives
