/* The well-behaved core: counts frames and presses of B in 5,120 bytes of RAM. */
#include "fake.h"

#define WEAK __attribute__((weak))

environment_t env;
video_refresh_t video;
input_poll_t poll;
input_state_t input;
struct game game;
uint16_t pixels[WIDTH * HEIGHT];

void put32(unsigned offset, uint32_t value) { memcpy(game.ram + offset, &value, 4); }

uint32_t frames(void) {
    uint32_t value;
    memcpy(&value, game.ram, 4);
    return value;
}

void log_line(const char *text) {
    struct log_interface logger = {NULL};
    if (env(GET_LOG_INTERFACE, &logger)) logger.log(1, "%s\n", text);
}

WEAK void declare(void) {}
WEAK bool load(const struct game_info *content) { return content != NULL; }

WEAK void step(void) {
    unsigned held = 0;
    for (unsigned id = 0; id < 16; id++) held |= (unsigned)(input(0, DEVICE_JOYPAD, 0, id) != 0) << id;
    uint32_t points;
    memcpy(&points, game.ram + 4, 4);
    put32(0, frames() + 1);
    put32(4, points + (held & 1));
    game.ram[8] = (uint8_t)held;
}

WEAK void draw(void) {
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (uint16_t)(i * 13 + frames() * 7);
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}

WEAK void retro_set_environment(environment_t callback) {
    env = callback;
    declare();
}
WEAK void retro_set_video_refresh(video_refresh_t callback) { video = callback; }
WEAK void retro_set_audio_sample(audio_sample_t callback) { (void)callback; }
WEAK void retro_set_audio_sample_batch(audio_batch_t callback) { (void)callback; }
WEAK void retro_set_input_poll(input_poll_t callback) { poll = callback; }
WEAK void retro_set_input_state(input_state_t callback) { input = callback; }
WEAK void retro_init(void) {}
WEAK void retro_deinit(void) {}
WEAK unsigned retro_api_version(void) { return API_VERSION; }
WEAK void retro_get_system_info(struct system_info *info) {
    *info = (struct system_info){"Fake", "1", "bin|rom", false, false};
}
WEAK void retro_get_system_av_info(struct system_av_info *info) {
    *info = (struct system_av_info){{WIDTH, HEIGHT, WIDTH, HEIGHT, 4.0f / 3}, {60, 44100}};
}
WEAK void retro_set_controller_port_device(unsigned port, unsigned device) { (void)port, (void)device; }
WEAK void retro_reset(void) { memset(&game, 0, sizeof game); }
WEAK void retro_run(void) {
    poll();
    step();
    draw();
}
WEAK size_t retro_serialize_size(void) { return sizeof game; }
WEAK bool retro_serialize(void *data, size_t size) {
    if (size < sizeof game) return false;
    memcpy(data, &game, sizeof game);
    return true;
}
WEAK bool retro_unserialize(const void *data, size_t size) {
    if (size < sizeof game) return false;
    memcpy(&game, data, sizeof game);
    return true;
}
WEAK bool retro_load_game(const struct game_info *content) {
    int format = FORMAT_RGB565;
    env(SET_PIXEL_FORMAT, &format);
    return load(content);
}
WEAK void retro_unload_game(void) {}
WEAK void *retro_get_memory_data(unsigned id) { return id == 2 ? game.ram : NULL; }
WEAK size_t retro_get_memory_size(unsigned id) { return id == 2 ? sizeof game.ram : 0; }
