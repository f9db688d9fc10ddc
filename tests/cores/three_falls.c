/* The game of three.c whose core falls while A is held: HOW 0 segfaults, 1 aborts, 2 spins,
 * 3 sleeps. It also aborts when it is loaded while there is the file that FALLS names, once. */
#include <unistd.h>
#define step three_step
#include "three.c"
#undef step
#ifndef HOW
#define HOW 0
#endif

bool load(const struct game_info *content) {
    const char *path = getenv("FALLS");
    if (path && !unlink(path)) abort();
    return content != NULL;
}

void step(void) {
    three_step();
    if (game.ram[MODE] != 1 || !input(0, DEVICE_JOYPAD, 0, 8)) return;
    log_line("A is held");
    if (HOW == 1) abort();
    if (HOW == 2)
        for (volatile int i = 0;; i = i + 1) {}
    if (HOW == 3)
        for (;;) pause();
    *(volatile int *)8 = 1;
}
