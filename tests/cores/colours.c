/* Every colour of 16 bits, or as many of 32 from all over, in rows of odd length in pixel FORMAT. */
#include "fake.h"
enum { ACROSS = 517, LINES = 127 };
static uint32_t wide[ACROSS * LINES];
static uint16_t narrow[ACROSS * LINES];
bool load(const struct game_info *content) {
    int format = FORMAT;
    return env(SET_PIXEL_FORMAT, &format) && content;
}
void draw(void) {
    for (uint32_t i = 0; i < ACROSS * LINES; i++) wide[i] = i * 0x9e3779b1u, narrow[i] = (uint16_t)i;
    if (FORMAT == FORMAT_XRGB8888) video(wide, ACROSS, LINES, ACROSS * 4);
    else video(narrow, ACROSS, LINES, ACROSS * 2);
}
