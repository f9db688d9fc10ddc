/* What a lane's game was so far: its start, the actions and the buttons of every frame. From the same
 * start the same actions make the same game, and that is how it is brought back. */
#include "episode.h"

int rk_log_room(struct lane *lane, int64_t frames) {
    rk_log *log = &lane->log;
    const size_t buttons = (size_t)(lane->result.frame + frames) * sizeof *log->buttons;
    const size_t actions = (size_t)(log->n_actions + 2) * sizeof *log->actions; /* a next life too */
    if (buttons > lane->buttons_bytes) {
        uint16_t *more = rk_grow(log->buttons, &lane->buttons_bytes, 2 * buttons);
        if (!more) return rk_fail("out of memory for the game's log");
        log->buttons = more;
    }
    if (actions > lane->actions_bytes) {
        int32_t *more = rk_grow(log->actions, &lane->actions_bytes, 2 * actions);
        if (!more) return rk_fail("out of memory for the game's log");
        log->actions = more;
    }
    return 1;
}

void rk_lane_log(rk_lanes *lanes, int row, rk_log *out) {
    const struct lane *lane = &lanes->lanes[row];
    *out = lane->log;
    out->now = lane->random;
    out->n_frames = out->known ? (uint64_t)lane->result.frame : 0;
    out->n_actions *= out->known ? 1 : 0;
}

int rk_lanes_replay(rk_lanes *lanes, const rk_log *logs) {
    rk_pool_finish(lanes->pool);
    lanes->replayed = logs;
    rk_pool_start(lanes->pool);
    rk_pool_finish(lanes->pool);
    lanes->replayed = NULL;
    return rk_lanes_wait(lanes);
}
