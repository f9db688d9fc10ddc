"""The search as a whole: what it hands out, how it goes on from a tape, what it never answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit import sandbox
from retrokit.content import Content, identify
from retrokit.core import Span
from retrokit.discovery.actions import Buttons
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.candidates import Candidate, behaviour
from retrokit.discovery.explore import AT_RANDOM, EXPLORED, LONGER
from retrokit.discovery.lives import Lives
from retrokit.discovery.search import EPISODES, ROUNDS, search
from retrokit.discovery.tape import Origin, Tape
from retrokit.errors import CoreNotFound, NoMemory, SearchFailed, UserError
from retrokit.integration import Integration
from retrokit.systems import FoundCore, core_for, data_path
from retrokit.values import Variable

ACTIONS = (("UP",), ("DOWN",), ("B",))
PLAIN = Settings(frames=1800, seed=5, actions=ACTIONS, start=("WAIT:60", "START:4"))
Heard = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def counter(fake_core: Callable[..., FoundCore]) -> FoundCore:
    """A game whose points rise with button B and stand nowhere on the screen."""
    return fake_core("counter")


@pytest.fixture(scope="module")
def content(fake_content: Callable[..., Content]) -> Content:
    return fake_content()


@pytest.fixture(scope="module")
def whole(counter: FoundCore, content: Content) -> tuple[Answer, Heard]:
    return heard(counter, content, PLAIN)


def heard(found: FoundCore, content: Content, settings: Settings) -> tuple[Answer, Heard]:
    events: Heard = []
    return search(events.append, content, found, settings), events


def taped(events: Heard, path: Path, episodes: int, **changes: Any) -> Path:
    """Write the tape of an interrupted search."""
    tape = Tape()
    for kind, *rest in events:
        if kind == "origin":
            tape.origin = replace(rest[0], **changes)
        elif kind == "episode" and rest[0] < episodes:
            tape.put(*rest)
    tape.save(path)
    return path


def test_points_that_no_screen_shows_are_no_score(whole: tuple[Answer, Heard]) -> None:
    answer, _ = whole
    assert answer.candidates == [] and answer.best is None
    assert answer.frames == (ROUNDS - 1 + LONGER) * 1800
    said = answer.to_dict(identify_nothing())
    assert said["scored"] is False and said["candidates"] == []
    with pytest.raises(SearchFailed, match="nothing scored.*fire"):
        answer.integration(identify_nothing())


def identify_nothing() -> Content:
    path = Path("a.bin")
    return Content(path, "a", "arcade", "0" * 40, "0" * 40, 1, "", "rom", path, b"a")


def test_all_is_handed_out_as_it_comes(whole: tuple[Answer, Heard]) -> None:
    _, events = whole
    kinds = [event[0] for event in events]
    assert kinds.count("origin") == 1
    assert kinds.index("origin") < kinds.index("episode")
    episodes = [event[1:] for event in events if event[0] == "episode"]
    assert [number for number, *_ in episodes] == list(range(ROUNDS * EPISODES))
    lengths = [300] * (ROUNDS - 1) * EPISODES + [LONGER * 300] * EPISODES
    for length, (_, offsets, _, ram, _) in zip(lengths, episodes, strict=True):
        assert ram.shape == (length, len(offsets))
    styles = [style for *_, style in episodes]
    assert styles[-EPISODES + AT_RANDOM :] == [EXPLORED] * (EPISODES - AT_RANDOM)
    assert all(0 <= event[2] <= 1 for event in events if event[0] == "stage")
    origin: Origin = events[kinds.index("origin")][1]
    assert (origin.seed, origin.frames, origin.action_set) == (5, 1800, ACTIONS)
    assert origin.start_buttons == ("WAIT:60", "START:4")
    assert origin.fire == ("B",)


@pytest.mark.parametrize("episodes", [0, 2, EPISODES + 1, 2 * EPISODES + 3, ROUNDS * EPISODES])
def test_a_tape_is_gone_on_with(
    whole: tuple[Answer, Heard], counter: FoundCore, content: Content, tmp_path: Path, episodes: int
) -> None:
    answer, events = whole
    path = taped(events, tmp_path / "a.npz", episodes)
    settings = Settings(frames=1800, seed=5, resume=path)
    again, new = heard(counter, content, settings)
    known = {event[1]: event for event in events if event[0] == "episode"}
    fresh = [event for event in new if event[0] == "episode"]
    assert [event[1] for event in fresh] == list(range(episodes, ROUNDS * EPISODES))
    for event in fresh:
        assert np.array_equal(event[3], known[event[1]][3])
        assert np.array_equal(event[4], known[event[1]][4])
    assert "warning" not in [event[0] for event in new]
    assert again.start_buttons == answer.start_buttons
    assert again.buttons.action_set == answer.buttons.action_set
    assert again.frames == answer.frames


def test_a_core_that_plays_otherwise_now_is_told(
    whole: tuple[Answer, Heard], counter: FoundCore, content: Content, tmp_path: Path
) -> None:
    path = taped(whole[1], tmp_path / "a.npz", 2)
    tape = Tape.load(path)
    ram = tape.ram(1).copy()
    ram[70, 4] ^= 1
    tape.put(1, tape.offsets, tape.logs[1], ram)
    tape.save(path)
    _, new = heard(counter, content, Settings(frames=1800, seed=5, resume=path))
    warnings = [event[1] for event in new if event[0] == "warning"]
    assert len(warnings) == 1 and "episode 1, from frame 70 on" in warnings[0]
    assert [event[1] for event in new if event[0] == "episode"][0] == 1


@pytest.mark.parametrize(
    "changes", [{"core_version": "0"}, {"spans": (Span("SYSTEM_RAM", 0, 99),)}], ids=str
)
def test_a_tape_of_another_core_is_refused(
    whole: tuple[Answer, Heard],
    counter: FoundCore,
    content: Content,
    tmp_path: Path,
    changes: dict[str, Any],
) -> None:
    path = taped(whole[1], tmp_path / "a.npz", 2, **changes)
    with pytest.raises(UserError, match="is a recording of"):
        heard(counter, content, Settings(resume=path))


def test_a_core_without_memory_says_so(
    fake_core: Callable[..., FoundCore], content: Content
) -> None:
    with pytest.raises(NoMemory, match="no memory and no savestate"):
        heard(fake_core("nothing"), content, PLAIN)


def made() -> Answer:
    """An answer as a good search gives it."""
    series = np.array([[0, 0, 100, 100, 300]])
    score = Variable((7, 6), "bcd", "SYSTEM_RAM")
    candidate = Candidate(score, (7, 6), behaviour(series, 0), "proved", {"grade": "proved"})
    return Answer(
        core="fbneo",
        core_version="1",
        rotation=90,
        spans=(Span("SYSTEM_RAM", 0, 100), Span("MAP_1", 100, 50)),
        start_buttons=["WAIT:60", "START:4"],
        buttons=Buttons([[], ["UP", "B"]], ["UP", "B"], ["B"], [], []),
        candidates=[candidate],
        lives=Lives(120, 0x0F, 0, False, 3, 0, False, "proved", {"poked": 1}),
        frames=9000,
        seconds=1.234,
        settings=Settings(),
    )


def test_the_keys_of_the_issue() -> None:
    said = made().to_dict(identify_nothing())
    first = said["candidates"][0]
    assert {name: first[name] for name in (
        "rank", "score_addrs", "score_scale", "score_base", "score_blank", "grade", "evidence",
    )} == {
        "rank": 1, "score_addrs": [7, 6], "score_scale": 1, "score_base": 0, "score_blank": None,
        "grade": "proved", "evidence": {"grade": "proved"},
    }  # fmt: skip
    assert first["score_encoding"].startswith("bcd")
    assert (said["lives_addr"], said["lives_grade"]) == (20, "proved")
    assert said["lives"]["region"] == "MAP_1"
    assert said["start_buttons"] == ["WAIT:60", "START:4"]
    assert said["action_set"] == [[], ["UP", "B"]]
    assert (said["rotate"], said["terminated"]) == (90, "lives == 0")
    assert (said["frames"], said["seconds"]) == (9000, 1.23)
    assert said["scored"] is True


def test_the_integration_says_the_same(tmp_path: Path) -> None:
    made().integration(identify_nothing()).save(tmp_path / "a.yaml")
    loaded = Integration.load(tmp_path / "a.yaml")
    assert loaded.variables["score"].addrs == (7, 6)
    lives = loaded.variables["lives"]
    assert (lives.addrs, lives.region, lives.mask) == ((20,), "MAP_1", 0x0F)
    assert (loaded.rotate, loaded.terminated) == (90, "lives == 0")
    assert [set(action) for action in loaded.action_set] == [set(), {"UP", "B"}]
    assert loaded.evidence["score"] == {"grade": "proved"}


def test_the_other_players_score_is_written_beside_ours() -> None:
    answer, content = made(), identify_nothing()
    series = np.array([[0, 100]])
    theirs = Candidate(Variable((9, 8), "bcd"), (9, 8), behaviour(series, 0), "proved", {"note": 1})
    answer.candidates.append(theirs)
    integration = answer.integration(content)
    assert integration.variables["score"].addrs == (7, 6)
    assert integration.variables["rival_score"].addrs == (9, 8)
    assert integration.evidence["rival_score"] == {"note": 1}
    theirs.grade = "likely"
    assert "rival_score" not in answer.integration(content).variables


def test_what_is_not_proved_is_not_written() -> None:
    answer = made()
    assert answer.lives is not None
    answer.lives.grade = "unproved"
    integration = answer.integration(identify_nothing())
    assert "lives" not in integration.variables and integration.terminated == ""
    answer.candidates[0].grade = "unproved"
    with pytest.raises(SearchFailed):
        answer.integration(identify_nothing())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "seed", "shown"),
    [("burrow", 0, True), ("skydrop", 1, False)],  # skydrop draws its score when it rises
)
def test_without_fire_nothing_is_proved(game: str, seed: int, shown: bool) -> None:
    """Nor is a high score offered, or a copy in the screen's own memory."""
    try:
        found = core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))
    content = identify(data_path("games") / game / f"{game}.zip")
    truth = tomllib.loads((data_path("games") / f"{game}.toml").read_text())
    settings = Settings(
        frames=3000,
        seed=seed,
        actions=(("UP",), ("DOWN",), ("LEFT",), ("RIGHT",)),
        start=("WAIT:300", "SELECT:10", "WAIT:10", "START:10", "WAIT:60"),
    )
    answer = sandbox.call(search, (content, found, settings))
    good = [candidate for candidate in answer.candidates if candidate.grade != "unproved"]
    assert [(c.grade, list(c.variable.addrs)) for c in good] == (
        [("likely", truth["score_addrs"])] if shown else []
    )
    for candidate in answer.candidates:
        assert not set(candidate.offsets) & set(truth["hiscore_addrs"])
    assert answer.frames == (ROUNDS - 1 + LONGER) * 3000
