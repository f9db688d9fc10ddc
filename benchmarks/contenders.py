"""The hosts that are compared, each in a process of its own: ``contenders.py NAME < lines``.

Protocol: a line of JSON (core, content, options, masks, folders) comes first; the answer is
``ready``. ``N`` runs N batches of 60 frames, the buttons of a batch held, and answers with the CPU
seconds it took; ``ram`` answers with the Adler-32 of SYSTEM_RAM; ``options`` with what the core
was told.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

BATCH = 60
Setup = dict[str, Any]


class Contender(NamedTuple):
    """Run one batch with a mask held and keep its last frame; return SYSTEM_RAM; options."""

    batch: Callable[[int], object]
    ram: Callable[[], bytes] | None
    options: Callable[[], dict[str, str]] = dict


def retrokit(setup: Setup, small: bool = False) -> Contender:
    """Ours; ``small`` also fetches the last frame, grey and 84x84."""
    from retrokit.content import identify
    from retrokit.core import Core
    from retrokit.systems import find_core

    core = Core.open(find_core(setup["core"]), identify(setup["content"]))

    def batch_and_fetch(mask: int) -> None:
        core.run(BATCH, mask)
        core.frame((84, 84), grey=True)

    def options() -> dict[str, str]:
        return {key: option["value"] for key, option in core.options().items()}

    core.select(["SYSTEM_RAM"])
    batch = batch_and_fetch if small else lambda mask: core.run(BATCH, mask)
    return Contender(batch, lambda: core.read().tobytes(), options)


def retrokit_84(setup: Setup) -> Contender:
    """Ours, with the frame fetched."""
    return retrokit(setup, small=True)


def ctypes(setup: Setup) -> Contender:
    """The naive host of ctypes_host.py."""
    from ctypes_host import Host

    host = Host(setup["core"], setup["content"], setup["system"], setup["save"], setup["options"])

    def batch(mask: int) -> None:
        host.buttons = mask
        for _ in range(BATCH):
            host.run()

    return Contender(batch, host.ram)


def libretro_py(setup: Setup) -> Contender:
    """libretro.py: a session whose video driver keeps every frame.

    Its ``screenshot`` turns pixels in Python, 0.1 to 0.5 s each, and is left out.
    """
    from libretro import defaults
    from libretro.api.input import JoypadState
    from libretro.drivers import ArrayVideoDriver, UnformattedLogDriver

    from retrokit.buttons import BUTTONS

    now = [JoypadState()]

    def inputs() -> Any:
        while True:
            yield [now[0]]  # one state a port

    # With its file system FBNeo does not find the game.
    session = (
        defaults(setup["core"]).with_content(setup["content"]).with_video(ArrayVideoDriver)
        .with_input(inputs).with_options(setup["options"]).with_vfs(None)
        .with_log(UnformattedLogDriver()).build()
    )  # fmt: skip
    session.__enter__()
    states = {
        mask: JoypadState(**{name.lower(): bool(mask >> n & 1) for n, name in enumerate(BUTTONS)})
        for mask in setup["masks"]
    }

    def batch(mask: int) -> None:
        now[0] = states[mask]
        for _ in range(BATCH):
            session.run()

    return Contender(batch, lambda: bytes(session.core.get_memory(2) or b""))


def stable_retro(setup: Setup) -> Contender:
    """stable-retro: its emulator's step, and its screen once a batch."""
    import numpy as np
    from stable_retro import RetroEmulator

    content = Path(setup["content"])
    names = {".bin": ".a26"}  # it chooses the core by the extension
    link = Path(setup["save"]) / (content.stem + names.get(content.suffix, content.suffix))
    for file in {content, content.with_suffix(".dat")}:
        if file.is_file():
            link.with_suffix(file.suffix if file != content else link.suffix).symlink_to(file)
    emulator = RetroEmulator(str(link))
    emulator.step()

    def batch(mask: int) -> None:
        emulator.set_button_mask(np.array([mask >> n & 1 for n in range(12)], np.uint8), 0)
        for _ in range(BATCH):
            emulator.step()
        emulator.get_screen()

    return Contender(batch, None)


HOSTS = {
    "retrokit": retrokit,
    "retrokit_84": retrokit_84,
    "ctypes": ctypes,
    "libretro_py": libretro_py,
    "stable_retro": stable_retro,
}


def main() -> None:
    """Serve the lines of standard input until it ends."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # cores print
    setup = json.loads(sys.stdin.readline())
    contender = HOSTS[sys.argv[1]](setup)
    masks = cycle(setup["masks"])
    print("ready", file=out)
    for line in sys.stdin:
        if line == "ram\n":
            print(zlib.adler32(contender.ram()) if contender.ram else "-", file=out)
        elif line == "options\n":
            print(json.dumps(contender.options()), file=out)
        else:
            begin = time.process_time()
            for _ in range(int(line)):
                contender.batch(next(masks))
            print(time.process_time() - begin, file=out)
    os._exit(0)  # cores die in their exit handlers


if __name__ == "__main__":
    main()
