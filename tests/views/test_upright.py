"""Upright: films of our own game show its own text, and directions tell how a picture is turned."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from retrokit import sandbox
from retrokit.album import Picture
from retrokit.load import Game, open_game
from retrokit.policy import random_play
from retrokit.views import film, upright
from retrokit.views.pictures import turned

TEXTS = ("1UP", "HIGH SCORE", "LEVEL")


@pytest.fixture(scope="module")
def burrow() -> Game:
    """Our own game, whose board's screen stands on its side."""
    pytest.importorskip("stable_retro")
    return open_game("burrow")


def played(game: Game, frames: int) -> Iterator[Picture]:
    with game.open() as core:
        core.record(game.integration.start_frames())
        for buttons in random_play(3, frames, game.integration.action_set).tolist():
            core.run(1, buttons)
            yield core.frame()


def written(picture: Picture, repo: Path) -> list[str]:
    """Return those of the game's own words that a picture shows, by the font of its sources."""
    sys.path.insert(0, str(repo / "games"))
    try:
        from art import FONT, GLYPH_LEFT
    finally:
        sys.path.pop(0)
    ink = picture.max(axis=2) > 128
    found = []
    for text in TEXTS:
        cells = np.zeros((7, 8 * len(text)), np.bool_)
        for place, letter in enumerate(text):
            rows = FONT.get(letter, ["....."] * 7)
            left = 8 * place + GLYPH_LEFT
            cells[:, left : left + 5] = [[dot == "#" for dot in row] for row in rows]
        windows = sliding_window_view(ink, cells.shape)
        if (windows == cells).mean(axis=(2, 3)).max() > 0.98:
            found.append(text)
    return found


@pytest.mark.parametrize(("suffix", "times"), [(".mp4", 2), (".gif", 1)])
def test_a_film_shows_the_games_own_text(
    burrow: Game, repo: Path, tmp_path: Path, suffix: str, times: int
) -> None:
    path = tmp_path / f"burrow{suffix}"
    facts = film.write_film(path, played(burrow, 40), 60.0, aspect=0.75)
    assert facts.size == (224 * times, 288 * times)
    (shown,) = film.stills_of(path, [facts.frames - 1])
    picture = shown[::times, ::times]
    assert written(picture, repo) == list(TEXTS)
    for degrees in (90, 180, 270):
        assert written(turned(picture, degrees), repo) == []
    assert written(picture[:, ::-1], repo) == []


@pytest.mark.parametrize("name", ["burrow", "skydrop", "ms_pacman"])
def test_games_are_upright_as_their_cores_say(name: str) -> None:
    pytest.importorskip("stable_retro")
    if name == "ms_pacman":
        pytest.importorskip("ale_py")
    seen = sandbox.run(upright.look, open_game(name))
    assert seen == (0, 270 if name != "ms_pacman" else 0)


def test_a_wrong_rotation_is_seen_and_the_right_one_named(burrow: Game) -> None:
    for rotate, needed in ((270, 0), (0, 270), (90, 180), (180, 90)):
        assert sandbox.run(upright.look, burrow, rotate) == (needed, 270)


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_directions_tell_the_turn(degrees: int) -> None:
    """A thing at (20, 20) moves as it is steered; the picture is turned afterwards."""
    usual = np.full((48, 64), 7, np.uint16)
    steered = {"up": (20, 12), "down": (20, 28), "left": (12, 20), "right": (28, 20)}
    pictures = []
    for column, row in steered.values():
        picture = usual.copy()
        picture[row : row + 5, column : column + 5] = 99
        picture[40:44, 50:54] = 50  # moves by itself, the same in all
        pictures.append(np.rot90(picture, degrees // 90))
    seen = upright.ways(np.stack(pictures), np.rot90(usual, degrees // 90))
    assert set(seen) == {"right", "down"}
    assert upright.turn_of([seen]) is None  # two ways are no proof
    assert upright.turn_of([seen, seen]) == (360 - degrees) % 360


def test_what_cannot_be_told_is_not(repo: Path) -> None:
    rng = np.random.default_rng(0)
    still = rng.integers(0, 99, (30, 40), np.uint16)
    assert upright.ways(np.stack([still] * 4), still) == {}  # nothing moves
    scrolled = np.stack([np.roll(still, move, axis=1) for move in (0, 0, -3, 3)])
    assert upright.ways(scrolled, still) == {}  # everything does
    slanting = {"right": (5.0, 5.0), "down": (-4.0, 4.5)}
    assert upright.turn_of([slanting] * 10) is None
    mirrored = {"right": (-9.0, 0.0), "down": (0.0, 9.0)}
    assert upright.turn_of([mirrored] * 10) is None
