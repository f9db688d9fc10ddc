/* One core instance: its life, its frames and savestates. */
#define _GNU_SOURCE
#include "internal.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread rk_host *rk_current;
static __thread char error_text[1024];

static const char *call_names[CALLS] = {
    "", "dlopen", "retro_set_environment", "retro_init", "retro_get_system_info", "retro_load_game",
    "retro_get_system_av_info", "retro_set_controller_port_device", "retro_run", "retro_reset",
    "retro_get_memory_size", "retro_get_memory_data", "retro_serialize_size", "retro_serialize",
    "retro_unserialize", "retro_unload_game", "retro_deinit", "dlclose"};

const char *rk_call_name(uint32_t call) { return call < CALLS ? call_names[call] : "?"; }
const char *rk_error(void) { return error_text; }
rk_blackbox *rk_box(rk_host *host) { return host->box; }

int rk_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
    return 0;
}

void *rk_grow(void *block, size_t *have, size_t want) {
    if (want <= *have) return block;
    void *more = realloc(block, want);
    if (more) *have = want;
    return more;
}

void rk_enter(rk_host *host, enum call call) {
    rk_current = host;
    host->box->call = host->box->last_call = (uint32_t)call;
    host->box->entered_ns = (uint64_t)now_ns();
}

void rk_leave(rk_host *host) {
    host->box->call = CALL_NONE;
    host->box->entered_ns = 0;
}

static void on_signal(int number) {
    signal(number, SIG_DFL);
    if (rk_current) rk_current->box->signal = (uint32_t)number;
    raise(number);
}

/* For sandbox children only: note in the black box which host died, then die as before. */
void rk_catch_signals(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
}

static void input_poll(void) {}

static int16_t input_state(unsigned port, unsigned device, unsigned index, unsigned id) {
    const rk_host *host = rk_current;
    if (!host || port >= PORTS || (device & DEVICE_MASK) != DEVICE_JOYPAD || index) return 0;
    if (id == JOYPAD_BITMASK) return (int16_t)host->buttons[port];
    return id < 16 ? host->buttons[port] >> id & 1 : 0;
}

static int bind_symbols(rk_host *host) {
    struct { void *slot; const char *name; } symbols[] = {
#define SYMBOL(name) {&host->retro.name, "retro_" #name}
        SYMBOL(set_environment), SYMBOL(set_video_refresh), SYMBOL(set_audio_sample),
        SYMBOL(set_audio_sample_batch), SYMBOL(set_input_poll), SYMBOL(set_input_state), SYMBOL(init),
        SYMBOL(deinit), SYMBOL(api_version), SYMBOL(get_system_info), SYMBOL(get_system_av_info),
        SYMBOL(set_controller_port_device), SYMBOL(reset), SYMBOL(run), SYMBOL(serialize_size),
        SYMBOL(serialize), SYMBOL(unserialize), SYMBOL(load_game), SYMBOL(unload_game),
        SYMBOL(get_memory_data), SYMBOL(get_memory_size)};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(host->image, symbols[i].name);
        if (!symbol) return rk_fail("no %s in it: not a libretro core", symbols[i].name);
        memcpy(symbols[i].slot, &symbol, sizeof symbol);
    }
    unsigned version = host->retro.api_version();
    return version == API_VERSION ? 1 : rk_fail("libretro API version %u, wanted 1", version);
}

static void start(rk_host *host) {
    rk_enter(host, CALL_SET_ENVIRONMENT);
    host->retro.set_environment(rk_environment);
    rk_enter(host, CALL_INIT);
    host->retro.init();
    host->retro.set_video_refresh(rk_video_refresh);
    host->retro.set_audio_sample(rk_audio_sample);
    host->retro.set_audio_sample_batch(rk_audio_batch);
    host->retro.set_input_poll(input_poll);
    host->retro.set_input_state(input_state);
    struct system_info system = {0};
    rk_enter(host, CALL_GET_SYSTEM_INFO);
    host->retro.get_system_info(&system);
    rk_leave(host);
    rk_info *info = &host->info;
    snprintf(info->name, sizeof info->name, "%s", system.name ? system.name : "");
    snprintf(info->version, sizeof info->version, "%s", system.version ? system.version : "");
    snprintf(info->extensions, sizeof info->extensions, "%s", system.extensions ? system.extensions : "");
    info->need_fullpath = system.need_fullpath;
    info->block_extract = system.block_extract;
}

rk_host *rk_open(const char *so, int private_copy, const char *temp_dir, const char *system_dir,
                 const char *save_dir, rk_blackbox *box) {
    rk_host *host = calloc(1, sizeof *host);
    if (!host) return rk_fail("out of memory"), NULL;
    host->box = box ? memset(box, 0, sizeof *box) : &host->own_box;
    snprintf(host->path, PATH_BYTES, "%s", so);
    snprintf(host->system_dir, PATH_BYTES, "%s", system_dir);
    snprintf(host->save_dir, PATH_BYTES, "%s", save_dir);
    rk_set_av(host, 9, 8);
    rk_enter(host, CALL_DLOPEN);
    host->image = private_copy ? rk_private_image(so, temp_dir) : dlopen(so, RTLD_NOW | RTLD_LOCAL);
    rk_leave(host);
    if (!host->image && !private_copy) rk_fail("%s", dlerror());
    if (!host->image || !bind_symbols(host)) {
        if (host->image) dlclose(host->image);
        rk_current = NULL;
        return free(host), NULL;
    }
    start(host);
    return host;
}

void rk_set_av(rk_host *host, int seen, int unseen) {
    host->av = host->av_seen = seen;
    host->av_unseen = unseen;
}

int rk_load(rk_host *host, const char *path, const uint8_t *data, size_t size) {
    if (host->loaded) return rk_fail("content is already loaded; open the core anew");
    if (!path && !host->info.supports_no_game) return rk_fail("the core does not run without content");
    struct game_info game = {NULL, NULL, 0, NULL};
    if (path) {
        snprintf(host->content_path, PATH_BYTES, "%s", path);
        game.path = host->content_path;
    }
    if (data) {
        host->content = malloc(size + 1);
        if (!host->content) return rk_fail("out of memory for %zu bytes of content", size);
        memcpy(host->content, data, size);
        game.data = host->content, game.size = size;
    }
    rk_enter(host, CALL_LOAD_GAME);
    host->loaded = host->retro.load_game(path || data ? &game : NULL);
    rk_leave(host);
    if (!host->loaded) return rk_fail("retro_load_game returned false");
    struct system_av_info av = {0};
    rk_enter(host, CALL_GET_SYSTEM_AV_INFO); /* once: each call costs FBNeo a picture */
    host->retro.get_system_av_info(&av);
    rk_enter(host, CALL_SET_CONTROLLER);
    host->retro.set_controller_port_device(0, DEVICE_JOYPAD);
    rk_leave(host);
    rk_info *info = &host->info;
    info->fps = av.timing.fps, info->sample_rate = av.timing.sample_rate;
    info->base_width = av.geometry.base_width, info->base_height = av.geometry.base_height;
    info->max_width = av.geometry.max_width, info->max_height = av.geometry.max_height;
    info->aspect = av.geometry.aspect;
    info->savestate_size = (uint64_t)rk_savestate_size(host);
    return 1;
}

int rk_reset(rk_host *host) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    memset(host->buttons, 0, sizeof host->buttons);
    rk_enter(host, CALL_RESET);
    host->retro.reset();
    rk_leave(host);
    host->fresh = false, host->stale = true;
    return 1;
}

void rk_close(rk_host *host) {
    if (!host) return;
    if (host->loaded) {
        rk_enter(host, CALL_UNLOAD_GAME);
        host->retro.unload_game();
    }
    rk_enter(host, CALL_DEINIT);
    host->retro.deinit();
    rk_enter(host, CALL_DLCLOSE);
    dlclose(host->image);
    rk_leave(host);
    rk_current = NULL;
    rk_free_environment(host);
    free(host->content), free(host->picture), free(host->scratch), free(host->previous), free(host->state);
    free(host->sound.samples);
    free(host);
}

void rk_get_info(rk_host *host, rk_info *info) { *info = host->info; }

int64_t rk_savestate_size(rk_host *host) {
    if (!host->loaded) return 0;
    rk_enter(host, CALL_SERIALIZE_SIZE);
    size_t size = host->retro.serialize_size();
    rk_leave(host);
    return (int64_t)size;
}

int rk_save(rk_host *host, uint8_t *state, size_t size) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    rk_enter(host, CALL_SERIALIZE);
    bool saved = host->retro.serialize(state, size);
    rk_leave(host);
    return saved ? 1 : rk_fail("retro_serialize returned false");
}

static bool unserialize(rk_host *host, const uint8_t *state, size_t size) {
    memset(host->buttons, 0, sizeof host->buttons); /* a button held through a load stays stuck */
    host->fresh = false, host->stale = true;
    rk_enter(host, CALL_UNSERIALIZE);
    bool restored = host->retro.unserialize(state, size);
    rk_leave(host);
    return restored;
}

int rk_restore(rk_host *host, const uint8_t *state, size_t size) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    bool restored = unserialize(host, state, size);
    if (restored && !host->settled) { /* what a savestate lacks a frame sets: Enduro on Stella */
        host->settled = true;
        rk_step(host, false);
        restored = unserialize(host, state, size);
    }
    return restored ? 1 : rk_fail("retro_unserialize returned false");
}

int rk_step(rk_host *host, bool see) {
    /* The first frames are all kept: they tell whether the core repeats frames. */
    host->asked = see;
    host->capture = see || host->capture_always || host->warm_frames < WARM_FRAMES;
    host->av = host->capture ? host->av_seen : host->av_unseen;
    host->warm_frames++;
    rk_enter(host, CALL_RUN);
    if (host->frame_time.callback) host->frame_time.callback(host->frame_time.reference);
    host->retro.run();
    rk_leave(host);
    host->box->frames++;
    host->fresh = see && host->width && !host->stale;
    return 1;
}

void rk_press(rk_host *host, uint16_t buttons) {
    memset(host->buttons, 0, sizeof host->buttons);
    host->buttons[0] = buttons;
}

int rk_run(rk_host *host, uint32_t frames, const uint16_t *buttons, uint32_t ports, int see) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    for (uint32_t p = 0; p < PORTS; p++) host->buttons[p] = p < ports ? buttons[p] : 0;
    for (uint32_t i = 0; i < frames; i++) rk_step(host, see && i + 1 == frames);
    return 1;
}
