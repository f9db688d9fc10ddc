/* A null frame first, as FBNeo; then a new picture only every second frame, as a 30 fps game; with
 * LATE, only from frame LATE on. */
#include "fake.h"
#ifndef LATE
#define LATE 0
#endif
void draw(void) {
    if (frames() == 1 || (frames() > LATE && frames() % 2)) return video(NULL, WIDTH, HEIGHT, 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (uint16_t)frames();
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
