"""Sound: kept while somebody listens, frame by frame, and nothing else changes by it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from retrokit.core import Core
from retrokit.load import open_game
from retrokit.sound import heard, listen


def test_each_frame_is_heard_once(open_fake: Callable[..., Core]) -> None:
    core = open_fake("tone")
    core.run(3)
    assert heard(core).shape == (0, 2)  # nobody listened
    listen(core)
    for number in (4, 5):
        core.run(1)
        sound = heard(core)
        assert sound.dtype == np.int16 and sound.shape == (735, 2)
        assert (sound == (number, number - 1)).all()
    core.run(2)
    assert heard(core)[::735].tolist() == [[6, 5], [7, 6]]
    assert heard(core).shape == (0, 2)
    core.run(1)
    listen(core, False)
    core.run(1)
    assert heard(core).shape == (0, 2)


def test_what_nobody_fetches_is_bounded(open_fake: Callable[..., Core]) -> None:
    core = open_fake("tone")
    listen(core)
    core.run(1500)
    assert len(heard(core)) == 2**20
    core.run(1)
    assert heard(core).tolist() == [[1501, 1500]] * 735


def test_listening_changes_no_ram() -> None:
    pytest.importorskip("stable_retro")
    game = open_game("burrow")
    with game.open() as quiet, game.open() as loud:
        listen(loud)
        for core in (quiet, loud):
            core.record(game.integration.start_frames())
            core.run(300, 1)
        assert (quiet.read() == loud.read()).all()
        assert len(heard(loud)) > 48_000 * 5
