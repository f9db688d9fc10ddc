/* Options declared in one FORM: 0, 1, 2 by version, 3 and 4 for translated v1 and v2; asks for them in
 * load_game and again whenever told of a change, and compares without looking at the answer. */
#include "fake.h"
#ifndef FORM
#define FORM 0
#endif
void declare(void) {
    static struct variable v0[] = {{"fake_speed", "Speed; normal|fast|slow"}, {"fake_odd", NULL}, {0}};
    static struct option_v1 v1[] = {
        {"fake_speed", "Speed", "How fast", {{"slow", 0}, {"normal", 0}, {"fast", "Fast!"}}, "normal"},
        {"fake_odd", "No default", 0, {{"first", 0}, {"second", 0}}, 0}, {0}};
    static struct option_v2 v2[] = {
        {"fake_speed", "Speed", 0, "How fast", 0, 0, {{"slow", 0}, {"normal", 0}, {"fast", 0}}, "normal"},
        {"fake_odd", "No default", 0, 0, 0, 0, {{"first", 0}, {"second", 0}}, 0}, {0}};
    struct options_v2 all = {NULL, v2};
    struct options_v1_intl intl1 = {v1, NULL};
    struct options_v2_intl intl2 = {&all, NULL};
    const unsigned commands[] = {SET_VARIABLES, SET_CORE_OPTIONS, SET_CORE_OPTIONS_V2,
                                 SET_CORE_OPTIONS_INTL, SET_CORE_OPTIONS_V2_INTL};
    void *data[] = {v0, v1, &all, &intl1, &intl2};
    unsigned version = 0;
    if (env(GET_CORE_OPTIONS_VERSION, &version) && version >= 2) env(commands[FORM], data[FORM]);
}
static void ask(void) {
    const char *keys[] = {"fake_speed", "fake_odd", "fake_undeclared"};
    char line[128] = "";
    for (int i = 0; i < 3; i++) {
        struct variable v = {keys[i], NULL};
        bool answered = env(GET_VARIABLE, &v);
        if (!strcmp(v.value, "turbo")) strcat(line, "TURBO "); /* dies of a null value */
        strcat(line, answered ? "yes:" : "no:"), strcat(line, v.value), strcat(line, " ");
    }
    log_line(line);
}
bool load(const struct game_info *content) { return ask(), content != NULL; }
void step(void) {
    bool changed = false;
    if (env(GET_VARIABLE_UPDATE, &changed) && changed) ask();
    put32(0, frames() + 1);
    if (frames() == 20) env(SET_VARIABLE, &(struct variable){"fake_speed", "slow"});
}
