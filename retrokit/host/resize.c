/* Pictures made smaller or larger, exactly: every output pixel is the mean of the input it covers. */
#include <string.h>
#include "internal.h"

/* Where an output pixel ends: after so many whole input pixels and a part of the next. */
struct end { uint32_t whole, part; };

/* Room of one picture: the input rows of two output rows, summed; both rows in one number, the
 * second in its upper half; and their running totals. */
struct room { uint32_t *sums; uint64_t *both, *totals, *wholes; struct end *ends; };

/* Sum the input rows that an output row covers; `left` is what is left of the first one. Twice: in 16
 * bits where they hold the sum of a column, and in 32. */
#define SUM_ROWS(NAME, TYPE)                                                                       \
    INLINE const uint8_t *NAME(const uint8_t *in, size_t n, uint32_t h, uint32_t oh, uint32_t *left, \
                               TYPE *sums) {                                                       \
        for (uint32_t want = h; want;) {                                                           \
            const uint32_t take = *left < want ? *left : want;                                     \
            const TYPE weight = (TYPE)take;                                                        \
            if (want == h)                                                                         \
                for (size_t i = 0; i < n; i++) sums[i] = (TYPE)(in[i] * weight);                   \
            else                                                                                   \
                for (size_t i = 0; i < n; i++) sums[i] = (TYPE)(sums[i] + in[i] * weight);         \
            want -= take, *left -= take;                                                           \
            if (!*left) in += n, *left = oh;                                                       \
        }                                                                                          \
        return in;                                                                                 \
    }
SUM_ROWS(sum_rows_16, uint16_t)
SUM_ROWS(sum_rows_32, uint32_t)

/* One row, or two as halves of one number. */
#define PACK(SUMS) \
    for (size_t i = 0; i < n; i++) both[i] = rows == 2 ? (uint64_t)SUMS[n + i] << 32 | SUMS[i] : SUMS[i]

/* From the lower halves of sums to pixels. */
INLINE void mean(const uint64_t *sums, uint32_t ow, double share, uint8_t *out, uint32_t channels) {
    for (uint32_t ox = 0; ox < ow; ox++)
        out[(size_t)ox * channels] = (uint8_t)(int32_t)((double)(int32_t)(uint32_t)sums[ox] * share + 0.5);
}

/* Rows first; then along the row by running totals, of which an output pixel is a difference. Lengths
 * are counted in units of which an input pixel is `ow` (or `oh`) long and an output pixel `w` (or `h`).
 * Two rows go along at once, as halves of one number, where no pixel's sum is more than a half. */
INLINE void resize_by(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                      uint32_t channels, const struct room *room) {
    const size_t n = (size_t)w * channels, row = (size_t)ow * channels;
    const double share = 1.0 / ((double)w * h);
    const bool halves = (uint64_t)w * h <= 1u << 23;
    uint64_t *both = room->both, *totals = room->totals;
    uint32_t left = oh;
    for (uint32_t oy = 0, rows; oy < oh; oy += rows, out += row * rows) {
        rows = halves && oy + 1 < oh ? 2 : 1;
        if (h <= UINT16_MAX / 255) {
            uint16_t *sums = (uint16_t *)room->sums;
            for (uint32_t r = 0; r < rows; r++) in = sum_rows_16(in, n, h, oh, &left, sums + r * n);
            PACK(sums);
        } else {
            for (uint32_t r = 0; r < rows; r++) in = sum_rows_32(in, n, h, oh, &left, room->sums + r * n);
            PACK(room->sums);
        }
        for (uint32_t c = 0; c < channels; c++) {
            uint64_t total = 0, before = 0;
            for (size_t i = c; i < n; i += channels) totals[i + channels] = total += both[i];
            for (uint32_t ox = 0; ox < ow; ox++) {
                const size_t at = (size_t)room->ends[ox].whole * channels + c;
                const uint64_t now = totals[at] * ow + both[at] * room->ends[ox].part;
                room->wholes[ox] = now - before;
                before = now;
            }
            if (rows == 2) {
                mean(room->wholes, ow, share, out + c, channels);
                for (uint32_t ox = 0; ox < ow; ox++) room->wholes[ox] >>= 32;
                mean(room->wholes, ow, share, out + row + c, channels);
            } else
                for (uint32_t ox = 0; ox < ow; ox++)
                    out[(size_t)ox * channels + c] = (uint8_t)((double)room->wholes[ox] * share + 0.5);
        }
    }
}

WIDE static void grey(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                      const struct room *room) {
    resize_by(in, w, h, out, ow, oh, 1, room);
}

WIDE static void rgb(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                     const struct room *room) {
    resize_by(in, w, h, out, ow, oh, 3, room);
}

int rk_resize(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
              int channels) {
    const size_t n = ((size_t)w + 1) * (size_t)channels; /* one more: the last ends at its edge */
    uint64_t *block = rk_scratch(
        SCRATCH_SUMS, n * 2 * (sizeof *block + sizeof(uint32_t)) + ow * (sizeof *block + sizeof(struct end)));
    if (!block) return rk_fail("out of memory for a %u x %u picture", ow, oh);
    struct end *ends = (struct end *)(block + 2 * n + ow);
    uint32_t *sums = (uint32_t *)(ends + ow);
    const struct room room = {sums, block, block + n, block + 2 * n, ends};
    for (uint32_t ox = 0; ox < ow; ox++) {
        uint64_t end = (uint64_t)(ox + 1) * w;
        ends[ox] = (struct end){(uint32_t)(end / ow), (uint32_t)(end % ow)};
    }
    memset(room.totals, 0, sizeof *block * (size_t)channels);
    memset(room.both + (size_t)w * (size_t)channels, 0, sizeof *block * (size_t)channels);
    (channels == 1 ? grey : rgb)(in, w, h, out, ow, oh, &room);
    return 1;
}
