"""How much inputs matter: futures of one savestate, restored against restored.

Play is where different directions lead to different pictures. In an attract mode they lead to one,
and in a menu to a few. Everything here is a pure function of the savestate and the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, MASKS
from ..core import Core
from ..paddle import forgets_paddle
from .home import enter

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
GONE = 2  # V without control: two pictures at most
_WINDOW = 112  # frames of random play between two checks
_BRIEF = 36
STEERED = 2  # pixels that a direction must decide; Venture's hero is that small
TAP = 6  # frames
_PLAY_SEED = 900


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


def glance(core: Core, kind: Kind = "directions") -> int:
    """Return how many distinct pictures four futures of where the core stands end in."""
    state = core.save()
    seen = _distinct(core, state, kind, _LENGTHS[0], PRESCREEN, 0)
    core.load(state)
    return seen


def quick_variety(core: Core, state: bytes, kind: Kind = "directions") -> int:
    """Return V, counted no further than `PLAY_LATER`; four futures that all differ settle it."""
    if _distinct(core, state, kind, _LENGTHS[0], PRESCREEN, 0) == PRESCREEN:
        return PLAY_LATER
    return variety(core, state, kind, enough=PLAY_LATER)


def _distinct(core: Core, state: bytes, kind: Kind, frames: int, count: int, seed: int) -> int:
    logs = np.stack([futures(kind, seed * FUTURES + number, frames) for number in range(count)])
    return len(np.unique(core.branch(state, logs, [logs.shape[1]], hashes=True).hashes))


def steering(core: Core, state: bytes, kind: Kind = "directions", *, homed: bool = False) -> int:
    """Return how many pixels the buttons decide, whatever the luck.

    A demo whose luck is stirred by the input port differs from future to future without obeying:
    V is high there. So each direction is held from 6 different frames on, which is other luck, and
    a pixel counts only when it is one colour in all 6 of each direction, and not in all directions.
    For fire, what is compared is no button, B and A, and directions held later on are the luck.

    Args:
        core: The core; where it stands afterwards is undefined.
        state: The savestate to start each future from.
        kind: What is pressed; ``both`` counts as directions.
        homed: It is known that there is a paddle whose place a savestate forgets.
    """
    core.load(state)
    core.run(1)
    size = core.frame_size
    decided = 0 if homed else _decided(core, state, kind, size, 30, 0)
    if not decided and (homed or forgets_paddle(core, state)):
        # Drive it to one end before each future, and hold long enough for the other end.
        decided = _decided(core, state, kind, size, 60, 1)
    return decided


def _decided(
    core: Core, state: bytes, kind: Kind, size: tuple[int, int], held: int, homing: int
) -> int:
    starts, release = 4 if homing else 6, 4
    masks = [0, MASKS["B"], MASKS["A"]] if kind == "fire" else list(_STICK[1:])
    frames = starts + held + release
    logs = np.full((len(masks), starts, 1 + homing, frames), MASKS["UP"] | MASKS["LEFT"], np.uint16)
    logs[:, :, -1] = 0
    for row, mask in enumerate(masks):
        for start in range(starts):
            log = logs[row, start, -1]
            log[start:-release] = MASKS["LEFT"] if kind == "fire" else mask
            log[:TAP] |= mask if kind == "fire" else 0
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
            if quick_variety(core, later) >= PLAY_LATER:
                states.append(later)
            if tried >= 2 * count:
                break
    return states


class Control(NamedTuple):
    """How much inputs matter: distinct pictures, and whether the buttons are obeyed."""

    variety: int
    steers: bool
    kind: Kind = "directions"
    homed: bool = False  # by a paddle whose place a savestate forgets


def measure_control(core: Core, kind: Kind = "directions") -> Control:
    """Measure control where the core stands, and leave it standing there."""
    state = core.save()
    seen = quick_variety(core, state, kind)
    steers = seen > GONE and steering(core, state, kind) > 0
    homed = steers and forgets_paddle(core, state)
    core.load(state)
    return Control(seen, steers, kind, homed)


def gone(core: Core, before: Control) -> bool:
    """Tell whether control is lost; a demo stirred by the input port varies, unobeying."""
    state = core.save()
    lost = variety(core, state, before.kind, enough=GONE + 1) <= GONE
    if not lost and before.steers:
        lost = steering(core, state, before.kind, homed=before.homed) == 0
    core.load(state)
    return lost


def controls(
    core: Core,
    state: bytes,
    log: NDArray[np.uint16],
    looks: Sequence[int],
    poke: tuple[Sequence[int], Sequence[int]] | None,
    before: Control | None = None,
    kind: Kind = "directions",
) -> Iterator[tuple[int, int]]:
    """Yield control at each look of a replay that began with a poke (offsets and values).

    Looks are frames run, ascending. Each gives V, and whether the buttons are obeyed; with
    ``before``, whether that control is lost by now, and 0.
    """
    enter(core, state)
    if poke is not None:
        core.poke(*poke)
    for start, look in pairwise((0, *looks)):
        core.record(log[start:look])
        if before is None:
            now = measure_control(core, kind)
            yield now.variety, int(now.steers)
        else:
            yield int(gone(core, before)), 0
