"""``retrokit replay``: does a movie still end in the same RAM? And a film of it, or a ``.bk2``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import bk2, sandbox
from ..errors import UserError
from ..load import open_game
from ..movie import SUFFIX, Movie
from . import output

FILMS = (".mp4", ".gif", ".png")
LOOKS = 100  # at how far a replay has come


def replay(
    movie: Annotated[Path, typer.Argument(help="A .movie of ours, or a .bk2 of stable-retro's.")],
    content: output.ContentArgument = None,
    rom_dir: output.RomDirOption = None,
    core: Annotated[
        str | None, typer.Option(help="A core's name or library file, not the recorded one.")
    ] = None,
    integration: Annotated[
        str | None, typer.Option(help="What a .bk2 is of: a file, or the name of one that ships.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Film it (.mp4, .gif, .png), or write it as .bk2 or .movie.")
    ] = None,
    sound: Annotated[bool, typer.Option("--sound", help="With sound, in an .mp4.")] = False,
    json: output.JsonOption = False,
) -> int:
    """Replay a movie in a sandbox, frame by frame, and prove the RAM at its end.

    Returns:
        0 when it ends in the same RAM.
    """
    suffix = "" if out is None else out.suffix.lower()
    if out is not None and suffix not in (*FILMS, bk2.SUFFIX, SUFFIX):
        wanted = "a name that ends in " + " ".join((*FILMS, bk2.SUFFIX, SUFFIX))
        raise UserError(f"--out {out}", wanted)
    if sound and suffix != ".mp4":
        raise UserError("--sound", "--out with an .mp4")
    if suffix in FILMS:
        from ..views import film  # noqa: F401 - what is not installed is told before the work
    where = content, tuple(rom_dir or ()), core
    recorded = _load(movie, integration, *where)
    facts: dict[str, Any] = {
        "movie": movie,
        "game": recorded.game,
        "core": f"{recorded.core} {recorded.core_version}",
        "frames": recorded.frames,
        "ram_sha1": recorded.ram_sha1,
        "facts": recorded.facts,
    }
    with output.progress(f"replaying {recorded.game}", recorded.frames) as advance:
        told = sandbox.call(_proved, (recorded, *where), on_event=advance)
    output.warn(told.pop("differences"))
    facts |= told
    if out is not None:
        line, facts["out"] = _written(recorded, out, sound, *where)
    if json:
        output.print_json(facts)
        return 0
    _print(facts)
    if out is not None:
        print(line)
    return 0


def _load(
    path: Path,
    integration: str | None,
    content: Path | None,
    rom_dirs: Sequence[Path],
    core: str | None,
) -> Movie:
    if path.suffix.lower() != bk2.SUFFIX:
        if integration is not None:
            raise UserError("--integration with a .movie", "it with a .bk2: a .movie names its own")
        return Movie.load(path)
    if integration is None:
        raise UserError(f"{path}, which names no ROM", "--integration, the game that it is of")
    game = open_game(integration, content, rom_dirs, core)
    movie = sandbox.run(_read, path, game)
    if not movie.savestate and game.content.system in bk2.LOST:
        lost = bk2.LOST[game.content.system]
        said = f"{path} begins at power-on, and stable-retro drops presses of {lost}"
        output.warn([f"{said}: the game may never start"])
    return movie


def _read(emit: sandbox.Emit, path: Path, game: Any) -> Movie:
    return bk2.read(path, game)


def _proved(
    emit: sandbox.Emit,
    movie: Movie,
    content: Path | None,
    rom_dirs: Sequence[Path],
    core: str | None,
) -> dict[str, Any]:
    with movie.open(content, rom_dirs, core) as opened:
        for number in movie.play(opened, max(1, movie.frames // LOOKS)):
            emit(number)
        fps = opened.info.fps or 60.0
        return {"seconds": movie.frames / fps, "differences": movie.differences(opened)}


def _exported(
    emit: sandbox.Emit,
    movie: Movie,
    path: Path,
    content: Path | None,
    rom_dirs: Sequence[Path],
    core: str | None,
) -> bool:
    return bk2.write(movie, path, partial(movie.open, content, rom_dirs, core))


def _written(
    movie: Movie,
    out: Path,
    sound: bool,
    content: Path | None,
    rom_dirs: Sequence[Path],
    core: str | None,
) -> tuple[str, dict[str, Any]]:
    """Write what was asked for; return what it is, as a line and as facts."""
    if out.suffix.lower() in FILMS:
        return _filmed(movie, out, sound, content, rom_dirs, core)
    if out.suffix.lower() == SUFFIX:
        movie.save(out)
        return str(out), {"path": out}
    powered = sandbox.run(_exported, movie, out, content, rom_dirs, core)
    start = "power-on" if powered else "a savestate"
    return f"{out}, from {start}", {"path": out, "from": start}


def _filmed(
    movie: Movie,
    out: Path,
    sound: bool,
    content: Path | None,
    rom_dirs: Sequence[Path],
    core: str | None,
) -> tuple[str, dict[str, Any]]:
    from ..views.film import filming
    from ..views.reel import Reel, Source

    with Reel(Source(movie, content, rom_dirs, core, sound=sound)) as reel:
        head = reel.head
        rate = head.sound_rate if sound else 0.0
        with (
            filming(out, head.fps, aspect=head.aspect, sound_rate=rate) as camera,
            output.progress(f"filming {movie.game}", movie.frames) as advance,
        ):
            for number, frame in enumerate(reel, 1):
                camera.add(frame.picture, frame.sound)
                advance(number)
    facts = camera.facts
    assert facts is not None
    return str(facts), facts.to_dict()


def _print(facts: dict[str, Any]) -> None:
    known = facts["facts"]
    score = known.get("score", known.get("return"))  # an evaluation calls it its return
    told = {} if score is None else {"score": output.points(score)}
    told |= {name: known[name] for name in ("steps", "seed", "frame_skip") if name in known}
    more = "".join(f", {name.replace('_', ' ')} {value}" for name, value in told.items())
    print(f"{facts['game']} on {facts['core']}{more}")
    print(f"{facts['frames']:,} frames, {facts['seconds']:.1f} s, end in the same RAM")
