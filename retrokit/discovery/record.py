"""Recordings: seeded random play from one savestate, the RAM that can matter, and every state.

Episodes all start from the same savestate, so their beginnings are known boundaries, and a state
before any frame is had again by replaying a few buttons from a checkpoint. What a recording holds
is bounded, whatever the size of RAM and of savestates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..core import SAVESTATE, Core
from ..policy import random_play, style_of
from ..team import each
from .counters import counted, likeliest
from .home import enter
from .states import States, spacing

Report = Callable[[float], None]
# Number of the episode, offsets of the bytes kept, buttons [frames], ram [frames, kept].
Keep = Callable[[int, NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint8]], None]
# RAM up to this size is kept whole where that is few bytes; else it is first counted, then kept. Of
# a recording: a search may make three, and holds each a second time as it was up to the ends.
KEEP_ALL, WHOLE_BYTES = 1 << 14, 96 << 20
KEPT_BYTES, LEAST_KEPT = 36 << 20, 256
CHECKPOINT_BYTES = 64 << 20


@dataclass
class Recording:
    """What was recorded.

    Attributes:
        state: Savestate every episode starts from.
        buttons: uint16 [episodes, frames].
        ram: uint8 [episodes, frames, kept]: the bytes after each frame; those of one offset lie
            together.
        initial: uint8 [ram_size]: all selected bytes in ``state``.
        offsets: int32 [kept], ascending, into the core's selected regions.
        styles: Name of the way of playing, per episode.
        every: Frames between checkpoints.
        checkpoints: Savestates before frames 0, every, 2·every, … of each episode.
        lengths: int64 [episodes]: frames that were played. After them nothing is pressed, nothing
            moves, and there are no checkpoints.
        ends: int64 [episodes]: frames until the game was over; `ending` sets them.
        saved: bool [ram_size]: bytes that a savestate brings back; others must not be poked.
    """

    state: bytes
    buttons: NDArray[np.uint16]
    ram: NDArray[np.uint8]
    initial: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    styles: list[str]
    every: int
    checkpoints: list[Sequence[bytes]] = field(repr=False)
    lengths: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    saved: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        """Let every episode last to its last frame until told otherwise."""
        if len(self.lengths) != len(self.buttons):
            self.lengths = np.full(len(self.buttons), self.buttons.shape[1], np.int64)
        if len(self.ends) != len(self.buttons):
            self.ends = self.lengths.copy()
        if len(self.saved) != len(self.initial):
            self.saved = np.ones(len(self.initial), np.bool_)

    def ending(self, ends: NDArray[np.int64]) -> Recording:
        """Return the recording with RAM standing still once each game is over.

        What a demo does after the end, often in the same bytes, is then no event and no rise.
        """
        ram = self.ram.copy(order="K")
        for episode, end in enumerate(ends.tolist()):
            last = ram[episode, end - 1] if end else self.initial[self.offsets]
            ram[episode, end:] = last
        return replace(self, ram=ram, ends=ends)

    @property
    def episodes(self) -> int:
        """How many episodes were recorded."""
        return len(self.buttons)

    @property
    def frames(self) -> int:
        """Frames played in all episodes together."""
        return int(self.lengths.sum())

    def narrowed(self, columns: NDArray[np.bool_]) -> Recording:
        """Return the recording with some of the bytes that it keeps, bool [kept]."""
        ram = np.ascontiguousarray(self.ram.transpose(2, 0, 1)[columns]).transpose(1, 2, 0)
        return replace(self, ram=ram, offsets=self.offsets[columns])

    def longer(self, frames: int) -> Recording:
        """Return the recording with room for so many frames, in which nothing happens."""
        more = frames - self.buttons.shape[1]
        if more <= 0:
            return self
        last = np.repeat(self.ram[:, -1:], more, axis=1)
        # Joined this way round, the bytes of one offset still lie together.
        ram = np.concatenate([part.transpose(2, 0, 1) for part in (self.ram, last)], axis=2)
        buttons = np.pad(self.buttons, ((0, 0), (0, more)))
        return replace(self, buttons=buttons, ram=ram.transpose(1, 2, 0))

    def log(
        self, episode: int, frame: int, frames: int, pressed: int | None = None
    ) -> NDArray[np.uint16]:
        """Return what is pressed from a frame on, uint16 [frames].

        Args:
            episode: Number of the episode.
            frame: Before which it begins.
            frames: How long it is; nothing is pressed after the recording's end.
            pressed: Frames after which nothing is pressed either; None for no such limit.
        """
        played = self.buttons[episode, frame : frame + frames][:pressed]
        return np.pad(played, (0, frames - len(played)))

    def column(self, offset: int) -> int | None:
        """Return the column of an offset, or None when its byte was not kept."""
        at = int(np.searchsorted(self.offsets, offset))
        return at if at < len(self.offsets) and self.offsets[at] == offset else None

    def series(self, offset: int) -> NDArray[np.uint8]:
        """Return one byte over time, uint8 [episodes, frames]; one not kept counts as still."""
        column = self.column(offset)
        if column is None:
            return np.broadcast_to(self.initial[offset], self.buttons.shape)
        return self.ram[:, :, column]

    def changes(self) -> NDArray[np.float64]:
        """Return the share of frames in which each kept byte changed, float64 [kept]."""
        out = np.zeros(len(self.offsets), np.float64)
        for column, first in enumerate(self.initial[self.offsets].tolist()):
            byte = self.ram[:, :, column]
            moved = np.count_nonzero(byte[:, 1:] != byte[:, :-1])
            out[column] = moved + np.count_nonzero(byte[:, 0] != first)
        return out / self.frames


def record(
    core: Core,
    state: bytes,
    actions: Sequence[Sequence[str]],
    fire: Sequence[str],
    *,
    seed: int = 0,
    first: int = 0,
    episodes: int = 6,
    frames: int = 1500,
    report: Report = lambda share: None,
    keep: Keep = lambda number, offsets, buttons, ram: None,
    offsets: NDArray[np.int32] | None = None,
    known: NDArray[np.uint16] | None = None,
    names: Sequence[str] = (),
    every: int = 0,
    ahead: int = 0,
) -> Recording:
    """Play at random and keep the RAM.

    Args:
        core: A core with content loaded.
        state: Savestate of the start of play.
        actions: The action set.
        fire: The fire buttons.
        seed: Of the random play.
        first: Number of the first episode in the search, which chooses the styles.
        episodes: How often to restart from ``state``; each plays in another style.
        frames: Length of an episode.
        report: Called with the share that is finished, 0 to 1; may raise to stop.
        keep: Called with each episode as it is finished.
        offsets: Bytes to keep, as an earlier recording did; None chooses them.
        known: uint16 [<= episodes, frames]: the first episodes' buttons where an earlier recording
            has them; they are played again, for their checkpoints.
        names: Names of the ways of playing, where others than those of the episodes' numbers.
        every: Frames between checkpoints, as an earlier recording has them; 0 chooses.
        ahead: So many recordings may follow, of the next seeds and episodes. Where bytes are chosen
            their play is counted too: what moves there alone would be left out.

    Returns:
        The recording. RAM above 16 KiB is played twice: once to count how every byte moves, once to
        keep those that can be counters.
    """

    def plain(seed: int, first: int) -> NDArray[np.uint16]:
        styles = [style_of(first + n) for n in range(episodes)]
        return np.stack(
            [
                random_play([seed, n], frames, actions, style, fire, favourite)
                for n, (style, favourite) in enumerate(styles)
            ]
        )

    buttons = plain(seed, first)
    if known is not None:
        buttons[: len(known)] = known
    size, given = core.ram_size, offsets is not None
    twice = not given and (size > KEEP_ALL or size * buttons.size > WHOLE_BYTES)
    later = [plain(seed + n, first + n * episodes) for n in range(1, 1 + twice * ahead)]
    counting = np.concatenate([buttons, *later])
    finished = 0

    def advance(frames: int) -> None:
        nonlocal finished
        finished += frames
        report(finished / (twice * counting.size + buttons.size))

    def play(core: Core, log: NDArray[np.uint16]) -> tuple[NDArray[np.uint8], Sequence[bytes]]:
        parts = []

        def run(piece: NDArray[np.uint16]) -> None:
            parts.append(core.record(piece, offsets)[0])
            advance(len(piece))

        points = states_along(core, state, log, every, run)
        return np.concatenate(parts), points

    def initial_of(core: Core, _: None) -> NDArray[np.uint8]:
        core.load(state)
        return core.read()

    initial, *others = each(core, initial_of, [None] * len(buttons))
    if twice:
        counts = counted(core, state, counting, advance)
        most = max(LEAST_KEPT, KEPT_BYTES // buttons.size)
        offsets = likeliest(counts, counting.size, most)
        del counts
    elif not given:
        offsets = np.arange(size, dtype=np.int32)
    every = every or spacing(core, state, buttons[0], buttons.size, CHECKPOINT_BYTES)
    saved = saved_bytes(core, state)
    assert offsets is not None
    if not given:  # memory that nothing initialises differs between instances and means nothing
        alike = np.all([initial[offsets] == other[offsets] for other in others], axis=0)
        offsets = offsets[alike & saved[offsets]]
    # The bytes of one offset lie together: whoever reads them reads them over time.
    ram = np.empty((len(offsets), *buttons.shape), np.uint8).transpose(1, 2, 0)
    checkpoints = []
    for number, (rows, points) in enumerate(each(core, play, list(buttons))):
        ram[number] = rows
        checkpoints.append(points)
        keep(number, offsets, buttons[number], rows)
    return Recording(
        state,
        buttons,
        ram,
        initial,
        offsets,
        list(names) or [style_of(first + n)[0].name for n in range(episodes)],
        every,
        checkpoints,
        saved=saved,
    )


def states_along(
    core: Core,
    state: bytes,
    log: NDArray[np.uint16],
    every: int,
    run: Callable[[NDArray[np.uint16]], object] | None = None,
) -> Sequence[bytes]:
    """Play an episode; return the savestates before frames 0, every, 2·every and so on.

    Each is saved *and* restored, since a restored run can differ from a continued one.

    Args:
        core: The core; it stands at the end of the episode afterwards.
        state: Savestate the episode starts from.
        log: uint16 [frames]: its buttons.
        every: Frames between savestates.
        run: What runs each piece of the log; None just runs it.
    """
    enter(core, state)
    points = States(state)
    for at in range(0, len(log), every):
        here = core.save()
        points.append(here)
        core.load(here)
        (run or core.record)(log[at : at + every])
    return points


def saved_bytes(core: Core, state: bytes) -> NDArray[np.bool_]:
    """Return which bytes of the selected regions a savestate brings back, bool [ram_size].

    A poke into any other would outlive its experiment and change all that follow. It is tried on
    an instance of its own, which is thrown away; a savestate that is used as memory is one anyway.
    """
    where = [np.arange(s.start, s.start + s.size) for s in core.spans if s.region != SAVESTATE]
    offsets = np.concatenate([*where, np.zeros(0, np.int64)]).astype(np.int32)
    saved = np.ones(core.ram_size, np.bool_)
    if not len(offsets):
        return saved
    with Core.open(core.found, core.content) as fresh:
        fresh.run(1)  # some cores cannot restore before
        fresh.load(state)
        before = fresh.read()
        fresh.poke(offsets, before[offsets] ^ 0xFF)
        fresh.load(state)
        saved[offsets] = (fresh.read() == before)[offsets]
    return saved


def join(*parts: Recording) -> Recording:
    """Return recordings of the same start and the same kept bytes as one."""
    lengths = np.concatenate([part.lengths for part in parts])
    longer = [part.longer(int(lengths.max())) for part in parts]
    first = longer[0]
    return Recording(
        first.state,
        np.concatenate([part.buttons for part in longer]),
        np.concatenate([part.ram for part in longer]),
        first.initial,
        first.offsets,
        [style for part in longer for style in part.styles],
        first.every,
        [points for part in longer for points in part.checkpoints],
        lengths,
        saved=first.saved,
    )
