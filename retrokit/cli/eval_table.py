"""What an evaluation says: as tables, as sentences, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..learning.evaluate import copies, median_episode
from ..learning.players import Player
from ..learning.statistics import Comparison, Summary, compare, summarise
from ..run import Run
from .output import points, print_table

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Judged:
    """One player with all its episodes.

    Attributes:
        player: Who played.
        frame: As ``Evaluator.frame`` gives it.
        run: Whose checkpoint it is, or random play beside it; None without a run.
        summary: What is known of it.
    """

    player: Player
    frame: DataFrame
    run: Run | None
    summary: Summary

    @classmethod
    def of(cls, player: Player, frame: DataFrame, run: Run | None) -> Judged:
        """Return a player with what is known of it."""
        summary = summarise(frame["return"], frame["steps"], frame["trace"].tolist())
        return cls(player, frame, run, summary)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.player.name

    def against(self, other: Judged) -> Comparison:
        """Return how it stands to another."""
        some = any(one.summary.distinct < one.summary.episodes for one in (self, other))
        return compare(self.frame["return"], other.frame["return"], copies=some)


def pairs(judged: Sequence[Judged]) -> Iterator[tuple[Judged, Judged]]:
    """Yield who is compared with whom, the one that is judged first.

    Each checkpoint with random play and with the one before, as it plays; the newest of a run,
    greedy with sampled; and with the newest of the run before.
    """
    newest: dict[str, Judged] = {}
    for _, group in groupby(judged, key=lambda one: one.run and one.run.path):
        random = None
        before: dict[str, Judged] = {}
        for one in group:
            if one.player.step is None:
                random = one
                continue
            if random is not None:
                yield one, random
            if one.player.play in before:
                yield one, before[one.player.play]
            before[one.player.play] = one
        if len(before) == 2:
            yield before["sampled"], before["greedy"]
        for play, one in before.items():
            if play in newest:
                yield one, newest[play]
        newest |= before


def print_judged(judged: Sequence[Judged], median: bool) -> None:
    """Print the table, the comparisons, and what must be said beside them."""
    from pandas import DataFrame

    for _, group in groupby(judged, key=lambda one: one.run and one.run.path):
        some = list(group)
        if some[0].run is not None:
            print(f"{some[0].run.name}")
        print_table(DataFrame([_line(one) for one in some]))
        print()
    rows = [_comparison(first, second) for first, second in pairs(judged)]
    if rows:
        print_table(DataFrame(rows))
        print()
    if median:
        print_table(DataFrame([_median(one) for one in judged]))
        print()
    for line in seeds_of(judged):
        print(line)
    print("survival in steps; 95% intervals, of the IQM and of the shares, by bootstrap")
    for line in remarks(judged):
        print(line)


def _line(one: Judged) -> dict[str, Any]:
    known = one.summary
    spread = [points(sd) if known.distinct > 1 else "–" for sd in (known.sd, known.survival_sd)]
    return {
        "player": one.name,
        "episodes": known.episodes,
        "distinct": known.distinct,
        "mean ± sd": f"{points(known.mean)} ± {spread[0]}",
        "median": points(known.median),
        "IQM": points(known.iqm),
        "interval": _interval(known.interval, points),
        "survival": f"{points(known.survival)} ± {spread[1]}",
        "points/step": f"{known.points_per_step:.2f}",
    }


def _interval(interval: tuple[float, float] | None, show: Any) -> str:
    return "none" if interval is None else f"{show(interval[0])} to {show(interval[1])}"


def _comparison(first: Judged, second: Judged) -> dict[str, Any]:
    found = first.against(second)
    several = first.run is not None and second.run is not None and first.run is not second.run
    name = f"{second.run.name} {second.name}" if several and second.run else second.name
    return {
        "compared": f"{first.name} with {name}",
        "beats it in": f"{100 * found.probability:.0f}%",
        "interval": _interval(found.interval, lambda share: f"{100 * share:.0f}%"),
        "by chance": _chance(found.chance) if found.interval else "–",
        "verdict": found.verdict,
    }


def _chance(chance: float) -> str:
    return f"{chance:.3f}" if chance >= 0.0005 else "< 0.001"


def _median(one: Judged) -> dict[str, Any]:
    row = median_episode(one.frame)
    movie = one.run.path / row["movie"] if one.run is not None and row.get("movie") else "–"
    return {
        "median episode": one.name,
        "seed": row["seed"],
        "return": points(row["return"]),
        "steps": row["steps"],
        "movie": movie,
    }


def remarks(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield what a reader of the numbers must know."""
    for one in judged:
        known = one.summary
        if known.episodes == 1:
            yield f"{one.name}: one episode is no result: nothing is known of its spread"
        for seeds in copies(one.frame):
            many = "all" if len(seeds) == known.episodes else f"seeds {listed(seeds)}"
            yield (
                f"{one.name}: {known.episodes} episodes, {known.distinct} distinct: {many} are one"
                " and the same, so there is no interval"
            )
        ends = Counter(one.frame["ended_by"])
        for ended, word in (
            ("frames", "cut off at the limit of frames"),
            ("crash", "lost to a crash of the core"),
        ):
            if ends[ended]:
                yield f"{one.name}: {ends[ended]} of {known.episodes} {word}"


def seeds_of(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield who played which seeds; checkpoints that are many and alike are named together."""
    texts = [listed(one.frame["seed"].tolist()) for one in judged]
    trained = [one.player.play if one.player.step is not None else "" for one in judged]
    for text in dict.fromkeys(texts):
        names = []
        for one, play, own in zip(judged, trained, texts, strict=True):
            same = {other for other, kind in zip(texts, trained, strict=True) if kind == play}
            if own == text:
                many = play and len(same) == 1 and trained.count(play) > 1
                names.append(f"all {play}" if many else one.name)
        word = "seed" if text.isdigit() else "seeds"
        yield f"{word} {text}: {', '.join(dict.fromkeys(names))}"


def listed(seeds: Sequence[int]) -> str:
    """Return numbers in few words: ``3 to 7, 9, 12``."""
    parts = []
    for _, group in groupby(enumerate(sorted(seeds)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        parts.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]))
    return ", ".join(parts)


def to_dict(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return all of it as the object of ``--json``."""
    players = []
    for one in judged:
        row = median_episode(one.frame)
        players.append(
            {
                "player": one.name,
                "run": one.run and one.run.path,
                "checkpoint": one.player.checkpoint,
                "step": one.player.step,
                "play": one.player.play,
                **asdict(one.summary),
                "copies": copies(one.frame),
                "ended_by": dict(Counter(one.frame["ended_by"])),
                "median_episode": {
                    name: row[name] for name in ("seed", "return", "steps", "movie")
                },
                "seeds": one.frame["seed"].tolist(),
                "returns": one.frame["return"].tolist(),
                "steps": one.frame["steps"].tolist(),
            }
        )
    compared = [
        {"first": first.name, "second": second.name, **asdict(first.against(second))}
        for first, second in pairs(judged)
    ]
    return {
        "players": players,
        "comparisons": compared,
        "remarks": list(remarks(judged)),
    }
