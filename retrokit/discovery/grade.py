"""Grades: what it takes to call a number the score, and how candidates are ordered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .candidates import Behaviour, Candidate, Grade, pack, values_of
from .chains import on_one_line
from .film import film
from .poke import BEFORE, Moment, Prober
from .prove import Proof
from .record import Recording
from .screen import FONT_AGREES, same_font

MANY = 4  # digits by which a number is told from counters, levels and clocks
LEAST = 3  # pictures of play that must show a number which never moved
TAP = 3  # frames
EARLIER = 17  # frames
ANSWER = 8  # frames within which a counter of presses counts one
COUNTED = 0.25  # share of taps that count in a counter of presses
TAPS = 24
PAIR = 3  # episodes in which each of two single digits rose
RIVAL = "two numbers of one kind on one line: one is the other player's"
CLOCK = "it rises as much where nobody plays, as a clock or a rival's score does"
IDLE = 600  # frames in which nothing is pressed
SIZES = 3  # of rises
UNPLAYED = 0.5  # of the rises of play, from which on they are not play's
_ORDER = {"proved": 0, "likely": 1, "unproved": 2}


def grade(moved: Behaviour, cells: int, whole: bool, presses: bool, proof: Proof) -> Grade:
    """Grade a number on the screen.

    Args:
        moved: How it behaved.
        cells: Digits that were seen to be drawn.
        whole: Its last place is held.
        presses: It counts presses of a button.
        proof: What the joint pokes and the film said.

    Returns:
        ``proved`` where behaviour, a joint poke at two rises and the screen agree. A number that
        rose once or twice, or in one episode only, or that falls, or that does not begin at 0 (a
        floor, a stage), takes `MANY` digits; one that never moved is at most ``likely``, and only
        where it stands at 0: others are high scores.
    """
    filmed = 3 * proof.film >= proof.shown
    if not moved.rises and not moved.falls:
        told = proof.film == proof.shown >= LEAST and moved.highest == 0
        return "likely" if cells >= MANY and whole and told else "unproved"
    account = moved.like_an_account and cells >= MANY
    if moved.falls and not moved.clock and cells > MANY and proof.added == proof.rises > 0:
        if not account and proof.film == proof.shown >= LEAST and whole:
            return "likely"  # too long for a counter of time or energy
    if not (moved.like_a_score or account) or not proof.rises or proof.added < proof.rises:
        return "unproved"
    read = proof.read > 0 and 2 * proof.read >= proof.legible
    few = cells < MANY and (moved.rises < 3 or moved.scoring < 2 or moved.begins != 0)
    if cells >= 2 and proof.rises >= 2 and read and filmed and not few and whole and not presses:
        return "proved"
    alone = filmed and proof.film > 0  # where nothing was legible, nothing was confirmed
    return "likely" if alone or (cells >= 3 and read) else "unproved"


def weight(moved: Behaviour, cells: int, presses: bool, proof: Proof) -> float:
    """Return what orders candidates of one grade."""
    return (
        2.0 * (moved.like_a_score or (moved.like_an_account and cells >= MANY))
        + 0.2 * min(cells, 6)
        + proof.read / max(1, proof.legible)
        + 0.5 * (proof.film >= proof.shown / 2)
        + 0.2 * min(1.0, moved.rises / 5)
        + 0.1 * len(str(moved.highest))
        - 1.5 * moved.clock
        - 1.0 * presses
    )


def counts_presses(
    prober: Prober, moved: Behaviour, offsets: Sequence[int], masks: Sequence[int], seed: int
) -> bool:
    """Tell a counter of presses (strokes, shots) from a score.

    At moments all over the recording each button is tapped where nothing is pressed otherwise; what
    counts taps moves at once in many of them. A score needs something to be hit.
    """
    if not masks or max((*moved.steps, *moved.drops), default=0) != 1:
        return False
    core = prober.core
    moments = film(prober, seed, TAPS)
    kept = np.array(offsets, np.int32)
    logs = np.zeros((1 + len(masks), TAP + ANSWER), np.uint16)
    logs[1:, :TAP] = np.array(masks, np.uint16)[:, None]
    counted = np.zeros(len(masks), np.int64)
    for moment in moments:
        ram = core.branch(_rested(prober, moment), logs, [TAP + ANSWER], kept=kept).ram[:, 0]
        counted += (ram[1:] != ram[0]).any(axis=1)
    return bool(len(moments) and counted.max() >= COUNTED * len(moments))


def answers_presses(prober: Prober, offsets: Sequence[int], moments: Sequence[Moment]) -> bool:
    """Tell a setting (which cube, which variation) from a score, at the number's own rises.

    Some frames earlier nothing is pressed, and then what was pressed at the rise, as a tap: a
    setting answers; a score needs what play had led to.
    """
    core, recording = prober.core, prober.recording
    answered = asked = 0
    for moment in moments:
        frame = moment.frame - EARLIER
        pressed = recording.buttons[moment.episode, moment.frame : moment.frame + BEFORE]
        if frame < 0 or not pressed.any():
            continue
        asked += 1
        logs = np.zeros((2, EARLIER + TAP + ANSWER), np.uint16)
        logs[1, EARLIER : EARLIER + TAP] = pressed[pressed > 0][-1]
        state = prober.state(Moment(moment.episode, frame))
        kept = np.array(offsets, np.int32)
        idle, tapped = core.branch(state, logs, [logs.shape[1]], kept=kept).ram[:, 0]
        answered += bool((idle != tapped).any())
    return asked > 0 and 2 * answered >= asked


def _rested(prober: Prober, moment: Moment) -> bytes:
    """Return the state before a moment after which nothing was pressed for a while."""
    core = prober.core
    core.load(prober.state(moment))
    core.run(ANSWER)
    return core.save()


def rank(found: list[Candidate]) -> list[Candidate]:
    """Order candidates by grade and weight; only one number, or one a player, can be the score."""
    found = sorted(found, key=lambda c: (_ORDER[c.grade], -c.weight))
    first: dict[frozenset[int], Candidate] = {}
    for candidate in found:  # one number drawn twice is one candidate
        first.setdefault(frozenset(candidate.offsets), candidate)
    found = list(first.values())
    if found and found[0].grade == "likely":
        _prove_pair([candidate for candidate in found if candidate.grade == "likely"])
    for candidate in found[1:]:
        if candidate.grade == "proved" and _is_rival(candidate, found[0]):
            candidate.evidence["note"] = RIVAL
        elif candidate.grade == "proved":
            candidate.grade = "likely"
            candidate.evidence["grade"] = "likely"
            candidate.evidence["note"] = "another counter on the screen is proved and weighs more"
    return found


def own_first(prober: Prober, found: list[Candidate]) -> list[Candidate]:
    """Put the player's score before the rival's: it rises in play, and not where nobody plays.

    A short number, or one beside another of its kind that never rose, is proved where play raises
    it: the days of Robotank's clock come one a game.
    """
    best = found[0] if found and found[0].grade == "proved" else None
    if best is None:
        return found
    likely = [c for c in found[1:] if c.grade != "unproved" and _is_rival(c, best)]
    screen = best.evidence.get("screen", {})
    # What comes in many sizes is no clock: a wave's bonus comes by itself too (Thwaite).
    clock = screen.get("cells", MANY) < MANY and len(best.behaviour.steps) < SIZES
    if not likely and not clock and "twin" not in screen:
        return found
    unplayed, *theirs = _unplayed(prober, [best, *likely[:1]])
    if theirs and theirs[0] < unplayed:
        rival = likely[0]
        found.remove(rival)
        found.insert(0, rival)
        rival.evidence.pop("note", None)
        best.evidence["note"] = RIVAL
    elif unplayed >= UNPLAYED:
        best.grade = best.evidence["grade"] = "likely"
        best.evidence["note"] = CLOCK
    return found


def _unplayed(prober: Prober, candidates: Sequence[Candidate]) -> list[float]:
    """Return how often each number rises where nothing is pressed, as a share of that in play.

    From the start and from moments all over the recording: some games wait for a button to begin.
    """
    core, recording = prober.core, prober.recording
    moments = [Moment(0, 0), *film(prober, 0, recording.episodes)]
    kept = np.array([offset for candidate in candidates for offset in candidate.offsets], np.int32)
    idle = np.zeros(IDLE, np.uint16)
    rises = np.zeros(len(candidates))
    for moment in moments:
        core.load(prober.state(moment))
        ram, at = core.record(idle, kept)[0], 0
        for n, candidate in enumerate(candidates):
            packed, width = pack(candidate.variable)
            still = packed.decode({packed.region: ram[:, at : at + width]})
            at += width
            rises[n] += int((np.diff(np.asarray(still)) > 0).sum())
    frames = recording.episodes * recording.buttons.shape[1]
    played = np.array([candidate.behaviour.rises for candidate in candidates]) / frames
    shares: list[float] = (rises / (len(moments) * IDLE) / np.maximum(played, 1 / frames)).tolist()
    return shares


def _is_rival(candidate: Candidate, best: Candidate) -> bool:
    """Tell the other player's score: the same digits in the same font on the same line."""
    ours, theirs = best.line, candidate.line
    if ours is None or theirs is None:
        return False
    return (
        candidate.variable.encoding == best.variable.encoding
        and len(candidate.offsets) == len(best.offsets)
        and not set(candidate.offsets) & set(best.offsets)
        and on_one_line(ours.cell, theirs.cell)
        and same_font(ours.cell, theirs.cell) >= FONT_AGREES - 1
    )


def _prove_pair(likely: list[Candidate]) -> None:
    """Prove two single digits that are all there is: the points of two players.

    Each alone could be a level or a ball; that both rise by one, in many episodes, and stand on one
    line in one font, where nothing else counts, leaves nothing but points.
    """
    if len(likely) != 2 or not _is_rival(*likely):
        return
    for candidate in likely:
        moved, told = candidate.behaviour, candidate.evidence
        screen, poke = told.get("screen", {}), told.get("poke", {})
        calm = not moved.falls and not moved.resets and not moved.clock and moved.steps == (1,)
        if "note" in told or screen.get("cells") != 1 or not calm or moved.scoring < PAIR:
            return
        if poke.get("read_back", 0) < 2 or poke["added"] < poke["rises"]:
            return
    for candidate in likely:
        candidate.grade = candidate.evidence["grade"] = "proved"
        candidate.evidence["note"] = RIVAL


def known_rises(recording: Recording, candidate: Candidate) -> dict[str, int]:
    """Return how often the score rose in each way of playing, by the style's name."""
    series, start = values_of(recording, candidate.variable, candidate.offsets)
    out: dict[str, int] = {}
    for style, row in zip(recording.styles, series, strict=True):
        rises = int((row[1:] > row[:-1]).sum()) + int(row[0] > start)
        out[style] = out.get(style, 0) + rises
    return out
