/* An F, 5 x 7 pixels, lying so that it stands upright once turned by ROTATION quarter turns
 * counter-clockwise, in pixel FORMAT; from frame 10 on lying and turned by LATER instead. */
#include "fake.h"
static const char *rows[7] = {"#####", "#....", "#....", "####.", "#....", "#....", "#...."};
static unsigned turn = ROTATION;
static uint8_t picture[7 * 7 * 4];
bool load(const struct game_info *content) {
    int format = FORMAT;
    return env(SET_PIXEL_FORMAT, &format) && content;
}
void declare(void) { env(SET_ROTATION, &turn); }
void step(void) {
    put32(0, frames() + 1);
    if (frames() != 10) return;
    turn = LATER;
    env(SET_ROTATION, &turn);
}
static void put(int at, bool ink) {
    const uint32_t x8 = 0xFF000000u | (ink ? 0xFF8040 : 0x204080);
    const uint16_t x565 = ink ? 0xFC08 : 0x2210, x1555 = 0x8000 | (ink ? 0x7E08 : 0x1110);
    if (FORMAT == FORMAT_XRGB8888) memcpy(picture + 4 * at, &x8, 4);
    else memcpy(picture + 2 * at, FORMAT == FORMAT_RGB565 ? &x565 : &x1555, 2);
}
void draw(void) { /* turning clockwise by k, so that counter-clockwise by k undoes it */
    int w = turn % 2 ? 7 : 5, h = turn % 2 ? 5 : 7;
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 5; x++) {
            int px[4] = {x, 6 - y, 4 - x, y}, py[4] = {y, x, 6 - y, 4 - x};
            put(py[turn] * w + px[turn], rows[y][x] == '#');
        }
    video(picture, (unsigned)w, (unsigned)h, (size_t)w * (FORMAT == FORMAT_XRGB8888 ? 4 : 2));
}
