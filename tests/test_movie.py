"""Movies: what was played is replayed to the same RAM, or it is said why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrokit.core import Core
from retrokit.errors import ContentError, ReplayDiffers, UserError
from retrokit.load import Game, find_integration, open_game
from retrokit.movie import Movie
from retrokit.vector import RetroVectorEnv

Three = Callable[..., Game]


@pytest.fixture
def record(three: Three) -> Callable[..., tuple[Game, Movie]]:
    """Play a few steps of a game and return its movie."""

    def one(row: int = 1, steps: int = 4, **options: Any) -> tuple[Game, Movie]:
        game = three(LENGTH=40)
        env = RetroVectorEnv(game, 2, **options)
        env.reset(seed=4)
        for _ in range(steps):
            _, _, _, _, infos = env.step(np.array([1, 2]))
        movie = env.movie(row, {"seed": 4, "score": infos["score"][row]})
        env.close()
        return game, movie

    return one


def replay(game: Game, movie: Movie) -> list[int]:
    """Return the scores seen after each frame."""
    with Core.open(game.found, game.content) as core:
        return [game.integration.score(core.memory) for _ in movie.play(core)]


@pytest.mark.parametrize("options", [{"workers": 2}, {"noops": 9, "sticky": 0.5, "starts": (3, 1)}])
def test_a_game_is_replayed_to_the_same_ram(
    record: Callable[..., Any], options: dict[str, Any]
) -> None:
    game, movie = record(**options)
    scores = replay(game, movie)
    assert len(scores) == movie.frames == len(movie.buttons)
    assert scores[-1] == movie.facts["score"]
    assert movie.facts["frame_skip"] == 4 and movie.facts["seed"] == 4
    assert not movie.savestate and movie.restored


def test_a_game_that_began_from_a_savestate_carries_it(
    three: Three, record: Callable[..., Any]
) -> None:
    game = three(LENGTH=40)
    with Core.open(game.found, game.content) as core:
        core.record(game.integration.start_frames())
        core.run(7)
        state = core.save()
    game, movie = record(starts=(state,))
    assert movie.savestate == state
    assert replay(game, movie)[-1] == movie.facts["score"]


def test_pictures_come_upright_and_on_demand(record: Callable[..., Any]) -> None:
    game, movie = record(steps=5)
    with Core.open(game.found, game.content) as core:
        numbers = []
        for number in movie.play(core, every=8):
            numbers.append(number)
            assert core.frame().shape == (*core.frame_size[::-1], 3)
    assert numbers == [8, 16, 21]  # a frame of waiting, five steps of four


def test_a_file_keeps_all_of_it(record: Callable[..., Any], tmp_path: Path) -> None:
    game, movie = record(noops=9)
    path = tmp_path / "a.movie"
    movie.save(path)
    read = Movie.load(path)
    assert read.to_bytes() == movie.to_bytes()
    assert replay(game, read) == replay(game, movie)
    assert path.stat().st_size < 1000


def test_ram_that_differs_is_one_clear_line(record: Callable[..., Any]) -> None:
    game, movie = record(row=0)
    buttons = movie.buttons.copy()
    buttons[10] = 0
    with pytest.raises(ReplayDiffers, match="after 17 frames the RAM of three has sha1 .*; wanted"):
        replay(game, replace(movie, buttons=buttons))
    other = replace(movie, ram_sha1="0" * 40, core_version="older")
    with pytest.raises(ReplayDiffers, match="Here is another core version: found .*; wanted older"):
        replay(game, other)
    with pytest.raises(ReplayDiffers, match="another core: found three; wanted snes9x"):
        replay(game, replace(other, core="snes9x"))
    with pytest.raises(ReplayDiffers, match="another build of the core: found sha1"):
        replay(game, replace(movie, ram_sha1="0" * 40, core_sha1="0" * 40))


def test_another_rom_is_one_clear_line(record: Callable[..., Any], tmp_path: Path) -> None:
    game, movie = record()
    path = tmp_path / "other.bin"
    path.write_bytes(b"another game")
    movie = replace(movie, core=str(game.found.path), system="sms")
    with pytest.raises(ContentError, match="another ROM than the movie's: found sha1 .*; wanted"):
        movie.open(path)
    with pytest.raises(ContentError, match="no content of three in .*; wanted sha1"):
        movie.open(rom_dirs=[tmp_path])
    path.write_bytes(b"a game")
    for core in (movie.open(path), movie.open(rom_dirs=[tmp_path])):
        with core:
            movie.prove(core)


def test_a_wrong_file_is_one_clear_line(record: Callable[..., Any], tmp_path: Path) -> None:
    _, movie = record()
    path = tmp_path / "a.movie"
    with pytest.raises(UserError, match="there is no movie"):
        Movie.load(path)
    data = movie.to_bytes()
    for wrong, line in (
        (b"GIF89a", "is no movie; wanted a movie of retrokit's"),
        (data[:-3], "is damaged: .* with a wrong checksum"),
        (data[:7] + b"2" + data[8:], "is a movie of version 2; wanted version 1"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(UserError, match=line):
            Movie.load(path)


@pytest.mark.parametrize("name", ["burrow", "ms_pacman"])
def test_real_games_are_replayed_to_the_same_ram(name: str) -> None:
    try:
        game = open_game(find_integration(name))
    except UserError as error:
        pytest.skip(str(error))
    env = RetroVectorEnv(game, 2, noops=30, sticky=0.25, max_frames=600, autoreset_mode="Disabled")
    env.reset(seed=3)
    actions = np.random.default_rng(1)
    while not (ended := (last := env.step(actions.integers(9, size=2)))[2] | last[3]).any():
        pass
    movie = env.movie(int(ended.argmax()))
    env.close()
    assert movie.frames >= 100
    with movie.open() as core:
        movie.prove(core)


MOVIES = st.builds(
    Movie,
    game=st.text(max_size=9),
    system=st.just("nes"),
    content=st.tuples(st.text(max_size=5), st.text(max_size=5)),
    core=st.text(max_size=9),
    core_version=st.text(max_size=9),
    core_sha1=st.text(max_size=9),
    buttons=arrays(np.uint16, st.tuples(st.integers(0, 50), st.integers(1, 4))),
    ram_sha1=st.text(max_size=9),
    start=arrays(np.uint16, st.integers(0, 30)),
    restored=st.booleans(),
    wait=st.integers(0, 2**40),
    savestate=st.binary(max_size=50),
    facts=st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.none()),
)


@given(MOVIES)
def test_any_movie_comes_back(movie: Movie) -> None:
    data = movie.to_bytes()
    read = Movie.from_bytes(data)
    assert read.to_bytes() == data
    assert (read.buttons == movie.buttons).all() and (read.start == movie.start).all()
    assert read.savestate == movie.savestate and read.facts == movie.facts


@given(MOVIES, st.data())
def test_any_damage_is_found(movie: Movie, data: st.DataObject) -> None:
    whole = movie.to_bytes()
    broken = bytearray(whole)
    broken[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(whole) - 1))
    for bad in (bytes(broken), whole[:cut], whole + b"x"):
        with pytest.raises(UserError):
            Movie.from_bytes(bad)
