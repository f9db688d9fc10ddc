"""The page of ``retrokit ramsearch --report``: pictures taken, page written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import sandbox
from ..album import Album
from ..content import Content
from ..discovery.answer import Answer
from ..discovery.camera import film
from ..discovery.tape import Tape
from ..errors import RetrokitError
from ..files import whole_file
from ..systems import FoundCore
from ..views.report import page
from . import output

BRIEF_S = 20.0  # for the pictures of a search that was interrupted


def write_report(
    path: Path,
    game: Content,
    found: FoundCore,
    tape: Tape,
    facts: Mapping[str, Any],
    answer: Answer | None,
    notes: Sequence[str] = (),
    *,
    interrupted: bool = False,
) -> None:
    """Film a search and write its page.

    Args:
        path: The page.
        game: What was searched.
        found: The core it was searched on.
        tape: What was recorded.
        facts: The object that ``--json`` prints.
        answer: What was found, where the search came to an end.
        notes: What else a reader must know.
        interrupted: Ctrl-C ended the search: somebody waits, so the pictures may take `BRIEF_S` and
            another Ctrl-C ends them.

    Raises:
        UserError: The page cannot be written.
    """
    album: Album | None = None
    try:
        began = time.monotonic()
        with output.progress("taking pictures for the report", 100) as advance:

            def hear(event: tuple[Any, ...]) -> None:
                if interrupted and time.monotonic() > began + BRIEF_S:
                    raise RetrokitError(f"pictures that take more than {BRIEF_S:.0f} s")
                advance(int(100 * event[2]), event[1])

            told = (game, found, tape.origin, tape.offsets, tape.logs, tape.styles, answer)
            album = sandbox.call(film, told, on_event=hear)
            advance(100)
    except KeyboardInterrupt:
        if not interrupted:
            raise
        notes = (*notes, "No pictures: another Ctrl-C ended them.")
    except RetrokitError as error:
        notes = (*notes, f"No pictures: {' '.join(str(error).split())}")
        output.warn([f"the report has no pictures: {error}"])
    with whole_file(path, "the report ") as file:
        file.write(page(facts, album, notes).encode())
