"""Play that goes where no play has been: on from states whose RAM or picture was seldom seen.

Go-Explore's idea (Ecoffet et al., "First return, then explore", 2021), with counts in place of
cells: a state is rare where its bytes and the pixels of a tiny picture hold values that were hardly
held before. Nothing here knows what a score is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..buttons import to_mask
from ..core import Core
from ..policy import HELD, STYLES, random_play
from ..team import each
from .actions import Buttons
from .control import glance
from .lives import Lives
from .record import Recording
from .states import States

LONGER = 3  # times the length of a plain episode that games are played which did not score yet
LONG_BYTES = 160 << 20  # of RAM that may be kept of all play together, which bounds that length
AT_RANDOM = 4  # of the long episodes: some games score late, whatever is played
EXPLORED = "explored"  # name of the way of playing
BUDGET = 18_000  # frames that one exploration plays
BURST = (12, 60)  # frames played on from a state, at least one look
MOST_COMPARED = 1 << 19  # bytes and pixels of states that are compared for one choice
SMALL = (11, 8)  # width and height of the tiny picture
SHADES = 32  # of its 256 grey levels count as one
BUSY = 0.5  # a byte that changes in more frames than this is noise
PICTURE = 0.25  # what a pixel weighs in the choice of the way, where a byte weighs 1
TRIED = 8  # ends of ways that are asked whether the game still goes on
GLANCE = 168  # frames that `glance` plays
WAYS = (*STYLES, HELD)


def long_play(
    core: Core,
    recording: Recording,
    buttons: Buttons,
    lives: Lives | None,
    episodes: int,
    seed: Sequence[int],
    known: Sequence[NDArray[np.uint16]] = (),
    report: Callable[[float], None] = lambda share: None,
) -> tuple[NDArray[np.uint16], list[str]]:
    """Return longer play of a game in which nothing scored: at random, and explored.

    Args:
        core: The core; where it stands afterwards is undefined.
        recording: What was played so far.
        buttons: What the buttons do. Where none is fire, those that did nothing yet are pressed.
        lives: The lives counter, or what may be one.
        episodes: How many to return.
        seed: Of all choices.
        known: What an earlier search played here; taken where it is as much and as long.
        report: Called with the share that is finished, 0 to 1.

    Returns:
        uint16 [episodes, frames] RetroPad masks, and the name of the way each was played.
    """
    rows = recording.episodes + episodes
    kept = max(1, int(np.count_nonzero(recording.changes())))
    before = recording.buttons.shape[1]
    length = max(before, min(LONGER * before, LONG_BYTES // (rows * kept)))
    # A paddle that savestates leave out would stand elsewhere when a way is played again.
    plain = AT_RANDOM if core.home is None else episodes
    names = [style.name for style in (STYLES * episodes)[:plain]] + [EXPLORED] * (episodes - plain)
    if [len(log) for log in known] == [length] * episodes:
        return np.stack(known), names
    fire = buttons.fire or buttons.idle
    logs = [
        random_play([*seed, n], length, buttons.action_set, STYLES[n % len(STYLES)], fire)
        for n in range(plain)
    ]
    if plain < episodes:
        explorer = Explorer(recording, buttons.action_set, fire, lives, length, seed)
        logs += list(explorer.play(core, episodes - plain, report))
    return np.stack(logs), names


@dataclass
class _Tree:
    """The states that one exploration reached, and how each was reached from another."""

    states: States
    parents: list[int] = field(default_factory=list)
    logs: list[NDArray[np.uint16]] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    seen: list[NDArray[np.uint8]] = field(default_factory=list)  # what counts of each
    fresh: list[NDArray[np.int64]] = field(default_factory=list)  # which of it were new then
    chosen: list[float] = field(default_factory=list)

    def add(
        self,
        state: bytes,
        parent: int,
        log: NDArray[np.uint16],
        seen: NDArray[np.uint8],
        fresh: NDArray[np.int64],
    ) -> None:
        """Keep a state, the buttons that lead to it from another one, and what it shows."""
        self.states.append(state)
        self.parents.append(parent)
        self.logs.append(log)
        self.frames.append(len(log) + (self.frames[parent] if parent >= 0 else 0))
        self.seen.append(seen)
        self.fresh.append(fresh)
        self.chosen.append(0)

    def way(self, node: int) -> NDArray[np.uint16]:
        """Return the buttons from the start of play to a state."""
        parts = []
        while node >= 0:
            parts.append(self.logs[node])
            node = self.parents[node]
        return np.concatenate(parts[::-1])


class Explorer:
    """Explores a recorded game from the start of its play.

    Args:
        recording: What was played so far; what it saw is not new.
        actions: The action set.
        fire: The fire buttons.
        lives: The lives counter: where one is proved, no state after a loss is gone on from.
            Without one, control is asked for.
        frames: Length of the play that is returned.
        seed: Of all choices.
    """

    def __init__(
        self,
        recording: Recording,
        actions: Sequence[Sequence[str]],
        fire: Sequence[str],
        lives: Lives | None,
        frames: int,
        seed: Sequence[int],
    ) -> None:
        """Count what the recording saw."""
        self.recording, self.actions, self.fire = recording, actions, fire
        self.frames, self.seed = frames, list(seed)
        self.lives = lives if lives is not None and lives.grade == "proved" else None
        ended = recording.ends[recording.ends < recording.lengths]
        # Before the first game was over there is no need to ask for control.
        self.asked = int(ended.min()) if self.lives is None and len(ended) else frames
        calm = np.flatnonzero(recording.changes() <= BUSY)
        self.offsets = recording.offsets[calm]
        pixels = SMALL[0] * SMALL[1]
        self.counts = np.zeros((len(calm) + pixels, 256), np.int32)
        for row, column in enumerate(calm.tolist()):
            values = recording.ram[:, :: recording.every, column].reshape(-1)
            self.counts[row] = np.bincount(values, minlength=256)
        self.worth = np.repeat([1.0, PICTURE], [len(calm), pixels])

    def play(
        self, core: Core, lanes: int, report: Callable[[float], None] = lambda share: None
    ) -> NDArray[np.uint16]:
        """Explore several times, each time anew, and return the ways that saw most that was new.

        Each way is a whole game from the start of play, and goes on at random where it ends, so
        ways share no event.

        Args:
            core: The core; its paddle, if it has one, must be in its savestates.
            lanes: How often.
            report: Called with the share that is finished, 0 to 1.

        Returns:
            uint16 [lanes, frames] RetroPad masks.
        """
        logs = []
        for log in each(core, self._explored, list(range(lanes))):
            logs.append(log)
            report(len(logs) / lanes)
        return np.stack(logs)

    def _explored(self, core: Core, lane: int) -> NDArray[np.uint16]:
        every, seed = self.recording.every, [*self.seed, lane]
        rng = np.random.default_rng(seed)
        counts, rows = self.counts.copy(), np.arange(len(self.counts))
        pressed = [*map(to_mask, self.actions), *(to_mask([name]) for name in self.fire)]
        masks = np.unique(np.array(pressed or [0], np.uint16))
        tree = _Tree(States(self.recording.state))
        core.load(self.recording.state)
        asked = self.asked if glance(core) > 1 else self.frames
        core.run(1)
        seen = self._seen(core, core.read())
        tree.add(self.recording.state, -1, np.zeros(0, np.uint16), seen, rows[:0])
        played = turn = 0
        while played < BUDGET:
            turn += 1
            node = self._rarest(tree, counts, rng)
            room = (self.frames - tree.frames[node]) // every
            alive = room > 0
            if alive and tree.frames[node] >= asked and not tree.chosen[node]:
                core.load(tree.states[node])
                alive = glance(core) > 1
                played += GLANCE
            if not alive:
                tree.chosen[node], played = np.inf, played + 1
                continue
            tree.chosen[node] += 1
            looks = min(room, max(1, int(rng.integers(*BURST)) // every))
            log = self._random([lane, turn], looks * every, turn)
            if turn % 2:  # one action alone, each in its turn
                order = np.random.default_rng([*seed, node]).permutation(masks)
                log[:] = order[int(tree.chosen[node] - 1) % len(order)]
            core.load(tree.states[node])
            begun = 0
            for at in range(every, len(log) + 1, every):
                here = core.save()  # as a recording does it, so that it plays alike
                core.load(here)
                core.record(log[at - every : at - 1])
                core.run(1, int(log[at - 1]))
                played += every
                ram = core.read()
                if self._lost(ram):
                    break
                seen = self._seen(core, ram)
                fresh = np.flatnonzero(counts[rows, seen] == 0)
                counts[rows, seen] += 1
                if len(fresh) or at == len(log):
                    tree.add(core.save(), node, log[begun:at], seen, fresh)
                    node, begun = len(tree.chosen) - 1, at
        way = tree.way(self._farthest(core, tree, counts, asked))
        rest = self._random([lane], self.frames, lane)
        return np.concatenate([way, rest])[: self.frames]

    def _rarest(self, tree: _Tree, counts: NDArray[np.int32], rng: np.random.Generator) -> int:
        """Return the state that is rarest and was least often gone on from."""
        kinds = np.count_nonzero(counts, axis=1)
        rows = np.flatnonzero(kinds > 1)
        some = np.arange(len(tree.chosen))
        if len(some) * len(rows) > MOST_COMPARED:
            some = rng.choice(some, max(1, MOST_COMPARED // len(rows)), replace=False)
        seen = np.stack([tree.seen[n] for n in some.tolist()])[:, rows]
        weights = self.worth[rows] / np.sqrt(kinds[rows])
        rare = (weights / (1 + counts[rows, seen])).sum(axis=1)
        return int(some[int(np.argmax(rare / (1 + np.array(tree.chosen)[some])))])

    def _random(self, seed: Sequence[int], frames: int, number: int) -> NDArray[np.uint16]:
        style = WAYS[number % len(WAYS)]
        return random_play([*self.seed, *seed], frames, self.actions, style, self.fire)

    def _seen(self, core: Core, ram: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return what counts where the core stands: calm bytes, and shades of a tiny picture."""
        shades = core.frame(SMALL, grey=True).reshape(-1) // SHADES
        return np.concatenate([ram[self.offsets], shades])

    def _lost(self, ram: NDArray[np.uint8]) -> bool:
        """Tell whether a life was lost."""
        lives = self.lives
        return lives is not None and int(lives.read(ram[lives.offset])) < lives.start

    def _farthest(self, core: Core, tree: _Tree, counts: NDArray[np.int32], asked: int) -> int:
        """Return the state on whose way most was new: first values of bytes that have few."""
        worth = self.worth / np.maximum(1, np.count_nonzero(counts, axis=1)) ** 2
        total = np.zeros(len(tree.chosen))
        for node, parent in enumerate(tree.parents):
            new = float(worth[tree.fresh[node]].sum())
            total[node] = new + (total[parent] if parent >= 0 else 0)
        best = np.argsort(-total, kind="stable")[:TRIED].tolist()
        for node in best:
            core.load(tree.states[node])
            if tree.frames[node] < asked or glance(core) > 1:
                return int(node)
        return int(best[0])
