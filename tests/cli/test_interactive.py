"""The prompt of ``ramsearch --interactive`` and recordings searched without a core."""

from __future__ import annotations

import builtins
import io
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit import sandbox
from retrokit.cli import main
from retrokit.cli.interactive import COMMANDS, Prompt, interact
from retrokit.content import Content
from retrokit.discovery.answer import Settings
from retrokit.discovery.poke import Moment
from retrokit.discovery.replay import power_on
from retrokit.discovery.session import Game, Session
from retrokit.errors import CoreNotFound
from retrokit.integration import Integration
from retrokit.systems import FoundCore, core_for

REPO = Path(__file__).resolve().parents[2]
START = ("WAIT:2", "START:6", "WAIT:4")
ACTIONS = ((), ("UP",), ("DOWN",), ("LEFT",), ("RIGHT",), ("B",))
# What a person does with arena_bcd, seed 1: it shows 60 after 5 s and 180 after 10 s.
SCRIPT = """
# the score is drawn with one zero more than is stored
equal 0
play 5s
equal 60
screen shot.png
play 5s
equal 180

type bcd 3 le
mark score #1
mark lives 0x40
over lives == 0
save s.npz
write made.yaml
"""
Talk = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def game(fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]) -> Game:
    return Game(fake_content(), fake_core("arena_bcd"))


def begin(game: Game) -> Session:
    return Session.begin(game, Settings(seed=1, start=START, actions=ACTIONS), lambda event: None)


@pytest.fixture
def talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Talk:
    """Send lines to a session, or to a command line; returns exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def send(to: Session | list[str], *lines: str, force: bool = False) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
        code = interact(to, force) if isinstance(to, Session) else main(["ramsearch", *to])
        return code, *capsys.readouterr()

    return send


@pytest.fixture(scope="module")
def saved(game: Game, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that SCRIPT leaves behind."""
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("sys.stdin", io.StringIO(SCRIPT))
        assert interact(begin(game)) == 0
    yield folder


def test_a_script_narrows_to_the_score(saved: Path) -> None:
    made = Integration.load(saved / "made.yaml")
    score = made.variables["score"]
    assert (score.addrs, score.encoding, score.scale) == ((0x82, 0x81, 0x80), "bcd", 10)
    assert made.variables["lives"].addrs == (0x40,) and made.terminated == "lives == 0"
    assert made.start_buttons == START
    assert made.evidence["score"] == {
        "grade": "by hand", "seen": {"0.00s": 0, "5.00s": 60, "10.00s": 180}
    }  # fmt: skip
    picture = (saved / "shot.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)] == [128, 96]


def test_what_is_said_can_be_read(game: Game, talk: Talk) -> None:
    code, out, err = talk(begin(game), "equal 3", "rose", "same #1", "bdc", "", "quit", "snap")
    assert code == 2
    lines = out.splitlines()
    assert lines[0].endswith("play begins after WAIT:2 START:6 WAIT:4. Try: help")
    assert lines[1:4] == ["> equal 3", "snapshot 1 at 0.00s (frame 0)", lines[3]]
    assert lines[3].endswith("hits (equal 3 #1)")
    assert "quit" in lines[-1]  # and nothing after it
    assert err.splitlines() == [
        "retrokit: error: rose at snapshot 1 of 1; wanted a snapshot with one before it. "
        "Take one with: snap",
        "retrokit: error: same at snapshot 1 of 1; wanted a snapshot with one before it. "
        "Take one with: snap",
        "retrokit: error: there is no command bdc; wanted one of " + " ".join(COMMANDS),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("play", "wanted a time such as 5s, or UP:30 B:4 WAIT:60"),
        ("play 5x", "unknown button '5X'"),
        ("play FIRE:3", "FIRE"),
        ("play 2s @1s", "play at a time; wanted one of screen snap"),
        ("snap @9s", "nothing was played at 9.00s"),
        ("snap @soon", "the time '@soon'"),
        ("equal", "equal without a number"),
        ("equal many", "'many'; wanted a number"),
        ("rose -3", "rose -3; wanted by how much, from 1 up"),
        ("same 5", "'5' after same"),
        ("type bcd 9", "9 bytes of bcd"),
        ("hits few", "'few'"),
        ("undo", "nothing to take back"),
        ("watch", "no place"),
        ("watch #1", "hit 1; wanted 1 to 0. List them with: hits"),
        ("watch 0x1400", "uint 1 at 0x1400; wanted an address in the memory"),
        ("watch 0x13ff bcd 2", "bcd 2 be at 0x13ff"),
        ("watch SRAM:3", "no region SRAM; wanted one of SYSTEM_RAM"),
        ("watch 3 digits 2", "digits 2 be without a base"),
        ("poke 0x40", "poke ADDR VALUE"),
        ("poke 0x40 256", "256 does not fit"),
        ("mark score", "mark score without a place"),
        ("save", "no file to write; wanted save REC.npz"),
        ("save old", "old is kept"),
        ("screen old", "old is kept"),
        ("load", "load without a file"),
        ("load none.npz", "there is no recording none.npz"),
        ("load old", "old is no recording"),
        ("write made.yaml", "no score is marked"),
        ("mark 'score 3", "No closing quotation"),
    ],
)
def test_mistakes_are_one_line_and_end_nothing(
    game: Game, talk: Talk, tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "old").write_text("mine")
    session = begin(game)
    code, out, err = talk(session, line, "mark lives 0x40")
    assert code == 2
    assert len(err.splitlines()) == 1 and said in err and "Traceback" not in err
    assert "lives: 0x40" in out  # it went on
    assert (tmp_path / "old").read_text() == "mine"
    assert session.search.filters == () and session.now == Moment(0, 0)


def test_watch_poke_and_marks(game: Game, talk: Talk) -> None:
    session = begin(game)
    code, out, err = talk(
        session, "watch 0x40", "snap", "watch 0x40", "play UP:10 B:4", "mark lives 0x40",
        "poke lives 7", "poke lives 3 again.png", "poke 0xA2 9", "poke 0x80 1234 bcd 2 le @3f",
        "changed", "undo", "clear", "help",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "no snapshot yet" in out and "snapshot 1 at 0.00s (frame 0): 3" in out
    assert "played 14 frames, now at 0.23s (frame 14)" in out
    assert "0x40 held 3; 7 was written" in out and "it stayed" in out
    assert "it held that already, so this tells nothing" in out and "in again.png" in out
    assert "it was overwritten" in out  # the constant high score
    assert "0x81 0x80 held 0; 1234 was written" in out
    assert "60 frames later it held 1234, and 0 where nothing was written" in out
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["a.poke.png", "again.png"]
    assert session.now == Moment(0, 14) and session.search.filters == ()
    for command in COMMANDS.values():
        assert command.usage in out


def test_a_crash_costs_one_command(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content], talk: Talk
) -> None:
    game = Game(fake_content(), fake_core("segfault_in_run"))
    heard: list[Any] = []
    sandbox.call(power_on, (game.content, game.found, Settings()), on_event=heard.append)
    session = Session(heard[0][1], game)
    lines = ["snap", "mark score 0x0", "play 10f", "screen", "play 1f", "rose 1", "write a.yaml"]
    code, out, err = talk(session, *lines)
    assert code == 1
    assert err.count("the core died of SIGSEGV in retro_run") == 1
    assert "that came to nothing; play, snapshots and marks are kept" in err
    assert "now at 0.02s (frame 1)" in out
    assert Integration.load("a.yaml").evidence["score"]["seen"] == {"0.00s": 1, "0.02s": 2}


def test_ctrl_c_ends_a_script_and_not_a_person(
    game: Game, talk: Talk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = begin(game)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        talk(session, "snap", "play 5s")
    typed: list[str | type[BaseException]] = [
        "play 5s", KeyboardInterrupt, "nonsense", "snap", EOFError,
    ]  # fmt: skip

    def type_in(prompt: str) -> str:
        line = typed.pop(0)
        if isinstance(line, str):
            return line
        raise line

    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.setattr(builtins, "input", type_in)
    assert interact(session) == 0  # a person's mistakes are no failure
    out, err = capsys.readouterr()
    assert "interrupted; the session is as it was before" in err and "no command nonsense" in err
    assert "(leave with: quit)" in out and "snapshot 2" in out and typed == []


def test_files_of_the_session_are_written_again_and_others_are_not(
    game: Game, talk: Talk, tmp_path: Path
) -> None:
    (tmp_path / "mine.npz").write_bytes(b"mine")
    session = begin(game)
    assert talk(session, "snap", "screen a.png", "screen a.png", "save b.npz", "save b.npz")[0] == 0
    assert talk(session, "save mine.npz")[0] == 2
    assert (tmp_path / "mine.npz").read_bytes() == b"mine"
    assert talk(session, "save mine.npz", force=True)[0] == 0
    prompt = Prompt(Session.open(Path("mine.npz"), game), False)
    assert prompt.obey("load b.npz") and len(prompt.session.times) == 1 and prompt.code == 0


def test_play_begins_where_a_person_says(game: Game, talk: Talk) -> None:
    session = begin(game)
    _, out, _ = talk(session, "play B:3", "begin", "snap")
    assert "play begins here, after WAIT:2 START:6 WAIT:4 B:3" in out
    assert "snapshot 1 at 0.00s" in out


# -- without a core --------------------------------------------------------------------------------


def test_a_recording_is_taken_up_without_its_core(saved: Path, talk: Talk) -> None:
    file = str(saved / "s.npz")
    lines = ["hits", "type any", "equal 90 @7s", "watch score", "undo", "undo", "type bcd 3 le"]
    lines += ["hits", "write again.yaml"]
    code, out, err = talk([file, "--interactive"], *lines)
    assert (code, err) == (0, "")
    assert "No core: it is searched and not played" in out
    assert "1 episode(s) of 600 frames recorded" in out
    row = "#1   0x82 0x81 0x80  bcd 3 le  10"
    assert out.count(row) >= 2
    assert "snapshot 4 at 7.00s (frame 420): 90" in out
    first, second = (Integration.load(p) for p in (saved / "made.yaml", "again.yaml"))
    assert first == second
    for line in ("play 1s", "poke 3 4", "screen"):
        code, _, err = talk([file, "--interactive"], line)
        assert code == 2 and "there is no core here, only a recording" in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--core", "fbneo"], "--core and the recording"),
        (["--seed", "0"], "--seed and the recording"),
        (["--out", "a.yaml"], "--out and the recording"),
        (["--interactive", "--json"], "--json and --interactive together"),
        (["--interactive", "--hint", "score=1@1s"], "--hint and --interactive together"),
        (["--hint", "score=1"], "the hint 'score=1'"),
        (["--hint", "score=1@90s"], "a time in its 1 episode of 10.0 s (600 frames)"),
        (["--hint", "score=1@2:1s"], "is not in the recording"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_makes_no_sense_with_a_recording(
    saved: Path, talk: Talk, args: list[str], said: str
) -> None:
    code, _, err = talk([str(saved / "s.npz"), *args])
    assert code == 2 and said in err and len(err.splitlines()) == 1


def test_a_filter_compares_the_snapshots_that_were_taken(saved: Path, talk: Talk) -> None:
    """Not the end of the recording, where nobody took one; a time names its snapshot."""
    session = Session.open(saved / "s.npz")
    session.clear()
    taken = len(session.times)
    lines = ["snap @1s", "snap @6s", "rose", "clear", "fell @1s", "same @2s"]
    code, out, _ = talk(session, *lines)
    assert code == 0 and len(session.times) == taken + 3  # of 2 s there was none
    assert f"(rose #{taken + 2})" in out
    assert [str(one) for one in session.search.filters] == [
        f"fell #{taken + 1}", f"same #{taken + 3}"
    ]  # fmt: skip


def test_a_filter_is_taken_back_with_its_own_snapshot(saved: Path, talk: Talk) -> None:
    session = Session.open(saved / "s.npz")
    times, filters = session.times, session.search.filters
    assert talk(session, "equal 90 @7s", "undo")[0] == 0
    assert (session.times, session.search.filters) == (times, filters)
    assert talk(session, "snap @7s", "equal 90", "undo")[0] == 0
    assert (len(session.times), session.search.filters) == (len(times) + 1, filters)


def test_what_is_typed_wrong_is_told_at_once(saved: Path, talk: Talk) -> None:
    session = Session.open(saved / "s.npz")
    code, out, err = talk(session, "eqal 3", "over livse == 0", "over lives ==")
    assert code == 2 and "there is no command eqal; wanted equal" in err
    assert "before you write, mark that too: unknown variable 'livse'" in out
    assert session.over == "livse == 0" and "found the end of the rule" in err


def test_hints_over_a_recording(saved: Path, talk: Talk) -> None:
    file = str(saved / "s.npz")
    hints = ["--hint", "score=60@5s", "--hint", "score=180@600f", "--hint", "lives=3@0s"]
    code, out, err = talk([file, *hints])
    assert code == 0 and "Without the core nothing is proved" in err
    assert "0x82 0x81 0x80" in out and "lives may be:" in out
    assert " unproved " in out and " proved " not in out and " likely " not in out
    code, out, _ = talk([file, *hints, "--json"])
    answer = json.loads(out)
    assert code == 0 and answer["scored"] and answer["out"] is None
    places = [(c["score_addrs"], c["score_scale"], c["grade"]) for c in answer["candidates"]]
    assert ([0x82, 0x81, 0x80], 10, "unproved") in places
    assert {grade for *_, grade in places} == {"unproved"}
    assert {"addrs": [0x40]} in answer["hints"]["lives"]


def test_hints_that_nothing_fits(saved: Path, talk: Talk) -> None:
    code, out, err = talk([str(saved / "s.npz"), "--hint", "score=180@6s", "--json"])
    assert "score=180@6s: nothing that behaves like a score fits" in err
    # nearest: what read 180 some seconds later, and what it read at the time of the hint
    assert "nearly, score=180@6s:" in err and "and 180 from" in err
    code, out, err = talk([str(saved / "s.npz"), "--hint", "score=987654@6s", "--json"])
    assert code == 1 and json.loads(out)["candidates"] == []
    assert "score=987654@6s: nothing that behaves like a score fits" in err


def test_behaviour_alone_is_listed_as_such(saved: Path, talk: Talk) -> None:
    code, _, err = talk([str(saved / "s.npz")])
    assert code in (0, 1) and "Behaviour alone often misleads" in err


def test_a_file_that_is_no_recording(talk: Talk, tmp_path: Path) -> None:
    assert talk(["none.npz"])[0] == 2
    (tmp_path / "a.npz").write_bytes(b"PK")
    for more in ([], ["--interactive"]):
        code, _, err = talk(["a.npz", *more])
        assert code == 2 and "a.npz is no recording" in err and len(err.splitlines()) == 1


# -- a real core -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def arcade() -> None:
    try:
        core_for("arcade")
    except CoreNotFound as error:
        pytest.skip(str(error))


def test_hints_need_a_recording(arcade: None, talk: Talk) -> None:
    code, _, err = talk(["burrow", "--hint", "score=430@12.5s"])
    assert code == 2 and "--hint without a recording; wanted --resume too" in err


@pytest.mark.slow
def test_burrow_by_hand(arcade: None, talk: Talk) -> None:
    truth = tomllib.loads((REPO / "games/burrow.toml").read_text())
    lines = ["equal 0", "play 10s", "equal 400", "play 10s", "equal 800", "type bcd 3 le"]
    lines += ["mark score #1", f"mark lives {truth['lives_addr']:#x}", "save s.npz", "write b.yaml"]
    actions = "NOOP,UP,DOWN,LEFT,RIGHT,B,UP+B,DOWN+B,LEFT+B,RIGHT+B,UP+LEFT,UP+RIGHT,DOWN+LEFT,"
    actions += "DOWN+RIGHT,UP+LEFT+B,UP+RIGHT+B,DOWN+LEFT+B,DOWN+RIGHT+B"
    start = "WAIT:361 SELECT:6 WAIT:10 START:6 WAIT:30"
    given = ["--interactive", "--seed", "4", "--start", start, "--actions", actions]
    code, out, err = talk(["burrow", *given], *lines)
    assert code == 0, err
    made = Integration.load("b.yaml")
    assert list(made.variables["score"].addrs) == truth["score_addrs"]
    code, out, _ = talk(["s.npz", "--hint", "score=400@10s", "--hint", "score=800@20s", "--json"])
    found = [candidate["score_addrs"] for candidate in json.loads(out)["candidates"]]
    assert code == 0 and truth["score_addrs"] in found
    assert np.load("s.npz")["buttons"].shape == (1200,)
