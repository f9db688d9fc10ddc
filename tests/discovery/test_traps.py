"""The traps of real accounts: a button that is missing, constants, demos, two of one thing.

Each is a way in which a search was once confidently wrong, replayed through the whole engine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.content import Content, identify
from retrokit.core import Core
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.search import search
from retrokit.errors import CoreNotFound, SearchFailed
from retrokit.policy import STYLES, random_play
from retrokit.systems import FoundCore, core_for, data_path, package_folder
from retrokit.values import Variable

SCORE, HIGH, LIVES = 0x80, 0xA0, 0x40  # tests/cores/arena.h
SCORE_BYTES = (SCORE + 2, SCORE + 1, SCORE)
STICK = (("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))
PLAY = ("WAIT:2", "START:6", "WAIT:4")
Arena = Callable[..., Answer]


def core_or_skip(system: str) -> FoundCore:
    try:
        return core_for(system)
    except CoreNotFound as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def arena(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Callable[..., Answer]:
    """Search an arena game: ``arena("arena_bcd", actions=…, DEMO_SCORES=1)``."""
    heard: dict[Any, Answer] = {}

    def run(name: str, actions: Any = None, frames: int = 6000, **defines: int) -> Answer:
        key = (name, actions, frames, tuple(defines.items()))
        if key not in heard:
            settings = Settings(frames=frames, actions=actions, start=PLAY)
            found = fake_core(name, **defines)
            heard[key] = search(lambda event: None, fake_content(), found, settings)
        return heard[key]

    return run


# -- the button that scores ------------------------------------------------------------------------


def test_the_fire_button_is_found_and_with_it_the_score(arena: Arena) -> None:
    answer = arena("arena_bcd")
    assert answer.buttons.fire == ["B"]
    assert answer.best is not None
    assert answer.best.variable.addrs == (SCORE + 2, SCORE + 1, SCORE)
    assert (answer.best.grade, answer.best.variable.scale) == ("proved", 10)
    assert answer.lives is not None
    assert (answer.lives.offset, answer.terminated) == (LIVES, "lives == 0")


def test_directions_only_prove_nothing(arena: Arena) -> None:
    """Nobody scores: digits that stand at 0 are likely, and a constant is nothing."""
    answer = arena("arena_bcd", STICK, frames=1800)
    assert answer.best is not None
    assert (answer.best.grade, answer.best.offsets) == ("likely", SCORE_BYTES)
    assert answer.best.behaviour.highest == answer.best.behaviour.rises == 0


def test_directions_only_score_nothing_where_no_digits_are_drawn(
    arena: Arena, fake_content: Callable[..., Content]
) -> None:
    answer = arena("arena_unseen", STICK, frames=1800)
    assert answer.candidates == []
    assert answer.best is None
    assert answer.to_dict(fake_content())["scored"] is False
    with pytest.raises(SearchFailed, match="nothing scored") as error:
        answer.integration(fake_content())
    assert "fire" in str(error.value)


@pytest.mark.parametrize("end", [{}, {"SPARE_LIVES": 1}], ids=["lives", "no lives"])
def test_what_a_demo_scores_is_no_proof(arena: Arena, end: dict[str, int]) -> None:
    """The demo after game over scores in the same bytes; nobody plays it."""
    answer = arena("arena_bcd", STICK, frames=7200, DEMO_SCORES=1, **end)
    assert answer.best is not None
    assert (answer.best.grade, answer.best.behaviour.rises) == ("likely", 0)


def test_a_demo_does_not_break_the_answer(arena: Arena) -> None:
    answer = arena("arena_bcd", frames=7200, DEMO_SCORES=1)
    assert answer.best is not None
    assert (answer.best.grade, answer.best.offsets) == ("proved", (SCORE + 2, SCORE + 1, SCORE))
    assert answer.lives is not None
    assert (answer.lives.offset, answer.lives.grade) == (LIVES, "proved")


# -- what is no score ------------------------------------------------------------------------------


@pytest.mark.parametrize("actions", [None, STICK], ids=["fire", "directions"])
@pytest.mark.parametrize("core", ["arena_bcd", "arena_odd"], ids=["rewritten", "left alone"])
def test_a_constant_is_never_offered(arena: Arena, core: str, actions: Any) -> None:
    """The high score of 750,000 in the score's own form and font."""
    answer = arena(core, actions, frames=6000 if actions is None else 1800, ODD=8)
    assert answer.best is not None
    assert answer.best.grade == ("proved" if actions is None else "likely")
    for candidate in answer.candidates:
        assert not set(candidate.offsets) & {HIGH, HIGH + 1, HIGH + 2}
        assert candidate.behaviour.highest != 750_000


def test_the_high_score_that_follows_is_not_the_score(arena: Arena) -> None:
    answer = arena("arena_copies", POINTS=7)
    assert answer.best is not None
    assert answer.best.offsets == (SCORE + 2, SCORE + 1, SCORE)
    others = [c for c in answer.candidates if set(c.offsets) & set(range(HIGH, HIGH + 3))]
    assert all(c.grade == "unproved" for c in others)


def test_a_score_drawn_nowhere_is_no_answer(arena: Arena) -> None:
    assert arena("arena_unseen", frames=1800).best is None


@pytest.mark.slow
def test_burrow_with_directions_only_though_its_demo_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Long enough for game over and for the demo, which scores in the score's bytes."""
    monkeypatch.setattr("retrokit.discovery.search.ROUNDS", 1)
    content = identify(data_path("games") / "burrow/burrow.zip")
    start = ("WAIT:300", "SELECT:10", "WAIT:10", "START:10", "WAIT:60")
    settings = Settings(frames=9000, actions=STICK, start=start)
    answer = search(lambda event: None, content, core_or_skip("arcade"), settings)
    assert answer.best is not None
    truth = tomllib.loads((data_path("games") / "burrow.toml").read_text())
    assert (answer.best.grade, answer.best.behaviour.rises) == ("likely", 0)
    assert list(answer.best.variable.addrs) == truth["score_addrs"]
    for candidate in answer.candidates:
        assert not set(candidate.offsets) & set(truth["hiscore_addrs"])


# -- FIRE first ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def breakout() -> Callable[[tuple[str, ...]], Any]:
    """Play Breakout at random; returns its RAM, uint8 [frames, 128]."""
    folder = package_folder("ale-py", "*/roms/breakout.bin")
    if folder is None:
        pytest.skip("ale-py is not installed: pip install '.[atari]'")
    content, found = identify(folder / "breakout.bin"), core_or_skip("atari2600")

    def play(fire: tuple[str, ...]) -> Any:
        log = random_play(0, 3000, [["LEFT"], ["RIGHT"], []], STYLES[0], fire)
        with Core.open(found, content) as core:
            core.record(np.array([0] * 60 + [MASKS["START"]] * 6 + [0] * 20, np.uint16))
            return core.record(log, np.arange(128, dtype=np.int32))[0]

    return play


def test_with_fire_breakout_scores(breakout: Callable[..., Any]) -> None:
    ram = breakout(("B",))
    score = Variable((77,), "bcd").decode({"SYSTEM_RAM": ram})
    assert score.max() > score[0] == 0
    assert ram[:, 57].min() < ram[0, 57] == 5  # lives


def test_without_fire_the_ball_is_never_served(breakout: Callable[..., Any]) -> None:
    ram = breakout(())
    score = Variable((77,), "bcd").decode({"SYSTEM_RAM": ram})
    assert (score == 0).all()
    assert (ram[:, 57] == 5).all()
    assert (ram != ram[0]).any()  # the paddle does move
