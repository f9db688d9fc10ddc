/* A game of lives. START begins one; directions move a box; B scores once every 16 frames; a life is
 * lost at every LIFE-th frame, with a pause of 40. The last loss ends the game, until START.
 * RAM: 4-6 score in packed BCD, most significant first; 7 lives; 8 phase; 9, 10 place; 11, 12 timer.
 * FLICKER: lives are 0 for 3 frames of each pause. LEVELS: lives are 0 for 30 frames at each level's
 * end, in which nothing moves. ENDLESS: no life is ever lost. CHANCE: each run is
 * another. */
#include "fake.h"
#include <unistd.h>

#ifndef LIFE
#define LIFE 420
#endif
enum { TITLE, PLAY, PAUSE, OVER, LEVEL };
enum { SCORE = 4, LIVES = 7, PHASE, X, Y, TIMER, TIMER_HIGH, LEFT, HELD };
enum { B_KEY = 0, START_KEY = 3, UP_KEY, DOWN_KEY, LEFT_KEY, RIGHT_KEY };

static uint8_t *ram = game.ram;

static void enter(int phase) { ram[PHASE] = (uint8_t)phase, ram[TIMER] = ram[TIMER_HIGH] = 0; }

static void score(void) {
    for (int at = SCORE + 2, carry = 16; at >= SCORE && carry; at--) {
        int value = ram[at] + carry;
        carry = value >= 0xA0;
        ram[at] = (uint8_t)(carry ? value - 0xA0 : value);
    }
}

void step(void) {
    unsigned held = 0;
    for (unsigned id = 0; id < 16; id++) held |= (unsigned)(input(0, DEVICE_JOYPAD, 0, id) != 0) << id;
    put32(0, frames() + 1);
#ifdef CHANCE
    put32(0x100, (uint32_t)getpid());
#endif
    unsigned time = (ram[TIMER] | ram[TIMER_HIGH] << 8) + 1u;
    ram[TIMER] = (uint8_t)time, ram[TIMER_HIGH] = (uint8_t)(time >> 8);
    if ((ram[PHASE] == TITLE || ram[PHASE] == OVER) && held >> START_KEY & 1) {
        memset(ram + SCORE, 0, 3);
        ram[LIVES] = ram[LEFT] = 3, ram[X] = 30, ram[Y] = 22;
        enter(PLAY);
    } else if (ram[PHASE] == PLAY) {
        if (held >> UP_KEY & 1 && ram[Y] > 4) ram[Y]--;
        if (held >> DOWN_KEY & 1 && ram[Y] < 40) ram[Y]++;
        if (held >> LEFT_KEY & 1 && ram[X] > 2) ram[X]--;
        if (held >> RIGHT_KEY & 1 && ram[X] < 54) ram[X]++;
        if (held >> B_KEY & 1 && time % 16 == 0) score();
#ifdef LEVELS
        if (time == 200) ram[LIVES] = 0, enter(LEVEL);
#endif
#ifndef ENDLESS
        if (ram[PHASE] == PLAY && frames() % LIFE == 0) {
            ram[LIVES] = --ram[LEFT];
#ifdef FLICKER
            ram[LIVES] = 0;
#endif
            enter(ram[LEFT] ? PAUSE : OVER);
        }
#endif
    } else if (ram[PHASE] == PAUSE) {
#ifdef FLICKER
        ram[LIVES] = time < 3 ? 0 : ram[LEFT];
#endif
        if (time == 40) enter(PLAY);
    } else if (ram[PHASE] == LEVEL && time == 30) {
        ram[LIVES] = ram[LEFT];
        enter(PLAY);
    }
}

void draw(void) {
    memset(pixels, 0, sizeof pixels);
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 8; column++)
            pixels[(ram[Y] + row) * WIDTH + ram[X] + column] = (uint16_t)(0x07e0 + ram[PHASE]);
    for (unsigned n = 0; n < ram[LIVES] * 4u; n++) pixels[n] = 0xf800;
    for (unsigned n = 0; n < ram[SCORE + 2]; n++) pixels[WIDTH + n % WIDTH] += 0x1084;
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
