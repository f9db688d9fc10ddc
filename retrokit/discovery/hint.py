"""Hints: what a person read off the screen of a recording, such as ``score=430@12.5s``.

A hint filters and ranks; it proves nothing. Time is the recording's own: it counts from the start
of an episode, the first one unless another is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core import Span
from ..errors import UserError
from ..values import Variable
from .candidates import Candidate, Series, behaviour, describe, pack, values_of
from .counters import BUSY
from .lens import SCALES, number
from .narrow import Filter, Narrowing, Reading
from .poke import Moment
from .record import Recording

SLACK_S = 0.1  # how well a person can stop a film; a frame is exact
AWAY_S = 3.0  # how far off what nearly fits may be
MOST_FRAMES = 24  # of a hint that are looked at
LEGAL = 0.5  # of its frames in which a number must consist of digits; a blanked one may not
MOST = 10  # hits that are listed
NEAREST = 3  # candidates that are shown when none fits
_HINT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^@]+?)\s*@\s*(.+?)\s*")
_TIME = re.compile(r"(?:(\d+):)?(\d+(?:\.\d+)?)(s|f)")


def parse_moment(text: str, fps: float) -> Moment:
    """Return the moment of ``12.5s``, ``750f``, or ``2:12.5s`` in the second episode.

    Raises:
        UserError: It is none.
    """
    match = _TIME.fullmatch(text.strip().removeprefix("@"))
    if match is None or (match[3] == "f" and "." in match[2]) or match[1] == "0":
        wanted = "seconds or frames from the start of play, such as 12.5s, 750f, or 2:12.5s"
        raise UserError(f"the time {text!r}", f"{wanted} for the second episode")
    frame = round(float(match[2]) * (fps if match[3] == "s" else 1))
    return Moment(int(match[1] or 1) - 1, frame)


def format_moment(moment: Moment, fps: float) -> str:
    """Return a moment as ``12.50s``, with its episode where it is not the first."""
    episode = f"{moment.episode + 1}:" if moment.episode else ""
    return f"{episode}{moment.frame / fps:.2f}s"


@dataclass(frozen=True)
class Hint:
    """What a person read.

    Attributes:
        name: Of the variable: ``score``, ``lives`` or another.
        value: The number on the screen.
        at: When: after so many frames of an episode have run.
        slack: Frames before and after it that count as well.
        text: What the person typed.
    """

    name: str
    value: int
    at: Moment
    slack: int
    text: str

    @classmethod
    def parse(cls, text: str, fps: float) -> Hint:
        """Return the hint of ``score=430@12.5s`` or ``lives=3@2:750f``.

        Raises:
            UserError: It is none.
        """
        match = _HINT.fullmatch(text)
        if match is None:
            raise UserError(f"the hint {text!r}", "NAME=NUMBER@TIME, such as score=430@12.5s")
        slack = round(SLACK_S * fps) if match[3].endswith("s") else 0
        return cls(match[1], number(match[2]), parse_moment(match[3], fps), slack, text.strip())

    def check(self, episodes: int, frames: int, fps: float) -> None:
        """Refuse a time that is not in the recording.

        Raises:
            UserError: It is past an episode's end, or there is no such episode.
        """
        if not (self.at.episode < episodes and self.at.frame <= frames):
            raise UserError(
                f"{self.text} is not in the recording",
                f"a time in its {episodes} episode{'s' * (episodes != 1)} of {frames / fps:.1f} s "
                f"({frames} frames)",
                "Name another episode than the first as in 2:12.5s.",
            )

    def frames(self, length: int) -> range:
        """Return the frames run that count in an episode of so many frames."""
        return range(
            max(0, self.at.frame - self.slack), min(length, self.at.frame + self.slack) + 1
        )

    def fits(self, values: Series, start: int) -> bool:
        """Tell whether a number read so: int64 [episodes, frames] and its value at the start."""
        return self.value in _over(values, start, self.at.episode)[self.frames(values.shape[1])]

    def told(self, values: Series, start: int, fps: float) -> str:
        """Return what a number read instead, and when it first read as it should, if ever."""
        played = _over(values, start, self.at.episode)
        when = np.flatnonzero(played == self.value)
        said = f"read {played[self.at.frame]} then"
        if not len(when):
            return f"{said}, and {self.value} never in that episode"
        return f"{said}, and {self.value} from {when[0] / fps:.2f} s on (frame {when[0]})"


def _over(values: Series, start: int, episode: int) -> Series:
    """Return an episode's values after 0, 1, 2, … frames, int64 [frames + 1]."""
    return np.concatenate([[start], values[episode]])


def row_of(recording: Recording, moment: Moment) -> NDArray[np.uint8]:
    """Return all bytes at a moment, uint8 [bytes]; those not kept are as at the start of play."""
    row = recording.initial.copy()
    if moment.frame:
        row[recording.offsets] = recording.ram[moment.episode, moment.frame - 1]
    return row


def named(hints: Iterable[Hint], name: str) -> list[Hint]:
    """Return the hints for one variable."""
    return [hint for hint in hints if hint.name == name]


def agreeing(
    candidates: Sequence[Candidate],
    recording: Recording,
    hints: Sequence[Hint],
    fps: float,
) -> tuple[list[Candidate], list[str]]:
    """Return the candidates that read what a person read, in their order, and why others do not.

    Where a person read 10, 100 or 1000 times what a candidate holds, at every hint, its scale is
    raised; nothing else about it changes, its grade least of all. A proved one was read from the
    screen already, so its scale stays.

    Args:
        candidates: Of one variable.
        recording: The play that the hints speak of.
        hints: For that variable; without any all candidates agree.
        fps: Frames a second.

    Returns:
        Those that agree; and where none does, a line for each of the first `NEAREST`.
    """
    if not hints:
        return list(candidates), []
    kept: list[Candidate] = []
    others: list[str] = []
    for candidate in candidates:
        values, start = values_of(recording, candidate.variable, candidate.offsets)
        scales = [
            scale
            for scale in SCALES
            if all(hint.fits(values * scale, start * scale) for hint in hints)
        ]
        if scales and (scales[0] == 1 or candidate.grade != "proved"):
            kept.append(_hinted(candidate, recording, scales[0], hints))
            continue
        hint = next(hint for hint in hints if not hint.fits(values, start))
        said = f"{hint.text}: {name_of(candidate)} {hint.told(values, start, fps)}"
        if scales:
            said += f"; ×{scales[0]} it would fit, but the screen was seen to show it as it is"
        others.append(said)
    return kept, [] if kept else others[:NEAREST]


def _hinted(
    candidate: Candidate, recording: Recording, scale: int, hints: Sequence[Hint]
) -> Candidate:
    """Return a candidate with the hints it agrees with, and their scale."""
    evidence = candidate.evidence | {"hints": [hint.text for hint in hints]}
    if scale == 1:
        return replace(candidate, evidence=evidence)
    variable = replace(candidate.variable, scale=candidate.variable.scale * scale)
    values, start = values_of(recording, variable, candidate.offsets)
    evidence["hinted_scale"] = scale
    return replace(
        candidate, variable=variable, behaviour=behaviour(values, start), evidence=evidence
    )


def name_of(candidate: Candidate) -> str:
    """Return where a candidate lies and how it is read, such as ``0x416 0x415 0x414 (bcd)``."""
    parts = list(candidate.variable.parts)
    addrs = " ".join(f"0x{addr:x}" for part in parts for addr in part.addrs)
    return f"{addrs} ({' '.join(dict.fromkeys(part.encoding for part in parts))})"


def find(
    recording: Recording, spans: tuple[Span, ...], hints: Sequence[Hint], most: int = MOST
) -> tuple[int, list[Candidate]]:
    """Find what reads as the hints of one variable say, under every type and scale.

    Only numbers with a byte that moves now and then are looked at, and of scores only those that
    rise more often than they fall.

    Returns:
        How many fit, and the likeliest of them, all ``unproved``: legal digits throughout, then
        what behaves like a score from 0 on, then the commonest types.
    """
    score = hints[0].name == "score"
    found: dict[tuple[int, ...], tuple[tuple[float, ...], Candidate]] = {}
    for reading, variable in _reading_so(recording, spans, hints):
        seen = behaviour(*values_of(recording, variable, reading.offsets))
        legal = _legal(recording, variable, reading.offsets)
        if legal < LEGAL or (score and seen.rises <= seen.falls):
            continue
        order: tuple[float, ...] = (-legal, len(reading.offsets), variable.encoding != "uint")
        if score:
            order = (-legal, not seen.like_a_score, seen.lowest != 0)
        evidence = {"behaviour": describe(seen), "hints": [hint.text for hint in hints]}
        candidate = Candidate(variable, reading.offsets, seen, "unproved", evidence)
        if reading.offsets not in found or order < found[reading.offsets][0]:
            found[reading.offsets] = order, candidate
    ranked = sorted(found.values(), key=lambda entry: entry[0])  # stable: the commonest type first
    return len(ranked), [candidate for _, candidate in ranked[:most]]


def _reading_so(
    recording: Recording, spans: tuple[Span, ...], hints: Sequence[Hint]
) -> Iterator[tuple[Reading, Variable]]:
    """Yield what reads as all hints of one variable say, the likeliest types first."""
    windows = [(hint.value, _window(recording, hint)) for hint in hints]
    # The number that fits least by chance comes first; what it leaves, the others are asked of.
    value, rows = max(windows, key=lambda window: abs(window[0]))
    changes = recording.changes()
    moved = np.zeros(len(recording.initial), np.bool_)
    moved[recording.offsets] = (changes > 0) & (changes <= BUSY)
    tried: set[tuple[object, ...]] = set()
    for row in rows:
        search = Narrowing(spans, (row,), among=moved).by(Filter("equal", 0, value))
        for reading in search.look(len(row), alone=False)[1]:
            for variable in reading.variables(spans):
                key = (reading.offsets, variable.encoding, variable.base, variable.scale)
                if key in tried:
                    continue
                tried.add(key)
                packed, _ = pack(variable)
                if all(
                    other in packed.decode({packed.region: seen[:, list(reading.offsets)]})
                    for other, seen in windows
                ):
                    yield reading, variable


def _legal(recording: Recording, variable: Variable, offsets: Sequence[int]) -> float:
    """Return the share of frames in which a number's bytes are digits of its encoding."""
    packed, _ = pack(variable)
    columns = np.stack([recording.series(offset) for offset in offsets], axis=-1)
    return float(np.mean(packed.valid({packed.region: columns})))


def nearby(
    recording: Recording, spans: tuple[Span, ...], hints: Sequence[Hint], fps: float
) -> list[str]:
    """Return in lines what would fit the hints some seconds earlier or later, the likeliest first.

    Args:
        recording: The play.
        spans: The regions.
        hints: Of one variable; nothing fits them.
        fps: Frames a second.
    """
    wide = [replace(hint, slack=round(AWAY_S * fps)) for hint in hints]
    lines = []
    for candidate in find(recording, spans, wide, NEAREST)[1]:
        values, start = values_of(recording, candidate.variable, candidate.offsets)
        missed = [hint for hint in hints if not hint.fits(values, start)]
        if not missed:  # it fits, and is no score
            continue
        hint = missed[0]
        lines.append(f"{hint.text}: {name_of(candidate)} {hint.told(values, start, fps)}")
    return lines


def _window(recording: Recording, hint: Hint) -> NDArray[np.uint8]:
    """Return all bytes at the frames that count for a hint, uint8 [frames, bytes].

    Of a long time only every so many frames: a number on a screen stays for a while.
    """
    frames = hint.frames(recording.buttons.shape[1])
    frames = frames[:: 1 + len(frames) // MOST_FRAMES]
    rows = [row_of(recording, Moment(hint.at.episode, frame)) for frame in frames]
    return np.unique(np.stack(rows), axis=0)
