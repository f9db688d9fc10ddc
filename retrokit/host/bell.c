/* Bells in shared memory: a short spin, then a futex. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bell.h"
#include "internal.h"

static uint32_t rung(const rk_bell *bell) { return __atomic_load_n(&bell->rung, __ATOMIC_SEQ_CST); }

void rk_ring(rk_bell *bell) {
    __atomic_fetch_add(&bell->rung, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->naps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &bell->rung, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

uint32_t rk_listen(rk_bell *bell, uint32_t heard, uint32_t most_ms) {
    const int64_t begin = spin(&bell->rung, heard, true, bell->brief);
    if (rung(bell) == heard) {
        const struct timespec most = {most_ms / 1000, (long)(most_ms % 1000) * 1000000};
        __atomic_fetch_add(&bell->naps, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &bell->rung, FUTEX_WAIT, heard, &most, NULL, 0);
        __atomic_fetch_sub(&bell->naps, 1, __ATOMIC_SEQ_CST);
    }
    bell->brief = was_brief(begin);
    return rung(bell);
}
