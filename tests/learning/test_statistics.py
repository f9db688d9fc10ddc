"""Statistics against scipy, and what may not be said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from retrokit.learning.statistics import (
    bootstrap,
    compare,
    improvement,
    iqm,
    permutation,
    summarise,
)

Floats = NDArray[np.float64]
points = st.lists(st.integers(0, 40).map(lambda n: n * 10.0), min_size=2, max_size=20)


def sample(seed: int, count: int = 15, mean: float = 500) -> Floats:
    return np.round(np.random.default_rng(seed).gamma(4, mean / 4, count), -1)


@pytest.mark.filterwarnings("ignore:Precision loss")
@settings(max_examples=30)
@given(values=points)
def test_summary_is_scipys(values: list[float]) -> None:
    summary = summarise(values, np.arange(1, len(values) + 1), list(map(str, range(len(values)))))
    assert summary.iqm == pytest.approx(stats.trim_mean(values, 0.25))
    assert summary.mean == pytest.approx(stats.tmean(values))
    assert summary.sd == pytest.approx(stats.tstd(values))
    assert summary.median == pytest.approx(stats.scoreatpercentile(values, 50))
    assert summary.survival == pytest.approx((len(values) + 1) / 2)
    assert summary.points_per_step == pytest.approx(sum(values) / sum(range(len(values) + 1)))
    assert summary.interval is not None
    assert min(values) <= summary.interval[0] <= summary.interval[1] <= max(values)


@pytest.mark.parametrize("count", [5, 15, 50])
def test_the_interval_is_scipys(count: int) -> None:
    values = sample(count, count)
    wanted = stats.bootstrap(
        [values], lambda x, axis: stats.trim_mean(x, 0.25, axis=axis),
        n_resamples=20_000, method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    found = bootstrap([values], resamples=20_000)
    assert found == pytest.approx(wanted, abs=0.04 * float(np.std(values)))
    assert found == bootstrap([values], resamples=20_000)  # the same each time


def test_strata_are_resampled_each_for_itself() -> None:
    """Two games far apart: what differs between them is no spread."""
    strata = [np.array([0.0, 1, 2]), np.array([1000.0, 1001, 1002])]

    def mean(drawn: list[Floats]) -> Floats:
        return np.concatenate(drawn, axis=-1).mean(axis=-1)

    low, high = bootstrap(strata, mean)
    assert 500 < low < high < 502
    low, high = bootstrap([np.concatenate(strata)], mean)
    assert high - low > 500


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """The interquartile mean of a uniform sample of 30: 95 of 100 intervals, about."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        low, high = bootstrap([rng.random(30)], resamples=500)
        held += low <= 0.5 <= high
    assert 0.89 < held / 300 < 0.985


@settings(max_examples=50)
@given(first=points, second=points)
def test_improvement_is_mann_and_whitneys_u(first: list[float], second: list[float]) -> None:
    wanted = stats.mannwhitneyu(first, second).statistic / len(first) / len(second)
    assert improvement([np.array(first), np.array(second)]) == pytest.approx(wanted)


@pytest.mark.parametrize("shift", [0, 100, 200, 400])
def test_chance_is_the_exact_tests(shift: int) -> None:
    rng = np.random.default_rng(shift)
    first, second = rng.normal(shift, 300, 12), rng.normal(0, 300, 15)
    wanted = stats.mannwhitneyu(first, second, method="exact").pvalue
    assert permutation(first, second, resamples=40_000) == pytest.approx(wanted, abs=0.01)
    assert permutation(second, first, resamples=40_000) == pytest.approx(wanted, abs=0.01)


def test_with_ties_chance_is_scipys_permutation() -> None:
    first, second = np.array([0.0, 0, 0, 10, 10, 20]), np.array([0.0, 0, 0, 0, 10])
    wanted = stats.permutation_test(
        (first, second), lambda x, y: abs(stats.mannwhitneyu(x, y).statistic - 15),
        n_resamples=np.inf, alternative="greater",
    ).pvalue  # fmt: skip
    assert permutation(first, second, resamples=40_000) == pytest.approx(wanted, abs=0.02)


def test_better_worse_or_neither() -> None:
    low, high = sample(1), sample(2, mean=1500)
    assert compare(high, low).verdict == "better"
    assert compare(low, high).verdict == "worse"
    same = compare(sample(3), sample(4))
    assert same.verdict == "cannot be told apart"
    assert same.interval is not None and same.interval[0] < same.probability < same.interval[1]
    assert compare(high, low).probability == pytest.approx(1 - compare(low, high).probability)


def test_what_chance_does_to_few_is_no_difference() -> None:
    """Three against three never parts them: chance does it in one deal of ten."""
    found = compare([7.0, 8, 9], [1.0, 2, 3])
    assert found.probability == 1 and found.interval == (1, 1)
    assert found.chance == pytest.approx(0.1, abs=0.02)
    assert found.verdict == "cannot be told apart"
    assert compare([6.0, 7, 8, 9], [1.0, 2, 3, 4]).verdict == "better"


def test_equal_players_are_rarely_called_different() -> None:
    wrong = sum(
        compare(sample(seed), sample(1000 + seed)).verdict != "cannot be told apart"
        for seed in range(100)
    )
    assert wrong <= 10


def test_one_episode_has_no_spread() -> None:
    summary = summarise([430.0], [77], ["a"])
    assert (summary.episodes, summary.distinct, summary.mean) == (1, 1, 430)
    assert math.isnan(summary.sd) and math.isnan(summary.survival_sd) and summary.interval is None
    assert compare([430.0], [1.0, 2, 3]).verdict == "cannot be told apart (one episode)"


def test_copies_take_the_interval_away() -> None:
    summary = summarise([300.0] * 15, [80] * 15, ["same"] * 15)
    assert (summary.episodes, summary.distinct) == (15, 1)
    assert summary.interval is None and summary.sd == 0
    found = compare([300.0] * 15, sample(1), copies=True)
    assert found.interval is None and math.isnan(found.chance)
    assert found.verdict == "cannot be told apart (copies)"


def test_the_middle_half_is_what_counts() -> None:
    assert iqm([0, 1, 2, 3, 4, 5, 6, 1e9]) == 3.5
    assert iqm([[1, 2, 3], [4, 5, 6]]).tolist() == [2, 5]
