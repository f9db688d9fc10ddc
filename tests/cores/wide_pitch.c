/* Rows twice as far apart as they are wide, the gaps full of noise and the last one unreadable;
 * every fourth frame has rows that overlap, or no size at all: not a picture. */
#include "fake.h"
#include <sys/mman.h>
#define PAGE 4096
enum { BYTES = (2 * HEIGHT - 1) * WIDTH * 2, ROOM = (BYTES + PAGE - 1) / PAGE * PAGE };
static uint8_t *block;
void retro_init(void) {
    block = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(block + ROOM, PAGE, PROT_NONE);
    memset(block, 0xEE, ROOM);
}
void retro_deinit(void) { munmap(block, ROOM + PAGE); }
void draw(void) {
    uint16_t *frame = (void *)(block + ROOM - BYTES);
    if (frames() % 4 == 2) return video(frame, WIDTH, HEIGHT, WIDTH);
    if (frames() % 4 == 3) return video(frame, 0, 0, 0);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) frame[y * 2 * WIDTH + x] = (uint16_t)(y * WIDTH + x);
    video(frame, WIDTH, HEIGHT, 4 * WIDTH);
}
