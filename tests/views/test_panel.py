"""The panel beside the game: numbers that can be read, bars and curves that stand for them."""

from __future__ import annotations

import numpy as np
import pytest

from retrokit.views import panel
from retrokit.views.panel import BLUE, WIDTH, whole
from retrokit.views.pictures import GREY, WHITE, ink
from retrokit.views.scene import Scene, Thought

ACTIONS = ("nothing", "UP", "B+UP+RIGHT")


def scene(**more: object) -> Scene:
    picture = np.random.default_rng(0).integers(60, 256, (100, 80, 3), np.uint8)
    told = {"variables": {"score": 12_300, "lives": 2, "timer": 77}, "actions": ACTIONS}
    return Scene(picture, **(told | more))  # type: ignore[arg-type]


def shows(picture: np.ndarray, text: str, size: int, colour: tuple[int, int, int]) -> bool:
    """Tell whether a text stands somewhere in a picture: where ink is full, its colour is."""
    drawn = ink(text, size) > 250
    there = (np.abs(picture.astype(int) - colour) <= 8).all(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(there, drawn.shape)
    return bool((windows[..., drawn]).all(axis=-1).any())


def test_the_game_is_zoomed_by_whole_pixels_beside_the_panel() -> None:
    told = scene()
    picture = whole(told, 0.8)
    assert picture.shape == (600, 480 + WIDTH, 3)
    assert (picture[::6, : 80 * 6 : 6] == told.picture).all()
    assert whole(told, 1.6).shape == (600, 960 + WIDTH, 3)  # wide pixels


def test_a_low_picture_stands_in_the_middle() -> None:
    told = scene()
    low = Scene(told.picture[:30], variables=told.variables)
    picture = whole(low, 0.0)
    assert picture.shape[0] == 630
    wide = Scene(np.full((20, 200, 3), 99, np.uint8))
    assert whole(wide, 0.0).shape == (640, 6400 + WIDTH, 3)


def test_numbers_are_written() -> None:
    picture = whole(scene(game="burrow", player="you", note="saved a.state"), 0.0)
    assert shows(picture, "12,300", 30, WHITE)
    assert shows(picture, "lives 2", 14, GREY)
    assert shows(picture, "77", 14, WHITE) and shows(picture, "timer", 14, GREY)
    assert shows(picture, "saved a.state", 14, BLUE)
    assert not shows(picture, "12,301", 30, WHITE)


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_bars_are_as_long_as_actions_are_likely(taken: int) -> None:
    chances = np.array([0.2, 0.5, 0.3], np.float32)
    thought = Thought(taken, None, chances)
    picture = whole(scene(thought=thought), 0.0)[:, -WIDTH:]
    lengths: list[float] = []
    last = -99
    for row in range(picture.shape[0]):
        bar = picture[row] == (BLUE if len(lengths) == taken else GREY)
        run = int(bar.all(axis=1).sum())
        pale = int((picture[row] == panel.PALE).all(axis=1).sum())
        if pale and row > last + 15:
            lengths.append(run / (run + pale))
            last = row
    assert lengths == pytest.approx(chances.tolist(), abs=0.02)


def test_of_many_actions_the_likeliest_and_the_taken_one_are_shown() -> None:
    names = tuple(f"N{number}" for number in range(40))
    chances = np.zeros(40, np.float32)
    chances[:39] = 1 / 39
    thought = Thought(39, None, chances)
    picture = whole(scene(thought=thought, actions=names), 0.0)
    assert shows(picture, "N39", 14, WHITE) and shows(picture, "N0", 14, GREY)
    assert not shows(picture, "N38", 14, GREY)
    assert shows(picture, "77", 14, WHITE)  # there is room left for variables


def test_the_value_estimate_is_drawn() -> None:
    thought = Thought(0, 1.0, np.ones(3, np.float32) / 3)
    values = np.linspace(0, 1, 100, dtype=np.float32)
    none, rising = (
        whole(scene(thought=thought, values=given), 0.0) for given in (values[:0], values)
    )
    assert shows(rising, "1.00", 14, BLUE)
    rows, columns = np.nonzero((none != rising).any(axis=2))
    curve = [rows[columns == column].mean() for column in np.unique(columns)]
    assert len(curve) > 90 and (np.diff(curve) <= 0).all() and curve[0] - curve[-1] > 40


def test_the_end_of_a_game_is_seen() -> None:
    before, after = scene(), scene(over="game over")
    was, now = whole(before, 0.0)[:, :480], whole(after, 0.0)[:, :480]
    assert now[:100].mean() == pytest.approx(was[:100].mean() / 2, abs=1)
    assert shows(now, "game over", 28, WHITE)
    large = Scene(np.full((700, 500, 3), 200, np.uint8), over="game over")
    whole(large, 0.0)
    assert (large.picture == 200).all()  # also where it is not zoomed


def test_paused_and_slow_are_told() -> None:
    assert shows(whole(scene(game="burrow", speed=0.0), 0.0), "paused", 14, WHITE)
    assert shows(whole(scene(game="burrow", speed=0.25), 0.0), "x0.25", 14, WHITE)
