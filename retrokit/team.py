"""A team of private copies of one core that shares the futures of a savestate between threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .content import Content
from .core import Branches, Core
from .systems import FoundCore

T = TypeVar("T")
R = TypeVar("R")
MOST_WORKERS = 4
CHECKED_FRAMES = 90


class Team(Core):
    """A core whose `branch` is run by several instances at once; all else is the first one's.

    The helpers work only once `agree` has shown that a savestate of one instance is the same run
    in all of them.
    """

    _helpers: list[Core]
    _given: dict[str, str]
    _pool: ThreadPoolExecutor
    _working = False

    @classmethod
    def open(
        cls,
        found: FoundCore,
        content: Content | None,
        *,
        options: Mapping[str, str] | None = None,
        workers: int | None = None,
    ) -> Team:
        """Open a core and its helpers.

        Args:
            found: The core; one that cannot share a process gets no helpers.
            content: What all of them load.
            options: Core options by key.
            workers: Instances in all; None takes one per processor of this process, at most 4.
        """
        team = cls(found, options=options)
        team._helpers, team._given = [], dict(options or {})
        try:
            team.load_content(content)
            if workers is None:
                workers = min(MOST_WORKERS, len(os.sched_getaffinity(0)))
            if not {"own_process", "not_repeatable"} & found.spec.quirks:
                for _ in range(workers - 1):
                    team._helpers.append(Core.open(found, content, options=options))
        except BaseException:
            team.close()
            raise
        team._pool = ThreadPoolExecutor(max(1, len(team._helpers)))
        return team

    def close(self) -> None:
        """Close all instances."""
        for helper in getattr(self, "_helpers", []):
            helper.close()
        super().close()

    def reopen(self) -> None:
        """Replace every instance by a fresh one that has run a frame.

        A poke can drive a game into a state that its core's savestates do not bring it back from.
        """
        content, count = self.content, len(self._helpers)
        for helper in self._helpers:
            helper.close()
        self._helpers = []
        super().close()
        Core.__init__(self, self.found, options=self._given)
        self.load_content(content)
        for _ in range(count):
            self._helpers.append(Core.open(self.found, content, options=self._given))
        for core in (self, *self._helpers):
            core.run(1)

    def select(self, names: Sequence[str] | None = None) -> Any:
        """Choose the regions that every instance sees as one piece; see `Core.select`."""
        for helper in getattr(self, "_helpers", []):
            helper.select(names)
        return super().select(names)

    def agree(self, state: bytes | None = None, seed: int = 0) -> bool:
        """Put the helpers to work if the same buttons lead to the same RAM and pictures in all.

        Args:
            state: A savestate of play; None asks after power-on, and leaves this instance as it is.
            seed: Of the buttons pressed.

        Returns:
            Whether `branch` is now shared. Never where there is a ``home``: each branch then begins
            where the one before left a paddle.
        """
        self._working = False
        if not self._helpers or self.home is not None:
            return False
        directions = np.array([0, 0x10, 0x20, 0x40, 0x80, 0x01], np.uint16)
        log = np.repeat(np.random.default_rng(seed).choice(directions, CHECKED_FRAMES // 6), 6)

        def run(core: Core, state: bytes) -> Branches:
            # The first region: maps beside it can be memory that nothing ever initialises.
            kept = np.arange(core.spans[0].size if core.spans else 0, dtype=np.int32)
            # Twice: what ran before a restore must not show (a paddle outside the savestate does).
            Core.branch(core, state, log[::-1], [CHECKED_FRAMES])
            return Core.branch(core, state, log, [30, CHECKED_FRAMES], kept=kept, hashes=True)

        if state is None:
            with Core.open(self.found, self.content) as fresh:
                for core in (fresh, *self._helpers):
                    core.run(1)  # some cores cannot restore before
                state = fresh.save()
                mine = run(fresh, state)
        else:
            mine = run(self, state)
        self._working = all(
            np.array_equal(mine.ram, other.ram) and np.array_equal(mine.hashes, other.hashes)
            for other in [run(helper, state) for helper in self._helpers]
        )
        return self._working

    def branch(
        self,
        state: bytes,
        buttons: NDArray[np.uint16],
        captures: Sequence[int],
        *,
        pokes: tuple[NDArray[Any], NDArray[Any]] | None = None,
        branches: int | None = None,
        kept: NDArray[np.int32] | None = None,
        hashes: bool = False,
        size: tuple[int, int] | None = None,
    ) -> Branches:
        """Run many futures of one savestate, each instance a share; see `Core.branch`."""
        shared = np.ndim(buttons) == 1
        count = len(pokes[0]) if pokes is not None else 0 if shared else len(buttons)
        parts = np.array_split(np.arange(count), len(self._helpers) + 1)

        def run(core: Core, rows: NDArray[np.int64]) -> Branches:
            some = slice(int(rows[0]), int(rows[-1]) + 1)
            return Core.branch(
                core,
                state,
                buttons if shared else buttons[some],
                captures,
                pokes=None if pokes is None else (pokes[0][some], pokes[1][some]),
                kept=kept,
                hashes=hashes,
                size=size,
            )

        if not self._working or count < len(parts):
            return super().branch(
                state,
                buttons,
                captures,
                pokes=pokes,
                branches=branches,
                kept=kept,
                hashes=hashes,
                size=size,
            )
        results = list(self.map(run, parts))
        return Branches(*(np.concatenate(field) for field in zip(*results, strict=True)))

    def map(self, function: Callable[[Core, T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``function(instance, item)`` in the items' order, as many at once as work."""
        team = [self, *self._helpers] if self._working else [self]
        for at in range(0, len(items), len(team)):
            some = items[at : at + len(team)]
            theirs = [
                self._pool.submit(function, core, item)
                for core, item in zip(team[1:], some[1:], strict=False)
            ]
            try:
                first = function(self, some[0])
            finally:
                wait(theirs)
            yield first
            for future in theirs:
                yield future.result()


def each(core: Core, function: Callable[[Core, T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield ``function(instance, item)`` in the items' order, with all instances of a team."""
    if isinstance(core, Team):
        return core.map(function, items)
    return (function(core, item) for item in items)
