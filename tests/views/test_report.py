"""The report page: one file, everything escaped, the numbers those of the answer."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrokit.album import Album, Still
from retrokit.views.report import page

MOST = 3 << 20
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Keeps elements with attributes and text, and checks that they are nested."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    @property
    def text(self) -> str:
        return " ".join(
            " ".join(texts) for tag, texts in self.texts.items() if tag not in ("style", "title")
        )

    def ids(self) -> list[str]:
        return [found for _, attributes in self.tags if (found := attributes.get("id"))]


def test_one_file_that_needs_no_other(facts: dict[str, Any], album: Album) -> None:
    text = page(facts, album)
    reader = Reader(text)
    assert {tag for tag, _ in reader.tags} & {"script", "link", "iframe", "object", "a"} == set()
    for tag, attributes in reader.tags:
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "srcset", "action"):
                assert value is not None and value.startswith("data:image/png;base64,"), tag
    (style,) = reader.texts["style"]
    assert not re.search(r"url\(|@import|//", style)
    assert "//" not in re.sub(r"base64,[\w+/=]+", "", text)
    assert len(text) < MOST


def test_all_parts_are_there_in_order(facts: dict[str, Any], album: Album) -> None:
    wanted = "verdict film screen pokes lives candidates traces sieve how".split()
    assert Reader(page(facts, album)).ids() == wanted


def test_numbers_are_those_of_the_answer(facts: dict[str, Any], album: Album) -> None:
    reader = Reader(page(facts, album))
    text = reader.text
    for said in (
        "0x7a 0x79", "0x41c", "lives == 0", "8adbda85" * 5, "fbneo v1.0", "seed 7", "12.3 s",
        "1,200 frames", "WAIT:361", "SELECT:6", "UP+B", "NOOP", "turned 270 degrees",
        "lively 4, walking 2", "start 3.0 s", "4,096", "2 episodes, of which 1 reached the end",
        "56 78", " = 5,678", "400", "6,078",  # a poke
        "12 34", "1,234",  # the number on the screen
    ):  # fmt: skip
        assert said in text, said
    assert len(re.findall("screen [0-9,]+ ✓", text)) == len(album.stills) - 1
    assert text.count("screen 7 ≠") == 1  # the still on which RAM and screen differ
    assert "not read" in text  # the poke that the screen did not show
    labels = [a["aria-label"] or "" for tag, a in reader.tags if tag == "svg"]
    assert "1 lively: from 0 to 1,234, 2 rises, 0 falls" in labels
    panels = [a for tag, a in reader.tags if tag == "svg" and a.get("class") == "panel"]
    assert len(panels) == len(album.traces) * len(album.styles)


def test_nothing_a_file_is_called_becomes_html(facts: dict[str, Any], album: Album) -> None:
    nasty = "<script>alert('1')</script>\"&amp;"
    facts |= {"game": nasty, "rom_sha1": {nasty: "0" * 40}, "core": nasty, "terminated": nasty}
    facts["error"] = {"found": nasty, "wanted": nasty, "remedy": nasty}
    facts["candidates"][0]["score_region"] = nasty
    reader = Reader(page(facts, replace(album, styles=(nasty, nasty)), notes=[nasty]))
    assert "script" not in {tag for tag, _ in reader.tags}
    assert reader.texts["h1"] == [nasty] and reader.texts["title"][0] == f"{nasty}: ramsearch"
    assert reader.text.count(nasty) > 8
    assert all(name.isascii() and "<" not in name for _, a in reader.tags for name in a)


def test_a_search_that_found_nothing_says_why(
    facts: dict[str, Any], album: Album, candidate: Any
) -> None:
    behaviour = candidate(1)["evidence"]["behaviour"] | {"falls": 5}
    near = candidate(1, grade="unproved", evidence={"behaviour": behaviour}, score_addrs=[0x2A])
    facts |= {"candidates": [], "scored": False, "nearest": [near], "terminated": ""}
    facts |= {"lives": None, "lives_addr": None}
    facts["sieve"]["digits"] = 0
    facts["error"] = {"found": "nothing scored", "wanted": "a rise", "remedy": "Try --seed 1"}
    trace = replace(album.traces[2], name="candidate 1")
    film = tuple(replace(still, held={}, read=None) for still in album.stills)
    bare = replace(album, traces=(trace,), shown=None, trials=(), fates={}, stills=film)
    reader = Reader(page(facts, bare))
    assert reader.ids() == "verdict sieve film candidates traces how".split()
    for said in (
        "Nothing scored.", "Try --seed 1", "Why no score was found", "none draws ten digits",
        "What came nearest", "0x2a", "it fell 5 times", "not found", "no rule",
    ):  # fmt: skip
        assert said in reader.text, said


def test_what_came_nearest_is_drawn_where_the_screen_shows_it(
    facts: dict[str, Any], album: Album, candidate: Any
) -> None:
    near = candidate(1, grade="unproved", score_addrs=[0x66, 0x68])
    facts |= {"candidates": [], "scored": False, "nearest": [near]}
    traces = (replace(album.traces[0], name="candidate 1"), *album.traces[1:2])
    film = tuple(replace(still, held={"candidate 1": 5}, read=6) for still in album.stills)
    reader = Reader(page(facts, replace(album, traces=traces, trials=(), stills=film)))
    assert "screen" in reader.ids() and "pokes" not in reader.ids()
    assert "candidate 1, which is unproved" in reader.text and "0x66 0x68" in reader.text
    assert reader.text.count("candidate 1: 5") == reader.text.count("screen 6 ≠") == len(film)


@pytest.mark.parametrize("filmed", [False, True])
def test_a_search_that_did_not_end(facts: dict[str, Any], album: Album, filmed: bool) -> None:
    kept = "game system core rom_sha1 candidates".split()
    known = {name: facts[name] for name in kept} | {"candidates": []}
    still = Still(0, 100, album.stills[0].picture)
    boot = Album(60.0, (64, 48), 4 / 3, ("from power-on",), (600,), (still,), recorded=False)
    reader = Reader(page(known, boot if filmed else None, ["The search was interrupted."]))
    assert reader.ids() == ["verdict", *(["film"] if filmed else []), "how"]
    assert "The search was interrupted." in reader.text
    assert reader.text.count("not known") == 3
    assert ("from power-on" in reader.text) is filmed


def test_large_colourful_pictures_keep_the_page_small(facts: dict[str, Any], album: Album) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (288, 320, 3), np.uint8)
    stills = tuple(replace(still, picture=noise) for still in album.stills)
    assert len(page(facts, replace(album, stills=stills, size=(320, 288)))) < MOST


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_narrow_window_is_wide_enough(
    facts: dict[str, Any], album: Album, tmp_path: Path
) -> None:
    script = "<script>document.title = document.body.scrollWidth</script>"
    frame = tmp_path / "narrow.html"
    text = page(facts, album).replace("<body>", '<body style="width: 400px">')
    frame.write_text(text.replace("</body>", f"{script}</body>"), "utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=500,900"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", frame.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(\d+)</title>", result.stdout)
    assert title is not None, result.stderr
    assert int(title[1]) <= 400
