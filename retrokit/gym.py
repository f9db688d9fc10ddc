"""Importing this registers the games that ship with Gymnasium: ``retrokit/burrow``.

Gymnasium 1 loads no plugins: ``import retrokit.gym`` first, or let Gymnasium do it, which works in
every process: ``gymnasium.make("retrokit.gym:retrokit/burrow")``. Any other integration is
``gymnasium.make("retrokit.gym:retrokit/Game", game="digdug.yaml")``.
"""

from __future__ import annotations

import gymnasium

from .systems import shipped_integrations

for _id, _kwargs in {"Game": {}, **{n: {"game": n} for n in shipped_integrations()}}.items():
    gymnasium.register(
        id=f"retrokit/{_id}",
        entry_point="retrokit.env:RetroEnv",
        vector_entry_point="retrokit.vector:RetroVectorEnv",
        kwargs=_kwargs,
    )
