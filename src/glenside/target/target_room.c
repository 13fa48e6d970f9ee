/* SPDX-License-Identifier: MIT */
/* target_room.c - what one call needs of the memories of its target.
 *
 * A file in which no call of an instruction fits is refused.  Where sizes are
 * open, what a memory, or a bank of it, has bounds them: that bound is made an
 * expression over the sizes, so that whoever asks whether a call exists asks
 * for it as for the declared condition. */
#include "base/whole.h"
#include "glenside/target/target_parse.h"

/* ---- of given sizes ---- */

typedef struct room {
  const gs_context *ctx; /* NULL: nothing is said */
  const gs_target *target;
  int64_t used[MAX_MEMORIES + 1];
  uint32_t read[MAX_MEMORIES + 1]; /* operands that the call reads there, */
  int64_t least[MAX_MEMORIES + 1]; /* and bytes of the smallest */
} room;

static bool
no_room(const room *r, const gs_operand *o, const gs_memory *m, int64_t bytes) {
  if (!r->ctx)
    return false;
  bs_error(r->ctx->diags, o->span, "too-small",
           "one call needs %lld bytes of '%s', which has %lld",
           (long long)r->used[o->memory], m->name, (long long)m->bytes);
  bs_hint(r->ctx->diags, "'%s' takes %lld of them", o->name, (long long)bytes);
  return false;
}

/* An array lies within one bank, and what a call reads in different ones. */
static bool
no_bank(const room *r, const gs_operand *o, const gs_memory *m, int64_t bytes,
        bool shares) {
  int64_t bank = m->bytes / m->banks;
  if (r->ctx && bytes > bank)
    bs_error(r->ctx->diags, o->span, "too-small",
             "'%s' takes %lld bytes%s, and a bank of '%s' has %lld", o->name,
             (long long)bytes, shares ? " with what shares its bank" : "",
             m->name, (long long)bank);
  else if (r->ctx)
    bs_error(r->ctx->diags, o->span, "too-small",
             "one call reads %u operands in '%s' at a time, which has %lld "
             "banks",
             r->read[o->memory], m->name, (long long)m->banks);
  return false;
}

static bool
take_room(room *r, const gs_operand *o, const gs_type *t, bool reads) {
  const gs_memory *m = gs_memory_at(r->target, o->memory);
  if (!m)
    return true;
  int64_t bytes = gs_memory_bytes(m, t->dtype, t->dim, t->rank);
  bool shares = !reads && m->banks > 1 && r->read[o->memory] == m->banks;
  r->used[o->memory] += bytes;
  if (reads && (!r->read[o->memory]++ || bytes < r->least[o->memory]))
    r->least[o->memory] = bytes;
  if (r->used[o->memory] > m->bytes)
    return no_room(r, o, m, bytes);
  if (shares)
    bytes += r->least[o->memory];
  if (bytes > m->bytes / m->banks ||
      (m->banks > 1 && r->read[o->memory] > m->banks))
    return no_bank(r, o, m, bytes, shares);
  return true;
}

bool
target_check_room(const gs_context *ctx, const gs_target *target,
                  const gs_instr *instr, const gs_type *operands,
                  const gs_type *result) {
  room r = {.ctx = ctx, .target = target};
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (!take_room(&r, &instr->operands[k], &operands[k], true))
      return false;
  return instr->onto || take_room(&r, &instr->result, result, false);
}

/* ---- of all sizes ---- */

typedef struct limiting {
  const gs_context *ctx;
  const gs_target *target;
  gs_instr *instr;
  gs_room rooms[2 * MAX_MEMORIES + GS_MAX_INSTR_VARS + 1];
  uint32_t n;
} limiting;

static const gs_expr *
number(const limiting *l, int64_t x) {
  return gs_expr_literal(l->ctx, bs_int(l->ctx->values, x), GS_SORT_INT,
                         l->instr->span);
}

/* ---- what a call takes ---- */

/* What can be computed now is: `(* 16 1)` is 16. */
static const gs_expr *
call(const limiting *l, const char *function, gs_sort sort, const gs_expr *a,
     const gs_expr *b) {
  const gs_expr *const args[] = {a, b};
  const gs_expr *e =
      gs_expr_call(l->ctx, function, sort, args, 2, l->instr->span);
  const gs_env none = {.values = l->ctx->values};
  int64_t x, y;
  bs_value v;
  if (gs_expr_is_int(l->ctx->values, a, &x) &&
      gs_expr_is_int(l->ctx->values, b, &y) && gs_expr_eval(e, &none, &v))
    return gs_expr_literal(l->ctx, v, sort, l->instr->span);
  return e;
}

static const gs_expr *
times(const limiting *l, const gs_expr *a, const gs_expr *b) {
  int64_t x;
  if (gs_expr_is_int(l->ctx->values, a, &x) && x == 1)
    return b;
  return gs_expr_is_int(l->ctx->values, b, &x) && x == 1
             ? a
             : call(l, "*", GS_SORT_INT, a, b);
}

static const gs_expr *
rounded(const limiting *l, const gs_expr *e, int64_t unit) {
  if (unit == 1)
    return e;
  e = call(l, "+", GS_SORT_INT, e, number(l, unit - 1));
  e = call(l, "/", GS_SORT_INT, e, number(l, unit));
  return times(l, e, number(l, unit));
}

/* As gs_memory_bytes. */
static const gs_expr *
bytes_of(const limiting *l, const gs_operand *o) {
  const gs_memory *m = gs_memory_at(l->target, o->memory);
  int64_t element = gs_dtype_table[o->dtype].bytes;
  int64_t row = m->row % element ? 1 : m->row / element;
  const gs_expr *n = number(l, 1);
  for (uint32_t d = 0; d + 1 < o->rank; d++)
    n = times(l, n, o->dims[d]);
  n = times(l, n,
            rounded(l, o->rank ? o->dims[o->rank - 1] : number(l, 1), row));
  return rounded(l, times(l, n, number(l, element)),
                 element * row % m->align ? m->align : 1);
}

/* The largest size of each variable; false: one has none. */
static bool
find_largest(const limiting *l, uint32_t *slots) {
  const gs_instr *i = l->instr;
  bs_values *values = l->ctx->values;
  for (uint32_t k = 0; k < i->scope.vars.len; k++) {
    int64_t v;
    bool size = i->scope.vars.data[k].sort == GS_SORT_INT;
    slots[k] = UINT32_MAX;
    if (!size)
      continue;
    if (!gs_expr_fixes(values, i->where, k, &v) &&
        !gs_expr_bounds(values, i->where, k, &v))
      return false;
    slots[k] = bs_int(values, v).i;
  }
  return true;
}

/* Bytes grow with sizes: what holds for the largest ones holds for all. */
static bool
holds_always(const limiting *l, const gs_expr *fits) {
  uint32_t slots[GS_MAX_INSTR_VARS];
  uint32_t n = l->instr->scope.vars.len;
  gs_env env = {.values = l->ctx->values, .slots = slots, .n_slots = n};
  bool known = fits->kind == GS_X_LITERAL || find_largest(l, slots);
  return known && gs_expr_test(fits, &env);
}

static bool
is_new(const limiting *l, const gs_expr *fits) {
  for (uint32_t k = 0; k < l->n; k++)
    if (gs_expr_same(l->rooms[k].fits, fits))
      return false;
  return true;
}

static void
limit(limiting *l, const gs_expr *bytes, int64_t most, const gs_memory *m,
      const char *what) {
  gs_room r = {.bytes = bytes, .most = most, .memory = m->name, .what = what};
  r.fits = call(l, "<=", GS_SORT_BOOL, bytes, number(l, most));
  if (!holds_always(l, r.fits) && is_new(l, r.fits))
    l->rooms[l->n++] = r;
}

/* An array lies within one bank, what is read in different ones, and where each
 * bank has one of these, the result beside the least. */
static void
limit_banks(limiting *l, uint32_t memory) {
  const gs_memory *m = gs_memory_at(l->target, memory);
  const gs_instr *i = l->instr;
  const gs_expr *least = NULL;
  int64_t reads = 0, bank = m->bytes / m->banks;
  for (uint32_t k = 0; k < i->n_operands; k++) {
    const gs_operand *o = &i->operands[k];
    if (o->memory != memory)
      continue;
    const gs_expr *bytes = bytes_of(l, o);
    limit(l, bytes, bank, m, bs_arena_printf(l->ctx->arena, "'%s'", o->name));
    least = reads++ ? call(l, "min", GS_SORT_INT, least, bytes) : bytes;
  }
  if (i->onto || i->result.memory != memory)
    return;
  const gs_expr *bytes = bytes_of(l, &i->result);
  if (reads < m->banks)
    limit(l, bytes, bank, m, "the result");
  else
    limit(l, call(l, "+", GS_SORT_INT, bytes, least), bank, m,
          "the result beside an operand");
}

static void
limit_memory(limiting *l, uint32_t memory) {
  const gs_memory *m = gs_memory_at(l->target, memory);
  const gs_instr *i = l->instr;
  const gs_expr *sum = NULL;
  for (uint32_t k = 0; k < i->n_operands + !i->onto; k++) {
    const gs_operand *o = k < i->n_operands ? &i->operands[k] : &i->result;
    if (o->memory != memory)
      continue;
    const gs_expr *bytes = bytes_of(l, o);
    sum = sum ? call(l, "+", GS_SORT_INT, sum, bytes) : bytes;
  }
  if (sum)
    limit(l, sum, m->bytes, m, NULL);
}

void
target_limit_sizes(const gs_context *ctx, const gs_target *target,
                   gs_instr *instr) {
  limiting *l = BS_NEW(ctx->arena, limiting);
  *l = (limiting){.ctx = ctx, .target = target, .instr = instr};
  for (uint32_t k = 1; k <= target->memories.len; k++)
    (gs_memory_at(target, k)->banks > 1 ? limit_banks : limit_memory)(l, k);
  instr->n_rooms = l->n;
  instr->rooms =
      bs_arena_copy(ctx->arena, l->rooms, (l->n + 1u) * sizeof *l->rooms);
}
