"""The games' pictures: ASCII art read, turned as the boards' screens lie, packed into ROM bits.

Both boards' monitors stand on their side. A picture drawn upright has column gx and row gy;
the hardware's x runs down the upright picture and its y runs from right to left, so a pixel
of an n by n picture is the hardware's (gy, n-1-gx).
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
Art = dict[str, list[str]]
GLYPH_LEFT = 1
"""Blank columns left of a glyph in its cell; there are none above it."""


def load_art(path: Path) -> Art:
    """Read ASCII art: "@name" and the rows below it, up to the next name."""
    art: Art = {}
    rows: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("@"):
            rows = art.setdefault(line[1:], [])
        elif line and not line.startswith(";"):
            rows.append(line)
    return art


def load_font() -> Art:
    """Read font.txt, where the glyphs of one "@ABC" stand side by side."""
    font: Art = {}
    for names, rows in load_art(HERE / "font.txt").items():
        for i, name in enumerate(names):
            font[name] = [row[6 * i : 6 * i + 5] for row in rows]
    return font


FONT: Art = load_font()
"""Each glyph of the games' text: 7 rows of 5, "#" for ink, inside an 8x8 cell."""


def turned(rows: list[str]) -> list[str]:
    """The picture a quarter turn counter-clockwise: what faced right faces up."""
    size = len(rows)
    return ["".join(rows[c][size - 1 - r] for c in range(size)) for r in range(size)]


def glyph_cell(rows: list[str]) -> list[str]:
    """A 5x7 glyph in its 8x8 cell, ink as "3" (every bit of every plane)."""
    ink = [("." * GLYPH_LEFT + row).ljust(8, ".").replace("#", "3") for row in rows]
    return ink + ["." * 8] * (8 - len(ink))


def pixels(rows: list[str]) -> list[tuple[int, int, int]]:
    """The hardware's (x, y, value) of every pixel that is not 0."""
    size = len(rows)
    if any(len(row) != size for row in rows):
        raise ValueError(f"not {size}x{size}: {rows}")
    return [
        (gy, size - 1 - gx, int(c))
        for gy, row in enumerate(rows)
        for gx, c in enumerate(row)
        if c not in ".0"
    ]


SMALL_DIGITS = {
    "0": "###/#.#/#.#/#.#/###",
    "1": ".#./##./.#./.#./###",
    "2": "###/..#/###/#../###",
    "3": "###/..#/.##/..#/###",
    "4": "#.#/#.#/###/..#/..#",
    "5": "###/#../###/..#/###",
    "6": "###/#../###/#.#/###",
    "8": "###/#.#/###/#.#/###",
}


def points_sprite(text: str) -> list[str]:
    """A 16x16 picture of a small number, in colour 1."""
    rows = ["".join(SMALL_DIGITS[c].split("/")[r] + "." for c in text) for r in range(5)]
    left = (16 - 4 * len(text) + 1) // 2
    lines = [("." * left + row).ljust(16, ".")[:16].replace("#", "1") for row in rows]
    blank = "." * 16
    return [blank] * 5 + lines + [blank] * 6


def tunnel_cell(neighbours: int) -> list[str]:
    """Dug-out earth: an 8x8 hole, ragged and round towards the sides that are shut.

    Args:
        neighbours: The open sides: 1 up, 2 right, 4 down, 8 left.
    """
    hole = [["3"] * 8 for _ in range(8)]
    ragged = (0, 1, 5)
    if not neighbours & 1:
        for i in ragged:
            hole[0][i] = "."
    if not neighbours & 4:
        for i in ragged:
            hole[7][7 - i] = "."
    if not neighbours & 2:
        for i in ragged:
            hole[i][7] = "."
    if not neighbours & 8:
        for i in ragged:
            hole[7 - i][0] = "."
    for sides, x, y in ((9, 0, 0), (3, 7, 0), (6, 7, 7), (12, 0, 7)):
        if not neighbours & sides:
            for dx, dy in ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)):
                hole[abs(y - dy)][abs(x - dx)] = "."
    return ["".join(row) for row in hole]
