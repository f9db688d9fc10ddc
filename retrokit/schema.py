"""The keys of an integration file: what each may hold, and what to say where it does not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .buttons import BUTTONS, MASKS, to_mask, to_names
from .conditions import WORDS, Terminated
from .errors import IntegrationError, UserError
from .values import Variable, VariableError, base_encoding
from .yaml_file import Node, located, node_of

REQUIRED = ("game", "system", "core", "rom_sha1", "action_set")
SCORE_KEYS = (
    "score_addrs", "score_encoding", "score_scale", "score_base", "score_blank", "score_region",
)  # fmt: skip
KEYS = (
    "game", "system", "core", "core_version", "rom_sha1", *SCORE_KEYS, "lives_addr", "lives",
    "start_buttons", "action_set", "rotate", "terminated", "cuts_last_life", "variables",
    "evidence",
)  # fmt: skip
TAP_HOLD, TAP_WAIT = 4, 60  # frames of a start button given by name alone
_MAX_START = 100_000  # frames; half an hour
_BIG = 10**9
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_fields(root: Node) -> dict[str, Any]:
    """Return the keyword arguments of ``Integration`` from a whole file.

    Raises:
        IntegrationError: Anything is wrong; the first fault by line, and how many more there are.
    """
    return _Checker(root).read()


class _Checker:
    """Reads every key, keeps all faults, raises the first."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.fields = _given(root)
        self.names: Collection[str] = ()  # of the variables, faulty ones included
        self.faults: list[tuple[int, IntegrationError]] = []

    def take(self, key: str, read: Callable[[Node], Any], default: Any) -> Any:
        """Return what *read* makes of a key, or *default* where it is absent or faulty."""
        if key not in self.fields:
            return default
        try:
            return read(self.fields[key])
        except IntegrationError as error:
            self.faults.append((self.fields[key].line, error))
            return default

    def read(self) -> dict[str, Any]:
        for key, node in self.fields.items():
            if key not in KEYS:
                self.faults.append((node.line, _unknown(node, key, KEYS)))
        for key in REQUIRED:
            if key not in self.fields:
                self.missing(key)
        out: dict[str, Any] = {
            "game": self.take("game", Node.text, ""),
            "system": self.take("system", Node.text, ""),
            "core": self.take("core", Node.text, ""),
            "core_version": self.take("core_version", Node.text, ""),
            "rom_sha1": self.take("rom_sha1", _hashes, {}),
            "action_set": self.take("action_set", _actions, ()),
            "start_buttons": self.take(
                "start_buttons", lambda node: tuple(format_start(_start_frames(node))), ()
            ),
            "rotate": self.take("rotate", _rotate, None),
            "cuts_last_life": self.take("cuts_last_life", Node.boolean, False),
            "evidence": self.take("evidence", _evidence, {}),
        }
        out["variables"], out["places"] = self.variables()
        out["terminated"] = self.take("terminated", lambda node: _rule(node, self.names), "")
        if self.faults:
            self.refuse()
        return out

    def variables(self) -> tuple[dict[str, Variable], dict[str, Node]]:
        """Return all variables, score and lives first, and where each has its addresses."""
        given: dict[str, Node] = self.take("variables", _named, {})
        forms: dict[str, tuple[Node, Callable[[Node], Variable]]] = {}
        score = {
            key.removeprefix("score_"): self.fields[key] for key in SCORE_KEYS if key in self.fields
        }
        lacking = [key for key in ("addrs", "encoding") if key not in score]
        if score or "score" not in given:
            for key in lacking:
                self.missing(f"score_{key}")
        if not lacking:
            forms["score"] = score["addrs"], lambda node: _variable(node, score)
        if "lives_addr" in self.fields:
            forms["lives"] = self.fields["lives_addr"], self.lives
        elif "lives" in self.fields:
            self.missing("lives_addr")
        for name, node in given.items():
            if name in forms:
                wanted = f"either variables.{name} or the short keys"
                self.faults.append((node.line, node.error(f"{name} twice", wanted)))
            forms.setdefault(name, (node, lambda node: _variable(node, _given(node))))
        self.names = {"score", *forms}
        out: dict[str, Variable] = {}
        for name in sorted(forms, key=lambda name: name not in ("score", "lives")):
            node, read = forms[name]
            try:
                out[name] = read(node)
            except IntegrationError as error:
                self.faults.append((node.line, error))
        return out, {name: forms[name][0] for name in out}

    def lives(self, addr: Node) -> Variable:
        """Return lives from its short keys."""
        more = _given(self.fields["lives"]) if "lives" in self.fields else {}
        allowed = [key for key in READERS if key not in ("addrs", "terms")]
        for key, node in more.items():
            if key not in allowed:
                raise _unknown(node, key, allowed)
        addr.integer(0, 2**32 - 1)
        return _variable(addr, {"addrs": addr, **more})

    def missing(self, key: str) -> None:
        node = Node("", self.root.file, self.root.line, key)
        self.faults.append((10**9, node.error("no such key", "it in every file")))

    def refuse(self) -> None:
        (_, first), *more = sorted(self.faults, key=lambda fault: fault[0])
        count = f"{len(more)} more fault{'s' * (len(more) > 1)} in the file." if more else ""
        raise IntegrationError(first.found, first.wanted, f"{first.remedy} {count}".strip())


def parse_start(entries: Sequence[Any]) -> NDArray[np.uint16]:
    """Return the button masks of a start sequence, uint16[frames].

    Args:
        entries: As in the file: ``"SELECT"``, ``"UP+B:10"``, ``60``, ``"WAIT:60"``, mappings.

    Raises:
        IntegrationError: An entry is malformed.
    """
    return _start_frames(node_of(list(entries), "start sequence", "start_buttons"))


def format_start(masks: ArrayLike) -> list[str]:
    """Return the entries that ``parse_start`` turns into these masks, uint16[frames].

    The one form of files: ``BUTTONS:frames`` and ``WAIT:frames``, each as long as can be.
    """
    frames = np.asarray(masks, np.uint16)
    cuts = np.flatnonzero(np.diff(frames)) + 1
    runs = np.split(frames, cuts) if len(frames) else []
    return [f"{'+'.join(to_names(int(run[0]))) or 'WAIT'}:{len(run)}" for run in runs]


def _start_frames(node: Node) -> NDArray[np.uint16]:
    runs = [run for entry in node.items("a list of presses") for run in _press(entry)]
    if sum(frames for _, frames in runs) > _MAX_START:
        raise node.error("a longer start", f"at most {_MAX_START} frames")
    masks, lengths = zip(*runs, strict=True) if runs else ((), ())
    return np.repeat(np.array(masks, np.uint16), np.array(lengths, np.int64))


def _press(node: Node) -> list[tuple[int, int]]:
    """Return the runs (mask, frames) of one entry."""
    if isinstance(node.value, dict):
        known = _known(node, ("buttons", "hold", "wait"))
        hold = known["hold"].integer(1, _MAX_START) if "hold" in known else TAP_HOLD
        bare = "hold" not in known and "buttons" in known
        wait = known["wait"].integer(0, _MAX_START) if "wait" in known else bare * TAP_WAIT
        if "buttons" in known:
            return [(_mask(known["buttons"]), hold), (0, wait)]
        if "wait" not in known or "hold" in known:
            raise node.error("no buttons", "buttons, or wait alone")
        return [(0, wait)]
    text = node.text("a press such as SELECT:4, or a number of frames to wait").upper()
    names, _, count = (part.strip() for part in text.partition(":"))
    if names.isdecimal() and not count:
        names, count = "WAIT", names
    frames = 0
    if count or ":" in text or names == "WAIT":
        frames = Node(count, node.file, node.line, node.key).integer(1, _MAX_START)
    if names == "WAIT":
        return [(0, frames)]
    parts = [Node(name.strip(), node.file, node.line, node.key) for name in names.split("+")]
    mask = _mask(Node(parts, node.file, node.line, node.key))
    return [(mask, frames)] if frames else [(mask, TAP_HOLD), (0, TAP_WAIT)]


def _mask(node: Node) -> int:
    names = node.items("a list of buttons")
    for item in names:
        name = item.text("a button")
        if name.upper() not in MASKS:
            close = difflib.get_close_matches(name.upper(), [*BUTTONS, "WAIT"], 1)
            raise item.error(f"unknown button {name!r}", close[0] if close else " ".join(BUTTONS))
    return to_mask(item.text() for item in names)


def _given(node: Node, wanted: str = "a mapping of key: value") -> dict[str, Node]:
    """Return the fields of a mapping; a null is as good as no key."""
    fields = node.fields(wanted)
    return {key: v for key, v in fields.items() if v.value != "null" or v.quoted}


def _known(node: Node, keys: Collection[str], wanted: str = "a mapping") -> dict[str, Node]:
    """Return the fields of a mapping, all of them known."""
    known = _given(node, wanted)
    for key in known:
        if key not in keys:
            raise _unknown(known[key], key, keys)
    return known


def _unknown(node: Node, key: str, keys: Collection[str]) -> IntegrationError:
    close = difflib.get_close_matches(key, keys, 1)
    return node.error("an unknown key", close[0] if close else "one of " + " ".join(keys))


def _rule(node: Node, names: Collection[str]) -> str:
    text = node.text("a rule such as lives == 0")
    try:
        Terminated(text, names)
    except IntegrationError as error:
        raise located(node.file, node.line, node.key, error.found, error.wanted) from None
    return text


def _hashes(node: Node) -> dict[str, str]:
    given = (
        {"rom": node} if isinstance(node.value, str) else node.fields("label: hash, or one hash")
    )
    if not given:
        raise node.error("no hash", "at least one")
    for label in given.values():
        if not re.fullmatch(r"[0-9A-Fa-f]{40}", label.text("40 hex digits")):
            label.refuse("40 hex digits")
    return {label: value.text().lower() for label, value in given.items()}


def _actions(node: Node) -> tuple[tuple[str, ...], ...]:
    actions = node.items("a list of actions, each a list of buttons")
    if not actions:
        raise node.error("no action", "at least one, such as []")
    masks = [_mask(action) for action in actions]
    for index, mask in enumerate(masks):
        if mask in masks[:index]:
            raise actions[index].error(f"action {masks.index(mask)} again", "each action once")
    return tuple(tuple(to_names(mask)) for mask in masks)


def _rotate(node: Node) -> int:
    degrees = node.integer(0, 270)
    if degrees % 90:
        node.refuse("0, 90, 180 or 270")
    return degrees


def _evidence(node: Node) -> dict[str, Any]:
    return {key: value.plain() for key, value in node.fields().items()}


def _named(node: Node) -> dict[str, Node]:
    given = node.fields("a mapping of name: variable")
    for name, inner in given.items():
        if not _NAME.fullmatch(name) or name in WORDS:
            raise inner.error(f"the name {name!r}", "letters, digits and _, and no word of a rule")
    return given


def _variable(node: Node, fields: Mapping[str, Node]) -> Variable:
    values: dict[str, Any] = {}
    for key, inner in fields.items():
        if key not in READERS:
            raise _unknown(inner, key, READERS)
        values[key] = READERS[key](inner)
    try:
        return Variable(**values)
    except VariableError as error:
        raise fields.get(error.field, node).error(error.found, error.wanted) from None


def _addrs(node: Node) -> tuple[int, ...]:
    items = node.value if isinstance(node.value, list) else [node]
    if not items:
        raise node.error("no address", "at least one")
    return tuple(item.integer(0, 2**32 - 1) for item in items)


def _encoding(node: Node) -> str:
    encoding = node.text("an encoding")
    try:
        base_encoding(encoding)
    except UserError as error:
        raise node.error(error.found, error.wanted) from None
    return encoding


def _blank(node: Node) -> tuple[int, ...]:
    items = node.value if isinstance(node.value, list) else [node]
    return tuple(item.integer(0, 255) for item in items)


def _map(node: Node) -> dict[int, int]:
    out = {}
    for key, value in node.fields("a mapping of number: number").items():
        before = Node(key, node.file, value.line, node.key).integer(-_BIG, _BIG)
        if before in out:
            raise value.error(f"{before} twice", "each number once")
        out[before] = value.integer(-_BIG, _BIG)
    if not out:
        raise node.error("an empty map", "number: number")
    return out


def _terms(node: Node) -> tuple[Variable, ...]:
    terms = node.items("a list of variables")
    if not terms:
        raise node.error("no term", "at least one")
    return tuple(_variable(term, _given(term)) for term in terms)


def _whole(low: int, high: int) -> Callable[[Node], int]:
    return lambda node: node.integer(low, high)


# Field of Variable → how a file gives it.
READERS: dict[str, Callable[[Node], Any]] = {
    "region": Node.text,
    "addrs": _addrs,
    "encoding": _encoding,
    "scale": _whole(-_BIG, _BIG),
    "base": _whole(0, 255),
    "blank": _blank,
    "mask": _whole(1, 255),
    "shift": _whole(0, 7),
    "signed": Node.boolean,
    "offset": _whole(-_BIG, _BIG),
    "map": _map,
    "default": _whole(-_BIG, _BIG),
    "terms": _terms,
    "modulus": _whole(2, 2**62),
    "falls": Node.boolean,
}
