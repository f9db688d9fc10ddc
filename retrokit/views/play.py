"""A game under way before somebody's eyes, frame by frame: a policy plays it, or a person.

The core that is looked at is its own: a policy's environment runs ahead by a step, and the buttons
it pressed are pressed here again, so every frame of a step is seen and the agent sees what it saw
in training.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode

from ..buttons import to_names
from ..core import Core
from ..load import Game
from ..movie import Movie, identity, ram_hash
from ..options import EnvOptions
from ..policy import Policy
from ..sound import heard, listen
from ..vector import RetroVectorEnv
from .pictures import turned
from .reel import aspect_of, turn_left
from .scene import Scene, Thought

VALUES = 240  # of the value estimates, how many are kept


class Player(Protocol):
    """Who plays.

    Attributes:
        name: Who, such as ``you`` or ``500,000 steps``.
        thought: What was decided for the frames under way; None where nothing decides.
        over: How the game ended; empty while it goes on, or where the player cannot tell.
    """

    name: str
    thought: Thought | None
    over: str

    def begin(self, seed: int) -> bytes | int:
        """Begin a game; return its start as ``EnvOptions.starts`` has it."""

    def next(self, held: int) -> int | None:
        """Return the buttons of the next frame, given those that a person holds; None: it ended."""

    def movie(self, stage: Stage) -> Movie:
        """Return the movie of the game so far; what was seen last is its last frame."""

    def close(self) -> None:
        """Let go of what it holds."""


class Stage:
    """The core that is looked at.

    Args:
        game: What is played.
        rotate: Degrees counter-clockwise that its picture is turned by, instead of what the core
            asks for; None leaves it to the core.
        sound: Whether it is heard.
    """

    def __init__(self, game: Game, rotate: int | None = None, sound: bool = False) -> None:
        self.game = game
        self.core: Core = game.open()
        self.core.record(game.integration.start_frames())
        self._first = self.core.save()
        self.core.run(1)
        self.turn = turn_left(self.core, rotate)
        self.aspect = aspect_of(self.core, self.turn)
        listen(self.core, sound)
        self._sound = sound

    def begin(self, start: bytes | int) -> None:
        """Go to a start: a savestate, or frames of waiting after the start sequence."""
        self.core.load(start if isinstance(start, bytes) else self._first)
        if isinstance(start, int) and start:
            self.core.run(start, see=False)
            self.core.load(self.core.save())
        heard(self.core)

    def run(self, buttons: int) -> Scene:
        """Run a frame and return what is seen of it."""
        self.core.run(1, buttons)
        values = self.game.integration.values(self.core.memory)
        return Scene(
            picture=turned(self.core.frame(), self.turn),
            variables={name: int(value) for name, value in values.items()},
            buttons=tuple(to_names(buttons)),
            sound=heard(self.core) if self._sound else None,
        )

    def close(self) -> None:
        """Close the core."""
        self.core.close()


class Agent:
    """A policy, in an environment of its own.

    Args:
        game: What is played.
        options: Of the environment that the policy knows; whole games, raw points.
        policy: What decides.
        name: What to call it.
        draws: Seed → the generator of its draws; None: it takes the likeliest action.
    """

    def __init__(
        self,
        game: Game,
        options: EnvOptions,
        policy: Policy,
        name: str,
        draws: Callable[[int], np.random.Generator] | None,
    ) -> None:
        self.name, self.over = name, ""
        self.thought: Thought | None = None
        self._policy, self._draws, self._options = policy, draws, options
        self._env = RetroVectorEnv(
            game, 1, autoreset_mode=AutoresetMode.DISABLED, options=options, threads=1
        )
        self._frames: deque[int] = deque()
        self._known = 0

    def begin(self, seed: int) -> bytes | int:
        """Begin a game."""
        self._seed, self._random = seed, self._draws(seed) if self._draws else None
        self._observations, _ = self._env.reset(seed=[seed])
        self.thought, self.over, self._known = None, "", 0
        self._frames.clear()
        return self._options.starts[self._fetch()]

    def _fetch(self) -> int:
        """Take the buttons of the frames that the environment has run; return the start."""
        start, buttons = self._env.log(0)
        self._frames.extend(buttons[self._known :].tolist())
        self._known = len(buttons)
        return start

    def next(self, held: int) -> int | None:
        """Return the buttons of the next frame; None: the game has ended."""
        while not self._frames:
            if self.over:
                return None
            self._decide()
        return self._frames.popleft()

    def _decide(self) -> None:
        draws = None if self._random is None else self._random.random(1)
        made = self._policy.act(self._observations, draws)
        value = None if made.values is None else float(made.values[0])
        self.thought = Thought(int(made.actions[0]), value, made.probabilities[0])
        self._observations, _, terminated, truncated, infos = self._env.step(made.actions)
        self._fetch()
        if terminated[0] or truncated[0]:
            self.over = str(infos["ended_by"][0])

    def movie(self, stage: Stage) -> Movie:
        """Return the movie of the game so far; it ends with the step under way."""
        return self._env.movie(0, {"player": self.name, "seed": self._seed})

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class Person:
    """Somebody at the keys; the integration's rule tells when the game is over.

    Args:
        start: Where games begin: a savestate, or frames of waiting after the start sequence.
    """

    name = "you"
    thought: Thought | None = None
    over = ""

    def __init__(self, start: bytes | int = 0) -> None:
        self._start, self._log = start, list[int]()

    def begin(self, seed: int) -> bytes | int:
        """Begin a game."""
        self._log = []
        return self._start

    def next(self, held: int) -> int | None:
        """Return what is held."""
        self._log.append(held)
        return held

    def movie(self, stage: Stage) -> Movie:
        """Return the movie of the game so far."""
        game, core, start = stage.game, stage.core, self._start
        begun: dict[str, Any] = {"savestate": start}
        if isinstance(start, int):
            begun = {"start": game.integration.start_frames(), "restored": True, "wait": start}
        return Movie(
            buttons=np.array(self._log, np.uint16)[:, None],
            ram_sha1=ram_hash(core),
            facts={"player": self.name},
            **identity(game, core.info.version),
            **begun,
        )

    def close(self) -> None:
        """Do nothing."""


class Play:
    """Games one after another: who plays, on which stage, and what is seen of it.

    Args:
        stage: Where it is played.
        player: Who plays.
        seed: Of the first game; the next ones take the next numbers.
    """

    def __init__(self, stage: Stage, player: Player, seed: int = 0) -> None:
        self.stage, self.player = stage, player
        self._facts = stage.game.integration
        self._names = tuple("+".join(names) or "nothing" for names in self._facts.action_set)
        self._rule = self._facts.rule()
        self._values: deque[float] = deque(maxlen=VALUES)
        self.episode, self._seed = 0, seed
        self.begin()

    def begin(self) -> None:
        """Begin the next game."""
        self.stage.begin(self.player.begin(self._seed + self.episode))
        self._rule.reset()
        self._values.clear()
        self.episode += 1
        self.frames, self.over, self._scene = 0, "", Scene(np.zeros((1, 1, 3), np.uint8))

    def frame(self, held: int) -> Scene:
        """Run the next frame, unless the game has ended, and return what is seen.

        Args:
            held: RetroPad mask that a person holds.
        """
        before = self.player.thought
        buttons = None if self.over else self.player.next(held)
        if buttons is None:
            self.over = self.over or self.player.over
            return self._told(self._scene)
        thought = self.player.thought
        if thought is not before and thought is not None and thought.value is not None:
            self._values.append(thought.value)
        self._scene, self.frames = self.stage.run(buttons), self.frames + 1
        # A player that tells the end itself goes on to the last frame that it pressed.
        if thought is None and self._rule.update(self._scene.variables):
            self.over = "game over"
        return self._told(self._scene)

    def _told(self, scene: Scene) -> Scene:
        """Return a scene with what the stage does not know."""
        return replace(
            scene,
            game=self._facts.game,
            player=self.player.name,
            episode=self.episode,
            frame=self.frames,
            actions=self._names,
            thought=self.player.thought,
            values=np.array(self._values, np.float32),
            over=self.over,
        )

    def movie(self) -> Movie:
        """Return the movie of the game under way, or just ended."""
        score = self._scene.variables.get("score")
        movie = self.player.movie(self.stage)
        return replace(movie, facts={**movie.facts, "score": score})

    def close(self) -> None:
        """Close everything."""
        self.player.close()
        self.stage.close()
