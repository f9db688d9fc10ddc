"""Charts: what is drawn stands where the numbers are."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.album import Album, Box, Trace
from retrokit.views import charts


def texts(node: ElementTree.Element, kind: str) -> list[str]:
    return [text.text or "" for text in node.iter("text") if text.get("class", "") == kind]


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(2, 8))
def test_ticks_are_few_round_and_hold_the_range(low: int, span: int, most: int) -> None:
    found = charts.ticks(low, low + span, most)
    step = found[1] - found[0]
    assert found[0] <= low + step * 1e-6 and found[-1] >= low + span - step * 1e-6
    assert 2 <= len(found) <= most + 2
    assert all(abs((b - a) - step) < 1e-3 * step for a, b in pairwise(found))
    assert f"{step:.0e}"[0] in "125"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-5, "-5"), (1500, "1500"), (12_000, "12k"), (1_250_000, "1.25M"), (3e9, "3G")],
)
def test_numbers_of_an_axis_are_short(value: float, text: str) -> None:
    assert charts.short(value) == text


def test_a_panel_marks_every_rise_and_fall_where_it_is(album: Album) -> None:
    score, lives, _ = album.traces
    node = charts.panel(score, 0, "1 lively", 600, 60.0)
    marks = list(node.iter("circle"))
    assert [mark.get("class") for mark in marks] == ["rise", "rise"]
    assert [mark[0].text for mark in marks] == [
        "+400 at 1.7 s: 0 to 400", "+834 at 5.0 s: 400 to 1,234"
    ]  # fmt: skip
    first, second = marks
    assert float(first.attrib["cx"]) < float(second.attrib["cx"])
    assert float(first.attrib["cy"]) > float(second.attrib["cy"])  # higher is up
    assert texts(node, "last right") == ["1,234"]
    assert node.get("aria-label") == "1 lively: from 0 to 1,234, 2 rises, 0 falls"
    falls = [mark.get("class") for mark in charts.panel(lives, 0, "", 600, 60.0).iter("circle")]
    assert falls == ["fall"]


def test_axes_hold_all_episodes_and_count_seconds(album: Album) -> None:
    node = charts.panel(album.traces[0], 1, "2 walking", 450, 60.0)
    levels = texts(node, "tick right")
    assert levels[0] == "0" and float(levels[-1]) >= 1234
    assert texts(node, "tick middle") == ["0", "5", "10 s"]


def test_what_came_after_the_end_is_shaded_and_not_drawn(album: Album) -> None:
    over = charts.panel(album.traces[0], 1, "", 450, 60.0)
    (shade,) = [rect for rect in over.iter("rect") if rect.get("class") == "over"]
    x, wide = float(shade.attrib["x"]), float(shade.attrib["width"])
    assert wide == pytest.approx((charts.WIDTH - charts.LEFT - charts.RIGHT) * 150 / 600, abs=0.1)
    (line,) = [path for path in over.iter("path") if path.get("class") == "value"]
    ends = [float(at) for at in re.findall(r"H([\d.]+)", line.attrib["d"])]
    assert max(ends) == pytest.approx(x, abs=0.1)
    assert not list(charts.panel(album.traces[0], 1, "", 600, 60.0).iter("rect"))
    charts.panel(album.traces[0], 1, "", 0, 60.0)  # an episode that was over at once


def test_a_busy_number_makes_no_huge_panel() -> None:
    values = np.random.default_rng(0).integers(0, 250, (1, 20_000))
    node = charts.panel(Trace("candidate 1", "unproved", values, 0), 0, "", 20_000, 60.0)
    assert not list(node.iter("circle"))
    assert {path.get("class") for path in node.iter("path")} == {"value", "rises", "falls"}
    assert len(ElementTree.tostring(node)) < 30_000


def test_shares_fill_the_bar() -> None:
    node = charts.shares({"start": 1.0, "score": 3.0})
    spans = [(float(r.attrib["x"]), float(r.attrib["width"])) for r in node.iter("rect")]
    assert spans == [(0, 250), (250, 750)]
    assert [rect[0].text for rect in node.iter("rect")] == [
        "start: 1.0 s, 25 %", "score: 3.0 s, 75 %"
    ]  # fmt: skip
    assert len(list(charts.shares({"start": 0.0}).iter("rect"))) == 1


@given(st.integers(0, 10**7), st.integers(1, 10**7))
def test_bars_grow_with_their_number_and_stay_in_place(size: int, whole: int) -> None:
    wide = [
        float(next(charts.bar(n, whole).iter("rect")).attrib["width"]) for n in (size, size + 1)
    ]
    assert 0 <= wide[0] <= wide[1] + 0.01 <= 200.02


@given(st.integers(0, 2**35 - 1), st.sampled_from([1.0, 1.75]))
def test_a_glyph_has_the_ink_of_its_digit(bits: int, stretch: float) -> None:
    ink = np.array([bits >> n & 1 for n in range(35)], bool).reshape(7, 5)
    (path,) = charts.glyph(ink, 3, stretch)
    runs = re.findall(r"M([\d.]+) (\d+)h([\d.]+)v1h-([\d.]+)z", path.attrib["d"])
    assert sum(float(right) for _, _, right, _ in runs) == pytest.approx(ink.sum() * stretch)
    assert all(right == left for _, _, right, left in runs)
    rows = {int(row) for _, row, _, _ in runs}
    assert rows == set(np.flatnonzero(ink.any(axis=1)).tolist())


def test_boxes_lie_around_their_pixels() -> None:
    node = charts.boxes((64, 48), {"place": [Box(10, 4, 15, 11)], "zero": [Box(17, 4, 22, 11)]})
    place, zero = node.iter("rect")
    assert (place.get("class"), zero.get("class")) == ("place", "zero")
    assert [place.get(name) for name in ("x", "y", "width", "height")] == ["9.5", "3.5", "6", "8"]
    assert node.get("viewBox") == "0 0 64 48"
