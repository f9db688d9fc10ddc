/* Shows each port's buttons in RAM: bit by bit at 16, by bitmask at 32; other devices at 48; what
 * port 0 holds during reset and unserialize at 50 and 52. */
#include "fake.h"
bool load(const struct game_info *content) {
    static const struct input_descriptor list[] = {{0, DEVICE_JOYPAD, 0, 8, "Jump"},
                                                   {1, DEVICE_JOYPAD, 0, 0, "Fire"}, {0}};
    unsigned users = 0;
    bool ok = env(SET_INPUT_DESCRIPTORS, (void *)list) && env(GET_INPUT_BITMASKS, NULL);
    return ok && env(GET_INPUT_MAX_USERS, &users) && users == 8 && content;
}
void step(void) {
    for (unsigned port = 0; port < 8; port++) {
        uint16_t bits = 0, mask = (uint16_t)input(port, DEVICE_JOYPAD, 0, JOYPAD_BITMASK);
        for (unsigned id = 0; id < 16; id++) bits |= (uint16_t)(input(port, DEVICE_JOYPAD, 0, id) << id);
        memcpy(game.ram + 16 + 2 * port, &bits, 2), memcpy(game.ram + 32 + 2 * port, &mask, 2);
    }
    int16_t others = input(9, DEVICE_JOYPAD, 0, 0) | input(0, 2, 0, 0) | input(0, DEVICE_JOYPAD, 1, 0) |
                     input(0, DEVICE_JOYPAD, 0, 99) | input(0, 5, 0, 0);
    memcpy(game.ram + 48, &others, 2);
}
static void held(unsigned offset) {
    uint16_t mask = (uint16_t)input(0, DEVICE_JOYPAD, 0, JOYPAD_BITMASK);
    memcpy(game.ram + offset, &mask, 2);
}
void retro_reset(void) { held(50); }
bool retro_unserialize(const void *data, size_t size) { return memcpy(&game, data, size), held(52), true; }
