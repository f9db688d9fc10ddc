/* One lane: a core and its episode, from the savestate to the end. Nothing here enters Python. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "episode.h"

#define PICTURE_WAIT 120 /* frames that a core may take to show a picture after a restore */

/* splitmix64: small, fast, and any state is a good one. */
static uint64_t draw(struct lane *lane) {
    uint64_t z = lane->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t draw_below(struct lane *lane, uint32_t n) { return (uint32_t)((draw(lane) >> 32) * n >> 32); }

static bool draw_chance(struct lane *lane, double chance) {
    return (double)(draw(lane) >> 11) * 0x1p-53 < chance;
}

/* The program's regions, as they are now: cores move their memory. The savestate, used as memory,
 * may cost a serialisation each time, and so does nothing that is not asked for. */
static void look(rk_lanes *lanes, struct lane *lane, bool ruled) {
    const rk_program *program = &lanes->plan.program;
    if (ruled && !program->n_ops) return;
    for (int32_t r = 0; r < program->n_regions; r++) {
        rk_view *view = &lane->views[r];
        if (program->regions[r] == RK_SAVESTATE_REGION) view->data = rk_live_state(lane->host, &view->size);
        else view->data = rk_region_at(lane->host, program->regions[r], &view->size);
    }
}

/* Run a frame and say whether the game is over with it. */
static bool run(rk_lanes *lanes, struct lane *lane, uint16_t buttons, bool see, int64_t *values) {
    rk_press(lane->host, buttons);
    rk_step(lane->host, see);
    lane->log.buttons[lane->result.frame++] = buttons;
    look(lanes, lane, true);
    rk_ruled_values(&lanes->plan.program, lane->views, values);
    return rk_rule(&lanes->plan.program, values, lane->held);
}

static void read_values(rk_lanes *lanes, struct lane *lane, int64_t *values) {
    look(lanes, lane, false);
    rk_values(&lanes->plan.program, lane->views, values);
}

static bool has_picture(const rk_host *host) { return host->width && !host->stale; }

/* A paddle that no savestate holds is driven home first, and the start restored again. */
static int enter(rk_lanes *lanes, struct lane *lane, const struct start *start) {
    const rk_plan *plan = &lanes->plan;
    for (uint32_t f = 0; f < plan->n_home; f++) {
        if (!f && rk_restore(lane->host, start->state, start->size) <= 0) return 0;
        rk_press(lane->host, plan->home[f]);
        rk_step(lane->host, false);
    }
    return rk_restore(lane->host, start->state, start->size);
}

/* Restore, and wait for `waits` frames; then until there is a picture, where one is wanted. */
static int restore(rk_lanes *lanes, struct lane *lane, int number, uint32_t waits, bool *over) {
    int64_t ruled[lanes->plan.program.n_variables];
    if (enter(lanes, lane, &lanes->starts[number]) <= 0) return 0;
    memset(lane->held, 0, sizeof *lane->held * (size_t)lanes->plan.program.n_held);
    lane->result = (rk_result){0};
    *over = false;
    for (uint32_t f = 0; f < waits && !*over; f++)
        *over = run(lanes, lane, 0, lanes->plan.show && f + 1 == waits, ruled);
    for (int f = 0; f < PICTURE_WAIT && !*over && lanes->plan.show && !has_picture(lane->host); f++)
        *over = run(lanes, lane, 0, true, ruled);
    return *over || !lanes->plan.show || has_picture(lane->host) ||
           rk_fail("no picture in %d frames after the start", PICTURE_WAIT);
}

static int begin_game(rk_lanes *lanes, struct lane *lane, int32_t chosen) {
    lane->log.then = lane->random, lane->log.chosen = chosen, lane->log.n_actions = 0;
    uint32_t waits = 1 + (lanes->plan.noops ? draw_below(lane, lanes->plan.noops + 1) : 0);
    int number = chosen;
    if (chosen < 0) number = lanes->n_starts > 1 ? (int)draw_below(lane, (uint32_t)lanes->n_starts) : 0;
    lane->log.start = number, lane->log.known = true;
    bool over;
    if (!rk_log_room(lane, waits + PICTURE_WAIT)) return 0;
    if (!restore(lanes, lane, number, waits, &over)) return 0;
    if (over && waits > 1 && !restore(lanes, lane, number, 1, &over)) return 0;
    return !over || rk_fail("the game is over %d frames after its start", (int)lane->result.frame);
}

/* The next life of a game that goes on; false: it was over before anybody could act. */
static bool next_life(rk_lanes *lanes, struct lane *lane) {
    int64_t ruled[lanes->plan.program.n_variables];
    lane->log.actions[lane->log.n_actions++] = RK_NEXT_LIFE;
    return !run(lanes, lane, 0, lanes->plan.show, ruled);
}

static int reset(rk_lanes *lanes, struct lane *lane, bool fresh, int32_t chosen) {
    const size_t bytes = sizeof(int64_t) * (size_t)lanes->plan.program.n_variables;
    bool goes_on = lane->goes_on && !fresh && next_life(lanes, lane);
    if (!goes_on && !begin_game(lanes, lane, chosen)) return 0;
    read_values(lanes, lane, lane->values);
    memset(lane->gained, 0, bytes), memset(lane->best, 0, bytes);
    lane->stalled = 0, lane->buttons = 0;
    lane->reset_due = lane->goes_on = lane->lost = false;
    rk_result *result = &lane->result;
    result->reward = result->raw_reward = 0;
    result->terminated = result->truncated = result->ended = RK_ENDED_NOT;
    return rk_lane_observe(lanes, lane, 1, true);
}

static double reward(rk_lanes *lanes, struct lane *lane, const int64_t *now) {
    const rk_plan *plan = &lanes->plan;
    double total = 0;
    bool progress = false;
    for (int32_t v = 0; v < plan->program.n_variables; v++) {
        int64_t gain = rk_gain(&plan->program.variables[v], lane->values[v], now[v]);
        total += plan->weights[v] * (double)gain;
        if (v == plan->score) lane->result.raw_reward = (double)gain;
        lane->gained[v] += gain;
        if (plan->progress[v] && lane->gained[v] > lane->best[v])
            lane->best[v] = lane->gained[v], progress = true;
    }
    lane->stalled = progress ? 0 : lane->stalled + 1;
    if (plan->clip) total = total > 1 ? 1 : total < -1 ? -1 : total;
    return total;
}

static uint8_t ending(const rk_plan *plan, const struct lane *lane, bool over, bool life_lost) {
    if (over) return RK_ENDED_RULE;
    if (plan->most_frames && lane->result.frame >= plan->most_frames) return RK_ENDED_FRAMES;
    if (plan->stall && lane->stalled >= plan->stall) return RK_ENDED_STALL;
    return life_lost ? RK_ENDED_LIFE : RK_ENDED_NOT;
}

static int step(rk_lanes *lanes, struct lane *lane, int32_t action) {
    const rk_plan *plan = &lanes->plan;
    const size_t variables = (size_t)plan->program.n_variables;
    rk_result *result = &lane->result;
    int64_t frames = plan->skip, now[variables];
    if (plan->most_frames && plan->most_frames - result->frame < frames)
        frames = plan->most_frames > result->frame ? plan->most_frames - result->frame : 1;
    if (!rk_log_room(lane, frames + 1)) return 0;
    lane->log.actions[lane->log.n_actions++] = action;
    bool over = false;
    int shown = 0; /* how many of the frames up to the last */
    for (int64_t f = 0; f < frames && !over; f++) {
        if (plan->sticky <= 0 || !draw_chance(lane, plan->sticky)) lane->buttons = plan->actions[action];
        bool before_last = plan->last_two && f + 2 == frames;
        bool see = plan->show && (f + 1 == frames || before_last);
        if (shown && plan->channels) rk_lane_keep(lane);
        over = run(lanes, lane, lane->buttons, see, now);
        shown = see ? shown + 1 : 0;
    }
    read_values(lanes, lane, now);
    result->reward = reward(lanes, lane, now);
    result->game_return += result->raw_reward;
    result->game_steps++;
    bool life_lost = plan->lives >= 0 && now[plan->lives] < lane->values[plan->lives];
    memcpy(lane->values, now, sizeof now);
    result->ended = ending(plan, lane, over, life_lost);
    result->truncated = result->ended == RK_ENDED_FRAMES || result->ended == RK_ENDED_STALL;
    result->terminated = result->ended && !result->truncated;
    if (result->ended == RK_ENDED_STALL) result->reward -= plan->stall_penalty;
    lane->reset_due = result->ended != RK_ENDED_NOT;
    lane->goes_on = result->ended == RK_ENDED_LIFE;
    return rk_lane_observe(lanes, lane, shown, false);
}

/* The row is of an episode that a core before this one played. */
static void inherit(rk_lanes *lanes, struct lane *lane) {
    const size_t variables = (size_t)lanes->plan.program.n_variables;
    const int i = lane->row;
    lane->log.known = false;
    lane->result = lanes->batch.results[i];
    memcpy(lane->values, lanes->batch.values + (size_t)i * variables, variables * sizeof(int64_t));
    lane->lost = lanes->plan.autoreset == 2 || !lane->result.ended;
    lane->reset_due = !lane->lost;
}

/* The step that tells of the loss: it shows what was shown last. */
static void lose(struct lane *lane) {
    rk_result *result = &lane->result;
    result->reward = result->raw_reward = 0;
    result->game_steps++;
    result->terminated = false, result->truncated = true, result->ended = RK_ENDED_CRASH;
    lane->lost = false, lane->reset_due = true;
}

/* The next episode in the step that ended the last: its first observation, the last one's reward. */
static int reset_at_once(rk_lanes *lanes, struct lane *lane) {
    rk_lane_put_aside(lanes, lane);
    const rk_result last = lane->result;
    if (!reset(lanes, lane, false, -1)) return 0;
    rk_result *row = &lanes->batch.results[lane->row];
    *row = lane->result;
    row->reward = last.reward;
    row->terminated = last.terminated, row->truncated = last.truncated, row->ended = last.ended;
    return 1;
}

/* The game that a log tells of, from its start; in the row is what the last step said. */
static int replay(rk_lanes *lanes, struct lane *lane, const rk_log *log) {
    if (!log->known) return lane->random = log->now, inherit(lanes, lane), 1;
    lane->random = log->then;
    if (!reset(lanes, lane, true, log->chosen)) return 0;
    for (uint64_t i = 0; i < log->n_actions; i++) {
        const int32_t action = log->actions[i];
        if (!(action == RK_NEXT_LIFE ? reset(lanes, lane, false, -1) : step(lanes, lane, action))) return 0;
    }
    return 1;
}

bool rk_rests(const rk_lanes *lanes, const struct lane *lane, int32_t action) {
    return action == RK_REST && lane->reset_due && !lanes->plan.autoreset;
}

static int work(rk_lanes *lanes, struct lane *lane) {
    const int i = lane->row, mode = lanes->plan.autoreset;
    rk_result *row = &lanes->batch.results[i];
    if (lanes->replayed) {
        if (!replay(lanes, lane, &lanes->replayed[i])) return 0;
    } else if (lanes->resets) {
        if (!lanes->asked[i]) return 1;
        if (lanes->seeds[i]) lane->random = lanes->seeds[i];
        if (lanes->asked[i] == 3) inherit(lanes, lane);
        else if (!reset(lanes, lane, lanes->asked[i] == 2, lanes->chosen[i])) return 0;
    } else if (lane->reset_due) {
        if (rk_rests(lanes, lane, lanes->actions[i])) return 1;
        if (mode != 1) return rk_fail("the episode has ended");
        if (!reset(lanes, lane, false, -1)) return 0;
    } else {
        if (lane->lost) lose(lane);
        else if (!step(lanes, lane, lanes->actions[i])) return 0;
        if (lane->reset_due && mode == 2) return reset_at_once(lanes, lane);
    }
    *row = lane->result;
    return 1;
}

/* Copy what the step told to where its caller wants it. */
static void tell(rk_lanes *lanes, struct lane *lane) {
    const rk_copy *copy = &lanes->copy;
    const rk_result *row = &lanes->batch.results[lane->row];
    const size_t n = (size_t)lanes->count, i = (size_t)lane->row;
    rk_lane_copy(lanes, lane, copy->pixels, copy->ram);
    if (!copy->numbers) return;
    copy->earned[i] = row->reward, copy->earned[n + i] = row->raw_reward;
    copy->flags[i] = row->terminated, copy->flags[n + i] = row->truncated;
    copy->numbers[i] = row->frame;
    for (size_t v = 0; v < (size_t)lanes->plan.program.n_variables; v++)
        copy->numbers[(v + 1) * n + i] = lane->values[v];
}

void rk_lane_work(rk_lanes *lanes, struct lane *lane) {
    lane->error[0] = 0;
    bool done = work(lanes, lane);
    if (lane->host->live.moved)
        done = rk_fail("the core's memory moved: what was read of it in its last frames may be wrong");
    lane->host->live.moved = false;
    if (!done) snprintf(lane->error, sizeof lane->error, "%s", rk_error());
    const size_t variables = (size_t)lanes->plan.program.n_variables;
    memcpy(lanes->batch.values + (size_t)lane->row * variables, lane->values, variables * sizeof(int64_t));
    tell(lanes, lane);
}
