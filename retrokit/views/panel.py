"""A scene as one picture: the game, and beside it what the agent thinks and what RAM holds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..album import Picture
from .pictures import GREY, WHITE, Colour, text_width, write, zoom_into, zoomed
from .scene import KEYS, PADS, Scene
from .tiles import PAPER

WIDTH = 300  # of the panel, in pixels
MARGIN, PITCH, LETTERS = 14, 20, 14
HEIGHT = 640  # that the game is zoomed towards
BLUE: Colour = (96, 150, 255)
PALE: Colour = (58, 66, 78)

LEAST, VALUES = 4, 240  # lines of actions and of variables that there is room for


def whole(scene: Scene, aspect: float, *, keys: bool = False) -> Picture:
    """Return the game's picture, zoomed by whole pixels, with the panel at its right.

    Args:
        scene: What to show.
        aspect: Width over height at which the game is meant to be seen; 0: as its pixels are.
        keys: Tell what the keys do.
    """
    size = scene.picture.shape[1], scene.picture.shape[0]
    game = zoomed(scene.picture, zoom_into(size, aspect, HEIGHT))
    if scene.over:
        game = game // 2  # a new one: the scene keeps its picture
        middle = game.shape[1] // 2, game.shape[0] // 2 - 14
        write(game, [(*middle, scene.over, WHITE)], 28, "middle")
    high, wide = game.shape[:2]
    out = _blank(max(high, HEIGHT * 3 // 4), wide).copy()
    top = (out.shape[0] - high) // 2
    out[top : top + high, :wide] = game
    _Panel(out[:, wide:]).draw(scene, keys)
    return out


@lru_cache(maxsize=4)
def _blank(height: int, wide: int) -> Picture:
    """Return black for the game and an empty panel; do not write into it."""
    out = np.zeros((height, wide + WIDTH, 3), np.uint8)
    out[:, wide:] = PAPER
    return out


class _Panel:
    """Writes and draws from top to bottom."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.lines: list[tuple[int, int, str, Colour]] = []
        self.right: list[tuple[int, int, str, Colour]] = []
        self.at = MARGIN

    def draw(self, scene: Scene, keys: bool) -> None:
        """Draw all of it."""
        self._heading(scene)
        bottom = self.picture.shape[0] - MARGIN
        if keys:
            told = KEYS if scene.thought is not None else PADS + KEYS
            bottom -= 16 * ((len(told) + 1) // 2)
            places = [
                (MARGIN + column * (WIDTH // 2 - MARGIN), bottom + 16 * row)
                for row, column in (divmod(number, 2) for number in range(len(told)))
            ]
            texts = [f"{key} {what}" for key, what in told]
            small = [(*at, text, GREY) for at, text in zip(places, texts, strict=True)]
            write(self.picture, small, 11)
        if scene.thought is not None:
            self._value(scene)
            self._probabilities(scene, bottom - 8)
        elif scene.buttons:
            self._line("+".join(scene.buttons), "", BLUE)
        self._variables(scene, bottom - 8)
        write(self.picture, self.lines, LETTERS)
        write(self.picture, self.right, LETTERS, "right")

    def _line(self, name: str, value: str, colour: Colour = WHITE) -> None:
        self.lines.append((MARGIN, self.at, name, GREY if value else colour))
        self.right.append((WIDTH - MARGIN, self.at, value, colour))
        self.at += PITCH

    def _heading(self, scene: Scene) -> None:
        speed = "" if scene.speed == 1 else "paused" if not scene.speed else f"x{scene.speed:g}"
        self._line(scene.game, speed)
        self._line(scene.player, f"game {scene.episode}")
        if scene.note:
            self._line(scene.note, "", BLUE)
        self.at += 6
        score = f"{scene.variables.get('score', 0):,}"
        write(self.picture, [(MARGIN, self.at, score, WHITE)], 30)
        if "lives" in scene.variables:
            lives = f"lives {scene.variables['lives']}"
            write(self.picture, [(WIDTH - MARGIN, self.at + 12, lives, GREY)], LETTERS, "right")
        self.at += 42
        self._line("frame", f"{scene.frame:,}")

    def _value(self, scene: Scene) -> None:
        """Draw the value estimate and how it moved."""
        assert scene.thought is not None
        if scene.thought.value is None:
            return
        self._line("value estimate", f"{scene.thought.value:.2f}", BLUE)
        values, wide, high = scene.values[-VALUES:], WIDTH - 2 * MARGIN, 44
        if len(values) > 1:
            low, span = float(values.min()), float(np.ptp(values)) or 1.0
            rows = self.at + high - 1 - ((values - low) / span * (high - 1)).astype(int)
            columns = MARGIN + np.arange(len(values)) * (wide - 1) // (VALUES - 1)
            for column, row, before in zip(columns, rows, [rows[0], *rows[:-1]], strict=True):
                self.picture[min(row, before) : max(row, before) + 1, column] = BLUE
        self.at += high + 8

    def _probabilities(self, scene: Scene, bottom: int) -> None:
        """Draw a bar for each action, the likeliest where there are many; the taken one is lit."""
        assert scene.thought is not None
        chances = scene.thought.probabilities
        others = min(LEAST, len(scene.variables)) * PITCH
        room = max(LEAST, (bottom - self.at - others) // PITCH)
        numbers = np.argsort(-chances, kind="stable")[:room]
        if scene.thought.action not in numbers:
            numbers[-1] = scene.thought.action
        names = max(text_width(name, LETTERS) for name in scene.actions)
        left = MARGIN + min(names, WIDTH // 2) + 8
        wide = WIDTH - MARGIN - 44 - left
        for number in sorted(numbers.tolist()):
            taken = number == scene.thought.action
            colour = WHITE if taken else GREY
            self.lines.append((MARGIN, self.at, scene.actions[number], colour))
            self.right.append((WIDTH - MARGIN, self.at, f"{100 * chances[number]:.0f} %", colour))
            band = self.picture[self.at + 3 : self.at + PITCH - 5]
            band[:, left : left + wide] = PALE
            band[:, left : left + round(wide * float(chances[number]))] = BLUE if taken else GREY
            self.at += PITCH
        self.at += 6

    def _variables(self, scene: Scene, bottom: int) -> None:
        """Write what RAM holds, as far as there is room."""
        others = [(n, v) for n, v in scene.variables.items() if n not in ("score", "lives")]
        room = max(0, (bottom - self.at) // PITCH)
        for name, value in others[:room]:
            self._line(name, f"{value:,}")
