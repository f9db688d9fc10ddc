/* Savestates as memory, without making one each time. The bytes that a game's facts name are searched
 * in the core's own data and read there. That they are the savestate's is checked, always at first and
 * now and then for good. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include "internal.h"

#define TRIAL 120   /* looks in a row that must agree with the savestate */
#define CHECK 1024  /* looks from one comparison to the next */
#define SEARCHES 8  /* at most, so many looks apart: */
#define APART 16
#define AROUND 64   /* bytes that must lie beside those that are named, on one side at least */

struct search { uintptr_t at; const uint8_t *wanted, *found; size_t n; int hits; };

static int search_data(struct dl_phdr_info *info, size_t size, void *of) {
    struct search *search = of;
    (void)size;
    if (info->dlpi_addr != search->at) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W)) continue;
        const uint8_t *from = (const uint8_t *)(info->dlpi_addr + part->p_vaddr), *end = from + part->p_memsz;
        while ((from = memmem(from, (size_t)(end - from), search->wanted, search->n)))
            search->found = from++, search->hits++;
    }
    return 1;
}

/* The one place in the core's data that looks like this part of the savestate; NULL where none or
 * several do. Heaps are left out: other cores' are there too, and alike. */
static const uint8_t *only_place(rk_host *host, const uint8_t *part, size_t n) {
    struct link_map *map;
    if (dlinfo(host->image, RTLD_DI_LINKMAP, &map)) return NULL;
    struct search search = {map->l_addr, part, NULL, n, 0};
    dl_iterate_phdr(search_data, &search);
    return search.hits == 1 ? search.found : NULL;
}

static void search(rk_host *host, const uint8_t *state, uint64_t size) {
    struct live *live = &host->live;
    if (live->last >= size) return;
    uint64_t before = live->first < AROUND ? live->first : AROUND;
    uint64_t after = size - 1 - live->last < AROUND ? size - 1 - live->last : AROUND;
    const uint64_t sides[][2] = {{before, after}, {0, after}, {before, 0}};
    for (int i = 0; i < 3 && !live->base; i++) {
        uint64_t start = live->first - sides[i][0], stop = live->last + 1 + sides[i][1];
        const uint8_t *at = only_place(host, state + start, stop - start);
        if (at) live->base = at - start;
    }
    live->size = size, live->looks = 0;
}

/* The savestate as memory: of its bytes only those of `live` may be read, from `first` to `last`. */
const uint8_t *rk_live_state(rk_host *host, uint64_t *size) {
    struct live *live = &host->live;
    bool trusted = live->base && live->looks >= TRIAL;
    if (trusted && live->looks++ % CHECK) return *size = live->size, live->base;
    const uint8_t *state = rk_region_at(host, RK_SAVESTATE_REGION, size);
    if (!state || !live->wanted) return state;
    if (!live->base) {
        if (live->tried / APART < SEARCHES && live->tried++ % APART == 0) search(host, state, *size);
    } else if (*size == live->size && !memcmp(live->base + live->first, state + live->first,
                                              live->last + 1 - live->first)) {
        live->looks += !trusted;
    } else {
        live->base = NULL;
        live->moved = trusted, live->wanted = !trusted;
    }
    return state;
}
