/* A screen of MAP_BYTES bytes at 0x400, each of which draws a digit where it lies, and a score that is
 * drawn of its own, below. */
#include "arena.h"

enum { TILES = 0x400 };

static void clear_score(void) { memset(ram + SCORE, 0, 3), memset(ram + TILES, 10, MAP_BYTES); }
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) {}
static void show(void) {
    for (unsigned n = 0; n < MAP_BYTES; n++)
        digit(n % 16 * 8, 2 + n / 16 * 8, ram[TILES + n] & 15);
    show_bcd(SCORE, 8, 86);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
