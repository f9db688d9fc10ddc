/* Ends of games, chosen by END: the last life is played at -1 and over at -2; the counter is filled
 * at once for the next game; it stays 1; nothing but fire steers; the player can be moved on after
 * the end; points at the very end; a bar that costs a turn of many seconds, and turns that pass; a
 * round that waits for fire; nine shots, and none after them. */
enum { BELOW = 1, FILLED, STAYS, FIRE_ONLY, MOVES_ON, BONUS, TURNS, WAITS, AMMO };
#define DEATH (END == TURNS ? 1100 : END == BONUS ? 1 : END == WAITS ? (held & 1 ? time : 0) : 40)
#define STIRS END == FIRE_ONLY ? held & 1 : held
#include "arena.h"

enum { FIRED = EXTRA, BAR };

static void clear_score(void) {
    memset(ram + SCORE, 0, 3);
    ram[FIRED] = 0, ram[BAR] = END == AMMO ? 9 : 4;
}
static void add(unsigned points) { add_bcd(SCORE, points); }
static bool walks(void) { return END == MOVES_ON && (ram[MODE] == OVER || ram[MODE] == TITLE); }
static void each_frame(void) {
    bool plays = ram[MODE] == PLAY;
    if (END == AMMO && plays && ram[COOL] == 24 && ram[BAR]) ram[BAR]--;
    if (plays && ram[HELD] & 1 && ram[BAR]) ram[FIRED] = (uint8_t)((ram[FIRED] + 1) % 100);
    if (END == FIRE_ONLY && plays) ram[X] = (uint8_t)(8 + ram[FIRED]), ram[Y] = 50;
    for (unsigned way = 0; way < 4; way++)
        if (walks() && ram[HELD] >> (UP_KEY + way) & 1) move(ram + X, ram + Y, way);
    if (END != TURNS || !plays) return;
    bool hit = ram[SHOTS] % 3 == 2 && ram[COOL] == 23;
    if ((hit && --ram[BAR] == 0) || clock_of_mode() == 400) enter(DYING);
}
static void show(void) {
    show_bcd(SCORE, 8, 2);
    digit(8, 86, ram[LIVES]);
    if (walks()) box(ram[X], ram[Y], 10, 10, 0x07e0);
    if (ram[MODE] == PLAY) box(20, 14, ram[FIRED], 2, 0xf81f);
    if (END == TURNS) box(20, 86, ram[BAR] * 4, 6, 0xf81f);
}
static bool lose_life(void) {
    if (END == TURNS || END == WAITS) return ram[BAR] = 4, true;
    if (END == STAYS && ram[LIVES] == 1) return false;
    if (END == FILLED && !ram[LIVES]) return ram[LIVES] = LIVES_AT_START, false;
    bool last = --ram[LIVES] == (END == BELOW ? 0xFE : END == FILLED ? 0xFF : 0);
    if (END == BONUS && last) add(5000);
    return !last;
}
