"""Bundles: what was seen comes back from the file, and nothing else passes for one."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrokit.core import Span
from retrokit.discovery.bundle import Bundle, Experiment, Witness, fingerprint, proof_path
from retrokit.discovery.kinds import KINDS, MEASURED, UNITS
from retrokit.errors import UserError

TOTAL = 64  # bytes of memory
FRAMES = 40  # of an episode
KNOWN = 7  # bytes that show whether play is the same
offsets = st.lists(st.integers(0, TOTAL - 1), max_size=4)


@st.composite
def experiments(draw: Any) -> Experiment:
    name = draw(st.sampled_from(sorted(KINDS)))
    kind, control = KINDS[name], name in MEASURED
    where = [draw(st.integers(0, TOTAL - 1)), *([] if control else draw(offsets))]
    fewest, most = kind.looks or 1, kind.looks or 5
    looks = sorted(draw(st.sets(st.integers(1, 30), min_size=fewest, max_size=most)))
    kept = [] if control else where[:1] if kind.drawn else draw(offsets)
    numbers = np.random.default_rng(draw(st.integers(0, 999)))
    branches = kind.branches or draw(st.integers(1, 4))
    seen = (0, 0) if draw(st.booleans()) and not kind.drawn else None
    shape, logs = (branches, len(looks)), draw(st.sampled_from([1, branches]))
    claim = {key: draw(st.integers(-1, 2**40)) for key in kind.claim}
    claim |= {key: draw(st.integers(0, n)) for key, n in (("across", 1), ("unit", len(UNITS) - 1))
              if key in claim}  # fmt: skip
    claim |= {key: draw(st.integers(-1, len(looks) - 1)) for key in ("look", "last", "first")
              if key in claim}  # fmt: skip
    return Experiment(
        draw(st.integers(0, 1)),
        draw(st.integers(0, FRAMES - 1)),
        numbers.integers(0, 256, KNOWN).astype(np.uint8),
        numbers.integers(-1, 256, (branches, len(where))),
        np.array(where, np.int64),
        numbers.integers(0, 1 << 16, (logs, 30 + draw(st.integers(0, 3)))).astype(np.uint16),
        np.array(looks),
        np.array(kept, np.int64),
        numbers.integers(0, 256, (*shape, len(kept))).astype(np.uint8),
        numbers.integers(0, 1 << 63, seen or shape).astype(np.uint64),
        numbers.integers(0, 17, (len(looks) if control else 0, 2)),
        name,
        claim | ({"step": draw(st.integers(1, 60))} if "step" in claim else {}),
        draw(st.sampled_from(["score", "player_x"])),
    )


@st.composite
def bundles(draw: Any) -> Bundle:
    numbers = np.random.default_rng(draw(st.integers(0, 999)))
    return Bundle(
        draw(st.text("0123456789abcdef", min_size=40, max_size=40)),
        draw(st.sampled_from(["fbneo", "stella"])),
        draw(st.sampled_from(["v1.0.0.03  ec7a6271", ""])),
        (Span("SYSTEM_RAM", 0, 48), Span("MAP_1", 48, 16)),
        draw(st.integers(0, 2**31)),
        draw(st.sampled_from([(), ("WAIT:3",), ("WAIT:300", "SELECT:4", "UP+B:2")])),
        numbers.integers(0, 256, KNOWN).astype(np.uint8),
        draw(st.text("0123456789abcdef", min_size=40, max_size=40)),
        np.sort(numbers.choice(TOTAL, KNOWN, False)).astype(np.int32),
        draw(st.integers(1, 60)),
        (draw(st.integers(1, 640)), draw(st.integers(1, 480))),
        draw(st.booleans()),
        numbers.integers(0, 1 << 16, (2, FRAMES)).astype(np.uint16),
        tuple(draw(st.lists(experiments(), max_size=4))),
    )


def same(one: Any, other: Any) -> None:
    """Compare two dataclasses with arrays in them."""
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "experiments":
            assert len(a) == len(b)
            for mine, theirs in zip(a, b, strict=True):
                same(mine, theirs)
        elif isinstance(a, np.ndarray):
            assert a.shape == b.shape and (a == b).all(), field.name
        else:
            assert a == b, field.name


@given(bundle=bundles())
def test_what_is_saved_comes_back(tmp_path_factory: pytest.TempPathFactory, bundle: Bundle) -> None:
    path = tmp_path_factory.mktemp("bundle") / "a.proof.npz"
    bundle.save(path)
    same(Bundle.load(path), bundle)


@cache
def example() -> Bundle:
    ram = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    seen = Experiment(
        0, 5, np.zeros(TOTAL, np.uint8), np.array([[-1, -1], [3, 4]]), np.array([1, 2]),
        np.zeros((1, 9), np.uint16), np.array([5, 7, 9]), np.array([1, 2, 50]), ram,
        np.zeros((2, 3), np.uint64), np.zeros((0, 2), np.int64), "added",
        {"before": 0, "written": 34, "points": 10, "settled": 0, "unit": 1, "look": 1, "shown": 44},
    )  # fmt: skip
    return Bundle(
        "0" * 40, "fbneo", "1", (Span("SYSTEM_RAM", 0, TOTAL),), 0, ("WAIT:60",),
        np.zeros(TOTAL, np.uint8), "0" * 40, np.arange(TOTAL, dtype=np.int32),
        12, (2, 2), False, np.zeros((1, 9), np.uint16), (seen,),
    )  # fmt: skip


@given(data=st.data())
def test_a_damaged_file_is_one_line_or_still_a_bundle(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.npz"
    example().save(path)
    body = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(body[: data.draw(st.integers(0, 2 * len(body)))])
    try:
        Bundle.load(path)
    except UserError as error:
        assert f"{path} is no proof, or it is damaged" in str(error)


@pytest.mark.parametrize(
    "change",
    [
        {"format": np.array(1)},
        {"kinds": np.array(["added", "film"])},
        {"kinds": np.array(["joint"])},
        {"claims": np.array(["[1, 2]"])},
        {"claims": np.array([json.dumps({"written": 3})])},
        {"claims": np.array(["not json"])},
        {"looks": np.array([5, 9, 7], np.int32)},
        {"looks": np.array([5, 7, 90], np.int32)},
        {"kept": np.array([1, 2, TOTAL], np.int32)},
        {"offsets": np.array([-1, 2], np.int32)},
        {"rows": np.array([-1, -1, 300, 4], np.int16)},
        {"moments": np.array([[0, 9]], np.int32)},
        {"moments": np.array([[1, 0]], np.int32)},
        {"ram": np.zeros(17, np.uint8)},
        {"ram": np.zeros(19, np.uint8)},
        {"every": np.array(0)},
        {"start_ram": np.zeros(3, np.uint8)},
        {"before": np.zeros(3, np.uint8), "before_shapes": np.array([[3]])},
        {"start_buttons": np.array(["COIN:4"])},
    ],
    ids=lambda change: f"{next(iter(change))}",
)
def test_a_file_that_makes_no_sense(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.npz"
    example().save(path)
    with np.load(path) as arrays:
        known = {name: arrays[name] for name in arrays.files}
    assert change.keys() <= known.keys()
    with path.open("wb") as file:
        np.savez(file, **known | change)
    with pytest.raises(UserError, match="is no proof, or it is damaged"):
        Bundle.load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no proof .*a.npz; wanted the .proof.npz"):
        Bundle.load(tmp_path / "a.npz")


def test_a_claim_needs_what_shows_it() -> None:
    seen = example().experiments[0]
    wrong = {"kind": "digits"}, {"kind": "steered"}, {"kind": "gone"}, {"kind": "film"}
    for change in (*wrong, {"claim": seen.claim | {"look": 3}}):
        with pytest.raises(ValueError, match="cannot show"):
            replace(example(), experiments=(replace(seen, **change),))


def test_a_fingerprint_is_of_bytes() -> None:
    numbers = np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert fingerprint(numbers) == fingerprint(numbers.copy()) < 2**64
    assert fingerprint(numbers[:, ::2]) == fingerprint(numbers[:, ::2].copy())
    assert fingerprint(numbers) != fingerprint(numbers + 1)


def test_a_proof_lies_beside_its_integration() -> None:
    assert proof_path(Path("a/dig.dug.yaml")) == Path("a/dig.dug.proof.npz")


# -- the witness -----------------------------------------------------------------------------------


def test_a_witness_keeps_what_proves_something() -> None:
    witness, seen, one, other = Witness(), example().experiments[0], object(), object()
    witness.begin()
    witness.latest = seen
    witness.shows("added", written=1)
    witness.begin()  # the first attempt came to nothing
    witness.latest = replace(seen, frame=6)
    witness.shows("added", written=2)
    witness.latest = replace(seen, frame=7)  # never shown to be anything
    witness.shows("added", seen, written=True)
    witness.proves(one)
    assert [(e.frame, e.kind, e.claim) for e in witness.of(one)] == [
        (6, "added", {"written": 2}), (5, "added", {"written": 1}),
    ]  # fmt: skip
    assert witness.of(other) == []
    witness.proves(other)
    assert witness.of(other) == [] and len(witness.of(one)) == 2
