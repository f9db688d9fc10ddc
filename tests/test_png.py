"""PNG files: what is written is read back by a reader of its own."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from retrokit.png import encode_png


def decode(data: bytes) -> np.ndarray:
    """Read an 8-bit PNG without row filters, and check each chunk's length and checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, rest) == (8, [0, 0, 0])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    shape = (height, width, 3) if colour == 2 else (height, width)
    return rows[:, 1:].reshape(shape)


@pytest.mark.parametrize("shape", [(3, 5, 3), (1, 1, 3), (4, 7), (224, 288, 3)])
def test_a_picture_comes_back(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    assert np.array_equal(decode(encode_png(picture)), picture)
    assert np.array_equal(decode(encode_png(picture[::-1])), picture[::-1])  # not contiguous
