"""Sky Drop on the Galaxian board: its pictures and colours as that board's ROM files."""

from __future__ import annotations

from pathlib import Path

from art import FONT, GLYPH_LEFT, glyph_cell, load_art, pixels
from model import Game, Options, Rom, Symbols, padded, rgb

HERE = Path(__file__).resolve().parent

SKYDROP_PALETTE = [
    # four a palette; the first is black or transparent
    *(0, rgb(7, 1, 1), rgb(1, 3, 3), rgb(7, 7, 3)),  # 0 text
    *(0, rgb(7, 1, 1), rgb(1, 3, 3), rgb(7, 7, 0)),  # 1 text of the score lines
    *(0, rgb(6, 7, 3), rgb(0, 4, 3), rgb(7, 2, 0)),  # 2 ship
    *(0, rgb(0, 6, 1), rgb(7, 7, 3), rgb(7, 0, 0)),  # 3 drone
    *(0, rgb(7, 1, 1), rgb(7, 5, 0), rgb(7, 7, 3)),  # 4 diver
    *(0, rgb(6, 1, 3), rgb(0, 6, 3), rgb(7, 7, 3)),  # 5 dasher
    *(0, rgb(7, 3, 0), rgb(7, 6, 0), rgb(7, 7, 3)),  # 6 explosion
    *(0, rgb(1, 1, 2), rgb(7, 6, 1), rgb(3, 3, 3)),  # 7 city
]
FIRST_SPRITE = 0x1C  # sprite n is tiles 4n to 4n+3; the text and city lie below
FIRST_CITY = 0x60


def skydrop_equates() -> Symbols:
    """Sprite codes, for the program."""
    names = load_art(HERE / "skydrop" / "sprites.txt")
    return {f"SPR_{name.upper()}": FIRST_SPRITE + i for i, name in enumerate(names)}


def skydrop_romset(code: bytes) -> list[Rom]:
    """The files of the galaxian driver, in its order."""
    program = padded(code, 0x2800)
    planes = (bytearray(0x800), bytearray(0x800))  # values 2 and 1

    def put(place: int, x: int, value: int) -> None:
        planes[0][place] |= (value >> 1) << (7 - x)
        planes[1][place] |= (value & 1) << (7 - x)

    cells = {ord(name): glyph_cell(rows) for name, rows in FONT.items()}
    for number, rows in enumerate(load_art(HERE / "skydrop" / "tiles.txt").values()):
        cells[FIRST_CITY + number] = rows
    for number, cell in cells.items():
        for x, y, value in pixels(cell):
            put(number * 8 + y, x, value)
    for number, rows in enumerate(load_art(HERE / "skydrop" / "sprites.txt").values()):
        for x, y, value in pixels(rows):
            quarter = (8 if x > 7 else 0) + (16 if y > 7 else 0)
            put((FIRST_SPRITE + number) * 32 + quarter + (y & 7), x & 7, value)
    return [
        *(Rom(f"prg{i}", program[i * 0x800 : (i + 1) * 0x800], 1) for i in range(5)),
        Rom("gfx1", bytes(planes[0]), 4),
        Rom("gfx0", bytes(planes[1]), 4),
        Rom("palette", bytes(SKYDROP_PALETTE), 7),
    ]


SKYDROP = Game(
    name="skydrop",
    title="Sky Drop",
    driver="galaxian",
    defaults=Options(score_at=0x0B2, lives_at=0x09D),
    hiscore=5000,
    ram=((0x4000, 0x400, 0), (0x5000, 0x400, 0x1000), (0x5800, 0x100, 0x1400)),
    screen={
        "text_col": 3,
        "text_row": 0,
        "score_col": 2,
        "score_row": 1,
        "hiscore_col": 15,
        "glyph_left": GLYPH_LEFT,
    },
    romset=skydrop_romset,
    equates=skydrop_equates,
    player=("px", None),
    notes=(
        "30, 50 and 100 points by kind; enemies that fly past cost nothing",
        "each number is redrawn only when it changes",
        "the demo scores and dies in the same bytes",
    ),
)
