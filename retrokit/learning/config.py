"""What a training run does: one frozen object, saved with the run, changed by ``--set``."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from ..errors import UserError
from ..options import EnvOptions

ENV = EnvOptions(reward="clip", life_episodes=True, noops=30)
WORDS = {"true": True, "false": False, "none": None, "null": None}


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """The settings of a training run; the defaults are those of PPO on Atari.

    Attributes:
        integration: Path of the integration, or the name of one that ships.
        content: Path of the content; empty finds it by its hash.
        core: Name or file of a core instead of the integration's; empty takes that.
        total_steps: Agent steps of the run, all environments together. The learning rate falls to
            0 on the way.
        num_envs: Environments.
        rollout: Steps of each environment between two updates.
        epochs: How often an update goes through its rollout.
        minibatches: Into how many parts each time.
        learning_rate: Of Adam, at the start.
        anneal: The learning rate falls linearly to 0.
        gamma: Discount of the next step's reward.
        gae_lambda: Weight of longer returns in the advantage.
        clip: How far the policy's ratio, and a value, may move and still be followed.
        clip_values: Clip the value loss too.
        entropy: Weight of the entropy bonus.
        value: Weight of the value loss.
        max_grad_norm: The gradient is cut to this length.
        width: Units of the last hidden layer.
        autoreset: ``NextStep``: the step after an end is a reset, and never learned from.
            ``SameStep``: the step that ends an episode begins the next.
        seed: Of network, draws and environments.
        device: ``auto``: a GPU where there is one; or as torch names it.
        precision: Of the network's body: ``fp32``, ``bf16``, or ``auto``: the faster one of those
            the processor has instructions for, measured at the start.
        shards: Threads that learn and play, each with its share; 0: as many as are fastest,
            measured at the start.
        threads: Threads of one shard's arithmetic; 0: measured with ``shards``.
        workers: Processes that have the cores; None: none, unless a core needs its own.
        checkpoint_steps: Steps between two checkpoints.
        env: Options of the environments.

    Raises:
        UserError: A setting cannot be; says which.
    """

    integration: str
    content: str = ""
    core: str = ""
    total_steps: int = 10_000_000
    num_envs: int = 16
    rollout: int = 128
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 2.5e-4
    anneal: bool = True
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.1
    clip_values: bool = True
    entropy: float = 0.01
    value: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 512
    autoreset: Literal["NextStep", "SameStep"] = "NextStep"
    seed: int = 1
    device: str = "auto"
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    shards: int = 0
    threads: int = 0
    workers: int | None = None
    checkpoint_steps: int = 100_000
    env: EnvOptions = field(default=ENV)

    def __post_init__(self) -> None:
        """Check each setting."""
        for name, hint in get_type_hints(type(self)).items():
            if not _fits(getattr(self, name), hint):
                raise _wrong(name, getattr(self, name), _words(hint))
        for name in ("total_steps", "num_envs", "rollout", "epochs", "minibatches", "width"):
            if getattr(self, name) < 1:
                raise _wrong(name, getattr(self, name), "1 or more")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise _wrong(name, getattr(self, name), "0 to 1")
        for name in ("learning_rate", "clip", "max_grad_norm", "checkpoint_steps"):
            if getattr(self, name) <= 0:
                raise _wrong(name, getattr(self, name), "more than 0")
        for name in ("seed", "shards", "threads", "entropy", "value"):
            if getattr(self, name) < 0:
                raise _wrong(name, getattr(self, name), "0 or more")
        if self.shards and self.num_envs % self.shards:
            raise _wrong("shards", self.shards, f"a divisor of num_envs, {self.num_envs}")
        if self.rollout * self.num_envs < self.minibatches * max(self.shards, 1):
            raise _wrong("minibatches", self.minibatches, "at most rollout × num_envs a shard")
        if any(isinstance(start, bytes) for start in self.env.starts):
            raise _wrong("starts", "a savestate", "frames to wait: a run's file holds no savestate")

    @property
    def batch(self) -> int:
        """Steps of one rollout, all environments together."""
        return self.rollout * self.num_envs

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the settings that `to_dict` gave, also after a trip through JSON.

        Raises:
            UserError: They are not settings of this version.
        """
        own = {one.name for one in fields(cls)}
        if extra := sorted(data.keys() - own):
            raise UserError(f"unknown settings {' '.join(extra)}", "those of this version")
        options = {name: _tupled(value) for name, value in data.get("env", {}).items()}
        return cls(**{**data, "env": EnvOptions.of(None, options)})

    def changed(self, settings: Iterable[str]) -> Self:
        """Return the settings with some of them changed.

        Args:
            settings: ``name=value`` each, of this class or of `EnvOptions`.

        Raises:
            UserError: There is no such setting (close names are offered), or it cannot be.
        """
        own: dict[str, Any] = {}
        env: dict[str, Any] = {}
        hints = get_type_hints(type(self))
        hints.pop("env")
        env_hints = get_type_hints(EnvOptions)
        for setting in settings:
            name, sign, text = setting.partition("=")
            if not sign:
                raise UserError(f"--set {setting}", "name=value")
            if name not in hints and name not in env_hints:
                close = difflib.get_close_matches(name, [*hints, *env_hints], 1)
                remedy = f"Did you mean {close[0]}?" if close else ""
                everything = " ".join([*hints, *env_hints])
                raise UserError(f"no setting is called {name!r}", f"one of {everything}", remedy)
            hint = hints.get(name) or env_hints[name]
            value = parse(text, hint)
            if not _fits(value, hint):
                raise _wrong(name, text, _words(hint))
            (own if name in hints else env)[name] = value
        return replace(self, **own, env=EnvOptions.of(self.env, env))


def parse(text: str, hint: Any) -> Any:
    """Return the value that a ``--set`` names: a word, a number, or a literal of Python."""
    if hint is str or text in _choices(hint):
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return _tupled(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def _choices(hint: Any) -> list[Any]:
    """Return the words that a type allows."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [word for part in get_args(hint) for word in _choices(part)]


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a type, as far as settings have types."""
    origin = get_origin(hint) or hint
    if origin is Literal:
        return value in get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in get_args(hint))
    if origin is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if origin is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if origin is Sequence:
        return isinstance(value, (list, tuple))
    return isinstance(value, NoneType if origin is None else origin)


def _words(hint: Any) -> str:
    """Return a type in words."""
    named = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    if choices := _choices(hint):
        return "one of " + " ".join(map(str, choices))
    kinds = [kind for part in get_args(hint) if (kind := named.get(part))]
    none = [" or none"] if NoneType in get_args(hint) else []
    return named.get(hint) or "".join([*kinds, *none]) or str(hint)


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _wrong(name: str, found: Any, wanted: str) -> UserError:
    return UserError(f"{name}: found {found!r}", wanted)
