"""`RetroVectorEnv`: many cores of one game, stepped together in C."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import env_state
from .batch import Copy
from .content import RomDirs
from .env import (
    Playable,
    action_space,
    check_render_mode,
    ending,
    info,
    lane_seed,
    metadata_of,
    observation,
    observation_space,
    playable,
    start_of,
    wrong_action,
)
from .errors import CoreStateError, UserError
from .lanes import REST, Lanes
from .movie import Movie
from .options import EnvOptions
from .plan import Autoreset
from .workers import Workers

MODES: dict[AutoresetMode, Autoreset] = {
    AutoresetMode.NEXT_STEP: "next step",
    AutoresetMode.SAME_STEP: "same step",
    AutoresetMode.DISABLED: "disabled",
}


class RetroVectorEnv(VectorEnv[Any, Any, Any]):
    """Many copies of one game, as ``gymnasium.vector.SyncVectorEnv`` of `RetroEnv` would run them.

    Observations, rewards, ends and infos are the same for the same seeds, and so is where they are
    put; only the time differs.

    Args:
        game: The name of a game that ships, the path of an integration, or the integration.
        num_envs: How many.
        threads: How many work at once; None: as many as there are CPUs.
        workers: How many processes have the cores; 0: this one. None: this one, or a process a
            core for a core that cannot share one.
        autoreset_mode: When an environment whose episode ended begins the next; a member of
            ``AutoresetMode`` or its value. Also in ``metadata["autoreset_mode"]``.
        copy: Return copies of observations. Otherwise the arrays themselves, which the next step
            overwrites and nobody else may write to.
        content: Its content; found by hash when None.
        core: A core's name or library file, instead of the integration's.
        rom_dirs: Folders, or one, to search for content first.
        options: What each shows, pays and ends by.
        render_mode: ``rgb_array``, or None for no pictures beside the observed ones.
        changes: Single options by name, over those of ``options``.

    Raises:
        UserError: Game or options are not as they must be.
        CoreError: A core cannot be opened or fails.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 60}

    def __init__(
        self,
        game: Playable,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        workers: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        content: str | os.PathLike[str] | None = None,
        core: str | Path | None = None,
        rom_dirs: RomDirs = (),
        options: EnvOptions | None = None,
        render_mode: str | None = None,
        **changes: Any,
    ) -> None:
        self.autoreset_mode = _mode(autoreset_mode)
        self.options = EnvOptions.of(options, changes)
        self.render_mode = check_render_mode(render_mode)
        self.game = playable(game, content, core, rom_dirs)
        self.num_envs = num_envs
        if workers is None:
            workers = num_envs if "own_process" in self.game.found.spec.quirks else 0
        given: dict[str, Any] = {
            "threads": threads,
            "autoreset": MODES[self.autoreset_mode],
            "show": render_mode is not None,
        }
        self.lanes = (
            Workers(self.game, self.options, num_envs, workers=workers, **given)
            if workers
            else Lanes(self.game, self.options, num_envs, **given)
        )
        self.metadata = metadata_of(self.lanes.info, self.options)
        self.metadata["autoreset_mode"] = self.autoreset_mode
        self.single_observation_space = observation_space(self.lanes.batch.layout)
        self.single_action_space = action_space(self.game.integration)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.copy = copy
        self._names = [(name, f"_{name}", name in ("score", "lives")) for name in self.lanes.names]
        self._actions = np.zeros(num_envs, np.int32)
        self._every = np.ones(num_envs, np.bool_)
        self._every.flags.writeable = False  # one mask for all infos of all steps
        self._begun = np.zeros(num_envs, np.bool_)
        self._all_begun = False
        self._step: Any = None  # what the step under way is to return
        self._sent = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment.

        Args:
            seed: Of the first; the next ones take the next numbers. Or one for each.
            options: ``start``: the number of the start state to begin from; ``reset_mask``: bool
                [num_envs], which to reset.
        """
        given = dict(options or {})
        mask = _checked_mask(given.pop("reset_mask", self._every), self.num_envs)
        start = start_of(given, self.lanes.n_starts)
        wanted = _each(seed, self.num_envs)
        seeds = np.zeros(self.num_envs, np.uint64)
        for row in np.flatnonzero(mask).tolist():
            if wanted[row] is not None or not self._begun[row]:
                seeds[row] = lane_seed(seeding.np_random(wanted[row])[0])
        self._sent = False  # a step that nobody waits for is finished, and forgotten
        self.lanes.reset(mask, seeds, np.full(self.num_envs, start, np.int32))
        self._begun |= mask
        self._all_begun = bool(self._begun.all())
        copy = self._copied()
        if not mask.all():
            copy.earned[:, ~mask], copy.numbers[:, ~mask] = 0, 0
        return self._observations(copy), self._infos(copy, mask)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run one step of each environment.

        Args:
            actions: int [num_envs], numbers into the action set. Where the last step ended an
                episode and autoreset is NEXT_STEP, the action is not used. With DISABLED, `REST`
                leaves an environment alone whose episode ended, and tells of the end again.
        """
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: Any) -> None:
        """Begin a step: threads work while the caller does something else.

        Raises:
            UserError: There is no such action, no episode, or a step under way.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            found = f"actions of shape {actions.shape} and type {actions.dtype}"
            raise UserError(found, f"integers of shape ({self.num_envs},)")
        if self._sent:
            raise UserError("a step under way", "step_wait() first")
        if not self._all_begun:
            raise UserError("a step outside an episode", "reset() first")
        self._actions[:] = actions
        copy = Copy(self.lanes.batch, self.copy)
        try:
            self.lanes.send(self._actions, copy)
        except CoreStateError as error:
            most = len(self.game.integration.action_set)
            ended = self.lanes.batch.arrays["results"]["ended"].tolist()
            for action, over in zip(actions.tolist(), ended, strict=True):
                if not 0 <= action < most and not (over and action == REST):
                    raise wrong_action(action, self.game.integration) from None
            if error.remedy:  # it is closed, or another process's
                raise
            raise UserError(error.found, "reset() with a reset_mask first") from None
        self._sent = True
        infos = self._infos(copy, self._every)  # threads fill what it holds
        self._step = self._observations(copy), copy.earned[0], *copy.flags, infos

    def step_wait(self) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Finish the step under way and return what ``step`` returns.

        Raises:
            UserError: No step is under way.
        """
        if not self._sent:
            raise UserError("no step under way", "step_async() first")
        self._sent = False
        self.lanes.wait()
        step, self._step = self._step, None
        if self.lanes.ended():
            self._add_endings(step[-1])
        return step  # type: ignore[no-any-return]

    def _copied(self) -> Copy:
        """Return a copy of what was told last."""
        copy = Copy(self.lanes.batch, self.copy)
        copy.fill(self.lanes.batch)
        return copy

    def _observations(self, copy: Copy) -> Any:
        seen = copy.seen
        if not self.copy:
            batch = self.lanes.batch
            seen = {name: batch.arrays[name] for name in batch.seen}
        return seen if len(seen) > 1 else next(iter(seen.values()))

    def _infos(self, copy: Copy, mask: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos of the rows in ``mask``, made of a copy's columns."""
        frames, *values = copy.numbers
        infos: dict[str, Any] = {}
        variables: dict[str, Any] = {}
        for (name, has, plain), column in zip(self._names, values, strict=True):
            into = infos if plain else variables
            into[name], into[has] = column, mask
        if variables:
            infos["variables"], infos["_variables"] = variables, mask
        infos["frame"], infos["_frame"] = frames, mask
        infos["raw_reward"], infos["_raw_reward"] = copy.earned[1], mask
        return infos

    def _add_endings(self, infos: dict[str, Any]) -> None:
        """Add what Gymnasium's own vector environments add where an episode ended."""
        batch, arrays = self.lanes.batch, self.lanes.batch.arrays
        results = arrays["results"]
        for row in np.flatnonzero(results["ended"]).tolist():
            restarts = self.lanes.restarts[row]
            more = ending(results[row], restarts)
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                last = arrays["final_results"][row], arrays["final_values"][row]
                more = {
                    "final_obs": observation(batch, row, "final_"),
                    "final_info": info(self.lanes.names, *last, restarts),
                }
            self._add_info(infos, more, row)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return each game's own picture as shown last; see `RetroEnv.render`."""
        if self.render_mode is None:
            return None
        return tuple(self.lanes.frame(row) for row in range(self.num_envs))

    @property
    def restarts(self) -> NDArray[np.int64]:
        """How often the core of each environment was started anew, int64 [num_envs]; a copy."""
        return self.lanes.restarts.copy()

    # -- what was played -------------------------------------------------------------------------

    def state(self) -> bytes:
        """Return all that going on from here depends on; see `restore`.

        It is made of what was drawn and done since each game began, not of a core's savestates.

        Raises:
            UserError: An environment was never reset, or a step is under way.
        """
        self._check_idle()
        return env_state.save(self.lanes)

    def restore(self, state: bytes) -> Any:
        """Bring all environments to where they were when ``state`` was called, here or elsewhere.

        Each game is played again from its start. What follows is, byte for byte, what would have
        followed there, with any number of threads and workers.

        Args:
            state: Of as many environments of the same game, core, options and autoreset mode.

        Returns:
            The observations, as the last step or reset returned them.

        Raises:
            UserError: It is damaged, or of other environments.
            ReplayDiffers: A game came out differently.
            CoreError: A core failed.
        """
        self._sent = False
        env_state.restore(self.lanes, state)
        self._begun[:] = self._all_begun = True
        return self._observations(self._copied())

    def log(self, row: int) -> tuple[int, NDArray[np.uint16]]:
        """Return the start and the buttons of the game under way, or ended by the last step.

        With SAME_STEP the step that ended a game has already begun the next.

        Returns:
            The number of the start state; uint16 [frames], RetroPad masks since it was restored.

        Raises:
            UserError: There is no such environment, one was never reset, or a step is under way.
        """
        self._check_idle(row)
        log = self.lanes.log(row)
        return log.start, log.buttons

    def movie(self, row: int, facts: Mapping[str, Any] | None = None) -> Movie:
        """Return the movie of the game that `log` tells of, up to now.

        Args:
            row: The environment's.
            facts: What else to keep in it, such as its seed and score.

        Raises:
            UserError: As `log`.
        """
        self._check_idle(row)
        told = {"frame_skip": self.options.skip} | dict(facts or {})
        return Movie.recorded(self.lanes, row, told)

    def _check_idle(self, row: int = 0) -> None:
        if not 0 <= row < self.num_envs:
            raise UserError(f"environment {row}", f"0 to {self.num_envs - 1}")
        if self._sent:
            raise UserError("a step under way", "step_wait() first")
        if not self._begun.all():
            raise UserError("an environment without an episode", "reset() first")

    def close_extras(self, **kwargs: Any) -> None:
        """Close the cores."""
        if hasattr(self, "lanes"):
            self.lanes.close()


def _mode(found: AutoresetMode | str) -> AutoresetMode:
    """Return an autoreset mode by its value."""
    try:
        return AutoresetMode(found)
    except ValueError:
        wanted = "one of " + " ".join(mode.value for mode in MODES)
        raise UserError(f"autoreset_mode {found!r}", wanted) from None


def _each(seed: int | Sequence[int | None] | None, count: int) -> Sequence[int | None]:
    """Return a seed for each environment."""
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + number for number in range(count)]
    if len(seed) != count:
        raise UserError(f"{len(seed)} seeds", f"one for each of {count} environments")
    return seed


def _checked_mask(mask: Any, count: int) -> NDArray[np.bool_]:
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (count,):
        if mask.any():
            return mask
    raise UserError("reset_mask", f"a bool array of shape ({count},) with one True at least")
