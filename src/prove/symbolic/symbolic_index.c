/* SPDX-License-Identifier: MIT */
/* symbolic_index.c - the element of a view at an index.
 *
 * An index is a list of numbers; a view turns it into one of its child by its
 * rows (symbolic_view.c).  Where it keeps the order of elements instead, places
 * are polynomials, and digits of a place are quotients. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

typedef struct at {
  fm_form *f;
  const fm_type *t, *child; /* of the node, of its first child */
  const fm_number *index;
  fm_number *to;
} at;

static fm_number
minus(fm_form *f, fm_number a, fm_number b) {
  return fm_combine(f, 1, a, -1, b, 0);
}

/* --- reshapes ------------------------------------------------------------- */

/* Dimensions that are not known to be one, and indices there. */
typedef struct group {
  uint32_t n, place[GS_MAX_RANK];
  fm_number dim[GS_MAX_RANK];
} group;

static group
group_of(fm_form *f, const fm_type *t, uint32_t from, uint32_t to) {
  assert(from <= to && to <= t->rank);
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
  assert(oi <= oj && oj <= o->n && ci <= cj && cj <= c->n);
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
  assert(o0 <= o1 && c0 <= c1);
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

/* Where the element stands; kept apart, so that its frame is gone when the
 * child is looked at. */
static __attribute__((noinline)) void
follow(fm_form *f, const fm_side *side, const fm_node *node,
       const fm_number *index, fm_place *out) {
  at x = {f, &node->type, &side->node[node->sk->kids[0]].type, index, out->to};
  *out = (fm_place){0};
  if (node->sk->op != GS_MATERIALIZE)
    fm_follow_view(f, side, node, index, out);
  else
    memcpy(out->to, index, node->type.rank * sizeof *index);
  if (out->keeps_order)
    reshape(&x);
}

/* As deep as the term is, which has FM_NODES at most. */
pv_value
fm_element(fm_form *f, const fm_side *side, uint32_t at_node,
           const fm_number *index) {
  assert(at_node < side->skeleton->n);
  const fm_node *node = &side->node[at_node];
  if (f->why || f->elements.failed || ++f->work > 20000) {
    fm_fail(f, "too much work");
    return 0;
  }
  if (node->sk->hole)
    return fm_leaf(f, node->sk->slot, node->type.dtype, &node->type, index);
  if (node->sk->op == GS_COMPUTE)
    return fm_compute_element(f, side, node, index);
  fm_place x;
  follow(f, side, node, index, &x);
  if (f->why || x.value)
    return f->why ? 0 : x.value;
  return fm_element(f, side, node->sk->kids[x.kid], x.to);
}
