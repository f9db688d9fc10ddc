"""How numbers behave over a recording, and which groups of bytes behave like a score."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrokit.core import Span
from retrokit.discovery.candidates import (
    Behaviour,
    Candidate,
    behaviour,
    by_behaviour,
    describe,
    goes_on,
    pack,
    place,
    values_of,
)
from retrokit.discovery.record import Recording
from retrokit.integration import Integration
from retrokit.values import DECODERS, Variable

SPANS = (Span("SYSTEM_RAM", 0, 64), Span("VIDEO_RAM", 64, 64))
FRAMES = 400


def series(*changes: tuple[int, int], start: int = 0, episodes: int = 1) -> NDArray[np.int64]:
    """Return a number that becomes ``value`` at each ``frame``."""
    out = np.full((episodes, FRAMES), start, np.int64)
    for frame, value in changes:
        out[:, frame:] = value
    return out


def recording(columns: dict[int, NDArray[np.int64]], initial: dict[int, int]) -> Recording:
    """Return a recording of bytes at offsets; the rest of 128 stand still."""
    size = 128
    offsets = np.array(sorted(columns), np.int32)
    ram = np.stack([columns[int(o)] for o in offsets], -1).astype(np.uint8)
    first = np.zeros(size, np.uint8)
    for offset, value in initial.items():
        first[offset] = value
    buttons = np.zeros(ram.shape[:2], np.uint16)
    return Recording(b"", buttons, ram, first, offsets, ["lively"] * len(ram), 60, [])


# -- behaviour -------------------------------------------------------------------------------------


def test_rises_falls_and_resets_are_told_apart() -> None:
    seen = behaviour(series((50, 10), (90, 30), (150, 25), (200, 0), (300, 20), start=0), 0)
    assert (seen.rises, seen.falls, seen.resets) == (3, 1, 1)
    assert (seen.steps, seen.drops) == ((20, 10), (5,))
    assert (seen.lowest, seen.highest, seen.scoring) == (0, 30, 1)
    assert seen.still == pytest.approx(1 - 5 / FRAMES)


def test_the_first_frame_counts_against_the_start() -> None:
    assert behaviour(series(start=10), 0).rises == 1
    assert behaviour(series(start=10), 10).rises == 0


def test_a_return_to_the_start_is_a_reset() -> None:
    seen = behaviour(series((50, 2010), (100, 2000), start=2000), 2000)
    assert (seen.falls, seen.resets) == (0, 1)


def test_episodes_that_scored_are_counted() -> None:
    both = np.concatenate([series((50, 10)), series(), series((60, 20))])
    assert behaviour(both, 0).scoring == 2


SCORE = ((31, 10), (75, 30), (90, 80), (222, 90), (351, 290))


@pytest.mark.parametrize(
    ("frames", "values", "rises"),
    [
        ((5, 85, 5, 5), (30, 30, 30, 30), 1),  # the floor that Elevator Action begins on
        ((5, 85, 50, 120), (30, 30, 30, 30), 5),  # whenever something is hit
        ((5, 5, 5, 5), (30, 30, 10, 30), 5),  # by what was hit
        ((5, 5), (30, 30), 3),  # too few to tell
    ],
    ids=["set up", "when", "what", "few"],
)
def test_setting_a_number_up_is_no_rise(
    frames: tuple[int, ...], values: tuple[int, ...], rises: int
) -> None:
    played = np.zeros((len(frames), 400), np.int64)
    for row, frame, value in zip(played, frames, values, strict=True):
        row[frame:] = value
    played[1, 300:] += 1
    assert behaviour(played, 0).rises == rises
    assert behaviour(played, 0).scoring == (1 if rises == 1 else len(frames))
    assert behaviour(played, 0).begins == (30 if rises == 1 else 0)


@pytest.mark.parametrize(
    ("changes", "start", "good"),
    [
        (SCORE, 0, True),
        (((31, 10),), 0, True),  # once: a grade asks for more
        ((), 0, False),  # a constant
        ((), 750_000, False),
        (tuple((20 * n, n) for n in range(1, 19)), 0, False),  # a clock
        (tuple((20 * n, n * n) for n in range(1, 19)), 0, True),  # regular, but of many sizes
        (tuple((n, n * 7 % 50) for n in range(1, 399)), 0, False),  # a position
        (tuple((20 * n, 50 - n) for n in range(1, 19)), 50, False),  # a countdown
        (((31, 10), (75, -20), (90, 80)), 0, False),
    ],
    ids=["score", "once", "still", "high score", "clock", "bonus", "position", "down", "negative"],
)
def test_what_behaves_like_a_score(
    changes: tuple[tuple[int, int], ...], start: int, good: bool
) -> None:
    assert behaviour(series(*changes, start=start), start).like_a_score is good


@pytest.mark.parametrize(
    ("changes", "start", "good"),
    [
        (((40, 480), (90, 980), (200, 280)), 500, True),
        (((40, 480), (90, 430)), 500, True),  # it only pays
        (((40, 450), (90, 400), (200, 350)), 500, False),  # a fuse burns by one size
        (((40, 497), (90, 495), (200, 490)), 500, False),  # energy, by small ones
        (((40, 490),), 500, False),  # once is too little
        (((40, 510), (90, 560)), 500, False),  # never lost: a score
        (tuple((n, 500 + n * 70 % 90) for n in range(1, 399)), 500, False),  # never still
        (((40, -20), (90, 30)), 50, False),
    ],
    ids=["money", "pays", "fuse", "energy", "once", "score", "busy", "negative"],
)
def test_what_behaves_like_an_account(
    changes: tuple[tuple[int, int], ...], start: int, good: bool
) -> None:
    assert behaviour(series(*changes, start=start), start).like_an_account is good


def test_a_clock_in_every_episode_is_still_a_clock() -> None:
    ticking = series(*((25 * n, n) for n in range(1, 15)), episodes=4)
    assert behaviour(ticking, 0).clock
    assert describe(behaviour(ticking, 0))["clock"] is True


def test_a_distance_is_a_clock_whose_pace_changes() -> None:
    """Enduro's odometer: the faster the car, the sooner the next one."""
    gaps = np.concatenate([np.linspace(40, 10, 15), np.linspace(10, 40, 15)]).astype(int)
    driven = series(*((int(at), n) for n, at in enumerate(np.cumsum(gaps), 1)), episodes=2)
    assert behaviour(driven, 0).clock
    rng = np.random.default_rng(3)
    hits = np.cumsum(rng.exponential(25, 30).astype(int) + 1)
    scored = series(*((int(at), n) for n, at in enumerate(hits, 1)), episodes=2)
    assert not behaviour(scored, 0).clock and behaviour(scored, 0).like_a_score


@pytest.mark.parametrize(("tenths", "long"), [(True, True), (False, False)])
def test_a_number_that_rises_by_a_carry_goes_on(tenths: bool, long: bool) -> None:
    """0x29 0x28 without the low nibble of 0x28: a distance without its tenths."""
    miles = np.arange(1200) // 10 if tenths else np.arange(1200) // 10 // 7 * 7
    low = (miles % 10 | (miles // 10 % 10) << 4).astype(np.uint8)
    ram = np.stack([low, (miles // 100).astype(np.uint8)], axis=-1)[None]
    recording = Recording(
        b"", np.zeros((1, 1200), np.uint16), ram, np.zeros(2, np.uint8),
        np.arange(2, dtype=np.int32), ["lively"], 12, [[]],
    )  # fmt: skip
    upper = miles[None] // 10 if tenths else miles[None]
    assert goes_on(recording, upper, (1, 0)) is long


def test_what_ticks_in_some_games_only_is_no_clock() -> None:
    """Points may be counted up one by one as well."""
    counted = np.concatenate([series(*((25 * n, n) for n in range(1, 15))), series()])
    assert not behaviour(counted, 0).clock and behaviour(counted, 0).like_a_score


# -- decoding a recording --------------------------------------------------------------------------

ENCODINGS = sorted(DECODERS)


@given(
    encoding=st.sampled_from(ENCODINGS),
    addrs=st.lists(st.integers(0, 63), min_size=1, max_size=4, unique=True),
    scale=st.sampled_from([1, 10, -1]),
    seed=st.integers(0, 999),
)
def test_values_are_those_of_the_variable(
    encoding: str, addrs: list[int], scale: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ram = rng.integers(0, 256, (2, 30, 128)).astype(np.uint8)
    first = rng.integers(0, 256, 128).astype(np.uint8)
    kept = np.sort(rng.permutation(128)[:100]).astype(np.int32)
    for offset in set(range(128)) - set(kept.tolist()):
        ram[:, :, offset] = first[offset]  # a byte that was not kept had stood still
    term = Variable((3, 1), "bcd", scale=100)
    variable = Variable(tuple(addrs), encoding, scale=scale, terms=(term,))
    log = np.zeros((2, 30), np.uint16)
    played = Recording(b"", log, ram[:, :, kept], first, kept, ["", ""], 60, [])
    values, start = values_of(played, variable, [*addrs, 3, 1])
    memory = {"SYSTEM_RAM": ram}
    assert np.array_equal(values, variable.decode(memory))
    assert start == variable.decode({"SYSTEM_RAM": first})


def test_a_packed_variable_reads_its_bytes_in_order() -> None:
    term = Variable((9,), "nibbles_low", "VIDEO_RAM", 1000)
    packed, count = pack(Variable((5, 4), "bcd", scale=10, terms=(term,)))
    assert count == 3
    data = np.array([0x12, 0x34, 0x07], np.uint8)
    assert packed.decode({packed.region: data}) == 10 * (1234 + 7000)


def test_places_know_their_region() -> None:
    assert place(63, SPANS) == ("SYSTEM_RAM", 63)
    assert place(64, SPANS) == ("VIDEO_RAM", 0)
    with pytest.raises(ValueError, match="128 lies in no"):
        place(128, SPANS)


def test_a_candidate_speaks_the_keys_of_the_file() -> None:
    seen = Behaviour(3, 0, 0, (10,), (), 0.99, False, 0, 190, 2)
    candidate = Candidate(Variable((2, 1, 0), "bcd", scale=10), (2, 1, 0), seen, "proved")
    said = candidate.to_dict(1)
    assert said["rank"] == 1
    assert said["score_addrs"] == [2, 1, 0]
    assert said["score_encoding"] == "bcd_le"
    assert (said["score_scale"], said["score_base"], said["score_blank"]) == (10, 0, None)
    assert (said["grade"], said["seen"]) == ("proved", [0, 190])
    assert "score_terms" not in said and "score_region" not in said


def test_a_candidate_can_be_decoded_from_what_it_says() -> None:
    seen = Behaviour(3, 0, 0, (10,), (), 0.99, False, 0, 190, 2)
    variable = Variable((3, 5), "digits", shift=3, blank=16)  # a pointer into a table of glyphs
    said = Candidate(variable, (3, 5), seen, "proved").to_dict(1)
    facts = {"system": "atari2600", "core": "stella", "action_set": [[]], "rom_sha1": "0" * 40}
    file = {"game": "alien", "variables": {"score": said["variable"]}, **facts}
    assert Integration.from_dict(json.loads(json.dumps(file))).variables["score"] == variable


# -- groups that behave like a score ---------------------------------------------------------------


def split(values: NDArray[np.int64], encoding: str, width: int) -> list[NDArray[np.int64]]:
    """Return the bytes of a number, least significant first."""
    step = {"bcd": 100, "uint": 256, "digits": 10}[encoding]
    bytes_ = [values // step**n % step for n in range(width)]
    return [b // 10 << 4 | b % 10 if encoding == "bcd" else b for b in bytes_]


@pytest.mark.parametrize(
    ("encoding", "width", "order"),
    [("bcd", 3, 1), ("bcd", 3, -1), ("bcd", 2, 1), ("uint", 2, 1), ("digits", 6, -1)],
)
def test_a_score_ranks_above_decoys(encoding: str, width: int, order: int) -> None:
    rng = np.random.default_rng(1)
    steps = np.zeros((3, FRAMES), np.int64)
    for row in steps:
        row[rng.permutation(np.arange(10, FRAMES - 10))[:19]] = rng.choice([10, 50, 200], 19)
    score = steps.cumsum(axis=1)
    columns = {30 + order * n: part for n, part in enumerate(split(score, encoding, width))}
    time = np.broadcast_to(np.arange(FRAMES), steps.shape)
    columns[5] = time % 256  # a frame counter
    columns[6] = time // 20  # a clock
    columns[7] = (60 + 40 * np.sin(time / 9)).astype(np.int64)  # a sprite
    columns[8] = 3 - time // 150  # lives
    columns[10] = np.broadcast_to(0x75, steps.shape)  # a high score
    played = recording(columns, {10: 0x75, 7: 60, 8: 3})
    found = list(by_behaviour(played, SPANS, sorted(columns)))
    same = []
    for candidate in found:
        values, _ = values_of(played, candidate.variable, candidate.offsets)
        # where the last digit never moved it is left out
        same.append(any(np.array_equal(values * scale, score) for scale in (1, 10)))
    # Of digits that only ever hold 0 and 5 behaviour cannot tell the encoding.
    assert any(same) if encoding == "digits" else same[0]
    used = {offset for candidate in found for offset in candidate.offsets[-1:]}
    assert not used & {5, 6, 7, 8, 10}
    assert all(candidate.grade == "unproved" for candidate in found)


def test_groups_stay_within_their_region() -> None:
    score = series(*SCORE, episodes=2)
    played = recording({63: score % 256, 64: score // 256}, {})
    assert all(
        place(c.offsets[0], SPANS)[0] == place(c.offsets[-1], SPANS)[0]
        for c in by_behaviour(played, SPANS, [63, 64])
    )
