"""Actions: what each button does in play, and the action set that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..buttons import DIRECTIONS, MASKS, to_mask, to_names
from ..core import Core
from ..team import each
from .control import TAP, in_play

# Pressed in tests of single buttons: the four directions, then the rest in RetroPad order.
_TRIED = (*DIRECTIONS, "B", "A", "Y", "X", "L", "R", "START")
_TRIGGERS = ("B", "A", "Y", "X", "L", "R")
_SWITCHES = (
    "difficulty", "color", "black", "reset", "select", "mode", "coin", "pause",
    "service", "diagnostic", "tilt", "test", "dip", "disk", "tape", "menu", "option",
)  # fmt: skip
_MOST_ACTIONS = 18
_CHANCE = 1  # of the eight states: there a direction and a button may only have stirred the luck
_ANEW, _APART = 120, 8  # frames after a tap, bytes by which states of play differ at least
_DIAGONALS = (("UP", "LEFT"), ("UP", "RIGHT"), ("DOWN", "LEFT"), ("DOWN", "RIGHT"))


@dataclass(frozen=True)
class Buttons:
    """What the buttons do in play.

    Attributes:
        action_set: For each action the buttons held, the first none at all; at most 18 actions.
        useful: Buttons that changed the picture in some state, harmful ones left out.
        fire: The useful buttons that are no directions, the one that matters most often first.
        pause: Buttons after a tap of which directions no longer matter, or play begins anew.
        harmful: Never to be pressed in play: pause, console switches, coins, START and SELECT.
        idle: Triggers that did nothing wherever they were tried; elsewhere they may.
    """

    action_set: list[list[str]]
    useful: list[str]
    fire: list[str]
    pause: list[str]
    harmful: list[str]
    idle: tuple[str, ...] = ()


def useful_buttons(core: Core, states: Sequence[bytes]) -> Buttons:
    """Return what each RetroPad button does in play.

    Args:
        core: The core; where it stands afterwards is undefined.
        states: Savestates of play, 8 of them: with two or three a button is soon called dead that
            only did nothing there. `play_states` makes them.
    """
    described = _described(core)
    switches = [name for name, text in described.items() if any(w in text for w in _SWITCHES)]
    tried = [name for name in _TRIED if name not in switches]
    effects = _effects(core, states, [0, *(MASKS[name] for name in tried)])
    shown = {name: effects[:, n + 1] for n, name in enumerate(tried)}
    seen = {name: _differ(shown[name], effects[:, 0]) for name in tried}
    walks = [MASKS[name] for name in DIRECTIONS if seen.get(name)]
    alone = np.stack([shown[n] for n in DIRECTIONS if seen.get(n)] or [effects[:, 0]], axis=1)
    alone = alone.reshape(len(states), -1)
    known = [n for n in _TRIGGERS if n in tried and (n in described or not described)]
    for name in known:  # some strike only where a direction is held too
        if walks and not seen[name]:
            both = _effects(core, states, [mask | MASKS[name] for mask in walks])
            shown[name] = both.reshape(len(states), -1)
            strikes = _differ(shown[name], alone)
            seen[name] = strikes if strikes > _CHANCE else 0
    useful = [name for name in tried if seen[name]]
    others = [name for name in useful if name not in DIRECTIONS]
    pause = [n for n in others if _pauses(core, states, MASKS[n])]
    pause += _restarting(core, states, [n for n in others if n not in pause])
    harmful = sorted({*switches, *pause, "START", "SELECT"}, key=list(MASKS).index)
    useful = [name for name in useful if name not in harmful]
    fire = sorted((n for n in _TRIGGERS if n in useful), key=lambda name: -seen[name])
    fire = _without_twins(fire, shown, seen)
    idle = tuple(name for name in known if not seen[name])
    return Buttons(_action_set(core, states, useful, fire), useful, fire, pause, harmful, idle)


def _described(core: Core) -> dict[str, str]:
    """Return what the core says of the first pad's buttons, in small letters, by name."""
    known = {
        to_names(1 << number)[0]: text.lower()
        for port, device, _, number, text in core.inputs()
        if port == 0 and device == 1 and number < len(MASKS)
    }
    return {name: known[name] for name in MASKS if name in known}


def _effects(core: Core, states: Sequence[bytes], masks: Sequence[int]) -> NDArray[np.uint64]:
    """Return picture hashes [states, masks, looks] after each mask was held for 16 frames."""
    logs = np.zeros((len(masks), 60), np.uint16)
    logs[:, :16] = np.array(masks, np.uint16)[:, None]
    looks = [8, 16, 30, 60]
    return np.stack([core.branch(state, logs, looks, hashes=True).hashes for state in states])


def _differ(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Return in how many states two buttons did not do the same."""
    return int((one != other).any(axis=1).sum())


def _pauses(core: Core, states: Sequence[bytes], mask: int) -> bool:
    """Return whether a tap ends control in most states, and for more than a jump's time."""
    lost = 0
    for number, state in enumerate(states):
        if not _in_control(core, state, mask, 16) and _in_control(core, state, 0, 16):
            lost += not _in_control(core, state, mask, 150) and _in_control(core, state, 0, 150)
        if number + 1 - lost > 0.4 * len(states):
            return False
    return lost >= 2


def _restarting(core: Core, states: Sequence[bytes], names: Sequence[str]) -> list[str]:
    """Return the buttons a tap of which begins play anew: what states had of their own is gone."""
    if not names or len(states) < 2:
        return []
    logs = np.zeros((1 + len(names), TAP + _ANEW), np.uint16)
    logs[1:, :TAP] = np.array([[MASKS[name]] for name in names], np.uint16)
    kept = np.arange(core.spans[0].size, dtype=np.int32)  # maps beside it may mean nothing

    def tapped(core: Core, number: int) -> NDArray[np.uint8]:
        core.load(states[number])  # a button may have been pressed there, so it is first left alone
        core.run(_ANEW * (1 + number), MASKS[DIRECTIONS[number % 4]], see=False)
        ends: NDArray[np.uint8] = core.branch(core.save(), logs, [logs.shape[1]], kept=kept).ram
        return ends[:, 0]

    ends = np.stack(list(each(core, tapped, range(len(states)))))
    pairs = list(combinations(range(len(states)), 2))
    apart = np.median([(ends[a] != ends[b]).sum(axis=1) for a, b in pairs], axis=0)
    gone = apart[1:] <= 0.5 * apart[0]
    return [name for name, same in zip(names, gone, strict=True) if apart[0] >= _APART and same]


def _in_control(core: Core, state: bytes, tap: int, wait: int) -> bool:
    core.load(state)
    core.run(TAP, tap, see=False)
    core.run(wait, see=False)
    return in_play(core, core.save())


def _without_twins(
    fire: list[str], shown: dict[str, NDArray[np.uint64]], seen: dict[str, int]
) -> list[str]:
    """Drop a button that did just what an earlier one does, in every state and often enough."""
    kept: list[str] = []
    for name in fire:
        twins = any(np.array_equal(shown[name], shown[other]) for other in kept)
        if seen[name] < 3 or not twins:
            kept.append(name)
    return kept


def _action_set(
    core: Core, states: Sequence[bytes], useful: list[str], fire: list[str]
) -> list[list[str]]:
    """Return at most 18 actions, the plainest first."""
    stick = [[name] for name in DIRECTIONS if name in useful]
    diagonals = [list(pair) for pair in _DIAGONALS if all([name] in stick for name in pair)]
    if sum(_is_its_own(core, states, pair) for pair in diagonals) < 2:
        diagonals = []
    actions = [[], *stick, *([name] for name in fire)]
    for trigger in fire[:2]:
        actions += [[*names, trigger] for names in stick]
        actions += diagonals if trigger == fire[0] else []
        actions += [[*names, trigger] for names in diagonals]
    if not fire:
        actions += diagonals
    return actions[:_MOST_ACTIONS]


def _is_its_own(core: Core, states: Sequence[bytes], pair: list[str]) -> bool:
    """Return whether two directions at once did in some state what neither does alone."""
    logs = np.zeros((3, 60), np.uint16)
    logs[:, :16] = np.array([[to_mask(pair)], *([MASKS[name]] for name in pair)])
    for state in states:
        both, one, other = core.branch(state, logs, [16, 30], hashes=True).hashes
        if (both != one).any() and (both != other).any():
            return True
    return False
