"""Random play: seeded, of one action set, and with the fire button where there is one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrokit.buttons import BUTTONS, MASKS, to_mask
from retrokit.policy import STYLES, RandomPlay, Style, choose, random_play

STICK = [[], ["UP"], ["DOWN"], ["LEFT"], ["RIGHT"]]
WITH_FIRE = [*STICK, ["B"], ["UP", "B"], ["LEFT", "B"]]


def holds(log: NDArray[np.uint16]) -> list[int]:
    """Return how long each action was held, the first and the last left out."""
    return np.diff(np.flatnonzero(np.diff(log))).tolist()


@given(
    seed=st.integers(0, 2**32),
    frames=st.integers(0, 500),
    style=st.sampled_from(STYLES),
    actions=st.lists(st.lists(st.sampled_from(BUTTONS), unique=True), min_size=1, max_size=8),
)
def test_without_a_fire_button_the_action_set_is_all(
    seed: int, frames: int, style: Style, actions: list[list[str]]
) -> None:
    log = random_play(seed, frames, actions, style)
    assert log.shape == (frames,)
    assert log.dtype == np.uint16
    assert set(log.tolist()) <= {to_mask(action) for action in actions}
    assert np.array_equal(log, random_play(seed, frames, actions, style))


@given(seed=st.integers(0, 999), style=st.sampled_from(STYLES))
def test_with_one_every_action_may_fire(seed: int, style: Style) -> None:
    log = random_play(seed, 600, STICK, style, ["B"])
    moves = {to_mask(action) for action in STICK}
    assert {mask & ~MASKS["B"] for mask in set(log.tolist())} <= moves
    assert set(log.tolist()) <= moves | {move | MASKS["B"] for move in moves}


def test_seeds_differ() -> None:
    logs = {random_play(seed, 300, STICK).tobytes() for seed in range(20)}
    assert len(logs) == 20
    assert not np.array_equal(random_play([1, 2], 300, STICK), random_play([2, 1], 300, STICK))


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_share_of_fire_is_that_of_the_style(style: Style) -> None:
    log = random_play(7, 60_000, WITH_FIRE, style, ["B"])
    share = float((log & MASKS["B"] > 0).mean())
    assert share == pytest.approx(style.fire, abs=0.05)


def test_several_fire_buttons_are_pressed_one_at_a_time() -> None:
    log = random_play(7, 20_000, STICK, STYLES[2], ["B", "A"])
    fires = log & (MASKS["A"] | MASKS["B"])
    assert set(fires.tolist()) == {0, MASKS["A"], MASKS["B"]}


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_actions_are_held_as_long_as_the_style_says(style: Style) -> None:
    runs = holds(random_play(3, 20_000, WITH_FIRE, style, ["B"]))
    assert min(runs) >= style.hold[0]
    shortest_pair = 2 * style.hold[0]  # one action drawn twice in a row looks like one
    assert max(runs) >= shortest_pair


def test_one_direction_is_held_half_the_time() -> None:
    style = next(style for style in STYLES if style.dominant)
    log = random_play(5, 60_000, STICK, style)
    counts = sorted((int((log == to_mask(action)).sum()) for action in STICK), reverse=True)
    assert counts[0] / log.size == pytest.approx(style.dominant + 0.5 / len(STICK), abs=0.05)


def test_nothing_to_press_presses_nothing() -> None:
    assert not random_play(0, 50, []).any()
    assert set(random_play(0, 500, [], STYLES[2], ["B"]).tolist()) == {0, MASKS["B"]}


def test_styles_have_names_of_their_own() -> None:
    assert len({style.name for style in STYLES}) == len(STYLES)


def test_random_play_takes_every_action_as_often() -> None:
    draws = np.random.default_rng(0).random(50_000)
    decision = RandomPlay(5).act({"picture": np.zeros((50_000, 1)), "ram": None}, draws)
    counts = np.bincount(decision.actions)
    assert len(counts) == 5 and counts.min() > 9_700 and counts.max() < 10_300
    assert decision.values is None and decision.probabilities.shape == (50_000, 5)
    assert not RandomPlay(5).act(np.zeros((4, 84, 84)), None).actions.any()


def test_an_action_is_drawn_as_often_as_it_is_likely() -> None:
    wanted = np.array([0.1, 0.0, 0.6, 0.3, 0.0], np.float32)
    draws = np.random.default_rng(0).random(100_000)
    found = np.bincount(choose(np.tile(wanted, (100_000, 1)), draws), minlength=5) / 100_000
    assert found == pytest.approx(wanted, abs=0.005)
    assert found[1] == found[4] == 0
    assert choose(wanted[None], None).tolist() == [2]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=18), st.floats(0, 1))
def test_what_cannot_be_is_never_drawn(weights: list[float], draw: float) -> None:
    """Whatever the rounding, at either end of the draws too."""
    row = np.array([weights], np.float32)
    if row.sum() > 0:
        draws = np.array([min(draw, np.nextafter(1, 0))])
        assert row[0, choose(row, draws)[0]] > 0
        assert row[0, choose(row, np.array([np.nextafter(1, 0)]))[0]] > 0
        assert row[0, choose(row, np.zeros(1))[0]] > 0
