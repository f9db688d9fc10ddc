/* A big machine: the plain game somewhere in megabytes of RAM that are busy with other things. From
 * the bottom up: half of it, of which BUSY bytes are made anew each frame; two frame buffers that take
 * turns; a ring of sound; data that is loaded for each life. Build fake.c with the same RAM_BYTES. */
#include "arena.h"

#ifndef BUSY
#define BUSY (RAM_BYTES / 2)
#endif

enum { NOISE = 64, LUCK_OF_NOISE = 16, SOUND = 2940 };
enum { HALF = RAM_BYTES / 2, RING = RAM_BYTES / 8, PICTURE = RAM_BYTES / 16, LOADED = PICTURE };
enum { BUFFERS = HALF, SOUND_AT = BUFFERS + 2 * PICTURE, LOADED_AT = SOUND_AT + RING };
_Static_assert(LOADED_AT + LOADED <= RAM_BYTES, "too little RAM");
_Static_assert(AT >= LOADED_AT + LOADED && AT + 256 <= RAM_BYTES, "the game lies among the rest");

static void fill(unsigned at, unsigned bytes) {
    uint64_t word;
    memcpy(&word, game.ram + LUCK_OF_NOISE, 8);
    word |= 1;
    for (unsigned n = 0; n + 8 <= bytes; n += 8) {
        word ^= word << 13, word ^= word >> 7, word ^= word << 17;
        memcpy(game.ram + at + n, &word, 8);
    }
    memcpy(game.ram + LUCK_OF_NOISE, &word, 8);
}

static void clear_score(void) { memset(ram + SCORE, 0, 3); }
static void add(unsigned points) { add_bcd(SCORE, points); }
static void each_frame(void) {
    fill(NOISE, BUSY - NOISE);
    fill(SOUND_AT + frames() * SOUND % (RING - SOUND), SOUND);
    if (ram[MODE] == PLAY && clock_of_mode() == 0) fill(LOADED_AT, LOADED);
}
static void show(void) {
    show_bcd(SCORE, 8, 2);
    digit(56, 2, 0);
    digit(8, 86, ram[LIVES]);
    for (unsigned at = 0; at + sizeof field <= PICTURE; at += sizeof field)
        memcpy(game.ram + BUFFERS + (frames() & 1) * PICTURE + at, field, sizeof field);
}
static bool lose_life(void) { return --ram[LIVES] != 0; }
