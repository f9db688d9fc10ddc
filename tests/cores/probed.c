/* One vice by HOW, each an answer of probe-core. */
#include "fake.h"
#include <unistd.h>
enum { UNREPEATABLE = 1, SHARES_RAND, HATES_FORK, FROZEN, FORGETS, RESTORED_DIFFERS, DIES_CLOSING,
       DIES_SAVING };
static pid_t home;
static uint32_t hidden, restored;

bool load(const struct game_info *content) {
    home = getpid();
    return content != NULL;
}
void step(void) {
    if (HOW == FROZEN) return;
    put32(0, frames() + 1);
    if (HOW == UNREPEATABLE) put32(16, (uint32_t)home);
    if (HOW == SHARES_RAND) put32(16, (uint32_t)rand());
    if (HOW == HATES_FORK && getpid() != home) abort();
    if (HOW == FORGETS) put32(16, ++hidden);
    if (HOW == RESTORED_DIFFERS) put32(16, restored);
}
bool retro_serialize(void *data, size_t size) {
    if (HOW == DIES_SAVING) log_line("saving"), abort();
    return memcpy(data, &game, size), true;
}
bool retro_unserialize(const void *data, size_t size) {
    restored = 0x01020304;
    return memcpy(&game, data, size), true;
}
void retro_deinit(void) {
    if (HOW == DIES_CLOSING) abort();
}
