"""``retrokit eval`` as it is typed: tables, JSON, CSV, copies named, nothing played twice."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

from retrokit.cli import main
from retrokit.cli.eval_table import listed
from retrokit.learning import players
from retrokit.movie import Movie
from retrokit.run import Run


@pytest.fixture
def run(make_run):
    """A run with two checkpoints: the first seldom presses B, the second often."""
    return make_run({100: 0.2, 200: 0.7}, length=60, noops=0)


def words(line: str) -> list[str]:
    return line.split()


def test_the_newest_run_next_to_random_play(run, capsys):
    assert main(["eval", "--median"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert f"evaluating the newest run, {run.name}\n" in err and "100%" in err
    assert lines[0] == run.name
    names = ["random", "step 100 greedy", "step 100 sampled", "step 200 greedy", "step 200 sampled"]
    for name, line in zip(names, lines[2:7], strict=True):
        assert line.startswith(name)
    assert words(lines[2])[1:3] == ["15", "15"]
    assert words(lines[3])[3:5] == ["15", "1"] and " none " in lines[3]
    assert "step 100 greedy: 15 episodes, 1 distinct: all are one and the same" in out
    (line,) = [line for line in lines if line.startswith("step 200 sampled with step 100 sampled")]
    assert "100%" in line and line.endswith("better")
    (line,) = [line for line in lines if line.startswith("step 200 greedy with step 100 greedy")]
    assert "none" in line and line.endswith("cannot be told apart (copies)")
    assert "seeds 10000 to 10014: random, all greedy, all sampled\n" in out
    median = next(line for line in lines if line.startswith("step 200 sampled  1"))
    movie = Movie.load(run.path / "movies" / words(median)[-1].split("/")[-1])
    assert movie.facts["play"] == "sampled" and movie.facts["seed"] == int(words(median)[3])


def test_json_says_all_of_it(run, capsys):
    checkpoint = str(run.checkpoints()[1])
    args = [checkpoint, "--play", "sampled", "--episodes", "5", "--seed", "3", "--json"]
    assert main(["eval", *args]) == 0
    found = json.loads(capsys.readouterr().out)
    random, trained = found["players"]
    assert trained["seeds"] == random["seeds"] == [3, 4, 5, 6, 7]
    assert random["player"] == "random" and random["step"] is None
    assert trained["step"] == 200 and trained["play"] == "sampled"
    assert trained["mean"] == np.mean(trained["returns"]) and len(trained["steps"]) == 5
    assert trained["interval"][0] <= trained["iqm"] <= trained["interval"][1]
    assert trained["median_episode"]["return"] == trained["median"]
    assert trained["ended_by"] == {"game over": 5} and trained["copies"] == []
    (compared,) = found["comparisons"]
    assert compared["verdict"] == "better" and compared["chance"] < 0.05


def test_csv_has_a_row_for_each_episode(run, capsys, tmp_path):
    assert main(["eval", "three", "--episodes", "3", "--csv"]) == 0
    text = capsys.readouterr().out
    assert "100.0" not in text
    (tmp_path / "a.csv").write_text(text)
    frame = pd.read_csv(tmp_path / "a.csv")
    assert len(frame) == 3 * 5 and frame["player"].nunique() == 5
    assert frame["step"].dropna().unique().tolist() == [100, 200]
    assert {"seed", "return", "steps", "points_per_step", "ended_by", "trace"} <= set(frame)


def test_nothing_is_played_twice_unless_asked(run, capsys, monkeypatch):
    assert main(["eval", "--episodes", "4"]) == 0
    before = capsys.readouterr().out

    def refuse(path):
        raise AssertionError("played again")

    monkeypatch.setattr(players, "_load", refuse)
    assert main(["eval", "--episodes", "4"]) == 0
    assert capsys.readouterr().out == before
    assert main(["eval", "--episodes", "4", "--again"]) == 1
    assert "played again" in capsys.readouterr().err


def test_other_limits_leave_the_movies_of_before(run, capsys):
    for more in ([], ["--frames", "40"]):
        assert main(["eval", "--episodes", "2", "--play", "sampled", *more]) == 0
    rows = run.metrics.frame("evaluations")
    assert set(rows["ended_by"]) == {"game over", "frames"}
    for row in rows.itertuples():
        assert Movie.load(run.path / row.movie).facts["frames"] == row.frames


def test_ctrl_c_keeps_what_is_finished(run, capsys, monkeypatch):
    load = players._load

    def tired(path):
        if path.name == run.checkpoints()[1].name:
            raise KeyboardInterrupt
        return load(path)

    monkeypatch.setattr(players, "_load", tired)
    assert main(["eval", "--episodes", "3"]) == 130
    out, err = capsys.readouterr()
    assert "step 100 sampled" in out and "step 200" not in out
    assert "interrupted. finished episodes are kept: the same command goes on" in err
    monkeypatch.setattr(players, "_load", load)
    assert main(["eval", "--episodes", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["players"]) == 5
    assert len(run.metrics.frame("evaluations")) == 15


def test_one_episode_says_that_it_is_one(run, capsys):
    assert main(["eval", "--episodes", "1", "--play", "sampled"]) == 0
    out = capsys.readouterr().out
    assert "step 100 sampled: one episode is no result" in out
    assert "cannot be told apart (one episode)" in out and "seed 10000: random" in out


def test_random_play_needs_neither_run_nor_torch(run, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    args = ["--integration", "three.yaml", "--rom-dir", ".", "--episodes", "3"]
    assert main(["eval", *args]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("random") and "compared" not in out


def test_a_damaged_checkpoint_is_left_out_and_named(run, capsys):
    first, second = run.checkpoints()
    second.write_bytes(second.read_bytes()[:-1] + b"!")
    assert main(["eval", "--episodes", "2"]) == 0
    out, err = capsys.readouterr()
    assert "step 100 greedy" in out and "step 200" not in out
    assert "step 200 greedy is left out: " in err and "its checksum is wrong" in err
    second.write_bytes(b"")
    assert main(["eval", str(second)]) == 2
    assert "is no checkpoint, or it is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["eval", "progression", "watch"])
def test_a_run_without_a_checkpoint_is_one_line(run, capsys, command):
    for path in run.checkpoints():
        path.unlink()
    out = [] if command == "eval" else ["--out", "film.mp4"]
    assert main([command, "three", *out]) == 2
    assert f"{run.name} has no checkpoint yet; wanted one that" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_a_checkpoint_of_another_game_is_named(run, capsys, monkeypatch):
    """A folder of checkpoints gets mixed up easily, and many games have as many actions."""
    with Run.open(run.path, write=True) as again:
        again.write_checkpoint(300, b"0.5", {"game": "two"})
    assert main(["eval", "--episodes", "2", "--play", "greedy"]) == 0
    err = capsys.readouterr().err
    assert "0000000300.ckpt learned two, and plays three" in err and err.count("learned") == 1
    load = players._load

    def small(path):
        policy = load(path)
        policy.n_actions = 2
        return policy

    monkeypatch.setattr(players, "_load", small)
    assert main(["eval", "--episodes", "2", "--play", "greedy", "--again"]) == 0
    out, err = capsys.readouterr()
    assert "step 300 greedy is left out" in err and "chooses among 2 actions" in err
    assert "step 100" not in out


def test_two_runs_are_compared(run, capsys, tmp_path):
    text = (run.path / "integration.yaml").read_text()
    with Run.create(tmp_path / "runs", "three", run.config, text, {}) as other:
        other.write_checkpoint(200, b"0.6", {})
    args = [run.name, other.name, "--play", "sampled", "--episodes", "6"]
    assert main(["eval", *args]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if f"with {run.name} step 200 sampled" in line]
    assert line.startswith("step 200 sampled")


def test_a_checkpoint_alone_has_its_settings_in_it(run, capsys, monkeypatch, tmp_path):
    """Sent by somebody else: the integration is found by its name, or named."""
    monkeypatch.setattr("retrokit.cli.eval.settings_of", lambda one: run.config)
    path = tmp_path / "sent.ckpt"
    path.write_bytes(run.checkpoints()[1].read_bytes())
    args = [str(path), "--integration", "three.yaml", "--episodes", "2", "--play", "sampled"]
    assert main(["eval", *args]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("random") and lines[2].startswith("step 200 sampled")
    assert run.metrics.frame("evaluations").empty


def test_without_torch_a_checkpoint_is_one_line(run, capsys, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("RETROKIT_CORES", str(run.path.parents[2]))
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in ("trained", "networks"):
        monkeypatch.delitem(sys.modules, f"retrokit.learning.{name}", raising=False)
    assert main(["eval", str(run.path), "--episodes", "1"]) == 2
    err = capsys.readouterr().err
    assert "torch" in err and "pip install" in err and "Traceback" not in err


def test_what_was_trained_is_evaluated(run, capsys, monkeypatch, tmp_path):
    """From training to its table, with nothing made up."""
    pytest.importorskip("torch")
    monkeypatch.undo()
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    settings = {"shards": 1, "threads": 1, "precision": "fp32", "rollout": 16, "width": 32}
    settings |= run.config["env"]
    args = ["--integration", "three.yaml", "--content", "three.bin", "--envs", "2"]
    args += [f"--set={name}={value}" for name, value in settings.items()]
    assert main(["train", *args, "--steps", "64", "--runs", "trained"]) == 0
    (trained,) = (tmp_path / "trained/three").iterdir()
    capsys.readouterr()
    assert main(["eval", str(trained), "--episodes", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["players"]
    names = ["random", *(f"step {step} {how}" for step in (0, 64) for how in players.PLAYS)]
    assert [one["player"] for one in found] == names
    for one in found:
        assert 100 < one["mean"] < 400 and one["ended_by"] == {"game over": 3}
    sent = tmp_path / "sent.ckpt"
    sent.write_bytes((trained / "checkpoints/0000000064.ckpt").read_bytes())
    assert main(["eval", str(sent), "--episodes", "3", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["players"]
    assert [one["returns"] for one in again[1:]] == [one["returns"] for one in found[3:]]


def test_seeds_are_listed_in_few_words():
    assert listed([9, 3, 4, 5, 7, 12, 13]) == "3 to 5, 7, 9, 12 to 13"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nobody"], "no run is called 'nobody'"),
        (["--json", "--csv"], "--csv with --json"),
        (["three", "--integration", "three.yaml"], "--integration with a run"),
        (["none.ckpt"], "there is no checkpoint none.ckpt"),
    ],
)
def test_a_mistake_is_one_line(run, capsys, args, words):
    assert main(["eval", *args]) == 2
    assert words in capsys.readouterr().err


def test_no_run_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["eval"]) == 2
    err = capsys.readouterr().err
    assert err == "retrokit: error: no run in runs. Begin one with `retrokit train`.\n"
