"""The sections of a report that show play: film strip, digits, pokes, lives, numbers over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..album import Album, Box, Picture, Shown, Still, Trial
from ..png import encode_png
from . import charts, words
from .html import Child, Node, badge, el, facts, halved, image, section
from .words import Answer

MOST_BYTES = 1 << 20  # of a film strip's pictures


def strip(album: Album) -> Node | None:
    """Return pictures of the play, each with its time and what RAM and screen said."""
    if not album.stills:
        return None
    pictures = [still.picture for still in album.stills]
    while sum(len(encode_png(picture)) for picture in pictures) > MOST_BYTES:
        pictures = [halved(picture) for picture in pictures]
    figures = []
    for still, picture in zip(album.stills, pictures, strict=True):
        held = " · ".join(f"{name}: {value:,}" for name, value in still.held.items())
        caption = [
            el("b", held) if held else None,
            _reading(still),
            el("span", f"{still.frame / album.fps:.1f} s, frame {still.frame:,}"),
            el("span", _episode(album, still.episode)),
        ]
        figures.append(
            el("figure", image(picture, _when(still), album.aspect), el("figcaption", caption))
        )
    lead = "Moments of the recorded play, in the order they were played."
    if not album.recorded:
        lead = "No episode was finished. This is the game with START pressed now and then."
    if any(still.held for still in album.stills):
        lead += " Below each: what RAM held at that frame, and what was read on the screen."
    body = el("div", figures, class_=_strip_class(album))
    return section("Film strip", lead, body, anchor="film")


def _strip_class(album: Album) -> str:
    return "strip wide" if album.aspect > 1 else "strip"


def _episode(album: Album, number: int) -> str:
    style = album.styles[number]
    return f"episode {number + 1}, {style}" if album.recorded else style


def _when(still: Still) -> str:
    return f"the screen at frame {still.frame:,} of episode {still.episode + 1}"


def _number(still: Still) -> int | None:
    """Return what RAM held of the number that the screen was read for."""
    return next((value for name, value in still.held.items() if name != "lives"), None)


def _reading(still: Still) -> Node | None:
    held = _number(still)
    if held is None:
        return None
    if still.read is None:
        return el("span", "no number read")
    good = still.read == held
    text = f"screen {still.read:,} {'✓' if good else '≠'}"
    return el("span", text, class_="yes" if good else "no")


def screen(album: Album, answer: Answer) -> Node | None:
    """Return the best candidate's places on a picture, and the digits that pokes taught."""
    shown = album.shown
    if shown is None:
        return None
    still = album.stills[shown.still]
    groups = {"place": shown.places, "zero": shown.zeros}
    held = _number(still)
    best = (answer["candidates"] or answer["nearest"])[0]
    rows: list[tuple[Child, Child]] = [
        ("the screen reads", "no number" if still.read is None else f"{still.read:,}"),
        ("RAM holds", "–" if held is None else f"{held:,}"),
        ("in the bytes", el("code", _hex(shown.held))),
        ("at", el("code", words.addresses(best))),
        ("which is", words.encoding(best)),
    ]
    learned = [
        el("span", charts.glyph(ink, digit, _stretch(album)), el("small", str(digit)))
        for digit, ink in shown.glyphs.items()
    ]
    name = "the score" if best["grade"] == "proved" else f"candidate 1, which is {best['grade']}"
    lead = f"Each box is a decimal place of {name}, found by writing into its bytes."
    if shown.zeros:
        lead += " A dashed box is a zero that the game draws and RAM does not hold."
    picture = _overlaid(still.picture, _when(still), album.aspect, album.size, groups)
    whole = el("figure", picture, el("figcaption", f"This is {_when(still)}."))
    beside = el(
        "div",
        _enlarged(album, shown, groups),
        facts(rows),
        el("h3", "The game's own digits"),
        el("p", "As learned by writing 0 to 9 and looking; no font is known beforehand."),
        el("div", learned, class_="glyphs"),
    )
    body = el("div", whole, beside, class_="screen wide" if album.aspect > 1 else "screen")
    return section("The number on the screen", lead, body, anchor="screen")


def _overlaid(
    picture: Picture,
    alt: str,
    aspect: float,
    size: tuple[int, int],
    groups: Mapping[str, Iterable[Box]],
) -> Node:
    style = f"aspect-ratio: {aspect:.4f}"
    parts = image(picture, alt, aspect), charts.boxes(size, groups)
    return el("div", *parts, class_="overlaid", style=style)


def _enlarged(album: Album, shown: Shown, groups: Mapping[str, Iterable[Box]]) -> Node | None:
    """Return the number alone with its places, where the picture has its own size."""
    picture, (left, top, right, bottom) = album.stills[shown.still].picture, shown.around
    if picture.shape[1::-1] != album.size:
        return None
    moved = {
        name: [Box(b.left - left, b.top - top, b.right - left, b.bottom - top) for b in group]
        for name, group in groups.items()
    }
    size = right - left, bottom - top
    aspect = size[0] / size[1] * _stretch(album)
    crop = picture[top:bottom, left:right]
    return _overlaid(crop, "the number, enlarged", aspect, size, moved)


def _stretch(album: Album) -> float:
    """Return how much wider than high a pixel is meant to be seen."""
    return album.aspect * album.size[1] / album.size[0]


def trials(album: Album) -> Node | None:
    """Return the joint pokes: bytes before and written, points added, RAM and screen afterwards."""
    if not album.trials:
        return None
    lead = (
        "Just before recorded rises another number was written into all bytes at once, and the "
        "same buttons were pressed. A score keeps what was written and adds its points on top; a "
        "copy of it, a high score or a clock does not."
    )
    cards = [_trial(album, trial) for trial in album.trials]
    return section("The pokes", lead, el("div", cards, class_="trials"), anchor="pokes")


def _trial(album: Album, trial: Trial) -> Node:
    crops = []
    for caption, picture in trial.pictures.items():
        aspect = picture.shape[1] / picture.shape[0] * _stretch(album)
        crops.append(el("figure", image(picture, caption, aspect), el("figcaption", caption)))
    total = f"{trial.number + trial.added:,}"
    good = trial.read is not None
    rows: list[tuple[Child, Child]] = [
        ("bytes before", [el("code", _hex(trial.before)), f" = {trial.was:,}"]),
        ("bytes written", [el("code", _hex(trial.written)), f" = {trial.number:,}"]),
        ("the game added", f"{trial.added:,}"),
        ("RAM afterwards", [total, " ", el("span", "✓", class_="yes")]),
        (
            "the screen then",
            [f"{trial.read:,} ", el("span", "✓", class_="yes")] if good else "not read",
        ),
    ]
    title = f"Episode {trial.episode + 1}, frame {trial.frame:,}"
    return el("div", el("h3", title), crops, facts(rows), class_="card")


def _hex(values: Iterable[int]) -> str:
    return " ".join(f"{value:02x}" for value in values)


def fates(album: Album, answer: Answer) -> Node | None:
    """Return what came of one recorded loss with other numbers of lives written before it."""
    if not album.fates:
        return None
    evidence = answer["lives"]["evidence"]
    control = evidence["control"]
    lead = (
        f"Lives were written before a recorded loss (episode {evidence['episode'] + 1}, frame "
        f"{evidence['frame']:,}) and the same buttons pressed; this is the screen some seconds "
        "later. Proved by control, that is by how many pictures different inputs lead to: "
        f"untouched {control['untouched']}, with one life more {control['one_more']}, with the "
        "last life control was gone and stayed away."
    )
    figures = [
        el("figure", image(picture, caption, album.aspect), el("figcaption", el("b", caption)))
        for caption, picture in album.fates.items()
    ]
    body = el("div", figures, class_=f"{_strip_class(album)} fates")
    return section("The lives", lead, body, anchor="lives")


def traces(album: Album, answer: Answer) -> Node | None:
    """Return every number over time, one panel an episode."""
    if not album.traces:
        return None
    listed = answer["candidates"] or answer.get("nearest", ())
    where = {f"candidate {c['rank']}": words.addresses(c) for c in listed}
    if listed:
        where["score"] = words.addresses(listed[0])
    if answer.get("lives"):
        where["lives"] = f"0x{answer['lives_addr']:x}"
    parts = []
    for trace in album.traces:
        panels = [
            charts.panel(trace, number, f"{number + 1} {style}", end, album.fps)
            for number, (style, end) in enumerate(zip(album.styles, album.ends, strict=True))
        ]
        name = el("h3", trace.name, " ", badge(trace.grade), " ", el("code", where[trace.name]))
        parts.append(el("div", name, el("div", panels, class_="panels"), class_="trace"))
    lead: list[Child] = [
        "The value in RAM over the seconds of an episode, one panel an episode; the bold number is "
        "the value at its end. ",
        el("span", "●", class_="rise-key"),
        " a rise, ",
        el("span", "○", class_="fall-key"),
        " a fall. What is shaded came after the game was over and counts for nothing.",
    ]
    return section("Numbers over time", lead, parts, anchor="traces")
