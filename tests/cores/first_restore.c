/* What a savestate lacks is set by the first frame after a restore; until then frames count double. */
#include "fake.h"
static bool restored, set;
bool retro_unserialize(const void *data, size_t size) {
    if (size < sizeof game) return false;
    memcpy(&game, data, sizeof game);
    return restored = true;
}
void step(void) {
    put32(0, frames() + (restored && !set ? 2 : 1));
    set = restored;
}
