/* Draws only when asked to; RAM 16 counts the drawings, 20 keeps the latest flags. */
#include "fake.h"
static uint32_t drawn;
void draw(void) {
    int flags = 0;
    if (!env(GET_AUDIO_VIDEO_ENABLE, &flags)) abort();
    put32(20, (uint32_t)flags);
    if (!(flags & 1)) return video(NULL, WIDTH, HEIGHT, 0);
    put32(16, ++drawn);
    for (int i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (uint16_t)frames();
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
