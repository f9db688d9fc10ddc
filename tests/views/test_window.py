"""The window, on SDL's driver without a display: what is shown, keyboard and gamepads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pygame
import pytest

from retrokit.buttons import to_mask
from retrokit.errors import UserError
from retrokit.views import window
from retrokit.views.panel import whole
from retrokit.views.scene import Scene
from retrokit.views.window import Window


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with Window("a game", 0.75) as made:
        made.show(Scene(np.random.default_rng(0).integers(0, 256, (96, 72, 3), np.uint8)))
        made.input()
        yield made
    assert not pygame.display.get_init()


def post(kind: int, **facts: int) -> None:
    pygame.event.post(pygame.event.Event(kind, facts))


def test_a_scene_is_shown_as_it_is(shown: Window) -> None:
    scene = Scene(np.random.default_rng(1).integers(0, 256, (96, 72, 3), np.uint8), "burrow", "you")
    shown.show(scene)
    seen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (seen == whole(scene, 0.75, keys=True)).all()
    assert pygame.display.get_caption()[0] == "a game"


def test_in_a_larger_window_it_keeps_its_shape(shown: Window) -> None:
    shown._surface = pygame.display.set_mode((1600, 700), pygame.RESIZABLE)
    shown.show(Scene(np.full((96, 72, 3), 200, np.uint8)))
    seen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (seen[:, :100] == 0).all() and (seen[:, -100:] == 0).all()
    assert (seen[350] == 200).all(axis=1).sum() == pytest.approx(432 * 700 / 576, abs=4)


def test_keys_are_held_until_they_are_let_go(shown: Window) -> None:
    post(pygame.KEYDOWN, key=pygame.K_LEFT)
    post(pygame.KEYDOWN, key=pygame.K_z)
    assert shown.input() == (to_mask(["LEFT", "B"]), ())
    assert shown.input().buttons == to_mask(["LEFT", "B"])
    post(pygame.KEYUP, key=pygame.K_LEFT)
    post(pygame.KEYDOWN, key=pygame.K_F12)  # means nothing
    assert shown.input().buttons == to_mask(["B"])
    post(pygame.WINDOWFOCUSLOST)
    assert shown.input().buttons == 0


def test_commands_come_in_order(shown: Window) -> None:
    keys = pygame.K_SPACE, pygame.K_PERIOD, pygame.K_MINUS, pygame.K_EQUALS, pygame.K_F5, pygame.K_r
    for key in keys:
        post(pygame.KEYDOWN, key=key)
    post(pygame.QUIT)
    commands = ("pause", "step", "slower", "faster", "save", "restart", "quit")
    assert shown.input() == (0, commands)


def test_a_gamepad_plays_where_its_buttons_lie(shown: Window) -> None:
    for button in (pygame.CONTROLLER_BUTTON_A, pygame.CONTROLLER_BUTTON_DPAD_UP):
        post(pygame.CONTROLLERBUTTONDOWN, button=button)
    post(pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTX, value=-30_000)
    post(pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_RIGHTY, value=-30_000)
    assert shown.input().buttons == to_mask(["B", "UP", "LEFT"])
    post(pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTX, value=30_000)
    post(pygame.CONTROLLERBUTTONUP, button=pygame.CONTROLLER_BUTTON_A)
    assert shown.input().buttons == to_mask(["UP", "RIGHT"])
    post(pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTX, value=800)
    assert shown.input().buttons == to_mask(["UP"])
    post(pygame.KEYDOWN, key=pygame.K_x)
    post(pygame.CONTROLLERDEVICEREMOVED, instance_id=0)
    assert shown.input().buttons == to_mask(["A"])


def test_a_gamepad_is_opened_when_it_comes(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window.controller, "get_count", lambda: 2)
    monkeypatch.setattr(window.controller, "is_controller", lambda number: number == 1)
    monkeypatch.setattr(window.controller, "Controller", lambda number: f"pad {number}")
    post(pygame.CONTROLLERDEVICEADDED, device_index=1)
    shown.input()
    assert shown._pads == ["pad 1"]


def test_without_a_display_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = "no display to open a window on .*wanted one. Take --terminal, or --out FILE.mp4."
    with pytest.raises(UserError, match=wanted):
        window.check_display({}, "linux")
    window.check_display({"DISPLAY": ":0"}, "linux")
    window.check_display({"SDL_VIDEODRIVER": "dummy"}, "linux")
    window.check_display({}, "darwin")
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    monkeypatch.setenv("DISPLAY", ":98")  # there is none
    with pytest.raises(UserError, match=wanted):
        Window("a game")


def test_without_pygame_the_extra_is_named() -> None:
    code = "import sys; sys.modules['pygame'] = None\ntry: import retrokit.views.window\n"
    code += "except Exception as error: print(type(error).__name__, error)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("MissingExtra pygame-ce is not installed. pip install")
