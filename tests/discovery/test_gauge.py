"""Ammunition and energy, and what falls besides (tests/cores/arena_more.c, arena_decoys.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrokit.discovery.fact import Fact
from retrokit.discovery.gauge import find_ammunition, find_energy
from retrokit.discovery.lives import Lives

GAUGE, LIVES = 0x60, 0x40
SHOTS_LEFT, ENERGY = 3, 4  # arena_more.c
TIMER, BOMBS, MIRROR = 3, 4, 5  # arena_decoys.c
COUNTED = Lives(LIVES, 0xFF, 0, False, 3, 0, False, "proved")
Arena = Callable[..., Any]


def ammunition(played: Any, fire: tuple[str, ...] = ("B",)) -> Fact | None:
    return find_ammunition(played.prober, played.core.spans, fire, (LIVES,), lambda: False)


def energy(played: Any, lives: Lives | None = COUNTED) -> Fact | None:
    return find_energy(played.prober, played.core.spans, lives, (), lambda: False)


def test_shots_are_ammunition(arena: Arena) -> None:
    fact = ammunition(arena("arena_more", MORE=SHOTS_LEFT))
    assert fact is not None and (fact.name, fact.grade) == ("ammunition", "proved")
    assert fact.variable.addrs == (GAUGE,)
    assert fact.evidence["poke"]["none_fires_nothing"] >= 3


def test_shots_that_are_only_counted_are_none(arena: Arena) -> None:
    assert ammunition(arena("arena_more", MORE=SHOTS_LEFT, FALSE=1)) is None


def test_nothing_is_ammunition_where_nothing_fires(arena: Arena) -> None:
    assert ammunition(arena("arena_more", MORE=SHOTS_LEFT), ()) is None
    assert ammunition(arena("arena_bcd")) is None


def test_a_bar_that_costs_a_life_when_it_is_out_is_energy(arena: Arena) -> None:
    fact = energy(arena("arena_more", MORE=ENERGY))
    assert fact is not None and (fact.name, fact.grade) == ("energy", "proved")
    assert fact.variable.addrs == (GAUGE,)


def test_without_a_lives_counter_it_is_unproved(arena: Arena) -> None:
    fact = energy(arena("arena_more", MORE=ENERGY), None)
    assert fact is not None and fact.grade == "unproved"


def test_a_bar_that_costs_nothing_is_not_proved(arena: Arena) -> None:
    fact = energy(arena("arena_more", MORE=ENERGY, FALSE=1))
    assert fact is None or fact.grade == "unproved"


@pytest.mark.parametrize("decoy", [TIMER, BOMBS, MIRROR], ids=["timer", "bombs", "copy"])
def test_other_bars_are_not_proved(arena: Arena, decoy: int) -> None:
    fact = energy(arena("arena_decoys", DECOY=decoy))
    assert fact is None or fact.grade == "unproved"
