from __future__ import annotations

import dataclasses
import pickle
from typing import Any

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


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(UserError, match="'frame_skip'.*skip"):
        EnvOptions.of(None, {"frame_skip": 4})


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
