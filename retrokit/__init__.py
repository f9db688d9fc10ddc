"""retrokit: content goes in, a proven integration comes out, and an agent is trained on it.

Importing this package does nothing slow: each public name is loaded at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .content import identify
    from .core import Core
    from .env import RetroEnv, make
    from .errors import RetrokitError
    from .integration import Integration
    from .options import EnvOptions
    from .systems import find_core
    from .vector import RetroVectorEnv

__version__ = "0.1.0"

# Public name → the module that defines it.
_PUBLIC = {
    "Core": "core",
    "EnvOptions": "options",
    "Integration": "integration",
    "RetroEnv": "env",
    "RetroVectorEnv": "vector",
    "RetrokitError": "errors",
    "find_core": "systems",
    "identify": "content",
    "make": "env",
}

__all__ = [
    "Core",
    "EnvOptions",
    "Integration",
    "RetroEnv",
    "RetroVectorEnv",
    "RetrokitError",
    "__version__",
    "find_core",
    "identify",
    "make",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    """List the names not yet loaded too."""
    return sorted([*globals(), *_PUBLIC])
