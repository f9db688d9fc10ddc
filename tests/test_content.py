"""Romsets, discs, what cannot be used and why, and finding content by its hash."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.content import describe_mismatch, find_content, identify
from retrokit.errors import ContentError
from retrokit.systems import package_folder

CHIPS = {f"1{letter}.{n}": random.Random(n).randbytes(64 + n) for n, letter in enumerate("abcde")}


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def write_zip(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_dat(path: Path, name: str, files: dict[str, bytes]) -> Path:
    lines = [f"ZipName: {name}", "DrvName: galaxian", f'FullName: "{name} (ours)"', ""]
    lines += [
        f'"{n}", 0x{len(d):x}, 0x{zlib.crc32(d):08x}, BRF_ESS | BRF_PRG | 1'
        for n, d in files.items()
    ]
    path.write_text("# ours\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def atari() -> Path:
    folder = package_folder("ale-py", "ale_py/roms/*.bin")
    if folder is None:
        pytest.skip("ale-py is not installed")
    return folder


# Arcade.


@settings(max_examples=25)
@given(order=st.permutations(list(CHIPS)), stored=st.booleans(), company=st.booleans())
def test_romset_is_its_members(order: list[str], stored: bool, company: bool) -> None:
    lines = sorted(f"{zlib.crc32(d):08x}:{len(d)}\n" for d in CHIPS.values())
    with tempfile.TemporaryDirectory() as folder:
        files = {"readme.txt": b"hello", "set/": b""} if company else {}
        files |= {("set/" if company else "") + name: CHIPS[name] for name in order}
        method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        content = identify(write_zip(Path(folder, "mygame.zip"), files, method))
    assert content.sha1 == sha1("".join(lines).encode())
    assert (content.system, content.kind, content.name) == ("arcade", "romset", "mygame")
    assert content.core_path == content.path
    assert content.data is None
    assert [member.name for member in content.members] == sorted(CHIPS)
    assert {member.sha1 for member in content.members} == {sha1(d) for d in CHIPS.values()}
    assert content.size == sum(map(len, CHIPS.values()))


def test_another_byte_is_another_romset(tmp_path: Path) -> None:
    other = CHIPS | {"1a.0": bytes(64)}
    one = identify(write_zip(tmp_path / "a.zip", CHIPS))
    assert one.sha1 != identify(write_zip(tmp_path / "b.zip", other)).sha1


def test_chips_named_bin_are_no_games(tmp_path: Path) -> None:
    chips = {f"{n}.bin": bytes([n]) * 2048 for n in range(4)}
    assert identify(write_zip(tmp_path / "a.zip", chips)).kind == "romset"
    one_game = {"game.nes": b"NES\x1a" + bytes(40)}
    assert identify(write_zip(tmp_path / "b.zip", one_game), "arcade").kind == "romset"


def test_romdata_and_its_zip_are_one(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "digdug.zip", CHIPS)
    bare = identify(archive)
    dat = write_dat(tmp_path / "digdug.dat", "digdug", CHIPS)
    for content in (identify(archive), identify(dat)):
        assert (content.sha1, content.name, content.kind) == (bare.sha1, "digdug", "romdata")
        assert content.core_path == dat
        assert content.problems == ()
    assert bare.core_path == archive


def test_zip_under_another_dat_stays_a_romset(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "a.zip", CHIPS)
    write_dat(tmp_path / "a.dat", "b", CHIPS)
    assert identify(archive).core_path == archive
    (tmp_path / "a.dat").write_text("<datafile/>")
    assert identify(archive).core_path == archive


def test_romdata_that_lacks_something(tmp_path: Path) -> None:
    dat = write_dat(tmp_path / "a.dat", "game", CHIPS)
    with pytest.raises(ContentError, match=r"game\.zip"):
        identify(dat)
    write_zip(tmp_path / "GAME.zip", {name: CHIPS[name] for name in list(CHIPS)[2:]})
    with pytest.raises(ContentError, match=r"lacks 1a\.0, 1b\.1"):
        identify(dat)
    write_zip(tmp_path / "GAME.zip", CHIPS | {"1c.2": b"other"})
    (problem,) = identify(dat).problems
    assert problem.startswith("1c.2 is 5 bytes")
    assert f"{zlib.crc32(CHIPS['1c.2']):08x}" in problem


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("clrmamepro (\n)", "no ZipName"),
        ("ZipName: a\n", "no DrvName"),
        ("ZipName: a\nDrvName: b\n", "no ROM files"),
        ('ZipName: a\nDrvName: b\n"x", 0x10, zz, 1\n', "line 3"),
    ],
)
def test_dat_that_is_no_romdata(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.dat").write_text(text)
    with pytest.raises(ContentError, match=says):
        identify(tmp_path / "a.dat")


# Zips that cannot be used.


def test_two_games_in_one_zip(tmp_path: Path, atari: Path) -> None:
    nes = {f"{n}.nes": b"NES\x1a\x01\x01" + bytes(10) + bytes([n]) * 99 for n in (1, 2)}
    with pytest.raises(ContentError, match=r"2 different games: 1\.nes, 2\.nes"):
        identify(write_zip(tmp_path / "a.zip", nes))
    two = {name: (atari / name).read_bytes() for name in ("pong.bin", "breakout.bin")}
    with pytest.raises(ContentError, match="different games"):
        identify(write_zip(tmp_path / "b.zip", two))
    same = {"a.nes": nes["1.nes"], "copy/b.nes": nes["1.nes"]}
    assert identify(write_zip(tmp_path / "c.zip", same)).system == "nes"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no ROM"),
        ({"readme.txt": b"x", "empty.nes": b""}, "no ROM"),
        ({"a.zip": b"PK"}, "another archive"),
        ({"a.cue": b"FILE", "a.bin": b"x"}, "disc image"),
    ],
)
def test_zip_without_a_rom(tmp_path: Path, files: dict[str, bytes], says: str) -> None:
    with pytest.raises(ContentError, match=says):
        identify(write_zip(tmp_path / "a.zip", files))


@pytest.mark.parametrize("files", [{"a.nes": b"NES\x1a" + bytes(range(99))}, CHIPS])
def test_damaged_and_encrypted_zips(tmp_path: Path, files: dict[str, bytes]) -> None:
    path = write_zip(tmp_path / "a.zip", files, zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ContentError, match="damaged zip"):
        identify(path)
    raw[45] ^= 1  # within the first file's data
    path.write_bytes(raw)
    with pytest.raises(ContentError, match="damaged zip"):
        identify(path)
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(ContentError, match="encrypted"):
        identify(path)


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.nes.gz"
    path.write_bytes(b"\x1f\x8b\x08" + bytes(30))
    with pytest.raises(ContentError, match="damaged gzip"):
        identify(path)


# Files that cannot be used.


def test_folder_missing_and_empty(tmp_path: Path) -> None:
    (tmp_path / "breakout.bin").write_bytes(b"")
    with pytest.raises(ContentError, match=r"is a folder.*breakout\.bin"):
        identify(tmp_path)
    with pytest.raises(ContentError, match=r"0 bytes"):
        identify(tmp_path / "breakout.bin")
    with pytest.raises(ContentError, match=r"no file .*Did you mean breakout\.bin"):
        identify(tmp_path / "Brekout.a26")
    with pytest.raises(ContentError, match="no folder"):
        identify(tmp_path / "nowhere" / "a.nes")


def test_unreadable_and_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nes"
    path.write_bytes(bytes(100))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", _denied)
        with pytest.raises(ContentError, match="cannot be read: denied") as caught:
            identify(path)
        assert caught.value.exit_code == 2
    monkeypatch.setattr("retrokit.content.unwrap.IN_MEMORY_LIMIT", 99)
    with pytest.raises(ContentError, match="100 bytes"):
        identify(path)


def _denied(*_: object, **__: object) -> None:
    raise PermissionError(13, "denied")


# Discs.


def disc(folder: Path, name: str, body: bytes = b"PLAYSTATION") -> Path:
    sector = b"\0" + b"\xff" * 10 + b"\0" + bytes(4)
    folder.mkdir(exist_ok=True)
    (folder / f"{name} 1.bin").write_bytes(sector + body)
    (folder / f"{name} 2.bin").write_bytes(b"music")
    cue = folder / f"{name}.cue"
    cue.write_text(
        f'FILE "{name} 1.bin" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n'
        f'FILE "{name} 2.bin" BINARY\r\n  TRACK 02 AUDIO\n    TITLE "x"\n    INDEX 01 00:00:00\n'
    )
    return cue


def test_disc_is_tracks_and_structure(tmp_path: Path) -> None:
    one = identify(disc(tmp_path, "a"))
    assert (one.system, one.kind, one.data, one.core_path.name) == ("psx", "disc", None, "a.cue")
    assert one.sha1 == identify(disc(tmp_path, "renamed")).sha1
    assert one.sha1 != identify(disc(tmp_path / "b", "a", b"PLAYSTATIOM")).sha1
    cue = disc(tmp_path / "c", "a")
    cue.write_text(cue.read_text().replace("AUDIO", "MODE1/2048"))
    other = identify(cue, "psx")
    assert one.sha1 != other.sha1
    assert "MODE1/2048" in other.problems[0]


def test_cue_that_lacks_a_track(tmp_path: Path) -> None:
    cue = disc(tmp_path, "a")
    (tmp_path / "a 2.bin").unlink()
    with pytest.raises(ContentError, match=r"a 2\.bin, which is not there"):
        identify(cue)
    (tmp_path / "A 2.BIN").write_bytes(b"")
    with pytest.raises(ContentError, match="is empty"):
        identify(cue)
    cue.write_text("hello")
    with pytest.raises(ContentError, match="no cue sheet"):
        identify(cue)


def test_playlist_is_its_discs(tmp_path: Path) -> None:
    first, second = disc(tmp_path, "a"), disc(tmp_path, "b", b"SEGA SEGASATURN")
    m3u = tmp_path / "game.m3u"
    m3u.write_text("# discs\na.cue\n")
    assert identify(m3u).sha1 == identify(first).sha1
    m3u.write_text("a.cue\nb.cue\n")
    both = identify(m3u)
    assert (both.system, both.kind) == ("psx", "playlist")
    assert both.sha1 not in {identify(first).sha1, identify(second).sha1}
    for text, says in (
        ("a.cue\nc.cue\n", r"c\.cue"),
        ("# none", "no discs"),
        ("game.m3u", "no discs"),
    ):
        m3u.write_text(text)
        with pytest.raises(ContentError, match=says):
            identify(m3u)


def test_bare_track_asks_for_its_cue(tmp_path: Path) -> None:
    disc(tmp_path, "a")
    with pytest.raises(ContentError, match="one track of a CD"):
        identify(tmp_path / "a 1.bin")
    disc(tmp_path, "a 1")
    with pytest.raises(ContentError, match=r"Give .*a 1\.cue"):
        identify(tmp_path / "a 1.bin")


# Finding by hash. The report behind these: "wrong ROM", and nothing says it is the hash.


def test_case_26_wrong_rom(tmp_path: Path, atari: Path) -> None:
    names = {sha1(path.read_bytes()).upper(): path.stem.title() for path in atari.glob("*.bin")}
    raw = bytearray((atari / "breakout.bin").read_bytes())
    wanted = {"USA": sha1(raw).upper()}
    assert identify(atari / "breakout.bin").has_sha1(wanted.values())
    raw[100] ^= 1
    (tmp_path / "breakout.bin").write_bytes(raw)
    flipped = identify(tmp_path / "breakout.bin")
    assert not flipped.has_sha1(wanted.values())
    line = describe_mismatch(flipped, wanted, names)
    assert line == (f"found sha1 {sha1(raw)} (2048 bytes); wanted {wanted['USA'].lower()} (USA)")
    (tmp_path / "breakout.bin").write_bytes((atari / "pong.bin").read_bytes())
    line = describe_mismatch(identify(tmp_path / "breakout.bin"), wanted, names)
    assert line.endswith("this is Pong")


def test_found_in_the_stated_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, atari: Path
) -> None:
    rom = (atari / "pong.bin").read_bytes()
    wanted = [sha1(rom).upper()]
    found = find_content(wanted)
    assert found is not None and found.path.parent == atari
    (tmp_path / "env" / "deep").mkdir(parents=True)
    monkeypatch.setenv("RETROKIT_ROMS", f"{tmp_path / 'gone'}{os.pathsep}{tmp_path / 'env'}")
    write_zip(tmp_path / "env" / "deep" / "x.zip", {"p/ong.a26": rom, "readme.txt": b"x"})
    found = find_content(wanted)
    assert found is not None and found.path.name == "x.zip"
    (tmp_path / "dir" / ".trash").mkdir(parents=True)
    (tmp_path / "dir" / ".trash" / "a.bin").write_bytes(rom)
    (tmp_path / "dir" / "b.bin").write_bytes(rom)
    (tmp_path / "dir" / "a.bin").write_bytes(b"")
    found = find_content(wanted, str(tmp_path / "dir"))
    assert found == find_content(wanted, [tmp_path / "dir"])
    assert found is not None and found.path == tmp_path / "dir" / "b.bin"
    assert find_content(["0" * 40], [tmp_path / "dir"]) is None
    with pytest.raises(ContentError, match="no folder"):
        find_content(wanted, [tmp_path / "nowhere"])


def test_found_by_the_hash_of_the_file_too(tmp_path: Path) -> None:
    raw = b"NES\x1a\x01\x01" + bytes(10) + random.Random(1).randbytes(500)
    (tmp_path / "a.nes").write_bytes(raw)
    for wanted in (sha1(raw), sha1(raw[16:])):
        found = find_content([wanted], [tmp_path])
        assert found is not None and found.path.name == "a.nes"


def test_large_files_are_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.bin").write_bytes(b"12345")
    assert find_content([sha1(b"12345")], [tmp_path]) is not None
    monkeypatch.setattr("retrokit.content.find._SIZE_LIMIT", 4)
    assert find_content([sha1(b"12345")], [tmp_path]) is None


def test_our_own_games_are_found(repo: Path) -> None:
    for dat in sorted((repo / "games").glob("*/*.dat")):
        found = find_content([identify(dat).sha1])
        assert found is not None and found.core_path == dat
