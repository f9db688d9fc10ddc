"""The evidence bundle: every experiment of a proof, with all it takes to make it again.

A search makes thousands of pokes; a `Witness` keeps those that a fact rests on. A `Bundle` adds the
way there from power-on and is written beside the integration (docs/verify.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core import Core, Span
from ..files import reading, whole_file
from ..integration import parse_start
from .kinds import KINDS, MEASURED, UNITS
from .record import Recording
from .tape import span_arrays, spans_of, texts

FORMAT = 2


# Field → its type in the file and its number of dimensions.
ARRAYS: dict[str, tuple[type[np.generic], int]] = {
    "before": (np.uint8, 1),
    "rows": (np.int16, 2),
    "offsets": (np.int32, 1),
    "log": (np.uint16, 2),
    "looks": (np.int32, 1),
    "kept": (np.int32, 1),
    "ram": (np.uint8, 3),
    "pictures": (np.uint64, 2),
    "control": (np.int16, 2),
}


def proof_path(integration: Path) -> Path:
    """Return where the bundle of an integration lies: ``digdug.proof.npz`` by ``digdug.yaml``."""
    return integration.with_suffix(".proof.npz")


def fingerprint(data: NDArray[Any]) -> int:
    """Return a 64-bit hash of an array's bytes."""
    body = np.ascontiguousarray(data).tobytes()
    return int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "little")


def fingerprints(pictures: NDArray[Any] | None) -> NDArray[np.uint64]:
    """Return the hash of each picture, uint64 [branches, looks]; [0, 0] without any."""
    if pictures is None or not pictures.size:
        return np.zeros((0, 0), np.uint64)
    return np.array([[fingerprint(view) for view in row] for row in pictures], np.uint64)


@dataclass(frozen=True, eq=False)
class Experiment:
    """One poke before a recorded moment, the buttons pressed after it, and what came of it.

    Attributes:
        episode, frame: The moment: a frame of an episode, before it has run.
        before: uint8 [recorded]: what the recorded bytes held at that moment.
        rows: int [branches, pokes]: the bytes written, one future a row; -1 leaves a byte alone.
        offsets: int [pokes]: where they go, in the core's selected regions.
        log: uint16 [1 or branches, frames]: the buttons pressed from there on.
        looks: int [looks]: frames run at each look, ascending.
        kept: int [kept]: the bytes read at each look.
        ram: uint8 [branches, looks, kept]: what they held.
        pictures: uint64 [branches, looks]: `fingerprint` of each picture; [0, 0] without.
        control: int [looks, 2]: how much inputs mattered at each look; [0, 2] without.
        kind: What it shows, a key of `KINDS`.
        claim: The numbers it shows.
        fact: The variable of the integration that it belongs to.

    Raises:
        ValueError: The shapes do not fit each other.
    """

    episode: int
    frame: int
    before: NDArray[np.uint8]
    rows: NDArray[np.integer[Any]]
    offsets: NDArray[np.integer[Any]]
    log: NDArray[np.uint16]
    looks: NDArray[np.integer[Any]]
    kept: NDArray[np.integer[Any]]
    ram: NDArray[np.uint8]
    pictures: NDArray[np.uint64]
    control: NDArray[np.integer[Any]]
    kind: str = ""
    claim: dict[str, int] = field(default_factory=dict)
    fact: str = ""

    def __post_init__(self) -> None:
        """Check that the shapes fit."""
        branches, looks, kept = self.ram.shape
        steps = np.diff(self.looks, prepend=0)
        fits = (
            self.rows.shape == (branches, len(self.offsets))
            and branches > 0
            and len(self.looks) == looks > 0
            and len(self.kept) == kept
            and self.pictures.shape in ((branches, looks), (0, 0))
            and self.control.shape in ((looks, 2), (0, 2))
            and bool((steps > 0).all())
            and len(self.log) in (1, branches)
            and int(self.looks[-1]) <= self.log.shape[1]
            and min(self.episode, self.frame, *self.offsets.tolist(), *self.kept.tolist()) >= 0
            and bool((self.rows >= -1).all() and (self.rows < 256).all())
        )
        if not fits:
            raise ValueError("the parts of an experiment do not fit")

    def check_claim(self) -> None:
        """Check that it can show what it claims.

        Raises:
            ValueError: It cannot.
        """
        kind, claim, looks = KINDS[self.kind], self.claim, len(self.looks)
        at = [claim[name] for name in ("look", "first", "last") if name in claim]
        sound = (
            len(self.rows) == (kind.branches or len(self.rows))
            and set(claim) == set(kind.claim)
            and all(-1 <= look < looks for look in at)
            and (self.kind == "ticks" or claim.get("step", 1) > 0)
            and bool(len(self.control)) == (self.kind in MEASURED)
            and looks == (kind.looks or looks)
            and len(self.offsets) > 0
            and not (kind.drawn and (not self.pictures.size or self.kept[:1] != self.offsets[:1]))
            and claim.get("across", 0) in (0, 1)
            and (self.kind != "digits" or claim["unit"] in range(len(UNITS)))
        )
        if not sound or (len(self.control) and len(self.rows) != 1):
            raise ValueError(f"an experiment cannot show what it claims ({self.kind})")


class Witness:
    """Keeps the experiments of each proof while a search goes on.

    Whoever proves something says `begin`, makes experiments, says of each what it `shows`, and in
    the end what it all `proves`. What is never said to prove anything is forgotten.
    """

    def __init__(self) -> None:
        self.latest: Experiment | None = None
        self._open: list[Experiment] = []
        self._proofs: list[tuple[object, list[Experiment]]] = []

    def begin(self) -> None:
        """Begin a new attempt at a proof."""
        self._open = []

    def narrow(self, columns: NDArray[np.bool_]) -> None:
        """Forget recorded bytes: from now on only these of them are, bool [recorded]."""
        proofs = [seen for _, seen in self._proofs]
        for kept in (self._open, *proofs):
            kept[:] = [replace(e, before=e.before[columns]) for e in kept]

    def shows(self, kind: str, of: Experiment | None = None, **claim: int) -> None:
        """Keep the latest experiment, or another, with what it shows."""
        seen = self.latest if of is None else of
        assert seen is not None and kind in KINDS
        numbers = {name: int(value) for name, value in claim.items()}
        self._open.append(replace(seen, kind=kind, claim=numbers))

    def proves(self, result: object, earlier: object = None) -> None:
        """Name the object that rests on the experiments of this attempt, and of an earlier one."""
        self._proofs.append((result, [*self.of(earlier), *self._open]))
        self._open = []

    def of(self, result: object, fact: str = "") -> list[Experiment]:
        """Return the experiments that this very object rests on; none when it was not proved.

        They are named after the fact; a flag that tells the end of lives is one of its own.
        """
        seen = next((seen for named, seen in self._proofs if named is result), [])
        return [replace(e, fact="game_over" if e.kind == "over" else fact) for e in seen]


@dataclass(frozen=True, eq=False)
class Bundle:
    """All that a proof rests on.

    Attributes:
        rom_sha1: The content.
        core, core_version: What ran it.
        spans: The selected regions that offsets count in.
        seed: Of the search.
        start_buttons: The start sequence from power-on.
        start_ram: uint8 [recorded]: the bytes at ``offsets`` after it.
        start_state: SHA-1 of the savestate after it, header included.
        offsets: int32 [recorded]: the bytes that show whether play is the same: recorded ones of
            the first region that two power-ons agree on. Others may be what nothing initialises.
        every: Frames between savestates that were saved and restored in each episode.
        size: Width and height of the pictures.
        homed: Each run begins with `control.HOME`, as savestates leave a paddle out.
        buttons: uint16 [episodes, frames]: what was pressed, up to the last moment used; 0 after.
        experiments: In the order in which they were made.

    Raises:
        ValueError: The parts do not fit each other.
    """

    rom_sha1: str
    core: str
    core_version: str
    spans: tuple[Span, ...]
    seed: int
    start_buttons: tuple[str, ...]
    start_ram: NDArray[np.uint8]
    start_state: str
    offsets: NDArray[np.int32]
    every: int
    size: tuple[int, int]
    homed: bool
    buttons: NDArray[np.uint16]
    experiments: tuple[Experiment, ...]

    def __post_init__(self) -> None:
        """Check that experiments lie within what was recorded."""
        parse_start(self.start_buttons)
        total = sum(span.size for span in self.spans)
        used = [self.offsets, *(e.offsets for e in self.experiments)]
        used += [e.kept for e in self.experiments]
        known = [self.start_ram, *(e.before for e in self.experiments)]
        episodes, frames = self.buttons.shape
        if (
            any(len(part) != len(self.offsets) for part in known)
            or min(self.every, *self.size) < 1
            or any(part.size and not 0 <= part.min() <= part.max() < total for part in used)
            or any(e.episode >= episodes or e.frame >= frames for e in self.experiments)
        ):
            raise ValueError("the experiments do not fit the recording")
        for e in self.experiments:
            e.check_claim()

    @classmethod
    def of(
        cls,
        core: Core,
        start_buttons: Sequence[str],
        seed: int,
        recording: Recording,
        size: tuple[int, int],
        experiments: Sequence[Experiment],
    ) -> Self:
        """Return the bundle of some experiments of a recording."""
        assert core.content is not None
        with Core.open(core.found, core.content) as fresh:
            fresh.record(parse_start(start_buttons))
            stable = fresh.read() == recording.initial
        stable[core.spans[0].size :] = False
        same = stable[recording.offsets]
        last = np.zeros(recording.episodes, np.int64)
        for e in experiments:
            last[e.episode] = max(last[e.episode], e.frame)
        buttons = recording.buttons[:, : int(last.max()) + 1].copy()
        buttons[np.arange(buttons.shape[1]) >= last[:, None]] = 0
        return cls(
            core.content.sha1,
            core.spec.name,
            core.info.version,
            core.spans,
            seed,
            tuple(start_buttons),
            recording.initial[recording.offsets[same]],
            hashlib.sha1(recording.state).hexdigest(),
            recording.offsets[same],
            recording.every,
            size,
            core.home is not None,
            buttons,
            tuple(replace(e, before=e.before[same]) for e in experiments),
        )

    def save(self, path: Path) -> None:
        """Write a compressed ``.npz``, as a whole or not at all; docs/verify.md lists its arrays.

        Raises:
            UserError: It cannot be written.
        """
        seen = self.experiments
        arrays: dict[str, Any] = {
            "format": np.array(FORMAT),
            "rom_sha1": np.array(self.rom_sha1),
            "core": np.array(self.core),
            "core_version": np.array(self.core_version),
            **span_arrays(self.spans),
            "seed": np.array(self.seed),
            "start_buttons": texts(self.start_buttons),
            "start_ram": self.start_ram,
            "start_state": np.array(self.start_state),
            "recorded": self.offsets,
            "every": np.array(self.every),
            "size": np.array(self.size),
            "homed": np.array(self.homed),
            "buttons": self.buttons,
            "moments": np.array([(e.episode, e.frame) for e in seen], np.int32).reshape(-1, 2),
            "facts": texts(e.fact for e in seen),
            "kinds": texts(e.kind for e in seen),
            "claims": texts(json.dumps(e.claim) for e in seen),
        }
        for name, (kind, dimensions) in ARRAYS.items():
            parts = [np.asarray(getattr(e, name)) for e in seen]
            shapes = [part.shape for part in parts]
            flat = [part.astype(kind).reshape(-1) for part in parts]
            arrays[name] = np.concatenate([np.zeros(0, kind), *flat])
            arrays[f"{name}_shapes"] = np.array(shapes, np.int32).reshape(-1, dimensions)
        with whole_file(path, "the proof ") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            UserError: There is no such file, or it is something else, or damaged.
        """
        with reading(path, "proof", "the .proof.npz that ramsearch wrote beside the integration"):
            with path.open("rb") as file, np.load(file) as arrays:
                return cls._read({name: arrays[name] for name in arrays.files})

    @classmethod
    def _read(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        if int(arrays["format"]) != FORMAT:
            raise ValueError(f"it has format {int(arrays['format'])}, this retrokit reads {FORMAT}")
        parts: dict[str, Any] = {}
        for name, (kind, _) in ARRAYS.items():
            shapes = [tuple(shape) for shape in arrays[f"{name}_shapes"].tolist()]
            ends = np.cumsum([int(np.prod(shape)) for shape in shapes], dtype=np.int64)
            pieces = np.split(arrays[name].astype(kind), ends)
            if len(pieces.pop()):
                raise ValueError(f"{name} is longer than its shapes")
            parts[name] = [p.reshape(shape) for p, shape in zip(pieces, shapes, strict=True)]
        columns = [arrays[name].tolist() for name in ("moments", "facts", "kinds", "claims")]
        seen = []
        for n, ((episode, frame), fact, shown, text) in enumerate(zip(*columns, strict=True)):
            claim = {str(name): int(value) for name, value in dict(json.loads(text)).items()}
            fields = {name: parts[name][n] for name in ARRAYS}
            seen.append(Experiment(episode, frame, **fields, kind=shown, claim=claim, fact=fact))
        width, height = arrays["size"].tolist()
        return cls(
            str(arrays["rom_sha1"]),
            str(arrays["core"]),
            str(arrays["core_version"]),
            spans_of(arrays),
            int(arrays["seed"]),
            tuple(arrays["start_buttons"].tolist()),
            arrays["start_ram"].astype(np.uint8),
            str(arrays["start_state"]),
            arrays["recorded"].astype(np.int32),
            int(arrays["every"]),
            (width, height),
            bool(arrays["homed"]),
            arrays["buttons"].astype(np.uint16),
            tuple(seen),
        )
