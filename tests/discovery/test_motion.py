"""Things that slide and bars that grow, in pictures made here."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrokit.discovery.motion import bar, most_common, slide

HIGH, WIDE, SIZE = 96, 128, 8


def scene(seed: int = 0) -> NDArray[np.uint16]:
    return np.random.default_rng(seed).integers(1, 5, (HIGH, WIDE)).astype(np.uint16)


def thing(seed: int = 1) -> NDArray[np.uint16]:
    return np.random.default_rng(seed).integers(100, 110, (SIZE, SIZE)).astype(np.uint16)


def pictures(places: list[tuple[int, int]], seed: int = 0) -> NDArray[np.uint16]:
    """Draw the thing at each (top, left) before one scene; outside the picture it is not drawn."""
    out = np.stack([scene(seed)] * len(places))
    for picture, (top, left) in zip(out, places, strict=True):
        if 0 <= top <= HIGH - SIZE and 0 <= left <= WIDE - SIZE:
            picture[top : top + SIZE, left : left + SIZE] = thing()
    return out


@given(
    st.lists(st.integers(-20, 20), min_size=5, max_size=9, unique=True),
    st.sampled_from([-2, -1, 1, 2]),
    st.sampled_from([0, 1]),
    st.integers(0, 9),
)
def test_a_thing_that_goes_with_the_value_slides(
    values: list[int], unit: int, axis: int, seed: int
) -> None:
    at = [44 + unit * (value - values[0]) // (3 if abs(unit) == 2 else 2) for value in values]
    at = [44 + unit * (value - values[0]) for value in values]
    places = [(40, x) if axis else (x, 60) for x in at]
    slid = slide(pictures(places, seed), values, axis)
    seen = [0 <= x <= (WIDE if axis else HIGH) - SIZE for x in at]
    if all(seen) and max(values) - min(values) >= 2 * SIZE:
        assert slid is not None and abs(slid.unit - unit) < 0.1 and slid.error <= 1
    assert slide(pictures(places, seed), values, 1 - axis) is None


VALUES = [0, -12, -8, -4, 4, 8, 12]


def test_a_thing_that_leaves_the_picture_has_slid() -> None:
    slid = slide(pictures([(40, 110 + value) for value in VALUES]), VALUES, 1)
    assert slid is not None and slid.unit == 1.0


def test_what_does_not_go_with_the_value_does_not_slide() -> None:
    still = [(40, 60)] * len(VALUES)
    assert slide(pictures(still), VALUES, 1) is None
    anywhere = [(40, x) for x in (60, 20, 90, 31, 77, 5, 49)]
    assert slide(pictures(anywhere), VALUES, 1) is None
    two = [(40, 60 + 10 * (value > 0)) for value in VALUES]
    assert slide(pictures(two), VALUES, 1) is None


def test_scenery_is_no_thing() -> None:
    whole = np.stack([np.roll(scene(), value, axis=1) for value in VALUES])
    assert slide(whole, VALUES, 1) is None
    tall = np.stack([scene()] * len(VALUES))
    for picture, value in zip(tall, VALUES, strict=True):
        picture[5:90, 60 + value : 63 + value] = 200
    assert slide(tall, VALUES, 1) is None


def bars(values: list[int], high: int = 4) -> NDArray[np.uint16]:
    out = np.stack([scene()] * len(values))
    for picture, value in zip(out, values, strict=True):
        picture[80 : 80 + high, 20 : 20 + value] = 300
    return out


@given(st.lists(st.integers(0, 100), min_size=6, max_size=9, unique=True))
def test_a_length_is_a_bar(values: list[int]) -> None:
    assert bar(bars(values), values) == (max(values) - min(values) >= 8)


def test_what_moves_is_no_bar() -> None:
    values = [0, 10, 20, 30, 40, 50]
    assert not bar(pictures([(40, 20 + value) for value in values]), values)
    assert not bar(bars(values), [3, 1, 2, 5, 0, 4])
    assert not bar(np.stack([scene()] * 6), values)


def test_the_commonest_colour_is_the_background() -> None:
    stack = np.array([[1, 7], [2, 7], [1, 3], [1, 4]], np.uint16)
    assert most_common(stack).tolist() == [1, 7]
