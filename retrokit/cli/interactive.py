"""``retrokit ramsearch --interactive``: a person narrows, watches, pokes and marks."""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..conditions import Terminated
from ..discovery.hint import format_moment, parse_moment
from ..discovery.lens import Lens, every_lens, number
from ..discovery.narrow import Filter, Reading
from ..discovery.poke import Moment
from ..discovery.session import Session
from ..errors import CoreCrashed, CoreTimeout, IntegrationError, RetrokitError, UserError
from ..files import whole_file
from ..integration import parse_start
from ..png import encode_png
from ..values import Variable
from . import output
from .interactive_table import SHOWN, outcome, table, variable_of, where

LISTED = 20  # hits
TIMED = ("screen", "snap", "equal", "rose", "fell", "same", "changed", "poke")  # take an @TIME
LONG = 900  # frames of play worth a progress bar


class Line(NamedTuple):
    """A line of the prompt: its words, and the moment that one of them names."""

    words: list[str]
    at: Moment | None


def interact(session: Session, force: bool = False) -> int:
    """Talk with a person, or with a script on standard input, until ``quit`` or its end.

    Returns:
        0; of a script the exit code of the first command that failed.
    """
    prompt = Prompt(session, force)
    prompt.greet()
    for text in _lines():
        try:
            if not prompt.obey(text):
                break
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            output.note("interrupted; the session is as it was before")
        sys.stdout.flush()
    return 0 if sys.stdin.isatty() else prompt.code


def _lines() -> Iterator[str]:
    """Yield what is typed; what comes from a pipe is echoed, so that its transcript can be read."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            print(f"> {line.strip()}", flush=True)
            yield line
        return
    import readline  # noqa: F401 - gives the prompt its history and editing

    while True:
        try:
            yield input("> ")
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print("\n(leave with: quit)")


class Prompt:
    """The commands over a session."""

    def __init__(self, session: Session, force: bool) -> None:
        self.session, self.force = session, force
        self.listed: list[Reading] = []
        self.ours: set[Path] = set()  # files this session wrote, and may write again
        self.code = 0

    def greet(self) -> None:
        """Say where we are."""
        origin, session = self.session.origin, self.session
        where = f"{len(session.logs)} episode(s) of {len(session.logs[-1])} frames recorded"
        if session.recording is None:
            where = f"play begins after {' '.join(origin.start_buttons)}"
        sizes = ", ".join(f"{span.region} {span.size} bytes" for span in origin.spans)
        print(f"{origin.game or 'a recording'} on {origin.core}: {sizes}; {where}. Try: help")
        if session.game is None:
            print("No core: it is searched and not played, so nothing can be poked or proved.")
        if session.times:
            self.count()

    def obey(self, text: str) -> bool:
        """Carry out one line; return whether to go on. What goes wrong is one line of error."""
        try:
            words = shlex.split(text)
            if not words or text.lstrip().startswith("#"):
                return True
            name, rest = words[0].lower(), words[1:]
            if name in ("quit", "exit"):
                return False
            if name not in COMMANDS:
                close = difflib.get_close_matches(name, COMMANDS, 1)
                wanted = close[0] if close else "one of " + " ".join(COMMANDS)
                raise UserError(f"there is no command {name}", wanted)
            fps = self.session.origin.fps
            times = [word for word in rest if word.startswith("@")]
            at = parse_moment(times[-1], fps) if times else None
            if times and name not in TIMED:
                raise UserError(f"{name} at a time", "one of " + " ".join(TIMED))
            COMMANDS[name].function(self, Line([w for w in rest if not w.startswith("@")], at))
        except ValueError as error:
            self.fail(UserError(f"{text.strip()}: {error}"))
        except (CoreCrashed, CoreTimeout) as error:
            self.fail(error)
            output.note("retrokit: that came to nothing; play, snapshots and marks are kept")
        except RetrokitError as error:
            self.fail(error)
        return True

    def fail(self, error: RetrokitError) -> None:
        """Report an error and keep the first one's exit code."""
        output.report(error, json=False)
        self.code = self.code or error.exit_code

    # -- play and look ---------------------------------------------------------------------------

    def play(self, line: Line) -> None:
        """Press buttons, or play at random for a time."""
        session, words = self.session, line.words
        if not words:
            raise UserError("play without a word", "a time such as 5s, or UP:30 B:4 WAIT:60")
        if words[0][0].isdecimal() and words[0][-1] in "sf":
            log = session.random(parse_moment(words[0], session.origin.fps).frame)
        else:
            log = parse_start(words)
        if len(log) < LONG:
            session.play(log)
        else:
            with output.progress("playing", 100) as advance:
                session.play(log, lambda share: advance(int(100 * share)))
        print(f"played {len(log)} frames, now at {self.when(session.now)}")

    def screen(self, line: Line) -> None:
        """Save the picture."""
        path = Path(line.words[0] if line.words else f"{self.name}.png")
        ran = self.session.look(line.at)
        self.draw(path, ran.picture)
        print(f"the screen at {self.when(line.at or self.session.now)} is in {path}")

    def snap(self, line: Line) -> None:
        """Take a snapshot."""
        self.session.snap(line.at)
        print(f"snapshot {len(self.session.times)} at {self.when(self.session.times[-1])}")

    def begin(self, line: Line) -> None:
        """Let play begin here."""
        self.session.start_here()
        self.listed = []
        print(f"play begins here, after {' '.join(self.session.origin.start_buttons)}")

    # -- narrow ----------------------------------------------------------------------------------

    def filter(self, name: str, line: Line) -> None:
        """Add a filter, after a snapshot where play has gone on, or of a time that has none yet."""
        session, words = self.session, line.words
        if line.at is not None and line.at in session.times:
            words = [*words, f"#{1 + session.times.index(line.at)}"]
        named = any(word.startswith("#") for word in words)
        if own := not named and bool(line.at or session.went_on):
            self.snap(line)
        session.filter(Filter.parse([name, *words], len(session.times)), own=own)
        self.count()

    def type(self, line: Line) -> None:
        """Look through one type, or through all."""
        session, words = self.session, line.words
        if words:
            session.through(every_lens() if words == ["any"] else [Lens.parse(words)])
        lenses = session.search.lenses
        print(f"type {lenses[0]}" if len(lenses) == 1 else f"any of {len(lenses)} types")
        self.count()

    def clear(self, line: Line) -> None:
        """Drop the filters."""
        self.session.clear()
        self.count()

    def undo(self, line: Line) -> None:
        """Take a step back."""
        if not self.session.undo():
            raise UserError("nothing to take back")
        self.count()

    def count(self) -> None:
        """Say how many hits there are, and list them where they are few."""
        search = self.session.search
        count, readings = search.look(LISTED)
        filters = ", ".join(map(str, search.filters)) or "no filter yet"
        print(f"{count} hit{'s' * (count != 1)} ({filters})")
        if 0 < count == len(readings) and count <= 5:
            self.show(readings)

    def hits(self, line: Line) -> None:
        """List hits."""
        most = number(line.words[0]) if line.words else LISTED
        count, readings = self.session.search.look(most)
        if not count:
            print("no hit: undo takes the last filter back, another type may have some")
            return
        self.show(readings)
        if count > len(readings):
            print(f"{len(readings)} places of {count} hits; the likeliest types come first")

    def show(self, readings: list[Reading]) -> None:
        """Print hits as a table, and remember them by their numbers."""
        self.listed = readings
        output.print_table(table(readings, self.session))

    # -- watch, poke, mark -----------------------------------------------------------------------

    def watch(self, line: Line) -> None:
        """Print a variable's value in each snapshot."""
        variable = self.variable(line.words)
        values = self.session.seen(variable)
        for place, (at, value) in enumerate(zip(self.session.times, values, strict=True), 1):
            print(f"snapshot {place} at {self.when(at)}: {value}")
        if not values:
            print("no snapshot yet")

    def poke(self, line: Line) -> None:
        """Write a value, run on, and tell what became of it."""
        words = [word for word in line.words if not word.endswith(".png")]
        pictures = [word for word in line.words if word.endswith(".png")]
        if len(words) < 2:
            raise UserError("poke without a value", "poke ADDR VALUE, such as: poke 0x41c 9")
        variable, session = self.variable([words[0], *words[2:]]), self.session
        value = number(words[1])
        start = {span.region: span.start for span in session.origin.spans}[variable.region]
        offsets = [start + addr for addr in variable.addrs]
        poked = session.poke(offsets, variable.encode(value), line.at)
        path = Path(pictures[0] if pictures else f"{self.name}.poke.png")
        self.draw(path, poked.picture)
        for text in outcome(variable, value, poked):
            print(text)
        print(f"the screen then is in {path}; play itself is as it was")

    def mark(self, line: Line) -> None:
        """Settle on a variable."""
        words = line.words
        if len(words) >= 2:
            self.session.marks[words[0]] = self.variable(words[1:])
        elif words:
            raise UserError(f"mark {words[0]} without a place", "mark NAME ADDR TYPE, or #HIT")
        for name, variable in self.session.marks.items():
            values = " ".join(map(str, self.session.seen(variable)[-SHOWN:]))
            kind = f"{variable.encoding}, ×{variable.scale}"
            print(f"{name}: {where(variable)} ({kind}); in the snapshots: {values or '-'}")

    def over(self, line: Line) -> None:
        """Say when the game is over."""
        rule = " ".join(line.words)
        Terminated(rule)  # else it is no rule at all
        self.session.over = rule
        print(f"terminated: {rule or 'never'}")
        try:
            Terminated(rule, self.session.marks)
        except IntegrationError as error:
            print(f"before you write, mark that too: {error.found.split('found ')[-1]}")

    # -- keep ------------------------------------------------------------------------------------

    def save(self, line: Line) -> None:
        """Write the session as a recording."""
        path = self.target(line, "save REC.npz")
        with output.progress("recording", 100) as advance:
            self.session.save(path, lambda share: advance(int(100 * share)))
        self.ours.add(path)
        print(f"play, snapshots, filters and marks are in {path}")

    def load(self, line: Line) -> None:
        """Take up a recording."""
        if not line.words:
            raise UserError("load without a file", "load REC.npz")
        self.session, self.listed = Session.open(Path(line.words[0]), self.session.game), []
        self.greet()

    def write(self, line: Line) -> None:
        """Write the integration."""
        path = self.target(line, "write FILE.yaml")
        self.session.integration().save(path, force=path.exists())
        self.ours.add(path)
        print(f"written {path}, by hand; now see: retrokit verify {path}")

    def help(self, line: Line) -> None:
        """List the commands."""
        width = max(len(command.usage) for command in COMMANDS.values())
        for command in COMMANDS.values():
            print(f"{command.usage:<{width}}  {command.help}")

    # -- small things ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The game's name, for files."""
        return self.session.origin.game or "screen"

    def when(self, at: Moment) -> str:
        """Return a moment in seconds and frames."""
        return f"{format_moment(at, self.session.origin.fps)} (frame {at.frame})"

    def variable(self, words: list[str]) -> Variable:
        """Return the variable that words name; see `variable_of`."""
        return variable_of(words, self.session, self.listed)

    def target(self, line: Line, usage: str) -> Path:
        """Return the file to write, if it may be."""
        if not line.words:
            raise UserError("no file to write", usage)
        path = Path(line.words[0])
        if path.exists() and path not in self.ours and not self.force:
            raise UserError(f"{path} is kept", "a new file", "Or begin with --force.")
        return path

    def draw(self, path: Path, picture: Any) -> None:
        """Write a picture."""
        path = self.target(Line([str(path)], None), "")
        with whole_file(path, "the picture ") as file:
            file.write(encode_png(picture))
        self.ours.add(path)


class Command(NamedTuple):
    """What carries a command out, how it is typed, and what it does."""

    function: Callable[[Prompt, Line], None]
    usage: str
    help: str


def _filter(name: str) -> Callable[[Prompt, Line], None]:
    return lambda prompt, line: prompt.filter(name, line)


COMMANDS = {
    "play": Command(Prompt.play, "play 5s | UP:30 B:4", "play on at random, or press buttons"),
    "screen": Command(Prompt.screen, "screen [FILE] [@TIME]", "save the picture as PNG"),
    "snap": Command(
        Prompt.snap, "snap [@TIME]", "take a snapshot; the filters do it by themselves"
    ),
    "equal": Command(_filter("equal"), "equal N [@TIME]", "the screen shows N, with drawn zeros"),
    "rose": Command(_filter("rose"), "rose [N] [@TIME]", "it rose since the snapshot before, by N"),
    "fell": Command(_filter("fell"), "fell [N] [@TIME]", "it fell"),
    "same": Command(_filter("same"), "same [@TIME]", "it did not change"),
    "changed": Command(_filter("changed"), "changed [@TIME]", "it did"),
    "type": Command(Prompt.type, "type any | bcd 3 le", "look through one type; nothing is lost"),
    "hits": Command(Prompt.hits, "hits [N]", "list what is left, with its values"),
    "undo": Command(Prompt.undo, "undo", "take back the last snapshot, filter or type"),
    "clear": Command(Prompt.clear, "clear", "drop the filters, keep the snapshots"),
    "watch": Command(Prompt.watch, "watch ADDR [TYPE]", "its value in each snapshot"),
    "poke": Command(Prompt.poke, "poke ADDR VALUE [TYPE]", "write, run on, tell what became of it"),
    "mark": Command(Prompt.mark, "mark NAME ADDR [TYPE]", "settle on score, lives, …; #1 is a hit"),
    "over": Command(Prompt.over, "over lives == 0", "the rule of game over"),
    "begin": Command(Prompt.begin, "begin", "play begins here: what was pressed is the start"),
    "save": Command(Prompt.save, "save REC.npz", "keep all of this, to go on or search it"),
    "load": Command(Prompt.load, "load REC.npz", "take up a session or a recording"),
    "write": Command(Prompt.write, "write FILE.yaml", "write the marks as an integration"),
    "help": Command(Prompt.help, "help", "this list"),
    "quit": Command(Prompt.help, "quit", "leave"),
}
