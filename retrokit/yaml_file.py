"""The one YAML reader and writer: every value knows its file, line and key.

Scalars stay text until a key says what it wants, so a game called 1942 and a version 1.10 survive.
What YAML allows and a person hardly ever means is refused: tabs, duplicate keys, trailing commas,
anchors and tags.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from .errors import IntegrationError, UserError
from .files import whole_file

_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,400})|[-+]?0x[0-9A-Fa-f]{1,300}")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.IGNORECASE)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_MAX_BYTES = 4 << 20
_MAX_DEPTH = 30


@dataclass(frozen=True)
class Node:
    """A value in a file.

    Attributes:
        value: Text, a list of nodes, or a dict of nodes.
        file: The file as the user named it.
        line: Line of the value, from 1; 0 when it comes from no file.
        key: Where it stands: ``variables.level.addrs[1]``.
        quoted: Text in quotes, which is never a number.
    """

    value: str | list[Node] | dict[str, Node]
    file: str
    line: int = 0
    key: str = ""
    quoted: bool = False

    def error(self, found: str, wanted: str = "", remedy: str = "") -> IntegrationError:
        """Return the error that names this file, line and key."""
        return located(self.file, self.line, self.key, f"found {found}", wanted, remedy)

    def refuse(self, wanted: str) -> NoReturn:
        """Raise the error that shows this value and says what was wanted."""
        if isinstance(self.value, str):
            text = self.value if len(self.value) <= 40 else self.value[:39] + "…"
            found = repr(text) if text or self.quoted else "nothing"
        else:
            found = "a list" if isinstance(self.value, list) else "a mapping"
        raise self.error(found, wanted)

    def integer(self, low: int, high: int) -> int:
        """Return the value as an int, decimal or 0x hex, from *low* to *high*."""
        limits = f"a whole number from {low} to {high}"
        # JSON has no hex numbers: from there, and only from there, they come as strings.
        if not isinstance(self.value, str) or (self.quoted and self.line):
            self.refuse(limits)
        if not _INT.fullmatch(self.value) or not low <= int(self.value, 0) <= high:
            self.refuse(limits)
        return int(self.value, 0)

    def text(self, wanted: str = "text") -> str:
        """Return the value as text as it was written; never empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.refuse(wanted)
        return self.value

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, str) or self.quoted or self.value not in ("true", "false"):
            self.refuse("true or false")
        return self.value == "true"

    def items(self, wanted: str = "a list") -> list[Node]:
        """Return the nodes of a list."""
        if not isinstance(self.value, list):
            self.refuse(wanted)
        return self.value

    def fields(self, wanted: str = "a mapping of key: value") -> dict[str, Node]:
        """Return the nodes of a mapping."""
        if not isinstance(self.value, dict):
            self.refuse(wanted)
        return self.value

    def plain(self) -> Any:
        """Return the value as JSON has it: None, bool, int, finite float, str, list, dict."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        value = self.value if self.quoted else _resolve(self.value)
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse("a finite number, or quotes around the word")
        return value


def _resolve(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    return math.nan if _NOT_FINITE.fullmatch(text) else text


def located(
    file: str, line: int, key: str, found: str, wanted: str = "", remedy: str = ""
) -> IntegrationError:
    """Return the error ``FILE:LINE: KEY: found …; wanted …``."""
    place = f"{file}:{line}" if line else file
    start = f"{place}: {key}: " if key else f"{place}: "
    return IntegrationError(start + found, wanted, remedy)


def node_of(value: Any, file: str, key: str = "") -> Node:
    """Return the node of a value that came from JSON."""
    if isinstance(value, Mapping):
        inner = {str(k): node_of(v, file, _join(key, str(k))) for k, v in value.items()}
        return Node(inner, file, 0, key)
    if isinstance(value, (list, tuple)):
        return Node([node_of(v, file, f"{key}[{i}]") for i, v in enumerate(value)], file, 0, key)
    if isinstance(value, bool) or value is None:
        return Node({True: "true", False: "false", None: "null"}[value], file, 0, key)
    return Node(str(value), file, 0, key, isinstance(value, str))


def read_yaml(path: str | os.PathLike[str]) -> Node:
    """Read a file whose top is a mapping.

    Raises:
        IntegrationError: It cannot be read or is malformed; names file, line and key.
    """
    file = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise located(file, 0, "", reason, "a YAML file that can be read") from None
    if len(data) > _MAX_BYTES:
        raise located(file, 0, "", "more than 4 MiB", "a YAML file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise located(file, line, "", "bytes that are no UTF-8", "a YAML file") from None
    return parse_yaml(text, file)


def parse_yaml(text: str, file: str) -> Node:
    """Parse a text whose top is a mapping; see ``read_yaml``."""
    try:
        _refuse_traps(text, file)
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        unclosed = "flow" in (
            error.context or ""
        )  # then the context, not the problem, is the place
        mark = error.context_mark if unclosed else error.problem_mark
        line = mark.line + 1 if mark else 0
        parts = (
            (error.context, error.problem)
            if "but" in (error.problem or "")[:3]
            else (error.problem,)
        )
        found = " ".join(filter(None, parts)) or "malformed YAML"
        raise located(file, line, _key_at(text, line), found, "valid YAML") from None
    except yaml.YAMLError as error:  # a character that no YAML may hold
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise located(file, line, _key_at(text, line), "a control character", "text") from None
    except RecursionError:
        raise located(file, 0, "", "nesting without end", f"at most {_MAX_DEPTH} levels") from None
    if root is None:
        raise located(file, 0, "", "found nothing", "key: value lines")
    node = _convert(root, file, "", 0)
    node.fields()
    return node


def _refuse_traps(text: str, file: str) -> None:
    """Refuse what is legal YAML, or badly explained by its parser, and never meant."""
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line and not line.lstrip().startswith("#"):
            raise located(file, number, _key_at(text, number), "found a tab", "spaces")
    previous, depth = None, 0
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        line = token.start_mark.line + 1
        trap = {yaml.AnchorToken: "an anchor", yaml.AliasToken: "an alias", yaml.TagToken: "a tag",
                yaml.DirectiveToken: "a directive"}.get(type(token))  # fmt: skip
        if isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)):
            depth += 1  # the parser is slow on deep nesting: stop before it
            trap = "too many levels" if depth > _MAX_DEPTH else trap
        closing = isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken))
        if closing and isinstance(previous, yaml.FlowEntryToken):
            trap, line = "a trailing comma", previous.start_mark.line + 1
        depth -= closing
        if trap:
            raise located(file, line, _key_at(text, line), f"found {trap}", "plain values")
        previous = token


def _key_at(text: str, line: int) -> str:
    """Return the last top-level key that begins at or above a line."""
    above = "\n".join(text.split("\n")[:line])
    keys: list[str] = re.findall(r"^[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*:", above, re.MULTILINE)
    return keys[-1] if keys else ""


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _convert(source: yaml.Node, file: str, key: str, depth: int) -> Node:
    line = source.start_mark.line + 1
    if depth > _MAX_DEPTH:
        raise located(file, line, key, "found too many levels", f"at most {_MAX_DEPTH}")
    if isinstance(source, yaml.ScalarNode):
        if source.style is None and source.value.endswith(","):
            raise located(file, line, key, "found a trailing comma", "the value alone, or quotes")
        return Node(source.value, file, line, key, source.style is not None)
    if isinstance(source, yaml.SequenceNode):
        items = [_convert(v, file, f"{key}[{i}]", depth + 1) for i, v in enumerate(source.value)]
        return Node(items, file, line, key)
    fields: dict[str, Node] = {}
    for name, value in source.value:
        line = name.start_mark.line + 1
        if not isinstance(name, yaml.ScalarNode):
            raise located(file, line, key, "found a list or mapping as a key", "a name")
        inner = _join(key, name.value)
        if name.value in fields:
            first = fields[name.value].line
            raise located(file, line, inner, f"found twice, first on line {first}", "each key once")
        fields[name.value] = _convert(value, file, inner, depth + 1)
    return Node(fields, file, source.start_mark.line + 1, key)


class Hex(int):
    """An int that files show as 0x hex."""


class _Top(dict[str, Any]):
    """The mapping that gets one line a key."""


class _Dumper(yaml.SafeDumper):
    """Writes lists in one line, and quotes what our reader would take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _is_flat(value: Any) -> bool:
    if isinstance(value, dict):
        return False
    return not isinstance(value, list) or all(_is_flat(item) for item in value)


def _dump_text(dumper: _Dumper, value: str) -> yaml.Node:
    safe = value.isprintable() and not value.endswith(",") and _resolve(value) is value
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, None if safe else '"')


def _dump_dict(dumper: _Dumper, value: dict[Any, Any]) -> yaml.Node:
    flow = all(map(_is_flat, value.values()))
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow)


def _dump_list(dumper: _Dumper, value: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, True)


_Dumper.add_representer(str, _dump_text)
_Dumper.add_representer(dict, _dump_dict)
_Dumper.add_representer(list, _dump_list)
_Dumper.add_representer(
    _Top, lambda dumper, top: dumper.represent_mapping("tag:yaml.org,2002:map", top.items(), False)
)
_Dumper.add_representer(
    Hex, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:int", f"0x{value:02X}")
)


def dump_yaml(fields: Mapping[str, Any]) -> str:
    """Return the text of a mapping, one top-level key a line, in the order given."""
    text: str = yaml.dump(_Top(fields), Dumper=_Dumper, allow_unicode=True, width=96)
    return text


def write_text(path: str | os.PathLike[str], text: str, force: bool) -> None:
    """Write a file as a whole or not at all.

    Raises:
        UserError: The file exists and *force* is false, or it cannot be written.
    """
    target = Path(path)
    if target.exists() and not force:
        raise UserError(f"{target} exists", remedy="Give another name, or force to overwrite it.")
    with whole_file(target) as stream:
        stream.write(text.encode())
