/* A game to search, whole but for its counters: walk, fire at a target for points, be caught three
 * times, see the title (or a demo that plays itself, with DEMO_SCORES) and press START again. The
 * cores that include it say how the score is held and what else there is to be mistaken for it. */
#ifndef ARENA_H
#define ARENA_H
#include "drawn.h"

#ifndef POINTS
#define POINTS 1
#endif
#ifndef DEATH
#define DEATH 40 /* frames of dying */
#endif
#ifndef FOE_WAITS
#define FOE_WAITS 3 /* frames between two of its steps */
#endif
#ifndef STIRS
#define STIRS held /* what stirs the luck */
#endif
#ifndef STRIKES
#define STRIKES 1 /* whether fire does anything */
#endif
#ifndef REACH
#define REACH 10 /* of a shot */
#endif
#ifndef COOLING
#define COOLING 24 /* frames between two shots */
#endif
#ifndef LIVES_AT_START
#define LIVES_AT_START 3
#endif

enum { TITLE, PLAY, DYING, OVER, DEMO };
enum {
    MODE = 4, TIME, TIME_HIGH, X, Y, TARGET_X, TARGET_Y, FOE_X, FOE_Y, LUCK, LUCK_HIGH, HELD, COOL,
    SHOTS, LIVES = 0x40, EXTRA = 0x60, SCORE = 0x80, COPY = 0x90, HIGH = 0xA0
};
enum { START_KEY = 3, UP_KEY, DOWN_KEY, LEFT_KEY, RIGHT_KEY };


/* What each core fills in. */
static void clear_score(void);
static void add(unsigned points);
static void show(void);     /* draws the score and what else there is */
static void each_frame(void);
static bool lose_life(void); /* returns whether the game goes on */

static unsigned luck(void) {
    unsigned value = (ram[LUCK] | ram[LUCK_HIGH] << 8) * 5 + 0x3619;
    ram[LUCK] = (uint8_t)value, ram[LUCK_HIGH] = (uint8_t)(value >> 8);
    return ram[LUCK_HIGH];
}

static unsigned clock_of_mode(void) { return ram[TIME] | ram[TIME_HIGH] << 8; }

static void enter(int mode) { ram[MODE] = (uint8_t)mode, ram[TIME] = ram[TIME_HIGH] = 0; }

static void put_target(void) {
    ram[TARGET_X] = (uint8_t)(8 + luck() % 104), ram[TARGET_Y] = (uint8_t)(24 + luck() % 48);
}

static void set_up(int mode) {
    ram[X] = 60, ram[Y] = 50, ram[FOE_X] = luck() & 1 ? 6 : 112, ram[FOE_Y] = 24;
    put_target();
    enter(mode);
}

static void begin(int mode) {
    ram[LIVES] = LIVES_AT_START, ram[SHOTS] = 0;
    clear_score();
    set_up(mode);
}

static void move(uint8_t *x, uint8_t *y, unsigned way) {
    if (way == 0 && *y > 20) --*y;
    if (way == 1 && *y < 74) ++*y;
    if (way == 2 && *x > 4) --*x;
    if (way == 3 && *x < 114) ++*x;
}

static bool near(unsigned a, unsigned b, unsigned reach) { return a < b + reach && b < a + reach; }

static void fire(void) {
    ram[COOL] = COOLING, ram[SHOTS]++;
    if (!near(ram[X], ram[TARGET_X], REACH) && !near(ram[Y], ram[TARGET_Y], REACH)) return;
    add(POINTS * (1 + luck() % 5));
    put_target();
}

void step(void) {
    unsigned held = 0, before = ram[HELD];
    for (unsigned id = 0; id < 16; id++) held |= (unsigned)(input(0, DEVICE_JOYPAD, 0, id) != 0) << id;
    put32(0, frames() + 1);
    unsigned time = clock_of_mode() + 1;
    ram[TIME] = (uint8_t)time, ram[TIME_HIGH] = (uint8_t)(time >> 8), ram[HELD] = (uint8_t)held;
    if (ram[COOL]) ram[COOL]--;
    if (ram[MODE] == TITLE && held >> START_KEY & 1) begin(PLAY);
#ifdef DEMO_SCORES
    if (ram[MODE] == TITLE && time == 60) begin(DEMO);
    if (ram[MODE] == DEMO && time == 900) enter(TITLE);
    if (ram[MODE] == DEMO && time % 90 == 0) add(POINTS * (1 + luck() % 5));
    if (ram[MODE] == DEMO) move(ram + X, ram + Y, time / 16 & 3);
#endif
    if (ram[MODE] == OVER && time == 90) enter(TITLE);
    if (ram[MODE] == DYING && time == DEATH) lose_life() ? set_up(PLAY) : enter(OVER);
    if (ram[MODE] == PLAY) {
        ram[LUCK] = (uint8_t)(ram[LUCK] + (STIRS));
        for (unsigned way = 0; way < 4; way++)
            if (held >> (UP_KEY + way) & 1) move(ram + X, ram + Y, way);
        if (held & 1 & ~before && !ram[COOL] && (STRIKES)) fire();
        if (time % FOE_WAITS == 0) {
            move(ram + FOE_X, ram + FOE_Y, ram[FOE_X] > ram[X] ? 2 : 3);
            move(ram + FOE_X, ram + FOE_Y, ram[FOE_Y] > ram[Y] ? 0 : 1);
        }
        if (near(ram[X], ram[FOE_X], 6) && near(ram[Y], ram[FOE_Y], 6)) enter(DYING);
    }
    each_frame();
}

void draw(void) {
    bool dying = ram[MODE] == DYING;
    memset(field, 0, sizeof field);
    if (ram[MODE] == TITLE) box(30, 40, 60, 16, 0x07ff);
    if (ram[MODE] == PLAY || ram[MODE] == DEMO || (dying && ram[TIME] & 4)) {
        box(ram[X], ram[Y], 10, 10, 0x07e0);
        box(ram[FOE_X], ram[FOE_Y], 8, 8, 0xf800);
        box(ram[TARGET_X], ram[TARGET_Y], 6, 6, 0xffe0);
        if (ram[COOL] + 6 > COOLING) box(ram[X] + 10, ram[Y] + 4, 20, 2, 0x001f);
    }
    show();
    video(field, FIELD_WIDTH, FIELD_HEIGHT, FIELD_WIDTH * 2);
}
#endif
