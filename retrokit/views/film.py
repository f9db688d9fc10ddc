"""Films: pictures go in one by one; a file comes out that is read back and checked.

``.mp4`` is H.264 as browsers want it (yuv420p, even size, BT.709 said and meant, index first),
``.gif`` has a palette for each frame, ``.png`` is a contact sheet. At no time is more than one
frame of a film in memory, beside a few stills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ..album import Picture
from ..errors import MissingExtra, RetrokitError, UserError
from ..files import whole_file
from ..sound import Sound
from .pictures import TURNS, Stills, fitted, pixel_shape, turned, zoom_into, zoomed

try:
    import av
    from av.video.reformatter import Colorspace

    from .encode import GIF_FPS, ON_SHEET, Gif, Mp4, Sheet, Writer
except ImportError:
    raise MissingExtra("PyAV is not installed", remedy="pip install 'retrokit[video]'") from None

SUFFIXES = (".mp4", ".gif", ".png")
HEIGHT = 640  # that a film of one game is zoomed towards
PROBES = 8  # stills that are looked for in the finished film
SAME = 3.0  # mean difference of a colour value, of 255, that no codec of ours exceeds by much
WORST = 12.0  # mean difference of a colour value, of 255, at which a still is not the one given


@dataclass(frozen=True, slots=True)
class Facts:
    """What a film is, as its file says.

    Attributes:
        path: The file.
        frames: Pictures in it.
        size: Width and height in pixels.
        fps: Pictures a second; 0 for a contact sheet.
        codec: ``h264``, ``gif`` or ``png``.
        pixel_format: ``yuv420p`` for an mp4.
        sound: Seconds of sound; 0 without.
    """

    path: Path
    frames: int
    size: tuple[int, int]
    fps: float
    codec: str
    pixel_format: str
    sound: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as ``--json`` prints them."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the facts in a line."""
        width, height = self.size
        if not self.fps:
            many = "1 picture" if self.frames == 1 else f"{self.frames} pictures"
            return f"{self.path}: {many}, {width}x{height}"
        seconds = self.frames / self.fps
        heard = ", with sound" if self.sound else ""
        return (
            f"{self.path}: {seconds:.1f} s, {width}x{height} at {self.fps:.2f} frames a second"
            f", {self.codec} {self.pixel_format}{heard}"
        )


class Camera:
    """What takes the pictures of a film; made by `filming`.

    Attributes:
        facts: What the finished film is; set once it has been read back.
    """

    def __init__(
        self, path: str, suffix: str, fps: float, aspect: float, sound_rate: float
    ) -> None:
        self.facts: Facts | None = None
        self.frames = 0
        self.stills = Stills(2 * ON_SHEET if suffix == ".png" else PROBES)
        self.size = (0, 0)
        self.fps = fps
        self._path, self._suffix, self._aspect = path, suffix, aspect
        self._rate = sound_rate if suffix == ".mp4" else 0.0
        self._times = (1, 1)
        self._writer: Writer | None = None

    def add(self, picture: Picture, sound: Sound | None = None) -> None:
        """Take the next picture.

        Args:
            picture: uint8 [height, width, 3]. The first one's size is the film's; others are
                fitted into it.
            sound: int16 [samples, 2] that is heard with it; None for silence.
        """
        if self._writer is None:
            self._begin(picture)
        shown = zoomed(fitted(picture, self._taken), self._times)
        high, wide = shown.shape[:2]
        if (wide, high) != self.size:  # H.264 halves the colours' resolution: both must be even
            shown = np.pad(
                shown, ((0, self.size[1] - high), (0, self.size[0] - wide), (0, 0)), "edge"
            )
        assert self._writer is not None
        self._writer.add(shown, sound if self._rate else None)
        self.stills.add(self.frames, shown)
        self.frames += 1

    def _begin(self, picture: Picture) -> None:
        self._taken = picture.shape[1], picture.shape[0]
        if self._suffix == ".mp4":
            self._times = zoom_into(self._taken, self._aspect, HEIGHT) if self._aspect else (1, 1)
        elif self._aspect:
            self._times = pixel_shape(self._taken, self._aspect)
        wide, high = (side * times for side, times in zip(self._taken, self._times, strict=True))
        self.size = (wide, high)
        if self._suffix == ".mp4":
            self.size = (wide + wide % 2, high + high % 2)
            self._writer = Mp4(self._path, self.size, self.fps, self._rate)
        elif self._suffix == ".gif":
            self._writer = Gif(self._path, self.size, self.fps)
        else:
            self._writer = Sheet(self._path, self.fps, self.stills)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def check_name(path: Path) -> None:
    """Refuse a name that no film can have, before work is done for it.

    Raises:
        UserError: The suffix is another.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"a film {path.name}", "a name that ends in " + " ".join(SUFFIXES))


@contextmanager
def filming(
    path: Path, fps: float, *, aspect: float = 0.0, sound_rate: float = 0.0
) -> Iterator[Camera]:
    """Make a film of the pictures that are given to `Camera.add` in this block.

    The file takes its place when the block ends well and the film has been read back; otherwise
    what lay there stays.

    Args:
        path: ``.mp4``, ``.gif`` or ``.png``.
        fps: Pictures a second, as the core runs.
        aspect: Width over height at which the game is meant to be seen; small pictures are then
            drawn larger by whole pixels. 0 takes them as they are.
        sound_rate: Samples a second of the sound; 0 for a silent film.

    Raises:
        UserError: The suffix is another, no picture was given, or the file cannot be written.
        RetrokitError: The finished file is not what went in.
    """
    check_name(path)
    if not fps > 0:
        raise UserError(f"a film at {fps} pictures a second", "more than 0")
    with whole_file(path, "the film ") as file:
        camera = Camera(str(file.name), path.suffix.lower(), fps, aspect, sound_rate)
        try:
            try:
                yield camera
            finally:
                camera.close()
        except av.FFmpegError as error:
            raise OSError(error.errno, error.strerror) from None
        if not camera.frames:
            raise UserError(f"nothing to film for {path}", "one picture at least")
        camera.facts = _checked(camera, Path(file.name), path)


def write_film(
    path: Path, pictures: Iterable[Picture], fps: float, *, aspect: float = 0.0
) -> Facts:
    """Make a film of a row of pictures; see `filming`."""
    with filming(path, fps, aspect=aspect) as camera:
        for picture in pictures:
            camera.add(picture)
    assert camera.facts is not None
    return camera.facts


# -- reading back --------------------------------------------------------------------------------


def read_back(path: Path) -> Facts:
    """Return what the file of a film says it is.

    Raises:
        UserError: It is no film.
    """
    try:
        with av.open(str(path)) as file:
            video = file.streams.video[0]
            frames = sum(1 for packet in file.demux(video) if packet.size)
            span = _seconds(video)
            fps = frames / span if span and video.codec.name != "png" else 0.0
            heard = _seconds(file.streams.audio[0]) if file.streams.audio else 0.0
            size, pixels = (video.width, video.height), str(video.pix_fmt)
            return Facts(path, frames, size, fps, video.codec.canonical_name, pixels, heard)
    except (av.FFmpegError, IndexError) as error:
        raise UserError(f"{path} is no film ({error})", " ".join(SUFFIXES)) from None


def _seconds(stream: av.VideoStream | av.AudioStream) -> float:
    return float((stream.duration or 0) * (stream.time_base or 0))


def stills_of(path: Path, numbers: Iterable[int]) -> Iterator[Picture]:
    """Yield some frames of a film, by their numbers in ascending order, as they are shown."""
    with av.open(str(path)) as file:
        video = file.streams.video[0]
        rate, unit = video.average_rate, video.time_base
        assert rate and unit
        frames: Iterator[tuple[int, av.VideoFrame]] = enumerate(file.decode(video))
        for number in numbers:
            if video.codec.canonical_name == "h264":  # the others cannot be entered in the middle
                file.seek(int(number / rate / unit), stream=video)
                frames = ((round((f.pts or 0) * unit * rate), f) for f in file.decode(video))
            yield _seen(next(frame for at, frame in frames if at >= number))


def _seen(frame: av.VideoFrame) -> Picture:
    """Return a frame as a player shows it: by the colours the file names."""
    seen = frame.reformat(format="rgb24", dst_colorspace=Colorspace.DEFAULT)
    return np.asarray(seen.to_ndarray(), np.uint8)


def _checked(camera: Camera, made: Path, path: Path) -> Facts:
    """Return the facts of a finished film, whose file is still called ``made``.

    Raises:
        RetrokitError: It is not what went in.
    """
    facts = replace(read_back(made), path=path)
    if path.suffix.lower() == ".png":
        return replace(facts, frames=min(camera.frames, ON_SHEET))
    step = ceil(camera.fps / GIF_FPS) if facts.codec == "gif" else 1
    wanted = (
        ("pictures", ceil(camera.frames / step), facts.frames),
        ("width and height", camera.size, facts.size),
        ("codec", {".mp4": "h264", ".gif": "gif"}[path.suffix.lower()], facts.codec),
    )
    wrong = [
        f"{what}: {found} instead of {given}" for what, given, found in wanted if given != found
    ]
    lasts, meant = facts.frames / facts.fps, facts.frames * step / camera.fps
    if abs(lasts - meant) > 0.03 + meant / 1000:  # a GIF counts hundredths
        wrong.append(f"length: {lasts:.2f} s instead of {meant:.2f} s")
    if facts.codec == "h264" and facts.pixel_format != "yuv420p":
        wrong.append(f"pixel format: {facts.pixel_format} instead of yuv420p")
    if not wrong:
        kept = [(number // step, picture) for number, picture in camera.stills if not number % step]
        seen = stills_of(made, [number for number, _ in kept])
        for (number, picture), shown in zip(kept, seen, strict=True):
            if (turn := misshown(picture, shown)) is not None:
                wrong.append(f"picture {number} is {turn}")
    if wrong:
        raise RetrokitError(f"the film {path} came out wrong: {'; '.join(wrong)}")
    return facts


def misshown(given: Picture, shown: Picture) -> str | None:
    """Tell how a film's frame differs from the picture that was given; None: it is that picture.

    Args:
        given: uint8 [height, width, 3].
        shown: The same, after a lossy codec.
    """

    def apart(other: Picture) -> float:
        return float(np.abs(given.astype(np.int16) - other).mean())

    straight = apart(shown)
    if straight <= SAME:
        return None
    ways = {f"turned by {turn} degrees": turned(shown, turn) for turn in TURNS[1:]}
    ways |= {"a mirror image": shown[:, ::-1]}
    near = {way: apart(other) for way, other in ways.items() if other.shape == given.shape}
    best = min(near, key=near.__getitem__)
    if near[best] < straight / 2:
        return best
    return "another one" if straight > WORST else None
