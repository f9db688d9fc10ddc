/* Everything a core may ask of its frontend, answered so that a careless core survives the answer. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define LOG_LINES 200

static void log_line(rk_host *host, const char *text) {
    rk_blackbox *box = host->box;
    char *line = box->log[box->log_count % LOG_LINES];
    snprintf(line, sizeof box->log[0], "%s", text);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ') line[--n] = 0;
    if (n) box->log_count++;
}

/* Variadic on purpose: cores pass any arguments, and a fixed-argument callback loses them. */
static void log_printf(int level, const char *format, ...) {
    static const char *names[] = {"debug", "info", "warning", "error"};
    rk_host *host = rk_current;
    if (!host || !format) return;
    char text[512];
    int n = snprintf(text, sizeof text, "%s: ", names[level & 3]);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
    va_end(arguments);
    log_line(host, text);
}

static struct option *find_option(rk_host *host, const char *key) {
    for (int i = 0; key && i < host->n_options; i++)
        if (!strcmp(host->options[i].key, key)) return &host->options[i];
    return NULL;
}

static struct option *get_option(rk_host *host, const char *key) {
    struct option *option = find_option(host, key);
    if (option) return option;
    struct option *more = realloc(host->options, sizeof *more * (size_t)(host->n_options + 1));
    if (!more) return NULL;
    host->options = more;
    option = &host->options[host->n_options++];
    *option = (struct option){strdup(key), NULL, NULL, NULL};
    return option;
}

static void replace(char **slot, const char *text) {
    char *copy = text ? strdup(text) : NULL;
    free(*slot);
    *slot = copy;
}

static void declare(rk_host *host, const char *key, const char *fallback, const char *values) {
    struct option *option = key ? get_option(host, key) : NULL;
    if (!option) return;
    replace(&option->values, values);
    replace(&option->default_value, fallback ? fallback : "");
}

/* "Description; default|other|other" */
static void declare_v0(rk_host *host, const struct variable *v) {
    for (; v && v->key; v++) {
        const char *values = v->value ? strchr(v->value, ';') : NULL;
        values = values ? values + 1 + strspn(values + 1, " ") : "";
        char *first = strndup(values, strcspn(values, "|"));
        declare(host, v->key, first, values);
        free(first);
    }
}

static void declare_values(rk_host *host, const char *key, const char *fallback,
                           const struct option_value *values) {
    char joined[8192] = "";
    size_t n = 0;
    for (int i = 0; i < 128 && values[i].value; i++) {
        int wrote = snprintf(joined + n, sizeof joined - n, "%s%s", i ? "|" : "", values[i].value);
        if (wrote < 0 || (size_t)wrote >= sizeof joined - n) break;
        n += (size_t)wrote;
    }
    declare(host, key, fallback ? fallback : values[0].value, joined);
}

static void declare_v1(rk_host *host, const struct option_v1 *o) {
    for (; o && o->key; o++) declare_values(host, o->key, o->default_value, o->values);
}

static void declare_v2(rk_host *host, const struct options_v2 *options) {
    const struct option_v2 *o = options ? options->definitions : NULL;
    for (; o && o->key; o++) declare_values(host, o->key, o->default_value, o->values);
}

static bool answer_variable(rk_host *host, struct variable *v) {
    const struct option *option = find_option(host, v->key);
    v->value = option ? (option->value ? option->value : option->default_value) : NULL;
    if (v->value) return true;
    v->value = ""; /* "no", but safe for a core that compares without looking at the answer */
    return false;
}

static void keep_inputs(rk_host *host, const struct input_descriptor *list) {
    int n = 0;
    while (list && list[n].description) n++;
    for (int i = 0; i < host->n_inputs; i++) free((void *)host->inputs[i].description);
    free(host->inputs);
    host->inputs = calloc((size_t)n + 1, sizeof *host->inputs);
    host->n_inputs = host->inputs ? n : 0;
    for (int i = 0; i < host->n_inputs; i++) {
        host->inputs[i] = list[i];
        host->inputs[i].description = strdup(list[i].description);
    }
}

static void keep_maps(rk_host *host, const struct memory_map *map) {
    free(host->maps);
    unsigned count = map->descriptors ? map->count : 0;
    host->maps = calloc(count + 1u, sizeof *host->maps);
    host->n_maps = host->maps ? (int)count : 0;
    for (int i = 0; i < host->n_maps; i++) host->maps[i] = map->descriptors[i];
}

static void keep_geometry(rk_host *host, const struct game_geometry *g) {
    host->info.base_width = g->base_width;
    host->info.base_height = g->base_height;
    if (g->max_width > host->info.max_width) host->info.max_width = g->max_width;
    if (g->max_height > host->info.max_height) host->info.max_height = g->max_height;
    host->info.aspect = g->aspect;
}

int rk_option_set(rk_host *host, const char *key, const char *value) {
    struct option *option = get_option(host, key);
    if (!option) return rk_fail("out of memory");
    replace(&option->value, value);
    host->options_changed = true;
    return 1;
}

int rk_option_get(rk_host *host, int number, rk_option *out) {
    if (number < 0 || number >= host->n_options) return 0;
    const struct option *o = &host->options[number];
    *out = (rk_option){o->key, o->value ? o->value : o->default_value, o->default_value, o->values};
    return 1;
}

int rk_input_get(rk_host *host, int number, rk_input *out) {
    if (number < 0 || number >= host->n_inputs) return 0;
    const struct input_descriptor *i = &host->inputs[number];
    *out = (rk_input){i->port, i->device, i->index, i->id, i->description};
    return 1;
}

void rk_free_environment(rk_host *host) {
    for (int i = 0; i < host->n_options; i++) {
        struct option *o = &host->options[i];
        free(o->key), free(o->value), free(o->default_value), free(o->values);
    }
    for (int i = 0; i < host->n_inputs; i++) free((void *)host->inputs[i].description);
    free(host->options), free(host->inputs), free(host->maps);
}

bool rk_environment(unsigned command, void *data) {
    rk_host *host = rk_current;
    if (!host) return false;
    rk_info *info = &host->info;
    switch (command) { /* these may come without data */
    case SHUTDOWN: info->shutdown = 1; return true;
    case GET_INPUT_BITMASKS: return true;
    case GET_AUDIO_VIDEO_ENABLE:
        info->asks_av_enable = 1;
        if (data) *(int *)data = host->av;
        return true;
    case SET_VARIABLE: {
        const struct variable *v = data;
        if (!v) return true; /* "may I?" */
        const struct option *option = find_option(host, v->key);
        return option && v->value && rk_option_set(host, v->key, v->value) > 0;
    }
    case SET_PERFORMANCE_LEVEL:
    case SET_KEYBOARD_CALLBACK:
    case SET_DISK_CONTROL_INTERFACE:
    case SET_DISK_CONTROL_EXT_INTERFACE:
    case SET_PROC_ADDRESS_CALLBACK:
    case SET_SUBSYSTEM_INFO:
    case SET_CONTROLLER_INFO:
    case SET_SUPPORT_ACHIEVEMENTS:
    case SET_CORE_OPTIONS_DISPLAY:
    case SET_CORE_OPTIONS_UPDATE_DISPLAY_CALLBACK:
    case SET_MINIMUM_AUDIO_LATENCY:
    case SET_FASTFORWARDING_OVERRIDE: return true;
    default: break;
    }
    if (!data) return command == GET_CAN_DUPE || command == GET_SAVESTATE_CONTEXT;
    switch (command) {
    case SET_ROTATION:
        info->rotation = (int)(*(const unsigned *)data & 3u) * 90;
        return true;
    case GET_OVERSCAN: *(bool *)data = false; return true;
    case GET_CAN_DUPE: *(bool *)data = true; return true;
    case SET_MESSAGE: log_line(host, ((const struct message *)data)->text); return true;
    case SET_MESSAGE_EXT: log_line(host, ((const struct message_ext *)data)->text); return true;
    case GET_MESSAGE_INTERFACE_VERSION: *(unsigned *)data = 1; return true;
    case GET_SYSTEM_DIRECTORY:
    case GET_CORE_ASSETS_DIRECTORY: *(const char **)data = host->system_dir; return true;
    case GET_SAVE_DIRECTORY: *(const char **)data = host->save_dir; return true;
    case GET_LIBRETRO_PATH: *(const char **)data = host->path; return true;
    case GET_USERNAME: *(const char **)data = "retrokit"; return true;
    case GET_LANGUAGE: *(unsigned *)data = 0; return true;
    case SET_PIXEL_FORMAT: {
        int format = *(const int *)data;
        if (format < FORMAT_0RGB1555 || format > FORMAT_RGB565) return false;
        info->pixel_format = format;
        return true;
    }
    case SET_INPUT_DESCRIPTORS: keep_inputs(host, data); return true;
    case SET_SUPPORT_NO_GAME: info->supports_no_game = *(const bool *)data; return true;
    case GET_VARIABLE: return answer_variable(host, data);
    case SET_VARIABLES: declare_v0(host, data); return true;
    case SET_CORE_OPTIONS: declare_v1(host, data); return true;
    case SET_CORE_OPTIONS_INTL: declare_v1(host, ((struct options_v1_intl *)data)->us); return true;
    case SET_CORE_OPTIONS_V2: declare_v2(host, data); return true;
    case SET_CORE_OPTIONS_V2_INTL:
        declare_v2(host, ((struct options_v2_intl *)data)->us);
        return true;
    case GET_CORE_OPTIONS_VERSION: *(unsigned *)data = 2; return true;
    case GET_VARIABLE_UPDATE:
        *(bool *)data = host->options_changed;
        host->options_changed = false;
        return true;
    case GET_LOG_INTERFACE: ((struct log_interface *)data)->log = log_printf; return true;
    case SET_SYSTEM_AV_INFO: {
        const struct system_av_info *av = data;
        keep_geometry(host, &av->geometry);
        info->fps = av->timing.fps;
        info->sample_rate = av->timing.sample_rate;
        return true;
    }
    case SET_GEOMETRY: keep_geometry(host, data); return true;
    case SET_MEMORY_MAPS: keep_maps(host, data); return true;
    case SET_FRAME_TIME_CALLBACK: host->frame_time = *(const struct frame_time *)data; return true;
    case GET_INPUT_DEVICE_CAPABILITIES: *(uint64_t *)data = 1u << DEVICE_JOYPAD; return true;
    case GET_INPUT_MAX_USERS: *(unsigned *)data = PORTS; return true;
    case GET_FASTFORWARDING: *(bool *)data = false; return true; /* true changes what games do */
    case GET_SAVESTATE_CONTEXT: *(int *)data = 0; return true;
    case SET_SERIALIZATION_QUIRKS: info->savestate_quirks = *(const uint64_t *)data; return true;
    case GET_DISK_CONTROL_INTERFACE_VERSION: *(unsigned *)data = 1; return true;
    case SET_HW_RENDER: info->asks_hardware = 1; return false;
    case GET_JIT_CAPABLE: *(bool *)data = true; return true;
    default: return false;
    }
}
