/* Runs without content. */
#include "fake.h"
void declare(void) { env(SET_SUPPORT_NO_GAME, &(bool){true}); }
bool load(const struct game_info *content) { return !content; }
