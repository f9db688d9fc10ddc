"""What all tests share: where things are, and hypothesis without a clock."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from retrokit.content import Content
from retrokit.core import Core
from retrokit.integration import Integration
from retrokit.load import Game
from retrokit.systems import CoreSpec, FoundCore
from retrokit.values import Variable

REPO = Path(__file__).parent.parent

# Cores and CI machines are of every speed: a slow example is no failure.
settings.register_profile("retrokit", deadline=None)
settings.load_profile("retrokit")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return REPO


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real-world material beside the repository; skips where there is none."""
    path = Path(os.environ.get("RETROKIT_SHARED", REPO.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no shared material at {path}; RETROKIT_SHARED names another folder")
    return path


@pytest.fixture(scope="session")
def fake_core(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FoundCore]:
    """Compile a core of tests/cores: ``fake_core(name, quirks="a b", memory=…, DEFINE=1)``."""
    folder = tmp_path_factory.mktemp("cores")
    sources = REPO / "tests/cores"
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC"]
    gcc = [*os.environ.get("CC", "gcc").split(), *flags, f"-I{REPO / 'retrokit/host'}"]
    base = folder / "fake.o"
    subprocess.run([*gcc, "-c", sources / "fake.c", "-o", base], check=True)

    @cache
    def build(
        name: str, quirks: str = "", memory: str = "regions", **defines: int | str
    ) -> FoundCore:
        given = [f"-D{key}={value}" for key, value in defines.items()]
        path = folder / f"{'_'.join([name, *given])}_libretro.so"
        rest = sources / "fake.c" if {"RAM_BYTES", "HEIGHT"} & set(defines) else base
        command = [
            *gcc,
            *given,
            "-shared",
            "-Wl,-Bsymbolic",
            sources / f"{name}.c",
            rest,
            "-o",
            path,
        ]
        subprocess.run(command, check=True)
        stems, known = (path.stem,), frozenset(quirks.split())
        spec = CoreSpec(name, name, stems, (), ("bin",), {}, memory, known, "MIT", "", "")
        return FoundCore(spec, path, "tests")

    return build


@pytest.fixture(scope="session")
def fake_content(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Content]:
    """Return content made of the given bytes, for a fake core."""
    folder = tmp_path_factory.mktemp("content")

    @cache
    def make(data: bytes = b"a game") -> Content:
        sha1 = hashlib.sha1(data).hexdigest()
        path = folder / f"{sha1[:8]}.bin"
        path.write_bytes(data)
        return Content(path, "a", "unknown", sha1, sha1, len(data), "", "rom", path, data)

    return make


@pytest.fixture
def open_fake(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Iterator[Callable[..., Core]]:
    """Open a fake core with content; it is closed at the end of the test."""
    cores: list[Core] = []

    def start(
        name: str,
        data: bytes = b"a game",
        options: dict[str, str] | None = None,
        **build: int | str,
    ) -> Core:
        cores.append(Core.open(fake_core(name, **build), fake_content(data), options=options))
        return cores[-1]

    yield start
    for core in cores:
        core.close()


@pytest.fixture(scope="session")
def three(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Callable[..., Game]:
    """Return the game of tests/cores/three.c: ``three("mode == 2", quirks=…, LIVES=3)``."""

    def make(terminated: str = "mode == 2", core: str = "three", **build: int | str) -> Game:
        found, content = fake_core(core, **build), fake_content()
        variables = {
            "score": Variable((6, 7)),
            "lives": Variable((5,)),
            "mode": Variable((4,)),
            "held": Variable((9,)),
        }
        facts = Integration(
            "three", "unknown", found.spec.name, {"rom": content.sha1}, variables,
            ((), ("B",), ("A",)), start_buttons=("WAIT:2", "START:1"), terminated=terminated,
        )  # fmt: skip
        return Game(facts, content, found)

    return make
