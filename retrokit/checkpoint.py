"""Checkpoint files: a checksummed header, facts that anybody can read, and the learner's bytes.

A file is written as a whole or not at all, and believed only when its checksum agrees.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .files import reading, whole_file

MAGIC = b"RKCHECK1"
_HEADER = struct.Struct("<8sQQ32s")  # magic, bytes of facts and of payload, SHA-256 of the two
_MOST_FACTS = 64 << 20
_WANTED = "a file that `retrokit train` wrote"
KEEP = 12


@dataclass(frozen=True)
class Checkpoint:
    """What is known of a checkpoint without its payload.

    Attributes:
        path: Its file.
        step: Environment steps of training behind it.
        facts: Whatever the learner tells of it; ``return``, where given, makes one the best.
        sha256: Of facts and payload, as hex digits: its identity.
    """

    path: Path
    step: int
    facts: Mapping[str, Any]
    sha256: str


def write_checkpoint(path: Path, step: int, payload: bytes, facts: Mapping[str, Any]) -> None:
    """Write a checkpoint, as a whole or not at all.

    Args:
        path: What to write.
        step: Environment steps behind it.
        payload: The learner's bytes.
        facts: Facts, as JSON can say them.

    Raises:
        UserError: It cannot be written; the file that was there before is kept.
    """
    text = json.dumps({**facts, "step": step}).encode()
    digest = hashlib.sha256(text)
    digest.update(payload)
    with whole_file(path, "the checkpoint ") as file:
        file.write(_HEADER.pack(MAGIC, len(text), len(payload), digest.digest()))
        file.write(text)
        file.write(payload)


def look_at(path: Path) -> Checkpoint:
    """Return what the header tells, quickly: the payload is not read, and not checked.

    Raises:
        UserError: There is no such file, or it is no checkpoint, or cut off.
    """
    with reading(path, "checkpoint", _WANTED), path.open("rb") as file:
        return _header(path, file)[0]


def read_checkpoint(path: Path) -> tuple[Checkpoint, bytes]:
    """Return a checkpoint and its payload, checked.

    Raises:
        UserError: There is no such file, or it is no checkpoint, or damaged.
    """
    with reading(path, "checkpoint", _WANTED), path.open("rb") as file:
        checkpoint, text = _header(path, file)
        payload = file.read()
        digest = hashlib.sha256(text)
        digest.update(payload)
        if digest.hexdigest() != checkpoint.sha256:
            raise ValueError("its checksum is wrong")
        return checkpoint, payload


def _header(path: Path, file: IO[bytes]) -> tuple[Checkpoint, bytes]:
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(MAGIC):
        raise ValueError("it does not begin as one")
    _, n_facts, n_payload, digest = _HEADER.unpack(head)
    size, wanted = path.stat().st_size, _HEADER.size + n_facts + n_payload
    if size != wanted or n_facts > _MOST_FACTS:
        raise ValueError(f"{size} bytes of {wanted}")
    text = file.read(n_facts)
    facts = json.loads(text)
    return Checkpoint(path, int(facts["step"]), facts, digest.hex()), text


def superfluous(steps: Sequence[int], best: int | None, keep: int) -> list[int]:
    """Return the steps of the checkpoints that need not be kept.

    The newest two stay (one may be damaged), and the best. The others thin out evenly: of those
    between two neighbours, the one goes whose neighbours are closest to one another.

    Args:
        steps: Of all checkpoints, in any order.
        best: Step of the best one; None where none is known to be.
        keep: How many to keep, at least 1; with 1, the newest is kept, and the best.
    """
    left = sorted(steps)
    dropped = []
    while len(left) > max(keep, 1):
        newest = left[-min(keep, 2) :]
        can_go = [at for at, step in enumerate(left) if step not in newest and step != best]
        inner = [at for at in can_go if at > 0]  # the first goes last: where learning began
        if not can_go:
            break
        gap = {at: left[at + 1] - left[at - 1] for at in inner}
        dropped.append(left.pop(min(gap, key=gap.__getitem__) if gap else can_go[0]))
    return dropped
