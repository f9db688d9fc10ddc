"""A person's session on made-up games: nothing is lost, whatever the core does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrokit import sandbox
from retrokit.content import Content
from retrokit.discovery.answer import Settings
from retrokit.discovery.hint import Hint
from retrokit.discovery.lens import Lens, every_lens
from retrokit.discovery.narrow import Filter
from retrokit.discovery.poke import Moment
from retrokit.discovery.replay import power_on
from retrokit.discovery.search import search
from retrokit.discovery.session import SHORTEST, Game, Session
from retrokit.discovery.tape import Tape
from retrokit.errors import CoreCrashed, IntegrationError, UserError
from retrokit.systems import FoundCore
from retrokit.values import Variable

START = ("WAIT:2", "START:6", "WAIT:4")
ACTIONS = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",), ("B",))
SCORE = Variable((0x82, 0x81, 0x80), "bcd")
LIVES = Variable((0x40,))


@pytest.fixture(scope="module")
def arena_game(fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]) -> Game:
    return Game(fake_content(), fake_core("arena_bcd"))


@pytest.fixture(scope="module")
def saved(arena_game: Game, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session over 10 s of play, narrowed to the score, marked and saved."""
    session = begin(arena_game)
    session.snap()
    for _ in range(2):
        session.play(session.random(300))
        session.snap()
    for number, value in enumerate(session.seen(SCORE)):
        session.filter(Filter("equal", number, value * 10))  # as drawn
    session.through([Lens("bcd", 3, "le")])
    session.marks = {"score": Variable(SCORE.addrs, "bcd", scale=10), "lives": LIVES}
    session.over = "lives == 0"
    path = tmp_path_factory.mktemp("session") / "s.npz"
    session.save(path)
    return path


def begin(game: Game) -> Session:
    return Session.begin(game, Settings(seed=1, start=START, actions=ACTIONS), lambda event: None)


def hits_of(session: Session) -> set[tuple[object, ...]]:
    return {(r.lens, r.offsets, r.choices) for r in session.search.look(10**6)[1]}


def test_play_goes_on_where_it_was_and_is_the_same_in_pieces(arena_game: Game) -> None:
    whole, pieces = begin(arena_game), begin(arena_game)
    ran = whole.play(whole.random(200))
    for frames in (1, 79, 120):
        last = pieces.play(pieces.random(frames))
    assert np.array_equal(whole.logs[0], pieces.logs[0]) and whole.now == Moment(0, 200)
    assert np.array_equal(ran.ram, last.ram) and np.array_equal(ran.picture, last.picture)
    back = whole.look(Moment(0, 80))
    assert np.array_equal(back.ram, pieces.look(Moment(0, 80)).ram)
    assert not np.array_equal(back.ram, ran.ram)
    assert np.array_equal(whole.look().ram, ran.ram)  # looking back changes nothing
    assert back.picture.shape == (96, 128, 3)
    with pytest.raises(UserError, match=r"nothing was played at 3.35s; wanted a time up to 3.33s"):
        whole.look(Moment(0, 201))
    with pytest.raises(UserError, match="in 1 episode"):
        whole.look(Moment(1, 0))


def test_snapshots_are_what_the_core_held(arena_game: Game) -> None:
    session = begin(arena_game)
    session.snap()
    ran = session.play(session.random(90))
    session.snap()
    session.snap(Moment(0, 30))
    assert session.times == (Moment(0, 0), Moment(0, 90), Moment(0, 30))
    assert np.array_equal(session.search.rows[1], ran.ram)
    assert np.array_equal(session.search.rows[2], session.look(Moment(0, 30)).ram)
    assert session.seen(LIVES)[0] == 3


def test_undo_goes_back_step_by_step(arena_game: Game) -> None:
    session = begin(arena_game)
    assert not session.undo()
    session.snap()
    session.filter(Filter("equal", 0, 3))
    some = hits_of(session)
    session.through([Lens("uint")])
    session.clear()
    assert len(hits_of(session)) == 5120
    assert session.undo() and session.undo()
    assert hits_of(session) == some and session.search.lenses == every_lens()
    assert session.undo() and session.undo() and not session.undo()
    assert session.times == () and session.search.rows == ()


def test_a_core_that_crashes_costs_nothing_but_the_command(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> None:
    game, heard = Game(fake_content(), fake_core("segfault_in_run")), []
    sandbox.call(power_on, (game.content, game.found, Settings()), on_event=heard.append)
    session = Session(heard[0][1], game)
    session.play(np.zeros(1, np.uint16))
    session.snap()
    session.marks["score"] = Variable((0,))
    with pytest.raises(CoreCrashed, match="SIGSEGV in retro_run"):
        session.play(np.zeros(10, np.uint16))
    with pytest.raises(CoreCrashed):
        session.poke([9], b"\x07")
    assert session.now == Moment(0, 1) and len(session.times) == 1
    session.play(np.zeros(1, np.uint16))
    session.snap()
    session.filter(Filter("rose", 1, 1))
    assert (0,) in [reading.offsets for reading in session.search.look(50)[1]]
    assert session.integration().variables["score"] == Variable((0,))


def test_pokes_tell_a_score_from_its_copy_and_leave_play_alone(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> None:
    session = begin(Game(fake_content(), fake_core("arena_copies")))
    session.play(session.random(60))
    before = session.look().ram
    score = session.poke([0x80, 0x81], b"\x42\x24")
    assert score.poked.tolist() == [[0x42, 0x24]] * 3 and score.written == b"\x42\x24"
    assert score.untouched.tolist() == [list(score.before)] * 3
    copy = session.poke([0x90], b"\x42")
    assert copy.poked.tolist() == copy.untouched.tolist() != [[0x42]] * 3
    assert np.array_equal(session.look().ram, before) and session.now == Moment(0, 60)
    assert not np.array_equal(score.picture, copy.picture)  # one of them is drawn
    past = session.poke([0x80], b"\x11", Moment(0, 10))  # what was pressed then is pressed again
    assert past.poked[-1].tolist() == [0x11]


def test_a_session_is_reopened_without_its_core(saved: Path, arena_game: Game) -> None:
    with_core, without = Session.open(saved, arena_game), Session.open(saved)
    assert without.game is None and hits_of(without) == hits_of(with_core) != set()
    assert without.search.lenses == (Lens("bcd", 3, "le"),)
    assert without.times == (Moment(0, 0), Moment(0, 300), Moment(0, 600))
    assert without.marks["score"].scale == 10 and without.over == "lives == 0"
    assert [r.offsets for r in without.search.look(9)[1]] == [SCORE.addrs]
    # another type, and another moment of the recording, without playing
    without.through(every_lens())
    with_core.through(every_lens())
    assert hits_of(without) == hits_of(with_core)
    without.snap(Moment(0, 333))
    assert np.array_equal(without.search.rows[-1], with_core.look(Moment(0, 333)).ram)
    for refused in (without.look, lambda: without.play(np.zeros(3, np.uint16))):
        with pytest.raises(UserError, match="no core here, only a recording"):
            refused()
    made = without.integration()
    assert (made.game, made.system, made.terminated) == ("a", "unknown", "lives == 0")
    assert made.start_buttons == START and made.variables["lives"] == LIVES
    assert made.evidence["grade"] == made.evidence["score"]["grade"] == "by hand"
    assert list(made.evidence["lives"]["seen"])[0] == "0.00s"


def test_a_reopened_session_plays_on(saved: Path, arena_game: Game, tmp_path: Path) -> None:
    session = Session.open(saved, arena_game)
    session.play(session.random(100))
    session.snap()
    session.save(tmp_path / "more.npz")
    again = Session.open(tmp_path / "more.npz")
    assert again.now == Moment(0, 700) and np.array_equal(again.logs[0], session.logs[0])
    assert np.array_equal(again.search.rows[-1], session.look().ram)
    with pytest.raises(UserError, match="a recording of the ROM with sha1"):
        other = Content(saved, "b", "unknown", "1" * 40, "1" * 40, 1, "", "rom", saved, b"b")
        Session.open(saved, Game(other, arena_game.found))


def test_short_play_is_filled_up_so_that_a_search_can_go_on(
    arena_game: Game, tmp_path: Path
) -> None:
    session = begin(arena_game)
    session.save(tmp_path / "none.npz")
    assert Tape.load(tmp_path / "none.npz").episodes == 0
    session.play(session.random(50))
    session.save(tmp_path / "a.npz")
    tape = Tape.load(tmp_path / "a.npz")
    assert tape.longest == tape.frames == SHORTEST and not tape.logs[0][50:].any()
    assert tape.origin is not None and tape.origin.frames == 6 * SHORTEST
    ram = tape.recording().ram[0]
    assert np.array_equal(ram[49], session.look().ram[tape.offsets])


def test_a_hinted_search_proves_what_the_session_saw(saved: Path, arena_game: Game) -> None:
    """The whole way: a person plays and saves; the search goes on with that and a hint."""
    tape = Tape.load(saved)
    assert tape.origin is not None
    session = Session.open(saved)
    shown = session.seen(session.marks["score"])
    texts = [f"score={shown[1]}@5s", f"score={shown[2]}@600f"]
    hints = tuple(Hint.parse(text, tape.origin.fps) for text in texts)
    assert 0 < shown[1] < shown[2]
    settings = Settings(tape.origin.frames, tape.origin.seed, resume=saved, hints=hints)
    answer = search(lambda event: None, arena_game.content, arena_game.found, settings)
    assert answer.best is not None and answer.best.grade == "proved"
    assert answer.best.offsets == SCORE.addrs and answer.best.variable.scale == 10
    assert answer.best.evidence["hints"] == texts
    assert all(candidate.evidence["hints"] == texts for candidate in answer.candidates)


def test_play_may_begin_at_power_on_and_later(arena_game: Game) -> None:
    heard: list[tuple[object, ...]] = []
    session = Session.begin(arena_game, Settings(start=("WAIT:1",), actions=ACTIONS), heard.append)
    assert session.seen(LIVES) == []
    session.play(np.array([0] * 4 + [8] * 6 + [0] * 4, np.uint16))  # START
    session.snap()
    assert session.seen(LIVES) == [3]
    ram = session.look().ram
    session.start_here()
    assert session.origin.start_buttons == ("WAIT:5", "START:6", "WAIT:4")
    assert session.now == Moment(0, 0) and session.times == ()
    session.snap()
    assert np.array_equal(session.search.rows[0], ram)


def test_where_no_start_is_found_play_begins_at_power_on(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> None:
    heard: list[tuple[object, ...]] = []
    game = Game(fake_content(), fake_core("counter"))
    session = Session.begin(game, Settings(), heard.append)
    assert [event for event in heard if event[0] == "warning"]
    assert session.origin.start_buttons == ("WAIT:1",) and session.origin.fire == ("B", "A")
    session.play(np.ones(3, np.uint16))
    session.snap()
    assert session.seen(Variable((0,))) == [4]


def test_an_integration_needs_a_score_and_a_rule_that_can_be(arena_game: Game) -> None:
    session = begin(arena_game)
    with pytest.raises(UserError, match="no score is marked"):
        session.integration()
    session.marks["score"] = SCORE
    session.over = "energy == 0"
    with pytest.raises(IntegrationError, match="energy"):
        session.integration()
    session.over = ""
    session.marks["score"] = Variable((9999,))
    with pytest.raises(IntegrationError, match="0x270f"):
        session.integration()


def test_damaged_sessions_are_refused(saved: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(saved))
    arrays["filters"] = np.array(["equal ?"])
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(UserError, match=r"bad.npz is no session, or it is damaged \('\?'"):
        Session.open(tmp_path / "bad.npz")


def test_recordings_of_older_versions_are_opened(saved: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(saved))
    for name in ("memory", "fps", "game", "system", "marks"):
        del arrays[name]
    np.savez(tmp_path / "old.npz", **arrays)
    old, new = Session.open(tmp_path / "old.npz"), Session.open(saved)
    assert (old.origin.fps, old.origin.game, old.times, old.marks) == (60.0, "", (), {})
    assert np.array_equal(old.bytes_at(Moment(0, 300)), new.bytes_at(Moment(0, 300)))
    # what RAM was at the start of play is not in such a file: the first frame stands for it
    assert np.array_equal(old.bytes_at(Moment(0, 0)), old.bytes_at(Moment(0, 1)))


def test_bytes_that_were_not_recorded_read_as_at_the_start(saved: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(saved))
    kept = np.flatnonzero(arrays["offsets"] >= 0x80)
    arrays |= {"offsets": arrays["offsets"][kept], "ram": arrays["ram"][:, kept]}
    np.savez(tmp_path / "some.npz", **arrays)
    row = Session.open(tmp_path / "some.npz").bytes_at(Moment(0, 600))
    whole = Session.open(saved).bytes_at(Moment(0, 600))
    start = Session.open(saved).bytes_at(Moment(0, 0))
    assert np.array_equal(row[0x80:], whole[0x80:]) and np.array_equal(row[:0x80], start[:0x80])
    assert not np.array_equal(whole[:0x80], start[:0x80])
