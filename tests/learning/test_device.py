"""Where there is no GPU: torch's "meta" device stands in, whose tensors have no numbers.

What is read without being fetched fails there as on a GPU; what is on two devices, in `OneDevice`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from corridor import Corridor, small
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from retrokit.errors import UserError
from retrokit.learning import settle
from retrokit.learning.ppo import PPO
from retrokit.learning.settle import check_device
from retrokit.learning.shards import Team

BOX, TWO = spaces.Box(0, 100, (1,), np.float32), spaces.Discrete(2)
ADAM = torch.optim.Adam


class Pictures(Corridor):
    """The corridor, seen as a picture."""

    def __init__(self, length: int, truncates: bool) -> None:
        super().__init__(length, truncates)
        self.observation_space = spaces.Box(0, 255, (2, 36, 36), np.uint8)

    def reset(self, **given: Any) -> Any:
        seen, info = super().reset(**given)
        return np.full((2, 36, 36), seen[0], np.uint8), info

    def step(self, action: Any) -> Any:
        seen, *rest = super().step(action)
        return np.full((2, 36, 36), seen[0], np.uint8), *rest


class OneDevice(TorchDispatchMode):
    """Refuses what a GPU refuses: an operator with tensors of two places."""

    MAY = ("aten::copy_", "aten::_to_copy", "aten::index_put_")  # the last: indices on the CPU

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
        places = {one.device.type for one in given if one.dim()}
        if len(places) > 1 and func._schema.name not in self.MAY:
            raise RuntimeError(f"{func} on {places}")
        return func(*args, **(kwargs or {}))


@pytest.fixture
def meta(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let what is fetched be zeros, Adam be another one, and all be done in one watched thread."""

    def fetched(tensor: Tensor) -> Tensor:
        return torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_meta else tensor

    monkeypatch.setattr(Tensor, "cpu", fetched)
    for name in ("__float__", "__bool__"):
        real = getattr(Tensor, name)
        monkeypatch.setattr(Tensor, name, lambda one, real=real: real(fetched(one)))
    monkeypatch.setattr(torch.optim, "Adam", lambda *given, fused, **more: ADAM(*given, **more))
    monkeypatch.setattr(Team, "each", lambda team, work: [work(n) for n in range(team.count)])
    with OneDevice():
        yield


@pytest.mark.parametrize("kind", [Corridor, Pictures])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_all_of_it_is_on_the_device(meta: None, kind: Any, mode: str, precision: Any) -> None:
    envs = [
        SyncVectorEnv([lambda n=n: kind(n, True) for n in part], autoreset_mode=mode)
        for part in ((3, 4), (5, 2))
    ]
    config = small(num_envs=4, shards=2, autoreset=mode, precision=precision, device="meta")
    learner = PPO(envs, config, "meta")
    try:
        learner.start()
        for _ in range(2):
            iteration = learner.iterate()
        assert learner.rollout is not None
        held = [*vars(learner.rollout).values(), *learner.rollout.parts.values()]
        held += [*learner.parameters, *(one.grad for one in learner.parameters)]
        assert all(one.is_meta for one in held if isinstance(one, Tensor))
        assert iteration.episodes and learner.pieces == 1 and learner.step == 2 * config.batch
    finally:
        learner.close()


def test_an_optimiser_goes_where_the_network_is(corridors: Any) -> None:
    """A checkpoint is read on the CPU, wherever it was written."""
    learner = corridors([3, 4], "NextStep")
    learner.iterate()
    file = io.BytesIO()
    torch.save(learner.optimizer.state_dict(), file)
    file.seek(0)
    state = torch.load(file, "cpu", weights_only=True)
    there = [torch.nn.Parameter(torch.empty_like(one, device="meta")) for one in learner.parameters]
    optimizer = ADAM(there)
    optimizer.load_state_dict(state)
    moments = [one[name] for one in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
    assert len(moments) == 2 * len(there) and all(one.is_meta for one in moments)


def test_a_device_that_is_not_there_is_one_line() -> None:
    check_device("cpu")
    for name in ("warp", "cuda:99", "meta"):
        with pytest.raises(UserError, match=f"device {name}.*auto, cpu or cuda"):
            check_device(name)


@pytest.mark.parametrize(("has", "precision"), [(True, "bf16"), (False, "fp32")])
def test_a_gpu_takes_bf16_where_it_has_it(
    monkeypatch: pytest.MonkeyPatch, has: bool, precision: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has)
    monkeypatch.setattr(settle, "check_device", lambda name: None)
    config, ways = settle.settle(
        small(device="auto", precision="auto", shards=0, threads=0), BOX, TWO
    )
    assert (config.device, config.precision) == ("cuda", precision)
    assert (config.shards, config.threads, ways) == (2, 1, [])
