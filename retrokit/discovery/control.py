"""How much inputs matter: futures of one savestate, restored against restored.

Play is where different directions lead to different pictures. In an attract mode they lead to one,
and in a menu to a few. Everything here is a pure function of the savestate and the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, MASKS, to_mask, to_names
from ..core import Core

Kind = Literal["directions", "fire", "both"]

_STICK = (0, *(MASKS[name] for name in DIRECTIONS))
_TRIGGER = (0, 0, MASKS["B"], MASKS["A"])
# START and SELECT are in none: they matter in menus too.
ACTIONS: dict[Kind, tuple[int, ...]] = {
    "directions": _STICK,
    "fire": _TRIGGER,
    "both": tuple(stick | trigger for stick in _STICK for trigger in _TRIGGER),
}
FUTURES = 16
RELEASE = 12  # frames without input before a look: shown input is no difference
PLAY = 8  # distinct pictures of 16 that make play
PLAY_LATER = 5  # what must remain of them in random play
_LENGTHS = (30, 60)  # frames of futures; the longer one separates paddles that clamp at once
PRESCREEN = 4
_WINDOW = 112  # frames of random play between two checks
_BRIEF = 36
STEERED = 4  # pixels that a direction must decide; a sprite has more
_TAP = 6  # frames
_PLAY_SEED = 900

# Pressed in tests of single buttons: the four directions, then the rest in RetroPad order.
_TRIED = (*DIRECTIONS, "B", "A", "Y", "X", "L", "R", "START")
_TRIGGERS = ("B", "A", "Y", "X", "L", "R")
_SWITCHES = (
    "difficulty", "color", "black", "reset", "select", "mode", "coin", "pause",
    "service", "diagnostic", "tilt", "test", "dip", "disk", "tape", "menu", "option",
)  # fmt: skip
_MOST_ACTIONS = 18
_DIAGONALS = (("UP", "LEFT"), ("UP", "RIGHT"), ("DOWN", "LEFT"), ("DOWN", "RIGHT"))


@lru_cache(maxsize=512)
def _future(actions: tuple[int, ...], seed: int, frames: int, release: int) -> NDArray[np.uint16]:
    rng = random.Random(seed)
    log = np.zeros(frames + release, np.uint16)
    at = 0
    while at < frames:
        hold = rng.randint(3, 12)
        log[at : min(frames, at + hold)] = rng.choice(actions)
        at += hold
    log.setflags(write=False)
    return log


def futures(
    kind: Kind,
    seed: int,
    frames: int,
    release: int = RELEASE,
    actions: Sequence[int] | None = None,
) -> NDArray[np.uint16]:
    """Return a random button log that holds each action for 3 to 12 frames.

    Args:
        kind: Which buttons: directions, fire (B and A) or both.
        seed: The same seed gives the same log.
        frames: Frames of random input.
        release: Frames without input after them.
        actions: RetroPad masks to draw from, instead of those of *kind*.

    Returns:
        uint16 [frames + release], read-only.
    """
    drawn = ACTIONS[kind] if actions is None else tuple(int(mask) for mask in actions)
    return _future(drawn, seed, frames, release)


def variety(
    core: Core, state: bytes, kind: Kind = "directions", *, enough: int = FUTURES, seed: int = 0
) -> int:
    """Return V: how many distinct pictures 16 random futures of a savestate end in.

    Each future is let go for 12 frames before the look. The larger of two lengths counts; when the
    first four futures agree at both, the answer is 1 after 456 frames.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate to start each future from.
        kind: The buttons of the futures; fire alone tells where there are no directions.
        enough: Stop counting as soon as V is known to reach this.
        seed: Chooses the futures.

    Returns:
        1 (inputs do not matter) to 16.
    """
    most = 0
    for frames in _LENGTHS:
        most = max(most, _distinct(core, state, kind, frames, PRESCREEN, seed))
        if most >= enough:
            return most
        if most > 1:
            break
    else:
        return 1
    for frames in _LENGTHS:
        most = max(most, _distinct(core, state, kind, frames, FUTURES, seed))
        if most >= enough:
            break
    return most


def _distinct(core: Core, state: bytes, kind: Kind, frames: int, count: int, seed: int) -> int:
    logs = np.stack([futures(kind, seed * FUTURES + number, frames) for number in range(count)])
    return len(np.unique(core.branch(state, logs, [logs.shape[1]], hashes=True).hashes))


def steering(core: Core, state: bytes, kind: Kind = "directions") -> int:
    """Return how many pixels the buttons decide, whatever the luck.

    A demo whose luck is stirred by the input port differs from future to future without obeying:
    V is high there. So each direction is held from 6 different frames on, which is other luck, and
    a pixel counts only when it is one colour in all 6 of each direction, and not in all directions.
    For fire, what is compared is no button, B and A, and directions held later on are the luck.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate to start each future from.
        kind: What is pressed; ``both`` counts as directions.
    """
    core.load(state)
    core.run(1)
    size = core.frame_size
    decided = _decided(core, state, kind, size, 30, 0)
    if not decided and core.spec.name == "stella":
        # It keeps a paddle's place outside the savestate: drive it to one end before each future,
        # and hold long enough for the other end.
        decided = _decided(core, state, kind, size, 60, 1)
    return decided


def _decided(
    core: Core, state: bytes, kind: Kind, size: tuple[int, int], held: int, homing: int
) -> int:
    starts, release = 6, 4
    masks = [0, MASKS["B"], MASKS["A"]] if kind == "fire" else list(_STICK[1:])
    frames = starts + held + release
    logs = np.full((len(masks), starts, 1 + homing, frames), MASKS["UP"] | MASKS["LEFT"], np.uint16)
    logs[:, :, -1] = 0
    for row, mask in enumerate(masks):
        for start in range(starts):
            log = logs[row, start, -1]
            log[start:-release] = MASKS["LEFT"] if kind == "fire" else mask
            log[:_TAP] |= mask if kind == "fire" else 0
    rows = logs.reshape(-1, frames)
    pictures = core.branch(state, rows, [frames], size=size).pictures
    groups = pictures[homing :: 1 + homing].reshape(len(masks), starts, -1)
    same = (groups == groups[:, :1]).all((0, 1))
    return int((same & (groups[:, 0] != groups[0, 0]).any(0)).sum())


def persists(
    core: Core,
    state: bytes,
    *,
    kind: Kind = "directions",
    at_least: int = PLAY_LATER,
    seed: int = 0,
) -> bool:
    """Return whether inputs still matter during random play, and directions are obeyed.

    V must reach *at_least* in 2 of 3 checks over 336 frames, or in 3 of 6 over 672. A menu or an
    intro that a random press leaves fails, a life lost on the way does not. In one of the states
    that passed, or the first, there must be `steering`. A game that kills a random player at once
    passes when it is obeyed at first and after 3 of 8 plays of 36 frames.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate to play on from.
        kind: The buttons V is measured with; ``fire`` also plays with fire alone.
        at_least: The V that counts.
        seed: Chooses the play and the futures.
    """
    played: Kind = "fire" if kind == "fire" else "both"
    alive: list[bytes] = []
    for number, later in enumerate(_play(core, state, played, seed)):
        if variety(core, later, kind, enough=at_least, seed=seed) >= at_least:
            alive.append(later)
        if len(alive) >= (2 if number < 3 else 3):
            return any(steering(core, s, kind) >= STEERED for s in [state, *alive])
        if number >= 5 or number == 2 and not alive:
            break
    if steering(core, state, kind) < STEERED:
        return False
    held = 0
    for number in range(8):
        later = next(_play(core, state, played, seed + 200 + number, _BRIEF))
        held += (
            variety(core, later, kind, enough=at_least, seed=seed) >= at_least
            and steering(core, later, kind) >= STEERED
        )
    return held >= 3


def _play(
    core: Core, state: bytes, kind: Kind, seed: int, window: int = _WINDOW
) -> Iterator[bytes]:
    """Yield a savestate after each window of random play, without end."""
    number = seed * 1000 + _PLAY_SEED
    while True:
        core.load(state)
        core.record(futures(kind, number, window - RELEASE))
        state = core.save()
        yield state
        number += 1


def play_states(core: Core, state: bytes, count: int = 8, *, seed: int = 0) -> list[bytes]:
    """Return savestates of random play in which directions matter, the given one first.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: A savestate of play.
        count: How many; fewer come back when play ends early.
        seed: Chooses the play.
    """
    states = [state]
    for number in range(4):  # a new game each time: one may end soon
        for tried, later in enumerate(_play(core, state, "both", seed + 100 + number)):
            if len(states) >= count:
                return states
            if variety(core, later, enough=PLAY_LATER) >= PLAY_LATER:
                states.append(later)
            if tried >= 2 * count:
                break
    return states


def divergence(core: Core, state: bytes, *, seed: int = 0) -> int:
    """Return how many bytes of RAM part ways between random futures.

    16 futures of directions are compared 12 frames after their release. Bytes that only hold the
    current input agree by then; those that only remember the last direction pressed are left out.
    RAM alone misleads (a demo may draw its chance from the input port): pictures decide.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate to start each future from.
        seed: Chooses the futures.

    Returns:
        0 to the size of the selected regions.
    """
    frames = _LENGTHS[-1]
    logs = np.stack(
        [futures("directions", seed * FUTURES + number, frames) for number in range(FUTURES)]
    )
    kept = np.arange(core.ram_size, dtype=np.int32)
    ram = core.branch(state, logs, [logs.shape[1]], kept=kept).ram[:, 0]
    differs = (ram != ram[0]).any(0)
    last = np.array([log[log > 0][-1] for log in logs])
    copies = np.ones(len(kept), bool)
    for mask in np.unique(last):
        group = ram[last == mask]
        copies &= (group == group[0]).all(0)
    return int((differs & ~copies).sum())


@dataclass(frozen=True)
class Buttons:
    """What the buttons do in play.

    Attributes:
        action_set: For each action the buttons held, the first none at all; at most 18 actions.
        useful: Buttons that changed the picture in some state, harmful ones left out.
        fire: The useful buttons that are no directions, the one that matters most often first.
        pause: Buttons after a tap of which directions no longer matter.
        harmful: Never to be pressed in play: pause, console switches, coins, START and SELECT.
    """

    action_set: list[list[str]]
    useful: list[str]
    fire: list[str]
    pause: list[str]
    harmful: list[str]


def useful_buttons(core: Core, states: Sequence[bytes]) -> Buttons:
    """Return what each RetroPad button does in play.

    Args:
        core: The core; where it stands afterwards is undefined.
        states: Savestates of play, 8 of them: with two or three a button is soon called dead that
            only did nothing there. `play_states` makes them.
    """
    switches = _switches(core)
    tried = [name for name in _TRIED if name not in switches]
    effects = np.stack([_effects(core, state, tried) for state in states])
    seen = {
        name: int((effects[:, n] != effects[:, -1]).any(1).sum()) for n, name in enumerate(tried)
    }
    useful = [name for name in tried if seen[name]]
    pause = [n for n in useful if n not in DIRECTIONS and _pauses(core, states, MASKS[n])]
    harmful = sorted({*switches, *pause, "START", "SELECT"}, key=list(MASKS).index)
    useful = [name for name in useful if name not in harmful]
    fire = sorted((n for n in _TRIGGERS if n in useful), key=lambda name: -seen[name])
    fire = _without_twins(fire, tried, effects, seen)
    return Buttons(_action_set(core, states, useful, fire), useful, fire, pause, harmful)


def _switches(core: Core) -> list[str]:
    """Return the buttons that the core itself names as switches of the console or the cabinet."""
    found = []
    for port, device, _, number, text in core.inputs():
        named = any(word in text.lower() for word in _SWITCHES)
        if port == 0 and device == 1 and named and number < len(MASKS):
            found.append(to_names(1 << number)[0])
    return sorted(set(found), key=list(MASKS).index)


def _effects(core: Core, state: bytes, names: Sequence[str]) -> NDArray[np.uint64]:
    """Return picture hashes [names + 1, looks] after each button; the last row held none."""
    logs = np.zeros((len(names) + 1, 60), np.uint16)
    for row, name in enumerate(names):
        logs[row, :16] = MASKS[name]
    return core.branch(state, logs, [8, 16, 30, 60], hashes=True).hashes


def _pauses(core: Core, states: Sequence[bytes], mask: int) -> bool:
    """Return whether a tap ends control in most states, and for more than a jump's time."""
    lost = 0
    for number, state in enumerate(states):
        if not _in_control(core, state, mask, 16) and _in_control(core, state, 0, 16):
            lost += not _in_control(core, state, mask, 150) and _in_control(core, state, 0, 150)
        if number + 1 - lost > 0.4 * len(states):
            return False
    return lost >= 2


def _in_control(core: Core, state: bytes, tap: int, wait: int) -> bool:
    core.load(state)
    core.run(_TAP, tap, see=False)
    core.run(wait, see=False)
    later = core.save()
    if _distinct(core, later, "directions", _LENGTHS[0], PRESCREEN, 0) == PRESCREEN:
        return True
    return variety(core, later, enough=PLAY_LATER) >= PLAY_LATER


def _without_twins(
    fire: list[str], tried: list[str], effects: NDArray[np.uint64], seen: dict[str, int]
) -> list[str]:
    """Drop a button that did just what an earlier one does, in every state and often enough."""
    kept: list[str] = []
    for name in fire:
        rows = [effects[:, tried.index(other)] for other in kept]
        if seen[name] < 3 or not any((effects[:, tried.index(name)] == row).all() for row in rows):
            kept.append(name)
    return kept


def _action_set(
    core: Core, states: Sequence[bytes], useful: list[str], fire: list[str]
) -> list[list[str]]:
    """Return at most 18 actions, the plainest first."""
    stick = [[name] for name in DIRECTIONS if name in useful]
    diagonals = [list(pair) for pair in _DIAGONALS if all([name] in stick for name in pair)]
    if sum(_is_its_own(core, states, pair) for pair in diagonals) < 2:
        diagonals = []
    actions = [[], *stick, *([name] for name in fire)]
    for trigger in fire[:2]:
        actions += [[*names, trigger] for names in stick]
        actions += diagonals if trigger == fire[0] else []
        actions += [[*names, trigger] for names in diagonals]
    if not fire:
        actions += diagonals
    return actions[:_MOST_ACTIONS]


def _is_its_own(core: Core, states: Sequence[bytes], pair: list[str]) -> bool:
    """Return whether two directions at once did in some state what neither does alone."""
    logs = np.zeros((3, 60), np.uint16)
    logs[:, :16] = np.array([[to_mask(pair)], *([MASKS[name]] for name in pair)])
    for state in states:
        both, one, other = core.branch(state, logs, [16, 30], hashes=True).hashes
        if (both != one).any() and (both != other).any():
            return True
    return False
