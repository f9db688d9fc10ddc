"""The language of ``terminated``: meaning, state, whole recordings, errors with their column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.conditions import Terminated
from retrokit.errors import IntegrationError


@pytest.mark.parametrize(
    ("rule", "true"),
    [
        ("lives == 0", [0]),
        ("lives != 0x1", [0, 2, 3]),
        ("lives<=1", [0, 1]),
        ("2 < lives", [3]),
        ("lives > -1", [0, 1, 2, 3]),
        ("lives >= timer", [2, 3]),  # timer is 2
        ("lives == 0 or lives == 1 and timer == 0", [0]),
        ("(lives == 0 or lives == 1) and timer == 0", []),
        ("not lives == 0", [1, 2, 3]),
        ("not (lives == 0 or lives == 3) and timer == 2", [1, 2]),
        ("lives == 3\n  or lives == 1", [1, 3]),
        ("lives == 0 held 1", [0]),
        ("", []),
    ],
)
def test_meaning(rule: str, true: list[int]) -> None:
    terminated = Terminated(rule, ["lives", "timer"])
    assert [n for n in range(4) if terminated.update({"lives": n, "timer": 2})] == true
    columns = {"lives": np.arange(4), "timer": np.full(4, 2)}
    assert np.flatnonzero(terminated.over(columns)).tolist() == true


def run(terminated: Terminated, lives: list[int], frames: int = 1) -> str:
    return "".join(str(int(terminated.update({"lives": n}, frames))) for n in lives)


def test_held_ignores_a_zero_that_passes() -> None:
    """PyBoy#263, gym-super-mario-bros PR#145: 0 for a moment while one life remains."""
    terminated = Terminated("lives == 0 held 4")
    assert run(terminated, [1, 0, 0, 0, 1, 0, 0, 0, 0, 0]) == "0000000011"


def test_held_counts_every_frame_wherever_it_stands() -> None:
    terminated = Terminated("lives == 9 and lives == 0 held 3 or lives == 0 held 2")
    assert run(terminated, [0, 0, 0]) == "011"
    terminated = Terminated("(lives == 0 or lives == 1) held 3")
    assert run(terminated, [0, 1, 0]) == "001"


def test_reset_forgets_and_frame_skip_counts_frames() -> None:
    terminated = Terminated("lives == 0 held 5")
    assert run(terminated, [0, 0], frames=4) == "01"
    terminated.reset()
    assert run(terminated, [0, 1, 0], frames=4) == "000"


rules = st.recursive(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["lives", "timer"]),
        st.sampled_from(["==", "!=", "<", ">", "<=", ">="]),
        st.sampled_from(["0", "1", "timer"]),
    ),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("(not {})".format, inner),
        st.builds("({}) held {}".format, inner, st.integers(1, 4)),
    ),
    max_leaves=6,
)


@given(rules, st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1), st.data())
def test_recording_equals_frame_by_frame(
    rule: str, frames: list[tuple[int, int]], data: st.DataObject
) -> None:
    restarts = data.draw(st.lists(st.integers(0, len(frames) - 1), unique=True).map(sorted))
    terminated = Terminated(rule)
    slow = []
    for number, (lives, timer) in enumerate(frames):
        if number in restarts:
            terminated.reset()
        slow.append(terminated.update({"lives": lives, "timer": timer}))
    columns = {"lives": np.array(frames)[:, 0], "timer": np.array(frames)[:, 1]}
    assert terminated.over(columns, restarts).tolist() == slow


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("lives", "column 6: found the end of the rule; wanted one of =="),
        ("lives = 0", "column 7: found '='; wanted =="),
        ("lives == 0 && timer == 0", "column 12: found '&&'; wanted and"),
        ("lives == 0 AND timer == 0", "column 12: found 'AND'; wanted and"),
        ("lives <> 0", "column 7: found '<>'; wanted !="),
        ("live == 0", "column 1: found unknown variable 'live'; wanted lives"),
        ("lives == 0 or\n   x == 0", "line 2, column 4: found unknown variable 'x'; wanted one of"),
        ("(lives == 0", "column 12: found the end of the rule; wanted and, or, held, or )"),
        ("lives == 0)", "column 11: found ')'; wanted and, or, held, or the end"),
        ("lives == 0 held", "column 16: found the end of the rule; wanted a number of frames"),
        ("lives == 0 held 0", "column 17: found '0'; wanted a number of frames, at least 1"),
        ("lives == 007", "column 10: found '007'; wanted a variable or a whole number"),
        ("lives == 0.5", "column 11: found '.'"),
        ("lives == nan", "column 10: found unknown variable 'nan'"),
        ("lives ~ 0", "column 7: found '~'; wanted one of =="),
        ("0 < lives < 3", "column 11: found '<'"),
        ("1 == 1", "column 1: found a comparison of two numbers"),
        ("and", "column 1: found 'and'; wanted a variable"),
        ("(" * 99, "column 51: found a rule nested too deep"),
    ],
)
def test_errors_name_the_place(rule: str, message: str) -> None:
    with pytest.raises(IntegrationError) as caught:
        Terminated(rule, ["lives", "timer"])
    assert str(caught.value).startswith(message)


@given(st.text("lives= 0()<>!&|heldnotandor1\n", max_size=40))
def test_any_text_parses_or_is_refused(rule: str) -> None:
    try:
        terminated = Terminated(rule, ["lives", "l"])
    except IntegrationError:
        return
    assert terminated.update({"lives": 1, "l": 0}) in (True, False)
