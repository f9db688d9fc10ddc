"""Pictures by hand: zoom, turns, text, and stills evenly out of a row of any length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.errors import UserError
from retrokit.views import pictures, tiles
from retrokit.views.pictures import Stills, evenly, pixel_shape


@pytest.mark.parametrize(
    ("size", "aspect", "shape"),
    [
        ((224, 288), 0.75, (1, 1)),  # an arcade screen on its side
        ((160, 210), 4 / 3, (2, 1)),  # Atari
        ((256, 240), 4 / 3, (1, 1)),  # NES
        ((640, 240), 4 / 3, (1, 2)),  # PlayStation, every other line
        ((160, 144), 0.0, (1, 1)),
    ],
)
def test_pixels_are_drawn_whole_times(
    size: tuple[int, int], aspect: float, shape: tuple[int, int]
) -> None:
    assert pixel_shape(size, aspect) == shape
    across, down = pictures.zoom_into(size, aspect, 640)
    assert across % shape[0] == down % shape[1] == 0 and size[1] * down <= 640
    assert pictures.zoom_into(size, aspect, 10) == shape  # never smaller than it is


def test_a_turn_is_counter_clockwise() -> None:
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3, 1).repeat(3, axis=2)
    assert pictures.turned(picture, 90)[..., 0].tolist() == [[2, 5], [1, 4], [0, 3]]
    assert pictures.turned(picture, 0) is not None
    with pytest.raises(UserError, match="--rotate 45; wanted one of 0 90 180 270"):
        pictures.check_turn(45)
    assert pictures.check_turn(None) is None and pictures.check_turn(270) == 270


@given(total=st.integers(0, 400), most=st.sampled_from([2, 8, 48]))
def test_stills_are_evenly_spread(total: int, most: int) -> None:
    stills = Stills(most)
    for number in range(total):
        stills.add(number, np.full((1, 1, 3), number % 256, np.uint8))
    numbers = [number for number, _ in stills]
    assert len(numbers) == min(total, len(numbers)) <= most
    assert len(numbers) >= min(total, most // 2)
    assert len(set(np.diff(numbers).tolist())) <= 1 and numbers[:1] == [0][:total]
    assert all(picture[0, 0, 0] == number % 256 for number, picture in stills)


@given(total=st.integers(1, 500), wanted=st.integers(2, 30))
def test_evenly_takes_first_and_last(total: int, wanted: int) -> None:
    numbers = evenly(total, wanted)
    assert len(numbers) == min(total, wanted)
    assert numbers[0] == 0 and numbers[-1] == total - 1
    assert np.ptp(np.diff(numbers)) <= 1 if len(numbers) > 1 else True


@pytest.mark.parametrize("align", ["left", "middle", "right"])
def test_text_stands_where_it_should(align: str) -> None:
    picture = np.zeros((40, 200, 3), np.uint8)
    pictures.write(picture, [(100, 10, "1,030", (200, 100, 50))], 14, align)
    rows, columns = np.nonzero(picture[..., 0])
    assert rows.min() >= 10 and rows.max() < 30
    width = pictures.text_width("1,030", 14)
    middle = {"left": 100 + width / 2, "middle": 100, "right": 100 - width / 2}[align]
    assert (columns.min() + columns.max()) / 2 == pytest.approx(middle, abs=2)
    assert tuple(picture.reshape(-1, 3).max(axis=0)) == (200, 100, 50)


def test_text_is_cut_off_at_the_edge() -> None:
    picture = np.zeros((12, 30, 3), np.uint8)
    pictures.write(picture, [(20, 5, "long text", (255, 255, 255))], 14)
    assert picture[:, :20].max() == 0 < picture.max()


def test_a_caption_is_as_large_as_fits() -> None:
    lines = ["500,000 steps", "score 1,030"]
    small, large = tiles.caption_size(100, lines), tiles.caption_size(400, lines)
    assert tiles.SMALLEST <= small < large <= tiles.LARGEST
    assert pictures.text_width(lines[0], small) <= 100
    cell = tiles.captioned(np.zeros((50, 200, 3), np.uint8), lines)
    assert cell.shape[1] == 200 and cell.shape[0] > 50 + 2 * tiles.SMALLEST


@pytest.mark.parametrize(
    ("count", "size", "columns"),
    [(1, (100, 100), 1), (6, (224, 300), 4), (4, (160, 90), 2), (8, (320, 240), 3)],
)
def test_a_sheet_comes_near_16_to_9(count: int, size: tuple[int, int], columns: int) -> None:
    cells = [np.full((size[1], size[0], 3), 50 + n, np.uint8) for n in range(count)]
    out = tiles.sheet(cells)
    gap = tiles.GAP
    assert (out.shape[1] - gap) // (size[0] + gap) == columns
    for number in range(count):
        row, column = divmod(number, columns)
        top, left = gap + row * (size[1] + gap), gap + column * (size[0] + gap)
        assert (out[top : top + size[1], left : left + size[0]] == 50 + number).all()
