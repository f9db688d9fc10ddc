"""Starts found on a fake arcade game with known rules, on our own games and on real ones."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrokit.content import Content, identify
from retrokit.core import Core
from retrokit.discovery.start import Start, find_start
from retrokit.errors import CoreNotFound, SearchFailed
from retrokit.integration import parse_start
from retrokit.systems import FoundCore, core_for, package_folder

MODE, CREDITS, LIVES = 4, 5, 6  # of tests/cores/coin_start.c
PLAY = 3

Open = Callable[..., Core]


def replayed(core: Core, start: Start) -> Core:
    """Return a fresh core after the presses, as an integration file holds them."""
    fresh = Core.open(core.found, core.content)
    fresh.record(parse_start(start.presses))
    return fresh


@pytest.fixture
def arcade(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> Iterator[Open]:
    """Open the fake game as arcade content, with the given ``COIN_LEAST`` and ``COIN_MOST``."""
    cores: list[Core] = []

    def start(system: str = "arcade", **build: int) -> Core:
        found = fake_core("coin_start", **build)
        found = replace(found, spec=replace(found.spec, systems=(system,)))
        cores.append(Core.open(found, fake_content()))
        return cores[-1]

    yield start
    for core in cores:
        core.close()


@pytest.mark.parametrize("system", ["arcade", pytest.param("nes", marks=pytest.mark.slow)])
def test_coin_that_counts_only_on_the_title(arcade: Open, system: str) -> None:
    core = arcade(system)
    start = find_start(core)
    with replayed(core, start) as fresh:
        ram = fresh.read()
        assert fresh.save() == start.state
    assert ram[MODE] == PLAY
    assert (ram[LIVES], ram[CREDITS]) == (3, 0)
    assert start.frames == len(start.buttons)
    assert np.array_equal(parse_start(start.presses), start.buttons)


@pytest.mark.parametrize(
    "hold", [{"COIN_MOST": 4}, {"COIN_LEAST": 9, "COIN_MOST": 20}], ids=["short", "long"]
)
def test_coin_that_wants_another_hold(arcade: Open, hold: dict[str, int]) -> None:
    core = arcade(**hold)
    with replayed(core, find_start(core)) as fresh:
        assert fresh.read()[MODE] == PLAY


@pytest.mark.slow
def test_demo_stirred_by_inputs_is_no_play(arcade: Open) -> None:
    with pytest.raises(SearchFailed, match="no start found: .* --start .* options"):
        find_start(arcade(COIN_LEAST=200))


def test_budget_ends_the_search(arcade: Open) -> None:
    with pytest.raises(SearchFailed, match="in the time given"):
        find_start(arcade(COIN_LEAST=200), budget_s=0)


def test_same_seed_same_start(arcade: Open) -> None:
    first, second = (find_start(arcade(), seed=3) for _ in range(2))
    assert first.presses == second.presses
    assert first.state == second.state


def test_report_tells_what_is_tried(arcade: Open) -> None:
    lines: list[str] = []
    find_start(arcade(), report=lines.append)
    assert any("SELECT" in line and "START" in line for line in lines)


def test_a_game_with_fire_only_is_found_before_long_holds(
    fake_core: Callable[..., FoundCore], fake_content: Callable[..., Content]
) -> None:
    """No direction matters in it; many minutes of long presses would be tried in vain."""
    lines: list[str] = []
    content = replace(fake_content(), system="atari2600")
    with Core.open(fake_core("fire_only"), content) as core:
        start = find_start(core, report=lines.append)
        with replayed(core, start) as fresh:
            assert fresh.read()[4] == 1
    assert "fire matter" in start.why and start.variety >= 5
    assert any("held (6,) frames" in line for line in lines)
    assert not any("(3, 12, 30)" in line for line in lines)


def started(content: Path, system: str | None = None) -> tuple[Core, Start]:
    identity = identify(content, system)
    try:
        found = core_for(identity.system)
    except CoreNotFound as error:
        pytest.skip(str(error))
    core = Core.open(found, identity)
    return core, find_start(core)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["burrow", "skydrop"])
def test_our_arcade_games(repo: Path, game: str) -> None:
    truth = tomllib.loads((repo / f"games/{game}.toml").read_text())
    core, start = started(repo / f"games/{game}/{game}.dat")
    with core, replayed(core, start) as fresh:
        ram = fresh.read()
        assert ram[truth["mode_addr"]] == truth["modes"]["play"]
        assert ram[truth["credits_addr"]] == 0
        assert ram[truth["lives_addr"]] - truth["lives_base"] == truth["lives_at_start"]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "lives", "full"), [("breakout", 57, 5), ("ms_pacman", 123, 2)])
def test_atari_games(game: str, lives: int, full: int) -> None:
    folder = package_folder("ale-py", "*/roms/*.bin")
    if folder is None:
        pytest.skip("needs the extra 'atari'")
    core, start = started(folder / f"{game}.bin")
    with core, replayed(core, start) as fresh:
        assert fresh.read()[lives] & 15 == full
        if game == "breakout":  # without fire the ball is never served
            assert start.presses[-2].startswith("B:")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["nes/lunarlimit.nes", "gb/alien-invasion.gb"])
def test_console_games(shared: Path, file: str) -> None:
    core, start = started(shared / "corpus" / file)
    with core:
        assert start.variety >= 8
        assert any(press.startswith("START:") for press in start.presses)
