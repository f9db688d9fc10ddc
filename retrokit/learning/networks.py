"""The network: Nature CNN for pictures, a layer for memory, one trunk, two heads.

Mnih et al. 2015, "Human-level control through deep reinforcement learning": three convolutions and
a layer of 512. Policy and value share all of it (Huang et al. 2022, Atari detail 8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from gymnasium import spaces
from torch import Tensor, nn

from ..errors import UserError

Parts = Mapping[str, Tensor]
"""A batch of observations as `Network.see` returns it: ``picture`` or ``vector`` or both."""
Weights = dict[str, tuple[Tensor, Tensor]]

CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))  # channels, width of the kernel, stride
SMALLEST = 36  # pixels a side that three convolutions leave something of


def parts_of(space: spaces.Space[Any]) -> dict[str, spaces.Box]:
    """Return what a network sees of an observation space: a picture, a vector, or both.

    Args:
        space: A Box, or a Dict of ``picture`` and ``ram``. A Box of uint8 with two dimensions or
            more, each picture at least 36 pixels a side, is a picture.

    Raises:
        UserError: It is another space.
    """
    if isinstance(space, spaces.Dict) and set(space) == {"picture", "ram"}:
        picture, ram = space["picture"], space["ram"]
        if isinstance(picture, spaces.Box) and isinstance(ram, spaces.Box):
            return {"picture": picture, "vector": ram}
    if isinstance(space, spaces.Box):
        rgb = space.shape[-1:] == (3,)
        sides = space.shape[-3:-1] if rgb else space.shape[-2:]
        if space.dtype == np.uint8 and len(sides) == 2 and min(sides) >= SMALLEST:
            return {"picture": space}
        if space.dtype != np.uint8 or len(space.shape) < 3:
            return {"vector": space}
        raise UserError(f"pictures of {sides}", f"{SMALLEST} pixels a side or more")
    raise UserError(f"observations {space}", "a Box, or a Dict of picture and ram")


class Network(nn.Module):
    """Policy and value of a batch of observations.

    The arithmetic of the body is done in the type that `weights` casts to, the heads and what is
    learned are float32. Bytes are exact in bfloat16, so they enter as 0 to 255 and the first
    weights carry the 1/255 (Atari detail 9).

    The first convolution, 8 wide in steps of 4, is computed as one 2 wide in steps of 1 over
    squares of 4 × 4 pixels that `see` has laid side by side: the same sums, memory read in order.

    Args:
        shapes: ``picture`` and ``vector``: the shape of one, [height, width], [stack, height,
            width] or either with a last dimension of 3; any, of a vector.
        bytes_seen: Whether the vector is of uint8, 0 to 255.
        actions: Of the action set.
        width: Units of the last hidden layer.
        seed: Of the orthogonal weights.
    """

    def __init__(
        self,
        shapes: Mapping[str, Sequence[int]],
        bytes_seen: bool,
        actions: int,
        width: int = 512,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.facts: dict[str, Any] = {
            "shapes": {name: list(shape) for name, shape in shapes.items()},
            "bytes_seen": bytes_seen,
            "actions": actions,
            "width": width,
        }
        self.scales: dict[str, float] = {}
        found = 0
        if picture := shapes.get("picture"):
            colours = picture[-1] == 3
            *stack, height, across = picture[:-1] if colours else picture
            channels = math.prod(stack) * (3 if colours else 1)
            self.channels = (channels, height, across)
            self.colours = colours
            for number, (out, kernel, stride) in enumerate(CONVOLUTIONS):
                self.add_module(f"conv{number}", nn.Conv2d(channels, out, kernel, stride))
                height, across = ((side - kernel) // stride + 1 for side in (height, across))
                channels = out
            self.scales["conv0"] = 1 / 255
            found += channels * height * across
        if "vector" in shapes:
            self.vector = nn.Linear(math.prod(shapes["vector"]), width)
            if bytes_seen:
                self.scales["vector"] = 1 / 255
            found += width
        self.trunk = nn.Linear(found, width)
        self.actor = nn.Linear(width, actions)
        self.critic = nn.Linear(width, 1)
        random = torch.Generator().manual_seed(seed)
        for name, layer in self.layers():
            # Orthogonal weights, biases of 0 (core detail 2): hidden √2, policy 0.01, value 1.
            gain = {"actor": 0.01, "critic": 1.0}.get(name, math.sqrt(2))
            nn.init.orthogonal_(layer.weight, gain, generator=random)
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)

    @classmethod
    def of(
        cls, space: spaces.Space[Any], actions: spaces.Space[Any], width: int, seed: int
    ) -> Network:
        """Return the network for one environment's observations and actions.

        Raises:
            UserError: There is none for such spaces.
        """
        parts = parts_of(space)
        if not isinstance(actions, spaces.Discrete):
            raise UserError(f"actions {actions}", "Discrete")
        bytes_seen = "vector" in parts and parts["vector"].dtype == np.uint8
        shapes = {name: part.shape for name, part in parts.items()}
        return cls(shapes, bytes_seen, int(actions.n), width, seed)

    def see(self, observations: Any, device: torch.device | str = "cpu") -> dict[str, Tensor]:
        """Return a batch of observations as `forward` takes it.

        Args:
            observations: As vector environments give them: an array [n, …], or a dict of
                ``picture`` and ``ram``.
            device: Where to.

        Returns:
            ``picture``: uint8 [n, height / 4, width / 4, channels × 16]; ``vector``: [n, …].
        """
        if isinstance(observations, Mapping):
            given = [observations["picture"], observations["ram"]]
        else:
            given = [np.asarray(observations)]
        parts = {
            kind: torch.as_tensor(part)
            for kind, part in zip(self.facts["shapes"], given, strict=True)
        }
        if "picture" in parts:
            picture = parts["picture"]
            picture = picture.movedim(-1, -3) if self.colours else picture
            parts["picture"] = _squares(picture.reshape(-1, *self.channels))
        return {kind: part.to(device) for kind, part in parts.items()}

    def layers(self) -> list[tuple[str, nn.Conv2d | nn.Linear]]:
        """Return the layers with their names."""
        kinds = (nn.Conv2d, nn.Linear)
        return [(name, layer) for name, layer in self.named_children() if isinstance(layer, kinds)]

    def weights(self, dtype: torch.dtype) -> Weights:
        """Return layer → weight and bias as a forward pass takes them; gradients flow through."""
        out = {}
        for name, layer in self.layers():
            kind = torch.float32 if name in ("actor", "critic") else dtype
            scale = self.scales.get(name)
            weight = layer.weight if scale is None else layer.weight * scale
            if name == "conv0":
                weight = _squares_of_weights(weight)
            if weight.dim() == 4:
                weight = weight.to(dtype=kind, memory_format=torch.channels_last)
            assert layer.bias is not None
            out[name] = weight.to(kind), layer.bias.to(kind)
        return out

    def forward(self, parts: Parts, weights: Weights) -> tuple[Tensor, Tensor]:
        """Return logits, float32 [n, actions], and values, float32 [n]."""
        dtype = weights["trunk"][0].dtype
        features = []
        if "picture" in parts:
            x = parts["picture"].permute(0, 3, 1, 2).to(dtype)  # stays in the order of memory
            x = F.relu_(F.conv2d(x, *weights["conv0"]))
            for number, (_, _, stride) in enumerate(CONVOLUTIONS[1:], 1):
                x = F.relu_(F.conv2d(x, *weights[f"conv{number}"], stride=stride))
            features.append(x.flatten(1))
        if "vector" in parts:
            x = parts["vector"].flatten(1).to(dtype)
            features.append(F.relu_(F.linear(x, *weights["vector"])))
        x = torch.cat(features, 1) if len(features) > 1 else features[0]
        x = F.relu_(F.linear(x, *weights["trunk"])).float()
        return F.linear(x, *weights["actor"]), F.linear(x, *weights["critic"])[:, 0]


def _squares(planes: Tensor) -> Tensor:
    """Lay the pixels of each 4 × 4 square side by side.

    Args:
        planes: uint8 [n, channels, height, width]; what is beyond whole squares is cut off, as the
            convolution would leave it out.

    Returns:
        uint8 [n, height / 4, width / 4, channels × 16].
    """
    n, channels, height, width = planes.shape
    high, wide = height // 4, width // 4
    # Four pixels of a row are moved as one number.
    words = planes[:, :, : high * 4, : wide * 4].contiguous().view(torch.int32)
    words = words.view(n, channels, high, 4, wide).permute(0, 2, 4, 1, 3).contiguous()
    return words.view(torch.uint8).view(n, high, wide, channels * 16)


def _squares_of_weights(weight: Tensor) -> Tensor:
    """Return [out, channels, 8, 8] as [out, channels × 16, 2, 2], in the order of `_squares`."""
    out, channels = weight.shape[:2]
    blocks = weight.view(out, channels, 2, 4, 2, 4).permute(0, 2, 4, 1, 3, 5)
    return blocks.reshape(out, 2, 2, channels * 16).permute(0, 3, 1, 2)
