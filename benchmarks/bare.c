/* The fastest host there can be: empty callbacks around retro_run. What a host costs is measured
 * against it. Speaks the protocol of contenders.py: one line in, one line out. `load FILE` restores a
 * savestate. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "libretro.h"

#ifndef BATCH
#define BATCH 60
#endif
#ifndef CLOCK
#define CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

static char **options; /* key, value, key, value, …, NULL: the answers retrokit gives */
static char directories[2][4096];
static int av = -1; /* GET_AUDIO_VIDEO_ENABLE; -1 leaves it unanswered */
static uint16_t buttons;

static void quiet(int level, const char *format, ...) { (void)level, (void)format; }
static void video(const void *data, unsigned width, unsigned height, size_t pitch) {
    (void)data, (void)width, (void)height, (void)pitch;
}
static void sample(int16_t left, int16_t right) { (void)left, (void)right; }
static size_t batch(const int16_t *data, size_t frames) { return (void)data, frames; }
static void poll(void) {}

static int16_t state(unsigned port, unsigned device, unsigned index, unsigned id) {
    if (port || (device & DEVICE_MASK) != DEVICE_JOYPAD || index) return 0;
    if (id == JOYPAD_BITMASK) return (int16_t)buttons;
    return id < 16 ? buttons >> id & 1 : 0;
}

static bool environment(unsigned command, void *data) {
    switch (command) {
    case GET_CAN_DUPE: *(bool *)data = true; return true;
    case GET_SYSTEM_DIRECTORY: *(const char **)data = directories[0]; return true;
    case GET_SAVE_DIRECTORY: *(const char **)data = directories[1]; return true;
    case GET_LANGUAGE: *(unsigned *)data = 0; return true;
    case GET_LOG_INTERFACE: ((struct log_interface *)data)->log = quiet; return true;
    case GET_CORE_OPTIONS_VERSION: *(unsigned *)data = 2; return true;
    case GET_VARIABLE_UPDATE:
    case GET_FASTFORWARDING: *(bool *)data = false; return true;
    case GET_VARIABLE: {
        struct variable *v = data;
        for (char **o = options; *o; o += 2)
            if (v->key && !strcmp(*o, v->key)) return v->value = o[1], true;
        return v->value = "", false;
    }
    case GET_AUDIO_VIDEO_ENABLE:
        if (av >= 0 && data) *(int *)data = av;
        return av >= 0;
    case SET_PIXEL_FORMAT:
    case SET_ROTATION:
    case SET_GEOMETRY:
    case SET_SYSTEM_AV_INFO:
    case SET_MEMORY_MAPS:
    case SET_INPUT_DESCRIPTORS:
    case SET_CONTROLLER_INFO:
    case SET_SUBSYSTEM_INFO:
    case SET_VARIABLES:
    case SET_CORE_OPTIONS:
    case SET_CORE_OPTIONS_INTL:
    case SET_CORE_OPTIONS_V2:
    case SET_CORE_OPTIONS_V2_INTL:
    case SET_SUPPORT_NO_GAME:
    case SET_SERIALIZATION_QUIRKS:
    case SET_PERFORMANCE_LEVEL:
    case GET_INPUT_BITMASKS: return true;
    default: return false;
    }
}

static uint32_t checksum(const uint8_t *data, size_t size) { /* Adler-32, as zlib.adler32 */
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) a = (a + data[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

static struct game_info content(const char *path, bool by_path) {
    struct game_info game = {path, NULL, 0, NULL};
    FILE *file = by_path ? NULL : fopen(path, "rb");
    if (!file) return game;
    char *data = malloc(1 << 26);
    game.size = fread(data, 1, 1 << 26, file), game.data = data;
    fclose(file);
    return game;
}

/* bare CORE CONTENT SYSTEM SAVE MASKS SEEN UNSEEN [KEY VALUE]... ; SEEN -1: AV is not answered */
int main(int count, char **args) {
    FILE *out = fdopen(dup(1), "w");
    dup2(2, 1); /* cores print */
    uint16_t masks[256];
    size_t n_masks = 0;
    for (char *mask = strtok(args[5], ","); mask; mask = strtok(NULL, ",")) masks[n_masks++] = (uint16_t)atoi(mask);
    int seen = atoi(args[6]), unseen = atoi(args[7]);
    options = args + 8;
    snprintf(directories[0], 4096, "%s", args[3]);
    snprintf(directories[1], 4096, "%s", args[4]);
    void *core = count > 7 ? dlopen(args[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!core) return 1;
    av = seen;
    ((void (*)(environment_t))dlsym(core, "retro_set_environment"))(environment);
    ((void (*)(void))dlsym(core, "retro_init"))();
    ((void (*)(video_refresh_t))dlsym(core, "retro_set_video_refresh"))(video);
    ((void (*)(audio_sample_t))dlsym(core, "retro_set_audio_sample"))(sample);
    ((void (*)(audio_batch_t))dlsym(core, "retro_set_audio_sample_batch"))(batch);
    ((void (*)(input_poll_t))dlsym(core, "retro_set_input_poll"))(poll);
    ((void (*)(input_state_t))dlsym(core, "retro_set_input_state"))(state);
    struct system_info system = {0};
    ((void (*)(struct system_info *))dlsym(core, "retro_get_system_info"))(&system);
    struct game_info game = content(args[2], system.need_fullpath);
    if (!((bool (*)(const struct game_info *))dlsym(core, "retro_load_game"))(&game)) return 1;
    struct system_av_info timing;
    ((void (*)(struct system_av_info *))dlsym(core, "retro_get_system_av_info"))(&timing);
    ((void (*)(unsigned, unsigned))dlsym(core, "retro_set_controller_port_device"))(0, DEVICE_JOYPAD);
    void (*run)(void) = (void (*)(void))dlsym(core, "retro_run");

    fprintf(out, "ready\n"), fflush(out);
    char line[4200];
    for (size_t batches_run = 0; fgets(line, sizeof line, stdin); fflush(out)) {
        if (!strcmp(line, "ram\n")) {
            size_t size = ((size_t (*)(unsigned))dlsym(core, "retro_get_memory_size"))(2);
            const uint8_t *ram = ((void *(*)(unsigned))dlsym(core, "retro_get_memory_data"))(2);
            fprintf(out, "%u\n", checksum(ram, ram ? size : 0));
            continue;
        }
        if (!strncmp(line, "load ", 5)) {
            line[strcspn(line, "\n")] = 0;
            struct game_info saved = content(line + 5, false);
            bool (*restore)(const void *, size_t) = (bool (*)(const void *, size_t))dlsym(core, "retro_unserialize");
            fprintf(out, "%s\n", saved.data && restore(saved.data, saved.size) ? "loaded" : "refused");
            free((void *)saved.data);
            continue;
        }
        struct timespec begin, end;
        clock_gettime(CLOCK, &begin);
        for (long batches = atol(line); batches > 0; batches--) {
            buttons = masks[batches_run++ % n_masks];
            for (int frame = 1; frame <= BATCH; frame++) {
                if (seen >= 0) av = frame < BATCH ? unseen : seen;
                run();
            }
        }
        clock_gettime(CLOCK, &end);
        fprintf(out, "%.9f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    }
    _exit(0); /* cores die in their exit handlers */
}
