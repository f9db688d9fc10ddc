"""Integrations: saving, checks against a machine, the pure functions, the documentation."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrokit
from retrokit.errors import IntegrationError, UserError
from retrokit.integration import Integration
from retrokit.schema import KEYS, READERS
from retrokit.values import DECODERS

SHA = "0123456789abcdef0123456789abcdef01234567"
# The example of the design, complete.
DIGDUG = (Path(__file__).parent / "data" / "digdug.yaml").read_text(encoding="utf-8")
LINE = {line.split(":")[0]: number for number, line in enumerate(DIGDUG.splitlines(), 1)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "digdug.yaml"
    path.write_text(DIGDUG, encoding="utf-8")
    return path


@pytest.fixture
def digdug(path: Path) -> Integration:
    return Integration.load(path)


def minimal(**more: Any) -> dict[str, Any]:
    base = {
        "game": "g",
        "system": "nes",
        "core": "fceumm",
        "rom_sha1": SHA,
        "score_addrs": [3, 2],
        "score_encoding": "bcd",
        "lives_addr": 4,
        "action_set": [[], ["A"]],
    }
    return base | more


# --- saving ------------------------------------------------------------------------------------


def test_saved_file_reads_well(digdug: Integration, tmp_path: Path) -> None:
    digdug.save(tmp_path / "out.yaml")
    text = (tmp_path / "out.yaml").read_text(encoding="utf-8")
    first, *lines = text.splitlines()
    assert first.startswith(f"# Written by retrokit {retrokit.__version__}")
    assert "score_addrs: [0x416, 0x415, 0x414]" in lines
    assert "score_encoding: bcd_le" in lines and "lives_addr: 0x40A" in lines
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")][:3] == [
        "game", "system", "core",
    ]  # fmt: skip


def test_an_existing_file_is_kept_unless_forced(digdug: Integration, path: Path) -> None:
    with pytest.raises(UserError, match=re.escape(f"{path} exists")):
        digdug.save(path)
    assert path.read_text(encoding="utf-8") == DIGDUG
    digdug.save(path, force=True)
    assert Integration.load(path) == digdug
    assert os.listdir(path.parent) == [path.name]


def test_a_failed_save_leaves_the_old_file(
    digdug: Integration, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        digdug.save(path, force=True)
    assert path.read_text(encoding="utf-8") == DIGDUG
    assert os.listdir(path.parent) == [path.name]
    with pytest.raises(UserError, match="cannot write"):
        digdug.save(path / "folder" / "x.yaml")


texts = st.text(min_size=1, max_size=12).filter(str.strip) | st.sampled_from(
    [
        "null",
        "1942",
        "1e5",
        "0x10",
        "yes",
        "a, b,",
        "#x",
        "a: b",
        "- a",
        "{",
        "'",
        '"',
        ".nan",
        " x ",
    ]
)
plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
offsets = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True)
variables = st.fixed_dictionaries(
    {"addrs": offsets, "encoding": st.sampled_from(list(DECODERS))},
    optional={
        "region": texts,
        "scale": st.integers(1, 1000),
        "mask": st.just(0x7F),
        "offset": st.integers(-99, 99),
        "map": st.dictionaries(st.integers(-9, 300), st.integers(-9, 9), min_size=1, max_size=3),
        "terms": st.lists(st.fixed_dictionaries({"addrs": offsets}), min_size=1, max_size=2),
        "modulus": st.integers(2, 10**6),
        "falls": st.booleans(),
    },
)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in ("and", "or", "not", "held", "lives")
)
files = st.fixed_dictionaries(
    {
        "game": texts,
        "system": texts,
        "core": texts,
        "rom_sha1": st.dictionaries(
            texts, st.from_regex(r"[0-9a-f]{40}", fullmatch=True), min_size=1, max_size=2
        ),
        "action_set": st.lists(
            st.sampled_from([[], ["A"], ["B", "UP"]]), min_size=1, unique_by=str
        ),
        "variables": st.dictionaries(names, variables, max_size=2),
    },
    optional={
        "core_version": texts,
        "lives_addr": st.integers(0, 255),
        "lives": st.fixed_dictionaries({}, optional={"mask": st.just(7), "signed": st.booleans()}),
        "start_buttons": st.lists(st.sampled_from(["SELECT", "UP+B:3", 60]), max_size=3),
        "rotate": st.sampled_from([0, 90, 180, 270]),
        "terminated": st.sampled_from(["score > 9", "not (score == 1) held 2"]),
        "evidence": st.dictionaries(texts, plain_json, max_size=3),
    },
)


@settings(max_examples=80)
@given(files, variables, st.booleans())
def test_save_then_load_is_the_identity(
    tmp_path_factory: pytest.TempPathFactory,
    data: dict[str, Any],
    score: dict[str, Any],
    short: bool,
) -> None:
    if short:
        data |= {"score_addrs": score["addrs"], "score_encoding": score["encoding"]}
        data["variables"].pop("score", None)
    else:
        data["variables"]["score"] = score
    if "lives_addr" not in data:
        data.pop("lives", None)
    integration = Integration.from_dict(data)
    path = tmp_path_factory.getbasetemp() / "identity.yaml"
    integration.save(path, force=True)
    assert Integration.load(path) == integration
    assert Integration.from_dict(json.loads(json.dumps(integration.to_dict()))) == integration
    assert pickle.loads(pickle.dumps(integration)) == integration


def test_json_has_the_keys_of_the_file(digdug: Integration) -> None:
    data = digdug.to_dict()
    assert data["score_addrs"] == [0x416, 0x415, 0x414] and data["score_encoding"] == "bcd_le"
    assert data["lives_addr"] == 0x40A and data["start_buttons"][0] == "SELECT:4"
    assert set(data) <= set(LINE)


def test_from_dict_takes_hex_strings_and_nulls() -> None:
    integration = Integration.from_dict(
        minimal(score_addrs=["0x10", 2], score_base=None, rotate=None)
    )
    assert integration.variables["score"].addrs == (16, 2) and integration.rotate is None


# --- checks against a machine ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ({"SYSTEM_RAM": 0x417}, None),
        ({"SYSTEM_RAM": 0x416}, "score_addrs: found offset 0x416; wanted less than 0x416"),
        (
            {"SAVE_RAM": 0x2000},
            "found region SYSTEM_RAM; wanted one that the core offers: SAVE_RAM",
        ),
        ({}, "wanted one that the core offers: none"),
    ],
)
def test_addresses_are_checked_against_the_core(
    digdug: Integration, path: Path, regions: dict[str, int], message: str | None
) -> None:
    if message is None:
        digdug.check_memory(regions)
        return
    with pytest.raises(IntegrationError) as caught:
        digdug.check_memory(regions)
    assert str(caught.value).startswith(f"{path}:{LINE['score_addrs']}: score_addrs")
    assert message in str(caught.value)


def test_another_rom_or_core_warns(digdug: Integration) -> None:
    assert digdug.mismatches(SHA.upper(), "v1.0.0.03 ec7a6271") == []
    rom, core = digdug.mismatches("f" * 40, "v2")
    assert "f" * 40 in rom and SHA in rom and "rev 2" in rom
    assert "v2" in core and "v1.0.0.03" in core


# --- pure functions ----------------------------------------------------------------------------


def test_values_from_memory(digdug: Integration) -> None:
    memory = np.zeros(0x1400, np.uint8)
    memory[[0x414, 0x415, 0x416, 0x40A]] = [0x30, 0x04, 0x01, 2]
    assert digdug.score({"SYSTEM_RAM": memory}) == 10430
    assert digdug.lives({"SYSTEM_RAM": memory}) == 2
    assert digdug.values({"SYSTEM_RAM": memory}) == {"score": 10430, "lives": 2}
    film = {"SYSTEM_RAM": np.stack([memory, memory * 0])}
    assert digdug.score(film).tolist() == [10430, 0]
    ends = digdug.rule().over(digdug.values(film))
    assert ends.tolist() == [False, True]


def test_a_game_without_lives_or_end() -> None:
    integration = Integration.from_dict(minimal(lives_addr=None))
    memory = {"SYSTEM_RAM": np.zeros(8, np.uint8)}
    assert integration.lives(memory) is None
    assert integration.rule().update(integration.values(memory)) is False


@pytest.mark.parametrize(
    ("score", "previous", "current", "reward"),
    [
        ({"addrs": [3, 2, 1], "encoding": "bcd"}, 100, 130, 30.0),
        ({"addrs": [3, 2, 1], "encoding": "bcd"}, 5000, 0, 0.0),  # a new game
        ({"addrs": [3, 2, 1], "encoding": "bcd"}, 999_990, 10, 20.0),  # a wrap
        ({"addrs": [3, 2, 1], "encoding": "bcd", "falls": True}, 500, 450, -50.0),
        ({"addrs": [1], "encoding": "int"}, 3, -2, -5.0),
        ({"addrs": [1], "terms": [{"addrs": [2], "scale": -1}]}, 3, 2, -1.0),  # Pong
    ],
)
def test_reward_is_the_change_of_score(
    score: dict[str, Any], previous: int, current: int, reward: float
) -> None:
    data = minimal(score_addrs=None, score_encoding=None, variables={"score": score})
    assert Integration.from_dict(data).reward(previous, current) == reward


# --- documentation and shipped files ------------------------------------------------------------


def test_every_example_of_the_documentation_loads(repo: Path, tmp_path: Path) -> None:
    text = (repo / "docs" / "integration.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(examples) >= 3
    head, _, score = DIGDUG.partition("score_addrs")
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.yaml"
        keys = re.findall(r"(?m)^(\w+):", example)
        lines = [line for line in (head + "score_addrs" + score).splitlines()
                 if line.split(":")[0] not in keys]  # fmt: skip
        if "score:" in example:
            lines = [line for line in lines if not line.startswith("score_")]
        if re.search(r"(?m)^  lives:", example):
            lines = [line for line in lines if not line.startswith("lives")]
        path.write_text("\n".join(lines) + "\n" + example, encoding="utf-8")
        Integration.load(path)


def test_every_key_is_documented(repo: Path) -> None:
    text = (repo / "docs" / "integration.md").read_text(encoding="utf-8")
    assert [key for key in (*KEYS, *READERS, *DECODERS) if f"`{key}`" not in text] == []


def test_shipped_integrations_load(repo: Path) -> None:
    for path in (repo / "integrations").rglob("*.yaml"):
        Integration.load(path)
