"""``retrokit progression`` as it is typed: median games side by side, from a run's own movies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from retrokit import sandbox
from retrokit.cli import main, progression
from retrokit.learning import players
from retrokit.metrics import EVALUATIONS
from retrokit.run import Run
from retrokit.views import progression as tiles
from retrokit.views.film import read_back
from retrokit.views.upright import Seen

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small films are made sooner."""
    monkeypatch.setattr(tiles, "MOST", {".mp4": (400, 300), ".gif": (400, 300)})
    monkeypatch.setattr(progression.sandbox, "run", lambda *_: Seen(0, 0))


def told(capsys: Capture, *args: str) -> dict[str, Any]:
    assert main(["progression", "--json", *args]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_each_tile_is_the_median_game_of_its_player(trained: Run, capsys: Capture) -> None:
    assert main(["progression", "--episodes", "5"]) == 0
    out, err = capsys.readouterr()
    assert f"filming the newest run, {trained.name}" in err
    path = trained.path / "progression.mp4"
    film = read_back(path)
    assert film.codec == "h264" and film.pixel_format == "yuv420p"
    assert f"written  {path.relative_to(Path.cwd())}" in out
    frame = trained.metrics.frame(EVALUATIONS)
    rows = out.splitlines()[1:5]
    assert [row.split()[0] for row in rows] == ["random", "step", "step", "step"]
    frames = []
    for row, (_, games) in zip(
        rows, frame.fillna({"step": 0}).groupby("step", sort=True), strict=True
    ):
        median = games.sort_values(["return", "steps", "seed"]).iloc[2]
        assert row.rstrip().endswith(f"{median.seed}  {median.movie}")
        frames.append(median.frames)
    assert film.frames == max(frames) + 120  # the end stays to be seen for two seconds


def test_what_was_played_is_not_played_again_unless_its_movie_is_lost(
    trained: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = "--episodes", "3", "--checkpoints", "1", "--out", "a.png"
    first = told(capsys, *common)
    before = trained.metrics.frame(EVALUATIONS)
    with monkeypatch.context() as patch:
        patch.setattr(progression.Evaluator, "_open", None)
        assert repr(told(capsys, *common)["tiles"]) == repr(first["tiles"])  # 300, not 300.0
    pd.testing.assert_frame_equal(before, trained.metrics.frame(EVALUATIONS))
    (trained.path / first["tiles"][1]["movie"]).unlink()
    assert told(capsys, *common)["tiles"] == first["tiles"]
    assert first["upright"] is True


def test_ctrl_c_keeps_the_games_that_ended(
    trained: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tired(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(players, "_load", tired)
    assert main(["progression", "--episodes", "2", "--out", "a.png"]) == 130
    err = capsys.readouterr().err
    assert "interrupted. finished episodes are kept: the same command goes on" in err
    assert len(trained.metrics.frame(EVALUATIONS)) == 2 and not Path("a.png").exists()


def test_some_checkpoints_are_taken_from_first_to_newest(trained: Run, capsys: Capture) -> None:
    common = "--episodes", "1", "--out", "a.png"
    steps = [tile["step"] for tile in told(capsys, "--checkpoints", "2", *common)["tiles"]]
    assert steps == [None, 100, 300]
    steps = [tile["step"] for tile in told(capsys, "--checkpoints", "1", *common)["tiles"]]
    assert steps == [None, 300]
    (middle,) = trained.path.glob("checkpoints/*200.ckpt")
    found = told(capsys, str(middle), "--play", "greedy", *common)
    assert [tile["step"] for tile in found["tiles"]] == [None, 200]
    assert found["tiles"][1]["play"] == "greedy"


REAL = sandbox.run


def test_where_directions_do_not_tell_it_is_said(
    trained: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progression.sandbox, "run", REAL)
    found = told(capsys, "--episodes", "1", "--checkpoints", "1", "--out", "a.png")
    assert found["upright"] is None  # the game knows no directions


def test_captions_say_what_a_tile_is() -> None:
    row = {
        "step": 500_000, "play": "sampled", "return": 1030.0, "steps": 1899, "episodes": 15,
        "distinct": 15,
    }  # fmt: skip
    lines = ("500,000 steps", "scored 1,030", "survived 1,899 steps", "median of 15")
    assert progression.caption(row) == lines
    assert progression.caption(row | {"distinct": 2})[3] == "median of 15, 2 distinct"
    assert progression.caption(row | {"episodes": 1})[3] == "one game, no median"
    assert progression.caption(row | {"step": None})[0] == "random play"
    assert progression.caption(row | {"play": "greedy"})[0] == "500,000 steps, greedy"


def test_one_game_is_called_what_it_is(trained: Run, capsys: Capture) -> None:
    assert main(["progression", "--episodes", "1", "--checkpoints", "1", "--out", "a.png"]) == 0
    assert "one game of each tells nothing of how good it is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rotate", "code", "said"),
    [
        ([], 1, "the picture stands turned by 90 degrees, .*--rotate 270 makes it upright"),
        (["--rotate", "90"], 0, "warning: the picture stands turned by 90 degrees.*would make"),
    ],
)
def test_a_film_that_lies_on_its_side_is_noticed(
    trained: Run,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    rotate: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(progression.sandbox, "run", lambda *_: Seen(270, 270))
    args = ["progression", "--episodes", "1", "--checkpoints", "1", "--out", "a.png", *rotate]
    assert main(args) == code
    assert re.search(said, capsys.readouterr().err)
    assert Path("a.png").is_file() == (code == 0)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--rotate", "45"], "--rotate 45; wanted one of 0 90 180 270"),
        (["--out", "a.gif", "--sound"], "--sound; wanted an .mp4"),
        (["a.ckpt"], "a.ckpt lies in no run"),
        (["three", "three"], "2 names; wanted one run, or checkpoints of one"),
        (["thee"], "no run is called 'thee'"),
        (["--out", "a.avi", "--episodes", "1"], "a film a.avi; wanted a name that ends in"),
    ],
)
def test_mistakes_are_one_line(trained: Run, capsys: Capture, args: list[str], said: str) -> None:
    assert main(["progression", *args]) == 2
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err
