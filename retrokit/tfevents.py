"""TensorBoard's event files, written without TensorBoard: scalars over steps.

A file is a row of TFRecords: length, its masked CRC-32C, data, the data's masked CRC-32C. The data
is one ``Event`` message (tensorboard/compat/proto/event.proto), of which four fields are used.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from pathlib import Path

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed (RFC 3720)
# Field numbers with their wire types, and whole messages that never change.
_WALL_TIME, _STEP, _VERSION, _SUMMARY = b"\x09", b"\x10", b"\x1a", b"\x2a"
_VALUE, _TAG, _SIMPLE = b"\x0a", b"\x0a", b"\x15"
_SESSION_START = b"\x3a\x02\x08\x01"
_MOST = 3.4028234e38  # of a 32-bit float


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def _masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _sized(field: bytes, data: bytes) -> bytes:
    return field + _varint(len(data)) + data


class EventFile:
    """One new file of events in a folder, each on its way to the disk when `add` returns.

    Args:
        folder: Made when it is not there. TensorBoard reads its files in the order they were made.
        begin: The step of the first event to come: TensorBoard forgets this and all later steps of
            older files. None forgets nothing.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, folder: Path, begin: int | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.iterdir()))
        name = f"events.out.tfevents.{int(time.time()):010d}.{number:04d}"
        self._file = (folder / name).open("xb", buffering=0)
        self._write(0, _sized(_VERSION, b"brain.Event:2"))
        if begin is not None:
            self._write(begin, _SESSION_START)

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write numbers of one step by their tags; what a 32-bit float cannot say is left out.

        Raises:
            OSError: It cannot be written.
        """
        values = (
            _sized(_TAG, tag.encode()) + _SIMPLE + struct.pack("<f", number)
            for tag, number in scalars.items()
            if abs(number) <= _MOST
        )
        self._write(step, _sized(_SUMMARY, b"".join(_sized(_VALUE, value) for value in values)))

    def _write(self, step: int, rest: bytes) -> None:
        event = _WALL_TIME + struct.pack("<d", time.time()) + _STEP + _varint(step) + rest
        length = struct.pack("<Q", len(event))
        self._file.write(length + _masked_crc(length) + event + _masked_crc(event))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
