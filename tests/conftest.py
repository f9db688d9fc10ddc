"""What all tests share: where things are, and hypothesis without a clock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

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
