"""What is true of the games that the discovery benchmark searches; it judges, it never searches.

56 Atari games (``../shared/truth``), the free ROMs of ``../shared/corpus`` and our own games. What
is absent is left out.
"""

from __future__ import annotations

import importlib.util
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrokit.systems import package_folder
from retrokit.values import Variable

REPO = Path(__file__).resolve().parent.parent
SHARED = REPO.parent / "shared"
Ram = NDArray[np.uint8]
Series = NDArray[np.int64]


@dataclass
class Truth:
    """One game and what is known of it.

    Attributes:
        name, path: The game and its content.
        group: ``atari``, ``corpus`` or ``own``.
        numbers: What counts as the score; both players' counters of a difference game, else one.
        decode: Number's name → from memory [..., bytes] of the first region to its values.
        places: Number's name → (byte, kind, base) of each of its parts, to write numbers with.
        lives: Byte of the lives, or None where there are none.
        lives_mask: Its bits that count them.
        lives_of: From memory [..., bytes] of the first region to the lives.
        region: Region that the bytes lie in.
    """

    name: str
    path: Path
    group: str
    decode: dict[str, Callable[[Ram], Series]] = field(default_factory=dict)
    places: dict[str, list[tuple[int, str, int]]] = field(default_factory=dict)
    lives: int | None = None
    lives_mask: int = 0xFF
    lives_of: Callable[[Ram], Series] | None = None
    region: str = "SYSTEM_RAM"

    @property
    def scored(self) -> bool:
        """Whether a score is known."""
        return bool(self.decode)


def truths() -> Iterator[Truth]:
    """Yield every game that is present."""
    yield from _atari()
    yield from _corpus()
    yield from _own()


def _atari() -> Iterator[Truth]:
    roms, table = package_folder("ale-py", "*/roms/ms_pacman.bin"), SHARED / "truth" / "atari.json"
    if roms is None or not table.exists():
        return
    spec = importlib.util.spec_from_file_location("decode", SHARED / "truth" / "decode.py")
    assert spec is not None and spec.loader is not None
    decode = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(decode)
    for name, game in json.loads(table.read_text())["games"].items():
        truth = Truth(name, roms / game["rom"], "atari")
        score, lives = game["score"] or {}, game["lives"] or {}
        parts = score.get("components") or ({"score": score} if score.get("terms") else {})
        for key, part in parts.items():
            truth.decode[key] = lambda ram, part=part: decode.score(ram, part)
            truth.places[key] = [(term["a"], term["k"], 0) for term in part["terms"]]
        if score.get("encoding") == "penalty_counter":  # each change of one byte is a point less
            _add(truth, "score", Variable(tuple(score["addr"]), "bcd"))
        elif not parts and "addr" in score:  # no plain number, yet it is known where it lies
            truth.places["score"] = [(addr, "custom", 0) for addr in score["addr"]]
        truth.lives, truth.lives_mask = lives.get("a"), lives.get("mask", 0xFF)
        if lives:
            truth.lives_of = lambda ram, lives=lives: decode.lives(ram, lives)
        yield truth


def _corpus() -> Iterator[Truth]:
    table = SHARED / "corpus" / "corpus.json"
    if not table.exists():
        return
    for entry in json.loads(table.read_text())["entries"]:
        path = table.parent / entry["file"]
        truth = Truth(path.stem, path, "corpus")
        if entry["score"]:
            variable = _variable(entry["score"]["encoding"], entry["score"]["addr"])
            _add(truth, "score", variable)
        if path.stem == "snes07-pong":  # two players: the corpus names the other one under "other"
            _add(truth, "theirs", _variable("u8", int(entry["other"][0]["addr_hex"], 16)))
        for other in entry["other"]:  # 2048 keeps its score in HRAM, which follows SYSTEM_RAM
            if other["name"] == "true score":
                at = entry["verified_run"]["mem2"] + int(other["addr_hex"], 16) - 0xFF80
                _add(truth, "true score", Variable((at, at + 1, at + 2), "bcd"))
        if entry["lives"]:
            _count(truth, int(entry["lives"]["addr"]))
        yield truth


def _own() -> Iterator[Truth]:
    games = REPO / "games"
    for table in sorted([*games.glob("*.toml"), *games.glob("variants/*.toml")]):
        name, facts = table.stem, tomllib.loads(table.read_text())
        folder = games / name if (games / name).is_dir() else table.parent
        truth = Truth(name, folder / f"{name}.zip", "own")
        _count(truth, facts["lives_addr"])
        addrs = tuple(facts["score_addrs"])
        _add(truth, "score", Variable(addrs, facts["score_encoding"], base=facts["score_base"]))
        yield truth


def _count(truth: Truth, addr: int) -> None:
    truth.lives, truth.lives_of = addr, lambda ram: ram[..., addr].astype(np.int64)


def _add(truth: Truth, name: str, variable: Variable) -> None:
    truth.decode[name] = lambda ram: np.asarray(variable.decode({"SYSTEM_RAM": ram}), np.int64)
    truth.places[name] = [(addr, variable.encoding, variable.base) for addr in variable.addrs]


def written(truth: Truth, name: str, ram: Ram, rng: np.random.Generator) -> Ram:
    """Return memory [n, bytes] with other legal numbers in a number's bytes."""
    out = ram.copy()
    for addr, kind, base in truth.places[name]:
        low, high = rng.integers(0, 10, (2, len(ram)), dtype=np.uint8)
        old = out[:, addr]
        out[:, addr] = {
            "bcd": high << 4 | low,
            "lo": old & 0xF0 | low,
            "hi": old & 0x0F | high << 4,
            "div8": low << 3,
            "digits": base + low,
        }.get(kind, high * 10 + low)
    return out


def _variable(encoding: str, addr: int) -> Variable:
    """Read the corpus' notation: kind_order:width:base, ``u8``, ``u16le``, ``base100:hi=,lo=``."""
    kind, _, rest = encoding.partition(":")
    if kind == "base100":
        places: dict[str, Any] = dict(part.split("=") for part in rest.split(","))
        return Variable((int(places["hi"], 16), int(places["lo"], 16)), "base100")
    if kind.startswith("u"):
        width = int(kind[1:].rstrip("leb")) // 8
        addrs = range(addr, addr + width)
        return Variable(tuple(reversed(addrs) if kind.endswith("le") else addrs), "uint")
    kind, order = kind.split("_")
    width, _, base = rest.partition(":")
    addrs = list(range(addr, addr + int(width)))
    if order == "le":
        addrs.reverse()
    elif order == "wordswapped":  # a big-endian long in little-endian words
        addrs = [a ^ 1 for a in addrs]
    return Variable(tuple(addrs), kind, base=int(base, 0) if base else 0)
