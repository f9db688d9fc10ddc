"""Savestates: our header and other frontends' containers; whatever is wrong is refused."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.core import Core
from retrokit.errors import SavestateRefused
from retrokit.savestate import HEADER, MAGIC, Owner, body_of, pack, unpack

Open = Callable[..., Core]
OWNER = Owner(b"c" * 20, b"g" * 20)
OTHER_CORE, OTHER_GAME = Owner(b"d" * 20, b"g" * 20), Owner(b"c" * 20, b"h" * 20)
BODY = bytes(range(256)) * 3


def rastate(body: bytes) -> bytes:
    """Return RetroArch's container, with a block before and after the one that counts."""
    blocks = b"".join(
        name + struct.pack("<I", len(data)) + data + bytes(-len(data) % 8)
        for name, data in ((b"ACHV", b"abc"), (b"MEM ", body), (b"END ", b""))
    )
    return b"RASTATE\x01" + blocks


def rzip(body: bytes, version: int = 1, chunk: int = 100) -> bytes:
    out = b"#RZIPv" + bytes([version]) + b"#" + struct.pack("<IQ", chunk, len(body))
    for at in range(0, len(body), chunk):
        packed = zlib.compress(body[at : at + chunk])
        out += struct.pack("<I", len(packed)) + packed
    return out


def test_pack_and_unpack() -> None:
    assert bytes(unpack(pack(BODY, OWNER), OWNER, len(BODY))) == BODY
    assert bytes(body_of(pack(BODY, OWNER), OWNER)) == BODY
    # The size that the core has now may be another: the header says the state is whole.
    assert bytes(unpack(pack(BODY, OWNER), OWNER, 1)) == BODY


@pytest.mark.parametrize(
    "wrap",
    [
        rastate,
        rzip,
        gzip.compress,
        lambda body: rzip(rastate(body)),
        lambda body: gzip.compress(rzip(rastate(body))),
    ],
    ids=["RASTATE", "RZIP", "gzip", "RZIP of RASTATE", "gzip of RZIP of RASTATE"],
)
def test_containers_of_other_frontends(wrap: Callable[[bytes], bytes]) -> None:
    assert bytes(unpack(wrap(BODY), OWNER, len(BODY))) == BODY
    with pytest.raises(SavestateRefused, match="wanted 700 bytes"):
        unpack(wrap(BODY), OWNER, 700)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (b"", "bare bytes"),
        (BODY, "bare bytes; wanted a savestate with a header"),
        (bytes(len(BODY)), "bare bytes"),
        (pack(BODY, OWNER)[:-1], "body of 767 bytes; wanted 768"),
        (pack(BODY, OWNER)[:400], "wanted 768 bytes"),
        (pack(BODY, OWNER)[:30], "cut off after 30 bytes"),
        (pack(BODY, OWNER) + b"xx", "body of 770 bytes; wanted 768"),
        (pack(BODY, OWNER)[:-1] + b"!", "wrong checksum"),
        (pack(BODY, OTHER_CORE), "another core or version"),
        (pack(BODY, OTHER_GAME), "another game"),
        (rzip(BODY, version=2), "RZIP savestate of version 02; wanted version 01"),
        (rzip(BODY)[:-7], "damaged RZIP"),
        (rzip(BODY)[:15], "damaged RZIP"),
        (b"#RZIP", r"version \?"),
        (rzip(BODY) + rzip(BODY)[20:], "RZIP savestate of 1536 bytes"),
        (gzip.compress(BODY)[:-20], "damaged gzip"),
        (gzip.compress(BODY)[:-4] + b"abcd", "damaged gzip"),
        (b"RASTATE\x01ACHV\x03\0\0\0abc", "without a MEM block"),
        (rastate(BODY)[:300], "bytes; wanted 768"),
    ],
)
def test_what_is_wrong_is_said(state: bytes, why: str) -> None:
    with pytest.raises(SavestateRefused, match=why):
        unpack(state, OWNER, len(BODY))


def test_branches_take_our_own_states_alone() -> None:
    for state in (BODY, pack(BODY, OTHER_GAME), pack(BODY, OTHER_CORE), pack(BODY, OWNER)[:-1]):
        with pytest.raises(SavestateRefused):
            body_of(state, OWNER)


@given(body=st.binary(max_size=300), at=st.integers(0), bits=st.integers(1, 255))
def test_any_corrupted_byte_is_refused(body: bytes, at: int, bits: int) -> None:
    state = bytearray(pack(body, OWNER))
    state[at % len(state)] ^= bits
    with pytest.raises(SavestateRefused):
        unpack(bytes(state), OWNER, len(body))


@given(body=st.binary(max_size=300), cut=st.integers(0), more=st.binary(max_size=20))
def test_any_cut_or_addition_is_refused(body: bytes, cut: int, more: bytes) -> None:
    state = pack(body, OWNER)
    changed = state[: cut % len(state)] + more
    if changed != state:
        with pytest.raises(SavestateRefused):
            unpack(changed, OWNER, len(body))


HEADS = st.sampled_from([b"", MAGIC, b"RASTATE\x01", b"#RZIPv\x01#", b"#RZIPv", b"\x1f\x8b\x08"])


@given(head=HEADS, tail=st.binary(max_size=400), size=st.integers(500, 600))
def test_junk_is_refused_and_nothing_else_is_raised(head: bytes, tail: bytes, size: int) -> None:
    with pytest.raises(SavestateRefused):
        unpack(head + tail, OWNER, size)


@given(
    wrap=st.sampled_from([rastate, rzip, gzip.compress]),
    at=st.integers(0),
    bits=st.integers(1, 255),
)
def test_damaged_containers_load_right_or_are_refused(wrap, at: int, bits: int) -> None:
    state = bytearray(wrap(BODY))
    state[at % len(state)] ^= bits
    try:
        assert len(unpack(bytes(state), OWNER, len(BODY))) == len(BODY)
    except SavestateRefused:
        pass


def test_a_session_survives_every_bad_state(open_fake: Open, fake_core, fake_content) -> None:
    core = open_fake("counter")
    core.run(40, 1)
    good = core.save()
    head, body = good[: HEADER.size], good[HEADER.size :]
    noise = random.Random(1).randbytes(len(good))
    bad = [b"", good[:-1], good[: len(good) // 2], good + b"xx", noise, bytes(len(good))]
    bad += [head + noise[: len(body)], head + bytes(len(body)), head]
    bad += [rzip(body, version=9), body, gzip.compress(body + b"xx"), rastate(body[:-1])]
    with Core.open(fake_core("counter"), fake_content(b"another game")) as other:
        bad.append(other.save())
    with Core.open(fake_core("other_version"), fake_content()) as other:
        bad.append(other.save())
    core.run(3)
    for state in bad:
        with pytest.raises(SavestateRefused):
            core.load(state)
        assert core.frame().any()  # nothing reached the core: even the picture stays
    core.run(2)
    assert core.read()[0] == 45
    for state in (good, rastate(body), rzip(body), gzip.compress(body)):
        core.load(state)
        core.run(1)
        assert core.read()[0] == 41


def test_a_state_that_the_core_refuses(open_fake: Open) -> None:
    core = open_fake("counter")
    with pytest.raises(SavestateRefused, match="retro_unserialize returned false"):
        core.load(pack(b"too short", core.owner))
    core.run()
    assert core.read()[0] == 1
