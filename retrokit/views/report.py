"""The report page of a search: one HTML file with everything in it, for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..album import Album
from . import charts, scenes, words
from .html import Child, Node, badge, document, el, facts, section
from .words import Answer

STYLE = Path(__file__).with_name("report.css")


def page(answer: Answer, album: Album | None, notes: Sequence[str] = ()) -> str:
    """Return the report of a search as one HTML file that needs no other.

    Args:
        answer: The object that ``ramsearch --json`` prints, ``error`` included where there is one.
        album: The pictures and numbers over time; None where none could be taken.
        notes: What else a reader must know, such as that the search was interrupted.
    """
    found = bool(answer["candidates"])
    body: list[Child] = [_header(answer, notes), _verdict(answer)]
    body.append(None if found else _sieve(answer))
    if album is not None:
        body += [scenes.strip(album), scenes.screen(album, answer), scenes.trials(album)]
        body.append(scenes.fates(album, answer))
    body.append(_candidates(answer))
    if album is not None:
        body.append(scenes.traces(album, answer))
    body += [_sieve(answer) if found else None, _how(answer, album)]
    body.append(el("footer", f"Made by retrokit {__version__}."))
    return document(f"{answer['game']}: ramsearch", STYLE.read_text("utf-8"), el("main", body))


def _header(answer: Answer, notes: Sequence[str]) -> Node:
    said = [answer["system"], f"{answer['core']} {answer.get('core_version', '')}".strip()]
    if frames := answer.get("frames"):
        said.append(f"{frames:,} frames of random play")
    if "seed" in answer:
        said.append(f"seed {answer['seed']}")
    if "seconds" in answer:
        said.append(f"{answer['seconds']:.1f} s")
    banners: list[Child] = [el("p", note, class_="banner") for note in notes]
    if error := answer.get("error"):
        found = f"{error['found'][:1].upper()}{error['found'][1:]}."
        wanted = f" Wanted: {error['wanted']}. " if error.get("wanted") else " "
        banners.append(el("p", el("b", found), wanted, error.get("remedy") or "", class_="banner"))
    return el("header", el("h1", answer["game"]), el("p", " · ".join(said), class_="sub"), banners)


def _verdict(answer: Answer) -> Node:
    cards = [
        el(
            "div",
            el("h3", title, " ", badge(verdict.grade) if verdict.grade != "none" else None),
            el("p", verdict.what, class_="where"),
            [el("p", sentence) for sentence in verdict.said],
            class_="card",
        )
        for title, verdict in (
            ("Score", words.score(answer)),
            ("Lives", words.lives(answer)),
            ("Game over", words.game_over(answer)),
        )
    ]
    return el("section", cards, class_="verdict", id="verdict")


def _sieve(answer: Answer) -> Node | None:
    """Return how many bytes each stage of the search for a score left."""
    if not (left := answer.get("sieve")):
        return None
    rows: list[tuple[Child, Child]] = []
    for stage, (name, _) in words.STAGES.items():
        share = charts.bar(left[stage], left["all"])
        rows.append((name, [share, el("b", f"{left[stage]:,}")]))
    found = bool(answer["candidates"])
    title = "From all bytes to digits" if found else "Why no score was found"
    lead = "How many bytes each stage of the search left." if found else words.obstacle(answer)
    return section(title, lead, facts(rows, "facts sieve"), anchor="sieve")


def _candidates(answer: Answer) -> Node | None:
    listed, near = answer["candidates"], answer.get("nearest", ())
    if not listed and not near:
        return None
    rows = []
    for candidate in listed or near:
        low, high = candidate["seen"]
        against = words.doubts(candidate)
        said = el("div", "Not proved: ", "; ".join(against), ".", class_="against")
        cells: list[Child] = [
            str(candidate["rank"]),
            el("code", words.addresses(candidate)),
            words.encoding(candidate),
            f"{low:,} to {high:,}",
            f"{candidate['evidence']['behaviour']['rises']:,}",
            badge(candidate["grade"]),
            [el("div", words.why(candidate["evidence"])), said if against else None],
        ]
        rows.append(el("tr", [el("td", cell) for cell in cells]))
    names = ("", "bytes", "encoding", "seen", "rises", "grade", "evidence")
    head = el("thead", el("tr", [el("th", name) for name in names]))
    title, lead = "Candidates", "Every number that was followed up, the best first."
    if not listed:
        title = "What came nearest"
        lead = (
            "Bytes that keep what is written into them and have their changes added on top, as a "
            "score does, and why each is not offered as the score."
        )
    grades = [(badge(grade), text) for grade, text in words.GRADES.items()]
    table = el("div", el("table", head, el("tbody", rows)), class_="scroll")
    return section(title, lead, table, facts(grades, "grades"), anchor="candidates")


def _how(answer: Answer, album: Album | None) -> Node:
    rows: list[tuple[Child, Child]] = [
        ("ROM", [name, " ", el("code", sha1)]) for name, sha1 in answer["rom_sha1"].items()
    ]
    rows.append(("core", f"{answer['core']} {answer.get('core_version', '')}".strip()))
    if rotate := answer.get("rotate"):
        rows.append(("picture", f"turned {rotate} degrees"))
    if presses := answer.get("start_buttons"):
        rows.append(("start", [[el("kbd", press), " "] for press in presses]))
    if actions := answer.get("action_set"):
        keys: list[Child] = [[el("kbd", "+".join(action) or "NOOP"), " "] for action in actions]
        rows.append((words.count(len(actions), "action"), keys))
    if frames := answer.get("frames"):
        said = f"{frames:,} frames"
        if album is not None and album.traces:
            length = album.traces[0].values.shape[1]
            over = sum(end < length for end in album.ends)
            said += f" in {words.count(len(album.ends), 'episode')}, of which {over} reached the "
            said += "end of the game"
        rows.append(("played", said))
    if play := answer.get("play"):
        rows.append(("rises by style", ", ".join(f"{key} {value}" for key, value in play.items())))
    if timings := answer.get("timings"):
        legend = [
            el("span", el("i", class_=f"key s{number % charts.SHADES}"), f" {name} {size:.1f} s")
            for number, (name, size) in enumerate(timings.items())
        ]
        rows.append(("time", [charts.shares(timings), el("div", legend, class_="keys")]))
    lead = "What was played, on what, and how long it took."
    return section("How it was searched", lead, facts(rows, "facts wide"), anchor="how")
