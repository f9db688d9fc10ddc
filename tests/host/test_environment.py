"""What the host answers when a core asks: options, logger, directories, inputs, odd requests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from retrokit.core import Core
from retrokit.host import binding

Open = Callable[..., Core]


@pytest.mark.parametrize("form", range(5), ids=["v0", "v1", "v2", "v1 intl", "v2 intl"])
def test_options_in_every_form(open_fake: Open, form: int) -> None:
    core = open_fake("options", FORM=form)
    odd = "" if form == 0 else "first"
    # An option that nobody declared: "no", but a string that a careless core can compare.
    assert core.log() == [f"info: yes:normal yes:{odd} no:"]
    speed = core.options()["fake_speed"]
    assert speed["value"] == speed["default"] == "normal"
    assert set(speed["values"]) == {"slow", "normal", "fast"}
    core.run()
    core.set_option("fake_speed", "fast")
    core.run(2)
    assert core.log()[1:] == [f"info: yes:fast yes:{odd} no:"]
    assert core.options()["fake_speed"]["value"] == "fast"
    assert core.options()["fake_speed"]["default"] == "normal"
    core.run(20)  # at frame 20 the core itself sets it
    assert core.options()["fake_speed"]["value"] == "slow"


def test_options_can_be_set_before_the_core_declares_them(open_fake: Open) -> None:
    core = open_fake("options", options={"fake_speed": "slow", "fake_undeclared": "x"})
    assert core.log() == ["info: yes:slow yes: yes:x"]


def test_options_of_cores_toml_are_defaults(fake_core, fake_content) -> None:
    from dataclasses import replace

    found = fake_core("options")
    found = replace(found, spec=replace(found.spec, options={"fake_speed": "slow"}))
    with Core.open(found, fake_content()) as core:
        assert core.options()["fake_speed"]["value"] == "slow"
    with Core.open(found, fake_content(), options={"fake_speed": "fast"}) as core:
        assert core.options()["fake_speed"]["value"] == "fast"


def test_the_logger_takes_anything(open_fake: Open) -> None:
    lines = open_fake("logger").log()
    assert len(lines) == 200
    assert lines[0] == f"debug: line {400 - 200 + 4}"
    words, wild, two, message = lines[-4:]
    assert words == "warning: -7 words 2.50 123456789abc z"
    assert wild.startswith("error: 000")
    assert len(wild) == 511
    assert two == "error: two lines"
    assert message == "a message"


def test_directories_are_buffers_long_enough(open_fake: Open, fake_core) -> None:
    core = open_fake("directories")
    core.run()
    parts = [bytes(core.read()[at : at + 260]) for at in range(0, 1040, 260)]
    system, save, assets, library = (os.fsdecode(part.rstrip(b"\0")) for part in parts)
    assert Path(system).is_dir()
    assert Path(save).is_dir()
    assert system != save
    assert assets == system
    assert library == str(fake_core("directories").path)
    folder = Path(save).parent
    core.close()
    assert not folder.exists()


def test_the_system_directory_can_be_given(open_fake: Open, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RETROKIT_SYSTEM", str(tmp_path / "bios"))
    core = open_fake("directories")
    assert bytes(core.read()[:260]).rstrip(b"\0") == os.fsencode(tmp_path / "bios")
    core.close()
    assert (tmp_path / "bios").is_dir()


def test_every_run_has_a_fresh_save_directory(open_fake: Open) -> None:
    one, two = (bytes(open_fake("directories").read()[260:520]) for _ in range(2))
    assert one != two


def test_what_is_not_given_is_refused(open_fake: Open) -> None:
    core = open_fake("requests")  # it also asks everything without data
    assert core.read()[16] == 0
    assert core.info.asks_hardware
    core.run(2)
    assert core.frame().any()


def test_asking_to_end_is_reported(open_fake: Open) -> None:
    core = open_fake("shutdown")
    core.run(2)
    assert not core.info.shutdown
    core.run()
    assert core.info.shutdown
    core.run()


def test_inputs_by_bit_and_by_mask(open_fake: Open) -> None:
    core = open_fake("inputs")
    masks = [0xF00F, 0x8001, 0, 1, 2, 3, 4, 0xFFFF]
    core.run(1, masks)
    ram = core.read()
    assert list(ram[16:32].view("<u2")) == masks
    assert list(ram[32:48].view("<u2")) == masks
    assert ram[48:50].view("<u2")[0] == 0  # no ninth port, mouse, second index or button 99
    assert core.inputs() == [(0, 1, 0, 8, "Jump"), (1, 1, 0, 0, "Fire")]


def test_av_flags_follow_who_looks(open_fake: Open) -> None:
    core = open_fake("av_enable")
    core.run(100)
    assert core.info.asks_av_enable
    drawn = int(core.read()[16])  # the first frames are all drawn: they tell who repeats frames
    core.run(100)
    core.run(100, see=False)
    assert core.read()[16] == drawn + 1
    assert core.read()[20] == 8
    core.run(1)
    assert core.read()[20] == 9
    core.set_av(seen=3, unseen=2)
    core.run(1)
    assert core.read()[20] == 3
    core.run(1, see=False)
    assert core.read()[20] == 2


def test_the_name_of_every_call_is_known() -> None:
    names = [binding.call_name(number) for number in range(40)]
    assert names[0] == ""
    assert "retro_run" in names
    assert names[39] == "?"
