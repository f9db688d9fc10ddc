"""Files: the old one or the new one, never a part of it; one line for what cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrokit.errors import UserError
from retrokit.files import reading, whole_file

KILLED = """
import os, signal, sys
from pathlib import Path
from retrokit.files import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half of")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("old", [None, "old"])
def test_kill_leaves_what_was_there(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "a"
    if old is not None:
        path.write_text(old)
    child = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert child.returncode == -signal.SIGKILL
    assert (path.read_text() if path.exists() else None) == old


@pytest.mark.parametrize("failure", [OSError(28, "No space left"), KeyboardInterrupt()], ids=repr)
def test_a_failure_leaves_no_trace(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    wanted = UserError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(wanted), whole_file(path, "the thing ") as file:
        file.write(b"new")
        raise failure
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_no_place_to_write_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UserError, match=r"cannot write the thing .*a/b \(Not a directory\)"):
        with whole_file(tmp_path / "a" / "b", "the thing "):
            pass


def absent(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other(path: Path) -> None:
    path.write_text("by hand")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


@pytest.mark.parametrize("harm", [absent, empty, other, cut, one_array])
def test_what_cannot_be_read_is_one_line(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, numbers=np.arange(50))
    harm(path)
    said = "there is no thing" if harm is absent else "is no thing, or it is damaged"
    with pytest.raises(UserError, match=f"{said}.*; wanted one of ours"):
        with reading(path, "thing", "one of ours"), path.open("rb") as file:
            with np.load(file) as arrays:
                assert arrays["numbers"].sum() == 1225
