"""The entry point by which Gymnasium learns of the games that ship: ``retrokit/burrow``."""

from __future__ import annotations

from .load import shipped_integrations


def register_games() -> None:
    """Register each shipped integration; Gymnasium calls this and adds the namespace."""
    from gymnasium import register

    for name in shipped_integrations():
        register(
            id=name,
            entry_point="retrokit.env:RetroEnv",
            vector_entry_point="retrokit.vector:RetroVectorEnv",
            kwargs={"game": name},
        )
