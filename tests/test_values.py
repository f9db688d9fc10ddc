"""Decoders and variables: round trips, layouts, one frame against many, and 50 real games."""

from __future__ import annotations

import importlib.util
import json
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.errors import UserError
from retrokit.values import (
    DECODERS,
    Decoder,
    Variable,
    VariableError,
    base_encoding,
    encoding_name,
)

decoders = pytest.mark.parametrize("decoder", DECODERS.values(), ids=list(DECODERS))
WIDTHS = st.integers(1, 7)


def ram(values: dict[int, int], size: int = 16) -> dict[str, np.ndarray]:
    memory = np.zeros(size, np.uint8)
    for offset, value in values.items():
        memory[offset] = value
    return {"SYSTEM_RAM": memory}


def draw_value(data: st.DataObject, decoder: Decoder, n: int) -> int:
    top = decoder.capacity(n)
    return data.draw(st.integers(-top if decoder.signed else 0, top - 1))


@decoders
@given(st.data(), WIDTHS)
def test_encode_then_decode_gives_the_value(decoder: Decoder, data: st.DataObject, n: int) -> None:
    value = draw_value(data, decoder, n)
    base = data.draw(st.integers(0, 255)) if decoder.based else 0
    code = (base + 10 + data.draw(st.integers(0, 5))) & decoder.bits  # above the ten digits
    blank = data.draw(st.sampled_from([None, code])) if decoder.name == "digits" else None
    written = np.frombuffer(decoder.encode(value, n, base, blank), np.uint8)
    assert decoder.decode(written, base, blank) == value
    assert decoder.valid(written, base, blank)


@decoders
def test_capacity_is_where_it_stops_fitting(decoder: Decoder) -> None:
    decoder.encode(decoder.capacity(2) - 1, 2)
    for value in (decoder.capacity(2), -decoder.capacity(2) - 1):
        with pytest.raises(UserError, match="does not fit 2 bytes"):
            decoder.encode(value, 2)


@decoders
@given(st.data())
def test_decode_is_the_same_for_one_and_for_many(decoder: Decoder, data: st.DataObject) -> None:
    n = data.draw(WIDTHS)
    raw = data.draw(st.binary(min_size=6 * n, max_size=6 * n))
    many = np.frombuffer(raw, np.uint8).reshape(2, 3, n)
    values, legal = decoder.decode(many), decoder.valid(many)
    assert values.dtype == np.int64 and values.shape == legal.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert decoder.decode(many[index]) == values[index]
        assert decoder.valid(many[index]) == legal[index]


@pytest.mark.parametrize(
    ("name", "written", "value", "digits"),
    [
        ("bcd", [0x12, 0x34], 1234, 2),
        ("digits", [1, 2, 3], 123, 1),
        ("nibbles_low", [0xF1, 0xA2], 12, 1),
        ("nibbles_high", [0x1F, 0x2A], 12, 1),
        ("base100", [12, 34], 1234, 2),
        ("uint", [0x12, 0x34], 0x1234, 0),
        ("int", [0xFF, 0xFE], -2, 0),
    ],
)
def test_known_bytes(name: str, written: list[int], value: int, digits: int) -> None:
    assert DECODERS[name].decode(np.array(written, np.uint8)) == value
    assert DECODERS[name].digits_per_byte == digits


@pytest.mark.parametrize(
    ("name", "written", "blank", "legal"),
    [
        ("bcd", [0x1A], None, False),
        ("bcd", [0xAA, 0xA5], 10, True),
        ("bcd", [0x5A], 10, False),  # a blank after a digit
        ("digits", [0x20, 0x20, 5], 0x20, True),
        ("digits", [5, 0x20], 0x20, False),
        ("digits", [10, 11, 3], (10, 11), True),
        ("base100", [100], None, False),
        ("uint", [255], None, True),
    ],
)
def test_which_patterns_are_legal(name: str, written: list[int], blank: Any, legal: bool) -> None:
    assert DECODERS[name].valid(np.array(written, np.uint8), blank=blank) == legal


def test_leading_zeros_are_blanked_as_the_game_does() -> None:
    assert DECODERS["digits"].encode(40, 4, base=0x30, blank=0x20) == b"  40"
    assert DECODERS["digits"].encode(0, 4, base=0x30, blank=0x20) == b"   0"


def test_too_wide_or_empty_is_refused() -> None:
    for n in (0, 8):
        with pytest.raises(UserError, match=f"{n} bytes of uint"):
            DECODERS["uint"].decode(np.zeros(n, np.uint8))


def test_encoding_names_say_how_addresses_run() -> None:
    assert encoding_name("bcd", [3, 2, 1]) == "bcd_le"
    assert encoding_name("bcd_le", [1, 2, 9]) == "bcd_be"
    assert encoding_name("digits", [2]) == encoding_name("digits", []) == "digits"
    assert encoding_name("uint", [1, 0, 3, 2]) == "uint"  # word-swapped
    assert base_encoding("nibbles_low_le") == "nibbles_low"
    with pytest.raises(UserError, match="unknown encoding 'bcd_le_be'"):
        base_encoding("bcd_le_be")


# --- variables ---------------------------------------------------------------------------------


@given(st.data())
def test_any_order_of_addresses_reads_back(data: st.DataObject) -> None:
    """Reversed, word-swapped, non-adjacent: the list order is all that counts."""
    decoder = data.draw(st.sampled_from(list(DECODERS.values())))
    addrs = data.draw(st.lists(st.integers(0, 63), min_size=1, max_size=6, unique=True))
    scale = data.draw(st.sampled_from([1, 10, 100, -1]))
    variable = Variable(
        tuple(addrs), decoder.name, scale=scale, offset=data.draw(st.integers(-5, 5))
    )
    value = draw_value(data, decoder, len(addrs)) * scale + variable.offset
    memory = np.full(64, 0x99, np.uint8)
    memory[addrs] = list(variable.encode(value, bytes(memory[addrs])))
    read = variable.decode({"SYSTEM_RAM": memory})
    assert read == value and type(read) is int
    assert variable.valid({"SYSTEM_RAM": memory}) is True
    offsets = data.draw(st.permutations(range(64)))
    film = np.stack([memory[offsets]] * 2)
    kept = variable.columns(np.array(offsets))
    assert kept.decode({"SYSTEM_RAM": film}).tolist() == [value, value]


variables = st.builds(
    Variable,
    addrs=st.lists(st.integers(0, 15), min_size=1, max_size=3, unique=True).map(tuple),
    encoding=st.sampled_from([name for name in DECODERS if name != "int"]),
    scale=st.sampled_from([1, -1, 10]),
    mask=st.sampled_from([0xFF, 0x0F, 0x7F]),
    shift=st.integers(0, 3),
    offset=st.integers(-9, 9),
    map=st.none() | st.dictionaries(st.integers(0, 9), st.integers(-9, 99), min_size=1),
) | st.builds(
    Variable,
    addrs=st.integers(0, 15),
    signed=st.booleans(),
    mask=st.integers(1, 255),
    map=st.dictionaries(st.integers(-9, 9), st.integers(-9, 99), min_size=1),
    default=st.integers(-9, 9),
)


@given(variables, st.lists(variables, max_size=2), st.binary(min_size=64, max_size=64))
def test_one_frame_and_many_agree(own: Variable, terms: list[Variable], raw: bytes) -> None:
    variable = Variable(own.addrs, scale=2, terms=tuple(terms))
    film = np.frombuffer(raw, np.uint8).reshape(4, 16)
    for each in (own, variable):
        many = each.decode({"SYSTEM_RAM": film})
        legal = each.valid({"SYSTEM_RAM": film})
        assert many.dtype == np.int64 and legal.dtype == np.bool_
        for frame, value, good in zip(film, many, legal, strict=True):
            assert each.decode({"SYSTEM_RAM": frame}) == value
            assert each.valid({"SYSTEM_RAM": frame}) == good


@given(st.integers(1, 255), st.integers(0, 7), st.integers(0, 255), st.integers(0, 255))
def test_encode_touches_its_own_bits_only(mask: int, shift: int, old: int, value: int) -> None:
    if not mask >> shift:
        return
    variable = Variable(3, mask=mask, shift=shift)
    try:
        (new,) = variable.encode(value, bytes([old]))
    except UserError:
        # Bits below the shift are never read, and a mask with holes has values that do not fit.
        assert value & (mask >> shift) != value
        return
    assert variable.decode(ram({3: new})) == value
    assert new & ~mask & 0xFF == old & ~mask & 0xFF


def test_scores_do_not_overflow_a_byte() -> None:
    variable = Variable(0)
    change = variable.decode(ram({0: 3})) - variable.decode(ram({0: 250}))
    assert change == -247 and type(change) is int


def test_digits_low_first_with_blanks_and_a_drawn_zero() -> None:
    """PyBoy#261: six bytes, low digit first, blanks 0x20, times ten on screen."""
    variable = Variable((5, 4, 3, 2, 1, 0), "digits_le", scale=10, base=0x30, blank=0x20)
    assert variable.decode({"SYSTEM_RAM": np.frombuffer(b"0512  ", np.uint8)}) == 21500


@pytest.mark.parametrize(
    ("variable", "previous", "current", "delta"),
    [
        (Variable((2, 1, 0), "bcd"), 999_990, 10, 20),
        (Variable((2, 1, 0), "bcd"), 999_990, 0, -999_990),  # a new game
        (Variable((2, 1, 0), "bcd"), 5_000, 200, -4_800),
        (Variable((1, 0), "bcd", scale=10), 99_950, 50, 100),
        (Variable(0), 250, 4, 10),
        (Variable(0, "int"), 120, -120, -240),  # a fall, not a wrap
        (Variable(0, modulus=200), 195, 3, 8),
        (Variable(0, terms=(Variable(1),)), 250, 4, -246),  # where a sum wraps is not known
        (Variable(0, terms=(Variable(1),), modulus=256), 250, 4, 10),
    ],
)
def test_delta_wraps_only_where_plausible(
    variable: Variable, previous: int, current: int, delta: int
) -> None:
    assert variable.delta(np.uint32(previous) if previous > 0 else previous, current) == delta


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("addrs", {"addrs": ()}),
        ("addrs", {"addrs": (1, 1)}),
        ("addrs", {"addrs": (-1,)}),
        ("addrs", {"addrs": tuple(range(9)), "encoding": "uint"}),
        ("addrs", {"addrs": (1, 2, 3, 4, 5, 6), "scale": 2**20}),
        ("encoding", {"addrs": (1, 2), "encoding": "bcd_le"}),
        ("encoding", {"addrs": (2, 1), "encoding": "bcd_be"}),
        ("base", {"addrs": (1,), "encoding": "bcd", "base": 1}),
        ("blank", {"addrs": (1,), "encoding": "uint", "blank": 1}),
        ("blank", {"addrs": (1,), "encoding": "digits", "base": 0x30, "blank": 0x35}),
        ("signed", {"addrs": (1,), "encoding": "bcd", "signed": True}),
        ("scale", {"addrs": (1,), "scale": 0}),
        ("mask", {"addrs": (1,), "mask": 0x100}),
        ("shift", {"addrs": (1,), "mask": 0x0F, "shift": 4}),
        ("default", {"addrs": (1,), "default": 4}),
        ("terms", {"terms": (Variable(1, terms=(Variable(2),)),)}),
    ],
)
def test_contradictions_name_the_field(field: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(VariableError) as caught:
        Variable(**arguments)
    assert caught.value.field == field
    assert pickle.loads(pickle.dumps(caught.value)).field == field


def test_what_memory_lacks_is_named() -> None:
    with pytest.raises(UserError, match="offset 0x10 in SYSTEM_RAM of 0x10 bytes"):
        Variable((1, 16)).decode(ram({}))
    with pytest.raises(UserError, match="no region SAVE_RAM; wanted one of SYSTEM_RAM"):
        Variable(1, region="SAVE_RAM").decode(ram({}))
    with pytest.raises(UserError, match="offset 0x7 is not in the recording"):
        Variable((3, 7)).columns(np.array([3, 4]))


# --- the answer key: every score and lives of 56 Atari games, on random RAM ---------------------

KINDS = {"bcd": "bcd", "lo": "nibbles_low", "hi": "nibbles_high", "bin": "uint", "sbin": "int"}


def term(part: dict[str, Any]) -> Variable:
    blank = tuple(map(int, part.get("blank", {}))) or None
    shift = 3 if part["k"] == "div8" else 0
    encoding = KINDS.get(part["k"], "digits")
    return Variable(part["a"], encoding, scale=part["w"], blank=blank, shift=shift)


def score_variable(truth: dict[str, Any]) -> Variable:
    """Return one list of addresses where the weights allow it, else a sum of terms."""
    parts = [term(part) for part in truth["terms"]]
    sign = truth.get("sign", 1)
    scale, offset = truth.get("scale", 1) * sign, truth.get("offset", 0) * sign
    first = parts[0]
    step = DECODERS[first.encoding].capacity(1)
    alike = {(part.encoding, part.blank, part.shift) for part in parts}
    single = len(alike) == 1 and not truth.get("override")
    if single and [part.scale for part in parts[::-1]] == [step**i for i in range(len(parts))]:
        addrs = tuple(part.addrs[0] for part in parts)
        return Variable(addrs, first.encoding, scale=scale, offset=offset,
                        blank=first.blank, shift=first.shift)  # fmt: skip
    for override in truth.get("override", []):
        ((condition,),) = override["if"]
        assert (condition["op"], condition["v"]) == (">=", 128)  # the top bit, then
        parts.append(Variable(condition["a"], mask=128, shift=7, scale=override["add"] // scale))
    return Variable(terms=tuple(parts), scale=scale, offset=offset)


def lives_variable(truth: dict[str, Any]) -> Variable:
    given = dict(truth.get("map", {}))
    default = given.pop("default", -1) if given else None
    terms = []
    if more := truth.get("plus"):
        terms.append(Variable(more["a"], mask=more["mask"]))
    own = Variable(
        truth["a"],
        mask=truth.get("mask", 255),
        shift=truth.get("shift", 0),
        signed=truth.get("signed", False),
        map={int(k): v for k, v in given.items()} or None,
        default=default,
        scale=truth.get("sign", 1),
    )
    if raw := truth.get(
        "raw_map"
    ):  # a few raw bytes stand for other values: correct them by a term
        plain = {int(k): (int(k) >> own.shift) + truth["add"] for k in raw}
        wrong = {k: v - plain[int(k)] for k, v in raw.items()}
        terms.append(Variable(truth["a"], map={int(k): v for k, v in wrong.items()}, default=0))
    return Variable(terms=(own, *terms), offset=truth.get("add", 0))


@pytest.fixture(scope="module")
def atari(shared: Path) -> tuple[dict[str, Any], ModuleType]:
    spec = importlib.util.spec_from_file_location("decode", shared / "truth" / "decode.py")
    assert spec and spec.loader
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    games = json.loads((shared / "truth" / "atari.json").read_text(encoding="utf-8"))["games"]
    return games, judge


def test_atari_scores_and_lives(atari: tuple[dict[str, Any], ModuleType]) -> None:
    games, judge = atari
    film = np.random.default_rng(0).integers(0, 256, (500, 128), dtype=np.uint8)
    film[:250] &= 0x9F  # more legal digits, and more of the special cases
    film[:9, 64] = [88, 89, *range(7)]
    memory = {"SYSTEM_RAM": film}
    scores, lists, lives = 0, 0, 0
    for name, game in games.items():
        wanted = judge.score(film, game["score"])
        if wanted is not None:
            variable = score_variable(game["score"])
            np.testing.assert_array_equal(variable.decode(memory), wanted, name)
            scores, lists = scores + 1, lists + (not variable.terms)
        wanted = judge.lives(film, game["lives"])
        if wanted is not None and not {"popcount", "wrap8"} & game["lives"].keys():
            np.testing.assert_array_equal(
                lives_variable(game["lives"]).decode(memory), wanted, name
            )
            lives += 1
    assert scores >= 40 and lists >= 20 and lives >= 30
