/* The score as BYTES bytes of RADIX, low byte first, turned into decimal only to be drawn. */
#include "arena.h"

static unsigned number(void) {
    unsigned value = 0;
    for (unsigned n = BYTES; n--;) value = value * RADIX + ram[SCORE + n];
    return value;
}
static void clear_score(void) { memset(ram + SCORE, 0, BYTES); }
static void add(unsigned points) {
    for (unsigned n = 0, value = number() + points; n < BYTES; n++, value /= RADIX)
        ram[SCORE + n] = (uint8_t)(value % RADIX);
}
static void each_frame(void) {}
static void show(void) {
    for (unsigned n = 0, value = number(); n < 8; n++, value /= 10) digit(64 - 8 * n, 2, value % 10);
    digit(8, 86, ram[LIVES]);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
