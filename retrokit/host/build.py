"""Build recipe of ``retrokit._host``: cffi API mode, one declaration file for compiler and cffi."""

from __future__ import annotations

from pathlib import Path

import cffi

HERE = Path(__file__).parent
SOURCES = ("host.c", "environment.c", "video.c", "memory.c", "count.c", "branch.c")
HEADERS = ("host.h", "internal.h", "libretro.h")


def declarations() -> str:
    """Return host.h as cffi reads it: without the preprocessor's lines."""
    lines = (HERE / "host.h").read_text(encoding="utf-8").splitlines()
    constants = [line for line in lines if line.startswith("#define RK_")]
    return "\n".join([*constants, *(line for line in lines if not line.startswith("#"))])


ffibuilder = cffi.FFI()
ffibuilder.cdef(declarations())
ffibuilder.set_source(
    "retrokit._host",
    '#include "host.h"',
    sources=[f"retrokit/host/{name}" for name in SOURCES],
    depends=[f"retrokit/host/{name}" for name in HEADERS],
    include_dirs=["retrokit/host"],
    libraries=["dl"],
    extra_compile_args=["-O3", "-std=gnu11", "-Wall", "-Wextra"],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
