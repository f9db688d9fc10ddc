"""Bytes of ours that say what they are: magic, a sum over all that follows, facts and a body."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

from .errors import UserError

HEADER = struct.Struct("<8s32s")  # magic, sha256 of all that follows
SIZE = struct.Struct("<I")  # bytes of the facts


def seal(magic: bytes, facts: Mapping[str, Any], body: bytes) -> bytes:
    """Return facts and body behind a header.

    Args:
        magic: 8 bytes: seven name the kind, the last its version.
        facts: What JSON can hold, numpy's numbers too.
        body: Any bytes.
    """
    text = json.dumps(facts, sort_keys=True, default=lambda value: value.item()).encode()
    rest = SIZE.pack(len(text)) + text + body
    return HEADER.pack(magic, hashlib.sha256(rest).digest()) + rest


def unseal(magic: bytes, data: bytes, name: str, kind: str) -> tuple[dict[str, Any], bytes]:
    """Return the facts and the body of sealed bytes.

    Args:
        magic: Of the kind and version wanted.
        data: From `seal`.
        name: What the user calls them, such as the path of the file.
        kind: What they should be, such as ``"movie"``.

    Raises:
        UserError: They are something else, of another version, cut off or damaged.
    """
    if data[:7] != magic[:7]:
        raise UserError(f"{name} is no {kind}", f"a {kind} of retrokit's")
    if data[7:8] != magic[7:]:
        found = f"{name} is a {kind} of version {data[7:8].decode('ascii', 'replace')}"
        raise UserError(found, f"version {magic[7:].decode()}", "Use the retrokit that wrote it.")
    rest = data[HEADER.size :]
    if len(data) < HEADER.size or data[8 : HEADER.size] != hashlib.sha256(rest).digest():
        found = f"{name} is damaged: {len(data):,} bytes with a wrong checksum"
        raise UserError(found, "the bytes that were written", "Take another copy of it.")
    (size,) = SIZE.unpack_from(rest)
    return json.loads(rest[SIZE.size : SIZE.size + size]), rest[SIZE.size + size :]
