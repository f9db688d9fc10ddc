/* The counter game in another version. */
#include "fake.h"
void retro_get_system_info(struct system_info *info) {
    *info = (struct system_info){"Fake", "2", "bin", false, false};
}
