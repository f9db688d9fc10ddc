"""A policy that was trained, from its checkpoint alone."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..checkpoint import Checkpoint, read_checkpoint
from ..errors import UserError
from ..policy import Decision, choose
from .config import TrainConfig
from .networks import Network

_WANTED = "a checkpoint of this version of retrokit"


def unpack(checkpoint: Checkpoint, payload: bytes) -> dict[str, Any]:
    """Return what the learner put into a checkpoint; no code in it is run.

    Raises:
        UserError: It is not a learner's.
    """
    try:
        state: dict[str, Any] = torch.load(io.BytesIO(payload), "cpu", weights_only=True)
    except Exception as error:  # torch raises of all kinds here
        word = str(error).partition("\n")[0]
        raise UserError(f"{checkpoint.path} holds no learner ({word})", _WANTED) from None
    return state


class TrainedPolicy:
    """A network that plays; see ``policy.Policy``.

    Args:
        network: What decides.
        config: The settings it was trained with.

    Attributes:
        n_actions: Size of the action set.
    """

    def __init__(self, network: Network, config: TrainConfig) -> None:
        self.network, self.config = network, config
        self.n_actions: int = network.facts["actions"]
        with torch.no_grad():
            self._weights = network.weights(torch.float32)

    @torch.inference_mode()
    def act(self, observations: Any, draws: NDArray[np.float64] | None) -> Decision:
        """Choose an action for each row; float32 whatever the training's precision."""
        logits, values = self.network(self.network.see(observations), self._weights)
        probabilities = torch.softmax(logits, 1).numpy()
        return Decision(choose(probabilities, draws), values.numpy(), probabilities)


def load_policy(path: str | os.PathLike[str]) -> TrainedPolicy:
    """Return the policy of a checkpoint's file.

    Raises:
        UserError: There is no such checkpoint, or it is damaged, or of another version.
    """
    checkpoint, payload = read_checkpoint(Path(path))
    state = unpack(checkpoint, payload)
    try:
        network = Network(**state["network"])
        network.load_state_dict(state["weights"])
        config = TrainConfig.from_dict(state["config"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        word = str(error).partition("\n")[0]
        raise UserError(f"{path} does not fit ({word})", _WANTED) from None
    return TrainedPolicy(network, config)
