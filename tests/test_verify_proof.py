"""Proof by repetition: what was seen is seen again, and what is tampered with is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.content import Content
from retrokit.discovery.answer import Settings
from retrokit.discovery.bundle import Bundle, Experiment
from retrokit.discovery.search import search
from retrokit.errors import UserError
from retrokit.integration import Integration
from retrokit.load import Game
from retrokit.systems import FoundCore
from retrokit.values import Variable
from retrokit.verify_proof import Finding, judge, replay, reprove

SCORE, COPY, HIGH, LIVES, EXTRA = 0x80, 0x90, 0xA0, 0x40, 0x60  # tests/cores/arena.h
MIRROR = 5  # tests/cores/arena_decoys.c
STICK = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",), ("B",))
PLAIN = Settings(frames=7200, actions=STICK, start=("WAIT:2", "START:6", "WAIT:4"))
PATH = Path("arena.proof.npz")
Proved = Callable[..., tuple[Game, Bundle]]


@pytest.fixture(scope="module")
def proved(fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]) -> Proved:
    """Search an arena game: the integration with its core and content, and its bundle."""

    @cache
    def find(name: str, **defines: int | str) -> tuple[Game, Bundle]:
        found, content = fake_core(name, **defines), fake_content()
        answer = search(lambda event: None, content, found, PLAIN)
        assert answer.bundle is not None and answer.lives is not None
        assert answer.lives.grade == answer.candidates[0].grade == "proved"
        return Game(answer.integration(content), content, found), answer.bundle

    return find


def facts(game: Game, bundle: Bundle) -> dict[str, Finding]:
    """Judge in this process; the sandbox is asked once below."""
    told = replay(lambda event: None, game, bundle, PATH)
    return {finding.fact: finding for finding in judge(game.integration, bundle, *told)}


def changed(bundle: Bundle, kind: str, number: int = 0, **changes: Any) -> Bundle:
    """Return the bundle with one of its experiments tampered with."""
    seen = list(bundle.experiments)
    at = [n for n, e in enumerate(seen) if e.kind == kind][number]
    seen[at] = replace(seen[at], **changes)
    return replace(bundle, experiments=tuple(seen))


def first(bundle: Bundle, kind: str) -> Experiment:
    return next(e for e in bundle.experiments if e.kind == kind)


def edited(game: Game, **variables: Variable) -> Game:
    """Return the game with other variables in its file."""
    facts = replace(game.integration, variables={**game.integration.variables, **variables})
    return replace(game, integration=facts)


# -- what holds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "defines", "rule"),
    [
        ("arena_bcd", {}, "lives == 0"),
        ("arena_bcd", {"SPARE_LIVES": 1, "DEMO_SCORES": 1}, "lives == -1"),
        ("arena_bcd", {"ZERO_LAST": 1, "FOE_WAITS": 9}, "lives == 0"),
        ("arena_digits", {"BLANK": 0x2F}, "lives == 0"),
        ("arena_binary", {"RADIX": 256, "BYTES": 2, "POINTS": 3}, "lives == 0"),
    ],
    ids=["bcd", "spare", "cut", "digits", "binary"],
)
def test_every_experiment_comes_out_the_same(
    proved: Proved, tmp_path: Path, core: str, defines: dict[str, int], rule: str
) -> None:
    game, bundle = proved(core, **defines)
    assert game.integration.terminated == rule
    bundle.save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_size < 100_000
    found = facts(game, Bundle.load(tmp_path / "a.npz"))
    assert list(found)[:3] == ["start", "score", "lives"]
    assert all(f.holds for f in list(found.values())[:3])
    assert all(f.equal == f.experiments and f.where is None for f in found.values())
    poke = game.integration.evidence["score"]["poke"]
    screen = game.integration.evidence["score"]["screen"]
    shown = int(screen["film"].split()[0])
    back = poke["read_back"]
    assert found["score"].seen == f"{poke['added']} added up, {back} read back, {shown} on film"
    assert found["score"].experiments == poke["rises"] + 12
    assert found["lives"].seen == "1 lost a life, 2 went on, 1 lost the last, 1 ended"


def test_a_byte_that_tells_the_end_is_proved_again(proved: Proved) -> None:
    game, bundle = proved("arena_bcd", ZERO_LAST=1, LIVES_AT_START=9, FOE_WAITS=6)
    flag = game.integration.variables["game_over"]
    assert game.integration.terminated == "lives == 0 and game_over == 0"
    found = facts(game, bundle)["game_over"]
    games = game.integration.evidence["lives"]["game_over"]["games"]
    assert found.holds and found.experiments == found.equal == games > 1
    other = edited(game, game_over=replace(flag, addrs=(SCORE + 2,)))
    found = facts(other, bundle)["game_over"]
    assert not found.holds and "the file's game_over" in found.seen
    rule = replace(game, integration=replace(game.integration, terminated="game_over == 1"))
    assert "'game_over == 1' holds" in facts(rule, bundle)["game_over"].seen


@pytest.mark.parametrize("bits", [{}, {"BITS": 1}], ids=["bytes", "bits"])
def test_lives_that_are_a_sum_are_proved_again(proved: Proved, bits: dict[str, int]) -> None:
    """Their counter is a copy: the file holds what stands, and that is what was written."""
    game, bundle = proved("arena_standing", **bits)
    lives = game.integration.variables["lives"]
    assert not lives.addrs and len(lives.terms) == 4
    assert Integration.from_dict(game.integration.to_dict()).variables["lives"] == lives
    assert game.integration.evidence["lives"]["copies"] == ["0x40: made anew from all that stands"]
    found = facts(game, bundle)["lives"]
    assert found.holds and found.equal == found.experiments
    one_less = edited(game, lives=replace(lives, terms=lives.terms[1:]))
    assert "the file's lives" in facts(one_less, bundle)["lives"].seen
    copy = edited(game, lives=Variable((LIVES,)))
    assert "with one more written" in facts(copy, bundle)["lives"].seen


def test_in_the_sandbox_it_is_the_same(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    told: list[float] = []
    found = reprove(game, bundle, PATH, lambda share, text: told.append(share))
    assert {finding.fact: finding for finding in found} == facts(game, bundle)
    assert told == sorted(told) and len(told) == 1 + len(bundle.experiments)


# -- what was tampered with ------------------------------------------------------------------------


def test_one_byte_of_ram(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    ram = first(bundle, "added").ram.copy()
    ram[1, 2, 0] ^= 1
    found = facts(game, changed(bundle, "added", ram=ram))
    said = found["score"]
    assert not said.holds and said.equal == said.experiments - 1
    addr, held = game.integration.variables["score"].addrs[0], int(ram[1, 2, 0])
    assert said.seen == f"SYSTEM_RAM {addr:#x} is {held ^ 1:#04x}, not {held:#04x}, after 10 frames"
    assert said.where is not None and said.where.frame == 12 + first(bundle, "added").frame
    assert found["start"].holds and found["lives"].holds


def test_one_picture(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    pictures = first(bundle, "film").pictures.copy()
    pictures[0, 1] ^= np.uint64(1)
    said = facts(game, changed(bundle, "film", pictures=pictures))["score"]
    assert not said.holds and said.seen == "another picture after 7 frames"


def test_one_button_on_the_way(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    buttons = bundle.buttons.copy()
    moment = first(bundle, "added")
    buttons[moment.episode, moment.frame - 1] ^= 0x40
    found = facts(game, replace(bundle, buttons=buttons))
    assert found["score"].seen.startswith("before the poke SYSTEM_RAM 0x")
    assert found["start"].holds


def test_one_button_of_the_start(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    found = facts(game, replace(bundle, start_buttons=("WAIT:3", "START:5", "WAIT:4")))
    assert found["start"].seen.startswith("after the start sequence SYSTEM_RAM 0x")
    assert (found["score"].equal, found["lives"].equal) == (0, 0)
    assert not any(finding.holds for finding in found.values())


@pytest.mark.parametrize("kind", ["alive", "gone"])
def test_a_measure_of_control(proved: Proved, kind: str) -> None:
    game, bundle = proved("arena_bcd")
    control = 1 - first(bundle, kind).control
    said = facts(game, changed(bundle, kind, control=control))["lives"]
    assert not said.holds and "frames later measures" in said.seen


@pytest.mark.parametrize("kind", ["added", "gone"])
def test_an_experiment_is_missing(proved: Proved, kind: str) -> None:
    game, bundle = proved("arena_bcd")
    left = replace(bundle, experiments=tuple(e for e in bundle.experiments if e.kind != kind))
    said = facts(game, left)[first(bundle, kind).fact]
    assert not said.holds and said.seen == f"the proof holds no experiment of it ({kind})"


@pytest.mark.parametrize("change", [{"written": 70}, {"shown": 70}, {"points": 70}], ids=str)
def test_a_number_that_was_never_there(proved: Proved, change: dict[str, int]) -> None:
    game, bundle = proved("arena_bcd")
    claim = first(bundle, "added").claim | change
    said = facts(game, changed(bundle, "added", claim=claim))["score"]
    assert not said.holds and "was proved" in said.seen and said.equal == said.experiments


# -- a file that says something else ---------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        Variable((COPY + 5, COPY + 4, COPY + 3, COPY + 2, COPY + 1, COPY), "digits"),
        Variable((HIGH + 2, HIGH + 1, HIGH), "bcd"),
        Variable((SCORE, SCORE + 1, SCORE + 2), "bcd"),
        Variable((SCORE + 2, SCORE + 1, SCORE), "bcd", scale=10),
        Variable((SCORE + 1, SCORE), "bcd"),
        Variable((0x200,), "uint"),
    ],
    ids=["copy", "high score", "order", "scale", "a byte less", "nothing"],
)
def test_another_score(proved: Proved, other: Variable) -> None:
    game, bundle = proved("arena_copies", POINTS=7)
    assert facts(game, bundle)["score"].holds
    found = facts(edited(game, score=other), bundle)
    said = found["score"]
    assert said.equal == said.experiments and not said.holds
    assert said.seen.startswith("the file's score is ") and said.seen.endswith(" was proved")
    assert found["start"].holds and found["lives"].holds


@pytest.mark.parametrize("other", [EXTRA, 0x41], ids=["copy", "nothing"])
def test_other_lives(proved: Proved, other: int) -> None:
    game, bundle = proved("arena_decoys", DECOY=MIRROR)
    lives = game.integration.variables["lives"]
    assert lives.addrs == (LIVES,)
    said = facts(edited(game, lives=replace(lives, addrs=(other,))), bundle)["lives"]
    assert not said.holds and said.seen.startswith("the file's lives is ")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("lives == 1", "holds while play goes on"),
        ("lives <= 3", "holds while play goes on"),
        ("", "does not hold after the last life"),
        ("lives == 0 held 60", ""),
    ],
)
def test_another_rule(proved: Proved, rule: str, words: str) -> None:
    game, bundle = proved("arena_bcd")
    other = replace(game, integration=replace(game.integration, terminated=rule))
    said = facts(other, bundle)["lives"]
    assert said.holds is not bool(words) and words in said.seen


def test_another_start(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    facts_ = replace(game.integration, start_buttons=("WAIT:9", "START:6", "WAIT:4"))
    found = facts(replace(game, integration=facts_), bundle)
    assert "start_buttons are others" in found["start"].seen and not found["start"].holds
    assert found["score"].holds and found["lives"].holds


def test_a_fact_that_was_never_proved(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    found = facts(edited(game, game_over=Variable((4,))), bundle)["game_over"]
    assert (found.experiments, found.holds) == (0, False)


def test_what_no_bundle_covers_is_told(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    found = facts(edited(game, level=Variable((4,))), bundle)["level"]
    assert (found.experiments, found.holds) == (0, None)


def test_without_lives_only_the_score_is_judged(proved: Proved) -> None:
    game, bundle = proved("arena_bcd")
    score = {"score": game.integration.variables["score"]}
    bare = replace(game.integration, variables=score, terminated="")
    assert list(facts(replace(game, integration=bare), bundle)) == ["start", "score"]


# -- another game, core or version -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rom_sha1": "0" * 40}, "is a proof on the ROM with sha1 " + "0" * 40),
        ({"core": "fbneo"}, "is a proof on the core fbneo, and this is arena_bcd"),
        ({"core_version": "0.1"}, "is a proof on arena_bcd version 0.1, and this is "),
        ({"spans": ()}, "is a proof on the memory"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_it_was_not_made_with(proved: Proved, change: dict[str, Any], words: str) -> None:
    game, bundle = proved("arena_bcd")
    if "spans" in change:
        change = {"spans": (bundle.spans[0]._replace(size=bundle.spans[0].size * 2),)}
    with pytest.raises(UserError, match=f"arena.proof.npz {words}"):
        reprove(game, replace(bundle, **change), PATH)
