/* Aborts when anything is called out of order. */
#include "fake.h"
static enum { FRESH, TOLD, READY, LOADED, GONE } life;
static bool has_video, has_audio, has_batch, has_poll, has_input, has_info;
static void want(bool right, const char *call) {
    if (right) return;
    fprintf(stderr, "%s out of order\n", call);
    abort();
}
void retro_set_environment(environment_t callback) { want(life == FRESH, __func__), env = callback, life = TOLD; }
void retro_init(void) { want(life == TOLD, __func__), life = READY; }
void retro_set_video_refresh(video_refresh_t callback) { video = callback, has_video = true; }
void retro_set_audio_sample(void *callback) { has_audio = callback; }
void retro_set_audio_sample_batch(audio_batch_t callback) { has_batch = callback; }
void retro_set_input_poll(input_poll_t callback) { poll = callback, has_poll = true; }
void retro_set_input_state(input_state_t callback) { input = callback, has_input = true; }
bool retro_load_game(const struct game_info *content) {
    want(life == READY && content, __func__);
    if (!content->size) return false;
    life = LOADED;
    return true;
}
void retro_get_system_av_info(struct system_av_info *info) {
    want(life == LOADED && !has_info, __func__); /* once: each call costs FBNeo a picture */
    has_info = true;
    *info = (struct system_av_info){{WIDTH, HEIGHT, WIDTH, HEIGHT, 0}, {60, 44100}};
}
void retro_set_controller_port_device(unsigned port, unsigned device) {
    want(life == LOADED && port < 8 && device == DEVICE_JOYPAD, __func__);
}
void retro_reset(void) { want(life == LOADED, __func__); }
void retro_run(void) {
    want(life == LOADED && has_info, __func__);
    want(has_video && has_audio && has_batch && has_poll && has_input, "retro_set_*");
    poll();
    draw();
}
size_t retro_serialize_size(void) { return want(life == LOADED, __func__), sizeof game; }
bool retro_serialize(void *data, size_t size) {
    want(life == LOADED && size == sizeof game, __func__);
    return memcpy(data, &game, size), true;
}
bool retro_unserialize(const void *data, size_t size) {
    want(life == LOADED && size == sizeof game, __func__);
    return memcpy(&game, data, size), true;
}
void *retro_get_memory_data(unsigned id) { return want(life == LOADED, __func__), id == 2 ? game.ram : NULL; }
size_t retro_get_memory_size(unsigned id) { return want(life == LOADED, __func__), id == 2 ? RAM_BYTES : 0; }
void retro_unload_game(void) { want(life == LOADED, __func__), life = READY; }
void retro_deinit(void) { want(life == READY, __func__), life = GONE; }
