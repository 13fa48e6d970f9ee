/* SPDX-License-Identifier: MIT */
/* symbolic_index.c - the element of a view at an index.
 *
 * An index is a list of numbers; a view turns it into one of its child, and
 * where it depends on the index which child that is, cases are told apart.
 * Row-major places are polynomials; digits of a place are quotients. */
#include "prove/form.h"
#include <string.h>

typedef struct at {
  fm_form *f;
  const fm_side *side;
  const fm_node *node;
  const fm_type *t, *child; /* of the node, of its first child */
  const fm_number *index;
  fm_number to[GS_MAX_RANK];
  uint32_t kid;
  pv_value value; /* when it is known without the child */
} at;

static uint32_t
axis(const at *x, uint32_t k) {
  int64_t c = 0;
  if (!fm_is_constant(x->f, x->node->attr[k].at[0], &c))
    fm_fail(x->f, "an axis that is not constant");
  return (uint32_t)c;
}

static void
same_from(at *x, uint32_t i, uint32_t o, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    x->to[i + k] = x->index[o + k];
}

static void
same(at *x) {
  same_from(x, 0, 0, x->t->rank);
}

static fm_number
minus(fm_form *f, fm_number a, fm_number b) {
  return fm_combine(f, 1, a, -1, b, 0);
}

static void
transpose(at *x) {
  for (uint32_t k = 0; k < x->t->rank; k++) {
    int64_t p = 0;
    fm_is_constant(x->f, x->node->attr[0].at[k], &p);
    x->to[p] = x->index[k];
  }
}

static void
tuple(at *x) {
  const fm_type *first = x->child;
  fm_number which = x->index[x->t->access];
  /* 0 or 1 */
  x->kid = fm_decide(x->f, fm_combine(x->f, 1, which, 0, which, -1));
  x->child = &x->side->node[x->node->sk->kids[x->kid]].type;
  uint32_t from = x->node->sk->op == GS_CARTPROD && x->kid ? first->access : 0;
  same_from(x, 0, from, x->child->access);
  same_from(x, x->child->access, x->t->access + 1,
            x->child->rank - x->child->access);
}

static void
windows(at *x) {
  fm_form *f = x->f;
  uint32_t a = x->child->access, n = x->child->rank - a;
  same_from(x, 0, 0, a);
  for (uint32_t k = 0; k < n; k++) {
    fm_number step = fm_product(f, x->node->attr[1].at[k], x->index[a + k]);
    fm_number item = fm_product(f, x->node->attr[2].at[k], x->index[a + n + k]);
    x->to[a + k] = fm_combine(f, 1, step, 1, item, 0);
  }
}

static void
slice(at *x) {
  uint32_t d = axis(x, 0);
  same(x);
  x->to[d] = fm_combine(x->f, 1, x->to[d], 1, x->node->attr[1].at[0], 0);
}

static void
concat(at *x) {
  uint32_t d = axis(x, 0);
  fm_number behind = minus(x->f, x->index[d], x->child->dim[d]);
  same(x);
  x->kid = fm_decide(x->f, behind);
  if (x->kid)
    x->to[d] = behind;
}

static void
pad(at *x) {
  fm_form *f = x->f;
  uint32_t d = axis(x, 1);
  const char *how = bs_as_sym(f->values, x->node->attr[0].datum);
  gs_dtype dtype = x->t->dtype;
  fm_number in = minus(f, x->index[d], x->node->attr[2].at[0]);
  fm_number last = fm_combine(f, 1, x->child->dim[d], 0, in, -1);
  bool before = !fm_decide(f, in);
  bool behind = !before && !fm_decide(f, minus(f, last, in));
  same(x);
  x->to[d] = in;
  if (!before && !behind)
    return;
  if (!strcmp(how, "edge"))
    x->to[d] = before ? fm_constant(f, 0) : last;
  else if (!strcmp(how, "zero"))
    x->value = pv_number_value(&f->elements, dtype, PV_ZERO);
  else if (!strcmp(how, "min"))
    x->value = pv_lowest(&f->elements, dtype);
  else
    fm_fail(f, "a kind of padding");
}

static void
squeeze(at *x) {
  uint32_t d = axis(x, 0);
  same_from(x, 0, 0, d);
  x->to[d] = fm_constant(x->f, 0);
  same_from(x, d + 1, d, x->t->rank - d);
}

static void
insert_axis(at *x) {
  uint32_t d = axis(x, 0);
  same_from(x, 0, 0, d);
  same_from(x, d, d + 1, x->child->rank - d);
}

static void
broadcast(at *x) {
  same(x);
  for (uint32_t k = 0; k < x->t->rank; k++)
    if (x->node->expands >> k & 1)
      x->to[k] = fm_constant(x->f, 0);
}

static void
repeat(at *x) {
  uint32_t d = axis(x, 0);
  same(x);
  x->to[d] = fm_quotient(x->f, x->index[d], x->node->attr[1].at[0]);
}

/* --- reshapes ------------------------------------------------------------- */

/* Dimensions that are not known to be one, and indices there. */
typedef struct group {
  uint32_t n, place[GS_MAX_RANK];
  fm_number dim[GS_MAX_RANK];
} group;

static group
group_of(fm_form *f, const fm_type *t, uint32_t from, uint32_t to) {
  group g = {0};
  for (uint32_t k = from; k < to; k++)
    if (!fm_is_one(f, t->dim[k])) {
      g.place[g.n] = k;
      g.dim[g.n++] = t->dim[k];
    }
  return g;
}

/* Indices `i` to `j` of the one side, as digits of the other's i to j. */
static void
block(at *x, const group *o, uint32_t oi, uint32_t oj, const group *c,
      uint32_t ci, uint32_t cj) {
  fm_form *f = x->f;
  fm_number place = fm_constant(f, 0);
  for (uint32_t k = oi; k < oj; k++)
    place = fm_combine(f, 1, fm_product(f, place, o->dim[k]), 1,
                       x->index[o->place[k]], 0);
  for (uint32_t k = cj; k-- > ci && !f->why;) {
    if (k == ci) {
      x->to[c->place[k]] = place;
      return;
    }
    fm_number q = fm_quotient(f, place, c->dim[k]);
    x->to[c->place[k]] = minus(f, place, fm_product(f, q, c->dim[k]));
    place = q;
  }
}

/* Blocks end where both sides have as many elements.  Both have as many in
 * all, so that what is left over on one side is of one element. */
static void
reshape_group(at *x, uint32_t o0, uint32_t o1, uint32_t c0, uint32_t c1) {
  fm_form *f = x->f;
  group o = group_of(f, x->t, o0, o1), c = group_of(f, x->child, c0, c1);
  uint32_t i = 0, j = 0;
  for (uint32_t k = c0; k < c1; k++)
    x->to[k] = fm_constant(f, 0);
  while (i < o.n && j < c.n && !f->why) {
    fm_number a = o.dim[i], b = c.dim[j];
    uint32_t p = i + 1, q = j + 1;
    bool found = fm_is_equal(f, a, b);
    for (uint32_t n = i + 1; n <= o.n && !found; n++) {
      a = n == i + 1 ? a : fm_product(f, a, o.dim[n - 1]);
      b = c.dim[j];
      for (uint32_t m = j + 1; m <= c.n && !found; m++) {
        b = m == j + 1 ? b : fm_product(f, b, c.dim[m - 1]);
        found = fm_normal(f, a) == fm_normal(f, b);
        p = n;
        q = m;
      }
    }
    if (!found) {
      p = o.n;
      q = c.n;
    }
    block(x, &o, i, p, &c, j, q);
    i = p;
    j = q;
  }
}

static void
reshape(at *x) {
  uint32_t a = x->child->access, b = x->t->access;
  reshape_group(x, 0, b, 0, a);
  reshape_group(x, b, x->t->rank, a, x->child->rank);
}

static void (*const step_of[GS_OP_COUNT])(at *) = {
    [GS_ACCESS] = same,         [GS_TRANSPOSE] = transpose,
    [GS_CARTPROD] = tuple,      [GS_PAIR] = tuple,
    [GS_WINDOWS] = windows,     [GS_SLICE] = slice,
    [GS_CONCAT] = concat,       [GS_PAD] = pad,
    [GS_SQUEEZE] = squeeze,     [GS_INSERT_AXIS] = insert_axis,
    [GS_BROADCAST] = broadcast, [GS_FLATTEN] = reshape,
    [GS_RESHAPE] = reshape,     [GS_REPEAT] = repeat,
    [GS_MATERIALIZE] = same,
};

/* As deep as the term is, which has FM_NODES at most. */
pv_value
fm_element(fm_form *f, const fm_side *side, uint32_t at_node,
           const fm_number *index) {
  const fm_node *node = &side->node[at_node];
  if (f->why || f->elements.failed || ++f->work > 20000) {
    fm_fail(f, "too much work");
    return 0;
  }
  if (node->sk->hole)
    return fm_leaf(f, node->sk->slot, node->type.dtype, &node->type, index);
  if (node->sk->op == GS_COMPUTE)
    return fm_compute_element(f, side, node, index);
  at x = {.f = f,
          .side = side,
          .node = node,
          .t = &node->type,
          .child = &side->node[node->sk->kids[0]].type,
          .index = index};
  step_of[node->sk->op](&x);
  if (f->why || x.value)
    return f->why ? 0 : x.value;
  return fm_element(f, side, node->sk->kids[x.kid], x.to);
}
