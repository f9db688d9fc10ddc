"""``retrokit verify --proof`` as it is typed, on what ``retrokit ramsearch`` has written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from retrokit.cli import main
from retrokit.discovery.bundle import Bundle
from retrokit.integration import Integration
from retrokit.systems import FoundCore

ROM = b"a game"
OPTIONS = "--core arena_bcd --system arcade --actions NOOP,UP,DOWN,LEFT,RIGHT,B --frames 7200"
COMMAND = ["ramsearch", "arena.bin", *OPTIONS.split(), "--start", "WAIT:2 START:6 WAIT:4"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, fake_core: Callable[..., FoundCore]) -> Path:
    """The folder of one search: the core, the ROM, and what was written."""
    folder = tmp_path_factory.mktemp("searched")
    (folder / "arena_bcd_libretro.so").symlink_to(fake_core("arena_bcd").path)
    (folder / "arena.bin").write_bytes(ROM)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RETROKIT_CORES", str(folder))
        assert main(COMMAND) == 0
    return folder


@pytest.fixture
def folder(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to work in."""
    shutil.copytree(searched, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROKIT_CORES", str(tmp_path))
    return tmp_path


def verify(*args: object) -> int:
    return main(["verify", "arena.yaml", "arena.bin", "--proof", *map(str, args)])


def test_a_search_leaves_its_proof_beside_the_file(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["arena.bin", "arena.proof.npz", "arena.yaml", "arena_bcd_libretro.so"]


def test_what_is_proved_again_is_a_table_and_exit_0(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify() == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == "fact experiments equal verdict seen first at".split()
    assert [line.split()[:5] for line in lines[1:4]] == [
        ["start", "1", "1", "proved", "again"],
        ["score", "16", "16", "proved", "again"],
        ["lives", "5", "5", "proved", "again"],
    ]
    more = [line.split()[0] for line in lines[4:-2]]
    assert more == ["player_x", "player_y"] and all("proved again" in line for line in lines[4:-2])
    assert lines[-1].startswith("arena is proved again: 38 experiments, ")
    assert err.startswith("repeating the proof of arena …\n") and "warning" not in err


def test_an_edited_file_fails_though_all_is_equal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "arena.yaml").read_text()
    assert "[0x82, 0x81, 0x80]" in text
    (folder / "arena.yaml").write_text(text.replace("[0x82, 0x81, 0x80]", "[0xA2, 0xA1, 0xA0]"))
    assert verify() == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line[:5] == "score"]
    assert line.split()[:4] == ["score", "16", "16", "FAIL"] and "the file's score is" in line
    assert verify("--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["holds"], said["proof"]) == (False, "arena.proof.npz")
    start, score, lives = said["facts"][:3]
    assert (start["holds"], score["holds"], lives["holds"]) == (True, False, True)
    assert score["equal"] == score["experiments"] == 16 and score["where"]["episode"] > 0


def test_a_bundle_elsewhere(folder: Path) -> None:
    (folder / "arena.proof.npz").rename(folder / "mine.npz")
    assert main(["verify", "arena.yaml", "arena.bin", "--bundle", "mine.npz"]) == 0
    assert verify() == 2


def absent(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def of_another_rom(path: Path) -> None:
    replace(Bundle.load(path), rom_sha1="0" * 40).save(path)


def of_another_version(path: Path) -> None:
    replace(Bundle.load(path), core_version="0.1").save(path)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (absent, "there is no proof arena.proof.npz; wanted the .proof.npz that ramsearch wrote"),
        (truncated, "arena.proof.npz is no proof, or it is damaged"),
        (of_another_rom, "arena.proof.npz is a proof on the ROM with sha1 000"),
        (of_another_version, "arena.proof.npz is a proof on arena_bcd version 0.1, and this is"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_2(
    folder: Path, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None], words: str
) -> None:
    harm(folder / "arena.proof.npz")
    assert verify() == 2
    out, err = capsys.readouterr()
    assert out == "" and f"retrokit: error: {words}" in err.splitlines()[-1]


def test_another_rom_is_one_line_and_exit_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "arena.bin").write_bytes(b"another game")
    assert verify() == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("retrokit: error: arena.proof.npz is a proof on the ROM with sha1 ")


def test_a_core_that_dies_is_one_line_and_exit_1(
    folder: Path, capsys: pytest.CaptureFixture[str], fake_core: Callable[..., FoundCore]
) -> None:
    (folder / "arena_bcd_libretro.so").unlink()
    (folder / "arena_bcd_libretro.so").symlink_to(fake_core("segfault_in_run").path)
    bundle = Bundle.load(folder / "arena.proof.npz")
    replace(bundle, core_version="1").save(folder / "arena.proof.npz")
    assert verify() == 1
    assert "the core died of SIGSEGV in retro_run" in capsys.readouterr().err.splitlines()[-1]


def test_an_older_proof_is_kept_unless_forced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "arena.yaml").unlink()
    (folder / "arena.proof.npz").write_bytes(b"of another search")
    assert main(COMMAND) == 2
    assert "arena.proof.npz is kept" in capsys.readouterr().err
    assert main([*COMMAND, "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proof"] == "arena.proof.npz"
    assert Bundle.load(folder / "arena.proof.npz").experiments
    assert Integration.load(folder / "arena.yaml").terminated == "lives == 0"
