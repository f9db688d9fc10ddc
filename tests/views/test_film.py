"""Films: what goes in comes out of the file, and a film that came out wrong is none."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.album import Picture
from retrokit.errors import RetrokitError, UserError
from retrokit.views import encode, film
from retrokit.views.pictures import turned

COLOURS = ((220, 40, 40), (40, 200, 60), (60, 80, 230), (240, 240, 240), (0, 0, 0))


def numbered(count: int, size: tuple[int, int] = (40, 30)) -> Iterator[Picture]:
    """Yield pictures whose left half tells their number in eight bars, over coloured stripes."""
    for number in range(count):
        picture = np.zeros((size[1], size[0], 3), np.uint8)
        for row, colour in enumerate(COLOURS):
            picture[row * 6 : row * 6 + 6, size[0] // 2 :] = colour
        for bit in range(8):
            picture[bit * 3 : bit * 3 + 3, : size[0] // 4] = 255 * (number >> bit & 1)
        yield picture


def number_of(picture: Picture, times: int = 1) -> int:
    bars = picture[times : 24 * times : 3 * times, 2 * times, 0] > 127
    return int((bars << np.arange(8)).sum())


def decoded(path: Path) -> list[Picture]:
    return list(film.stills_of(path, range(film.read_back(path).frames)))


@pytest.mark.parametrize("fps", [60.0, 59.9228, 50.0, 15.0, 60.0988])
def test_an_mp4_holds_every_frame_in_order(tmp_path: Path, fps: float) -> None:
    facts = film.write_film(tmp_path / "a.mp4", numbered(70), fps)
    assert facts == film.read_back(tmp_path / "a.mp4")
    assert (facts.frames, facts.codec, facts.pixel_format) == (70, "h264", "yuv420p")
    assert facts.fps == pytest.approx(fps, rel=1e-3) and facts.sound == 0
    assert facts.size == (40, 30)
    shown = decoded(tmp_path / "a.mp4")
    assert [number_of(picture) for picture in shown] == list(range(70))
    with av.open(str(tmp_path / "a.mp4")) as file:
        assert file.streams.video[0].average_rate == Fraction(fps).limit_denominator(10_000)


def test_an_mp4_says_its_colours_and_keeps_them(tmp_path: Path) -> None:
    facts = film.write_film(tmp_path / "a.mp4", numbered(3), 60.0, aspect=4 / 3)
    assert facts.size == (40 * 21, 30 * 21)  # zoomed towards a height of 640 by whole pixels
    with av.open(str(tmp_path / "a.mp4")) as file:
        frame = next(file.decode(video=0))
        assert (frame.colorspace, frame.color_range) == (1, 1)  # BT.709, and not full range
    (picture,) = film.stills_of(tmp_path / "a.mp4", [2])
    for row, colour in enumerate(COLOURS):
        seen = picture[(row * 6 + 3) * 21, 30 * 21].astype(int)
        assert np.abs(seen - colour).max() <= 8


def test_the_index_of_an_mp4_comes_first(tmp_path: Path) -> None:
    film.write_film(tmp_path / "a.mp4", numbered(9), 60.0)
    data = (tmp_path / "a.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_odd_sizes_are_padded(tmp_path: Path) -> None:
    facts = film.write_film(tmp_path / "a.mp4", numbered(4, (41, 31)), 30.0)
    assert facts.size == (42, 32)


def test_a_picture_of_another_size_is_fitted_into_the_first_ones(tmp_path: Path) -> None:
    pictures = [*numbered(2), *numbered(2, (80, 60)), *numbered(1)]
    facts = film.write_film(tmp_path / "a.mp4", pictures, 60.0)
    assert (facts.frames, facts.size) == (5, (40, 30))


@pytest.mark.parametrize(("fps", "step"), [(60.0, 2), (59.92, 2), (15.0, 1), (100.0, 3)])
def test_a_gif_shows_exact_colours_at_its_own_pace(tmp_path: Path, fps: float, step: int) -> None:
    pictures = list(numbered(60))
    facts = film.write_film(tmp_path / "a.gif", pictures, fps, aspect=4 / 3)
    shown = decoded(tmp_path / "a.gif")
    assert facts.codec == "gif" and facts.size == (40, 30)
    assert len(shown) == len(pictures[::step]) == facts.frames
    for picture, seen in zip(pictures[::step], shown, strict=True):
        assert np.abs(picture.astype(int) - seen).max() <= 1
    assert facts.frames / facts.fps == pytest.approx(60 / fps, abs=0.03)


@pytest.mark.parametrize("count", [1, 5, 47, 48, 49, 300])
def test_a_contact_sheet_has_stills_from_all_over(tmp_path: Path, count: int) -> None:
    facts = film.write_film(tmp_path / "a.png", numbered(count), 60.0)
    assert facts.frames == min(count, encode.ON_SHEET) and facts.codec == "png"
    with av.open(str(tmp_path / "a.png")) as file:
        assert next(file.decode(video=0)).width == facts.size[0]


def test_one_picture_is_a_film(tmp_path: Path) -> None:
    for suffix in (".mp4", ".gif"):
        assert film.write_film(tmp_path / f"a{suffix}", numbered(1), 60.0).frames == 1


def test_sound_is_heard_in_time(tmp_path: Path) -> None:
    rate, fps = 31_400.0, 60.0
    ticks = np.arange(int(rate * 2))
    tone = np.repeat(
        (8000 * np.sin(2 * np.pi * 440 * ticks / rate)).astype(np.int16)[:, None], 2, 1
    )
    tone[: int(rate)] = 0  # silence for a second
    with film.filming(tmp_path / "a.mp4", fps, sound_rate=rate) as camera:
        for number, picture in enumerate(numbered(120)):
            first, last = (int(n * rate / fps) for n in (number, number + 1))
            camera.add(picture, tone[first:last])
    assert camera.facts is not None and camera.facts.sound == pytest.approx(2.0, abs=0.05)
    with av.open(str(tmp_path / "a.mp4")) as file:
        parts = [part.to_ndarray()[0] for part in file.decode(audio=0)]
        hz = file.streams.audio[0].rate
    heard = np.concatenate(parts)
    assert np.abs(heard[: int(0.9 * hz)]).max() < 0.01 < np.abs(heard[int(1.1 * hz) :]).max()
    spectrum = np.abs(np.fft.rfft(heard[int(1.1 * hz) : int(1.9 * hz)]))
    assert spectrum.argmax() / 0.8 == pytest.approx(440, abs=3)


def test_a_silent_film_has_no_sound(tmp_path: Path) -> None:
    with film.filming(tmp_path / "a.gif", 30.0, sound_rate=48_000) as camera:
        for picture in numbered(3):
            camera.add(picture, np.zeros((1600, 2), np.int16))
    assert camera.facts is not None and camera.facts.sound == 0


def test_a_long_film_needs_little_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        film.write_film(tmp_path / "a.mp4", numbered(400, (64, 48)), 60.0)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 100 * 64 * 48 * 3  # of 400 pictures


# -- what came out wrong -------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [90, 180, 270])
@settings(max_examples=8)
@given(seed=st.integers(0, 99))
def test_a_turned_picture_is_told(degrees: int, seed: int) -> None:
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8)
    picture = blocks.repeat(8, 0).repeat(8, 1)
    noise = np.random.default_rng(seed).integers(-6, 7, picture.shape)
    shown = np.clip(picture + noise, 0, 255).astype(np.uint8)
    assert film.misshown(picture, shown) is None
    back = (360 - degrees) % 360
    assert film.misshown(picture, turned(shown, degrees)) == f"turned by {back} degrees"
    assert film.misshown(picture, shown[:, ::-1]) == "a mirror image"
    assert film.misshown(picture, 255 - shown) == "another one"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda picture: turned(picture, 180), "picture 0 is turned by 180 degrees"),
        (lambda picture: picture[:, ::-1].copy(), "picture 0 is a mirror image"),
        (lambda picture: 255 - picture, "picture 0 is another one"),
    ],
)
@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_that_shows_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: object, said: str, suffix: str
) -> None:
    writer = {".mp4": encode.Mp4, ".gif": encode.Gif}[suffix]
    real = writer.add
    monkeypatch.setattr(writer, "add", lambda self, p, sound: real(self, fault(p), sound))
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"the old one")
    with pytest.raises(RetrokitError, match=said):
        film.write_film(path, numbered(5), 60.0)
    assert path.read_bytes() == b"the old one" and list(tmp_path.iterdir()) == [path]


def test_a_lost_frame_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = encode.Mp4.add

    def add(self: encode.Mp4, picture: Picture, sound: None) -> None:
        if number_of(picture) != 7:
            real(self, picture, sound)

    monkeypatch.setattr(encode.Mp4, "add", add)
    with pytest.raises(RetrokitError, match="pictures: 19 instead of 20"):
        film.write_film(tmp_path / "a.mp4", numbered(20), 60.0)


def test_what_fails_in_the_middle_leaves_the_old_film(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    film.write_film(path, numbered(3), 60.0)
    before = path.read_bytes()

    def broken() -> Iterator[Picture]:
        yield from numbered(5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film.write_film(path, broken(), 60.0)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "count", "fps", "said"),
    [
        ("a.avi", 3, 60.0, "a film a.avi; wanted a name that ends in .mp4 .gif .png"),
        ("a.mp4", 0, 60.0, "nothing to film"),
        ("a.mp4", 3, 0.0, "a film at 0.0 pictures a second; wanted more than 0"),
        ("none/a.mp4", 3, 60.0, "cannot write the film .*No such file"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, name: str, count: int, fps: float, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        film.write_film(tmp_path / name, numbered(count), fps)
    assert not list(tmp_path.iterdir())


def test_what_is_no_film_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"something else" * 50)
    with pytest.raises(UserError, match="is no film"):
        film.read_back(tmp_path / "a.mp4")


def test_without_pyav_the_extra_is_named() -> None:
    code = "import sys; sys.modules['av'] = None\ntry: import retrokit.views.film\n"
    code += "except Exception as error: print(type(error).__name__, error)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        said.stdout.strip() == "MissingExtra PyAV is not installed. pip install 'retrokit[video]'"
    )
