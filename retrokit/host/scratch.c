/* Memory for what is needed only for a moment, a thread's own: while it goes from one core to the next
 * it stays in the processor's caches. */
#include <pthread.h>
#include <stdlib.h>
#include "internal.h"

struct block { void *memory; size_t bytes; };

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(void *all) {
    struct block *blocks = all;
    for (int i = 0; i < SCRATCHES; i++) free(blocks[i].memory);
    free(blocks);
}

static void make_key(void) { pthread_key_create(&key, drop); }

/* At least so many bytes, until the thread asks for the same again; NULL when there are none. */
void *rk_scratch(enum scratch which, size_t bytes) {
    static __thread struct block *mine;
    if (!mine) {
        pthread_once(&once, make_key);
        mine = calloc(SCRATCHES, sizeof *mine);
        if (!mine || pthread_setspecific(key, mine)) return NULL;
    }
    struct block *block = &mine[which];
    if (bytes > block->bytes) {
        free(block->memory);
        block->memory = malloc(bytes);
        block->bytes = block->memory ? bytes : 0;
    }
    return block->memory;
}
