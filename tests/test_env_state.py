"""The state of environments: from its bytes any process goes on as if nothing had happened."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_vector import PLAIN, RANDOM, VARIETY, same

from retrokit.content import identify
from retrokit.core import Core
from retrokit.env_state import MAGIC
from retrokit.errors import CoreError, UserError
from retrokit.integration import Integration
from retrokit.load import Game, find_integration, open_game
from retrokit.sealed import seal, unseal
from retrokit.systems import find_core, package_folder, shipped_integrations
from retrokit.values import Variable
from retrokit.vector import RetroVectorEnv

Three = Callable[..., Game]
MODES = ["NextStep", "SameStep", "Disabled"]
REAL = [
    "burrow",
    "ms_pacman",
    "breakout",
    "nes/lunarlimit.nes",
    "gb/wyrmhole.gb",
    "gbc/rebound.gbc",
    "genesis/miniplanets-rev04.bin",
    "sms/datastorm.sms",
    "snes/snes07-pong.sfc",
]
CORES = {"nes": "fceumm", "gb": "gambatte", "gbc": "gambatte", "snes": "snes9x"}
START = "WAIT:240", "START:6", "WAIT:90", "B:6", "WAIT:60", "START:6", "WAIT:60"
A = 2  # the action under which three_falls falls


@pytest.fixture
def real(request: pytest.FixtureRequest) -> Callable[[str], Game]:
    """Return a game: one that ships, one of ale-py's, or a free one of the corpus by its path."""

    def atari(name: str) -> Path:
        folder = package_folder("ale-py", "*/roms/*.bin")
        return folder / f"{name}.bin" if folder else pytest.skip("needs the extra 'atari'")

    def find(file: str) -> Game:
        system, _, name = file.rpartition("/")
        try:
            if file in shipped_integrations():
                return open_game(find_integration(file))
            path = request.getfixturevalue("shared") / "corpus" / file if system else atari(name)
            core = CORES.get(system, "genesis_plus_gx") if system else "stella"
            content, found = identify(path, system or "atari2600"), find_core(core)
        except UserError as error:
            pytest.skip(str(error))
        actions = ((), ("B",), ("A",), ("LEFT",), ("RIGHT",))
        facts = Integration(
            name, content.system, core, {"rom": content.sha1}, {"score": Variable((10,))}, actions,
            start_buttons=START,
        )  # fmt: skip
        return Game(facts, content, found)

    return find


def play(env: RetroVectorEnv, first: int, stop: int, most: int = 3) -> list[Any]:
    """Return all that steps ``first`` to ``stop`` of one long run give; ended ones are reset."""
    out: list[Any] = []
    for number in range(first, stop):
        actions = np.random.default_rng(number).integers(most, size=env.num_envs)
        out.append(env.step(actions))
        ended = out[-1][2] | out[-1][3]
        if ended.any() and env.autoreset_mode.value == "Disabled":
            out.append(env.reset(options={"reset_mask": ended}))
    return out


def equal(one: list[Any], other: list[Any]) -> bool:
    return all(
        all(same(x, y) for x, y in zip(a, b, strict=True)) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", VARIETY)
def test_it_goes_on_from_any_step(three: Three, mode: str, options: dict[str, Any]) -> None:
    game = three(LIVES=2, LENGTH=7)
    whole = RetroVectorEnv(game, 3, autoreset_mode=mode, **options)
    first, _ = whole.reset(seed=5)
    seen, states, parts = [first], [whole.state()], []
    for number in range(40):
        parts.append(play(whole, number, number + 1))
        seen.append(parts[-1][-1][0])
        states.append(whole.state())
    other = RetroVectorEnv(game, 3, autoreset_mode=mode, threads=1, **options)
    for at in (0, 1, 5, 6, 7, 8, 13, 14, 22, 30):
        assert same(other.restore(states[at]), seen[at]), at
        assert other.state() == states[at]
        rest = play(other, at, 40)
        assert equal(rest, [step for part in parts[at:] for step in part]), at
    whole.close(), other.close()


def test_processes_take_it_from_threads_and_give_it_back(three: Three) -> None:
    game = three(LIVES=2, LENGTH=7)
    options = {**VARIETY[1], "life_episodes": True}
    whole = RetroVectorEnv(game, 5, **options)
    whole.reset(seed=3)
    play(whole, 0, 20)
    state, rest = whole.state(), play(whole, 20, 50)
    for workers, at in ((2, 20), (5, 30), (0, 40)):
        env = RetroVectorEnv(game, 5, workers=workers, **options)
        env.restore(state)
        assert env.state() == state
        assert equal(play(env, at, at + 10), rest[at - 20 : at - 10])
        state = env.state()
        env.close()
    whole.close()


CHILD = """
import hashlib, pickle, sys
sys.path[:0] = [sys.argv[1]]
from test_env_state import play
from retrokit.vector import RetroVectorEnv
game, options, state = pickle.load(open(sys.argv[2], "rb"))
env = RetroVectorEnv(game, 3, **options)
env.restore(state)
print(hashlib.sha256(pickle.dumps(play(env, 25, 50))).hexdigest())
"""


def test_a_fresh_process_goes_on_byte_for_byte(three: Three, tmp_path: Path) -> None:
    game, options = three(LIVES=2, LENGTH=7), VARIETY[1]
    env = RetroVectorEnv(game, 3, **options)
    env.reset(seed=8)
    play(env, 0, 25)
    file = tmp_path / "state"
    file.write_bytes(pickle.dumps((game, options, env.state())))
    expected = pickle.dumps(play(env, 25, 50))
    env.close()
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == hashlib.sha256(expected).hexdigest()


@pytest.mark.parametrize("file", REAL)
def test_real_cores_go_on_byte_for_byte_and_their_movies_hold(
    file: str, real: Callable[[str], Game]
) -> None:
    game = real(file)
    options: dict[str, Any] = {"noops": 30, "sticky": 0.25, "max_frames": 400}
    env, other = (RetroVectorEnv(game, 2, **options) for _ in range(2))
    most = len(game.integration.action_set)
    env.reset(seed=1)
    play(env, 0, 70, most)
    state, movie = env.state(), env.movie(1)
    rest = play(env, 70, 140, most)  # past the end of the first game
    other.reset(seed=9)
    play(other, 0, 10, most)  # what it did before does not show
    other.restore(state)
    assert equal(play(other, 70, 140, most), rest)
    env.close(), other.close()
    with Core.open(game.found, game.content) as core:
        movie.prove(core)


@pytest.mark.parametrize("file", ["breakout", "enduro"])
def test_no_game_hangs_on_the_one_before(file: str, real: Callable[[str], Game]) -> None:
    """Stella keeps a paddle outside its savestates: it is driven home before each game."""
    game, traces = real(file), []
    for buttons in (3, 4):
        env = RetroVectorEnv(game, 1, skip=1, observation="ram", ram_floats=False)
        env.reset(seed=1)
        for _ in range(80):
            env.step(np.full(1, buttons))
        env.reset(seed=2)
        traces.append([env.step(np.full(1, number % 5))[0] for number in range(60)])
        assert len(env.lanes.home) == (90 if file == "breakout" else 0)
        env.close()
    assert all((a == b).all() for a, b in zip(*traces, strict=True))


def test_a_lane_that_lost_its_core_goes_on_too(falling: Callable[..., RetroVectorEnv]) -> None:
    env, other = falling(4, 2, life_episodes=True), falling(4, 2, life_episodes=True)
    env.reset(seed=1)
    for actions in ([0] * 4, [0, A, 0, 0]):  # the first two are truncated
        env.step(np.array(actions))
    after_loss = env.state()
    rest = [env.step(np.ones(4, int)) for _ in range(3)]
    other.restore(after_loss)
    assert other.restarts.tolist() == [1, 1, 0, 0]
    assert equal([other.step(np.ones(4, int)) for _ in range(3)], rest)


def test_a_log_tells_the_start_and_every_frames_buttons(three: Three) -> None:
    env = RetroVectorEnv(three(LENGTH=40), 2, starts=(0, 2, 4), noops=5, skip=2)
    env.reset(seed=4, options={"start": 1})
    for action in (0, 1, 2):
        _, _, _, _, infos = env.step(np.array([action, 0]))
    start, buttons = env.log(0)
    waits = infos["frame"][0] - 6
    assert start == 1 and buttons.dtype == np.uint16
    assert buttons.tolist() == [0] * waits + [0, 0, 1, 1, 1 << 8, 1 << 8]
    assert env.log(1)[1].tolist() == [0] * infos["frame"][1]
    while not (last := env.step(np.ones(2, int)))[2][0]:
        pass
    assert len(env.log(0)[1]) == last[4]["frame"][0] > 30  # until the next one begins
    env.step(np.ones(2, int))
    assert len(env.log(0)[1]) < 10
    env.close()


def test_what_does_not_fit_is_said(three: Three) -> None:
    game = three(LENGTH=9)
    env = RetroVectorEnv(game, 2, **RANDOM)
    with pytest.raises(UserError, match="an environment without an episode; wanted reset"):
        env.state()
    env.reset(seed=1)
    state = env.state()
    env.step_async(np.zeros(2, int))
    for ask in (env.state, lambda: env.log(0)):
        with pytest.raises(UserError, match="step_wait"):
            ask()
    env.restore(state)  # the step is forgotten
    for row in (-1, 2):
        with pytest.raises(UserError, match=f"environment {row}; wanted 0 to 1"):
            env.movie(row)
    others: list[tuple[str, Any]] = [
        ("with skip 2; wanted skip 3", RetroVectorEnv(game, 2, **RANDOM | {"skip": 3})),
        ("with environments 2; wanted environments 1", RetroVectorEnv(game, 1, **RANDOM)),
        ("with autoreset .*next.*; wanted .*same", RetroVectorEnv(
            game, 2, autoreset_mode="SameStep", **RANDOM)),
        ("with integration ", RetroVectorEnv(three("mode == 3", LENGTH=9), 2, **RANDOM)),
    ]  # fmt: skip
    for line, other in others:
        with pytest.raises(UserError, match=line):
            other.restore(state)
        other.close()
    for damaged, line in (
        (b"", "is no state"),
        (state[:-1], "damaged"),
        (b"RKENVST9" + state[8:], "of version 9; wanted version 1"),
    ):
        with pytest.raises(UserError, match=line):
            env.restore(damaged)
    env.close()


def test_a_game_that_comes_out_differently_is_an_error(three: Three) -> None:
    env = RetroVectorEnv(three(LENGTH=9), 2, **PLAIN)
    env.reset(seed=1)
    state = env.state()
    other = RetroVectorEnv(three(LENGTH=9, DUPES=1), 2, **PLAIN)
    other.reset(seed=1)
    for _ in range(3):
        other.step(np.zeros(2, int)), env.step(np.zeros(2, int))
    with pytest.raises(CoreError, match="environment 0.*came out differently"):
        env.restore(other.state())
    env.restore(state)  # and still it works
    env.close(), other.close()


def test_a_lane_that_failed_has_no_state(three: Three) -> None:
    game = three(LENGTH=9)
    env = RetroVectorEnv(game, 2, **PLAIN)
    env.reset(seed=1)
    with Core.open(game.found, game.content) as core:
        core.record(game.integration.start_frames())
        core.run(20)
        env.lanes.set_starts([core.save()])
    for ask in (env.reset, env.state):
        with pytest.raises(CoreError, match="the game is over 1 frames after its start"):
            ask()
    env.close()


@given(st.data())
def test_damage_is_always_found(data: st.DataObject) -> None:
    whole = seal(MAGIC, {"a": [1, "b"]}, b"body")
    assert unseal(MAGIC, whole, "it", "state") == ({"a": [1, "b"]}, b"body")
    at = data.draw(st.integers(0, len(whole) - 1))
    broken = bytearray(whole)
    broken[at] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(whole) - 1))
    for bad in (bytes(broken), whole[:cut], whole + b"x", data.draw(st.binary(max_size=60))):
        with pytest.raises(UserError):
            unseal(MAGIC, bad, "it", "state")
