"""Charts as inline SVG: a number over time, shares of a whole, glyphs, boxes over a picture.

Colours are left to the page's style, so that a chart is readable in light, dark and print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import ceil, floor, log1p, log10

import numpy as np
from numpy.typing import NDArray

from ..album import Box, Trace
from .html import Child, Node, el

WIDTH, HEIGHT = 178, 112  # of a panel, in the units that text is 10 of
LEFT, RIGHT, TOP, BOTTOM = 30, 6, 18, 18  # margins
MANY = 24  # changes in a panel beyond which their marks are small dots
Scale = Callable[[float], float]
SHADES = 6  # colours of the parts of a whole
COLUMNS = 2 * WIDTH  # more changes than these cannot be told apart in a panel


def svg(width: float, height: float, *children: Child, **attributes: object) -> Node:
    """Return an SVG element of this size in its own units, which fills the width it is given."""
    size = f"0 0 {width:g} {height:g}"
    return el("svg", *children, viewBox=size, role="img", **attributes)


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return round numbers from below ``low`` to above ``high``, at most ``most`` steps apart."""
    span = max(high - low, 1e-9)
    size = 10.0 ** floor(log10(span / most))
    step = next(m * size for m in (1, 2, 5, 10, 20) if span / (m * size) <= most)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


def short(value: float) -> str:
    """Return a number for an axis: 500, 12k, 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.3g}{letter}"
    return f"{value:g}"


def panel(trace: Trace, episode: int, name: str, end: int, fps: float) -> Node:
    """Return one episode of a number over time, with its rises and falls marked.

    Args:
        trace: The number.
        episode: Which episode.
        name: What to write above it.
        end: Frames until the game was over; what comes later is shaded.
        fps: Frames a second.
    """
    values = trace.values[episode]
    frames = len(values)
    levels = ticks(min(0, trace.start, trace.values.min()), max(1, trace.start, trace.values.max()))
    levels = [level for level in levels if level == int(level)]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(frame: float) -> float:
        return LEFT + wide * frame / max(1, frames)

    def y(value: float) -> float:
        return TOP + high * (1 - (value - levels[0]) / max(1, levels[-1] - levels[0]))

    played = values[:end]
    steps = np.diff(np.concatenate([[trace.start], played]))
    changes = np.flatnonzero(steps)
    last = int(played[-1]) if end else trace.start
    rises = int((steps > 0).sum())
    seconds = frames / fps
    said = f"{name}: from {trace.start:,} to {last:,}, {rises} rises, {len(changes) - rises} falls"
    axis = [
        [
            el("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(level), y2=y(level), class_="grid"),
            el("text", short(level), x=LEFT - 4, y=y(level) + 3.5, class_="tick right"),
        ]
        for level in levels
    ]
    times = [second for second in ticks(0, seconds, 3) if second <= seconds]
    for second in times:
        text = f"{second:g} s" if second == times[-1] else f"{second:g}"
        axis.append([el("text", text, x=x(second * fps), y=HEIGHT - 5, class_="tick middle")])
    over = None
    if end < frames:
        over = [
            el("rect", x=x(end), y=TOP, width=x(frames) - x(end), height=high, class_="over"),
            el("line", x1=x(end), x2=x(end), y1=TOP, y2=TOP + high, class_="end"),
        ]
    return svg(
        WIDTH,
        HEIGHT,
        el("text", name, x=LEFT, y=11, class_="name"),
        el("text", f"{last:,}", x=WIDTH - RIGHT, y=11, class_="last right"),
        over,
        axis,
        el("path", d=_stair(trace.start, played, changes, x, y), class_="value"),
        _marks(played, steps, changes, x, y, fps),
        aria_label=said,
        class_="panel",
    )


def _stair(
    start: int,
    played: NDArray[np.int64],
    changes: NDArray[np.int64],
    x: Scale,
    y: Scale,
) -> str:
    """Return a stair that holds each value until the next change."""
    changes = changes[:: -(-len(changes) // COLUMNS) or 1]
    steps = "".join(f"H{x(frame):.1f}V{y(int(played[frame])):.1f}" for frame in changes.tolist())
    return f"M{x(0):.1f} {y(start):.1f}{steps}H{x(len(played)):.1f}"


def _marks(
    played: NDArray[np.int64],
    steps: NDArray[np.int64],
    changes: NDArray[np.int64],
    x: Scale,
    y: Scale,
    fps: float,
) -> list[Node]:
    """Return a dot for each rise and a ring for each fall; where there are many, small dots."""
    out = []
    if len(changes) <= MANY:
        for frame in changes.tolist():
            value, step = int(played[frame]), int(steps[frame])
            said = f"{step:+,} at {frame / fps:.1f} s: {value - step:,} to {value:,}"
            kind = "rise" if step > 0 else "fall"
            mark = el("circle", el("title", said), cx=x(frame), cy=y(value), r=2.5, class_=kind)
            out.append(mark)
        return out
    for kind, which in (("rises", steps[changes] > 0), ("falls", steps[changes] < 0)):
        some = changes[which][:: -(-int(which.sum()) // COLUMNS) or 1].tolist()
        dots = "".join(f"M{x(frame):.1f} {y(int(played[frame])):.1f}h0" for frame in some)
        out.append(el("path", d=dots, class_=kind))
    return out


def shares(parts: Mapping[str, float]) -> Node:
    """Return one bar in which each part is as wide as its share."""
    whole = sum(parts.values()) or 1.0
    at, bars = 0.0, []
    for number, (name, size) in enumerate(parts.items()):
        wide = 1000 * size / whole
        share = el("title", f"{name}: {size:.1f} s, {100 * size / whole:.0f} %")
        bars.append(
            el("rect", share, x=at, y=0, width=wide, height=24, class_=f"share s{number % SHADES}")
        )
        at += wide
    said = ", ".join(f"{name} {size:.1f} s" for name, size in parts.items())
    return svg(1000, 24, *bars, aria_label=said, preserveAspectRatio="none", class_="shares")


def bar(size: float, whole: float) -> Node:
    """Return a bar whose length grows with the logarithm of a part of a whole."""
    wide = 200 * log1p(size) / log1p(max(1.0, size, whole))
    rect = el("rect", x=0, y=0, width=wide, height=10, class_="s0")
    return svg(200, 10, rect, aria_label=f"{size:,} of {whole:,}", class_="bar")


def glyph(ink: NDArray[np.bool_], digit: int, stretch: float = 1.0) -> Node:
    """Return a digit as the game draws it, in the colour of the text around it.

    Args:
        ink: bool [height, width], True where ink is.
        digit: Which it is.
        stretch: How much wider than high a pixel is.
    """
    height, width = ink.shape[0], ink.shape[1] * stretch
    runs = []
    for row, line in enumerate(np.pad(ink, ((0, 0), (1, 1))).astype(np.int8)):
        for left, right in (np.flatnonzero(np.diff(line)).reshape(-1, 2) * stretch).tolist():
            runs.append(f"M{left:g} {row}h{right - left:g}v1h{left - right:g}z")
    return svg(width, height, el("path", d="".join(runs)), aria_label=str(digit), class_="glyph")


def boxes(size: tuple[int, int], groups: Mapping[str, Iterable[Box]]) -> Node:
    """Return rectangles to lay over a picture of this width and height, by their class."""
    drawn = [
        el(
            "rect",
            x=box.left - 0.5,
            y=box.top - 0.5,
            width=box.right - box.left + 1,
            height=box.bottom - box.top + 1,
            class_=name,
            vector_effect="non-scaling-stroke",
        )
        for name, group in groups.items()
        for box in group
    ]
    said = f"{len(drawn)} boxes around digits"
    return svg(*size, *drawn, aria_label=said, preserveAspectRatio="none", class_="boxes")
