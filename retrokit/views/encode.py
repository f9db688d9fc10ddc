"""Writers of one kind of film each: pictures of one size go in, one by one."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Protocol

import av
import av.filter
from av.video.reformatter import ColorRange, Colorspace, Interpolation

from ..album import Picture
from ..png import encode_png
from ..sound import Sound
from .pictures import Stills, evenly
from .tiles import captioned, sheet

GIF_FPS = 34  # at most: browsers slow down what is faster than 50, and delays are hundredths
SOUND_RATE = 48_000  # of the film, in samples a second
ON_SHEET = 24


class Writer(Protocol):
    """Writes one kind of file; `add` takes pictures of one size."""

    def add(self, picture: Picture, sound: Sound | None) -> None:
        """Take the next picture, and the sound that goes with it, int16 [samples, 2]."""

    def close(self) -> None:
        """Finish the file."""


class Mp4:
    """H.264 in an mp4 that browsers play, the index first."""

    def __init__(self, path: str, size: tuple[int, int], fps: float, sound_rate: float) -> None:
        self._file = av.open(path, "w", format="mp4", options={"movflags": "+faststart"})
        rate = exact(fps)
        self._video = self._file.add_stream("libx264", rate=rate)
        self._video.width, self._video.height = size
        self._video.pix_fmt = "yuv420p"
        self._video.options = {"crf": "18", "preset": "veryfast"}
        context: Any = self._video.codec_context
        context.colorspace = context.color_primaries = context.color_trc = 1  # BT.709
        context.color_range = ColorRange.MPEG
        self._frames = self._heard = 0
        self._sound: Any = None
        if sound_rate:
            self._sound = self._file.add_stream("aac", rate=SOUND_RATE)
            self._resampler = av.AudioResampler("fltp", "stereo", SOUND_RATE)
            self._sound_rate = round(sound_rate)

    def add(self, picture: Picture, sound: Sound | None) -> None:
        """Encode the next picture and its sound."""
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(
            format="yuv420p",
            src_colorspace=Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            interpolation=Interpolation.AREA,
        )
        frame.pts, self._frames = self._frames, self._frames + 1
        self._file.mux(self._video.encode(frame))
        if self._sound is not None and sound is not None and len(sound):
            heard = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="s16", layout="stereo")
            heard.sample_rate = self._sound_rate
            heard.pts, self._heard = self._heard, self._heard + len(sound)
            heard.time_base = Fraction(1, self._sound_rate)
            for part in self._resampler.resample(heard):
                self._file.mux(self._sound.encode(part))

    def close(self) -> None:
        """Finish the file."""
        try:
            self._file.mux(self._video.encode(None))
            if self._sound is not None:
                for part in self._resampler.resample(None) if self._heard else ():
                    self._file.mux(self._sound.encode(part))
                self._file.mux(self._sound.encode(None))
        finally:
            self._file.close()


class Gif:
    """A GIF that repeats for ever; each frame has its own palette, so few colours stay exact."""

    def __init__(self, path: str, size: tuple[int, int], fps: float) -> None:
        self._file = av.open(path, "w", format="gif")
        self._every, self._fps = ceil(fps / GIF_FPS), fps
        self._stream: Any = self._file.add_stream("gif", rate=100)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "pal8"
        self._stream.codec_context.time_base = Fraction(1, 100)
        self._graph, self._delay = _palette_graph(size), round(100 * self._every / fps)
        self._seen = 0

    def add(self, picture: Picture, sound: Sound | None) -> None:
        """Encode the next picture, if it is one of those that the GIF shows."""
        number, self._seen = self._seen, self._seen + 1
        if number % self._every:
            return
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts = round(100 * number / self._fps)
        frame.time_base = Fraction(1, 100)
        self._graph.push(frame)
        self._pull()

    def _pull(self) -> None:
        while True:
            try:
                out: Any = self._graph.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            for packet in self._stream.encode(out):
                packet.duration = (
                    self._delay
                )  # what the last one lasts; a difference for the others
                self._file.mux(packet)

    def close(self) -> None:
        """Finish the file."""
        try:
            self._graph.push(None)
            self._pull()
            self._file.mux(self._stream.encode(None))
        finally:
            self._file.close()


def _palette_graph(size: tuple[int, int]) -> Any:
    """Return a filter from RGB frames to frames with a palette each."""
    graph = av.filter.Graph()
    source = graph.add_buffer(
        width=size[0], height=size[1], format=av.VideoFormat("rgb24"), time_base=Fraction(1, 100)
    )
    split, make = graph.add("split"), graph.add("palettegen", "stats_mode=single")
    use, sink = graph.add("paletteuse", "new=1:dither=none"), graph.add("buffersink")
    source.link_to(split)
    split.link_to(use, 0, 0)
    split.link_to(make, 1, 0)
    make.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph


class Sheet:
    """A PNG of pictures evenly out of the film, each with its time."""

    def __init__(self, path: str, fps: float, stills: Stills) -> None:
        self._path, self._fps, self._stills = path, fps, stills

    def add(self, picture: Picture, sound: Sound | None) -> None:
        """Do nothing: the camera's stills are the sheet's."""

    def close(self) -> None:
        """Finish the file."""
        kept = list(self._stills)
        if not kept:
            return
        chosen = [kept[number] for number in evenly(len(kept), ON_SHEET)]
        cells = [captioned(picture, [_clock(n / self._fps)]) for n, picture in chosen]
        Path(self._path).write_bytes(encode_png(sheet(cells)))


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


def exact(fps: float) -> Fraction:
    """Return pictures a second as a fraction that a file can hold."""
    return Fraction(fps).limit_denominator(10_000)
