/* RAM that moves on reset, on unserialize and at frame 50; the old place is filled with 0xEE. */
#include "fake.h"
static uint8_t blocks[2][RAM_BYTES];
static int now;
static void move(void) {
    memcpy(blocks[!now], game.ram, RAM_BYTES);
    memset(blocks[now], 0xEE, RAM_BYTES);
    now = !now;
}
void step(void) {
    memcpy(game.ram, blocks[now], RAM_BYTES);
    put32(0, frames() + 1);
    memcpy(blocks[now], game.ram, RAM_BYTES);
    if (frames() == 50) move();
}
void retro_reset(void) {
    memset(&game, 0, sizeof game);
    move();
}
bool retro_serialize(void *data, size_t size) { return memcpy(data, blocks[now], size), true; }
bool retro_unserialize(const void *data, size_t size) {
    memcpy(game.ram, data, size);
    move();
    return true;
}
void *retro_get_memory_data(unsigned id) { return id == 2 ? blocks[now] : NULL; }
