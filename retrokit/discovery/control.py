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
    for known in _varieties(core, state, kind, seed, FUTURES):
        most = max(most, known)
        if most >= enough:
            break
    return most


def varies(
    core: Core, state: bytes, kind: Kind = "directions", *, at_least: int, seed: int = 0
) -> bool:
    """Tell whether V is at least so much, with as few futures as tell; see `variety`."""
    return any(known >= at_least for known in _varieties(core, state, kind, seed, PRESCREEN))


def _varieties(core: Core, state: bytes, kind: Kind, seed: int, step: int) -> Iterator[int]:
    """Yield how many pictures are known to differ, of four futures, then of ``step`` more each."""
    seen: dict[int, list[int]] = {frames: [] for frames in _LENGTHS}

    def more(frames: int, upto: int) -> int:
        ends = seen[frames]
        ends += _ends(core, state, kind, frames, range(len(ends), upto), seed)
        return len(set(ends))

    for frames in _LENGTHS:
        few = more(frames, PRESCREEN)
        yield few
        if few > 1:
            break
    else:
        return
    for frames in _LENGTHS:
        while len(seen[frames]) < FUTURES:
            yield more(frames, min(FUTURES, len(seen[frames]) + step))


def glance(core: Core, kind: Kind = "directions") -> int:
    """Return how many distinct pictures four futures of where the core stands end in."""
    state = core.save()
    seen = len(set(_ends(core, state, kind, _LENGTHS[0], range(PRESCREEN), 0)))
    core.load(state)
    return seen


def quick_variety(core: Core, state: bytes, kind: Kind = "directions") -> int:
    """Return V, counted no further than `PLAY_LATER`; four futures that all differ settle it."""
    most = 0
    for known in _varieties(core, state, kind, 0, FUTURES):
        if not most and known == PRESCREEN:
            return PLAY_LATER
        most = max(most, known)
        if most >= PLAY_LATER:
            break
    return most


def in_play(core: Core, state: bytes, kind: Kind = "directions") -> bool:
    """Tell whether `quick_variety` is `PLAY_LATER` or more, with as few futures as tell."""
    seen = _varieties(core, state, kind, 0, PRESCREEN)
    return next(seen) == PRESCREEN or any(known >= PLAY_LATER for known in seen)


def _ends(
    core: Core, state: bytes, kind: Kind, frames: int, numbers: Sequence[int], seed: int
) -> list[int]:
    """Return the hashes of the pictures that some futures end in."""
    logs = np.stack([futures(kind, seed * FUTURES + number, frames) for number in numbers])
    ends: list[int] = core.branch(state, logs, [logs.shape[1]], hashes=True).hashes[:, 0].tolist()
    return ends


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
    if not decided and (homed or core.may_forget and forgets_paddle(core, state)):
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
    groups: list[NDArray[np.uint16]] = []
    decided = np.zeros(0, np.bool_)
    for part in (slice(2), slice(2, None)):  # two starts refute most demos
        rows = logs[:, part].reshape(-1, frames)
        pictures = core.branch(state, rows, [frames], size=size).pictures
        groups.append(pictures[homing :: 1 + homing].reshape(len(masks), -1, size[0] * size[1]))
        seen = np.concatenate(groups, axis=1)
        same = (seen == seen[:, :1]).all((0, 1))
        decided = same & (seen[:, 0] != seen[0, 0]).any(0)
        if not decided.any():
            break
    return int(decided.sum())


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
        if varies(core, later, kind, at_least=at_least, seed=seed):
            alive.append(later)
        if len(alive) >= (2 if number < 3 else 3):
            return any(steering(core, s, kind) >= STEERED for s in [state, *alive])
        if len(alive) + 5 - number < 3 or number == 2 and not alive:
            break
    if steering(core, state, kind) < STEERED:
        return False
    held = 0
    for number in range(8):
        later = next(_play(core, state, played, seed + 200 + number, _BRIEF))
        held += (
            varies(core, later, kind, at_least=at_least, seed=seed)
            and steering(core, later, kind) >= STEERED
        )
        if held >= 3 or held + 7 - number < 3:
            break
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
            if in_play(core, later):
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
    homed = steers and core.may_forget and forgets_paddle(core, state)
    core.load(state)
    return Control(seen, steers, kind, homed)


def gone(core: Core, before: Control) -> bool:
    """Tell whether control is lost; a demo stirred by the input port varies, unobeying."""
    state = core.save()
    lost = not varies(core, state, before.kind, at_least=GONE + 1)
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
