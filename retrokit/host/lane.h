/* Environments in C: a lane is a core with its episode, and a pool of threads steps many lanes.
 * Read by compiler and cffi like host.h. Everything a plan points to stays with the caller, who
 * keeps it while the lanes live; so do the batch's arrays, into which each lane writes its row. */
#ifndef RETROKIT_LANE_H
#define RETROKIT_LANE_H
#include "host.h"

/* Bytes that are decoded together: a variable's own, or those of one of its terms. */
typedef struct {
    int32_t region;               /* index into the program's regions */
    uint32_t first_addr, n_addrs; /* into addrs, most significant first */
    uint32_t table;               /* number of its table of 256 values */
    uint32_t sign_bits;           /* width of the two's complement; 0 when unsigned */
    uint32_t first_map, n_map;    /* into before and after */
    int32_t has_default;
    int64_t step, default_value, scale, offset;
} rk_part;

typedef struct {
    uint32_t first_part, n_parts;
    int64_t scale, offset;
    int64_t modulus;              /* where it wraps; 0: nowhere known */
    int32_t rises_only;           /* a fall counts as nothing */
    int32_t ruled;                /* the rule names it: decoded after every frame */
} rk_variable;

/* One step of the rule of game over, in postfix order: 0-5 compare (== != < <= > >=), 6 not,
 * 7 and, 8 or, 9 held for `left` frames by counter number `right`. */
typedef struct {
    int32_t code, left_variable, right_variable; /* -1: the number beside it */
    int64_t left, right;
} rk_op;

typedef struct {
    int32_t n_regions, n_variables, n_ops, n_held;
    const int32_t *regions;       /* ids */
    const rk_part *parts;
    const rk_variable *variables;
    const rk_op *ops;
    const uint32_t *addrs;
    const int64_t *tables, *before, *after;
} rk_program;

typedef struct { const uint8_t *data; uint64_t size; } rk_view;

#define RK_RULE_DEPTH 256 /* values that the rule may hold at once */

/* Bytes observed as RAM: of one region all, or those at `offsets`. */
typedef struct { int32_t region; uint32_t count; const uint32_t *offsets; } rk_span;

typedef struct {
    rk_program program;
    const uint16_t *actions;      /* RetroPad masks */
    uint32_t n_actions;
    uint32_t skip, stack, noops;  /* noops: most frames of waiting after a reset */
    double sticky;                /* chance, each frame, that the buttons stay as they were */
    int32_t show;                 /* a step's last frame is drawn: somebody observes or renders it */
    int32_t keep;                 /* the game's own picture, for rk_lane_frame */
    int32_t last_two;             /* the brighter of the last two frames, pixel by pixel */
    uint32_t channels;            /* of the observed picture: 0 none, 1 grey, 3 RGB */
    uint32_t width, height;       /* of the observed picture */
    uint32_t top, bottom, left, right; /* pixels cut off the upright picture first */
    const rk_span *spans;
    uint32_t n_spans, ram_size;   /* of all spans */
    int32_t ram_floats;           /* float32 0 to 1 instead of bytes */
    int64_t most_frames;          /* of a game; 0: no limit */
    int64_t stall;                /* steps without progress; 0: no limit */
    double stall_penalty;
    int32_t lives;                /* the variable whose fall ends an episode; -1: none */
    int32_t clip;                 /* the reward to -1 to 1 */
    const double *weights;        /* [variables] of the reward */
    const uint8_t *progress;      /* [variables] those that count as progress */
    int32_t score;                /* the variable of the raw reward */
    int32_t autoreset;            /* 0 disabled, 1 in the next step, 2 in the same step */
    const uint16_t *home;         /* [n_home] pressed before a start, and then it is restored again */
    uint32_t n_home;
    int32_t in_place;             /* what the savestate says of memory is read where the core has it */
} rk_plan;

/* RK_ENDED_…: what ended an episode. */
#define RK_ENDED_NOT 0
#define RK_ENDED_RULE 1
#define RK_ENDED_FRAMES 2
#define RK_ENDED_STALL 3
#define RK_ENDED_LIFE 4
#define RK_ENDED_CRASH 5

/* What a step did; the game's own numbers are raw, and count on over the lives of one game. */
typedef struct {
    double reward, raw_reward, game_return;
    int64_t game_steps, frame;    /* frames since the savestate was restored */
    uint8_t terminated, truncated, ended, unused[5];
} rk_result;

/* One row a lane. */
typedef struct {
    uint8_t *pixels, *final_pixels; /* [lanes][stack][height][width][channels] */
    uint8_t *ram, *final_ram;       /* [lanes][stack][ram_size], bytes or float32 */
    rk_result *results, *finals;    /* [lanes] */
    int64_t *values, *final_values; /* [lanes][variables] */
} rk_batch;

/* What a step tells, copied for its caller: a column each; NULL: nobody wants it. */
typedef struct {
    uint8_t *pixels, *ram;        /* as the batch's */
    double *earned;               /* reward and raw_reward: [2][lanes] */
    int64_t *numbers;             /* the frame and all variables: [1 + variables][lanes] */
    uint8_t *flags;               /* terminated and truncated: [2][lanes] */
} rk_copy;

#define RK_NEXT_LIFE -1 /* in place of an action: a reset that went on with the game */

/* A lane's game since its savestate was restored: all it takes to play it again. */
typedef struct {
    int32_t known;                /* 0: none, as the core is new in the place of one that died */
    int32_t chosen, start;        /* the number asked for, -1: drawn; the number it became */
    uint64_t then, now;           /* the state of the generator, before the start was drawn and now */
    uint64_t n_actions, n_frames;
    int32_t *actions;             /* [n_actions] of the steps */
    uint16_t *buttons;            /* [n_frames] */
} rk_log;

typedef struct rk_lanes rk_lanes;

/* The parts of a program alone. */
void rk_values(const rk_program *program, const rk_view *views, int64_t *values);
void rk_ruled_values(const rk_program *program, const rk_view *views, int64_t *values);
int rk_rule(const rk_program *program, const int64_t *values, uint32_t *held);
int64_t rk_gain(const rk_variable *variable, int64_t before, int64_t now);

rk_lanes *rk_lanes_new(const rk_plan *plan, const rk_batch *batch, rk_host **hosts, int count,
                       int threads);
void rk_lanes_free(rk_lanes *lanes);
/* Savestates to start from, copied; `sizes` [count], the bytes of all in one piece. */
int rk_lanes_starts(rk_lanes *lanes, const uint8_t *states, const uint64_t *sizes, int count);

#define RK_REST -1 /* the action that leaves a lane as it is whose episode ended: autoreset disabled */

/* Hand out work: an action each, or a reset each. A reset: `asked` [lanes] 0 leave the lane alone,
 * 1 begin the next episode, 2 from a savestate for certain, 3 the core is new in the place of one
 * that died: the episode that the row tells of, if it has not ended, is truncated in the next step;
 * `seeds` [lanes] 0 go on drawing as before; `starts` [lanes] number of the savestate, -1 draw one.
 * `copy`: where it points to is written until all is finished; NULL: none is made. */
int rk_lanes_step(rk_lanes *lanes, const int32_t *actions, const rk_copy *copy);
int rk_lanes_reset(rk_lanes *lanes, const uint8_t *asked, const uint64_t *seeds, const int32_t *starts);
/* Take part until all is finished. 0, or the number of a lane that failed, counted from 1. */
int rk_lanes_wait(rk_lanes *lanes);
/* Whether an episode ended in the last step. */
int rk_lanes_ended(const rk_lanes *lanes);
/* The log as it is, valid until the next job. */
void rk_lane_log(rk_lanes *lanes, int lane, rk_log *log);
/* Play a game again in each lane, and wait for all; 0, or a lane that failed, as above. What is not
 * known goes on as after a core that died, from its row. */
int rk_lanes_replay(rk_lanes *lanes, const rk_log *logs);
const char *rk_lane_error(rk_lanes *lanes, int lane);
/* The picture shown last, as rk_frame gives it; only where it is kept. */
int rk_lane_frame_size(rk_lanes *lanes, int lane, uint32_t *width, uint32_t *height);
int rk_lane_frame(rk_lanes *lanes, int lane, uint8_t *out, uint32_t width, uint32_t height);
#endif
