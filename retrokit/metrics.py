"""What a run measured: tables in SQLite, scalars for TensorBoard, DataFrames in and out.

TensorBoard's files are written where it is installed (the extra ``train``), by its own record
writer, but in this thread: its own thread would print a traceback when the disk is full. SQLite's
own journal (no WAL) is used: a run may lie on a network drive, or where nobody may write.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import RetrokitError

if TYPE_CHECKING:
    from pandas import DataFrame

    Rows = Mapping[str, Any] | Iterable[Mapping[str, Any]] | DataFrame

UPDATES, EPISODES, EVALUATIONS = "updates", "episodes", "evaluations"
_TRAINED = (UPDATES, EPISODES)  # the tables of one history, which a resumed run goes on with
_WAIT = 60.0  # seconds for another process that writes
_MOST = 3.4e38  # TensorBoard's numbers are 32-bit floats
_KINDS = {int: "INTEGER", float: "REAL", str: "TEXT"}


class Metrics:
    """The tables of one run.

    A row of ``updates`` and ``episodes`` has a ``step``: environment steps of all environments
    together when it was written. Tables and columns come into being when they are first used.

    Args:
        folder: The run's: ``metrics.sqlite`` and ``tensorboard/`` lie there.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.sqlite"
        self._folder = folder / "tensorboard"
        self._events: _Events | None = None
        self._begin: int | None = None

    def append(self, table: str, rows: Rows) -> None:
        """Add rows, all or none; they are on the disk when this returns.

        Numbers of ``updates`` and ``episodes`` also go to TensorBoard where it is installed, as
        ``<table>/<column>``.

        Args:
            table: Its name.
            rows: A mapping of column to value, several of them, or a DataFrame. Values are
                numbers, text or None; NaN is kept as None.

        Raises:
            RetrokitError: They cannot be written; what was there before is kept.
        """
        plain = [{name: _plain(value) for name, value in row.items()} for row in _each(rows)]
        if not plain:
            return
        names = list(dict.fromkeys(name for row in plain for name in row))
        columns = ", ".join(map(_quoted, names))
        marks = ", ".join("?" * len(names))
        with self._connected("write") as connection:
            self._make(connection, table, plain, names)
            connection.executemany(
                f"INSERT INTO {_quoted(table)} ({columns}) VALUES ({marks})",
                [[row.get(name) for name in names] for row in plain],
            )
        if table in _TRAINED and has_tensorboard():
            self._to_tensorboard(table, plain)

    def _make(
        self, connection: sqlite3.Connection, table: str, rows: list[dict[str, Any]], names: Any
    ) -> None:
        """Add the table and the columns that are not there yet."""
        there = [row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        typed = [f"{_quoted(name)} {_kind(rows, name)}" for name in names if name not in there]
        if not there:
            connection.execute(f"CREATE TABLE {_quoted(table)} ({', '.join(typed)})")
            return
        for column in typed:
            connection.execute(f"ALTER TABLE {_quoted(table)} ADD COLUMN {column}")

    def _to_tensorboard(self, table: str, rows: list[dict[str, Any]]) -> None:
        with self._telling("write", self._folder):
            if self._events is None:
                self._events = _Events(self._folder, self._begin)
            for row in rows:
                scalars = {
                    f"{table}/{name}": value
                    for name, value in row.items()
                    if name != "step" and isinstance(value, (int, float)) and abs(value) < _MOST
                }
                self._events.add(row["step"], scalars)

    def frame(self, table: str) -> DataFrame:
        """Return a table in the order it was written; empty where there is none.

        A column is int64, float64 (None is NaN) or text, as it was first written; whole numbers
        with a None among them are Int64.

        Raises:
            RetrokitError: It cannot be read.
        """
        from pandas import DataFrame

        if not self.path.exists():
            return DataFrame()
        with self._connected("read") as connection:
            kinds = {
                row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")
            }
            if not kinds:
                return DataFrame()
            rows = connection.execute(f"SELECT * FROM {_quoted(table)} ORDER BY rowid").fetchall()
        frame = DataFrame.from_records(rows, columns=list(kinds))
        for name, kind in kinds.items():
            if kind == "REAL":
                frame[name] = frame[name].astype("float64")
            elif kind != "TEXT" and frame[name].isna().any():
                if not frame[name].map(lambda value: isinstance(value, str)).any():
                    frame[name] = frame[name].convert_dtypes()
        return frame

    def cut(self, step: int) -> None:
        """Forget what is later than the checkpoint that a run goes on from.

        Evaluations are of checkpoints, whatever became of the run, and stay.

        Raises:
            RetrokitError: It cannot be written.
        """
        self._begin = step + 1
        if not self.path.exists():
            return
        with self._connected("write") as connection:
            for table in _TRAINED:
                if connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchone():
                    connection.execute(f"DELETE FROM {_quoted(table)} WHERE step > ?", [step])

    def close(self) -> None:
        """Close TensorBoard's file; closing twice is harmless, and the next row begins another."""
        events, self._events = self._events, None
        if events is not None:
            events.close()

    @contextmanager
    def _connected(self, doing: str) -> Iterator[sqlite3.Connection]:
        """Yield a connection in one transaction; opened each time, it knows no thread or fork."""
        with self._telling(doing), closing(sqlite3.connect(self.path, timeout=_WAIT)) as connection:
            with connection:
                yield connection

    @contextmanager
    def _telling(self, doing: str, path: Path | None = None) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RetrokitError(
                f"cannot {doing} {path or self.path} ({reason})",
                remedy="What was written before is kept." if doing == "write" else "",
            ) from None


def has_tensorboard() -> bool:
    """Tell whether TensorBoard's files can be written."""
    return find_spec("tensorboard") is not None


class _Events:
    """One new event file; TensorBoard reads a folder's files in the order they were made.

    Args:
        folder: Made when it is not there.
        begin: The step of the first event to come: TensorBoard forgets this and all later steps of
            older files. None forgets nothing.
    """

    def __init__(self, folder: Path, begin: int | None) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.iterdir()))
        name = f"events.out.tfevents.{int(time.time()):010d}.{number:04d}"
        self._event = Event
        self._file = (folder / name).open("xb", buffering=0)
        self._records = RecordWriter(self._file)
        self._write(file_version="brain.Event:2")
        if begin is not None:
            self._write(step=begin, session_log=SessionLog(status=SessionLog.START))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        values = [{"tag": tag, "simple_value": number} for tag, number in scalars.items()]
        self._write(step=step, summary={"value": values})

    def _write(self, **fields: Any) -> None:
        event = self._event(wall_time=time.time(), **fields)
        self._records.write(event.SerializeToString())

    def close(self) -> None:
        self._file.close()


def _each(rows: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(rows, Mapping):
        return [rows]
    return rows.to_dict("records") if hasattr(rows, "to_dict") else rows  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """Return a value as SQLite takes it; it keeps NaN as NULL by itself."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, (int, float, str)):
        return int(value) if isinstance(value, bool) else value
    return str(value)


def _kind(rows: list[dict[str, Any]], name: str) -> str:
    kinds = {type(row[name]) for row in rows if row.get(name) is not None}
    if not kinds:
        return ""  # nobody knows yet: what comes stays as it is
    return _KINDS[str if str in kinds else float if float in kinds else int]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
