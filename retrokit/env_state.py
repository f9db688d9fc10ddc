"""The state of many environments as bytes, from which any process goes on exactly.

It holds no savestate of a core: each lane's game is played again from its start, by the draws and
actions of its log, and what comes out must be what was seen.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ReplayDiffers, UserError
from .lane_log import LaneLog
from .lanes import Lanes
from .options import EnvOptions
from .sealed import seal, unseal
from .workers import Workers

MAGIC = b"RKENVST1"
LOG = np.dtype(
    [
        ("then", np.uint64),
        ("now", np.uint64),
        ("actions", np.int64),  # how many
        ("chosen", np.int32),
        ("known", np.int32),
    ]
)
PLAYED = ("frame", "game_steps", "game_return")  # fields of a result that count the game

Arrays = dict[str, NDArray[Any]]


def save(lanes: Lanes | Workers) -> bytes:
    """Return all that it takes to go on from here; no step may be under way.

    Raises:
        CoreError: A lane has failed: there is no going on from it.
    """
    lanes.wait()
    logs = [lanes.log(row) for row in range(lanes.count)]
    rows = [(log.then, log.now, len(log.actions), log.chosen, log.known) for log in logs]
    actions = np.concatenate([log.actions for log in logs])
    arrays = _rows(lanes) | {"logs": np.array(rows, LOG), "actions": actions}
    body = b"".join(array.tobytes() for array in arrays.values())
    return seal(MAGIC, _facts(lanes), zlib.compress(body, 1))


def restore(lanes: Lanes | Workers, state: bytes) -> None:
    """Bring lanes to where they were when `save` was called.

    Raises:
        UserError: The state is damaged, or of other environments.
        ReplayDiffers: A game came out differently.
        CoreError: A core failed.
    """
    facts, body = unseal(MAGIC, state, "the state", "state of environments")
    for name, here in _facts(lanes).items():
        if facts.get(name) != here:
            found = f"a state of environments with {name} {_short(facts.get(name))}"
            raise UserError(found, f"{name} {_short(here)}", "Make the environments as they were.")
    saved = _unpack(_rows(lanes), zlib.decompress(body))
    logs = _logs(saved.pop("logs"), saved.pop("actions"))
    mine = _rows(lanes)
    for name, array in mine.items():
        array[:] = saved[name]  # what a lane without a game goes on from
    lanes.replay(logs)
    for row, log in enumerate(logs):
        if log.known and not _same(mine, saved, row, lanes.log(row).now == log.now):
            found = f"{lanes.game.integration.game} (environment {row}): the game was played again"
            raise ReplayDiffers(
                f"{found} from its start and came out differently",
                "the same picture and numbers",
                "The core does not repeat itself; retrokit probe-core tells more.",
            )
    for name, array in mine.items():
        array[:] = saved[name]


def _rows(lanes: Lanes | Workers) -> Arrays:
    """Return what all lanes told last, not copied."""
    arrays = {name: a for name, a in lanes.batch.arrays.items() if not name.startswith("final_")}
    return arrays | {"seeds": lanes.seeds, "restarts": lanes.restarts}


def _unpack(rows: Arrays, body: bytes) -> Arrays:
    """Return the arrays of a state, whose rows are like these."""
    out: Arrays = {}
    at = 0
    kinds = {name: (array.dtype, array.shape) for name, array in rows.items()}
    count = len(rows["seeds"])
    for name, (dtype, shape) in (kinds | {"logs": (LOG, (count,))}).items():
        out[name] = np.frombuffer(body, dtype, int(np.prod(shape)), at).reshape(shape)
        at += out[name].nbytes
    return out | {"actions": np.frombuffer(body, np.int32, offset=at)}


def _logs(rows: NDArray[Any], actions: NDArray[np.int32]) -> list[LaneLog]:
    pieces = np.split(actions, np.cumsum(rows["actions"])[:-1])
    no_buttons = np.zeros(0, np.uint16)
    return [
        LaneLog(bool(known), chosen, -1, then, now, piece, no_buttons)
        for (then, now, _, chosen, known), piece in zip(rows.tolist(), pieces, strict=True)
    ]


def _same(mine: Arrays, saved: Arrays, row: int, drawn: bool) -> bool:
    """Whether a game came out as it was saved; autoreset may have put the last end beside it."""
    results = mine["results"][row], saved["results"][row]
    return (
        drawn
        and all(results[0][name] == results[1][name] for name in PLAYED)
        and all(
            (mine[name][row] == saved[name][row]).all()
            for name in ("picture", "ram", "values")
            if name in mine
        )
    )


def _facts(lanes: Lanes | Workers) -> dict[str, Any]:
    """Return what must be as it was, in the order in which a difference is told."""
    game = lanes.game
    rules = game.integration.to_dict()
    rules.pop("evidence", None)
    return {
        "game": game.integration.game,
        "content": game.content.sha1,
        "core": f"{lanes.info.name} {lanes.info.version}",
        "environments": lanes.count,
        "autoreset": lanes.autoreset,
        **_plain(lanes.options),
        "integration": _sum(json.dumps(rules, sort_keys=True, default=str).encode()),
    }


def _plain(options: EnvOptions) -> dict[str, Any]:
    """Return options as JSON has them, savestates by their hash."""
    given = {field.name: getattr(options, field.name) for field in fields(options)}
    given["starts"] = [
        _sum(start) if isinstance(start, bytes) else start for start in options.starts
    ]
    plain: dict[str, Any] = json.loads(json.dumps(given, default=_listed))
    return plain


def _listed(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else np.asarray(value).tolist()


def _sum(body: bytes) -> str:
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 60 else text[:57] + "..."
