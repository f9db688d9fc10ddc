"""Event files are TensorBoard's: its own reader reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrokit.tfevents import EventFile, _masked_crc


def test_the_sum_is_crc_32c() -> None:
    """The check value of RFC 3720, masked as TFRecord masks it."""
    crc = 0xE3069283
    wanted = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert int.from_bytes(_masked_crc(b"123456789"), "little") == wanted


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events: Any = reader.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()["scalars"]
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in tags}


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_reads_them(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "a")
    for step in (0, 1, 300, 10_000_000_000):
        file.add(step, {"updates/return": step / 2, "updates/ä": -1.5, "n" * 300: 1, "x": 1e300})
    file.close()
    found = read(tmp_path / "a")
    assert found["updates/return"] == [(0, 0.0), (1, 0.5), (300, 150.0), (10_000_000_000, 5e9)]
    assert found["updates/ä"][0] == (0, -1.5) and len(found["n" * 300]) == 4
    assert "x" not in found


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_goes_on_forgets_what_was_later(tmp_path: Path) -> None:
    first = EventFile(tmp_path)
    for step in range(1, 6):
        first.add(step, {"x": step})
    first.close()
    second = EventFile(tmp_path, begin=4)
    second.add(4, {"x": 40})
    second.close()
    assert read(tmp_path)["x"] == [(1, 1), (2, 2), (3, 3), (4, 40)]
