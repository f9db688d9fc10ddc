/* A second retro_init in one image aborts, as FBNeo's does; so does a second unload. */
#include "fake.h"
static int inits, unloads;
void retro_init(void) {
    if (inits++) abort();
}
void retro_unload_game(void) {
    if (unloads++) abort();
}
