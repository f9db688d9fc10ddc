from __future__ import annotations

import json

import pytest

from retrokit.errors import UserError
from retrokit.learning.config import TrainConfig
from retrokit.options import EnvOptions


def test_settings_survive_json() -> None:
    options = EnvOptions(crop=(1, 2, 0, 0), starts=(0, 9), reward={"score": 0.5}, size=None)
    config = TrainConfig("burrow", num_envs=4, env=options)
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_setting_is_of_the_run_or_of_the_environment() -> None:
    config = TrainConfig("burrow").changed(
        ["learning_rate=1e-3", "total_steps=2_000_000", "anneal=false", "sticky=0.25", "stall=None"]
        + ["size=(64,64)", "reward={'score': 0.1}", "precision=bf16", "content=3", "stack=1"]
    )
    assert (config.learning_rate, config.total_steps, config.anneal) == (1e-3, 2_000_000, False)
    assert (config.env.sticky, config.env.stall, config.env.size) == (0.25, None, (64, 64))
    assert (config.env.reward, config.precision, config.content) == ({"score": 0.1}, "bf16", "3")
    assert config.env.stack == 1 and config.env.noops == 30


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("learningrate=1", "Did you mean learning_rate?"),
        ("stiky=1", "Did you mean sticky?"),
        ("sticky", "name=value"),
        ("num_envs=4.5", "a whole number"),
        ("num_envs=0", "1 or more"),
        ("anneal=1", "true or false"),
        ("gamma=2", "0 to 1"),
        ("learning_rate=fast", "a number"),
        ("precision=fp8", "one of auto fp32 bf16"),
        ("shards=3", "a divisor of num_envs, 16"),
        ("sticky=2", "a chance from 0"),
        ("env=1", "no setting is called 'env'"),
    ],
)
def test_a_wrong_setting_says_what_is_wanted(setting: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        TrainConfig("burrow").changed([setting])
    assert words in str(caught.value)


def test_settings_of_another_version_are_refused() -> None:
    with pytest.raises(UserError, match="unknown settings warp"):
        TrainConfig.from_dict({"integration": "burrow", "warp": 9})


def test_no_savestate_in_a_run_s_file() -> None:
    with pytest.raises(UserError, match="a savestate"):
        TrainConfig("burrow", env=EnvOptions(starts=(b"RK",)))
