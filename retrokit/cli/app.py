"""The commands and what they have in common; a command's module is imported when it is called."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.exceptions import TyperException

from .. import __version__
from ..errors import RetrokitError, UserError
from . import output


class Command(NamedTuple):
    """One command: ``retrokit.cli.<module>:<function>`` and its line in ``retrokit --help``.

    The function returns nothing, or an exit code; what goes wrong it raises.
    """

    module: str
    function: str
    help: str


# One line makes a command.
COMMANDS = {
    "doctor": Command("doctor", "doctor", "Check this machine: what is there, what is missing."),
    "cores": Command("cores", "cores", "List the emulator cores found here, and how to get more."),
    "probe-core": Command("probe_core", "probe_core", "Tell what a core is and does."),
    "ramsearch": Command("ramsearch", "ramsearch", "Find score, lives and game over in RAM."),
    "eval": Command("eval", "evaluate", "Play whole games with checkpoints, and at random."),
    "runs": Command("runs", "runs", "List training runs, their checkpoints and their numbers."),
    "replay": Command("replay", "replay", "Replay a movie, prove its RAM, and film it."),
    "progression": Command(
        "progression", "progression", "Film checkpoints side by side, a median game of each."
    ),
    "watch": Command("watch", "watch", "Watch an agent or random play, or play yourself."),
    "verify": Command("verify", "verify", "Prove by playing that an integration holds."),
    "train": Command("train", "train", "Train an agent; go on with --resume."),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code; nothing escapes as a traceback.

    Args:
        argv: The arguments without the program's name; ``sys.argv`` when None.

    Returns:
        0 success, 1 failure, 2 a mistake the user can put right, 130 interrupted, 141 the reader
        of a pipe went away.
    """
    args = (sys.argv[1:] if argv is None else argv) or ["--help"]
    output.prepare_streams()
    if threading.current_thread() is threading.main_thread():
        # A scheduler or `timeout` ends a command as Ctrl-C does: what is finished is kept.
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    failure: RetrokitError
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Python flushes standard output once more on its way out; let it write to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except RetrokitError as error:
        failure, code = error, error.exit_code
    except TyperException as error:
        failure, code = _usage_error(error, args), 2
    except KeyboardInterrupt as error:
        # A command that kept something says so: raise KeyboardInterrupt("the frames are in …").
        failure, code = RetrokitError("interrupted", remedy=str(error)), 130
    except Exception as error:
        if os.environ.get("RETROKIT_DEBUG"):
            traceback.print_exc()
        failure, code = _bug(error), 1
    output.report(failure, json="--json" in args)
    return code


def _run(args: list[str]) -> int:
    """Let typer parse, then call: errors and Ctrl-C of a command never pass through typer."""
    # Without rich markup the help is plain text, and quick.
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(help="Unknown game in, proven integration out.")(_root)
    called = next((arg for arg in args if not arg.startswith("-")), None)
    for name, command in COMMANDS.items():
        function = _load(command) if name == called else lambda: None
        app.command(name, help=command.help)(function)
    call = app(args=args, prog_name="retrokit", standalone_mode=False)
    return call() or 0 if isinstance(call, partial) else int(call or 0)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"retrokit {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Carry the options that stand before a command."""


def _load(command: Command) -> Callable[..., Any]:
    """Import a command; return its function with the call put off until typer has parsed."""
    function = getattr(import_module(f"retrokit.cli.{command.module}"), command.function)

    @wraps(function)
    def put_off(**arguments: Any) -> partial[Any]:
        return partial(function, **arguments)

    return put_off


def _usage_error(error: TyperException, args: list[str]) -> UserError:
    message = error.format_message()
    if close := re.search(r"\. Did you mean (.+)\?$", message):
        return UserError(message[: close.start()], remedy=f"Did you mean {close[1]}?")
    called = next((f"{arg} " for arg in args if arg in COMMANDS), "")
    return UserError(message.rstrip("."), remedy=f"See: retrokit {called}--help")


def _bug(error: Exception) -> RetrokitError:
    return RetrokitError(
        f"{type(error).__name__}: {error}".rstrip(": "),
        remedy="This is a bug in retrokit; RETROKIT_DEBUG=1 shows where",
    )
