"""Judge what a search found: play that no search has seen, decoded both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from truths import Ram, Truth, written

from retrokit.content import Content
from retrokit.core import Core
from retrokit.discovery.answer import Answer
from retrokit.discovery.candidates import Candidate, pack
from retrokit.integration import parse_start
from retrokit.policy import STYLES, random_play
from retrokit.systems import FoundCore

JUDGED_EPISODES, JUDGED_FRAMES, EVERY = 4, 1500, 5
WHOLE = 1 << 16
SET_UP = 12  # samples (a second) in which a game may still set its numbers up
JUDGE_SEED = 977  # no search plays with it
Series = np.ndarray


def play(emit: Any, content: Content, found: FoundCore, answer: Answer) -> Ram:
    """Return all bytes, every fifth frame of play that no search has seen.

    Of large memories only the first region, so that it fits.
    """
    fire = [name for name in answer.buttons.fire]
    with Core.open(found, content) as core:
        core.record(parse_start(answer.start_buttons))
        state, views = core.save(), []
        size = core.ram_size if core.ram_size <= WHOLE else core.spans[0].size
        for n in range(JUDGED_EPISODES):
            core.load(state)
            log = random_play(
                [JUDGE_SEED, n], JUDGED_FRAMES, answer.buttons.action_set, STYLES[n % 4], fire
            )
            for at in range(0, JUDGED_FRAMES, EVERY):
                core.record(log[at : at + EVERY])
                views.append(core.read()[:size])
    return np.stack(views)


def same(ours: Series, true: Series) -> bool:
    """Tell whether two series are equal up to a constant factor."""
    at = int(np.abs(true).argmax())
    if not true[at]:
        return False
    return bool((ours * int(true[at]) == true * int(ours[at])).all() and ours[at])


def decoded(candidate: Candidate, ram: Ram, answer: Answer) -> Series | None:
    """Return a candidate's values over judged play; None outside what was kept."""
    packed, _ = pack(candidate.variable)
    if max(candidate.offsets) >= ram.shape[-1]:
        return None
    columns = ram[..., list(candidate.offsets)]
    return np.asarray(packed.decode({packed.region: columns}), np.int64)


def lives_right(truth: Truth, ram: Ram, answer: Answer) -> bool:
    """Tell whether the lives are the game's: the same series up to a constant, or the same bits."""
    lives = answer.lives
    if lives is None or truth.lives is None or truth.lives_of is None:
        return False
    if lives.offset == truth.lives and lives.mask & truth.lives_mask == truth.lives_mask:
        return True
    if max(lives.offset, truth.lives) >= ram.shape[-1]:
        return False
    ours, true = lives.read(ram[..., lives.offset]), truth.lives_of(ram)
    return bool((true != true[0]).any() and len(np.unique(ours - true)) == 1)


def verdict(candidate: Candidate, truth: Truth, ram: Ram, answer: Answer) -> tuple[str, str]:
    """Return ``complete``, ``partial`` (the same series, digits missing) or ``wrong``; and of what.

    In a game of two players each of them has a number, and the second tells whose it is.
    """
    rng = np.random.default_rng(0)
    ours = decoded(candidate, ram, answer)
    if ours is None:
        return "elsewhere", ""
    for name, places in truth.places.items():
        addrs = {addr for addr, _, _ in places}
        if name not in truth.decode:
            return ("complete", name) if addrs == set(candidate.offsets) else ("wrong", "")
        if max(addrs) >= ram.shape[-1]:
            continue
        true = truth.decode[name](ram)
        sample = written(truth, name, ram[:: max(1, len(ram) // 200)], rng)
        whole = decoded(candidate, sample, answer)
        assert whole is not None
        complete = same(whole, truth.decode[name](sample))
        if complete and (same(ours, true) or not true.any()):
            return "complete", name
        if addrs == set(candidate.offsets):  # the same bytes, whatever an unseen place is worth
            return "complete" if same(ours, true) else "partial", name
        moved = bool((true != true[0]).any())
        shared = addrs & set(candidate.offsets)
        if (moved and same(ours, true)) or (shared and set(candidate.offsets) <= addrs):
            return "partial", name
    return "wrong", ""


def scored(truth: Truth, episodes: dict[int, Any], size: int) -> bool:
    """Tell whether the true score moved in what the search recorded."""
    for offsets, ram in episodes.values():
        kept = offsets < size
        for name in truth.decode:
            most = max(addr for addr, _, _ in truth.places[name])
            wide = np.zeros((len(ram), max(int(offsets.max()), most, 127) + 1), np.uint8)
            wide[:, offsets[kept]] = ram[:, kept]
            true = truth.decode[name](wide)[SET_UP:]
            if (true != true[0]).any():
                return True
    return False
