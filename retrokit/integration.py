"""One game's facts: load, check, save; score, lives and reward as pure functions of RAM.

The format is docs/integration.md. Nothing here needs a core, so a file is checked anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import __version__
from .buttons import to_mask
from .conditions import Terminated
from .schema import SCORE_KEYS, format_start, parse_start, read_fields
from .values import Variable
from .yaml_file import Hex, Node, dump_yaml, node_of, read_yaml, write_text

__all__ = ["Integration", "format_start", "parse_start"]


@dataclass(frozen=True)
class Integration:
    """What is known of one game. Made by ``load`` or ``from_dict``, which check everything.

    Attributes:
        game: Name of the game, for people and file names.
        system: The system, as cores.toml names it.
        core: The core, as cores.toml names it.
        rom_sha1: Label → SHA-1 of the payload, 40 lower-case hex digits.
        variables: Name → variable; ``score`` always, ``lives`` where known.
        action_set: For each action the buttons held.
        core_version: As retro_get_system_info gives it; empty when not recorded.
        start_buttons: The presses that start a game, in the form of ``format_start``.
        rotate: Degrees; None leaves it to the core.
        terminated: The rule of game over; empty for never.
        cuts_last_life: The rule ends before the last life does, on purpose.
        evidence: How each fact was established.
        places: Key → its node in the file, for later errors.
    """

    game: str
    system: str
    core: str
    rom_sha1: Mapping[str, str]
    variables: Mapping[str, Variable]
    action_set: tuple[tuple[str, ...], ...]
    core_version: str = ""
    start_buttons: tuple[str, ...] = ()
    rotate: int | None = None
    terminated: str = ""
    cuts_last_life: bool = False
    evidence: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Node] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Integration:
        """Read and check a file.

        Raises:
            IntegrationError: It is malformed; names file, line and key, and counts further faults.
        """
        return cls(**read_fields(read_yaml(path)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Integration:
        """Check a mapping with the keys of the file (addresses as ints or hex strings).

        Raises:
            IntegrationError: It is malformed; names the key.
        """
        return cls(**read_fields(node_of(data, "integration")))

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping with the keys of the file; what is default is left out."""
        out: dict[str, Any] = {"game": self.game, "system": self.system, "core": self.core}
        out["core_version"] = self.core_version
        out["rom_sha1"] = dict(self.rom_sha1)
        rest = {name: variable.to_dict() for name, variable in self.variables.items()}
        if {f"score_{name}" for name in rest["score"]} <= set(SCORE_KEYS):
            short = {"encoding": "uint"} | rest.pop("score")
            out |= {key: short.get(key.removeprefix("score_")) for key in SCORE_KEYS}
        if (
            "lives" in rest
            and len(self.variables["lives"].addrs) == 1
            and "terms" not in rest["lives"]
        ):
            lives = rest.pop("lives")
            out["lives_addr"] = lives.pop("addrs")[0]
            out["lives"] = lives
        out["start_buttons"] = list(self.start_buttons)
        out["action_set"] = [list(names) for names in self.action_set]
        out |= {"rotate": self.rotate, "terminated": self.terminated}
        out["cuts_last_life"] = self.cuts_last_life or None
        out |= {"variables": rest, "evidence": dict(self.evidence)}
        return {key: value for key, value in out.items() if value not in (None, "", {}, [])}

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file, as a whole or not at all.

        Raises:
            UserError: It exists and *force* is false, or it cannot be written.
        """
        header = f"# Written by retrokit {__version__}; every key: docs/integration.md\n"
        data = self.to_dict()
        evidence = data.pop("evidence", None)
        shown = _with_hex(data) | ({"evidence": evidence} if evidence else {})
        write_text(path, header + dump_yaml(shown), force)

    def check_memory(self, regions: Mapping[str, int]) -> None:
        """Check every address against the memory that a core offers.

        Args:
            regions: Region name → size in bytes.

        Raises:
            IntegrationError: A region is not offered, or an address lies past its end.
        """
        for name, variable in self.variables.items():
            place = self.places.get(name, Node("", "integration", 0, name))
            for part in variable.parts:
                if part.region not in regions:
                    offered = " ".join(regions) or "none"
                    raise place.error(
                        f"region {part.region}", f"one that the core offers: {offered}"
                    )
                size, last = regions[part.region], max(part.addrs)
                if last >= size:
                    raise place.error(
                        f"offset {last:#x}",
                        f"less than {size:#x}, the size of {part.region}",
                        "Offsets count from the start of the region; they are no bus addresses.",
                    )

    def mismatches(self, rom_sha1: str, core_version: str) -> list[str]:
        """Return a warning for each difference from what the integration was made with.

        Args:
            rom_sha1: SHA-1 of the content's payload.
            core_version: The running core's version.
        """
        out = []
        if rom_sha1.lower() not in self.rom_sha1.values():
            wanted = ", ".join(f"{value} ({label})" for label, value in self.rom_sha1.items())
            out.append(f"another ROM: found sha1 {rom_sha1.lower()}; {self.game} wants {wanted}")
        if self.core_version and core_version != self.core_version:
            out.append(f"another core: found {core_version}; {self.game} wants {self.core_version}")
        return out

    def values(self, memory: Mapping[str, NDArray[np.uint8]]) -> dict[str, Any]:
        """Return every variable: int for regions uint8[size], int64[...] for uint8[..., size]."""
        return {name: variable.decode(memory) for name, variable in self.variables.items()}

    def score(self, memory: Mapping[str, NDArray[np.uint8]]) -> Any:
        """Return the score: int for regions uint8[size], int64[...] for uint8[..., size]."""
        return self.variables["score"].decode(memory)

    def lives(self, memory: Mapping[str, NDArray[np.uint8]]) -> Any:
        """Return the lives, shaped like ``score``; None where no variable holds them."""
        variable = self.variables.get("lives")
        return None if variable is None else variable.decode(memory)

    def reward(self, previous: int, current: int) -> float:
        """Return the points won between two looks at the score.

        A wrap counts as the small rise it is. Any other fall gives 0 (the game restarted, or its
        attract mode cleared the score), unless the score may fall: a sign, a part that is
        subtracted, or ``falls: true``.
        """
        score = self.variables["score"]
        delta = score.delta(previous, current)
        return float(delta if delta > 0 or score.may_fall else 0)

    def rule(self) -> Terminated:
        """Return a fresh ``Terminated`` for one environment; it never fires where none is given."""
        return Terminated(self.terminated, self.variables)

    def start_frames(self) -> NDArray[np.uint16]:
        """Return the start sequence as button masks, uint16[frames]."""
        return parse_start(self.start_buttons)

    def action_masks(self) -> NDArray[np.uint16]:
        """Return the action set as button masks, uint16[actions]."""
        return np.array([to_mask(names) for names in self.action_set], np.uint16)


def _with_hex(data: Any, key: str = "") -> Any:
    """Return a copy whose addresses and bit patterns are ``Hex``."""
    if isinstance(data, dict):
        return {name: _with_hex(value, str(name)) for name, value in data.items()}
    if isinstance(data, list):
        return [_with_hex(value, key) for value in data]
    bits = key.endswith(("addr", "addrs", "base", "blank", "mask"))
    return Hex(data) if bits and isinstance(data, int) else data
