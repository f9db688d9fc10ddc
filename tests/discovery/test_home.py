"""A paddle that is outside the savestates, as Stella's are: runs repeat all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from retrokit.buttons import MASKS
from retrokit.content import identify
from retrokit.core import Core
from retrokit.discovery.home import enter, find_home
from retrokit.discovery.poke import Moment, Prober
from retrokit.discovery.record import record
from retrokit.errors import CoreNotFound
from retrokit.integration import parse_start
from retrokit.paddle import HOME, forgets_paddle
from retrokit.systems import core_for, package_folder
from retrokit.team import Team

Open = Callable[..., Core]
STEPS = ((), ("LEFT",), ("RIGHT",), ("B",))
PADDLE = 70  # byte of Breakout's memory


@pytest.fixture
def stella() -> Iterator[Callable[[str], Core]]:
    folder = package_folder("ale-py", "*/roms/*.bin")
    if folder is None:
        pytest.skip("needs the extra 'atari'")
    try:
        found = core_for("atari2600")
    except CoreNotFound as error:
        pytest.skip(str(error))
    cores: list[Core] = []

    def boot(game: str) -> Core:
        cores.append(Core.open(found, identify(folder / f"{game}.bin")))
        return cores[-1]

    yield boot
    for core in cores:
        core.close()


def played(core: Core) -> bytes:
    core.record(parse_start(("WAIT:60", "START:6", "WAIT:60", "B:6", "WAIT:20")))
    return core.save()


@pytest.mark.parametrize(("game", "paddle"), [("breakout", True), ("ms_pacman", False)])
def test_stella_forgets_a_paddle(stella: Callable[[str], Core], game: str, paddle: bool) -> None:
    """What was pressed before a restore shows after it; a joystick is in the savestate."""
    core = stella(game)
    state = played(core)
    assert forgets_paddle(core, state) is paddle
    find_home(core, state)
    assert (core.home is HOME) is core.may_forget is paddle


def test_other_cores_keep_all_in_a_savestate(open_fake: Open) -> None:
    core = open_fake("arena_bcd")
    core.run(60)
    assert not forgets_paddle(core, core.save())


def test_a_run_does_not_hang_on_what_ran_before(stella: Callable[[str], Core]) -> None:
    """Neither a recording nor a proof, on two instances of other histories."""
    seen = []
    for before in (MASKS["LEFT"], MASKS["RIGHT"]):
        core = stella("breakout")
        state = played(core)
        core.record(np.full(200, before, np.uint16))
        find_home(core, state)
        recording = record(core, state, STEPS, ("B",), episodes=2, frames=60)
        prober = Prober(core, recording, (160, 210))
        logs = np.full((2, 20), before, np.uint16)  # leaves the paddle elsewhere for the next
        prober.after(Moment(0, 30), [[-1]] * 2, [0], (20,), (PADDLE,), False, logs)
        logs[:] = MASKS["RIGHT"]
        rows = [[-1]] * 2
        ram, _ = prober.after(Moment(1, 40), rows, [0], (20,), (PADDLE,), False, logs, proof=True)
        assert (ram[0] == ram[1]).all()
        seen.append((recording.ram, ram))
    for one, other in zip(*seen, strict=True):
        assert (one == other).all()


def test_home_is_as_far_as_a_paddle_goes(stella: Callable[[str], Core]) -> None:
    core = stella("breakout")
    state = played(core)
    find_home(core, state)
    places = []
    for before in (MASKS["LEFT"], MASKS["RIGHT"], MASKS["DOWN"]):
        core.record(np.full(200, before, np.uint16))
        enter(core, state)
        core.record(np.full(4, MASKS["RIGHT"], np.uint16))
        places.append(core.read().tobytes())
    assert len(set(places)) == 1
    core.home = None
    core.record(np.full(200, MASKS["RIGHT"], np.uint16))
    enter(core, state)
    core.record(np.full(4, MASKS["RIGHT"], np.uint16))
    assert core.read().tobytes() != places[0]


def test_a_team_does_not_share_a_paddle(open_fake: Open, stella: Callable[[str], Core]) -> None:
    core = stella("breakout")
    with Team.open(core.found, core.content, workers=2) as team:
        state = played(team)
        find_home(team, state)
        assert not team.agree(state)
