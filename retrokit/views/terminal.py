"""Play in a terminal, over SSH too: two pixels a cell as half blocks, the numbers beside them.

Only cells that changed are sent. A terminal tells when a key goes down, never when it goes up, so
a button stays down for a moment after its key, and the terminal's own key repeat keeps it down.
"""

from __future__ import annotations

import os
import re
import select
import termios
import time
import tty
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..album import Picture
from ..buttons import MASKS
from ..errors import UserError
from .pictures import fitted
from .scene import Command, Input, Scene

TTY = "/dev/tty"  # of this process, wherever its output goes
HELD_S = 0.25  # that a button stays down after its key
FPS = 20  # scenes a second that are sent; the game runs on at its own speed
SIDE = 34  # columns of the numbers
BUTTONS = {
    "\x1b[A": "UP", "\x1b[B": "DOWN", "\x1b[C": "RIGHT", "\x1b[D": "LEFT",
    "\x1bOA": "UP", "\x1bOB": "DOWN", "\x1bOC": "RIGHT", "\x1bOD": "LEFT",
    "z": "B", "x": "A", "a": "Y", "s": "X", "\r": "START", "\n": "START", "\t": "SELECT",
}  # fmt: skip
COMMANDS: dict[str, Command] = {
    " ": "pause", ".": "step", "-": "slower", "+": "faster", "=": "faster", "\x1b[15~": "save",
    "r": "restart", "q": "quit",
}  # fmt: skip
CLEAR, HOME, SHOW, HIDE = "\x1b[2J", "\x1b[H", "\x1b[?25h", "\x1b[?25l"
ALTERNATE, NORMAL = "\x1b[?1049h", "\x1b[?1049l"
HELP = (
    "arrows, z x a s: B A Y X", "enter: start  tab: select", "space: pause  . one step",
    "- + speed  F5 save  r new  q quit",
)  # fmt: skip
LEVELS = np.array([0, 95, 135, 175, 215, 255])  # of one colour in the cube of 256 colours


class Terminal:
    """Shows scenes in a terminal and reads its keys; made by `taking`.

    Args:
        keyboard: File descriptor to read keys from.
        out: What to write to.
        true_colour: 16 million colours; otherwise 256.
        aspect: Width over height at which the game is meant to be seen; 0: as its pixels are.
    """

    real_time = True

    def __init__(self, keyboard: int, out: IO[str], true_colour: bool, aspect: float = 0.0) -> None:
        self.keyboard, self.out, self.true_colour = keyboard, out, true_colour
        self.aspect = aspect
        self._down: dict[str, float] = {}
        self._rest = ""
        self._shown: NDArray[np.uint8] | None = None
        self._texts: list[str] = []
        self._size = (0, 0)
        self._next = 0.0

    def input(self) -> Input:
        """Return what was pressed; a button is down for a moment after its key."""
        commands: list[Command] = []
        now = time.monotonic()
        text = self._rest + self._read()
        self._rest = text[unfinished(text) :]
        for key in keys_in(text[: unfinished(text)]):
            if key in BUTTONS:
                self._down[BUTTONS[key]] = now + HELD_S
            elif key.lower() in COMMANDS:
                commands.append(COMMANDS[key.lower()])
        held = sum(MASKS[name] for name, until in self._down.items() if until > now)
        return Input(held, tuple(commands))

    def _read(self) -> str:
        text = b""
        while select.select([self.keyboard], [], [], 0)[0]:
            more = os.read(self.keyboard, 1024)
            if not more:
                break
            text += more
        return text.decode("utf-8", "ignore")

    def show(self, scene: Scene) -> None:
        """Show a scene, if the last one was long enough ago."""
        now = time.monotonic()
        if now < self._next and not scene.over:
            return
        self._next = now + 1 / FPS
        self.out.write(self.drawn(scene, os.get_terminal_size(self.out.fileno())))
        self.out.flush()

    def drawn(self, scene: Scene, size: os.terminal_size) -> str:
        """Return what to write so that a scene appears: what differs from what is there."""
        columns, lines = size
        parts = []
        if (columns, lines) != self._size:
            self._size, self._shown, self._texts = (columns, lines), None, []
            parts.append(CLEAR)
        side = SIDE if columns >= 2 * SIDE else 0
        cells = half_blocks(scene.picture, columns - side, lines, self.aspect)
        parts.append(self._changes(cells))
        if side:
            width = cells.shape[1] + 2
            texts = [text[: columns - width] for text in side_lines(scene)][:lines]
            old = self._texts
            for row, text in enumerate(texts):
                if row >= len(old) or old[row] != text:
                    parts.append(f"\x1b[{row + 1};{width + 1}H\x1b[0m{text}\x1b[K")
            for row in range(len(texts), len(old)):
                parts.append(f"\x1b[{row + 1};{width + 1}H\x1b[0m\x1b[K")
            self._texts = texts
        return "".join(parts) + "\x1b[0m"

    def _changes(self, cells: NDArray[np.uint8]) -> str:
        """Return the half blocks of the cells that are not there yet."""
        before, self._shown = self._shown, cells
        if before is None or before.shape != cells.shape:
            differs = np.ones(cells.shape[:2], np.bool_)
        else:
            differs = (before != cells).any(axis=2)
        parts, at, colours = [], (-1, -1), ("", "")
        for row, column in np.argwhere(differs).tolist():
            if (row, column) != at:
                parts.append(f"\x1b[{row + 1};{column + 1}H")
            cell = cells[row, column].tolist()
            top, bottom = self._colour(38, cell[:3]), self._colour(48, cell[3:])
            parts.append(
                (top if top != colours[0] else "") + (bottom if bottom != colours[1] else "")
            )
            parts.append("▀")
            at, colours = (row, column + 1), (top, bottom)
        return "".join(parts)

    def _colour(self, where: int, colour: list[int]) -> str:
        if self.true_colour:
            return f"\x1b[{where};2;{colour[0]};{colour[1]};{colour[2]}m"
        red, green, blue = (int(np.abs(LEVELS - part).argmin()) for part in colour)
        return f"\x1b[{where};5;{16 + 36 * red + 6 * green + blue}m"


def half_blocks(
    picture: Picture, columns: int, lines: int, aspect: float = 0.0
) -> NDArray[np.uint8]:
    """Return a picture as cells of two pixels, uint8 [lines, columns, 6]: upper and lower colour.

    Args:
        picture: uint8 [height, width, 3].
        columns: Room across, in cells.
        lines: Room down, in cells; half a cell is about square.
        aspect: Width over height at which it is meant to be seen; 0: as its pixels are.
    """
    shape = aspect or picture.shape[1] / picture.shape[0]
    high = min(2 * lines, int(columns / shape))
    size = max(1, round(high * shape)), max(2, high // 2 * 2)
    small = fitted(picture, size)
    return np.concatenate([small[0::2], small[1::2]], axis=2)


def side_lines(scene: Scene) -> list[str]:
    """Return the numbers beside the picture, line by line."""
    speed = "" if scene.speed == 1 else "paused" if not scene.speed else f"x{scene.speed:g}"
    lines = [
        f"{scene.game}  {speed}",
        scene.player,
        f"game {scene.episode}, frame {scene.frame:,}",
        "",
    ]
    lines += [f"{name} {value:,}" for name, value in scene.variables.items()][:14]
    if scene.thought is not None:
        if scene.thought.value is not None:
            lines += ["", f"value estimate {scene.thought.value:.2f}"]
        lines.append("")
        chances = scene.thought.probabilities
        likeliest = np.argsort(-chances, kind="stable")[:8].tolist()
        wide = min(max(map(len, scene.actions)), SIDE - 18)  # beside mark, percent and bar
        for number in sorted({*likeliest, scene.thought.action}):
            bar = "█" * round(10 * float(chances[number]))
            mark = ">" if number == scene.thought.action else " "
            name = scene.actions[number][:wide]
            lines.append(f"{mark}{name:<{wide}} {100 * chances[number]:3.0f}% {bar}")
    elif scene.buttons:
        lines += ["", "+".join(scene.buttons)]
    return [*lines, "", *(line for line in (scene.note, scene.over) if line), *HELP]


def unfinished(text: str) -> int:
    """Return where an escape sequence begins whose end has not come yet, or the text's end."""
    begun = re.search(r"\x1b([\[O][0-9;]*)?$", text)
    return begun.start() if begun else len(text)


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys that a terminal sent: single characters, or escape sequences."""
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] == "\x1b" and text[at + 1 : at + 2] in ("[", "O"):
            end = at + 2
            while end < len(text) and not ("@" <= text[end] <= "~"):
                end += 1
            end += 1
        yield text[at:end]
        at = end


def shows_true_colour(environment: Mapping[str, str]) -> bool:
    """Tell whether a terminal shows 16 million colours."""
    return environment.get("COLORTERM", "") in ("truecolor", "24bit")


@contextmanager
def restoring(path: str = TTY) -> Iterator[None]:
    """Leave the terminal as it was, whatever happens in this block, in a child process too.

    Raises:
        UserError: There is no terminal.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise UserError("no terminal to play in", "a terminal, or --out FILE.mp4") from None
    try:
        before = termios.tcgetattr(fd)
        try:
            yield
        finally:
            os.write(fd, f"\x1b[0m{SHOW}{NORMAL}".encode())
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)
    finally:
        os.close(fd)


@contextmanager
def taking(path: str = TTY, aspect: float = 0.0) -> Iterator[Terminal]:
    """Take the terminal for scenes; `restoring` gives it back."""
    with open(path, "r+b", buffering=0) as device, open(path, "w", encoding="utf-8") as out:
        tty.setcbreak(device.fileno())
        out.write(ALTERNATE + HIDE + CLEAR)
        yield Terminal(device.fileno(), out, shows_true_colour(os.environ), aspect)
