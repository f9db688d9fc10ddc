/* A game of walking among wanderers, with no fire: B begins it anew, whenever it is pressed. */
#include "fake.h"

enum { BEGUN = 4, X, Y, WANDERERS = 8, COUNT = 24 };
enum { B_KEY = 0, UP_KEY = 4, DOWN_KEY, LEFT_KEY, RIGHT_KEY };

static uint8_t *ram = game.ram;

static bool pressed(unsigned key) { return input(0, DEVICE_JOYPAD, 0, key); }

void step(void) {
    put32(0, frames() + 1);
    if (!ram[BEGUN] || pressed(B_KEY)) {
        ram[BEGUN] = 1, ram[X] = 60, ram[Y] = 20;
        for (unsigned n = 0; n < COUNT; n++) ram[WANDERERS + n] = (uint8_t)(5 * n);
    }
    if (pressed(LEFT_KEY) && ram[X] > 2) ram[X]--;
    if (pressed(RIGHT_KEY) && ram[X] < 110) ram[X]++;
    if (pressed(UP_KEY) && ram[Y] > 2) ram[Y]--;
    if (pressed(DOWN_KEY) && ram[Y] < 38) ram[Y]++;
    for (unsigned n = 0; n < COUNT; n++)
        ram[WANDERERS + n] = (uint8_t)((ram[WANDERERS + n] + 1 + ram[X] * (n + 3) % 7 + ram[Y] % 3) % 120);
}

void draw(void) {
    memset(pixels, 0, sizeof pixels);
    for (unsigned row = 0; row < 6; row++)
        for (unsigned column = 0; column < 6; column++)
            pixels[(ram[Y] + row) * WIDTH + ram[X] + column] = 0xffe0;
    for (unsigned n = 0; n < COUNT; n++) pixels[(n + 8) * WIDTH + ram[WANDERERS + n]] = 0x07e0;
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
