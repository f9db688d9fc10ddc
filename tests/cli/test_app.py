"""The command line as a person or a program meets it: exit codes, one-line errors, clean JSON."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import types
import warnings

import pandas as pd
import pytest

import retrokit
from retrokit import systems
from retrokit.cli import app, cores, main, output
from retrokit.errors import ContentError, SearchFailed

RUN = "import sys; from retrokit.cli import main; sys.exit(main())"


def run(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run one command line as a program of its own."""
    command = [sys.executable, "-c", RUN, *args]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | env)


@pytest.fixture
def command(monkeypatch):
    """Let a function stand in as ``retrokit try``."""

    def install(function):
        module = types.ModuleType("retrokit.cli.attempt")
        module.attempt = function
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(app.COMMANDS, "try", app.Command("attempt", "attempt", "Try."))

    return install


def test_version():
    assert run("--version").stdout == f"retrokit {retrokit.__version__}\n"


def test_the_package_runs_as_a_program_too():
    command = [sys.executable, "-m", "retrokit", "--version"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == run("--version").stdout


@pytest.mark.parametrize("args", [[], ["--help"]])
def test_help_lists_every_command_and_imports_none(args):
    code = f"{RUN.replace('sys.exit(main())', f'main({args})')}; print(sorted(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0
    for name, command in app.COMMANDS.items():
        assert f"  {name} " in result.stdout
        assert f"'retrokit.cli.{command.module}'" not in result.stdout
    for heavy in ("numpy", "pandas", "rich", "yaml"):
        assert f"'{heavy}'" not in result.stdout


def test_help_answers_at_once():
    """Processor time, not the clock: the bar must not fall because the machine is busy."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.4


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_has_help_and_json(capsys, name):
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert app.COMMANDS[name].help in " ".join(text.split())
    assert "--json" in text


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["docter"], "No such command 'docter'. Did you mean 'doctor'?"),
        (["xyzzy"], "No such command 'xyzzy'. See: retrokit --help"),
        (["doctor", "--jsom"], "No such option: --jsom (Possible options: --json). "
                               "See: retrokit doctor --help"),
        (["cores", "two"], "Got unexpected extra argument(s) (two). See: retrokit cores --help"),
    ],
)  # fmt: skip
def test_a_slip_of_the_keyboard_is_one_line_and_exit_2(args, line):
    result = run(*args)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"retrokit: error: {line}\n"


def test_a_slip_with_json_is_an_object(capsys):
    assert main(["docter", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["remedy"] == "Did you mean 'doctor'?"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ContentError("no such file", "a ROM", "Check\nthe path."), 2),
        (SearchFailed("nothing scored"), 1),
        (ZeroDivisionError("division by zero"), 1),
        (KeyboardInterrupt("run.npz is kept"), 130),
    ],
)
def test_failures_are_one_line_with_their_exit_code(command, capsys, error, code):
    def attempt(json: output.JsonOption = False) -> None:
        raise error

    command(attempt)
    assert main(["try"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("retrokit: error: ") and err.count("\n") == 1
    assert str(error.args[0]) in err

    assert main(["try", "--json"]) == code
    found = json.loads(capsys.readouterr().out)["error"]
    assert set(found) == {"type", "found", "wanted", "remedy"}


def test_a_bug_shows_its_traceback_when_asked(command, capsys, monkeypatch):
    def attempt() -> None:
        raise ZeroDivisionError

    command(attempt)
    main(["try"])
    assert "RETROKIT_DEBUG=1" in capsys.readouterr().err
    monkeypatch.setenv("RETROKIT_DEBUG", "1")
    main(["try"])
    assert "Traceback" in capsys.readouterr().err


def test_a_command_chooses_its_exit_code_and_takes_arguments(command):
    def attempt(code: int) -> int:
        return code

    command(attempt)
    assert main(["try", "7"]) == 7
    assert main(["try", "seven"]) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_real_interrupt(number):
    code = (
        "import sys, types, time; from retrokit.cli import app, main\n"
        "module = types.ModuleType('retrokit.cli.attempt')\n"
        "def attempt(): print('up', flush=True); time.sleep(30)\n"
        "module.attempt = attempt; sys.modules[module.__name__] = module\n"
        "app.COMMANDS['try'] = app.Command('attempt', 'attempt', '')\n"
        "sys.exit(main(['try']))"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        assert child.stdout.readline() == "up\n"
        child.send_signal(number)
        _, err = child.communicate(timeout=10)
    assert (child.returncode, err) == (130, "retrokit: error: interrupted\n")


def test_a_closed_pipe_is_silent():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", RUN, "doctor"]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (result.returncode, result.stderr) == (141, "")


def test_a_piped_table_is_plain_and_one_row_a_line(capsys):
    frame = pd.DataFrame({"rank": [1, 20], "why": ["x" * 300, "[red]not markup[/red]"]})
    output.print_table(frame)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["rank  why", "   1  " + "x" * 300, "  20  [red]not markup[/red]"]


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_can_ask_for_plain_text(monkeypatch, env):
    terminal = types.SimpleNamespace(isatty=lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert not output.is_plain(terminal)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert output.is_plain(terminal)


def test_progress_in_a_pipe_is_sparse_and_on_stderr(capsys):
    with output.progress("recording", 1000) as advance:
        for frame in range(1001):
            advance(frame, "score 120")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["recording …", "recording: 100%, 0 s, score 120"]


def test_json_takes_numpy_paths_and_nan(capsys, tmp_path):
    series = pd.Series([1.5, float("nan")])
    output.print_json({"a": series.to_numpy(), "b": (series[0], series[1]), 3: tmp_path})
    wanted = {"a": [1.5, None], "b": [1.5, None], "3": str(tmp_path)}
    assert json.loads(capsys.readouterr().out) == wanted


def test_a_terminal_without_unicode_gets_a_substitute():
    result = run("doctor", PYTHONIOENCODING="ascii", DISPLAY="", WAYLAND_DISPLAY="")
    assert "? needed only to watch live play" in result.stdout


def test_a_warning_is_one_line_of_ours(command, capsys, monkeypatch):
    def attempt() -> None:
        warnings.warn("another ROM; found A, wanted B", stacklevel=1)

    command(attempt)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["try"]) == 0
    assert capsys.readouterr().err == "retrokit: warning: another ROM; found A, wanted B\n"


def test_doctor_tells_what_is_missing():
    result = run("doctor", "--json", DISPLAY="", WAYLAND_DISPLAY="", PATH="")
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert checks["python"]["ok"] and checks["python"]["remedy"] == ""
    assert checks["video"]["found"].startswith("av ") and not checks["video"]["required"]
    assert checks["watch"]["found"].startswith("pygame-ce ")
    for name in ("compiler", "display", "gpu"):
        assert not checks[name]["ok"] and checks[name]["remedy"] and not checks[name]["required"]


def test_doctor_names_a_rom_folder_that_is_not_there(tmp_path):
    result = run("doctor", RETROKIT_ROMS=f"{tmp_path}{os.pathsep}{tmp_path / 'gone'}")
    assert f"missing roms       no folder {tmp_path / 'gone'}\n" in result.stdout


def test_cores_reports_one_that_does_not_load(monkeypatch, capsys, tmp_path):
    (tmp_path / "fbneo_libretro.so").write_bytes(b"not a library")
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    found = [core for core in systems.found_cores() if core.spec.name == "fbneo"]
    monkeypatch.setattr(cores, "found_cores", lambda: found)
    assert main(["cores", "--json"]) == 0
    (core,) = json.loads(capsys.readouterr().out)["cores"]
    assert core["where"] == "RETROKIT_CORES"
    assert core["problem"].startswith("does not load: ")
    assert main(["cores"]) == 0
    assert "does not load" in capsys.readouterr().out


def test_cores_asks_a_real_core():
    found = systems.found_cores()
    if not found:
        pytest.skip("no core on this machine")
    answer = cores.ask(found[0].path)
    assert answer["library_name"] and answer["version"] and answer["extensions"]
