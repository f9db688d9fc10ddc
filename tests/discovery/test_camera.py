"""The camera: what a report shows is what the search recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.album import Album
from retrokit.content import Content
from retrokit.core import CoreInfo
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.camera import MOST_PIXELS, STILLS, _aspect, _small, film, spread
from retrokit.discovery.search import search
from retrokit.discovery.tape import Tape
from retrokit.systems import FoundCore

PLAY = ("WAIT:2", "START:6", "WAIT:4")
STICK = (("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))


class Filmed(NamedTuple):
    """A search, what it recorded, and the pictures of it."""

    answer: Answer
    tape: Tape
    album: Album


@pytest.fixture(scope="module")
def filmed(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Callable[..., Filmed]:
    """Search an arena game and film it: ``filmed(actions, frames, core)``."""
    known: dict[Any, Filmed] = {}

    def run(actions: Any = None, frames: int = 4800, core: str = "arena_bcd") -> Filmed:
        if (actions, frames, core) not in known:
            tape = Tape()

            def hear(event: tuple[Any, ...]) -> None:
                if event[0] == "origin":
                    tape.origin = event[1]
                elif event[0] == "episode":
                    tape.put(*event[1:])

            found, content = fake_core(core), fake_content()
            settings = Settings(frames=frames, actions=actions, start=PLAY)
            answer = search(hear, content, found, settings)
            album = film(
                print, content, found, tape.origin, tape.offsets, tape.logs, tape.styles, answer
            )
            known[actions, frames, core] = Filmed(answer, tape, album)
        return known[actions, frames, core]

    return run


def test_the_strip_shows_what_ram_held(filmed: Callable[..., Filmed]) -> None:
    answer, _, album = filmed()
    assert answer.best is not None and answer.lives is not None
    assert 0.6 * STILLS <= len(album.stills) <= STILLS
    assert len({still.episode for still in album.stills}) == len(album.ends)
    score, lives = album.traces[:2]
    assert (score.name, score.grade, lives.name, lives.grade) == (
        "score", "proved", "lives", "proved",
    )  # fmt: skip
    for still in album.stills:
        assert still.frame < album.ends[still.episode]
        when = still.episode, still.frame
        assert still.held == {"score": score.values[when], "lives": lives.values[when]}
        assert still.picture.shape == (album.size[1], album.size[0], 3)
    assert sum(still.read == still.held["score"] for still in album.stills) >= len(album.stills) - 1
    assert max(still.held["score"] for still in album.stills) > 0


def test_traces_are_the_recorded_numbers(filmed: Callable[..., Filmed]) -> None:
    answer, tape, album = filmed()
    best = answer.best
    assert best is not None and album.ends == tuple(answer.ends)
    score = album.traces[0]
    assert score.values.shape == (tape.episodes, tape.longest)
    columns = np.searchsorted(tape.offsets, best.offsets)
    for episode, end in enumerate(album.ends):
        ram = {"SYSTEM_RAM": np.zeros((end, 0x100), np.uint8)}
        ram["SYSTEM_RAM"][:, list(best.variable.addrs)] = tape.ram(episode)[:end, columns]
        assert (best.variable.decode(ram) == score.values[episode, :end]).all()
        assert (score.values[episode, end:] == score.values[episode, end - 1]).all()
    assert [trace.name for trace in album.traces[2:]] == [
        f"candidate {n}" for n in range(2, len(answer.candidates) + 1)
    ]


def test_places_lie_where_the_digits_are(filmed: Callable[..., Filmed]) -> None:
    answer, _, album = filmed()
    assert answer.best is not None and album.shown is not None
    shown, still = album.shown, album.stills[album.shown.still]
    assert len(shown.places) == 6 and len(shown.zeros) == 1  # the arena draws a zero behind six
    assert still.held["score"] == max(s.held["score"] for s in album.stills)
    digits = [int(digit) for digit in reversed(f"{still.held['score']:07d}")][1:]
    for box, digit in zip(shown.places, digits, strict=True):
        part = still.picture[box.top : box.bottom, box.left : box.right].sum(axis=2)
        ink = part != np.bincount(part.ravel()).argmax()
        assert (ink == shown.glyphs[digit]).all() or (ink != shown.glyphs[digit]).all()
    for box in (*shown.places, *shown.zeros):
        assert shown.around.left < box.left < box.right < shown.around.right
        assert shown.around.top < box.top < box.bottom < shown.around.bottom
    assert len(shown.held) == len(answer.best.offsets)


def test_pokes_are_those_of_the_proof(filmed: Callable[..., Filmed]) -> None:
    answer, _, album = filmed()
    assert answer.best is not None
    poke = answer.best.evidence["poke"]
    assert len(album.trials) == poke["added"] == 4
    assert sum(trial.read is not None for trial in album.trials) == poke["read_back"]
    score = album.traces[0].values
    for trial in album.trials:
        assert score[trial.episode, trial.frame - 1] == trial.was
        assert f"{''.join(f'{byte:02x}' for byte in trial.before)}0" == f"{trial.was:07d}"
        assert f"{''.join(f'{byte:02x}' for byte in trial.written)}0" == f"{trial.number:07d}"
        assert trial.added in np.diff(score[trial.episode, trial.frame - 1 : trial.frame + 12])
        assert trial.read in (None, trial.number + trial.added)
        before, recorded, other = trial.pictures.values()
        assert before.shape == recorded.shape == other.shape
        assert (recorded != other).any() and (before != other).any()


def test_lives_are_shown_with_three_fates(filmed: Callable[..., Filmed]) -> None:
    _, _, album = filmed()
    names = [name.split(":")[0] for name in album.fates]
    assert names == ["untouched", "one more", "the last"]
    untouched, _, last = album.fates.values()
    assert (untouched != last).any()


def test_what_came_nearest_is_shown_where_nothing_scored(filmed: Callable[..., Filmed]) -> None:
    answer, _, album = filmed(STICK, 1800, "arena_unseen")
    assert answer.best is None and album.trials == ()
    assert album.shown is not None and len(album.shown.places) == 1  # the lives, one digit
    names = [trace.name for trace in album.traces if trace.name != "lives"]
    assert names == [f"candidate {n + 1}" for n in range(len(answer.nearest))]
    assert answer.sieve["all"] >= answer.sieve["changed"] >= answer.sieve["calm"] > 0
    assert all("score" not in still.held for still in album.stills)


@pytest.mark.parametrize("started", [False, True])
def test_without_an_episode_the_game_itself_is_shown(
    filmed: Callable[..., Filmed],
    fake_core: Callable[..., FoundCore],
    fake_content: Callable[..., Content],
    started: bool,
) -> None:
    origin = filmed().tape.origin if started else None
    game = fake_content(), fake_core("arena_bcd")
    album = film(print, *game, origin, np.zeros(0, np.int32), [], [], None)
    assert not album.recorded and album.traces == ()
    assert len(album.stills) == STILLS
    assert album.styles == ("from the start on" if started else "from power-on",)
    assert len({still.picture.tobytes() for still in album.stills}) > 1


def test_an_interrupted_search_is_filmed(
    filmed: Callable[..., Filmed],
    fake_core: Callable[..., FoundCore],
    fake_content: Callable[..., Content],
) -> None:
    _, tape, whole = filmed()
    game = fake_content(), fake_core("arena_bcd")
    album = film(print, *game, tape.origin, tape.offsets, tape.logs[:2], tape.styles[:2], None)
    assert album.recorded and album.styles == whole.styles[:2]
    assert album.stills and all(still.held == {} for still in album.stills)


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=20),
    st.integers(1, 20),
    st.integers(0, 2**32 - 1),
)
def test_moments_are_spread_over_play_alone(ends: list[int], count: int, seed: int) -> None:
    rises = np.random.default_rng(seed).random((len(ends), 500)) < 0.02
    found = spread(np.array(ends), rises, count)
    assert len(found) <= count and len(set(found)) == len(found)
    assert found == sorted(found)
    assert all(0 <= frame < ends[episode] for episode, frame in found)
    assert bool(found) is bool(sum(ends))
    if found:
        gaps = np.diff([sum(ends[:episode]) + frame for episode, frame in found])
        assert len(gaps) == 0 or gaps.max() <= 3 * max(1, sum(ends) // count) + 8


def test_moments_wait_for_a_rise() -> None:
    rises = np.zeros((1, 300), bool)
    rises[0, 130] = True
    assert [m.frame for m in spread(np.array([300]), rises, 3)] == [0, 138, 200]


@pytest.mark.parametrize(
    ("aspect", "rotation", "size", "wanted"),
    [
        (4 / 3, 0, (160, 210), 4 / 3),  # two pixels wide
        (4 / 3, 90, (224, 288), 3 / 4),
        (3 / 4, 270, (224, 288), 3 / 4),
        (0.0, 0, (320, 200), 1.6),
        (-1.0, 0, (320, 200), 1.6),
    ],
)
def test_pictures_are_seen_as_they_are_meant(
    aspect: float, rotation: int, size: tuple[int, int], wanted: float
) -> None:
    info = CoreInfo.__new__(CoreInfo)
    object.__setattr__(info, "aspect", aspect)
    object.__setattr__(info, "rotation", rotation)
    assert _aspect(info, *size) == pytest.approx(wanted)


@given(st.integers(1, 4000), st.integers(1, 4000))
def test_pictures_are_shrunk_to_what_a_page_can_hold(width: int, height: int) -> None:
    wide, high = _small((width, height))
    assert 1 <= wide <= width and 1 <= high <= height
    assert wide * high <= max(MOST_PIXELS, wide, high)
    assert (wide, high) == (width, height) or wide * high > 0.8 * MOST_PIXELS or min(wide, high) < 9
