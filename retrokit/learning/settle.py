"""What a run leaves open is settled at its start: by the game, and by the machine, measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from gymnasium import spaces

from ..errors import UserError
from ..integration import Integration
from ..lanes import cpus
from ..options import EnvOptions
from .config import TrainConfig
from .networks import Network
from .ppo import DTYPES, Batch, losses
from .shards import Precision, Team, Way, has_bf16, measure

# Systems whose games draw a moving thing every other frame only.
FLICKERS = frozenset({"atari2600"})
SAMPLES = 256  # transitions of a measured minibatch


def suited(integration: Integration) -> EnvOptions:
    """Return the options that a game is trained with when nobody says otherwise."""
    return EnvOptions.of(
        TrainConfig(integration.game).env,
        {
            "life_episodes": "lives" in integration.variables,
            "last_two": integration.system in FLICKERS,
        },
    )


def check_device(name: str) -> None:
    """Refuse a device that this machine does not have.

    Raises:
        UserError: It has none of that name, or one that holds no numbers.
    """
    try:
        torch.zeros(1, device=name).tolist()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        word = str(error).partition("\n")[0]
        raise UserError(f"device {name} ({word})", "auto, cpu or cuda") from None


def settle(
    config: TrainConfig, space: spaces.Space[object], actions: spaces.Space[object]
) -> tuple[TrainConfig, Sequence[Way]]:
    """Return the settings with device, precision, shards and threads decided.

    Args:
        config: What was asked for.
        space: Of one environment's observations.
        actions: Of one environment's actions.

    Returns:
        The settings, and the ways that were measured, the fastest first; none on a GPU, or where
        nothing was left open.

    Raises:
        UserError: There is no such device.
    """
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    check_device(device)
    config = replace(config, device=device)
    if device != "cpu":
        # Two halves of the environments: one is stepped while the GPU works on the other.
        shards = config.shards or (2 if config.num_envs % 2 == 0 else 1)
        precision = config.precision
        if precision == "auto":  # older GPUs only pretend to
            has = device.startswith("cuda") and torch.cuda.is_bf16_supported(
                including_emulation=False
            )
            precision = "bf16" if has else "fp32"
        return replace(config, precision=precision, shards=shards, threads=1), []
    if config.precision != "auto" and config.shards and config.threads:
        return config, []
    precisions: list[Precision] = ["fp32", "bf16"] if has_bf16() else ["fp32"]
    if config.precision != "auto":
        precisions = [config.precision]
    ways = _measured(config, space, actions, precisions)
    best = ways[0]
    threads = config.threads or best.threads
    return replace(config, precision=best.precision, shards=best.shards, threads=threads), ways


def _measured(
    config: TrainConfig,
    space: spaces.Space[object],
    actions: spaces.Space[object],
    precisions: Sequence[Precision],
) -> Sequence[Way]:
    """Time a minibatch of each way that is open."""
    network = Network.of(space, actions, config.width, config.seed)
    random = np.random.default_rng(0)
    samples = min(SAMPLES, config.batch)
    given = [
        random.integers(0, 255, (samples, *shape), np.uint8)
        for shape in network.facts["shapes"].values()
    ]
    named = dict(zip(("picture", "ram"), given, strict=False)) if len(given) > 1 else given[0]
    parts = network.see(named)
    floats = torch.zeros(samples)
    chosen = torch.zeros(samples, dtype=torch.int64)

    def work(team: Team, precision: Precision) -> int:
        rows = torch.arange(samples).tensor_split(team.count)

        def piece(number: int) -> None:
            at = rows[number]
            seen = {name: part.index_select(0, at) for name, part in parts.items()}
            weights = network.weights(DTYPES[precision])
            logits, values = network(seen, weights)
            batch = Batch(seen, chosen[at], floats[at], floats[at], floats[at], floats[at])
            loss, _ = losses(logits, values, batch, config)
            torch.autograd.grad(loss, list(network.parameters()))

        team.each(piece)
        return samples

    most = config.shards or min(cpus(), config.num_envs)
    counts = [config.shards] if config.shards else [n for n in range(1, most + 1)]
    counts = [n for n in counts if config.num_envs % n == 0 and (n == 1 or n >= most // 2)]
    return measure(counts, cpus(), precisions, work)
