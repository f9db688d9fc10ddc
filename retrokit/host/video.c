/* Pictures: kept as the core delivered them, turned upright and resized by area when asked for. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define MOST_PIXELS 8192u

static void keep(rk_host *host, const uint8_t *from, size_t pitch, size_t row) {
    uint8_t *to = rk_grow(host->picture, &host->picture_bytes, row * host->height);
    if (!to) return;
    host->picture = to;
    host->picture_format = host->info.pixel_format;
    if (pitch == row) memcpy(to, from, row * host->height);
    else
        for (unsigned y = 0; y < host->height; y++) memcpy(to + y * row, from + y * pitch, row);
}

void rk_video_refresh(const void *data, unsigned width, unsigned height, size_t pitch) {
    rk_host *host = rk_current;
    if (!host) return;
    if (!data || data == HW_FRAME) {
        host->info.dupes++;
        /* "As before", although a picture was wanted: from now on keep what could be repeated.
         * FBNeo's very first frame is null, too, but repeats nothing. */
        if (host->width && (host->capture || !host->info.asks_av_enable))
            host->capture_always = true;
        return;
    }
    if (!host->capture) return;
    size_t bytes = host->info.pixel_format == FORMAT_XRGB8888 ? 4 : 2;
    if (!width || !height || width > MOST_PIXELS || height > MOST_PIXELS) return;
    if (height > 1 && pitch < width * bytes) return; /* rows that overlap: not a picture */
    if (width > host->info.max_width || height > host->info.max_height) host->info.oversize++;
    host->width = width, host->height = height;
    if (host->sink) host->sink(host->sink_of, data, pitch / bytes);
    if (!host->sink || host->keep) keep(host, data, pitch, width * bytes);
    host->stale = false;
}

/* The pixel as 0xRRGGBB; where `format` is a constant, the compiler leaves one case. */
INLINE uint32_t rgb_of(const uint8_t *picture, int format, long i) {
    if (format == FORMAT_XRGB8888) return ((const uint32_t *)(const void *)picture)[i] & 0xffffff;
    uint32_t v = ((const uint16_t *)(const void *)picture)[i], r, g, b;
    if (format == FORMAT_RGB565) {
        r = v >> 11, g = v >> 5 & 63, b = v & 31;
        g = g << 2 | g >> 4;
    } else {
        r = v >> 10 & 31, g = v >> 5 & 31, b = v & 31;
        g = g << 3 | g >> 2;
    }
    return (r << 3 | r >> 2) << 16 | g << 8 | (b << 3 | b >> 2);
}

/* Index of the first pixel of the upright picture and the steps to its right and lower neighbour. */
static void walk(int rotation, long w, long h, long *start, long *right, long *down) {
    switch (rotation) {
    case 90: *start = w - 1, *right = w, *down = -1; break;
    case 180: *start = w * h - 1, *right = -1, *down = -w; break;
    case 270: *start = w * (h - 1), *right = -w, *down = 1; break;
    default: *start = 0, *right = 1, *down = w;
    }
}

static bool has_picture(const rk_host *host) {
    return host->fresh && host->picture && (host->keep || !host->sink);
}

int rk_frame_size(rk_host *host, uint32_t *width, uint32_t *height) {
    bool turned = host->info.rotation % 180 != 0;
    *width = turned ? host->height : host->width;
    *height = turned ? host->width : host->height;
    return has_picture(host) ? 1 : rk_fail("no picture: no frame was seen since load, reset or restore");
}

INLINE void convert_from(const uint8_t *picture, int format, int channels, uint32_t pitch,
                         struct part part, uint8_t *to) {
    for (uint32_t y = part.y; y < part.y + part.height; y++) {
        const long first = (long)y * pitch + part.x;
        uint32_t x = 0;
        if (channels == 1)
            x = (uint32_t)rk_grey(picture + first * (format == FORMAT_XRGB8888 ? 4 : 2), format, part.width, to);
        for (; x < part.width; x++) {
            uint32_t rgb = rgb_of(picture, format, first + x), r = rgb >> 16, g = rgb >> 8 & 255, b = rgb & 255;
            if (channels == 1) { /* ITU-R BT.601 luma, in 1/65536 */
                to[x] = (uint8_t)((r * 19595 + g * 38470 + b * 7471 + 32768) >> 16);
            } else {
                to[3 * x] = (uint8_t)r, to[3 * x + 1] = (uint8_t)g, to[3 * x + 2] = (uint8_t)b;
            }
        }
        to += (size_t)part.width * (size_t)channels;
    }
}

/* A part of a picture as it was delivered, not yet turned; `pitch` in pixels. */
WIDE void rk_convert(const uint8_t *from, int format, uint32_t pitch, struct part part, int channels,
                     uint8_t *to) {
    if (part.width == pitch) { /* whole rows: one long one */
        part.x = part.y * pitch, part.width *= part.height;
        part.y = 0, part.height = 1;
    }
    bool grey = channels == 1;
    switch (format) {
#define CASE(known)                                                                                \
    case known:                                                                                    \
        if (grey) convert_from(from, known, 1, pitch, part, to);                                   \
        else convert_from(from, known, 3, pitch, part, to);                                        \
        break
        CASE(FORMAT_0RGB1555);
        CASE(FORMAT_XRGB8888);
        CASE(FORMAT_RGB565);
    }
}

INLINE void turn_by(int rotation, const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, int channels) {
    long start, right, down;
    walk(rotation, w, h, &start, &right, &down);
    uint32_t across = rotation % 180 ? h : w, lines = rotation % 180 ? w : h;
    for (uint32_t y = 0; y < lines; y++, start += down)
        for (long x = 0, i = start; x < across; x++, i += right)
            for (int c = 0; c < channels; c++) *out++ = in[i * channels + c];
}

/* Resize a converted picture and turn it, in this order: only the small one is walked across its
 * rows. `width` and `height` are those of the upright result. */
int rk_fit(const rk_host *host, const uint8_t *in, uint32_t w, uint32_t h, uint8_t *out, uint32_t width,
           uint32_t height, int channels) {
    int rotation = host->info.rotation;
    uint32_t ow = rotation % 180 ? height : width, oh = rotation % 180 ? width : height;
    size_t small = (size_t)ow * oh * (size_t)channels;
    if (w == ow && h == oh) {
        if (!rotation) return memcpy(out, in, small), 1;
    } else {
        uint8_t *room = out;
        if (rotation) {
            room = rk_scratch(SCRATCH_SMALL, small);
            if (!room) return rk_fail("out of memory for a %u x %u picture", ow, oh);
        }
        if (!rk_resize(in, w, h, room, ow, oh, channels)) return 0;
        in = room;
    }
    if (rotation && channels == 1) turn_by(rotation, in, ow, oh, out, 1);
    else if (rotation) turn_by(rotation, in, ow, oh, out, 3);
    return 1;
}

int rk_frame(rk_host *host, uint8_t *out, uint32_t width, uint32_t height, int channels) {
    uint32_t w, h;
    if (!rk_frame_size(host, &w, &h)) return 0;
    w = host->width, h = host->height;
    const struct part all = {0, 0, w, h};
    const bool plain = !host->info.rotation && w == width && h == height;
    uint8_t *whole = out;
    if (!plain) {
        whole = rk_scratch(SCRATCH_WHOLE, (size_t)w * h * (size_t)channels);
        if (!whole) return rk_fail("out of memory for a %u x %u picture", w, h);
    }
    rk_convert(host->picture, host->picture_format, w, all, channels, whole);
    return plain || rk_fit(host, whole, w, h, out, width, height, channels);
}

void rk_picture_565(rk_host *host, uint16_t *out, uint32_t width, uint32_t height) {
    uint32_t w, h;
    memset(out, 0, (size_t)width * height * 2);
    if (!rk_frame_size(host, &w, &h)) return;
    long start, right, down;
    walk(host->info.rotation, host->width, host->height, &start, &right, &down);
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
                uint32_t rgb = rgb_of(host->picture, host->picture_format, i);
                line[x] = (uint16_t)((rgb >> 8 & 0xf800) | (rgb >> 5 & 0x7e0) | (rgb >> 3 & 31));
            }
    }
}

/* Bits that nobody sees, the X of XRGB and 0RGB, stay out. */
uint64_t rk_picture_hash(rk_host *host) {
    if (!has_picture(host)) return 0;
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
