/* SPDX-License-Identifier: MIT */
/* symbolic_type.c - types over parameters, one function an operator.
 *
 * They say what glenside/infer_views.c says.  What an operator needs of its
 * children is known of the left side, since it has a type, and must be shown
 * of the right one. */
#include "prove/form.h"
#include <string.h>

typedef struct infer {
  fm_form *f;
  fm_side *side;
  fm_node *node;
  const fm_type *a, *b;
  fm_type *t;
} infer;

static void
fail(const infer *x) {
  fm_fail(x->f, "attributes that are not known");
}

/* A constant item from 0 to most, which is at least 0. */
static uint32_t
item(const infer *x, uint32_t k, uint32_t most) {
  const fm_value *v = &x->node->attr[k];
  int64_t c = -1;
  if (v->kind != FM_INT || !fm_is_constant(x->f, v->at[0], &c) || c < 0 ||
      c > most) {
    fail(x);
    return 0;
  }
  return (uint32_t)c;
}

/* An axis of the first child. */
static uint32_t
axis(const infer *x, uint32_t k) {
  if (!x->a->rank) {
    fail(x);
    return 0;
  }
  return item(x, k, x->a->rank - 1);
}

static fm_number
number(const infer *x, uint32_t k) {
  if (x->node->attr[k].kind != FM_INT)
    fail(x);
  return x->node->attr[k].at[0];
}

static bool
is_list(const infer *x, uint32_t k, uint32_t n) {
  if (x->node->attr[k].kind == FM_LIST && x->node->attr[k].n == n)
    return true;
  fail(x);
  return false;
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

static void
same(const infer *x, const fm_number *a, const fm_number *b, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    fm_need_equal(x->f, a[k], b[k]);
}

static void
of_access(const infer *x) {
  x->t->access = item(x, 0, x->a->rank);
}

static void
of_transpose(const infer *x) {
  uint32_t seen = 0;
  if (!is_list(x, 0, x->a->rank))
    return;
  for (uint32_t k = 0; k < x->a->rank; k++) {
    int64_t p;
    if (!fm_is_constant(x->f, x->node->attr[0].at[k], &p) || p < 0 ||
        p >= x->a->rank || seen >> p & 1) {
      fail(x);
      return;
    }
    seen |= 1u << p;
    x->t->dim[k] = x->a->dim[p];
  }
}

/* S of one or of both, a tuple of two, C. */
static void
of_tuple(const infer *x, bool both) {
  const fm_type *a = x->a, *b = x->b;
  fm_number two = fm_constant(x->f, 2);
  if (a->rank - a->access != b->rank - b->access || a->dtype != b->dtype) {
    fail(x);
    return;
  }
  same(x, a->dim + a->access, b->dim + b->access, a->rank - a->access);
  x->t->rank = 0;
  push(x, a->dim, a->access);
  if (both)
    push(x, b->dim, b->access);
  x->t->access = x->t->rank;
  push(x, &two, 1);
  push(x, a->dim + a->access, a->rank - a->access);
}

static void
of_cartprod(const infer *x) {
  of_tuple(x, true);
}

static void
of_pair(const infer *x) {
  if (x->a->access != x->b->access)
    fail(x);
  else {
    same(x, x->a->dim, x->b->dim, x->a->access);
    of_tuple(x, false);
  }
}

static void
of_windows(const infer *x) {
  fm_form *f = x->f;
  uint32_t s = x->a->access, n = x->a->rank - s;
  fm_value *v = x->node->attr;
  if (v[2].kind == FM_UNKNOWN && !x->node->sk->attrs[2])
    for (v[2] = (fm_value){.kind = FM_LIST}; v[2].n < n; v[2].n++)
      v[2].at[v[2].n] = fm_constant(f, 1);
  if (!n || !is_list(x, 0, n) || !is_list(x, 1, n) || !is_list(x, 2, n)) {
    fail(x);
    return;
  }
  x->t->rank = s;
  for (uint32_t k = 0; k < n && !f->why; k++) {
    fm_number size = v[0].at[k], c = x->a->dim[s + k];
    for (uint32_t i = 0; i < 3; i++)
      fm_need_at_least(f, v[i].at[k], 1);
    /* what is left behind the first window */
    fm_number gaps = fm_combine(f, 1, size, 0, size, -1);
    fm_number width = fm_product(f, v[2].at[k], gaps);
    fm_number left = fm_combine(f, 1, c, -1, width, -1);
    fm_need_at_least(f, left, 0);
    fm_number q = fm_quotient(f, left, v[1].at[k]);
    fm_number count = fm_combine(f, 1, q, 0, q, 1);
    push(x, &count, 1);
  }
  x->t->access = x->t->rank;
  push(x, v[0].at, n);
}

/* A slice of [lo, hi). */
static void
of_slice(const infer *x) {
  fm_form *f = x->f;
  uint32_t d = axis(x, 0);
  fm_number lo = number(x, 1), hi = number(x, 2);
  if (f->why)
    return;
  fm_number size = fm_combine(f, 1, hi, -1, lo, 0);
  fm_need_at_least(f, lo, 0);
  fm_need_at_least(f, size, 1);
  fm_need_at_least(f, fm_combine(f, 1, x->a->dim[d], -1, hi, 0), 0);
  x->t->dim[d] = size;
}

static void
of_concat(const infer *x) {
  const fm_type *a = x->a, *b = x->b;
  uint32_t d = axis(x, 0);
  if (a->access != b->access || a->rank != b->rank || a->dtype != b->dtype) {
    fail(x);
    return;
  }
  for (uint32_t k = 0; k < a->rank; k++)
    if (k != d)
      fm_need_equal(x->f, a->dim[k], b->dim[k]);
  x->t->dim[d] = fm_combine(x->f, 1, a->dim[d], 1, b->dim[d], 0);
}

static void
of_pad(const infer *x) {
  uint32_t d = axis(x, 1);
  fm_number before = number(x, 2), after = number(x, 3);
  if (x->node->attr[0].kind != FM_DATUM)
    fail(x);
  if (x->f->why)
    return;
  fm_need_at_least(x->f, before, 0);
  fm_need_at_least(x->f, after, 0);
  fm_number sum = fm_combine(x->f, 1, before, 1, after, 0);
  x->t->dim[d] = fm_combine(x->f, 1, x->a->dim[d], 1, sum, 0);
}

static void
of_squeeze(const infer *x) {
  uint32_t d = axis(x, 0);
  if (x->f->why)
    return;
  fm_need(x->f, fm_combine(x->f, 1, x->a->dim[d], 0, x->a->dim[d], -1), true);
  x->t->rank = 0;
  push(x, x->a->dim, d);
  push(x, x->a->dim + d + 1, x->a->rank - d - 1);
  x->t->access = x->a->access - (d < x->a->access);
}

static void
of_insert_axis(const infer *x) {
  uint32_t d = item(x, 0, x->a->rank);
  fm_number one = fm_constant(x->f, 1);
  x->t->rank = 0;
  push(x, x->a->dim, d);
  push(x, &one, 1);
  push(x, x->a->dim + d, x->a->rank - d);
  x->t->access = x->a->access + (d <= x->a->access);
}

/* A dimension of one is repeated, any other stays: where nothing says which
 * it is, both are looked at. */
static bool
expands(const infer *x, fm_number from, fm_number to) {
  fm_form *f = x->f;
  if (fm_is_equal(f, from, to))
    return false;
  if (fm_is_one(f, from))
    return true;
  fm_number more = fm_combine(f, 1, from, 0, from, -2);
  if (!fm_implied(f, more, false)) {
    if (fm_choose(f)) {
      fm_assume(f, fm_combine(f, 1, from, 0, from, -1), true);
      return true;
    }
    fm_assume(f, more, false);
  }
  fm_need_equal(f, from, to);
  return false;
}

static void
of_broadcast(const infer *x) {
  if (!is_list(x, 0, x->a->rank))
    return;
  for (uint32_t k = 0; k < x->a->rank; k++) {
    x->t->dim[k] = x->node->attr[0].at[k];
    fm_need_at_least(x->f, x->t->dim[k], 1);
    if (expands(x, x->a->dim[k], x->t->dim[k]))
      x->node->expands |= 1u << k;
  }
}

static fm_number
product(const infer *x, const fm_number *dim, uint32_t n) {
  fm_number p = fm_constant(x->f, 1);
  for (uint32_t k = 0; k < n; k++)
    p = fm_product(x->f, p, dim[k]);
  return p;
}

static void
of_flatten(const infer *x) {
  uint32_t s = x->a->access, n = x->a->rank - s;
  fm_number p = product(x, x->a->dim, s), q = product(x, x->a->dim + s, n);
  x->t->rank = 0;
  push(x, &p, s ? 1 : 0);
  x->t->access = x->t->rank;
  push(x, &q, n ? 1 : 0);
}

static void
reshape_side(const infer *x, const fm_value *v, const fm_number *from,
             uint32_t n) {
  if (v->kind != FM_LIST) {
    fail(x);
    return;
  }
  for (uint32_t k = 0; k < v->n; k++)
    fm_need_at_least(x->f, v->at[k], 1);
  fm_need_equal(x->f, product(x, from, n), product(x, v->at, v->n));
  push(x, v->at, v->n);
}

static void
of_reshape(const infer *x) {
  uint32_t s = x->a->access;
  x->t->rank = 0;
  reshape_side(x, &x->node->attr[0], x->a->dim, s);
  x->t->access = x->t->rank;
  reshape_side(x, &x->node->attr[1], x->a->dim + s, x->a->rank - s);
}

static void
of_repeat(const infer *x) {
  uint32_t d = axis(x, 0);
  fm_number factor = number(x, 1);
  if (x->f->why)
    return;
  fm_need_at_least(x->f, factor, 1);
  x->t->dim[d] = fm_product(x->f, factor, x->a->dim[d]);
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
  int bits = op == GS_C_CLIP ? gs_dtype_table[d].bytes * 8 : 32;
  bool sign = op != GS_C_CLIP || gs_dtype_table[d].is_signed;
  *least = sign ? -(INT64_C(1) << (bits - 1)) : 0;
  *most = (INT64_C(1) << (sign ? bits - 1 : bits)) - 1;
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
  if (gs_dtype_table[x->a->dtype].integer && !gs_compute_takes_integers(o->op))
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
  if (!fm_operator_of(x->f, x->node->sk->attrs[0], o) || !is_typed(x, o)) {
    fm_fail(x->f, "an operator that is not known");
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
of_materialize(const infer *x) {
  (void)x;
}

static void (*const of_op[GS_OP_COUNT])(const infer *) = {
    [GS_ACCESS] = of_access,       [GS_TRANSPOSE] = of_transpose,
    [GS_CARTPROD] = of_cartprod,   [GS_PAIR] = of_pair,
    [GS_WINDOWS] = of_windows,     [GS_SLICE] = of_slice,
    [GS_CONCAT] = of_concat,       [GS_PAD] = of_pad,
    [GS_SQUEEZE] = of_squeeze,     [GS_INSERT_AXIS] = of_insert_axis,
    [GS_BROADCAST] = of_broadcast, [GS_FLATTEN] = of_flatten,
    [GS_RESHAPE] = of_reshape,     [GS_REPEAT] = of_repeat,
    [GS_COMPUTE] = of_compute,     [GS_MATERIALIZE] = of_materialize,
};

static void
infer_node(fm_form *f, fm_side *side, fm_node *node) {
  const gs_sk_node *sk = node->sk;
  if (sk->hole) {
    node->type = *fm_type_of(f, sk->slot);
    return;
  }
  if (!of_op[sk->op] || sk->n_attrs > FM_ATTRS || !sk->n_kids) {
    fm_fail(f, "a call or an input");
    return;
  }
  for (uint32_t k = 0; k < sk->n_attrs && sk->op != GS_COMPUTE; k++)
    node->attr[k] = sk->attrs[k] ? fm_eval(f, sk->attrs[k])
                                 : (fm_value){.kind = FM_UNKNOWN};
  infer x = {f,
             side,
             node,
             &side->node[sk->kids[0]].type,
             &side->node[sk->kids[sk->n_kids - 1]].type,
             &node->type};
  node->type = *x.a;
  of_op[sk->op](&x);
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
