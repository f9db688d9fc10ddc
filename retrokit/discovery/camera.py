"""The camera: plays a search's episodes once more and takes the pictures a report needs.

The search itself keeps no picture, so a search without a report pays nothing; and what Ctrl-C or a
dead core left of one can be filmed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..album import Album, Box, Picture, Shown, Still, Trace, Trial
from ..buttons import to_mask
from ..content import Content
from ..core import Core, CoreInfo
from ..systems import FoundCore
from ..team import Team
from .answer import Answer
from .bundle import Experiment
from .candidates import Candidate, values_of
from .home import find_home
from .lives import Lives
from .poke import Moment, Prober
from .record import Recording, join, record
from .search import EPISODES
from .survival import WAITS
from .suspects import LEAD
from .tally import Tally
from .tape import Origin

Emit = Callable[[Any], None]
Traces = tuple[Trace, ...]
STILLS = 15
AFTER = 8  # frames from a rise to its picture: by then the game has drawn it
MOST_PIXELS = 320 * 288  # larger pictures are shrunk
NEAR = 3  # digits' widths shown beside a number
MARGIN = 3  # pixels above and below it
BOOT_S = 26  # seconds shown from power-on where no start was found
FLICKER = (1, 2, 3)  # frames run at looks: some games draw every other frame


def film(
    emit: Emit,
    content: Content,
    found: FoundCore,
    origin: Origin | None,
    offsets: NDArray[np.int32],
    logs: Sequence[NDArray[np.uint16]],
    styles: Sequence[str],
    answer: Answer | None,
) -> Album:
    """Take the pictures of a search; runs in a sandbox child.

    Args:
        emit: Called with ("stage", text, share) as it goes on.
        content: What was searched.
        found: The core it was searched on.
        origin: What was known when the recording began; None shows the game from power-on.
        offsets: int32 [kept]: the bytes that were recorded.
        logs: uint16 [frames] for each episode: what was pressed; none before the first one ended.
        styles: Name of the way of playing, per episode.
        answer: What was found; None where the search did not come so far.
    """
    with Team.open(found, content) as core:
        if origin is None or not len(logs):
            return _booted(emit, core, origin)
        core.agree()
        core.run(1)  # some cores cannot restore before
        find_home(core, origin.state)
        core.agree(origin.state)
        if answer is not None and answer.ends:  # what was played for lives alone counts for nothing
            logs = logs[: len(answer.ends)]
        recording = _played(emit, core, origin, offsets, logs, styles)
        core.load(origin.state)
        core.run(2)
        prober = Prober(core, recording, core.frame_size)
        if answer is not None and answer.ends:
            recording = recording.ending(np.array(answer.ends, np.int64))
            prober.recording = recording
        listed = [] if answer is None else answer.candidates or answer.nearest
        best = listed[0] if listed and listed[0].line is not None else None
        traces = () if answer is None else _traces(recording, answer)
        stills = _stills(emit, prober, best, traces)
        size = core.frame_size
        shown = None if best is None else _shown(recording, best, stills, size)
        bundle = None if answer is None else answer.bundle
        return Album(
            core.info.fps,
            size,
            _aspect(core.info, *size),
            tuple(recording.styles),
            tuple(recording.ends.tolist()),
            stills,
            traces,
            shown,
            _trials(prober, shown, bundle.experiments) if shown and bundle else (),
            {} if answer is None else _fates(prober, answer.lives),
        )


def _booted(emit: Emit, core: Core, origin: Origin | None) -> Album:
    """Show what there is without a recording: the start, or power-on with START pressed."""
    fps = core.info.fps if 1 < core.info.fps < 1000 else 60.0
    core.run(1)
    if origin is not None:
        core.load(origin.state)
    every, stills = int(fps * BOOT_S / STILLS), []
    for number in range(STILLS):
        emit(("stage", "taking pictures", number / STILLS))
        core.run(every - 6)
        core.run(6, to_mask(["START"]))
        stills.append(Still(0, (number + 1) * every, core.frame(_small(core.frame_size))))
    width, height = core.frame_size
    aspect = _aspect(core.info, width, height)
    name = "from power-on" if origin is None else "from the start on"
    whole = (STILLS * every,)
    return Album(fps, (width, height), aspect, (name,), whole, tuple(stills), recorded=False)


def _aspect(info: CoreInfo, width: int, height: int) -> float:
    """Return width over height of the upright picture as it is meant to be seen."""
    if not 0.2 < info.aspect < 5:
        return width / height
    if info.rotation % 180 == 0 or (info.aspect >= 1) == (width >= height):
        return info.aspect
    return 1 / info.aspect  # cores disagree on whether the turn is in it


def _small(size: tuple[int, int]) -> tuple[int, int]:
    """Return the size to keep a picture in: its own, or as much smaller as it is too large."""
    width, height = size
    shrink = (MOST_PIXELS / (width * height)) ** 0.5
    return size if shrink >= 1 else (max(1, int(width * shrink)), max(1, int(height * shrink)))


def _played(
    emit: Emit,
    core: Core,
    origin: Origin,
    offsets: NDArray[np.int32],
    logs: Sequence[NDArray[np.uint16]],
    styles: Sequence[str],
) -> Recording:
    """Return the recording, played once more in the rounds it was played in."""
    recording: Recording | None = None
    actions = [list(action) for action in origin.action_set]
    for first in range(0, len(logs), EPISODES):
        log = np.stack(logs[first : first + EPISODES])

        def report(share: float, first: int = first, count: int = len(log)) -> None:
            played = (first + share * count) / len(logs)
            emit(("stage", "playing the episodes again", 0.7 * played))

        more = record(
            core,
            origin.state,
            actions,
            list(origin.fire),
            episodes=len(log),
            frames=log.shape[1],
            report=report,
            offsets=offsets,
            known=log,
            names=styles[first : first + EPISODES],
        )
        recording = more if recording is None else join(recording, more)
    assert recording is not None
    return recording


def _traces(recording: Recording, answer: Answer) -> Traces:
    """Return score, lives and all that was listed, as numbers over time."""
    out: list[Trace] = []
    for number, candidate in enumerate(answer.candidates or answer.nearest, 1):
        name = "score" if candidate is answer.best else f"candidate {number}"
        series, start = values_of(recording, candidate.variable, candidate.offsets)
        out.append(Trace(name, candidate.grade, series, start))
    if (lives := answer.lives) is not None:
        first = lives.read(recording.initial[[lives.offset]])
        trace = Trace(
            "lives", lives.grade, lives.read(recording.series(lives.offset)), int(first[0])
        )
        out.insert(1 if answer.best else 0, trace)
    return tuple(out)


def _stills(
    emit: Emit, prober: Prober, best: Candidate | None, traces: Traces
) -> tuple[Still, ...]:
    """Return the film strip, its pictures just after a rise where there is one."""
    recording = prober.recording
    number = None
    if best is not None:
        number = next(trace for trace in traces if trace.name in ("score", "candidate 1"))
    lives = [trace for trace in traces if trace.name == "lives" and trace.grade != "unproved"]
    named = {trace.name: trace for trace in (number, *lives) if trace is not None}
    out: list[Still] = []
    for episode, frame in spread(recording.ends, _rises(recording, number), STILLS):
        emit(("stage", "taking pictures", 0.7 + 0.2 * len(out) / STILLS))
        read = None
        if number is not None and best is not None and best.line is not None:
            near = Moment(episode, max(0, min(frame, int(recording.ends[episode]) - len(FLICKER))))
            _, seen = prober.after(near, [[-1]], [0], FLICKER)
            values = [best.line.read(view) for view in seen[0]]
            reads = [None if value is None else value * 10**best.line.zeros for value in values]
            series = number.values[near.episode, near.frame :]
            look = next((n for n, value in enumerate(reads) if value == series[n]), 0)
            read, frame = reads[look], near.frame + look
        held = {name: int(trace.values[episode, frame]) for name, trace in named.items()}
        picture = _picture(prober, Moment(episode, frame))
        out.append(Still(episode, frame, picture, held, read))
    return tuple(out)


def _rises(recording: Recording, trace: Trace | None) -> NDArray[np.bool_]:
    if trace is None:
        return np.zeros(recording.buttons.shape, np.bool_)
    before = np.concatenate(
        [np.full((recording.episodes, 1), trace.start, np.int64), trace.values[:, :-1]], axis=1
    )
    return np.asarray(trace.values > before, np.bool_)


def spread(ends: NDArray[np.int64], rises: NDArray[np.bool_], count: int) -> list[Moment]:
    """Return moments spread evenly over all that was played.

    Args:
        ends: int64 [episodes]: frames of each episode that were play.
        rises: bool [episodes, frames]: where the number rose. A moment waits for the next rise, if
            there is one before the next moment, and shows what it brought.
        count: How many, at most.
    """
    starts = np.concatenate([[0], np.cumsum(ends)])
    total = int(starts[-1])
    every = max(1, total // count)
    out: set[Moment] = set()
    for at in range(0, total, every)[:count]:
        episode = int(np.searchsorted(starts, at, side="right")) - 1
        frame, last = at - int(starts[episode]), int(ends[episode]) - 1
        ahead = np.flatnonzero(rises[episode, frame : min(frame + every, last)])
        if at and len(ahead):
            frame += int(ahead[0]) + AFTER
        out.add(Moment(episode, min(frame, last)))
    return sorted(out)


def _picture(prober: Prober, moment: Moment) -> Picture:
    """Return the picture after a frame of the recording has run, no larger than needed."""
    episode, frame = moment
    _after(prober, moment, prober.recording.buttons[episode, frame : frame + 1])
    return prober.core.frame(_small(prober.core.frame_size))


def _after(
    prober: Prober,
    moment: Moment,
    log: NDArray[np.uint16],
    offsets: Sequence[int] = (),
    values: Sequence[int] = (),
) -> None:
    """Stand where some buttons lead from a moment on, bytes written before."""
    core = prober.core
    core.load(prober.state(moment))
    if len(values):
        core.poke(offsets, values)
    if len(log) > 1:
        core.record(log[:-1])
    core.run(1, int(log[-1]))


def _shown(
    recording: Recording, best: Candidate, stills: tuple[Still, ...], size: tuple[int, int]
) -> Shown | None:
    """Return where the best candidate is drawn, on the still with its highest number."""
    if (line := best.line) is None or not stills:
        return None

    def box(place: int) -> Box:
        right = round(line.cell.right - place * line.pitch)
        return Box(right - line.cell.width, line.cell.top, right, line.cell.bottom)

    def rank(number: int) -> tuple[bool, int]:
        still = stills[number]
        held = next(value for name, value in still.held.items() if name != "lives")
        return still.read == held, held

    cells = int(best.evidence["screen"]["cells"])
    places = tuple(box(place) for place in range(cells) if box(place).left >= 0)
    zeros = tuple(box(-1 - place) for place in range(line.zeros))
    side = NEAR * line.cell.width
    around = Box(
        max(0, min(place.left for place in places + zeros) - side),
        max(0, line.cell.top - MARGIN),
        min(size[0], max(place.right for place in places + zeros) + side),
        min(size[1], line.cell.bottom + MARGIN),
    )
    number = max(range(len(stills)), key=rank)
    when = stills[number].episode, stills[number].frame
    held = tuple(int(recording.series(offset)[when]) for offset in best.offsets)
    glyphs = dict(sorted(line.cell.glyphs.items()))
    return Shown(number, places, zeros, around, held, glyphs)


def _trials(prober: Prober, shown: Shown, experiments: Sequence[Experiment]) -> tuple[Trial, ...]:
    """Return the joint pokes among some experiments, with the score's line each time."""
    around, scale = shown.around, 10 ** len(shown.zeros)
    out = []
    for seen in experiments:
        if (seen.fact, seen.kind) != ("score", "added"):
            continue
        moment, claim = Moment(seen.episode, seen.frame), seen.claim
        offsets, written = seen.offsets.tolist(), seen.rows[1].tolist()
        log = seen.log[0, : int(seen.looks[max(0, claim["look"])])]
        pictures = {}
        for caption, pressed, values in (
            ("just before", log[:1], ()),
            ("as recorded", log, ()),
            ("with the other number", log, written),
        ):
            _after(prober, moment, pressed, offsets, values)
            pictures[caption] = prober.core.frame()[
                around.top : around.bottom, around.left : around.right
            ]
        out.append(
            Trial(
                *moment,
                before=tuple(prober.bytes_at(moment, offsets).tolist()),
                written=tuple(written),
                was=claim["before"],
                number=claim["written"],
                added=claim["points"],
                read=claim["shown"] // scale * scale if claim["look"] >= 0 else None,
                pictures=pictures,
            )
        )
    return tuple(out)


def _fates(prober: Prober, lives: Lives | None) -> dict[str, Picture]:
    """Return what a recorded loss led to, with the lives as they were, one more, and the last."""
    if lives is None or lives.grade != "proved":
        return {}
    evidence = lives.evidence
    moment = Moment(int(evidence["episode"]), int(evidence["frame"]) - LEAD)
    field = lives.field
    if isinstance(field, Tally):
        field = field.before(prober, moment)
    value = int(field.read(int(prober.bytes_at(moment, [lives.offset])[0])))
    before = prober.bytes_at(moment, field.offsets).tolist()
    log = prober.recording.buttons[moment.episode, moment.frame : moment.frame + LEAD + 2]
    log = np.concatenate([log, np.zeros(WAITS[0], np.uint16)])
    out = {}
    more = min(field.top, value + 1)
    written = {"untouched": value, "one more": more, "the last": evidence["poked"]}
    for name, number in written.items():
        _after(prober, moment, log, field.offsets, field.written(before, int(number)))
        out[f"{name}: {number}"] = prober.core.frame(_small(prober.core.frame_size))
    return out
