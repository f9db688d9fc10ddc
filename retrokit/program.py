"""An integration compiled for the C host: its variables, and the rule of game over.

There is no second decoder: the tables come from ``values``, and tests hold both to one answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .conditions import Op
from .errors import UserError
from .host.binding import ffi, lib
from .integration import Integration
from .values import Part

_CODES = {
    code: number
    for number, code in enumerate(("==", "!=", "<", "<=", ">", ">=", "not", "and", "or", "held"))
}


class Program:
    """What C needs to know of a game.

    Args:
        integration: The game's facts.
        regions: Region name → the host's id of it, for every region offered.

    Attributes:
        raw: The ``rk_program``, valid as long as this object.
        names: The variables in the order of the program.

    Raises:
        UserError: A region is not offered, or the rule is too deep.
    """

    def __init__(self, integration: Integration, regions: Mapping[str, int]) -> None:
        self.names = tuple(integration.variables)
        rule = integration.rule()
        tables = _Tables()
        used: list[str] = []
        variables: list[dict[str, int]] = []
        for name, variable in integration.variables.items():
            first = len(tables.parts)
            for part in variable.compiled():
                if part.region not in regions:
                    raise UserError(f"no region {part.region}", "one of " + " ".join(regions))
                used += [part.region] * (part.region not in used)
                tables.add(part, used.index(part.region))
            variables.append(
                {
                    "first_part": first,
                    "n_parts": len(tables.parts) - first,
                    "scale": variable.scale,
                    "offset": variable.offset,
                    "modulus": variable.wraps_at or 0,
                    "rises_only": name == "score" and not variable.may_fall,
                    "ruled": name in rule.names,
                }
            )
        ops = _ops(rule.program(), self.names)
        self.raw = ffi.new("rk_program *")
        self.raw.n_regions, self.raw.n_variables = len(used), len(variables)
        self.raw.n_ops = len(ops)
        self.raw.n_held = sum(op["code"] == _CODES["held"] for op in ops)
        self._kept: list[Any] = []  # cffi does not keep what a field points to
        self._point("regions", "int32_t[]", [regions[name] for name in used])
        self._point("parts", "rk_part[]", tables.parts)
        self._point("variables", "rk_variable[]", variables)
        self._point("ops", "rk_op[]", ops)
        self._point("addrs", "uint32_t[]", tables.addrs)
        self._point("tables", "int64_t[]", np.concatenate(tables.tables).tolist())
        self._point("before", "int64_t[]", [before for before, _ in tables.maps])
        self._point("after", "int64_t[]", [after for _, after in tables.maps])

    def _point(self, field: str, kind: str, items: Sequence[Any]) -> None:
        block = ffi.new(kind, list(items))
        self._kept.append(block)
        setattr(self.raw, field, block)


class _Tables:
    """The arrays that all variables share."""

    def __init__(self) -> None:
        self.parts: list[dict[str, int]] = []
        self.addrs: list[int] = []
        self.tables: list[Any] = []
        self.maps: list[tuple[int, int]] = []

    def add(self, part: Part, region: int) -> None:
        self.parts.append(
            {
                "region": region,
                "first_addr": len(self.addrs),
                "n_addrs": len(part.addrs),
                "table": len(self.tables),
                "sign_bits": part.sign_bits,
                "first_map": len(self.maps),
                "n_map": len(part.map),
                "has_default": part.default is not None,
                "step": part.step,
                "default_value": part.default or 0,
                "scale": part.scale,
                "offset": part.offset,
            }
        )
        self.addrs += part.addrs
        self.tables.append(part.table)
        self.maps += part.map.items()


def _ops(rule: Sequence[Op], names: Sequence[str]) -> list[dict[str, int]]:
    """Return the rule's steps as ``rk_op``; a name becomes the variable's number."""
    out = []
    depth = deepest = 0
    for op in rule:
        depth += {"not": 0, "held": 0, "and": -1, "or": -1}.get(op.code, 1)
        deepest = max(deepest, depth)
        sides = {}
        for side, value in (("left", op.left), ("right", op.right)):
            named = isinstance(value, str)
            sides[f"{side}_variable"] = names.index(value) if isinstance(value, str) else -1
            sides[side] = 0 if named else int(value)
        out.append({"code": _CODES[op.code], **sides})
    if deepest > lib.RK_RULE_DEPTH:
        raise UserError("a rule of too many parts", f"at most {lib.RK_RULE_DEPTH} at once")
    return out
