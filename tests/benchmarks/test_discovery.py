"""The claim can be made again: the discovery benchmark, on one of our own games."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retrokit.errors import CoreNotFound
from retrokit.systems import core_for

REPO = Path(__file__).parents[2]
BENCHMARKS = REPO / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from discovery import first, line, summary, why  # noqa: E402


def run(kept: Path) -> str:
    command = [sys.executable, str(BENCHMARKS / "discovery.py"), "skydrop", "--keep", str(kept)]
    environment = os.environ | {"PYTHONPATH": str(REPO)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_one_game_is_searched_judged_and_kept(tmp_path: Path) -> None:
    try:
        core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))
    kept = tmp_path / "rows.json"
    out = run(kept)
    [row] = json.loads(kept.read_text())
    assert (row["game"], row["group"], row["scored"]) == ("skydrop", "own", True)
    assert (first(row)["verdict"], first(row)["grade"]) == ("complete", "proved")
    assert row["lives"]["right"] and row["lives"]["grade"] == "proved"
    assert "| skydrop | yes | complete, proved | right, proved |" in out
    assert "own: 1 games, 1 scored, true score at rank 1 in 1; proved 1: 1 complete" in out
    row["seconds"] = 1234.5  # a game that is kept is not searched again
    kept.write_text(json.dumps([row]))
    assert "median 1234.5" in run(kept)


def row(name: str, verdict: str, grade: str, **more: Any) -> dict[str, Any]:
    candidate = {"verdict": verdict, "grade": grade, "evidence": {}}
    known: dict[str, Any] = {"game": name, "group": "own", "seconds": 2.0, "known": True}
    known |= {"stages": {"score": 1.0}, "frames": 9000}
    return known | {"scored": True, "has_lives": True, "candidates": [candidate]} | more


def test_the_sums_tell_right_from_wrong() -> None:
    rows = [
        row("a", "complete", "proved", lives={"right": True, "grade": "proved"}),
        row("b", "partial", "proved", lives={"right": False, "grade": "proved"}),
        row("c", "wrong", "proved", lives={"right": False, "grade": "proved"}, has_lives=False),
        row("d", "complete", "likely", lives={"right": True, "grade": "unproved"}),
        row("e", "wrong", "likely"),
        {"game": "f", "group": "own", "seconds": 9.0, "error": "no start found"},
    ]
    score, lives, times, starts = summary(rows)
    assert "6 games, 5 scored, true score at rank 1 in 3; proved 3: 1 complete" in score
    assert "1 in part ['b'], 1 wrong ['c']; likely and at rank 1: 2, right 1" in score
    assert "proved right in 1 of 4, wrong 1 ['b']" in lives
    assert lives.endswith("without a known counter ['c']")
    assert "median 2.0, slowest f 9.0" in times
    assert starts.endswith("['f']")


def test_a_game_for_two_needs_both_counters() -> None:
    one = row("a", "complete", "proved", players=["mine", "theirs"])
    two = row("b", "complete", "proved", players=["mine", "theirs"], why=["No lives: none fell."])
    one["candidates"][0]["of"] = two["candidates"][0]["of"] = "mine"
    other = {"verdict": "complete", "grade": "proved", "evidence": {}, "of": "theirs"}
    two["candidates"].append(other)
    assert summary([one, two])[-1].endswith("both proved in 1 of 2; else {'a': ['mine']}")
    said = "; counters proved: ['mine', 'theirs'] of ['mine', 'theirs']; No lives: none fell. |"
    assert line(two).endswith(said)


def test_rows_are_lines_of_a_table() -> None:
    good = line(row("a", "complete", "proved", lives={"right": True, "grade": "proved"}))
    assert good == "| a | yes | complete, proved | right, proved | 2.0 | score 1.0 |  |"
    bad = line({"game": "f", "seconds": 9.0, "error": "no start found"})
    assert bad.startswith("| f | error |") and bad.endswith("| no start found |")


@pytest.mark.parametrize(
    ("verdict", "grade", "more", "said"),
    [
        ("complete", "likely", {"scored": False}, "did not score in 9,000 frames of play"),
        ("complete", "unproved", {}, "scored in 9,000 frames of play, but it is no more than unp"),
        ("wrong", "likely", {}, "but another number came first (likely)"),
        ("partial", "proved", {}, "but digits are missing (proved)"),
        ("wrong", "likely", {"known": False}, "no number in this memory is its score"),
        ("none", "none", {"candidates": []}, "but no number on the screen was found"),
    ],
)
def test_a_failure_says_why(verdict: str, grade: str, more: dict[str, Any], said: str) -> None:
    assert said in why(row("a", verdict, grade, **more))


def test_what_decided_is_told() -> None:
    good = row("a", "complete", "proved")
    good["candidates"][0]["evidence"] = {"poke": {"rises": 4}}
    assert why(good) == "poke {'rises': 4}"
