"""``retrokit verify`` as it is typed: table, JSON, exit codes."""

from __future__ import annotations

import hashlib
import json

import pytest

from retrokit.cli import main

ROM = b"a game"
FILE = f"""\
game: lives
system: arcade
core: lives
rom_sha1: {hashlib.sha1(ROM).hexdigest()}
score_addrs: [4, 5, 6]
score_encoding: bcd
lives_addr: 7
start_buttons: [WAIT:10, START:2, WAIT:2]
action_set: [[], [UP], [DOWN], [LEFT], [RIGHT], [B]]
terminated: lives == 0
"""


@pytest.fixture
def lives(tmp_path, monkeypatch, fake_core):
    """The integration file, its ROM in a folder, and its core where cores are searched."""
    (tmp_path / "lives_libretro.so").symlink_to(fake_core("lives").path)
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    (tmp_path / "roms").mkdir()
    (tmp_path / "roms/lives.bin").write_bytes(ROM)
    path = tmp_path / "lives.yaml"
    path.write_text(FILE)
    return path


def test_what_holds_is_a_table_and_exit_0(lives, capsys):
    roms = str(lives.parent / "roms")
    assert main(["verify", str(lives), "--rom-dir", roms, "--episodes", "1"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["check", "seen", "first", "at"]
    assert any(line.startswith("score rises") and " ok " in line for line in lines)
    assert lines[-1].startswith("lives holds: 1,246 frames in 1 episodes, ")
    assert err.startswith("verifying lives …\n") and "warning" not in err


def test_what_falls_short_is_exit_1_with_the_first_frame(lives, capsys):
    lives.write_text(FILE.replace("lives == 0", "lives == 2"))
    rom = str(lives.parent / "roms/lives.bin")
    assert main(["verify", str(lives), rom, "--episodes", "1"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("end")]
    assert " FAIL " in line and line.endswith("episode 1, frame 420")

    assert main(["verify", str(lives), rom, "--episodes", "1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["holds"] and found["episode_frames"] == [420 - 14]
    (end,) = [check for check in found["checks"] if check["name"] == "end"]
    assert end["status"] == "fail" and end["where"] == {"episode": 1, "frame": 420}


def test_another_rom_warns_loudly(lives, capsys):
    other = lives.parent / "other.bin"
    other.write_bytes(b"another game")
    assert main(["verify", str(lives), str(other), "--episodes", "1"]) == 0  # it holds all the same
    out, err = capsys.readouterr()
    for text in (out, err):
        assert hashlib.sha1(b"another game").hexdigest() in text
        assert hashlib.sha1(ROM).hexdigest() in text
    assert "retrokit: warning: another ROM" in err


@pytest.mark.parametrize(
    ("change", "args", "words"),
    [
        (("lives_addr: 7", "lives_addr: seven"), [], "lives.yaml:7: lives_addr: found 'seven'"),
        (("core: lives", "core: no_such_core"), [], "no core is called 'no_such_core'"),
        (("lives_addr: 7", "lives_addr: 0x1400"), ["ROM"], "lives.yaml:7: lives_addr"),
        (("", ""), [], "no content of lives in "),
        (("", ""), ["--core", "no_such_core"], "no core is called"),
        (("", ""), ["nowhere.bin"], "there is no file nowhere.bin"),
        (("", ""), ["--rom-dir", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_a_mistake_of_the_user_is_one_line_and_exit_2(lives, capsys, change, args, words):
    lives.write_text(FILE.replace(*change))
    rom = str(lives.parent / "roms/lives.bin")
    args = [rom if arg == "ROM" else arg for arg in args]
    assert main(["verify", str(lives), *args]) == 2
    out, err = capsys.readouterr()
    assert out == "" and words in err.splitlines()[-1]


def test_a_core_that_dies_is_one_line_and_exit_1(lives, capsys, fake_core):
    core = str(fake_core("segfault_in_run").path)
    rom = str(lives.parent / "roms/lives.bin")
    assert main(["verify", str(lives), rom, "--core", core]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("retrokit: error: the core died of SIGSEGV in retro_run")
