"""The two boards: where RAM and pictures go, and what the games on them are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

HERE = Path(__file__).resolve().parent
ENCODINGS = {"bcd": 0, "digits": 1, "binary": 2}
Symbols = dict[str, int]


class BuildError(Exception):
    """A build that cannot be done; the message says what to do about it."""


@dataclass(frozen=True)
class Options:
    """What a build may choose about the RAM. Addresses are SYSTEM_RAM offsets.

    Attributes:
        score_at: Lowest offset of the score.
        lives_at: Offset of the lives.
        score_encoding: "bcd" (two digits a byte), "digits" (one a byte) or "binary".
        lsb_first: The least significant byte lies at the lowest offset.
        digit_base: With "digits", the byte that stands for 0 (0x30 = the digit's tile).
        drawn_zero: The last zero is drawn on the screen and stored nowhere.
        lives_base: The byte that stands for no lives (255 stores one life less).
        lives: Lives at the start of a game.
        seed: Where the random numbers start.
    """

    score_at: int
    lives_at: int
    score_encoding: str = "bcd"
    lsb_first: bool = True
    digit_base: int = 0
    drawn_zero: bool = False
    lives_base: int = 0
    lives: int = 3
    seed: int = 0x5EED

    @property
    def score_len(self) -> int:
        """Bytes of the score."""
        if self.score_encoding != "digits":
            return 3
        return 5 if self.drawn_zero else 6

    @property
    def hiscore_at(self) -> int:
        """Lowest offset of the high score, which always follows the score."""
        return self.score_at + 8

    def number(self, value: int) -> bytes:
        """Encode `value` as the game stores a score, lowest offset first."""
        if self.drawn_zero:
            value //= 10
        if self.score_encoding == "binary":
            data = value.to_bytes(3, "big")
        elif self.score_encoding == "bcd":
            data = bytes.fromhex(f"{value:06d}")
        else:
            data = bytes(self.digit_base + int(c) for c in f"{value:0{self.score_len}d}")
        return data[::-1] if self.lsb_first else data

    def addresses(self, lowest: int) -> list[int]:
        """Offsets of a number whose lowest offset is given, most significant first."""
        run = list(range(lowest, lowest + self.score_len))
        return run[::-1] if self.lsb_first else run


@dataclass(frozen=True)
class Rom:
    """One file of a romset; `kind` is FBNeo's number for its role."""

    name: str
    data: bytes
    kind: int


@dataclass(frozen=True)
class Game:
    """A game and the board it runs on.

    Attributes:
        ram: (first address, length, SYSTEM_RAM offset) of each block of RAM.
        screen: Constants of the HUD: columns and the row of the score, in 8x8 cells.
        player: The symbols of the player's x and y.
    """

    name: str
    title: str
    driver: str
    defaults: Options
    hiscore: int
    ram: tuple[tuple[int, int, int], ...]
    screen: dict[str, int]
    romset: Callable[[bytes], list[Rom]]
    equates: Callable[[], Symbols]
    player: tuple[str, str | None]
    notes: tuple[str, ...] = ()

    def address(self, offset: int) -> int:
        """CPU address of a SYSTEM_RAM offset."""
        for first, length, base in self.ram:
            if base <= offset < base + length:
                return first + offset - base
        raise BuildError(f"{self.name}: offset {offset:#x} is not in its RAM")

    def offset(self, address: int) -> int:
        """SYSTEM_RAM offset of a CPU address."""
        for first, length, base in self.ram:
            if first <= address < first + length:
                return base + address - first
        raise BuildError(f"{self.name}: address {address:#x} is not RAM")


def rgb(red: int, green: int, blue: int) -> int:
    """A colour of either board's palette PROM: 3, 3 and 2 bits."""
    return red | green << 3 | blue << 6


def padded(data: bytes, size: int) -> bytes:
    """`data` filled up with ff, as an unburnt EPROM is."""
    if len(data) > size:
        raise BuildError(f"{len(data)} bytes do not fit into {size}")
    return data + b"\xff" * (size - len(data))


# ---------------------------------------------------------------- Burrow, on the Dig Dug board

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
    cells = bytearray(b"\xf0" * 0x400)
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
                dirt = 4 if depth == 0 and layer else (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 0)[dice]
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
    ram=((0x8000, 0x800, 0), (0x8800, 0x400, 0x800), (0x9000, 0x400, 0xC00), (0x9800, 0x400, 0x1000)),
    screen={"text_col": 3, "text_row": 0, "score_col": 2, "score_row": 1, "hiscore_col": 15,
            "glyph_left": GLYPH_LEFT},
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

# ---------------------------------------------------------------- Sky Drop, on Galaxian's board

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
    screen={"text_col": 3, "text_row": 0, "score_col": 2, "score_row": 1, "hiscore_col": 15,
            "glyph_left": GLYPH_LEFT},
    romset=skydrop_romset,
    equates=skydrop_equates,
    player=("px", None),
    notes=(
        "30, 50 and 100 points by kind; enemies that fly past cost nothing",
        "each number is redrawn only when it changes",
        "the demo scores and dies in the same bytes",
    ),
)

# ---------------------------------------------------------------- what build.py asks for

FREE = {
    # RAM no hardware looks at, less the stack
    "digdug": ((0x8400, 0x8B00), (0x9000, 0x9380), (0x9800, 0x9B80)),
    "galaxian": ((0x4000, 0x43C0),),
}
MODES = {"test": 0, "attract": 1, "play": 2, "over": 3}


def games() -> dict[str, Game]:
    """The games by name."""
    return {game.name: game for game in (BURROW, SKYDROP)}
