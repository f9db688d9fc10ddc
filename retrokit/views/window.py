"""Play in a window: the game, the panel, keyboard and gamepads."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Self

from ..buttons import MASKS
from ..errors import MissingExtra, UserError
from .panel import whole
from .scene import Command, Input, Scene

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
    from pygame._sdl2 import controller
except ImportError:
    remedy = "pip install 'retrokit[watch]', or take --terminal"
    raise MissingExtra("pygame-ce is not installed", remedy=remedy) from None

BUTTONS = {
    pygame.K_UP: "UP", pygame.K_DOWN: "DOWN", pygame.K_LEFT: "LEFT", pygame.K_RIGHT: "RIGHT",
    pygame.K_z: "B", pygame.K_x: "A", pygame.K_a: "Y", pygame.K_s: "X", pygame.K_d: "L",
    pygame.K_c: "R", pygame.K_RETURN: "START", pygame.K_TAB: "SELECT", pygame.K_RSHIFT: "SELECT",
}  # fmt: skip
COMMANDS: dict[int, Command] = {
    pygame.K_SPACE: "pause", pygame.K_PERIOD: "step", pygame.K_MINUS: "slower",
    pygame.K_PLUS: "faster", pygame.K_EQUALS: "faster", pygame.K_KP_MINUS: "slower",
    pygame.K_KP_PLUS: "faster", pygame.K_F5: "save", pygame.K_r: "restart",
    pygame.K_ESCAPE: "quit", pygame.K_q: "quit",
}  # fmt: skip
# SDL names a gamepad's buttons as on an Xbox, libretro as on a SNES: SDL's A lies where B does.
PAD = {
    pygame.CONTROLLER_BUTTON_A: "B", pygame.CONTROLLER_BUTTON_B: "A",
    pygame.CONTROLLER_BUTTON_X: "Y", pygame.CONTROLLER_BUTTON_Y: "X",
    pygame.CONTROLLER_BUTTON_BACK: "SELECT", pygame.CONTROLLER_BUTTON_START: "START",
    pygame.CONTROLLER_BUTTON_LEFTSHOULDER: "L", pygame.CONTROLLER_BUTTON_RIGHTSHOULDER: "R",
    pygame.CONTROLLER_BUTTON_DPAD_UP: "UP", pygame.CONTROLLER_BUTTON_DPAD_DOWN: "DOWN",
    pygame.CONTROLLER_BUTTON_DPAD_LEFT: "LEFT", pygame.CONTROLLER_BUTTON_DPAD_RIGHT: "RIGHT",
}  # fmt: skip
AXES = {
    pygame.CONTROLLER_AXIS_LEFTX: ("LEFT", "RIGHT"), pygame.CONTROLLER_AXIS_LEFTY: ("UP", "DOWN"),
}  # fmt: skip
TILTED = 12_000  # of 32,767, at which a stick counts as pressed


class Window:
    """Shows scenes in a window and reads keyboard and gamepads.

    Args:
        title: Of the window.
        aspect: Width over height at which the game is meant to be seen; 0: as its pixels are.

    Raises:
        UserError: There is no display.
    """

    real_time = True

    def __init__(self, title: str, aspect: float = 0.0) -> None:
        self._aspect, self._held = aspect, set[tuple[str, int, str]]()
        check_display(os.environ)
        try:
            pygame.display.init()
        except pygame.error as error:
            raise no_display(str(error)) from None
        pygame.display.set_caption(title)
        controller.init()
        self._pads: list[Any] = []
        self._find_pads()
        self._surface: pygame.Surface | None = None

    def _find_pads(self) -> None:
        """Open every gamepad, so that its events come."""
        known = range(controller.get_count())
        self._pads = [controller.Controller(n) for n in known if controller.is_controller(n)]

    def input(self) -> Input:
        """Return what was pressed."""
        commands: list[Command] = []
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                commands.append("quit")
            elif event.type == pygame.KEYDOWN and event.key in COMMANDS:
                commands.append(COMMANDS[event.key])
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP) and event.key in BUTTONS:
                self._press(("key", event.key, BUTTONS[event.key]), event.type == pygame.KEYDOWN)
            elif event.type == pygame.WINDOWFOCUSLOST:
                self._held.clear()  # no key's end is told any more
            else:
                self._take_pad(event)
        return Input(sum({MASKS[name] for _, _, name in self._held}), tuple(commands))

    def _take_pad(self, event: pygame.Event) -> None:
        """Take an event of a gamepad."""
        if event.type in (pygame.CONTROLLERDEVICEADDED, pygame.CONTROLLERDEVICEREMOVED):
            self._find_pads()
            self._held = {held for held in self._held if held[0] == "key"}
        elif event.type in (pygame.CONTROLLERBUTTONDOWN, pygame.CONTROLLERBUTTONUP):
            if event.button in PAD:
                down = event.type == pygame.CONTROLLERBUTTONDOWN
                self._press(("pad", event.button, PAD[event.button]), down)
        elif event.type == pygame.CONTROLLERAXISMOTION and event.axis in AXES:
            less, more = AXES[event.axis]
            self._press(("axis", event.axis, less), event.value < -TILTED)
            self._press(("axis", event.axis, more), event.value > TILTED)

    def _press(self, what: tuple[str, int, str], down: bool) -> None:
        (self._held.add if down else self._held.discard)(what)

    def show(self, scene: Scene) -> None:
        """Show a scene; in a window of another size it is stretched in its shape."""
        shown = whole(scene, self._aspect, keys=True)
        high, wide = shown.shape[:2]
        if self._surface is None:
            self._surface = pygame.display.set_mode((wide, high), pygame.RESIZABLE)
        picture = pygame.image.frombuffer(shown.tobytes(), (wide, high), "RGB")
        room = self._surface.get_size()
        if room != (wide, high):
            times = min(room[0] / wide, room[1] / high)
            size = max(1, round(wide * times)), max(1, round(high * times))
            picture = pygame.transform.smoothscale(picture, size)
            self._surface.fill((0, 0, 0))
        left = (room[0] - picture.get_width()) // 2
        self._surface.blit(picture, (left, (room[1] - picture.get_height()) // 2))
        pygame.display.flip()

    def close(self) -> None:
        """Close the window."""
        self._pads = []
        controller.quit()
        pygame.display.quit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the window."""
        self.close()


def check_display(environment: Mapping[str, str], platform: str = sys.platform) -> None:
    """Refuse where no window can be opened, before SDL falls back to a driver that shows nothing.

    Raises:
        UserError: There is no display.
    """
    named = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    if platform.startswith("linux") and not named and not environment.get("SDL_VIDEODRIVER"):
        raise no_display("neither DISPLAY nor WAYLAND_DISPLAY is set")


def no_display(why: str) -> UserError:
    """Return the error of a window that cannot be opened."""
    return UserError(
        f"no display to open a window on ({why})", "one", "Take --terminal, or --out FILE.mp4."
    )
