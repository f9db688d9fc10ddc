"""The stages of `retrokit.probe`: each runs in a child and emits its answer, then closes the core.

Runs are compared by what they leave: the bytes of RAM, or the pictures where a core offers no RAM.
Savestate bytes are never compared: cores leave addresses and uninitialised bytes in them.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import signal
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from .buttons import to_mask
from .content import Content
from .core import SAVESTATE, Bytes, Core
from .errors import CoreCrashed, CoreStateError, CoreTimeout
from .sandbox import Emit
from .systems import FoundCore

FRAMES = 600  # ten seconds of play: past the self-tests and logos of most games
PLAY_LIMIT_S = 5.0  # a slow core plays fewer frames
EVERY = 10  # frames between two looks
LAG = 7  # frames the second of two interleaved instances lags behind the first
RUN = 60  # frames from a savestate
LOOKS = (1, 15, 30, 60)  # frames after a savestate at which all of RAM is compared
FORK_LIMIT_S = 10  # below the sandbox's limit: a hang after fork is an answer
SLICE_S = 0.12  # of speed measured at a time

VIDEO_AND_AUDIO, NEITHER = 0b0011, 0b1000  # GET_AUDIO_VIDEO_ENABLE
HELD = 8  # frames a button of the log is held
PRESSES = tuple(
    to_mask(names.split())
    for names in ("", "UP", "DOWN", "LEFT", "RIGHT", "B", "A", "B LEFT", "B RIGHT", "START",
                  "SELECT")
)  # fmt: skip

Facts = dict[str, Any]
Look = dict[str, bytes]
"""Digests of each region of RAM, and of the picture, after a frame."""
PICTURE = "picture"


class Check(NamedTuple):
    """One question put to the core: the answer, None when it cannot be told, and why."""

    ok: bool | None
    detail: str


class Answer(NamedTuple):
    """What a stage found out."""

    checks: dict[str, Check]
    facts: Facts


def play(emit: Emit, found: FoundCore, content: Content | None) -> None:
    """Emit facts as they become known, so that a crash leaves those before it."""
    core = Core(found)
    emit(_facts(core, loaded=False))
    if content is not None:
        core.load_content(content)
        emit(_facts(core, loaded=True))
        first = _look(core)
        looks: list[Look] = []
        begin = time.monotonic()
        for look in filter(None, _steps(core, _log(FRAMES))):
            looks.append(look)
            if time.monotonic() - begin > PLAY_LIMIT_S and len(looks) * EVERY >= RUN:
                break
        moved = {
            "ram": any(_changes(name, [first, *looks]) for name in first if name != PICTURE),
            "picture": _changes(PICTURE, looks),  # there is none before the first frame
        }
        facts = _facts(core, loaded=True)  # geometry and AV flags are settled by now
        emit(facts | {"frames": len(looks) * EVERY, "moved": moved, "looks": looks})
    core.close()


def repeat(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Play the first run again, in another process: this one."""
    core = Core.open(found, content)
    looks = list(filter(None, _steps(core, _log(len(solo) * EVERY))))
    answer, repeating = _same(solo, looks, "in two processes")
    emit(Answer({"repeat": answer}, {"repeating": repeating}))
    core.close()


def savestates(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Compare restored with restored, and restored with continued, from three savestates."""
    core = Core.open(found, content)
    if not core.info.savestate_size:
        none = Check(None, "the core saves no state")
        emit(Answer({"exact": none, "continues": none}, {}))
        return core.close()
    frames = len(solo) * EVERY
    log = _log(frames + RUN)
    exact = continues = ""
    begin = 0
    for at in (RUN // 2, frames // 2, frames):
        for mask in log[begin:at]:
            core.run(1, mask, see=False)
        begin, ahead = at, log[at : at + RUN]
        state, saved = core.save(), _ram(core)
        continued = _after(core, ahead)
        core.load(state)
        loaded = _ram(core)
        once = _after(core, ahead)
        core.load(state)
        twice = _after(core, ahead)
        core.load(state)
        exact = exact or _difference([saved, *once], [loaded, *twice], (0, *LOOKS), at)
        continues = continues or _difference(continued, once, LOOKS, at)
    what = f"equal over {RUN} frames: {'RAM' if _has_ram(core) else PICTURE}"
    checks = {
        "exact": Check(not exact, exact or f"restored twice {what}"),
        "continues": Check(not continues, continues or f"restored and continued {what}"),
    }
    emit(Answer(checks, {"savestate": _savestate_facts(core, state)}))
    core.close()


def copies(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Interleave two instances frame by frame, the second a little behind the first."""
    first, second = Core.open(found, content), Core.open(found, content)
    log = _log(len(solo) // 2 * EVERY)
    ahead, behind = _steps(first, log), chain([None] * LAG, _steps(second, log))
    both = list(zip_longest(ahead, behind))
    for looks in zip(*both, strict=True):
        answer, _ = _same(solo, list(filter(None, looks)), "two instances in one process")
        if not answer.ok:
            break
    emit(Answer({"copies": answer}, {}))
    first.close()
    second.close()


def reopen(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Open, play and close three times over."""
    log = _log(len(solo) // 3 * EVERY)
    answer = Check(True, "")
    for _ in range(3):
        core = Core.open(found, content)
        if answer.ok:
            looks = list(filter(None, _steps(core, log)))
            answer, _ = _same(solo, looks, "opened three times")
        core.close()
    emit(Answer({"reopen": answer}, {}))


def fork(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Fork a running core: child and parent must both go on as if alone."""
    core = Core.open(found, content)
    half = len(solo) // 2
    steps = _steps(core, _log(half * EVERY))
    begun = list(filter(None, islice(steps, half // 2 * EVERY)))
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forking beside the sandbox's thread is what we try
        child = os.fork()
    if not child:
        signal.alarm(FORK_LIMIT_S)
        code = 1
        try:
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(list(filter(None, steps)), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGALRM:
            raise CoreTimeout(f"a forked child hung for {FORK_LIMIT_S} s")
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise CoreCrashed(cause, "a forked child", [])
    answer, _ = _same(solo, begun + pickle.loads(sent), "in a forked child")
    if answer.ok:
        answer, _ = _same(solo, begun + list(filter(None, steps)), "after a fork")
    emit(Answer({"fork": answer}, {}))
    core.close()


def speed(emit: Emit, found: FoundCore, content: Content, solo: list[Look]) -> None:
    """Measure with and without picture and sound, in turns."""
    core = Core.open(found, content)
    core.run(2 * RUN, see=False)
    rates: dict[int, list[float]] = {VIDEO_AND_AUDIO: [], NEITHER: []}
    for _ in range(5):
        for flags, rate in rates.items():
            core.set_av(flags, flags)
            frames, begin = 0, time.perf_counter()
            while (spent := time.perf_counter() - begin) < SLICE_S:
                core.run(4, see=False)
                frames += 4
            rate.append(frames / spent)
    full, bare = (round(statistics.median(rate), 1) for rate in rates.values())
    asks = core.info.asks_av_enable
    emit(Answer({}, {"speed": {"fps": full, "fps_without_av": bare if asks else None}}))
    core.close()


# -- what the stages have in common -----------------------------------------------------------


def _log(frames: int) -> list[int]:
    """Return the one button log of all stages, or its beginning."""
    presses = random.Random(1)
    return [mask for _ in range(-(-frames // HELD)) for mask in [presses.choice(PRESSES)] * HELD][
        :frames
    ]


def _steps(core: Core, log: list[int]) -> Iterator[Look | None]:
    """Run a log frame by frame; yield a look every `EVERY` frames and None on the others."""
    for frame, mask in enumerate(log, 1):
        looking = frame % EVERY == 0
        core.run(1, mask, see=looking)
        yield _look(core) if looking else None


def _look(core: Core) -> Look:
    ram = _ram(core)
    spans = core.spans if len(ram) else ()
    look = {span.region: _digest(ram[span.start : span.start + span.size]) for span in spans}
    return look | {PICTURE: _digest(_picture(core))}


def _digest(data: Bytes) -> bytes:
    return hashlib.blake2b(data.data, digest_size=16).digest() if data.size else b""


def _has_ram(core: Core) -> bool:
    return any(span.region != SAVESTATE for span in core.spans)


def _ram(core: Core) -> Bytes:
    """Return the RAM there is to search; empty where there is only the savestate, or nothing."""
    return core.read() if _has_ram(core) else np.empty(0, np.uint8)


def _picture(core: Core) -> Bytes:
    """Return the last seen frame, flat; empty where there is none."""
    try:
        return core.frame().reshape(-1)
    except CoreStateError:
        return np.empty(0, np.uint8)


def _after(core: Core, log: list[int]) -> list[Bytes]:
    """Run a log of `RUN` frames; return RAM, or the picture where there is none, at `LOOKS`."""
    out, begin = [], 0
    for frame in LOOKS:
        for mask in log[begin:frame]:
            core.run(1, mask)
        out.append(_ram(core) if _has_ram(core) else _picture(core))
        begin = frame
    return out


def _difference(one: list[Bytes], two: list[Bytes], looks: tuple[int, ...], at: int) -> str:
    """Say where two futures of a savestate part; empty when they do not."""
    for frame, a, b in zip(looks, one, two, strict=True):
        if a.shape != b.shape:
            return f"{frame} frames after frame {at} the sizes differ"
        if len(where := np.flatnonzero(a != b)):
            first = " ".join(f"0x{offset:X}" for offset in where[:4])
            more = " …" if len(where) > 4 else ""
            return f"{len(where)} bytes differ {frame} frames after frame {at}: {first}{more}"
    return ""


def _changes(name: str, looks: list[Look]) -> bool:
    return len({look[name] for look in looks}) > 1


def _same(solo: list[Look], looks: list[Look], what: str) -> tuple[Check, list[str]]:
    """Compare a run with the beginning of the first one; return also the parts that are equal."""
    parted: dict[str, int] = {}
    for number, (a, b) in enumerate(zip(solo, looks, strict=False), 1):
        for name in a:
            if a[name] != b.get(name):
                parted.setdefault(name, number * EVERY)
    equal = [name for name in solo[0] if name not in parted]
    same = f"equal over {len(looks) * EVERY} frames: {_listed(equal)}"
    if not parted:
        return Check(True, f"{what} {same}"), equal
    differ = f"different by frame {min(parted.values())}: {_listed(list(parted))}"
    return Check(False, f"{what} {differ}" + (f"; {same}" if equal else "")), equal


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return ", ".join(names[: 3 if more else 4]) + more


def _facts(core: Core, loaded: bool) -> Facts:
    """Return what the core says and offers now."""
    info = core.info
    facts: Facts = {
        "name": info.name,
        "version": info.version,
        "extensions": list(info.extensions),
        "need_fullpath": info.need_fullpath,
        "supports_no_game": info.supports_no_game,
        "options": core.options(),
    }
    if not loaded:
        return facts
    kinds = {span.region == SAVESTATE for span in core.spans}
    facts["fps"] = info.fps
    facts["sample_rate"] = info.sample_rate
    facts["base_size"] = list(info.base_size)
    facts["max_size"] = list(info.max_size)
    facts["aspect"] = info.aspect
    facts["rotation"] = info.rotation
    facts["pixel_format"] = info.pixel_format
    facts["asks_av_enable"] = info.asks_av_enable
    facts["asks_hardware"] = info.asks_hardware
    keys = ("port", "device", "index", "id", "name")
    facts["inputs"] = [dict(zip(keys, entry, strict=True)) for entry in core.inputs()]
    facts["memory"] = [asdict(region) for region in core.regions()]
    facts["searched"] = {
        "kind": {True: "savestate", False: "regions"}[kinds.pop()] if kinds else "nothing",
        "regions": [span._asdict() for span in core.spans],
        "size": core.ram_size,
    }
    facts["savestate"] = {"size": info.savestate_size}
    return facts


def _savestate_facts(core: Core, state: bytes) -> Facts:
    """Time `Core.save` and `Core.load`, and the bare restore that `Core.branch` does."""
    saves, loads = [], []
    for _ in range(20):
        begin = time.perf_counter()
        core.save()
        middle = time.perf_counter()
        core.load(state)
        saves.append(middle - begin)
        loads.append(time.perf_counter() - middle)
    begin = time.perf_counter()
    core.branch(state, np.zeros(0, np.uint16), [0], branches=20)
    times = {
        "save_us": statistics.median(saves),
        "load_us": statistics.median(loads),
        "restore_us": (time.perf_counter() - begin) / 20,
    }
    sizes: Facts = {"size": core.info.savestate_size}
    return sizes | {name: round(seconds * 1e6, 1) for name, seconds in times.items()}
