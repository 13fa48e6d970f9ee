/* SPDX-License-Identifier: MIT */
/* precise.c - see precise.h. */
#include "prove/session/precise.h"
#include "glenside/interpret/interpret.h"
#include "base/random.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define SHAKE 0x1p-42 /* against the 2^-53 of f64 */
#define TINY  0x1p-1000

static bool
is_float(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  return !gs_dtype_table[d].integer;
}

/* From -1 to 1. */
static double
unit(uint64_t random) {
  return (double)(random >> 11) / (double)(1ull << 52) - 1;
}

bool
pv_rounds(gs_compute op, gs_dtype d) {
  assert(op < GS_COMPUTE_COUNT && d < GS_DTYPE_COUNT);
  gs_digits digits = gs_compute_table[op].digits;
  return is_float(d) && digits != GS_DIGITS_EXACT && digits != GS_DIGITS_STORED;
}

/* --- copying -------------------------------------------------------------- */

typedef struct copier {
  const gs_program *from;
  gs_program *to;
  pv_precision as;
  gs_term *made;
} copier;

static const char *
own_name(const gs_program *p, const gs_node *n) {
  return bs_as_sym(p->ctx.values, bs_item(p->ctx.values, n->attr, 0));
}

static gs_term
copy_constant(copier *c, const gs_node *n, const gs_type *type,
              const gs_constant *from) {
  gs_constant was = *from;
  gs_tensor made;
  gs_tensor source = gs_tensor_of(&was);
  gs_tensor_init(c->to->ctx.heap, &made, type);
  for (int64_t k = 0; k < made.elements; k++)
    gs_tensor_set(&made, k, gs_tensor_get(&source, k));
  return gs_add_constant(c->to, was.name, type, made.data, n->span);
}

static gs_term
add_compute(copier *c, gs_compute op, bs_value param, gs_term kid) {
  bs_values *values = c->to->ctx.values;
  bs_value items[2] = {bs_sym(values, gs_compute_table[op].name), param};
  bs_value o = bs_list(values, items, 2);
  gs_fault fault = {0};
  return gs_add(c->to, GS_COMPUTE, bs_list(values, &o, 1), &kid, 1, BS_NOWHERE,
                &fault);
}

static gs_term
add_cast(copier *c, gs_dtype to, gs_term kid) {
  assert(to < GS_DTYPE_COUNT);
  bs_value name = bs_sym(c->to->ctx.values, gs_dtype_table[to].name);
  return add_compute(c, GS_C_CAST, name, kid);
}

/* Rounds first, when the dtype is one that rounds. */
static gs_term
copy_cast(copier *c, gs_dtype to, gs_dtype from, gs_term kid) {
  bool rounds = is_float(to) && to != GS_F64 && to != from;
  if (!is_float(to) || rounds)
    kid = add_cast(c, to, kid);
  return is_float(to) && gs_term_ok(kid) ? add_cast(c, c->as.wide, kid) : kid;
}

/* The second move is for what falls below the least number. */
static gs_term
shaken(copier *c, gs_term t, uint32_t at) {
  uint64_t random = bs_mix(c->as.shake * BS_RANDOM_STEP + at);
  bs_values *values = c->to->ctx.values;
  bs_value by = bs_real(values, 1 + SHAKE * unit(random));
  t = add_compute(c, GS_C_SCALE, by, t);
  by = bs_real(values, TINY * unit(bs_mix(random)));
  return gs_term_ok(t) ? add_compute(c, GS_C_OFFSET, by, t) : t;
}

/* Parameters stay what they are in the own dtype. */
static bs_value
copy_parameters(const copier *c, bs_value attr, gs_compute op, gs_dtype own) {
  assert(op < GS_COMPUTE_COUNT);
  bs_values *values = c->to->ctx.values;
  const char *letters = gs_compute_table[op].params;
  bs_value o = bs_item(values, attr, 0), items[3] = {0};
  uint32_t n = (uint32_t)strlen(letters);
  if (!n || *letters != 'r' || !is_float(own))
    return attr;
  items[0] = bs_item(values, o, 0);
  for (uint32_t k = 0; k < n; k++)
    items[k + 1] = bs_real(values, gs_parameter_value(values, o, k, own));
  o = bs_list(values, items, n + 1);
  return bs_list(values, &o, 1);
}

static gs_term
copy_compute(copier *c, gs_term t, gs_dtype own, const gs_term *kids) {
  const gs_node *n = gs_at(c->from, t);
  gs_compute op = GS_C_ADD;
  gs_type kid;
  gs_fault fault = {0};
  gs_compute_of(c->from->ctx.values, bs_item(c->from->ctx.values, n->attr, 0),
                &op);
  gs_type_at(c->from, n->kids[0], &kid);
  if (op == GS_C_CAST)
    return copy_cast(c, own, kid.dtype, kids[0]);
  gs_term made = gs_add(c->to, n->op, copy_parameters(c, n->attr, op, own),
                        kids, n->n_kids, n->span, &fault);
  bool moves = c->as.shake && gs_term_ok(made) && pv_rounds(op, own);
  return moves ? shaken(c, made, t.i) : made;
}

static gs_term
copy_node(copier *c, gs_term t) {
  const gs_node *n = gs_at(c->from, t);
  const gs_constant *constant =
      n->op == GS_CONST ? gs_find_constant(c->from, own_name(c->from, n))
                        : NULL;
  gs_type type;
  gs_fault fault = {0};
  gs_type_at(c->from, t, &type);
  gs_dtype own = type.dtype;
  if (is_float(type.dtype))
    type.dtype = c->as.wide;
  if (constant)
    return copy_constant(c, n, &type, constant);
  if (n->op == GS_TENSOR || n->op == GS_CONST)
    return gs_add_tensor(c->to, own_name(c->from, n), &type, n->span);
  gs_term kids[2] = {GS_NO_TERM, GS_NO_TERM};
  for (uint32_t k = 0; k < n->n_kids && k < 2; k++)
    kids[k] = c->made[n->kids[k].i];
  if (n->op == GS_COMPUTE)
    return copy_compute(c, t, own, kids);
  return gs_add(c->to, n->op, n->attr, kids, n->n_kids, n->span, &fault);
}

static void
set_up(pv_precise *x) {
  bs_arena *arena = x->p->ctx.arena;
  x->inputs = BS_NEWS(arena, gs_tensor, x->p->inputs.len + (size_t)1);
  x->outputs = BS_NEWS(arena, gs_tensor, x->p->outputs.len + (size_t)1);
  for (uint32_t k = 0; k < x->p->inputs.len; k++) {
    gs_type type;
    gs_type_at(x->p, x->p->inputs.data[k].term, &type);
    gs_tensor_init(x->p->ctx.heap, &x->inputs[k], &type);
  }
}

bool
pv_precise_make(pv_session *s, uint32_t k, pv_precision as, bool all,
                pv_precise *out) {
  assert(k < s->n_pairs);
  const gs_program *from = s->plain;
  const pv_pair *pair = &s->pairs[k];
  uint32_t n = from->nodes.len;
  copier c = {.from = from, .as = as};
  uint8_t *live = bs_calloc(s->ctx.heap, n + (size_t)1, 1);
  *out = (pv_precise){.p = gs_program_new(&s->ctx, NULL)};
  c.to = out->p;
  c.made = BS_NEWS(s->ctx.arena, gs_term, n + (size_t)1);
  pv_mark(from, pair, 1, live);
  bool ok = true;
  for (uint32_t i = 0; i < n && ok; i++) {
    c.made[i] = live[i] ? copy_node(&c, (gs_term){i}) : GS_NO_TERM;
    ok = !live[i] || gs_term_ok(c.made[i]);
  }
  if (ok) {
    gs_add_output(c.to, "left", c.made[pair->left.i], BS_NOWHERE);
    gs_add_output(c.to, "right", c.made[pair->right.i], BS_NOWHERE);
  }
  for (uint32_t i = 0; i < n && ok && all; i++)
    if (live[i] && gs_at(from, (gs_term){i})->op == GS_COMPUTE)
      gs_add_output(c.to, pv_say(s, "%u", i), c.made[i], BS_NOWHERE);
  bs_free(s->ctx.heap, live);
  if (ok)
    set_up(out);
  else
    out->p = NULL;
  return ok;
}

/* --- evaluation ----------------------------------------------------------- */

/* Up to 1 part in 128, and 1/128 where there is nothing. */
static double
moved(double x, uint64_t random) {
  return x + unit(random) / 128 * fmax(1, fabs(x));
}

static bool
same_name(const gs_program *a, uint32_t i, const gs_program *b, uint32_t k) {
  assert(i < a->inputs.len && k < b->inputs.len);
  return !strcmp(a->inputs.data[i].name, b->inputs.data[k].name);
}

void
pv_precise_load(pv_precise *x, const gs_program *given, const gs_tensor *inputs,
                uint64_t move) {
  for (uint32_t k = 0; k < x->p->inputs.len; k++)
    for (uint32_t i = 0; i < given->inputs.len; i++) {
      gs_tensor *to = &x->inputs[k];
      gs_dtype d = inputs[i].dtype;
      if (!same_name(x->p, k, given, i))
        continue;
      for (int64_t e = 0; e < to->elements; e++) {
        double v = gs_tensor_get(&inputs[i], e);
        if (move && is_float(d) && isfinite(v))
          v = gs_convert(d, moved(v, bs_mix(move * BS_RANDOM_STEP +
                                            (uint64_t)e * 31 + k)));
        gs_tensor_set(to, e, v);
      }
    }
}

void
pv_precise_bound(pv_precise *x) {
  x->bounds =
      BS_NEWS(x->p->ctx.arena, gs_tensor, x->p->outputs.len + (size_t)1);
}

void
pv_precise_watch(pv_session *s, pv_precise *x) {
  uint32_t n = x->p->nodes.len, made = 0;
  for (uint32_t k = 0; k < n; k++) {
    const gs_node *node = gs_at(x->p, (gs_term){k});
    if (node->op != GS_COMPUTE)
      continue;
    gs_term ends[2] = {node->kids[0], {k}};
    for (uint32_t i = 0; i < 2; i++)
      gs_add_output(x->p, pv_say(s, "watched %u", made++), ends[i], BS_NOWHERE);
  }
  x->outputs =
      BS_NEWS(x->p->ctx.arena, gs_tensor, x->p->outputs.len + (size_t)1);
}

bool
pv_precise_run(pv_precise *x) {
  assert(x->inputs && x->outputs);
  for (uint32_t k = 0; x->ran && k < x->p->outputs.len; k++) {
    gs_tensor_done(x->p->ctx.heap, &x->outputs[k]);
    if (x->bounds)
      gs_tensor_done(x->p->ctx.heap, &x->bounds[k]);
  }
  x->ran = gs_interpret_bounded(x->p, x->inputs, x->outputs, x->bounds);
  return x->ran;
}
