/* Neither memory nor savestates. */
#include "fake.h"
void *retro_get_memory_data(unsigned id) { return (void)id, NULL; }
size_t retro_get_memory_size(unsigned id) { return (void)id, 0; }
size_t retro_serialize_size(void) { return 0; }
bool retro_serialize(void *data, size_t size) { return (void)data, (void)size, false; }
