/* Asks to end at frame 3. */
#include "fake.h"
void step(void) {
    put32(0, frames() + 1);
    if (frames() == 3) env(SHUTDOWN, NULL);
}
