"""The environment benchmark in its smallest form: one game, two short rounds, whoever is here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrokit.errors import CoreNotFound
from retrokit.systems import core_for

REPO = Path(__file__).parents[2]
BENCHMARKS = REPO / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

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


def test_ratios_are_taken_round_by_round() -> None:
    rates = {"retrokit": [90.0, 45.0, 100.0], "limit": [100.0, 50.0, 100.0]}
    result = judge({"rates": rates, "cpu": {"retrokit": 9.0, "limit": 10.0}, "same": True})
    assert result["retrokit_over"]["limit"][1] == 0.9
    assert result["steps_per_second"] == {"retrokit": 90, "limit": 100}
    assert bars({"a game": result}) == {("a game", "limit"): True}
    rates["limit"] = [110.0, 60.0, 120.0]
    worse = judge({"rates": rates, "cpu": {"retrokit": 9.0, "limit": 10.0}, "same": True})
    assert bars({"a game": worse}) == {("a game", "limit"): False}
