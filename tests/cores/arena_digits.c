/* The score as six bytes, low digit first, leading zeros blanked with BLANK, ×10 by a drawn zero. */
#include "arena.h"

static void clear_score(void) {
    memset(ram + SCORE, BLANK, 6);
    ram[SCORE] = 0;
}
static void add(unsigned points) {
    for (unsigned n = 0; n < 6 && points; n++) {
        unsigned sum = (ram[SCORE + n] == BLANK ? 0 : ram[SCORE + n]) + points % 10;
        points = points / 10 + sum / 10;
        ram[SCORE + n] = (uint8_t)(sum % 10);
    }
}
static void each_frame(void) {}
static void show(void) {
    for (unsigned n = 0; n < 6; n++) digit(48 - 8 * n, 2, ram[SCORE + n]);
    digit(56, 2, 0);
    digit(8, 86, ram[LIVES]);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
