/* Three, whose savestate is of its memory until frame 400, and then of other memory. */
#include "fake.h"
#include "three.c"
static struct game other;

bool retro_serialize(void *data, size_t size) {
    if (size < sizeof game) return false;
    memcpy(&other, &game, sizeof game);
    if (frames() > 400) other.ram[SCORE]++;
    memcpy(data, &other, sizeof other);
    memset(&other, 0, sizeof other);
    return true;
}
