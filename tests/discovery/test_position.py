"""The player's place, and what only looks like it (tests/cores/places.c)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.content import identify
from retrokit.core import Core
from retrokit.discovery.fact import Fact
from retrokit.discovery.poke import Prober
from retrokit.discovery.position import find_positions
from retrokit.discovery.record import record
from retrokit.discovery.steered import AXES, FRAMES, futures, in_order, latency
from retrokit.errors import CoreNotFound
from retrokit.integration import parse_start
from retrokit.systems import core_for, data_path

X, Y, COPY, LAST, SPEED, HELD, FRACTION, SCENERY, CHASER = range(0x10, 0x19)  # places.c
STICK = ("UP", "DOWN", "LEFT", "RIGHT")
Arena = Callable[..., Any]


def places(played: Any, useful: tuple[str, ...] = STICK, known: tuple[int, ...] = ()) -> list[Fact]:
    return find_positions(played.prober, played.core.spans, useful, known)


def found(facts: list[Fact]) -> dict[str, tuple[int, str]]:
    return {fact.name: (fact.variable.addrs[0], fact.grade) for fact in facts}


# -- the order of the ends -------------------------------------------------------------------------


@pytest.mark.parametrize("flip", [False, True])
def test_futures_end_from_one_side_to_the_other(flip: bool) -> None:
    logs = futures("LEFT", "RIGHT", flip)
    assert logs.shape == (7, FRAMES)
    ends = ((logs == MASKS["RIGHT"]).sum(axis=1) - (logs == MASKS["LEFT"]).sum(axis=1)).tolist()
    assert ends == sorted(ends) and ends[0] == -FRAMES and ends[-1] == FRAMES
    changed = [row for row in logs if len(set(row.tolist())) == 2]
    assert all(row[0] == MASKS["RIGHT" if flip else "LEFT"] for row in changed)


@pytest.mark.parametrize(
    ("ends", "order"),
    [
        ([10, 14, 18, 22, 26, 30, 34], 1),
        ([34, 30, 26, 22, 18, 14, 10], -1),
        ([250, 254, 2, 6, 10, 14, 18], 1),  # a wrap at 256
        ([4, 4, 4, 4, 8, 12, 16], 1),  # a wall
        ([4, 4, 4, 4, 4, 4, 8], 0),  # the last direction
        ([24, 4, 8, 12, 16, 20, 24], 0),  # how long one was held
        ([5, 5, 5, 5, 5, 5, 5], 0),
        ([10, 14, 12, 22, 26, 30, 34], 0),
    ],
)
def test_what_is_in_order(ends: list[int], order: int) -> None:
    ram = np.repeat(np.array(ends, np.uint8)[:, None, None], 2, axis=1)
    assert in_order(ram).tolist() == [order]


def test_what_races_between_two_frames_is_no_place() -> None:
    ends = np.array([10, 14, 18, 22, 26, 30, 34], np.uint8)
    ram = np.stack([ends + 60, ends], axis=1)[..., None]
    assert in_order(ram).tolist() == [0]


def test_the_chaser_parts_later_than_the_player(arena: Arena) -> None:
    core, recording, _ = arena("places")
    offsets = np.array([X, CHASER, Y], np.int32)
    parts = latency(core, recording.checkpoints[0][0], AXES[0], offsets).tolist()
    assert parts[0] == 1 < parts[1] and parts[2] == FRAMES + 1


# -- the place -------------------------------------------------------------------------------------


def test_the_place_is_proved_and_nothing_else_is(arena: Arena) -> None:
    facts = places(arena("places"))
    assert found(facts) == {"player_x": (X, "proved"), "player_y": (Y, "proved")}
    evidence = facts[0].evidence
    assert evidence["poke"]["moved"] >= 2 and evidence["pixels_a_step"] == 1.0
    assert evidence["behaviour"]["in_order"] >= 3


def test_a_field_without_walls(arena: Arena) -> None:
    assert found(places(arena("places", WRAPS=1)))["player_x"] == (X, "proved")


def test_a_copy_is_likely_at_most(arena: Arena) -> None:
    """Told that the place is something else, the search must not prove its copy."""
    facts = found(places(arena("places", BARE=1), known=(X,)))
    assert facts["player_x"] == (COPY, "likely")


def test_what_goes_along_with_the_place_is_not_proved(arena: Arena) -> None:
    facts = found(places(arena("places"), known=(X,)))
    assert facts["player_x"][1] == "unproved"


def test_where_no_byte_holds_the_place_none_is_proved(arena: Arena) -> None:
    facts = found(places(arena("places", HIDDEN=1), known=(COPY,)))
    assert facts.pop("player_y") == (Y, "proved")
    assert all(grade == "unproved" for _, grade in facts.values()), facts


def test_an_axis_whose_directions_do_nothing_has_no_place(arena: Arena) -> None:
    assert list(found(places(arena("places"), ("LEFT", "RIGHT", "B")))) == ["player_x"]
    assert places(arena("places"), ("UP", "B")) == []


def test_time_that_is_up_ends_it(arena: Arena) -> None:
    played = arena("places")
    assert find_positions(played.prober, played.core.spans, STICK, late=lambda: True) == []


@pytest.mark.parametrize("game", ["burrow", "skydrop"])
def test_our_own_games(game: str, repo: Path) -> None:
    try:
        found_core = core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))
    truth = tomllib.loads((repo / "games" / f"{game}.toml").read_text())
    content = identify(data_path("games") / game / f"{game}.zip")
    with Core.open(found_core, content) as core:
        core.record(parse_start(("WAIT:300", "SELECT:10", "WAIT:10", "START:10", "WAIT:60")))
        actions = [[], *([name] for name in STICK)]
        recording = record(core, core.save(), actions, ["B"], episodes=4, frames=600)
        core.run(1)
        prober = Prober(core, recording, core.frame_size)
        useful = STICK if "player_y_addr" in truth else ("LEFT", "RIGHT")
        facts = find_positions(prober, core.spans, useful)
    wanted = {
        name: (truth[f"{name}_addr"], "proved")
        for name in ("player_x", "player_y")
        if f"{name}_addr" in truth
    }
    assert found(facts) == wanted
