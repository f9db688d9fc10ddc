"""Recordings are exact, know their episodes, and survive on a tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrokit.buttons import to_mask
from retrokit.core import Core, Span
from retrokit.discovery.record import Recording, join, record
from retrokit.discovery.tape import Origin, Tape
from retrokit.errors import UserError

Open = Callable[..., Core]
ACTIONS = [[], ["UP"], ["B"]]
FRAMES, POINTS, PRESSED = 0, 4, 8  # of the counter game


@pytest.fixture
def core(open_fake: Open) -> Core:
    core = open_fake("counter")
    core.run(100)
    return core


def made(core: Core, **choices: object) -> Recording:
    return record(core, core.save(), ACTIONS, ["B"], episodes=3, frames=200, **choices)


def test_every_episode_starts_from_the_same_state(core: Core) -> None:
    recording = made(core)
    assert recording.ram.shape == (3, 200, len(recording.offsets))
    assert recording.ram.dtype == np.uint8
    assert recording.initial[FRAMES] == 100
    assert recording.series(FRAMES)[:, 0].tolist() == [101] * 3
    held = (recording.buttons & 0xFF).astype(np.uint8)
    assert np.array_equal(recording.series(PRESSED), held)
    assert len({row.tobytes() for row in recording.buttons}) == 3
    assert (recording.buttons & to_mask(["B"]) > 0).any(axis=1).all()


def test_checkpoints_lead_to_the_recorded_frames(core: Core) -> None:
    recording = made(core)
    for episode, points in enumerate(recording.checkpoints):
        assert len(points) == -(-200 // recording.every)
        for number, state in enumerate(points):
            at = number * recording.every
            core.load(state)
            log = recording.buttons[episode, at : at + recording.every]
            ram, _ = core.record(log, recording.offsets)
            assert np.array_equal(ram, recording.ram[episode, at : at + recording.every])


def test_same_seed_same_recording(core: Core) -> None:
    state = core.save()
    one, two, other = (record(core, state, ACTIONS, ["B"], frames=90, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.ram, two.ram)
    assert not np.array_equal(one.buttons, other.buttons)


def test_actions_without_fire_are_taken_as_they_are(core: Core) -> None:
    recording = record(core, core.save(), [["UP"], ["LEFT"]], [], frames=90)
    assert set(np.unique(recording.buttons).tolist()) == {to_mask(["UP"]), to_mask(["LEFT"])}


def test_known_episodes_are_played_again_and_each_is_handed_out(core: Core) -> None:
    first = made(core)
    core.load(first.state)
    seen: list[tuple[int, bytes]] = []
    known = first.buttons[::-1][:2].copy()
    again = made(
        core,
        known=known,
        offsets=first.offsets,
        keep=lambda number, offsets, log, ram: seen.append((number, log.tobytes() + ram.tobytes())),
    )
    assert np.array_equal(again.buttons[:2], known)
    assert np.array_equal(again.ram[0], first.ram[2])
    assert np.array_equal(again.buttons[2], first.buttons[2])
    rows = zip(again.buttons, again.ram, strict=True)
    assert seen == [(n, log.tobytes() + ram.tobytes()) for n, (log, ram) in enumerate(rows)]


def test_share_runs_from_0_to_1_and_may_stop_it(core: Core) -> None:
    shares: list[float] = []
    made(core, report=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0

    def stop(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        made(core, report=stop)


def test_of_large_ram_only_calm_bytes_are_kept(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrokit.discovery.record.KEEP_ALL", 1000)
    recording = made(core)
    kept = recording.offsets.tolist()
    assert FRAMES not in kept  # moves every frame
    assert FRAMES + 1 in kept
    assert 1000 not in kept  # never moves
    assert recording.series(1000).shape == (3, 200) and not recording.series(1000).any()
    counted = recording.changes()
    assert len(counted) == len(kept) and (counted > 0).all() and (counted <= 0.25).all()


def test_what_moves_only_in_a_later_recording_is_kept(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score that the first episodes never reached was lost for the second."""

    def played(seed: list[int], frames: int, *rest: object) -> np.ndarray:
        return np.full(frames, seed[0] * to_mask(["B"]), np.uint16)

    monkeypatch.setattr("retrokit.discovery.record.KEEP_ALL", 1000)
    monkeypatch.setattr("retrokit.discovery.record.random_play", played)
    assert PRESSED not in made(core).offsets
    recording = made(core, ahead=1)
    assert PRESSED in recording.offsets
    assert not recording.buttons.any() and not recording.series(PRESSED).any()


def test_few_bytes_are_kept_of_a_long_recording(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrokit.discovery.record.WHOLE_BYTES", 5120 * 600 - 1)
    assert len(made(core).offsets) < 10
    monkeypatch.setattr("retrokit.discovery.record.WHOLE_BYTES", 5120 * 600)
    assert len(made(core).offsets) == 5120


def test_a_savestate_used_as_memory_is_recorded(open_fake: Open) -> None:
    core = open_fake("savestate_only")
    core.run(10)
    recording = made(core)
    assert recording.saved.all() and recording.initial[FRAMES] == 10
    assert recording.series(FRAMES)[:, 0].tolist() == [11] * 3


def test_joined_recordings(core: Core) -> None:
    first = made(core)
    core.load(first.state)
    second = made(core, seed=1, offsets=first.offsets)
    both = join(first, second)
    for recording in (first, both, both.ending(np.full(6, 50))):
        assert recording.series(FRAMES).flags.c_contiguous  # read over time, it lies together
    assert (both.episodes, both.frames) == (6, 1200)
    assert np.array_equal(both.ram[3:], second.ram)
    assert len(both.checkpoints) == len(both.styles) == 6


# -- tapes ---------------------------------------------------------------------------------------

ORIGIN = Origin(
    "ab" * 20,
    "fake",
    "1 é",
    (Span("SYSTEM_RAM", 0, 5120), Span("MAP_1", 5120, 7)),
    3,
    9000,
    ("WAIT:60", "SELECT:4"),
    ((), ("UP", "B")),
    ("B",),
    b"\0state\xff",
)


def filled(episodes: int, seed: int = 0) -> Tape:
    rng = np.random.default_rng(seed)
    tape = Tape()
    tape.origin = ORIGIN
    for number in range(episodes):
        log = rng.integers(0, 1 << 16, 50, np.uint16)
        tape.put(
            number, np.array([2, 5, 9], np.int32), log, rng.integers(0, 256, (50, 3), np.uint8)
        )
    return tape


@pytest.mark.parametrize("episodes", [0, 1, 4])
def test_what_is_saved_comes_back(tmp_path: Path, episodes: int) -> None:
    tape, path = filled(episodes), tmp_path / "a.npz"
    tape.save(path)
    back = Tape.load(path)
    assert back.origin == ORIGIN
    assert back.episodes == episodes
    assert np.array_equal(back.logs, tape.logs)
    for number in range(episodes):
        assert np.array_equal(back.ram(number), tape.ram(number))
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


def test_arrays_that_anyone_can_read(tmp_path: Path) -> None:
    tape, path = filled(4), tmp_path / "a.npz"
    tape.save(path)
    with np.load(path, allow_pickle=False) as arrays:
        assert (arrays["ram"].dtype, arrays["ram"].shape) == (np.uint8, (200, 3))
        assert arrays["offsets"].tolist() == [2, 5, 9]
        assert (arrays["buttons"].dtype, arrays["buttons"].shape) == (np.uint16, (200,))
        assert arrays["restarts"].tolist() == [0, 50, 100, 150]
        assert np.array_equal(arrays["ram"][100:150], tape.ram(2))
        assert arrays["action_set"].tolist() == ["", "UP+B"]


def test_another_take_replaces_the_first() -> None:
    tape, other = filled(3), filled(1, seed=9)
    last = tape.ram(2)
    tape.put(1, tape.offsets, other.logs[0], other.ram(0))
    assert tape.episodes == 3
    assert np.array_equal(tape.ram(1), other.ram(0))
    assert np.array_equal(tape.ram(2), last)


def test_saving_replaces_a_file_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write the recording"):
        filled(1).save(tmp_path / "no" / "a.npz")
    path = tmp_path / "a.npz"
    filled(3).save(path)
    filled(1).save(path)
    assert Tape.load(path).episodes == 1


def test_files_that_are_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(UserError, match="there is no recording"):
        Tape.load(path)
    filled(2).save(path)
    whole = path.read_bytes()
    for data in (b"", b"text", whole[:-200], whole[:300]):
        path.write_bytes(data)
        with pytest.raises(UserError, match="is no recording, or it is damaged"):
            Tape.load(path)
    np.savez(path, ram=np.zeros(3))
    with pytest.raises(UserError, match="is no recording"):
        Tape.load(path)
    np.save(tmp_path / "b.npy", np.zeros(3))
    with pytest.raises(UserError, match="is no recording"):
        Tape.load(tmp_path / "b.npy")


@pytest.mark.parametrize(
    ("name", "value"), [("rom_sha1", "cd" * 20), ("core", "fbneo"), ("core_version", "2")]
)
def test_another_origin_is_refused(name: str, value: str) -> None:
    ORIGIN.check(Path("a.npz"), **{name: getattr(ORIGIN, name)})
    with pytest.raises(UserError, match=f"(?s){getattr(ORIGIN, name)}.*{value}"):
        ORIGIN.check(Path("a.npz"), **{name: value})
    assert replace(ORIGIN, seed=4) != ORIGIN
