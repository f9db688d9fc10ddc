"""Lives and the end of the game: poke the counter before a recorded loss, play to the death, look.

At game over the player's inputs stop mattering; written one higher, the same loss leaves play as it
was. That is proof: no copy, timer or energy bar does both (facts/discovery.md, point 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, to_mask
from ..core import Span
from ..values import Variable
from .candidates import Grade, place
from .control import PLAY_LATER, Control, controls, gone, measure_control
from .control import Kind as Measure
from .over import EPISODES, Flag, find_flag
from .poke import Moment, Prober
from .survival import Poke, in_control, later_looks
from .suspects import LEAD, PLAIN, Field, Suspect, is_clock, spread, suspects, tries
from .tally import Tally, find_tally, made_anew

MOST_LOSSES = 2
SETTLED = 150  # frames after the end of a game at which control must be gone
LOWS = (1, 0, -1)  # what is written to make the loss the last one
MEASURES: tuple[Measure, ...] = ("directions", "fire")
LATER = (60, 120, 200, 400)  # frames after a loss; at one of them its being the last shows in RAM
PARTED = 3  # bytes of which that is more than chance
CONTRADICTED = "games that were recorded went on after what would be their end"
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
        tally: What stands, where the byte is no counter but made from that in each frame.
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
    tally: Tally | None = None

    @property
    def field(self) -> Field | Tally:
        """The bits that hold it."""
        return self.tally or Field(self.offset, self.mask, self.shift, self.codes)

    def read(self, byte: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the counter's value in its byte."""
        value = self.field.read(byte)
        top = (self.mask >> self.shift) + 1
        return np.where(self.signed & (value >= top // 2), value - top, value)

    def variable(self, spans: Sequence[Span]) -> Variable:
        """Return it as a variable of the integration; of a tally, what stands."""
        if self.tally is not None:
            return Variable(offset=self.tally.base, terms=self.tally.terms(spans))
        region, addr = place(self.offset, spans)
        table = {code: number for number, code in enumerate(self.codes)}
        return Variable(
            (addr,),
            "uint",
            region,
            mask=self.mask,
            shift=self.shift,
            signed=self.signed,
            map=table or None,
        )

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
    tallies: list[tuple[Suspect, Tally]] = []
    copies: set[Field | Tally] = set()
    why: dict[Field | Tally, str] = {}
    number = 0
    for suspect in found:
        if suspect.field in tried or number == most:
            continue
        tried.add(suspect.field)
        report(number / most)
        field: Field | Tally = suspect.field
        if made_anew(prober, field.offset, suspect.losses[0]):
            tally = find_tally(prober, suspect)
            if tally is None:
                copies.add(field)
                continue
            field = tally
            tallies.append((suspect, tally))
        number += 1
        for moment in tries(prober, suspect, MOST_LOSSES if number <= 2 else 1):
            if is_clock(prober, suspect.field, moment):
                why[suspect.field] = "it falls whatever is pressed, as a clock does"
                continue
            lives, refuted, why[suspect.field] = _last_loss(prober, suspect, field, moment)
            if lives is not None and not _contradicted(prober, lives):
                return lives
            if refuted:
                break
    for counter, tally in tallies:
        start, last = counter.start, tally.base
        told = {"why": why[counter.field]}
        return Lives(tally.offset, 0xFF, 0, True, start, last, False, "unproved", told, tally=tally)
    for best in found:
        bits = best.field
        plain = bits.mask in PLAIN and not bits.codes  # odd bits are worth nothing without proof
        if plain and bits not in copies:
            likelier = "what falls so and was likelier was not proved: " + next(
                iter(why.values()), ""
            )
            told = {"why": why.get(bits, likelier)}
            where = bits.offset, bits.mask, bits.shift
            return Lives(*where, False, best.start, 0, False, "unproved", told)
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


def _last_loss(
    prober: Prober, suspect: Suspect, field: Field | Tally, moment: Moment
) -> tuple[Lives | None, bool, str]:
    """Make one recorded loss the last, and one more than it was; compare control afterwards.

    Returns:
        The proved lives; whether play went on with whatever was written: no life was lost then; and
        what kept them from being proved.
    """
    core, recording, witness = prober.core, prober.recording, prober.witness
    witness.begin()
    value = int(field.read(int(prober.bytes_at(moment, [field.offset])[0])))
    if isinstance(field, Tally):
        field = field.before(prober, moment)
    before = prober.bytes_at(moment, field.offsets).tolist()
    state = prober.state(moment)
    log = recording.buttons[moment.episode, moment.frame : moment.frame + LEAD + 2]
    raised = field.offsets, field.written(before, min(field.top, value + 1))
    rows, at = [[-1] * len(before), raised[1]], [field.offset]
    ram, _ = prober.after(moment, rows, raised[0], (len(log),), at, pictures=False, proof=True)
    plain, higher = (int(field.read(int(x))) for x in ram[:, 0, 0])
    again = plain == value - 1 and (value == field.top or higher == value)
    if again and value - 1 > max(LOWS) and not isinstance(field, Tally):
        # Not so where each bit is a thing that stands: which one falls does not depend on the rest.
        fewer = [field.written(before, value - 1)]
        ram, _ = prober.after(moment, fewer, raised[0], (len(log),), at, pictures=False)
        again = int(field.read(int(ram[0, 0, 0]))) == value - 2
    if not again:
        return None, False, "a loss did not come again after another number was written"
    lows = [n for n in LOWS if n < value and (n >= 0 or field.mask == 0xFF and not field.codes)]
    if isinstance(field, Tally):  # what is to fall must stand
        lows = [n for n in (field.base + 1,) if n < value]
    ending = _ending(prober, suspect, field, moment, log, rows, lows)
    if not ending:
        return None, True, "play went on as it was whatever was written into it"
    witness.shows("loss", before=value, written=min(field.top, value + 1))
    held = log & np.uint16(to_mask(DIRECTIONS))
    ram, _ = prober.after(moment, rows[:1], raised[0], (len(log),), at, pictures=False, log=held)
    spent = int(field.read(int(ram[0, 0, 0]))) != value - 1  # ammunition: no fire, no loss
    refuted, why = ending == lows, "inputs did not matter again after a loss"
    for kind in MEASURES[:1] if spent else MEASURES:
        times = in_control(prober, moment, log, raised, kind)
        refuted &= bool(times) or kind == "fire"
        fire = kind == "fire"
        why = "inputs still mattered after what should be its last loss" if times else why
        for low, (end, judged, alive, more) in product(ending, times):
            poke = field.offsets, field.written(before, low)
            after = _value_after(prober, field, moment, judged, poke, low, suspect.start)
            if after is None or (isinstance(field, Tally) and after != field.base):
                refuted = False
                continue
            last = witness.latest
            looks = later_looks(end)
            if not all(lost for lost, _ in controls(core, state, judged, looks, poke, alive)):
                continue
            for row, seen, number in zip(
                rows, (alive, more), (-1, min(field.top, value + 1)), strict=True
            ):
                prober.tell(moment, [row], poke[0], judged[:end], [end], control=[seen[:2]])
                witness.shows("alive", written=number, fire=fire)
            witness.shows("last", last, written=low, after=after, last=LEAD + 1)
            none = [(1, 0)] * len(looks)
            prober.tell(moment, [poke[1]], poke[0], judged, looks, control=none)
            witness.shows(
                "gone", written=low, variety=alive.variety, steers=alive.steers, fire=fire
            )
            return (
                _proved(prober, suspect, field, moment, after, low, alive, more),
                False,
                CONTRADICTED,
            )
    return None, refuted, why


def _ending(
    prober: Prober,
    suspect: Suspect,
    field: Field | Tally,
    moment: Moment,
    log: NDArray[np.uint16],
    rows: list[list[int]],
    lows: list[int],
) -> list[int]:
    """Return what may make the loss the last: RAM parts ways with it, more than with one more.

    Most of what falls like lives is told here, and cheaply.
    """
    recording, before = prober.recording, prober.bytes_at(moment, field.offsets).tolist()
    rows = [*rows, *(field.written(before, low) for low in lows)]
    looks = (len(log), *(len(log) + later for later in LATER))
    kept, column = recording.offsets.tolist(), recording.column(field.offset)
    played = np.resize(recording.buttons[moment.episode], LATER[-1])
    for tail in (np.zeros_like(played), played):
        judged = np.concatenate([log, tail])
        ram, _ = prober.after(moment, rows, field.offsets, looks, kept, pictures=False, log=judged)
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


def _value_after(
    prober: Prober,
    field: Field | Tally,
    moment: Moment,
    log: NDArray[np.uint16],
    poke: Poke,
    low: int,
    full: int,
) -> int | None:
    """Return the counter right after the loss that should be the last, or None if it was not.

    It must not fall once more while control is judged: then another life was played.
    """
    looks, at = range(1, len(log) + 1), [field.offset]
    ram, _ = prober.after(
        moment, [poke[1]], poke[0], looks, at, pictures=False, log=log, proof=True
    )
    values = field.counted(ram[0, :, 0], full)
    after, later = int(values[LEAD + 1]), values[LEAD + 1 :]
    changes = np.flatnonzero(later != after)
    fell_again = len(changes) and int(later[changes[0]]) == after - 1
    return after if after in _last(low, full) and not fell_again else None


def _last(low: int, full: int) -> tuple[int, ...]:
    """Return what the counter may hold after the last loss; an energy bar is filled up instead."""
    return {1: (0, 1), 0: (0, -1, full), -1: (-2,)}[low]


def _proved(
    prober: Prober,
    suspect: Suspect,
    bits: Field | Tally,
    moment: Moment,
    after: int,
    low: int,
    alive: Control,
    more: Control,
) -> Lives:
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
    lives.tally = bits if isinstance(bits, Tally) else None
    if last == low and isinstance(
        bits, Field
    ):  # the counter holds that while the last life is played
        byte = bits.write(int(prober.recording.initial[bits.offset]), low & bits.mask)
        losses = spread(suspect.losses, EPISODES)
        lives.flag = find_flag(prober, bits.offset, byte, losses, LEAD)
        lives.cuts_last_life = lives.flag is None
        if lives.flag is not None:
            evidence["game_over"] = {"grade": "likely", "games": len(losses)}
    prober.witness.proves(lives)
    return lives
