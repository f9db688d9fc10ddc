"""Proof by playing: what holds passes, each kind of wrong fact fails at the frame that shows it."""

from __future__ import annotations

import hashlib
import tomllib

import pytest

from retrokit.content import identify
from retrokit.errors import ContentError, CoreCrashed, CoreNotFound, IntegrationError
from retrokit.integration import Integration
from retrokit.load import Game, open_game
from retrokit.systems import data_path, found_cores
from retrokit.verify import Verdict, verify

PRESENT = {core.spec.name for core in found_cores()}
fbneo = pytest.mark.skipif("fbneo" not in PRESENT, reason="no fbneo core")
stella = pytest.mark.skipif("stella" not in PRESENT, reason="no stella core")

DIRECTIONS = [["UP"], ["DOWN"], ["LEFT"], ["RIGHT"]]
# The game of tests/cores/lives.c.
LIVES = {
    "game": "lives",
    "system": "arcade",
    "core": "lives",
    "rom_sha1": hashlib.sha1(b"a game").hexdigest(),
    "score_addrs": [4, 5, 6],
    "score_encoding": "bcd",
    "lives_addr": 7,
    "start_buttons": ["WAIT:10", "START:2", "WAIT:2"],
    "action_set": [[], *DIRECTIONS, ["B"]],
    "terminated": "lives == 0",
}


@pytest.fixture
def check(fake_core, fake_content):
    """Verify the game of lives, with facts changed and the core built with defines."""

    def run(
        core: str = "lives", defines: str = "", episodes: int = 1, frames: int = 3000, **facts
    ) -> Verdict:
        found = fake_core(core, **dict.fromkeys(defines.split(), 1))
        facts = {"core": core} | facts
        integration = Integration.from_dict(
            {key: value for key, value in (LIVES | facts).items() if value is not None}
        )
        game = Game(integration, fake_content(), found)
        return verify(game, episodes=episodes, frames=frames)

    return run


def status(verdict: Verdict) -> dict[str, str]:
    """Return the worst status of each check."""
    order = ("ok", "warn", "fail")
    out: dict[str, str] = {}
    for one in verdict.checks:
        out[one.name] = max(one.status, out.get(one.name, "ok"), key=order.index)
    return out


def failed(verdict: Verdict) -> set[str]:
    return {one.name for one in verdict.checks if one.status == "fail"}


def seen(verdict: Verdict, name: str) -> str:
    return " | ".join(one.seen for one in verdict.checks if one.name == name)


def test_what_holds_is_all_ok(check):
    verdict = check(episodes=2)
    assert verdict.holds
    assert set(status(verdict).values()) == {"ok"}
    # Lives go at frames 420, 840 and 1260 from power-on, and 14 frames are the start.
    assert verdict.frames == [1260 - 14] * 2
    assert "6 lost, lowest 0" in seen(verdict, "lives")
    assert "held once in 2 of 2 episodes" in seen(verdict, "end")


def test_lives_that_flicker_end_nothing(check):
    """Lives are 0 for three frames while one remains (cases.md 21)."""
    verdict = check(defines="FLICKER")
    assert failed(verdict) == {"end"}
    (end,) = [one for one in verdict.checks if one.name == "end"]
    assert "for 3 frames, and control came back" in end.seen and "held 6" in end.seen
    assert end.where == (1, 420)

    verdict = check(defines="FLICKER", terminated="lives == 0 held 6")
    assert verdict.holds
    assert "are 0 for a moment" in seen(verdict, "lives")


def test_lives_of_0_between_levels_end_nothing(check):
    verdict = check(defines="LEVELS")
    assert failed(verdict) == {"end"}
    assert "for 30 frames, and control came back" in seen(verdict, "end")
    assert check(defines="LEVELS", terminated="lives == 0 held 60").holds


def test_a_game_without_end(check):
    verdict = check(defines="ENDLESS")
    assert failed(verdict) == {"lives", "end"}
    assert "held in none of 1 episodes of up to 3000 frames" in seen(verdict, "end")
    assert "stayed at 3" in seen(verdict, "lives")

    verdict = check(defines="ENDLESS", terminated=None, lives_addr=None)
    assert verdict.holds and status(verdict)["end"] == "warn"


def test_a_rule_that_never_holds_is_told_where_the_game_ended(check):
    verdict = check(terminated="lives == 9", frames=6000)
    assert failed(verdict) == {"end"}
    (end,) = [one for one in verdict.checks if one.name == "end"]
    assert "inputs stopped mattering" in end.seen
    assert 1260 - 240 <= end.where.frame <= 1260


def test_a_file_without_a_rule_falls_short_where_the_game_ends(check):
    verdict = check(terminated=None, frames=6000)
    assert failed(verdict) == {"end"}
    assert "the file has no terminated rule" in seen(verdict, "end")


def test_a_rule_that_cuts_the_last_life(check):
    verdict = check(terminated="lives == 1")
    assert failed(verdict) == {"end"}
    assert "Write cuts_last_life: true" in seen(verdict, "end")

    verdict = check(terminated="lives == 1", cuts_last_life=True)
    assert verdict.holds and status(verdict)["end"] == "warn"
    assert "frames of play were cut" in seen(verdict, "end")

    # The mark allows the last life to be cut, not two of them.
    verdict = check(terminated="lives == 2", cuts_last_life=True)
    assert failed(verdict) == {"end"}
    assert "holds while play goes on" in seen(verdict, "end")

    verdict = check(cuts_last_life=True)
    assert verdict.holds and "nothing was cut" in seen(verdict, "last life")


def test_a_start_that_starts_nothing(check):
    verdict = check(start_buttons=["WAIT:10"])
    assert failed(verdict) == {"start", "end"}
    assert "no direction was obeyed" in seen(verdict, "start")
    assert "holds already at the start" in seen(verdict, "end")


def test_a_start_that_ends_too_early(check):
    """Lives and score of the last game, or of none, when the start sequence ends."""
    verdict = check(start_buttons=["WAIT:10", "START:1"], terminated="lives == 0 or score > 990000")
    assert verdict.holds
    verdict = check(start_buttons=["WAIT:10"], action_set=[[], *DIRECTIONS, ["B"], ["START"]])
    assert not verdict.holds and "holds already at the start" in seen(verdict, "end")


@pytest.mark.parametrize(
    ("facts", "names", "words"),
    [
        ({"score_addrs": [0x20, 0x21]}, {"score rises"}, "REWARD NEVER MOVED"),
        ({"score_addrs": 9, "score_encoding": "uint"}, {"score moves"}, "falls from"),
        ({"score_addrs": 0, "score_encoding": "bcd"}, {"score decodes", "score moves"}, "no code"),
        ({"lives_addr": 0x30}, {"lives", "end"}, "0 at the start"),
        ({"lives_addr": 10}, {"lives", "end"}, ""),
    ],
)
def test_wrong_addresses(check, facts, names, words):
    verdict = check(**facts)
    assert failed(verdict) >= names and not verdict.holds
    assert words in " ".join(one.seen for one in verdict.checks)
    assert all(one.where for one in verdict.checks if one.status == "fail")


def test_an_action_without_effect_is_told(check):
    verdict = check(action_set=[[], *DIRECTIONS, ["B"], ["X"]])
    assert verdict.holds
    assert "X" in seen(verdict, "actions").split(": ")[1].split()


def test_another_rom_and_another_version_warn(check):
    verdict = check(rom_sha1="ab" * 20, core_version="7")
    assert verdict.holds
    assert "wanted " + "ab" * 20 in seen(verdict, "content")
    assert "found 1; wanted 7" in seen(verdict, "core")


def test_runs_that_differ_are_told(check):
    verdict = check(defines="CHANCE")
    assert failed(verdict) == {"repeats"}


def test_an_address_beyond_the_memory_is_the_users_mistake(check):
    with pytest.raises(IntegrationError, match="score.*0x1400"):
        check(score_addrs=[0x1400])


def test_a_core_that_dies_is_one_error(check):
    with pytest.raises(CoreCrashed, match="SIGSEGV"):
        check("segfault_in_run")


# -- finding the content -----------------------------------------------------------------------


def test_content_is_found_by_hash_or_taken_as_given(tmp_path, monkeypatch):
    if not PRESENT:
        pytest.skip("no core on this machine")
    core = sorted(PRESENT)[0]
    (tmp_path / "deep").mkdir()
    rom = tmp_path / "deep/some.bin"
    rom.write_bytes(b"a game")
    integration = Integration.from_dict(LIVES | {"core": core})
    assert open_game(integration, rom_dirs=[tmp_path]).content.path == rom
    assert open_game(integration, rom_dirs=[tmp_path]).warnings == []
    monkeypatch.setenv("RETROKIT_ROMS", str(tmp_path))
    assert open_game(integration).content.path == rom
    monkeypatch.delenv("RETROKIT_ROMS")
    with pytest.raises(ContentError, match=LIVES["rom_sha1"]) as caught:
        open_game(integration)
    assert str(data_path("games")) in caught.value.found  # where it looked

    other = tmp_path / "other.bin"
    other.write_bytes(b"another game")
    (warning,) = open_game(integration, other).warnings
    assert warning.startswith("another ROM: found sha1 ") and LIVES["rom_sha1"] in warning
    with pytest.raises(CoreNotFound, match="no core is called"):
        open_game(Integration.from_dict(LIVES | {"core": "no_such_core"}), other)


# -- real games --------------------------------------------------------------------------------


def burrow(**facts) -> Integration:
    """Return the integration that the truth file of Burrow makes."""
    truth = tomllib.loads((data_path("games") / "burrow.toml").read_text())
    return Integration.from_dict(
        {
            "game": "burrow",
            "system": "arcade",
            "core": "fbneo",
            "rom_sha1": identify(data_path("games") / "burrow/burrow.zip").sha1,
            "score_addrs": truth["score_addrs"],
            "score_encoding": truth["score_encoding"],
            "lives_addr": truth["lives_addr"],
            "start_buttons": ["WAIT:300", "SELECT:4", "WAIT:30", "START:4", "WAIT:4"],
            "action_set": [[], *DIRECTIONS, ["B"]],
            "rotate": truth["rotate"],
            "terminated": "lives == 0",
        }
        | facts
    )


@fbneo
def test_burrow_holds():
    verdict = verify(open_game(burrow()))
    assert verdict.holds and set(status(verdict).values()) == {"ok"}
    assert "demo's" in seen(verdict, "end")  # it scores in the same bytes, after the end


@fbneo
@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ({"score_addrs": [0x42D, 0x42C, 0x42B]}, {"score rises"}),  # the high score
        ({"start_buttons": ["WAIT:300"]}, {"start"}),  # the demo, whose luck inputs stir
        ({"terminated": "lives == 2", "cuts_last_life": True}, {"end"}),
    ],
)
def test_burrow_with_a_wrong_fact_falls_short(facts, names):
    assert failed(verify(open_game(burrow(**facts)), episodes=1)) >= names


@fbneo
def test_burrow_on_another_rom_warns_and_falls_short():
    other = data_path("games") / "skydrop/skydrop.zip"
    if not other.exists():
        pytest.skip("skydrop is not built")
    verdict = verify(open_game(burrow(), other), episodes=1)
    assert status(verdict)["content"] == "warn" and not verdict.holds


@stella
def test_ms_pacman_counts_spare_lives():
    """``lives == 0`` is the last life's beginning; its end shows in another byte."""
    facts = {
        "game": "ms_pacman",
        "system": "atari2600",
        "core": "stella",
        "rom_sha1": "62b933cdd8844bb1816ce57889203954fe782603",
        "score_addrs": [0x7A, 0x79, 0x78],
        "score_encoding": "bcd",
        "lives_addr": 0x7B,
        "lives": {"mask": 0x0F},
        "start_buttons": ["WAIT:60", "START:4", "WAIT:30"],
        "action_set": [[], *DIRECTIONS],
        "terminated": "lives == 0",
    }
    verdict = verify(open_game(Integration.from_dict(facts)), episodes=1)
    assert failed(verdict) == {"end"}
    assert "frames of play were cut" in seen(verdict, "end")
    more = {"variables": {"dying": {"addrs": 0x27}}, "terminated": "lives == 0 and dying == 0x53"}
    verdict = verify(open_game(Integration.from_dict(facts | more)), episodes=2)
    assert verdict.holds and status(verdict)["end"] == "ok"
