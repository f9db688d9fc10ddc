/* Pictures made smaller or larger, exactly: every output pixel is the mean of the input it covers. */
#include <string.h>
#include "internal.h"

/* Where an output pixel ends: after so many whole input pixels and a part of the next. */
struct end { uint32_t whole, part; };

/* Rows first, into `sums` of a row of input pixels; then along the row by running totals, of which
 * an output pixel is a difference. Lengths are counted in units of which an input pixel is `ow` (or
 * `oh`) long and an output pixel `w` (or `h`). */
INLINE void resize_by(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                      uint32_t channels, const struct end *ends, float *sums, uint64_t *totals) {
    const size_t n = (size_t)w * channels;
    const double share = 1.0 / ((double)w * h);
    uint32_t left = oh; /* what is left of the input row */
    for (uint32_t oy = 0; oy < oh; oy++) {
        memset(sums, 0, n * sizeof *sums);
        for (uint32_t want = h; want;) {
            uint32_t take = left < want ? left : want;
            const float weight = (float)take; /* sums below 2^24: exact */
            for (size_t i = 0; i < n; i++) sums[i] += in[i] * weight;
            want -= take, left -= take;
            if (!left) in += n, left = oh;
        }
        for (size_t i = 0; i < n; i++) totals[i + channels] = totals[i] + (uint32_t)sums[i];
        for (uint32_t c = 0; c < channels; c++) {
            uint64_t before = 0;
            for (uint32_t ox = 0; ox < ow; ox++) {
                const size_t at = (size_t)ends[ox].whole * channels + c;
                uint64_t now = totals[at] * ow + (uint64_t)(uint32_t)sums[at] * ends[ox].part;
                out[(size_t)ox * channels + c] = (uint8_t)((double)(now - before) * share + 0.5);
                before = now;
            }
        }
        out += (size_t)ow * channels;
    }
}

WIDE static void grey(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                      const struct end *ends, float *sums, uint64_t *totals) {
    resize_by(in, w, h, out, ow, oh, 1, ends, sums, totals);
}

WIDE static void rgb(const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow, uint32_t oh,
                     const struct end *ends, float *sums, uint64_t *totals) {
    resize_by(in, w, h, out, ow, oh, 3, ends, sums, totals);
}

int rk_resize(rk_host *host, const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t ow,
              uint32_t oh, int channels) {
    const size_t n = ((size_t)w + 1) * (size_t)channels; /* one more: the last ends at its edge */
    uint64_t *totals = rk_grow(host->sums, &host->sums_bytes,
                               n * (sizeof *totals + sizeof(float)) + ow * sizeof(struct end));
    if (!totals) return rk_fail("out of memory for a %u x %u picture", ow, oh);
    host->sums = totals;
    struct end *ends = (struct end *)(totals + n);
    float *sums = (float *)(ends + ow);
    for (uint32_t ox = 0; ox < ow; ox++) {
        uint64_t end = (uint64_t)(ox + 1) * w;
        ends[ox] = (struct end){(uint32_t)(end / ow), (uint32_t)(end % ow)};
    }
    memset(totals, 0, sizeof *totals * (size_t)channels);
    memset(sums + (size_t)w * (size_t)channels, 0, sizeof *sums * (size_t)channels);
    (channels == 1 ? grey : rgb)(in, w, h, out, ow, oh, ends, sums, totals);
    return 1;
}
