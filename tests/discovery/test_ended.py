"""The end of a game whose lives are counted nowhere (tests/cores/arena_more.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrokit.discovery.ended import find_game_over
from retrokit.discovery.ends import play_ends
from retrokit.discovery.poke import Prober

MODE, TITLE, ONE_LIFE = 4, 0, 5  # arena.h, arena_more.c
Arena = Callable[..., Any]


@pytest.fixture(scope="module")
def ended(arena: Arena) -> Prober:
    core, recording, prober = arena("arena_more", MORE=ONE_LIFE)
    return Prober(core, recording.ending(play_ends(prober, None)), prober.size)


def test_the_mode_tells_the_end(ended: Prober) -> None:
    fact = find_game_over(ended, ended.core.spans, lambda: False)
    assert fact is not None and (fact.name, fact.grade) == ("game_over", "proved")
    assert (fact.variable.addrs, fact.evidence["value"]) == ((MODE,), TITLE)


def test_what_could_not_be_tried_is_likely(ended: Prober) -> None:
    fact = find_game_over(ended, ended.core.spans, lambda: True)
    assert fact is not None and fact.grade == "likely"


def test_games_that_did_not_end_tell_nothing(arena: Arena) -> None:
    _, recording, prober = arena("arena_more", MORE=ONE_LIFE)
    assert (recording.ends == recording.buttons.shape[1]).all()
    assert find_game_over(prober, prober.core.spans, lambda: False) is None
