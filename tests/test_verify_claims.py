"""Facts beyond score and lives are proved once more, and what is tampered with is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.content import Content
from retrokit.core import Core
from retrokit.discovery.actions import Buttons
from retrokit.discovery.bundle import Bundle
from retrokit.discovery.ends import play_ends
from retrokit.discovery.kinds import ENDED, NEEDED
from retrokit.discovery.lives import Lives
from retrokit.discovery.more import find_more
from retrokit.discovery.poke import Prober
from retrokit.discovery.record import record
from retrokit.integration import Integration, parse_start
from retrokit.load import Game
from retrokit.systems import FoundCore
from retrokit.values import Variable
from retrokit.verify_proof import Finding, judge, replay

CLOCK, LEVEL, SHOTS_LEFT, ENERGY, ONE_LIFE = range(1, 6)  # tests/cores/arena_more.c
LIVES, GAUGE, COPY = 0x40, 0x60, 0x90
MADE = {
    "player_x": CLOCK,
    "player_y": CLOCK,
    "timer": CLOCK,
    "level": LEVEL,
    "ammunition": SHOTS_LEFT,
    "energy": ENERGY,
    "game_over": ONE_LIFE,
}
START = ("WAIT:2", "START:6", "WAIT:4")
STICK = ["UP", "DOWN", "LEFT", "RIGHT"]
BUTTONS = Buttons([[], *([name] for name in STICK)], [*STICK, "B"], ["B"], [], [])
COUNTED = Lives(LIVES, 0xFF, 0, False, 3, 0, False, "proved")
Found = tuple[Game, Bundle]


@pytest.fixture(scope="module")
def found(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Iterator[Callable[[int], Found]]:
    """Find what an arena counts beside score and lives: its file, and the proof of that."""

    @cache
    def find(more: int) -> Found:
        library, content = fake_core("arena_more", MORE=more), fake_content()
        lives = None if more == ONE_LIFE else COUNTED
        with Core.open(library, content) as core:
            core.record(parse_start(START))
            recording = record(core, core.save(), BUTTONS.action_set, ("B",), frames=1200)
            core.run(1)
            prober = Prober(core, recording, core.frame_size)
            if lives is None:
                prober.recording = recording = recording.ending(play_ends(prober, None))
            facts = find_more(prober, core.spans, BUTTONS, lives, (0x80, 0x81, 0x82))
            facts = [fact for fact in facts if fact.grade != "unproved"]
            seen = [e for fact in facts for e in prober.witness.of(fact, fact.name)]
            bundle = Bundle.of(core, START, 0, recording, prober.size, seen)
            told = {fact.name: fact for fact in facts}
            variables = {name: fact.variable for name, fact in told.items()}
            if lives is not None:
                variables["lives"] = Variable((LIVES,))
            integration = Integration(
                game="arena",
                system="arcade",
                core=library.spec.name,
                core_version=core.info.version,
                rom_sha1={content.name: content.sha1},
                variables=variables,
                action_set=((),),
                start_buttons=START,
                terminated="" if lives else f"game_over == {told['game_over'].evidence['value']}",
                evidence={name: fact.evidence for name, fact in told.items()},
            )
            return Game(integration, content, library), bundle

    yield find
    find.cache_clear()


def judged(game: Game, bundle: Bundle) -> dict[str, Finding]:
    told = replay(lambda event: None, game, bundle, Path("arena.proof.npz"))
    return {finding.fact: finding for finding in judge(game.integration, bundle, *told)}


def only(bundle: Bundle, fact: str, kind: str = "", **changes: Any) -> Bundle:
    """Return the bundle with one fact's experiments alone, the first of a kind changed."""
    seen = [e for e in bundle.experiments if e.fact == fact]
    if kind:
        at = [e.kind for e in seen].index(kind)
        values = {key: make(seen[at]) for key, make in changes.items()}
        seen[at] = replace(seen[at], **values)
    return replace(bundle, experiments=tuple(seen))


def claimed(**numbers: int) -> Callable[[Any], dict[str, int]]:
    return lambda e: e.claim | numbers


def edited(game: Game, **variables: Variable) -> Game:
    facts = replace(game.integration, variables={**game.integration.variables, **variables})
    return replace(game, integration=facts)


@pytest.mark.parametrize("fact", MADE)
def test_a_proved_fact_is_proved_again(
    found: Callable[[int], Found], tmp_path: Path, fact: str
) -> None:
    game, bundle = found(MADE[fact])
    assert game.integration.evidence[fact]["grade"] == "proved"
    only(bundle, fact).save(tmp_path / "a.npz")
    again = judged(game, Bundle.load(tmp_path / "a.npz"))[fact]
    assert again.holds and again.experiments == again.equal > 0, again
    needed = ENDED if fact == "game_over" else NEEDED[fact]
    assert {e.kind for e in bundle.experiments if e.fact == fact} >= set(needed)


@pytest.mark.parametrize("fact", MADE)
def test_another_address_fails_though_all_is_equal(
    found: Callable[[int], Found], fact: str
) -> None:
    game, bundle = found(MADE[fact])
    said = judged(edited(game, **{fact: Variable((COPY,))}), only(bundle, fact))[fact]
    assert not said.holds and said.equal == said.experiments
    assert said.seen.startswith(f"the file's {fact} is ") and said.where is not None


@pytest.mark.parametrize(
    ("fact", "kind", "numbers"),
    [
        ("player_x", "placed", {"unit": 700}),
        ("player_x", "placed", {"across": 0}),
        ("player_x", "obeyed", {"parted": 99}),
        ("player_y", "steered", {"order": -1}),
        ("timer", "ticks", {"step": 1}),
        ("timer", "added", {"points": 3}),
        ("timer", "digits", {"cells": 9}),
        ("level", "digits", {"worth": 2}),
        ("level", "redrawn", {"share": 3}),
        ("level", "begins", {"value": 2}),
        ("ammunition", "shot", {"cost": 9}),
        ("ammunition", "needed", {"fires": 0}),
        ("energy", "bar", {"look": -1}),
        ("game_over", "stops", {"written": 3}),
        ("game_over", "playing", {"value": 1}),
    ],
)
def test_a_claim_that_was_never_shown(
    found: Callable[[int], Found], fact: str, kind: str, numbers: dict[str, int]
) -> None:
    game, bundle = found(MADE[fact])
    said = judged(game, only(bundle, fact, kind, claim=claimed(**numbers)))[fact]
    assert not said.holds


@pytest.mark.parametrize(
    ("fact", "kind", "part"),
    [
        ("player_x", "obeyed", "ram"),
        ("player_x", "placed", "pictures"),
        ("timer", "ticks", "ram"),
        ("ammunition", "needed", "pictures"),
        ("energy", "costs", "ram"),
        ("level", "redrawn", "before"),
        ("game_over", "alive", "control"),
    ],
)
def test_what_differs_is_told(
    found: Callable[[int], Found], fact: str, kind: str, part: str
) -> None:
    game, bundle = found(MADE[fact])

    def flipped(e: Any) -> Any:
        array = getattr(e, part).copy()
        array.flat[-1] ^= array.dtype.type(1)
        return array

    said = judged(game, only(bundle, fact, kind, **{part: flipped}))[fact]
    assert not said.holds and said.equal == said.experiments - 1


def test_one_button_pressed_otherwise(found: Callable[[int], Found]) -> None:
    game, bundle = found(CLOCK)

    def let_go(e: Any) -> Any:
        return np.zeros_like(e.log)

    said = judged(game, only(bundle, "player_x", "steered", log=let_go))["player_x"]
    assert not said.holds and "SYSTEM_RAM" in said.seen


def test_what_is_likely_is_told_to_have_no_proof(found: Callable[[int], Found]) -> None:
    game, bundle = found(LEVEL)
    likely = {**game.integration.evidence, "level": {"grade": "likely"}}
    told = replace(game, integration=replace(game.integration, evidence=likely))
    said = judged(told, only(bundle, "none"))["level"]
    assert (said.holds, said.seen) == (None, "likely, without a proof to replay")
    said = judged(told, bundle)["level"]
    assert said.holds and said.likely
    said = judged(game, only(bundle, "none"))["level"]
    assert said.holds is False and "holds no experiment of it (begins digits redrawn)" in said.seen
    told = replace(game, integration=replace(game.integration, evidence={}))
    said = judged(told, only(bundle, "none"))["level"]
    assert (said.holds, said.seen) == (None, "without a proof to replay")
