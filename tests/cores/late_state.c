/* No memory, and retro_serialize fails until one frame has run. */
#include "fake.h"
void *retro_get_memory_data(unsigned id) { return (void)id, NULL; }
size_t retro_get_memory_size(unsigned id) { return (void)id, 0; }
bool retro_serialize(void *data, size_t size) {
    if (!frames() || size < sizeof game) return false;
    memcpy(data, &game, sizeof game);
    return true;
}
