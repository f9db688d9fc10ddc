"""A made-up PlayStation, for want of a free one: boot ROM, content and integration.

A few instructions are assembled here. They draw forty rectangles a frame, wait for the vertical
blank, and count in main RAM: frames, a point every 64 of them, lives that nobody loses.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

from retrokit.content import identify
from retrokit.core import SAVESTATE, Core
from retrokit.integration import Integration
from retrokit.systems import FoundCore

BOOT, RAM, FACTS = 0xBFC00000, 0x80010000, 0x8000F000
PROGRAM = 0x400  # where it lies in the boot ROM
TAG = b"MainRAM.data8"  # before main RAM in a savestate of beetle-psx, and a word
ZERO, T0, T1, T2, T3, T4, T5, T6, T7, T8, S0, S1, S2 = (
    0,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    24,
    16,
    17,
    18,
)


class Assembly:
    """Instructions of a MIPS R3000, one after the other; a branch is followed by a blank one."""

    def __init__(self) -> None:
        """Begin with none."""
        self.words: list[int] = []

    def put(self, code: int, source: int = 0, target: int = 0, low: int = 0) -> None:
        """Add an instruction with an immediate of 16 bits."""
        self.words.append(code << 26 | source << 21 | target << 16 | low & 0xFFFF)

    def load(self, register: int, value: int) -> None:
        """Set a register."""
        self.put(0x0F, 0, register, value >> 16)
        self.put(0x0D, register, register, value)

    def add(self, register: int, source: int, value: int) -> None:
        """Set a register to another plus a number."""
        self.put(0x09, source, register, value)

    def both(self, register: int, left: int, right: int) -> None:
        """Set a register to the sum of two."""
        self.words.append(left << 21 | right << 16 | register << 11 | 0x21)

    def read(self, register: int, base: int, offset: int) -> None:
        """Load a word, and wait for it."""
        self.put(0x23, base, register, offset)
        self.put(0)

    def write(self, register: int, base: int, offset: int) -> None:
        """Store a word."""
        self.put(0x2B, base, register, offset)

    def write_value(self, value: int, base: int, offset: int) -> None:
        """Store a number, by way of T8."""
        self.load(T8, value)
        self.write(T8, base, offset)

    def mask(self, register: int, source: int, bits: int) -> None:
        """Set a register to some of the low bits of another."""
        self.put(0x0C, source, register, bits)

    def shift(self, register: int, source: int, by: int) -> None:
        """Set a register to another, shifted left."""
        self.words.append(source << 16 | register << 11 | by << 6)

    def back(self, to: int, code: int, left: int, right: int = ZERO) -> None:
        """Branch to an earlier place: code 4 if two are equal, 5 if not."""
        self.put(code, left, right, to - len(self.words) - 1)
        self.put(0)

    def here(self) -> int:
        """Return the place of the next instruction."""
        return len(self.words)

    def code(self) -> bytes:
        """Return the bytes."""
        return struct.pack(f"<{len(self.words)}I", *self.words)


def boot() -> bytes:
    """Return what runs from reset: the program is copied to RAM and run there."""
    a = Assembly()
    a.words.append(0x40806000)  # no interrupts
    a.load(T0, 0x1F800000)
    for value, offset in ((0x0B88, 0x1060), (0x13243F, 0x1010), (0x31125, 0x1020)):
        a.write_value(value, T0, offset)  # sizes and delays of the buses
    a.load(T1, 0xFFFE0000)
    a.write_value(0x1E988, T1, 0x130)  # the instruction cache
    a.write(ZERO, T0, 0x1074)
    a.load(T1, BOOT + PROGRAM)
    a.load(T2, RAM)
    a.load(T3, RAM)
    a.add(T4, ZERO, 0x400)
    copy = a.here()
    a.read(T5, T1, 0)
    a.write(T5, T2, 0)
    a.add(T1, T1, 4)
    a.add(T2, T2, 4)
    a.add(T4, T4, -4)
    a.back(copy, 5, T4)
    a.words += [T3 << 21 | 8, 0]  # jump
    return a.code()


def program() -> bytes:
    """Return the game."""
    a = Assembly()
    gp0, gp1 = 0x1810, 0x1814
    a.load(T0, 0x1F800000)
    for value in (0, 0x08000001, 0x06C60260, 0x07040010, 0x05000000, 0x03000000):
        a.write_value(value, T0, gp1)  # 320x240, shown from the first line of video memory
    for value in (0xE1000600, 0xE3000000, 0xE4000000 | 511 << 10 | 319, 0xE5000000):
        a.write_value(value, T0, gp0)
    a.load(S0, FACTS)
    for offset, value in ((0, 0), (4, 0), (8, 3)):
        a.write_value(value, S0, offset)
    frame = a.here()
    for value in (0x02204010, 0, 240 << 16 | 320):
        a.write_value(value, T0, gp0)
    a.add(S1, ZERO, 40)
    a.read(S2, S0, 0)
    one = a.here()
    a.load(T8, 0x04000000)  # ready for a command
    ready = a.here()
    a.read(T7, T0, gp1)
    a.words.append(T7 << 21 | T8 << 16 | T7 << 11 | 0x24)
    a.back(ready, 4, T7)
    a.shift(T6, S1, 14)  # a colour
    a.load(T8, 0x60000040)
    a.both(T6, T6, T8)
    a.write(T6, T0, gp0)
    a.shift(T6, S1, 3)
    a.both(T6, T6, S2)
    a.mask(T6, T6, 0xFF)
    a.shift(T7, S1, 2)
    a.shift(T7, T7, 16)
    a.both(T6, T6, T7)
    a.write(T6, T0, gp0)
    a.write_value(30 << 16 | 24, T0, gp0)
    a.add(S1, S1, -1)
    a.back(one, 5, S1)
    blank = a.here()
    a.read(T7, T0, 0x1070)
    a.mask(T7, T7, 1)
    a.back(blank, 4, T7)
    a.write_value(0xFFFFFFFE, T0, 0x1070)
    a.add(S2, S2, 1)
    a.write(S2, S0, 0)
    a.mask(T7, S2, 63)
    a.back(frame, 5, T7)
    a.read(T7, S0, 4)
    a.add(T7, T7, 1)
    a.write(T7, S0, 4)
    a.back(frame, 4, ZERO)
    return a.code()


def make(folder: Path, found: FoundCore) -> tuple[Path, Path]:
    """Write the made-up machine; RETROKIT_SYSTEM must be ``folder`` already.

    Returns:
        Integration and content.
    """
    rom = bytearray(512 * 1024)
    first, second = boot(), program()
    rom[: len(first)], rom[PROGRAM : PROGRAM + len(second)] = first, second
    (folder / "scph5501.bin").write_bytes(rom)
    content = folder / "made_up.exe"
    head = bytearray(2048)
    head[:8] = b"PS-X EXE"
    struct.pack_into("<III", head, 0x10, RAM, 0, RAM)
    struct.pack_into("<I", head, 0x1C, 2048)
    content.write_bytes(bytes(head) + bytes(2048))
    with Core.open(found, identify(content)) as core:
        core.run(60)
        state = core.memory[SAVESTATE].tobytes()
        version = core.info.version
    at = state.index(TAG) + len(TAG) + 4 + (FACTS & 0x1FFFFF)
    assert int.from_bytes(state[at : at + 4], "little") > 10  # it runs: frames are counted
    path = folder / "made_up.yaml"
    Integration.from_dict(
        {
            "game": "made_up",
            "system": "psx",
            "core": found.spec.name,
            "core_version": version,
            "rom_sha1": {"made_up": hashlib.sha1(content.read_bytes()).hexdigest()},
            "score_region": SAVESTATE,
            "score_addrs": [at + 7, at + 6, at + 5, at + 4],
            "score_encoding": "uint",
            "lives_addr": at + 8,
            "lives": {"region": SAVESTATE},
            "start_buttons": ["WAIT:60"],
            "action_set": [[], ["LEFT"], ["RIGHT"]],
            "terminated": "lives == 0",
        }
    ).save(path)
    return path, content
