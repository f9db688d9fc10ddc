"""The command line: commands parse, call and print; nothing else."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
