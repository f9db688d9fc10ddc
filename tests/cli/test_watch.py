"""``retrokit watch`` as it is typed: films and movies of play, and what it refuses."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from retrokit.cli import main, watch
from retrokit.learning.players import game_of, options_of, players_of
from retrokit.movie import Movie
from retrokit.run import Run
from retrokit.views.film import read_back

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *args: str) -> dict[str, Any]:
    assert main(["watch", "--json", *args]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_random_play_of_an_integration_is_filmed(trained: Run, capsys: Capture) -> None:
    args = "three.yaml", "--out", "a.mp4", "--record", "a.movie", "--seed", "4"
    found = told(capsys, *args)
    assert found["player"] == "random play" and found["ended"] == ["game over"]
    movie, film = Movie.load(Path("a.movie")), read_back(Path("a.mp4"))
    assert movie.frames == found["frames"][0] == 30
    assert film.frames == 30 + 89  # the end stays to be seen
    with movie.open() as core:
        movie.prove(core)
    assert movie.facts["score"] == found["scores"][0] and movie.facts["seed"] == 4
    assert told(capsys, *args)["scores"] == found["scores"]


def test_several_games_and_seconds(trained: Run, capsys: Capture) -> None:
    found = told(capsys, "three.yaml", "--out", "a.gif", "--games", "2")
    assert found["frames"] == [30, 30] and found["film"]["codec"] == "gif"
    found = told(capsys, "three.yaml", "--out", "a.png", "--seconds", "0.25", "--by", "person")
    assert found["frames"] == [15] and found["ended"] == [""] and found["player"] == "you"


def test_an_agent_of_a_run_is_watched(trained: Run, leaning: type) -> None:
    """The child's own work, in this process: what a checkpoint holds here is made up."""
    run, args = watch.Run.open(trained.path), ("agent", game_of(trained))
    player, name = watch._player(*args, run, None, False)
    assert player is not None and (player.step, name) == (300, "300 steps")
    greedy, name = watch._player(*args, run, None, True)
    assert greedy is not None and (greedy.play, name) == ("greedy", "300 steps, greedy")
    ask = watch.Asked(
        game_of(trained), options_of(trained.config),
        replace(player, load=partial(leaning, 0.9)), name, 7, Path("a.mp4"), False,
        1, None, Path("a.movie"), None, False, None,
    )  # fmt: skip
    seen, film = watch.show(lambda event: None, ask)
    assert seen.ended == ["game over"] and film.frames == 119
    presses = (Movie.load(Path("a.movie")).buttons > 0).mean()
    assert presses > 0.4


def test_what_is_watched(trained: Run, capsys: Capture) -> None:
    newest, none, _ = watch._found(None, None)
    assert newest is not None and newest.path == Path(trained.path.relative_to(Path.cwd()))
    assert none is None and "the newest run" in capsys.readouterr().err
    (middle,) = trained.path.glob("checkpoints/*200.ckpt")
    run, checkpoint, _ = watch._found(str(middle), None)
    assert run is not None and checkpoint is not None and checkpoint.step == 200
    assert watch._found(str(trained.path), None)[0] is not None
    assert watch._found("burrow", None)[2] is not None  # an integration that ships
    assert watch._found("three.yaml", None)[2] == "three.yaml"
    (wanted,) = players_of(checkpoint, game_of(run), ("sampled",))
    player, _ = watch._player("agent", game_of(run), run, checkpoint, False)
    assert player is not None and replace(player, load=wanted.load) == wanted


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["three.yaml"], "no display to open a window on"),
        (["three.yaml", "--terminal"], "no terminal to play in"),
        (["three.yaml", "--terminal", "--out", "a.mp4"], "--terminal with --out; wanted one of"),
        (["three.yaml", "--out", "a.avi"], "a film a.avi; wanted a name that ends in"),
        (["three.yaml", "--out", "a.gif", "--sound"], "--sound without a film; wanted --out"),
        (["three.yaml", "--out", "a.mp4", "--rotate", "30"], "--rotate 30; wanted one of"),
        (["three.yaml", "--out", "a.mp4", "--record", "a.mp4"], "--record a.mp4; wanted a name"),
        (
            ["three.yaml", "--out", "a.mp4", "--greedy"],
            "--greedy with --by random; wanted",
        ),
        (["three.yaml", "--out", "a.mp4", "--start", "no.state"], "cannot read no.state"),
        (["three.yaml", "--out", "a.mp4", "--start", "three.yaml"], "retrokit: error: "),
        (["burow", "--out", "a.mp4"], "no run is called 'burow'"),
        (["a.ckpt", "--out", "a.mp4"], "a.ckpt lies in no run"),
    ],
)
def test_mistakes_are_one_line(
    trained: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch, args: list[str], said: str
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    assert main(["watch", *args]) in (1, 2)
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and "bug" not in err
    assert not Path("a.mp4").exists()


def test_a_window_is_played_in(trained: Run, capsys: Capture, monkeypatch: Any) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    found = told(capsys, "three.yaml", "--by", "random", "--seconds", "0.25")
    assert found["frames"] == [15]


def test_a_terminal_is_played_in_and_given_back(trained: Run) -> None:
    ours, theirs = pty.openpty()
    os.set_inheritable(theirs, True)
    command = [
        sys.executable,
        "-m",
        "retrokit",
        "watch",
        "three.yaml",
        "--terminal",
        "--by",
        "person",
    ]
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "xterm"}, preexec_fn=partial(_take, theirs),
    )  # fmt: skip
    os.close(theirs)
    try:
        written = b""
        begun = time.monotonic()
        while "▀".encode() not in written and time.monotonic() - begun < 60:
            written += os.read(ours, 65536)
        os.write(ours, b"zq")
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            written += part
        assert child.wait(30) == 0
    finally:
        child.kill()
        os.close(ours)
    text = written.decode("utf-8", "replace")
    assert text.index("\x1b[?1049h") < text.index("▀") < text.index("\x1b[?1049l")
    assert "game 1: " in text[text.index("\x1b[?1049l") :] and "Traceback" not in text


def _take(terminal: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
