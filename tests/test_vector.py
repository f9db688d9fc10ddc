"""RetroVectorEnv is Gymnasium's SyncVectorEnv of RetroEnv, in C: the same traces in every mode."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from retrokit.env import RetroEnv
from retrokit.errors import CoreError, UserError
from retrokit.lanes import REST
from retrokit.load import Game
from retrokit.vector import RetroVectorEnv

Three = Callable[..., Game]
PLAIN: dict[str, Any] = {"skip": 1, "stack": 1, "size": None}
RANDOM: dict[str, Any] = {"skip": 2, "noops": 3, "sticky": 0.25, "starts": (0, 2)}
VARIETY: list[dict[str, Any]] = [
    PLAIN,
    {"stack": 3, "size": (20, 10), "observation": "grey+ram", "ram": [4, 9, 10], **RANDOM},
    {"life_episodes": True, "reward": "clip", "observation": "rgb", **RANDOM},
    {"observation": "ram", "ram_floats": False, "stack": 2, "max_frames": 9, "stall": 4, **RANDOM},
]


def run(env: Any, steps: int, seed: Any = 5) -> list[Any]:
    """Return all that an environment gives, in order."""
    out: list[Any] = [env.reset(seed=seed)]
    actions = np.random.default_rng(1).integers(3, size=(steps, env.num_envs))
    out += [env.step(row) for row in actions]
    return out


@pytest.mark.parametrize("options", VARIETY)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_it_is_gymnasiums_vector_environment(
    three: Three, mode: str, options: dict[str, Any]
) -> None:
    game = three(LIVES=2, LENGTH=7)
    expected = SyncVectorEnv([partial(RetroEnv, game, **options)] * 3, autoreset_mode=mode)
    vector = RetroVectorEnv(game, 3, autoreset_mode=mode, **options)
    assert vector.metadata == expected.metadata
    assert vector.observation_space == expected.observation_space
    assert vector.single_action_space == expected.single_action_space
    assert vector.action_space == expected.action_space
    for step, (mine, theirs) in enumerate(zip(run(vector, 60), run(expected, 60), strict=True)):
        assert data_equivalence(mine[0], theirs[0]), step
        for one, other in zip(mine[1:], theirs[1:], strict=True):
            assert same(one, other), (step, one, other)
    vector.close()
    expected.close()


def same(a: Any, b: Any) -> bool:
    """Whether two infos hold the same; object arrays (final_obs, names) included."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype == object:
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return bool(a == b)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(three: Three, threads: int) -> None:
    game = three(LENGTH=9)
    traces = []
    for count in (1, threads):
        vector = RetroVectorEnv(game, 7, threads=count, **RANDOM)
        traces.append(run(vector, 100))
        vector.close()
    for a, b in zip(*traces, strict=True):
        assert all(same(x, y) for x, y in zip(a, b, strict=True))


def lengths(three: Three, mode: str) -> tuple[list[int], list[float], list[int]]:
    """Return length by counting steps, return by adding rewards, and raw_episode's length."""
    vector = RetroVectorEnv(three(), 2, autoreset_mode=mode, reward="clip", **PLAIN)
    vector.reset(seed=0)
    counted, earned, told = [], [], []
    steps, total, ended = 0, 0.0, False
    for _ in range(40):
        _, rewards, terminated, _, infos = vector.step(np.zeros(2, int))
        if ended and mode == "NextStep":
            assert rewards[0] == 0 and not terminated[0]  # the step that reset is none of the game
            ended = False
            continue
        steps, total, ended = steps + 1, total + rewards[0], bool(terminated[0])
        if ended:
            counted.append(steps), earned.append(total)
            last = infos["final_info"] if mode == "SameStep" else infos
            told.append(int(last["raw_episode"]["length"][0]))
            assert last["raw_episode"]["return"][0] == 15.0
            steps, total = 0, 0.0
    vector.close()
    return counted, earned, told


@pytest.mark.parametrize("mode, games", [("NextStep", 10), ("SameStep", 13)])
def test_every_length_and_return_is_exact(three: Three, mode: str, games: int) -> None:
    counted, earned, told = lengths(three, mode)
    assert counted == told == [3] * games
    assert earned == [3.0] * games


def test_same_step_keeps_the_last_observation(three: Three) -> None:
    vector = RetroVectorEnv(
        three(), 2, autoreset_mode="SameStep", observation="ram", ram=[4], ram_floats=False, **PLAIN
    )
    vector.reset()
    for _ in range(3):
        seen, *_, infos = vector.step(np.zeros(2, int))
    assert seen.tolist() == [[1], [1]]  # a new game in play
    assert [last.tolist() for last in infos["final_obs"]] == [[2], [2]]  # the last one over
    assert infos["score"].tolist() == [5, 5]
    assert infos["final_info"]["score"].tolist() == [20, 20]
    vector.close()


def test_without_autoreset_the_user_resets(three: Three) -> None:
    vector = RetroVectorEnv(three(), 2, autoreset_mode=AutoresetMode.DISABLED, **PLAIN)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    vector.reset(seed=1)
    for _ in range(3):
        *_, terminated, _, _ = vector.step(np.zeros(2, int))
    assert terminated.all()
    with pytest.raises(UserError, match="the episode has ended; wanted reset"):
        vector.step(np.zeros(2, int))
    mask = np.array([True, False])
    _, infos = vector.reset(options={"reset_mask": mask})
    assert infos["_score"].tolist() == [True, False]
    assert infos["score"].tolist() == [5, 0]
    with pytest.raises(UserError, match="the episode has ended"):
        vector.step(np.zeros(2, int))
    vector.reset(options={"reset_mask": ~mask})
    vector.step(np.zeros(2, int))
    for wrong in (np.array([False, False]), np.ones(3, bool), [True, True]):
        with pytest.raises(UserError, match="reset_mask"):
            vector.reset(options={"reset_mask": wrong})
    vector.close()


def test_copies_are_kept_and_views_are_not(three: Three) -> None:
    for copy in (True, False):
        vector = RetroVectorEnv(three(LENGTH=90), 2, copy=copy, **PLAIN)
        first, _ = vector.reset()
        before = first.copy()
        second = vector.step(np.zeros(2, int))[0]
        assert (first == before).all() == copy
        assert np.shares_memory(first, second) != copy
        vector.close()


def test_a_step_may_be_sent_and_fetched_later(three: Three) -> None:
    vector, other = (RetroVectorEnv(three(LENGTH=9), 3, **RANDOM) for _ in range(2))
    vector.reset(seed=2), other.reset(seed=2)
    with pytest.raises(UserError, match="step_async"):
        vector.step_wait()
    for _ in range(20):
        vector.step_async(np.array([0, 1, 2]))
        with pytest.raises(UserError, match="step_wait"):
            vector.step_async(np.zeros(3, int))
        mine, theirs = vector.step_wait(), other.step(np.array([0, 1, 2]))
        assert all(same(a, b) for a, b in zip(mine, theirs, strict=True))
    vector.step_async(np.array([0, 1, 2]))
    mine, theirs = vector.reset(seed=2), other.reset(seed=2)
    assert same(mine[0], theirs[0]) and same(mine[1], theirs[1])
    vector.step_async(np.array([0, 1, 2]))  # closed while threads may be at work
    vector.close(), other.close()


def test_what_is_wrong_is_said(three: Three) -> None:
    vector = RetroVectorEnv(three(), 2, **PLAIN)
    with pytest.raises(UserError, match="reset"):
        vector.step(np.zeros(2, int))
    with pytest.raises(UserError, match="3 seeds; wanted one for each of 2"):
        vector.reset(seed=[1, 2, 3])
    vector.reset()
    for actions in (np.zeros(3, int), np.zeros(2), 0):
        with pytest.raises(UserError, match=r"integers of shape \(2,\)"):
            vector.step(actions)
    with pytest.raises(UserError, match="action 3; wanted 0 to 2"):
        vector.step(np.array([0, 3]))
    vector.close()
    vector.close()
    with pytest.raises(CoreError, match="closed"):
        vector.reset()
    with pytest.raises(UserError, match="0 environments"):
        RetroVectorEnv(three(), 0)
    with pytest.raises(UserError, match="-1 environments"):
        RetroVectorEnv(three(), -1)
    with pytest.raises(UserError, match="'NeverMode'; wanted one of NextStep SameStep Disabled"):
        RetroVectorEnv(three(), 1, autoreset_mode="NeverMode")


def test_render_gives_a_picture_each(three: Three) -> None:
    vector = RetroVectorEnv(three(), 2, observation="ram", render_mode="rgb_array")
    vector.reset()
    pictures = vector.render()
    assert pictures is not None and [p.shape for p in pictures] == [(48, 64, 3)] * 2
    vector.close()


def test_gymnasiums_statistics(three: Three) -> None:
    vector = gymnasium.wrappers.vector.RecordEpisodeStatistics(RetroVectorEnv(three(), 2, **PLAIN))
    vector.reset(seed=0)
    seen = []
    for _ in range(20):
        *_, infos = vector.step(np.zeros(2, int))
        if "episode" in infos:
            seen.append((infos["episode"]["r"][0], infos["episode"]["l"][0]))
    assert seen == [(15.0, 3)] * 5
    vector.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_goes_on_alone(three: Three) -> None:
    """Threads do not survive a fork; the child's caller does all the work."""
    vector = RetroVectorEnv(three(LENGTH=9), 4, threads=2, **RANDOM)
    vector.reset(seed=1)
    child = os.fork()
    if not child:
        code = 1
        try:
            for _ in range(10):
                vector.step(np.zeros(4, int))
            vector.close()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    vector.step(np.zeros(4, int))
    vector.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burrow", "skydrop"])
def test_real_cores_from_one_boot_are_like_cores_of_their_own(name: str) -> None:
    pytest.importorskip("stable_retro")
    options = {"sticky": 0.25, "noops": 30}
    expected = SyncVectorEnv([partial(RetroEnv, name, **options)] * 3)
    vector = RetroVectorEnv(name, 3, **options)
    for mine, theirs in zip(run(vector, 300), run(expected, 300), strict=True):
        assert all(same(a, b) for a, b in zip(mine, theirs, strict=True))
    vector.close()
    expected.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_what_ended_may_rest(three: Three, workers: int) -> None:
    """One environment rests after its end; the others go on as if it had been reset."""
    game = three(LENGTH=9)
    traces = []
    for rests in (False, True):
        vector = RetroVectorEnv(game, 3, workers=workers, autoreset_mode="Disabled", **PLAIN)
        vector.reset(seed=3)
        vector.reset(options={"reset_mask": np.array([False, True, True])})
        out: list[Any] = []
        at_rest, last = False, None
        for step in range(30):
            actions = np.full(3, step % 3)
            actions[0] = REST if at_rest else actions[0]
            found = vector.step(actions)
            if at_rest:
                assert found[2][0] and found[4]["ended_by"][0] == "game over"
                assert np.array_equal(found[0][0], last)
            out.append([part[1:] for part in found[:4]])
            ended = found[2] | found[3]
            if rests and ended[0]:
                at_rest, last = True, found[0][0]
                ended[0] = False
            if ended.any():
                out.append(vector.reset(options={"reset_mask": ended})[0][1:])
        assert at_rest == rests
        traces.append(out)
        vector.close()
    for one, other in zip(*traces, strict=True):
        assert all(map(np.array_equal, one, other))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("mode", ["Disabled", "NextStep", "SameStep"])
def test_nobody_rests_before_the_end(three: Three, mode: str, workers: int) -> None:
    vector = RetroVectorEnv(three(), 2, workers=workers, autoreset_mode=mode, **PLAIN)
    vector.reset(seed=0)
    with pytest.raises(UserError, match=f"action {REST}; wanted 0 to 2"):
        vector.step(np.array([0, REST]))
    vector.close()
