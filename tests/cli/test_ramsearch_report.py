"""``retrokit ramsearch --report``: a page whatever comes of the search."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrokit.cli import main
from retrokit.core import Span
from retrokit.discovery.tape import Origin
from retrokit.systems import FoundCore

Run = Callable[..., tuple[int, str, str]]
PLAY = ("--start", "WAIT:2 START:6 WAIT:4")


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fake_core: Callable[..., FoundCore],
) -> Run:
    """Search an arena game in an empty folder; returns exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)
    Path("arena.bin").write_bytes(b"a game" * 700)

    def call(*args: object, core: str = "arena_bcd") -> tuple[int, str, str]:
        path = str(fake_core(core).path)
        code = main(["ramsearch", "arena.bin", "--core", path, *map(str, args)])
        return code, *capsys.readouterr()

    return call


def test_a_search_with_a_report(run: Run) -> None:
    code, out, _ = run(*PLAY, "--frames", 4800, "--report", "page.html", "--json")
    answer, text = json.loads(out), Path("page.html").read_text("utf-8")
    assert (code, answer["report"]) == (0, "page.html")
    where = " ".join(f"0x{addr:x}" for addr in answer["candidates"][0]["score_addrs"])
    assert where in text and answer["terminated"] in text and "The pokes" in text
    assert text.count("data:image/png;base64,") > 15


def test_a_report_of_a_search_that_found_nothing(run: Run) -> None:
    actions = ("--actions", "NOOP,UP,DOWN,LEFT,RIGHT")
    given = (*PLAY, *actions, "--frames", 1800, "--report", "page.html")
    code, _, err = run(*given, core="arena_unseen")
    assert code == 1 and "nothing scored" in err
    text = Path("page.html").read_text("utf-8")
    assert "Nothing scored in 9,000 frames of play." in text and "Why no score was found" in text
    assert "data:image/png;base64," in text


def test_no_report_where_none_is_wanted(run: Run) -> None:
    code, out, _ = run(*PLAY, "--frames", 4800, "--json")
    assert (code, json.loads(out)["report"]) == (0, None)
    assert list(Path().glob("*.html")) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere/page.html", "cannot write into nowhere"),
        (".", ". is a folder"),
        ("arena.bin", "is the game itself"),
        ("mine.html", "mine.html is kept; wanted a new file. Give --force or another --report"),
    ],
)
def test_where_a_report_cannot_go_is_told_at_once(run: Run, path: str, said: str) -> None:
    Path("mine.html").write_text("by hand")
    code, out, err = run("--report", path)
    assert (code, out) == (2, "") and said in err
    assert len(err.splitlines()) == 1
    assert Path("mine.html").read_text() == "by hand"


# -- what does not come to an end ------------------------------------------------------------------

ORIGIN = Origin(
    "0" * 40, "arena", "1", (Span("SYSTEM_RAM", 0, 2),), 0, 9000, ("WAIT:60",), ((), ("B",)),
    ("B",), b"no state of this core",
)  # fmt: skip


def dies(emit: Callable[[Any], None], *_: Any) -> None:
    emit(("origin", ORIGIN))
    os.kill(os.getpid(), signal.SIGSEGV)


def is_interrupted(emit: Callable[[Any], None], *_: Any) -> None:
    emit(("stage", "finding the start", 0.1))
    os.kill(os.getppid(), signal.SIGINT)
    signal.pause()


def replace_search(monkeypatch: pytest.MonkeyPatch, search: Callable[..., None]) -> None:
    monkeypatch.setattr(sys.modules["retrokit.cli.ramsearch"], "search", search)


def test_a_crash_leaves_a_report_without_pictures(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_search(monkeypatch, dies)
    code, _, err = run("--report", "page.html")
    assert code == 1 and "the report has no pictures" in err and "Traceback" not in err
    text = Path("page.html").read_text("utf-8")
    assert "SIGSEGV" in text and "No pictures: " in text and "<img" not in text
    assert "WAIT:60" in text


def test_ctrl_c_leaves_a_report(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_search(monkeypatch, is_interrupted)
    code, out, err = run("--report", "page.html")
    assert (code, out) == (130, "") and "nothing is kept" in err
    text = Path("page.html").read_text("utf-8")
    assert "The search was interrupted. No start was found yet" in text
    assert text.count("from power-on") > 3


def test_ctrl_c_keeps_the_start_that_was_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_search(monkeypatch, is_interrupted)
    _, _, err = run("--start", "WAIT:9 START:4")
    assert "No start was found" not in err and "--start 'WAIT:9 START:4'" in err


def test_another_ctrl_c_ends_the_pictures(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_search(monkeypatch, is_interrupted)
    monkeypatch.setattr(sys.modules["retrokit.cli.ramsearch_report"], "film", is_interrupted)
    code, out, err = run("--report", "page.html")
    assert (code, out) == (130, "") and "Traceback" not in err
    text = Path("page.html").read_text("utf-8")
    assert "No pictures: another Ctrl-C ended them." in text and "<img" not in text


def takes_long(emit: Callable[[Any], None], *_: Any) -> None:
    while True:
        emit(("stage", "taking pictures", 0.1))


def test_after_ctrl_c_pictures_may_not_take_long(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_search(monkeypatch, is_interrupted)
    module = sys.modules["retrokit.cli.ramsearch_report"]
    monkeypatch.setattr(module, "film", takes_long)
    monkeypatch.setattr(module, "BRIEF_S", 0.2)
    assert run("--report", "page.html")[0] == 130
    assert "pictures that take more than" in Path("page.html").read_text("utf-8")
