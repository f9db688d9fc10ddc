"""A run of a fake core's game, as training leaves it, whose checkpoints hold a chance each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.checkpoint import read_checkpoint
from retrokit.learning import players
from retrokit.policy import Decision, choose
from retrokit.run import Run

ROM = b"a game"
FILE = f"""\
game: three
system: arcade
core: three
rom_sha1: {hashlib.sha1(ROM).hexdigest()}
score_addrs: [6, 7]
score_encoding: uint
lives_addr: 5
start_buttons: [WAIT:2, START:1]
action_set: [[], [B], [A]]
terminated: lives == 0
"""
ENV = {"observation": "ram", "ram": [4, 5, 6, 7, 9], "stack": 1, "skip": 2}


class Leaning:
    """Presses B with a chance, and expects as much of the game."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def act(self, observations: Any, draws: Any) -> Decision:
        count = len(observations)
        likely = np.tile(np.float32([1 - self.chance, self.chance, 0]), (count, 1))
        return Decision(choose(likely, draws), np.full(count, self.chance, np.float32), likely)


@pytest.fixture
def leaning() -> type[Leaning]:
    """The policy of the run's checkpoints."""
    return Leaning


Make = Callable[..., Run]


@pytest.fixture
def make_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_core: Callable[..., Any]
) -> Make:
    """Make a run of a game: ``make_run({step: chance}, length=30, noops=3)``, a checkpoint each."""

    def make(chances: dict[int, float], length: int = 30, noops: int = 3) -> Run:
        (tmp_path / "three_libretro.so").symlink_to(fake_core("three", LENGTH=length).path)
        monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
        monkeypatch.setenv("RETROKIT_ROMS", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "three.bin").write_bytes(ROM)
        (tmp_path / "three.yaml").write_text(FILE)
        config = {
            "env": ENV | {"noops": noops},
            "total_steps": max(chances),
            "content": str(tmp_path / "three.bin"),
        }
        with Run.create(tmp_path / "runs", "three", config, FILE, {}) as made:
            for step, chance in chances.items():
                made.write_checkpoint(step, str(chance).encode(), {"return": float(step)})
        monkeypatch.setattr(
            players, "_load", lambda path: Leaning(float(read_checkpoint(path)[1].decode()))
        )
        return made

    return make


@pytest.fixture
def trained(make_run: Make) -> Run:
    """A run with three checkpoints, each of which presses B more often than the one before."""
    return make_run({100: 0.1, 200: 0.5, 300: 0.9})
