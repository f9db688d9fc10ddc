"""Importing this registers the games that ship with Gymnasium: ``retrokit/burrow``.

Gymnasium 1 loads no plugins: ``import retrokit.gym`` first, or let Gymnasium do it, which works in
every process: ``gymnasium.make("retrokit.gym:retrokit/burrow")``.
"""

from __future__ import annotations

import gymnasium

from .systems import shipped_integrations

for _name in shipped_integrations():
    gymnasium.register(
        id=f"retrokit/{_name}",
        entry_point="retrokit.env:RetroEnv",
        vector_entry_point="retrokit.vector:RetroVectorEnv",
        kwargs={"game": _name},
    )
