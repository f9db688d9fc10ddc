/* The plain case: packed BCD, low byte first, ×10 on the screen by a drawn zero; a constant high
 * score beside it; lives that end at 0, below it with SPARE_LIVES, or after it with ZERO_LAST. */
#include "arena.h"

static void clear_score(void) { memset(ram + SCORE, 0, 3); }
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) { ram[HIGH] = ram[HIGH + 1] = 0, ram[HIGH + 2] = 0x75; }
static void show(void) {
    show_bcd(SCORE, 8, 2);
    digit(56, 2, 0);
    show_bcd(HIGH, 76, 2);
    digit(8, 86, ram[LIVES]);
}
static bool lose_life(void) {
#ifdef SPARE_LIVES
    return ram[LIVES]-- != 0;
#elif defined ZERO_LAST
    return ram[LIVES] && ram[LIVES]--;
#else
    return --ram[LIVES] != 0;
#endif
}
