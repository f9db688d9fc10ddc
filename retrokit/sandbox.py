"""Run a function that uses cores in a child process, because a core is hostile code.

The child can die, hang or print; the parent lives and says what the core was doing: the host notes
every libretro call in a black box in shared memory, which survives the child.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

from .errors import CoreCrashed, CoreTimeout, RetrokitError
from .host import binding

P = ParamSpec("P")
T = TypeVar("T")
Emit = Callable[[Any], None]
"""Sends an event to the parent; raises `Stopped` once, after the user asked to stop."""

CALL_LIMIT_S = 20.0  # no libretro call takes this long, unless the core hangs
STOP_LIMIT_S = 30.0  # what a child may take to wind up after Ctrl-C


class Stopped(BaseException):
    """The user pressed Ctrl-C: wind up, return what there is."""


class ChildFailed(RetrokitError):
    """The function itself failed in the child; carries the child's traceback in ``remedy``."""


def run(
    function: Callable[Concatenate[Emit, P], T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call ``function(emit, …)`` in a child and return its result; events are dropped."""
    return call(function, args, dict(kwargs))


def call(
    function: Callable[..., T],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    on_event: Callable[[Any], None] | None = None,
    call_limit_s: float = CALL_LIMIT_S,
) -> T:
    """Call ``function(emit, *args, **kwargs)`` in a child process.

    Args:
        function: A module's function; it, its arguments, events and result must pickle.
        args: Positional arguments.
        kwargs: Keyword arguments.
        on_event: Called in the parent with each object the child emits.
        call_limit_s: Longest time one libretro call may take, in seconds.

    Raises:
        CoreCrashed: The child died; with the signal, the last call and the last log lines.
        CoreTimeout: A libretro call did not come back in time; the child was killed.
        KeyboardInterrupt: Ctrl-C, and the function did not turn `Stopped` into a result.
        RetrokitError: Whatever the function raised.
    """
    with (
        tempfile.TemporaryFile() as shared,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryDirectory(prefix="retrokit-") as folder,  # a killed child tidies nothing
        _patient() as presses,
    ):
        shared.truncate(binding.box_bytes())
        ours, theirs = socket.socketpair()
        names = (function.__module__, function.__qualname__)
        with Connection(ours.detach()) as pipe:
            with theirs:
                fds = theirs.fileno(), shared.fileno()
                child = start(_child, (*names, *fds), fds, folder, printed)
            try:
                said = _messages(child, pipe, shared, (args, kwargs or {}), presses, call_limit_s)
                for kind, value in said:
                    if kind == "result":
                        answer: T = value
                        return answer
                    if kind == "error":
                        raise value
                    if on_event is not None:
                        on_event(value)
                code, memory = child.wait(), _snapshot(shared)
                printed.seek(0)
                tail = printed.read()[-4000:].decode("utf-8", "replace").splitlines()[-5:]
                raise crash_of(code, binding.boxes_in(memory), tail)
            finally:
                child.kill()
                child.wait()


@contextmanager
def _patient() -> Iterator[list[float]]:
    """Note when Ctrl-C is pressed instead of raising in the middle of a message; twice raises."""
    presses: list[float] = []

    def press(*_: object) -> None:
        presses.append(time.monotonic())
        if len(presses) > 1:
            raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield presses
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_BOOT = """
import importlib, json, sys
path, module, name, *given = json.loads(sys.argv[1])
sys.path[:] = path
getattr(importlib.import_module(module), name)(*given)
"""


def start(
    function: Callable[..., None],
    given: Sequence[int | str],
    fds: Sequence[int],
    folder: str,
    printed: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a child process that calls ``function(*given)``, with Ctrl-C kept from it.

    Args:
        function: A module's function.
        given: Its arguments.
        fds: File descriptors that it inherits.
        folder: For its temporary files.
        printed: Takes what it prints; None: where this process prints.
    """
    setup = [list(sys.path), function.__module__, function.__qualname__, *given]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:  # the child inherits the mask: Ctrl-C never ends it halfway into its start
        return subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(setup)],
            env={**os.environ, "TMPDIR": folder},
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _messages(
    child: subprocess.Popen[bytes],
    pipe: Connection,
    shared: IO[bytes],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    presses: list[float],
    call_limit_s: float,
) -> Iterator[tuple[str, Any]]:
    """Send the arguments and yield what the child says, until it dies."""
    told, checked = False, 0.0
    try:
        pipe.send(arguments)
        while True:
            ready = pipe.poll(0.2)
            now = time.monotonic()
            if now - checked > 0.2:  # even while events keep coming from another thread
                checked = now
                _check_hang(shared, call_limit_s)
                if not ready and child.poll() is not None and not pipe.poll():
                    return
            if presses and not told:
                told = True
                pipe.send("stop")
            if presses and now - presses[0] > STOP_LIMIT_S:
                raise KeyboardInterrupt
            if ready:
                kind, value = pipe.recv()
                if kind == "stopped":
                    raise KeyboardInterrupt
                yield kind, value
    except (EOFError, ConnectionError):
        return


def _snapshot(shared: IO[bytes]) -> bytearray:
    """Return a copy of the black boxes, which outlives the child and the file."""
    return bytearray(os.pread(shared.fileno(), binding.box_bytes(), 0))


def _check_hang(shared: IO[bytes], limit_s: float) -> None:
    memory = _snapshot(shared)
    for box in binding.boxes_in(memory):
        entered = box.entered_ns
        if entered and time.monotonic_ns() - entered > limit_s * 1e9:
            raise hang_of(box, limit_s)


def hang_of(box: Any, limit_s: float) -> CoreTimeout:
    """Return what to say of a core that did not come back in time, by its black box."""
    name = binding.call_name(box.call) or "a call"
    return CoreTimeout(
        f"the core did not come back from {name} within {limit_s:g} s",
        remedy="It hangs; its process was ended. " + " | ".join(binding.core_log(box)[-3:]),
    )


def crash_of(code: int, boxes: Sequence[Any], printed: Sequence[str] = ()) -> CoreCrashed:
    """Return what to say of a child that died.

    Args:
        code: Its exit code; negative for a signal.
        boxes: The black boxes of its cores.
        printed: The last lines it printed.
    """
    box = max(boxes, key=lambda b: (b.signal != 0, b.call != 0, b.log_count, b.last_call))
    known = {number.value: number.name for number in signal.Signals}
    cause = known.get(-code, f"signal {-code}") if code < 0 else f"exit code {code}"
    where = binding.call_name(box.call) or (
        f"no call (the last one was {binding.call_name(box.last_call) or 'none'})"
    )
    log = binding.core_log(box) + [line for line in printed if line.strip()]
    return CoreCrashed(cause, where, log)


def _child(module: str, name: str, pipe_fd: int, shared_fd: int) -> None:
    """Serve one call; runs in the child."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent hears them and tells us; a terminal
        signal.signal(number, signal.SIG_IGN)  # and `timeout` send them to the whole group
    memory = mmap.mmap(shared_fd, binding.box_bytes())
    binding.use_boxes(memory)
    pipe = Connection(pipe_fd)
    arguments = pipe.recv_bytes()
    stop = threading.Event()
    talking = threading.Lock()

    def listen() -> None:
        try:
            pipe.recv()
            stop.set()
            pipe.recv()
        except (EOFError, OSError):
            os._exit(1)  # the parent is gone

    threading.Thread(target=listen, daemon=True).start()

    def emit(event: Any) -> None:
        with talking:
            pipe.send(("event", event))
        if stop.is_set():
            stop.clear()  # once: what winds up may go on emitting
            raise Stopped

    answer: tuple[str, Any]
    try:
        function = getattr(importlib.import_module(module), name)
        args, kwargs = pickle.loads(arguments)
        answer = ("result", function(emit, *args, **kwargs))
    except Stopped:
        answer = ("stopped", None)
    except RetrokitError as error:
        answer = ("error", error)
    except Exception as error:
        failed = ChildFailed(f"{type(error).__name__}: {error}", remedy=traceback.format_exc())
        answer = ("error", failed)
    try:
        if answer[0] == "error":
            pickle.loads(pickle.dumps(answer))  # exceptions may pickle and not unpickle
        with talking:
            pipe.send(answer)
    except Exception as error:  # pickling calls the objects' own code
        pipe.send(("error", ChildFailed(f"the {answer[0]} does not pickle ({error})")))
    pipe.close()
    os._exit(0)  # a core's exit handlers have crashed before; nothing of ours is left to do
