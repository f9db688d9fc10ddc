/* One button is all it takes: START begins, B lifts a bird that falls otherwise, and stops the dots
 * beside it from growing. No direction matters. */
#include "fake.h"

enum { PLAYS = 4, HEIGHT_NOW, DOTS };
enum { B_KEY = 0, START_KEY = 3 };

static uint8_t *ram = game.ram;

void step(void) {
    put32(0, frames() + 1);
    if (input(0, DEVICE_JOYPAD, 0, START_KEY)) ram[PLAYS] = 1, ram[HEIGHT_NOW] = 20;
    if (!ram[PLAYS]) return;
    bool lifts = input(0, DEVICE_JOYPAD, 0, B_KEY);
    if (lifts && ram[HEIGHT_NOW] > 2) ram[HEIGHT_NOW]--;
    if (!lifts && ram[HEIGHT_NOW] < 38 && frames() % 4 == 0) ram[HEIGHT_NOW]++;
    ram[DOTS] = (uint8_t)((ram[DOTS] + !lifts) % 50);
}

void draw(void) {
    memset(pixels, 0, sizeof pixels);
    for (unsigned row = 0; ram[PLAYS] && row < 6; row++)
        for (unsigned column = 0; column < 6; column++)
            pixels[(ram[HEIGHT_NOW] + row) * WIDTH + 20 + column] = 0xffe0;
    for (unsigned n = 0; n < ram[DOTS]; n++) pixels[47 * WIDTH + n] = 0x07e0;
    if (!ram[PLAYS])
        for (unsigned n = 0; n < 12; n++) pixels[20 * WIDTH + 20 + n] = 0xffff;
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
