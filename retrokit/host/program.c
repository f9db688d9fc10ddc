/* An integration as a small program: bytes to variables, variables to "the game is over". The
 * tables come from the one decoder, in Python; tests hold both to the same answers. */
#include "internal.h"
#include "lane.h"

static int64_t own_value(const rk_program *program, const rk_part *part, const rk_view *view) {
    const int64_t *table = program->tables + (size_t)part->table * 256;
    int64_t value = 0;
    for (uint32_t i = 0; i < part->n_addrs; i++) {
        uint32_t addr = program->addrs[part->first_addr + i];
        value = value * part->step + table[addr < view->size ? view->data[addr] : 0];
    }
    if (part->sign_bits) value -= value >> (part->sign_bits - 1) << part->sign_bits;
    if (!part->n_map) return value;
    for (uint32_t i = part->first_map; i < part->first_map + part->n_map; i++)
        if (program->before[i] == value) return program->after[i];
    return part->has_default ? part->default_value : value;
}

static int64_t value_of(const rk_program *program, const rk_variable *variable, const rk_view *views) {
    int64_t total = 0;
    for (uint32_t i = variable->first_part; i < variable->first_part + variable->n_parts; i++) {
        const rk_part *part = &program->parts[i];
        total += own_value(program, part, &views[part->region]) * part->scale + part->offset;
    }
    return total * variable->scale + variable->offset;
}

static void decode(const rk_program *program, const rk_view *views, bool ruled, int64_t *values) {
    for (int32_t v = 0; v < program->n_variables; v++)
        if (!ruled || program->variables[v].ruled)
            values[v] = value_of(program, &program->variables[v], views);
}

void rk_values(const rk_program *program, const rk_view *views, int64_t *values) {
    decode(program, views, false, values);
}

void rk_ruled_values(const rk_program *program, const rk_view *views, int64_t *values) {
    decode(program, views, true, values);
}

static bool compare(int32_t code, int64_t left, int64_t right) {
    switch (code) {
    case 0: return left == right;
    case 1: return left != right;
    case 2: return left < right;
    case 3: return left <= right;
    case 4: return left > right;
    default: return left >= right;
    }
}

int rk_rule(const rk_program *program, const int64_t *values, uint32_t *held) {
    bool stack[RK_RULE_DEPTH];
    int top = -1;
    for (int32_t i = 0; i < program->n_ops; i++) {
        const rk_op *op = &program->ops[i];
        switch (op->code) {
        case 6: stack[top] = !stack[top]; break;
        case 7: top--, stack[top] = stack[top] && stack[top + 1]; break;
        case 8: top--, stack[top] = stack[top] || stack[top + 1]; break;
        case 9: {
            uint32_t *count = &held[op->right];
            *count = !stack[top] ? 0 : *count < UINT32_MAX ? *count + 1 : *count;
            stack[top] = *count >= (uint64_t)op->left;
            break;
        }
        default:
            stack[++top] =
                compare(op->code, op->left_variable < 0 ? op->left : values[op->left_variable],
                        op->right_variable < 0 ? op->right : values[op->right_variable]);
        }
    }
    return top >= 0 && stack[top];
}

/* How far a variable moved: through the wrap where that is the plain reading (a tenth of the way
 * round at most, and not to where a new game begins). */
int64_t rk_gain(const rk_variable *variable, int64_t before, int64_t now) {
    int64_t change = now - before, modulus = variable->modulus;
    if (change < 0 && modulus && now != variable->offset && change + modulus <= modulus / 10)
        change += modulus;
    return change < 0 && variable->rises_only ? 0 : change;
}
