/* A worker process and its parent call each other in memory that they share. Read by compiler and
 * cffi like host.h. */
#ifndef RETROKIT_BELL_H
#define RETROKIT_BELL_H
#include <stdint.h>

/* One process rings, another listens. */
typedef struct {
    uint32_t rung;         /* how often, modulo 2^32 */
    uint32_t naps;         /* listeners asleep */
    uint32_t brief;        /* the listener's last wait, see `spin` */
} rk_bell;

/* What the two of a worker share beside its rows of the batch. */
typedef struct {
    rk_bell order, answer; /* the parent rings for work, the worker when it is finished */
    uint32_t kind;         /* of the order */
    int32_t failed;        /* the worker's lane that failed, counted from 1; 0: none */
    char why[256];
} rk_desk;

void rk_ring(rk_bell *bell);
/* Wait until the bell was rung since `heard`, but no longer than so many milliseconds; return how
 * often it was rung by now. */
uint32_t rk_listen(rk_bell *bell, uint32_t heard, uint32_t most_ms);
#endif
