"""``retrokit probe-core``: exit codes, the one JSON object, lines that say what is what."""

from __future__ import annotations

import json

import pytest

from retrokit import probe
from retrokit.cli import main


@pytest.fixture
def run(fake_core, fake_content, monkeypatch, capsys):
    """Run the command on a fake core in the stages that a test asks for."""

    def start(name: str, *options: str, stages: tuple[str, ...] = (), **build: int):
        chosen = {stage: probe.STAGES[stage] for stage in stages}
        monkeypatch.setattr("retrokit.probe.STAGES", chosen)
        monkeypatch.setattr("retrokit.cli.probe_core.STAGES", chosen)
        content = str(fake_content().path)
        code = main(["probe-core", str(fake_core(name, **build).path), content, *options])
        out, err = capsys.readouterr()
        return code, out, err

    return start


def test_a_person_reads_lines(run):
    code, out, err = run("counter", stages=("repeat", "speed"))
    lines = dict(line.split("  ", 1) for line in out.split("\n\n")[0].splitlines())
    lines = {key: value.strip() for key, value in lines.items()}
    assert code == 0
    assert lines["name"] == "Fake 1" and lines["extensions"] == "bin rom"
    assert lines["picture"] == "64x48, at most 64x48, RGB565, 60.000 fps"
    assert lines["memory"] == "SYSTEM_RAM 5,120" and lines["to search"] == "SYSTEM_RAM 5,120 bytes"
    assert lines["moved"] == "in 600 frames ram changes, picture changes"
    assert "repeatable      yes     in two processes equal over 600 frames" in out
    assert "\x1b" not in out
    assert err.splitlines()[0].startswith("probing")


def test_a_program_reads_one_object(run):
    code, out, _ = run("savestate_only", "--json", stages=("savestates",))
    answer = json.loads(out)
    assert code == 0 and "error" not in answer
    assert answer["core"] == "savestate_only" and answer["content"]["size"] == 6
    assert answer["searched"]["kind"] == "savestate" and answer["memory"] == []
    assert answer["checks"]["exact"]["ok"] is True


def test_a_savestate_to_search_is_said(run):
    _, out, _ = run("savestate_only")
    assert "no memory offered: the savestate is searched instead (5,120 bytes)" in out
    _, out, _ = run("nothing")
    assert "nothing: no memory offered, and no savestate" in out


def test_a_crash_is_one_line_and_exit_code_one(run):
    code, out, err = run("segfault_in_run")
    assert code == 1
    assert "the core died of SIGSEGV in retro_run" in err and "about to do it" in err
    assert "Traceback" not in err
    assert "Fake 1" in out  # what was known before


def test_a_crash_in_json(run):
    code, out, _ = run("abort_in_load", "--json")
    error = json.loads(out)["error"]
    assert code == 1
    assert (error["type"], error["signal"], error["last_call"]) == (
        "CoreCrashed", "SIGABRT", "retro_load_game",
    )  # fmt: skip
    assert "reading the header" in error["log"]


def test_a_refusal_and_stillness_are_no_success(run):
    code, _, err = run("refuses")
    assert code == 1 and "refused" in err and "no such board" in err
    code, _, err = run("probed", HOW=4)
    assert code == 1 and "nothing moved in 600 frames" in err


def test_options_are_listed(run):
    _, out, _ = run("options")
    assert "normal | fast | slow" in next(
        line for line in out.splitlines() if line.startswith("fake_speed")
    )


def test_a_users_mistakes(capsys, tmp_path):
    assert main(["probe-core", "no_such_core"]) == 2
    (tmp_path / "empty.nes").touch()
    assert main(["probe-core", str(tmp_path / "x_libretro.so")]) == 2
    assert "there is no core file" in capsys.readouterr().err
