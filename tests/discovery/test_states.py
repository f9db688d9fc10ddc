"""Savestates come back byte for byte, and take little where little changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.core import Core
from retrokit.discovery.states import NEAREST, States, spacing

Open = Callable[..., Core]


@given(
    st.binary(min_size=1, max_size=300),
    st.lists(st.lists(st.tuples(st.integers(0, 299), st.integers(0, 255))), max_size=5),
    st.lists(st.binary(max_size=400), max_size=3),
)
def test_states_come_back(
    base: bytes, changes: list[list[tuple[int, int]]], more: list[bytes]
) -> None:
    given_states = list(more)
    for pokes in changes:
        state = bytearray(base)
        for at, value in pokes:
            state[at % len(base)] = value
        given_states.append(bytes(state))
    states = States(base)
    for state in given_states:
        states.append(state)
    assert list(states) == given_states and len(states) == len(given_states)
    assert states[1:] == given_states[1:]


def test_only_what_differs_takes_memory() -> None:
    base = np.random.default_rng(0).integers(0, 256, 1_000_000, np.uint8)
    states = States(base.tobytes())
    for number in range(50):
        base[number::100_000] ^= 1
        states.append(base.tobytes())
    assert states[49] == base.tobytes()
    assert states.nbytes < 50 * 1000


@pytest.mark.parametrize(("most", "every"), [(1 << 30, NEAREST), (1 << 18, 96), (1000, 1 << 14)])
def test_savestates_lie_as_near_as_there_is_room(open_fake: Open, most: int, every: int) -> None:
    core = open_fake("counter")
    log = np.zeros(400, np.uint16)
    found = spacing(core, core.save(), log, 9000, most)
    assert NEAREST <= found <= every and (found > NEAREST or most == 1 << 30)
    states, state = States(core.save()), core.save()
    for _ in range(0, 9000, found):
        core.load(state)
        core.record(log[:found])
        state = core.save()
        states.append(state)
    assert states.nbytes <= max(most, 2 * len(state))
