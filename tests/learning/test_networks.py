from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from retrokit.errors import UserError
from retrokit.learning.networks import Network, parts_of


def box(shape: tuple[int, ...], dtype: type = np.uint8) -> spaces.Box:
    return spaces.Box(0, 255 if dtype is np.uint8 else 1, shape, dtype)


def network(space: spaces.Space, width: int = 32) -> Network:
    return Network.of(space, spaces.Discrete(5), width, seed=3)


def sampled(space: spaces.Space, count: int) -> Any:
    space.seed(1)
    batch = [space.sample() for _ in range(count)]
    if isinstance(space, spaces.Dict):
        return {name: np.stack([one[name] for one in batch]) for name in space}
    return np.stack(batch)


SPACES = [
    box((4, 84, 84)),
    box((84, 84)),
    box((84, 60, 3)),
    box((4, 36, 40, 3)),
    box((128,)),
    box((4, 128), np.float32),
    box((4,), np.float32),
    spaces.Dict({"picture": box((4, 84, 84)), "ram": box((4, 7), np.float32)}),
    spaces.Dict({"picture": box((84, 84, 3)), "ram": box((7,))}),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_kind_of_observation_gives_logits_and_values(
    space: spaces.Space, dtype: torch.dtype
) -> None:
    net = network(space)
    logits, values = net(net.see(sampled(space, 3)), net.weights(dtype))
    assert logits.shape == (3, 5) and values.shape == (3,)
    assert logits.dtype == values.dtype == torch.float32
    gradients = torch.autograd.grad(logits.square().sum() + values.sum(), list(net.parameters()))
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


def test_the_nature_network_has_the_size_of_the_paper() -> None:
    net = Network.of(box((4, 84, 84)), spaces.Discrete(9), 512, 0)
    assert sum(part.numel() for part in net.parameters()) == 1_684_128 + 512 * 10 + 10


@pytest.mark.parametrize("shape", [(4, 84, 84), (84, 87), (85, 60, 3), (2, 39, 41, 3)], ids=str)
def test_squares_give_the_convolution_of_scaled_pictures(shape: tuple[int, ...]) -> None:
    space = box(shape)
    net = network(space)
    seen = sampled(space, 2)
    planes = torch.as_tensor(seen)
    if shape[-1] == 3:
        planes = planes.movedim(-1, -3)
    planes = planes.reshape(2, -1, *planes.shape[-2:]).float() / 255
    wanted = torch.conv2d(planes, net.conv0.weight, net.conv0.bias, stride=4)
    squares = net.see(seen)["picture"].permute(0, 3, 1, 2).float()
    found = torch.conv2d(squares, *net.weights(torch.float32)["conv0"])
    torch.testing.assert_close(found, wanted)


def test_heads_begin_small_and_hidden_layers_orthogonal() -> None:
    net = network(box((64,), np.float32), width=64)
    product = net.trunk.weight @ net.trunk.weight.T
    torch.testing.assert_close(product, 2 * torch.eye(64), atol=1e-4, rtol=0)
    torch.testing.assert_close(net.actor.weight.norm(dim=1), torch.full((5,), 0.01))
    torch.testing.assert_close(net.critic.weight.norm(), torch.tensor(1.0))
    assert not any(layer.bias.any() for _, layer in net.layers())


def test_a_seed_is_a_network() -> None:
    first, same = network(box((9,))), network(box((9,)))
    other = Network.of(box((9,)), spaces.Discrete(5), 32, seed=4)
    assert torch.equal(first.trunk.weight, same.trunk.weight)
    assert not torch.equal(first.trunk.weight, other.trunk.weight)


@pytest.mark.parametrize("space", [box((4, 30, 84)), spaces.Discrete(3)], ids=str)
def test_what_cannot_be_seen_is_refused(space: spaces.Space) -> None:
    with pytest.raises(UserError, match="wanted"):
        parts_of(space)
