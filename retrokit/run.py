"""A run's folder: configuration, integration, metrics, checkpoints, movies.

::

    runs/<game>/<YYYYmmdd-HHMMSS>/
      config.json      what was asked for
      integration.yaml the game's facts, as they were then
      run.json         tool, machine, hashes of content and core
      metrics.sqlite   tensorboard/   checkpoints/<step>.ckpt   movies/

One process writes a run, and holds its lock; any number read it meanwhile.
"""

from __future__ import annotations

import difflib
import fcntl
import json
import os
import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from . import __version__
from .checkpoint import KEEP, Checkpoint, look_at, read_checkpoint, superfluous, write_checkpoint
from .errors import RetrokitError, UserError
from .files import reading, whole_file
from .metrics import Metrics

ROOT = Path("runs")
_TRIES = 10
_WANTED = "a folder that `retrokit train` made"


class Run:
    """One run; made by `create` or `open`.

    Attributes:
        path: Its folder.
        config: What was asked for.
        facts: ``created`` (seconds since 1970), ``retrokit`` (the version), ``machine``, and
            whatever else it was created with.
        metrics: Its tables.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path / "run.json", "run", _WANTED):
            self.facts: dict[str, Any] = json.loads((path / "run.json").read_text("utf-8"))
            self.config: dict[str, Any] = json.loads((path / "config.json").read_text("utf-8"))
        self.metrics = Metrics(path)
        self._lock: IO[str] | None = None

    @classmethod
    def create(
        cls,
        root: Path,
        game: str,
        config: Mapping[str, Any],
        integration: str,
        facts: Mapping[str, Any],
    ) -> Run:
        """Make a new run's folder and take its lock.

        Args:
            root: Where runs lie; made when it is not there.
            game: Name of the game.
            config: What was asked for, as JSON can say it.
            integration: The text of the integration file.
            facts: What else is known, such as hashes of content and core.

        Raises:
            UserError: It cannot be written.
        """
        path = _new_folder(root / game)
        known = {"created": time.time(), "retrokit": __version__, "machine": _machine()}
        for name in ("checkpoints", "movies"):
            (path / name).mkdir()
        texts = {
            "integration.yaml": integration,
            "config.json": _as_json(config),
            "run.json": _as_json({**known, **facts}),  # last: now it is a run
        }
        for name, text in texts.items():
            _write(path / name, text)
        run = cls(path)
        run.lock()
        return run

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False) -> Run:
        """Open a run, with its lock when something is going to be written.

        Raises:
            UserError: It is no run; or another process writes it.
        """
        run = cls(Path(path))
        if write:
            run.lock()
        return run

    @classmethod
    def list(cls, root: Path = ROOT, game: str | None = None) -> Sequence[Run]:
        """Return the runs under a folder, oldest first; what is damaged is warned of."""
        runs = []
        for path in sorted(root.glob(f"{game or '*'}/*/run.json")):
            try:
                runs.append(cls(path.parent))
            except UserError as error:
                warnings.warn(str(error), stacklevel=2)
        return sorted(runs, key=lambda run: (run.facts["created"], run.path.name))

    @classmethod
    def newest(cls, root: Path = ROOT, game: str | None = None) -> Run:
        """Return the run that was begun last.

        Raises:
            UserError: There is none.
        """
        if runs := cls.list(root, game):
            return runs[-1]
        of = f" of {game}" if game else ""
        raise UserError(f"no run{of} in {root}", remedy="Begin one with `retrokit train`.")

    @classmethod
    def find(cls, name: str, root: Path = ROOT) -> Run:
        """Return the run a user named: its folder, ``game/time``, or a game (its newest run).

        Raises:
            UserError: There is none; close names are offered.
        """
        for path in (Path(name), root / name):
            if (path / "run.json").is_file():
                return cls(path)
        if runs := [run for run in cls.list(root) if name in (run.game, run.path.name)]:
            return runs[-1]
        known = [run.name for run in cls.list(root)] + sorted({run.game for run in cls.list(root)})
        close = difflib.get_close_matches(name, known, 1)
        raise UserError(
            f"no run is called {name!r}",
            f"a run's folder, or a name under {root}",
            f"Did you mean {close[0]}?" if close else "`retrokit runs` lists them.",
        )

    @property
    def game(self) -> str:
        """Name of the game: of the folder that runs of one game lie in."""
        return self.path.resolve().parent.name

    @property
    def name(self) -> str:
        """``game/time``: what `find` takes."""
        return f"{self.game}/{self.path.resolve().name}"

    def configure(self, config: Mapping[str, Any]) -> None:
        """Note the settings that the run goes on with; those it had are forgotten.

        Args:
            config: What is asked for now, as JSON can say it.

        Raises:
            UserError: It is not open for writing, or cannot be written; the old ones are kept.
        """
        self._check_lock()
        text = _as_json(config)
        if text != _as_json(self.config):
            _write(self.path / "config.json", text)
            self.config = json.loads(text)

    # -- checkpoints -----------------------------------------------------------------------------

    def write_checkpoint(
        self, step: int, payload: bytes, facts: Mapping[str, Any], keep: int | None = KEEP
    ) -> Path:
        """Write a checkpoint, then delete those that need not be kept.

        Args:
            step: Environment steps of training behind it.
            payload: The learner's bytes.
            facts: As JSON can say them; ``return``, where it is a number, makes one the best.
            keep: How many checkpoints stay; None keeps all. See ``checkpoint.superfluous``.

        Raises:
            RetrokitError: The run is not open for writing, or the disk does not take it; the
                checkpoints that were there before are kept.
        """
        self._check_lock()
        path = self._checkpoint(step)
        try:
            write_checkpoint(path, step, payload, facts)
        except UserError as error:
            kept = self.checkpoints()
            last = f"Step {_step_of(kept[-1]):,} is kept." if kept else ""
            raise RetrokitError(error.found, remedy=last) from None
        if keep is not None:
            steps = [_step_of(file) for file in self.checkpoints()]
            best = self.best()
            for extra in superfluous(steps, best.step if best else None, keep):
                self._checkpoint(extra).unlink(missing_ok=True)
        return path

    def checkpoints(self) -> Sequence[Path]:
        """Return the files of its checkpoints, oldest first, damaged ones included."""
        return sorted((self.path / "checkpoints").glob("[0-9]*.ckpt"))

    def best(self) -> Checkpoint | None:
        """Return the checkpoint with the highest ``return``, of equals the newest."""
        best = None
        for path in self.checkpoints():
            try:
                found = look_at(path)
            except UserError:
                continue
            worth = found.facts.get("return")
            if worth is not None and (best is None or worth >= best.facts["return"]):
                best = found
        return best

    def read_newest(self) -> tuple[Checkpoint, bytes]:
        """Return the newest checkpoint that is sound, and its payload; warns of damaged ones.

        Raises:
            UserError: There is none.
        """
        for path in reversed(self.checkpoints()):
            try:
                return read_checkpoint(path)
            except UserError as error:
                warnings.warn(f"{error.found}; taking the one before", stacklevel=2)
        raise UserError(
            f"no checkpoint that loads in {self.path}", remedy="Begin anew with `retrokit train`."
        )

    def _checkpoint(self, step: int) -> Path:
        return self.path / "checkpoints" / f"{step:010d}.ckpt"

    # -- one writer ------------------------------------------------------------------------------

    def lock(self) -> None:
        """Become the one process that writes this run, and clear what a killed one left half done.

        Raises:
            UserError: Another process writes it.
        """
        if self._lock is not None:
            return
        for _ in range(_TRIES):  # `busy` of another process has it for a moment
            if (lock := _locked(self.path / "lock")) is not None:
                break
            time.sleep(0.05)
        else:
            owner = (self.path / "lock").read_text("utf-8").strip()
            raise UserError(
                f"{self.path} is being written by process {owner or 'of another user'}",
                remedy="Wait for it, or end it with Ctrl-C.",
            )
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock
        for part in (self.path / "checkpoints").glob(".*.part"):  # evaluation writes elsewhere
            part.unlink(missing_ok=True)

    def _check_lock(self) -> None:
        if self._lock is None:
            raise UserError(f"{self.path} is open for reading", "Run.open(…, write=True)")

    @property
    def busy(self) -> bool:
        """Whether a process writes it right now."""
        if self._lock is not None:
            return True
        try:
            lock = _locked(self.path / "lock")
        except UserError:  # where nobody may write, nobody does
            return False
        if lock is not None:
            lock.close()
        return lock is None

    def close(self) -> None:
        """Close its files and give the lock back; closing twice is harmless."""
        self.metrics.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def its_run(checkpoint: Path) -> Run:
    """Return the run that a checkpoint's file lies in.

    Raises:
        UserError: It lies in none.
    """
    if (run := run_of(checkpoint)) is None:
        raise UserError(f"{checkpoint} lies in no run", "a checkpoint in its run's folder")
    return run


def run_of(checkpoint: Path) -> Run | None:
    """Return the run that a checkpoint's file lies in; None where it lies elsewhere."""
    folder = checkpoint.resolve().parent.parent
    return Run(folder) if (folder / "run.json").is_file() else None


def _as_json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _step_of(path: Path) -> int:
    return int(path.stem)


def _new_folder(parent: Path) -> Path:
    """Make a folder that is named by the time, and that nobody else made."""
    now = time.strftime("%Y%m%d-%H%M%S")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            path = parent / (now if number == 1 else f"{now}-{number}")
            try:
                path.mkdir()
                return path
            except FileExistsError:
                continue
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot write {parent} ({reason})", "a writable place") from None
    raise UserError(f"a thousand runs in one second in {parent}", "fewer")


def _locked(path: Path) -> IO[str] | None:
    """Return a file with its lock, which ends with the process; None where another has it."""
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot write {path} ({reason})", "a writable place") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError as error:  # some network drives know no locks
        warnings.warn(
            f"{path} cannot be locked ({error.strerror}): train in one process", stacklevel=3
        )
    return file


def _machine() -> dict[str, Any]:
    """Return what a number of a run may depend on; no names of people or hosts."""
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "system": platform.platform(),
        "processor": model or platform.processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }
