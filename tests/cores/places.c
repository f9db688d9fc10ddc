/* A thing that directions move, and bytes that only look like its place: a copy, the last direction,
 * a speed, how long right was held, a fraction, scenery that scrolls the other way, a chaser. With
 * HIDDEN no byte is the place: its bits are mixed up. With WRAPS the field has no walls, with
 * BARE nothing but the thing is drawn. */
#include "fake.h"

#define FIELD_WIDTH 128
#define FIELD_HEIGHT 96
enum { X = 0x10, Y, COPY, LAST, SPEED, HELD, FRACTION, SCENERY, CHASER };
enum { UP_KEY = 4, DOWN_KEY, LEFT_KEY, RIGHT_KEY };

static uint8_t *const ram = game.ram;
static uint16_t field[FIELD_WIDTH * FIELD_HEIGHT];

static bool held(unsigned key) { return input(0, DEVICE_JOYPAD, 0, key) != 0; }

#ifdef HIDDEN
#define MIXED 0x2d
#else
#define MIXED 0
#endif

static unsigned place(void) { return ram[X] ^ MIXED; }

static void put(unsigned x) { ram[X] = (uint8_t)(x ^ MIXED); }

void step(void) {
    int way = held(RIGHT_KEY) - held(LEFT_KEY), down = held(DOWN_KEY) - held(UP_KEY);
    int x = (int)place() + way, y = ram[Y] + down, speed = (int8_t)ram[SPEED];
    if (frames() == 0) x = 60, y = 40, ram[CHASER] = 20, ram[SCENERY] = 90;
    put32(0, frames() + 1);
#ifdef WRAPS
    x = (x + FIELD_WIDTH) % FIELD_WIDTH;
#else
    x = x < 4 ? 4 : x > 110 ? 110 : x;
#endif
    put((unsigned)x);
    ram[Y] = (uint8_t)(y < 16 ? 16 : y > 80 ? 80 : y);
    if (way) ram[LAST] = (uint8_t)(2 + way);
    if (way) ram[FRACTION] = (uint8_t)(ram[FRACTION] + 96 * way);
    ram[HELD] = (uint8_t)(way > 0 ? ram[HELD] + 1 : 0);
    ram[SPEED] = (uint8_t)(way ? speed + way : speed > 0 ? speed - 1 : speed < 0 ? speed + 1 : 0);
    ram[SCENERY] = (uint8_t)((ram[SCENERY] - way + FIELD_WIDTH) % FIELD_WIDTH);
    if (frames() % 2 && ram[CHASER] != (uint8_t)x) ram[CHASER] += ram[CHASER] < x ? 1 : -1;
    ram[COPY] = (uint8_t)x;
}

static void box(unsigned x, unsigned y, unsigned size, uint16_t colour) {
    for (unsigned row = y; row < y + size && row < FIELD_HEIGHT; row++)
        for (unsigned column = x; column < x + size; column++)
            field[row * FIELD_WIDTH + column % FIELD_WIDTH] = colour;
}

void draw(void) {
    memset(field, 0, sizeof field);
    for (unsigned n = 0; n < 8; n++) box(16 * n + 3, 4 + n % 3, 2, 0x39e7);
#ifndef BARE
    box(ram[SCENERY], 86, 7, 0x07e0);
    box(ram[CHASER], 6, 6, 0xf800);
#endif
    box(place(), ram[Y], 8, 0xffff);
    box(place() + 2, ram[Y] + 2, 3, 0x001f);
    video(field, FIELD_WIDTH, FIELD_HEIGHT, FIELD_WIDTH * 2);
}

void retro_get_system_av_info(struct system_av_info *info) {
    *info = (struct system_av_info){
        {FIELD_WIDTH, FIELD_HEIGHT, FIELD_WIDTH, FIELD_HEIGHT, 4.0f / 3}, {60, 44100}};
}
