/* Lives that are no counter: four houses, each a byte (or with BITS a bit of one byte), of which one
 * falls whenever the player is caught; the number of those that stand is made anew in each frame, or
 * with ALONE counted nowhere, and the first of them falls first; beside them stands a wall. */
#include "arena.h"

#ifndef HOUSES
#define HOUSES 4
#endif
#ifndef ALONE
#define ALONE 0
#endif
enum { HOUSE = EXTRA };

static bool stands(unsigned n) {
#ifdef BITS
    return ram[HOUSE] >> n & 1;
#else
    return ram[HOUSE + n] != 0;
#endif
}
static void put(unsigned n, bool up) {
#ifdef BITS
    ram[HOUSE] = (uint8_t)((ram[HOUSE] & ~(1u << n)) | (unsigned)up << n);
#else
    ram[HOUSE + n] = (uint8_t)(up ? 0x41 + 3 * n : 0);
#endif
}
static unsigned count(void) {
    unsigned left = 0;
    for (unsigned n = 0; n < HOUSES; n++) left += stands(n);
    ram[LIVES] = (uint8_t)(ALONE ? 0 : left);
    return left;
}
static void clear_score(void) {
    memset(ram + SCORE, 0, 3);
    for (unsigned n = 0; n < HOUSES; n++) put(n, true);
    if (ALONE) ram[HOUSE] |= 1u << HOUSES; /* a wall */
    count();
}
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) { if (ram[MODE] != TITLE) count(); }
static void show(void) {
    show_bcd(SCORE, 8, 2);
    for (unsigned n = 0; n < HOUSES; n++)
        if (stands(n) && ram[MODE] != TITLE) box(20 + 12 * n, 84, 8, 8, 0xf81f);
}
static bool lose_life(void) {
    unsigned n = ALONE ? 0 : luck() % HOUSES;
    for (unsigned looked = 0; looked < HOUSES && !stands(n); looked++) n = (n + 1) % HOUSES;
    put(n, false);
    return count() != 0;
}
