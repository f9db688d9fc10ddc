"""Core on well-behaved and unruly fake cores: life, frames, memory, whole loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrokit.core import SAVESTATE, Core, Span
from retrokit.errors import (
    CoreError,
    CoreStateError,
    LoadRefused,
    NoMemory,
    SavestateRefused,
    UserError,
)

Open = Callable[..., Core]
B, UP = 1 << 0, 1 << 4
FRAMES, POINTS, HELD = np.arange(4), np.arange(4, 8), 8


def count(core: Core) -> int:
    """Return the frames that the counter game counted."""
    return int(core.read()[:4].view("<u4")[0])


def log_of(frames: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 12, frames).astype(np.uint16)


# -- life ----------------------------------------------------------------------------------------


def test_a_counter_game_of_5120_bytes(open_fake: Open) -> None:
    core = open_fake("counter")
    assert core.spans == (Span("SYSTEM_RAM", 0, 5120),)
    assert core.ram_size == 5120
    core.run(7)
    core.run(3, B)
    ram = core.read()
    assert (ram.dtype, ram.shape) == (np.uint8, (5120,))
    assert count(core) == 10
    assert ram[4] == 3
    assert ram[HELD] == B
    assert core.frame_size == (64, 48)
    assert core.info.fps == 60
    assert core.info.extensions == ("bin", "rom")


def test_calls_are_made_in_order(open_fake: Open) -> None:
    """The core itself aborts on a call out of order, so that getting through is the assertion."""
    core = open_fake("order")
    core.run(3)
    core.load(core.save())
    core.reset()
    core.frame_size if core.run() else core.read()
    core.branch(core.save(), log_of(4), [2, 4], kept=FRAMES, hashes=True)
    core.record(log_of(4), FRAMES)
    core.close()
    core.close()


def test_an_opened_core_is_asked_for_nothing_before_load(fake_core, fake_content) -> None:
    with Core(fake_core("early_memory")) as core:
        assert core.regions() == []
        assert core.memory == {}
        assert core.info.savestate_size == 0
        for call in (core.run, core.reset, core.read, core.save):
            with pytest.raises(CoreError):
                call()
        with pytest.raises(CoreStateError):
            core.frame()
        core.load_content(fake_content())
        core.run(2)
        assert core.ram_size == 5120


def test_a_refused_load_may_be_followed_by_another(fake_core, fake_content) -> None:
    with Core(fake_core("order")) as core:
        with pytest.raises(LoadRefused):
            core.load_content(fake_content(b""))
        core.load_content(fake_content(b"x"))
        with pytest.raises(LoadRefused, match="already loaded"):
            core.load_content(fake_content(b"x"))


def test_a_closed_core_says_so(open_fake: Open) -> None:
    core = open_fake("counter")
    core.close()
    for call in (core.run, core.read, core.frame, core.save, core.regions, core.reset, core.log):
        with pytest.raises(CoreStateError, match="closed"):
            call()


def test_unload_and_init_happen_once(open_fake: Open) -> None:
    for core in [open_fake("one_init") for _ in range(3)]:
        core.run()
        core.close()
        core.close()


def test_refusal_tells_the_log(open_fake: Open) -> None:
    with pytest.raises(LoadRefused, match=r"refused .*\.bin.*no such board"):
        open_fake("refuses")


def test_true_on_refusal_is_a_refusal(open_fake: Open) -> None:
    with pytest.raises(LoadRefused, match="error screen"):
        open_fake("true_on_refusal", quirks="true_on_refusal")
    assert open_fake("true_on_refusal").spans[0].region == SAVESTATE  # others just have no RAM


def test_content_stays_alive_and_unchanged(fake_core, tmp_path) -> None:
    from retrokit.content import Content

    data = bytearray(range(256)) * 4
    path = tmp_path / "kept.bin"
    sha1 = "00" * 20
    content = Content(path, "a", "unknown", sha1, sha1, 1024, "", "rom", path, bytes(data))
    core = Core.open(fake_core("keeps_content"), content)
    del content
    junk = [bytes(1024) for _ in range(2000)]
    core.run(5)
    ram = core.read()
    assert bytes(ram[:1024]) == data
    assert bytes(ram[1024:]).split(b"\0")[0] == str(path).encode()
    del junk
    core.close()


def test_full_path_cores_get_a_path_and_no_data(open_fake: Open, fake_core, tmp_path) -> None:
    from retrokit.content import Content

    core = open_fake("full_path", b"on disk")
    assert bytes(core.read()[:7]) == b"on disk"
    inside = tmp_path / "a.zip" / "inside.bin"  # unpacked content has a path that does not exist
    content = Content(inside, "a", "unknown", "00" * 20, "", 8, "", "rom", inside, b"unpacked")
    with Core.open(fake_core("full_path"), content) as core:
        assert bytes(core.read()[:8]) == b"unpacked"


def test_a_core_without_content(open_fake: Open, fake_core) -> None:
    with Core.open(fake_core("no_content"), None) as core:
        core.run(2)
        assert count(core) == 2
        assert core.info.supports_no_game
    with pytest.raises(LoadRefused, match="without content"):
        Core.open(fake_core("counter"), None)


def test_what_is_no_core_is_refused(fake_core, tmp_path) -> None:
    from dataclasses import replace

    found = fake_core("api_two")
    with pytest.raises(CoreError, match="API version 2"):
        Core(found)
    for name, data in (("text.so", b"hello"), ("empty.so", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CoreError, match="cannot open the core"):
            Core(replace(found, path=tmp_path / name))
    with pytest.raises(CoreError, match="No such file"):
        Core(replace(found, path=tmp_path / "missing.so"))


# -- frames --------------------------------------------------------------------------------------


def test_no_picture_until_a_frame_has_run(open_fake: Open) -> None:
    core = open_fake("counter")
    state = core.save()
    for change in (lambda: None, core.reset, lambda: core.load(state)):
        change()
        with pytest.raises(CoreStateError, match="no picture"):
            core.frame()
        with pytest.raises(CoreStateError, match="no picture"):
            _ = core.frame_size
        core.run()
        assert core.frame().shape == (48, 64, 3)


def test_an_unseen_frame_leaves_no_old_picture(open_fake: Open) -> None:
    core = open_fake("counter")
    core.run(3)
    core.run(3, see=False)
    with pytest.raises(CoreStateError):
        core.frame()


def test_buttons_are_released_by_reset_and_load(open_fake: Open) -> None:
    core = open_fake("inputs")
    core.poke([50, 52], [0xEE, 0xEE])
    core.run(3, B | UP)
    core.load(core.save())
    assert core.read()[52] == 0
    core.run(3, B | UP)
    core.reset()
    assert core.read()[50] == 0


def test_run_takes_a_mask_a_port(open_fake: Open) -> None:
    core = open_fake("inputs")
    core.run(1, [0x0001, 0x8000, 0x0FF0])
    ports = core.read()[16:32].view("<u2")
    assert list(ports) == [0x0001, 0x8000, 0x0FF0, 0, 0, 0, 0, 0]
    core.run(1, np.uint16(5))
    assert list(core.read()[16:32].view("<u2")) == [5, 0, 0, 0, 0, 0, 0, 0]


# -- memory --------------------------------------------------------------------------------------


def test_views_are_live_and_writable(open_fake: Open) -> None:
    core = open_fake("counter")
    ram = core.memory["SYSTEM_RAM"]
    ram[100] = 77
    assert core.read()[100] == 77
    core.poke([101, 102], [1, 255])
    assert list(core.memory["SYSTEM_RAM"][100:103]) == [77, 1, 255]


def test_read_is_a_copy(open_fake: Open) -> None:
    core = open_fake("counter")
    before = core.read()
    core.run(5)
    assert before[0] == 0


@pytest.mark.parametrize("offset", [-1, 5120, 1 << 30])
def test_poking_outside_is_an_error(open_fake: Open, offset: int) -> None:
    with pytest.raises(ValueError, match=r"0\.\.5119"):
        open_fake("counter").poke([offset], [1])


def test_selecting(open_fake: Open) -> None:
    core = open_fake("counter")
    assert core.select([SAVESTATE, "SYSTEM_RAM"]) == (
        Span(SAVESTATE, 0, 5120),
        Span("SYSTEM_RAM", 5120, 5120),
    )
    core.run(3)
    assert list(core.read()[[0, 5120]]) == [3, 3]
    with pytest.raises(UserError, match="no memory region VRAM.*SYSTEM_RAM"):
        core.select(["VRAM"])
    assert core.select() == (Span("SYSTEM_RAM", 0, 5120),)


def test_no_memory_at_all(open_fake: Open) -> None:
    core = open_fake("nothing")
    assert core.spans == ()
    assert core.memory == {}
    core.run()
    with pytest.raises(NoMemory):
        core.read()
    with pytest.raises(CoreError, match="cannot save"):
        core.save()


# -- whole loops ---------------------------------------------------------------------------------


def test_record_is_run_and_read_frame_by_frame(open_fake: Open) -> None:
    buttons, kept = log_of(50), np.array([0, 4, 8, 5119], np.int32)
    core, other = open_fake("counter"), open_fake("counter")
    ram, pictures = core.record(buttons, kept, every=7, size=core_size(other))
    shown, rows = [], []
    for frame, mask in enumerate(buttons, 1):
        other.run(1, int(mask))
        rows.append(other.read()[kept])
        if frame % 7 == 0:
            shown.append(other.frame())
    assert (ram == rows).all()
    assert pictures.shape == (7, 48, 64)
    assert (pictures == [to_565(picture) for picture in shown]).all()


def core_size(core: Core) -> tuple[int, int]:
    return core.info.base_size


def to_565(rgb: np.ndarray) -> np.ndarray:
    red, green, blue = (rgb[..., channel].astype(np.uint16) for channel in range(3))
    return red >> 3 << 11 | green >> 2 << 5 | blue >> 3


def test_recorded_pictures_are_cut_or_padded(open_fake: Open) -> None:
    whole = open_fake("counter").record(log_of(1), every=1, size=(64, 48))[1][0]
    odd = open_fake("counter").record(log_of(1), every=1, size=(80, 20))[1][0]
    assert (odd[:, :64] == whole[:20]).all()
    assert not odd[:, 64:].any()


def test_record_checks_what_it_writes_to(open_fake: Open) -> None:
    core = open_fake("counter")
    with pytest.raises(ValueError, match="offsets"):
        core.record(log_of(2), np.array([5120], np.int32))
    with pytest.raises(ValueError, match="one mask a frame"):
        core.record(np.zeros((2, 2), np.uint16))


def test_the_first_restore_runs_like_any_other(open_fake: Open) -> None:
    """Enduro on Stella: what no savestate holds is set by a frame after the first restore."""
    core = open_fake("first_restore")
    core.run(3)
    state = core.save()
    seen = []
    for _ in range(2):
        core.load(state)
        core.run(2)
        seen.append(int(core.memory["SYSTEM_RAM"][0]))
    assert seen == [5, 5]


def test_branch_is_load_poke_and_run(open_fake: Open) -> None:
    core = open_fake("counter")
    core.run(20, B)
    state = core.save()
    core.run(5)
    buttons = np.stack([log_of(12, seed) for seed in range(4)])
    offsets = np.array([[-1, 9], [-1, -1], [4, 100], [5, 0]], np.int32)
    values = np.arange(8, dtype=np.uint8).reshape(4, 2) + 90
    kept, looks = np.array([0, 4, 8, 9, 100], np.int32), [0, 1, 6, 12]
    pokes = (offsets, values)
    got = core.branch(state, buttons, looks, pokes=pokes, kept=kept, hashes=True, size=(64, 48))
    assert got.ram.shape == (4, 4, 5)
    other = open_fake("counter")
    for number in range(4):
        other.load(state)
        wanted = [(at, v) for at, v in zip(offsets[number], values[number], strict=True) if at >= 0]
        other.poke([at for at, _ in wanted], [value for _, value in wanted])
        ran = 0
        for look, frames in enumerate(looks):
            for mask in buttons[number, ran:frames]:
                other.run(1, int(mask))
            ran = frames
            assert (got.ram[number, look] == other.read()[kept]).all()
            if frames:
                assert (got.pictures[number, look] == to_565(other.frame())).all()
            else:
                assert not got.pictures[number, look].any()
                assert got.hashes[number, look] == 0
    same = got.pictures[:, 1:].reshape(12, -1)
    for one in range(12):
        for two in range(12):
            pictures_equal = bool((same[one] == same[two]).all())
            hashes_equal = got.hashes[:, 1:].flat[one] == got.hashes[:, 1:].flat[two]
            assert pictures_equal == hashes_equal


def test_branch_checks_its_arguments(open_fake: Open) -> None:
    core = open_fake("counter")
    state, buttons = core.save(), log_of(5)
    two = np.zeros((2, 1), np.int32)
    for captures, more in (
        ([6], {}),
        ([3, 2], {}),
        ([], {}),
        ([1], {"pokes": (two + 5120, two)}),
        ([1], {"pokes": (two, two[0])}),
        ([1], {"pokes": (two, two), "branches": 3}),
        ([1], {"kept": np.array([-1])}),
    ):
        with pytest.raises(ValueError):
            core.branch(state, buttons, captures, **more)
    for bad in (state[60:], state[:-1], open_fake("counter", b"another").save()):
        with pytest.raises(SavestateRefused):
            core.branch(bad, buttons, [1])


def test_branches_of_one_log(open_fake: Open) -> None:
    core = open_fake("counter")
    got = core.branch(core.save(), log_of(3), [3], branches=5, kept=FRAMES)
    assert (got.ram == [[[3, 0, 0, 0]]] * 5).all()
