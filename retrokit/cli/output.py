"""What commands print: results on standard output, everything else on standard error.

With ``--json`` standard output holds one JSON object and nothing else. In a pipe, under NO_COLOR
and on a dumb terminal everything is plain text without colour or lines.
"""

from __future__ import annotations

import json as jsonlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ..errors import RetrokitError

if TYPE_CHECKING:
    from pandas import DataFrame

# The ``--json`` of every command.
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; progress goes to standard error.")
]

# What a command plays, where its integration or run names no file.
_CONTENT = "The ROM, zip or dat; found by its hash when not given."
ContentArgument = Annotated[Path | None, typer.Argument(help=_CONTENT)]
ContentOption = Annotated[Path | None, typer.Option(help=_CONTENT)]
RomDirOption = Annotated[
    list[Path] | None, typer.Option(help="A folder to search for the content; repeatable.")
]

PLAIN_SECONDS = 5.0  # between two progress lines where no bar can be drawn


def is_plain(stream: TextIO) -> bool:
    """Tell whether a stream wants neither colour, lines nor movement."""
    return bool(
        not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    )


def note(text: str) -> None:
    """Print a line that is not the result: what is going on, what to try."""
    print(text, file=sys.stderr, flush=True)


def warn(lines: Iterable[str]) -> None:
    """Note what does not match, a warning each."""
    for line in lines:
        note(f"retrokit: warning: {line}")


def print_json(data: Mapping[str, Any]) -> None:
    """Print the one object of ``--json``.

    numpy scalars and arrays become numbers and lists, what JSON cannot say becomes null (NaN,
    infinity) or text (paths).
    """
    print(jsonlib.dumps(_jsonable(data), indent=2, allow_nan=False))


def print_table(frame: DataFrame) -> None:
    """Print the columns and rows of a DataFrame, without its index; cells are ``str(value)``.

    A pipe gets one row a line, however wide; a terminal folds what it has no room for.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain = is_plain(sys.stdout)
    lines = None if plain else box.SIMPLE_HEAD
    table = Table(box=lines, header_style="bold", pad_edge=False, show_edge=False)
    for name, dtype in frame.dtypes.items():
        numeric = dtype.kind in "iuf"
        table.add_column(str(name), justify="right" if numeric else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(no_color=plain, highlight=False, width=10_000 if plain else None)
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def points(value: float | None) -> str:
    """Return a score as people read it: whole from 100 on, and a dash where there is none."""
    if value is None or not isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.1f}"


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[..., None]]:
    """Show how far a long piece of work has come, on standard error.

    Yields:
        ``advance(now, text="")`` with the units behind us (0 to total) and a word on the state.
        A terminal shows a bar; elsewhere a line appears every few seconds.
    """
    if is_plain(sys.stderr):
        yield _PlainProgress(label, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(), TextColumn("{task.fields[text]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, text="")

        def advance(now: int, text: str = "") -> None:
            bar.update(task, completed=now, text=text)

        yield advance


class _PlainProgress:
    """A first line, one every PLAIN_SECONDS, and one at the end."""

    def __init__(self, label: str, total: int) -> None:
        self.label, self.total, self.ended = label, total, False
        self.start = self.last = time.monotonic()
        note(f"{label} …")

    def __call__(self, now: int, text: str = "") -> None:
        clock = time.monotonic()
        if self.ended or (clock - self.last < PLAIN_SECONDS and now < self.total):
            return
        self.last, self.ended = clock, now >= self.total
        share = f"{100 * now // max(self.total, 1)}%"
        note(f"{self.label}: {share}, {clock - self.start:.0f} s{text and f', {text}'}")


def report(error: RetrokitError, json: bool) -> None:
    """Report a failure in one line on standard error, and as ``{"error": …}`` with ``--json``."""
    if json:
        print_json({"error": error.to_dict()})
    note("retrokit: error: " + " ".join(str(error).split()))


def prepare_streams() -> None:
    """Show a Python warning as one line of ours, and a letter the terminal lacks as ``?``."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        note(f"retrokit: warning: {message}")

    warnings.showwarning = show
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return _jsonable(value.tolist()) if hasattr(value, "tolist") else str(value)
