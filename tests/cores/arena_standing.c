/* Lives that are no counter: four houses, each a byte (or with BITS a bit of one byte), of which one
 * falls whenever the player is caught; the number of those that stand is made anew in each frame. */
#include "arena.h"

#define HOUSES 4
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
static void count(void) {
    ram[LIVES] = 0;
    for (unsigned n = 0; n < HOUSES; n++) ram[LIVES] = (uint8_t)(ram[LIVES] + stands(n));
}
static void clear_score(void) {
    memset(ram + SCORE, 0, 3);
    for (unsigned n = 0; n < HOUSES; n++) put(n, true);
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
    unsigned n = luck() % HOUSES;
    while (!stands(n)) n = (n + 1) % HOUSES;
    put(n, false);
    count();
    return ram[LIVES] != 0;
}
