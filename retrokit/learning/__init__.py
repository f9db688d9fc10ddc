"""Learning: PPO, training, evaluation. The one place that imports torch, the extra ``train``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra

if TYPE_CHECKING:
    from .config import TrainConfig
    from .settle import suited
    from .trained import TrainedPolicy, load_policy
    from .training import Progress, new_run, resumed, train

# Public name → the module that defines it; torch is loaded with the first that needs it.
_PUBLIC = {
    "TrainConfig": "config",
    "TrainedPolicy": "trained",
    "load_policy": "trained",
    "Progress": "training",
    "new_run": "training",
    "resumed": "training",
    "suited": "settle",
    "train": "training",
}

__all__ = [
    "Progress",
    "TrainConfig",
    "TrainedPolicy",
    "load_policy",
    "new_run",
    "resumed",
    "suited",
    "train",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use.

    Raises:
        MissingExtra: It needs torch, which is not installed.
    """
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        found, remedy = "learning needs torch, which is not installed", "pip install"
        raise MissingExtra(found, remedy=f"{remedy} 'retrokit[train]'") from None
