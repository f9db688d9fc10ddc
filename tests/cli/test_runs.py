"""``retrokit runs`` as it is typed: the list, one run, its tables as CSV."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from retrokit.cli import main
from retrokit.run import Run


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Run.create(tmp_path / "runs", "dig", {"total_steps": 300}, "", {}) as made:
        for step, worth in ((100, 20.25), (200, 1234.5)):
            made.write_checkpoint(step, b"x", {"return": worth})
        made.metrics.append("updates", [{"step": 100, "loss": 0.5}, {"step": 200, "loss": 0.25}])
    return made


def test_none_is_no_mistake(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["runs"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and err == "no run in runs; `retrokit train` begins one\n"
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": []}


def test_the_list(run, capsys):
    assert main(["runs"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "begun", "state", "step", "return", "best", "checkpoints"]
    for part in (run.name, " stopped ", " 200 of 300 ", " 1,234 ", " 1,234 at 200 "):
        assert part in line
    with Run.open(run.path, write=True) as again:
        again.write_checkpoint(300, b"", {"return": None})
    assert main(["runs"]) == 0
    assert " ended " in capsys.readouterr().out


def test_a_run_in_training_is_told(run, capsys):
    with Run.open(run.path, write=True):
        assert main(["runs", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    assert found["state"] == "training" and found["step"] == 200
    assert found["best"] == {"step": 200, "return": 1234.5}


def test_one_run(run, capsys):
    assert main(["runs", "dig"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{run.name}  stopped, begun ")
    assert lines[2].split()[:2] == ["100", "20.2"] and lines[3].split()[1:3] == ["1,234", "best"]
    assert lines[-1].startswith("go on with: retrokit train --resume ")
    assert main(["runs", run.name, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["step"] for one in found["checkpoints"]] == [100, 200]
    assert found["config"] == {"total_steps": 300} and "machine" in found["facts"]


def test_its_numbers_as_csv(run, capsys, tmp_path):
    assert main(["runs", "dig", "--csv", "updates"]) == 0
    (tmp_path / "a.csv").write_text(capsys.readouterr().out)
    assert pd.read_csv(tmp_path / "a.csv")["loss"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["dug"], "no run is called 'dug'"),
        (["--csv", "updates"], "--csv without a run"),
        (["dig", "--csv", "losses"], "losses"),
        (["dig", "--csv", "updates", "--json"], "--csv with --json"),
    ],
)
def test_a_mistake_is_one_line(run, capsys, args, words):
    assert main(["runs", *args]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


@pytest.mark.filterwarnings("default")
def test_a_damaged_checkpoint_is_told(run, capsys):
    run.checkpoints()[-1].write_bytes(b"")
    assert main(["runs"]) == 0
    out, err = capsys.readouterr()
    assert " 100 of 300 " in out and "is no checkpoint, or it is damaged" in err
