/* A score that no picture shows. */
#include "arena.h"

static void clear_score(void) { memset(ram + SCORE, 0, 3); }
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) {}
static void show(void) { digit(8, 86, ram[LIVES]); }
static bool lose_life(void) { return --ram[LIVES] != 0; }
