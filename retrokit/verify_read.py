"""An integration's variables, read out of recordings that hold only their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .core import SAVESTATE, Core
from .integration import Integration
from .values import Variable


class Reader:
    """Reads the variables of one integration.

    Args:
        core: A core with content loaded; what it selects is chosen here.
        integration: The game's facts.

    Attributes:
        kept: int32 [bytes], the offsets that a recording must keep.

    Raises:
        IntegrationError: An address lies outside the core's memory.
    """

    def __init__(self, core: Core, integration: Integration) -> None:
        """Check the addresses and select what is to be read."""
        offered = {region.name: region.size for region in core.regions()}
        if core.info.savestate_size:
            offered[SAVESTATE] = core.info.savestate_size
        integration.check_memory(offered)
        parts = [part for variable in integration.variables.values() for part in variable.parts]
        wanted = [span.region for span in core.select()] + [part.region for part in parts]
        starts = {span.region: span.start for span in core.select(list(dict.fromkeys(wanted)))}
        addrs: dict[str, list[int]] = {}
        for part in parts:
            addrs.setdefault(part.region, []).extend(part.addrs)
        self.core = core
        self.places = {name: sorted(set(held)) for name, held in addrs.items()}
        self.kept = np.array([starts[n] + a for n, held in self.places.items() for a in held])
        self.kept = self.kept.astype(np.int32)
        self.variables = {n: self._packed(v) for n, v in integration.variables.items()}

    def _packed(self, variable: Variable) -> Variable:
        """Return the variable with columns of the recording for addresses."""
        addrs = tuple(self.places[variable.region].index(a) for a in variable.addrs)
        return replace(variable, addrs=addrs, terms=tuple(map(self._packed, variable.terms)))

    def now(self) -> NDArray[np.uint8]:
        """Return the bytes as they are, as a recording of one frame."""
        row: NDArray[np.uint8] = self.core.read()[self.kept]
        return row.reshape(1, -1)

    def memory(self, ram: Sequence[NDArray[np.uint8]]) -> dict[str, NDArray[np.uint8]]:
        """Return the bytes by region, uint8 [frames, bytes]."""
        rows, out, at = np.concatenate(ram), {}, 0
        for name, held in self.places.items():
            out[name] = rows[:, at : at + len(held)]
            at += len(held)
        return out

    def values(self, ram: Sequence[NDArray[np.uint8]]) -> dict[str, NDArray[np.int64]]:
        """Return each variable, int64 [frames]."""
        memory = self.memory(ram)
        return {name: variable.decode(memory) for name, variable in self.variables.items()}

    def legal(self, ram: Sequence[NDArray[np.uint8]]) -> dict[str, NDArray[np.bool_]]:
        """Return where every byte of a variable is a code of its encoding, bool [frames]."""
        memory = self.memory(ram)
        return {n: np.asarray(v.valid(memory), bool) for n, v in self.variables.items()}
