/* Memory that is written to in every way: line after line of 64 bytes is left alone, changed in a
 * few bytes (some of them there and back), in many, or in all. */
#include "fake.h"

void step(void) {
    put32(0, frames() + 1);
    uint32_t luck = frames() * 2654435761u;
    for (unsigned i = 8; i < RAM_BYTES; i++) {
        luck = luck * 1664525u + 1013904223u;
        unsigned line = i / 64, way = (line + frames() / 16) % 5, many[] = {0, 12, 100, 250, 256};
        if (luck >> 24 >= many[way]) continue;
        if (way == 4) game.ram[i]++;
        else if (i % 3) game.ram[i] ^= 1;
        else game.ram[i] = (uint8_t)(luck >> 16);
    }
}
