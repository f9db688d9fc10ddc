"""Who plays: the checkpoints of a run, greedy and sampled, and random play beside them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from ..checkpoint import Checkpoint, look_at
from ..errors import UserError
from ..load import Game, open_game
from ..options import EnvOptions
from ..policy import Policy, RandomPlay
from ..run import Run

RANDOM = "random"
Play = Literal["greedy", "sampled"]
PLAYS: tuple[Play, ...] = get_args(Play)


@dataclass(frozen=True)
class Player:
    """Who plays.

    Attributes:
        checkpoint: SHA-256 of its checkpoint, or ``random``.
        step: Environment steps of training behind it; None for random play.
        play: Takes the likeliest action, or draws.
        load: Gives the policy, when it is needed.
    """

    checkpoint: str
    step: int | None
    play: Play
    load: Callable[[], Policy]

    @property
    def name(self) -> str:
        """What people call it."""
        return RANDOM if self.step is None else f"step {self.step:,} {self.play}"


def random_player(game: Game) -> Player:
    """Return random play over a game's action set."""
    n_actions = len(game.integration.action_set)
    return Player(RANDOM, None, "sampled", partial(RandomPlay, n_actions))


def players_of(checkpoint: Checkpoint, game: Game, plays: Sequence[Play] = PLAYS) -> list[Player]:
    """Return the players that a checkpoint makes; it is read when one of them is loaded.

    Args:
        checkpoint: Who plays.
        game: What is going to be played; warns where the checkpoint learned another.
        plays: How.
    """
    name = game.integration.game
    if (learned := checkpoint.facts.get("game", name)) != name:
        warnings.warn(f"{checkpoint.path} learned {learned}, and plays {name}", stacklevel=2)
    load = partial(_fitting, checkpoint.path, len(game.integration.action_set))
    return [Player(checkpoint.sha256, checkpoint.step, play, load) for play in plays]


def _fitting(path: Path, n_actions: int) -> Policy:
    policy = _load(path)
    known = getattr(policy, "n_actions", n_actions)
    if known != n_actions:
        raise UserError(f"{path} chooses among {known} actions", f"{n_actions}, as the game has")
    return policy


def _load(path: Path) -> Policy:
    from . import load_policy

    policy = load_policy(path)
    import torch

    # Its threads spin while the cores play: on a busy machine that costs more than all the rest.
    # With one the floats are also those of a machine with any number of CPUs.
    torch.set_num_threads(1)
    return policy


def checkpoints_of(run: Run) -> list[Checkpoint]:
    """Return a run's checkpoints, oldest first; a damaged one is left out with a warning.

    Raises:
        UserError: There is none.
    """
    if found := sound_checkpoints(run):
        return found
    raise UserError(f"{run.name} has no checkpoint yet", "one that trained for a while")


def sound_checkpoints(run: Run) -> list[Checkpoint]:
    """Return a run's checkpoints, oldest first, or none; a damaged one is warned of."""
    found = []
    for path in run.checkpoints():
        try:
            found.append(look_at(path))
        except UserError as error:
            warnings.warn(f"{error.found}; it is left out", stacklevel=2)
    return found


def game_of(
    run: Run,
    content: str | os.PathLike[str] | None = None,
    rom_dirs: Sequence[Path] = (),
) -> Game:
    """Return the game of a run: its own copy of the integration, and the content it trained on.

    Args:
        run: The run.
        content: Another content.
        rom_dirs: Folders to search for the content first.

    Raises:
        UserError: Core or content is not on this machine.
    """
    return trained_on(run.config, run.path / "integration.yaml", content, rom_dirs)


def trained_on(
    config: Mapping[str, Any],
    integration: str | os.PathLike[str],
    content: str | os.PathLike[str] | None = None,
    rom_dirs: Sequence[Path] = (),
) -> Game:
    """Return the game of a training's settings, with its content where that is still there.

    Args:
        config: The settings, as ``config.json`` has them.
        integration: Its integration, or the name of one that ships.
        content: Another content.
        rom_dirs: Folders to search for the content first.
    """
    known = config.get("content")
    if content is None and known and Path(known).is_file():
        content = known
    return open_game(integration, content, rom_dirs, config.get("core") or None)


def settings_of(checkpoint: Checkpoint) -> Mapping[str, Any]:
    """Return the settings that a checkpoint was trained with, from its file alone.

    Raises:
        UserError: It is damaged, or of another version.
        MissingExtra: torch is not installed.
    """
    from . import load_policy

    return load_policy(checkpoint.path).config.to_dict()


def whole_games(options: EnvOptions) -> EnvOptions:
    """Return options that observe as in training, and count whole games in raw points."""
    return replace(options, reward="raw", life_episodes=False, stall=None, stall_penalty=0.0)


def options_of(config: Mapping[str, Any]) -> EnvOptions:
    """Return the options of a run's environments from its ``config.json``, for evaluation.

    Raises:
        UserError: They are not options of this version.
    """
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in config.get("env", {}).items()
    }
    return whole_games(EnvOptions.of(None, given))
