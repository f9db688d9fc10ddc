/* No memory: the savestate is all there is. */
#include "fake.h"
void *retro_get_memory_data(unsigned id) { return (void)id, NULL; }
size_t retro_get_memory_size(unsigned id) { return (void)id, 0; }
