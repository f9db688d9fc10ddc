/* Refuses whatever it is given, and logs why. */
#include "fake.h"
bool load(const struct game_info *content) {
    (void)content;
    struct log_interface logger;
    if (env(GET_LOG_INTERFACE, &logger)) logger.log(3, "no such board\n");
    return false;
}
