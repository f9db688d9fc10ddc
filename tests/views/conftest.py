"""A search as plain data: what a report is made of, without a core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrokit.album import Album, Box, Shown, Still, Trace, Trial

FRAMES = 600


Make = Callable[..., dict[str, Any]]


def made(rank: int, **changes: Any) -> dict[str, Any]:
    """Return a candidate as ``ramsearch --json`` prints it."""
    evidence = {
        "grade": "proved",
        "behaviour": {
            "rises": 6, "falls": 0, "resets": 0, "steps": [400], "still": 0.99, "clock": False,
            "episodes_scoring": 2,
        },
        "screen": {"cells": 3, "drawn_zeros": 0, "whole": True, "film": "11 of 12"},
        "poke": {"rises": 4, "added": 4, "read_back": 3},
    }  # fmt: skip
    return {
        "rank": rank, "score_addrs": [0x7A, 0x79], "score_encoding": "bcd_le", "score_scale": 1,
        "score_base": 0, "score_blank": None, "grade": "proved", "seen": [0, 1234],
        "evidence": evidence,
    } | changes  # fmt: skip


@pytest.fixture
def candidate() -> Make:
    """Make a candidate: ``candidate(rank, key=value)``."""
    return made


@pytest.fixture
def facts() -> dict[str, Any]:
    """The object that ``ramsearch --json`` prints for a search that found everything."""
    control = {"untouched": 5, "one_more": 4, "last": "gone"}
    return {
        "game": "burrow", "system": "arcade", "core": "fbneo", "core_version": "v1.0",
        "rom_sha1": {"burrow": "8adbda85" * 5}, "scored": True,
        "candidates": [made(1), made(2, grade="unproved", score_addrs=[0x8E0])],
        "nearest": [],
        "sieve": {"all": 4096, "changed": 300, "calm": 90, "added": 7, "visible": 5, "digits": 3},
        "lives_addr": 0x41C, "lives_grade": "proved",
        "start_buttons": ["WAIT:361", "SELECT:6"], "action_set": [[], ["UP"], ["UP", "B"]],
        "rotate": 270, "terminated": "lives == 0", "frames": 1200, "seconds": 12.34,
        "timings": {"start": 3.0, "score": 9.0}, "play": {"lively": 4, "walking": 2}, "seed": 7,
        "lives": {
            "grade": "proved", "region": "SYSTEM_RAM", "mask": 255, "shift": 0, "start": 3,
            "cuts_last_life": False,
            "evidence": {"control": control, "poked": 1, "episode": 0, "frame": 429},
        },
    }  # fmt: skip


@pytest.fixture
def album() -> Album:
    """Pictures of noise, a score with three rises, and lives."""
    rng = np.random.default_rng(0)
    score = np.zeros((2, FRAMES), np.int64)
    score[0, 100:], score[0, 300:], score[1, 200:] = 400, 1234, 800
    lives = np.full((2, FRAMES), 3)
    lives[0, 400:], lives[1, 90:] = 2, 1

    def picture(height: int = 48, width: int = 64) -> np.ndarray:
        return rng.integers(0, 256, (height, width, 3), np.uint8)

    stills = tuple(
        Still(
            number % 2,
            frame,
            picture(),
            {"score": int(score[number % 2, frame]), "lives": int(lives[number % 2, frame])},
            int(score[number % 2, frame]) if number else 7,
        )
        for number, frame in enumerate(range(0, 600, 60))
    )
    places = tuple(Box(left, 4, left + 5, 11) for left in (40, 33, 26))
    around = Box(20, 1, 60, 14)
    glyphs = {digit: rng.random((7, 5)) < 0.5 for digit in range(10)}
    shown = Shown(6, places, (Box(47, 4, 52, 11),), around, (0x12, 0x34), glyphs)
    crops = {name: picture(13, 40) for name in ("just before", "as recorded", "with the other")}
    return Album(
        fps=60.0,
        size=(64, 48),
        aspect=4 / 3,
        styles=("lively", "walking"),
        ends=(FRAMES, 450),
        stills=stills,
        traces=(
            Trace("score", "proved", score, 0),
            Trace("lives", "proved", lives, 3),
            Trace("candidate 2", "unproved", score // 7, 0),
        ),
        shown=shown,
        trials=(
            Trial(0, 97, (0, 0), (0x56, 0x78), 0, 5678, 400, 6078, crops),
            Trial(1, 197, (0, 0), (0x11, 0x22), 0, 1122, 800, None, crops),
        ),
        fates={"untouched: 3": picture(), "the last: 1": picture()},
    )
