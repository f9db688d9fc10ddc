"""`Workers`: lanes of a game in processes that may crash; what `Lanes` does, for many of them.

A worker whose core crashes or hangs is started anew: the episodes it played are truncated, the
others never hear of it.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .batch import Batch, Copy
from .core import CoreInfo
from .errors import CoreCrashed, CoreError, CoreStateError, CoreTimeout, UserError
from .lane_log import LaneLog
from .lanes import ENDED, REST, asked_for, cpus, lane_failed, warn_of
from .load import Game
from .options import EnvOptions
from .plan import Autoreset
from .worker import CALL, RESET, STEP, Facts, Share, SharedBatch, Worker

MOST_FALLS = 3  # a worker that is lost so often without a step in between is not started again
MOST_LOSSES = 20  # nor one that is lost so often while no episode of its is played to the end,
CALM = 10_000  # and not so many steps either, for games without end
INHERIT = 3  # rk_lanes_reset: the row is of an episode that was lost

log = logging.getLogger(__name__)


class Workers:
    """Lanes of a game, as `Lanes` has them, each worker process with a share of them.

    Args:
        game: What to play.
        options: How.
        count: How many lanes.
        workers: How many processes.
        threads: How many work at once, in all processes together; None: as many as there are CPUs.
        autoreset: When a lane whose episode ended begins the next.
        show: Draw frames for `frame` even where no picture is observed.

    Attributes:
        batch: The arrays, written by `reset` and `wait`.
        names: The integration's variables, in the order of ``batch.arrays["values"]``.
        info: What the core says of itself.
        home: What is pressed before a start, see `Lanes`.
        seeds: uint64 [lanes]: what each lane was told to draw by last.
        restarts: int64 [lanes]: how often the core was started anew.

    Raises:
        CoreError: A core cannot be opened, fails, or crashes whenever it is started.
        UserError: Options, integration and core do not go together, or the game is over when it
            starts.
    """

    def __init__(
        self,
        game: Game,
        options: EnvOptions,
        count: int,
        *,
        workers: int,
        threads: int | None = None,
        autoreset: Autoreset = "disabled",
        show: bool = False,
    ) -> None:
        if count < 1 or workers < 1 or (threads is not None and threads < 1):
            found = f"{count} environments in {workers} processes on {threads} threads"
            raise UserError(found, "at least one of each")
        workers = min(workers, count)
        self.game, self.options, self.autoreset, self.count = game, options, autoreset, count
        self.seeds, self.restarts = np.zeros(count, np.uint64), np.zeros(count, np.int64)
        self.names: tuple[str, ...]
        self.info: CoreInfo
        self.home: NDArray[np.uint16]
        self.batch: Batch
        self._shared: SharedBatch | None = None
        self._share = Share(
            game, options, slice(0), count, max(1, (threads or cpus()) // workers), autoreset, show
        )
        self._job: int | None = None
        self._copy: Copy | None = None
        self._pid = os.getpid()
        self._memory = os.memfd_create("retrokit-batch", os.MFD_CLOEXEC)
        self._folder = tempfile.mkdtemp(prefix="retrokit-")
        bounds = [count * number // workers for number in range(workers + 1)]
        self._workers = [
            Worker(slice(first, stop), self._memory, self._folder)
            for first, stop in zip(bounds, bounds[1:], strict=False)
        ]
        self._end = weakref.finalize(
            self, _end, self._workers, self._memory, self._folder, self._pid
        )
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Start all; the first plays the start sequence, and all have the states that it saved."""
        first, *others = self._workers
        self._bring_up([first])
        self._bring_up(others)
        arrays = self.batch.arrays
        self._before = {name: arrays[name].copy() for name in ("results", "values")}
        warn_of(self.game, self.info.version)

    # -- processes come and go -------------------------------------------------------------------

    def _bring_up(self, workers: list[Worker], *after: Callable[[Worker], None]) -> None:
        """Start workers, all at once, until each has gone through all phases.

        Raises:
            CoreError: One is lost again and again.
        """
        phases = (Worker.start, self._hand_over, self._make_room, self._arrive, *after)
        while workers:
            lost = []
            for phase in phases:
                for worker in workers:
                    if worker not in lost and not self._survives(worker, phase):
                        lost.append(worker)
            for worker in workers:
                if worker not in lost:
                    worker.lost = None
            workers = lost

    def _survives(self, worker: Worker, phase: Callable[[Worker], None]) -> bool:
        """Do something with a worker; return whether its process lived through it.

        Raises:
            CoreError: It is lost again and again.
        """
        try:
            phase(worker)
            return True
        except (CoreCrashed, CoreTimeout) as error:
            worker.lost = error
            worker.falls += 1
            worker.losses, worker.steps = worker.losses + 1, 0
            first, last = worker.rows.start, worker.rows.stop - 1
            where = f"environment {first}" if first == last else f"environments {first} to {last}"
            game = f"{self.game.integration.game} ({where})"
            often = ""
            if worker.falls >= MOST_FALLS:
                often = f"{worker.falls} times in a row"
            elif worker.losses >= MOST_LOSSES:
                often = f"{worker.losses} times without an episode played to its end"
            if often:
                found = f"{game}: lost {often}, at last because {error.found}"
                raise CoreError(found, remedy=error.remedy) from error
            self.restarts[worker.rows] += 1
            log.warning("%s is started anew: %s", game, error)
            return False

    def _hand_over(self, worker: Worker) -> None:
        worker.send(replace(self._share, rows=worker.rows))

    def _make_room(self, worker: Worker) -> None:
        layout = worker.receive()
        if self._shared is None:
            self._shared = SharedBatch(layout, self.count, self._memory)
            self.batch, self._orders = self._shared.batch, self._shared.orders
        worker.send(None)

    def _arrive(self, worker: Worker) -> None:
        facts: Facts = worker.receive()
        self.names, self.info, self.home = facts.names, facts.info, facts.home
        if facts.starts:
            self._start_from(facts.starts)

    def _start_from(self, states: Sequence[bytes]) -> None:
        options = replace(self._share.options, starts=tuple(states))
        self._share = replace(self._share, options=options)

    def _replace(self, lost: list[Worker]) -> None:
        """Start workers in the place of lost ones, and let them finish the job."""
        kept = {worker: self._last_rows(worker.rows) for worker in lost}

        def inherit(worker: Worker) -> None:
            for name, rows in kept[worker].items():  # opening the cores wrote there
                self.batch.arrays[name][worker.rows] = rows
            asked, seeds = (self._orders[name][worker.rows] for name in ("asked", "seeds"))
            if self._job != RESET:
                asked[:], seeds[:] = 0, 0
            asked[asked == 0] = INHERIT
            for row, seed in enumerate(seeds.tolist(), worker.rows.start):
                if not seed:
                    self._orders["seeds"][row] = _next_seed(self.seeds[row], self.restarts[row])
            worker.order(RESET)
            worker.wait()
            if self._job == STEP:
                worker.order(STEP)
                worker.wait()

        self._bring_up(lost, inherit)

    def _last_rows(self, rows: slice) -> dict[str, NDArray[Any]]:
        """Return what lanes told last; a picture may be of the step that was lost."""
        last = {name: array[rows].copy() for name, array in self.batch.arrays.items()}
        if self._job is not None:
            last |= {name: array[rows].copy() for name, array in self._before.items()}
        return last

    def _finish(self) -> None:
        """Wait for the job that nobody waited for, and for workers that were lost over none."""
        if os.getpid() != self._pid:
            raise CoreStateError(
                "the environment's worker processes belong to another process",
                remedy="Make the environment in the process that uses it.",
            )
        if not self._end.alive:
            raise CoreStateError("the environment is closed", remedy="Make it anew.")
        if self._job is not None:
            for worker in self._workers:
                if worker.lost is None and self._survives(worker, Worker.wait):
                    worker.falls = 0
                    if worker.losses and self._job == STEP:
                        self._forgive(worker)
        if lost := [worker for worker in self._workers if worker.lost]:
            self._replace(lost)
        self._job = None

    def _forgive(self, worker: Worker) -> None:
        """Forget a worker's losses once an episode of its came to an end, or after many steps."""
        worker.steps += 1
        ended = self.batch.arrays["results"]["ended"][worker.rows]
        if worker.steps >= CALM or ((ended > 0) & (ended != ENDED.index("crash"))).any():
            worker.losses = 0

    # -- at work ---------------------------------------------------------------------------------

    @property
    def n_starts(self) -> int:
        """How many savestates episodes start from."""
        return len(self._share.options.starts)

    def set_starts(self, states: Sequence[bytes]) -> None:
        """Start from other savestates; see `Lanes.set_starts`."""
        self._finish()
        for worker in self._workers:
            self._survives(worker, lambda worker: self._call(worker, "set_starts", states))
        self._start_from(states)

    def reset(
        self,
        lanes: NDArray[np.bool_] | None = None,
        seeds: NDArray[np.uint64] | None = None,
        starts: NDArray[np.int32] | None = None,
    ) -> None:
        """Begin an episode in each lane, and wait for all; see `Lanes.reset`."""
        self._finish()
        asked, given, numbers = asked_for(self.count, lanes, seeds, starts)
        np.copyto(self.seeds, given, where=given > 0)
        self._hand_out(RESET, asked=asked, seeds=given, starts=numbers)
        self.wait()

    def send(self, actions: NDArray[np.int32], copy: Copy | None = None) -> None:
        """Hand out actions; see `Lanes.send`."""
        self._finish()
        most = len(self.game.integration.action_set)
        ended = self.batch.arrays["results"]["ended"] > 0
        ended &= self._share.autoreset == "disabled"
        wrong = (actions.view(np.uint32) >= most) & ~(ended & (actions == REST))
        if wrong.any():
            raise CoreStateError(f"action {actions[wrong][0]}")
        if (ended & (actions != REST)).any():
            raise CoreStateError("the episode has ended")
        self._copy = copy
        self._hand_out(STEP, actions=actions)

    def _hand_out(self, job: int, **orders: NDArray[Any]) -> None:
        for name, array in orders.items():
            self._orders[name][:] = array
        for name, array in self._before.items():  # as bytes: numpy copies records field by field
            array.view(np.uint8)[:] = self.batch.arrays[name].view(np.uint8)
        self._job = job
        for worker in self._workers:
            worker.order(job)

    def wait(self) -> None:
        """Wait until the work is finished; then the batch may be read; see `Lanes.wait`.

        Raises:
            CoreError: A lane failed, or a worker was lost again and again.
        """
        self._finish()
        self._raise_failed()
        copy, self._copy = self._copy, None
        if copy:
            copy.fill(self.batch)

    def _raise_failed(self) -> None:
        for worker in self._workers:
            if worker.failed:
                lane, why = worker.failed
                raise lane_failed(self.game, self.count, worker.rows.start + lane, why)

    def ended(self) -> bool:
        """Whether an episode ended in the last step."""
        return bool(self.batch.arrays["results"]["ended"].any())

    def frame(self, lane: int = 0) -> NDArray[np.uint8]:
        """Return the picture a lane showed last; see `Lanes.frame`."""
        picture: NDArray[np.uint8] = self._ask(lane, "frame")
        return picture

    def log(self, lane: int = 0) -> LaneLog:
        """Return what a lane's game was so far; see `Lanes.log`."""
        log: LaneLog = self._ask(lane, "log")
        return log

    def ram(self, lane: int = 0) -> NDArray[np.uint8]:
        """Return a lane's memory as it is now; see `Lanes.ram`."""
        ram: NDArray[np.uint8] = self._ask(lane, "ram")
        return ram

    def replay(self, logs: Sequence[LaneLog]) -> None:
        """Play a game again in each lane, in all processes at once; see `Lanes.replay`."""
        self._finish()
        calls = (
            lambda worker: self._send_call(worker, "play_again", logs[worker.rows]),
            self._receive_call,
        )
        for phase in calls:
            for worker in self._workers:
                if worker.lost is None:
                    self._survives(worker, phase)
        for worker in self._workers:
            if worker.lost:
                raise worker.lost
        self._raise_failed()

    def _ask(self, lane: int, method: str) -> Any:
        """Return what a method of ``Lanes`` tells of one lane."""
        self._finish()
        worker = next(worker for worker in self._workers if lane < worker.rows.stop)
        answers: list[Any] = []

        def ask(worker: Worker) -> None:
            answers.append(self._call(worker, method, lane - worker.rows.start))

        if not self._survives(worker, ask):
            raise CoreError(f"environment {lane} was lost with its core")
        return answers[0]

    def _call(self, worker: Worker, method: str, *arguments: object) -> Any:
        self._send_call(worker, method, *arguments)
        return self._receive_call(worker)

    def _send_call(self, worker: Worker, method: str, *arguments: object) -> None:
        worker.send((method, arguments))
        worker.order(CALL)

    def _receive_call(self, worker: Worker) -> Any:
        try:
            return worker.receive()
        finally:
            worker.wait()

    # -- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """End the processes; closing twice is harmless."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _end(workers: list[Worker], memory: int, folder: str, pid: int) -> None:
    """Leave nothing behind; a forked child leaves all to the process that it was forked from."""
    ours = os.getpid() == pid
    for worker in workers:
        worker.end(ours)
    os.close(memory)
    if ours:
        shutil.rmtree(folder, ignore_errors=True)


def _next_seed(seed: int, restarts: int) -> int:
    """Return what a lane draws by after a restart: not again what it drew before."""
    drawn = np.random.SeedSequence([int(seed), int(restarts)]).generate_state(1, np.uint64)
    return max(1, int(drawn[0]))
