/* Speaks libretro API version 2. */
#include "fake.h"
unsigned retro_api_version(void) { return 2; }
