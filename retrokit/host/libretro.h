/* The part of the libretro ABI this host speaks: numbers and struct layouts of the public
 * interface, declared by hand so that the build needs no network and no copy of a foreign header. */
#ifndef RETROKIT_LIBRETRO_H
#define RETROKIT_LIBRETRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_VERSION 1
#define DEVICE_JOYPAD 1
#define DEVICE_MASK 0xff
#define JOYPAD_BITMASK 256
#define HW_FRAME ((const void *)-1)

enum pixel_format { FORMAT_0RGB1555 = 0, FORMAT_XRGB8888 = 1, FORMAT_RGB565 = 2 };

/* Environment commands; EXPERIMENTAL commands carry bit 16. */
#define EXPERIMENTAL 0x10000
enum environment_command {
    SET_ROTATION = 1, GET_OVERSCAN = 2, GET_CAN_DUPE = 3, SET_MESSAGE = 6, SHUTDOWN = 7,
    SET_PERFORMANCE_LEVEL = 8, GET_SYSTEM_DIRECTORY = 9, SET_PIXEL_FORMAT = 10,
    SET_INPUT_DESCRIPTORS = 11, SET_KEYBOARD_CALLBACK = 12, SET_DISK_CONTROL_INTERFACE = 13,
    SET_HW_RENDER = 14, GET_VARIABLE = 15, SET_VARIABLES = 16, GET_VARIABLE_UPDATE = 17,
    SET_SUPPORT_NO_GAME = 18, GET_LIBRETRO_PATH = 19, SET_FRAME_TIME_CALLBACK = 21,
    GET_INPUT_DEVICE_CAPABILITIES = 24, GET_LOG_INTERFACE = 27, GET_CORE_ASSETS_DIRECTORY = 30,
    GET_SAVE_DIRECTORY = 31, SET_SYSTEM_AV_INFO = 32, SET_PROC_ADDRESS_CALLBACK = 33,
    SET_SUBSYSTEM_INFO = 34, SET_CONTROLLER_INFO = 35, SET_MEMORY_MAPS = 36 | EXPERIMENTAL,
    SET_GEOMETRY = 37, GET_USERNAME = 38, GET_LANGUAGE = 39,
    SET_SUPPORT_ACHIEVEMENTS = 42 | EXPERIMENTAL, SET_SERIALIZATION_QUIRKS = 44,
    GET_AUDIO_VIDEO_ENABLE = 47 | EXPERIMENTAL, GET_FASTFORWARDING = 49 | EXPERIMENTAL,
    GET_INPUT_BITMASKS = 51 | EXPERIMENTAL, GET_CORE_OPTIONS_VERSION = 52, SET_CORE_OPTIONS = 53,
    SET_CORE_OPTIONS_INTL = 54, SET_CORE_OPTIONS_DISPLAY = 55,
    GET_DISK_CONTROL_INTERFACE_VERSION = 57, SET_DISK_CONTROL_EXT_INTERFACE = 58,
    GET_MESSAGE_INTERFACE_VERSION = 59, SET_MESSAGE_EXT = 60, GET_INPUT_MAX_USERS = 61,
    SET_MINIMUM_AUDIO_LATENCY = 63, SET_FASTFORWARDING_OVERRIDE = 64, SET_CORE_OPTIONS_V2 = 67,
    SET_CORE_OPTIONS_V2_INTL = 68, SET_CORE_OPTIONS_UPDATE_DISPLAY_CALLBACK = 69,
    SET_VARIABLE = 70, GET_SAVESTATE_CONTEXT = 72 | EXPERIMENTAL, GET_JIT_CAPABLE = 74
};

struct game_info { const char *path; const void *data; size_t size; const char *meta; };
struct system_info {
    const char *name, *version, *extensions;
    bool need_fullpath, block_extract;
};
struct game_geometry { unsigned base_width, base_height, max_width, max_height; float aspect; };
struct system_timing { double fps, sample_rate; };
struct system_av_info { struct game_geometry geometry; struct system_timing timing; };

struct variable { const char *key, *value; };
struct option_value { const char *value, *label; };
struct option_v1 {
    const char *key, *description, *info;
    struct option_value values[128];
    const char *default_value;
};
struct option_v2 {
    const char *key, *description, *short_description, *info, *short_info, *category;
    struct option_value values[128];
    const char *default_value;
};
struct options_v2 { void *categories; struct option_v2 *definitions; };
struct options_v1_intl { struct option_v1 *us, *local; };
struct options_v2_intl { struct options_v2 *us, *local; };

struct input_descriptor { unsigned port, device, index, id; const char *description; };
struct memory_descriptor {
    uint64_t flags;
    void *data;
    size_t offset, start, select, disconnect, size;
    const char *address_space;
};
struct memory_map { const struct memory_descriptor *descriptors; unsigned count; };
struct message { const char *text; unsigned frames; };
struct message_ext { const char *text; unsigned duration, priority; int level, target, type; int8_t progress; };
struct log_interface { void (*log)(int level, const char *format, ...); };
struct frame_time { void (*callback)(int64_t usec); int64_t reference; };

typedef bool (*environment_t)(unsigned command, void *data);
typedef void (*video_refresh_t)(const void *data, unsigned width, unsigned height, size_t pitch);
typedef void (*audio_sample_t)(int16_t left, int16_t right);
typedef size_t (*audio_batch_t)(const int16_t *data, size_t frames);
typedef void (*input_poll_t)(void);
typedef int16_t (*input_state_t)(unsigned port, unsigned device, unsigned index, unsigned id);

#endif
