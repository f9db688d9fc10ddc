"""RetroPad buttons by name: sets of names ↔ the bit mask that the host hands to a core."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import UserError

# libretro.h, RETRO_DEVICE_ID_JOYPAD_*: the place in this list is the button's id.
BUTTONS = (
    "B", "Y", "SELECT", "START", "UP", "DOWN", "LEFT", "RIGHT",
    "A", "X", "L", "R", "L2", "R2", "L3", "R3",
)  # fmt: skip
DIRECTIONS = ("UP", "DOWN", "LEFT", "RIGHT")
MASKS = {name: 1 << number for number, name in enumerate(BUTTONS)}


def to_mask(names: Iterable[str]) -> int:
    """Return the mask of the named buttons, e.g. ``["UP", "B"]`` → ``0x0011``.

    Raises:
        UserError: A name is no RetroPad button.
    """
    mask = 0
    for name in names:
        try:
            mask |= MASKS[name.upper()]
        except KeyError:
            raise UserError(f"unknown button {name!r}", "one of " + " ".join(BUTTONS)) from None
    return mask


def to_names(mask: int) -> list[str]:
    """Return the names in a mask, in RetroPad order."""
    return [name for name, bit in MASKS.items() if mask & bit]
