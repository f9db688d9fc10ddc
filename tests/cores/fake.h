/* What the fake cores share. fake.c is a whole, well-behaved core: a counter game; each other file
 * is linked with it and overrides the one thing in which that core behaves differently. */
#ifndef FAKE_H
#define FAKE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "libretro.h"

#ifndef RAM_BYTES
#define RAM_BYTES 5120
#endif
#define WIDTH 64
#ifndef HEIGHT
#define HEIGHT 48
#endif

struct game { /* the whole state of the counter game */
    uint8_t ram[RAM_BYTES]; /* 0-3 frames, 4-7 points of button B, 8 buttons of port 0 (low byte) */
};

extern environment_t env;
extern video_refresh_t video;
extern input_poll_t poll;
extern input_state_t input;
extern struct game game;
extern uint16_t pixels[WIDTH * HEIGHT]; /* RGB565 */

/* Overridable steps of the well-behaved core. */
void declare(void);                             /* inside retro_set_environment */
bool load(const struct game_info *content);     /* inside retro_load_game */
void step(void);                                /* inside retro_run: the game, before drawing */
void draw(void);                                /* inside retro_run: deliver the picture */

uint32_t frames(void);
void log_line(const char *text);
void put32(unsigned offset, uint32_t value);
#endif
