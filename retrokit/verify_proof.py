"""Proof by repetition: is what the search saw seen again, and is it what the file says?

The experiments of an evidence bundle are made once more in a child process, from power-on; here is
also what judges them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import sandbox
from .core import Core, Span
from .discovery.bundle import Bundle, Experiment
from .discovery.candidates import place
from .discovery.control import Control, Kind, controls
from .discovery.kinds import ENDED, NEEDED
from .discovery.poke import Moment, Prober
from .discovery.record import Recording, states_along
from .errors import UserError
from .integration import Integration, parse_start
from .load import Game
from .paddle import HOME
from .sandbox import Emit
from .verify import Where
from .verify_claims import Again, contradiction, drawn
from .verify_read import Reader

# Kind → what one experiment of it shows; and what it shows where the screen took part.
SHOWN = {
    "added": ("added up", "read back"),
    "film": ("", "on film"),
    "loss": ("lost a life", ""),
    "alive": ("went on", ""),
    "last": ("lost the last", ""),
    "gone": ("ended", ""),
    "over": ("told the end", ""),
    "playing": ("told none in play", ""),
    "stops": ("ended play", ""),
    "steered": ("steered in order", ""),
    "placed": ("moved a thing", ""),
    "obeyed": ("sent away and steered", ""),
    "ticks": ("ticked alike", ""),
    "digits": ("drew ten digits", ""),
    "shot": ("paid for a shot", ""),
    "needed": ("let fire or not", ""),
    "bar": ("drew a bar", ""),
    "costs": ("cost a life", ""),
    "begins": ("began", ""),
    "redrawn": ("rose to a new picture", ""),
}
RULING = ("score", "lives", "game_over")  # nothing is proved without, whoever wrote the file
WITHOUT = "without a proof to replay"


class Finding(NamedTuple):
    """One fact of the file and what became of its proof.

    Attributes:
        fact: ``start`` or a variable of the file.
        experiments: How many the bundle holds.
        equal: How many of them gave the same bytes and pictures again.
        holds: All did, and they show what the file says; None where a bundle never holds any.
        seen: What they show, or what was first seen instead.
        where: The experiment that showed it.
        likely: The file itself calls it no more than likely.
    """

    fact: str
    experiments: int
    equal: int
    holds: bool | None
    seen: str
    where: Where | None = None
    likely: bool = False


def reprove(
    game: Game,
    bundle: Bundle,
    path: Path,
    report: Callable[[float, str], None] = lambda share, text: None,
) -> list[Finding]:
    """Make the experiments of a bundle again and judge the file by them.

    Args:
        game: The integration with its core and content.
        bundle: Its proof.
        path: The bundle's file, for messages.
        report: Called with the share that is finished and what is going on.

    Raises:
        UserError: The bundle was made with another ROM, core or core version.
        IntegrationError: An address lies outside the core's memory.
        CoreCrashed: The core died; so do CoreTimeout and LoadRefused tell of it.
    """
    _same(path, "the ROM with sha1", bundle.rom_sha1, game.content.sha1)
    _same(path, "the core", bundle.core, game.found.spec.name)
    told = sandbox.call(replay, (game, bundle, path), on_event=lambda event: report(*event))
    return judge(game.integration, bundle, *told)


def _same(path: Path, what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise UserError(
            f"{path} is a proof on {what} {wanted}, and this is {found}",
            "the same",
            "Search again, or give what the proof was made with.",
        )


# -- in the child ----------------------------------------------------------------------------------


def replay(emit: Emit, game: Game, bundle: Bundle, path: Path) -> tuple[str, bool, list[Again]]:
    """Play the start and make every experiment again; runs in a sandbox.

    Returns:
        What differs at the start, empty when nothing does; whether the savestate is the same too;
        and the experiments in their order, none when the start differs.
    """
    emit((0.0, "the start"))
    with game.open() as core:
        found, wanted = core.info.version, bundle.core_version
        if found.split() != wanted.split():  # FBNeo's has two blanks in it
            _same(path, f"{bundle.core} version", wanted, found)
        reader = Reader(core, game.integration)
        _same(path, "the memory", bundle.spans, core.spans[: len(bundle.spans)])
        core.record(parse_start(bundle.start_buttons))
        core.home = HOME if bundle.homed else None
        state, initial = core.save(), core.read()
        same = hashlib.sha1(state).hexdigest() == bundle.start_state
        if said := _first(initial[bundle.offsets], bundle.start_ram, bundle.offsets, bundle.spans):
            return f"after the start sequence {said}", same, []
        recording = Recording(
            state,
            bundle.buttons,
            np.zeros((*bundle.buttons.shape, 0), np.uint8),
            initial,
            bundle.offsets,
            [],
            bundle.every,
            [[] for _ in bundle.buttons],
        )
        prober = Prober(core, recording, bundle.size)
        order = sorted(
            range(len(bundle.experiments)),
            key=lambda n: (bundle.experiments[n].episode, bundle.experiments[n].frame),
        )
        again: dict[int, Again] = {}
        for behind, number in enumerate(order):
            emit((behind / len(order), f"experiment {behind + 1} of {len(order)}"))
            experiment = bundle.experiments[number]
            _reach(core, recording, experiment.episode)
            again[number] = _made(prober, reader, experiment, bundle.spans)
    return "", same, [again[number] for number in range(len(order))]


def _reach(core: Core, recording: Recording, episode: int) -> None:
    """Play an episode again for its savestates; those of others are not needed any more."""
    if not recording.checkpoints[episode]:
        recording.checkpoints[:] = [[] for _ in recording.buttons]
        log = recording.buttons[episode]
        recording.checkpoints[episode] = states_along(core, recording.state, log, recording.every)


def _made(prober: Prober, reader: Reader, wanted: Experiment, spans: Sequence[Span]) -> Again:
    """Make an experiment again."""
    core, moment = prober.core, Moment(wanted.episode, wanted.frame)
    core.load(prober.state(moment))
    offsets = prober.recording.offsets
    if said := _first(core.read()[offsets], wanted.before, offsets, spans):
        return Again(f"before the poke {said}")
    before = {name: int(value[0]) for name, value in reader.values([reader.now()]).items()}
    rows = []
    for row in wanted.rows:
        core.load(prober.state(moment))
        written = row >= 0
        core.poke(wanted.offsets[written].tolist(), row[written].tolist())
        rows.append(reader.now())
    again = Again("", before, reader.values(rows))
    looks = wanted.looks.tolist()
    if len(wanted.control):
        again.differs = _control(prober, moment, wanted)
        return again
    kept = np.concatenate([wanted.kept, reader.kept]).tolist()
    _, pictures = prober.after(
        moment,
        wanted.rows.tolist(),
        wanted.offsets.tolist(),
        looks,
        kept,
        pictures=bool(wanted.pictures.size),
        log=wanted.log if len(wanted.log) > 1 else wanted.log[0],
        proof=True,
    )
    seen = prober.witness.latest
    assert seen is not None
    own = len(wanted.kept)
    again.differs = _difference(seen.ram[:, :, :own], seen.pictures, wanted, spans)
    if not again.differs:  # else it is not what it was measured on
        again.drawn = drawn(wanted, pictures)
    values = reader.values([seen.ram[:, :, own:].reshape(-1, len(reader.kept))])
    again.values = {name: value.reshape(-1, len(looks)) for name, value in values.items()}
    return again


def _control(prober: Prober, moment: Moment, wanted: Experiment) -> str:
    """Measure control again; return how it differs."""
    written = wanted.rows[0] >= 0
    poke = wanted.offsets[written].tolist(), wanted.rows[0][written].tolist()
    kind: Kind = "fire" if wanted.claim["fire"] else "directions"
    before = None
    if wanted.kind == "gone":
        before = Control(wanted.claim["variety"], bool(wanted.claim["steers"]), kind)
    looks = wanted.looks.tolist()
    state = prober.state(moment)
    seen = controls(prober.core, state, wanted.log[0], looks, poke, before, kind)
    for look, found, known in zip(looks, seen, wanted.control.tolist(), strict=True):
        if list(found) != known:
            return f"control {look} frames later measures {list(found)}, not {known}"
    return ""


def _difference(
    ram: NDArray[np.uint8],
    pictures: NDArray[np.uint64],
    wanted: Experiment,
    spans: Sequence[Span],
) -> str:
    """Return what is first other than in the bundle."""
    for look, frames in enumerate(wanted.looks.tolist()):
        for now, then in zip(ram[:, look], wanted.ram[:, look], strict=True):
            if said := _first(now, then, wanted.kept, spans):
                return f"{said}, after {frames} frames"
        if pictures.size and (pictures[:, look] != wanted.pictures[:, look]).any():
            return f"another picture after {frames} frames"
    return ""


def _first(
    now: NDArray[np.uint8],
    then: NDArray[np.uint8],
    offsets: NDArray[np.integer[Any]],
    spans: Sequence[Span],
) -> str:
    """Return the first of some bytes that is other than it was; empty when none is."""
    for n in np.flatnonzero(now != then).tolist():
        region, addr = place(int(offsets[n]), spans)
        return f"{region} {addr:#x} is {now[n]:#04x}, not {then[n]:#04x}"
    return ""


# -- judging ---------------------------------------------------------------------------------------


def judge(
    integration: Integration, bundle: Bundle, start: str, same: bool, again: Sequence[Again]
) -> list[Finding]:
    """Return what became of each fact's proof.

    Args:
        integration: The file, whose variables the experiments were read with.
        bundle: What was seen then.
        start: What differs at the start.
        same: Whether the savestate there is the same; Stella keeps more than the game in it.
        again: What was seen now, in the bundle's order; none where the start differs.
    """
    log = parse_start(bundle.start_buttons)
    equal = not start
    if equal and not np.array_equal(integration.start_frames(), log):
        start = "start_buttons are others than those of the proof"
    led = f"{len(log)} frames from power-on led to the same {len(bundle.offsets):,} bytes"
    seen = start or led + (" and savestate" if same else ", and to another savestate")
    findings = [Finding("start", 1, int(equal), not start, seen)]
    for fact in integration.variables:
        kept = [n for n, e in enumerate(bundle.experiments) if e.fact == fact]
        made = [bundle.experiments[n] for n in kept]
        grade = _grade(integration, fact)
        missing = [kind for kind in _needed(fact, grade) if kind not in [e.kind for e in made]]
        if missing:
            said = f"the proof holds no experiment of it ({' '.join(missing)})"
            found = Finding(fact, len(made), 0, False, said)
        elif not made:
            found = Finding(fact, 0, 0, None, f"{grade}, {WITHOUT}" if grade else WITHOUT)
        elif again:
            found = _fact(integration, fact, made, [again[n] for n in kept], len(log))
        else:
            found = Finding(fact, len(made), 0, False, "not made again, since the start differs")
        findings.append(found._replace(likely=grade == "likely"))
    return findings


def _grade(integration: Integration, fact: str) -> str:
    """Return the grade that the file gives a fact, empty where it gives none."""
    known = integration.evidence
    if fact == "game_over" and fact not in known:  # a flag beside the lives
        known = known.get("lives", {})
    return str(known.get(fact, {}).get("grade", ""))


def _needed(fact: str, grade: str) -> tuple[str, ...]:
    """Return the kinds of experiments without which a fact of a grade is not proved."""
    if grade == "proved" or not grade and fact in RULING:
        return ENDED if (fact, grade) == ("game_over", "proved") else NEEDED.get(fact, ())
    return ()


def _fact(
    integration: Integration, fact: str, made: list[Experiment], again: list[Again], start: int
) -> Finding:
    """Return what became of the proof of one fact; ``start`` counts the frames before play."""
    equal = sum(not new.differs for new in again)
    for e, new in zip(made, again, strict=True):
        if said := new.differs or contradiction(integration, e, new):
            where = Where(e.episode + 1, start + e.frame)
            return Finding(fact, len(made), equal, False, said, where)
    seen = []
    for kind, (said, shown) in SHOWN.items():
        looks = [e.claim.get("look", -1) for e in made if e.kind == kind]
        seen += [f"{len(looks)} {said}"] if looks and said else []
        seen += [f"{sum(look >= 0 for look in looks)} {shown}"] if looks and shown else []
    return Finding(fact, len(made), equal, True, ", ".join(seen))
