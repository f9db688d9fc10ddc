"""Pictures: sizes, formats, rotation, repeated frames, resizing and hashes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.core import Core

Open = Callable[..., Core]
F = ["#####", "#....", "#....", "####.", "#....", "#....", "#...."]
INK = {0: (255, 132, 66), 1: (255, 128, 64), 2: (255, 130, 66)}
PAPER = {0: (33, 66, 132), 1: (32, 64, 128), 2: (33, 65, 132)}


def letter(pixel_format: int) -> np.ndarray:
    ink = np.array([[dot == "#" for dot in row] for row in F])[..., None]
    return np.where(ink, INK[pixel_format], PAPER[pixel_format]).astype(np.uint8)


def grey_of(rgb: np.ndarray) -> np.ndarray:
    """Return ITU-R BT.601 luma."""
    return rgb @ [0.299, 0.587, 0.114]


def area(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize by area: weights are the exact overlaps of the pixels."""

    def weights(before: int, after: int) -> np.ndarray:
        start = np.arange(after)[:, None] * before / after
        left = np.arange(before)[None, :]
        overlap = np.minimum(start + before / after, left + 1) - np.maximum(start, left)
        return np.maximum(overlap, 0) * after / before

    rows, columns = weights(picture.shape[0], size[1]), weights(picture.shape[1], size[0])
    mean = np.tensordot(rows, np.tensordot(picture.astype(float), columns, (1, 1)), (1, 0))
    return mean if picture.ndim == 2 else mean.swapaxes(1, 2)


@pytest.mark.parametrize("later", range(4))
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("pixel_format", range(3), ids=["0RGB1555", "XRGB8888", "RGB565"])
def test_f_stands_upright(open_fake: Open, pixel_format: int, turn: int, later: int) -> None:
    core = open_fake("letter", FORMAT=pixel_format, ROTATION=turn, LATER=later)
    wanted = letter(pixel_format)
    for _ in range(2):  # once before and once after the core turns its picture in mid-game
        core.run(9)
        assert core.frame_size == (5, 7)
        assert (core.frame() == wanted).all()
        assert np.abs(core.frame(grey=True) - grey_of(wanted)).max() < 0.51
        assert np.abs(core.frame((84, 84)) - area(wanted, (84, 84))).max() <= 0.5 + 1e-6
        recorded = core.record(np.zeros(1, np.uint16), every=1, size=(5, 7))[1][0]
        assert (recorded >> 11 == wanted[..., 0] >> 3).all()
    assert core.info.pixel_format == ("0RGB1555", "XRGB8888", "RGB565")[pixel_format]
    assert core.info.rotation == later * 90


@pytest.mark.parametrize("pixel_format", range(3), ids=["0RGB1555", "XRGB8888", "RGB565"])
def test_grey_is_the_luma_of_every_colour(open_fake: Open, pixel_format: int) -> None:
    """In steps of 1/65536, rounded: vectors and the pixels left over alike."""
    core = open_fake("colours", FORMAT=pixel_format)
    core.run(1)
    luma = core.frame().astype(np.uint32) @ np.array([19595, 38470, 7471], np.uint32)
    assert (core.frame(grey=True) == luma + 32768 >> 16).all()


@pytest.mark.parametrize("size", [(84, 84), (64, 48), (1, 1), (200, 300), (63, 7), (32, 96)])
@pytest.mark.parametrize("grey", [False, True])
def test_resizing_is_exact(open_fake: Open, size: tuple[int, int], grey: bool) -> None:
    core = open_fake("counter")
    core.run(5)
    whole, small = core.frame(grey=grey), core.frame(size, grey=grey)
    assert small.shape == (size[1], size[0], *whole.shape[2:])
    assert np.abs(small - area(whole, size)).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("grey", [False, True])
def test_resizing_tall_pictures_is_exact(open_fake: Open, grey: bool) -> None:
    core = open_fake("counter", HEIGHT=300)  # a column's sum needs more than 16 bits
    core.run(5)
    whole, small = core.frame(grey=grey), core.frame((41, 84), grey=grey)
    assert whole.shape[:2] == (300, 64)
    assert np.abs(small - area(whole, (41, 84))).max() <= 0.5 + 1e-6


def test_frames_are_copies(open_fake: Open) -> None:
    core = open_fake("counter")
    core.run()
    first = core.frame()
    kept = first.copy()
    core.run(3)
    core.frame()
    assert (first == kept).all()


def test_frame_larger_than_declared(open_fake: Open) -> None:
    core = open_fake("oversize")
    core.run()
    assert core.frame_size == (256, 224)
    assert core.frame().shape == (224, 256, 3)
    rows, columns = np.mgrid[:224, :256]
    values = (rows * 251 + columns).astype(np.uint16)
    recorded = core.record(np.zeros(1, np.uint16), every=1, size=(256, 224))[1][0]
    assert (recorded == values).all()
    assert core.info.oversize == 2


def test_wide_pitch_and_what_is_no_picture(open_fake: Open) -> None:
    core = open_fake("wide_pitch")
    for _ in range(6):
        core.run()
        assert core.frame_size == (64, 48)
        recorded = core.record(np.zeros(1, np.uint16), every=1, size=(64, 48))[1][0]
        assert (recorded.reshape(-1) == np.arange(64 * 48)).all()


def test_size_and_format_change_in_mid_game(open_fake: Open) -> None:
    core = open_fake("resize")
    core.run(99)
    assert core.frame().shape == (192, 256, 3)
    core.run(1)
    assert core.frame().shape == (224, 256, 3)
    assert core.info.base_size == (256, 224)
    core.run(99)  # here the core changes its pixel format after delivering the picture
    assert core.frame().shape == (224, 256, 3)
    assert (core.frame() == [16, 0, 132]).all()
    core.run(1)
    assert (core.frame() == 16).all()
    assert core.frame((84, 84), grey=True).shape == (84, 84)


def shown(core: Core) -> int:
    """Return the frame number that the picture of `repeats` or `av_enable` shows."""
    return int(core.record(np.zeros(1, np.uint16), every=1, size=(1, 1))[1][0, 0, 0])


def test_the_first_frame_may_be_null(open_fake: Open) -> None:
    core = open_fake("repeats")
    core.run()
    with pytest.raises(Exception, match="no picture"):
        core.frame()
    core.run()
    assert core.frame().shape == (48, 64, 3)
    assert core.info.dupes == 1


@pytest.mark.parametrize("skip", [1, 2, 3, 4, 5])
def test_a_repeated_frame_is_the_latest_one_drawn(open_fake: Open, skip: int) -> None:
    """A 30 fps game on a host that looks at every ``skip``-th frame only."""
    core = open_fake("repeats")
    core.run(2)
    for _ in range(60):
        core.run(skip, see=False)
        now = int(core.read()[:2].view("<u2")[0]) + 1
        assert shown(core) == now // 2 * 2


def test_repeats_that_begin_late_are_learned(open_fake: Open) -> None:
    core = open_fake("repeats", LATE=300)
    core.run(300, see=False)
    for frame in range(303, 330, 3):
        core.run(2, see=False)
        assert shown(core) == frame // 2 * 2


def test_repeats_after_a_restore_never_show_the_old_picture(open_fake: Open) -> None:
    core = open_fake("repeats")
    core.run(10)
    state = core.save()
    core.run(9)
    core.load(state)
    core.run()  # frame 11 repeats a picture of before the restore
    with pytest.raises(Exception, match="no picture"):
        core.frame()
    core.run()
    assert shown(core) == 12


def test_cores_that_draw_on_demand_are_not_taken_for_repeating(open_fake: Open) -> None:
    core = open_fake("av_enable")
    core.run(100)
    assert shown(core) == 101
    core.run(50, see=False)
    assert shown(core) == 152
    assert core.read()[20] == 9
    core.run(1, see=False)
    assert core.read()[20] == 8


BITS = {0: 0x7FFF, 1: 0xFFFFFF, 2: 0xFFFF}


@pytest.mark.parametrize("pixel_format", range(3))
@settings(max_examples=40)
@given(data=st.data())
def test_hashes_differ_if_and_only_if_pictures_do(
    fake_core, fake_content, pixel_format: int, data: st.DataObject
) -> None:
    size = 60 if pixel_format == 1 else 30
    one = data.draw(st.binary(min_size=size, max_size=size))
    at, bit = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, 7))
    two = bytearray(one)
    two[at] ^= 1 << bit
    hashes, pictures = [], []
    for content in (one, one, bytes(two)):
        with Core.open(fake_core("pixel", FORMAT=pixel_format), fake_content(content)) as core:
            branch = core.branch(core.save(), np.zeros(1, np.uint16), [1], hashes=True)
            hashes.append(int(branch.hashes[0, 0]))
            pictures.append(core.frame().tobytes())
    assert hashes[0] == hashes[1] != 0
    assert (hashes[0] == hashes[2]) == (pictures[0] == pictures[2])
