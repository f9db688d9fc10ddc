"""What an integration file may hold, and what each fault says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrokit.errors import IntegrationError
from retrokit.integration import Integration, format_start, parse_start
from retrokit.schema import read_fields
from retrokit.yaml_file import parse_yaml

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


# --- files -----------------------------------------------------------------------------------


def test_the_example_of_the_design_loads(digdug: Integration) -> None:
    assert digdug.game == "digdug" and digdug.rotate == 270 and digdug.cuts_last_life
    assert digdug.rom_sha1 == {"rev 2": SHA}  # upper case is normalised
    assert digdug.variables["score"].addrs == (0x416, 0x415, 0x414)
    assert digdug.action_masks().tolist() == [0, 0x10, 0x20, 0x40, 0x80, 0x01]
    assert digdug.evidence == {"frames": 12000, "seeds": [0, 1]}


@pytest.mark.parametrize(
    ("key", "old", "new", "message"),
    [
        # Every public report of "bad file": openai/retro#118 and its kin.
        ("score_addrs", "0x414]", "0x414,]", "found a trailing comma"),
        ("lives_addr", "0x40A", "0x40A,", "found a trailing comma"),
        ("rotate", " 270", "\t270", "found a tab; wanted spaces"),
        ("system", "arcade", "arcade\ngame: again", "game: found twice, first on line 2"),
        ("terminated", "==", "~", "column 7: found '~'; wanted one of =="),
        ("terminated", "lives", "live", "found unknown variable 'live'; wanted lives"),
        ("score_scale", ": 1", ": .nan", "found '.nan'; wanted a whole number"),
        ("score_scale", ": 1", ": 0", "found a scale of 0"),
        ("evidence", "12000", ".nan", "evidence.frames: found '.nan'; wanted a finite number"),
        ("score_addrs", "0x416", "-1", "score_addrs[0]: found '-1'; wanted a whole number from 0"),
        ("score_addrs", "0x416", "99999999999", "score_addrs[0]: found '99999999999'"),
        ("score_addrs", "0x416", "0416", "score_addrs[0]: found '0416'"),
        ("score_addrs", "0x416", "'0x416'", "score_addrs[0]: found '0x416'"),
        ("score_addrs", "0x415", "0x416", "found the same offset twice"),
        ("score_addrs", "[0x416, 0x415, 0x414]", "[]", "found no address"),
        ("score_addrs", "0x414]", "0x414", "expected ',' or ']'"),
        ("score_encoding", "bcd_le", "bdc", "found unknown encoding 'bdc'; wanted one of bcd"),
        ("score_encoding", "bcd_le", "bcd_be", "found bcd_be with addresses that descend"),
        ("score_scale", "score_scale", "score_scael", "found an unknown key; wanted score_scale"),
        ("lives", "mask", "msk", "lives.msk: found an unknown key; wanted mask"),
        ("lives", "0xFF", "0x100", "lives.mask: found '0x100'; wanted a whole number"),
        ("lives", "{mask: 0xFF, offset: 0}", "3", "found '3'; wanted a mapping"),
        ("lives_addr", " 0x40A", "", "found nothing; wanted a whole number"),
        ("start_buttons", "SELECT", "SELET", "start_buttons[0]: found unknown button 'SELET'"),
        ("start_buttons", "SELECT", "SELECT:0", "start_buttons[0]: found '0'"),
        ("start_buttons", "SELECT", "WAIT:99999, 99999", "found a longer start"),
        ("start_buttons", "SELECT", "{buttons: [A], hodl: 3}", "an unknown key; wanted hold"),
        ("action_set", "[UP]", "[UPP]", "action_set[1][0]: found unknown button 'UPP'; wanted UP"),
        ("action_set", "[B]", "[UP]", "action_set[5]: found action 1 again"),
        ("action_set", "[[], [UP], [DOWN], [LEFT], [RIGHT], [B]]", "[]", "found no action"),
        ("rotate", "270", "45", "found '45'; wanted 0, 90, 180 or 270"),
        ("rom_sha1", "0123", "123", "rom_sha1.rev 2: found '123"),
        ("rom_sha1", f"{{rev 2: {SHA.upper()}}}", "{}", "found no hash"),
        ("cuts_last_life", "true", "yes", "found 'yes'; wanted true or false"),
        ("game", "digdug", "&a digdug", "found an anchor"),
        ("game", "digdug", "!!python/name:os.system x", "found a tag"),
        ("core", "fbneo", "[fbneo]", "found a list; wanted text"),
    ],
)
def test_a_fault_names_file_line_and_key(
    path: Path, key: str, old: str, new: str, message: str
) -> None:
    lines = DIGDUG.splitlines(keepends=True)
    line = LINE[key]
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(IntegrationError) as caught:
        Integration.load(path)
    text = str(caught.value)
    assert message in text
    line += "again" in new
    key = message.split(":")[0] if "again" in new else new if new == "score_scael" else key
    assert re.match(rf"{re.escape(str(path))}:{line}: {key}", text), text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("key", ["game", "system", "core", "rom_sha1", "action_set", "score_addrs"])
def test_a_missing_key_is_named(path: Path, key: str) -> None:
    path.write_text(re.sub(rf"(?m)^{key}:.*\n", "", DIGDUG), encoding="utf-8")
    with pytest.raises(
        IntegrationError, match=f"{re.escape(str(path))}:.*{key}: found no such key"
    ):
        Integration.load(path)


def test_several_faults_are_counted_and_the_first_line_comes_first(path: Path) -> None:
    text = DIGDUG.replace("270", "271").replace("0x416", "x").replace("game: digdug\n", "")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IntegrationError, match=r"score_addrs\[0\]: found 'x'.* 2 more faults in"):
        Integration.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"- a\n", b"\0\1ROM", b"a: \xff\n", b"{", b"a: [", b"[" * 5000, b"a: b\n---\nc: d\n",
     b"? [a]\n: b\n", b"%YAML 1.1\n---\n", b"text", b"\xef\xbb\xbf# only a comment\n"],
)  # fmt: skip
def test_what_is_no_integration_at_all(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(IntegrationError, match=re.escape(str(path))):
        Integration.load(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(IntegrationError, match="none.yaml: no such file"):
        Integration.load(tmp_path / "none.yaml")
    with pytest.raises(IntegrationError, match="is a directory"):
        Integration.load(tmp_path)


def test_words_that_yaml_would_turn_into_numbers_stay_words(path: Path) -> None:
    text = DIGDUG.replace("game: digdug", "game: 1942").replace("v1.0.0.03 ec7a6271", "1.10")
    digits = "1" * 36 + "1e10"
    path.write_text(text.replace(SHA.upper(), digits), encoding="utf-8")
    integration = Integration.load(path)
    assert integration.game == "1942" and integration.core_version == "1.10"
    assert integration.rom_sha1 == {"rev 2": digits}


@settings(max_examples=80)
@given(st.data())
def test_a_mutated_file_loads_or_is_an_integration_error(data: st.DataObject) -> None:
    text = DIGDUG
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.sampled_from([0, 0, 1, 1, 5, 40]))
        put = data.draw(
            st.sampled_from([*"\t\n,:[]{}'\"&*!#%|>-?@`~", "\0", "\r", "é", "\u2028", " ", ""])
            | st.sampled_from(["nan", "1e999", "null", "variables: ", "terms: [{}]", "9" * 30])
            | st.text(max_size=3)
        )
        text = text[:at] + put + text[at + cut :]
    try:
        Integration(**read_fields(parse_yaml(text, "x.yaml")))
    except IntegrationError:
        pass


# --- start sequence ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "form"),
    [
        ("SELECT", ["SELECT:4", "WAIT:60"]),
        ("select:4", ["SELECT:4"]),
        ("UP+B:10", ["B+UP:10"]),
        (" UP + B : 10 ", ["B+UP:10"]),
        (60, ["WAIT:60"]),
        ("60", ["WAIT:60"]),
        ("WAIT:60", ["WAIT:60"]),
        ({"wait": 60}, ["WAIT:60"]),
        ({"buttons": ["SELECT"], "hold": 4, "wait": 10}, ["SELECT:4", "WAIT:10"]),
        ({"buttons": ["SELECT"], "hold": 2}, ["SELECT:2"]),
        ({"buttons": ["SELECT"]}, ["SELECT:4", "WAIT:60"]),
        ({"buttons": ["SELECT"], "wait": 1}, ["SELECT:4", "WAIT:1"]),
    ],
)
def test_every_way_to_write_a_press(entry: Any, form: list[str]) -> None:
    assert format_start(parse_start([entry])) == form


def test_the_short_start_of_the_design(digdug: Integration) -> None:
    frames = digdug.start_frames()
    assert frames.dtype == np.uint16
    assert frames.tolist() == [4] * 4 + [0] * 60 + [8] * 4 + [0] * 60
    assert parse_start([]).tolist() == []


@pytest.mark.parametrize(
    "entry", ["", "A:", ":4", "A:4:4", "WAIT", "A+", "-5", {}, {"hold": 3}, [], 1.5]
)
def test_malformed_presses(entry: Any) -> None:
    with pytest.raises(IntegrationError, match=r"start_buttons\[0\]"):
        parse_start([entry])


@given(st.lists(st.integers(0, 0xFFFF), max_size=20))
def test_format_start_is_the_inverse(masks: list[int]) -> None:
    assert parse_start(format_start(masks)).tolist() == masks


# --- mappings, as from JSON --------------------------------------------------------------------


MINIMAL = {
    "game": "g",
    "system": "nes",
    "core": "fceumm",
    "rom_sha1": SHA,
    "score_addrs": [3, 2],
    "score_encoding": "bcd",
    "lives_addr": 4,
    "action_set": [[], ["A"]],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score_scale": float("nan")}, "score_scale: found 'nan'"),
        ({"score_base": 3}, "score_base: found a base with encoding bcd"),
        ({"score_encoding": None}, "score_encoding: found no such key"),
        ({"lives_addr": None, "lives": {}}, "lives_addr: found no such key"),
        ({"variables": {"score": {"addrs": 1}}}, "variables.score: found score twice"),
        ({"variables": {"not": {"addrs": 1}}}, "variables.not: found the name 'not'"),
        ({"variables": {"x": {}}}, "variables.x: found no address"),
        ({"variables": {"x": {"addrs": 1, "map": {"a": 1}}}}, "variables.x.map: found 'a'"),
        ({"variables": {"x": {"addrs": 1, "map": {"1": 1, "0x1": 2}}}}, "found 1 twice"),
        (
            {"variables": {"x": {"terms": [{"addrs": -1}]}}},
            "variables.x.terms[0].addrs: found '-1'",
        ),
        ({"region": "SAVE_RAM"}, "region: found an unknown key"),
    ],
)
def test_faults_without_a_file(change: dict[str, Any], message: str) -> None:
    with pytest.raises(IntegrationError) as caught:
        Integration.from_dict(MINIMAL | change)
    assert message in str(caught.value)
