"""Of large RAM the bytes are kept that move as counters do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.content import Content
from retrokit.core import Core, Counts
from retrokit.discovery.counters import counted, likeliest, likelihood
from retrokit.policy import STYLES, random_play
from retrokit.systems import FoundCore
from retrokit.team import Team

SIZE, AT = 1 << 19, 480_003
SCORE, LIVES = AT + 0x80, AT + 0x40
STICK = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",))
START = np.array([0, 0] + [MASKS["START"]] * 6 + [0] * 4, np.uint16)
LOGS = np.stack([random_play([3, n], 400, STICK, STYLES[n], ("B",)) for n in range(4)])


@pytest.fixture(scope="module")
def big(
    fake_core: Callable[..., FoundCore], fake_content: Callable[[], Content]
) -> tuple[FoundCore, Content]:
    return fake_core("arena_big", RAM_BYTES=SIZE, AT=AT), fake_content()


def counts_of(core: Core) -> Counts:
    core.record(START)
    state = core.save()
    if isinstance(core, Team):
        core.agree(state)
    seen: list[int] = []
    counts = counted(core, state, LOGS, seen.append)
    assert sum(seen) == LOGS.size
    return counts


def test_counters_are_found_in_megabytes_of_other_data(
    big: FoundCore, fake_content: Callable[[], Content]
) -> None:
    with Core.open(*big) as core:
        counts = counts_of(core)
    total = counts.total()
    assert ((total > 0) & (total <= 0.25 * LOGS.size)).sum() > 50_000
    kept = likeliest(counts, LOGS.size, 200)
    assert len(kept) == 200 and (np.diff(kept) > 0).all()
    assert {SCORE, LIVES} <= set(kept.tolist())


def test_a_team_counts_what_one_instance_counts(
    big: FoundCore, fake_content: Callable[[], Content]
) -> None:
    with (
        Team.open(*big, workers=1) as one,
        Team.open(*big, workers=3) as three,
    ):
        alone, shared = counts_of(one), counts_of(three)
    calm = np.flatnonzero(alone.total() <= 0.25 * LOGS.size).astype(np.int32)
    for name, mine in alone._asdict().items():
        if name not in ("before", "whole", "most"):  # each instance has its own past
            assert np.array_equal(mine[calm], getattr(shared, name)[calm]), name
    assert np.array_equal(alone.total()[calm], shared.total()[calm])
    assert np.array_equal(likeliest(alone, LOGS.size, 999), likeliest(shared, LOGS.size, 999))


def test_all_are_kept_where_there_are_few(open_fake: Callable[..., Core]) -> None:
    core = open_fake("counter")
    counts = counted(core, core.save(), LOGS, lambda frames: None)
    assert likeliest(counts, LOGS.size, 5120).tolist() == [1, 5, 8]


# Of one byte: changes with its whole line, changes, of those alone, and back; and the steps seen.
SCORING = (0, 30, 30, 0, (1, 2, 5, -9))
MOVES = {
    "a lives counter": (0, 12, 12, 0, (-1, 3)),
    "a score that rose by four different steps": (0, 4, 4, 0, (1, 2, 5, 3)),
    "the pixel of a sprite": (0, 200, 200, 100, (31, -31)),
    "any data": (0, 60, 60, 0, tuple(range(0, 60))),
    "now and then alone": (300, 310, 6, 0, (48,)),
    "loaded with all around it": (9, 9, 0, 0, ()),
}


def odds_of(moves: dict[int, tuple[int, int, int, int, tuple[int, ...]]]) -> dict[int, float]:
    counts = Counts.of(6400, 1000)
    for offset, (whole, changes, alone, back, steps) in moves.items():
        counts.whole[offset // 64] = whole
        counts.changes[offset] = changes - whole
        counts.alone[offset], counts.back[offset] = alone, back
        counts.steps[offset] = sum(1 << step % 64 for step in steps)
    offsets = np.array(sorted(moves), np.int32)
    return dict(zip(offsets.tolist(), likelihood(counts, offsets).tolist(), strict=True))


def test_what_counts_goes_first() -> None:
    names = list(MOVES)
    odds = odds_of({100 * n: MOVES[name] for n, name in enumerate(names)})
    order = sorted(names, key=lambda name: -odds[100 * names.index(name)])
    assert order[:2] == names[:2]
    assert order[-1] == names[-1] and odds[500] == -np.inf


def test_the_rest_of_a_number_goes_with_it() -> None:
    once = (0, 1, 1, 0, (1,))
    odds = odds_of({100: SCORING, 102: once, 95: once, 109: once, 300: once})
    assert odds[100] > odds[102] == odds[95] > odds[109] == odds[300]
