/* Logs with arguments of every kind, with a null format, a wild level and 600 lines. */
#include "fake.h"
bool load(const struct game_info *content) {
    struct log_interface logger;
    if (!env(GET_LOG_INTERFACE, &logger)) return false;
    for (int i = 0; i < 400; i++) logger.log(0, "line %d", i);
    logger.log(2, "%d %s %.2f %llx %c\n", -7, "words", 2.5, 0x123456789abcULL, 'z');
    logger.log(1, NULL);
    logger.log(99, "%0600d", 1);
    logger.log(3, "two\nlines\n\n");
    struct message text = {"a message", 60};
    env(SET_MESSAGE, &text);
    return content != NULL;
}
