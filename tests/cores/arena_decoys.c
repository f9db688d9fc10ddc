/* Lives, and at EXTRA a counter that is none, chosen by DECOY: 0 for three frames while a life remains,
 * energy that costs a life, a timer, bombs, a copy of the lives made anew each frame, a clock that
 * nothing stops. */
#include "arena.h"

enum { BLINK = 1, ENERGY, TIMER, BOMBS, MIRROR, CLOCK };

static void clear_score(void) {
    memset(ram + SCORE, 0, 3);
    ram[EXTRA] = DECOY == ENERGY ? 4 : DECOY == BLINK ? 1 : DECOY == CLOCK ? 3 : 9;
}
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) {
    if (DECOY == MIRROR) ram[EXTRA] = ram[LIVES];
    if (DECOY == CLOCK && (ram[0] | ram[1] << 8) % 1000 == 700) ram[EXTRA]--;
    if (ram[MODE] != PLAY) return;
    unsigned time = clock_of_mode();
    if (DECOY == BLINK) ram[EXTRA] = time % 150 >= 3;
    if (DECOY == TIMER && time % 40 == 0) ram[EXTRA] = ram[EXTRA] ? ram[EXTRA] - 1 : 9;
    if (DECOY == BOMBS && ram[SHOTS] % 4 == 3 && ram[COOL] == 23 && ram[EXTRA]) ram[EXTRA]--;
    if (DECOY == ENERGY && time % 50 == 0 && --ram[EXTRA] == 0) ram[EXTRA] = 4, enter(DYING);
}
static void show(void) {
    show_bcd(SCORE, 8, 2);
    digit(8, 86, ram[LIVES]);
    box(40, 86, ram[EXTRA] * 4, 6, 0xf81f);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
