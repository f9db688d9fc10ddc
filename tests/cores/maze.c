/* A corridor that winds from leg to leg down the screen; only the last leg pays, at its two ends in
 * turn. Whoever presses at random hardly leaves the second leg. */
#include "drawn.h"

enum { X = 4, Y, WANTED, SCORE = 0x80 };
enum { START_KEY = 3, UP_KEY, DOWN_KEY, LEFT_KEY, RIGHT_KEY };
enum { LEFT_END = 4, RIGHT_END = 116, TOP = 16, LEG = 15, LEGS = 5, PAYS = 40 };

static bool is_leg(unsigned y) { return (y - TOP) % LEG == 0; }

/* Return where the way down from a leg is: at its right end, then at its left end. */
static unsigned shaft(unsigned leg) { return leg & 1 ? LEFT_END : RIGHT_END; }

void step(void) {
    put32(0, frames() + 1);
    if (!ram[Y]) ram[X] = LEFT_END, ram[Y] = TOP, ram[WANTED] = PAYS;
    unsigned leg = (ram[Y] - TOP) / LEG;
    if (input(0, DEVICE_JOYPAD, 0, LEFT_KEY) && is_leg(ram[Y]) && ram[X] > LEFT_END) ram[X]--;
    else if (input(0, DEVICE_JOYPAD, 0, RIGHT_KEY) && is_leg(ram[Y]) && ram[X] < RIGHT_END) ram[X]++;
    else if (input(0, DEVICE_JOYPAD, 0, DOWN_KEY) && leg < LEGS - 1 && ram[X] == shaft(leg)) ram[Y]++;
    else if (input(0, DEVICE_JOYPAD, 0, UP_KEY) && !is_leg(ram[Y])) ram[Y]--;
    if (leg == LEGS - 1 && ram[X] == ram[WANTED]) {
        add_bcd(SCORE, 10 * (1 + frames() % 5));
        ram[WANTED] = ram[WANTED] == PAYS ? LEFT_END : PAYS;
    }
}

void draw(void) {
    memset(field, 0, sizeof field);
    for (unsigned leg = 0; leg < LEGS; leg++) box(LEFT_END, TOP + LEG * leg + 6, 120, 2, 0x8410);
    box(ram[X], ram[Y], 6, 6, 0x07e0);
    show_bcd(SCORE, 8, 2);
    video(field, FIELD_WIDTH, FIELD_HEIGHT, FIELD_WIDTH * 2);
}
