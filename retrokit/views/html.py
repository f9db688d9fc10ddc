"""HTML elements from the standard library's tree, so that every text is escaped by its writer."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from ..album import Picture
from ..png import encode_png

Node = ElementTree.Element
Child = Node | str | None | Sequence["Child"]


def el(tag: str, *children: Child, **attributes: object) -> Node:
    """Return an element.

    Args:
        tag: Its name.
        children: Elements and texts, also in (nested) lists; None is left out.
        attributes: ``class_`` is written ``class``, ``aria_label`` as ``aria-label``; those that
            are None are left out, floats get at most two decimals.
    """
    node = ElementTree.Element(tag)
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            node.set(name.rstrip("_").replace("_", "-"), str(text))
    _fill(node, children)
    return node


def _fill(node: Node, children: Sequence[Child]) -> None:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Node):
            node.append(child)
        elif not isinstance(child, str):
            _fill(node, child)
        elif len(node):
            node[-1].tail = (node[-1].tail or "") + child
        else:
            node.text = (node.text or "") + child


def image(picture: Picture, alt: str, aspect: float | None = None, **attributes: object) -> Node:
    """Return a picture that is held in the page itself.

    Args:
        picture: uint8 [height, width, 3] RGB.
        alt: What it shows, for those who cannot see it.
        aspect: Width over height to show it in, where that is not the pixels' own.
        attributes: Further attributes.
    """
    data = base64.b64encode(encode_png(picture)).decode("ascii")
    height, width = picture.shape[:2]
    style = f"aspect-ratio: {width / height if aspect is None else aspect:.4f}"
    source = f"data:image/png;base64,{data}"
    return el("img", src=source, alt=alt, width=width, height=height, style=style, **attributes)


def halved(picture: Picture) -> Picture:
    """Return a picture of half the width and height, each pixel the mean of four."""
    height, width = (size // 2 * 2 for size in picture.shape[:2])
    parts = picture[:height, :width].reshape(height // 2, 2, width // 2, 2, 3)
    return np.asarray(parts.mean(axis=(1, 3)).round(), np.uint8)


def section(title: str, lead: Child, *children: Child, anchor: str) -> Node:
    """Return a part of a page: heading, what it shows, and the thing itself."""
    return el("section", el("h2", title), el("p", lead, class_="lead"), *children, id=anchor)


def badge(grade: str) -> Node:
    """Return a grade as a label."""
    return el("span", grade, class_=f"badge {grade}")


def facts(rows: Sequence[tuple[Child, Child]], class_: str = "facts") -> Node:
    """Return names and what they stand for, line by line."""
    return el("dl", [(el("dt", name), el("dd", what)) for name, what in rows], class_=class_)


def document(title: str, style: str, body: Child) -> str:
    """Return a whole page as text."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", style),
    )
    root = el("html", head, el("body", body), lang="en")
    return "<!doctype html>\n" + ElementTree.tostring(root, "unicode", method="html") + "\n"
