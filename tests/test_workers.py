"""Worker processes: the same traces as threads, and cores that crash or hang cost one episode."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_vector import RANDOM, VARIETY, run, same
from test_worker import processes

from retrokit import worker
from retrokit.errors import CoreError, CoreStateError, LoadRefused, SavestateRefused, UserError
from retrokit.lanes import Lanes
from retrokit.load import Game
from retrokit.options import EnvOptions
from retrokit.vector import RetroVectorEnv
from retrokit.workers import Workers

Three = Callable[..., Game]
Make = Callable[..., RetroVectorEnv]
A = 2  # the action under which three_falls falls


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("options", VARIETY[1:])
def test_processes_are_like_threads(three: Three, mode: str, options: dict[str, Any]) -> None:
    game = three(LIVES=2, LENGTH=7)
    given = {**options, "autoreset_mode": mode}
    traces = []
    for workers in (0, 2):
        env = RetroVectorEnv(game, 5, workers=workers, **given)
        traces.append([env.metadata, *run(env, 80)])
        assert not env.restarts.any()
        env.close()
    for step, (a, b) in enumerate(zip(*traces, strict=True)):
        assert same(a, b) if step == 0 else all(map(same, a, b)), step


def test_all_memory_is_the_same(three: Three) -> None:
    """Whole RAM after each step, in one worker a lane, in one for all, and in threads."""
    options: dict[str, Any] = {"observation": "ram", "ram_floats": False, **RANDOM}
    runs = []
    for workers in (0, 1, 3):
        env = RetroVectorEnv(three(LENGTH=9), 3, workers=workers, **options)
        runs.append([step[0] for step in run(env, 50)])
        env.close()
    assert np.array_equal(runs[0], runs[1]) and np.array_equal(runs[0], runs[2])


def test_a_core_that_cannot_share_a_process_gets_one(three: Three) -> None:
    game = three(quirks="own_process", LENGTH=9)
    env, other = RetroVectorEnv(game, 3, **RANDOM), RetroVectorEnv(three(LENGTH=9), 3, **RANDOM)
    assert len(set(processes(env))) == 3
    for mine, theirs in zip(run(env, 30), run(other, 30), strict=True):
        assert all(map(same, mine, theirs))
    env.close(), other.close()
    for workers in (0, 2):
        with pytest.raises(UserError, match="in one process; wanted one"):
            RetroVectorEnv(game, 3, workers=workers)


@pytest.mark.parametrize("how, why", [(0, "SIGSEGV in retro_run"), (1, "SIGABRT in retro_run")])
def test_a_crash_costs_the_episodes_of_its_process(
    falling: Make, caplog: pytest.LogCaptureFixture, how: int, why: str
) -> None:
    env, calm = falling(5, 2, how), falling(5, 2)
    env.reset(seed=1), calm.reset(seed=1)
    before = processes(env)
    for _ in range(3):
        last, calm_last = env.step(np.zeros(5, int)), calm.step(np.zeros(5, int))
    assert same(last[0], calm_last[0])
    with caplog.at_level(logging.WARNING):
        seen, rewards, terminated, truncated, infos = env.step(np.array([0, A, 0, 0, 0]))
    calm_last = calm.step(np.zeros(5, int))
    assert truncated.tolist() == [True, True, False, False, False]
    assert not terminated.any()
    assert rewards.tolist() == [0, 0, 5, 5, 5]
    assert same(seen[2:], calm_last[0][2:])
    assert same(seen[1], last[0][1])  # it shows what was shown last
    assert infos["ended_by"].tolist() == ["crash", "crash", None, None, None]
    assert infos["restarts"].tolist() == [1, 1, 0, 0, 0]
    assert env.restarts.tolist() == [1, 1, 0, 0, 0]
    assert infos["raw_episode"]["return"].tolist() == [15, 15, 0, 0, 0]
    assert infos["raw_episode"]["length"].tolist() == [4, 4, 0, 0, 0]
    assert "(environments 0 to 1)" in caplog.text and why in caplog.text
    assert "A is held" in caplog.text
    assert processes(env)[0] != before[0] and processes(env)[1] == before[1]
    seen, rewards, terminated, truncated, infos = env.step(np.ones(5, int))
    assert infos["score"].tolist() == [5, 5, 31, 31, 31]
    assert rewards.tolist() == [0, 0, 6, 6, 6] and not truncated.any()
    assert env.step(np.ones(5, int))[1].tolist() == [6] * 5


def test_a_crash_in_the_same_step_begins_anew_at_once(falling: Make) -> None:
    env = falling(2, 2, autoreset_mode="SameStep")
    env.reset(seed=1)
    env.step(np.zeros(2, int))
    seen, rewards, _, truncated, infos = env.step(np.array([0, A]))
    assert truncated.tolist() == [False, True] and rewards.tolist() == [5, 0]
    assert infos["score"].tolist() == [15, 5]
    assert infos["final_info"]["score"][1] == 10 and infos["final_info"]["ended_by"][1] == "crash"
    assert infos["final_info"]["restarts"][1] == 1
    assert infos["final_obs"][1].tolist() == [1, 1, 0, 10] and seen[1].tolist() == [1, 1, 0, 5]
    assert env.step(np.zeros(2, int))[1].tolist() == [5, 5]


def test_a_crash_waits_for_a_reset_where_that_is_the_users(falling: Make) -> None:
    env = falling(2, 2, autoreset_mode="Disabled")
    env.reset(seed=1)
    assert env.step(np.array([0, A]))[3].tolist() == [False, True]
    with pytest.raises(UserError, match="ended"):
        env.step(np.zeros(2, int))
    _, infos = env.reset(options={"reset_mask": np.array([False, True])})
    assert infos["score"].tolist() == [0, 5]
    assert env.step(np.zeros(2, int))[4]["score"].tolist() == [15, 10]


def test_an_episode_lost_in_a_reset_is_told_in_the_next_step(falling: Make) -> None:
    env = falling(3, 1)
    env.reset(seed=1)
    env.step(np.zeros(3, int))
    os.kill(processes(env)[0], signal.SIGKILL)
    _, infos = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert infos["score"].tolist() == [0, 5, 0]
    _, rewards, _, truncated, infos = env.step(np.zeros(3, int))
    assert truncated.tolist() == [True, False, True] and rewards.tolist() == [0, 5, 0]
    assert infos["raw_episode"]["length"].tolist() == [2, 0, 2]


def test_a_crash_over_an_autoreset_loses_nothing(falling: Make) -> None:
    env = falling(2, 1, length=3)
    env.reset(seed=1)
    while not env.step(np.zeros(2, int))[2].any():
        pass
    os.kill(processes(env)[0], signal.SIGKILL)
    _, _, terminated, truncated, infos = env.step(np.zeros(2, int))
    assert not terminated.any() and not truncated.any()
    assert infos["score"].tolist() == [5, 5] and env.restarts.tolist() == [1, 1]


@pytest.mark.parametrize("how, limit", [(2, 1), (3, 2)])
def test_a_core_that_hangs_is_ended(
    falling: Make,
    how: int,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(worker, "CALL_LIMIT_S", 1.0)
    if how == 3:  # it uses no processor time
        monkeypatch.setattr(worker, "ASLEEP_LIMIT_S", 2.0)
    env = falling(3, 3, how)
    env.reset(seed=1)
    _, rewards, _, truncated, infos = env.step(np.array([0, 0, A]))
    assert truncated.tolist() == [False, False, True] and rewards.tolist() == [5, 5, 0]
    assert infos["ended_by"][2] == "crash"
    assert f"did not come back from retro_run within {limit} s" in caplog.text
    assert env.step(np.zeros(3, int))[4]["score"].tolist() == [15, 15, 5]


def test_equal_crashes_give_equal_traces(falling: Make) -> None:
    traces = []
    for _ in range(2):
        env = falling(2, 2, **{**RANDOM, "skip": 1})
        env.reset(seed=4)
        for action in (0, 1, A, 0):
            env.step(np.array([1, action]))
        traces.append([env.step(np.array([1, 1])) for _ in range(60)])
    for a, b in zip(*traces, strict=True):
        assert all(map(same, a, b))


def test_a_core_that_never_starts_is_given_up(three: Three, caplog: Any) -> None:
    with pytest.raises(CoreError, match=r"\(environments 0 to 1\): lost 3 times in a row.*SIGABRT"):
        RetroVectorEnv(three(core="abort_in_load"), 2, workers=1)
    assert caplog.text.count("is started anew") == 2
    with pytest.raises(LoadRefused, match="refused"):
        RetroVectorEnv(three(core="refuses"), 2, workers=1)
    with pytest.raises(CoreError, match="the game is over 1 frames after"):
        RetroVectorEnv(three("score >= 0"), 2, workers=2)


def test_a_start_that_crashes_once_is_tried_again(
    falling: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = tmp_path / "falls"
    flag.touch()
    monkeypatch.setenv("FALLS", str(flag))
    env = falling(2, 2)
    assert env.reset()[1]["score"].tolist() == [5, 5]
    flag.touch()
    _, _, _, truncated, _ = env.step(np.array([0, A]))  # the first new core falls too
    assert truncated.tolist() == [False, True]
    assert env.restarts[1] == 2


def test_a_core_that_falls_in_every_episode_is_given_up(
    falling: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrokit.workers.MOST_LOSSES", 4)
    env = falling(1, 1, length=5)
    env.reset()
    once = [bool(env.step(np.array([A]))[3][0]) for _ in range(6)]
    assert once == [True, False] * 3 and env.restarts.tolist() == [3]
    while not env.step(np.zeros(1, int))[2].any():  # an episode that ends as it should
        pass
    env.step(np.zeros(1, int))
    again = [bool(env.step(np.array([A]))[3][0]) for _ in range(6)]
    assert again == once
    with pytest.raises(CoreError, match="4 times without an episode played to its end.*SIGSEGV"):
        env.step(np.array([A]))


def test_steps_are_of_use_too(falling: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrokit.workers.MOST_LOSSES", 2)
    monkeypatch.setattr("retrokit.workers.CALM", 3)
    env = falling(1, 1)
    env.reset()
    for _ in range(2):
        assert env.step(np.array([A]))[3].all()
        for _ in range(4):
            assert not env.step(np.zeros(1, int))[3].any()
    assert env.restarts.tolist() == [2]


def test_lanes_and_workers_do_the_same(three: Three) -> None:
    game = three(LENGTH=50)
    options = EnvOptions(observation="ram", ram=[4, 6, 7], skip=1)
    with Lanes(game, options, 2) as lanes, Workers(game, options, 2, workers=2) as workers:
        assert workers.names == lanes.names and workers.info == lanes.info
        core = lanes.cores[1]
        lanes.reset()
        for _ in range(3):
            lanes.send(np.ones(2, np.int32))
            lanes.wait()
        workers.set_starts([core.save(), core.save()])
        assert workers.n_starts == 2
        workers.reset()
        assert workers.batch.arrays["values"][:, 0].tolist() == [28, 28]
        with pytest.raises(SavestateRefused):
            workers.set_starts([b"RKSTATE1"])
        with pytest.raises(CoreStateError, match="no picture"):
            workers.frame()
        with pytest.raises(CoreStateError, match="action 9"):
            workers.send(np.array([0, 9], np.int32))
        workers.send(np.zeros(2, np.int32))  # nobody waits
        workers.reset()
        assert workers.batch.arrays["values"][:, 0].tolist() == [28, 28]
    with pytest.raises(UserError, match="0 threads"):
        Workers(game, options, 2, workers=1, threads=0)


def test_render_gives_a_picture_each(three: Three) -> None:
    env, other = (
        RetroVectorEnv(three(), 3, workers=n, observation="ram", render_mode="rgb_array")
        for n in (2, 0)
    )
    env.reset(), other.reset()
    mine, theirs = env.render(), other.render()
    assert mine is not None and theirs is not None and all(map(same, mine, theirs))
    env.close(), other.close()


def test_what_does_not_match_is_warned_of_once(three: Three) -> None:
    game = three()
    facts = replace(game.integration, core_version="2", rom_sha1={"rom": "0" * 40})
    with pytest.warns(UserWarning) as seen:
        RetroVectorEnv(replace(game, integration=facts), 2, workers=2).close()
    assert [str(warning.message).split(":")[1].strip() for warning in seen] == [
        "another ROM", "another core version",
    ]  # fmt: skip
    assert {Path(warning.filename).name for warning in seen} == {Path(__file__).name}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burrow", "skydrop"])
def test_real_cores_are_the_same_in_processes(name: str) -> None:
    pytest.importorskip("stable_retro")
    options: dict[str, Any] = {"observation": "grey+ram", "ram_floats": False, "stack": 1}
    options |= {"sticky": 0.25, "noops": 30}
    here, there = (RetroVectorEnv(name, 3, workers=workers, **options) for workers in (0, 2))
    for mine, theirs in zip(run(here, 200), run(there, 200), strict=True):
        assert all(map(same, mine, theirs))
    here.close(), there.close()
