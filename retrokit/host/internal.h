/* What the host's own C files share. */
#ifndef RETROKIT_INTERNAL_H
#define RETROKIT_INTERNAL_H
#include <time.h>
#include "host.h"
#include "libretro.h"

#define PORTS 8
#define PATH_BYTES 4096 /* FBNeo copies 260 bytes from the directory pointers, whatever the length */
#define REGIONS 64
#define WARM_FRAMES 60
#define BRIEF_NS 200000   /* a nap and its end cost up to 100 microseconds on a virtual machine */
#define PATIENCE_NS 20000 /* where waits were longer than that, the processor is left to others */
#define INLINE static inline __attribute__((always_inline))

INLINE void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

INLINE int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Spin until a word is a value or, with `other`, any other value; how long depends on whether the wait
 * before was `brief`. Returns when it began, for `was_brief`; a nap may have to follow. */
INLINE int64_t spin(const uint32_t *word, uint32_t value, bool other, bool brief) {
    const int64_t begin = now_ns(), most = brief ? BRIEF_NS : PATIENCE_NS;
    do
        for (int i = 0; i < 32; i++, relax())
            if ((__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) != other) return begin;
    while (now_ns() - begin < most);
    return begin;
}

INLINE bool was_brief(int64_t begin) { return now_ns() - begin < BRIEF_NS; }

/* Compiled twice, the second time for processors with wide vectors, and chosen when it is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

enum call {
    CALL_NONE, CALL_DLOPEN, CALL_SET_ENVIRONMENT, CALL_INIT, CALL_GET_SYSTEM_INFO, CALL_LOAD_GAME,
    CALL_GET_SYSTEM_AV_INFO, CALL_SET_CONTROLLER, CALL_RUN, CALL_RESET, CALL_MEMORY_SIZE,
    CALL_MEMORY_DATA, CALL_SERIALIZE_SIZE, CALL_SERIALIZE, CALL_UNSERIALIZE, CALL_UNLOAD_GAME,
    CALL_DEINIT, CALL_DLCLOSE, CALLS
};

struct option { char *key, *value, *default_value, *values; };

/* Where the bytes of the savestate that a game's facts name really are: live.c. */
struct live {
    bool wanted, moved;       /* moved: they were elsewhere since some look before this one */
    uint64_t first, last;     /* of the bytes named */
    const uint8_t *base;      /* the savestate's byte i is base[i], of those */
    uint64_t size;
    uint32_t looks, tried;
};

struct sound { int16_t *samples; size_t bytes, count; bool on; };

struct rk_host {
    void *image;
    struct {
        void (*set_environment)(environment_t);
        void (*set_video_refresh)(video_refresh_t);
        void (*set_audio_sample)(audio_sample_t);
        void (*set_audio_sample_batch)(audio_batch_t);
        void (*set_input_poll)(input_poll_t);
        void (*set_input_state)(input_state_t);
        void (*init)(void);
        void (*deinit)(void);
        unsigned (*api_version)(void);
        void (*get_system_info)(struct system_info *);
        void (*get_system_av_info)(struct system_av_info *);
        void (*set_controller_port_device)(unsigned, unsigned);
        void (*reset)(void);
        void (*run)(void);
        size_t (*serialize_size)(void);
        bool (*serialize)(void *, size_t);
        bool (*unserialize)(const void *, size_t);
        bool (*load_game)(const struct game_info *);
        void (*unload_game)(void);
        void *(*get_memory_data)(unsigned);
        size_t (*get_memory_size)(unsigned);
    } retro;
    char path[PATH_BYTES], system_dir[PATH_BYTES], save_dir[PATH_BYTES];
    char content_path[PATH_BYTES];
    uint8_t *content; /* ours until close: some cores keep the pointer */
    size_t content_size;
    bool loaded, options_changed;
    rk_info info;
    rk_blackbox *box, own_box;
    struct option *options;
    int n_options;
    struct input_descriptor *inputs;
    int n_inputs;
    struct memory_descriptor *maps;
    int n_maps;
    struct frame_time frame_time;
    uint16_t buttons[PORTS];
    int av, av_seen, av_unseen;
    bool asked, capture, capture_always; /* asked: somebody wants the present frame's picture */
    /* Takes pictures straight from the core, without a copy; with `keep` one is made all the same. */
    void (*sink)(void *of, const uint8_t *pixels, size_t pitch);
    void *sink_of;
    bool keep;
    bool fresh, stale; /* fresh: the picture is of the present frame; stale: of another past */
    uint32_t warm_frames;
    bool settled; /* a frame has run from a savestate */
    uint8_t *picture; /* rows of width pixels, no padding, in the format of the time */
    size_t picture_bytes;
    int picture_format;
    uint32_t width, height;
    int selected[REGIONS], n_selected;
    uint64_t selected_size[REGIONS];
    uint8_t *scratch, *previous; /* the selected regions in one piece: a copy; at the frame before */
    uint8_t *state;              /* for the savestate used as memory */
    size_t state_size;
    struct live live;
    struct sound sound;
};

extern __thread rk_host *rk_current;

void rk_enter(rk_host *host, enum call call);
void rk_leave(rk_host *host);
int rk_fail(const char *format, ...);
void *rk_grow(void *block, size_t *have, size_t want);

/* scratch.c */
enum scratch { SCRATCH_WHOLE, SCRATCH_SMALL, SCRATCH_SUMS, SCRATCHES };
void *rk_scratch(enum scratch which, size_t bytes);
/* image.c */
void *rk_private_image(const char *so, const char *temp_dir);
/* environment.c */
bool rk_environment(unsigned command, void *data);
void rk_free_environment(rk_host *host);
/* sound.c */
void rk_audio_sample(int16_t left, int16_t right);
size_t rk_audio_batch(const int16_t *data, size_t frames);
/* video.c */
void rk_video_refresh(const void *data, unsigned width, unsigned height, size_t pitch);
uint64_t rk_picture_hash(rk_host *host);
void rk_picture_565(rk_host *host, uint16_t *out, uint32_t width, uint32_t height);
struct part { uint32_t x, y, width, height; };
void rk_convert(const uint8_t *from, int format, uint32_t pitch, struct part part, int channels,
                uint8_t *out);
int rk_fit(const rk_host *host, const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t width,
           uint32_t height, int channels);
/* grey.c: pixels in a row made grey, from the first on; returns how many, maybe none. */
size_t rk_grey(const uint8_t *in, int format, size_t n, uint8_t *out);
/* resize.c */
int rk_resize(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
              int channels);
/* memory.c */
uint8_t *rk_region_at(rk_host *host, int id, uint64_t *size);
int rk_gather(rk_host *host, uint8_t *ram);
const uint8_t *rk_look(rk_host *host);
void rk_keep(const uint8_t *ram, const int32_t *kept, uint32_t n, uint8_t *out);
/* live.c */
const uint8_t *rk_live_state(rk_host *host, uint64_t *size);
/* host.c */
int rk_step(rk_host *host, bool see);
void rk_press(rk_host *host, uint16_t buttons);
#endif
