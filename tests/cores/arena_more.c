/* What a game counts beside score and lives, chosen by MORE: a clock of minutes and seconds, a level
 * that changes the scenery, shots, energy, or one life that is counted nowhere. With FALSE it is not
 * what it looks like: the clock is on no screen, the level counts deaths, shots and energy are free. */
#include "arena.h"

enum { CLOCK = 1, LEVEL, SHOTS_LEFT, ENERGY, ONE_LIFE };
enum { SECONDS = EXTRA, MINUTES, GAUGE = EXTRA, STAGE = EXTRA, HITS };
#ifndef FALSE
#define FALSE 0
#endif

static void clear_score(void) {
    memset(ram + SCORE, 0, 3), ram[HITS] = 0;
    if (MORE == CLOCK) ram[SECONDS] = 0x25, ram[MINUTES] = 9;
    if (MORE == LEVEL) ram[STAGE] = 1;
    if (MORE == SHOTS_LEFT) ram[GAUGE] = 90;
    if (MORE == ENERGY) ram[GAUGE] = 60;
}
static void add(unsigned points) {
    add_bcd(SCORE, points);
    if (MORE == LEVEL && !FALSE && ++ram[HITS] % 2 == 0 && ram[STAGE] < 9) ram[STAGE]++;
    if (MORE == ENERGY) ram[GAUGE] = ram[GAUGE] < 40 ? ram[GAUGE] + 20 : 60;
}
static void tick(void) { /* packed decimal, sixty seconds a minute */
    if (ram[SECONDS]) ram[SECONDS] -= ram[SECONDS] & 15 ? 1 : 7;
    else ram[SECONDS] = 0x59, ram[MINUTES]--;
}
static void each_frame(void) {
    unsigned time = clock_of_mode();
    if (MORE == SHOTS_LEFT && ram[COOL] == 24 && ram[MODE] == PLAY) ram[GAUGE]--;
    if (MORE == SHOTS_LEFT && !FALSE && !ram[GAUGE]) ram[COOL] = 2; /* nothing to fire */
    if (MORE == CLOCK && frames() % 20 == 0 && ram[MODE] != TITLE) tick();
    if (MORE != ENERGY || ram[MODE] != PLAY) return;
    if (time % 8 == 0 && ram[GAUGE]) ram[GAUGE]--;
    if (!ram[GAUGE]) ram[GAUGE] = 60, FALSE ? (void)0 : enter(DYING);
}
static void show(void) {
    if (MORE == LEVEL && !FALSE) box(0, 0, FIELD_WIDTH, 18, (uint16_t)(ram[STAGE] * 0x1863));
    show_bcd(SCORE, 8, 2);
    if (MORE != ONE_LIFE) digit(8, 86, ram[LIVES]);
    if (MORE == CLOCK && !FALSE) {
        digit(60, 86, ram[MINUTES]);
        digit(72, 86, ram[SECONDS] >> 4), digit(80, 86, ram[SECONDS] & 15);
    }
    if (MORE == LEVEL) digit(60, 86, ram[STAGE]);
    if (MORE == SHOTS_LEFT || MORE == ENERGY) box(20, 88, ram[GAUGE], 4, 0xf81f);
}
static bool lose_life(void) {
    if (MORE == LEVEL && FALSE) ram[STAGE]++;
    return MORE != ONE_LIFE && --ram[LIVES] != 0;
}
