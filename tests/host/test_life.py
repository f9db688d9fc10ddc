"""Private copies, many instances, threads, forks, and what opening and closing leaves behind."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrokit import sandbox
from retrokit.content import Content
from retrokit.core import Core
from retrokit.errors import CoreCrashed
from retrokit.systems import FoundCore

Open = Callable[..., Core]


def play_twice(emit: sandbox.Emit, found: FoundCore, content: Content, private: bool) -> list[int]:
    """Interleave two instances; return what each counted."""
    cores = [Core(found, private=private) for _ in range(2)]
    for core in cores:
        core.load_content(content)
    for _ in range(10):
        cores[0].run(1)
        cores[1].run(2)
    return [int(core.read()[0]) for core in cores]


def test_private_copies_share_nothing(fake_core, fake_content) -> None:
    given = fake_core("counter"), fake_content()
    assert sandbox.run(play_twice, *given, True) == [10, 20]
    assert sandbox.run(play_twice, *given, False) == [30, 30]  # why private copies


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_private_copies_share_their_code(fake_core, open_fake: Open) -> None:
    place = str(fake_core("counter").path)
    with open_fake("counter") as first, open_fake("counter") as second:
        maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        code = [line for line in maps if "x" in line[1] and line[-1] == place]
        assert len(code) == 2
        assert not [line for line in maps if "x" in line[1] and "retrokit-core" in line[-1]]
        first.run(3)
        second.run(4)
        assert [int(core.read()[0]) for core in (first, second)] == [3, 4]


def test_without_a_private_copy_init_runs_twice_in_one_image(fake_core, fake_content) -> None:
    given = fake_core("one_init"), fake_content()
    assert sandbox.run(play_twice, *given, True) == [10, 20]
    with pytest.raises(CoreCrashed) as crash:
        sandbox.run(play_twice, *given, False)
    assert (crash.value.signal, crash.value.last_call) == ("SIGABRT", "retro_init")


def test_no_copy_is_left_behind(open_fake: Open) -> None:
    core = open_fake("directories")
    folder = Path(os.fsdecode(bytes(core.read()[260:520]).rstrip(b"\0"))).parent
    assert sorted(path.name for path in folder.iterdir()) == ["save", "system"]
    core.close()
    assert not folder.exists()


def test_a_backslash_in_the_temporary_folder(open_fake: Open, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "odd\\"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    one, two = open_fake("counter"), open_fake("counter")
    one.run(3)
    two.run(5)
    assert [one.read()[0], two.read()[0]] == [3, 5]


def rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def leak(cycle: Callable[[], None], times: int) -> int:
    """Return how many bytes the process grew by; descriptors and mappings must not grow at all."""
    for _ in range(times // 5):
        cycle()
    before, open_before, maps = rss(), descriptors(), mappings()
    for _ in range(times):
        cycle()
    assert descriptors() == open_before
    assert mappings() == maps
    return rss() - before


def mappings() -> int:
    """Return how many mappings of core files there are."""
    return Path("/proc/self/maps").read_text().count("retrokit-core-")


@pytest.mark.parametrize("name", ["counter", "options", "logger", "inputs", "null_region"])
def test_opening_a_hundred_times_leaks_nothing(fake_core, fake_content, name: str) -> None:
    found, content = fake_core(name), fake_content(bytes(1 << 18))

    def cycle() -> None:
        with Core.open(found, content) as core:
            core.run(2)
            core.frame((84, 84), grey=True)
            core.branch(core.save(), np.zeros(2, np.uint16), [2], hashes=True)
            core.record(np.zeros(2, np.uint16), np.array([0]))

    assert leak(cycle, 100) < 1 << 20


def test_failing_a_hundred_times_leaks_nothing(fake_core, fake_content) -> None:
    from retrokit.errors import CoreError

    found = [fake_core("refuses"), fake_core("api_two")]

    def cycle() -> None:
        for core in found:
            with pytest.raises(CoreError):
                Core.open(core, fake_content())

    assert leak(cycle, 100) < 1 << 20


def test_a_dropped_core_is_closed(fake_core, fake_content) -> None:
    before = mappings()
    core = Core.open(fake_core("counter"), fake_content())
    assert mappings() > before
    del core
    assert mappings() == before


def test_two_threads_each_with_its_core(open_fake: Open) -> None:
    cores = [open_fake("options") for _ in range(4)]
    options = ["slow", "fast", "normal", "turbo"]

    def play(number: int) -> None:
        for _ in range(200):
            cores[number].set_option("fake_speed", options[number])
            cores[number].run(1, number)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, core in enumerate(cores):
        assert int(core.read()[0]) == 200
        word = "TURBO yes:turbo" if number == 3 else f"yes:{options[number]}"
        assert core.log()[-1] == f"info: {word} yes: no:"


def test_opening_in_many_threads_at_once(fake_core, fake_content) -> None:
    found, content, counted = fake_core("counter"), fake_content(), []

    def play() -> None:
        for frames in range(1, 9):
            with Core.open(found, content) as core:
                core.run(frames)
                counted.append(int(core.read()[0]) == frames)

    threads = [threading.Thread(target=play) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted == [True] * 64


def test_fork_after_load_works(open_fake: Open) -> None:
    core = open_fake("counter")
    core.run(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        core.run(7)
        core.close()
        os._exit(int(core._host is None) + 10)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11
    core.run(1)
    assert core.read()[0] == 6
    assert Path(core._folder.name).is_dir()  # the child closed its core, not ours
