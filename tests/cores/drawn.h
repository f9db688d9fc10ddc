/* A field of 128 x 96 pixels with boxes and digits on it, and packed BCD numbers. */
#ifndef DRAWN_H
#define DRAWN_H
#include "fake.h"

#define FIELD_WIDTH 128
#define FIELD_HEIGHT 96
#ifndef AT
#define AT 0 /* where the game's bytes lie in RAM; the first four count frames */
#endif

static uint8_t *const ram = game.ram + AT;
static uint16_t field[FIELD_WIDTH * FIELD_HEIGHT];

static void box(unsigned x, unsigned y, unsigned width, unsigned height, uint16_t colour) {
    for (unsigned row = y; row < y + height && row < FIELD_HEIGHT; row++)
        for (unsigned column = x; column < x + width && column < FIELD_WIDTH; column++)
            field[row * FIELD_WIDTH + column] = colour;
}

static void digit(unsigned x, unsigned y, unsigned value) { /* 5 x 7 pixels; nothing above 9 */
    static const uint8_t font[10][7] = {
        {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},    {14, 17, 1, 6, 8, 16, 31},
        {31, 1, 2, 6, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2},   {31, 16, 30, 1, 1, 17, 14},
        {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},     {14, 17, 17, 14, 17, 17, 14},
        {14, 17, 17, 15, 1, 2, 12},
    };
    for (unsigned row = 0; value < 10 && row < 7; row++)
        for (unsigned column = 0; column < 5; column++)
            if (font[value][row] >> (4 - column) & 1) box(x + column, y + row, 1, 1, 0xffff);
}

void retro_get_system_av_info(struct system_av_info *info) {
    *info = (struct system_av_info){
        {FIELD_WIDTH, FIELD_HEIGHT, FIELD_WIDTH, FIELD_HEIGHT, 4.0f / 3}, {60, 44100}};
}

/* A packed BCD number of three bytes, low byte first: added to and drawn, 8 pixels a digit. */
static inline void add_bcd(unsigned at, unsigned value) {
    for (unsigned n = 0, carry = 0; n < 3; n++, value /= 100) {
        unsigned low = (ram[at + n] & 15u) + value % 10 + carry;
        unsigned high = (ram[at + n] >> 4) + value / 10 % 10 + (low > 9);
        carry = high > 9;
        ram[at + n] = (uint8_t)((high > 9 ? high - 10 : high) << 4 | (low > 9 ? low - 10 : low));
    }
}

static inline void show_bcd(unsigned at, unsigned x, unsigned y) {
    for (unsigned n = 0; n < 6; n++) digit(x + 40 - 8 * n, y, ram[at + n / 2] >> (n & 1 ? 4 : 0) & 15);
}
#endif
