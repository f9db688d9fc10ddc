/* Many lanes: what they own, and the threads that work on them beside the caller's. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "episode.h"

struct worker { struct pool *pool; int number; pthread_t thread; };

struct pool {
    rk_lanes *lanes;
    int threads; /* the caller's included */
    struct worker *workers;
    pid_t process; /* threads do not survive a fork */
    bool stopped;
    _Atomic uint32_t job, left; /* number of the job; lanes that are not finished */
    _Atomic uint32_t naps;      /* workers asleep on `job` */
    _Atomic bool asleep;        /* the caller, on `left` */
    bool brief;                 /* the caller's last wait for the others */
};

static void nap(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

/* Take one lane after the other, first those that this thread had before, to and fro: the last of a
 * job is the first of the next, while its memory is near. Then what the others have not come to. */
static void take_part(struct pool *pool, int number) {
    rk_lanes *lanes = pool->lanes;
    const uint32_t job = atomic_load(&pool->job);
    const int first = (int)((long)lanes->count * number / pool->threads);
    const int own = (int)((long)lanes->count * (number + 1) / pool->threads) - first;
    for (int k = 0; k < lanes->count; k++) {
        const int turn = job % 2 && k < own ? own - 1 - k : k;
        struct lane *lane = &lanes->lanes[(first + turn) % lanes->count];
        uint32_t before = job - 1; /* a thread that comes late to a job must not take the next one's */
        if (!atomic_compare_exchange_strong(&lane->taken, &before, job)) continue;
        rk_lane_work(lanes, lane);
        if (atomic_fetch_sub(&pool->left, 1) == 1 && atomic_load(&pool->asleep)) wake(&pool->left);
    }
}

static void *live(void *argument) {
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    uint32_t seen = 0;
    for (bool brief = false;;) {
        const int64_t begin = spin((const uint32_t *)&pool->job, seen, true, brief);
        atomic_fetch_add(&pool->naps, 1);
        while (atomic_load(&pool->job) == seen) nap(&pool->job, seen);
        atomic_fetch_sub(&pool->naps, 1);
        brief = was_brief(begin);
        seen = atomic_load(&pool->job);
        if (pool->stopped) return NULL;
        take_part(pool, worker->number);
    }
}

void rk_pool_start(struct pool *pool) {
    atomic_store(&pool->left, (uint32_t)pool->lanes->count);
    atomic_fetch_add(&pool->job, 1);
    if (atomic_load(&pool->naps)) wake(&pool->job);
}

static void await_all(struct pool *pool) {
    if (!atomic_load(&pool->left)) return;
    take_part(pool, 0);
    const int64_t begin = spin((const uint32_t *)&pool->left, 0, false, pool->brief);
    atomic_store(&pool->asleep, true);
    for (uint32_t left; (left = atomic_load(&pool->left));) nap(&pool->left, left);
    atomic_store(&pool->asleep, false);
    pool->brief = was_brief(begin);
}

void rk_pool_finish(struct pool *pool) {
    await_all(pool);
    pool->lanes->copy = (rk_copy){0}; /* its owner may drop it now */
}

void rk_pool_free(struct pool *pool) {
    if (!pool) return;
    if (pool->process == getpid()) {
        pool->stopped = true;
        atomic_fetch_add(&pool->job, 1);
        wake(&pool->job);
        for (int t = 1; t < pool->threads; t++) pthread_join(pool->workers[t].thread, NULL);
    }
    free(pool->workers);
    free(pool);
}

struct pool *rk_pool_new(rk_lanes *lanes, int threads) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    *pool = (struct pool){.lanes = lanes, .threads = 1, .process = getpid()};
    pool->workers = calloc((size_t)threads, sizeof *pool->workers);
    if (!pool->workers) return free(pool), NULL;
    int wanted = pool->threads = threads;
    for (int t = 1; t < wanted; t++) {
        pool->workers[t] = (struct worker){.pool = pool, .number = t};
        if (!pthread_create(&pool->workers[t].thread, NULL, live, &pool->workers[t])) continue;
        pool->threads = t; /* fewer will do */
        break;
    }
    return pool;
}

static void *copy_of(const void *data, size_t bytes) {
    void *copy = malloc(bytes + 1);
    return copy ? memcpy(copy, data, bytes) : NULL;
}

static void drop_starts(rk_lanes *lanes) {
    for (int i = 0; i < lanes->n_starts; i++) free(lanes->starts[i].state);
    free(lanes->starts);
    lanes->starts = NULL, lanes->n_starts = 0;
}

int rk_lanes_starts(rk_lanes *lanes, const uint8_t *states, const uint64_t *sizes, int count) {
    drop_starts(lanes);
    lanes->starts = calloc((size_t)count, sizeof *lanes->starts);
    for (int i = 0; lanes->starts && i < count; states += sizes[i++]) {
        lanes->starts[i] = (struct start){copy_of(states, sizes[i]), sizes[i]};
        if (!lanes->starts[i].state) break;
        lanes->n_starts++;
    }
    return lanes->n_starts == count ? 1 : rk_fail("out of memory for %d savestates", count);
}

/* Which bytes of the savestate the program reads. */
static struct live named(const rk_plan *plan) {
    const rk_program *program = &plan->program;
    struct live live = {.first = UINT64_MAX};
    for (int32_t v = 0; v < program->n_variables; v++) {
        const rk_part *part = program->parts + program->variables[v].first_part;
        for (uint32_t p = 0; p < program->variables[v].n_parts; p++, part++) {
            if (program->regions[part->region] != RK_SAVESTATE_REGION) continue;
            for (uint32_t i = 0; i < part->n_addrs; i++) {
                uint64_t addr = program->addrs[part->first_addr + i];
                if (addr < live.first) live.first = addr;
                if (addr > live.last) live.last = addr;
                live.wanted = plan->in_place;
            }
        }
    }
    return live;
}

static bool open_lane(rk_lanes *lanes, struct lane *lane, rk_host *host, int row) {
    const rk_program *program = &lanes->plan.program;
    const size_t variables = (size_t)program->n_variables + 1;
    lane->lanes = lanes, lane->host = host, lane->row = row, lane->reset_due = true;
    host->sink = lanes->plan.channels ? rk_lane_sink : NULL, host->sink_of = lane;
    host->keep = lanes->plan.keep;
    host->live = named(&lanes->plan);
    lane->values = calloc(variables, sizeof(int64_t));
    lane->gained = calloc(variables, sizeof(int64_t));
    lane->best = calloc(variables, sizeof(int64_t));
    lane->held = calloc((size_t)program->n_held + 1, sizeof *lane->held);
    lane->views = calloc((size_t)program->n_regions + 1, sizeof *lane->views);
    return lane->values && lane->gained && lane->best && lane->held && lane->views;
}

void rk_lanes_free(rk_lanes *lanes) {
    if (!lanes) return;
    rk_pool_free(lanes->pool);
    for (int i = 0; lanes->lanes && i < lanes->count; i++) {
        struct lane *lane = &lanes->lanes[i];
        free(lane->values), free(lane->gained), free(lane->best), free(lane->held);
        free(lane->views), free(lane->earlier.pixels), free(lane->last.pixels);
        free(lane->log.actions), free(lane->log.buttons);
        if (lane->host) lane->host->sink = NULL, lane->host->fresh = false, lane->host->live = (struct live){0};
    }
    drop_starts(lanes);
    free(lanes->lanes), free(lanes->actions), free(lanes->asked), free(lanes->seeds);
    free(lanes->chosen);
    free(lanes);
}

rk_lanes *rk_lanes_new(const rk_plan *plan, const rk_batch *batch, rk_host **hosts, int count,
                       int threads) {
    rk_lanes *lanes = calloc(1, sizeof *lanes);
    if (!lanes) return rk_fail("out of memory"), NULL;
    const size_t n = (size_t)count;
    lanes->plan = *plan, lanes->batch = *batch, lanes->count = count;
    lanes->lanes = calloc(n, sizeof *lanes->lanes);
    lanes->actions = calloc(n, sizeof *lanes->actions);
    lanes->asked = calloc(n, sizeof *lanes->asked);
    lanes->seeds = calloc(n, sizeof *lanes->seeds);
    lanes->chosen = calloc(n, sizeof *lanes->chosen);
    bool ready = lanes->lanes && lanes->actions && lanes->asked && lanes->seeds && lanes->chosen;
    for (int i = 0; ready && i < count; i++)
        ready = open_lane(lanes, &lanes->lanes[i], hosts[i], i);
    if (ready) lanes->pool = rk_pool_new(lanes, threads);
    if (lanes->pool) return lanes;
    rk_lanes_free(lanes);
    return rk_fail("out of memory for %d environments", count), NULL;
}

int rk_lanes_step(rk_lanes *lanes, const int32_t *actions, const rk_copy *copy) {
    rk_pool_finish(lanes->pool); /* what nobody waited for, as after Ctrl-C */
    for (int i = 0; i < lanes->count; i++) {
        if (rk_rests(lanes, &lanes->lanes[i], actions[i])) continue;
        if (actions[i] < 0 || (uint32_t)actions[i] >= lanes->plan.n_actions)
            return rk_fail("action %d", actions[i]);
        if (!lanes->plan.autoreset && lanes->lanes[i].reset_due)
            return rk_fail("the episode has ended");
    }
    memcpy(lanes->actions, actions, sizeof *actions * (size_t)lanes->count);
    lanes->copy = copy ? *copy : (rk_copy){0};
    lanes->resets = false;
    rk_pool_start(lanes->pool);
    return 1;
}

int rk_lanes_reset(rk_lanes *lanes, const uint8_t *asked, const uint64_t *seeds, const int32_t *starts) {
    const size_t n = (size_t)lanes->count;
    rk_pool_finish(lanes->pool);
    memcpy(lanes->asked, asked, n);
    memcpy(lanes->seeds, seeds, n * sizeof *seeds);
    memcpy(lanes->chosen, starts, n * sizeof *starts);
    lanes->resets = true;
    rk_pool_start(lanes->pool);
    return 1;
}

int rk_lanes_wait(rk_lanes *lanes) {
    rk_pool_finish(lanes->pool);
    for (int i = 0; i < lanes->count; i++)
        if (lanes->lanes[i].error[0]) return i + 1;
    return 0;
}

int rk_lanes_ended(const rk_lanes *lanes) {
    for (int i = 0; i < lanes->count; i++)
        if (lanes->batch.results[i].ended) return 1;
    return 0;
}

const char *rk_lane_error(rk_lanes *lanes, int lane) { return lanes->lanes[lane].error; }
