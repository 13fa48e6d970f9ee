/* SPDX-License-Identifier: MIT */
/* sample.c - terms grown from patterns; see sample.h.
 *
 * The recursion follows the pattern, whose nesting the parser bounds. */
#include "rules/sample/sample.h"
#include <assert.h>
#include <string.h>

typedef struct place {
  const eg_term *part;
  uint32_t node;
} place;

static gs_term grow(rl_sampler *, place, const gs_type *goal);

static const eg_term_node *
at(place x) {
  return &x.part->nodes[x.node];
}

static place
kid(place x, uint32_t k) {
  return (place){x.part, at(x)->kids[k]};
}

static place
root_of(const eg_term *part) {
  return (place){part, part->n - 1};
}

/* --- variables ------------------------------------------------------------ */

static gs_term
bound_term(const rl_sampler *s, place x) {
  if (!at(x)->is_slot || s->slots[at(x)->slot] == UINT32_MAX)
    return GS_NO_TERM;
  return (gs_term){s->slots[at(x)->slot]};
}

/* Whether something below is bound: then its type decides. */
static bool
holds_bound(const rl_sampler *s, place x) {
  if (at(x)->is_slot)
    return gs_term_ok(bound_term(s, x));
  for (uint32_t k = 0; k < at(x)->n_kids; k++)
    if (holds_bound(s, kid(x, k)))
      return true;
  return false;
}

/* The :with pattern of the class in a slot, or NULL. */
static const eg_term *
pattern_of_slot(const rl_sampler *s, uint32_t slot, uint32_t *part) {
  assert(slot < s->parts->n_slots);
  for (uint32_t k = 1; k < s->parts->n_parts; k++)
    if (s->parts->root_slots[k] == slot && !s->growing[k]) {
      *part = k;
      return &s->parts->parts[k];
    }
  return NULL;
}

/* A tensor that is there already, now and then. */
static gs_term
reuse(rl_sampler *s, const gs_type *type) {
  gs_type t;
  for (uint32_t k = 0; k < s->p->nodes.len; k++) {
    gs_type_at(s->p, (gs_term){k}, &t);
    gs_op op = gs_at(s->p, (gs_term){k})->op;
    if ((op == GS_TENSOR || op == GS_ACCESS) && gs_type_equal(&t, type))
      return (gs_term){k};
  }
  return GS_NO_TERM;
}

static gs_term
leaf(rl_sampler *s, const gs_type *goal) {
  gs_type type;
  gs_term t = GS_NO_TERM;
  if (goal)
    type = *goal;
  else
    rl_draw_type(s, s->dtype, &type);
  if (gs_elements(&type) > s->sizes.max_elements)
    return t;
  if (rl_draw_one_in(s, 24))
    t = reuse(s, &type);
  return gs_term_ok(t) ? t : rl_draw_leaf(s, &type);
}

static gs_term
grow_slot(rl_sampler *s, place x, const gs_type *goal) {
  uint32_t part, slot = at(x)->slot;
  gs_term t = bound_term(s, x);
  gs_type type;
  if (!gs_term_ok(t)) {
    const eg_term *pattern = pattern_of_slot(s, slot, &part);
    if (pattern) {
      s->growing[part] = 1;
      t = grow(s, root_of(pattern), goal);
    } else {
      t = leaf(s, goal);
    }
    s->slots[slot] = t.i;
  }
  if (!gs_term_ok(t) || !goal)
    return t;
  gs_type_at(s->p, t, &type);
  return gs_type_equal(&type, goal) ? t : GS_NO_TERM;
}

/* --- hints ---------------------------------------------------------------- */

/* The type, as far as its compute side is known from bound variables. */
static bool
hint_of(const rl_sampler *s, place x, gs_type *out) {
  const eg_term_node *n = at(x);
  gs_term t = bound_term(s, x);
  if (gs_term_ok(t)) {
    gs_type_at(s->p, t, out);
    return true;
  }
  if (n->is_slot)
    return false;
  if (n->op == GS_CARTPROD || n->op == GS_PAIR) {
    gs_type side;
    if (!hint_of(s, kid(x, 0), &side) && !hint_of(s, kid(x, 1), &side))
      return false;
    if (side.rank == GS_MAX_RANK)
      return false;
    *out = side;
    memmove(out->dim + side.access + 1, side.dim + side.access,
            (side.rank - side.access) * sizeof *side.dim);
    out->dim[side.access] = 2;
    out->rank++;
    return true;
  }
  return n->op == GS_MATERIALIZE && hint_of(s, kid(x, 0), out);
}

/* --- operators ------------------------------------------------------------ */

static gs_term
finish(rl_sampler *s, rl_attr *a, const gs_term *kids, uint32_t n,
       const gs_type *goal) {
  gs_fault fault;
  gs_type type;
  bs_value attr;
  if (!rl_attr_close(a, &attr))
    return GS_NO_TERM;
  gs_term t = gs_add(s->p, a->node->op, attr, kids, n, BS_NOWHERE, &fault);
  if (!gs_term_ok(t))
    return t;
  gs_type_at(s->p, t, &type);
  if (gs_elements(&type) > s->sizes.max_elements ||
      (goal && !gs_type_equal(&type, goal)))
    return GS_NO_TERM;
  return t;
}

/* What a child that is a tuple should look like: any operand with a first
 * compute dimension of two. */
static bool
hint_for(rl_sampler *s, place x, gs_type *out) {
  if (hint_of(s, x, out))
    return true;
  if (at(x)->is_slot || (at(x)->op != GS_CARTPROD && at(x)->op != GS_PAIR))
    return false;
  rl_draw_type(s, s->dtype, out);
  out->access = 0;
  out->rank += !out->rank;
  out->dim[0] = 2;
  return true;
}

static gs_term
grow_down(rl_sampler *s, place x, rl_attr *a, const gs_type *goal) {
  gs_type child, hint;
  bool hinted = hint_for(s, kid(x, 0), &hint);
  if (!rl_sample_down(a, goal, hinted ? &hint : NULL, &child))
    return GS_NO_TERM;
  gs_term t = grow(s, kid(x, 0), &child);
  return gs_term_ok(t) ? finish(s, a, &t, 1, goal) : t;
}

static gs_term
grow_up(rl_sampler *s, place x, rl_attr *a) {
  gs_type child;
  gs_term t = grow(s, kid(x, 0), NULL);
  if (!gs_term_ok(t))
    return t;
  gs_type_at(s->p, t, &child);
  return rl_sample_up(a, &child) ? finish(s, a, &t, 1, NULL) : GS_NO_TERM;
}

static gs_term
grow_unary(rl_sampler *s, place x, const gs_type *goal) {
  rl_attr a;
  gs_type result;
  rl_attr_open(s, at(x), &a);
  if (goal)
    return grow_down(s, x, &a, goal);
  if (s->upward || holds_bound(s, kid(x, 0)) || rl_draw_one_in(s, 2))
    return grow_up(s, x, &a);
  rl_draw_result(&a, &result);
  return grow_down(s, x, &a, &result);
}

/* So many elements a concat has at least along its axis, with those that it
 * holds; one for anything else. */
static int64_t
least_size(place x) {
  if (at(x)->is_slot || at(x)->op != GS_CONCAT)
    return 1;
  return least_size(kid(x, 0)) + least_size(kid(x, 1));
}

/* The other side of a binary operator, of which `x` is made, when one is
 * there. */
static bool
other_side(rl_attr *a, place x, const gs_type *t, gs_type *other) {
  gs_type fresh;
  *other = *t;
  if (a->node->op == GS_CONCAT) {
    if (!rl_sample_up(a, t))
      return false;
    other->dim[rl_attr_int(a, 0)] = rl_draw_dim(a->s) + least_size(x) - 1;
  } else if (a->node->op == GS_CARTPROD) {
    uint32_t items = (uint32_t)t->rank - t->access;
    rl_draw_type(a->s, t->dtype, &fresh);
    other->access = fresh.access;
    other->rank = (uint8_t)(fresh.access + items);
    if (other->rank > GS_MAX_RANK)
      return false;
    memcpy(other->dim, fresh.dim, fresh.access * sizeof *fresh.dim);
    memcpy(other->dim + fresh.access, t->dim + t->access,
           items * sizeof *t->dim);
  }
  return true;
}

static gs_term
grow_pair_up(rl_sampler *s, place x, rl_attr *a) {
  uint32_t first = !holds_bound(s, kid(x, 0)) && holds_bound(s, kid(x, 1));
  gs_term kids[2];
  gs_type t, other;
  kids[first] = grow(s, kid(x, first), NULL);
  if (!gs_term_ok(kids[first]))
    return GS_NO_TERM;
  gs_type_at(s->p, kids[first], &t);
  if (!other_side(a, kid(x, !first), &t, &other))
    return GS_NO_TERM;
  kids[!first] = grow(s, kid(x, !first), &other);
  return gs_term_ok(kids[!first]) ? finish(s, a, kids, 2, NULL) : GS_NO_TERM;
}

/* How many of the result's access dimensions are the left operand's. */
static uint32_t
split_access(rl_sampler *s, place x, const gs_type *goal) {
  gs_type t;
  gs_term a = bound_term(s, kid(x, 0)), b = bound_term(s, kid(x, 1));
  if (gs_term_ok(a)) {
    gs_type_at(s->p, a, &t);
    return t.access;
  }
  if (gs_term_ok(b)) {
    gs_type_at(s->p, b, &t);
    return goal->access > t.access ? (uint32_t)goal->access - t.access : 0;
  }
  return (uint32_t)rl_draw(s, goal->access + 1u);
}

/* One item of a tuple of two whose access side is [lo, hi) of the goal's. */
static bool
side_type(const gs_type *goal, uint32_t lo, uint32_t hi, gs_type *out) {
  assert(lo <= hi);
  uint32_t items = (uint32_t)goal->rank - goal->access;
  if (!items || goal->dim[goal->access] != 2 || hi > goal->access)
    return false;
  *out = (gs_type){.dtype = goal->dtype, .access = (uint8_t)(hi - lo)};
  out->rank = (uint8_t)(hi - lo + items - 1);
  memcpy(out->dim, goal->dim + lo, (hi - lo) * sizeof *goal->dim);
  memcpy(out->dim + (hi - lo), goal->dim + goal->access + 1,
         (items - 1) * sizeof *goal->dim);
  return true;
}

static bool
sides_down(rl_sampler *s, place x, rl_attr *a, const gs_type *goal,
           gs_type *sides) {
  uint32_t n = goal->access;
  if (at(x)->op == GS_PAIR)
    return side_type(goal, 0, n, &sides[0]) && side_type(goal, 0, n, &sides[1]);
  if (at(x)->op == GS_CARTPROD) {
    uint32_t cut = split_access(s, x, goal);
    return side_type(goal, 0, cut, &sides[0]) && cut <= n &&
           side_type(goal, cut, n, &sides[1]);
  }
  if (!rl_sample_up(a, goal))
    return false;
  int64_t d = rl_attr_int(a, 0), least = least_size(kid(x, 0));
  int64_t spare = goal->dim[d] - least - least_size(kid(x, 1));
  if (spare < 0)
    return false;
  sides[0] = sides[1] = *goal;
  sides[0].dim[d] = least + (int64_t)rl_draw(s, (uint64_t)spare + 1);
  sides[1].dim[d] = goal->dim[d] - sides[0].dim[d];
  return true;
}

static gs_term
grow_binary(rl_sampler *s, place x, const gs_type *goal) {
  rl_attr a;
  gs_type sides[2];
  gs_term kids[2];
  rl_attr_open(s, at(x), &a);
  if (!goal)
    return grow_pair_up(s, x, &a);
  if (!sides_down(s, x, &a, goal, sides))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < 2; k++) {
    kids[k] = grow(s, kid(x, k), &sides[k]);
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  }
  return finish(s, &a, kids, 2, goal);
}

static gs_term
grow(rl_sampler *s, place x, const gs_type *goal) {
  const eg_term_node *n = at(x);
  if (n->is_slot)
    return grow_slot(s, x, goal);
  if (n->op == GS_CALL)
    return rl_sample_call(s, x.part, x.node, goal);
  if (n->n_kids == 1)
    return grow_unary(s, x, goal);
  return n->n_kids == 2 ? grow_binary(s, x, goal) : rl_sample_input(s, n, goal);
}

gs_term
rl_grow(rl_sampler *s, const eg_term *part, uint32_t node,
        const gs_type *goal) {
  assert(node < part->n);
  return grow(s, (place){part, node}, goal);
}

gs_term
rl_sample_terms(rl_sampler *s) {
  memset(s->slots, 0xff, s->parts->n_slots * sizeof *s->slots);
  memset(s->growing, 0, s->parts->n_parts);
  rl_choose_huge(s);
  if (s->parts->n_equal && rl_draw_one_in(s, 2))
    rl_grant_wishes(s);
  gs_term root = grow(s, root_of(&s->parts->parts[0]), NULL);
  for (uint32_t k = 1; gs_term_ok(root) && k < s->parts->n_parts; k++) {
    if (s->growing[k])
      continue;
    s->growing[k] = 1;
    uint32_t slot = s->parts->root_slots[k];
    gs_term t = grow(s, root_of(&s->parts->parts[k]), NULL);
    if (slot != UINT32_MAX && gs_term_ok(t) && s->slots[slot] != UINT32_MAX &&
        s->slots[slot] != t.i)
      t = GS_NO_TERM;
    root = gs_term_ok(t) ? root : t;
  }
  return root;
}
