/* A savestate that grows by 64 bytes every 100 frames, written in full whatever room is given;
 * no memory but that. */
#include "fake.h"
void *retro_get_memory_data(unsigned id) { return (void)id, NULL; }
size_t retro_get_memory_size(unsigned id) { return (void)id, 0; }
size_t retro_serialize_size(void) { return sizeof game + frames() / 100 * 64; }
bool retro_serialize(void *data, size_t size) {
    (void)size;
    memset(data, 0x55, retro_serialize_size());
    memcpy(data, &game, sizeof game);
    return true;
}
