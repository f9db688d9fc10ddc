"""retrokit: content goes in, a proven integration comes out, and an agent is trained on it.

Importing this package does nothing slow: each public name is loaded at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name → the module that defines it.
_PUBLIC = {
    "Core": "core",
    "RetrokitError": "errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
