"""Answers in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrokit.values import DECODERS
from retrokit.views import words

Make = Callable[..., dict[str, Any]]


def test_every_encoding_has_words() -> None:
    assert words.ENCODINGS.keys() >= DECODERS.keys() - {"int"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "packed decimal, two digits a byte"),
        ({"score_encoding": "digits", "score_base": 0x30}, "one digit a byte, where 0x30 is 0"),
        ({"score_encoding": "uint_be", "score_scale": 10}, "binary, times 10"),
        (
            {"score_terms": [{"encoding": "nibbles_low"}, {"encoding": "nibbles_high"}]},
            "one digit in the high half of each byte; one digit in the low half of each byte; "
            "each place with a scale of its own",
        ),
    ],
)
def test_how_bytes_hold_a_number(candidate: Make, changes: dict[str, Any], said: str) -> None:
    assert words.encoding(candidate(1, **changes)) == said


def test_where_a_number_lies(candidate: Make) -> None:
    assert words.addresses(candidate(1)) == "0x7a 0x79"
    assert words.addresses(candidate(1, score_region="SRAM")) == "SRAM 0x7a 0x79"


def test_a_proved_score_says_how_it_was_proved(facts: dict[str, Any]) -> None:
    verdict = words.score(facts)
    assert (verdict.grade, verdict.what) == ("proved", "0x7a 0x79")
    text = " ".join(verdict.said)
    assert "2 bytes of SYSTEM_RAM, most significant first" in text
    assert "Before 4 recorded rises" in text and "each time the game added" in text
    assert "3 times the screen" in text and "At 11 of 12 moments" in text


def test_lives_and_game_over(facts: dict[str, Any]) -> None:
    assert words.lives(facts)[:2] == ("proved", "0x41c")
    assert "Written 1 before a recorded loss" in " ".join(words.lives(facts).said)
    assert words.game_over(facts)[:2] == ("proved", "lives == 0")
    facts["lives"]["cuts_last_life"] = True
    assert "as the last life begins" in words.game_over(facts).said[0]
    facts["lives"]["evidence"]["game_over"] = {"grade": "likely"}
    assert words.game_over(facts).grade == "likely"
    facts["lives"] |= {"grade": "unproved", "evidence": {}}
    assert "Not in the file" in " ".join(words.lives(facts).said)
    facts |= {"lives": None, "lives_addr": None, "terminated": ""}
    assert words.lives(facts).what == "not found"
    assert words.game_over(facts).what == "no rule"


def test_a_search_that_did_not_end_knows_nothing(facts: dict[str, Any]) -> None:
    del facts["seconds"]
    for verdict in (words.score(facts), words.lives(facts), words.game_over(facts)):
        assert verdict == words.UNKNOWN


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("changed", "Nothing in RAM changed"),
        ("calm", "all the time"),
        ("added", "never scored"),
        ("visible", "not be shown"),
        ("digits", "none draws ten digits"),
        ("", "no number that they form rose"),
    ],
)
def test_the_first_stage_that_left_nothing_is_the_obstacle(
    facts: dict[str, Any], stage: str, said: str
) -> None:
    empty = False
    for name in words.STAGES:
        empty = empty or name == stage
        if empty:
            facts["sieve"][name] = 0
    assert said in words.obstacle(facts)


def test_only_what_is_proved_has_no_doubts(candidate: Make) -> None:
    assert words.doubts(candidate(1)) == []
    behaviour = candidate(1)["evidence"]["behaviour"] | {
        "rises": 1, "falls": 3, "resets": 9, "still": 0.5, "clock": True
    }  # fmt: skip
    unseen = words.doubts(candidate(1, grade="unproved", evidence={"behaviour": behaviour}))
    for part in (
        "no digits", "like a clock", "fell 3 times", "back to its start 9 times",
        "rose 1 time", "50 % of the frames",
    ):  # fmt: skip
        assert sum(part in doubt for doubt in unseen) == 1, part


@pytest.mark.parametrize(
    ("poke", "screen", "said"),
    [
        ({"rises": 4, "added": 1, "read_back": 0}, {}, "after 3 of 4 writes it did not add up"),
        ({"rises": 0, "added": 0, "read_back": 0}, {}, "never rose at a moment"),
        ({"rises": 1, "added": 1, "read_back": 1}, {}, "before one rise only"),
        ({}, {"cells": 1}, "only one digit"),
        ({}, {"film": "2 of 12"}, "agrees with RAM at 2 of 12 moments"),
        ({}, {"whole": False}, "its last places are missing"),
    ],
)
def test_doubts_follow_the_evidence(
    candidate: Make, poke: dict[str, int], screen: dict[str, Any], said: str
) -> None:
    plain = candidate(1)["evidence"]
    evidence = plain | {"poke": plain["poke"] | poke}
    evidence["screen"] = plain["screen"] | {"film": "12 of 12"} | screen
    (doubt,) = words.doubts(candidate(1, grade="likely", evidence=evidence))
    assert said in doubt
