"""RetroEnv on a game whose every frame is known: what it shows, pays and ends by."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import retrokit
from retrokit.env import RetroEnv
from retrokit.errors import CoreError, IntegrationError, UserError
from retrokit.load import Game

PLAIN: dict[str, Any] = {"skip": 1, "stack": 1, "size": None}
B = 1  # the action
Make = Callable[..., RetroEnv]


@pytest.fixture
def make(three: Callable[..., Game]) -> Iterator[Make]:
    """Make the game of three steps: ``make(skip=…, build={"LIVES": 2})``."""
    made: list[RetroEnv] = []

    def one(build: dict[str, Any] | None = None, **options: Any) -> RetroEnv:
        made.append(RetroEnv(three(**build or {}), **{**PLAIN, **options}))
        return made[-1]

    yield one
    for env in made:
        env.close()


def play(env: RetroEnv, action: int = 0, most: int = 100) -> list[tuple[float, bool, bool, Any]]:
    """Return reward, terminated, truncated and info of each step up to an end."""
    steps = []
    for _ in range(most):
        _, reward, terminated, truncated, info = env.step(action)
        steps.append((reward, terminated, truncated, info))
        if terminated or truncated:
            break
    return steps


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"observation": "rgb", "stack": 4, "size": (84, 84)},
        {"observation": "ram"},
        {"observation": "ram", "ram": [4, 5], "ram_floats": False, "stack": 3},
        {"observation": "grey+ram", "ram": {"SYSTEM_RAM": [1, 2]}},
        {"observation": "rgb+ram", "noops": 2, "sticky": 0.25, "starts": (0, 1)},
    ],
)
def test_check_env_has_nothing_to_say(make: Make, options: dict[str, Any]) -> None:
    env = make(render_mode="rgb_array", build={"LENGTH": 40}, **options)
    check_env(env)
    assert str(env) == "<RetroEnv<retrokit/three>>"


def test_a_game_is_counted_exactly(make: Make) -> None:
    env = make()
    for action, points in ((0, 5), (B, 6)):
        _, info = env.reset()
        assert info == {
            "score": 5, "lives": 1, "variables": {"mode": 1, "held": 0}, "frame": 1,
            "raw_reward": 0.0,
        }  # fmt: skip
        steps = play(env, action)
        assert [reward for reward, *_ in steps] == [points] * 3
        assert [terminated for _, terminated, *_ in steps] == [False, False, True]
        assert not any(truncated for *_, truncated, _ in steps)
        raw = {"return": 3.0 * points, "length": 3, "frames": 4}
        assert steps[-1][3]["raw_episode"] == raw
        assert steps[-1][3]["ended_by"] == "game over"
        assert "raw_episode" not in steps[0][3]


@pytest.mark.parametrize("skip", [2, 4, 10])
def test_the_demo_after_the_end_pays_nothing(make: Make, skip: int) -> None:
    env = make(skip=skip, last_two=True)
    env.reset()
    steps = play(env)
    assert sum(reward for reward, *_ in steps) == 15
    assert steps[-1][3]["frame"] == 4  # it stopped there


def test_a_step_outside_an_episode_is_refused(make: Make) -> None:
    env = make()
    with pytest.raises(UserError, match="reset"):
        env.step(0)
    env.reset()
    with pytest.raises(UserError, match="action 3; wanted 0 to 2"):
        env.step(3)
    for action in (-1, 0.5, "UP", None, [0]):
        with pytest.raises(UserError, match=r"action .* wanted 0 to 2"):
            env.step(action)
    env.step(np.array(0, np.uint8))
    play(env)
    with pytest.raises(UserError, match="reset"):
        env.step(0)


def test_truncation_is_no_termination(make: Make) -> None:
    env = make(build={"LENGTH": 100}, max_frames=10, skip=4)
    env.reset()
    steps = play(env)
    assert [info["frame"] for *_, info in steps] == [5, 9, 10]  # not one frame more
    assert steps[-1][1:3] == (False, True)
    assert steps[-1][3]["ended_by"] == "frames"
    assert steps[-1][3]["raw_episode"] == {"return": 45.0, "length": 3, "frames": 10}


def test_the_end_of_the_game_comes_before_the_cap(make: Make) -> None:
    env = make(max_frames=4)
    env.reset()
    assert play(env)[-1][1:3] == (True, False)


def test_a_stall_truncates_and_may_cost(make: Make) -> None:
    env = make(build={"LENGTH": 100}, stall=3, stall_penalty=7.0, progress=("mode",))
    env.reset()
    steps = play(env)
    assert [reward for reward, *_ in steps] == [5, 5, 5 - 7]
    assert steps[-1][1:3] == (False, True)
    assert steps[-1][3]["ended_by"] == "stall"
    assert steps[-1][3]["raw_episode"]["return"] == 15.0


def test_progress_puts_the_stall_off(make: Make) -> None:
    env = make(build={"LENGTH": 30}, stall=3)
    env.reset()
    assert len(play(env)) == 29  # it scores every frame
    with pytest.raises(UserError, match="progress.*'levle'.*"):
        make(progress=("levle",))


def test_lives_are_episodes_of_one_game(make: Make) -> None:
    env = make(build={"LIVES": 2}, life_episodes=True)
    env.reset()
    first = play(env)
    assert [reward for reward, *_ in first] == [5, 5, 5]
    assert first[-1][1:3] == (True, False)
    assert first[-1][3]["ended_by"] == "life"
    assert "raw_episode" not in first[-1][3]
    _, info = env.reset()
    assert (info["lives"], info["score"], info["frame"]) == (1, 25, 5)  # the game went on
    second = play(env)
    assert second[-1][3]["ended_by"] == "game over"
    assert second[-1][3]["raw_episode"] == {"return": 30.0, "length": 6, "frames": 8}
    assert env.reset()[1]["lives"] == 2


def test_a_seed_begins_the_game_anew_even_between_lives(make: Make) -> None:
    env = make(build={"LIVES": 2}, life_episodes=True)
    env.reset(seed=1)
    play(env)
    assert env.reset(seed=1)[1]["lives"] == 2


def test_a_next_life_that_is_none_begins_a_game(make: Make) -> None:
    env = make(build={"LIVES": 2, "LENGTH": 1, "terminated": "mode == 2"}, life_episodes=True)
    with pytest.raises(UserError, match="reset"):
        env.step(0)
    env.reset()
    play(env)
    for _ in range(5):
        assert env.reset()[1]["variables"]["mode"] == 1
        play(env)


def test_rewards(make: Make) -> None:
    build = {"LIVES": 2}
    kinds = {"raw": 6.0, "clip": 1.0}
    for kind, reward in kinds.items():
        env = make(build=build, reward=kind)
        env.reset()
        assert env.step(B)[1] == reward
        assert env.step(B)[4]["raw_reward"] == 6.0
    env = make(build=build, reward={"score": 0.5, "lives": 5})
    env.reset()
    assert [round(reward, 9) for reward, *_ in play(env, B)] == [3, 3, 3 - 5, 3, 3, 3, 3 - 5]
    with pytest.raises(UserError, match="reward.*'live'; wanted lives"):
        make(reward={"live": 1})


def test_the_stack_has_the_newest_last(make: Make) -> None:
    env = make(build={"LENGTH": 100}, observation="ram", ram=[10], ram_floats=False, stack=3)
    first, _ = env.reset()
    base = int(first[0, 0])
    assert first.ravel().tolist() == [base] * 3
    assert env.step(0)[0].ravel().tolist() == [base, base, base + 1]
    for _ in range(3):
        seen = env.step(0)[0]
    assert seen.ravel().tolist() == [base + 2, base + 3, base + 4]


def test_pictures_are_as_asked_for(make: Make) -> None:
    env = make(build={"LENGTH": 100}, observation="rgb", skip=3, render_mode="rgb_array")
    env.reset()
    seen = env.step(0)[0]
    assert seen.shape == (48, 64, 3)
    assert (seen == env.render()).all()
    grey = make(build={"LENGTH": 100}, skip=3, crop=(8, 0, 4, 0), size=(30, 20), stack=2)
    grey.reset()
    assert grey.step(0)[0].shape == (2, 20, 30)


def test_the_crop_is_of_the_upright_picture(make: Make) -> None:
    for kind in ("rgb", "grey"):
        whole, cut = (make(observation=kind, **more) for more in ({}, {"crop": (1, 2, 3, 4)}))
        assert (cut.reset()[0] == whole.reset()[0][1:-2, 3:-4]).all()
    for crop, size in (((24, 24, 0, 0), None), ((0, 0, 60, 4), (84, 84))):
        with pytest.raises(UserError, match="crop.*nothing is left"):
            make(crop=crop, size=size)
    make(crop=(24, 24, 0, 0), observation="ram")


def test_the_brighter_of_the_last_two_frames(make: Make) -> None:
    build = {"LENGTH": 100}
    one, two = (
        make(build=build, observation="rgb"),
        make(build=build, observation="rgb", skip=2, last_two=True),
    )
    one.reset(), two.reset()
    frames = [one.step(0)[0] for _ in range(2)]
    assert (two.step(0)[0] == np.maximum(*frames)).all()


def test_a_last_frame_that_repeats_is_the_one_before(make: Make) -> None:
    """A core may say "as before" instead of drawing; it does so every other frame here."""
    build = {"LENGTH": 200, "DUPES": 1}
    one, two = (
        make(build=build, observation="rgb", skip=skip, last_two=skip == 2) for skip in (1, 2)
    )
    frames = [one.reset()[0]]
    frames += [one.step(0)[0] for _ in range(81)]
    assert any((a == b).all() for a, b in zip(frames, frames[1:], strict=False))
    two.reset()
    for step in range(40):
        expected = np.maximum(frames[2 * step + 1], frames[2 * step + 2])
        assert (two.step(0)[0] == expected).all(), step


def test_ram_is_chosen_and_scaled(make: Make) -> None:
    env = make(observation="grey+ram", ram={"SYSTEM_RAM": [5, 4]})
    seen, _ = env.reset()
    assert seen["ram"].dtype == np.float32
    assert (seen["ram"] * 255).round().tolist() == [1, 1]
    assert make(observation="ram").reset()[0].shape == (5120,)
    for ram, match in (({"NOPE": None}, "no region NOPE"), ([5120], "offsets"), ([], "offsets")):
        with pytest.raises(UserError, match=match):
            make(observation="ram", ram=ram)


def test_every_start_state_is_used_and_one_may_be_asked_for(make: Make) -> None:
    env = make(build={"LENGTH": 100}, starts=(0, 10, 20))
    env.reset(seed=0)
    seen = {env.reset()[1]["score"] for _ in range(30)}
    assert seen == {5, 55, 105}
    assert env.reset(options={"start": 2})[1]["score"] == 105
    for start in (3, "1", None, 1.5):
        with pytest.raises(UserError, match="start .*; wanted 0 to 2"):
            env.reset(options={"start": start})
    with pytest.raises(UserError, match="reset option 'sart'"):
        env.reset(options={"sart": 3})


def test_a_savestate_is_a_start(make: Make, three: Callable[..., Game]) -> None:
    with three(LENGTH=100).open() as core:
        core.record(three().integration.start_frames())
        core.run(30)
        state = core.save()
    assert make(build={"LENGTH": 100}, starts=(state,)).reset()[1]["score"] == 155


def test_noops_are_drawn_from_0_to_the_most(make: Make) -> None:
    env = make(build={"LENGTH": 100}, noops=3)
    env.reset(seed=1)
    assert {env.reset()[1]["frame"] for _ in range(60)} == {1, 2, 3, 4}


def test_noops_never_wait_for_the_end(make: Make) -> None:
    env = make(noops=30)
    env.reset(seed=0)
    for _ in range(50):
        assert env.reset()[1]["variables"]["mode"] == 1


def test_sticky_actions_hold_the_buttons_before(make: Make) -> None:
    env = make(build={"LENGTH": 5000}, sticky=0.25)
    env.reset(seed=3)
    wanted = np.arange(2000) // 2 % 3  # each action for two frames
    held = [env.step(action)[4]["variables"]["held"] for action in wanted]
    masks = np.array([0, 1, 0])[wanted]  # A is beyond the low byte
    wrong = np.array(held) & 1 != masks
    changed = masks != np.roll(masks, 1)
    assert 0.2 < wrong[changed].mean() < 0.3  # a quarter of the changes come late
    assert 0.03 < wrong[1:][changed[:-1]].mean() < 0.1  # and a quarter of those, later still


def trace(env: RetroEnv, seed: int, steps: int = 300) -> str:
    """Return a hash of everything seen in some steps."""
    digest = hashlib.sha1()
    seen, info = env.reset(seed=seed)
    actions = np.random.default_rng(5).integers(3, size=steps)
    for action in actions.tolist():
        digest.update(seen.tobytes() + repr(info).encode())
        seen, reward, terminated, truncated, info = env.step(action)
        digest.update(repr((reward, terminated, truncated)).encode())
        if terminated or truncated:
            seen, info = env.reset()
    return digest.hexdigest()


RANDOM: dict[str, Any] = {"noops": 5, "sticky": 0.25, "starts": (0, 3), "skip": 2}


def test_equal_seeds_give_equal_traces(make: Make) -> None:
    env, other = (make(build={"LENGTH": 30}, **RANDOM) for _ in range(2))
    first = trace(env, 1)
    assert first == trace(env, 1) == trace(other, 1)
    assert first != trace(env, 2)


def test_the_game_is_over_before_it_starts(make: Make) -> None:
    with pytest.raises(CoreError, match="three: the game is over 1 frames .* terminated"):
        make(build={"terminated": "mode == 1"})


def test_what_does_not_match_is_warned_of(three: Callable[..., Game]) -> None:
    game = three()
    facts = dataclasses.replace(game.integration, core_version="2", rom_sha1={"rom": "0" * 40})
    with pytest.warns(UserWarning) as seen:
        RetroEnv(dataclasses.replace(game, integration=facts), **PLAIN).close()
    assert [str(warning.message).split(":")[1].strip() for warning in seen] == [
        "another ROM", "another core version",
    ]  # fmt: skip
    assert {Path(warning.filename).name for warning in seen} == {Path(__file__).name}


def test_a_closed_environment_says_so(make: Make) -> None:
    env = make()
    env.reset()
    env.close()
    env.close()
    with pytest.raises(CoreError, match="closed"):
        env.reset()


def test_a_name_that_is_none(three: Callable[..., Game]) -> None:
    with pytest.raises(IntegrationError, match="'burow'.*Did you mean burrow"):
        retrokit.make("burow")
    with pytest.raises(IntegrationError, match=r"no\.yaml"):
        retrokit.make("no.yaml")
    with pytest.raises(UserError, match="where to find it"):
        retrokit.make(three(), content="x")
    with pytest.raises(UserError, match="render_mode 'human'; wanted one of rgb_array"):
        retrokit.make(three(), render_mode="human")


def test_a_thousand_resets_take_no_memory(make: Make) -> None:
    env = make(observation="rgb", stack=4)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    for _ in range(200):
        env.reset(), env.step(0)
    before = resident()
    for _ in range(1000):
        env.reset(), env.step(0)
    assert resident() - before < 1 << 20


def test_frames_nobody_sees_change_nothing(make: Make) -> None:
    """On a core that asks, with video off on skipped frames, against one that draws them all."""
    asking = make(build={"AV": 1, "LENGTH": 200}, skip=4, observation="rgb")
    plain = make(build={"LENGTH": 200}, skip=4, observation="rgb")
    for env in (asking, plain):
        env.reset(seed=0)
    for _ in range(40):
        first, second = asking.step(B), plain.step(B)
        assert (first[0] == second[0]).all()
        assert first[1:] == second[1:]
    rams = [env.lanes.cores[0].read() for env in (asking, plain)]
    assert (rams[0] == rams[1]).all()


def test_memory_that_moves_is_followed(make: Make) -> None:
    env = make(build={"core": "three_moving", "LENGTH": 50})
    for _ in range(3):
        assert env.reset()[1]["score"] == 5
        assert [reward for reward, *_ in play(env)] == [5] * 49
