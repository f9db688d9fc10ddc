"""What the experiments of a proof show, held against what the file's variables read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .discovery.bundle import Experiment
from .discovery.control import GONE, PLAY_LATER
from .discovery.gauge import SOONER, bar_at, first_losses, shot_cost
from .discovery.kinds import UNITS
from .discovery.level import new_share
from .discovery.position import goes_along, kept_on, parted
from .discovery.screen import Pictures, ten_drawn
from .discovery.steered import in_order
from .discovery.units import Unit
from .integration import Integration

Values = dict[str, NDArray[np.int64]]


@dataclass
class Again:
    """An experiment made again.

    Attributes:
        differs: What is first other than in the bundle; empty when all is equal.
        before: Each variable of the file before the poke.
        poked: int64 [branches] each: just after it, before any frame.
        values: int64 [branches, looks] each.
        drawn: What its pictures measure, see `drawn`.
    """

    differs: str
    before: dict[str, int] = field(default_factory=dict)
    poked: Values = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    drawn: int = 0


def drawn(e: Experiment, pictures: Pictures) -> int:
    """Return what an experiment claims of its pictures, measured again; 0 where it claims nothing.

    Args:
        e: The experiment, which came out the same.
        pictures: uint16 [branches, looks, height, width].
    """
    claim, held = e.claim, e.ram.astype(np.int64)
    match e.kind:
        case "placed":
            written = np.where(e.rows[:, 0] < 0, held[:, 0, 0], e.rows[:, 0])
            own = held[:, :, 0]
            looks = kept_on(own[..., None], written)[:, 0]
            return round(100 * (goes_along(own, pictures, looks, claim["across"]) or 0))
        case "digits":
            unit, look = Unit(0, UNITS[claim["unit"]], claim["base"]), claim["look"]
            return len(ten_drawn(pictures[:, look], unit.read(e.ram[:, look, 0])))
        case "bar":
            return bar_at(held[..., 0], pictures, e.rows[:, 0].astype(np.int64))
        case "redrawn":
            return int(1000 * new_share(pictures[0]))
    return 0


def contradiction(integration: Integration, e: Experiment, again: Again) -> str:
    """Return how the file's variables contradict what an experiment shows."""
    if said := _unshown(e, again):
        return f"the experiment does not show {said}"
    for when, found, wanted in _claims(e, again):
        if found != wanted:
            return f"the file's {e.fact} is {found} {when}; {wanted} was proved"
    if e.kind in ("loss", "last", "over", "playing"):
        rule, text = integration.rule(), f"the file's rule {integration.terminated!r}"
        over = rule.over({name: row[0] for name, row in again.values.items()})
        if e.kind == "loss" and over.any() and not integration.cuts_last_life:
            return f"{text} holds while play goes on"
        if e.kind == "playing" and over.any():
            return f"{text} holds in play"
        if e.kind == "over" and over[: e.claim["last"]].any():
            return f"{text} holds before the last life ends"
        plain = e.kind == "last" and e.claim["after"] <= 0  # not filled for the next game
        told = e.kind == "over" or (plain and "game_over" not in integration.variables)
        if told and not over[e.claim["last"] :].any():
            return f"{text} does not hold after the last life"
    return ""


def _unshown(e: Experiment, again: Again) -> str:
    """Return what an experiment claims and its own control and pictures do not show."""
    claim, seen = e.claim, e.control[:, 0]
    match e.kind:
        case "alive" if (seen < PLAY_LATER).any():
            return "that play went on"
        case "gone" if (seen == 0).any():
            return "that control was lost"
        case "stops" if (seen > GONE).any():
            return "that control was lost"
        case "placed" if again.drawn != claim["unit"]:
            return f"a thing that moves {claim['unit'] / 100} pixels a step"
        case "digits" if not claim["cells"] == again.drawn > 0:
            return f"{claim['cells']} cells of digits"
        case "bar" if not claim["look"] == again.drawn >= 0:
            return "a bar"
        case "redrawn" if again.drawn != claim["share"]:
            return f"a picture that is new by {claim['share']} in 1000"
        case "needed" if bool((e.pictures[0] != e.pictures[1]).any()) != bool(claim["fires"]):
            return "fire" if claim["fires"] else "that nothing is fired"
        case "costs":
            lives = again.values.get("lives")
            kept, out = (0, 0) if lives is None else first_losses(lives)
            return "" if out + SOONER <= kept else "that a life is lost"
    return ""


def _claims(e: Experiment, again: Again) -> Iterator[tuple[str, int, int]]:
    """Yield when a variable was looked at, what it was now, and what it must be."""
    fact, claim = e.fact, e.claim
    before, poked = again.before[fact], again.poked[fact]
    values = again.values.get(fact, np.zeros((1, 0), np.int64))
    match e.kind:
        case "added":
            yield "before the poke", before, claim["before"]
            yield "as soon as it is written", int(poked[1]), claim["written"]
            points, end = claim["points"], claim["written"] + claim["points"]
            yield "after the rise", int(values[0, claim["settled"]]), claim["before"] + points
            unit = max(1, claim["unit"])
            ended = int(values[1, claim["settled"]]) // unit
            yield "after the poke and the rise", ended * unit, end // unit * unit
            if claim["look"] >= 0:
                yield "on the screen", int(values[1, claim["look"]]), claim["shown"]
        case "film":
            if claim["look"] >= 0:
                yield "on the screen", int(values[0, claim["look"]]), claim["shown"]
        case "loss":
            yield "before the loss", before, claim["before"]
            yield "after the loss", int(values[0, -1]), claim["before"] - 1
            yield "with one more written", int(poked[1]), claim["written"]
            yield "after the loss of that", int(values[1, -1]), claim["written"] - 1
        case "alive" | "gone":
            if claim["written"] >= 0:
                yield "as soon as it is written", int(poked[0]), claim["written"]
        case "last":
            yield "as soon as it is written", int(poked[0]), claim["written"]
            yield "after the last loss", int(values[0, claim["last"]]), claim["after"]
        case "over":
            flags = values[0] == claim["value"]
            yield "the end's value in play", int(flags[: claim["last"]].sum()), 0
            samples = flags[claim["first"] :: claim["step"]]
            yield "the end's value after it", int(samples.sum()), len(samples)
        case _:
            yield from _more(e, before, poked, values)


def _more(
    e: Experiment, before: int, poked: NDArray[np.int64], values: NDArray[np.int64]
) -> Iterator[tuple[str, int, int]]:
    """Yield what `_claims` does of the facts beyond score and lives."""
    claim = e.claim
    if e.kind in ("placed", "obeyed", "needed", "bar", "costs", "stops"):
        for row, now in zip(e.rows[:, 0].tolist(), poked.tolist(), strict=True):
            if row >= 0:
                yield "as soon as it is written", now, claim.get("written", row)
    match e.kind:
        case "playing":
            yield "the end's value in play", int((values[0] == claim["value"]).sum()), 0
        case "steered":
            ends = values.astype(np.uint8)[..., None]
            yield "ordered by directions", int(in_order(ends)[0]), claim["order"]
        case "obeyed":
            found = parted(values[:, -1], bool(claim["turned"]))
            yield "places that directions part from", found, claim["parted"]
        case "ticks":
            for step in np.diff(values[0])[::2].tolist():
                yield "more at a tick", step, claim["step"]
        case "digits":
            for digit, now in enumerate(poked.tolist()):
                more = claim["worth"] * digit
                yield f"more with a {digit} written", now - int(poked[0]), more
        case "shot":
            yield "less after a shot", shot_cost(values), claim["cost"]
        case "begins":
            yield "at the start", before, claim["value"]
        case "redrawn":
            yield "before the rise", before, claim["before"]
            yield "after the rise", int(values[0, -1]), claim["after"]
