"""Options and an integration as the C host takes them: the plan of a lane's episodes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .batch import Layout
from .core import Region
from .errors import UserError
from .host.binding import ffi
from .integration import Integration
from .options import EnvOptions
from .program import Program

Autoreset = Literal["disabled", "next step", "same step"]
AUTORESET: tuple[Autoreset, ...] = ("disabled", "next step", "same step")
SYSTEM_RAM = "SYSTEM_RAM"
NO_BUTTONS: NDArray[np.uint16] = np.zeros(0, np.uint16)


class Plan:
    """An ``rk_plan`` and everything that it points to, valid as long as this object.

    Args:
        integration: The game's facts.
        options: The environment's.
        regions: The memory that the core offers now, by name.
        frame_size: Width and height of the game's own upright picture.
        autoreset: When a lane whose episode ended begins the next.
        show: Draw each step's last frame even where no picture is observed.
        in_place: Read memory that only the savestate tells of where the core has it.
        home: uint16 [frames], what is pressed before a start, which is then restored once more.

    Attributes:
        raw: The ``rk_plan``.
        layout: The shape of a lane's row.
        names: The integration's variables, in the order of a row.

    Raises:
        UserError: The options name what the game or the core does not have.
    """

    def __init__(
        self,
        integration: Integration,
        options: EnvOptions,
        regions: Mapping[str, Region],
        frame_size: tuple[int, int],
        autoreset: Autoreset = "disabled",
        show: bool = False,
        in_place: bool = False,
        home: NDArray[np.uint16] = NO_BUTTONS,
    ) -> None:
        self._kept: list[Any] = []
        program = Program(integration, {name: region.id for name, region in regions.items()})
        self.names = names = program.names
        spans = _spans(options.ram, regions) if options.sees_ram else []
        ram_size = sum(count for _, count, _ in spans)
        own = _cropped(frame_size, options.crop) if options.picture else (0, 0)
        width, height = options.size or own
        weights = _weights(options, names)
        if options.life_episodes:
            _known(["lives"], names, "life_episodes")
        masks = integration.action_masks().tolist()
        self.raw = ffi.new("rk_plan *")
        self.raw.program = program.raw[0]
        self._kept.append(program)
        self.raw.actions, self.raw.n_actions = self._keep("uint16_t[]", masks), len(masks)
        self.raw.spans = self._keep(
            "rk_span[]",
            [
                (id, count, ffi.NULL if offsets is None else self._keep("uint32_t[]", offsets))
                for id, count, offsets in spans
            ],
        )
        self.raw.home, self.raw.n_home = self._keep("uint16_t[]", home.tolist()), len(home)
        self.raw.weights = self._keep("double[]", [weights.get(name, 0.0) for name in names])
        moving = _known(options.progress, names, "progress")
        self.raw.progress = self._keep("uint8_t[]", [name in moving for name in names])
        plain = {
            "skip": options.skip,
            "stack": options.stack,
            "noops": options.noops,
            "sticky": options.sticky,
            "show": bool(options.picture or show),
            "keep": show,
            "last_two": options.last_two,
            "channels": options.picture,
            "width": width if options.picture else 0,
            "height": height if options.picture else 0,
            "n_spans": len(spans),
            "ram_size": ram_size,
            "ram_floats": options.ram_floats,
            "most_frames": options.max_frames or 0,
            "stall": options.stall or 0,
            "stall_penalty": options.stall_penalty,
            "lives": names.index("lives") if options.life_episodes else -1,
            "clip": options.reward == "clip",
            "score": names.index("score"),
            "autoreset": AUTORESET.index(autoreset),
            "in_place": in_place,
        } | dict(zip(("top", "bottom", "left", "right"), options.crop, strict=True))
        for field, value in plain.items():
            setattr(self.raw, field, value)
        stack = (options.stack,) if options.stack > 1 else ()
        colours = (3,) if options.picture == 3 else ()
        self.layout = Layout(
            (*stack, height, width, *colours) if options.picture else (),
            (*stack, ram_size) if spans else (),
            options.ram_floats,
            len(names),
        )

    def _keep(self, kind: str, items: Sequence[Any]) -> Any:
        self._kept.append(ffi.new(kind, list(items)))
        return self._kept[-1]


def _known(wanted: Collection[str], names: Sequence[str], option: str) -> set[str]:
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            raise UserError(
                f"{option}: the integration has no variable {name!r}",
                close[0] if close else "one of " + " ".join(names),
            )
    return set(wanted)


def _weights(options: EnvOptions, names: Sequence[str]) -> dict[str, float]:
    """Return the weight of each variable in the reward."""
    if isinstance(options.reward, str):
        return {"score": 1.0}
    _known(options.reward, names, "reward")
    return {name: float(weight) for name, weight in options.reward.items()}


def _cropped(size: tuple[int, int], crop: tuple[int, int, int, int]) -> tuple[int, int]:
    (width, height), (top, bottom, left, right) = size, crop
    if width <= left + right or height <= top + bottom:
        raise UserError(f"crop: nothing is left of a picture of {width}x{height}", "less cut off")
    return width - left - right, height - top - bottom


def _spans(ram: Any, regions: Mapping[str, Region]) -> list[tuple[int, int, list[int] | None]]:
    """Return region id, count and offsets (None: all) of each piece of memory to observe."""
    given = ram if isinstance(ram, Mapping) else {SYSTEM_RAM: ram}
    out: list[tuple[int, int, list[int] | None]] = []
    for name, wanted in given.items():
        if name not in regions:
            raise UserError(f"ram: the core offers no region {name}", "one of " + " ".join(regions))
        size = regions[name].size
        offsets = None if wanted is None else [int(offset) for offset in wanted]
        if offsets is not None and (not offsets or not 0 <= min(offsets) <= max(offsets) < size):
            raise UserError(
                f"ram: offsets in {name}", f"at least one, each from 0 to {size - 1:#x}"
            )
        out.append((regions[name].id, size if offsets is None else len(offsets), offsets))
    if not out:
        raise UserError("ram: no region", "one of " + " ".join(regions))
    return out
