/* Segfaults at frame 5; HOW=1 exits there instead, HOW=2 never comes back. */
#include "fake.h"
#ifndef HOW
#define HOW 0
#endif
void step(void) {
    put32(0, frames() + 1);
    if (frames() != 5) return;
    log_line("about to do it");
    if (HOW == 1) exit(3);
    if (HOW == 2)
        for (volatile int i = 0;; i = i + 1) {}
    *(volatile int *)8 = 1;
}
