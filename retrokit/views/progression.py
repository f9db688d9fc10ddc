"""A film of several players side by side, each tile one recorded game with its caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from ..album import Picture
from ..errors import UserError
from ..files import whole_file
from ..png import encode_png
from .film import Facts, filming, read_back
from .pictures import WHITE, Stills, dimmed, evenly, pixel_shape, write, zoomed
from .reel import Head, Reel, Source
from .tiles import GAP, SMALLEST, caption, caption_size, captioned, sheet, waste

MOST = {".mp4": (1920, 1080), ".gif": (960, 720)}  # pixels that the tiles stay within, if they can
HELD_S = 2.0  # seconds that the last picture stays
IN_ROW = 8  # stills of a game on a contact sheet


@dataclass(frozen=True)
class Tile:
    """One player's game.

    Attributes:
        lines: Its caption: who plays, then what came of it.
        source: The movie.
    """

    lines: tuple[str, ...]
    source: Source


def film_tiles(
    path: Path, tiles: Sequence[Tile], report: Callable[[float], None] = lambda _: None
) -> Facts:
    """Replay all movies side by side into one film, each in its own process.

    A tile whose game has ended stays on its last picture, dimmed. The sound is that of the tiles
    whose source asks for it.

    Args:
        path: ``.mp4`` or ``.gif``; ``.png`` gives a row of stills for each tile.
        tiles: At least one.
        report: Called with the share of the work behind us, 0 to 1.

    Raises:
        UserError: There is no tile, or the file cannot be written.
        RetrokitError: A replay failed or differs, or the finished film is not what went in.
    """
    if not tiles:
        raise UserError("no game to film", "one at least")
    with ExitStack() as stack:
        reels = [stack.enter_context(Reel(tile.source)) for tile in tiles]
        if path.suffix.lower() == ".png":
            return _rows(path, tiles, reels, report)
        head = reels[0].head
        rate = head.sound_rate if any(tile.source.sound for tile in tiles) else 0.0
        total = max(reel.head.frames for reel in reels)
        wall = _Wall(tiles, head, MOST.get(path.suffix.lower(), MOST[".mp4"]))
        frames = [iter(reel) for reel in reels]
        with filming(path, head.fps, sound_rate=rate) as camera:
            for number in range(total):
                sound = None
                for place, row in enumerate(frames):
                    frame = next(row, None)
                    if frame is None:
                        wall.end(place, number / head.fps)
                        continue
                    wall.show(place, frame.picture)
                    sound = sound if frame.sound is None else frame.sound
                camera.add(wall.picture, sound)
                report((number + 1) / total)
            for row in frames:
                next(row, None)  # a replay is proved after its last frame
            for _ in range(round(HELD_S * head.fps)):
                camera.add(wall.picture)
    assert camera.facts is not None
    return camera.facts


class _Wall:
    """All tiles as one picture, painted over where something changed."""

    def __init__(self, tiles: Sequence[Tile], head: Head, most: tuple[int, int]) -> None:
        self._tiles, self._head, self._most = tiles, head, most
        self._places: list[tuple[int, int]] = []
        self._last: list[Picture | None] = [None] * len(tiles)
        self._waiting: list[tuple[int, Picture]] = []
        self._times = (1, 1)
        self.picture: Picture = np.zeros((0, 0, 3), np.uint8)

    def _begin(self, first: Picture) -> None:
        """Lay out captions and places, by the size of the first picture."""
        size = first.shape[1], first.shape[0]
        self._times, columns, letters = layout(
            [tile.lines for tile in self._tiles], size, self._head.aspect, self._most
        )
        blank = zoomed(np.zeros_like(first), self._times)
        cells = [captioned(blank, tile.lines, letters) for tile in self._tiles]
        self.picture = sheet(cells, columns)
        high, wide = cells[0].shape[:2]
        above = high - blank.shape[0]
        for number in range(len(cells)):
            row, column = divmod(number, columns)
            self._places.append((GAP + row * (high + GAP) + above, GAP + column * (wide + GAP)))
        self._blank = blank

    def show(self, place: int, picture: Picture) -> None:
        """Paint a tile's next picture."""
        if not self._places:
            self._begin(picture)
        self._last[place] = picture
        self._paint(place, zoomed(picture, self._times))

    def _paint(self, place: int, shown: Picture) -> None:
        top, left = self._places[place]
        high, wide, _ = np.minimum(shown.shape, self._blank.shape).tolist()
        self.picture[top : top + high, left : left + wide] = shown[:high, :wide]

    def end(self, place: int, seconds: float) -> None:
        """Dim a tile whose game has ended; the first call counts."""
        last, self._last[place] = self._last[place], None
        if last is not None:
            shown = dimmed(zoomed(last, self._times))
            said = f"ended at {int(seconds // 60)}:{seconds % 60:04.1f}"
            size = max(SMALLEST, min(24, shown.shape[1] // 12))
            at = shown.shape[1] // 2, shown.shape[0] // 2 - size // 2
            write(shown, [(*at, said, WHITE)], size, "middle")
            self._paint(place, shown)


def layout(
    captions: Sequence[Sequence[str]],
    size: tuple[int, int],
    aspect: float,
    most: tuple[int, int],
) -> tuple[tuple[int, int], int, int]:
    """Return zoom, columns and size of letters with which tiles fit into a film.

    Args:
        captions: Lines of each tile.
        size: Width and height of the game's picture.
        aspect: Width over height at which it is meant to be seen.
        most: Width and height that the film should not exceed; at a zoom of 1 it may.
    """
    shape, lines = pixel_shape(size, aspect), [line for lines in captions for line in lines]
    best = 0.0, shape, len(captions), SMALLEST
    for zoom in range(1, 17):
        times = shape[0] * zoom, shape[1] * zoom
        wide, high = size[0] * times[0], size[1] * times[1]
        letters = caption_size(wide, lines)
        high += caption(wide, captions[0], letters).shape[0]
        for columns in range(1, len(captions) + 1):
            rows = ceil(len(captions) / columns)
            whole = columns * (wide + GAP) + GAP, rows * (high + GAP) + GAP
            worth = zoom - waste(len(captions), columns, (wide, high))  # zoom first, then shape
            fits = whole[0] <= most[0] and whole[1] <= most[1]
            if (fits or zoom == 1) and worth > best[0]:
                best = worth, times, columns, letters
    return best[1:]


def _rows(
    path: Path, tiles: Sequence[Tile], reels: Sequence[Reel], report: Callable[[float], None]
) -> Facts:
    """Write a contact sheet: a row for each game, stills from its beginning to its end."""
    total, seen = sum(reel.head.frames for reel in reels), 0
    cells = []
    for tile, reel in zip(tiles, reels, strict=True):
        stills, last = Stills(2 * IN_ROW), None
        for number, frame in enumerate(reel):
            stills.add(number, frame.picture)
            last, seen = (number, frame.picture), seen + 1
            report(seen / total)
        kept = [*stills][: -1 if len(stills) > 1 else None]
        kept += [last] if last is not None else []
        times = pixel_shape((kept[0][1].shape[1], kept[0][1].shape[0]), reel.head.aspect)
        chosen = [kept[number] for number in evenly(len(kept), IN_ROW)]
        chosen += [chosen[-1]] * (IN_ROW - len(chosen))  # a very short game
        for place, (number, picture) in enumerate(chosen):
            lines = tile.lines if place == 0 else ("",) * (len(tile.lines) - 1)
            seconds = number / reel.head.fps
            said = (*lines, f"{seconds:.1f} s") if place else tile.lines
            cells.append(captioned(zoomed(picture, times), said, SMALLEST + 1))
    with whole_file(path, "the contact sheet ") as file:
        file.write(encode_png(sheet(cells, IN_ROW)))
    return read_back(path)
