"""``retrokit watch``: an agent, random play or a person, in a window, a terminal or a film."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import sandbox
from ..checkpoint import Checkpoint, look_at
from ..errors import UserError
from ..learning.evaluate import SEED, decide, draws_of
from ..learning.players import (
    Player,
    checkpoints_of,
    game_of,
    options_of,
    players_of,
    random_player,
    whole_games,
)
from ..load import Game, find_integration, open_game
from ..options import EnvOptions
from ..policy import Decision, Policy
from ..run import Run, its_run
from ..systems import shipped_integrations
from . import output

By = Literal["agent", "random", "person"]
PLAIN = EnvOptions(noops=30)  # of random play without a run


@dataclass(frozen=True)
class Asked:
    """What is shown, and where; goes to the child process.

    Attributes:
        game: What is played.
        options: Of the environment that a policy plays in.
        player: The policy; None: a person plays.
        name: Who plays, for people.
        seed: Of the first game.
        out: A film; None: a window, or the terminal.
        terminal: The terminal instead of a window.
        games, seconds, record, rotate, sound, start: As in the command.
    """

    game: Game
    options: EnvOptions
    player: Player | None
    name: str
    seed: int
    out: Path | None
    terminal: bool
    games: int | None
    seconds: float | None
    record: Path | None
    rotate: int | None
    sound: bool
    start: bytes | None


def watch(
    what: Annotated[
        str | None,
        typer.Argument(help="A run, a checkpoint, or an integration.  [the newest run]"),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(help="Who plays.  [agent of a run; else person, random for --out]"),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="The agent takes the likeliest action, not a draw.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Play in this terminal, over SSH too.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="No window: a film, .mp4, .gif or .png.")] = None,
    games: Annotated[int | None, typer.Option(min=1, help="How many.  [one for --out]")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="End after so many.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first game, as in eval.")] = SEED,
    record: Annotated[Path | None, typer.Option(help="Keep the game as a .movie.")] = None,
    start: Annotated[Path | None, typer.Option(help="Begin from a state that F5 saved.")] = None,
    rotate: Annotated[
        int | None, typer.Option(help="Turn the core's picture by 0, 90, 180 or 270, not its own.")
    ] = None,
    sound: Annotated[bool, typer.Option("--sound", help="Sound in an .mp4.")] = False,
    content: output.ContentOption = None,
    rom_dir: output.RomDirOption = None,
    core: Annotated[
        str | None, typer.Option(help="A core's name or library file, not the integration's.")
    ] = None,
    json: output.JsonOption = False,
) -> None:
    """Play in front of your eyes; space pauses, F5 saves a state, Esc ends."""
    _check(terminal, out, rotate, sound, record)
    run, checkpoint, name = _found(what, by)
    who: By = by or ("agent" if run else "random" if out else "person")
    if greedy and who != "agent":
        raise UserError(f"--greedy with --by {who}", "an agent")
    if run is not None:
        game = replace_core(game_of(run, content, rom_dir or ()), core)
        options = options_of(run.config)
    else:
        assert name is not None
        game, options = open_game(name, content, rom_dir or (), core), whole_games(PLAIN)
    output.warn(game.warnings)
    state = _state(start)
    if state is not None:
        options = replace(options, starts=(state,))
    player, called = _player(who, game, run, checkpoint, greedy)
    ask = Asked(
        game, options, player, called, seed, out, terminal,
        games or (1 if out else None), seconds, record, rotate, sound, state,
    )  # fmt: skip
    seen, film = _shown(ask)
    facts = {
        "game": game.integration.game, "player": called, "seed": seed, "scores": seen.scores,
        "ended": seen.ended, "frames": seen.frames, "files": seen.files,
    }  # fmt: skip
    if json:
        output.print_json(facts | ({"film": film.to_dict()} if film is not None else {}))
        return
    for number, (score, ended, frames) in enumerate(
        zip(seen.scores, seen.ended, seen.frames, strict=True), 1
    ):
        print(f"game {number}: {score:,} points in {frames:,} frames, {ended or 'left'}")
    for path in seen.files:
        print(f"written  {path}")
    if film is not None:
        print(f"written  {film}")


def _check(
    terminal: bool, out: Path | None, rotate: int | None, sound: bool, record: Path | None
) -> None:
    """Refuse what does not go together, before anything is started."""
    from ..movie import SUFFIX
    from ..views.pictures import check_turn

    check_turn(rotate)
    if out is not None:
        from ..views.film import check_name

        check_name(out)
    if terminal and out is not None:
        raise UserError("--terminal with --out", "one of them")
    if sound and (out is None or out.suffix.lower() != ".mp4"):
        raise UserError("--sound without a film", "--out FILE.mp4")
    if record is not None and record.suffix.lower() != SUFFIX:
        raise UserError(f"--record {record}", f"a name that ends in {SUFFIX}")
    if terminal and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("no terminal to play in", "one on both ends", "Or take --out FILE.mp4.")
    if not terminal and out is None:
        from ..views.window import check_display

        check_display(os.environ)


def _found(what: str | None, by: By | None) -> tuple[Run | None, Checkpoint | None, str | None]:
    """Return the run and the checkpoint that were named, or the integration."""
    if what is None:
        run = Run.newest()
        output.note(f"the newest run, {run.name}")
        return run, None, None
    path = Path(what)
    if path.suffix == ".ckpt":
        return its_run(path), look_at(path), None
    if (path / "run.json").is_file():
        return Run.open(path), None, None
    integration = path.suffix in (".yaml", ".yml") or what in shipped_integrations()
    if integration and by != "agent":
        return None, None, str(find_integration(what))
    return Run.find(what), None, None


def replace_core(game: Game, core: str | None) -> Game:
    """Return a game on another core, if one is named."""
    return game if core is None else open_game(game.integration, game.content.path, (), core)


def _state(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror})", "a state that F5 saved") from None


def _player(
    by: By, game: Game, run: Run | None, checkpoint: Checkpoint | None, greedy: bool
) -> tuple[Player | None, str]:
    """Return who plays and what to call it; None for a person."""
    if by == "person":
        return None, "you"
    if by == "random":
        return random_player(game), "random play"
    if run is None:
        raise UserError("--by agent of an integration", "a run or a checkpoint")
    if checkpoint is None:
        checkpoint = checkpoints_of(run)[-1]
    (player,) = players_of(checkpoint, game, ("greedy",) if greedy else ("sampled",))
    return player, f"{checkpoint.step:,} steps{', greedy' if greedy else ''}"


def _shown(ask: Asked) -> tuple[Any, Any]:
    """Play in a child process; return what was seen and the film."""
    from ..views.terminal import restoring

    if ask.out is None:
        with restoring() if ask.terminal else nullcontext():
            return sandbox.call(show, (ask,))
    total = round(60 * (ask.seconds or 60))
    with output.progress(f"filming {ask.name}", total) as advance:
        seen = sandbox.call(show, (ask,), on_event=lambda told: advance(min(told[1], total)))
        advance(total)
    return seen


def show(emit: sandbox.Emit, ask: Asked) -> tuple[Any, Any]:
    """Play before somebody's eyes; runs in a sandbox, window and all."""
    from ..views.play import Agent, Person, Play, Stage
    from ..views.watch import Watch

    stage = Stage(ask.game, ask.rotate, ask.sound)
    with ExitStack() as stack:
        stack.callback(stage.close)
        if ask.player is None:
            player: Any = Person(ask.start if ask.start is not None else 0)
        else:
            draws = draws_of if ask.player.play == "sampled" else None
            policy = AsJudged(ask.player.load())
            player = Agent(ask.game, ask.options, policy, ask.name, draws)
        stack.callback(player.close)
        screen, camera = _screen(ask, stage.aspect, stage.core.info, stack)
        play = Play(stage, player, ask.seed)
        seen = Watch(
            play, screen, emit, games=ask.games, seconds=ask.seconds, record=ask.record
        ).run()
    return seen, camera.facts if camera is not None else None


def _screen(ask: Asked, aspect: float, info: Any, stack: ExitStack) -> tuple[Any, Any]:
    """Return the screen that was asked for, and the camera where it is a film."""
    if ask.out is not None:
        from ..views.film import filming
        from ..views.watch import FilmScreen

        rate = info.sample_rate if ask.sound else 0.0
        camera = stack.enter_context(filming(ask.out, info.fps or 60.0, sound_rate=rate))
        return FilmScreen(camera, aspect), camera
    if ask.terminal:
        from ..views.terminal import taking

        return stack.enter_context(taking(aspect=aspect)), None
    from ..views.window import Window

    return stack.enter_context(Window(f"retrokit: {ask.game.integration.game}", aspect)), None


class AsJudged:
    """A policy asked as an evaluation asks it, so that equal seeds give equal games."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def act(self, observations: Any, draws: Any) -> Decision:
        """Choose an action for each row."""
        return decide(self._policy, observations, draws)
