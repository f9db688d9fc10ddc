"""How much inputs matter, on a fake game whose modes are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.buttons import DIRECTIONS, MASKS
from retrokit.core import Core
from retrokit.discovery.actions import useful_buttons
from retrokit.discovery.control import (
    ACTIONS,
    GONE,
    PLAY_LATER,
    STEERED,
    controls,
    futures,
    gone,
    in_play,
    measure_control,
    persists,
    play_states,
    quick_variety,
    steering,
    varies,
    variety,
)
from retrokit.integration import parse_start

MODE = 4  # of all fake games
TITLE, PLAY, DYING, OVER, DEMO = range(5)  # tests/cores/arena.h
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


@pytest.mark.parametrize("wait", ["WAIT:2", "WAIT:150", "WAIT:520"])
def test_few_futures_tell_what_all_tell(core: Core, play: bytes, wait: str) -> None:
    core.load(play)
    for state in (play, state_after(core, wait)):
        seen = variety(core, state)
        assert [varies(core, state, at_least=least) for least in (2, GONE + 1, seen, 17)] == [
            seen >= 2, seen > GONE, True, False
        ]  # fmt: skip
        assert in_play(core, state) is (quick_variety(core, state) >= PLAY_LATER)


def test_no_future_is_run_twice(core: Core, play: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[bytes] = []

    def noted(state: bytes, logs: Any, *rest: Any, **more: Any) -> Any:
        run.extend(log.tobytes() for log in logs)
        return Core.branch(core, state, logs, *rest, **more)

    monkeypatch.setattr(core, "branch", noted)
    assert not varies(core, play, at_least=17)
    assert len(run) == len(set(run)) == 32
    del run[:]
    assert in_play(core, play)
    assert len(run) == 4


def test_demo_differs_but_does_not_obey(core: Core) -> None:
    demo = state_after(core, "WAIT:150")
    assert variety(core, demo) >= 8
    assert steering(core, demo) == 0
    assert not persists(core, demo)


@pytest.fixture
def arena_state(open_fake: Open) -> tuple[Core, bytes]:
    """The arena game in play, where directions move the player and B fires."""
    core = open_fake("arena_bcd", DEATH=220)
    return core, state_after(core, "WAIT:2", "START:6", "WAIT:40")


@pytest.mark.parametrize(
    ("mode", "lost"),
    [(PLAY, False), (DYING, True), (OVER, True), (TITLE, True), (DEMO, True)],
    ids=["play", "dying", "over", "title", "demo"],
)
def test_control_is_gone_where_nothing_obeys(
    arena_state: tuple[Core, bytes], mode: int, lost: bool
) -> None:
    core, state = arena_state
    core.load(state)
    before = measure_control(core)
    assert before.variety >= PLAY_LATER and before.steers
    core.load(state)
    core.poke([MODE], [mode])
    core.run(1)
    here = core.save()
    assert gone(core, before) is lost
    assert core.save() == here  # and it stands where it stood


def test_a_demo_stirred_by_inputs_is_control_gone(core: Core, play: bytes) -> None:
    """Its pictures differ from future to future, and none obeys."""
    core.load(play)
    before = measure_control(core)
    demo = state_after(core, "WAIT:1800")
    core.load(demo)
    assert core.read()[MODE] == 1 and variety(core, demo) > GONE
    core.load(demo)
    assert gone(core, before) and not gone(core, before._replace(steers=False))


def test_fire_is_a_control_of_its_own(open_fake: Open) -> None:
    core = open_fake("fire_only")
    state = state_after(core, "WAIT:2", "START:6", "WAIT:20")
    assert variety(core, state) <= GONE < PLAY_LATER <= variety(core, state, "fire")
    assert steering(core, state, "fire") >= STEERED and steering(core, state) == 0
    core.load(state)
    before = measure_control(core, "fire")
    assert before.kind == "fire" and before.steers and not gone(core, before)


def test_each_look_of_a_replay_is_measured(arena_state: tuple[Core, bytes]) -> None:
    """From a poke on: killed at once, the player is back after the death."""
    core, state = arena_state
    core.load(state)
    before = measure_control(core)
    log = np.zeros(300, np.uint16)
    seen = list(controls(core, state, log, [5, 240], ([MODE], [DYING]), before))
    assert seen == [(1, 0), (0, 0)]
    (variety_, steers), *_ = controls(core, state, log, [5], None)
    assert variety_ >= PLAY_LATER and steers == 1


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


@pytest.mark.parametrize("strikes", ["1", "held>>UP_KEY"], ids=["alone", "with a direction"])
def test_fire_that_strikes_only_on_the_way_is_fire(open_fake: Open, strikes: str) -> None:
    core = open_fake("arena_bcd", STRIKES=strikes)
    state = state_after(core, "WAIT:2", "START:6", "WAIT:40")
    found = useful_buttons(core, play_states(core, state))
    assert found.fire == ["B"] and found.useful == [*DIRECTIONS, "B"]
    assert ["LEFT", "B"] in found.action_set


def test_a_button_that_begins_play_anew_is_never_pressed(open_fake: Open) -> None:
    """Lost Luggage restarts by fire: who plays at random with it never gets anywhere."""
    core = open_fake("anew")
    core.run(60)
    found = useful_buttons(core, play_states(core, core.save()))
    assert found.useful == list(DIRECTIONS) and not found.fire
    assert "B" in found.harmful
