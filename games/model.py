"""What a game and a build of it are: RAM options, ROM files, boards' memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
