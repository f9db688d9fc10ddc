"""What runs a core for a person's session: each function is a sandbox child's, and does one thing.

All begin from a savestate and leave no core behind, so whatever a core does costs one request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..content import Content
from ..core import Core
from ..systems import FoundCore
from ..team import Team
from .answer import Settings
from .home import find_home
from .record import record
from .tape import Origin

Bytes = NDArray[np.uint8]
Log = NDArray[np.uint16]
Emit = Callable[[Any], None]
PIECE = 120  # frames between two reports
LOOKS = (1, 10, 60)  # frames after a poke at which its bytes are looked at
BUTTONS = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",), ("B",), ("A",))


class Ran(NamedTuple):
    """What running left: the savestate, all bytes uint8 [bytes], the last picture RGB."""

    state: bytes
    ram: Bytes
    picture: Bytes


class Poked(NamedTuple):
    """What became of a poke.

    Attributes:
        before: The bytes before it.
        written: What was written.
        untouched: uint8 [looks, bytes]: the same bytes later, without the poke.
        poked: uint8 [looks, bytes]: and with it.
        picture: The last one with it.
    """

    before: bytes
    written: bytes
    untouched: Bytes
    poked: Bytes
    picture: Bytes


def run(emit: Emit, content: Content, found: FoundCore, state: bytes, log: Log) -> Ran:
    """Run a button log from a savestate; runs in a sandbox child.

    Args:
        emit: Called with the frames that are behind us.
        content: What to play.
        found: The core.
        state: Where it begins.
        log: uint16 [frames]; without any the picture is that of the next frame.
    """
    with Core.open(found, content) as core:
        _enter(core, state)
        for at in range(0, len(log) - 1, PIECE):
            core.record(log[at : min(at + PIECE, len(log) - 1)])
            emit(at)
        if len(log):
            core.run(1, int(log[-1]))
        after, ram = core.save(), core.read()
        if not len(log):
            core.run(1)
        return Ran(after, ram, core.frame())


def poke(
    emit: Emit,
    content: Content,
    found: FoundCore,
    state: bytes,
    log: Log,
    written: tuple[Sequence[int], bytes],
    after: Log,
) -> Poked:
    """Write bytes after a log and run on, next to the same without them; runs in a sandbox child.

    Args:
        emit: Not called.
        content: What to play.
        found: The core.
        state: Where the log begins.
        log: uint16 [frames]: what is run before.
        written: Offsets into the core's selected regions, and their bytes.
        after: uint16 [frames]: what is run afterwards, ``LOOKS[-1]`` frames at least.
    """
    offsets, values = written
    with Core.open(found, content) as core:
        _enter(core, state)
        core.record(log)
        here = core.save()
        before = core.read()[list(offsets)].tobytes()
        at = np.array([[-1] * len(offsets), offsets], np.int32)
        kept = np.array(offsets, np.int32)
        pokes = at, np.array([list(values)] * 2, np.uint8)
        seen = core.branch(here, after, LOOKS, pokes=pokes, kept=kept).ram
        core.load(here)
        core.poke(offsets, list(values))
        core.record(after[:-1])
        core.run(1, int(after[-1]))
        return Poked(before, values, seen[0], seen[1], core.frame())


def tape_of(
    emit: Emit, content: Content, found: FoundCore, origin: Origin, log: Log
) -> tuple[NDArray[np.int32], Bytes]:
    """Play a log as one episode, as a search records it; runs in a sandbox child.

    Args:
        emit: Called with the share that is finished.
        content: What to play.
        found: The core.
        origin: Where it begins.
        log: uint16 [frames].

    Returns:
        int32 [kept] offsets, and uint8 [frames, kept]: their bytes after each frame.
    """
    with Team.open(found, content) as core:
        find_home(core, origin.state)
        core.agree(origin.state)
        known = np.stack([log, log])  # twice, so that memory nothing initialises is left out
        played = record(
            core,
            origin.state,
            origin.action_set,
            origin.fire,
            episodes=2,
            frames=len(log),
            report=emit,
            known=known,
        )
        return played.offsets, played.ram[0]


def power_on(emit: Emit, content: Content, found: FoundCore, settings: Settings) -> None:
    """Emit the ("origin", …) of a session that begins at power-on; runs in a sandbox child."""
    with Core.open(found, content) as core:
        core.run(1)
        actions = settings.actions or BUTTONS
        fire = tuple({name: 0 for action in actions for name in action if name in ("B", "A")})
        origin = Origin(
            content.sha1,
            found.spec.name,
            core.info.version,
            core.spans,
            settings.seed,
            settings.frames,
            ("WAIT:1",),
            tuple(actions),
            fire,
            core.save(),
            content.name,
            content.system,
            core.info.fps,
            core.read().tobytes(),
        )
        emit(("origin", origin))


def _enter(core: Core, state: bytes) -> None:
    core.run(1)  # some cores cannot restore before
    core.load(state)
