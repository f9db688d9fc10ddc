"""The level, and what rises besides (tests/cores/arena_more.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrokit.discovery.fact import Fact
from retrokit.discovery.level import find_level
from retrokit.discovery.lives import Lives

STAGE, LIVES = 0x60, 0x40
LEVEL = 2  # arena_more.c
COUNTED = Lives(LIVES, 0xFF, 0, False, 3, 0, False, "proved")
Arena = Callable[..., Any]


def level(played: Any, lives: Lives | None = COUNTED) -> Fact | None:
    return find_level(played.prober, played.core.spans, lives, (), lambda: False)


def test_a_digit_that_brings_a_new_scene_is_the_level(arena: Arena) -> None:
    fact = level(arena("arena_more", MORE=LEVEL))
    assert fact is not None and (fact.name, fact.grade) == ("level", "proved")
    assert fact.variable.addrs == (STAGE,)
    assert fact.evidence["behaviour"]["first"] == 1


def test_deaths_are_no_level(arena: Arena) -> None:
    fact = level(arena("arena_more", MORE=LEVEL, FALSE=1))
    assert fact is None or fact.variable.addrs != (STAGE,)


def test_what_is_no_digit_is_not_proved(arena: Arena) -> None:
    fact = level(arena("arena_bcd"))
    assert fact is None or fact.grade == "unproved"
