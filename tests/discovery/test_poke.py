"""Pokes into the arena games: what adds, what is overwritten, what is drawn where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.discovery.poke import BEFORE, LOOKS, Moment, Prober
from retrokit.discovery.screen import same_font
from retrokit.discovery.units import Unit

# tests/cores/arena.h
MODE, COOL, SHOTS, LIVES, SCORE, COPY, HIGH = 4, 16, 17, 0x40, 0x80, 0x90, 0xA0

Arena = Callable[..., Any]


def test_any_state_is_had_again(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    rng = np.random.default_rng(3)
    for episode, frame in rng.integers(1, (recording.episodes, 1200), (20, 2)):
        wanted = recording.ram[episode, frame - 1]
        assert np.array_equal(prober.bytes_at(Moment(episode, frame), recording.offsets), wanted)


def test_an_unpoked_future_is_the_recorded_one(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    moment = Moment(2, 500)
    kept = recording.offsets
    ram, pictures = prober.after(moment, [[-1], [-1]], [SCORE], kept=kept)
    wanted = recording.ram[2, 500 + np.array(LOOKS) - 1]
    assert np.array_equal(ram[0], wanted) and np.array_equal(ram[1], wanted)
    assert pictures.shape == (2, len(LOOKS), 96, 128)


def test_pokes_are_written_and_minus_one_is_not(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    ram, _ = prober.after(
        Moment(0, 30), [[5, -1], [-1, 7], [-1, -1]], [HIGH + 8, HIGH + 9], (1,),
        [HIGH + 8, HIGH + 9], pictures=False,
    )  # fmt: skip
    assert ram[:, 0].tolist() == [[5, 0], [0, 7], [0, 0]]


def test_a_future_past_the_end_goes_on_without_buttons(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    ram, _ = prober.after(Moment(0, 1199), [[-1]], [SCORE], (1, 9), [0], pictures=False)
    assert (ram[0, :, 0].astype(int) - int(recording.series(0)[0, -1])).tolist() == [0, 8]


def test_events_lie_just_before_rises(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    series = recording.series(SCORE).astype(int)
    events = prober.events(SCORE)
    assert events
    for episode, frame in events:
        at = frame + BEFORE
        assert series[episode, at] != series[episode, at - 1]
        assert len(set(series[episode, frame:at])) == 1  # it rested


def test_events_of_a_byte_that_only_falls_are_its_falls(arena: Arena) -> None:
    _, recording, prober = arena("arena_bcd")
    assert len(prober.events(LIVES)) >= 6
    assert prober.events(HIGH) == []


def test_what_adds_is_told_from_copies(arena: Arena) -> None:
    _, _, prober = arena("arena_copies", POINTS=7)
    offsets = [SCORE, SCORE + 1, COPY, COPY + 1, HIGH, LIVES]
    found = prober.accumulators(offsets)
    assert {SCORE, LIVES} <= set(found)
    assert not {COPY, COPY + 1, HIGH} & set(found)
    assert all(1 <= len(moments) <= 3 for moments in found.values())


def test_what_is_set_does_not_add(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    assert set(prober.accumulators([SHOTS, COOL])) == {SHOTS}


def test_ten_digits_show_where_a_nibble_is_drawn(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    moment = prober.events(SCORE)[0]
    for unit, right in ((Unit(SCORE, "low"), 53), (Unit(SCORE + 1, "high"), 29)):
        cells = prober.draw(unit, moment)
        assert [(c.top, c.bottom, c.right) for c in cells] == [(2, 9, right)]


def test_a_unit_that_changes_in_the_event_is_drawn_once_it_rests(arena: Arena) -> None:
    """The picture lags five frames behind RAM: after the event it still shows what was written."""
    _, _, plain = arena("arena_bcd")
    _, _, late = arena("arena_odd", ODD=3, LAG=5, POINTS=7)
    unit = Unit(SCORE, "low")
    wanted = plain.draw(unit, plain.events(SCORE)[0])[0]
    moment = late.events(SCORE)[0]
    found, changes = late._draw(unit, moment, {}, 0)
    assert changes and all(same_font(cell, wanted) < 4 for cell in found)  # digits of wrong names
    cell = late.draw(unit, moment)[0]
    assert (cell.right, same_font(cell, wanted)) == (wanted.right, 10)


def test_a_unit_that_rests_is_drawn_at_once(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    core, recording, first = arena("arena_bcd")
    prober = Prober(core, recording, first.size)
    moments: list[Moment] = []

    def noted(moment: Moment, *rest: Any, **more: Any) -> Any:
        moments.append(moment)
        return Prober.after(prober, moment, *rest, **more)

    monkeypatch.setattr(prober, "after", noted)
    event = prober.events(SCORE)[0]
    assert prober.draw(Unit(SCORE + 2, "low"), event)  # the top digit, which no points reach
    assert moments == [event, event]  # five digits, and as they differ five more
    assert prober.draw(Unit(SCORE, "low"), event)
    later = Moment(event.episode, event.frame + LOOKS[-1])
    assert moments == [event] * 4 + [later] * 2


def test_what_was_poked_is_not_poked_again(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    core, recording, first = arena("arena_bcd")
    prober = Prober(core, recording, first.size)
    event, unit = prober.events(SCORE)[0], Unit(SCORE, "low")
    drawn = prober.draw(unit, event)
    assert prober.touching([unit], event) == [unit]
    monkeypatch.setattr(prober, "after", None)
    assert prober.draw(unit, event) == drawn
    assert prober.touching([unit], event, slice(2, 9)) == [unit]
    assert prober.touching([unit], event, slice(60, 90)) == []


def test_bytes_beside_are_written_along(arena: Arena) -> None:
    """With all places filled a centred number draws each digit where it stands at full width."""
    _, _, prober = arena("arena_odd", ODD=1, POINTS=7)
    moment, unit = prober.events(SCORE)[0], Unit(SCORE, "low")
    filled = {SCORE: 0x11, SCORE + 1: 0x11, SCORE + 2: 0x11}
    assert [cell.right for cell in prober.draw(unit, moment, filled)] == [89]
    assert [cell.right for cell in prober.draw(unit, moment)] != [89]


def test_what_was_seen_is_not_looked_at_again(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, recording, first = arena("arena_bcd")
    prober, moment = Prober(core, recording, first.size), Moment(1, 300)
    calls: list[int] = []

    def noted(*given: Any, **more: Any) -> Any:
        calls.append(1)
        return Prober.after(prober, *given, **more)

    monkeypatch.setattr(prober, "after", noted)
    _, pictures = prober.seen(moment)
    _, same = prober.seen(moment)
    assert len(calls) == 1
    assert pictures.shape == (len(LOOKS), 96, 128) and np.array_equal(pictures, same)


def test_what_shows_nothing_draws_nothing(arena: Arena) -> None:
    _, _, prober = arena("arena_unseen")
    assert prober.draw(Unit(SCORE, "low"), prober.events(SCORE)[0]) == []


def test_a_base_too_high_for_ten_digits_draws_nothing(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    assert prober.draw(Unit(SCORE, "byte", 250), Moment(0, 30)) == []


def test_what_changes_the_whole_picture_draws_no_digit(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mode of the game brings another scene; a digit only itself, or its number."""
    core, recording, prober = arena("arena_bcd", frames=200)
    units, moment = [Unit(MODE, "low"), Unit(SCORE, "low")], Moment(0, 40)
    assert prober.touching(units, moment) == units  # the arena's scene is small
    monkeypatch.setattr("retrokit.discovery.poke.MOST_MOVED", 100)
    prober = Prober(core, recording, prober.size)
    assert prober.touching(units, moment) == units[1:]


def test_units_on_the_same_line_are_found(arena: Arena) -> None:
    _, _, prober = arena("arena_bcd")
    moment = prober.events(SCORE)[0]
    cell = prober.draw(Unit(SCORE, "low"), moment)[0]
    units = [Unit(offset, "low") for offset in (SCORE, SCORE + 1, SCORE + 2, SCORE + 3, LIVES)]
    near = prober.touching(units, moment, slice(cell.top, cell.bottom))
    assert [unit.offset for unit in near] == [SCORE, SCORE + 1, SCORE + 2]
    assert LIVES in {unit.offset for unit in prober.touching(units, moment)}
