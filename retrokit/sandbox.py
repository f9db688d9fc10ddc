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
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

from .errors import CoreCrashed, CoreTimeout, RetrokitError
from .host import binding

P = ParamSpec("P")
T = TypeVar("T")
Emit = Callable[[Any], None]
"""Sends an event to the parent; raises `Stopped` once the user has asked to stop."""

CALL_LIMIT_S = 20.0  # no libretro call takes this long, unless the core hangs
STOP_LIMIT_S = 30.0  # what a child may take to wind up after Ctrl-C


class Stopped(BaseException):
    """The user pressed Ctrl-C: wind up, return what there is."""


class ChildFailed(RetrokitError):
    """The function itself failed in the child; carries the child's traceback in ``found``."""


def run(
    function: Callable[Concatenate[Emit, P], T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call ``function(emit, …)`` in a child and return its result; events are dropped."""
    return call(function, args, kwargs)


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
    with tempfile.TemporaryFile() as shared, tempfile.TemporaryFile() as printed:
        shared.truncate(binding.box_bytes())
        memory = mmap.mmap(shared.fileno(), binding.box_bytes())
        ours, theirs = socket.socketpair()
        names = (function.__module__, function.__qualname__)
        setup = [list(sys.path), *names, theirs.fileno(), shared.fileno()]
        child = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(setup)],
            pass_fds=(theirs.fileno(), shared.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
        )
        theirs.close()
        with Connection(ours.detach()) as pipe:
            try:
                return _converse(
                    child, pipe, memory, printed, (args, kwargs or {}), on_event, call_limit_s
                )
            finally:
                if child.poll() is None:
                    child.kill()
                child.wait()


_BOOT = """
import json, sys
path, module, name, pipe, shared = json.loads(sys.argv[1])
sys.path[:] = path
from retrokit import sandbox
sandbox._child(module, name, pipe, shared)
"""


def _converse(
    child: subprocess.Popen[bytes],
    pipe: Connection,
    memory: mmap.mmap,
    printed: IO[bytes],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    on_event: Callable[[Any], None] | None,
    call_limit_s: float,
) -> Any:
    stopping = 0.0
    sent = False
    while True:
        try:
            if not sent:
                sent = True
                pipe.send(arguments)
            if stopping and time.monotonic() > stopping:
                raise KeyboardInterrupt
            if not pipe.poll(0.2):
                _check_hang(memory, call_limit_s)
                if child.poll() is not None and not pipe.poll():
                    raise _crash(child.wait(), memory, printed)
                continue
            kind, value = pipe.recv()
        except (EOFError, ConnectionError):
            raise _crash(child.wait(), memory, printed) from None
        except KeyboardInterrupt:
            if stopping:  # the second Ctrl-C, or too slow after the first
                raise
            stopping = time.monotonic() + STOP_LIMIT_S
            try:
                pipe.send("stop")
            except ConnectionError:
                raise KeyboardInterrupt from None
            continue
        if kind == "event" and on_event is not None:
            on_event(value)
        elif kind == "result":
            return value
        elif kind == "stopped":
            raise KeyboardInterrupt
        elif kind == "error":
            raise value


def _check_hang(memory: mmap.mmap, limit_s: float) -> None:
    for box in binding.boxes_in(memory):
        entered = box.entered_ns
        if entered and time.monotonic_ns() - entered > limit_s * 1e9:
            name = binding.call_name(box.call) or "a call"
            raise CoreTimeout(
                f"the core did not come back from {name} within {limit_s:g} s",
                remedy="It hangs; its process was ended. " + " | ".join(binding.core_log(box)[-3:]),
            )


def _crash(code: int, memory: mmap.mmap, printed: IO[bytes]) -> CoreCrashed:
    boxes = binding.boxes_in(memory)
    box = max(boxes, key=lambda b: (b.signal != 0, b.call != 0, b.log_count, b.last_call))
    cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    printed.seek(0)
    tail = printed.read()[-4000:].decode("utf-8", "replace").splitlines()[-5:]
    where = binding.call_name(box.call) or (
        f"no call (the last one was {binding.call_name(box.last_call) or 'none'})"
    )
    log = binding.core_log(box) + [line for line in tail if line.strip()]
    return CoreCrashed(cause, where, log)


def _child(module: str, name: str, pipe_fd: int, shared_fd: int) -> None:
    """Serve one call; runs in the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and tells us
    memory = mmap.mmap(shared_fd, binding.box_bytes())
    binding.use_boxes(memory)
    pipe = Connection(pipe_fd)
    args, kwargs = pipe.recv()
    stop = threading.Event()

    def listen() -> None:
        try:
            pipe.recv()
            stop.set()
            pipe.recv()
        except (EOFError, OSError):
            os._exit(1)  # the parent is gone

    threading.Thread(target=listen, daemon=True).start()

    def emit(event: Any) -> None:
        pipe.send(("event", event))
        if stop.is_set():
            raise Stopped

    answer: tuple[str, Any]
    try:
        function = getattr(importlib.import_module(module), name)
        answer = ("result", function(emit, *args, **kwargs))
    except Stopped:
        answer = ("stopped", None)
    except RetrokitError as error:
        answer = ("error", error)
    except Exception as error:
        import traceback

        trace = traceback.format_exc()
        answer = ("error", ChildFailed(f"{type(error).__name__}: {error}", remedy=trace))
    try:
        pipe.send(answer)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        pipe.send(("error", ChildFailed(f"the result does not pickle ({error})")))
    pipe.close()
    os._exit(0)  # a core's exit handlers have crashed before; nothing of ours is left to do
