"""Files of ours: written as a whole or not at all, and read with one line for what is wrong."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import UserError


@contextmanager
def whole_file(path: Path, what: str = "") -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of ``path`` once all of it is on the disk.

    Whatever happens before, a full disk or ``kill -9``, leaves ``path`` as it was.

    Args:
        path: What to write.
        what: Its kind, for the message, such as ``"the recording "``.

    Raises:
        UserError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot write {what}{path} ({reason})", "a writable place") from None


def _sync_folder(folder: Path) -> None:
    """Put a new name in a folder on the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def reading(path: Path, what: str, wanted: str) -> Iterator[None]:
    """Tell in one line what keeps a ``.npz`` of ours from being read in this block.

    Args:
        path: The file.
        what: Its kind, such as ``"recording"``.
        wanted: Where such a file comes from.

    Raises:
        UserError: There is no such file, or it is something else, or damaged.
    """
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"there is no {what} {path}", wanted) from None
    except (
        OSError, ValueError, LookupError, TypeError, ArithmeticError, EOFError, RuntimeError,
        SyntaxError, MemoryError, zipfile.BadZipFile, zlib.error, UserError,
    ) as error:  # fmt: skip
        # NumPy takes whatever is no archive for a pickle, and says how to read one.
        said = "it is no .npz" if "pickle" in str(error) else error
        raise UserError(f"{path} is no {what}, or it is damaged ({said})", wanted) from None
