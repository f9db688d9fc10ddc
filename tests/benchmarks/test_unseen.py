"""The judge of the games nobody looked at: it must tell a wrong score from a right one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from retrokit.systems import package_folder

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from unseen import differing, offset, play  # noqa: E402


def test_a_score_is_judged_frame_by_frame_up_to_a_factor() -> None:
    points = np.array([0, 10, 0, 30, 0, 0, 10])
    game = np.array([0, 0, 0, 0, 1, 1, 1])
    right = np.array([0, 10, 10, 40, 0, 0, 10])
    assert differing(right, points, game) == 0 and differing(right // 10, points, game) == 0
    assert differing(np.array([0, 10, 11, 40, 0, 0, 10]), points, game) >= 1


def test_lives_may_differ_by_a_constant_alone() -> None:
    theirs = np.array([3, 3, 2, 1])
    assert offset(theirs - 1, theirs) == 1.0
    assert offset(np.array([2, 2, 2, 2]), theirs) == 0.5


def test_play_ends_and_begins_games() -> None:
    pytest.importorskip("ale_py")
    roms = package_folder("ale-py", "*/roms/ms_pacman.bin")
    assert roms is not None
    ram, points, lives, game = play(roms / "ms_pacman.bin", 3000)
    assert ram.shape == (3000, 128) and points.sum() > 0
    assert game[-1] >= 1 and set(lives[game == 0]) >= {1, 2, 3}
