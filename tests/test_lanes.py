"""Lanes and the batch that they write: what a worker process builds on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

from retrokit.batch import Batch, Layout
from retrokit.errors import CoreError, CoreStateError, IntegrationError, SavestateRefused, UserError
from retrokit.lanes import Lanes
from retrokit.load import Game, open_game
from retrokit.options import EnvOptions
from retrokit.values import Variable

Three = Callable[..., Game]
RAM = EnvOptions(observation="ram", ram=[4, 6, 7], ram_floats=False, stack=1, skip=1)


def test_a_batch_lies_in_one_piece_and_is_split_by_rows() -> None:
    layout = Layout((4, 84, 84), (3,), True, 2)
    memory = bytearray(Batch.size_of(layout, 6))
    batch = Batch(layout, 6, memory)
    part = batch.rows(2, 4)
    assert part.count == 2
    for name, array in part.arrays.items():
        assert len(array) == 2 and np.shares_memory(array, batch.arrays[name])
    batch.arrays["ram"][3] = 0.5
    assert part.arrays["ram"][1].tolist() == [0.5] * 3
    spans = sorted(
        (array.ctypes.data, array.ctypes.data + array.nbytes) for array in batch.arrays.values()
    )
    assert all(stop <= start for (_, stop), (start, _) in zip(spans, spans[1:], strict=False))
    assert set(batch.arrays) == {
        prefix + name
        for prefix in ("", "final_")
        for name in ("picture", "ram", "results", "values")
    }


def test_lanes_write_into_memory_that_is_shared(three: Three) -> None:
    memory: list[SharedMemory] = []

    def shared(layout: Layout, count: int) -> Batch:
        memory.append(SharedMemory(create=True, size=Batch.size_of(layout, 2 * count)))
        return Batch(layout, 2 * count, memory[0].buf).rows(count, 2 * count)

    with Lanes(three(LENGTH=50), RAM, 2, batch=shared) as lanes:
        other = Batch(lanes.batch.layout, 4, memory[0].buf)
        lanes.reset()
        lanes.send(np.array([0, 1], np.int32))
        lanes.wait()
        assert other.arrays["ram"].tolist() == [[0] * 3, [0] * 3, [1, 0, 10], [1, 0, 11]]
        assert other.arrays["results"]["reward"].tolist() == [0, 0, 5, 6]
        lanes.batch = other = Batch(lanes.batch.layout, 0)
    memory[0].close()
    memory[0].unlink()


def test_only_the_lanes_asked_are_reset(three: Three) -> None:
    with Lanes(three(LENGTH=50), RAM, 2) as lanes:
        lanes.reset()
        for _ in range(3):
            lanes.send(np.zeros(2, np.int32))
            lanes.wait()
        lanes.reset(np.array([True, False]))
        assert lanes.batch.arrays["results"]["frame"].tolist() == [1, 4]


def test_start_states_may_be_changed(three: Three) -> None:
    with Lanes(three(LENGTH=50), RAM, 2) as lanes:
        core = lanes.cores[1]
        lanes.reset()
        for _ in range(3):
            lanes.send(np.ones(2, np.int32))
            lanes.wait()
        lanes.set_starts([core.save()])
        lanes.reset()
        assert lanes.batch.arrays["values"][:, 0].tolist() == [28, 28]
        with pytest.raises(SavestateRefused):
            lanes.set_starts([b"RKSTATE1"])


def test_what_is_wrong_is_said(three: Three) -> None:
    with Lanes(three(), RAM) as lanes:
        with pytest.raises(CoreStateError, match="action 9"):
            lanes.send(np.array([9], np.int32))
        with pytest.raises(CoreStateError, match="ended"):
            lanes.reset()
            for _ in range(4):
                lanes.send(np.array([0], np.int32))
                lanes.wait()
        with pytest.raises(CoreStateError, match="no picture"):
            lanes.frame()
    with pytest.raises(CoreStateError, match="closed"):
        lanes.reset()
    with pytest.raises(UserError, match="0 threads"):
        Lanes(three(), RAM, threads=0)
    with pytest.raises(CoreError, match=r"three \(environment 0\): the game is over 1 frames"):
        Lanes(three("score >= 0"), RAM, 3)
    game = three()
    variables = {"score": Variable((6000,))}
    facts = replace(game.integration, variables=variables, terminated="")
    with pytest.raises(IntegrationError, match="offset 0x1770"):
        Lanes(replace(game, integration=facts), RAM)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burrow", "skydrop"])
def test_unseen_frames_without_video_and_audio_change_nothing(name: str) -> None:
    pytest.importorskip("stable_retro")
    options = EnvOptions(observation="rgb", size=None, stack=1)
    with Lanes(open_game(name), options) as fast, Lanes(open_game(name), options) as full:
        assert fast.cores[0].info.asks_av_enable
        full.cores[0].set_av(3, 3)  # video and audio, on every frame
        for lanes in (fast, full):
            lanes.reset(seeds=np.array([1], np.uint64))
        random = np.random.default_rng(3)
        for _ in range(300):
            action = random.integers(6, size=1).astype(np.int32)
            for lanes in (fast, full):
                if lanes.batch.arrays["results"]["ended"][0]:
                    lanes.reset()
                lanes.send(action)
                lanes.wait()
            assert (fast.batch.arrays["picture"] == full.batch.arrays["picture"]).all()
            assert fast.batch.arrays["results"] == full.batch.arrays["results"]
            assert (fast.cores[0].read() == full.cores[0].read()).all()
