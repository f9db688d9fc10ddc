"""Ms. Pac-Man, judged by ALE: the score that the search finds is the reward, frame by frame.

ALE (ale-py) and the libretro core are two builds of Stella. The same buttons must give one RAM,
and then the number that retrokit decodes from the one must equal the score of the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrokit import sandbox
from retrokit.buttons import MASKS, to_mask
from retrokit.content import identify
from retrokit.core import Core
from retrokit.discovery.answer import Answer, Settings
from retrokit.discovery.search import search
from retrokit.errors import CoreNotFound
from retrokit.policy import STYLES, random_play
from retrokit.systems import FoundCore, core_for, package_folder

SCORE, LIVES = (0x7A, 0x79, 0x78), 0x7B
# ALE boots with 60 frames of nothing, RESET for 4, once more after choosing the mode, 4 of nothing.
BOOT = np.array([0] * 60 + [MASKS["START"]] * 8 + [0] * 4, np.uint16)
ALE_ACTIONS = {  # ale_py.Action by the buttons held; without fire, which Ms. Pac-Man has not
    (): 0, ("UP",): 2, ("RIGHT",): 3, ("LEFT",): 4, ("DOWN",): 5,
    ("UP", "RIGHT"): 6, ("UP", "LEFT"): 7, ("DOWN", "RIGHT"): 8, ("DOWN", "LEFT"): 9,
}  # fmt: skip
GAMES = {4: 1921, 5: 1921}  # seed of the play: frames that it lasts at least
LEAST_RISES = 50


@pytest.fixture(scope="module")
def rom() -> Path:
    folder = package_folder("ale-py", "*/roms/ms_pacman.bin")
    if folder is None:
        pytest.skip("ale-py is not installed: pip install '.[atari]'")
    return folder / "ms_pacman.bin"


@pytest.fixture(scope="module")
def stella() -> FoundCore:
    try:
        return core_for("atari2600")
    except CoreNotFound as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def answer(rom: Path, stella: FoundCore) -> Answer:
    """What the search says, given nothing but the content."""
    return sandbox.call(search, (identify(rom), stella, Settings(frames=3600)))


@pytest.mark.slow
def test_the_score_is_found(answer: Answer) -> None:
    first = answer.candidates[0]
    assert (first.variable.addrs, first.variable.encoding) == (SCORE, "bcd")
    assert first.variable.scale == 1
    assert first.grade == "proved"
    said = first.to_dict(1)
    assert said["score_addrs"] == [0x7A, 0x79, 0x78]
    assert (said["rank"], said["score_encoding"]) == (1, "bcd_le")


@pytest.mark.slow
def test_the_lives_are_found(answer: Answer) -> None:
    assert answer.lives is not None
    assert (answer.lives.offset, answer.lives.grade) == (LIVES, "proved")


def ale_plays(rom: Path, log: NDArray[np.uint16]) -> tuple[NDArray[Any], NDArray[Any], bytes]:
    """Return ALE's score after each frame, its RAM, and its RAM before the first frame."""
    ale_py = pytest.importorskip("ale_py", reason="ale-py is not installed")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 1)
    ale.setInt("frame_skip", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(str(rom))
    ale.reset_game()
    actions = {to_mask(names): ale_py.Action(action) for names, action in ALE_ACTIONS.items()}
    first = ale.getRAM().tobytes()
    score, scores, ram = 0, [], []
    for mask in log.tolist():
        if ale.game_over():
            break
        score += ale.act(actions[mask])
        scores.append(score)
        ram.append(ale.getRAM().copy())
    return np.array(scores), np.array(ram), first


@pytest.mark.slow
@pytest.mark.parametrize("seed", GAMES)
def test_what_is_decoded_is_ales_score(
    rom: Path, stella: FoundCore, answer: Answer, seed: int
) -> None:
    log = random_play(seed, 3000, [list(names) for names in ALE_ACTIONS], STYLES[1])
    scores, wanted, first = ale_plays(rom, log)
    assert len(scores) >= GAMES[seed]
    with Core.open(stella, identify(rom)) as core:
        core.record(BOOT)
        assert core.read().tobytes() == first  # the two stand at the same frame
        ram, _ = core.record(log[: len(scores)], np.arange(128, dtype=np.int32))
    assert np.array_equal(ram, wanted)
    decoded = answer.candidates[0].variable.decode({"SYSTEM_RAM": ram})
    rises, mismatches = int((np.diff(scores) > 0).sum()), int((decoded != scores).sum())
    print(f"seed {seed}: {len(scores)} frames, {rises} rises, {mismatches} mismatches")
    assert rises >= LEAST_RISES
    assert mismatches == 0
