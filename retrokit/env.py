"""`RetroEnv`: one game as a Gymnasium environment."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from .batch import Batch, Layout
from .content import RomDirs
from .core import CoreInfo
from .errors import UserError
from .integration import Integration
from .lanes import ENDED, Lanes
from .load import Game, open_game
from .options import EnvOptions

Playable = Game | Integration | str | os.PathLike[str]
RENDER_MODES = ["rgb_array"]
FPS = 60  # of a core that does not tell


class RetroEnv(gymnasium.Env[Any, np.int64]):
    """One game.

    An action is a number into the integration's action set. ``info`` has ``score``, ``lives`` where
    known, ``variables`` (all others), ``frame`` (since the savestate was restored) and
    ``raw_reward`` (points, whatever the reward is made of); when an episode ends also
    ``ended_by`` (``game over``, ``life``, ``frames`` or ``stall``) and, when the game itself ended,
    ``raw_episode``: ``return``, ``length`` in steps and ``frames`` of the whole game, raw.

    Args:
        game: The name of a game that ships, the path of an integration, or the integration.
        content: Its content; found by hash when None.
        core: A core's name or library file, instead of the integration's.
        rom_dirs: Folders, or one, to search for content first.
        options: What it shows, pays and ends by.
        render_mode: ``rgb_array``, or None for no pictures beside the observed ones.
        changes: Single options by name, over those of ``options``.

    Raises:
        UserError: Game or options are not as they must be.
        CoreError: The core cannot be opened or fails.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": FPS}

    def __init__(
        self,
        game: Playable,
        *,
        content: str | os.PathLike[str] | None = None,
        core: str | Path | None = None,
        rom_dirs: RomDirs = (),
        options: EnvOptions | None = None,
        render_mode: str | None = None,
        **changes: Any,
    ) -> None:
        self.options = EnvOptions.of(options, changes)
        self.render_mode = check_render_mode(render_mode)
        self.game = playable(game, content, core, rom_dirs)
        self.lanes = Lanes(self.game, self.options, show=render_mode is not None)
        self.metadata = metadata_of(self.lanes.info, self.options)
        self.observation_space = observation_space(self.lanes.batch.layout)
        self.action_space = action_space(self.game.integration)
        self.spec = EnvSpec(  # gymnasium.make puts its own in this place
            "retrokit/" + re.sub(r"[^\w.-]+", "-", self.game.integration.game),
            "retrokit.env:RetroEnv",
            order_enforce=False,
            disable_env_checker=True,
            kwargs={
                "game": game,
                "content": content,
                "core": core,
                "rom_dirs": rom_dirs,
                "options": self.options,
                "render_mode": render_mode,
            },
            vector_entry_point="retrokit.vector:RetroVectorEnv",
        )
        self._action = np.zeros(1, np.int32)
        self._seeded = self._playing = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: From now on draw by this seed; equal seeds give equal episodes.
            options: ``start``: the number of the start state to begin from.
        """
        super().reset(seed=seed)
        start = start_of(options, self.lanes.n_starts)
        seeds = np.zeros(1, np.uint64)
        if seed is not None or not self._seeded:
            seeds[0] = lane_seed(self.np_random)
        self.lanes.reset(seeds=seeds, starts=np.full(1, start, np.int32))
        self._seeded = self._playing = True
        return observation(self.lanes.batch, 0), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Run one step.

        Raises:
            UserError: There is no such action, or the episode has ended.
        """
        if not self._playing:
            raise UserError("a step outside an episode", "reset() first")
        self._action[0] = action_number(action, self.game.integration)
        self.lanes.send(self._action)
        self.lanes.wait()
        result = self.lanes.batch.arrays["results"][0]
        terminated, truncated = bool(result["terminated"]), bool(result["truncated"])
        self._playing = not (terminated or truncated)
        seen = observation(self.lanes.batch, 0)
        return seen, float(result["reward"]), terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        arrays = self.lanes.batch.arrays
        return info(self.lanes.names, arrays["results"][0], arrays["values"][0])

    def render(self) -> NDArray[np.uint8] | None:
        """Return the game's own picture as shown last, upright RGB, uint8 [height, width, 3]."""
        return self.lanes.frame() if self.render_mode is not None else None

    def close(self) -> None:
        """Close the core; closing twice is harmless."""
        if hasattr(self, "lanes"):
            self.lanes.close()


def make(game: Playable, **arguments: Any) -> RetroEnv:
    """Return a game as an environment; the arguments are those of `RetroEnv`."""
    return RetroEnv(game, **arguments)


def playable(
    game: Playable,
    content: str | os.PathLike[str] | None,
    core: str | Path | None,
    rom_dirs: RomDirs,
) -> Game:
    """Return the game that was named, with its content and its core."""
    if not isinstance(game, Game):
        return open_game(game, content, rom_dirs, core)
    if content or core or rom_dirs:
        raise UserError("a game that is found already, and where to find it", "one of them")
    return game


def check_render_mode(mode: str | None) -> str | None:
    """Return a render mode that there is."""
    if mode is not None and mode not in RENDER_MODES:
        raise UserError(f"render_mode {mode!r}", "one of " + " ".join(RENDER_MODES) + ", or None")
    return mode


def metadata_of(core: CoreInfo, options: EnvOptions) -> dict[str, Any]:
    """Return what an environment advertises; pictures come once a step."""
    fps = core.fps or FPS
    return {"render_modes": RENDER_MODES, "render_fps": fps / options.skip}


def observation_space(layout: Layout) -> spaces.Space[Any]:
    """Return the space of one lane's observations."""
    parts: dict[str, spaces.Space[Any]] = {}
    if layout.picture:
        parts["picture"] = spaces.Box(0, 255, layout.picture, np.uint8)
    if layout.ram and layout.ram_floats:
        parts["ram"] = spaces.Box(0.0, 1.0, layout.ram, np.float32)
    elif layout.ram:
        parts["ram"] = spaces.Box(0, 255, layout.ram, np.uint8)
    return spaces.Dict(parts) if len(parts) > 1 else next(iter(parts.values()))


def action_space(integration: Integration) -> spaces.Discrete:
    """Return the space of one lane's actions."""
    return spaces.Discrete(len(integration.action_set))


def observation(batch: Batch, row: int | slice, prefix: str = "") -> Any:
    """Return a copy of what a lane, or several, observed: an array, or a dict of two."""
    parts = {
        name: batch.arrays[prefix + name][row].copy()
        for name in ("picture", "ram")
        if name in batch.arrays
    }
    return parts if len(parts) > 1 else next(iter(parts.values()))


def info(
    names: Sequence[str], result: Any, values: NDArray[np.int64], restarts: int = 0
) -> dict[str, Any]:
    """Return the ``info`` of one lane's row, whose core was restarted so often."""
    read = dict(zip(names, values.tolist(), strict=True))
    out: dict[str, Any] = {name: read.pop(name) for name in ("score", "lives") if name in read}
    out |= {"variables": read} if read else {}
    out |= {"frame": int(result["frame"]), "raw_reward": float(result["raw_reward"])}
    return out | ending(result, restarts)


def ending(result: Any, restarts: int = 0) -> dict[str, Any]:
    """Return what ``info`` says more when an episode ended; nothing otherwise."""
    ended = ENDED[result["ended"]]
    if not ended:
        return {}
    if ended == "life":
        return {"ended_by": ended}
    game = {
        "return": float(result["game_return"]),
        "length": int(result["game_steps"]),
        "frames": int(result["frame"]),
    }
    crashed = {"restarts": int(restarts)} if ended == "crash" else {}
    return {"ended_by": ended, **crashed, "raw_episode": game}


def lane_seed(random: np.random.Generator) -> np.uint64:
    """Return the seed that a lane draws by, never 0."""
    return np.uint64(random.integers(1, 2**64, dtype=np.uint64, endpoint=False))


def start_of(options: Mapping[str, Any] | None, count: int) -> int:
    """Return the start state asked for in a reset's options; -1 to draw one."""
    given = dict(options or {})
    start = given.pop("start", None)
    if given:
        raise UserError(f"reset option {next(iter(given))!r}", "start: the number of a start state")
    if "start" not in (options or {}):
        return -1
    if not isinstance(start, (int, np.integer)) or not 0 <= start < count:
        raise UserError(f"start {start!r}", f"0 to {count - 1}")
    return int(start)


def action_number(action: Any, integration: Integration) -> int:
    """Return an action of any whole number's type.

    Raises:
        UserError: It is no number into the action set.
    """
    try:
        number = operator.index(action)
    except TypeError:
        raise wrong_action(action, integration) from None
    if not 0 <= number < len(integration.action_set):
        raise wrong_action(action, integration)
    return number


def wrong_action(action: Any, integration: Integration) -> UserError:
    """Return the error of an action that is not in the action set."""
    return UserError(f"action {action}", f"0 to {len(integration.action_set) - 1}")
