/* What lane.c and pool.c share. */
#ifndef RETROKIT_EPISODE_H
#define RETROKIT_EPISODE_H
#include <stdatomic.h>
#include "internal.h"
#include "lane.h"

/* A frame cut and converted; unless it is `fit` to be observed not yet turned or resized. */
struct seen { uint8_t *pixels; size_t bytes; uint32_t width, height; bool fit; };

struct lane {
    rk_host *host;
    int row;
    uint64_t random;     /* state of its generator */
    bool reset_due;      /* the episode has ended, or none has begun */
    bool goes_on;        /* it ended with a life: the game itself goes on */
    bool lost;           /* it ended with the core before this one: nobody was told yet */
    uint16_t buttons;    /* held in the frame before, for sticky actions */
    int64_t *values;     /* as of the last look */
    int64_t *gained, *best; /* of the episode, for each variable */
    int64_t stalled;     /* steps without progress */
    uint32_t *held;      /* the rule's counters */
    rk_view *views;      /* the program's regions, of this frame */
    rk_result result;
    rk_log log;
    size_t actions_bytes, buttons_bytes; /* of the log, as they were allocated */
    rk_lanes *lanes;
    struct seen last, earlier; /* the last two frames shown */
    char error[256];     /* empty while all is well */
    _Atomic uint32_t taken; /* number of the latest job that a thread took it for */
};

struct start { uint8_t *state; size_t size; };

struct rk_lanes {
    rk_plan plan;
    rk_batch batch;
    int count;
    struct lane *lanes;
    struct start *starts;
    int n_starts;
    struct pool *pool;
    /* the job at hand */
    bool resets;
    int32_t *actions;
    rk_copy copy;
    uint8_t *asked;
    uint64_t *seeds;
    int32_t *chosen;
    const rk_log *replayed; /* a job of its own */
};

/* lane.c */
void rk_lane_work(rk_lanes *lanes, struct lane *lane);
bool rk_rests(const rk_lanes *lanes, const struct lane *lane, int32_t action);
/* log.c */
int rk_log_room(struct lane *lane, int64_t frames);
/* observe.c */
void rk_lane_sink(void *lane, const uint8_t *pixels, size_t pitch);
void rk_lane_keep(struct lane *lane);
int rk_lane_observe(rk_lanes *lanes, struct lane *lane, int shown, bool first);
void rk_lane_put_aside(rk_lanes *lanes, struct lane *lane);
void rk_lane_copy(rk_lanes *lanes, struct lane *lane, uint8_t *pixels, uint8_t *ram);
/* pool.c */
struct pool *rk_pool_new(rk_lanes *lanes, int threads);
void rk_pool_free(struct pool *pool);
void rk_pool_start(struct pool *pool);
void rk_pool_finish(struct pool *pool);
#endif
