"""One worker process: some of the lanes of a game, in a child that may crash or hang.

The parent writes orders into memory that both map and rings; the worker does what its `Lanes` can,
writes its rows of the batch and rings back. What is no everyday's work goes through a pipe.
"""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .batch import Batch, Layout
from .core import CoreInfo
from .errors import CoreCrashed, CoreTimeout, RetrokitError
from .host import binding
from .host.binding import ffi, lib
from .lanes import Lanes
from .load import Game
from .options import EnvOptions
from .plan import Autoreset
from .sandbox import CALL_LIMIT_S, ChildFailed, crash_of, hang_of, start

STEP, RESET, CALL = range(3)  # kinds of orders
SLICE_MS = 50  # how often one who waits looks whether there is anything to wait for
ASLEEP_LIMIT_S = 120.0  # by the clock; CALL_LIMIT_S is of the worker's processor time
PAGE = 4096
assert ffi.sizeof("rk_desk") <= PAGE
ORDERS: tuple[tuple[str, DTypeLike], ...] = (
    ("actions", np.int32),
    ("asked", np.uint8),
    ("seeds", np.uint64),
    ("starts", np.int32),
)


@dataclass(frozen=True)
class Share:
    """What a worker is for; arguments of `Lanes`, but for ``rows`` of ``count``."""

    game: Game
    options: EnvOptions
    rows: slice
    count: int
    threads: int
    autoreset: Autoreset
    show: bool


@dataclass(frozen=True)
class Facts:
    """What a worker knows once its cores are open; see `Lanes`.

    Attributes:
        starts: The savestates to start from, where it was not given them; empty otherwise.
    """

    names: tuple[str, ...]
    info: CoreInfo
    home: NDArray[np.uint16]
    starts: Sequence[bytes]


class SharedBatch:
    """The batch of all lanes, and the orders for them, in memory that processes share.

    Attributes:
        batch: The arrays that workers write.
        orders: Name → array [lanes], written by the parent.
    """

    def __init__(self, layout: Layout, count: int, fd: int) -> None:
        each = -(-count // 8) * 64  # for 8 bytes a lane, in whole lines of cache
        size = each * len(ORDERS) + Batch.size_of(layout, count)
        if os.fstat(fd).st_size < size:
            os.ftruncate(fd, size)
        memory = mmap.mmap(fd, size)
        self.orders: dict[str, NDArray[Any]] = {
            name: np.ndarray(count, dtype, memory, each * number)
            for number, (name, dtype) in enumerate(ORDERS)
        }
        self.batch = Batch(layout, count, memoryview(memory)[each * len(ORDERS) :])


class Worker:
    """The parent's end of a worker process.

    Args:
        rows: Its lanes.
        memory: File descriptor of the memory for `SharedBatch`.
        folder: For temporary files of all workers.

    Attributes:
        process: The process; None before `start`.
        lost: Why the process had to end; set by who replaces it.
        falls: How often it was lost without a job done in between.
        losses: How often it was lost since it last was known to be of use.
        steps: How many it took since it was lost.
        failed: The lane, counted from its first, that failed in the last order, and why.
    """

    def __init__(self, rows: slice, memory: int, folder: str) -> None:
        self.rows = rows
        self.process: subprocess.Popen[bytes] | None = None
        self.lost: CoreCrashed | CoreTimeout | None = None
        self.falls = self.losses = self.steps = 0
        self.failed: tuple[int, str] | None = None
        self._memory, self._folder = memory, folder

    def start(self) -> None:
        """Start the process, in the place of one that was lost."""
        self.end()
        boxes = binding.box_bytes(self.rows.stop - self.rows.start)
        desk = os.memfd_create("retrokit-desk", os.MFD_CLOEXEC)
        ours, theirs = socket.socketpair()
        self._pipe = Connection(ours.detach())
        with theirs:
            try:
                os.ftruncate(desk, PAGE + boxes)
                self._desk, memory = _desk(desk)
                self._boxes = binding.boxes_in(memory)
                fds = theirs.fileno(), self._memory, desk
                self.process = start(serve, (*fds, os.getpid(), self._folder), fds, self._folder)
            finally:
                os.close(desk)
        self._sent, self._quiet, self._frames, self._used = 0, 0, 0, 0.0

    def end(self, ours: bool = True) -> None:
        """End the process, at once; harmless where there is none.

        Args:
            ours: This process started it; otherwise it is only forgotten.
        """
        process, self.process = self.process, None
        if process is None:
            return
        if ours:
            process.kill()
            process.wait()
        else:
            process.returncode = 0  # a forked child has nothing to warn of
        self._pipe.close()

    def send(self, message: object) -> None:
        """Write to the pipe.

        Raises:
            CoreCrashed: The process has died.
        """
        with self._dying():
            self._pipe.send(message)

    def receive(self) -> Any:
        """Return what comes through the pipe; raise it, where it is an exception.

        Raises:
            CoreCrashed: The process died first.
            CoreTimeout: It ran no frame for too long.
        """
        self._quiet = 0
        while not self._pipe.poll(SLICE_MS / 1000):
            self._look(self._pipe.poll)
        return self._read()

    def _read(self) -> Any:
        with self._dying():
            answer = self._pipe.recv()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def order(self, kind: int) -> None:
        """Ring for work; `wait` must follow."""
        self._desk.kind = kind
        self._sent += 1
        self._quiet = 0
        lib.rk_ring(ffi.addressof(self._desk, "order"))

    def wait(self) -> None:
        """Wait until the last order was carried out, or failed in one lane (see ``failed``).

        Raises:
            CoreCrashed: The process died first.
            CoreTimeout: It ran no frame for too long.
        """
        bell = ffi.addressof(self._desk, "answer")
        while lib.rk_listen(bell, self._sent - 1, SLICE_MS) != self._sent:
            self._look(lambda: bool(self._desk.answer.rung == self._sent))
        lane = self._desk.failed
        self.failed = (lane - 1, binding.text(self._desk.why)) if lane else None

    def _look(self, answered: Callable[[], bool]) -> None:
        """Raise if the process has died, or has run no frame for too long; once a slice."""
        code = self._process().poll()
        if code is not None:
            if answered():
                return
            self._read()  # its last words, where it had any
            raise crash_of(code, self._boxes)
        frames, used = sum(box.frames for box in self._boxes), _cpu_seconds(self._process().pid)
        if frames != self._frames or not self._quiet:
            self._frames, self._used, self._quiet = frames, used, 0
        self._quiet += 1
        busy = used - self._used  # on a crowded machine a core is slow by the clock, and no more
        waited = self._quiet * SLICE_MS / 1000  # Ctrl-Z stops us too
        asleep = waited > ASLEEP_LIMIT_S and busy < waited / 100
        if asleep or busy > CALL_LIMIT_S:
            inside = min(self._boxes, key=lambda box: box.entered_ns or 1 << 64)
            raise hang_of(inside, ASLEEP_LIMIT_S if asleep else CALL_LIMIT_S)

    @contextmanager
    def _dying(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, ConnectionError):
            raise crash_of(self._process().wait(), self._boxes) from None

    def _process(self) -> subprocess.Popen[bytes]:
        assert self.process is not None
        return self.process


def _cpu_seconds(pid: int) -> float:
    """Return the processor time that another process has used."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid makes it


def _desk(fd: int) -> tuple[Any, memoryview]:
    """Return the desk and the memory of the black boxes, which a worker and its parent share."""
    memory = mmap.mmap(fd, os.fstat(fd).st_size)
    return ffi.from_buffer("rk_desk *", memory), memoryview(memory)[PAGE:]


# -- in the child --------------------------------------------------------------------------------


def serve(pipe_fd: int, memory: int, desk_fd: int, parent: int, folder: str) -> None:
    """Be a worker, until the parent ends it or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C
    threading.Thread(target=_follow, args=(parent, folder), daemon=True).start()
    pipe = Connection(pipe_fd)
    try:
        _work(pipe, memory, desk_fd)
    except (EOFError, ConnectionError):
        pass  # the parent is gone, or does not want us any more
    except RetrokitError as error:
        pipe.send(error)
    except Exception as error:
        pipe.send(ChildFailed(f"{type(error).__name__}: {error}", remedy=traceback.format_exc()))
    pipe.close()
    os._exit(0)  # a core's exit handlers have crashed before


def _follow(parent: int, folder: str) -> None:
    """End with the parent, even in the middle of a call that hangs."""
    while os.getppid() == parent:
        time.sleep(0.2)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _work(pipe: Connection, memory: int, desk_fd: int) -> None:
    desk, boxes = _desk(desk_fd)
    binding.use_boxes(boxes)
    share: Share = pipe.recv()
    shared: SharedBatch

    def batch(layout: Layout, count: int) -> Batch:
        nonlocal shared
        pipe.send(layout)
        pipe.recv()  # the parent has made the memory
        shared = SharedBatch(layout, share.count, memory)
        return shared.batch.rows(share.rows.start, share.rows.stop)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parent warns, once
        lanes = Lanes(
            share.game,
            share.options,
            share.rows.stop - share.rows.start,
            threads=share.threads,
            autoreset=share.autoreset,
            show=share.show,
            batch=batch,
        )
    given = all(isinstance(start, bytes) for start in share.options.starts)
    pipe.send(Facts(lanes.names, lanes.info, lanes.home, () if given else lanes.starts))
    mine = {name: array[share.rows] for name, array in shared.orders.items()}
    order, answer = (ffi.addressof(desk, bell) for bell in ("order", "answer"))
    heard = 0
    while True:
        before, heard = heard, lib.rk_listen(order, heard, 10_000)
        if heard == before:
            continue
        if desk.kind == CALL:
            _call(lanes, pipe)
        elif desk.kind == STEP:
            lanes.send(mine["actions"])
        else:
            lanes.begin(mine["asked"], mine["seeds"], mine["starts"])
        lane, why = lanes.finish() or (-1, "")
        desk.failed, desk.why = lane + 1, why.encode()[:255]
        lib.rk_ring(answer)


def _call(lanes: Lanes, pipe: Connection) -> None:
    """Call a method of ours by name, with what the pipe brings; answer with what it returns."""
    name, arguments = pipe.recv()
    try:
        pipe.send(getattr(lanes, name)(*arguments))
    except RetrokitError as error:
        pipe.send(error)
