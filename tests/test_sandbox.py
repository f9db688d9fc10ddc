"""The sandbox: a child may crash, exit, hang, print or be told to stop; the parent says how."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from retrokit import sandbox
from retrokit.content import Content
from retrokit.core import Core
from retrokit.errors import CoreCrashed, CoreTimeout, LoadRefused, SavestateRefused, UserError
from retrokit.systems import FoundCore

Given = tuple[FoundCore, Content]
HERE = Path(__file__).parent


def play(emit: sandbox.Emit, found: FoundCore, content: Content, frames: int = 10) -> int:
    core = Core.open(found, content)
    for _ in range(frames):
        core.run()
    return int(core.read()[0])


def play_beside(emit: sandbox.Emit, bad: Given, good: Given) -> None:
    """Run a bad core in one thread and a good one in another."""
    calm = Core.open(*good)

    def keep_calm() -> None:
        while True:
            calm.run(1)

    threading.Thread(target=keep_calm, daemon=True).start()
    play(emit, *bad)


def count_up(emit: sandbox.Emit, to: int) -> str:
    for number in range(to):
        emit({"number": number, "load": b"x" * (number * 1000)})
    return "counted"


def fail(emit: sandbox.Emit, kind: str) -> object:
    if kind == "user":
        raise UserError("found", "wanted", "remedy")
    if kind == "crash":
        raise CoreCrashed("SIGFPE", "retro_run", ["a", "b"])
    if kind == "bug":
        raise KeyError("a bug")
    if kind == "exit":
        sys.exit(4)
    if kind == "killed":  # as the kernel does when memory runs out
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda: None  # does not pickle


def chatter(emit: sandbox.Emit) -> str:
    print("python prints")
    os.write(1, b"C prints\n")
    os.write(2, b"C complains\n")
    emit(sys.stdin.read())
    return "quiet"


def emit_from_threads(emit: sandbox.Emit) -> None:
    def talk(name: int) -> None:
        for number in range(50):
            emit((name, number, bytes(20000)))

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def until_stopped(emit: sandbox.Emit) -> str:
    emit(os.getpid())
    try:
        while True:
            emit("more")
            time.sleep(0.01)
    except sandbox.Stopped:
        emit("winding up")
        return "kept"


def stubborn(emit: sandbox.Emit) -> None:
    emit(os.getpid())
    time.sleep(60)


def never_catches(emit: sandbox.Emit) -> None:
    while True:
        emit(os.getpid())
        time.sleep(0.01)


# -- results, events, errors ---------------------------------------------------------------------


def test_result_and_events_in_order() -> None:
    seen: list[dict[str, object]] = []
    assert sandbox.call(count_up, (50,), on_event=seen.append) == "counted"
    assert [event["number"] for event in seen] == list(range(50))
    assert sandbox.run(count_up, to=3) == "counted"


def test_events_from_several_threads_stay_whole() -> None:
    seen: list[tuple[int, int, bytes]] = []
    sandbox.call(emit_from_threads, on_event=seen.append)
    for name in range(4):
        assert [number for who, number, _ in seen if who == name] == list(range(50))


def test_a_core_runs_in_the_child(fake_core, fake_content) -> None:
    assert sandbox.run(play, fake_core("counter"), fake_content(), frames=12) == 12


def test_errors_keep_their_type_and_words() -> None:
    with pytest.raises(UserError) as error:
        sandbox.run(fail, "user")
    assert (error.value.found, error.value.wanted, error.value.remedy) == (
        *("found", "wanted", "remedy"),
    )
    with pytest.raises(CoreCrashed) as crash:
        sandbox.run(fail, "crash")
    assert (crash.value.signal, crash.value.log) == ("SIGFPE", ["a", "b"])
    with pytest.raises(sandbox.ChildFailed, match="KeyError: 'a bug'") as bug:
        sandbox.run(fail, "bug")
    assert "in fail" in bug.value.remedy
    with pytest.raises(sandbox.ChildFailed, match="does not pickle"):
        sandbox.run(fail, "unpicklable")


def test_refusals_come_through(fake_core, fake_content) -> None:
    with pytest.raises(LoadRefused, match="no such board"):
        sandbox.run(play, fake_core("refuses"), fake_content())


def test_a_function_of_nowhere_is_an_error() -> None:
    with pytest.raises(sandbox.ChildFailed, match="AttributeError"):
        sandbox.run(lambda emit: None)


def test_an_error_of_the_listener_ends_the_child() -> None:
    def refuse(event: object) -> None:
        raise ConnectionError("the listener's own")

    with pytest.raises(ConnectionError, match="the listener's own"):
        sandbox.call(never_catches, on_event=refuse)


def test_the_childs_prints_stay_inside(capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    assert sandbox.call(chatter, on_event=seen.append) == "quiet"
    assert seen == [""]  # standard input is empty
    assert capfd.readouterr() == ("", "")


# -- crashes -------------------------------------------------------------------------------------


def test_segfault_in_run(fake_core, fake_content) -> None:
    with pytest.raises(CoreCrashed) as crash:
        sandbox.run(play, fake_core("segfault_in_run"), fake_content())
    assert (crash.value.signal, crash.value.last_call) == ("SIGSEGV", "retro_run")
    assert crash.value.log[0] == "info: about to do it"
    assert "SIGSEGV in retro_run" in str(crash.value)


def test_abort_in_load_tells_what_stderr_said(fake_core, fake_content) -> None:
    with pytest.raises(CoreCrashed) as crash:
        sandbox.run(play, fake_core("abort_in_load"), fake_content())
    assert (crash.value.signal, crash.value.last_call) == ("SIGABRT", "retro_load_game")
    assert crash.value.log[0] == "info: reading the header"
    assert "std::out_of_range" in crash.value.log[1]
    assert "std::out_of_range" in str(crash.value)


def test_exit_in_run(fake_core, fake_content) -> None:
    with pytest.raises(CoreCrashed) as crash:
        sandbox.run(play, fake_core("segfault_in_run", HOW=1), fake_content())
    assert (crash.value.signal, crash.value.last_call) == ("exit code 3", "retro_run")


def test_endless_loop_in_run(fake_core, fake_content) -> None:
    given = fake_core("segfault_in_run", HOW=2), fake_content()
    begun = time.monotonic()
    with pytest.raises(CoreTimeout, match="retro_run within 0.5 s.*about to do it"):
        sandbox.call(play, given, call_limit_s=0.5)
    assert time.monotonic() - begun < 15


def test_the_crash_is_told_of_the_core_that_crashed(fake_core, fake_content) -> None:
    good = fake_core("counter"), fake_content()
    for how, signal_name in ((0, "SIGSEGV"), (1, "exit code 3")):
        bad = fake_core("segfault_in_run", HOW=how), fake_content()
        with pytest.raises(CoreCrashed) as crash:
            sandbox.run(play_beside, bad, good)
        assert crash.value.signal == signal_name
        assert crash.value.last_call == "retro_run"
        assert crash.value.log[0] == "info: about to do it"


def test_a_child_that_exits_or_hangs_up() -> None:
    with pytest.raises(CoreCrashed, match="exit code 4 in no call"):
        sandbox.run(fail, "exit")
    with pytest.raises(CoreCrashed, match="SIGKILL in no call"):
        sandbox.run(fail, "killed")


def test_more_cores_than_boxes(fake_core, fake_content) -> None:
    assert sandbox.run(open_many, fake_core("logger"), fake_content()) == [200] * 40


def open_many(emit: sandbox.Emit, found: FoundCore, content: Content) -> list[int]:
    lines = []
    for _ in range(40):
        with Core.open(found, content) as core:
            lines.append(len(core.log()))
    with Core(found) as fresh:
        assert fresh.log() == []
    return lines


def load_bad_state(emit: sandbox.Emit, found: FoundCore, content: Content) -> None:
    Core.open(found, content).load(b"nonsense")


def test_core_errors_in_the_child_are_no_crash(fake_core, fake_content) -> None:
    with pytest.raises(SavestateRefused):
        sandbox.run(load_bad_state, fake_core("counter"), fake_content())


def leaves_a_folder_and_dies(emit: sandbox.Emit) -> None:
    emit(tempfile.mkdtemp(prefix="retrokit-"))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_child_leaves_no_folder() -> None:
    seen: list[str] = []
    with pytest.raises(CoreCrashed):
        sandbox.call(leaves_a_folder_and_dies, on_event=seen.append)
    assert seen and not Path(seen[0]).exists()


# -- Ctrl-C --------------------------------------------------------------------------------------


def press_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_becomes_stopped_and_the_result_still_comes() -> None:
    seen: list[object] = []

    def hear(event: object) -> None:
        if not seen:
            os.kill(os.getpid(), signal.SIGINT)
        seen.append(event)

    assert sandbox.call(until_stopped, on_event=hear) == "kept"
    assert seen[-1] == "winding up"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_without_an_answer_is_keyboard_interrupt() -> None:
    presses = iter([lambda: os.kill(os.getpid(), signal.SIGINT)])

    def hear(event: object) -> None:
        next(presses, int)()

    with pytest.raises(KeyboardInterrupt):
        sandbox.call(never_catches, on_event=hear)


def test_the_second_ctrl_c_ends_the_child() -> None:
    pids: list[int] = []
    timers: list[threading.Timer] = []
    begun = time.monotonic()

    def hear(pid: int) -> None:
        if not pids:  # the second press comes while the parent waits for the stubborn child
            timers.append(press_after(0.5))
            os.kill(os.getpid(), signal.SIGINT)
        pids.append(pid)

    with pytest.raises(KeyboardInterrupt):
        sandbox.call(stubborn, on_event=hear)
    timers[0].join()
    assert time.monotonic() - begun < 20
    assert not alive(pids[0])


def test_the_stop_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "STOP_LIMIT_S", 0.5)

    def hear(event: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sandbox.call(stubborn, on_event=hear)


def told_to_end(emit: sandbox.Emit) -> str:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    return "still here"


def test_what_ends_a_command_reaches_the_child_through_its_parent_alone() -> None:
    """``timeout`` and a terminal signal a whole group: the child winds up when it is told."""
    assert sandbox.run(told_to_end) == "still here"


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_child_dies_with_its_parent(how: signal.Signals) -> None:
    code = (
        "import test_sandbox as t; from retrokit import sandbox;"
        "sandbox.call(t.stubborn, on_event=lambda pid: print(pid, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)])},
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.send_signal(how)
        parent.wait()
        deadline = time.monotonic() + 10
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not alive(pid)


def test_it_works_from_another_thread(fake_core, fake_content) -> None:
    results: list[int] = []
    given: Callable[[], None] = lambda: results.append(  # noqa: E731
        sandbox.run(play, fake_core("counter"), fake_content())
    )
    thread = threading.Thread(target=given)
    thread.start()
    thread.join()
    assert results == [10]


def test_nothing_is_left_open(fake_core, fake_content) -> None:
    given = fake_core("counter"), fake_content()
    sandbox.run(play, *given)
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        sandbox.run(play, *given)
        with pytest.raises(UserError):
            sandbox.run(fail, "user")
    assert sorted(os.listdir("/proc/self/fd")) == before
