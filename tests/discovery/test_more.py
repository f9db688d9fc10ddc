"""All of what a game counts beside score and lives: found together, and written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.cli.ramsearch_table import print_answer
from retrokit.content import Content
from retrokit.core import Span
from retrokit.discovery.actions import Buttons
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.candidates import Candidate, Grade, behaviour
from retrokit.discovery.fact import Fact, sampled
from retrokit.discovery.lives import Lives
from retrokit.discovery.more import find_more
from retrokit.integration import Integration
from retrokit.values import Variable

LIVES, GAUGE, X, Y = 0x40, 0x60, 7, 8  # tests/cores/arena.h
CLOCK, ENERGY = 1, 4  # arena_more.c
STICK = ["UP", "DOWN", "LEFT", "RIGHT"]
BUTTONS = Buttons([[], *([name] for name in STICK), ["B"]], [*STICK, "B"], ["B"], [], [])
COUNTED = Lives(LIVES, 0xFF, 0, False, 3, 0, False, "proved")
Arena = Callable[..., Any]


def more(played: Any, known: tuple[int, ...] = (0x80, 0x81, 0x82)) -> dict[str, Fact]:
    facts = find_more(played.prober, played.core.spans, BUTTONS, COUNTED, known)
    assert len({fact.name for fact in facts}) == len(facts)
    return {fact.name: fact for fact in facts if fact.grade != "unproved"}


def test_a_game_with_energy(arena: Arena) -> None:
    facts = more(arena("arena_more", MORE=ENERGY))
    assert {name: fact.variable.addrs for name, fact in facts.items()} == {
        "player_x": (X,),
        "player_y": (Y,),
        "energy": (GAUGE,),
    }


def test_a_game_with_a_clock(arena: Arena) -> None:
    facts = more(arena("arena_more", MORE=CLOCK))
    assert set(facts) == {"player_x", "player_y", "timer"}
    spans = (Span("SYSTEM_RAM", 0, 5120),)
    assert facts["timer"].offsets(spans) == [GAUGE, GAUGE + 1]


def test_a_plain_game_has_a_place_and_no_more(arena: Arena) -> None:
    assert set(more(arena("arena_bcd"))) == {"player_x", "player_y"}


def test_no_time_is_no_fact(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrokit.discovery.more.LEAST_S", -1.0)
    monkeypatch.setattr("retrokit.discovery.more.MOST_S", -1.0)
    assert more(arena("arena_bcd")) == {}


def test_moments_lie_in_play(arena: Arena) -> None:
    _, recording, _ = arena("arena_bcd")
    moments = sampled(recording, 16)
    assert len(set(moments)) == 16
    for episode, frame in moments:
        assert 0 <= frame < recording.ends[episode] and frame % recording.every == 0


# -- what is written -------------------------------------------------------------------------------


def fact(name: str, addr: int, grade: Grade, region: str = "SYSTEM_RAM", **extra: Any) -> Fact:
    return Fact(name, Variable((addr,), "uint", region), grade, {"grade": grade} | extra)


def answer(*facts: Fact, lives: Lives | None = None) -> Answer:
    score = Variable((7, 6), "bcd", "SYSTEM_RAM")
    moved = behaviour(np.array([[0, 0, 100, 100, 300]]), 0)
    return Answer(
        core="fbneo",
        core_version="1",
        rotation=0,
        spans=(Span("SYSTEM_RAM", 0, 100), Span("MAP_1", 100, 50)),
        start_buttons=["START:4"],
        buttons=BUTTONS,
        candidates=[Candidate(score, (7, 6), moved, "proved", {"grade": "proved"})],
        lives=lives,
        frames=9000,
        seconds=1.0,
        settings=Settings(),
        more=list(facts),
    )


def content() -> Content:
    path = Path("a.bin")
    return Content(path, "a", "arcade", "0" * 40, "0" * 40, 1, "", "rom", path, b"a")


def test_what_is_more_than_unproved_is_written(tmp_path: Path) -> None:
    found = answer(
        fact("player_x", 20, "proved", "MAP_1"),
        fact("level", 9, "likely"),
        fact("energy", 30, "unproved"),
    )
    found.integration(content()).save(tmp_path / "a.yaml")
    loaded = Integration.load(tmp_path / "a.yaml")
    assert set(loaded.variables) == {"score", "player_x", "level"}
    assert loaded.variables["player_x"] == Variable((20,), "uint", "MAP_1")
    assert loaded.evidence["level"] == {"grade": "likely"}
    said = found.to_dict(content())["more"]
    assert [(one["name"], one["grade"]) for one in said] == [
        ("player_x", "proved"), ("level", "likely"), ("energy", "unproved"),
    ]  # fmt: skip
    assert said[0]["addrs"] == [20] and said[0]["region"] == "MAP_1"


@pytest.mark.parametrize(
    ("grade", "lives", "rule"),
    [
        ("proved", None, "game_over == 2"),
        ("likely", None, "game_over == 2"),
        ("unproved", None, ""),
        ("likely", Lives(20, 0xFF, 0, False, 3, 0, False, "unproved"), "game_over == 2"),
        ("proved", Lives(20, 0xFF, 0, False, 3, 0, False, "proved"), "lives == 0"),
    ],
)
def test_the_flag_ends_the_game_where_no_lives_do(
    grade: Grade, lives: Lives | None, rule: str
) -> None:
    found = answer(fact("game_over", 40, grade, value=2), lives=lives)
    assert found.terminated == rule
    assert found.integration(content()).terminated == rule


def test_a_person_sees_them(capsys: pytest.CaptureFixture[str]) -> None:
    minutes = Variable((0x61,), "bcd", scale=60)
    timer = Fact("timer", Variable((0x60,), "bcd", terms=(minutes,)), "proved")
    print_answer(
        answer(fact("player_x", 20, "likely", "MAP_1"), timer, fact("energy", 3, "unproved")),
        content(),
    )
    lines = capsys.readouterr().out.splitlines()
    assert "player_x    MAP_1 0x14, likely" in lines
    assert "timer       0x60 + 0x61 x 60 (bcd), proved" in lines
    assert not any(line.startswith("energy") for line in lines)
