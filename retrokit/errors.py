"""What can go wrong, drawn first: every error says what was found, what was wanted, what to do.

The tree::

    RetrokitError            exit 1: something failed
    ├── UserError            exit 2: the user can put it right
    │   ├── ContentError     a ROM, zip, cue or dat that cannot be used
    │   ├── IntegrationError a malformed integration file; names file, line and key
    │   ├── CoreNotFound     no such core on this machine
    │   └── MissingExtra     an optional package is not installed
    ├── CoreError            the core or its host failed
    │   ├── CoreStateError   a call that the core's lifecycle forbids right now
    │   ├── LoadRefused      the core would not load this content
    │   ├── NoMemory         the core offers no RAM to search
    │   ├── SavestateRefused a savestate that is not for this core, content or version
    │   ├── ReplayDiffers    what was played again came out differently
    │   ├── CoreCrashed      the core died in its sandbox
    │   └── CoreTimeout      the core did not come back in time
    └── SearchFailed         the search ended without an answer (nothing scored, no start)
"""

from __future__ import annotations


class RetrokitError(Exception):
    """A failure with its remedy.

    Args:
        found: What was found, one clause without a full stop.
        wanted: What was wanted instead; empty when that is plain.
        remedy: What the user can do about it; empty when nothing.
    """

    exit_code = 1

    def __init__(self, found: str, wanted: str = "", remedy: str = "") -> None:
        super().__init__(found, wanted, remedy)
        self.found = found
        self.wanted = wanted
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the one line a user reads."""
        line = self.found
        if self.wanted:
            line += f"; wanted {self.wanted}"
        return f"{line}. {self.remedy}" if self.remedy else line

    def to_dict(self) -> dict[str, str]:
        """Return the error as the ``error`` object of ``--json`` output."""
        return {
            "type": type(self).__name__,
            "found": self.found,
            "wanted": self.wanted,
            "remedy": self.remedy,
        }


class UserError(RetrokitError):
    """A mistake the user can put right; exit code 2."""

    exit_code = 2


class ContentError(UserError):
    """A ROM, zip, cue, m3u or dat that cannot be used."""


class IntegrationError(UserError):
    """A malformed integration file; the message names file, line and key."""


class CoreNotFound(UserError):
    """No core of that name, or none for that system, on this machine."""


class MissingExtra(UserError):
    """A command needs an optional package that is not installed."""


class CoreError(RetrokitError):
    """The core or its host failed."""


class CoreStateError(CoreError):
    """A call that the core's lifecycle forbids right now (memory before load, use after close)."""


class LoadRefused(CoreError):
    """The core would not load this content."""


class NoMemory(CoreError):
    """The core offers no RAM to search."""


class SavestateRefused(CoreError):
    """A savestate that is damaged or not for this core, content or version."""


class ReplayDiffers(CoreError):
    """What was played again came out differently."""


class CoreCrashed(CoreError):
    """The core died in its sandbox.

    Args:
        signal: Name of the signal, such as ``SIGSEGV``, or ``exit code N``.
        last_call: The libretro call it died in, such as ``retro_load_game``.
        log: The core's last log lines, oldest first.
    """

    def __init__(self, signal: str, last_call: str, log: list[str]) -> None:
        super().__init__(
            f"the core died of {signal} in {last_call}",
            remedy="Its last log lines: " + " | ".join(log[-3:]) if log else "It logged nothing.",
        )
        self.args = (signal, last_call, log)  # so that it survives pickling
        self.signal = signal
        self.last_call = last_call
        self.log = log

    def to_dict(self) -> dict[str, str]:
        """Return the error with signal, call and log lines."""
        extra = {"signal": self.signal, "last_call": self.last_call, "log": "\n".join(self.log)}
        return super().to_dict() | extra


class CoreTimeout(CoreError):
    """The core did not come back from a call within the time limit."""


class SearchFailed(RetrokitError):
    """The search ended without an answer it could stand behind."""
