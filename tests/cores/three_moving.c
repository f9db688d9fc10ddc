/* three.c, whose RAM lies elsewhere after every load, reset and restore, and every 7 frames. */
#include "three.c"

static uint8_t *other;

static uint8_t *moved(void) {
    uint8_t *fresh = malloc(RAM_BYTES);
    memset(fresh, 0xEE, RAM_BYTES);
    if (other) memset(other, 0xDD, RAM_BYTES), free(other);
    return other = fresh;
}

void *retro_get_memory_data(unsigned id) {
    static uint32_t last;
    if (id != 2) return NULL;
    if (!other || frames() != last + 1 || frames() % 7 == 0) moved();
    last = frames();
    return memcpy(other, game.ram, RAM_BYTES);
}
