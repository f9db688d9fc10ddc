"""The terminal: half blocks in the right colours, only what changed, keys with a moment's hold."""

from __future__ import annotations

import io
import os
import pty
import re
import termios

import numpy as np
import pytest

from retrokit.buttons import to_mask
from retrokit.errors import UserError
from retrokit.views import terminal
from retrokit.views.scene import Scene, Thought
from retrokit.views.terminal import Terminal, half_blocks, keys_in

SIZE = os.terminal_size((90, 24))


def scene(seed: int = 0, **more: object) -> Scene:
    picture = np.random.default_rng(seed).integers(0, 256, (48, 60, 3), np.uint8)
    told = {"game": "burrow", "player": "you", "frame": 7, "variables": {"score": 1200, "lives": 2}}
    return Scene(picture, **(told | more))  # type: ignore[arg-type]


def screen(text: str, size: os.terminal_size) -> tuple[np.ndarray, list[str]]:
    """Return what a terminal shows: uint8 [lines, columns, 6] colours of half blocks, and texts."""
    colours = np.zeros((size.lines, size.columns, 6), np.uint8)
    letters = [[" "] * size.columns for _ in range(size.lines)]
    row = column = 0
    pen = [0] * 6
    for part in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|.", text, re.DOTALL):
        if part.startswith("\x1b["):
            numbers = [int(n) for n in re.findall(r"\d+", part)]
            if part.endswith("H"):
                row, column = (numbers[0] - 1, numbers[1] - 1) if numbers else (0, 0)
            elif part.endswith("m") and len(numbers) == 5:
                pen[0 if numbers[0] == 38 else 3 :][:3] = numbers[2:]
                first = 0 if numbers[0] == 38 else 3
                pen[first : first + 3] = numbers[2:]
            elif part.endswith("J"):
                letters = [[" "] * size.columns for _ in range(size.lines)]
            elif part.endswith("K"):
                letters[row][column:] = [" "] * (size.columns - column)
            continue
        assert row < size.lines and column < size.columns, "written over the edge"
        letters[row][column] = part
        colours[row, column] = pen if part == "▀" else [0] * 6
        column += 1
    return colours, ["".join(line) for line in letters]


def made(true_colour: bool = True) -> Terminal:
    return Terminal(0, io.StringIO(), true_colour)


def test_cells_are_two_pixels() -> None:
    picture = np.arange(4 * 3 * 3, dtype=np.uint8).reshape(4, 3, 3)
    cells = half_blocks(picture, 3, 2)
    assert cells.shape == (2, 3, 6)
    assert (cells[0, :, :3] == picture[0]).all() and (cells[0, :, 3:] == picture[1]).all()
    assert (cells[1, :, :3] == picture[2]).all() and (cells[1, :, 3:] == picture[3]).all()


@pytest.mark.parametrize("room", [(80, 24), (20, 50), (200, 10), (1, 1)])
@pytest.mark.parametrize("aspect", [0.0, 0.75, 4 / 3])
def test_a_picture_keeps_its_shape_in_any_room(room: tuple[int, int], aspect: float) -> None:
    lines, columns, _ = half_blocks(np.zeros((240, 320, 3), np.uint8), *room, aspect).shape
    assert columns <= max(1, room[0]) and lines <= max(1, room[1])
    if min(room) > 5:
        assert columns / (2 * lines) == pytest.approx(aspect or 320 / 240, rel=0.2)


def test_a_scene_is_drawn_and_only_changes_are_sent() -> None:
    shown, one, two = made(), scene(0), scene(1)
    first = shown.drawn(one, SIZE)
    colours, texts = screen(first, SIZE)
    cells = half_blocks(one.picture, 90 - terminal.SIDE, 24)
    assert (colours[: cells.shape[0], : cells.shape[1]] == cells).all()
    words = "\n".join(texts)
    assert all(word in words for word in ("burrow", "score 1,200", "lives 2", "frame 7"))
    assert len(shown.drawn(one, SIZE)) < 20  # nothing changed
    one.picture[0:8, 0:8] = 255
    assert len(shown.drawn(one, SIZE)) < len(first) / 4
    both, _ = screen(first + shown.drawn(two, SIZE), SIZE)
    wanted = half_blocks(two.picture, 90 - terminal.SIDE, 24)
    assert (both[: wanted.shape[0], : wanted.shape[1]] == wanted).all()


@pytest.mark.parametrize("size", [(100, 30), (69, 20), (68, 50), (40, 10), (10, 3)])
def test_nothing_is_written_over_the_edge(size: tuple[int, int]) -> None:
    thought = Thought(1, -0.5, np.full(18, 1 / 18, np.float32))
    told = scene(thought=thought, actions=("DOWN+RIGHT+B+A+Y",) * 18, note="saved " + "x" * 60)
    screen(made().drawn(told, os.terminal_size(size)), os.terminal_size(size))


def test_a_smaller_terminal_is_drawn_anew() -> None:
    shown, told = made(), scene()
    shown.drawn(told, SIZE)
    small = os.terminal_size((80, 20))
    assert shown.drawn(told, small).startswith(terminal.CLEAR)


def test_what_the_agent_thinks_is_told() -> None:
    chances = np.array([0.1, 0.7, 0.2], np.float32)
    thought = Thought(2, 3.25, chances)
    lines = terminal.side_lines(scene(thought=thought, actions=("nothing", "UP", "B"), speed=0.0))
    text = "\n".join(lines)
    assert "burrow  paused" in text and "value estimate 3.25" in text
    assert " UP       70% ███████" in text and ">B        20% ██" in text
    thought = Thought(0, None, np.full(2, 0.5, np.float32))
    lines = terminal.side_lines(scene(thought=thought, actions=("B+DOWN+RIGHT", "B")))
    assert ">B+DOWN+RIGHT  50% █████" in lines and " B             50% █████" in lines


def test_256_colours_are_the_nearest() -> None:
    told = scene()
    told.picture[:] = (250, 96, 0)
    text = made(true_colour=False).drawn(told, SIZE)
    assert "38;5;202m" in text and "48;5;202m" in text and "38;2" not in text
    assert terminal.shows_true_colour({"COLORTERM": "truecolor"})
    assert not terminal.shows_true_colour({})


def test_keys_are_told_apart() -> None:
    assert list(keys_in("a\x1b[A\x1bOB\x1b\x1b[15~z\r")) == [
        "a", "\x1b[A", "\x1bOB", "\x1b", "\x1b[15~", "z", "\r",
    ]  # fmt: skip
    assert list(keys_in("\x1b[")) == ["\x1b["]


def test_keys_become_buttons_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, ours = os.pipe()
    now = 100.0
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now)
    shown = Terminal(keyboard, io.StringIO(), True)
    os.write(ours, b"\x1b")  # a slow line may cut a sequence in two
    assert shown.input() == (0, ())
    os.write(ours, b"[Az .q?")
    pressed = shown.input()
    assert pressed.buttons == to_mask(["UP", "B"])
    assert pressed.commands == ("pause", "step", "quit")
    now += terminal.HELD_S - 0.01
    assert shown.input().buttons == to_mask(["UP", "B"]) and shown.input().commands == ()
    os.write(ours, b"z")
    shown.input()
    now += 0.02
    assert shown.input().buttons == to_mask(["B"])
    os.close(ours), os.close(keyboard)


def test_the_terminal_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    path = os.ttyname(theirs)
    before = termios.tcgetattr(theirs)
    with pytest.raises(ZeroDivisionError):
        with terminal.restoring(path), terminal.taking(path) as shown:
            assert termios.tcgetattr(theirs)[3] & (termios.ICANON | termios.ECHO) == 0
            shown.show(scene())
            raise ZeroDivisionError
    assert termios.tcgetattr(theirs) == before
    written = b""
    while not written.endswith(terminal.NORMAL.encode()):
        written += os.read(ours, 65536)
    assert terminal.ALTERNATE.encode() in written and "▀".encode() in written
    os.close(ours), os.close(theirs)


def test_without_a_terminal_it_is_said() -> None:
    with pytest.raises(UserError, match="no terminal to play in; wanted a terminal, or --out"):
        with terminal.restoring("/dev/null/none"):
            pass
