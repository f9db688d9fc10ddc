"""Hints: read from text, compared with candidates, searched for in recordings of known games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.discovery.candidates import Candidate, behaviour, values_of
from retrokit.discovery.hint import (
    Hint,
    agreeing,
    find,
    format_moment,
    named,
    nearby,
    parse_moment,
    row_of,
)
from retrokit.discovery.poke import Moment
from retrokit.errors import UserError
from retrokit.values import Variable

FPS = 60.0
SCORE = (0x82, 0x81, 0x80)  # of arena_bcd, which draws one zero more than it stores


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12.5s", Moment(0, 750)),
        ("@750f", Moment(0, 750)),
        ("2:0.5s", Moment(1, 30)),
        ("3:0f", Moment(2, 0)),
    ],
)
def test_times(text: str, moment: Moment) -> None:
    assert parse_moment(text, FPS) == moment


@pytest.mark.parametrize("text", ["", "12.5", "1.5f", "0:3s", "-1s", "s", "a:1s", "1:2:3s", "1 s"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="12.5s, 750f, or 2:12.5s"):
        parse_moment(text, FPS)


@given(st.integers(0, 5), st.integers(0, 10**5), st.sampled_from([50.0, 59.94, 60.0, 60.606061]))
def test_a_moment_is_read_as_it_is_printed(episode: int, frame: int, fps: float) -> None:
    moment = Moment(episode, frame)
    again = parse_moment(format_moment(moment, fps), fps)
    assert again.episode == episode and abs(again.frame - frame) <= 1


def test_a_hint_is_read() -> None:
    hint = Hint.parse(" score = 430 @ 12.5s ", FPS)
    assert (hint.name, hint.value, hint.at, hint.slack) == ("score", 430, Moment(0, 750), 6)
    assert Hint.parse("lives=0x3@2:9f", FPS) == Hint("lives", 3, Moment(1, 9), 0, "lives=0x3@2:9f")
    assert named([hint], "score") == [hint] and named([hint], "lives") == []


@pytest.mark.parametrize("text", ["score", "score=430", "=430@1s", "score=@1s", "score=x@1s"])
def test_hints_that_are_none(text: str) -> None:
    with pytest.raises(UserError):
        Hint.parse(text, FPS)


def test_a_hint_must_lie_in_the_recording() -> None:
    Hint.parse("score=1@2:100f", FPS).check(2, 100, FPS)
    for text in ("score=1@101f", "score=1@3:1f"):
        with pytest.raises(UserError, match=r"2 episodes of 1\.7 s \(100 frames\)"):
            Hint.parse(text, FPS).check(2, 100, FPS)


def test_seconds_are_taken_less_exactly_than_frames() -> None:
    values = np.repeat(np.array([[0, 7]]), [20, 80], axis=1)  # 7 after 21 frames
    assert [Hint.parse(f"a=7@{n}f", FPS).fits(values, 0) for n in (20, 21)] == [False, True]
    assert Hint.parse("a=7@0.25s", FPS).fits(values, 0)  # 15 frames, 6 more allowed
    assert not Hint.parse("a=7@0.2s", FPS).fits(values, 0)
    assert Hint.parse("a=5@0f", FPS).fits(values, 5)  # the start of play
    said = Hint.parse("a=7@0.1s", FPS).told(values, 0, FPS)
    assert said == "read 0 then, and 7 from 0.35 s on (frame 21)"
    assert "and 9 never" in Hint.parse("a=9@0.1s", FPS).told(values, 0, FPS)


@pytest.fixture
def played(arena: Callable[..., tuple]) -> tuple:
    """Return core spans, recording and the true score's (episode, frame, value) at its rises."""
    core, recording, _ = arena("arena_bcd")
    values, start = values_of(recording, Variable(SCORE, "bcd"), SCORE)
    steps = np.diff(values, axis=1, prepend=start)
    rises = [
        (int(e), int(f) + 1, int(values[e, f])) for e, f in zip(*np.nonzero(steps > 0), strict=True)
    ]
    return core.spans, recording, rises


def candidate(recording, offsets=SCORE, encoding="bcd", grade="unproved", scale=1) -> Candidate:
    variable = Variable(offsets, encoding, scale=scale)
    seen = behaviour(*values_of(recording, variable, offsets))
    return Candidate(variable, offsets, seen, grade, {"behaviour": {}})


def hint_at(rise: tuple[int, int, int], scale: int = 1, name: str = "score", off: int = 0) -> Hint:
    episode, frame, value = rise
    return Hint.parse(f"{name}={value * scale + off}@{episode + 1}:{frame}f", FPS)


def test_rows_are_what_was_recorded(played: tuple) -> None:
    _, recording, rises = played
    episode, frame, value = rises[0]
    variable = Variable(SCORE, "bcd")
    before, after = (
        variable.decode({"SYSTEM_RAM": row_of(recording, Moment(episode, at))})
        for at in (frame - 1, frame)
    )
    assert before < after == value
    assert np.array_equal(row_of(recording, Moment(1, 0)), recording.initial)


def test_candidates_that_read_otherwise_are_dropped(played: tuple) -> None:
    _, recording, rises = played
    truth, other = candidate(recording), candidate(recording, (0x40,), "uint")
    hints = [hint_at(rises[0]), hint_at(rises[-1])]
    kept, said = agreeing([other, truth], recording, hints, FPS)
    assert [one.offsets for one in kept] == [SCORE] and said == []
    assert kept[0].evidence["hints"] == [hint.text for hint in hints]
    assert kept[0].grade == "unproved" and kept[0].variable == truth.variable
    assert truth.evidence == {"behaviour": {}}  # the one that was given is as it was
    assert agreeing([other, truth], recording, [], FPS) == ([other, truth], [])


def test_what_the_nearest_read_is_told(played: tuple) -> None:
    _, recording, rises = played
    episode, frame, value = rises[1]
    early = Hint.parse(f"score={value}@{episode + 1}:{frame - 1}f", FPS)
    kept, said = agreeing([candidate(recording, grade="proved")], recording, [early], FPS)
    assert kept == []
    assert said == [
        f"{early.text}: 0x82 0x81 0x80 (bcd) read {rises[0][2] if rises[0][0] == episode else 0} "
        f"then, and {value} from {frame / FPS:.2f} s on (frame {frame})"
    ]


def test_drawn_zeros_raise_the_scale_of_what_is_not_proved(played: tuple) -> None:
    _, recording, rises = played
    hints = [hint_at(rises[0], 10), hint_at(rises[1], 10)]
    ((kept,), _) = agreeing([candidate(recording)], recording, hints, FPS)
    assert kept.variable.scale == 10 and kept.evidence["hinted_scale"] == 10
    assert kept.behaviour.highest == 10 * candidate(recording).behaviour.highest
    proved = candidate(recording, grade="proved")
    none, said = agreeing([proved], recording, hints, FPS)
    assert none == [] and "×10 it would fit" in said[0]
    mixed = [hint_at(rises[0], 10), hint_at(rises[1], 100)]
    assert agreeing([candidate(recording)], recording, mixed, FPS)[0] == []


@pytest.mark.parametrize("scale", [1, 10])
def test_a_score_is_found_by_what_it_read(played: tuple, scale: int) -> None:
    spans, recording, rises = played
    told = [rise for rise in rises if rise[2] % 10][-1], rises[-2]
    hints = [hint_at(rise, scale) for rise in told]
    count, found = find(recording, spans, hints)
    assert 1 <= len(found) <= count
    by_place = {one.offsets: one for one in found}
    assert SCORE in by_place
    truth = by_place[SCORE]
    assert (truth.variable.encoding, truth.variable.scale) == ("bcd", scale)
    assert all(one.grade == "unproved" for one in found)
    for one in found:  # each fits every hint, at its scale
        values, start = values_of(recording, one.variable, one.offsets)
        assert all(hint.fits(values, start) for hint in hints)
        assert one.behaviour.rises > one.behaviour.falls
    assert found[0].behaviour.like_a_score


@pytest.mark.parametrize(
    ("game", "defines", "offsets", "encoding"),
    [
        ("arena_binary", {"BYTES": 2, "RADIX": 256, "POINTS": 77}, (0x81, 0x80), "uint"),
        ("arena_digits", {"BLANK": 0, "POINTS": 77}, (0x83, 0x82, 0x81, 0x80), "digits"),
    ],
)
def test_other_encodings_are_found_as_well(
    arena: Callable[..., tuple],
    game: str,
    defines: dict[str, int],
    offsets: tuple[int, ...],
    encoding: str,
) -> None:
    core, recording, _ = arena(game, **defines)
    values, start = values_of(recording, Variable(offsets, encoding), offsets)
    highs = {int(value): (e, f + 1) for e, row in enumerate(values) for f, value in enumerate(row)}
    told = sorted(value for value in highs if value % 10 and value > 255)[-2:]
    assert len(told) == 2
    hints = [hint_at((*highs[value], value)) for value in told]
    _, found = find(recording, core.spans, hints)
    assert offsets in [one.offsets for one in found]
    truth = next(one for one in found if one.offsets == offsets)
    assert truth.variable == Variable(offsets, encoding)


def test_lives_are_looked_for_among_short_numbers(played: tuple) -> None:
    spans, recording, _ = played
    lives = Variable((0x40,), "uint")
    values, start = values_of(recording, lives, (0x40,))
    when = [int(np.flatnonzero(values[0] == n)[0]) + 1 for n in (2, 1)]
    texts = [f"lives={start}@0f", *(f"lives={n}@{at}f" for n, at in zip((2, 1), when, strict=True))]
    _, found = find(recording, spans, [Hint.parse(text, FPS) for text in texts])
    assert (0x40,) in [one.offsets for one in found]
    assert found[0].variable.encoding == "uint" and len(found[0].offsets) == 1


def test_a_time_that_is_seconds_off_is_told(played: tuple) -> None:
    spans, recording, rises = played
    episode, frame, value = next(rise for rise in rises if rise[1] > 150 and rise[2] > 3)
    early = Hint.parse(f"score={value}@{episode + 1}:{frame - 100}f", FPS)
    found = [one.offsets for one in find(recording, spans, [early])[1]]
    assert SCORE not in found
    lines = nearby(recording, spans, [early], FPS)
    assert lines and all(line.startswith(early.text) for line in lines)
    near = find(recording, spans, [replace(early, slack=180)])[1]
    assert SCORE in [one.offsets for one in near]


def test_what_fits_is_not_nearby(played: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all that fits behaves like no score, nothing misses a hint, and nobody is told so."""
    spans, recording, rises = played
    fits = candidate(recording)
    monkeypatch.setattr("retrokit.discovery.hint.find", lambda *given: (1, [fits]))
    assert nearby(recording, spans, [hint_at(rises[1])], FPS) == []
