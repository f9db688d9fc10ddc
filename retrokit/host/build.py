"""Build recipe of ``retrokit._host``: cffi API mode, declared once for compiler and cffi."""

from __future__ import annotations

from pathlib import Path

import cffi

HERE = Path(__file__).parent
SOURCES = (
    "host.c", "scratch.c", "image.c", "environment.c", "video.c", "grey.c", "sound.c", "memory.c",
    "live.c", "count.c", "branch.c", "resize.c", "program.c", "lane.c", "log.c", "observe.c",
    "pool.c", "bell.c",
)  # fmt: skip
PUBLIC = ("host.h", "lane.h", "bell.h")
HEADERS = (*PUBLIC, "internal.h", "episode.h", "libretro.h")


def declarations() -> str:
    """Return the public headers as cffi reads them: without the preprocessor's lines."""
    text = "\n".join((HERE / name).read_text(encoding="utf-8") for name in PUBLIC)
    lines = text.splitlines()
    constants = [line for line in lines if line.startswith("#define RK_")]
    return "\n".join([*constants, *(line for line in lines if not line.startswith("#"))])


ffibuilder = cffi.FFI()
ffibuilder.cdef(declarations())
ffibuilder.set_source(
    "retrokit._host",
    '#include "lane.h"\n#include "bell.h"',
    sources=[f"retrokit/host/{name}" for name in SOURCES],
    depends=[f"retrokit/host/{name}" for name in HEADERS],
    include_dirs=["retrokit/host"],
    libraries=["dl", "pthread"],
    extra_compile_args=["-O3", "-std=gnu11", "-Wall", "-Wextra"],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
