/* SPDX-License-Identifier: MIT */
/* target_ways.c - the ways of values between memories.
 *
 * What a call needs in a memory is brought there by instructions whose meaning
 * is their operand itself, or left there by another call; its result is brought
 * back, or taken on, likewise.  A file in which that cannot be is refused. */
#include "glenside/target/target_parse.h"
#include <assert.h>
#include <string.h>

/* ---- moves ---- */

/* The memories that one move more reaches; bit 0: dram.  A load that repeats
 * brings no array as it is. */
static uint32_t
reached(const gs_target *t, gs_dtype dtype, uint32_t from) {
  uint32_t to = from;
  for (uint32_t k = 0; k < t->instrs.len; k++) {
    const gs_instr *i = t->instrs.data[k];
    if (i->moves && !i->repeats && i->result.dtype == dtype &&
        from >> i->operands[0].memory & 1)
      to |= 1u << i->result.memory;
  }
  return to;
}

uint32_t
gs_hops(const gs_target *t, gs_dtype dtype, uint32_t from, uint32_t to) {
  assert(from <= t->memories.len && to <= t->memories.len);
  uint32_t at = 1u << from, hops = 0;
  while (!(at >> to & 1)) {
    uint32_t more = reached(t, dtype, at);
    if (more == at)
      return 0;
    at = more;
    hops++;
  }
  return hops;
}

bool
gs_is_on_way(const gs_target *t, uint32_t k, gs_dtype dtype, uint32_t from,
             uint32_t to) {
  assert(k < t->instrs.len);
  const gs_instr *i = t->instrs.data[k];
  if (!i->moves || i->result.dtype != dtype || i->operands[0].memory != from)
    return false;
  uint32_t all = gs_hops(t, dtype, from, to);
  uint32_t rest = gs_hops(t, dtype, i->result.memory, to);
  return all && (rest || i->result.memory == to) && rest + 1 == all;
}

/* ---- where values can come to lie, and leave ---- */

/* By dtype a bit for each memory, bit 0: dram. */
typedef struct places {
  uint32_t of[GS_DTYPE_COUNT];
} places;

static bool
is_in(const places *x, const gs_operand *o) {
  return x->of[o->dtype] >> o->memory & 1;
}

static bool
put_in(places *x, const gs_operand *o) {
  bool was = is_in(x, o);
  x->of[o->dtype] |= 1u << o->memory;
  return !was;
}

static bool
all_operands_in(const places *x, const gs_instr *i) {
  for (uint32_t k = 0; k < i->n_operands; k++)
    if (!is_in(x, &i->operands[k]))
      return false;
  return true;
}

/* An instruction leaves its result where it says once its operands can come to
 * lie where it reads them. */
static bool
fill(const gs_target *t, places *x) {
  bool more = false;
  for (uint32_t k = 0; k < t->instrs.len; k++)
    if (all_operands_in(x, t->instrs.data[k]))
      more |= put_in(x, &t->instrs.data[k]->result);
  return more;
}

/* What an instruction takes has a use if its result can reach dram. */
static bool
drain(const gs_target *t, places *x) {
  bool more = false;
  for (uint32_t k = 0; k < t->instrs.len; k++) {
    const gs_instr *i = t->instrs.data[k];
    for (uint32_t j = 0; j < i->n_operands && is_in(x, &i->result); j++)
      more |= put_in(x, &i->operands[j]);
  }
  return more;
}

static void
find_places(const gs_target *t, bool load, places *out) {
  for (uint32_t k = 0; k < GS_DTYPE_COUNT; k++)
    out->of[k] = 1;
  while (load ? fill(t, out) : drain(t, out))
    continue;
}

static bool
no_way(const target_parser *p, const gs_instr *i, const gs_operand *o,
       bool load) {
  const gs_target *t = p->target;
  uint32_t from = load ? 0 : o->memory, to = load ? o->memory : 0;
  const char *dtype = gs_dtype_table[o->dtype].name;
  bs_error(p->ctx->diags, o->span, load ? "no-load" : "no-store",
           "no instruction moves %s from %s to %s, where %s needs '%s'", dtype,
           gs_memory_name(t, from), gs_memory_name(t, to), i->name, o->name);
  bs_hint(p->ctx->diags,
          "declare an instruction whose semantics are its operand, which lies "
          "in %s and its result in %s",
          gs_memory_name(t, from), gs_memory_name(t, to));
  return false;
}

/* ---- whether a tile can be moved ---- */

/* Its sizes, where the declaration fixes all of them. */
static bool
fixed_tile(const target_parser *p, const gs_operand *o, int64_t *dim) {
  for (uint32_t d = 0; d < o->rank; d++)
    if (!gs_expr_is_int(p->ctx->values, o->dims[d], &dim[d]))
      return false;
  return true;
}

static bool
takes_tile(const target_parser *p, const gs_instr *i, const int64_t *dim,
           uint32_t rank) {
  return gs_takes_tile(p->ctx->values, i, i->operands[0].dtype, dim, rank);
}

static bool
lies_in(const gs_operand *o, const gs_operand *like) {
  return o->memory == like->memory && o->dtype == like->dtype;
}

/* Whether an instruction brings what lies there, or takes it away. */
static bool
passes(const target_parser *p, const gs_instr *i, const gs_operand *o,
       bool load, const int64_t *dim) {
  if (load)
    return lies_in(&i->result, o) && !i->onto &&
           (!i->moves || takes_tile(p, i, dim, o->rank));
  for (uint32_t k = 0; k < i->n_operands; k++)
    if (lies_in(&i->operands[k], o) && i->result.memory != o->memory)
      return !i->moves || takes_tile(p, i, dim, o->rank);
  return false;
}

/* Where moves alone bring a tile of fixed sizes, one has to take such. */
static bool
check_tile(const target_parser *p, const gs_instr *i, const gs_operand *o,
           bool load) {
  int64_t dim[GS_MAX_RANK];
  const gs_target *t = p->target;
  if (!fixed_tile(p, o, dim))
    return true;
  for (uint32_t k = 0; k < t->instrs.len; k++)
    if (passes(p, t->instrs.data[k], o, load, dim))
      return true;
  return bs_error(p->ctx->diags, o->span, load ? "no-load" : "no-store",
                  "no instruction that moves %s %s %s admits a tile of '%s', "
                  "or parts of it, as %s needs it",
                  gs_dtype_table[o->dtype].name, load ? "to" : "from",
                  gs_memory_name(t, o->memory), o->name, i->name);
}

/* Another instruction would leave it there: what that lacks is told of that. */
static bool
is_left_there(const gs_target *t, const gs_operand *o) {
  for (uint32_t k = 0; k < t->instrs.len; k++) {
    const gs_instr *i = t->instrs.data[k];
    if (!i->moves && !i->onto && lies_in(&i->result, o))
      return true;
  }
  return false;
}

typedef struct checking {
  const target_parser *p;
  places in, out;
  bool all; /* what follows from other faults, too */
} checking;

static bool
check_way(const checking *c, const gs_instr *i, const gs_operand *o,
          bool load) {
  if (!o->memory || (!c->all && load && is_left_there(c->p->target, o)))
    return true;
  return is_in(load ? &c->in : &c->out, o) ? check_tile(c->p, i, o, load)
                                           : no_way(c->p, i, o, load);
}

static bool
check_ways(const checking *c) {
  const gs_target *t = c->p->target;
  bool ok = true;
  for (uint32_t k = 0; k < t->instrs.len; k++) {
    const gs_instr *i = t->instrs.data[k];
    for (uint32_t j = 0; j < i->n_operands && !i->moves; j++)
      ok &= check_way(c, i, &i->operands[j], true);
    ok &= i->moves || check_way(c, i, &i->result, false);
  }
  return ok;
}

bool
target_check_ways(target_parser *p) {
  checking c = {.p = p};
  for (uint32_t k = 0; k < p->target->instrs.len; k++)
    target_limit_sizes(p->ctx, p->target, p->target->instrs.data[k]);
  find_places(p->target, true, &c.in);
  find_places(p->target, false, &c.out);
  bool ok = check_ways(&c);
  c.all = true;
  return ok && check_ways(&c);
}
