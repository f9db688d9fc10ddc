"""Two megabytes of RAM: the score is found, in less than a gigabyte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrokit import sandbox
from retrokit.content import Content
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.search import search
from retrokit.systems import FoundCore

AT = 1_887_475
LIVES, SCORE = AT + 0x40, AT + 0x80
ACTIONS = (("UP",), ("DOWN",), ("LEFT",), ("RIGHT",), ("B",), ("RIGHT", "B"))
START = ("WAIT:2", "START:6", "WAIT:4")


def measured(emit: Callable[[Any], None], *args: Any) -> tuple[Answer, int]:
    """Search; return also the most bytes this process ever held. Runs in a child."""
    answer = search(emit, *args)
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").open())
    return answer, 1024 * int(fields["VmHWM"].split()[0])


def test_a_score_in_two_megabytes_is_found(
    fake_core: Callable[..., FoundCore], fake_content: Callable[[], Content]
) -> None:
    big = fake_core("arena_big", RAM_BYTES=1 << 21, AT=AT, BUSY=100_000)
    settings = Settings(frames=3000, actions=ACTIONS, start=START)
    answer, held = sandbox.call(measured, (fake_content(), big, settings))
    best, lives = answer.best, answer.lives
    assert best is not None and lives is not None
    assert (best.offsets, best.grade) == ((SCORE + 2, SCORE + 1, SCORE), "proved")
    assert (lives.offset, lives.grade) == (LIVES, "proved")
    assert held < 1e9
