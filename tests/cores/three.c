/* A game of LENGTH frames a life and LIVES lives, begun by START. A frame of play scores 5, and 1
 * more while B is held. After the end its demo scores 100 a frame, which nobody must be paid.
 * RAM: 0-3 frames; 4 mode (0 title, 1 play, 2 over); 5 lives; 6-7 score, most significant first;
 * 9 buttons of this frame; 10 the frame's number again, its last bits; 12-15 frames of this life. */
#include "fake.h"

#ifndef LENGTH
#define LENGTH 4
#endif
#ifndef LIVES
#define LIVES 1
#endif
enum { MODE = 4, LEFT, SCORE, HELD = 9, SHOWN, TIME = 12 };

static void score(unsigned points) {
    unsigned total = (unsigned)game.ram[SCORE] << 8 | game.ram[SCORE + 1];
    total += points;
    game.ram[SCORE] = (uint8_t)(total >> 8), game.ram[SCORE + 1] = (uint8_t)total;
}

void step(void) {
    uint8_t *ram = game.ram;
    unsigned held = 0;
    for (unsigned id = 0; id < 16; id++) held |= (unsigned)(input(0, DEVICE_JOYPAD, 0, id) != 0) << id;
    put32(0, frames() + 1);
    ram[HELD] = (uint8_t)held, ram[SHOWN] = (uint8_t)frames();
    if (ram[MODE] == 1) {
        score(5 + (held & 1));
        uint32_t time;
        memcpy(&time, ram + TIME, 4);
        put32(TIME, ++time);
        if (time == LENGTH) {
            put32(TIME, 0);
            if (!--ram[LEFT]) ram[MODE] = 2;
        }
    } else if (held >> 3 & 1) {
        ram[MODE] = 1, ram[LEFT] = LIVES, ram[SCORE] = ram[SCORE + 1] = 0;
        put32(TIME, 0);
    } else if (ram[MODE] == 2) {
        score(100);
    }
}

void draw(void) {
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (uint16_t)(frames() * 0x0821 + i % WIDTH);
#ifdef AV
    int flags = 0;
    if (env(GET_AUDIO_VIDEO_ENABLE, &flags) && !(flags & 1)) return video(NULL, WIDTH, HEIGHT, 0);
#endif
#ifdef DUPES
    if (frames() % 2) return video(NULL, WIDTH, HEIGHT, 0);
#endif
    video(pixels, WIDTH, HEIGHT, WIDTH * 2);
}
