/* SPDX-License-Identifier: MIT */
/* facts.c - what a class knows: its type, its zeros, its one value.
 *
 * The analysis of the e-graph.  All terms of a class denote the same array, so
 * what is proven of one holds for all: facts are joined.  The type is the same
 * for all terms or a rule is unsound: that conflict stops the graph.
 *
 * Values are taken as finite: 0 * x is 0. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

/* --- types ---------------------------------------------------------------- */

const gs_type *
rl_type_of(rl_session *s, bs_value type) {
  assert(type.i);
  rl_near_type *near = &s->near[type.i % RL_NEAR_TYPES];
  if (near->of && near->id == type.i)
    return near->of;
  uint32_t number = bs_map_get(&s->type_number, type.i);
  if (number == BS_NO_ENTRY) {
    gs_type *t = BS_NEW(&s->arena, gs_type);
    gs_type_read(s->ctx.values, type, t);
    number = s->types.len;
    bs_push(s->ctx.heap, &s->types, t);
    bs_map_put(s->ctx.heap, &s->type_number, type.i, number);
  }
  *near = (rl_near_type){type.i, s->types.data[number]};
  return near->of;
}

bool
rl_is_limit(const gs_fault *fault) {
  return !strcmp(fault->code, "rank-limit") ||
         !strcmp(fault->code, "too-large");
}

/* --- making --------------------------------------------------------------- */

const rl_facts *
rl_facts_of(const eg_graph *g, eg_class c) {
  assert(c.i != EG_NO_CLASS.i);
  return eg_data(g, c);
}

static bool
refuse(rl_session *s, uint32_t op, bs_value attr, const eg_class *kids,
       uint32_t n, const gs_fault *fault) {
  s->refused.set = true;
  s->refused.op = op;
  s->refused.attr = attr;
  s->refused.n_kids = n < 8 ? n : 8;
  for (uint32_t k = 0; k < s->refused.n_kids; k++)
    s->refused.kids[k] = kids[k];
  s->refused.fault = *fault;
  return false;
}

static bool
is_number_zero(const bs_values *values, bs_value v) {
  return v.i && bs_as_real(values, v) == 0;
}

/* "All elements are 0" is said in both ways. */
static void
complete(bs_values *values, rl_facts *f, const gs_type *type) {
  if (is_number_zero(values, f->constant))
    f->zeros = rl_zeros_all(values, type);
  else if (!f->constant.i && rl_zeros_are_all(values, f->zeros, type))
    f->constant = bs_int(values, 0);
}

static const gs_constant *
constant_named(const rl_session *s, bs_value attr) {
  if (!s->program)
    return NULL;
  return gs_constant_of(s->program, attr);
}

static bool
make(void *ctx, eg_graph *g, uint32_t op, bs_value attr, const eg_class *kids,
     uint32_t n, void *data) {
  rl_session *s = ctx;
  bs_values *values = s->ctx.values;
  rl_facts *out = data;
  rl_known few[8], *known = few;
  const gs_type *few_types[8] = {NULL}, **types = few_types;
  gs_type type;
  gs_fault fault = {0};
  if (n > 8) {
    bs_arena_reset(&s->scratch);
    known = BS_NEWS(&s->scratch, rl_known, n);
    types = BS_NEWS(&s->scratch, const gs_type *, n);
  }
  for (uint32_t k = 0; k < n; k++) {
    const rl_facts *f = rl_facts_of(g, kids[k]);
    types[k] = rl_type_of(s, f->type);
    known[k] = (rl_known){types[k], f->zeros, f->constant};
  }
  if (!gs_infer(values, s->target, op, attr, types, n, &type, &fault))
    return refuse(s, op, attr, kids, n, &fault);
  out->type = gs_type_intern(values, &type);
  const gs_constant *c = op == GS_CONST ? constant_named(s, attr) : NULL;
  if (c) {
    out->zeros = rl_zeros_of_data(s->ctx.heap, values, c, &out->constant);
  } else {
    out->zeros = rl_zeros_of(values, op, attr, known, n, &type);
    out->constant = rl_constant_of(values, op, attr, known, n, &type);
  }
  complete(values, out, &type);
  return true;
}

/* --- merging -------------------------------------------------------------- */

static bool
same_number(const bs_values *values, bs_value a, bs_value b) {
  double x = bs_as_real(values, a), y = bs_as_real(values, b);
  return x == y || (x != x && y != y);
}

static uint32_t
merge(void *ctx, eg_graph *g, void *into, const void *from) {
  rl_session *s = ctx;
  bs_values *values = s->ctx.values;
  rl_facts *a = into;
  const rl_facts *b = from;
  rl_facts before = *a;
  (void)g;
  if (!bs_same(a->type, b->type))
    return EG_MERGE_CONFLICT;
  if (a->constant.i && b->constant.i &&
      !same_number(values, a->constant, b->constant))
    return EG_MERGE_CONFLICT;
  if (!a->constant.i)
    a->constant = b->constant;
  if (!bs_same(a->zeros, b->zeros))
    a->zeros =
        rl_zeros_join(values, a->zeros, b->zeros, rl_type_of(s, a->type));
  if (!bs_same(a->zeros, before.zeros) ||
      !bs_same(a->constant, before.constant))
    complete(values, a, rl_type_of(s, a->type));
  bool changed = !bs_same(a->zeros, before.zeros) ||
                 !bs_same(a->constant, before.constant);
  bool differs = !bs_same(a->zeros, b->zeros) || a->constant.i != b->constant.i;
  return (changed ? 1 : 0) | (differs ? 2 : 0);
}

/* --- sessions ------------------------------------------------------------- */

rl_session *
rl_session_new(const gs_context *ctx, const gs_target *target,
               const gs_program *program) {
  rl_session *s = bs_calloc(ctx->heap, 1, sizeof *s);
  s->ctx = *ctx;
  s->target = target;
  s->program = program;
  bs_arena_init(&s->arena, ctx->heap);
  bs_arena_init(&s->scratch, ctx->heap);
  return s;
}

void
rl_session_free(rl_session *s) {
  if (!s)
    return;
  bs_heap *heap = s->ctx.heap;
  bs_free(heap, s->class_of);
  bs_free(heap, s->reader);
  bs_vec_done(heap, &s->places);
  bs_vec_done(heap, &s->types);
  bs_map_done(heap, &s->type_number);
  bs_arena_done(&s->arena);
  bs_arena_done(&s->scratch);
  bs_free(heap, s);
}

void
rl_session_options(rl_session *s, eg_options *out) {
  *out = (eg_options){.analysis = {.ctx = s,
                                   .size = sizeof(rl_facts),
                                   .make = make,
                                   .merge = merge},
                      .origins = true};
}

/* --- facts for conditions ------------------------------------------------- */

static bs_value
type_fact(void *graph, uint32_t c) {
  return rl_facts_of(graph, (eg_class){c})->type;
}

static bs_value
zeros_fact(void *graph, uint32_t c) {
  return rl_facts_of(graph, (eg_class){c})->zeros;
}

static bs_value
constant_fact(void *graph, uint32_t c) {
  return rl_facts_of(graph, (eg_class){c})->constant;
}

gs_env
rl_env(rl_session *s, eg_graph *g, const uint32_t *slots, uint32_t n) {
  assert(slots || !n);
  return (gs_env){.values = s->ctx.values,
                  .slots = slots,
                  .n_slots = n,
                  .facts = g,
                  .type_of = type_fact,
                  .zeros_of = zeros_fact,
                  .constant_of = constant_fact};
}
