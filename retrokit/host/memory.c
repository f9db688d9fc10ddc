/* Memory regions: named, fetched anew before every use because cores move and resize them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define MAP_BASE 256
#define MEMORY_IDS 8 /* 0-3 are defined; probe a few more so that nothing stays hidden */

static const char *id_name(int id) {
    static const char *names[] = {"SAVE_RAM", "RTC", "SYSTEM_RAM", "VIDEO_RAM"};
    return id < 4 ? names[id] : NULL;
}

static uint8_t *from_id(rk_host *host, int id, uint64_t *size) {
    rk_enter(host, CALL_MEMORY_SIZE);
    *size = host->retro.get_memory_size((unsigned)id);
    rk_leave(host);
    if (!*size) return NULL;
    rk_enter(host, CALL_MEMORY_DATA);
    uint8_t *data = host->retro.get_memory_data((unsigned)id);
    rk_leave(host);
    return data;
}

static uint8_t *from_state(rk_host *host, uint64_t *size) {
    size_t want = (size_t)rk_savestate_size(host); /* anew: it may change while a game runs */
    if (!want) return NULL;
    uint8_t *state = rk_grow(host->state, &host->state_size, want);
    if (!state) return NULL;
    host->state = state;
    *size = want;
    return rk_save(host, state, want) > 0 ? state : NULL;
}

uint8_t *rk_region_at(rk_host *host, int id, uint64_t *size) {
    *size = 0;
    if (!host->loaded) return NULL; /* Stella and mGBA die when asked before load */
    uint8_t *data = NULL;
    if (id == RK_SAVESTATE_REGION) data = from_state(host, size);
    else if (id < MAP_BASE) data = from_id(host, id, size);
    else if (id - MAP_BASE < host->n_maps) {
        const struct memory_descriptor *map = &host->maps[id - MAP_BASE];
        *size = map->size;
        data = map->data && map->size ? (uint8_t *)map->data + map->offset : NULL;
    }
    if (!data) *size = 0;
    return data;
}

int rk_regions(rk_host *host, rk_region *regions, int most) {
    int n = 0;
    for (int id = 0; id < MEMORY_IDS + host->n_maps && n < most; id++) {
        int real = id < MEMORY_IDS ? id : MAP_BASE + id - MEMORY_IDS;
        rk_region *r = &regions[n];
        *r = (rk_region){.id = real};
        r->data = rk_region_at(host, real, &r->size);
        if (!r->data) continue;
        if (real < MAP_BASE) {
            if (id_name(real)) snprintf(r->name, sizeof r->name, "%s", id_name(real));
            else snprintf(r->name, sizeof r->name, "MEMORY_%d", real);
        } else {
            const struct memory_descriptor *map = &host->maps[real - MAP_BASE];
            r->flags = map->flags, r->start = map->start;
            snprintf(r->name, sizeof r->name, "MAP_%s%zX",
                     map->address_space ? map->address_space : "", map->start);
        }
        n++;
    }
    return n;
}

int64_t rk_select(rk_host *host, const int *ids, int count) {
    if (count < 0 || count > REGIONS) return rk_fail("at most %d regions", REGIONS), -1;
    uint64_t total = 0;
    for (int i = 0; i < count; i++) {
        host->selected[i] = ids[i];
        rk_region_at(host, ids[i], &host->selected_size[i]);
        total += host->selected_size[i];
    }
    host->n_selected = count;
    uint8_t *scratch = realloc(host->scratch, total + 1);
    if (scratch) host->scratch = scratch;
    uint8_t *previous = realloc(host->previous, total + 1);
    if (previous) host->previous = previous;
    if (!scratch || !previous) return rk_fail("out of memory for %zu bytes", (size_t)total), -1;
    return (int64_t)total;
}

/* Copy the selected regions in one piece; a region that vanished reads as zeros. */
int rk_gather(rk_host *host, uint8_t *ram) {
    for (int i = 0; i < host->n_selected; i++) {
        uint64_t size, want = host->selected_size[i];
        const uint8_t *data = rk_region_at(host, host->selected[i], &size);
        uint64_t n = size < want ? size : want;
        if (data) memcpy(ram, data, n);
        memset(ram + n, 0, want - n);
        ram += want;
    }
    return 1;
}

/* The selected regions in one piece, valid until the core runs: where there is one, no copy. */
const uint8_t *rk_look(rk_host *host) {
    if (host->n_selected == 1) {
        uint64_t size;
        const uint8_t *data = rk_region_at(host, host->selected[0], &size);
        if (data && size >= host->selected_size[0]) return data;
    }
    rk_gather(host, host->scratch);
    return host->scratch;
}

void rk_keep(const uint8_t *ram, const int32_t *kept, uint32_t n, uint8_t *out) {
    for (uint32_t i = 0; i < n; i++) out[i] = ram[kept[i]];
}

int rk_read(rk_host *host, uint8_t *ram) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    return rk_gather(host, ram);
}

int rk_poke(rk_host *host, const int32_t *offsets, const uint8_t *values, int count) {
    if (!host->loaded) return rk_fail("nothing is loaded");
    uint64_t base = 0;
    for (int i = 0; i < host->n_selected; base += host->selected_size[i++]) {
        uint64_t size = 0;
        bool wrote = false;
        uint8_t *data = NULL;
        for (int k = 0; k < count; k++) {
            uint64_t at = (uint64_t)(int64_t)offsets[k] - base;
            if (offsets[k] < 0 || (uint64_t)offsets[k] < base || at >= host->selected_size[i]) continue;
            if (!data && !(data = rk_region_at(host, host->selected[i], &size)))
                return rk_fail("the region is not offered now");
            if (at < size) data[at] = values[k], wrote = true;
        }
        if (wrote && host->selected[i] == RK_SAVESTATE_REGION &&
            rk_restore(host, data, size) <= 0)
            return rk_fail("the core refused its own savestate with a byte changed");
    }
    return 1;
}
