"""What `verify` has played in a child process: episodes of an integration, and what was seen.

Frame 0 of an episode is the end of the start sequence; frame n is what n frames of play made.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .buttons import DIRECTIONS, MASKS, to_mask, to_names
from .core import Core
from .integration import Integration
from .load import Game
from .policy import STYLES, random_play
from .sandbox import Emit
from .verify_read import Reader

STEP = 120  # frames of play between two readings; a look every second time
AFTER_STEP = 60  # after the end
AFTER = 600  # frames that control must stay away after the end
AFTER_MOST = 1800  # frames to find out what play that goes on after the end is
WINDOW, BACK = 5, 3  # control is back when BACK of WINDOW looks in a row find it
NEVER_STARTED = 8  # looks without control that show that no game runs
TRACE = 1800  # frames of play that two processes must repeat
_LUCK = 3  # frames at which a direction's hold begins: each is other luck
_HELD = (8, 16)  # frames into a look at which pictures are compared
_DECIDED = 4  # pixels that a direction must decide; a sprite has more
_STATES = 8  # in which each action is tried

Ending = Literal["over", "cut", "goes_on", "new_game", "idle"]
"""After the rule held: control stayed away; play went on to the real end, or just went on; a new
game began unasked; inputs move the picture, but nothing counts."""


@dataclass
class Episode:
    """One episode.

    Attributes:
        values: int64 [frames + 1] for each variable, frame 0 included.
        legal: bool [frames + 1]: every byte of score and lives is a legal code.
        looks: Frame of each look, and whether directions were obeyed there.
        end: First frame at which the rule held; None when it never did.
        lost: Frame from which on inputs did not matter any more though the rule did not hold.
        ending: What followed the end; None without one.
        resumed: First frame after the end at which the rule did not hold; None: it held on.
        cut: Frames of play after the end.
        rises: Rises of the score after the end.
    """

    values: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    legal: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    looks: list[tuple[int, bool]] = field(default_factory=list)
    end: int | None = None
    lost: int | None = None
    ending: Ending | None = None
    resumed: int | None = None
    cut: int = 0
    rises: int = 0

    @property
    def frames(self) -> int:
        """Frames of play, up to the end or to where control was lost."""
        last = len(self.values["score"]) - 1
        return self.end if self.end is not None else last if self.lost is None else self.lost


@dataclass
class Played:
    """All that was seen.

    Attributes:
        version: The core's.
        rotation: Degrees the core asks for.
        start: Frames of the start sequence.
        started: Inputs mattered after it.
        unused: Actions that changed no picture in any state tried.
        states: Number of those states.
        trace: A hash of all RAM every 60 frames of the start and of the first episode.
    """

    version: str
    rotation: int
    start: int
    episodes: list[Episode] = field(default_factory=list)
    started: bool = True
    unused: list[str] = field(default_factory=list)
    states: int = 0
    trace: list[str] = field(default_factory=list)


def play(emit: Emit, game: Game, episodes: int, frames: int, seed: int) -> Played:
    """Play an integration's episodes; runs in a sandbox.

    Args:
        emit: Is sent the share of the work behind us, 0 to 1, and a word on it.
        game: What to play.
        episodes: How many, each from the state after the start sequence.
        frames: Most frames of one.
        seed: Of the random play.

    Raises:
        IntegrationError: An address lies outside the core's memory.
    """
    with game.open() as core:
        player = Player(core, game.integration)
        seen = Played(core.info.version, core.info.rotation, player.start_frames)
        for number in range(episodes):

            def told(share: float, number: int = number) -> None:
                emit(((number + share) / (episodes + 1), f"episode {number + 1}"))

            log = _log(game.integration, [seed, number], frames, number)
            seen.episodes.append(player.episode(log, [seed, number, 1], told))
            seen.started = any(obeyed for e in seen.episodes for _, obeyed in e.looks)
            if not seen.started and len(seen.episodes[-1].looks) >= NEVER_STARTED:
                break  # what runs is no game
        seen.unused, seen.states = player.unused(), len(player.tried)
    seen.trace = trace(emit, game, seed, frames)
    return seen


def trace(emit: Emit, game: Game, seed: int, frames: int) -> list[str]:
    """Return RAM hashes of the start sequence and of the beginning of the first episode.

    Each hash covers all before it, so the first that differs tells where two runs part.
    """
    with game.open() as core:
        player = Player(core, game.integration)
        core.load(player.state)
        chain, hashes = hashlib.sha1(core.read().tobytes()), []
        log = _log(game.integration, [seed, 0], min(frames, TRACE), 0)
        for at in range(0, len(log), 60):
            core.record(log[at : at + 60])
            chain.update(core.read().tobytes())
            hashes.append(chain.hexdigest())
    return hashes


def _log(
    integration: Integration, seed: Sequence[int], frames: int, style: int
) -> NDArray[np.uint16]:
    """Return random play with the action set, any of its buttons pressed beside a direction."""
    used = {name for names in integration.action_set for name in names}
    fire = sorted(used - {*DIRECTIONS, "START", "SELECT"})
    return random_play(seed, frames, integration.action_set, STYLES[style % len(STYLES)], fire)


class Player:
    """Plays one game from the state after its start sequence.

    Args:
        core: A core that has just loaded the content.
        integration: The game's facts.
    """

    def __init__(self, core: Core, integration: Integration) -> None:
        """Check the addresses and press the start sequence."""
        self.core = core
        self.integration = integration
        self.reader = Reader(core, integration)
        start = integration.start_frames()
        core.record(start)
        if not len(start):
            core.run(1)  # a core may have no RAM and no savestate before
        self.start_frames = max(1, len(start))
        self.state = core.save()
        self.tried: list[bytes] = []
        self._stride = 1
        self._size: tuple[int, int] | None = None
        masks = [int(mask) for mask in integration.action_masks()]
        started_by = int(np.bitwise_or.reduce(start)) if len(start) else 0
        started_by &= ~to_mask(DIRECTIONS)
        started_by |= MASKS["START"] | MASKS["SELECT"]
        # What is pressed after the end: anything but what starts a game.
        self.harmless = [mask for mask in masks if not mask & started_by] or [0]
        sticks = sorted({mask & to_mask(DIRECTIONS) for mask in masks} - {0})
        single = [mask for mask in sticks if mask.bit_count() == 1]
        self.probes = single if len(single) > 1 else sorted({0, *(single or self.harmless)})

    def episode(
        self, log: NDArray[np.uint16], seed: list[int], told: Callable[[float], None]
    ) -> Episode:
        """Play one episode, and on after its end."""
        core, reader = self.core, self.reader
        core.load(self.state)
        ram = [reader.now()]
        seen = Episode()
        rule = self.integration.rule()
        state, at = self.state, 0
        while at < len(log):
            if at % (2 * STEP) == 0:
                seen.looks.append((at, self.obeys(state)))
                self._keep(state)
                seen.lost = _lost(seen.looks)
                never = len(seen.looks) >= NEVER_STARTED and not any(ok for _, ok in seen.looks)
                if seen.lost is not None or never:
                    break
            core.load(state)
            piece = log[at : at + STEP]
            ram.append(core.record(piece, reader.kept)[0])
            over = rule.over(reader.values(ram))
            if over[at:].any():
                seen.end = int(np.flatnonzero(over)[0])
                ram = [np.concatenate(ram)[: seen.end + 1]]
                core.load(state)
                core.record(piece[: seen.end - at])
                self._after(seen, ram, seed)
                break
            at += len(piece)
            state = core.save()
            told(at / len(log))
        told(1.0)
        seen.values, seen.legal = reader.values(ram), reader.legal(ram)
        return seen

    def _after(self, seen: Episode, ram: list[NDArray[np.uint8]], seed: list[int]) -> None:
        """Play on without what starts a game, until it is plain what the end was."""
        assert seen.end is not None
        core, reader, rule = self.core, self.reader, self.integration.rule()
        actions = [to_names(mask) for mask in self.harmless]
        log = random_play(seed, AFTER_MOST, actions)
        looks: list[tuple[int, bool]] = []
        state = core.save()
        back = False
        for at in range(0, AFTER_MOST, AFTER_STEP):
            core.load(state)
            ram.append(core.record(log[at : at + AFTER_STEP], reader.kept)[0])
            state = core.save()
            looks.append((at + AFTER_STEP, self.obeys(state)))
            back = back or _is_back(looks)
            values = reader.values(ram)
            stopped = np.flatnonzero(~rule.over(values)[seen.end :])
            first = int(stopped[0]) if len(stopped) else None
            seen.resumed = None if first is None else seen.end + first
            if first is not None and _is_back([look for look in looks if look[0] > first]):
                seen.ending = "new_game" if _began_anew(values, seen.end) else "goes_on"
            elif back and not any(obeyed for _, obeyed in looks[-AFTER // AFTER_STEP :]):
                seen.ending = "cut"
            elif not back and at + AFTER_STEP >= AFTER:
                seen.ending = "over"
            if seen.ending:
                break
        values = reader.values(ram)
        seen.rises = int((np.diff(values["score"][seen.end :]) > 0).sum())
        if seen.ending is None:
            lives = values.get("lives", values["score"])[seen.end :]
            seen.ending = "cut" if seen.rises or (np.diff(lives) != 0).any() else "idle"
        if seen.end == 0:
            seen.looks += looks  # whether the rule is wrong, or nothing is played
        if seen.ending == "cut":
            seen.cut = max(at for at, obeyed in looks if obeyed)

    def obeys(self, state: bytes) -> bool:
        """Return whether directions are obeyed, whatever the luck.

        A demo whose luck is stirred by the input port looks different after each input without
        obeying any. So each direction is held from several frames on, and a pixel counts only when
        it is one colour in all runs of each direction, and not the same in all directions.
        """
        logs = np.zeros((len(self.probes), _LUCK, _HELD[-1]), np.uint16)
        for row, mask in enumerate(self.probes):
            for luck in range(_LUCK):
                logs[row, luck, luck:] = mask
        first = self.core.branch(state, logs[:, 0], _HELD, hashes=True).hashes
        if (first == first[0]).all():
            return False
        if self._size is None:
            self._size = self.core.frame_size
        rows = logs.reshape(-1, logs.shape[-1])
        home = np.full_like(rows, self.probes[-1])
        # Stella keeps a paddle outside the savestate: a second try drives it to one end each time.
        homed = np.concatenate([home, np.stack([home, rows], 1).reshape(-1, rows.shape[-1])])
        for log, at in ((rows, slice(None)), (homed, slice(len(rows) + 1, None, 2))):
            pictures = self.core.branch(state, log, _HELD, size=self._size).pictures[at]
            seen = pictures.reshape(len(self.probes), _LUCK, len(_HELD), -1)
            same = (seen == seen[:, :1]).all((0, 1))
            decided = same & (seen[:, 0] != seen[0, 0]).any(0)
            if (decided.sum(-1) >= _DECIDED).any():
                return True
        return False

    def _keep(self, state: bytes) -> None:
        """Keep a few states spread over all that was played, to try the actions in."""
        self._stride += 1
        if len(self.tried) < _STATES:
            self.tried.append(state)
        elif self._stride % 3 == 0:
            self.tried[self._stride // 3 % _STATES] = state

    def unused(self) -> list[str]:
        """Return the actions that look like no input at all in every state kept."""
        masks = [int(mask) for mask in self.integration.action_masks()]
        used = np.zeros(len(masks), bool)
        logs = np.zeros((len(masks) + 1, 40), np.uint16)
        logs[1:, :16] = np.array(masks)[:, None]
        for state in self.tried:
            hashes = self.core.branch(state, logs, [8, 16, 28, 40], hashes=True).hashes
            used |= (hashes[1:] != hashes[0]).any(1)
        return [
            "+".join(to_names(mask))
            for mask, was in zip(masks, used, strict=True)
            if mask and not was
        ]


def _lost(looks: Sequence[tuple[int, bool]]) -> int | None:
    """Return the frame of the last look that found control, once chance cannot explain the rest.

    With control found in a share p of the looks before, n misses in a row have a chance of
    (1 - p)^n: one in a thousand is enough.
    """
    found = [number for number, (_, obeyed) in enumerate(looks) if obeyed]
    if not found:
        return None
    share = min(0.9, len(found) / (found[-1] + 1))
    misses = len(looks) - 1 - found[-1]
    enough = max(6, math.log(0.001) / math.log(1 - share))
    return looks[found[-1]][0] if misses >= enough else None


def _is_back(looks: Sequence[tuple[int, bool]]) -> bool:
    """Return whether control was found in most looks of some window."""
    obeyed = [obeyed for _, obeyed in looks]
    return any(sum(obeyed[n : n + WINDOW]) >= BACK for n in range(len(obeyed)))


def _began_anew(values: Mapping[str, NDArray[np.int64]], end: int) -> bool:
    """Return whether score and lives were again, after the end, what they are at the start."""
    names = [name for name in ("score", "lives") if name in values]
    again = np.all([values[name][end:] == values[name][0] for name in names], axis=0)
    moved = any(values[name][end] != values[name][0] for name in names)
    return bool(again.any()) and moved
