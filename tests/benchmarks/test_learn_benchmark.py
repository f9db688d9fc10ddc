"""What benchmarks/learn.py makes of its measurements; the learners themselves are not run here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

from learn import judge, missed, speed_table  # noqa: E402
from learn_contenders import Setup  # noqa: E402

SHARES = {"playing": 0.25, "thinking": 0.15, "update": 0.6}
RATES = {
    "retrokit": [300.0, 150.0, 600.0],
    "retrokit_fp32": [120.0, 60.0, 240.0],
    "sb3": [100.0, 50.0, 200.0],
    "plain": [120.0, 60.0, 240.0],
}
RAW = {"rates": RATES, "per_cpu": RATES, "shares": dict.fromkeys(RATES, SHARES)}


def test_ratios_are_taken_round_by_round() -> None:
    result = judge(RAW)
    assert result["steps_per_second"]["retrokit"] == 300
    assert result["over"]["retrokit"] == {"sb3": [3, 3, 3], "plain": [2.5, 2.5, 2.5]}
    table = speed_table(result).splitlines()
    assert table[2].startswith("| retrokit | 300 | 300 | 25% | 15% | 60% | 3.00 (3.00–3.00) |")


def test_a_missed_bar_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learn.has_bf16", lambda: True)
    assert missed(judge(RAW)) == [
        "retrokit_fp32 over sb3: 1.2; wanted 1.3",
        "retrokit_fp32 over plain: 1.0; wanted 1.3",
    ]


def test_all_learners_have_retrokit_s_settings() -> None:
    config = Setup("burrow", 16).config()
    assert (config.batch, config.device, config.env.reward) == (2048, "cpu", "clip")
