"""A team gives the answers of one core, from several instances."""

from __future__ import annotations

import numpy as np
import pytest

from retrokit.core import Core
from retrokit.errors import CoreStateError
from retrokit.team import Team


@pytest.fixture
def team(fake_core, fake_content):  # type: ignore[no-untyped-def]
    """Three instances of the counter game, after ten frames."""
    with Team.open(fake_core("counter"), fake_content(), workers=3) as team:
        team.run(10)
        yield team


def test_shared_futures_equal_those_of_one_core(team: Team) -> None:
    state = team.save()
    assert team.agree(state)
    rng = np.random.default_rng(1)
    buttons = rng.integers(0, 256, (11, 40)).astype(np.uint16)
    pokes = rng.integers(0, 64, (11, 2)), rng.integers(0, 256, (11, 2))
    kept = np.arange(64, dtype=np.int32)
    size = team.frame_size
    for some in ({"pokes": pokes}, {"pokes": None}):
        shared = team.branch(state, buttons, [7, 40], kept=kept, hashes=True, size=size, **some)
        alone = Core.branch(
            team, state, buttons, [7, 40], kept=kept, hashes=True, size=size, **some
        )
        for ours, theirs in zip(shared, alone, strict=True):
            assert np.array_equal(ours, theirs)
    assert len(np.unique(shared.ram.reshape(11, -1), axis=0)) > 1, "the futures must differ"


def test_one_log_and_pokes(team: Team) -> None:
    state = team.save()
    assert team.agree(state)
    pokes = np.arange(9)[:, None], np.full((9, 1), 77)
    log = np.zeros(5, np.uint16)
    kept = np.arange(16, dtype=np.int32)
    shared = team.branch(state, log, [5], pokes=pokes, kept=kept)
    alone = Core.branch(team, state, log, [5], pokes=pokes, kept=kept)
    assert np.array_equal(shared.ram, alone.ram)


def test_helpers_rest_until_they_agree(team: Team) -> None:
    state = team.save()
    for helper in team._helpers:
        helper.close()  # a closed core that is used raises
    assert team.branch(state, np.zeros((9, 5), np.uint16), [5], hashes=True).hashes.shape == (9, 1)
    team._working = True
    with pytest.raises(CoreStateError):
        team.branch(state, np.zeros((9, 5), np.uint16), [5], hashes=True)


def test_a_core_that_needs_its_own_process_works_alone(fake_core, fake_content) -> None:
    with Team.open(fake_core("counter", quirks="own_process"), fake_content(), workers=3) as team:
        team.run(1)
        assert not team._helpers
        assert not team.agree(team.save())
        assert team.branch(team.save(), np.zeros((4, 3), np.uint16), [3], hashes=True).hashes.all()


def test_agreeing_after_power_on_leaves_the_core_alone(fake_core, fake_content) -> None:
    with Team.open(fake_core("counter"), fake_content(), workers=2) as team:
        before = team.read()
        assert team.agree()
        assert np.array_equal(team.read(), before)


def test_closing_closes_all(fake_core, fake_content) -> None:
    team = Team.open(fake_core("counter"), fake_content(), workers=2)
    helper = team._helpers[0]
    team.close()
    for core in (team, helper):
        with pytest.raises(CoreStateError):
            core.run(1)


def test_reopening_gives_fresh_instances(team: Team) -> None:
    state = team.save()
    old = list(team._helpers)
    team.reopen()
    assert len(team._helpers) == len(old) and not set(map(id, old)) & set(map(id, team._helpers))
    team.load(state)
    assert team.agree(state)
    assert team.branch(state, np.zeros((9, 5), np.uint16), [5], hashes=True).hashes.all()


def test_map_keeps_the_order(team: Team) -> None:
    assert team.agree(team.save())
    assert list(team.map(lambda core, item: (item, core.ram_size > 0), range(7))) == [
        (item, True) for item in range(7)
    ]
