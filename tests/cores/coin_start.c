/* An arcade game: self-test, then a demo and a title in turn. A coin counts only on the title, and
 * only when held COIN_LEAST to COIN_MOST frames; START needs a credit. What is pressed stirs the
 * luck in the demo too, so that its pictures differ without anybody steering it. */
#include "fake.h"

#ifndef COIN_LEAST
#define COIN_LEAST 2
#endif
#ifndef COIN_MOST
#define COIN_MOST 6
#endif

enum { SELF_TEST, DEMO, TITLE, PLAY };
enum { MODE = 4, CREDITS, LIVES, COIN_HELD, X, Y, LUCK, LUCK_HIGH, FOE_X, FOE_Y, TIMER, TIMER_HIGH, AIM };
enum { COIN_KEY = 2, START_KEY, UP_KEY, DOWN_KEY, LEFT_KEY, RIGHT_KEY };

static uint8_t *ram = game.ram;

static unsigned luck(void) {
    unsigned value = (ram[LUCK] | ram[LUCK_HIGH] << 8) * 5 + 0x3619;
    ram[LUCK] = (uint8_t)value, ram[LUCK_HIGH] = (uint8_t)(value >> 8);
    return ram[LUCK_HIGH];
}

static void enter(int mode) {
    ram[MODE] = (uint8_t)mode, ram[TIMER] = ram[TIMER_HIGH] = 0;
    ram[X] = 30, ram[Y] = 22, ram[FOE_X] = 10, ram[FOE_Y] = 10, ram[LIVES] = 3;
}

static void move(uint8_t *x, uint8_t *y, unsigned way) {
    if (way == 0 && *y > 6) --*y;
    if (way == 1 && *y < 40) ++*y;
    if (way == 2 && *x > 2) --*x;
    if (way == 3 && *x < 54) ++*x;
}

void step(void) {
    unsigned held = 0;
    for (unsigned id = 0; id < 16; id++) held |= (unsigned)(input(0, DEVICE_JOYPAD, 0, id) != 0) << id;
    put32(0, frames() + 1);
    unsigned time = (ram[TIMER] | ram[TIMER_HIGH] << 8) + 1u;
    ram[TIMER] = (uint8_t)time, ram[TIMER_HIGH] = (uint8_t)(time >> 8);
    ram[LUCK] = (uint8_t)(ram[LUCK] + held);
    unsigned chance = luck();
    if (held >> COIN_KEY & 1) {
        ram[COIN_HELD] += ram[COIN_HELD] < 255;
    } else {
        bool counts = ram[COIN_HELD] >= COIN_LEAST && ram[COIN_HELD] <= COIN_MOST;
        if (counts && ram[MODE] == TITLE) ram[CREDITS]++;
        ram[COIN_HELD] = 0;
    }
    if (ram[MODE] == SELF_TEST && time == 90) enter(DEMO);
    else if (ram[MODE] == DEMO && time == 400) enter(TITLE);
    else if (ram[MODE] == TITLE && time == 200) enter(DEMO);
    else if (ram[MODE] == TITLE && held >> START_KEY & 1 && ram[CREDITS]) ram[CREDITS]--, enter(PLAY);
    else if (ram[MODE] == PLAY && time % 600 == 0 && --ram[LIVES] == 0) enter(DEMO);
    if (ram[MODE] != DEMO && ram[MODE] != PLAY) return;
    if (time % 8 == 0) ram[AIM] = chance & 3;
    move(ram + FOE_X, ram + FOE_Y, ram[AIM]);
    if (ram[MODE] == DEMO) move(ram + X, ram + Y, (ram[AIM] + 1) & 3);
    for (unsigned way = 0; way < 4 && ram[MODE] == PLAY; way++)
        if (held >> (UP_KEY + way) & 1) move(ram + X, ram + Y, way);
}

static void box(unsigned x, unsigned y, unsigned width, unsigned height, uint16_t colour) {
    for (unsigned row = y; row < y + height && row < HEIGHT; row++)
        for (unsigned column = x; column < x + width && column < WIDTH; column++)
            pixels[row * WIDTH + column] = colour;
}

void draw(void) {
    box(0, 0, WIDTH, HEIGHT, (uint16_t)(ram[MODE] * 3));
    if (ram[MODE] == TITLE && ram[TIMER] & 16) box(16, 20, 32, 8, 0xffff);
    box(0, 0, ram[CREDITS] * 4, 2, 0xffe0);
    if (ram[MODE] == DEMO || ram[MODE] == PLAY) {
        box(ram[X], ram[Y], 8, 8, 0x07e0);
        box(ram[FOE_X], ram[FOE_Y], 6, 6, 0xf800);
        box(40, 0, ram[LIVES] * 4, 2, 0x001f);
    }
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
