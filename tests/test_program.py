"""The C program against the Python that it is compiled from: one decoder, one rule, one reward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.conditions import Terminated
from retrokit.errors import UserError
from retrokit.host.binding import ffi, lib
from retrokit.integration import Integration
from retrokit.program import Program
from retrokit.values import DECODERS, Variable

SIZE = 16
REGIONS = {"SYSTEM_RAM": 2, "SAVE_RAM": 0}


def game(terminated: str = "", **variables: Variable) -> Integration:
    variables.setdefault("score", Variable((0,)))
    return Integration("a", "unknown", "a", {}, variables, ((),), terminated=terminated)


@st.composite
def parts(draw: st.DrawFn, terms: bool = True) -> dict[str, Any]:
    encoding = draw(st.sampled_from(sorted(DECODERS)))
    binary = DECODERS[encoding].radix == 256
    addrs = draw(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4, unique=True))
    fields: dict[str, Any] = {
        "addrs": tuple(addrs),
        "encoding": encoding,
        "region": draw(st.sampled_from(sorted(REGIONS))),
        "scale": draw(st.sampled_from([1, 10, -1, 100, 3])),
        "offset": draw(st.integers(-1000, 1000)),
        "mask": draw(st.sampled_from([0xFF, 0x0F, 0x7F, 0xF0, 1])),
    }
    if fields["mask"] == 0xF0:
        fields["shift"] = 4
    if binary and encoding == "uint":
        fields["signed"] = draw(st.booleans())
    if not binary:
        unseen = (0x0E, 0x0F) if DECODERS[encoding].radix == 10 else (100, 200)
        fields["blank"] = draw(st.sampled_from([None, unseen[0], unseen]))
    if encoding == "digits":
        fields["base"] = draw(st.sampled_from([0, 0x30, 0x80]))
    if draw(st.booleans()):
        fields["map"] = draw(st.dictionaries(st.integers(-3, 20), st.integers(-99, 99), min_size=1))
        fields["default"] = draw(st.one_of(st.none(), st.integers(-5, 5)))
    if terms:
        made = draw(st.lists(parts(terms=False), max_size=2))
        fields["terms"] = tuple(Variable(**term) for term in made)
        if fields["terms"] and draw(st.booleans()):
            fields = {"terms": fields["terms"], "scale": fields["scale"]}
    fields["falls"] = draw(st.booleans())
    fields["modulus"] = draw(st.sampled_from([None, 100, 10_000]))
    return fields


memories = st.fixed_dictionaries(
    {name: st.binary(min_size=SIZE, max_size=SIZE) for name in REGIONS}
)


def c_values(program: Program, regions: dict[str, bytes]) -> list[int]:
    raw = program.raw
    views = ffi.new("rk_view[]", raw.n_regions)
    kept = []
    for number in range(raw.n_regions):
        name = next(name for name, id in REGIONS.items() if id == raw.regions[number])
        kept.append(ffi.from_buffer("uint8_t[]", regions[name]))
        views[number].data, views[number].size = kept[-1], len(regions[name])
    out = ffi.new("int64_t[]", raw.n_variables)
    lib.rk_values(raw, views, out)
    return list(out)


def as_memory(regions: dict[str, bytes]) -> dict[str, Any]:
    return {name: np.frombuffer(data, np.uint8) for name, data in regions.items()}


@given(parts(), parts(), memories)
def test_values_are_those_of_the_decoder(a: Any, b: Any, regions: dict[str, bytes]) -> None:
    integration = game(score=Variable(**a), other=Variable(**b))
    expected = list(integration.values(as_memory(regions)).values())
    assert c_values(Program(integration, REGIONS), regions) == expected


@given(parts(), st.lists(memories, min_size=2, max_size=5), st.booleans())
def test_gain_is_the_reward(fields: Any, looks: list[dict[str, bytes]], near: bool) -> None:
    integration = game(score=Variable(**fields), other=Variable(**fields))
    program = Program(integration, REGIONS)
    seen = [integration.score(as_memory(look)) for look in looks]
    wraps = integration.variables["score"].wraps_at
    if near and wraps:  # where the way through the wrap is short
        seen += [wraps - 3, 2, wraps - 1, integration.variables["score"].offset]
    for before, now in zip(seen, seen[1:], strict=False):
        score, other = (lib.rk_gain(program.raw.variables + n, before, now) for n in (0, 1))
        assert score == integration.reward(before, now)
        assert other == integration.variables["other"].delta(before, now)


@given(st.sampled_from([10, 999, 10**6]), st.data())
def test_gain_of_a_plain_counter_wraps(top: int, data: st.DataObject) -> None:
    integration = game(score=Variable((0, 1, 2), "bcd"), other=Variable((0,), modulus=top))
    program = Program(integration, REGIONS)
    for number, name in enumerate(("score", "other")):
        before, now = (data.draw(st.integers(0, 10**6)) for _ in range(2))
        expected = integration.variables[name].delta(before, now)
        if name == "score":
            expected = int(integration.reward(before, now))
        assert lib.rk_gain(program.raw.variables + number, before, now) == expected


sides = st.sampled_from(["score", "lives", "mode"])
numbers = st.integers(-2, 3).map(str)
comparisons = st.tuples(sides, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), sides | numbers)
rules = st.recursive(
    comparisons.map(" ".join),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            "({0[0]}) {0[1]} {0[2]}".format
        ),
        st.tuples(inner, st.integers(1, 4)).map("({0[0]}) held {0[1]}".format),
    ),
    max_leaves=8,
)
frames = st.lists(st.tuples(*[st.integers(-2, 3)] * 3), max_size=20)


@given(rules, frames)
def test_the_rule_is_the_rule(text: str, looks: list[tuple[int, ...]]) -> None:
    names = ("score", "lives", "mode")
    integration = game(text, **{name: Variable((n,)) for n, name in enumerate(names)})
    rule = integration.rule()
    program = Program(integration, REGIONS)
    held = ffi.new("uint32_t[]", program.raw.n_held + 1)
    for look in looks:
        expected = rule.update(dict(zip(names, look, strict=True)))
        assert bool(lib.rk_rule(program.raw, list(look), held)) == expected


def test_only_what_the_rule_names_is_decoded_for_it() -> None:
    integration = game("lives == 0", lives=Variable((1,)), other=Variable((2,)))
    program = Program(integration, REGIONS)
    ram = ffi.new("uint8_t[]", [7, 8, 9])
    out = ffi.new("int64_t[]", [-1] * 3)
    lib.rk_ruled_values(program.raw, ffi.new("rk_view *", {"data": ram, "size": 3}), out)
    seen = dict(zip(integration.variables, out, strict=True))
    assert seen == {"score": -1, "lives": 8, "other": -1}


def test_no_rule_never_ends() -> None:
    program = Program(game(), REGIONS)
    assert not lib.rk_rule(program.raw, [0], ffi.NULL)
    assert Terminated("").program() == []


def test_bytes_past_the_end_read_as_zero() -> None:
    program = Program(game(score=Variable((0, 9))), REGIONS)
    assert c_values(program, {"SYSTEM_RAM": b"\x01"}) == [256]


def test_a_region_that_is_not_offered_is_named() -> None:
    with pytest.raises(UserError, match="no region MAP_0"):
        Program(game(score=Variable((0,), region="MAP_0")), REGIONS)


def test_a_rule_too_deep_for_the_stack_is_refused() -> None:
    text = "score == 0"
    for _ in range(45):
        text = f"score == 0 or score == 0 and ({text})"
    Program(game(text), REGIONS)  # as deep as the parser allows: fits
