/* How every byte of large RAM moves, told while it is played: which can still be counters. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define LINE 64
#define WORD 8
#define OFTEN 256 /* frames between looks for lines that are done */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lowest byte of a word comes first");

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, WORD);
    return word;
}

/* The top bit of every byte that is not 0. */
static uint64_t marks(uint64_t word) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    return (((word & low) + low) | word) & ~low;
}

static bool same(const uint8_t *a, const uint8_t *b) {
    uint64_t differs = 0;
    for (int n = 0; n < LINE; n += WORD) differs |= word_at(a + n) ^ word_at(b + n);
    return !differs;
}

/* `alone`: at most half of the line changed. */
static void count_byte(const rk_counts *counts, uint64_t i, uint8_t was, uint8_t is, bool alone) {
    counts->changes[i]++;
    if (!alone) return;
    counts->alone[i]++;
    counts->back[i] += counts->before[i] == is;
    counts->before[i] = was;
    counts->steps[i] |= 1ull << ((is - was) & 63);
}

static void count_line(const rk_counts *counts, uint64_t at, uint8_t *before, const uint8_t *now) {
    uint64_t changed[LINE / WORD];
    int many = 0;
    for (int n = 0; n < LINE / WORD; n++) {
        changed[n] = marks(word_at(before + n * WORD) ^ word_at(now + n * WORD));
        many += __builtin_popcountll(changed[n]);
    }
    if (many == LINE) counts->whole[at / LINE]++;
    for (int n = 0; many < LINE && n < LINE / WORD; n++)
        for (uint64_t left = changed[n]; left; left &= left - 1) {
            int i = n * WORD + __builtin_ctzll(left) / 8;
            count_byte(counts, at + (uint64_t)i, before[i], now[i], many <= LINE / 2);
        }
    memcpy(before, now, LINE);
}

/* Compare with the frame before, line by line: most of large RAM rests. */
static void count_frame(const rk_counts *counts, uint64_t total, const bool *done, uint8_t *before,
                        const uint8_t *now) {
    uint64_t at = 0;
    for (; at + LINE <= total; at += LINE)
        if (!done[at / LINE] && !same(before + at, now + at))
            count_line(counts, at, before + at, now + at);
    for (; at < total; at++) { /* a rest that is no line */
        if (before[at] != now[at]) count_byte(counts, at, before[at], now[at], true);
        before[at] = now[at];
    }
}

static bool is_done(const rk_counts *counts, uint64_t line) {
    for (uint64_t i = line * LINE; i < (line + 1) * LINE; i++)
        if ((uint64_t)counts->changes[i] + counts->whole[line] <= counts->most) return false;
    return true;
}

int rk_count(rk_host *host, uint32_t frames, const uint16_t *buttons, const rk_counts *counts) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    uint64_t total = 0;
    for (int i = 0; i < host->n_selected; i++) total += host->selected_size[i];
    bool *done = calloc(total / LINE + 1, sizeof *done);
    if (!done) return rk_fail("out of memory");
    rk_gather(host, host->previous);
    for (uint32_t f = 0; f < frames; f++) {
        for (uint64_t line = 0; f % OFTEN == 0 && line < total / LINE; line++)
            done[line] = is_done(counts, line);
        rk_press(host, buttons[f]);
        rk_step(host, false);
        count_frame(counts, total, done, host->previous, rk_look(host));
    }
    free(done);
    return 1;
}
