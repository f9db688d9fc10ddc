"""The host on the real cores of the stable-retro wheel; skipped where core or ROM is absent."""

from __future__ import annotations

import hashlib
import os
import random
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrokit import sandbox
from retrokit.content import Content, identify
from retrokit.core import Core
from retrokit.errors import CoreNotFound, LoadRefused, SavestateRefused
from retrokit.host import binding
from retrokit.savestate import HEADER
from retrokit.systems import FoundCore, data_path, find_core, package_folder

# Core and ROM; ROMs come from ale-py, the shared corpus, the stable-retro wheel or our own games.
PAIRS = [
    ("stella", "ale/breakout.bin"),
    ("stella", "ale/ms_pacman.bin"),
    ("genesis_plus_gx", "corpus/genesis/miniplanets-rev04.bin"),
    ("genesis_plus_gx", "corpus/sms/datastorm.sms"),
    ("fceumm", "corpus/nes/dabg.nes"),
    ("gambatte", "corpus/gb/wyrmhole.gb"),
    ("snes9x", "corpus/snes/snes07-pong.sfc"),
    ("fbneo", "games/burrow/burrow.zip"),
]
IDS = [f"{core}-{Path(rom).stem}" for core, rom in PAIRS]
FRAMES = 120
Given = tuple[FoundCore, Content]


@pytest.fixture(scope="session")
def real(repo: Path) -> Callable[[str, str], Given]:
    """Return a core and its content; skips where one is absent."""

    def find(core: str, rom: str) -> Given:
        place, _, name = rom.partition("/")
        shared = Path(os.environ.get("RETROKIT_SHARED", repo.parent / "shared"))
        folder = {
            "ale": package_folder("ale-py", "ale_py/roms/*.bin"),
            "corpus": shared / "corpus",
            "retro": package_folder("stable-retro", "*/Airstriker-Genesis-v0/rom.md"),
            "games": data_path("games"),
        }[place]
        if folder is None or not (folder / name).is_file():
            pytest.skip(f"no {rom}")
        try:
            return find_core(core), identify(folder / name)
        except CoreNotFound:
            pytest.skip(f"no core {core}")

    return find


def buttons(seed: int, frames: int = FRAMES) -> np.ndarray:
    """Return a button log that presses START early and moves on."""
    rng = np.random.default_rng(seed)
    log = np.repeat(rng.integers(0, 1 << 9, frames // 6 + 1), 6)[:frames].astype(np.uint16)
    log[30:36] = 1 << 3
    return log


def chain(core: Core, log: np.ndarray) -> list[bytes]:
    """Play a log; return the digest of SYSTEM_RAM after every frame."""
    core.select(["SYSTEM_RAM"])  # fceumm's cartridge RAM is uninitialised, another one each time
    digests = []
    for mask in log:
        core.run(1, int(mask))
        digests.append(hashlib.sha1(core.read()).digest())
    return digests


def solo(given: Given, log: np.ndarray) -> list[bytes]:
    with Core.open(*given) as core:
        return chain(core, log)


@pytest.mark.parametrize(("core", "rom"), PAIRS, ids=IDS)
def test_interleaved_instances_play_as_if_alone(real, core: str, rom: str) -> None:
    given = real(core, rom)
    logs = [buttons(seed) for seed in range(3)]
    alone = [solo(given, log) for log in logs]
    cores = [Core.open(*given) for _ in logs]
    seen: list[list[bytes]] = [[] for _ in logs]
    order = [number for number in range(3) for _ in range(FRAMES)]
    random.Random(5).shuffle(order)
    for number in order:
        frame = len(seen[number])
        seen[number] += chain(cores[number], logs[number][frame : frame + 1])
    for one in cores:
        one.close()
    assert seen == alone
    assert len(set(alone[0])) > FRAMES // 2


def test_all_cores_together_in_two_threads(real) -> None:
    given = []
    for core, rom in PAIRS:
        try:
            given.append(real(core, rom))
        except pytest.skip.Exception:
            continue
    if len(given) < 2:
        pytest.skip("fewer than two cores")
    log = buttons(7, 60)
    alone = [solo(pair, log) for pair in given]
    seen: dict[tuple[int, int], list[bytes]] = {}

    def play(thread: int) -> None:
        cores = [Core.open(*pair) for pair in given]
        for number, core in enumerate(cores):
            seen[thread, number] = chain(core, log[:30])
        for number, core in enumerate(cores):
            seen[thread, number] += chain(core, log[30:])
            core.close()

    threads = [threading.Thread(target=play, args=(thread,)) for thread in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for thread in range(2):
        assert [seen[thread, number] for number in range(len(given))] == alone


# Not Breakout: Stella keeps the paddle outside its savestates, so that a restored run depends on
# what was played before it.
@pytest.mark.parametrize(("core", "rom"), PAIRS[1:], ids=IDS[1:])
def test_whole_loops_equal_single_steps(real, core: str, rom: str) -> None:
    given, log = real(core, rom), buttons(11)
    with Core.open(*given) as one, Core.open(*given) as two:
        for each in (one, two):
            each.select(["SYSTEM_RAM"])
        kept = np.arange(0, one.ram_size, 7, dtype=np.int32)
        ram, _ = one.record(log, kept)
        stepped = []
        for mask in log:
            two.run(1, int(mask), see=False)
            stepped.append(two.read()[kept])
        assert (ram == stepped).all()
        state = one.save()
        logs = np.stack([buttons(seed, 40) for seed in (1, 2, 1)])
        got = one.branch(state, logs, [10, 40], kept=kept, hashes=True)
        for number, branch in enumerate(logs):
            one.load(state)
            for look, (begin, end) in enumerate(((0, 10), (10, 40))):
                for mask in branch[begin:end]:
                    one.run(1, int(mask))
                assert (got.ram[number, look] == one.read()[kept]).all()
        assert (got.hashes[0] == got.hashes[2]).all()
        assert got.hashes.all()


@pytest.mark.parametrize(("core", "rom"), PAIRS, ids=IDS)
def test_pictures_hash_and_resize(real, core: str, rom: str) -> None:
    with Core.open(*real(core, rom)) as one:
        one.run(90)
        whole = one.frame()
        assert whole.shape == (one.frame_size[1], one.frame_size[0], 3)
        assert whole.std() > 1
        assert abs(float(one.frame((84, 84)).mean()) - float(whole.mean())) < 1
        grey = whole @ [0.299, 0.587, 0.114]
        assert np.abs(one.frame(grey=True) - grey).max() < 0.51


def bad_states(emit: sandbox.Emit, found: FoundCore, content: Content) -> int:
    """Offer every wrong savestate of cases.md; return how many were refused."""
    core, refused = Core.open(found, content), 0
    core.run(60)
    good = core.save()
    head, body = good[: HEADER.size], good[HEADER.size :]
    noise = random.Random(3).randbytes(len(body))
    bad = [good[:-1], good[: len(good) // 2], good + b"xx", body, noise, bytes(len(body))]
    bad += [head + noise, head + bytes(len(body)), head[:12] + bytes(48) + body]
    for state in bad:
        try:
            core.load(state)
        except SavestateRefused:
            refused += 1
    core.run(60)
    core.load(good)
    core.run(60)
    core.close()
    return refused - len(bad)


@pytest.mark.parametrize(("core", "rom"), PAIRS, ids=IDS)
def test_wrong_savestates_never_reach_the_core(real, core: str, rom: str) -> None:
    assert sandbox.run(bad_states, *real(core, rom)) == 0


def test_savestates_of_another_game_are_refused(real) -> None:
    with (
        Core.open(*real("stella", "ale/breakout.bin")) as one,
        Core.open(*real("stella", "ale/ms_pacman.bin")) as two,
        pytest.raises(SavestateRefused, match="another game"),
    ):
        two.load(one.save())


def test_ram_of_a_core_that_needs_a_logger(real) -> None:
    """Genesis Plus GX dies in retro_get_memory_data without one, and without its options."""
    given = real("genesis_plus_gx", "retro/rom.md")
    assert sandbox.run(ram_and_log, *given)[0] == 65536


def ram_and_log(emit: sandbox.Emit, found: FoundCore, content: Content) -> tuple[int, list[str]]:
    with Core.open(found, content) as core:
        core.run(60)
        return core.memory["SYSTEM_RAM"].size, core.log()


def test_fbneo_says_true_and_means_no(real, tmp_path) -> None:
    from zipfile import ZipFile

    found, _ = real("fbneo", "games/burrow/burrow.zip")
    with ZipFile(tmp_path / "galaxian.zip", "w") as archive:
        archive.writestr("galmidw.u", bytes(2048))
    with pytest.raises(LoadRefused, match="refused galaxian.zip"):
        Core.open(found, identify(tmp_path / "galaxian.zip", system="arcade"))


def test_fbneo_on_the_dig_dug_board(real) -> None:
    with Core.open(*real("fbneo", "games/burrow/burrow.zip")) as core:
        assert core.ram_size == 5120
        assert core.info.rotation == 270
        core.run(400)
        assert core.info.asks_av_enable
        assert core.frame_size == (224, 288)
        core.run(50, see=False)
        before = core.info.dupes
        core.run(50, see=False)
        assert core.info.dupes == before + 50  # it draws nothing on frames nobody looks at
        core.run(1)
        assert core.info.dupes == before + 50


def mapped() -> int:
    return Path("/proc/self/maps").read_text().count("retrokit-core-")


@pytest.mark.parametrize(
    ("core", "rom", "times"),
    [(*PAIRS[0], 100), (*PAIRS[2], 20), (*PAIRS[4], 40), (*PAIRS[-1], 8)],
    ids=[IDS[0], IDS[2], IDS[4], IDS[-1]],
)
def test_opening_often_leaks_little(real, core: str, rom: str, times: int) -> None:
    given = real(core, rom)
    sizes = sandbox.run(open_often, *given, times)
    # dlclose of some cores loses up to 140 kB of their own, and the heap grows by steps; a leaked
    # image would be megabytes each time.
    assert sizes[-1] - sizes[len(sizes) // 4] < times * 160_000 + (2 << 20)
    assert sandbox.run(left_open, *given, 3) == (0, 0)


def open_often(emit: sandbox.Emit, found: FoundCore, content: Content, times: int) -> list[int]:
    sizes = []
    for _ in range(times):
        with Core.open(found, content) as core:
            core.run(2)
            core.frame()
            core.save()
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
    return sizes


def left_open(
    emit: sandbox.Emit, found: FoundCore, content: Content, times: int
) -> tuple[int, int]:
    open_often(emit, found, content, 1)
    before = len(os.listdir("/proc/self/fd")), mapped()
    open_often(emit, found, content, times)
    return len(os.listdir("/proc/self/fd")) - before[0], mapped() - before[1]


@pytest.mark.parametrize(("core", "rom"), PAIRS, ids=IDS)
def test_fork_after_load(real, core: str, rom: str) -> None:
    given, log = real(core, rom), buttons(2, 60)
    alone = b"".join(solo(given, log)[30:])
    with Core.open(*given) as one:
        chain(one, log[:30])
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytest may have threads
            child = os.fork()
        if not child:
            try:
                os.write(writer, b"".join(chain(one, log[30:])))
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:
            told = pipe.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert told == alone
        assert b"".join(chain(one, log[30:])) == alone


def test_searchable_memory_holds_no_byte_twice(real) -> None:
    with Core.open(*real("gambatte", "corpus/gb/wyrmhole.gb")) as core:
        names = [span.region for span in core.spans]
        assert names[0] == "SYSTEM_RAM"
        assert "MAP_FF80" in names  # HRAM, which SYSTEM_RAM has not
        assert "MAP_C000" not in names  # SYSTEM_RAM under another name
        regions = binding.core_regions(core.handle())
        assert len(binding.searchable(regions)) == len(names)
