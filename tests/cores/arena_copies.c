/* Numbers that agree in the first game: the score (drawn nowhere itself), its display copy, made anew
 * each frame, a buffer of places in a table of glyphs, made when points come, and the high score,
 * which follows while it is the lower one. */
#include "arena.h"

enum { BUFFER = 0xB0 };

static void fill(void) {
    for (unsigned n = 0; n < 6; n++)
        ram[BUFFER + n] = (uint8_t)(0x20 + 8 * (ram[SCORE + n / 2] >> (n & 1 ? 4 : 0) & 15));
}
static void clear_score(void) { memset(ram + SCORE, 0, 3), fill(); }
static void add(unsigned points) {
    add_bcd(SCORE, points);
    fill();
    for (unsigned n = 3; n-- && ram[HIGH + n] <= ram[SCORE + n];)
        if (ram[HIGH + n] < ram[SCORE + n]) memcpy(ram + HIGH, ram + SCORE, 3);
}
static void each_frame(void) {
    for (unsigned n = 0; n < 6; n++) ram[COPY + n] = ram[SCORE + n / 2] >> (n & 1 ? 4 : 0) & 15;
}
static void show(void) {
    for (unsigned n = 0; n < 6; n++) digit(48 - 8 * n, 2, ram[COPY + n]);
    show_bcd(HIGH, 76, 2);
    digit(8, 86, ram[LIVES]);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
