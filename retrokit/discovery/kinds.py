"""The kinds of experiments that a proof is made of: what each shows, and what each fact needs."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Held = Literal["low", "high", "byte", "eighth"]  # what may hold a digit, see `units.Unit`
UNITS: tuple[Held, ...] = get_args(Held)


class Kind(NamedTuple):
    """What an experiment can show.

    Attributes:
        branches: By how many futures, 0 for any number.
        claim: In which numbers.
        looks: At how many looks, 0 for any number.
        drawn: By their pictures too, of what is written into the first byte that is kept.
    """

    branches: int
    claim: tuple[str, ...]
    looks: int = 0
    drawn: bool = False


# Numbers called look, first and last count looks, from 0; -1 in look: the screen showed it at none.
KINDS = {
    # Untouched, then another number written: at look settled it is that plus the points
    # (in units of the last place that is drawn),
    # and the screen shows it.
    "added": Kind(2, ("before", "written", "points", "settled", "unit", "look", "shown")),
    # The screen shows the number that RAM holds.
    "film": Kind(1, ("look", "shown")),
    # Untouched a life is lost; with one more written, too.
    "loss": Kind(2, ("before", "written")),
    # After that control comes back, whether one more was written or nothing (-1).
    "alive": Kind(1, ("written", "fire")),
    # Made the last, it leaves `after` at look `last`.
    "last": Kind(1, ("written", "after", "last")),
    # Then control, measured against what it was, is gone at every look.
    "gone": Kind(1, ("written", "variety", "steers", "fire")),
    # On the last life a byte never holds `value` before `last`, and does at first, first + step, …
    "over": Kind(1, ("value", "last", "first", "step")),
    # In play it holds `value` at no look.
    "playing": Kind(1, ("value",)),
    # Written in play, `written` takes control away at every look.
    "stops": Kind(1, ("written", "fire")),
    # Futures of opposite directions end in its order: 1 rising, -1 falling.
    "steered": Kind(7, ("order",), looks=2),
    # Other places written: a thing goes along, so many hundredths of a pixel a step.
    "placed": Kind(0, ("across", "unit"), drawn=True),
    # Sent far away, the two halves of the futures (the directions) part in so many places.
    "obeyed": Kind(0, ("turned", "parted")),
    # Looks two and two, between which it counts by `step`, whatever is pressed.
    "ticks": Kind(1, ("step",)),
    # Ten digits written into a unit draw so many cells; each is `worth` so much of the number.
    "digits": Kind(10, ("unit", "base", "worth", "look", "cells"), drawn=True),
    # Without fire it stands still, with fire it falls by `cost` for good.
    "shot": Kind(2, ("cost",), looks=3),
    # With `written` left, fire makes another picture (1) or none (0).
    "needed": Kind(2, ("written", "fires"), drawn=True),
    # Values from low to high are drawn as a bar.
    "bar": Kind(0, ("look",), drawn=True),
    # As it was or full, no life is lost so soon as with 0 or 1 left.
    "costs": Kind(4, ()),
    # It starts at `value`.
    "begins": Kind(1, ("value",)),
    # It rises, and so many thousandths of the picture are new at once.
    "redrawn": Kind(1, ("before", "after", "share"), drawn=True),
}
MEASURED = {"alive", "gone", "stops"}  # by control
# Fact → what must have been shown for it. An end told by a byte alone needs more than one by lives.
NEEDED = {
    "score": ("added",),
    "rival_score": ("added",),
    "lives": ("loss", "alive", "last", "gone"),
    "game_over": ("over",),
    "player_x": ("steered", "placed", "obeyed"),
    "player_y": ("steered", "placed", "obeyed"),
    "timer": ("ticks", "added", "digits"),
    "ammunition": ("shot", "needed"),
    "energy": ("bar", "costs"),
    "level": ("begins", "digits", "redrawn"),
}
ENDED = ("over", "playing", "alive", "stops")
