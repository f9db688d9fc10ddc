from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

from retrokit.errors import UserError
from retrokit.options import EnvOptions


@pytest.mark.parametrize(
    "option, value, found",
    [
        ("observation", "gray", "one of grey rgb ram"),
        ("size", (84, 0), "2 whole numbers from 1"),
        ("size", (84,), "2 whole numbers"),
        ("crop", (1, 2, 3), "4 whole numbers"),
        ("stack", 0, "1 to 64"),
        ("skip", 2.5, "a whole number"),
        ("noops", -1, "from 0"),
        ("sticky", 1.0, "0 to below 1"),
        ("max_frames", 0, "from 1"),
        ("stall", 0, "from 1"),
        ("starts", (), "at least one"),
        ("starts", (-1,), "from 0"),
        ("reward", "points", "raw, clip"),
        ("reward", {}, "variables"),
        ("progress", "score", "variables"),
        ("progress", (), "variables"),
        ("progress", None, "variables"),
        ("size", 84, "2 whole numbers"),
        ("crop", 5, "4 whole numbers"),
        ("sticky", "0.25", "0 to below 1"),
        ("starts", 0, "a list"),
        ("starts", b"RKSTATE1", "a list"),
        ("starts", ("60",), "a savestate, or a whole number"),
        ("reward", 1.0, "raw, clip"),
        ("reward", {"score": float("nan")}, "a number"),
        ("reward", {"score": "1"}, "a number"),
        ("stall_penalty", -1.0, "from 0"),
        ("stall_penalty", float("inf"), "from 0"),
        ("life_episodes", "no", "True or False"),
        ("ram", [4], "an observation that shows it: ram grey"),
    ],
)
def test_what_cannot_be_is_refused(option: str, value: Any, found: str) -> None:
    with pytest.raises(UserError, match=option) as error:
        EnvOptions(**{option: value})
    assert found in str(error.value)


def test_options_that_depend_on_one_another() -> None:
    with pytest.raises(UserError, match="skip"):
        EnvOptions(last_two=True, skip=1)
    with pytest.raises(UserError, match="stall"):
        EnvOptions(stall_penalty=1.0)


@pytest.mark.parametrize("ram", ["0x425", 5, [1.5], [], {"SYSTEM_RAM": "0"}, {"SYSTEM_RAM": [0.5]}])
def test_memory_is_chosen_by_whole_numbers(ram: Any) -> None:
    with pytest.raises(UserError, match="ram: found .* wanted offsets"):
        EnvOptions(observation="ram", ram=ram)


def test_numbers_of_any_type_become_plain_ones() -> None:
    size = tuple(np.array([84, 42]))
    options = EnvOptions(size=size, stack=np.int64(2), max_frames=np.uint32(9))  # type: ignore[arg-type]
    assert options == EnvOptions(size=(84, 42), stack=2, max_frames=9)
    assert {type(n) for n in (*(options.size or ()), options.stack, options.max_frames)} == {int}


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(UserError, match="'frame_skip'.*skip"):
        EnvOptions.of(None, {"frame_skip": 4})
    with pytest.raises(UserError, match="options: found .*; wanted an EnvOptions"):
        EnvOptions.of({"skip": 4}, {})  # type: ignore[arg-type]


def test_changes_go_over_given_options() -> None:
    options = EnvOptions.of(EnvOptions(skip=2, stack=1), {"stack": 3})
    assert (options.skip, options.stack) == (2, 3)


def test_options_are_frozen_and_travel() -> None:
    options = EnvOptions(reward={"score": 0.01, "lives": 5})
    assert pickle.loads(pickle.dumps(options)) == options
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.skip = 1  # type: ignore[misc]


def test_what_is_random_is_told() -> None:
    assert EnvOptions().randomness == ()
    options = EnvOptions(noops=30, sticky=0.25, starts=(0, 60))
    assert options.randomness == ("starts", "noops", "sticky")
