/* The host's interface, declared once: the C compiler and cffi both read this file (build.py drops
 * the lines that start with '#'). A host is one core instance in its own private image. Calls on
 * one host must not overlap; different hosts may run in different threads. Functions that can
 * fail return 0 or a negative number and leave a reason in rk_error(). */
#ifndef RETROKIT_HOST_H
#define RETROKIT_HOST_H
#include <stddef.h>
#include <stdint.h>

typedef struct rk_host rk_host;

/* What the core is doing, kept where the parent of a sandbox can read it after a crash. */
typedef struct {
    uint64_t entered_ns;   /* CLOCK_MONOTONIC when the current call began; 0 outside the core */
    uint64_t frames;       /* retro_run calls completed */
    uint32_t call;         /* index for rk_call_name(); 0 outside the core */
    uint32_t last_call;    /* the latest call entered */
    uint32_t signal;       /* set by the crash handler, 0 while alive */
    uint32_t log_count;    /* lines ever logged; line n lies in log[n % 200] */
    char log[200][512];
} rk_blackbox;

typedef struct {
    char name[64], version[128], extensions[1024];
    int need_fullpath, block_extract, supports_no_game;
    double fps, sample_rate;
    uint32_t base_width, base_height, max_width, max_height;
    double aspect;
    int pixel_format;      /* 0 0RGB1555, 1 XRGB8888, 2 RGB565 */
    int rotation;          /* degrees counter-clockwise the picture must be turned: 0 90 180 270 */
    int asks_av_enable;    /* the core reads GET_AUDIO_VIDEO_ENABLE */
    int asks_hardware;     /* the core wanted hardware rendering and was refused */
    int shutdown;          /* the core asked to end */
    uint64_t savestate_quirks;
    uint64_t savestate_size; /* retro_serialize_size after load, 0 when it cannot */
    uint64_t dupes;        /* frames delivered as "same as before" */
    uint64_t oversize;     /* frames larger than the declared maximum */
} rk_info;

typedef struct {
    int id;                /* libretro memory id, or 256 + descriptor number */
    char name[32];         /* SYSTEM_RAM, SAVE_RAM, …, or MAP_<start in hex> */
    uint8_t *data;
    uint64_t size, flags, start;
} rk_region;

/* How the selected bytes moved: an array each of all of them, counted on over several calls. */
typedef struct {
    uint32_t *changes;     /* frames in which it changed, but not all of its line did */
    uint32_t *alone;       /* of those, where half of its line at most changed */
    uint32_t *back;        /* of those alone, back to what it was before its last change alone */
    uint64_t *steps;       /* bits (new - old) % 64 of those alone */
    uint8_t *before;       /* what it was before its last change alone */
    uint32_t *whole;       /* a line of 64 bytes: frames in which all of it changed */
    uint32_t most;         /* a line whose bytes all changed in more frames is counted no further */
} rk_counts;

typedef struct { const char *key, *value, *default_value, *values; } rk_option;
typedef struct { uint32_t port, device, index, id; const char *description; } rk_input;

#define RK_SAVESTATE_REGION 512

const char *rk_call_name(uint32_t call);
const char *rk_error(void);
void rk_catch_signals(void);

rk_host *rk_open(const char *so, int private_copy, const char *temp_dir, const char *system_dir,
                 const char *save_dir, rk_blackbox *box);
void rk_close(rk_host *host);
rk_blackbox *rk_box(rk_host *host);
int rk_option_set(rk_host *host, const char *key, const char *value);
int rk_option_get(rk_host *host, int number, rk_option *option);
int rk_input_get(rk_host *host, int number, rk_input *input);
int rk_load(rk_host *host, const char *path, const uint8_t *data, size_t size);
int rk_reset(rk_host *host);
void rk_get_info(rk_host *host, rk_info *info);
void rk_set_av(rk_host *host, int seen, int unseen);

int rk_regions(rk_host *host, rk_region *regions, int most);
int64_t rk_select(rk_host *host, const int *ids, int count);
int rk_read(rk_host *host, uint8_t *ram);
int rk_poke(rk_host *host, const int32_t *offsets, const uint8_t *values, int count);

int64_t rk_savestate_size(rk_host *host);
int rk_save(rk_host *host, uint8_t *state, size_t size);
int rk_restore(rk_host *host, const uint8_t *state, size_t size);

int rk_run(rk_host *host, uint32_t frames, const uint16_t *buttons, uint32_t ports, int see);
int rk_frame_size(rk_host *host, uint32_t *width, uint32_t *height);
int rk_frame(rk_host *host, uint8_t *out, uint32_t width, uint32_t height, int channels);

/* Keep the sound of frames that run from now on, 16-bit stereo, or no longer. rk_sound hands out what
 * was kept and forgets it; without a place for it, tells how many samples (of both ears) there are. */
void rk_hear(rk_host *host, int on);
int64_t rk_sound(rk_host *host, int16_t *out);

/* Run one button log and keep what was seen. `buttons` [frames]; `kept` [n_kept] offsets into the
 * selected regions, their bytes go to `ram` [frames][n_kept]; pictures (upright RGB565) every
 * `every` frames (0: never) go to `pictures` [frames / every][height][width]. Null pointers switch
 * a part off. */
int rk_record(rk_host *host, uint32_t frames, const uint16_t *buttons, const int32_t *kept,
              uint32_t n_kept, uint8_t *ram, uint32_t every, uint16_t *pictures, uint32_t width,
              uint32_t height);

/* Run one button log and count how every selected byte moves. */
int rk_count(rk_host *host, uint32_t frames, const uint16_t *buttons, const rk_counts *counts);

/* Futures of one savestate: restore, write the pokes, run, look; once a branch. `buttons`
 * [branches or 1][frames]; `offsets`, `values` [branches][pokes] (offset -1: none); at each of
 * `captures` [n_captures] (frames run so far, ascending) keep bytes `kept` in `ram`
 * [branches][n_captures][n_kept], a hash of the picture in `hashes` [branches][n_captures], the
 * picture in `pictures` [branches][n_captures][height][width]. */
int rk_branch(rk_host *host, const uint8_t *state, size_t size, uint32_t branches,
              uint32_t frames, const uint16_t *buttons, int shared_buttons, uint32_t pokes,
              const int32_t *offsets, const uint8_t *values, uint32_t n_captures,
              const uint32_t *captures, const int32_t *kept, uint32_t n_kept, uint8_t *ram,
              uint64_t *hashes, uint16_t *pictures, uint32_t width, uint32_t height);
#endif
