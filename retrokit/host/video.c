/* Pictures: kept as the core delivered them, turned upright and resized by area when asked for. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define MOST_PIXELS 8192u

void rk_video_refresh(const void *data, unsigned width, unsigned height, size_t pitch) {
    rk_host *host = rk_current;
    if (!host) return;
    if (!data || data == HW_FRAME) {
        host->info.dupes++;
        /* "As before", although a picture was wanted: from now on keep what could be repeated.
         * FBNeo's very first frame is null, too, but repeats nothing. */
        if (host->picture && (host->capture || !host->info.asks_av_enable))
            host->capture_always = true;
        return;
    }
    if (!host->capture) return;
    size_t bytes = host->info.pixel_format == FORMAT_XRGB8888 ? 4 : 2;
    if (!width || !height || width > MOST_PIXELS || height > MOST_PIXELS) return;
    if (height > 1 && pitch < width * bytes) return; /* rows that overlap: not a picture */
    if (width > host->info.max_width || height > host->info.max_height) host->info.oversize++;
    size_t row = width * bytes;
    uint8_t *to = rk_grow(host->picture, &host->picture_bytes, row * height);
    if (!to) return;
    host->picture = to;
    host->width = width, host->height = height;
    host->picture_format = host->info.pixel_format;
    const uint8_t *from = data;
    if (pitch == row) memcpy(to, from, row * height);
    else
        for (unsigned y = 0; y < height; y++) memcpy(to + y * row, from + y * pitch, row);
    host->stale = false;
}

static inline uint32_t rgb_of(const rk_host *host, size_t i) {
    if (host->picture_format == FORMAT_XRGB8888)
        return ((const uint32_t *)(const void *)host->picture)[i] & 0xffffff;
    uint32_t v = ((const uint16_t *)(const void *)host->picture)[i], r, g, b;
    if (host->picture_format == FORMAT_RGB565) {
        r = v >> 11, g = v >> 5 & 63, b = v & 31;
        g = g << 2 | g >> 4;
    } else {
        r = v >> 10 & 31, g = v >> 5 & 31, b = v & 31;
        g = g << 3 | g >> 2;
    }
    return (r << 3 | r >> 2) << 16 | g << 8 | (b << 3 | b >> 2);
}

/* Index of the first pixel of the upright picture and the steps to its right and lower neighbour. */
static void walk(const rk_host *host, long *start, long *right, long *down) {
    long w = host->width, h = host->height;
    switch (host->info.rotation) {
    case 90: *start = w - 1, *right = w, *down = -1; break;
    case 180: *start = w * h - 1, *right = -1, *down = -w; break;
    case 270: *start = w * (h - 1), *right = -w, *down = 1; break;
    default: *start = 0, *right = 1, *down = w;
    }
}

int rk_frame_size(rk_host *host, uint32_t *width, uint32_t *height) {
    bool turned = host->info.rotation % 180 != 0;
    *width = turned ? host->height : host->width;
    *height = turned ? host->width : host->height;
    return host->fresh;
}

static inline uint32_t grey_of(uint32_t rgb) { /* ITU-R BT.601 luma */
    return ((rgb >> 16) * 299 + (rgb >> 8 & 255) * 587 + (rgb & 255) * 114 + 500) / 1000;
}

static inline uint32_t overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return (uint32_t)((b < d ? b : d) - (a > c ? a : c));
}

/* Area averaging, exact: every output pixel is the mean of the input it covers. Lengths are counted
 * in units of which an input pixel is `ow` (or `oh`) long and an output pixel `w` (or `h`). */
static int resize(rk_host *host, const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out,
                  uint32_t ow, uint32_t oh, uint32_t channels) {
    size_t n = (size_t)w * channels;
    uint32_t *line = rk_grow(host->sums, &host->sums_bytes, n * sizeof *line);
    if (!line) return rk_fail("out of memory for a %u x %u picture", ow, oh);
    host->sums = line;
    const uint64_t area = (uint64_t)w * h;
    for (uint32_t oy = 0; oy < oh; oy++) {
        uint64_t top = (uint64_t)oy * h, bottom = top + h;
        memset(line, 0, n * sizeof *line);
        for (uint64_t y = top / oh; y * oh < bottom; y++) {
            uint32_t covered = overlap(y * oh, (y + 1) * oh, top, bottom);
            const uint8_t *row = in + y * n;
            for (size_t i = 0; i < n; i++) line[i] += row[i] * covered;
        }
        for (uint32_t ox = 0; ox < ow; ox++) {
            uint64_t left = (uint64_t)ox * w, right = left + w, sums[3] = {0};
            for (uint64_t x = left / ow; x * ow < right; x++) {
                uint64_t covered = overlap(x * ow, (x + 1) * ow, left, right);
                for (uint32_t c = 0; c < channels; c++) sums[c] += line[x * channels + c] * covered;
            }
            for (uint32_t c = 0; c < channels; c++) *out++ = (uint8_t)((sums[c] + area / 2) / area);
        }
    }
    return 1;
}

int rk_frame(rk_host *host, uint8_t *out, uint32_t width, uint32_t height, int channels) {
    uint32_t w, h;
    if (!rk_frame_size(host, &w, &h)) return rk_fail("no picture until one frame has run");
    bool same = w == width && h == height;
    uint8_t *to = out;
    if (!same) {
        to = rk_grow(host->upright, &host->upright_bytes, (size_t)w * h * (size_t)channels);
        if (!to) return rk_fail("out of memory for a %u x %u picture", w, h);
        host->upright = to;
    }
    long start, right, down;
    walk(host, &start, &right, &down);
    for (uint32_t y = 0; y < h; y++) {
        long i = start + (long)y * down;
        uint8_t *line = to + (size_t)y * w * (size_t)channels;
        if (channels == 1)
            for (uint32_t x = 0; x < w; x++, i += right) line[x] = (uint8_t)grey_of(rgb_of(host, (size_t)i));
        else
            for (uint32_t x = 0; x < w; x++, i += right) {
                uint32_t rgb = rgb_of(host, (size_t)i);
                line[3 * x] = (uint8_t)(rgb >> 16);
                line[3 * x + 1] = (uint8_t)(rgb >> 8);
                line[3 * x + 2] = (uint8_t)rgb;
            }
    }
    return same ? 1 : resize(host, to, w, h, out, width, height, (uint32_t)channels);
}

void rk_picture_565(rk_host *host, uint16_t *out, uint32_t width, uint32_t height) {
    uint32_t w, h;
    memset(out, 0, (size_t)width * height * 2);
    if (!rk_frame_size(host, &w, &h)) return;
    long start, right, down;
    walk(host, &start, &right, &down);
    if (h > height) h = height;
    if (w > width) w = width;
    bool plain = host->picture_format == FORMAT_RGB565;
    const uint16_t *raw = (const uint16_t *)(const void *)host->picture;
    for (uint32_t y = 0; y < h; y++) {
        long i = start + (long)y * down;
        uint16_t *line = out + (size_t)y * width;
        if (plain)
            for (uint32_t x = 0; x < w; x++, i += right) line[x] = raw[i];
        else
            for (uint32_t x = 0; x < w; x++, i += right) {
                uint32_t rgb = rgb_of(host, (size_t)i);
                line[x] = (uint16_t)((rgb >> 8 & 0xf800) | (rgb >> 5 & 0x7e0) | (rgb >> 3 & 31));
            }
    }
}

/* Bits that nobody sees, the X of XRGB and 0RGB, stay out. */
uint64_t rk_picture_hash(rk_host *host) {
    if (!host->fresh) return 0;
    static const uint64_t seen[] = {0x7fff7fff7fff7fffu, 0x00ffffff00ffffffu, ~(uint64_t)0};
    const uint64_t mask = seen[host->picture_format];
    size_t n = (size_t)host->width * host->height * (host->picture_format == FORMAT_XRGB8888 ? 4 : 2);
    uint64_t hash = 0x243f6a8885a308d3u ^ (uint64_t)(host->info.rotation / 90) << 60 ^
                    (uint64_t)host->picture_format << 56 ^ (uint64_t)host->width << 28 ^ host->height;
    for (const uint8_t *p = host->picture; n; p += 8) {
        uint64_t word = 0;
        size_t take = n < 8 ? n : 8;
        memcpy(&word, p, take);
        hash = (hash ^ (word & mask)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        n -= take;
    }
    return hash;
}
