"""One game is one identity, whatever header, byte order or archive it comes in."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.content import identify
from retrokit.errors import ContentError

seeds = st.integers(0, 2**32 - 1)


def noise(seed: int, size: int) -> bytearray:
    return bytearray(random.Random(seed).randbytes(size))


def nes(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = bytes(noise(seed, 0x6000))
    header = b"NES\x1a\x01\x01\x01" + bytes(9)
    trainer = b"NES\x1a\x01\x01\x05" + bytes(9) + bytes(noise(seed + 1, 512))
    return rom, {"a.nes": header + rom, "b.NES": trainer + rom, "c.bin": header + rom}


def snes(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = noise(seed, 0x10000)
    rom[0x7FC0:0x8000] = b"A GAME OF OURS       \x20\x00\x08\x00\x01\x33\x00".ljust(64, b"\x80")
    checksum = seed & 0xFFFF
    rom[0x7FDC:0x7FE0] = (checksum ^ 0xFFFF).to_bytes(2, "little") + checksum.to_bytes(2, "little")
    zeros, marks = bytes(512), bytes(noise(seed + 1, 512))
    return bytes(rom), {
        "a.sfc": bytes(rom),
        "b.smc": zeros + rom,
        "c.swc": marks + rom,
        "d.bin": bytes(rom),
        "e": zeros + rom,
    }


def genesis(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = noise(seed, 0x10000)
    rom[0x100:0x110] = b"SEGA GENESIS    "
    smd = b"".join(
        bytes(rom[at + 1 : at + 0x4000 : 2] + rom[at : at + 0x4000 : 2])
        for at in range(0, len(rom), 0x4000)
    )
    header = bytes([4, 3]) + bytes(6) + b"\xaa\xbb\x06" + bytes(501)
    return bytes(rom), {
        "a.md": bytes(rom),
        "b.bin": bytes(rom),
        "c.smd": header + smd,
        "d.smd": smd,
        "e.gen": header + rom,
        "f.smd": bytes(rom),
    }


def n64(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = bytes.fromhex("80371240") + bytes(noise(seed, 0x8000 - 4))
    halves = b"".join(rom[at : at + 2][::-1] for at in range(0, len(rom), 2))
    words = b"".join(rom[at : at + 4][::-1] for at in range(0, len(rom), 4))
    return rom, {"a.z64": rom, "b.v64": halves, "c.n64": words, "d.z64": halves, "e.bin": words}


def pce(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = noise(seed, 0x8000)
    rom[0x1FFF] = 0xE0
    return bytes(rom), {"a.pce": bytes(rom), "b.pce": bytes(512) + rom}


def gb(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = noise(seed, 0x8000)
    rom[0x104:0x10C] = bytes.fromhex("CEED6666CC0D000B")
    rom[0x143] = 0
    return bytes(rom), {"a.gb": bytes(rom), "b.bin": bytes(rom), "c.gb": bytes(512) + rom}


def sms(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = noise(seed, 0x8000)
    rom[0x7FF0:0x8000] = b"TMR SEGA" + bytes(7) + b"\x4c"
    return bytes(rom), {"a.sms": bytes(rom), "b.bin": bytes(rom), "c.sms": bytes(512) + rom}


def atari7800(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = bytes(noise(seed, 0x4000))
    return rom, {"a.a78": b"\x01ATARI7800".ljust(128, b"\0") + rom, "b.a78": rom}


def lynx(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = bytes(noise(seed, 0x4000))
    return rom, {"a.lnx": b"LYNX\0".ljust(64, b"\0") + rom, "b.lyx": rom}


def atari2600(seed: int) -> tuple[bytes, dict[str, bytes]]:
    rom = bytes(noise(seed, 4096))
    return rom, {"a.a26": rom, "b.bin": rom}


MAKERS = [nes, snes, genesis, n64, pce, gb, sms, atari7800, lynx, atari2600]


def containers(folder: Path, name: str, data: bytes) -> Iterator[Path]:
    """Yield the same file bare, in zips with company, and in gzip."""
    bare = folder / name
    bare.write_bytes(data)
    yield bare
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = folder / f"{name}.{method}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("__MACOSX/._" + name, b"litter")
            archive.writestr("roms/", b"")
            archive.writestr("README.md", "# how to play\n")
            archive.writestr("roms/notes.txt", "about it")
            archive.writestr("roms/group.nfo", b"\xb0\xb1\xb2")
            archive.writestr(f"roms/deep/{name}", data)
        yield path
    packed = folder / f"{name}.gz"
    packed.write_bytes(gzip.compress(data))
    yield packed


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@settings(max_examples=5)  # each writes some twenty files
@given(seed=seeds)
def test_one_identity_over_all_wrappings(maker, seed: int) -> None:
    rom, variants = maker(seed)
    with tempfile.TemporaryDirectory() as name:
        for variant, data in variants.items():
            for path in containers(Path(name), variant, data):
                content = identify(path)
                assert content.sha1 == hashlib.sha1(rom).hexdigest(), path
                assert content.crc32 == f"{zlib.crc32(rom):08x}"
                assert content.size == len(rom)
                assert content.system == maker.__name__, path
                assert content.name == Path(variant).stem
                assert content.file_sha1 == hashlib.sha1(path.read_bytes()).hexdigest()
                assert content.kind == "rom"


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_what_a_core_is_handed(maker, tmp_path: Path) -> None:
    """The bytes a core can load, under a name that says what they are, as a file if it wants."""
    rom, variants = maker(1)
    for variant, data in variants.items():
        for path in containers(tmp_path, variant, data):
            content = identify(path)
            assert content.data == (data if maker in {nes, atari7800, lynx} else rom)
            assert content.core_path.suffix not in {"", ".gz", ".zip"}
            spool = tmp_path / "spool"
            spool.mkdir(exist_ok=True)
            file = content.as_file(spool)
            assert file.read_bytes() == content.data
            assert file.suffix.lower() == content.core_path.suffix.lower()
            if path.suffix in {".sfc", ".md", ".z64", ".sms", ".gb", ".a26"}:
                assert file == path or data != rom, "a good file is used where it lies"


@settings(max_examples=20)
@given(seed=seeds)
def test_only_a_real_header_is_cut(seed: int) -> None:
    """A .nes without the magic and odd-sized .sfc, .pce and .md files keep every byte."""
    plain = bytes(noise(seed, 0x2000 + 512)).replace(b"NES\x1a", b"sen\x1a")
    with tempfile.TemporaryDirectory() as name:
        for ext in ("nes", "sfc", "md", "gb", "sms"):
            path = Path(name, f"a.{ext}")
            path.write_bytes(plain)
            assert identify(path).sha1 == hashlib.sha1(plain).hexdigest(), ext


def test_headless_nes_is_a_problem_told(tmp_path: Path) -> None:
    path = tmp_path / "a.nes"
    path.write_bytes(nes(3)[0])
    assert "no iNES header" in identify(path).problems[0]
    path.write_bytes(nes(3)[1]["a.nes"])
    assert identify(path).problems == ()


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_a_given_system_does_not_change_the_identity(maker, tmp_path: Path) -> None:
    _, variants = maker(5)
    for variant, data in variants.items():
        path = tmp_path / variant
        path.write_bytes(data)
        assert identify(path, maker.__name__.upper()).sha1 == identify(path).sha1


@pytest.mark.parametrize(
    ("start", "offset", "name", "system"),
    [
        (b"PS-X EXE", 0, "a.bin", "psx"),
        (bytes.fromhex("24FFAE51699AA221"), 4, "a.rom", "gba"),
        (bytes.fromhex("24FFAE51699AA221"), 0xC0, "a.rom", "nds"),
        (b"SEGA 32X", 0x100, "a.bin", "32x"),
        (b"TMR SEGA\0\0\0\0\0\0\0\x7c", 0x7FF0, "a.bin", "gamegear"),
        (b" LICENSED BY SNK", 0, "a.rom", "ngp"),
        (b"CE", 0, "a.gg", "gamegear"),
        (b"CE", 0, "a.wsc", "wswan"),
        (b"CE", 0, "a.vb", "vb"),
        (b"CE", 0, "a.sg", "sg1000"),
        (b"CE", 0, "a.exe", "unknown"),
        (b"CE", 0, "a.rom", "unknown"),
    ],
)
def test_system_from_bytes_then_name(
    tmp_path: Path, start: bytes, offset: int, name: str, system: str
) -> None:
    rom = bytearray(0x9000)
    rom[offset : offset + len(start)] = start
    path = tmp_path / name
    path.write_bytes(rom)
    assert identify(path).system == system


def test_gbc_flag(tmp_path: Path) -> None:
    rom = bytearray(gb(1)[0])
    path = tmp_path / "a.gb"
    for flag, system in ((0x00, "gb"), (0x80, "gbc"), (0xC0, "gbc"), (0x20, "gb")):
        rom[0x143] = flag
        path.write_bytes(rom)
        assert identify(path).system == system


def test_bytes_outweigh_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.gb"
    path.write_bytes(genesis(1)[0])
    content = identify(path)
    assert content.system == "genesis"
    assert content.core_path.name == "a.md"
    assert identify(path, "gb").system == "gb"


def test_unknown_system_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "a.gb"
    path.write_bytes(gb(1)[0])
    with pytest.raises(ContentError, match="Did you mean genesis"):
        identify(path, "megadrive")


def test_real_roms(shared: Path) -> None:
    """Systems are guessed and file hashes agree with what was measured elsewhere."""
    entries = json.loads((shared / "corpus" / "corpus.json").read_text())["entries"]
    assert entries
    for entry in entries:
        content = identify(shared / "corpus" / entry["file"])
        assert (content.system, content.file_sha1) == (entry["system"], entry["sha1"])
        header = 16 if entry["system"] == "nes" else 0
        assert content.size == entry["size"] - header


@given(
    data=st.binary(min_size=1, max_size=2000),
    name=st.sampled_from(["a.nes", "a.zip", "a.gz", "a.cue", "a.m3u", "a.dat", "a.smd", "a.chd"]),
    magic=st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"NES\x1a", b"LYNX\0", b"PK\5\6"]),
    cut=st.integers(0, 600),
)
def test_junk_is_identified_or_refused(data: bytes, name: str, magic: bytes, cut: int) -> None:
    """Nothing but a ContentError comes of any bytes under any name, truncated zips included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        if magic == b"PK\x03\x04":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("b.nes", data)
            raw = bytearray(path.read_bytes())
            raw[cut % len(raw)] ^= data[0]
            path.write_bytes(raw)
        else:
            path.write_bytes(magic + data)
        try:
            content = identify(path)
        except ContentError as error:
            assert error.exit_code == 2
            assert "\n" not in str(error)
        else:
            assert len(content.sha1) == 40
