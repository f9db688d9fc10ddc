"""The answer of a search: what was found, how well, and the integration that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..content import Content
from ..core import Span
from ..errors import SearchFailed
from ..integration import Integration
from ..values import Variable
from .actions import Buttons
from .bundle import Bundle
from .candidates import Candidate, name_of, place
from .fact import Fact
from .hint import Hint, named
from .lives import Lives

ADVICE = (
    "Try more play (--frames 30000), another --seed, other --actions (is a fire button in them?) "
    "or give the start sequence with --start."
)
HINT_ADVICE = (
    "Is the time right, and is it that episode's? With --interactive --resume, `screen @12.5s` "
    "saves the picture of any moment."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set.

    Attributes:
        frames: Frames to record in all, over `EPISODES` episodes.
        seed: Of all random choices.
        actions: The action set, or None to find out which buttons matter.
        start: Start sequence in the integration's form, or None to find it.
        resume: Recording to go on with, or None; its start and actions are used.
        hints: What a person read off the screen of that recording.
    """

    frames: int = 9000
    seed: int = 0
    actions: tuple[tuple[str, ...], ...] | None = None
    start: tuple[str, ...] | None = None
    resume: Path | None = None
    hints: tuple[Hint, ...] = ()


@dataclass
class Answer:
    """What the search found; ``candidates`` is empty when nothing scored.

    ``nearest`` holds what then came closest, and ``ends`` the frames until each game was over.
    ``sieve`` tells how many bytes each stage of the search for a score left.
    ``bundle`` holds the experiments that all that is proved rests on.
    ``more`` holds what else the game counts.
    """

    core: str
    core_version: str
    rotation: int
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
    nearest: list[Candidate] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    sieve: dict[str, int] = field(default_factory=dict)
    bundle: Bundle | None = None
    more: list[Fact] = field(default_factory=list)

    @property
    def best(self) -> Candidate | None:
        """The candidate an integration can be written from."""
        if self.candidates and self.candidates[0].grade != "unproved":
            return self.candidates[0]
        return None

    @property
    def rivals(self) -> list[Candidate]:
        """The other player's score in a game for two: one or none."""
        return [other for other in self.candidates[1:] if other.grade == "proved"][:1]

    @property
    def terminated(self) -> str:
        """The rule of game over, empty when none was found."""
        if self.lives is not None and self.lives.grade != "unproved":
            return self.lives.rule
        for fact in self.more:
            if fact.name == "game_over" and fact.grade != "unproved":
                return f"game_over == {fact.evidence['value']}"
        return ""

    def to_dict(self, content: Content) -> dict[str, Any]:
        """Return the answer with the keys of the integration file."""
        lives = self.lives
        out: dict[str, Any] = {
            "game": content.name,
            "system": content.system,
            "core": self.core,
            "core_version": self.core_version,
            "rom_sha1": {content.name: content.sha1},
            "scored": bool(self.candidates),
            "candidates": [c.to_dict(n + 1) for n, c in enumerate(self.candidates)],
            "nearest": [c.to_dict(n + 1) for n, c in enumerate(self.nearest)],
            "sieve": self.sieve,
            "lives_addr": None if lives is None else place(lives.offset, self.spans)[1],
            "lives_grade": None if lives is None else lives.grade,
            "start_buttons": self.start_buttons,
            "action_set": self.buttons.action_set,
            "rotate": self.rotation,
            "terminated": self.terminated,
            "frames": self.frames,
            "seconds": round(self.seconds, 2),
            "timings": {name: round(value, 2) for name, value in self.timings.items()},
            "play": self.scoring,
            "seed": self.settings.seed,
            "more": [fact.to_dict() for fact in self.more],
        }
        if lives is not None:
            out["lives"] = {
                "grade": lives.grade,
                "region": place(lives.offset, self.spans)[0],
                "mask": lives.mask,
                "shift": lives.shift,
                "start": lives.start,
                "cuts_last_life": lives.cuts_last_life,
                "evidence": lives.evidence,
            }
            if lives.tally is not None:
                out["lives"]["terms"] = [t.to_dict() for t in lives.tally.terms(self.spans)]
        return out

    def failure(self) -> SearchFailed:
        """Return why no integration can be written."""
        hints = ", ".join(hint.text for hint in named(self.settings.hints, "score"))
        if hints and not any(candidate.shown for candidate in self.candidates):
            found = f"what fits {hints} is unproved" if self.candidates else f"nothing fits {hints}"
            return SearchFailed(found, "a score that reads so and is proved", HINT_ADVICE)
        found = "a number rose on the screen, unproved," if self.candidates else "nothing scored"
        found += f" in {self.frames:,} frames of play"
        return SearchFailed(found, "a score that rises in random play", ADVICE)

    def integration(self, content: Content) -> Integration:
        """Return the integration, with its evidence.

        Raises:
            SearchFailed: No candidate is good enough to write down.
        """
        if (best := self.best) is None:
            raise self.failure()
        variables: dict[str, Variable] = {"score": best.variable}
        evidence: dict[str, Any] = {
            "tool": f"retrokit {__version__}",
            "frames": self.frames,
            "seed": self.settings.seed,
            "score": best.evidence,
        }
        for other in self.rivals:
            variables["rival_score"], evidence["rival_score"] = other.variable, other.evidence
        if self.lives is not None and self.lives.grade != "unproved":
            variables["lives"] = self.lives.variable(self.spans)
            evidence["lives"] = {"grade": self.lives.grade, **self.lives.evidence}
            if self.lives.tally is not None:
                name = name_of(self.lives.offset, self.spans)
                evidence["lives"]["copies"] = [f"{name}: made anew from all that stands"]
            if self.lives.flag is not None:
                region, addr = place(self.lives.flag.offset, self.spans)
                variables["game_over"] = Variable((addr,), "uint", region)
        for fact in self.more:
            if fact.grade != "unproved":
                variables.setdefault(fact.name, fact.variable)
                evidence.setdefault(fact.name, fact.evidence)
        return Integration(
            game=content.name,
            system=content.system,
            core=self.core,
            core_version=self.core_version,
            rom_sha1={content.name: content.sha1},
            variables=variables,
            action_set=tuple(tuple(action) for action in self.buttons.action_set),
            start_buttons=tuple(self.start_buttons),
            rotate=self.rotation,
            terminated=self.terminated,
            cuts_last_life=bool(self.lives and self.terminated and self.lives.cuts_last_life),
            evidence=evidence,
        )
