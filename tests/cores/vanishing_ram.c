/* SYSTEM_RAM that is halved at frame 10 and gone at frame 20. */
#include "fake.h"
void step(void) {
    put32(0, frames() + 1);
    game.ram[RAM_BYTES - 1] = 7;
}
size_t retro_get_memory_size(unsigned id) {
    return id != 2 || frames() >= 20 ? 0 : frames() >= 10 ? RAM_BYTES / 2 : RAM_BYTES;
}
