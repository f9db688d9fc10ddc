"""``retrokit ramsearch``: unknown content in, an integration with its evidence out."""

from __future__ import annotations

import shlex
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import sandbox
from ..buttons import to_mask
from ..content import Content
from ..discovery.answer import Answer, Settings
from ..discovery.bundle import proof_path
from ..discovery.search import EPISODES, search
from ..discovery.session import Game, Session
from ..discovery.tape import Tape
from ..errors import CoreCrashed, CoreTimeout, RetrokitError, SearchFailed, UserError
from ..integration import format_start, parse_start
from ..systems import FoundCore, core_for, find_core
from . import output
from .games import open_content
from .interactive import interact
from .ramsearch_report import write_report
from .ramsearch_table import print_answer
from .recorded import beside, facts, is_recording, print_hits, read_hints, refuse, search_recording

LEAST_FRAMES = 300 * EPISODES


def ramsearch(
    content: Annotated[
        str, typer.Argument(help="A ROM, zip, dat or cue; a game's name; or a recording, an .npz.")
    ],
    core: Annotated[str | None, typer.Option(help="The core; else the system's best.")] = None,
    system: Annotated[str | None, typer.Option(help="The system; else guessed.")] = None,
    frames: Annotated[
        int | None, typer.Option(min=LEAST_FRAMES, help="Frames to record at first.  [9000]")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of all random choices.  [0]")] = None,
    actions: Annotated[
        str | None, typer.Option(help="Such as 'NOOP,UP,DOWN,B,UP+B'; else found out.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="Such as 'WAIT:300 SELECT:4 START:4'; else found out.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write.  [GAME.yaml]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: output.JsonOption = False,
    rom_dir: Annotated[list[Path] | None, typer.Option(help="A folder with ROMs.")] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep what was recorded in this .npz.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with what --record or Ctrl-C has kept.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with pictures and charts, an .html.")
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Narrow by hand, at a prompt or from a script.")
    ] = False,
    hint: Annotated[
        list[str] | None,
        typer.Option(help="What a recording's screen showed, such as 'score=430@12.5s'."),
    ] = None,
) -> int:
    """Search a game's RAM for score, lives and game over, and write what is proved.

    Returns:
        0 when an integration was written, 1 when nothing scored or no start was found.

    Raises:
        UserError: Something cannot be as the user wants it; found before the search where it can.
        KeyboardInterrupt: Ctrl-C; says where the recording is.
    """
    given = {"--frames": frames, "--seed": seed, "--actions": actions, "--start": start}
    files = {"--out": out, "--record": record, "--report": report}
    if interactive:
        more = {"--json": json, "--hint": hint, "--frames": frames}
        refuse(files | more, "--interactive", "The prompt has its own.")
    if is_recording(content):
        played = {"--core": core, "--system": system, "--rom-dir": rom_dir, "--resume": resume}
        refuse(given | files | played, f"the recording {content}", "It is not played.")
        if interactive:
            return interact(Session.open(Path(content)), force)
        return search_recording(Path(content), hint or (), json)
    game = open_content(content, rom_dir or (), system)
    found = find_core(core) if core is not None else core_for(game.system)
    if found.spec.systems and game.system not in found.spec.systems:
        made_for = " ".join(found.spec.systems)
        said = (
            f"the core {found.spec.name} is made for {made_for}, and {game.path} for {game.system}"
        )
        output.warn([said])
    output.warn(f"{game.path}: {problem}" for problem in game.problems)
    if resume is not None:
        settings, tape = _resumed(resume, game, found, given)
        settings = replace(settings, hints=read_hints(hint or (), tape))
    elif hint:
        raise UserError("--hint without a recording", "--resume too", "Its time is a recording's.")
    else:
        settings, tape = _settings(frames, seed, actions, start), Tape()
    if interactive:
        return interact(_session(Game(game, found), settings), force)
    written = out or Path(f"{game.name}.yaml")
    _check_target(written, game, force, "--out")
    proof = proof_path(written)
    _check_target(proof, game, force, "--out")
    if record is not None:
        if not is_recording(str(record)):
            raise UserError(f"--record {record}", "a name that ends in .npz")
        _check_target(record, game, force or record == resume, "--record")
    if report is not None:
        _check_target(report, game, force, "--report")
    again = ["retrokit", "ramsearch", content]
    options = {"--core": core, "--system": system, "--out": out, "--record": record}
    options |= {"--report": report}
    again += [text for key, value in options.items() if value for text in (key, str(value))]
    again += [text for folder in rom_dir or () for text in ("--rom-dir", str(folder))]
    again += [text for one in hint or () for text in ("--hint", one)]
    again += ["--force"] * force
    run = _Run(game, found, settings, tape, record, written.parent, again, report)
    try:
        answer = run.search()
    except KeyboardInterrupt as stop:
        run.draw(run.known(), notes=[f"The search was interrupted. {stop}"], interrupted=True)
        raise
    except UserError:
        raise
    except RetrokitError as error:
        return _failed(error, run, json)
    if answer.best is None:
        return _failed(answer.failure(), run, json, answer)
    proof.unlink(missing_ok=True)  # that of another search
    integration = answer.integration(game)
    integration.save(written, force=force)
    hinted = beside(run.tape, settings.hints, integration.variables)
    assert answer.bundle is not None  # what is written has a proof
    answer.bundle.save(proof)
    run.draw(answer.to_dict(game), answer)
    if json:
        kept = {"out": written, "proof": proof, "recording": run.kept, "report": report}
        hints = {"hints": facts(hinted)} if hint else {}
        output.print_json(answer.to_dict(game) | kept | hints)
    else:
        print_answer(answer, game)
        print_hits(hinted)
        print(f"written     {written}")
        print(f"proof       {proof}")
        if run.kept is not None:
            print(f"recording   {run.kept}")
        if report is not None:
            print(f"report      {report}")
    return 0


def _session(game: Game, settings: Settings) -> Session:
    """Return a session that goes on with a recording, or begins where play does."""
    if settings.resume is not None:
        return Session.open(settings.resume, game)
    with output.progress(f"starting {game.content.name}", 100) as advance:

        def hear(event: tuple[Any, ...]) -> None:
            if event[0] == "stage":
                advance(min(99, int(200 * event[2])), event[1])  # the first half of a search
            elif event[0] == "warning":
                output.warn(event[1:])

        session = Session.begin(game, settings, hear)
        advance(100)
    return session


def _settings(
    frames: int | None, seed: int | None, actions: str | None, start: str | None
) -> Settings:
    """Return the settings, each checked before anything runs."""
    settings = Settings()
    return Settings(
        settings.frames if frames is None else frames,
        settings.seed if seed is None else seed,
        None if actions is None else _actions(actions),
        None if start is None else tuple(format_start(parse_start(start.split()))),
    )


def _actions(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the action set of ``"NOOP,UP,B,UP+B"``."""
    out: list[tuple[str, ...]] = []
    for entry in text.upper().split(","):
        names = tuple(name.strip() for name in entry.split("+"))
        action = () if names == ("NOOP",) else names
        to_mask(action)
        if action not in out:
            out.append(action)
    return tuple(out)


def _resumed(
    resume: Path, game: Content, found: FoundCore, given: dict[str, Any]
) -> tuple[Settings, Tape]:
    """Return the settings and episodes of a recording."""
    if both := [name for name, value in given.items() if value is not None]:
        raise UserError(
            f"{both[0]} and --resume together", "one of them", "The recording has its own."
        )
    tape = Tape.load(resume)
    assert tape.origin is not None
    tape.origin.check(resume, rom_sha1=game.sha1, core=found.spec.name)
    return Settings(tape.origin.frames, tape.origin.seed, resume=resume), tape


def _check_target(path: Path, game: Content, force: bool, option: str) -> None:
    """Find out before the search what would keep a file from being written after it."""
    if path.is_dir():
        raise UserError(f"{path} is a folder", f"a file for {option}")
    if path.exists() and path.samefile(game.path):
        raise UserError(f"{option} {path} is the game itself", "another name")
    if path.exists() and not force:
        raise UserError(f"{path} is kept", "a new file", f"Give --force or another {option}.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UserError(
            f"cannot write into {path.parent} ({error.strerror})", f"a writable place for {option}"
        ) from None


class _Run:
    """One search: its progress shown, its recording kept whatever happens."""

    def __init__(
        self,
        game: Content,
        found: FoundCore,
        settings: Settings,
        tape: Tape,
        record: Path | None,
        folder: Path,
        again: list[str],
        report: Path | None,
    ) -> None:
        self.game, self.found, self.settings, self.tape = game, found, settings, tape
        self.record, self.folder, self.again, self.report = record, folder, again, report
        self.kept: Path | None = None
        self.behind = 0
        self.answer: Answer | None = None

    def search(self) -> Answer:
        """Search in a child; on Ctrl-C and on a crash say how to go on."""
        with _one_press():
            try:
                with output.progress(f"searching {self.game.name}", 100) as advance:
                    answer = sandbox.call(
                        search,
                        (self.game, self.found, self.settings),
                        on_event=lambda event: self._hear(event, advance),
                    )
                    advance(100)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(self._keep(always=True, interrupted=True)) from None
            except UserError:
                raise
            except RetrokitError as error:
                if self.answer is None or not isinstance(error, (CoreCrashed, CoreTimeout)):
                    dead = not isinstance(error, SearchFailed)
                    if text := self._keep(always=dead):
                        output.note(f"retrokit: {text}")
                    raise
                answer = self.answer
                output.warn([f"{error}; score and lives were found before"])
            self._keep(always=False)
            return answer

    def known(self) -> dict[str, Any]:
        """Return what is known without an answer, under the keys of one."""
        game, origin = self.game, self.tape.origin
        known: dict[str, Any] = {
            "game": game.name, "system": game.system, "core": self.found.spec.name,
            "rom_sha1": {game.name: game.sha1}, "scored": False, "candidates": [],
        }  # fmt: skip
        if origin is not None:
            known |= {
                "core_version": origin.core_version,
                "seed": origin.seed,
                "start_buttons": list(origin.start_buttons),
                "action_set": [list(action) for action in origin.action_set],
                "frames": self.tape.frames,
            }
        return known

    def draw(
        self,
        facts: dict[str, Any],
        answer: Answer | None = None,
        notes: Sequence[str] = (),
        interrupted: bool = False,
    ) -> None:
        """Write the page of ``--report``, where one is wanted."""
        if self.report is not None:
            told = self.report, self.game, self.found, self.tape, facts, answer, notes
            write_report(*told, interrupted=interrupted)

    def _hear(self, event: tuple[Any, ...], advance: Any) -> None:
        kind, *rest = event
        if kind == "stage":
            text, share = rest
            self.behind = max(self.behind, min(99, int(100 * share)))
            advance(self.behind, text)
        elif kind == "origin":
            self.tape.origin = rest[0]
        elif kind == "episode":
            self.tape.put(*rest)
        elif kind == "answer":
            self.answer = rest[0]
        elif kind == "warning":
            output.warn(rest)

    def _keep(self, always: bool, interrupted: bool = False) -> str:
        """Save the recording where the user wants one, or always; return how to go on."""
        if self.record is None and not always:
            return ""
        if self.tape.origin is None:
            if not interrupted:
                return ""
            if self.settings.start is None:
                return "No start was found yet, so nothing is kept."
            again = shlex.join([*self.again, "--start", " ".join(self.settings.start)])
            return f"Nothing was played yet, so nothing is kept. To begin again: {again}"
        self.kept = self.record or self.settings.resume or self._free()
        self.tape.save(self.kept)
        again = shlex.join([*self.again, "--resume", str(self.kept)])
        what = f"The start and {self.tape.episodes} finished episode(s) are"
        return f"{what} kept in {self.kept}. To go on: {again}"

    def _free(self) -> Path:
        """Return GAME.recording.npz, or the first such name that is free."""
        path, number = self.folder / f"{self.game.name}.recording.npz", 2
        while path.exists():
            path = self.folder / f"{self.game.name}.recording{number}.npz"
            number += 1
        return path


@contextmanager
def _one_press() -> Iterator[None]:
    """Let the first Ctrl-C raise at once and drop further ones, until the block has wound up."""

    def press(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _failed(error: RetrokitError, run: _Run, json: bool, answer: Answer | None = None) -> int:
    """Report a search without a result: one object with ``--json``, what was seen on a terminal."""
    known = run.known() if answer is None else answer.to_dict(run.game)
    known |= {"error": error.to_dict()}
    run.draw(known, answer)
    if json:
        kept = {"out": None, "recording": run.kept, "report": run.report}
        output.print_json(known | kept)
    elif answer is not None:
        print_answer(answer, run.game)
    output.report(error, json=False)
    return error.exit_code
