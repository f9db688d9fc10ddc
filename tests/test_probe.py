"""What the probe says of cores whose vices are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from retrokit import probe as module
from retrokit.errors import CoreCrashed, CoreTimeout, LoadRefused
from retrokit.probe import Report, probe
from retrokit.probe_stages import FRAMES, Check

# As in tests/cores/probed.c
(UNREPEATABLE, SHARES_RAND, HATES_FORK, FROZEN, FORGETS, RESTORED_DIFFERS, DIES_CLOSING,
 DIES_SAVING) = range(1, 9)  # fmt: skip
STAGES = dict(module.STAGES)


@pytest.fixture
def ask(fake_core, fake_content, monkeypatch) -> Callable[..., Report]:
    """Probe a fake core, but only in some stages."""

    def start(name: str, *stages: str, **build: int | str) -> Report:
        monkeypatch.setattr(module, "STAGES", {stage: STAGES[stage] for stage in stages})
        return probe(fake_core(name, **build), fake_content())

    return start


def test_a_good_core(fake_core, fake_content):
    begun: list[str] = []
    report = probe(fake_core("counter"), fake_content(), begun.append)
    assert begun == ["play", *STAGES]
    assert report.error is None
    assert {name: check.ok for name, check in report.checks.items()} == dict.fromkeys(
        ("repeat", "exact", "continues", "copies", "reopen", "fork", "close"), True
    )
    facts = report.facts
    assert (facts["name"], facts["version"], facts["extensions"]) == ("Fake", "1", ["bin", "rom"])
    assert facts["base_size"] == [64, 48] and facts["fps"] == 60 and facts["rotation"] == 0
    assert facts["pixel_format"] == "RGB565" and not facts["asks_av_enable"]
    assert [(region["name"], region["size"]) for region in facts["memory"]] == [
        ("SYSTEM_RAM", 5120)
    ]
    assert facts["searched"]["kind"] == "regions" and facts["searched"]["size"] == 5120
    assert facts["frames"] == FRAMES and facts["moved"] == {"ram": True, "picture": True}
    assert facts["savestate"]["size"] == 5120 and facts["savestate"]["save_us"] > 0
    assert facts["speed"]["fps"] > 0 and facts["speed"]["fps_without_av"] is None


def test_without_content_only_what_can_be_known(fake_core):
    report = probe(fake_core("no_content"), None)
    assert report.error is None and report.checks == {}
    assert report.facts["supports_no_game"] and "fps" not in report.facts


def test_speed_with_and_without_av(ask):
    report = ask("av_enable", "speed")
    assert report.facts["asks_av_enable"] and report.facts["speed"]["fps_without_av"] > 0


@pytest.mark.parametrize(
    ("how", "stage", "question", "ok", "said"),
    [
        (UNREPEATABLE, "repeat", "repeat", False, "different by frame 10: SYSTEM_RAM; equal"),
        (SHARES_RAND, "copies", "copies", False, "different by frame 10: SYSTEM_RAM"),
        (SHARES_RAND, "reopen", "reopen", False, "different by frame 10: SYSTEM_RAM"),
        (HATES_FORK, "fork", "fork", False, "died of SIGABRT in a forked child"),
        (FORGETS, "savestates", "exact", False, "1 bytes differ 1 frames after frame 30: 0x10"),
        (RESTORED_DIFFERS, "savestates", "exact", True, "equal over 60 frames: RAM"),
        (RESTORED_DIFFERS, "savestates", "continues", False, "4 bytes differ 1 frames after"),
        (DIES_SAVING, "savestates", "exact", False, "SIGABRT in retro_serialize (info: saving)"),
        (DIES_CLOSING, "repeat", "repeat", True, "equal over 600 frames"),
        (DIES_CLOSING, "repeat", "close", False, "died of SIGABRT in retro_deinit"),
    ],
)
def test_each_vice_is_a_line_of_the_report(ask, how, stage, question, ok, said):
    report = ask("probed", stage, HOW=how)
    assert report.error is None
    assert report.checks[question].ok is ok
    assert said in report.checks[question].detail


def test_what_does_not_repeat_tells_nothing_of_the_rest(ask):
    """The process's number in RAM differs; the pictures still show that a second copy is well."""
    report = ask("probed", "repeat", "copies", HOW=UNREPEATABLE)
    assert report.checks["copies"] == Check(
        True, "two instances in one process equal over 300 frames: picture"
    )


def test_a_loaded_core_in_which_nothing_moves_is_no_success(ask):
    report = ask("probed", "repeat", HOW=FROZEN)
    assert "loaded" in str(report.error) and "nothing moved in 600 frames" in str(report.error)
    assert report.facts["moved"] == {"ram": False, "picture": False} and report.checks == {}


def test_the_savestate_is_searched_where_there_is_no_memory(ask):
    report = ask("savestate_only", "repeat", "savestates")
    assert report.facts["searched"]["kind"] == "savestate"
    assert report.facts["searched"]["size"] == 5120
    assert report.checks["repeat"].detail.endswith("equal over 600 frames: picture")
    assert report.checks["exact"].ok


def test_nothing_to_search_and_nothing_to_save(ask):
    report = ask("nothing", "savestates")
    assert report.facts["searched"] == {"kind": "nothing", "regions": [], "size": 0}
    assert report.checks["exact"] == Check(None, "the core saves no state")


@pytest.mark.parametrize(
    ("name", "how", "cause", "call", "known"),
    [
        ("abort_in_load", 0, "SIGABRT", "retro_load_game", False),
        ("segfault_in_run", 0, "SIGSEGV", "retro_run", True),
        ("segfault_in_run", 1, "exit code 3", "retro_run", True),
    ],
)
def test_a_crash_ends_the_report_with_what_was_known(ask, name, how, cause, call, known):
    report = ask(name, HOW=how)
    error = report.error
    assert isinstance(error, CoreCrashed)
    assert (error.signal, error.last_call) == (cause, call)
    assert any("reading the header" in line or "about to" in line for line in error.log)
    assert report.facts["name"] == "Fake" and ("fps" in report.facts) == known


def test_a_hang_is_reported(ask, monkeypatch):
    limited = module.sandbox.call
    monkeypatch.setattr(
        module.sandbox, "call", lambda *args, **kwargs: limited(*args, **kwargs, call_limit_s=1)
    )
    report = ask("segfault_in_run", HOW=2)
    assert isinstance(report.error, CoreTimeout) and "retro_run" in str(report.error)


def test_a_refusal_is_reported(ask):
    report = ask("refuses")
    assert isinstance(report.error, LoadRefused) and "no such board" in str(report.error)


def test_breakout_restored_is_not_breakout_continued(monkeypatch):
    """Case 14: the real Stella core differs in RAM bytes 0x46 and 0x48."""
    from retrokit.content import identify
    from retrokit.errors import CoreNotFound
    from retrokit.systems import find_core, package_folder

    roms = package_folder("ale-py", "*/roms/*.bin")
    try:
        found = find_core("stella")
    except CoreNotFound:
        pytest.skip("no Stella core")
    if roms is None:
        pytest.skip("no ale-py")
    monkeypatch.setattr(module, "STAGES", {"savestates": STAGES["savestates"]})
    report = probe(found, identify(roms / "breakout.bin"))
    assert report.checks["exact"].ok is True
    assert report.checks["continues"].ok is False
    assert "0x46" in report.checks["continues"].detail
