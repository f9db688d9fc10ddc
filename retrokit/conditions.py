"""The language of ``terminated``: conditions over variables, parsed once, evaluated every frame.

::

    rule       := both ("or" both)*
    both       := single ("and" single)*
    single     := "not" single | term
    term       := (comparison | "(" rule ")") ["held" FRAMES]
    comparison := value OP value        OP: == != < <= > >=
    value      := NAME | NUMBER         NUMBER: 3, -1, 0x1F

``held 3`` belongs to the comparison or the parentheses right before it: that part counts as true
from its third frame in a row on.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import IntegrationError

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
WORDS = ("and", "or", "not", "held")
_SLIPS = {"=": "==", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "<>": "!="}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:0x[0-9A-Fa-f]{1,15}|[0-9]{1,18})\b)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>==|!=|<=|>=|<(?!>)|>)|(?P<paren>[()])|(?P<bad>&&|\|\||<>|\S)|(?P<end>\Z))",
    re.ASCII,
)
_MAX_DEPTH = 50


@dataclass(frozen=True)
class _Compare:
    op: Callable[[Any, Any], Any]
    left: str | int
    right: str | int


@dataclass(frozen=True)
class _Not:
    inner: _Node


@dataclass(frozen=True)
class _Join:
    op: Callable[[Any, Any], Any]
    parts: tuple[_Node, ...]


@dataclass(frozen=True)
class _Held:
    inner: _Node
    frames: int
    number: int  # which of the rule's counters is its own


_Node = _Compare | _Not | _Join | _Held
_Hold = Callable[[_Held, Any], Any]


class Terminated:
    """A rule that says, frame by frame, whether the game has ended.

    Args:
        text: The rule; empty for a game that never ends by rule.
        names: The variables that it may name; None allows any.

    Attributes:
        text: The rule as given.
        names: The variables that it names.

    Raises:
        IntegrationError: The rule is malformed; names the column (and line, where it has several).
    """

    def __init__(self, text: str, names: Collection[str] | None = None) -> None:
        """Parse the rule."""
        self.text = text
        parser = _Parser(text, names)
        self._root = parser.parse() if text.strip() else None
        self.names = frozenset(parser.used)
        self._counts = [0] * parser.held

    def reset(self) -> None:
        """Forget what was held: a new episode begins."""
        self._counts = [0] * len(self._counts)

    def update(self, values: Mapping[str, int], frames: int = 1) -> bool:
        """Take the values of the next frame looked at and say whether the game has ended.

        Args:
            values: Variable name → value.
            frames: Frames since the last update. With more than one, ``held`` counts the frames
                between two true looks, and one for the first.
        """

        def hold(node: _Held, true: bool) -> bool:
            count = self._counts[node.number]
            self._counts[node.number] = (count + frames if count else 1) if true else 0
            return self._counts[node.number] >= node.frames

        return self._root is not None and bool(_evaluate(self._root, values, hold))

    def over(
        self, values: Mapping[str, NDArray[np.int64]], restarts: Sequence[int] = ()
    ) -> NDArray[np.bool_]:
        """Evaluate the rule on every frame of a recording; leaves the state of ``update`` alone.

        Args:
            values: Variable name → int64[frames].
            restarts: Numbers of the frames before which an episode began; ``held`` starts anew.

        Returns:
            bool[frames].
        """
        frames = max((len(column) for column in values.values()), default=0)

        def hold(node: _Held, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
            index = np.arange(frames)
            before = np.where(true, -1, index)  # the last frame that does not count
            starts = np.asarray(restarts, np.int64)
            before[starts] = np.maximum(before[starts], starts - 1)
            return index - np.maximum.accumulate(before) >= node.frames

        if self._root is None:
            return np.zeros(frames, np.bool_)
        return np.asarray(_evaluate(self._root, values, hold), np.bool_)

    def program(self) -> list[Op]:
        """Return the rule in postfix order; empty where none is given."""
        return [] if self._root is None else list(_postfix(self._root))


class Op(NamedTuple):
    """One step of a rule in postfix order, for a machine with a stack.

    ``code`` is a comparison, ``not``, ``and``, ``or`` or ``held``; ``left`` and ``right`` are what
    is compared, or the frames and the number of the counter of ``held``.
    """

    code: str
    left: str | int = 0
    right: str | int = 0


def _postfix(node: _Node) -> Iterator[Op]:
    match node:
        case _Compare(op, left, right):
            yield Op(next(sign for sign, known in _COMPARE.items() if known is op), left, right)
        case _Not(inner):
            yield from _postfix(inner)
            yield Op("not")
        case _Join(op, parts):
            for number, part in enumerate(parts):
                yield from _postfix(part)
                if number:
                    yield Op("and" if op is operator.and_ else "or")
        case _Held(inner, frames, number):
            yield from _postfix(inner)
            yield Op("held", frames, number)


def _evaluate(node: _Node, values: Mapping[str, Any], hold: _Hold) -> Any:
    """Evaluate without short cuts, so that every ``held`` sees every frame."""
    match node:
        case _Compare(op, left, right):
            return op(*(values[v] if isinstance(v, str) else v for v in (left, right)))
        case _Not(inner):
            return _evaluate(inner, values, hold) ^ True
        case _Join(op, parts):
            return reduce(op, [_evaluate(part, values, hold) for part in parts])
        case _Held(inner):
            return hold(node, _evaluate(inner, values, hold))


class _Parser:
    """Recursive descent over the tokens of one rule."""

    def __init__(self, text: str, names: Collection[str] | None) -> None:
        self.text = text
        self.names = names
        self.used: set[str] = set()
        self.held = 0
        self.depth = 0
        self.kind, self.token, self.start, self.end = "", "", 0, 0
        self._advance()

    def _advance(self) -> str:
        """Return the token and step to the next one."""
        old = self.token
        match = _TOKEN.match(self.text, self.end)
        assert match is not None and match.lastgroup is not None  # \S and the end catch all
        self.kind, self.token = match.lastgroup, match[match.lastgroup]
        self.start, self.end = match.start(match.lastgroup), match.end()
        return old

    def _error(self, found: str, wanted: str, at: int | None = None) -> IntegrationError:
        at = self.start if at is None else at
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        place = f"line {line}, " if "\n" in self.text.strip() else ""
        return IntegrationError(f"{place}column {column}: found {found}", wanted)

    def _unexpected(self, wanted: str) -> IntegrationError:
        slip = _SLIPS.get(self.token) or (self.token.lower() if self.kind == "name" else "")
        if slip != self.token and slip in (*_COMPARE, *WORDS):
            wanted = slip
        return self._error(f"{self.token!r}" if self.token else "the end of the rule", wanted)

    def parse(self) -> _Node:
        node = self._rule()
        if self.kind != "end":
            raise self._unexpected("and, or, held, or the end of the rule")
        return node

    def _rule(self) -> _Node:
        return self._joined(
            "or", operator.or_, lambda: self._joined("and", operator.and_, self._single)
        )

    def _joined(self, word: str, op: Callable[[Any, Any], Any], part: Callable[[], _Node]) -> _Node:
        parts = [part()]
        while self.token == word:
            self._advance()
            parts.append(part())
        return parts[0] if len(parts) == 1 else _Join(op, tuple(parts))

    def _single(self) -> _Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self._error("a rule nested too deep", f"at most {_MAX_DEPTH} levels")
        node: _Node
        if self.token == "not":
            self._advance()
            node = _Not(self._single())
        else:
            node = self._term()
        self.depth -= 1
        return node

    def _term(self) -> _Node:
        node: _Node
        if self.token == "(":
            self._advance()
            node = self._rule()
            if self.token != ")":
                raise self._unexpected("and, or, held, or )")
            self._advance()
        else:
            node = self._comparison()
        if self.token != "held":
            return node
        self._advance()
        frames = int(self.token, 0) if self.kind == "number" and self._plain() else 0
        if frames < 1:
            raise self._unexpected("a number of frames, at least 1")
        self._advance()
        self.held += 1
        return _Held(node, frames, self.held - 1)

    def _comparison(self) -> _Node:
        start = self.start
        left = self._value()
        if self.kind != "op":
            raise self._unexpected("one of " + " ".join(_COMPARE))
        op = _COMPARE[self._advance()]
        right = self._value()
        if isinstance(left, int) and isinstance(right, int):
            raise self._error("a comparison of two numbers", "a variable on one side", start)
        return _Compare(op, left, right)

    def _value(self) -> str | int:
        if self.kind == "number" and self._plain():
            return int(self._advance(), 0)
        if self.kind != "name" or self.token in WORDS:
            raise self._unexpected("a variable or a whole number")
        if self.names is not None and self.token not in self.names:
            known = sorted(self.names)
            close = difflib.get_close_matches(self.token, known, 1)
            raise self._error(
                f"unknown variable {self.token!r}",
                close[0] if close else "one of " + " ".join(known),
            )
        self.used.add(self.token)
        return self._advance()

    def _plain(self) -> bool:
        """Whether the number has no leading zero, which other languages read as octal."""
        return re.fullmatch(r"-?(0x.*|0|[1-9]\d*)", self.token) is not None
