from __future__ import annotations

import threading
import time

import pytest
import torch

from retrokit.learning.shards import Team, measure


def test_a_shard_is_always_the_same_thread_and_all_work_at_once() -> None:
    team = Team(3)
    gate = threading.Barrier(3, timeout=20)

    def who(number: int) -> tuple[int, str]:
        gate.wait()
        return number, threading.current_thread().name

    first, second = team.each(who), team.each(who)
    team.close()
    assert first == second and [number for number, _ in first] == [0, 1, 2]
    assert len({name for _, name in first}) == 3


def test_arithmetic_has_the_threads_asked_for() -> None:
    team = Team(2, 1)
    assert team.each(lambda _: torch.get_num_threads()) == [1, 1]
    team.close()


def test_all_are_waited_for_before_an_error_comes_out() -> None:
    team = Team(2)
    finished = []

    def work(number: int) -> None:
        if number == 0:
            raise ValueError("first")
        time.sleep(0.05)
        finished.append(number)

    with pytest.raises(ValueError, match="first"):
        team.each(work)
    team.close()
    assert finished == [1]


def test_ways_are_measured_and_the_fastest_is_first() -> None:
    def work(team: Team, precision: str) -> int:
        time.sleep(0.001 if precision == "bf16" else 0.02)
        return 100

    ways = measure([1, 2], 4, ["fp32", "bf16"], work)
    assert len(ways) == 4 and {way.precision for way in ways[:2]} == {"bf16"}
    assert {(way.shards, way.threads) for way in ways} == {(1, 4), (2, 2)}
    assert all(a.rate >= b.rate for a, b in zip(ways, ways[1:], strict=False))
