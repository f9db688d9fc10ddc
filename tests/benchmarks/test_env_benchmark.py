"""The environment benchmark in its smallest form: one game, two short rounds, whoever is here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from retrokit.core import SAVESTATE
from retrokit.errors import CoreNotFound
from retrokit.integration import Integration
from retrokit.systems import core_for, find_core
from retrokit.vector import RetroVectorEnv

REPO = Path(__file__).parents[2]
BENCHMARKS = REPO / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import psx  # noqa: E402
from env import bars, judge  # noqa: E402


@pytest.mark.slow
def test_two_short_rounds(tmp_path: Path) -> None:
    try:
        core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))
    kept = tmp_path / "env.json"
    choices = "burrow --rounds 2 --slice 0.05 --envs 2 --no-scale --json".split()
    command = [sys.executable, str(BENCHMARKS / "env.py"), *choices, str(kept)]
    environment = os.environ | {"PYTHONPATH": str(REPO)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    result = json.loads(kept.read_text())["games"]["burrow"]
    assert result["same"], done.stderr  # with video and audio on: the same pictures, the same RAM
    assert {"limit", "at once", "retrokit", "retrokit_av"} <= set(result["steps_per_second"])
    assert all(rate > 0 for rate in result["steps_per_cpu_second"].values())
    assert "| burrow | retrokit |" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_made_up_playstation_is_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads and processes, whatever was played before: the same pictures and the same RAM."""
    try:
        found = find_core("mednafen_psx")
    except CoreNotFound as error:
        pytest.skip(str(error))
    monkeypatch.setenv("RETROKIT_SYSTEM", str(tmp_path))
    game, content = psx.make(tmp_path, found)
    score = Integration.load(game).variables["score"].addrs[-1]
    around = {SAVESTATE: list(range(score - 2048, score + 2048))}
    actions = np.random.default_rng(0).integers(3, size=(8, 3))
    seen = []
    for before, where in enumerate(({"threads": 1}, {"threads": 2}, {"workers": 2})):
        envs = RetroVectorEnv(game, 3, content=content, observation="rgb+ram", ram=around, **where)
        envs.reset()
        for _ in range(before):
            envs.step(np.ones(3, int))
        envs.reset()
        seen.append([envs.step(row)[0] for row in actions])
        envs.close()
    for one, two, three in zip(*seen, strict=True):
        for part in ("picture", "ram"):
            assert (one[part] == two[part]).all() and (one[part] == three[part]).all()
        assert one["picture"].std() > 1 and one["ram"].any()


def test_ratios_are_taken_round_by_round() -> None:
    rates = {"retrokit": [90.0, 45.0, 100.0], "limit": [100.0, 50.0, 100.0]}
    result = judge({"rates": rates, "cpu": {"retrokit": 9.0, "limit": 10.0}, "same": True})
    assert result["retrokit_over"]["limit"][1] == 0.9
    assert result["steps_per_second"] == {"retrokit": 90, "limit": 100}
    assert bars({"a game": result}) == {("a game", "limit"): True}
    rates["limit"] = [110.0, 60.0, 120.0]
    worse = judge({"rates": rates, "cpu": {"retrokit": 9.0, "limit": 10.0}, "same": True})
    assert bars({"a game": worse}) == {("a game", "limit"): False}
