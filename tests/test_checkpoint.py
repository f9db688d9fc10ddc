"""Checkpoint files: believed only when all of it is there; thinned out evenly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.checkpoint import look_at, read_checkpoint, superfluous, write_checkpoint
from retrokit.errors import UserError

PAYLOAD = bytes(range(256)) * 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "0000000512.ckpt"
    write_checkpoint(path, 512, PAYLOAD, {"return": 7.5, "name": "ä"})
    return path


def test_what_is_written_is_read(path: Path) -> None:
    checkpoint, payload = read_checkpoint(path)
    assert payload == PAYLOAD
    assert checkpoint == look_at(path)
    assert (checkpoint.step, checkpoint.path) == (512, path)
    assert checkpoint.facts == {"return": 7.5, "name": "ä", "step": 512}
    assert len(checkpoint.sha256) == 64


def test_identity_is_of_payload_and_facts(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_checkpoint(other, 512, PAYLOAD, {"return": 7.5, "name": "ä"})
    assert look_at(other).sha256 == look_at(path).sha256
    write_checkpoint(other, 512, PAYLOAD[1:], {"return": 7.5, "name": "ä"})
    assert look_at(other).sha256 != look_at(path).sha256
    write_checkpoint(other, 513, PAYLOAD, {"return": 7.5, "name": "ä"})
    assert look_at(other).sha256 != look_at(path).sha256


def flipped(at: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at:][1:]


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut in the header": lambda data: data[:20],
    "cut in the payload": lambda data: data[:-1],
    "too long": lambda data: data + b"x",
    "another file": lambda data: b"PK" + data[2:],
    "another checksum": flipped(30),
    "another fact": flipped(63),
    "another payload": flipped(-1),
    "no facts": lambda data: data[:8] + b"\xff" * 16 + data[24:],
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_damaged_is_one_line(path: Path, harm: str) -> None:
    path.write_bytes(HARMS[harm](path.read_bytes()))
    with pytest.raises(UserError, match="is no checkpoint, or it is damaged .*retrokit train"):
        read_checkpoint(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for read in (look_at, read_checkpoint):
        with pytest.raises(UserError, match="there is no checkpoint"):
            read(tmp_path / "none.ckpt")


def kept(steps: list[int], best: int | None, keep: int) -> list[int]:
    return sorted(set(steps) - set(superfluous(steps, best, keep)))


def test_a_long_run_keeps_a_spread() -> None:
    """As a run does it: one more at a time."""
    left: list[int] = []
    for step in range(1, 201):
        left = kept([*left, step], 77 if step >= 77 else None, 10)
    assert len(left) == 10 and left[0] == 1 and left[-2:] == [199, 200] and 77 in left
    gaps = [b - a for a, b in zip(left[:-2], left[1:-1], strict=True)]
    assert max(gaps) <= 64


@given(
    steps=st.lists(st.integers(1, 1000), min_size=1, max_size=30, unique=True),
    keep=st.integers(1, 12),
    data=st.data(),
)
def test_newest_two_and_best_always_stay(steps: list[int], keep: int, data: st.DataObject) -> None:
    best = data.draw(st.sampled_from([None, *steps]))
    left = kept(steps, best, keep)
    assert left[-1] == max(steps)
    assert keep == 1 or left[-2:] == sorted(steps)[-2:]
    assert best is None or best in left
    assert len(left) <= keep + 1 and len(left) >= min(keep, len(steps))
    assert keep < 4 or min(steps) in left
