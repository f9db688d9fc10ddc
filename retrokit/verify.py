"""Proof by playing: does an integration hold on the real core and content?

Everything that runs the core is in `verify_play`, in child processes; here is what judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import sandbox
from .integration import Integration
from .load import Game
from .values import Variable
from .verify_play import AFTER, AFTER_MOST, Episode, Played, play, trace

Status = Literal["ok", "warn", "fail"]
EPISODES, FRAMES = 3, 9000
FLICKER = 8  # frames; lives that change for less are a flicker
DIP = 300  # frames; lives that leap for less, and leap back, dip


class Where(NamedTuple):
    """Where something was first seen: episode from 1, frame from power-on."""

    episode: int
    frame: int


class Check(NamedTuple):
    """One question and its answer.

    Attributes:
        name: What was checked.
        status: ``fail`` falls short; ``warn`` is told and does not.
        seen: What was seen, and what to do about it.
        where: The first frame that shows it.
    """

    name: str
    status: Status
    seen: str
    where: Where | None = None


@dataclass
class Verdict:
    """What came of it.

    Attributes:
        checks: In the order in which they build on one another.
        frames: Frames of each episode, up to its end.
    """

    checks: list[Check] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        return all(check.status != "fail" for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict for ``--json``."""
        checks = [
            check._asdict() | {"where": check.where and check.where._asdict()}
            for check in self.checks
        ]
        return {"holds": self.holds, "checks": checks, "episode_frames": self.frames}


def verify(
    game: Game,
    *,
    episodes: int = EPISODES,
    frames: int = FRAMES,
    seed: int = 0,
    report: Callable[[float, str], None] = lambda share, text: None,
) -> Verdict:
    """Play an integration and judge every fact in it.

    Args:
        game: The integration with its core and content.
        episodes: Seeded random episodes to play, >= 1.
        frames: Most frames of one, >= 1.
        seed: Of the random play.
        report: Called with the share that is finished and what is going on.

    Raises:
        CoreCrashed: The core died; so do CoreTimeout and LoadRefused tell of it.
        IntegrationError: An address lies outside the core's memory.
    """
    seen = sandbox.call(play, (game, episodes, frames, seed), on_event=lambda event: report(*event))
    report(episodes / (episodes + 1), "once more")
    again = sandbox.call(trace, (game, seed, frames)) if seen.started else []
    return judge(game, seen, again)


def judge(game: Game, seen: Played, again: Sequence[str]) -> Verdict:
    """Return what was seen as checks; ``again`` is the trace of a second process."""
    integration = game.integration
    verdict = Verdict(frames=[episode.frames for episode in seen.episodes])
    add = verdict.checks.append
    for line in game.warnings:
        add(Check("content", "warn", line))
    for line in game.core_warnings(seen.version):
        add(Check("core", "warn", line))
    if not verdict.checks:
        add(Check("content and core", "ok", "the ROM and the core of the file"))
    if integration.rotate is not None:
        same = integration.rotate == seen.rotation
        said = f"the core turns {seen.rotation} degrees"
        said += "" if same else f", the file says {integration.rotate}"
        add(Check("rotation", "ok" if same else "warn", said))
    add(_start(seen))
    if not seen.started:
        ends = [e.end for e in seen.episodes]
        verdict.checks += _end(integration, seen) if any(end is not None for end in ends) else []
        return verdict
    verdict.checks += _score(integration.variables["score"], seen)
    if "lives" in integration.variables:
        verdict.checks += _lives(integration.variables["lives"], seen)
    verdict.checks += _end(integration, seen)
    add(_repeats(seen, again))
    add(_actions(seen))
    return verdict


def _start(seen: Played) -> Check:
    if seen.started:
        first = next(at for e in seen.episodes for at, obeyed in e.looks if obeyed)
        where = f"{first} frames after it" if first else "right after it"
        return Check("start", "ok", f"{seen.start} frames; directions are obeyed {where}")
    most = max(at for episode in seen.episodes for at, _ in episode.looks)
    said = f"in {most} frames after the start sequence no direction was obeyed: nothing is played"
    return Check("start", "fail", f"{said}. Mend start_buttons", Where(1, seen.start))


def _at(seen: Played, number: int, frame: int) -> Where:
    return Where(number + 1, seen.start + frame)


def _first(seen: Played, marks: Callable[[Episode], NDArray[np.bool_]]) -> tuple[int, int] | None:
    """Return (episode from 0, frame) of the first mark in play."""
    for number, episode in enumerate(seen.episodes):
        hits = np.flatnonzero(marks(episode)[: episode.frames + 1])
        if len(hits):
            return number, int(hits[0])
    return None


def _steps(variable: Variable, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how far each frame moved a variable, through wraps; 0 for the first."""
    steps = np.diff(values, prepend=values[:1])
    for frame in np.flatnonzero(steps < 0).tolist():
        steps[frame] = variable.delta(int(values[frame - 1]), int(values[frame]))
    return steps


def _score(score: Variable, seen: Played) -> list[Check]:
    total = sum(episode.frames + 1 for episode in seen.episodes)
    checks = []
    if hit := _first(seen, lambda e: ~e.legal["score"]):
        said = "a byte is no code of the encoding; mend score_addrs, score_encoding, base or blank"
        checks.append(Check("score decodes", "fail", said, _at(seen, *hit)))
    else:
        checks.append(Check("score decodes", "ok", f"on all {total} frames of play"))

    first = int(seen.episodes[0].values["score"][0])
    said = f"starts at {first:,}"
    if first == score.offset:
        checks.append(Check("score starts", "ok", said))
    else:
        checks.append(Check("score starts", "warn", f"{said}: a high score, or the last game's? "
                            "A longer WAIT at the end of start_buttons lets the game clear it",
                            _at(seen, 0, 0)))  # fmt: skip

    steps = [_steps(score, e.values["score"])[: e.frames + 1] for e in seen.episodes]
    rises = sum(int((s > 0).sum()) for s in steps)
    best = [int(e.values["score"][: e.frames + 1].max()) for e in seen.episodes]
    if rises:
        shown = ", ".join(f"{value:,}" for value in best)
        checks.append(Check("score rises", "ok", f"{rises} times; episodes reached {shown}"))
    else:
        checks.append(Check("score rises", "fail", f"REWARD NEVER MOVED: the score stayed at "
                            f"{first:,} in {total} frames of play. Mend score_addrs or action_set, "
                            "or play more with --episodes", _at(seen, 0, 0)))  # fmt: skip

    fall = None if score.may_fall else _first(seen, lambda e: _steps(score, e.values["score"]) < 0)
    half = (score.wraps_at or 0) / 2
    jump = _first(seen, lambda e: np.abs(_steps(score, e.values["score"])) > half) if half else None
    if fall or jump:
        number, frame = min(hit for hit in (fall, jump) if hit)
        before, after = seen.episodes[number].values["score"][frame - 1 : frame + 1].tolist()
        what = "falls" if after < before else "jumps"
        advice = "not the score, or falls: true belongs there" if after < before else (
            f"more than half of where it wraps, {score.wraps_at:,}")  # fmt: skip
        checks.append(Check("score moves", "fail", f"{what} from {before:,} to {after:,} in play: "
                            f"{advice}", _at(seen, number, frame)))  # fmt: skip
    else:
        most = max((int(s.max()) for s in steps), default=0)
        checks.append(Check("score moves", "ok", f"never falls in play; at most {most:,} at once"))
    return checks


def _settled(
    values: NDArray[np.int64], unfinished: bool
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return (frame, value) of the runs that last, merged, and of the dips between them.

    Where play was left ``unfinished``, the last run may be a dip that nobody saw the end of.
    """
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1, [len(values)]]).tolist()
    spans = [(a, b, int(values[a])) for a, b in zip(cuts, cuts[1:], strict=False)]
    runs: list[tuple[int, int]] = []
    dips = []
    for number, (start, stop, value) in enumerate(spans):
        before = runs[-1][1] if runs else value
        last = number + 1 == len(spans)
        after = spans[number + 1][2] if not last else before if unfinished else value
        leaps = abs(value - before) > 1 >= abs(after - before) and stop - start < DIP
        if value != after and (leaps or (runs and stop - start < FLICKER)):
            dips.append((start, value))
        elif not runs or before != value:
            runs.append((start, value))
    return runs, dips


def _lives(lives: Variable, seen: Played) -> list[Check]:
    first = int(seen.episodes[0].values["lives"][0])
    where = _at(seen, 0, 0)
    if hit := _first(seen, lambda e: ~e.legal["lives"]):
        return [Check("lives", "fail", "a byte is no code of the encoding", _at(seen, *hit))]
    if first <= 0:
        return [Check("lives", "fail", f"{first} at the start; wanted at least 1. Mend lives_addr, "
                      "its offset, or wait longer at the end of start_buttons", where)]  # fmt: skip
    falls, gained = 0, 0
    notes: list[Check] = []
    lowest = first
    for number, episode in enumerate(seen.episodes):
        # Play that went on after the rule held is play.
        more = {"goes_on": AFTER_MOST, "cut": episode.cut}.get(episode.ending or "", 0)
        unfinished = episode.ending in (None, "goes_on")
        runs, dips = _settled(episode.values["lives"][: episode.frames + 1 + more], unfinished)
        if dips and not notes:
            frame, value = dips[0]
            said = f"are {value} for a moment, and back: a rule of them needs held"
            notes.append(Check("lives", "warn", said, _at(seen, number, frame)))
        for (_, before), (frame, after) in zip(runs, runs[1:], strict=False):
            lowest = min(lowest, after)
            step = after - before
            if lives.wraps_at and step > lives.wraps_at / 2:
                step -= lives.wraps_at  # 0 to 0xFF is one life less
            if abs(step) > 1:
                said = f"go from {before} to {after} at once; wanted one life at a time"
                return [Check("lives", "fail", said, _at(seen, number, frame)), *notes]
            falls += step < 0
            gained += step > 0
    frames = sum(episode.frames for episode in seen.episodes)
    if not falls:
        # A rule that ends play too early leaves too little of it to judge the lives by.
        status: Status = "warn" if any(e.ending == "goes_on" for e in seen.episodes) else "fail"
        said = f"stayed at {first} in {frames} frames of play. Mend lives_addr, or play more"
        return [Check("lives", status, said, where), *notes]
    won = f", {gained} won" if gained else ""
    said = f"{first} at the start, fall one at a time, {falls} lost{won}, lowest {lowest}"
    return [Check("lives", "ok", said), *notes]


def _end(integration: Integration, seen: Played) -> list[Check]:
    """Return whether the rule holds once, when the last life ends."""
    rule, marked = integration.terminated, integration.cuts_last_life
    ended = [n for n, e in enumerate(seen.episodes) if e.end is not None]
    checks = []
    for number, episode in enumerate(seen.episodes):
        if episode.lost is not None:
            said = f"inputs stopped mattering after this frame, and {rule!r} never held"
            if not rule:
                said = "the game ended here, and the file has no terminated rule"
            checks.append(Check("end", "fail", said, _at(seen, number, episode.lost)))
            break
    if not rule and not checks:
        checks.append(Check("end", "warn", "the file has no terminated rule; no game over was met"))
    if rule and not ended and not checks:
        most = max(seen.episodes, key=lambda e: e.frames).frames
        checks.append(Check("end", "fail", f"{rule!r} held in none of {len(seen.episodes)} "
                            f"episodes of up to {most} frames. Mend terminated, or play more with "
                            "--frames", _at(seen, 0, most)))  # fmt: skip
    answers = [_ending(integration, seen, number) for number in ended]
    worst = max(answers, key=lambda c: ("ok", "warn", "fail").index(c.status), default=None)
    if worst is not None and worst.status == "ok":
        capped = len(seen.episodes) - len(ended)
        more = f"; {capped} had not ended when we stopped" if capped and not checks else ""
        rises = sum(seen.episodes[n].rises for n in ended)
        more += f"; the demo's {rises} rises are not counted" if rises else ""
        said = f"{rule!r} held once in {len(ended)} of {len(seen.episodes)} episodes, and control "
        worst = Check("end", "ok", f"{said}did not come back{more}")
    if worst is not None:
        checks.append(worst)
    if marked and ended and all(seen.episodes[n].ending == "over" for n in ended):
        said = "nothing was cut: cuts_last_life can be taken out of the file"
        checks.append(Check("last life", "warn", said))
    return checks


def _ending(integration: Integration, seen: Played, number: int) -> Check:
    """Return what followed one episode's end, as a check."""
    episode, rule = seen.episodes[number], integration.terminated
    assert episode.end is not None
    where = _at(seen, number, episode.end)
    if episode.end == 0:
        return Check("end", "fail", f"{rule!r} holds already at the start. A longer WAIT at the "
                     "end of start_buttons lets the game set up", where)  # fmt: skip
    match episode.ending:
        case "goes_on":
            return Check("end", "fail", f"{rule!r} holds while play goes on{_mend(episode)}", where)
        case "cut":
            about = f"the rule ends as the last life begins: {episode.cut} frames of play were cut"
            if integration.cuts_last_life:
                return Check("end", "warn", about, where)
            return Check("end", "fail", f"{about}. Write cuts_last_life: true where that is meant, "
                         "else a rule that holds when it ends", where)  # fmt: skip
        case "new_game":
            return Check("end", "warn", "a new game began without START", where)
        case "idle":
            return Check("end", "warn", "inputs still move the picture after the end, but neither "
                         "score nor lives change", where)  # fmt: skip
        case _:
            return Check("end", "ok", f"control stayed away for {AFTER} frames", where)


def _mend(episode: Episode) -> str:
    """Return what to write where the rule holds for a moment only."""
    assert episode.resumed is not None and episode.end is not None
    held = episode.resumed - episode.end
    advice = f"write held {2 * held}" if held <= AFTER / 2 else "mend terminated"
    return f": for {held} frames, and control came back. To tell the end, {advice}"


def _repeats(seen: Played, again: Sequence[str]) -> Check:
    parts = [n for n, (a, b) in enumerate(zip(seen.trace, again, strict=True)) if a != b]
    if not parts:
        frames = 60 * len(again)
        return Check("repeats", "ok", f"{frames} frames gave the same RAM in a second process")
    said = "the same buttons gave other RAM in a second process"
    return Check("repeats", "fail", said, _at(seen, 0, 60 * parts[0]))


def _actions(seen: Played) -> Check:
    if seen.unused:
        said = f"no effect in {seen.states} states: {' '.join(seen.unused)}"
        return Check("actions", "warn", said)
    return Check("actions", "ok", f"each changed the picture somewhere in {seen.states} states")
