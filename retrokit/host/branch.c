/* Discovery's two workhorses, whole loops in C: record one button log, compare many futures. */
#include "internal.h"

int rk_record(rk_host *host, uint32_t frames, const uint16_t *buttons, const int32_t *kept,
              uint32_t n_kept, uint8_t *ram, uint32_t every, uint16_t *pictures, uint32_t width,
              uint32_t height) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    for (uint32_t f = 0; f < frames; f++) {
        bool see = pictures && every && (f + 1) % every == 0;
        rk_press(host, buttons[f]);
        rk_step(host, see);
        if (ram) rk_keep(rk_look(host), kept, n_kept, ram + (size_t)f * n_kept);
        if (see) rk_picture_565(host, pictures + (size_t)(f / every) * width * height, width, height);
    }
    return 1;
}

int rk_branch(rk_host *host, const uint8_t *state, size_t size, uint32_t branches, uint32_t frames,
              const uint16_t *buttons, int shared_buttons, uint32_t pokes, const int32_t *offsets,
              const uint8_t *values, uint32_t n_captures, const uint32_t *captures,
              const int32_t *kept, uint32_t n_kept, uint8_t *ram, uint64_t *hashes,
              uint16_t *pictures, uint32_t width, uint32_t height) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    for (uint32_t b = 0; b < branches; b++) {
        if (rk_restore(host, state, size) <= 0) return 0;
        if (pokes && rk_poke(host, offsets + (size_t)b * pokes, values + (size_t)b * pokes, (int)pokes) <= 0)
            return 0;
        const uint16_t *log = shared_buttons ? buttons : buttons + (size_t)b * frames;
        uint32_t f = 0;
        for (uint32_t c = 0; c < n_captures; c++) {
            for (; f < captures[c]; f++) {
                rk_press(host, log[f]);
                rk_step(host, (hashes || pictures) && f + 1 == captures[c]);
            }
            size_t at = (size_t)b * n_captures + c;
            if (ram) rk_keep(rk_look(host), kept, n_kept, ram + at * n_kept);
            if (hashes) hashes[at] = rk_picture_hash(host);
            if (pictures) rk_picture_565(host, pictures + at * width * height, width, height);
        }
    }
    return 1;
}
