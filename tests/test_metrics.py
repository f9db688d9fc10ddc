"""Metrics: what goes in comes out, in order, and nothing half written."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from retrokit.errors import RetrokitError
from retrokit.metrics import Metrics


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_rows_go_in_and_a_frame_comes_out(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    assert metrics.frame("updates").empty and not metrics.path.exists()
    metrics.append("updates", {"step": 10, "loss": 0.5, "note": "a"})
    metrics.append("updates", [{"step": 20, "loss": float("nan")}, {"step": np.int64(30), "kl": 1}])
    metrics.append("updates", pd.DataFrame({"step": [40], "loss": [np.float32(0.25)]}))
    metrics.append("updates", [])
    frame = Metrics(tmp_path).frame("updates")
    assert frame["step"].tolist() == [10, 20, 30, 40] and frame["step"].dtype == np.int64
    assert frame["loss"].tolist()[0::3] == [0.5, 0.25] and frame["loss"].isna().sum() == 2
    assert frame["note"].tolist()[0] == "a"
    assert str(frame["kl"].dtype) == "Int64" and frame["kl"].sum() == 1
    metrics.close()
    metrics.close()
    metrics.append("updates", {"step": 50})
    assert len(metrics.frame("updates")) == 5
    metrics.close()


def test_a_column_whose_first_values_are_missing_gets_the_type_of_later_ones(
    tmp_path: Path,
) -> None:
    """As steps do: random play, which has none, is evaluated first."""
    metrics = Metrics(tmp_path)
    row = {"step": None, "movie": None, "loss": float("nan"), "never": None}
    metrics.append("evaluations", row)
    metrics.append("evaluations", row | {"step": 4096, "movie": "a.movie", "loss": 1.0})
    frame = Metrics(tmp_path).frame("evaluations")
    assert str(frame["step"].iloc[1]) == "4096" and frame["step"].isna().iloc[0]
    assert frame["loss"].dtype == np.float64 and frame["movie"].iloc[1] == "a.movie"
    assert frame["movie"].isna().iloc[0] and frame["never"].isna().all()


def test_a_frame_that_is_put_in_comes_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"step": [1, 2], "return": [0.1 + 0.2, 1e300], "ended_by": ["life", "ä"]})
    metrics = Metrics(tmp_path)
    metrics.append("episodes", frame)
    pd.testing.assert_frame_equal(metrics.frame("episodes"), frame, check_dtype=False)
    metrics.close()


def test_cut_forgets_what_is_later(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    metrics.cut(3)  # nothing is there yet
    for table in ("updates", "episodes", "evaluations"):
        metrics.append(table, [{"step": step, "x": step * 0.1} for step in range(1, 6)])
    metrics.close()
    again = Metrics(tmp_path)
    again.cut(3)
    for table, wanted in (("updates", 3), ("episodes", 3), ("evaluations", 5)):
        assert len(again.frame(table)) == wanted
    again.append("updates", {"step": 4, "x": 4.5})
    assert again.frame("updates")["x"].tolist()[-1] == 4.5
    again.close()


def rows_of(path: Path) -> list[object]:
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT rowid, * FROM updates").fetchall()


def test_a_cut_and_the_rest_again_is_as_if_unbroken(tmp_path: Path) -> None:
    """Row numbers too."""
    rows = [{"step": step, "x": step / 7} for step in range(1, 30)]
    for name, cut in (("whole", None), ("broken", 12)):
        (tmp_path / name).mkdir()
        metrics = Metrics(tmp_path / name)
        metrics.append("updates", rows[:20] if cut else rows)
        if cut:
            metrics.cut(cut)
            metrics.append("updates", rows[cut:])
        metrics.close()
    assert rows_of(tmp_path / "whole/metrics.sqlite") == rows_of(tmp_path / "broken/metrics.sqlite")


def test_two_processes_may_write(tmp_path: Path) -> None:
    one, other = Metrics(tmp_path), Metrics(tmp_path)
    for number in range(20):
        (one if number % 2 else other).append("episodes", {"step": number})
    assert one.frame("episodes")["step"].tolist() == list(range(20))
    one.close()
    other.close()


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    row = {"step": 1, "text": "x" * 500}
    metrics.append("updates", [row] * 100)
    size = metrics.path.stat().st_size
    with no_file_larger_than(size):
        with pytest.raises(RetrokitError, match=r"cannot write .*metrics\.sqlite .*is kept"):
            for _ in range(1000):
                metrics.append("updates", [row] * 20)
    before = len(metrics.frame("updates"))
    assert before >= 100 and before % 20 == 0
    metrics.append("updates", row)  # once there is room, it goes on
    assert len(metrics.frame("updates")) == before + 1
    metrics.close()


def test_what_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "metrics.sqlite").write_bytes(b"by hand" * 1000)
    for call in (lambda m: m.frame("updates"), lambda m: m.append("updates", {"step": 1})):
        metrics = Metrics(tmp_path)
        with pytest.raises(RetrokitError, match=r"cannot \w+ .*file is not a database"):
            call(metrics)
        metrics.close()


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return what TensorBoard shows of a folder."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()["scalars"]
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in tags}


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_shows_them(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for step in (0, 300, 10_000_000_000):
        row = {"step": step, "return": step / 2, "note": "x", "none": None, "huge": 1e300}
        metrics.append("updates", row)
    metrics.append("episodes", [{"step": 4, "return": -1}, {"step": 5, "return": float("inf")}])
    metrics.append("evaluations", {"step": 4, "return": 1})
    metrics.close()
    found = scalars(tmp_path / "tensorboard")
    assert found.keys() == {"updates/return", "episodes/return"}
    assert found["updates/return"] == [(0, 0.0), (300, 150.0), (10_000_000_000, 5e9)]
    assert found["episodes/return"] == [(4, -1)]


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_forgets_what_a_resumed_run_makes_anew(tmp_path: Path) -> None:
    first = Metrics(tmp_path)
    first.append("updates", [{"step": step, "x": step} for step in range(1, 6)])
    first.close()
    second = Metrics(tmp_path)
    second.cut(3)
    second.append("updates", {"step": 4, "x": 40})
    second.close()
    found = scalars(tmp_path / "tensorboard")
    assert found["updates/x"] == [(1, 1), (2, 2), (3, 3), (4, 40)]


def test_without_tensorboard_the_tables_are_all(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("retrokit.metrics.has_tensorboard", lambda: False)
    metrics = Metrics(tmp_path)
    metrics.append("updates", {"step": 1})
    metrics.close()
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.sqlite"]
