"""The search: content in, a graded answer out; runs in a sandbox child (see retrokit.sandbox)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, to_mask
from ..content import Content
from ..errors import NoMemory
from ..integration import parse_start
from ..policy import style_of
from ..systems import FoundCore
from ..team import Team
from .actions import Buttons, useful_buttons
from .answer import Answer, Settings
from .bundle import Bundle, Witness
from .candidates import Candidate
from .control import play_states
from .ends import play_ends
from .explore import long_play
from .fact import Fact
from .grade import known_rises
from .hint import agreeing, find, named
from .home import find_home
from .lives import TRIED, Lives, find_lives
from .more import find_more
from .poke import Prober
from .record import Recording, join, record
from .score import find_score
from .start import Start, find_start
from .suspects import Field
from .tape import Origin, Tape

Emit = Callable[[Any], None]
EPISODES = 6  # of a recording
# Phase → the shares of a whole search at which it begins and ends, as measured on our own games.
PHASES = {
    "start": (0.0, 0.25),
    "buttons": (0.25, 0.5),
    "record": (0.5, 0.65),
    "lives": (0.65, 0.8),
    "score": (0.8, 0.97),
    "more": (0.97, 1.0),
}
LIVES = "finding lives and game over"
START_LIMIT_S = 300.0  # a start that is not found in this time is asked for with --start
ROUNDS = 3  # recordings, each of other seeds, before "nothing scored"
LIVES_ROUNDS = 2  # of them, before no lives are proved
FEW_TRIED = 2  # candidates for lives in a recording that is made for them alone


def search(emit: Emit, content: Content, found: FoundCore, settings: Settings) -> Answer:
    """Find start, score, lives and game over of unknown content.

    Args:
        emit: Called as the search goes on with ("stage", text, share of the whole),
            ("origin", Origin) once the start is known and again with the actions, ("episode",
            number, offsets, buttons, ram, style) for each one that is not on the tape already (see
            Tape.put), ("answer", Answer) with score and lives before the rest is looked for, and
            ("warning", text).
        content: What to play.
        found: The core to play it on.
        settings: What the user set.

    Raises:
        LoadRefused: The core refuses the content.
        NoMemory: The core offers nothing to search.
        SearchFailed: No start was found.
        UserError: The recording to resume is of something else.
    """
    began = time.perf_counter()
    tape = None if settings.resume is None else Tape.load(settings.resume)
    with Team.open(found, content) as core:
        if not core.spans:
            raise NoMemory(
                f"{core.info.name} offers no memory and no savestate",
                "a core with either",
                "Another core for this system may: see `retrokit cores`.",
            )
        core.agree()
        hunt = _Hunt(core, settings, emit, tape, began)
        start, buttons = hunt.begin()
        find_home(core, start.state)
        core.agree(start.state)  # asked again where it matters: in play
        played = hunt.play(start, buttons)
        known = hunt.answer(start, buttons, *played, [])
        if known.best is not None:  # what comes next shall not cost it
            emit(("answer", known))
        return hunt.answer(start, buttons, *played, hunt.more(buttons, *played))


def find_play(emit: Emit, content: Content, found: FoundCore, settings: Settings) -> None:
    """Find the start and the useful buttons alone; what is emitted and raised is `search`'s."""
    with Team.open(found, content) as core:
        core.agree()
        _Hunt(core, settings, emit, None, time.perf_counter()).begin()


def _counts(candidate: Candidate) -> bool:
    """Tell whether a number on the screen rose and is more than unproved."""
    return candidate.grade != "unproved" and candidate.behaviour.rises > 0


class _Hunt:
    """One search: the core, what is known so far, and where the time went."""

    def __init__(
        self,
        core: Team,
        settings: Settings,
        emit: Emit,
        tape: Tape | None,
        began: float,
    ) -> None:
        self.core, self.settings, self.emit, self.tape = core, settings, emit, tape
        self.began = began
        self.timings: dict[str, float] = {}
        self.phase = PHASES["start"]
        self.nearest: list[Candidate] = []
        self.told: set[str] = set()
        self.sieve: dict[str, int] = {}
        self.witness = Witness()
        self.frames = 0  # that were played

    def _report(self, stage: str, share: float) -> None:
        low, high = self.phase
        self.emit(("stage", stage, low + (high - low) * min(1.0, share)))

    def begin(self) -> tuple[Start, Buttons]:
        """Find the start and which buttons matter, or take them from the tape."""
        core, settings = self.core, self.settings
        if self.tape is not None:
            return self._begun(self.tape)
        clock = self._enter("start", "finding the start")
        if settings.start is None:
            start = find_start(
                core,
                report=lambda text: self._report(f"start: {text}", 0.5),
                budget_s=START_LIMIT_S,
            )
        else:
            log = parse_start(settings.start)
            core.record(log)
            start = Start(log, list(settings.start), core.save(), 0, len(log), "given")
        self._spend("start", clock)
        return start, self._buttons(start)

    def _buttons(self, start: Start) -> Buttons:
        """Find out which buttons matter, and tell what play begins with: so far, then in all."""
        buttons = self._given()
        self.emit(("origin", self._origin(start, buttons)))
        if buttons is None:
            clock = self._enter("buttons", "trying the buttons")
            buttons = useful_buttons(self.core, play_states(self.core, start.state))
            self._spend("buttons", clock)
            self.emit(("origin", self._origin(start, buttons)))
        return buttons

    def _origin(self, start: Start, buttons: Buttons | None) -> Origin:
        core, settings = self.core, self.settings
        assert core.content is not None
        return Origin(
            core.content.sha1,
            core.spec.name,
            core.info.version,
            core.spans,
            settings.seed,
            settings.frames,
            tuple(start.presses),
            tuple(tuple(action) for action in buttons.action_set) if buttons else (),
            tuple(buttons.fire) if buttons else (),
            start.state,
            core.content.name,
            core.content.system,
            core.info.fps,
            self._memory(start.state),
        )

    def _memory(self, state: bytes) -> bytes:
        self.core.load(state)
        return self.core.read().tobytes()

    def _given(self) -> Buttons | None:
        """Return the buttons of a given action set; all that are no directions count as fire."""
        if self.settings.actions is None:
            return None
        actions = [list(action) for action in self.settings.actions]
        pressed = sorted({name for action in actions for name in action})
        fire = [name for name in pressed if name not in (*DIRECTIONS, "START", "SELECT")]
        return Buttons(actions, pressed, fire, [], [])

    def _begun(self, tape: Tape) -> tuple[Start, Buttons]:
        """Return the start and the buttons of a tape, and check that it is of this core."""
        core, origin = self.core, tape.origin
        assert origin is not None and self.settings.resume is not None
        origin.check(self.settings.resume, core_version=core.info.version, spans=core.spans)
        core.run(1)  # some cores cannot restore before
        log = parse_start(origin.start_buttons)
        start = Start(log, list(origin.start_buttons), origin.state, 0, len(log), "recorded")
        if not origin.action_set:  # it was stopped before they were found
            return start, self._buttons(start)
        actions = [list(action) for action in origin.action_set]
        pressed = sorted({name for action in actions for name in action})
        return start, Buttons(actions, pressed, list(origin.fire), [], [])

    def play(
        self, start: Start, buttons: Buttons
    ) -> tuple[list[Candidate], Lives | None, Recording]:
        """Record until something scores; find lives and game over, then the score in play."""
        settings, tape = self.settings, self.tape
        recorded = [] if tape is None else tape.logs
        frames = max(300, settings.frames // EPISODES)
        offsets = tape.offsets if tape is not None and len(recorded) else None
        recording: Recording | None = None
        candidates: list[Candidate] = []
        lives: Lives | None = None
        tried: set[Field] = set()
        ends = np.zeros(0, np.int64)
        scored = proved = False
        for turn in range(ROUNDS):
            clock = self._enter("record", "playing at random")
            first = turn * EPISODES
            if turn:
                self.core.reopen()
                self.core.agree(start.state)
            length, names = frames, list[str]()
            known = [log for log in recorded[first : first + EPISODES] if len(log) == frames]
            if recording is not None and turn + 1 == ROUNDS and not any(map(_counts, candidates)):
                seeds = [settings.seed * 1000 + turn]
                past, report = recorded[first:], partial(self._report, "going where nobody was")
                logs, names = long_play(
                    self.core, recording, buttons, lives, EPISODES, seeds, past, report
                )
                known, length = list(logs), logs.shape[1]
            more = record(
                self.core,
                start.state,
                buttons.action_set,
                buttons.fire,
                seed=settings.seed * 1000 + turn,
                first=first,
                episodes=EPISODES,
                frames=length,
                report=lambda share: self._report("playing at random", share),
                keep=partial(self._keep, first, names),
                offsets=offsets if recording is None else recording.offsets,
                known=np.stack(known) if known else None,
                names=names,
                every=0 if recording is None else recording.every,
                ahead=1,
            )
            self.frames += more.frames
            known_play = recording
            if recording is not None and names:  # room for it: what never moved goes
                moved = (recording.changes() > 0) | (more.changes() > 0)
                recording, more = recording.narrowed(moved), more.narrowed(moved)
                self.witness.narrow(moved)
            recording = more if recording is None else join(recording, more)
            self._spend("record", clock)
            size = self._picture_size(start.state)
            prober = Prober(self.core, recording, size, self.witness)
            clock = self._enter("lives", LIVES)
            if not proved:
                most = FEW_TRIED if scored else TRIED
                share = partial(self._report, LIVES)
                later = find_lives(prober, (), share, tried, most)
                proved = later is not None and later.grade == "proved"
                if proved or lives is None or lives.tally is None:
                    lives = later
            if scored and not proved and known_play is not None:
                recording = known_play  # what was played for lives alone was in vain
                prober.recording = recording.ending(ends)
                self._spend("lives", clock)
                break
            # A demo scores in the same bytes, so nothing counts once a game is over.
            ends = play_ends(prober, lives, ends)
            prober.recording = recording.ending(ends)
            self._spend("lives", clock)
            if scored:
                break
            clock = self._enter("score", "looking for numbers")
            spans, seed = self.core.spans, settings.seed
            taps = [to_mask([name]) for name in buttons.useful]
            last = turn + 1 == ROUNDS
            candidates = find_score(prober, spans, seed, self._report, self.sieve, taps, last)
            candidates = self._agreeing(candidates, recording)
            self._spend("score", clock)
            scored = bool(candidates) and candidates[0].grade == "proved"
            if scored and (proved or turn + 1 >= LIVES_ROUNDS):
                break
        assert recording is not None
        if all(c.grade == "unproved" for c in candidates):  # what is no number on the screen goes
            self.nearest = [c for c in candidates if not c.shown]
            candidates = [c for c in candidates if c.shown]
        if not candidates and (hints := named(settings.hints, "score")):
            candidates = find(recording, self.core.spans, hints)[1]
        return candidates, lives, prober.recording

    def _agreeing(self, candidates: list[Candidate], recording: Recording) -> list[Candidate]:
        """Return the candidates that a person's hints allow; tell of the others once."""
        hints, fps = named(self.settings.hints, "score"), self.core.info.fps
        candidates, said = agreeing(candidates, recording, hints, fps)
        for text in said:
            if text not in self.told:
                self.told.add(text)
                self.emit(("warning", text))
        return candidates

    def more(
        self,
        buttons: Buttons,
        candidates: list[Candidate],
        lives: Lives | None,
        recording: Recording,
    ) -> list[Fact]:
        """Find what else the game counts."""
        clock = self._enter("more", "looking for what else it counts")
        good = [candidate for candidate in candidates if candidate.grade != "unproved"]
        known = [offset for candidate in good for offset in candidate.offsets]
        size = self._picture_size(recording.state)
        prober = Prober(self.core, recording, size, self.witness)
        facts = find_more(prober, self.core.spans, buttons, lives, known, self._report)
        self._spend("more", clock)
        return facts

    def answer(
        self,
        start: Start,
        buttons: Buttons,
        candidates: list[Candidate],
        lives: Lives | None,
        recording: Recording,
        more: list[Fact],
    ) -> Answer:
        """Return what was found, with the experiments that an integration of it rests on."""
        core = self.core
        answer = Answer(
            core=core.spec.name, core_version=core.info.version, rotation=core.info.rotation,
            spans=core.spans, start_buttons=list(start.presses), buttons=buttons,
            candidates=candidates, lives=lives, frames=self.frames,
            seconds=time.perf_counter() - self.began, settings=self.settings, timings=self.timings,
            nearest=self.nearest, sieve=self.sieve,
            scoring=known_rises(recording, candidates[0]) if candidates else {},
            ends=recording.ends.tolist(), more=more,
        )  # fmt: skip
        if (best := answer.best) is not None:
            named: list[tuple[object, str]] = [(best.line, "score"), (lives, "lives")]
            named += [(other.line, "rival_score") for other in answer.rivals]
            named += [(fact, fact.name) for fact in more]
            seen = [e for result, fact in named for e in self.witness.of(result, fact)]
            size, seed = self._picture_size(recording.state), self.settings.seed
            answer.bundle = Bundle.of(core, answer.start_buttons, seed, recording, size, seen)
        return answer

    def _keep(
        self,
        first: int,
        names: Sequence[str],
        number: int,
        offsets: NDArray[np.int32],
        buttons: NDArray[np.uint16],
        ram: NDArray[np.uint8],
    ) -> None:
        """Hand an episode out; one that is on the tape is compared with it instead."""
        name = names[number] if names else style_of(first + number)[0].name
        tape, number = self.tape, first + number
        if tape is not None and number < tape.episodes:
            old = tape.ram(number)
            differ = (old != ram).any(axis=1) if len(old) == len(ram) else np.ones(1, np.bool_)
            if not differ.any():
                return
            text = (
                f"the same buttons led to other RAM than in {self.settings.resume} (episode "
                f"{number}, from frame {int(differ.argmax())} on): going on with the new frames"
            )
            self.emit(("warning", text))
        self.emit(("episode", number, offsets, buttons, ram, name))

    def _picture_size(self, state: bytes) -> tuple[int, int]:
        self.core.load(state)
        self.core.run(2)
        return self.core.frame_size

    def _enter(self, phase: str, stage: str) -> float:
        """Begin a phase; return the time."""
        self.phase = PHASES[phase]
        self._report(stage, 0.0)
        return time.perf_counter()

    def _spend(self, name: str, since: float) -> None:
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - since
