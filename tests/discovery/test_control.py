"""How much inputs matter, on a fake game whose modes are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrokit.buttons import DIRECTIONS, MASKS
from retrokit.core import Core
from retrokit.discovery.actions import useful_buttons
from retrokit.discovery.control import (
    ACTIONS,
    divergence,
    futures,
    persists,
    play_states,
    steering,
    variety,
)
from retrokit.integration import parse_start

Open = Callable[..., Core]


@pytest.fixture
def core(open_fake: Open) -> Core:
    return open_fake("coin_start")


def state_after(core: Core, *presses: str) -> bytes:
    core.record(parse_start(presses))
    return core.save()


@pytest.fixture
def play(core: Core) -> bytes:
    return state_after(core, "WAIT:550", "SELECT:4", "WAIT:10", "START:4", "WAIT:10")


@pytest.mark.parametrize("kind", ["directions", "fire", "both"])
def test_futures_hold_known_actions_and_let_go(kind: str) -> None:
    log = futures(kind, 5, 60)
    assert log.shape == (72,)
    assert log.dtype == np.uint16
    assert set(log[:60]) <= set(ACTIONS[kind])
    assert not log[60:].any()
    assert np.array_equal(log, futures(kind, 5, 60))
    assert not np.array_equal(log, futures(kind, 6, 60))


def test_futures_draw_from_given_actions() -> None:
    log = futures("both", 1, 200, release=0, actions=[MASKS["X"], MASKS["Y"]])
    assert set(log) == {MASKS["X"], MASKS["Y"]}
    assert (np.diff(np.flatnonzero(np.diff(log))) >= 3).all()


def test_play_is_where_directions_matter(core: Core, play: bytes) -> None:
    assert variety(core, play) >= 8
    assert variety(core, play) == variety(core, play)
    assert persists(core, play)
    assert steering(core, play) >= 4


@pytest.mark.parametrize("wait", ["WAIT:2", "WAIT:520"])
def test_self_test_and_title_ignore_directions(core: Core, wait: str) -> None:
    state = state_after(core, wait)
    assert variety(core, state) == 1
    assert not persists(core, state)


def test_demo_differs_but_does_not_obey(core: Core) -> None:
    demo = state_after(core, "WAIT:150")
    assert variety(core, demo) >= 8
    assert divergence(core, demo) > 0  # pictures and RAM are both deceived
    assert steering(core, demo) == 0
    assert not persists(core, demo)


def test_divergence_leaves_out_copies_of_the_input(core: Core, open_fake: Open) -> None:
    title = state_after(core, "WAIT:495")
    assert divergence(core, title) <= 2  # the luck, two bytes
    counter = open_fake("inputs")
    counter.run(1)
    assert divergence(counter, counter.save()) == 0


def test_buttons_of_play(core: Core, play: bytes) -> None:
    states = play_states(core, play)
    assert len(states) == 8
    assert states[0] == play
    found = useful_buttons(core, states)
    assert set(found.useful) >= set(DIRECTIONS)
    assert {"START", "SELECT"} <= set(found.harmful)
    assert found.action_set[0] == []
    assert [["UP"], ["DOWN"], ["LEFT"], ["RIGHT"]] == found.action_set[1:5]
    assert len(found.action_set) <= 18
    pressed = {name for action in found.action_set for name in action}
    assert not pressed & set(found.harmful)
