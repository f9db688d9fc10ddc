"""``.bk2``: what we write stable-retro plays to the same RAM, and what it wrote we do."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrokit import bk2
from retrokit.content import identify
from retrokit.core import Core
from retrokit.errors import ReplayDiffers, UserError
from retrokit.integration import Integration
from retrokit.load import Game, find_integration, open_game
from retrokit.movie import Movie, identity, ram_hash
from retrokit.systems import find_core, package_folder
from retrokit.values import Variable
from retrokit.vector import RetroVectorEnv

FOLDER = package_folder("stable-retro", "data/stable/Airstriker-Genesis-v0/rom.md")
PRESSED = 1, 1 << 4, 1 << 7  # B, UP, RIGHT

# One emulator a process: each script is run in its own.
COMMON = """
import hashlib, json, sys
import numpy as np
import stable_retro as retro
given = json.loads(sys.argv[1])
retro.data.Integrations.add_custom_path(given["games"])
def made(game, players=1):
    return retro.make(game, state=retro.State.NONE, use_restricted_actions=retro.Actions.ALL,
                      players=players, inttype=retro.data.Integrations.ALL, render_mode=None)
def ram(env):
    return hashlib.sha1(env.get_ram().tobytes()).hexdigest()
"""
PLAY = """
movie = retro.Movie(given["path"])
movie.step()
env = made(movie.get_game(), movie.players)
env.initial_state = movie.get_state()
env.reset()
rows = 0
while movie.step():
    keys = [movie.get_key(i, p) for p in range(movie.players) for i in range(env.num_buttons)]
    env.step(np.array(keys, int))
    rows += 1
print(json.dumps([movie.get_game(), rows, bool(env.initial_state), ram(env)]))
"""
START = """
def start(env, players=1):
    env.reset()
    for frames, names in ((60, ()), (6, ("RESET", "START")), (90, ())):
        for _ in range(frames):
            env.step(np.array([name in names for name in env.buttons] * players, int))
"""
RECORD = """
env = made(given["game"], given["players"])
if given["state"]:
    start(env, given["players"])
    env.initial_state = env.em.get_state()
if not given["late"]:
    env.record_movie(given["path"])
env.reset()
if given["late"]:
    env.record_movie(given["path"])
random = np.random.default_rng(3)
for number in range(240):
    if number % 8 == 0:
        keys = random.random(env.num_buttons * given["players"]) < 0.25
        keys[0] |= number == 0
        keys &= np.array([name not in (None, "RESET") for name in env.buttons] * given["players"])
    env.step(keys.astype(int))
print(json.dumps(ram(env)))
env.stop_record()
"""
FROM_POWER_ON = """
env = made("ms_pacman")
env.record_movie(given["path"])
start(env)
print(json.dumps(ram(env)))
env.stop_record()
"""


@pytest.fixture(scope="module")
def airstriker() -> Game:
    """The free game that comes with stable-retro."""
    if FOLDER is None:
        pytest.skip("stable-retro is not installed (pip install '.[cores]')")
    content = identify(FOLDER / "rom.md", "genesis")
    facts = Integration(
        "airstriker", "genesis", "genesis_plus_gx", {"rom": content.sha1},
        {"score": Variable((0x24F,))}, ((), ("B",), ("LEFT",), ("RIGHT",), ("UP", "B")),
        start_buttons=("WAIT:300", "START:6", "WAIT:90"),
    )  # fmt: skip
    return Game(facts, content, find_core("genesis_plus_gx"))


@pytest.fixture(scope="module")
def ms_pacman() -> Game:
    try:
        return open_game(find_integration("ms_pacman"))
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def retro(
    tmp_path_factory: pytest.TempPathFactory, ms_pacman: Game, airstriker: Game
) -> Callable[..., Any]:
    """Run a script with stable-retro in a process of its own, and return what it printed."""
    games = tmp_path_factory.mktemp("games")
    folder = games / "ms_pacman"
    folder.mkdir()
    (folder / "rom.a26").write_bytes(ms_pacman.content.path.read_bytes())
    (folder / "data.json").write_text('{"info": {}}')
    (folder / "scenario.json").write_text("{}")
    (folder / "metadata.json").write_text("{}")

    def run(script: str, **given: Any) -> Any:
        text = json.dumps({"games": str(games), **given}, default=str)
        command = [sys.executable, "-c", COMMON + START + script, text]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1])

    return run


def played(game: Game, **options: Any) -> Movie:
    env = RetroVectorEnv(game, 1, noops=30, sticky=0.25, **options)
    env.reset(seed=3)
    random = np.random.default_rng(0)
    for _ in range(60):
        env.step(random.integers(len(game.integration.action_set), size=1))
    movie = env.movie(0)
    env.close()
    return movie


@pytest.mark.parametrize("name", ["airstriker", "ms_pacman"])
def test_stable_retro_plays_ours_to_the_same_ram(
    name: str, retro: Callable[..., Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    game: Game = request.getfixturevalue(name)
    movie, path = played(game), tmp_path / "a.bk2"
    powered = bk2.write(movie, path, partial(movie.open, game.content.path))
    assert powered == (name == "airstriker")  # RESET has no letter: Ms. Pac-Man needs a savestate
    called, rows, state, ram = retro(PLAY, path=path)
    assert called == {"airstriker": "Airstriker-Genesis-v0"}.get(name, name)
    before = 0 if state else 300 + 6 + 90 - bk2.UNSEEN
    assert (rows, state) == (before + movie.frames - 1, not powered)
    assert ram == movie.ram_sha1
    back = bk2.read(path, game)
    assert back.ram_sha1 == movie.ram_sha1
    with back.open(game.content.path) as core:
        back.prove(core)


@pytest.mark.parametrize("players, late", [(1, False), (2, False), (1, True)])
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("name", ["airstriker", "ms_pacman"])
def test_we_play_stable_retros_to_the_same_ram(
    name: str,
    state: bool,
    players: int,
    late: bool,
    retro: Callable[..., Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Recorded from power-on or a savestate, for two, and from after the reset."""
    if name == "ms_pacman" and players == 2:
        pytest.skip("it is for one")
    game: Game = request.getfixturevalue(name)
    path = tmp_path / "theirs.bk2"
    called = {"airstriker": "Airstriker-Genesis-v0"}.get(name, name)
    ram = retro(RECORD, path=path, game=called, state=state, players=players, late=late)
    movie = bk2.read(path, game)
    assert movie.ram_sha1 == ram
    assert movie.buttons.shape == (241, players)
    assert bool(movie.savestate) == state and movie.facts["game"] == called
    again = tmp_path / "ours.bk2"
    assert bk2.write(movie, again, partial(movie.open, game.content.path)) == (not state)
    if not late:
        assert retro(PLAY, path=again) == [called, 240, state, ram]


def test_stable_retro_drops_the_reset_button(
    retro: Callable[..., Any], ms_pacman: Game, tmp_path: Path
) -> None:
    """Why a movie of theirs from power-on never starts: if this fails, they have mended it."""
    path = tmp_path / "theirs.bk2"
    ram = retro(FROM_POWER_ON, path=path)
    assert bk2.read(path, ms_pacman).ram_sha1 != ram


# -- what cannot be -----------------------------------------------------------------------------


@pytest.fixture
def fake(fake_core: Callable[..., Any], fake_content: Callable[..., Any]) -> tuple[Game, Movie]:
    """A movie of a game that counts frames and remembers the last buttons."""
    content = replace(fake_content(), system="atari2600")
    game = Game(
        Integration("three", "atari2600", "three", {"rom": content.sha1},
                    {"score": Variable((6, 7))}, ((),)),
        content,
        fake_core("three", LENGTH=40),
    )  # fmt: skip
    with Core.open(game.found, content) as core:
        buttons = np.zeros((30, 1), np.uint16)
        buttons[9], buttons[-1] = 1 << 3, PRESSED[0]
        core.record(buttons[:, 0])
        movie = Movie(buttons=buttons, ram_sha1=ram_hash(core), **identity(game, core.info.version))
    return game, movie


def write(game: Game, movie: Movie, path: Path) -> bool:
    return bk2.write(movie, path, partial(Core.open, game.found, game.content))


def test_what_no_bk2_says_is_refused(fake: tuple[Game, Movie], tmp_path: Path) -> None:
    game, movie = fake
    path = tmp_path / "a.bk2"
    line = "frame 9 presses START; wanted the buttons that a .bk2 of A26 has letters for: B SELECT"
    with pytest.raises(UserError, match=line):
        write(game, movie, path)
    early = movie.buttons.copy()
    early[:2] = PRESSED[0]
    with pytest.raises(UserError, match="presses something in its first 3 frames"):
        write(game, replace(movie, buttons=early), path)
    with pytest.raises(UserError, match="a .bk2 of psx; wanted one of arcade"):
        write(game, replace(movie, system="psx"), path)
    with pytest.raises(ReplayDiffers, match="from power-on ends in RAM with sha1"):
        write(game, replace(movie, ram_sha1="0" * 40, system="nes"), path)
    assert not path.exists()
    assert write(game, replace(movie, system="nes"), path)


def test_what_is_no_movie_for_us_is_said(fake: tuple[Game, Movie], tmp_path: Path) -> None:
    game, movie = fake
    path = tmp_path / "a.bk2"
    with pytest.raises(UserError, match=r"there is no \.bk2 movie"):
        bk2.read(path, game)
    game = replace(game, content=replace(game.content, system="nes"))
    write(game, replace(movie, system="nes"), path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    assert bk2.read(path, game).ram_sha1 == movie.ram_sha1
    log = parts[bk2.LOG]
    for name, text, line in (
        (bk2.HEADER, "MovieVersion BizHawk v2.0.0\n", "is of BizHawk v2.0.0; wanted a .bk2 that"),
        (bk2.HEADER, "MovieVersion Retro\nPlatform GEN\n", "is of platform GEN; wanted NES"),
        (bk2.LOG, "[Input]\n", "has no frame"),
        (bk2.LOG, log.replace("|..|", "|r.|", 1), "line 3 .* presses a switch of the console"),
        (bk2.LOG, log.replace("|..|.", "|..|Q", 1), "line 3 .* presses 'Q'; wanted one of B s"),
        (bk2.LOG, log.replace("|..|", "|..|..|", 1), "line 4 .* has 1 players; wanted as many"),
        (bk2.STATE, "short", "savestate of 5 bytes; wanted .*, the size that"),
    ):
        with zipfile.ZipFile(path, "w") as out:
            for member, old in parts.items():
                out.writestr(member, text if member == name else old)
        with pytest.raises(UserError, match=line):
            bk2.read(path, game)
    for wrong in (b"", b"PK", whole[: len(whole) // 2]):
        path.write_bytes(wrong)
        with pytest.raises(UserError, match="is no .bk2 movie, or it is damaged"):
            bk2.read(path, game)


@given(st.sampled_from(sorted(bk2.PADS)), st.data())
def test_any_buttons_come_back(system: str, data: st.DataObject) -> None:
    pad = bk2.PADS[system]
    said = sum(1 << number for number, letter in enumerate(pad.letters) if letter != ".")
    shape = st.tuples(st.integers(1, 20), st.integers(1, 3))
    rows = data.draw(arrays(np.uint16, shape)) & np.uint16(said)
    log = bk2.log_text(rows, pad)
    assert (bk2.presses(Path("a.bk2"), log.splitlines(), pad) == rows).all()


@pytest.fixture
def on_nes(fake: tuple[Game, Movie], tmp_path: Path) -> tuple[Game, bytes, str]:
    """A game, a ``.bk2`` of it, and the RAM that this ends in."""
    game, movie = fake
    write(game, replace(movie, system="nes"), tmp_path / "whole.bk2")
    game = replace(game, content=replace(game.content, system="nes"))
    return game, (tmp_path / "whole.bk2").read_bytes(), movie.ram_sha1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_a_line_or_harmless(
    on_nes: tuple[Game, bytes, str], tmp_path: Path, data: st.DataObject
) -> None:
    """The sums of a zip are over its members: what lies between them may be anything."""
    game, whole, ram = on_nes
    path = tmp_path / "a.bk2"
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        broken[data.draw(st.integers(0, len(broken) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(broken[: data.draw(st.integers(0, len(broken)))])
    try:
        read = bk2.read(path, game)
    except UserError as error:
        assert "a.bk2" in str(error)
    else:
        assert read.ram_sha1 == ram
