/* Odd numbers, chosen by ODD: centred; each digit a little lower; drawn LAG frames late; added to
 * digit by digit, one a frame; in steps of 50 that carry only from 50 to 00; strokes, each of which
 * counts; hits, one point each; a high score that nothing writes after the start; 20 digits; money
 * that is lost too; bytes of eight times the digit; a digit that is drawn by a pointer of its own. */
#include "arena.h"

enum { CENTRED = 1, SLANT, LATE, RIPPLE, HALVES, STROKES, HITS, CONSTANT, WIDE, MONEY, EIGHTHS,
       POINTED };
enum { ADDED = EXTRA, CARRY = EXTRA + 6, PLACE, PAST = 0x400, POINTER = SCORE - 4, SHOWN };
#ifndef LAG
#define LAG 0
#endif
#define PLACES (ODD == WIDE ? 20 : 6)
#define WORTH (ODD == EIGHTHS ? 8 : 1) /* of one in a byte of its own */

/* A digit a byte, low first. */
static bool apart(void) { return ODD == WIDE || ODD == EIGHTHS || ODD == POINTED; }
static void clear_score(void) {
    memset(ram + SCORE, 0, PLACES);
    if (ODD == MONEY) ram[SCORE + 1] = 0x90;
    if (ODD == CONSTANT) ram[HIGH + 2] = 0x75;
}
static void add(unsigned points) {
    bool both = near(ram[X], ram[TARGET_X], 10) && near(ram[Y], ram[TARGET_Y], 10);
    if (ODD == RIPPLE) {
        for (unsigned n = 0; n < 6; n++, points /= 10) ram[ADDED + n] = (uint8_t)(points % 10);
        ram[CARRY] = 0, ram[PLACE] = 1;
    } else if (ODD == HALVES) {
        if (!((ram[SCORE] ^= 0x50) & 0x50)) add_bcd(SCORE + 1, 1);
    } else if (apart()) {
        for (unsigned n = 0, carry = 0; n < PLACES; n++, points /= 10) {
            unsigned sum = ram[SCORE + n] + (points % 10 + carry) * WORTH;
            carry = sum >= 10 * WORTH;
            ram[SCORE + n] = (uint8_t)(carry ? sum - 10 * WORTH : sum);
        }
    } else if (ODD == HITS) {
        if (both) add_bcd(SCORE, 1);
    } else if (ODD != STROKES) {
        add_bcd(SCORE, points);
    }
}
static void each_frame(void) {
    if (ODD == STROKES && ram[COOL] == COOLING && ram[MODE] == PLAY) add_bcd(SCORE, 1);
    if (ODD == RIPPLE && ram[PLACE]) {
        uint8_t *byte = ram + SCORE + (ram[PLACE] - 1) / 2;
        unsigned up = ram[PLACE] & 1 ? 0 : 4, sum = (*byte >> up & 15u) + ram[CARRY];
        sum += ram[ADDED + ram[PLACE] - 1], ram[CARRY] = sum > 9;
        *byte = (uint8_t)((*byte & (0xF0 >> up)) | (sum % 10) << up);
        if (++ram[PLACE] > 6) ram[PLACE] = 0;
    }
    if (ram[SHOWN] != ram[SCORE + 2])
        ram[SHOWN] = ram[SCORE + 2], ram[POINTER] = (uint8_t)(ram[SHOWN] << 4);
    memmove(ram + PAST + 3, ram + PAST, 3 * LAG);
    memcpy(ram + PAST, ram + SCORE, 3);
}
static unsigned place(unsigned n) {
    if (ODD == POINTED && n == 2) return ram[POINTER] >> 4;
    if (apart()) return ram[SCORE + n] / WORTH;
    return ram[(ODD == LATE ? PAST + 3 * LAG : SCORE) + n / 2] >> (n & 1 ? 4 : 0) & 15u;
}
static void show(void) {
    unsigned many = PLACES, pitch = ODD == WIDE ? 6 : 8, right = ODD == WIDE ? 120 : 48;
    if (ODD == CENTRED) {
        while (many > 1 && !place(many - 1)) many--;
        right = 60 + 4 * many;
    }
    for (unsigned n = 0; n < many; n++)
        digit(right - pitch * n, 2 + (ODD == SLANT ? n % 3 : 0), place(n));
    if (ODD == CONSTANT) show_bcd(HIGH, 76, 2);
    if (ODD != LATE) digit(8, 86, ram[LIVES]); /* else nothing is drawn at once */
}
static bool lose_life(void) {
    if (ODD == MONEY) add_bcd(SCORE, 1000000 - 700); /* seven hundred less */
    return --ram[LIVES] != 0;
}
