"""Burrow on the Dig Dug board: its pictures, colours and maps as that board's ROM files."""

from __future__ import annotations

from pathlib import Path

from art import (
    FONT,
    GLYPH_LEFT,
    Art,
    glyph_cell,
    load_art,
    pixels,
    points_sprite,
    tunnel_cell,
    turned,
)
from model import Game, Options, Rom, Symbols, padded, rgb

HERE = Path(__file__).resolve().parent

FACED = ("digger1", "digger2", "pumping", "tip", "hose")
"""Sprites that also come turned upwards; the turned picture follows the plain one."""
POINTS = (200, 300, 400, 500, 600, 800, 1000)
SPRITE_COLOURS = {
    # name: palette entries (16-31, less 16) of pixels 1, 2, 3
    "DIGGER": (1, 2, 3),
    "BLOB": (3, 1, 2),
    "DRAKE": (5, 6, 1),
    "ROCK": (9, 10, 1),
    "HOSE": (1, 3, 3),
    "EYES": (1, 2, 2),
    "POINTS": (1, 1, 1),
}
BURROW_PALETTE = [
    rgb(0, 0, 0),  # 0 tunnels
    rgb(1, 3, 3),  # 1 day sky
    rgb(7, 7, 3),  # 2 text
    rgb(1, 5, 0),  # 3 grass
    rgb(7, 5, 1),  # 4, 5 sand
    rgb(5, 4, 0),
    rgb(7, 3, 0),  # 6, 7 clay
    rgb(5, 2, 0),
    rgb(5, 1, 0),  # 8, 9 brick
    rgb(3, 1, 0),
    rgb(7, 7, 0),  # 10 text, second colour
    rgb(3, 1, 1),  # 11, 12 bedrock
    rgb(2, 0, 0),
    rgb(5, 6, 3),  # 13 cloud
    rgb(7, 1, 1),  # 14 bloom, dusk
    rgb(1, 1, 2),  # 15 night, slate
    # sprites
    rgb(0, 0, 0),
    rgb(7, 7, 3),
    rgb(1, 3, 3),
    rgb(7, 1, 0),
    rgb(7, 5, 2),
    rgb(1, 6, 1),
    rgb(7, 4, 0),
    rgb(7, 7, 0),
    rgb(0, 0, 2),
    rgb(5, 5, 2),
    rgb(3, 3, 1),
    0,
    0,
    0,
    0,
    0,
]
# For each of the four colour banks: sky, grass, cloud; base, dark, spark of the four layers.
BANKS = (
    ((1, 3, 13), (4, 5, 10), (6, 7, 4), (8, 9, 6), (11, 12, 8)),
    ((14, 3, 10), (6, 7, 4), (8, 9, 6), (11, 12, 8), (15, 12, 13)),
    ((15, 3, 13), (15, 12, 13), (5, 7, 4), (7, 9, 6), (9, 12, 8)),
    ((0, 7, 15), (11, 12, 14), (8, 9, 6), (6, 7, 4), (4, 5, 10)),
)
LIFE_TILE = 0x3A
BLACK = 0x50
"""Playfield tile of a layer whose colours are all black."""


def burrow_sprites() -> Art:
    """Every sprite in the order of its code."""
    drawn = load_art(HERE / "burrow" / "sprites.txt")
    sprites: Art = {}
    for name, rows in drawn.items():
        sprites[name] = rows
        if name in FACED:
            sprites[f"{name}_up"] = turned(rows)
    for points in POINTS:
        sprites[f"p{points}"] = points_sprite(str(points))
    return sprites


def burrow_equates() -> Symbols:
    """Sprite codes and colours, for the program."""
    codes = {f"SPR_{name.upper()}": code for code, name in enumerate(burrow_sprites())}
    colours = {f"COL_{name}": i for i, name in enumerate(SPRITE_COLOURS)}
    return {**codes, **colours, "LIFE_TILE": LIFE_TILE | 0x80}


def burrow_map(screen: int) -> bytes:
    """One of the four playfields: 28 columns by 36 rows of tiles, black where the score is."""
    cells = bytearray([BLACK] * 0x400)
    luck = 12345 + 977 * screen
    for row in range(2, 34):
        for column in range(28):
            luck = (luck * 1103515245 + 12345) & 0x7FFFFFFF
            dice = luck >> 16 & 15
            if row < 5:
                tile = 0
            elif row == 5:
                tile = 4 if dice < 2 else 1
            else:
                layer, depth = divmod(row - 6, 7)
                dirt = 4 if depth == 0 and layer else int("0000000111222233"[dice])
                tile = (layer + 1) << 4 | dirt
            cells[(29 - column) * 32 + row - 2] = tile
    for column, row in ((3, 2), (18, 4), (23, 2)):
        column = (column + 5 * screen) % 26
        cells[(29 - column) * 32 + row - 2] = 2
        cells[(28 - column) * 32 + row - 2] = 3
    return bytes(cells)


def two_planes(art: list[str], data: bytearray, base: int) -> None:
    """Pack a picture as Namco's 2-bit tiles (8x8) and sprites (16x16) are: 4 pixels a byte."""
    small = len(art) == 8
    for x, y, value in pixels(art):
        column = 8 * (1 - (x >> 2)) if small else 8 * (x >> 2)
        place = base + column + (y & 7) + (32 if y > 7 else 0)
        data[place] |= (value >> 1) << (7 - (x & 3)) | (value & 1) << (3 - (x & 3))


def burrow_romset(code: bytes) -> list[Rom]:
    """The files of the digdug driver, in its order."""
    program = padded(code, 0x4000)
    idle = padded(b"\x18\xfe", 0x1000)  # the other CPUs are never let go
    chars = bytearray(0x800)
    cells = {n: tunnel_cell(n) for n in range(16)}
    for name, rows in FONT.items():
        cells[ord(name) if name.isdigit() else ord(name) - ord("A") + 0x10] = glyph_cell(rows)
    cells[LIFE_TILE] = load_art(HERE / "burrow" / "tiles.txt")["life"]
    for number, cell in cells.items():
        for x, y, _ in pixels(cell):
            chars[number * 8 + y] |= 1 << x
    tiles = load_art(HERE / "burrow" / "tiles.txt")
    field_tiles = bytearray(0x1000)
    for number, name in enumerate(("sky", "grass", "cloudl", "cloudr", "bloom")):
        two_planes(tiles[name], field_tiles, number * 16)
    for layer in range(1, 5):
        for number, name in enumerate(("dirt0", "dirt1", "dirt2", "dirt3", "seam")):
            two_planes(tiles[name], field_tiles, (layer << 4 | number) * 16)
    two_planes(tiles["sky"], field_tiles, BLACK * 16)
    sprites = bytearray(0x4000)
    for number, rows in enumerate(burrow_sprites().values()):
        two_planes(rows, sprites, number * 64)
    sprite_colours = bytearray(b"\x0f" * 256)  # 15 is transparent
    for number, colours in enumerate(SPRITE_COLOURS.values()):
        sprite_colours[number * 4 + 1 : number * 4 + 4] = bytes(colours)
    field_colours = bytearray(256)
    for bank, groups in enumerate(BANKS):
        for number, colours in enumerate(groups):
            start = bank * 64 + number * 4
            field_colours[start + 1 : start + 4] = bytes(colours)
    maps = b"".join(burrow_map(screen) for screen in range(4))
    return [
        *(Rom(f"main{i}", program[i * 0x1000 : (i + 1) * 0x1000], 1) for i in range(4)),
        Rom("sub0", idle, 1),
        Rom("sub1", padded(b"", 0x1000), 1),
        Rom("sound", idle, 1),
        Rom("chars", bytes(chars), 4),
        *(Rom(f"spr{i}", bytes(sprites[i * 0x1000 : (i + 1) * 0x1000]), 4) for i in range(4)),
        Rom("tiles", bytes(field_tiles), 4),
        Rom("maps", maps, 4),
        Rom("palette", bytes(BURROW_PALETTE), 7),
        Rom("sprcol", bytes(sprite_colours), 7),
        Rom("tilecol", bytes(field_colours), 7),
        Rom("wave", bytes(256), 7),
        Rom("timing", bytes(256), 7),
    ]


BURROW = Game(
    name="burrow",
    title="Burrow",
    driver="digdug",
    defaults=Options(score_at=0x423, lives_at=0x41C),
    hiscore=750000,
    ram=(
        (0x8000, 0x800, 0),
        (0x8800, 0x400, 0x800),
        (0x9000, 0x400, 0xC00),
        (0x9800, 0x400, 0x1000),
    ),
    screen={
        "text_col": 3,
        "text_row": 0,
        "score_col": 2,
        "score_row": 1,
        "hiscore_col": 15,
        "glyph_left": GLYPH_LEFT,
    },
    romset=burrow_romset,
    equates=burrow_equates,
    player=("dx", "dy"),
    notes=(
        "burst enemies are the only points: 200 to 500 by depth, twice that for the green ones",
        "rocks crush enemies for no points",
        "the high score is a constant in the score's own form: a decoy",
        "score, high score, lives and level are redrawn from RAM every frame",
        "the demo scores and dies in the same bytes",
    ),
)
