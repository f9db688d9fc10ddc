"""Lanes: cores of one game, each with its episode, stepped in C by a pool of threads.

This is what `RetroEnv` (one lane), `RetroVectorEnv` (many) and a worker process drive. A lane is
all C; here they are opened, told what to do, and read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import savestate
from .batch import RESULT, Batch, Copy, Layout
from .core import SAVESTATE, STATE_REGION, Core, CoreInfo, Region
from .errors import CoreError, CoreStateError, UserError
from .host.binding import ffi, last_error, lib, pointer, text
from .integration import Integration
from .lane_log import LaneLog, raw_logs
from .load import Game
from .options import EnvOptions
from .paddle import HOME, forgets_paddle
from .plan import NO_BUTTONS, SYSTEM_RAM, Autoreset, Plan

ENDED = ("", "game over", "frames", "stall", "life", "crash")
"""What ended an episode, by the number in ``results["ended"]``."""
REST = int(lib.RK_REST)
"""The action that leaves a lane as it is whose episode ended, where autoreset is disabled."""
assert ffi.sizeof("rk_result") == RESULT.itemsize


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Lanes:
    """Cores of one game and their episodes.

    The first core plays the integration's start sequence; what it then saves, all share.

    Args:
        game: What to play.
        options: How.
        count: How many lanes.
        threads: How many work at once, the caller's included; None: as many as there are CPUs and
            lanes.
        autoreset: When a lane whose episode ended begins the next.
        show: Draw frames for `frame` even where no picture is observed.
        batch: Makes the arrays that are written, given layout and count.

    Attributes:
        batch: The arrays, written by `reset` and `step`.
        names: The integration's variables, in the order of ``batch.arrays["values"]``.
        starts: The savestates that episodes start from.
        seeds: uint64 [lanes]: what each lane was told to draw by last.
        home: uint16 [frames], what is pressed before a start where the core keeps a paddle outside
            its savestates; empty otherwise.
        restarts: int64 [lanes]: how often the core was started anew; here a core that dies takes
            the process along.

    Raises:
        CoreError: A core cannot be opened or fails.
        UserError: Options, integration and core do not go together, or the game is over when it
            starts.
    """

    def __init__(
        self,
        game: Game,
        options: EnvOptions,
        count: int = 1,
        *,
        threads: int | None = None,
        autoreset: Autoreset = "disabled",
        show: bool = False,
        batch: Callable[[Layout, int], Batch] = Batch,
    ) -> None:
        self._raw: Any = None
        self._cores: list[Core] = []
        self._copies: tuple[Copy | None, Copy | None] = None, None
        self._raw_copy = ffi.new("rk_copy *")
        self.home = NO_BUTTONS
        self.game, self.options, self.autoreset, self.count = game, options, autoreset, count
        if count < 1 or (threads is not None and threads < 1):
            raise UserError(f"{count} environments on {threads} threads", "at least one of each")
        self.seeds, self.restarts = np.zeros(count, np.uint64), np.zeros(count, np.int64)
        if count > 1 and "own_process" in game.found.spec.quirks:
            raise UserError(f"{count} cores of {game.found.spec.name} in one process", "one")
        try:
            states, regions, size = self._boot(options)
            in_place = "in_place" in game.found.spec.quirks
            facts = game.integration, options, regions, size
            self._plan = Plan(*facts, autoreset, show, in_place, self.home)
            self.names = self._plan.names
            self.batch = batch(self._plan.layout, count)
            self._open(states, min(count, threads or cpus()))
        except BaseException:
            self.close()
            raise

    def _boot(self, options: EnvOptions) -> tuple[list[bytes], dict[str, Region], tuple[int, int]]:
        """Open all cores; return the start states, the memory offered and the picture's size."""
        integration = self.game.integration
        for _ in range(self.count):
            self._cores.append(self.game.open())
        core, *others = self._cores
        warn_of(self.game, core.info.version)
        for other in others:
            other.run(1, see=False)  # no core is asked to restore before it ran
        if all(isinstance(start, bytes) for start in options.starts):
            core.run(1, see=False)  # nobody starts where the start sequence ends
        else:
            core.record(integration.start_frames())
        states = _states(core, options.starts)
        if any(forgets_paddle(core, state) for state in states):
            self.home = HOME
        core.run(1)
        regions = {region.name: region for region in core.regions()}
        regions[SAVESTATE] = replace(STATE_REGION, size=core.info.savestate_size)
        integration.check_memory({name: region.size for name, region in regions.items()})
        return states, regions, core.frame_size

    def _open(self, states: Sequence[bytes], threads: int) -> None:
        arrays = self.batch.arrays
        raw = ffi.new("rk_batch *")
        for name, field in (("picture", "pixels"), ("ram", "ram"), ("values", "values")):
            kind = "int64_t[]" if name == "values" else "uint8_t[]"
            setattr(raw, field, pointer(kind, arrays.get(name)))
            setattr(raw, f"final_{field}", pointer(kind, arrays.get(f"final_{name}")))
        raw.results = pointer("rk_result[]", arrays["results"])
        raw.finals = pointer("rk_result[]", arrays["final_results"])
        hosts = [core.handle() for core in self._cores]
        self._raw = lib.rk_lanes_new(self._plan.raw, raw, hosts, self.count, threads)
        if self._raw == ffi.NULL:
            self._raw = None
            raise CoreError(last_error())
        self.set_starts(states)
        for number in range(len(states)):  # each is tried: a game that is over never starts
            only_first = np.arange(self.count) == 0
            self.reset(only_first, starts=np.full(self.count, number, np.int32))

    def set_starts(self, states: Sequence[bytes]) -> None:
        """Start from other savestates of ``Core.save`` from the next reset on.

        Raises:
            SavestateRefused: One is of another core, version or content.
        """
        bodies = [savestate.body_of(state, self._cores[0].owner) for state in states]
        sizes = [len(body) for body in bodies]
        if lib.rk_lanes_starts(self._handle(), b"".join(bodies), sizes, len(sizes)) <= 0:
            raise CoreError(last_error())
        self.starts = list(states)

    @property
    def n_starts(self) -> int:
        """How many savestates episodes start from."""
        return len(self.starts)

    @property
    def info(self) -> CoreInfo:
        """What the core says of itself."""
        return self._cores[0].info

    def _handle(self) -> Any:
        if self._raw is None:
            raise CoreStateError("the environment is closed", remedy="Make it anew.")
        return self._raw

    @property
    def cores(self) -> Sequence[Core]:
        """The cores, one a lane."""
        return self._cores

    # -- at work ---------------------------------------------------------------------------------

    def reset(
        self,
        lanes: NDArray[np.bool_] | None = None,
        seeds: NDArray[np.uint64] | None = None,
        starts: NDArray[np.int32] | None = None,
    ) -> None:
        """Begin an episode in each lane, and wait for all.

        Args:
            lanes: bool [lanes]: which; None is all.
            seeds: uint64 [lanes]: from now on a lane draws by its seed, 0: as before. A lane that
                is given one leaves no life half played (see ``life_episodes``).
            starts: int32 [lanes]: numbers of the savestates to start from; -1 draws one.

        Raises:
            CoreError: A lane failed; says which and why.
        """
        asked, given, numbers = asked_for(self.count, lanes, seeds, starts)
        np.copyto(self.seeds, given, where=given > 0)
        self.begin(asked, given, numbers)
        self.wait()

    def begin(
        self, asked: NDArray[np.uint8], seeds: NDArray[np.uint64], starts: NDArray[np.int32]
    ) -> None:
        """Hand out resets as ``rk_lanes_reset`` takes them; `wait` or `finish` must follow."""
        lib.rk_lanes_reset(
            self._handle(),
            ffi.from_buffer("uint8_t[]", asked),
            ffi.from_buffer("uint64_t[]", seeds),
            ffi.from_buffer("int32_t[]", starts),
        )

    def send(self, actions: NDArray[np.int32], copy: Copy | None = None) -> None:
        """Hand out actions; `wait` must follow. Threads begin at once.

        Args:
            actions: int32 [lanes].
            copy: Is written, too, until `wait` returns.

        Raises:
            CoreStateError: An action is not in the action set, or an episode has ended.
        """
        self._copies = self._copies[-1], copy  # threads may be at work on the one before
        raw = ffi.NULL
        if copy:
            raw = self._raw_copy
            raw.pixels = pointer("uint8_t[]", copy.seen.get("picture"))
            raw.ram = pointer("uint8_t[]", copy.seen.get("ram"))
            raw.earned = ffi.from_buffer("double[]", copy.earned)
            raw.numbers = ffi.from_buffer("int64_t[]", copy.numbers)
            raw.flags = ffi.from_buffer("uint8_t[]", copy.flags)
        if lib.rk_lanes_step(self._handle(), ffi.from_buffer("int32_t[]", actions), raw) <= 0:
            raise CoreStateError(last_error())

    def wait(self) -> None:
        """Take part in the work until it is finished; then the batch may be read.

        Raises:
            CoreError: A lane failed; says which and why.
        """
        if failed := self.finish():
            raise lane_failed(self.game, self.count, *failed)

    def finish(self) -> tuple[int, str] | None:
        """Take part in the work until it is finished; return a lane that failed, and why."""
        failed = lib.rk_lanes_wait(self._handle())
        self._copies = None, None
        if failed:
            return failed - 1, text(lib.rk_lane_error(self._raw, failed - 1))
        return None

    def ended(self) -> bool:
        """Whether an episode ended in the last step."""
        return bool(lib.rk_lanes_ended(self._handle()))

    def frame(self, lane: int = 0) -> NDArray[np.uint8]:
        """Return the picture a lane showed last, upright, uint8 [height, width, 3]; a copy.

        Raises:
            CoreStateError: There is none: nothing has run, or nothing is drawn (see ``show``).
        """
        width, height = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        if lib.rk_lane_frame_size(self._handle(), lane, width, height) <= 0:
            raise CoreStateError(last_error())
        out = np.empty((height[0], width[0], 3), np.uint8)
        pixels = ffi.from_buffer("uint8_t[]", out)
        if lib.rk_lane_frame(self._raw, lane, pixels, width[0], height[0]) <= 0:
            raise CoreError(last_error())
        return out

    # -- a game played again ---------------------------------------------------------------------

    def log(self, lane: int = 0) -> LaneLog:
        """Return what a lane's game was so far, or the one that the last step ended; a copy."""
        raw = ffi.new("rk_log *")
        lib.rk_lane_log(self._handle(), lane, raw)
        return LaneLog.of(raw)

    def ram(self, lane: int = 0) -> NDArray[np.uint8]:
        """Return a lane's memory as it is now, as `proving` has it."""
        return proving(self._cores[lane], in_savestate(self.game.integration))

    def replay(self, logs: Sequence[LaneLog]) -> None:
        """Play a game again in each lane, with the draws and actions of its log.

        A lane whose game is not known is left as after a core that died: what its row of the batch
        tells of is truncated in the next step.

        Raises:
            CoreError: A lane failed; says which and why.
        """
        self.play_again(logs)
        self.wait()

    def play_again(self, logs: Sequence[LaneLog]) -> None:
        """Do what `replay` does, and leave it to `finish` to say what failed."""
        raw, kept = raw_logs(logs)
        lib.rk_lanes_replay(self._handle(), raw)
        del kept  # until here

    # -- its end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """End the threads and close the cores; closing twice is harmless."""
        raw, self._raw = self._raw, None
        if raw is not None:
            lib.rk_lanes_free(raw)
        while self._cores:
            self._cores.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_cores"):
            self.close()


def proving(core: Core, kept: Sequence[int]) -> NDArray[np.uint8]:
    """Return the memory that shows whether two runs are one: what no core leaves uninitialised.

    Args:
        core: The core.
        kept: Of one without SYSTEM_RAM, the bytes of its savestate that count; a copy.
    """
    ram = core.read()
    main = [span for span in core.spans if span.region == SYSTEM_RAM]
    if main:
        return ram[main[0].start : main[0].start + main[0].size]
    return ram[list(kept)] if kept else ram


def in_savestate(integration: Integration) -> list[int]:
    """Return the offsets into the savestate that an integration's variables lie at."""
    parts = (part for variable in integration.variables.values() for part in variable.parts)
    return sorted({addr for part in parts if part.region == SAVESTATE for addr in part.addrs})


def asked_for(
    count: int,
    lanes: NDArray[np.bool_] | None,
    seeds: NDArray[np.uint64] | None,
    starts: NDArray[np.int32] | None,
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int32]]:
    """Return the arguments of ``Lanes.reset`` as `Lanes.begin` takes them."""
    asked = np.ones(count, np.uint8) if lanes is None else lanes.astype(np.uint8)
    given = np.zeros(count, np.uint64) if seeds is None else seeds
    numbers = np.full(count, -1, np.int32) if starts is None else starts
    asked[(asked > 0) & ((given > 0) | (numbers >= 0))] = 2
    return asked, given, numbers


def lane_failed(game: Game, count: int, lane: int, why: str) -> CoreError:
    """Return the error of a lane that failed."""
    where = f" (environment {lane})" if count > 1 else ""
    facts = "Look at terminated and start_buttons in its file, and at the option starts."
    remedy = facts if why.startswith("the game is over") else ""
    return CoreError(f"{game.integration.game}{where}: {why}", remedy=remedy)


def warn_of(game: Game, version: str) -> None:
    """Warn whoever makes an environment of what does not match, three calls above."""
    for line in (*game.warnings, *game.core_warnings(version)):
        warnings.warn(f"{game.integration.game}: {line}", stacklevel=5)


def _states(core: Core, starts: Sequence[bytes | int]) -> list[bytes]:
    """Return the savestates to start from; frames of waiting count from the start sequence."""
    first = core.save()
    out = []
    for start in starts:
        if isinstance(start, bytes):
            core.load(start)  # refused here, not at the first reset
            out.append(start)
            continue
        core.load(first)
        core.run(start, see=False)
        out.append(core.save() if start else first)
    return out
