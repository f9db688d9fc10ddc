"""The search: content in, a graded answer out; runs in a sandbox child (see retrokit.sandbox)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..content import Content
from ..core import Core, CoreInfo, Span
from ..errors import NoMemory, SearchFailed
from ..integration import Integration, parse_start
from ..systems import FoundCore
from ..values import Variable
from .candidates import Candidate, place
from .control import Buttons, play_states, useful_buttons
from .lives import Lives, find_lives
from .poke import Prober
from .record import Recording, join, record
from .score import find_score, known_rises
from .start import Start, find_start

Emit = Callable[[Any], None]
EPISODES = 6  # of a recording
ROUNDS = 3  # recordings, each of other seeds, before "nothing scored"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set.

    Attributes:
        frames: Frames to record in all, over `EPISODES` episodes.
        seed: Of all random choices.
        actions: The action set, or None to find out which buttons matter.
        start: Start sequence in the integration's form, or None to find it.
        record: File to keep the recording in, or None.
    """

    frames: int = 9000
    seed: int = 0
    actions: tuple[tuple[str, ...], ...] | None = None
    start: tuple[str, ...] | None = None
    record: Path | None = None


@dataclass
class Answer:
    """What the search found; ``candidates`` is empty when nothing scored."""

    core: str
    info: CoreInfo
    spans: tuple[Span, ...]
    start_buttons: list[str]
    buttons: Buttons
    candidates: list[Candidate]
    lives: Lives | None
    frames: int
    seconds: float
    settings: Settings
    timings: dict[str, float] = field(default_factory=dict)
    scoring: dict[str, int] = field(default_factory=dict)

    @property
    def best(self) -> Candidate | None:
        """The candidate an integration can be written from."""
        if self.candidates and self.candidates[0].grade != "unproved":
            return self.candidates[0]
        return None

    @property
    def terminated(self) -> str:
        """The rule of game over, empty when none was found."""
        return "" if self.lives is None or self.lives.grade == "unproved" else self.lives.rule

    def to_dict(self, content: Content) -> dict[str, Any]:
        """Return the answer with the keys of the integration file."""
        out: dict[str, Any] = {
            "game": content.name,
            "system": content.system,
            "core": self.core,
            "core_version": self.info.version,
            "rom_sha1": {content.name: content.sha1},
            "scored": bool(self.candidates),
            "candidates": [c.to_dict(n + 1) for n, c in enumerate(self.candidates)],
            "lives_addr": None,
            "start_buttons": self.start_buttons,
            "action_set": self.buttons.action_set,
            "rotate": self.info.rotation,
            "terminated": self.terminated,
            "frames": self.frames,
            "seconds": round(self.seconds, 2),
            "timings": {name: round(value, 2) for name, value in self.timings.items()},
            "play": self.scoring,
            "seed": self.settings.seed,
        }
        if self.lives is not None:
            region, addr = place(self.lives.offset, self.spans)
            out["lives_addr"] = addr
            out["lives"] = {
                "grade": self.lives.grade,
                "region": region,
                "mask": self.lives.mask,
                "shift": self.lives.shift,
                "start": self.lives.start,
                "cuts_last_life": self.lives.cuts_last_life,
                "evidence": self.lives.evidence,
            }
        return out

    def integration(self, content: Content) -> Integration:
        """Return the integration, with its evidence.

        Raises:
            SearchFailed: No candidate is good enough to write down.
        """
        best = self.best
        if best is None:
            raise SearchFailed("nothing scored", remedy=ADVICE)
        variables: dict[str, Variable] = {"score": best.variable}
        evidence: dict[str, Any] = {
            "tool": f"retrokit {__version__}",
            "frames": self.frames,
            "seed": self.settings.seed,
            "score": best.evidence,
        }
        if self.lives is not None and self.lives.grade != "unproved":
            region, addr = place(self.lives.offset, self.spans)
            variables["lives"] = Variable(
                (addr,),
                "uint",
                region,
                mask=self.lives.mask,
                shift=self.lives.shift,
                signed=self.lives.signed,
            )
            evidence["lives"] = {"grade": self.lives.grade, **self.lives.evidence}
            if self.lives.flag is not None:
                region, addr = place(self.lives.flag[0], self.spans)
                variables["game_over"] = Variable((addr,), "uint", region)
        return Integration(
            game=content.name,
            system=content.system,
            core=self.core,
            core_version=self.info.version,
            rom_sha1={content.name: content.sha1},
            variables=variables,
            action_set=tuple(tuple(action) for action in self.buttons.action_set),
            start_buttons=tuple(self.start_buttons),
            rotate=self.info.rotation,
            terminated=self.terminated,
            cuts_last_life=bool(self.lives and self.terminated and self.lives.cuts_last_life),
            evidence=evidence,
        )


ADVICE = (
    "Try more play (--frames 30000), another --seed, other --actions (is a fire button in them?) "
    "or give the start sequence with --start."
)


def search(emit: Emit, content: Content, found: FoundCore, settings: Settings) -> Answer:
    """Find start, score, lives and game over of unknown content.

    Args:
        emit: Called with ("stage", text, share) as the search goes on.
        content: What to play.
        found: The core to play it on.
        settings: What the user set.

    Raises:
        LoadRefused: The core refuses the content.
        NoMemory: The core offers nothing to search.
        SearchFailed: No start was found.
    """
    began = time.perf_counter()
    timings: dict[str, float] = {}
    with Core.open(found, content) as core:
        if not core.spans:
            raise NoMemory(
                f"{core.info.name} offers no memory and no savestate",
                "a core with either",
                "Another core for this system may: see `retrokit cores`.",
            )
        hunt = _Hunt(core, settings, emit, timings)
        start, buttons = hunt.begin()
        candidates, recording = hunt.score(start, buttons)
        lives = hunt.lives(candidates) if candidates else None
        return Answer(
            core=found.spec.name,
            info=core.info,
            spans=core.spans,
            start_buttons=list(start.presses),
            buttons=buttons,
            candidates=candidates,
            lives=lives,
            frames=recording.frames,
            seconds=time.perf_counter() - began,
            settings=settings,
            timings=timings,
            scoring=known_rises(recording, candidates[0]) if candidates else {},
        )


class _Hunt:
    """One search: the core, what is known so far, and where the time went."""

    def __init__(
        self, core: Core, settings: Settings, emit: Emit, timings: dict[str, float]
    ) -> None:
        self.core, self.settings, self.emit, self.timings = core, settings, emit, timings
        self.prober: Prober | None = None

    def _report(self, stage: str, share: float) -> None:
        self.emit(("stage", stage, min(1.0, share)))

    def begin(self) -> tuple[Start, Buttons]:
        """Find the start and which buttons matter."""
        core, clock = self.core, time.perf_counter()
        self._report("finding the start", 0.0)
        if self.settings.start is None:
            start = find_start(core, report=lambda text: self._report(f"start: {text}", 0.5))
        else:
            log = parse_start(self.settings.start)
            core.record(log)
            start = Start(log, list(self.settings.start), core.save(), 0, len(log), "given")
        self.timings["start"] = time.perf_counter() - clock
        clock = time.perf_counter()
        self._report("trying the buttons", 0.0)
        buttons = useful_buttons(core, play_states(core, start.state))
        if self.settings.actions is not None:
            given = [list(action) for action in self.settings.actions]
            pressed = {name for action in given for name in action}
            buttons = Buttons(
                given,
                sorted(pressed),
                [name for name in buttons.fire if name in pressed],
                buttons.pause,
                buttons.harmful,
            )
        self.timings["buttons"] = time.perf_counter() - clock
        return start, buttons

    def score(self, start: Start, buttons: Buttons) -> tuple[list[Candidate], Recording]:
        """Record until something scores, then find the score."""
        settings = self.settings
        frames = max(300, settings.frames // EPISODES)
        recording: Recording | None = None
        candidates: list[Candidate] = []
        for turn in range(ROUNDS):
            clock = time.perf_counter()
            more = record(
                self.core,
                start.state,
                buttons.action_set,
                buttons.fire,
                seed=settings.seed * 1000 + turn,
                episodes=EPISODES,
                frames=frames,
                report=lambda share: self._report("playing at random", share),
                offsets=None if recording is None else recording.offsets,
            )
            recording = more if recording is None else join(recording, more)
            if settings.record is not None:
                recording.save(settings.record)
            self._spend("record", clock)
            clock = time.perf_counter()
            self.prober = Prober(self.core, recording, self._picture_size(start.state))
            candidates = find_score(self.prober, self.core.spans, settings.seed, self._report)
            self._spend("score", clock)
            if candidates and candidates[0].grade == "proved":
                break
        assert recording is not None
        good = [c for c in candidates if c.grade != "unproved"]
        return (candidates if good else []), recording

    def lives(self, candidates: list[Candidate]) -> Lives | None:
        """Find lives and game over, the score's bytes left out."""
        assert self.prober is not None
        clock = time.perf_counter()
        taken = [offset for c in candidates if c.grade != "unproved" for offset in c.offsets]
        lives = find_lives(
            self.prober, taken, lambda share: self._report("finding lives and game over", share)
        )
        self._spend("lives", clock)
        return lives

    def _picture_size(self, state: bytes) -> tuple[int, int]:
        self.core.load(state)
        self.core.run(1)
        self.core.run(1)
        return self.core.frame_size

    def _spend(self, name: str, since: float) -> None:
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - since

