"""The host one writes in an afternoon: ctypes, a Python callback for everything a core asks.

It stands in the benchmark for what the C host replaces. It answers no AV flags and copies every
frame, as such hosts do.
"""

from __future__ import annotations

import ctypes as c
from pathlib import Path

Environment = c.CFUNCTYPE(c.c_bool, c.c_uint, c.c_void_p)
Video = c.CFUNCTYPE(None, c.c_void_p, c.c_uint, c.c_uint, c.c_size_t)
Sample = c.CFUNCTYPE(None, c.c_int16, c.c_int16)
Batch = c.CFUNCTYPE(c.c_size_t, c.c_void_p, c.c_size_t)
Poll = c.CFUNCTYPE(None)
State = c.CFUNCTYPE(c.c_int16, c.c_uint, c.c_uint, c.c_uint, c.c_uint)
# Two arguments are enough to be called with more on x86-64; the values are lost.
Log = c.CFUNCTYPE(None, c.c_int, c.c_char_p)

# Commands answered with true and nothing else: pixel format, descriptors, options, maps, geometry.
ACCEPTED = {1, 8, 10, 11, 16, 18, 32, 34, 35, 36 | 0x10000, 37, 44, 53, 54, 67, 68}


class GameInfo(c.Structure):
    """``struct retro_game_info``."""

    _fields_ = [("path", c.c_char_p), ("data", c.c_char_p), ("size", c.c_size_t),
                ("meta", c.c_char_p)]  # fmt: skip


class SystemInfo(c.Structure):
    """``struct retro_system_info``."""

    _fields_ = [("name", c.c_char_p), ("version", c.c_char_p), ("extensions", c.c_char_p),
                ("need_fullpath", c.c_bool), ("block_extract", c.c_bool)]  # fmt: skip


class Variable(c.Structure):
    """``struct retro_variable``."""

    _fields_ = [("key", c.c_char_p), ("value", c.c_char_p)]


class Host:
    """A core with content, run one frame a call."""

    def __init__(self, core: str, content: str, system: str, save: str, options: dict[str, str]):
        """Load the core and the content."""
        self.buttons = 0
        self.frame = b""
        self.options = {key.encode(): value.encode() for key, value in options.items()}
        self.folders = {9: c.create_string_buffer(system.encode(), 4096),
                        31: c.create_string_buffer(save.encode(), 4096)}  # fmt: skip
        self.core = c.CDLL(core)
        self.callbacks = {
            "environment": Environment(self.environment),
            "video_refresh": Video(self.video),
            "audio_sample": Sample(lambda left, right: None),
            "audio_sample_batch": Batch(lambda data, frames: frames),
            "input_poll": Poll(lambda: None),
            "input_state": State(self.state),
        }
        self.log = Log(lambda level, text: None)
        self.core.retro_set_environment(self.callbacks["environment"])
        self.core.retro_init()
        for name, callback in self.callbacks.items():
            if name != "environment":
                getattr(self.core, f"retro_set_{name}")(callback)
        info = SystemInfo()
        self.core.retro_get_system_info(c.byref(info))
        self.data = b"" if info.need_fullpath else Path(content).read_bytes()
        game = GameInfo(content.encode(), self.data or None, len(self.data), None)
        self.core.retro_load_game.restype = c.c_bool
        if not self.core.retro_load_game(c.byref(game)):
            raise RuntimeError("retro_load_game returned false")
        self.core.retro_get_system_av_info(c.create_string_buffer(256))
        self.core.retro_set_controller_port_device(0, 1)
        self.run = self.core.retro_run

    def environment(self, command: int, data: int) -> bool:
        """Answer the commands that matter."""
        if command in (9, 31):
            c.c_void_p.from_address(data).value = c.addressof(self.folders[command])
        elif command == 15:
            variable = Variable.from_address(data)
            variable.value = self.options.get(variable.key, b"")
            return variable.key in self.options
        elif command == 27:
            c.c_void_p.from_address(data).value = c.cast(self.log, c.c_void_p).value
        elif command == 52:
            c.c_uint.from_address(data).value = 2
        elif command in (3, 17):
            c.c_bool.from_address(data).value = command == 3
        else:
            return command in ACCEPTED
        return True

    def video(self, data: int, width: int, height: int, pitch: int) -> None:
        """Copy the frame."""
        if data:
            self.frame = c.string_at(data, pitch * height)

    def state(self, port: int, device: int, index: int, button: int) -> int:
        """Return whether a button is held."""
        return self.buttons >> button & 1 if port == 0 and device & 255 == 1 and button < 16 else 0

    def ram(self) -> bytes:
        """Return SYSTEM_RAM."""
        self.core.retro_get_memory_size.restype = c.c_size_t
        self.core.retro_get_memory_data.restype = c.c_void_p
        return c.string_at(self.core.retro_get_memory_data(2), self.core.retro_get_memory_size(2))
