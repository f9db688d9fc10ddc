/* 192 lines until frame 100, 224 from then on; at frame 200 XRGB8888 instead of RGB565. */
#include "fake.h"
static uint32_t wide[256 * 224];
void retro_get_system_av_info(struct system_av_info *info) {
    *info = (struct system_av_info){{256, 192, 256, 224, 0}, {60, 44100}};
}
void step(void) {
    put32(0, frames() + 1);
    if (frames() == 100) env(SET_GEOMETRY, &(struct game_geometry){256, 224, 256, 224, 1.5f});
}
void draw(void) {
    unsigned height = frames() < 100 ? 192 : 224;
    memset(wide, 0x10, sizeof wide);
    if (frames() >= 200) return video(wide, 256, height, 1024);
    video(wide, 256, height, 512);
    int format = FORMAT_XRGB8888; /* the picture that was just delivered is RGB565 all the same */
    if (frames() == 199) env(SET_PIXEL_FORMAT, &format);
}
