"""A person's session: play, snapshots, filters, marks; all that a cheat search by hand needs.

Nothing here holds a core. Each request runs one in a sandbox child of its own (see `replay`), from
a savestate that the session keeps, so a core that crashes costs no more than that request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__, sandbox
from ..content import Content
from ..errors import SearchFailed, UserError
from ..files import reading
from ..integration import Integration, format_start, parse_start
from ..policy import random_play
from ..systems import FoundCore
from ..values import Variable
from .answer import Settings
from .hint import format_moment, row_of
from .lens import Lens, every_lens
from .narrow import Filter, Narrowing
from .poke import Moment
from .replay import LOOKS, Bytes, Log, Poked, Ran, poke, power_on, run, tape_of
from .search import EPISODES, find_play
from .tape import Origin, Tape, texts

SHORTEST = 300  # frames of an episode that a search can go on with


@dataclass(frozen=True)
class Game:
    """What a session plays: the content and the core that runs it."""

    content: Content
    found: FoundCore


class Session:
    """A session; without a game it is a recording that is searched and not played.

    Attributes:
        origin: Where play begins, and on what.
        game: What is played, or None.
        logs: uint16 [frames] for each episode: what was pressed; the last one goes on.
        search: Snapshots, filters, types.
        times: The moment that each snapshot shows.
        taken: Where play stood when it was taken.
        marks: Name → what a person settled on.
        over: The rule of game over, or nothing.
    """

    def __init__(self, origin: Origin, game: Game | None = None, tape: Tape | None = None) -> None:
        """Begin without a snapshot, or with a recording and what a session left in it."""
        self.origin, self.game = origin, game
        self.recording = tape.recording() if tape is not None and tape.episodes else None
        self.logs: list[Log] = [np.zeros(0, np.uint16)]
        if self.recording is not None:
            rows = zip(self.recording.buttons, self.recording.lengths.tolist(), strict=True)
            self.logs = [log[:length] for log, length in rows]
        self.search = Narrowing(origin.spans)
        self.times: tuple[Moment, ...] = ()
        self.taken: tuple[Moment, ...] = ()
        self.marks: dict[str, Variable] = {}
        self.over = ""
        self._now: Ran | None = None
        self._past: list[tuple[Narrowing, tuple[Moment, ...], tuple[Moment, ...]]] = []
        if tape is not None:
            self._restore(tape.extra)

    @classmethod
    def begin(cls, game: Game, settings: Settings, on_event: Callable[[Any], None]) -> Session:
        """Find the start of play, or take power-on for it where none is found.

        Args:
            game: What to play.
            settings: The start and the actions, where the user knows them.
            on_event: Called with what `retrokit.discovery.search.search` emits.
        """
        heard: list[Origin] = []

        def hear(event: tuple[Any, ...]) -> None:
            if event[0] == "origin":
                heard.append(event[1])
            else:
                on_event(event)

        arguments = game.content, game.found, settings
        try:
            sandbox.call(find_play, arguments, on_event=hear)
        except SearchFailed as error:
            on_event(("warning", f"{error.found}; play begins at power-on"))
            sandbox.call(power_on, arguments, on_event=hear)
        return cls(heard[-1], game)

    @classmethod
    def open(cls, path: Path, game: Game | None = None) -> Session:
        """Open a recording, of a session or of a search.

        Raises:
            UserError: It is none, or of something else than the game.
        """
        tape = Tape.load(path)
        assert tape.origin is not None
        if game is not None:
            tape.origin.check(path, rom_sha1=game.content.sha1, core=game.found.spec.name)
        with reading(path, "session", "a file that save has written"):
            return cls(tape.origin, game, tape)

    # -- play ------------------------------------------------------------------------------------

    @property
    def now(self) -> Moment:
        """The moment a request means that names none: the end of what was played."""
        return Moment(len(self.logs) - 1, len(self.logs[-1]))

    def play(self, log: Log, report: Callable[[float], None] = lambda share: None) -> Ran:
        """Press a log, uint16 [frames], from now on.

        Args:
            log: The buttons.
            report: Called with the share that is finished.

        Raises:
            UserError: There is no core, or this is a recording of several episodes.
            CoreCrashed: The core died; nothing was played.
        """
        if len(self.logs) > 1:
            raise UserError(
                f"a recording of {len(self.logs)} episodes",
                "one that can be played on",
                "Look at it here; to play, begin a session without --resume.",
            )
        state = self._at_end().state
        ran: Ran = self._call(run, state, log, on_event=lambda frames: report(frames / len(log)))
        self._now = ran
        self.logs = [np.concatenate([self.logs[0], log])]
        return ran

    def random(self, frames: int) -> Log:
        """Return how seeded random play goes on from now, uint16 [frames]."""
        origin, past = self.origin, len(self.logs[-1])
        whole = random_play(origin.seed, past + frames, origin.action_set, fire=origin.fire)
        return whole[past:]

    def look(self, at: Moment | None = None) -> Ran:
        """Return savestate, bytes and picture at a moment.

        Raises:
            UserError: There is no core, or no such moment.
        """
        if at is None or at == self.now:
            return self._at_end()
        ran: Ran = self._call(run, self.origin.state, self._log_to(at))
        return ran

    def bytes_at(self, at: Moment | None = None) -> Bytes:
        """Return all bytes at a moment, uint8 [bytes]: recorded where they are, else played."""
        at = at or self.now
        self._log_to(at)
        if self.recording is not None and at.frame <= self.recording.lengths[at.episode]:
            return row_of(self.recording, at)
        if at.frame == 0 and self.origin.memory:
            return np.frombuffer(self.origin.memory, np.uint8)
        return self.look(at).ram

    def poke(self, offsets: Sequence[int], values: bytes, at: Moment | None = None) -> Poked:
        """Write bytes at a moment and run on; play itself is left as it was.

        Args:
            offsets: Of the bytes, in all regions together.
            values: The bytes.
            at: When; what was recorded afterwards is pressed, then nothing.

        Raises:
            UserError: There is no core, or no such moment.
        """
        at = at or self.now
        state, log = self.origin.state, self._log_to(at)
        if at == self.now:
            state, log = self._at_end().state, log[:0]
        rest = self.logs[at.episode][at.frame :]
        after = np.concatenate([rest, np.zeros(LOOKS[-1], np.uint16)])[: LOOKS[-1]]
        out: Poked = self._call(poke, state, log, (tuple(offsets), values), after)
        return out

    def start_here(self) -> None:
        """Let play begin now: what was pressed so far becomes the start sequence.

        Raises:
            UserError: There is no core, or this is a recording of several episodes.
        """
        ran = self.play(np.zeros(0, np.uint16))
        pressed = np.concatenate([parse_start(self.origin.start_buttons), self.logs[0]])
        presses, memory = tuple(format_start(pressed)), ran.ram.tobytes()
        self.origin = replace(self.origin, start_buttons=presses, state=ran.state, memory=memory)
        self.logs, self.recording = [self.logs[0][:0]], None
        self.search, self.times, self.taken = Narrowing(self.origin.spans), (), ()
        self._past = []

    def _at_end(self) -> Ran:
        ran = self._now or self._call(run, self.origin.state, self.logs[-1])
        self._now = ran
        return ran

    def _call(self, function: Callable[..., Any], *arguments: Any, on_event: Any = None) -> Any:
        if self.game is None:
            raise UserError(
                "there is no core here, only a recording",
                "the game as well",
                "Begin with: retrokit ramsearch GAME --interactive --resume RECORDING",
            )
        given = (self.game.content, self.game.found, *arguments)
        return sandbox.call(function, given, on_event=on_event)

    def _log_to(self, at: Moment) -> Log:
        """Return what was pressed in an episode before a moment, uint16 [frames]."""
        if not (at.episode < len(self.logs) and at.frame <= len(self.logs[at.episode])):
            fps, length = self.origin.fps, len(self.logs[-1])
            raise UserError(
                f"nothing was played at {format_moment(at, fps)}",
                f"a time up to {length / fps:.2f}s ({length} frames) in "
                f"{len(self.logs)} episode{'s' * (len(self.logs) > 1)}",
            )
        return self.logs[at.episode][: at.frame]

    # -- narrowing -------------------------------------------------------------------------------

    def snap(self, at: Moment | None = None) -> None:
        """Take a snapshot of a moment."""
        row = self.bytes_at(at)
        self._change(self.search.snap(row))
        self.times, self.taken = (*self.times, at or self.now), (*self.taken, self.now)

    @property
    def went_on(self) -> bool:
        """Whether there is no snapshot yet, or play has gone on since the last was taken."""
        return not self.taken or self.taken[-1] != self.now

    def filter(self, one: Filter, *, own: bool = False) -> None:
        """Add a filter; with ``own`` it goes with the snapshot just taken when it is taken back."""
        self._change(self.search.by(one))
        if own:
            self._past.pop()

    def through(self, lenses: Iterable[Lens]) -> None:
        """Look through other types."""
        self._change(self.search.through(lenses))

    def clear(self) -> None:
        """Drop the filters; the snapshots stay."""
        self._change(self.search.cleared())

    def undo(self) -> bool:
        """Take back the last snapshot, filter, type or clearing; tell whether there was one."""
        if self._past:
            self.search, self.times, self.taken = self._past.pop()
            return True
        return False

    def _change(self, search: Narrowing) -> None:
        self._past.append((self.search, self.times, self.taken))
        self.search = search

    def seen(self, variable: Variable) -> list[int]:
        """Return a variable's value in each snapshot."""
        spans = self.origin.spans
        return [
            int(variable.decode({s.region: row[s.start : s.start + s.size] for s in spans}))
            for row in self.search.rows
        ]

    # -- what is kept ----------------------------------------------------------------------------

    def save(self, path: Path, report: Callable[[float], None] = lambda share: None) -> None:
        """Write play, snapshots, filters and marks as a recording.

        A session's play is one episode, filled up with still frames to `SHORTEST`, so that a
        search can go on with it.

        Raises:
            UserError: It cannot be written, or there is nothing to play it with.
        """
        tape = Tape()
        tape.origin = self.origin
        played = self.recording
        if played is not None and len(self.logs[-1]) == played.lengths[-1]:
            for number, log in enumerate(self.logs):
                ram, style = played.ram[number, : len(log)], played.styles[number]
                tape.put(number, played.offsets, log, ram, style)
        elif len(self.logs[0]):
            log = np.pad(self.logs[0], (0, max(0, SHORTEST - len(self.logs[0]))))
            offsets, ram = self._call(tape_of, self.origin, log, on_event=report)
            tape.origin = replace(self.origin, frames=EPISODES * len(log))
            tape.put(0, offsets, log, ram)
        rows = self.search.rows
        types = () if self.search.lenses == every_lens() else self.search.lenses
        marks = {name: variable.to_dict() for name, variable in self.marks.items()}
        tape.extra = {
            "snapshots": np.array(self.times, np.int64).reshape(-1, 2),
            "snapshot_ram": np.stack(rows) if rows else np.zeros((0, 0), np.uint8),
            "filters": texts(str(one) for one in self.search.filters),
            "types": texts(str(lens) for lens in types),
            "marks": np.array(json.dumps({"variables": marks, "over": self.over})),
        }
        tape.save(path)

    def _restore(self, extra: dict[str, NDArray[Any]]) -> None:
        """Take over what `save` kept of a session."""
        if "marks" not in extra:
            return
        self.times = tuple(Moment(*when) for when in extra["snapshots"].tolist())
        # What cannot be played on stands still: a filter then compares the snapshots there are.
        self.taken = self.times if self.game is not None else (self.now,) * len(self.times)
        for row in extra["snapshot_ram"]:
            self.search = self.search.snap(row)
        if len(extra["types"]):
            lenses = [Lens.parse(text.split()) for text in extra["types"].tolist()]
            self.search = self.search.through(lenses)
        for text in extra["filters"].tolist():
            self.search = self.search.by(Filter.parse(text.split(), len(self.times)))
        kept = json.loads(str(extra["marks"]))
        self.marks = {name: Variable(**fields) for name, fields in kept["variables"].items()}
        self.over = kept["over"]

    def integration(self) -> Integration:
        """Return what was marked, checked as any integration is.

        Raises:
            UserError: No score is marked.
            IntegrationError: A mark or the rule of game over cannot be.
        """
        if "score" not in self.marks:
            raise UserError("no score is marked", "one", "Such as: mark score 0x425 bcd 3 le")
        origin = self.origin
        times = [format_moment(at, origin.fps) for at in self.times]
        evidence: dict[str, Any] = {"tool": f"retrokit {__version__}", "grade": "by hand"}
        for name, variable in self.marks.items():
            seen = dict(zip(times, self.seen(variable), strict=True))
            evidence[name] = {"grade": "by hand", "seen": seen}
        name = self.game.content.name if self.game else origin.game
        made = Integration(
            game=name,
            system=self.game.content.system if self.game else origin.system,
            core=origin.core,
            core_version=origin.core_version,
            rom_sha1={name: origin.rom_sha1},
            variables={"score": self.marks["score"], **self.marks},
            action_set=origin.action_set,
            start_buttons=origin.start_buttons,
            terminated=self.over,
            evidence=evidence,
        )
        made = Integration.from_dict(made.to_dict())
        made.check_memory({span.region: span.size for span in origin.spans})
        return made
