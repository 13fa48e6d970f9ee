/* SPDX-License-Identifier: MIT */
/* symbolic_type.c - types over parameters; those of views are in
 * symbolic_view.c. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

typedef struct infer {
  fm_form *f;
  fm_node *node;
  const fm_type *a;
  fm_type *t;
} infer;

static void
fail(const infer *x) {
  fm_fail(x->f, "attributes that are not known");
}

static void
push(const infer *x, const fm_number *dim, uint32_t n) {
  if (x->t->rank + n > GS_MAX_RANK) {
    fail(x);
    return;
  }
  memcpy(x->t->dim + x->t->rank, dim, n * sizeof *dim);
  x->t->rank += n;
}

/* The bounds of a clip are in order: numbers, or those of one on the left. */
static bool
is_clip(const infer *x, const fm_operator *o) {
  const fm_side *left = &x->f->side[0];
  if (o->param[0].written && o->param[1].written)
    return o->param[0].real <= o->param[1].real;
  for (uint32_t k = 0; k < left->skeleton->n; k++) {
    const fm_operator *p = &left->node[k].o;
    if (left->node[k].sk && !left->node[k].sk->hole &&
        left->node[k].sk->op == GS_COMPUTE && p->op == GS_C_CLIP && !p->any &&
        !memcmp(p->param, o->param, sizeof p->param))
      return true;
  }
  return false;
}

/* What an integer dtype takes as a literal: values of the dtype as bounds of
 * a clip, 32 bits elsewhere. */
static void
range_of(gs_compute op, gs_dtype d, int64_t *least, int64_t *most) {
  gs_dtype of = op == GS_C_CLIP ? d : GS_I32;
  *least = gs_dtype_least(of);
  *most = gs_dtype_most(of);
}

/* A literal that some operator of the left side has, of no wider range. */
static bool
is_given(const infer *x, const fm_operator *o, fm_number literal) {
  const fm_side *left = &x->f->side[0];
  int64_t least, most, low, high;
  range_of(o->op, x->a->dtype, &least, &most);
  for (uint32_t k = 0; k < left->skeleton->n; k++) {
    const fm_node *n = &left->node[k];
    if (!n->sk || n->sk->hole || n->sk->op != GS_COMPUTE)
      continue;
    gs_dtype d = left->node[n->sk->kids[0]].type.dtype;
    range_of(n->o.op, d, &low, &high);
    if (!gs_dtype_table[d].integer || low < least || high > most)
      continue;
    for (uint32_t i = 0; i < n->o.n; i++)
      if (!n->o.param[i].written && n->o.param[i].number == literal)
        return true;
  }
  return false;
}

/* Are the literals in it whole, as an integer dtype of the left side has
 * them? */
static bool
is_whole(const infer *x, const fm_operator *o, fm_number n) {
  fm_form *f = x->f;
  fm_poly p = f->number[n];
  for (uint32_t k = 0; k < p.n; k++) {
    fm_mono m = f->mono[f->term[p.at + k].mono];
    for (uint32_t i = 0; i < m.n; i++)
      if (f->var[m.var[i]].kind == FM_V_LITERAL &&
          !is_given(x, o, fm_of_variable(f, m.var[i])))
        return false;
  }
  return true;
}

static bool
is_bounded(const infer *x, fm_number n, int64_t least, int64_t most) {
  fm_form *f = x->f;
  fm_number minus = fm_combine(f, -1, n, 0, n, 0);
  for (uint32_t k = 0; k < f->n_bounds; k++) {
    const fm_bound *b = &f->bound[k];
    if ((b->number == fm_normal(f, n) || b->number == fm_normal(f, minus)) &&
        b->most <= most && -b->most >= least)
      return true;
  }
  return false;
}

/* Is the literal one that an integer dtype takes?  It may be computed. */
static bool
fits_integer(const infer *x, const fm_operator *o, uint32_t k) {
  assert(k < o->n);
  fm_form *f = x->f;
  fm_number n = o->param[k].number;
  double real = o->param[k].real;
  int64_t least, most;
  range_of(o->op, x->a->dtype, &least, &most);
  if (o->param[k].written)
    return real >= (double)least && real <= (double)most &&
           (double)(int64_t)real == real;
  if (f->number[n].real)
    return is_given(x, o, n) ||
           (is_whole(x, o, n) && is_bounded(x, n, least, most));
  return fm_at_least(f, n, least) &&
         fm_at_least(f, fm_combine(f, -1, n, 0, n, 0), -most);
}

/* The size of a lookup's table is held against its operand (of_lookup). */
static bool
has_literals(const infer *x, const fm_operator *o) {
  if (o->op == GS_C_CAST || o->op == GS_C_LOOKUP ||
      !gs_dtype_table[x->a->dtype].integer)
    return true;
  for (uint32_t k = 0; k < o->n; k++)
    if (!fits_integer(x, o, k))
      return false;
  return true;
}

/* Is the operator applied to such a dtype on the left side? */
static bool
is_applied(const infer *x, const fm_operator *o) {
  const fm_side *left = &x->f->side[0];
  for (uint32_t k = 0; k < left->skeleton->n; k++) {
    const fm_node *n = &left->node[k];
    if (n->sk && !n->sk->hole && n->sk->op == GS_COMPUTE && n->o.any &&
        n->o.slot == o->slot &&
        left->node[n->sk->kids[0]].type.dtype == x->a->dtype)
      return true;
  }
  return false;
}

static bool
is_typed(const infer *x, const fm_operator *o) {
  gs_compute_kind kind = gs_compute_table[o->op].kind;
  if (!gs_compute_takes(o->op, x->a->dtype))
    return false;
  if (kind != GS_ELEMENTWISE && kind != GS_CAST && x->a->rank == x->a->access)
    return false;
  if (o->any)
    return !x->f->right || is_applied(x, o);
  return !x->f->right ||
         (has_literals(x, o) && (o->op != GS_C_CLIP || is_clip(x, o)));
}

/* The first `drop` dimensions of C go. */
static void
drop(const infer *x, uint32_t n) {
  uint32_t s = x->a->access;
  x->t->rank = s;
  push(x, x->a->dim + s + n, x->a->rank - s - n);
}

static void
need_tuple(const infer *x, int64_t size) {
  assert(x->a->access <= x->a->rank);
  fm_number n = x->a->dim[x->a->access];
  fm_need(x->f, fm_combine(x->f, 1, n, 0, n, -size), true);
  drop(x, 1);
}

/* Behind a table of n there is one index at least.  An integer dtype takes n
 * as a literal: one that it took on the left, or a constant. */
static void
of_lookup(const infer *x) {
  fm_form *f = x->f;
  fm_operator *o = &x->node->o;
  fm_number n = o->param[0].number;
  if (x->a->rank != x->a->access + 1 || o->param[0].written ||
      f->number[n].real) {
    fail(x);
    return;
  }
  fm_number *items = &x->t->dim[x->a->access];
  fm_need_at_least(f, n, 1);
  *items = fm_combine(f, 1, *items, -1, n, 0);
  fm_need_at_least(f, *items, 1);
  if (f->right && gs_dtype_table[x->a->dtype].integer && !is_given(x, o, n) &&
      !fits_integer(x, o, 0))
    fail(x);
}

static void
of_compute(const infer *x) {
  fm_operator *o = &x->node->o;
  const char *why = !fm_operator_of(x->f, x->node->sk->attrs[0], o)
                        ? "an operator that is not known"
                    : !is_typed(x, o)
                        ? "an operator that is not shown to take its operand"
                        : NULL;
  if (why) {
    fm_fail(x->f, why);
    return;
  }
  if (o->op != GS_C_CAST)
    x->t->dtype = gs_compute_dtype(o->op, x->a->dtype);
  else
    x->t->dtype = (gs_dtype)o->param[0].real;
  switch (gs_compute_table[o->op].kind) {
  case GS_REDUCE:
  case GS_DOT:
    drop(x, x->a->rank - x->a->access);
    return;
  case GS_FOLD:
    drop(x, 1);
    return;
  case GS_SELECT:
    need_tuple(x, 3);
    return;
  case GS_GATHER:
    need_tuple(x, 2);
    return;
  case GS_LOOKUP:
    of_lookup(x);
    return;
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SOFTMAX:
    return;
  }
}

static void
infer_node(fm_form *f, fm_side *side, fm_node *node) {
  const gs_sk_node *sk = node->sk;
  if (sk->hole) {
    node->type = *fm_type_of(f, sk->slot);
    return;
  }
  if (sk->op == GS_CALL || sk->n_attrs > FM_ATTRS || !sk->n_kids) {
    fm_fail(f, "a call or an input");
    return;
  }
  for (uint32_t k = 0; k < sk->n_attrs && sk->op != GS_COMPUTE; k++)
    node->attr[k] = sk->attrs[k] ? fm_eval(f, sk->attrs[k])
                                 : (fm_value){.kind = FM_UNKNOWN};
  infer x = {f, node, &side->node[sk->kids[0]].type, &node->type};
  node->type = *x.a;
  if (sk->op == GS_COMPUTE)
    of_compute(&x);
  else if (sk->op != GS_MATERIALIZE)
    fm_infer_view(f, side, node);
}

void
fm_infer_side(fm_form *f, fm_side *side) {
  if (!side->skeleton->n || side->skeleton->n > FM_NODES)
    fm_fail(f, "a large term");
  for (uint32_t k = 0; k < side->skeleton->n && !f->why; k++) {
    side->node[k] = (fm_node){.sk = &side->skeleton->nodes[k]};
    infer_node(f, side, &side->node[k]);
  }
}
