"""Narrowing: nothing is lost, nothing added, and a slow reader of its own agrees on every hit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.core import Span
from retrokit.discovery.lens import ORDERS, SCALES, TOP_BASE, Lens, every_lens, number, widest
from retrokit.discovery.narrow import Filter, Narrowing
from retrokit.errors import UserError
from retrokit.values import DECODERS

ONE = (Span("SYSTEM_RAM", 0, 14),)
TWO = (Span("SYSTEM_RAM", 0, 9), Span("MORE", 9, 5))
SIZE = 14
# A hit as a set member: the bytes most significant first, encoding, scale and base.
Hit = tuple[tuple[int, ...], str, int, int]

LENSES = {name: [one for one in every_lens() if one.encoding == name] for name in DECODERS}


@st.composite
def lenses(draw: st.DrawFn) -> Lens:
    """Return a type of at most three bytes, each encoding as often as any other."""
    name = draw(st.sampled_from(list(DECODERS)))
    return draw(st.sampled_from([one for one in LENSES[name] if one.width <= 3]))


def codes(lens: Lens, base: int) -> list[int]:
    """Return bytes that mostly are digits of an encoding."""
    digits = {
        "bcd": [0, 1, 9, 0x10, 0x99, 0x1A],
        "digits": [base, base + 1, base + 8, base + 9, (base + 10) % 256],
        "nibbles_low": [0, 1, 9, 0x10, 0xF1, 0x1A],
        "nibbles_high": [0, 0x10, 0x90, 0x1F, 0xA1],
        "base100": [0, 1, 10, 99, 100],
    }
    return digits.get(lens.encoding, [0, 1, 10, 255])


@st.composite
def searches(draw: st.DrawFn) -> tuple[Narrowing, list[Filter]]:
    """Return a search with snapshots that resemble one another, and filters that fit some place."""
    lens = draw(lenses())
    base = draw(st.integers(0, TOP_BASE)) if lens.base is None else 0
    byte = st.sampled_from(codes(lens, base))
    rows = [np.array(draw(st.lists(byte, min_size=SIZE, max_size=SIZE)), np.uint8)]
    for _ in range(draw(st.integers(0, 3))):
        row = rows[-1].copy()
        for at in draw(st.lists(st.integers(0, SIZE - 1), max_size=6)):
            row[at] = draw(byte)
        rows.append(row)
    spans = draw(st.sampled_from([ONE, TWO]))
    search = Narrowing(spans, lenses=(lens,))
    for row in rows:
        search = search.snap(row)
    place, scale = draw(st.sampled_from(places(lens, spans))), draw(st.sampled_from(SCALES))
    seen = [slowly([int(row[o]) for o in place], lens.encoding, base) for row in rows]
    filters = []
    for at in draw(st.lists(st.integers(0, len(rows) - 1), max_size=4)):
        now, before = seen[at], seen[at - 1]
        equal = Filter(
            "equal", at, draw(st.sampled_from([0, 1, 90, -1])) if now is None else scale * now
        )
        kind = draw(st.sampled_from(["equal", "rose", "fell", "changed", "same"]))
        if at == 0 or kind == "equal":
            filters.append(equal)
        elif now is None or before is None or now == before or draw(st.booleans()):
            filters.append(Filter(kind, at))
        else:
            filters.append(
                Filter("rose" if now > before else "fell", at, scale * abs(now - before))
            )
    return search, filters


def filtered(search: Narrowing, filters: list[Filter]) -> Narrowing:
    for one in filters:
        search = search.by(one)
    return search


def hits_of(search: Narrowing) -> set[Hit]:
    """Return all hits, each base and scale by itself."""
    out = set()
    for lens in search.lenses:
        alone = search.through([lens])
        for reading in alone.look(10**6)[1]:
            for scale, low, high in reading.choices:
                out |= {
                    (reading.offsets, lens.encoding, scale, base) for base in range(low, high + 1)
                }
    return out


def slowly(data: list[int], encoding: str, base: int) -> int | None:
    """Read a number without any table: None where a byte is no digit."""
    if encoding in ("uint", "int"):
        return int.from_bytes(bytes(data), "big", signed=encoding == "int")
    texts = {
        "bcd": lambda byte: f"{byte:02x}",
        "digits": lambda byte: str(byte - base) if 0 <= byte - base <= 9 else "?",
        "nibbles_low": lambda byte: f"{byte:02x}"[1],
        "nibbles_high": lambda byte: f"{byte:02x}"[0],
        "base100": lambda byte: f"{byte:02d}" if byte < 100 else "?",
    }
    text = "".join(texts[encoding](byte) for byte in data)
    return int(text) if text.isdecimal() else None


def places(lens: Lens, spans: tuple[Span, ...]) -> list[tuple[int, ...]]:
    """Return the bytes of every place a number can have, most significant first."""
    swap = {"16": 1, "32": 3}.get(lens.order[2:], 0)
    out = []
    for span in spans:
        whole = span.size // (swap + 1) * (swap + 1)
        for at in range(whole - lens.width + 1):
            run = [span.start + (at + n ^ swap) for n in range(lens.width)]
            out.append(tuple(run[::-1] if lens.order.startswith("le") else run))
    return out


def fits(filter: Filter, values: list[int | None], scale: int) -> bool:
    now, before = values[filter.at], values[filter.at - 1]
    if filter.kind == "equal":
        return now is not None and now * scale == filter.amount
    if now is None or before is None:
        return False
    if filter.amount is not None:
        return (now - before) * scale == (
            filter.amount if filter.kind == "rose" else -filter.amount
        )
    kinds = {"rose": now > before, "fell": now < before, "same": now == before}
    return kinds.get(filter.kind, now != before)


def brute(search: Narrowing, filters: list[Filter]) -> set[Hit]:
    """Return all hits by trying everything."""
    (lens,) = search.lenses
    bases = range(TOP_BASE + 1) if lens.base is None else [lens.base]
    out = set()
    for offsets in places(lens, search.spans):
        for base in bases:
            values = [
                slowly([int(row[o]) for o in offsets], lens.encoding, base) for row in search.rows
            ]
            for scale in lens.scales:
                if all(fits(one, values, scale) for one in filters):
                    out.add((offsets, lens.encoding, scale, base))
    return out


@settings(max_examples=400)
@given(searches())
def test_a_slow_reader_finds_the_same_hits(given: tuple[Narrowing, list[Filter]]) -> None:
    search, filters = given
    if not filters:  # without any, every place is one
        (lens,) = search.lenses
        assert search.look(0)[0] == len(places(lens, search.spans))
        return
    assert hits_of(filtered(search, filters)) == brute(search, filters)


@pytest.mark.parametrize("lens", [Lens("nibbles_low"), Lens("nibbles_high", 2, "le")], ids=str)
def test_the_other_nibble_is_no_rise(lens: Lens) -> None:
    rows = (np.full(SIZE, 0x34, np.uint8), np.full(SIZE, 0x34, np.uint8))
    rows[1][3] += 0x10 if lens.encoding == "nibbles_low" else 1
    rows[1][8] += 0x11
    search = Narrowing(ONE, rows, lenses=(lens,))
    filters = [Filter(kind, 1) for kind in ("rose", "changed", "fell", "same")]
    seen = [{3 in hit[0] or 8 in hit[0] for hit in brute(search, [one])} for one in filters]
    assert seen == [{True}, {True}, set(), {False, True}]
    assert all(hits_of(search.by(one)) == brute(search, [one]) for one in filters)


@settings(max_examples=80)
@given(searches())
def test_a_filter_never_adds_a_hit(given: tuple[Narrowing, list[Filter]]) -> None:
    search, filters = given
    before, count = hits_of(search), search.look(0)[0]
    for one in filters:
        search = search.by(one)
        after = hits_of(search)
        assert after <= before
        assert search.look(0)[0] <= count
        before, count = after, search.look(0)[0]


@settings(max_examples=80)
@given(searches(), st.randoms(use_true_random=False))
def test_the_order_of_filters_does_not_matter(
    given: tuple[Narrowing, list[Filter]], random
) -> None:
    search, filters = given
    shuffled = random.sample(filters, len(filters))
    assert hits_of(filtered(search, filters)) == hits_of(filtered(search, shuffled))


@settings(max_examples=80)
@given(searches(), lenses(), st.integers(0, 4))
def test_another_type_and_back_loses_nothing(
    given: tuple[Narrowing, list[Filter]], other: Lens, when: int
) -> None:
    search, filters = given
    straight = filtered(search, filters)
    detour = filtered(search, filters[:when]).through([other])
    detour = filtered(detour, filters[when:])
    assert hits_of(detour.through(search.lenses)) == hits_of(straight)
    # and what the other type sees does not depend on when it was chosen
    assert hits_of(detour) == hits_of(filtered(search.through([other]), filters))


@settings(max_examples=40)
@given(searches())
def test_undo_is_the_search_before(given: tuple[Narrowing, list[Filter]]) -> None:
    search, filters = given
    past = [search]
    for one in filters:
        past.append(past[-1].by(one))
    past.append(past[-1].snap(np.zeros(SIZE, np.uint8)).by(Filter("equal", len(search.rows), 0)))
    for number_of_filters, earlier in enumerate(past[:-1]):
        again = Narrowing(search.spans, search.rows, lenses=search.lenses)
        assert hits_of(earlier) == hits_of(filtered(again, filters[:number_of_filters]))


@settings(max_examples=40)
@given(searches(), st.integers(0, TOP_BASE))
def test_any_base_sees_what_each_base_sees(
    given: tuple[Narrowing, list[Filter]], base: int
) -> None:
    search, filters = given
    every = search.through([Lens("digits", 2, "be", None)])
    one = search.through([Lens("digits", 2, "be", base)])
    seen = {hit for hit in hits_of(filtered(every, filters)) if hit[3] == base}
    if filters:
        assert hits_of(filtered(one, filters)) == seen


def test_every_encoding_width_and_order_is_a_type() -> None:
    seen = {(lens.encoding, lens.width, lens.order) for lens in every_lens()}
    wanted = {
        (name, width, order)
        for name in DECODERS
        for width, order in product(range(1, widest(name) + 1), ORDERS)
        if width > 1 or order == "be"
    }
    assert seen == wanted and len(every_lens()) == len(seen)
    assert widest("digits") == 8 and widest("bcd") == 4
    assert all(lens.scales == SCALES for lens in every_lens())
    assert every_lens()[0] == Lens("bcd", 3, "be")  # the likeliest first


@given(st.sampled_from(every_lens()), st.sampled_from([None, 1, 10]), st.data())
def test_a_type_is_written_as_it_is_read(lens: Lens, scale: int | None, data) -> None:
    base = data.draw(st.integers(0, TOP_BASE)) if lens.base is None else 0
    blank = data.draw(st.sampled_from([None, 15])) if lens.encoding == "bcd" else None
    scales = SCALES if scale is None else (scale,)
    for one in (lens, Lens(lens.encoding, lens.width, lens.order, base, blank, scales)):
        assert Lens.parse(str(one).split()) == one


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "unknown encoding"),
        ("bdc 3", "unknown encoding 'bdc'"),
        ("bcd 5", "5 bytes of bcd; wanted 1 to 4"),
        ("digits 9", "wanted 1 to 8"),
        ("bcd 3 middle", "'middle' in a type"),
        ("bcd 2 base=0x30", "a base with bcd"),
        ("digits 2 base=250", "the base 250"),
        ("digits 2 base=3q", "'3q'; wanted a number"),
        ("digits 2 blank=0x20", "a blank here"),
        ("uint 2 blank=0x20", "a blank here"),
        ("bcd 2 x5", "the scale (5,)"),
    ],
)
def test_types_that_are_none(words: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        Lens.parse(words.split())
    assert said in str(error.value)


def test_numbers_as_people_type_them() -> None:
    assert [number(text) for text in ("430", "0x1AE", "-3", "-0x10")] == [430, 430, -3, -16]


def test_a_blanked_number_is_read_with_its_blank() -> None:
    rows = tuple(np.array(row, np.uint8) for row in ([1, 32, 0x34, 0x30], [1, 0x31, 0x34, 0x35]))
    search = Narrowing((Span("RAM", 0, 4),), rows, lenses=(Lens.parse(["digits", "3"]),))
    seen = search.by(Filter("equal", 1, 145)).by(Filter("equal", 0, 40))
    assert seen.look(9)[0] == 0
    blanked = seen.through([Lens.parse("digits 3 base=0x30 blank=0x20".split())])
    ((reading,), (variable,)) = blanked.look(9)[1], blanked.look(9)[1][0].variables(seen.spans)
    assert reading.offsets == (1, 2, 3)
    assert variable.decode({"RAM": rows[0]}) == 40


def test_a_filter_speaks_of_snapshots_there_are() -> None:
    search = Narrowing(ONE)
    for one in (Filter("equal", 0, 1), Filter("rose", 1)):
        with pytest.raises(UserError, match="Take one with: snap"):
            search.by(one)
    with pytest.raises(UserError, match="with one before it"):
        search.snap(np.zeros(SIZE, np.uint8)).by(Filter("rose", 0))


def test_the_same_bytes_stand_once_the_likeliest_first() -> None:
    rows = (np.zeros(SIZE, np.uint8), np.zeros(SIZE, np.uint8))
    rows[1][5:8] = 0, 4, 0x30
    search = Narrowing(ONE, rows).by(Filter("equal", 1, 430)).by(Filter("equal", 0, 0))
    count, readings = search.look(50)
    assert (readings[0].offsets, str(readings[0].lens)) == ((5, 6, 7), "bcd 3 be")
    assert readings[0].choices[0].scale == 1
    assert len({reading.offsets for reading in readings}) == len(readings) <= count
    assert search.look(2)[1] == readings[:2]


def test_a_crowd_of_hits_is_found_anew_and_not_kept() -> None:
    size = 1 << 16
    rows = [np.zeros(size, np.uint8) for _ in range(3)]
    rows[2][70] = 9
    search = Narrowing((Span("RAM", 0, size),), tuple(rows), lenses=(Lens("uint"), Lens("bcd", 2)))
    still = search.by(Filter("same", 1))
    assert still.look(3)[0] == 2 * size - 1
    assert still._known == {}
    assert still.by(Filter("changed", 2)).look(3)[0] == 3
