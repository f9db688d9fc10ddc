"""From power-on, the presses that start a game.

Breadth-first by number of presses; the goal is a state in which directions matter, go on mattering
in random play, and are obeyed (`retrokit.discovery.control`). Why: docs/decisions/010-start.md.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..buttons import MASKS
from ..core import Core
from ..errors import SearchFailed
from ..integration import format_start
from .control import PLAY, PLAY_LATER, PRESCREEN, STEERED, Kind, persists, steering, variety

Runs = tuple[tuple[int, int], ...]  # (RetroPad mask, frames), one after another

START, SELECT = MASKS["START"], MASKS["SELECT"]
_BUTTONS = (START, MASKS["A"], MASKS["B"], SELECT)
_TAP = 6  # frames
_HOLDS = (3, 12, 30)  # frames, where taps lead nowhere
_MOMENTS = (60, 180, 360, 600, 900, 1200, 1800)  # frames from power-on; self-tests take seconds
_ATARI_MOMENTS = (60, 300)
_SETTLES = (60, 180)  # frames between a press and the look
_LONG_SETTLE = 420  # Atari games may play a tune first
_SHORTER = (900, 360, 180, 120, 60, 30, 10)  # frames, tried in turn when a start is shortened
_LEAST_WAIT = 10
_MOST_STATES = 250  # in one pass; a dead one costs 456 frames
_WEAK = 4  # V of menus at most; the last to be tried
_RAM_LIMIT = 1 << 18  # bytes compared to find a coin that shows in RAM alone


@dataclass(frozen=True)
class Start:
    """How a game starts.

    Attributes:
        buttons: uint16 [frames] RetroPad masks from power-on: boot, presses, settling.
        presses: The same in the form of an integration's ``start_buttons``.
        state: The savestate after them.
        variety: Distinct pictures of 16 random futures there, 1 to 16.
        frames: Their number.
        why: What makes this play, one line.
    """

    buttons: NDArray[np.uint16]
    presses: list[str]
    state: bytes
    variety: int
    frames: int
    why: str


@dataclass(frozen=True)
class _Rule:
    """What counts as play: the buttons to measure with, and V at first and later."""

    kind: Kind = "directions"
    first: int = PLAY
    later: int = PLAY_LATER


_STRICT = _Rule()
_LOWER = _Rule(first=PLAY_LATER)
_LOWEST = _Rule(first=_WEAK, later=_WEAK)
_FIRE = _Rule("fire", PLAY_LATER, PLAY_LATER)


@dataclass(frozen=True)
class _Node:
    runs: Runs
    state: bytes
    variety: int = 0


def find_start(
    core: Core,
    *,
    report: Callable[[str], None] = lambda line: None,
    budget_s: float | None = None,
    seed: int = 0,
) -> Start:
    """Find the presses that lead from power-on into play.

    Args:
        core: A core with content, freshly opened: no frame has run. Where it stands afterwards is
            undefined.
        report: Called with a line whenever there is something to tell.
        budget_s: Seconds after which no new press is tried; None for no limit. Without one the
            result is the same for the same seed.
        seed: Chooses the random futures and the random play.

    Raises:
        SearchFailed: Nothing leads into play; says how far the search went.
    """
    return _Search(core, report, budget_s, seed).run()


class _Search:
    def __init__(
        self, core: Core, report: Callable[[str], None], budget_s: float | None, seed: int
    ) -> None:
        self.core = core
        self.report = report
        self.deadline = None if budget_s is None else time.monotonic() + budget_s
        self.seed = seed
        system = core.content.system if core.content else ""
        self.arcade = system == "arcade" or "arcade" in core.spec.systems
        self.atari = system.startswith("atari")
        self.settles = (*_SETTLES, _LONG_SETTLE) if self.atari else _SETTLES
        self.depth = 2 if self.atari else 6
        self.seen: set[tuple[int, int]] = set()  # picture, and RAM where that alone is new
        self.measured: list[tuple[int, Runs]] = []  # V and the way there, of what was no play
        self.doubted: set[tuple[_Rule, Runs]] = set()  # what had its second look
        core.run(1)  # some cores cannot save before
        self.boot = core.save()

    def run(self) -> Start:
        roots = self._roots()
        for rule, node in self._candidates(roots):
            node = self._complete(rule, node)
            self.report(f"play after {_text(node.runs)}; shortening it")
            for runs in dict.fromkeys((self._shorten(rule, node), node.runs)):
                if (start := self._confirm(rule, runs)) is not None:
                    return start
            self.report("but not from power-on; searching on")
        best, runs = max(self.measured, default=(0, ()))
        late = " in the time given" if self._late() else ""
        raise SearchFailed(
            f"no start found{late}: {len(self.measured)} states tried, at most {best} of 16 random "
            f"futures differ, after {_text(runs)}",
            f"a state in which directions matter ({PLAY} of 16) and go on mattering",
            "Give the presses with --start, such as --start 'WAIT:300 SELECT:6 WAIT:60 START:6'. "
            "A game that crashed looks like a demo: try the core's other options too.",
        )

    # -- where play may be -----------------------------------------------------------------------

    def _roots(self) -> list[_Node]:
        """Return the moments of the boot to press at, and note their pictures."""
        roots, at = [], 0
        self.core.load(self.boot)
        for moment in _ATARI_MOMENTS if self.atari else _MOMENTS:
            self.core.run(moment - at)
            at = moment
            roots.append(_Node(((0, moment),), self.core.save()))
        return roots

    def _candidates(self, roots: list[_Node]) -> Iterator[tuple[_Rule, _Node]]:
        """Yield what looks like play, the surest first."""
        if self.arcade:
            yield from self._coin_and_start(roots)
        for root in roots:
            picture = self.core.branch(root.state, np.zeros(1, np.uint16), [1], hashes=True).hashes
            # The same title may take input only later: press there too, but measure it once.
            if not self._is_new(int(picture[0, 0]), 0):
                continue
            if (node := self._measure(root)) is not None:
                yield _STRICT, node
        if self.atari:  # most are in play at once, some with a paddle that clamps
            yield from self._second_look(_LOWEST)
        yield from self._breadth_first(roots, self.depth, (_TAP,))
        yield from self._breadth_first(roots, min(self.depth, 3), _HOLDS)
        yield from self._second_look(_LOWER)
        yield from self._second_look(_LOWEST)
        yield from self._fired()

    def _fired(self) -> Iterator[tuple[_Rule, _Node]]:
        """Yield the states in which fire alone matters, the shortest way there first."""
        for _, runs in sorted(self.measured, key=lambda pair: _frames(pair[1]))[:20]:
            if (_FIRE, runs) in self.doubted:
                continue
            self.doubted.add((_FIRE, runs))
            state = self._replay(runs)
            fired = variety(self.core, state, "fire", enough=_FIRE.first, seed=self.seed)
            if fired >= _FIRE.first and self._persists(_FIRE, state):
                yield _FIRE, _Node(runs, state, fired)
            if self._late():
                return

    def _breadth_first(
        self, front: list[_Node], depth: int, holds: tuple[int, ...]
    ) -> Iterator[tuple[_Rule, _Node]]:
        limit = len(self.measured) + _MOST_STATES
        for level in range(1, depth + 1):
            self.report(f"press {level}, held {holds} frames, from {len(front)} states")
            found: list[tuple[bool, _Node]] = []
            for node in front:
                for shown, child in self._expand(node, holds):
                    if (play := self._measure(child)) is not None:
                        yield _STRICT, play
                    found.append((not shown, child))
                if self._late() or len(self.measured) > limit:
                    return
            if level == 1 and self.atari:
                yield from self._fired()  # some have no directions
            if level == min(2, depth - 1):
                yield from self._second_look(_LOWER)
            found.sort(key=lambda pair: pair[0])
            front = [node for _, node in found[: 20 if level == 1 else 10]]
            if not front:
                return
            holds = tuple({_TAP: None, **dict.fromkeys(holds)})

    def _coin_and_start(self, roots: list[_Node]) -> Iterator[tuple[_Rule, _Node]]:
        """Try what starts nearly every arcade game, with other holds and two coins after that."""
        for coins, hold in ((1, _TAP), (1, 3), (2, _TAP), (1, 12), (1, 30)):
            for root in roots:
                runs = root.runs + ((SELECT, hold), (0, 60)) * coins + ((START, _TAP),)
                log = _log(runs[1:])
                for settle in self.settles:
                    logs = np.zeros((2, len(log) + settle), np.uint16)
                    logs[1, : len(log)] = log
                    idle, pressed = self.core.branch(
                        root.state, logs, [logs.shape[1]], hashes=True
                    ).hashes[:, 0]
                    if idle == pressed or not self._is_new(int(pressed), 0):
                        continue
                    node = self._at(runs + ((0, settle),))
                    if (play := self._measure(node)) is not None:
                        yield _STRICT, play
                if self._late():
                    return

    def _expand(self, node: _Node, holds: Sequence[int]) -> Iterator[tuple[bool, _Node]]:
        """Yield whether it shows and where it leads, for each press that leads to something new."""
        presses = [(mask, hold) for hold in holds for mask in _BUTTONS]
        hashes, ram = self._press(node.state, presses)
        for row, (mask, hold) in enumerate(presses, 1):
            for look, settle in enumerate(self.settles):
                shown = bool(hashes[row, look] != hashes[0, look])
                if not shown and (ram[row, look] == ram[0, look]).all():
                    continue
                detail = 0 if shown else zlib.crc32(ram[row, look].tobytes())
                if self._is_new(int(hashes[row, look]), detail):
                    wait = max(_TAP, *holds) + settle - hold
                    yield shown, self._at(node.runs + ((mask, hold), (0, wait)))

    def _press(
        self, state: bytes, presses: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return picture hashes [presses + 1, settles] and RAM; the first row pressed nothing."""
        longest = max(_TAP, *(hold for _, hold in presses))
        logs = np.zeros((len(presses) + 1, longest + self.settles[-1]), np.uint16)
        for row, (mask, hold) in enumerate(presses, 1):
            logs[row, :hold] = mask
        size = self.core.ram_size
        kept = np.arange(size if size <= _RAM_LIMIT else 0, dtype=np.int32)
        looks = [longest + settle for settle in self.settles]
        branches = self.core.branch(state, logs, looks, kept=kept, hashes=True)
        return branches.hashes, branches.ram

    def _is_new(self, picture: int, detail: int) -> bool:
        key = (picture, detail)
        new = key not in self.seen
        self.seen.add(key)
        return new

    # -- is it play ------------------------------------------------------------------------------

    def _measure(self, node: _Node) -> _Node | None:
        """Return the node with its V if it is play by the strict rule; note it if not."""
        count = variety(self.core, node.state, enough=PLAY, seed=self.seed)
        if count >= PLAY and self._persists(_STRICT, node.state):
            return _Node(node.runs, node.state, count)
        self.measured.append((count, node.runs))
        return None

    def _second_look(self, rule: _Rule) -> Iterator[tuple[_Rule, _Node]]:
        """Yield the states with a V from *rule.first* to below the strict one that are play."""
        for count, runs in sorted(self.measured, key=lambda pair: (len(pair[1]), -pair[0])):
            if not rule.first <= count < PLAY or (rule, runs) in self.doubted:
                continue
            self.doubted.add((rule, runs))
            state = self._replay(runs)
            if self._persists(rule, state):
                yield rule, _Node(runs, state, count)
            if self._late():
                return

    def _persists(self, rule: _Rule, state: bytes) -> bool:
        least = self._later(rule)
        return persists(self.core, state, kind=rule.kind, at_least=least, seed=self.seed)

    def _is_still_play(self, rule: _Rule, core: Core, state: bytes) -> bool:
        least = self._later(rule)
        return variety(core, state, rule.kind, enough=least, seed=self.seed) >= least and persists(
            core, state, kind=rule.kind, at_least=least, seed=self.seed
        )

    def _later(self, rule: _Rule) -> int:
        # A paddle's V moves by one or two with where the last future left it; none has menus.
        return min(rule.later, _WEAK) if self.atari else rule.later

    # -- making it whole -------------------------------------------------------------------------

    def _complete(self, rule: _Rule, node: _Node) -> _Node:
        """Press START where only waiting led into play, and fire where the game waits for that.

        Directions may be live before a game has begun (Breakout's paddle), and scoring is not.
        """
        if not any(mask & START for mask, _ in node.runs):
            for settle in self.settles:
                more = self._at(node.runs + ((START, _TAP), (0, settle)))
                if more.state != node.state and self._is_still_play(rule, self.core, more.state):
                    node = more
                    break
        serves = (MASKS["B"], MASKS["A"])
        logs = np.zeros((3, 126), np.uint16)
        for row, mask in enumerate(serves, 1):
            logs[row, :_TAP] = mask
        looks = range(16, 127, 10)
        hashes = self.core.branch(node.state, logs, looks, hashes=True).hashes
        moving = [len(np.unique(row)) for row in hashes]
        for mask, count in zip(serves, moving[1:], strict=True):
            if moving[0] <= 3 and count >= 6:
                more = self._at(node.runs + ((mask, _TAP), (0, _LEAST_WAIT)))
                if self._is_still_play(rule, self.core, more.state):
                    return more
        return node

    def _shorten(self, rule: _Rule, node: _Node) -> Runs:
        """Return the runs with every wait, and every long hold, as short as still leads to play."""
        runs = list(node.runs)
        enough = min(rule.first, PRESCREEN)  # cheap; the result is confirmed in full
        obeyed = not self.atari and steering(self.core, node.state, rule.kind) >= STEERED
        for place, (mask, frames) in enumerate(node.runs):
            for fewer in _SHORTER:
                if fewer >= frames or mask and fewer < _TAP:
                    continue
                runs[place] = (mask, fewer)
                state = self._replay(tuple(runs))
                count = variety(self.core, state, rule.kind, enough=enough, seed=self.seed)
                if count < enough or obeyed and steering(self.core, state, rule.kind) < STEERED:
                    break
                frames = fewer
            runs[place] = (mask, frames)
        return tuple(runs)

    def _confirm(self, rule: _Rule, runs: Runs) -> Start | None:
        """Replay from power-on in a fresh core, since restored and continued runs may differ."""
        log = np.concatenate([np.zeros(1, np.uint16), _log(runs)])
        core, fresh = self.core, None
        if "own_process" not in core.spec.quirks:
            options = {key: str(option["value"]) for key, option in core.options().items()}
            core = fresh = Core.open(core.found, core.content, options=options)
        try:
            if fresh is not None:
                fresh.record(log)
                state = fresh.save()
            else:
                state = self._replay(runs)
            if not self._is_still_play(rule, core, state):
                return None
            count = variety(core, state, rule.kind, seed=self.seed)
        finally:
            if fresh is not None:
                fresh.close()
        what = "fire" if rule.kind == "fire" else "directions"
        why = (
            f"after {_text(runs)} {what} matter: {count} of 16 random futures differ, and go on to"
        )
        return Start(log, format_start(log), state, count, len(log), why)

    # -- small things ----------------------------------------------------------------------------

    def _at(self, runs: Runs) -> _Node:
        return _Node(runs, self._replay(runs))

    def _replay(self, runs: Runs) -> bytes:
        self.core.load(self.boot)
        self.core.record(_log(runs))
        return self.core.save()

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline


def _log(runs: Runs) -> NDArray[np.uint16]:
    masks, lengths = zip(*runs, strict=True) if runs else ((), ())
    return np.repeat(np.array(masks, np.uint16), np.array(lengths, np.int64))


def _frames(runs: Runs) -> int:
    return sum(frames for _, frames in runs)


def _text(runs: Runs) -> str:
    return " ".join(format_start(_log(runs))) or "nothing"
