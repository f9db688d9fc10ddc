"""The environments that are compared, each in a process of its own: ``env_contenders.py NAME``.

Protocol: a line of JSON (see `Setup`) comes first; the answer is ``ready``. ``run N`` resets all
environments, runs N steps of each and answers with the seconds that the steps took; ``reset N``
resets N times and answers with the seconds; ``sum`` answers with checksums of what was observed
last and of RAM. Actions come from one seeded list, the same for all that take the same actions.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

LOG = 251  # actions, over and over; bare.c has the same
SIZE, SKIP, STACK = 84, 4, 4


@dataclass(frozen=True)
class Setup:
    """What a contender is told.

    Attributes:
        game: The path of an integration.
        content, core: The paths of what it is played on.
        folder: One that the contender may write to.
        envs, threads: How many environments, and how many CPUs they may use.
        stable: The game's name in stable-retro.
    """

    game: str
    content: str
    core: str
    folder: str
    envs: int = 8
    threads: int = 2
    stable: str = ""

    def line(self) -> str:
        """Return the line of JSON."""
        return json.dumps(asdict(self))


def action_log(count: int) -> list[int]:
    """Return numbers below ``count``, always the same."""
    return [int(n) for n in np.random.default_rng(0).integers(0, count, LOG)]


def retrokit(setup: Setup, **more: Any) -> Any:
    """Ours: threads in one process."""
    from retrokit import RetroVectorEnv

    return RetroVectorEnv(setup.game, setup.envs, content=setup.content, core=setup.core, **more)


def retrokit_threads(setup: Setup) -> Any:
    """Ours, as it comes."""
    return retrokit(setup, threads=setup.threads)


def retrokit_workers(setup: Setup) -> Any:
    """Ours: worker processes."""
    return retrokit(setup, workers=setup.threads)


def retrokit_av(setup: Setup) -> Any:
    """Ours, but every frame is drawn and heard, as for a host that does not answer the core."""
    envs = retrokit(setup, threads=setup.threads)
    for core in envs.lanes.cores:
        core.set_av(3, 3)
    return envs


class Warp:
    """What SB3's wrappers do to a picture, without the wrappers: grey, then 84x84 by area."""

    def __init__(self) -> None:
        """Keep OpenCV to one thread: the processes are as many as the environments."""
        import cv2

        cv2.setNumThreads(1)
        self.cv2 = cv2

    def __call__(self, picture: Any) -> Any:
        """Return the picture that is observed."""
        grey = self.cv2.cvtColor(picture, self.cv2.COLOR_RGB2GRAY)
        return self.cv2.resize(grey, (SIZE, SIZE), interpolation=self.cv2.INTER_AREA)


def stable_game(setup: Setup) -> str:
    """Return the name of a game of stable-retro whose ROM is ours; its data is stable-retro's."""
    from stable_retro.data import Integrations, get_file_path

    name = setup.stable
    custom = Path(setup.folder) / "custom" / name
    if not custom.exists():
        custom.mkdir(parents=True)
        for file in ("data.json", "scenario.json"):
            source = get_file_path(name, file, Integrations.STABLE)
            (custom / file).write_text(Path(source).read_text())
        suffix = {"Atari2600": ".a26", "Genesis": ".md"}[name.split("-")[1]]
        (custom / f"rom{suffix}").symlink_to(setup.content)
        (custom / "metadata.json").write_text("{}")
    Integrations.add_custom_path(str(custom.parent))
    return name


def one_stable(setup: Setup) -> Any:
    """One environment of stable-retro, wrapped, started as ours is."""
    import gymnasium
    import stable_retro
    from gymnasium.wrappers import FrameStackObservation

    from retrokit.integration import Integration

    integration = Integration.load(setup.game)
    inner = stable_retro.make(
        stable_game(setup),
        state=stable_retro.State.NONE,
        inttype=stable_retro.data.Integrations.CUSTOM_ONLY,
        use_restricted_actions=stable_retro.Actions.ALL,
        render_mode="rgb_array",
    )
    bits = np.arange(inner.num_buttons)
    for mask in integration.start_frames().tolist():
        inner.em.set_button_mask((mask >> bits & 1).astype(np.uint8), 0)
        inner.em.step()
    inner.initial_state = inner.em.get_state()
    buttons = [(mask >> bits & 1).astype(np.uint8) for mask in integration.action_masks().tolist()]
    warp = Warp()

    class Skip(gymnasium.Wrapper[Any, Any, Any, Any]):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.observation_space = gymnasium.spaces.Box(0, 255, (SIZE, SIZE), np.uint8)
            self.action_space = gymnasium.spaces.Discrete(len(buttons))

        def step(self, action: Any) -> Any:
            total, done = 0.0, False
            for _ in range(SKIP):
                seen, reward, done, cut, info = self.env.step(buttons[action])
                total += float(reward)
                if done or cut:
                    break
            return warp(seen), total, done, cut, info

        def reset(self, **given: Any) -> Any:
            seen, info = self.env.reset(**given)
            return warp(seen), info

    return FrameStackObservation(Skip(inner), STACK)


def stable_retro(setup: Setup) -> Any:
    """stable-retro, a process an environment: it allows one in each."""
    from gymnasium.vector import AsyncVectorEnv

    stable_game(setup)  # made once
    return AsyncVectorEnv([functools.partial(one_stable, setup)] * setup.envs)


def stable_retro_one(setup: Setup) -> Any:
    """One environment of stable-retro in this process."""
    from gymnasium.vector import SyncVectorEnv

    return SyncVectorEnv([functools.partial(one_stable, setup)])


def one_ale() -> Any:
    """One environment of ale-py behind Gymnasium's wrappers."""
    import ale_py
    import gymnasium
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ALE/MsPacman-v5", frameskip=1, repeat_action_probability=0.0)
    env = AtariPreprocessing(env, noop_max=0, frame_skip=SKIP, screen_size=SIZE)
    return FrameStackObservation(env, STACK)


def ale_async(setup: Setup) -> Any:
    """Gymnasium's vector environment of ale-py's, a process each."""
    from gymnasium.vector import AsyncVectorEnv

    return AsyncVectorEnv([one_ale] * setup.envs)


def ale_vector(setup: Setup) -> Any:
    """ale-py's own vector environment, in C++."""
    from ale_py import AtariVectorEnv

    return AtariVectorEnv("ms_pacman", setup.envs, num_threads=setup.threads, noop_max=0)


def envpool(setup: Setup) -> Any:
    """EnvPool, in C++."""
    import envpool as pool

    return pool.make(
        "MsPacman-v5",
        env_type="gymnasium",
        num_envs=setup.envs,
        num_threads=setup.threads,
        noop_max=1,
    )


def ale_bare(setup: Setup) -> Any:
    """ale-py's emulator alone: one instance, no picture, `SKIP` frames a step."""
    from ale_py import ALEInterface, LoggerMode, roms

    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path("ms_pacman"))
    actions = ale.getMinimalActionSet()

    class Bare:
        single_action_space = type("space", (), {"n": len(actions)})

        def reset(self) -> None:
            ale.reset_game()

        def step(self, chosen: Any) -> None:
            action = actions[chosen[0]]
            for _ in range(SKIP):
                ale.act(action)
            if ale.game_over():
                ale.reset_game()

    return Bare()


CONTENDERS: dict[str, Callable[[Setup], Any]] = {
    "retrokit": retrokit_threads,
    "retrokit_workers": retrokit_workers,
    "retrokit_av": retrokit_av,
    "stable_retro": stable_retro,
    "stable_retro_one": stable_retro_one,
    "ale_async": ale_async,
    "ale_vector": ale_vector,
    "envpool": envpool,
    "ale_bare": ale_bare,
}


def checksums(envs: Any, seen: Any) -> str:
    """Return checksums of the last observations and, where cores are at hand, of their memory."""
    cores = getattr(getattr(envs, "lanes", None), "cores", ())
    ram = 0
    for core in cores:
        if "SYSTEM_RAM" in core.memory:
            ram = zlib.adler32(core.memory["SYSTEM_RAM"].tobytes(), ram)
    return f"{zlib.adler32(np.ascontiguousarray(seen).tobytes())} {ram or '-'}"


def serve(envs: Any, count: int, lines: Any, out: Any) -> None:
    """Answer lines until they end."""
    single = getattr(envs, "single_action_space", None) or envs.action_space
    log = action_log(int(single.n))
    rows = [
        np.array([log[(t + lane * 31) % LOG] for lane in range(count)], np.int32)
        for t in range(LOG)
    ]
    seen: Any = None
    for line in lines:
        word, _, number = line.strip().partition(" ")
        begin = time.perf_counter()
        if word == "sum":
            print(checksums(envs, seen), file=out)
            continue
        if word == "reset":
            for _ in range(int(number)):
                envs.reset()
        else:
            envs.reset()
            begin = time.perf_counter()
            for t in range(int(number)):
                step = envs.step(rows[t % LOG])
            seen = step[0] if step else None
        print(time.perf_counter() - begin, file=out)


def main() -> None:
    """Make the contender and serve the lines of standard input."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # cores print
    setup = Setup(**json.loads(sys.stdin.readline()))
    envs = CONTENDERS[sys.argv[1]](setup)
    print("ready", file=out)
    serve(envs, setup.envs, sys.stdin, out)
    if hasattr(envs, "processes"):
        envs.close(terminate=True)
    elif hasattr(envs, "lanes"):
        envs.close()
    os._exit(0)  # cores die in their exit handlers


if __name__ == "__main__":
    main()
