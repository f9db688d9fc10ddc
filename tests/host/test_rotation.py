"""The built-in games' own text, read from the picture: it stands the right way up."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from retrokit.content import identify
from retrokit.core import Core
from retrokit.errors import CoreNotFound
from retrokit.systems import find_core


def cells(picture: np.ndarray, column: int, row: int, count: int, cell: int) -> list[np.ndarray]:
    """Return the ink of character cells: where a pixel is not the cell's commonest colour."""
    out = []
    for n in range(count):
        part = picture[row * cell : (row + 1) * cell, (column + n) * cell : (column + n + 1) * cell]
        grey = part.astype(int).sum(axis=-1)
        values, counts = np.unique(grey, return_counts=True)
        out.append(grey != values[counts.argmax()])
    return out


def glyph(art: list[str], left: int, cell: int) -> np.ndarray:
    """Return a font glyph as ink in a character cell."""
    ink = np.zeros((cell, cell), np.bool_)
    for y, line in enumerate(art):
        for x, dot in enumerate(line):
            ink[y, left + x] = dot == "#"
    return ink


@pytest.mark.parametrize("game", ["burrow", "skydrop"])
def test_the_games_text_stands_upright(repo: Path, game: str) -> None:
    sys.path.insert(0, str(repo / "games"))
    try:
        from art import FONT
    finally:
        sys.path.remove(str(repo / "games"))
    screen = tomllib.loads((repo / f"games/{game}.toml").read_text())["screen"]
    try:
        found = find_core("fbneo")
    except CoreNotFound as error:
        pytest.skip(str(error))
    with Core.open(found, identify(repo / f"games/{game}/{game}.zip")) as core:
        core.run(400)
        picture = core.frame()
    text, cell = screen["text"], screen["cell"]
    seen = cells(picture, screen["text_col"], screen["text_row"], len(text), cell)
    wanted = [glyph(FONT[letter], screen["glyph_left"], cell) for letter in text]
    for letter, ink, art in zip(text, seen, wanted, strict=True):
        assert (ink == art).all(), f"{letter} is not where it stands on an upright screen"
    turned = np.rot90(picture, 2)
    other = cells(turned, screen["text_col"], screen["text_row"], len(text), cell)
    assert not all((a == b).all() for a, b in zip(other, wanted, strict=True))
