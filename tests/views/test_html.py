"""Elements: every text escaped, pictures held in the page itself."""

from __future__ import annotations

import base64
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrokit.views.html import badge, document, el, facts, halved, image, section


class Reader(HTMLParser):
    """Keeps tags with their attributes, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def written(*children: object) -> str:
    return ElementTree.tostring(el("p", *children), "unicode", method="html")  # type: ignore[arg-type]


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@given(TEXTS, TEXTS)
def test_whatever_the_text_no_element_comes_of_it(text: str, title: str) -> None:
    page = document("t", "", el("p", text, el("b", text), title=title))
    reader = read(page)
    assert [tag for tag, _ in reader.tags][-3:] == ["body", "p", "b"]
    assert reader.tags[-2][1] == {"title": title}
    assert reader.text.strip() == ("t" + text + text).strip()


def test_children_come_in_order_and_nothing_is_no_child() -> None:
    assert written("a", el("b", "c"), "d", ["e", None, [el("i", "f"), "g"]], None) == (
        "<p>a<b>c</b>de<i>f</i>g</p>"
    )


def test_attributes_are_named_as_html_names_them() -> None:
    node = el("rect", class_="x", aria_label="y", width=0.1 + 0.2, height=2.0, role=None)
    assert node.attrib == {"class": "x", "aria-label": "y", "width": "0.3", "height": "2"}


def test_a_picture_is_in_the_page() -> None:
    picture = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    node = image(picture, "what it shows", 1.5)
    kind, data = node.attrib["src"].split(",")
    png = base64.b64decode(data)
    assert kind == "data:image/png;base64" and png[:4] == b"\x89PNG"
    rows = zlib.decompress(png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8])
    assert rows == b"\0" + picture[0].tobytes() + b"\0" + picture[1].tobytes()
    assert (node.attrib["width"], node.attrib["height"]) == ("3", "2")
    assert node.attrib["style"] == "aspect-ratio: 1.5000"
    assert image(picture, "as it is").attrib["style"] == "aspect-ratio: 1.5000"


def test_half_a_picture_is_its_mean() -> None:
    picture = np.zeros((5, 4, 3), np.uint8)
    picture[0, 0] = 8
    picture[1, 1] = 16
    half = halved(picture)
    assert half.shape == (2, 2, 3)
    assert half[..., 0].tolist() == [[6, 0], [0, 0]]


def test_a_page_is_whole() -> None:
    page = document("a & b", "p > b { color: red }", section("Title", "lead", anchor="here"))
    assert page.startswith("<!doctype html>\n<html")
    assert "<title>a &amp; b</title>" in page and "p > b { color: red }" in page
    assert '<section id="here"><h2>Title</h2><p class="lead">lead</p></section>' in page


def test_facts_and_badges() -> None:
    dl = facts([("a", "1"), (badge("likely"), ["2", el("i", "3")])])
    assert ElementTree.tostring(dl, "unicode", method="html") == (
        '<dl class="facts"><dt>a</dt><dd>1</dd>'
        '<dt><span class="badge likely">likely</span></dt><dd>2<i>3</i></dd></dl>'
    )
