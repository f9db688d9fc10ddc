"""What can be said of scores: with intervals, and without what copies only seem to say.

Interquartile mean, stratified bootstrap and probability of improvement are those of Agarwal et al.
2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
RESAMPLES = 10_000
Floats = NDArray[np.float64]
Statistic = Callable[[Sequence[Floats]], Floats]


def iqm(values: ArrayLike) -> Any:
    """Return the interquartile mean along the last axis: the mean without a quarter at each end.

    Of n values ``n // 4`` are left out at each end, as ``scipy.stats.trim_mean`` does with 0.25.
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    out = ordered.shape[-1] // 4
    return ordered[..., out : ordered.shape[-1] - out].mean(axis=-1)


def pooled(strata: Sequence[Floats]) -> Floats:
    """Return the interquartile mean of all strata together."""
    return np.asarray(iqm(np.concatenate(strata, axis=-1)))


def bootstrap(
    strata: Sequence[ArrayLike],
    statistic: Statistic = pooled,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a statistic, resampled within each stratum.

    Args:
        strata: Samples of each stratum (a game; or each of two players): float [n] each.
        statistic: Takes the strata, float [resamples, n] each; returns float [resamples].
        confidence: How often such an interval holds the truth.
        resamples: How many times to draw.
        seed: Equal seeds give equal intervals.
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for stratum in strata:
        values = np.asarray(stratum, np.float64)
        drawn.append(values[rng.integers(len(values), size=(resamples, len(values)))])
    found = statistic(drawn)
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    return float(low), float(high)


def improvement(pair: Sequence[Floats]) -> Floats:
    """Return how likely a sample of the first beats one of the second; a tie is half a win.

    This is Mann and Whitney's U over the number of pairs.

    Args:
        pair: float [..., n] and float [..., m].

    Returns:
        float [...], 0 to 1.
    """
    first, second = pair
    wins = np.zeros(np.broadcast_shapes(first.shape[:-1], second.shape[:-1]))
    for number in range(second.shape[-1]):  # one after the other: all pairs at once are gigabytes
        one = second[..., number, None]
        wins += (first > one).mean(axis=-1) + 0.5 * (first == one).mean(axis=-1)
    return np.asarray(wins / second.shape[-1])


def permutation(
    first: ArrayLike, second: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> float:
    """Return how often chance alone would part two samples so far, either way.

    The labels are dealt anew and `improvement` is taken each time. Unlike a bootstrap this is
    right for few samples: three against three never part with less than 0.1.
    """
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    both = np.concatenate([x, y])
    # The rank sum orders the deals as the probability does, and is quick; ties share their ranks.
    ranks = (both[:, None] > both).sum(axis=1) + ((both[:, None] == both).sum(axis=1) - 1) / 2
    middle = len(x) * (len(both) - 1) / 2
    seen = abs(ranks[: len(x)].sum() - middle)
    rng = np.random.default_rng(seed)
    dealt = rng.permuted(np.tile(ranks, (resamples, 1)), axis=1)[:, : len(x)].sum(axis=1)
    as_far = np.abs(dealt - middle) >= seen - 1e-9
    return float((1 + as_far.sum()) / (1 + resamples))


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of one player's episodes.

    Attributes:
        episodes: How many.
        distinct: How many different ones: copies have the same actions and the same points.
        mean, sd: Of the returns in points; sd of the sample, NaN of one.
        median: Of the returns.
        iqm: Interquartile mean of the returns.
        interval: Of the interquartile mean; None where there are copies, or one episode alone.
        survival, survival_sd: Mean length in steps, and its spread.
        points_per_step: All points over all steps.
    """

    episodes: int
    distinct: int
    mean: float
    sd: float
    median: float
    iqm: float
    interval: tuple[float, float] | None
    survival: float
    survival_sd: float
    points_per_step: float


def summarise(returns: ArrayLike, steps: ArrayLike, traces: Sequence[str]) -> Summary:
    """Return what is known of one player's episodes.

    Args:
        returns: float [episodes], points.
        steps: int [episodes].
        traces: What each episode is recognised by; copies have the same.
    """
    points, lengths = np.asarray(returns, np.float64), np.asarray(steps, np.float64)
    count, distinct = len(points), len(set(traces))
    known = count > 1 and distinct == count
    return Summary(
        episodes=count,
        distinct=distinct,
        mean=float(points.mean()),
        sd=_sd(points),
        median=float(np.median(points)),
        iqm=float(iqm(points)),
        interval=bootstrap([points]) if known else None,
        survival=float(lengths.mean()),
        survival_sd=_sd(lengths),
        points_per_step=float(points.sum() / max(lengths.sum(), 1)),
    )


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one player's returns stand to another's.

    Attributes:
        probability: That an episode of the first beats one of the second; a tie is half a win.
        interval: Of the probability; None where there are copies.
        chance: How often chance alone would part them so far (permutation); NaN with copies.
        verdict: ``better``, ``worse``, or ``cannot be told apart``; with copies, that.
    """

    probability: float
    interval: tuple[float, float] | None
    chance: float
    verdict: str


def compare(first: ArrayLike, second: ArrayLike, *, copies: bool = False) -> Comparison:
    """Compare two players by their returns.

    One is better only where both the interval leaves out a half and chance would part them so far
    in fewer than one of twenty deals.

    Args:
        first: float [n], returns of the one that is judged.
        second: float [m], returns of the one it is compared with.
        copies: Whether episodes of either are copies: then no interval is given.
    """
    pair = [np.asarray(first, np.float64), np.asarray(second, np.float64)]
    probability = float(improvement(pair))
    if copies or min(map(len, pair)) < 2:
        word = "copies" if copies else "one episode"
        return Comparison(probability, None, float("nan"), f"cannot be told apart ({word})")
    low, high = bootstrap(pair, improvement)
    chance = permutation(*pair)
    verdict = "cannot be told apart"
    if chance < 1 - CONFIDENCE and not low <= 0.5 <= high:
        verdict = "better" if probability > 0.5 else "worse"
    return Comparison(probability, (low, high), chance, verdict)
