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

static struct part convert(rk_lanes *lanes, rk_host *host, uint8_t **room, size_t *bytes) {
    struct part part = uncut(host, &lanes->plan);
    int channels = (int)lanes->plan.channels;
    uint8_t *more = rk_grow(*room, bytes, (size_t)part.width * part.height * (size_t)channels);
    if (!more) return (struct part){0};
    *room = more;
    rk_convert(host, part, channels, more);
    return part;
}

/* Keep the frame before the last. */
void rk_lane_keep(rk_lanes *lanes, struct lane *lane) {
    struct part part = convert(lanes, lane->host, &lane->earlier, &lane->earlier_bytes);
    lane->earlier_width = part.width, lane->earlier_height = part.height;
}

static void brighter(uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
}

static int draw(rk_lanes *lanes, struct lane *lane, uint8_t *out) {
    const rk_plan *plan = &lanes->plan;
    struct part part = convert(lanes, lane->host, &lane->whole, &lane->whole_bytes);
    if (!part.width) return rk_fail("out of memory for a picture");
    if (part.width == lane->earlier_width && part.height == lane->earlier_height)
        brighter(lane->whole, lane->earlier, (size_t)part.width * part.height * plan->channels);
    return rk_fit(lane->host, lane->whole, part.width, part.height, out, plan->width, plan->height,
                  (int)plan->channels);
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

/* Observe into the lane's row. `shown`: the last frame was drawn; otherwise the picture before it
 * stays the newest. `first`: of an episode, which fills the whole stack. */
int rk_lane_observe(rk_lanes *lanes, struct lane *lane, bool shown, bool first) {
    const rk_plan *plan = &lanes->plan;
    const size_t row = (size_t)lane->row, places = plan->stack;
    const size_t picture = (size_t)plan->width * plan->height * plan->channels;
    const size_t ram = plan->ram_size * (plan->ram_floats ? sizeof(float) : 1);
    if (picture) {
        uint8_t *stack = lanes->batch.pixels + row * places * picture;
        uint8_t *newest = push(stack, picture, plan->stack);
        if (shown && !draw(lanes, lane, newest)) return 0;
        if (!shown && places > 1) memcpy(newest, newest - picture, picture);
        if (first) fill(stack, picture, plan->stack);
    }
    if (ram) {
        uint8_t *stack = lanes->batch.ram + row * places * ram;
        read_ram(lanes, lane, push(stack, ram, plan->stack));
        if (first) fill(stack, ram, plan->stack);
    }
    lane->earlier_width = 0;
    return 1;
}

/* Put the observation that ended an episode aside, before the next one overwrites it. */
void rk_lane_put_aside(rk_lanes *lanes, struct lane *lane) {
    const rk_plan *plan = &lanes->plan;
    const rk_batch *batch = &lanes->batch;
    const size_t row = (size_t)lane->row, variables = (size_t)plan->program.n_variables;
    const size_t picture = (size_t)plan->width * plan->height * plan->channels * plan->stack;
    const size_t ram = plan->ram_size * (plan->ram_floats ? sizeof(float) : 1) * plan->stack;
    if (picture) memcpy(batch->final_pixels + row * picture, batch->pixels + row * picture, picture);
    if (ram) memcpy(batch->final_ram + row * ram, batch->ram + row * ram, ram);
    memcpy(batch->final_values + row * variables, lane->values, variables * sizeof(int64_t));
    batch->finals[row] = lane->result;
}

/* host->fresh tells of the frame that ran last; here the picture shown last will do. */
int rk_lane_frame_size(rk_lanes *lanes, int row, uint32_t *width, uint32_t *height) {
    rk_host *host = lanes->lanes[row].host;
    if (host->picture && !host->stale) host->fresh = true;
    return rk_frame_size(host, width, height);
}

int rk_lane_frame(rk_lanes *lanes, int row, uint8_t *out, uint32_t width, uint32_t height) {
    return rk_frame(lanes->lanes[row].host, out, width, height, 3);
}
