"""The judge of the discovery benchmark: what counts as the whole score, a part of it, or wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.candidates import Candidate, behaviour
from retrokit.discovery.lives import Lives
from retrokit.values import Variable

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from judging import lives_right, same, scored, verdict  # noqa: E402
from truths import Truth, truths, written  # noqa: E402

ANSWER: Any = None
SCORE = Variable((2, 1, 0), "bcd")
STEPS = np.array([0, 0, 50, 50, 120, 1050, 1050, 20_400, 999_990])


def truth(variable: Variable = SCORE, **known: Any) -> Truth:
    out = Truth("a game", Path("a.bin"), "own", **known)
    out.decode["score"] = lambda ram: np.asarray(variable.decode({"SYSTEM_RAM": ram}), np.int64)
    out.places["score"] = [(addr, variable.encoding, variable.base) for addr in variable.addrs]
    return out


def played(numbers: Any = STEPS, size: int = 32) -> np.ndarray:
    """Return memory with a score in packed BCD at 0, low byte first, a copy at 8, and a clock."""
    ram = np.zeros((len(numbers), size), np.uint8)
    for row, number in zip(ram, numbers, strict=True):
        for n in range(3):
            pair = int(number) // 100**n % 100
            row[n] = row[8 + n] = pair // 10 << 4 | pair % 10
    ram[:, 20] = np.arange(len(numbers))
    return ram


def judged(variable: Variable, ram: np.ndarray | None = None, known: Truth | None = None) -> str:
    offsets = tuple(addr for part in variable.parts for addr in part.addrs)
    found = Candidate(variable, offsets, behaviour(np.zeros((1, 2), np.int64), 0), "proved")
    return verdict(found, known or truth(), played() if ram is None else ram, ANSWER)[0]


@pytest.mark.parametrize(
    ("variable", "wanted"),
    [
        (SCORE, "complete"),
        (Variable((2, 1, 0), "bcd", scale=10), "complete"),  # a factor is the screen's affair
        (Variable((2, 1), "bcd"), "partial"),  # the last digits are missing
        (Variable((1, 0), "bcd"), "partial"),
        (Variable((0, 1, 2), "bcd"), "partial"),  # the right bytes, read in another order
        (Variable((10, 9, 8), "bcd"), "partial"),  # a copy: equal until another number is written
        (Variable((20,), "uint"), "wrong"),
        (Variable((20, 1, 0), "bcd"), "wrong"),
        (Variable((40,), "uint"), "elsewhere"),
    ],
    ids=["right", "factor", "no last", "no first", "order", "copy", "clock", "mixed", "outside"],
)
def test_verdicts(variable: Variable, wanted: str) -> None:
    assert judged(variable) == wanted


def test_a_score_that_never_moved_is_judged_by_what_is_written() -> None:
    still = played(np.zeros(9, np.int64))
    assert judged(SCORE, still) == "complete"
    assert judged(Variable((1, 0), "bcd"), still) == "partial"
    assert judged(Variable((10, 9, 8), "bcd"), still) == "wrong"


def test_each_of_two_players_has_a_number() -> None:
    known = truth(Variable((0,), "bcd"))
    theirs = truth(Variable((20,), "uint"))
    known.decode["theirs"], known.places["theirs"] = theirs.decode["score"], [(20, "bin", 0)]
    found = [
        Candidate(variable, variable.addrs, behaviour(np.zeros((1, 2), np.int64), 0))
        for variable in (Variable((0,), "bcd"), Variable((20,), "uint"), Variable((2,), "bcd"))
    ]
    told = [verdict(one, known, played(), ANSWER) for one in found]
    assert told == [("complete", "score"), ("complete", "theirs"), ("wrong", "")]


@pytest.mark.parametrize(
    ("offset", "mask", "right"),
    [
        (5, 0xFF, True),  # the byte
        (5, 0x07, True),  # its bits
        (5, 0x01, False),  # some of them
        (6, 0xFF, True),  # the same series, one less
        (7, 0xFF, False),
        (40, 0xFF, False),  # outside what was kept
    ],
)
def test_lives_are_the_same_bits_or_the_same_series(offset: int, mask: int, right: bool) -> None:
    ram = np.zeros((9, 32), np.uint8)
    ram[:, 5] = [3, 3, 2, 2, 2, 1, 1, 1, 0]
    ram[:, 6], ram[:, 7] = ram[:, 5] + 1, 3
    known = Truth("a", Path("a.bin"), "own", lives=5, lives_mask=0x07)
    known.lives_of = lambda ram: ram[..., 5].astype(np.int64)
    lives = Lives(offset, mask, 0, False, 3, 0, False, "proved")
    answer: Any = SimpleNamespace(lives=lives)
    assert lives_right(known, ram, answer) == right
    assert not lives_right(Truth("a", Path("a.bin"), "own"), ram, answer)


def test_places_without_a_decoder_are_compared_alone() -> None:
    known = Truth("coded", Path("a.bin"), "atari")
    known.places["score"] = [(addr, "custom", 0) for addr in (0, 1, 2)]
    assert judged(Variable((1, 2, 0), "bcd"), known=known) == "complete"
    assert judged(Variable((1, 2), "bcd"), known=known) == "wrong"


def test_the_same_bytes_are_the_score_whatever_an_unseen_place_is_worth() -> None:
    """The last digit is always 0 and drawn by nobody: read as tens or as ones it is the score."""
    tens, ones = played(np.array([0, 20, 50, 120, 4000])), played(np.array([0, 21, 57, 123, 4004]))
    scaled = Variable(
        terms=(Variable((2, 1), "bcd", scale=100), Variable((0,), "nibbles_high", scale=10))
    )
    assert judged(scaled, tens) == "complete"
    assert judged(scaled, ones) == "partial"


def test_any_of_several_numbers_will_do() -> None:
    known = truth()
    theirs = Variable((5,), "uint")
    known.decode["theirs"] = lambda ram: np.asarray(theirs.decode({"SYSTEM_RAM": ram}), np.int64)
    known.places["theirs"] = [(5, "uint", 0)]
    ram = played()
    ram[4:, 5] = 3
    assert judged(theirs, ram, known) == judged(SCORE, ram, known) == "complete"


@pytest.mark.parametrize(
    ("ours", "true", "wanted"),
    [
        ([0, 1, 2], [0, 10, 20], True),
        ([0, 10, 20], [0, 1, 2], True),
        ([0, 1, 3], [0, 10, 20], False),
        ([0, 0, 0], [0, 10, 20], False),
        ([0, 0, 0], [0, 0, 0], False),  # that says nothing
        ([5, 6, 7], [0, 1, 2], False),
    ],
)
def test_series_are_equal_up_to_a_factor(ours: list[int], true: list[int], wanted: bool) -> None:
    assert same(np.array(ours), np.array(true)) is wanted


def test_numbers_are_written_legally() -> None:
    rng = np.random.default_rng(0)
    for variable in (SCORE, Variable((4, 3), "digits", base=0x30)):
        ram = np.tile(np.arange(32, dtype=np.uint8), (50, 1))
        known = truth(variable)
        after = written(known, "score", ram, rng)
        assert len(set(known.decode["score"](after).tolist())) > 20
        assert variable.valid({"SYSTEM_RAM": after}).all()
        others = [n for n in range(32) if n not in variable.addrs]
        assert (after[:, others] == ram[:, others]).all()


@pytest.mark.parametrize(("numbers", "wanted"), [(STEPS, True), (np.full(9, 70), False)])
def test_a_recording_tells_whether_the_true_score_moved(numbers: Any, wanted: bool) -> None:
    offsets = np.array([0, 1, 2, 20], np.int32)
    ram = np.repeat(played(numbers)[:, offsets], 100, axis=0)
    assert scored(truth(), {0: (offsets, ram)}, 32) is wanted


def test_our_own_games_are_known() -> None:
    own = {game.name: game for game in truths() if game.group == "own"}
    variants = {"burrow2", "burrow3", "burrow4", "skydrop2", "skydrop3"}
    assert set(own) == {"burrow", "skydrop"} | variants
    for game in own.values():
        assert game.scored and game.lives is not None and game.path.is_file()
