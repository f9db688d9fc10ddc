/* What an agent sees: the picture, fitted into the newest place of its stack, and bytes of RAM. */
#include <stdlib.h>
#include <string.h>
#include "episode.h"

/* The part of the delivered picture that is left of the upright one when its edges are cut. A
 * picture too small for the cuts is taken whole. */
static struct part uncut(const rk_host *host, const rk_plan *plan) {
    uint32_t top = plan->top, bottom = plan->bottom, left = plan->left, right = plan->right;
    uint32_t was_top = top, was_left = left;
    switch (host->info.rotation) {
    case 90: top = left, left = bottom, bottom = right, right = was_top; break;
    case 180: top = bottom, bottom = was_top, left = right, right = was_left; break;
    case 270: top = right, right = bottom, bottom = left, left = was_top; break;
    default: break;
    }
    if (top + bottom >= host->height || left + right >= host->width)
        return (struct part){0, 0, host->width, host->height};
    return (struct part){left, top, host->width - left - right, host->height - top - bottom};
}

/* The core's picture, as it comes: converted, and not copied before. Where it is the one to observe it
 * is made fit at once, and only that is kept. */
void rk_lane_sink(void *of, const uint8_t *pixels, size_t pitch) {
    struct lane *lane = of;
    const rk_plan *plan = &lane->lanes->plan;
    const struct part part = uncut(lane->host, plan);
    const int channels = (int)plan->channels, format = lane->host->info.pixel_format;
    struct seen *seen = &lane->last;
    const bool fit = lane->host->asked && !plan->last_two;
    const size_t whole = (size_t)part.width * part.height * plan->channels;
    const size_t bytes = fit ? (size_t)plan->width * plan->height * plan->channels : whole;
    uint8_t *more = rk_grow(seen->pixels, &seen->bytes, bytes), *first = more;
    seen->width = seen->height = 0;
    if (!more) return;
    seen->pixels = more;
    if (fit) first = rk_scratch(SCRATCH_WHOLE, whole);
    if (!first) return;
    rk_convert(pixels, format, (uint32_t)pitch, part, channels, first);
    if (fit && !rk_fit(lane->host, first, part.width, part.height, more, plan->width, plan->height, channels))
        return;
    seen->width = part.width, seen->height = part.height, seen->fit = fit;
}

/* Keep the frame before the last; the last may repeat it, and then nothing comes. */
void rk_lane_keep(struct lane *lane) {
    struct seen other = lane->earlier;
    lane->earlier = lane->last, lane->last = other;
    lane->last.width = 0;
}

static void brighter(uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
}

static int draw(rk_lanes *lanes, struct lane *lane, bool two, uint8_t *out) {
    const rk_plan *plan = &lanes->plan;
    struct seen *last = &lane->last, *earlier = &lane->earlier;
    if (two && !last->width) rk_lane_keep(lane), two = false; /* changes the two back */
    if (!last->width) return rk_fail("out of memory for a picture");
    if (two && last->width == earlier->width && last->height == earlier->height) {
        brighter(earlier->pixels, last->pixels, (size_t)last->width * last->height * plan->channels);
        last = earlier;
    }
    if (last->fit) return memcpy(out, last->pixels, (size_t)plan->width * plan->height * plan->channels), 1;
    return rk_fit(lane->host, last->pixels, last->width, last->height, out, plan->width,
                  plan->height, (int)plan->channels);
}

static void read_ram(rk_lanes *lanes, struct lane *lane, uint8_t *out) {
    const rk_plan *plan = &lanes->plan;
    float *floats = (float *)(void *)out;
    for (uint32_t s = 0; s < plan->n_spans; s++) {
        const rk_span *span = &plan->spans[s];
        uint64_t size;
        const uint8_t *data = rk_region_at(lane->host, span->region, &size);
        for (uint32_t i = 0; i < span->count; i++) {
            uint32_t at = span->offsets ? span->offsets[i] : i;
            uint8_t byte = at < size ? data[at] : 0; /* a region that vanished reads as zeros */
            if (plan->ram_floats) *floats++ = (float)byte / 255.0f;
            else *out++ = byte;
        }
    }
}

/* The newest place of a stack, the older ones moved up. */
static uint8_t *push(uint8_t *stack, size_t bytes, uint32_t places) {
    memmove(stack, stack + bytes, bytes * (places - 1));
    return stack + bytes * (places - 1);
}

static void fill(uint8_t *stack, size_t bytes, uint32_t places) {
    for (uint32_t i = 0; i + 1 < places; i++) memcpy(stack + bytes * i, stack + bytes * (places - 1), bytes);
}

/* Observe into the lane's row. `shown`: how many of the last frames were drawn; with none, the
 * picture before stays the newest. `first`: of an episode, which fills the whole stack. */
int rk_lane_observe(rk_lanes *lanes, struct lane *lane, int shown, bool first) {
    const rk_plan *plan = &lanes->plan;
    const size_t row = (size_t)lane->row, places = plan->stack;
    const size_t picture = (size_t)plan->width * plan->height * plan->channels;
    const size_t ram = plan->ram_size * (plan->ram_floats ? sizeof(float) : 1);
    if (picture) {
        uint8_t *stack = lanes->batch.pixels + row * places * picture;
        uint8_t *newest = push(stack, picture, plan->stack);
        if (shown && !draw(lanes, lane, shown == 2, newest)) return 0;
        if (!shown && places > 1) memcpy(newest, newest - picture, picture);
        if (first) fill(stack, picture, plan->stack);
    }
    if (ram) {
        uint8_t *stack = lanes->batch.ram + row * places * ram;
        read_ram(lanes, lane, push(stack, ram, plan->stack));
        if (first) fill(stack, ram, plan->stack);
    }
    return 1;
}

/* Copy the lane's row of observations to where such rows lie, too; NULL: nowhere. */
void rk_lane_copy(rk_lanes *lanes, struct lane *lane, uint8_t *pixels, uint8_t *ram) {
    const rk_plan *plan = &lanes->plan;
    const rk_batch *batch = &lanes->batch;
    const size_t row = (size_t)lane->row;
    const size_t picture = (size_t)plan->width * plan->height * plan->channels * plan->stack;
    const size_t bytes = plan->ram_size * (plan->ram_floats ? sizeof(float) : 1) * plan->stack;
    if (pixels) memcpy(pixels + row * picture, batch->pixels + row * picture, picture);
    if (ram) memcpy(ram + row * bytes, batch->ram + row * bytes, bytes);
}

/* Put the observation that ended an episode aside, before the next one overwrites it. */
void rk_lane_put_aside(rk_lanes *lanes, struct lane *lane) {
    const rk_batch *batch = &lanes->batch;
    const size_t row = (size_t)lane->row, variables = (size_t)lanes->plan.program.n_variables;
    rk_lane_copy(lanes, lane, batch->final_pixels, batch->final_ram);
    memcpy(batch->final_values + row * variables, lane->values, variables * sizeof(int64_t));
    batch->finals[row] = lane->result;
}

/* host->fresh tells of the frame that ran last; here the picture shown last will do. */
int rk_lane_frame_size(rk_lanes *lanes, int row, uint32_t *width, uint32_t *height) {
    rk_host *host = lanes->lanes[row].host;
    if (!lanes->plan.keep) return rk_fail("no picture is kept: nobody asked to render");
    if (host->picture && !host->stale) host->fresh = true;
    return rk_frame_size(host, width, height);
}

int rk_lane_frame(rk_lanes *lanes, int row, uint8_t *out, uint32_t width, uint32_t height) {
    return rk_frame(lanes->lanes[row].host, out, width, height, 3);
}
