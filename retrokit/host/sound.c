/* What a core plays, kept where somebody listens. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define MOST (1u << 20) /* samples: more than 20 seconds that nobody fetched are not kept */

size_t rk_audio_batch(const int16_t *data, size_t frames) {
    rk_host *host = rk_current;
    if (!host || !host->sound.on || !data) return frames;
    struct sound *sound = &host->sound;
    const size_t take = frames < MOST - sound->count ? frames : MOST - sound->count;
    int16_t *more = rk_grow(sound->samples, &sound->bytes, (sound->count + take) * 2 * sizeof *more);
    if (!more) return frames;
    memcpy(more + sound->count * 2, data, take * 2 * sizeof *more);
    sound->samples = more;
    sound->count += take;
    return frames;
}

void rk_audio_sample(int16_t left, int16_t right) {
    const int16_t pair[2] = {left, right};
    rk_audio_batch(pair, 1);
}

void rk_hear(rk_host *host, int on) {
    host->sound.on = on;
    host->sound.count = 0;
    rk_set_av(host, on ? 3 : 9, on ? 2 : 8);
}

int64_t rk_sound(rk_host *host, int16_t *out) {
    const size_t count = host->sound.count;
    if (out) {
        memcpy(out, host->sound.samples, count * 2 * sizeof *out);
        host->sound.count = 0;
    }
    return (int64_t)count;
}
