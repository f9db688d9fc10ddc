"""Pictures as PNG files, without a library for it."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def encode_png(picture: NDArray[np.uint8]) -> bytes:
    """Return the PNG file of a picture, uint8 [height, width, 3] RGB or [height, width] grey."""
    height, width = picture.shape[:2]
    rows = np.zeros((height, 1 + picture[0].size), np.uint8)  # each after its filter byte: none
    rows[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if picture.ndim == 3 else 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
