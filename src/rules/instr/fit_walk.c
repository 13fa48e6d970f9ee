/* SPDX-License-Identifier: MIT */
/* fit_walk.c - a class of the e-graph walked down beside an instruction.
 *
 * Where an operator is expected, any node of the class that has it will do;
 * else the walk goes through a view, the one that leads to an array in the best
 * way (fit_ways.c) of those that only move digits.  It meets no class twice. */
#include "glenside/array/tensor.h"
#include "rules/instr/fit.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Classes that several nodes compute, and such nodes, of which others than the
 * first are tried. */
enum { MOST_TURNS = 12, MOST_PAST = 3 };
enum { MOST_VIEWS = 64, MOST_WAITING = 64 };

typedef struct place {
  uint32_t node; /* of the instruction */
  uint32_t parent;
  eg_class cls;
  rl_index x;
} place;

typedef struct walk {
  fit_match *m;
  uint32_t swaps, n;
  place waiting[MOST_WAITING];
  bool failed;
} walk;

static const bs_values *
values_of(const fit_match *m) {
  return m->session->ctx.values;
}

static void
later(walk *w, uint32_t node, uint32_t parent, eg_class c, const rl_index *x) {
  assert(node < w->m->f->n_nodes);
  if (w->n == MOST_WAITING)
    w->failed = true;
  else
    w->waiting[w->n++] = (place){node, parent, c, *x};
}

bool
fit_go_through(fit_match *m, eg_node node, eg_class *c, rl_index *x) {
  uint32_t n_kids, which;
  gs_op op = (gs_op)eg_op(m->graph, node);
  const eg_class *kids = eg_kids(m->graph, node, &n_kids);
  const gs_type *types[2];
  if (op == GS_COMPUTE || op == GS_CALL || !n_kids || n_kids > 2)
    return false;
  for (uint32_t k = 0; k < n_kids; k++)
    types[k] = fit_class_type(m, kids[k]);
  if (!rl_digits_down(&m->digits, values_of(m), op, eg_attr(m->graph, node),
                      fit_class_type(m, *c), types, x, &which))
    return false;
  *c = eg_find(m->graph, kids[which]);
  return true;
}

/* Of which class the walk is at which elements, and where it was before. */
typedef struct trail {
  eg_class cls;
  rl_index x;
  uint32_t n;
  eg_class was[MOST_VIEWS];
} trail;

static void
set_out(trail *t, const place *at) {
  t->cls = at->cls;
  t->x = at->x;
  t->n = 0;
}

static bool
was_at(const trail *t, eg_class c) {
  for (uint32_t k = 0; k < t->n; k++)
    if (t->was[k].i == c.i)
      return true;
  return false;
}

/* It has other elements than what it shows, or those in an order that no digits
 * tell.  Where that is the best way down, its class is what a call is given. */
static bool
ends_walk(const fit_match *m, eg_node node, eg_class c) {
  uint32_t n_kids, op = eg_op(m->graph, node);
  const eg_class *kids = eg_kids(m->graph, node, &n_kids);
  return op == GS_WINDOWS ||
         (gs_op_is((gs_op)op, GS_SAME_AXES) &&
          !gs_type_equal(fit_class_type(m, c), fit_class_type(m, kids[0])));
}

/* One view down; false: there is none that only moves digits. */
static bool
go_down(fit_match *m, trail *t) {
  fit_ways ways;
  fit_find_ways(m, t->cls, &ways);
  if (t->n == MOST_VIEWS)
    return false;
  t->was[t->n++] = t->cls;
  for (uint32_t k = 0; k < ways.n; k++) {
    eg_class c = t->cls;
    rl_index x = t->x;
    uint32_t digits = m->digits.n;
    if (fit_go_through(m, ways.node[k], &c, &x) && !was_at(t, c)) {
      t->cls = c;
      t->x = x;
      return true;
    }
    rl_digits_undo(&m->digits, digits);
    if (ends_walk(m, ways.node[k], t->cls))
      return false;
  }
  return false;
}

bool
fit_computes(const fit_match *m, eg_node node, gs_compute op, bs_value *spec) {
  assert(op < GS_COMPUTE_COUNT);
  gs_compute found;
  if (eg_op(m->graph, node) != GS_COMPUTE)
    return false;
  *spec = bs_item(values_of(m), eg_attr(m->graph, node), 0);
  return gs_compute_of(values_of(m), *spec, &found) && found == op;
}

/* The compute node behind `past` others, or else the first; their number. */
static uint32_t
find_nth(const fit_match *m, eg_class c, gs_compute op, uint32_t past,
         bs_value *spec, eg_class *kid) {
  assert(op < GS_COMPUTE_COUNT);
  uint32_t n, n_kids, found = 0;
  const eg_node *nodes = eg_class_nodes(m->graph, c, &n);
  for (uint32_t k = 0; k < n; k++) {
    bs_value own;
    if (!fit_computes(m, nodes[k], op, &own))
      continue;
    if (!found || found == past) {
      *spec = own;
      *kid = eg_find(m->graph, eg_kids(m->graph, nodes[k], &n_kids)[0]);
    }
    found++;
  }
  return found;
}

/* A compute node of the class, of the root's the one that is looked at; the
 * operand's class, or EG_NO_CLASS. */
static eg_class
find_compute(fit_match *m, eg_class c, gs_compute op, bs_value *spec) {
  eg_class kid = EG_NO_CLASS;
  if (c.i == m->root.i) {
    *spec = m->spec;
    return m->op == op ? m->kid : EG_NO_CLASS;
  }
  uint32_t past = m->several == m->turn ? m->past : 0;
  m->several += find_nth(m, c, op, past, spec, &kid) > 1;
  return kid;
}

/* ---- operators ---- */

static bool
takes_number(fit_match *m, uint32_t slot, bs_value v) {
  assert(slot < m->f->instr->scope.vars.len);
  bs_values *values = m->session->ctx.values;
  double x = bs_as_real(values, v);
  bool real = m->f->instr->scope.vars.data[slot].sort == GS_SORT_REAL;
  bool whole = fabs(x) < 0x1p53 && x == (double)(int64_t)x;
  if (bs_kind_of(values, v) == BS_KIND_REAL && whole)
    v = bs_int(values, (int64_t)x);
  if (bs_kind_of(values, v) != BS_KIND_INT &&
      !(real && bs_kind_of(values, v) == BS_KIND_REAL))
    return false;
  if (m->slots[slot] == UINT32_MAX)
    m->slots[slot] = v.i;
  return m->slots[slot] == v.i;
}

static bool
same_number(const bs_values *values, bs_value a, bs_value b) {
  bs_kind x = bs_kind_of(values, a), y = bs_kind_of(values, b);
  if ((x == BS_KIND_INT || x == BS_KIND_REAL) &&
      (y == BS_KIND_INT || y == BS_KIND_REAL))
    return bs_as_real(values, a) == bs_as_real(values, b);
  return bs_same(a, b);
}

/* Whether a declared operator, with its parameters, is that of a node. */
static bool
same_operator(fit_match *m, const gs_expr *e, bs_value spec) {
  const bs_values *values = values_of(m);
  if (e->kind == GS_X_LITERAL)
    return bs_same(e->literal, spec);
  if (e->kind != GS_X_CALL || bs_kind_of(values, spec) != BS_KIND_LIST ||
      bs_len(values, spec) != e->n_args)
    return false;
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *arg = e->args[k];
    bs_value v = bs_item(values, spec, k);
    bool same = arg->kind == GS_X_LITERAL ? same_number(values, arg->literal, v)
                : arg->kind == GS_X_VAR && arg->slot < m->f->instr->n_params
                    ? takes_number(m, arg->slot, v)
                    : false;
    if (!same)
      return false;
  }
  return true;
}

/* ---- bounds ---- */

/* Integers below the lowest one and above the highest one: relu is a clip. */
typedef struct bounds {
  double low, high;
} bounds;

static bool
bounds_of(const bs_values *values, bs_value spec, gs_dtype dtype, bounds *out) {
  assert(dtype < GS_DTYPE_COUNT);
  gs_compute op;
  if (!gs_dtype_table[dtype].integer || !gs_compute_of(values, spec, &op) ||
      (op != GS_C_RELU && op != GS_C_CLIP))
    return false;
  *out = op == GS_C_RELU ? (bounds){0, (double)gs_dtype_most(dtype)}
                         : (bounds){gs_parameter_value(values, spec, 0, dtype),
                                    gs_parameter_value(values, spec, 1, dtype)};
  return true;
}

/* The operator as declared, if it has no parameters of the instruction. */
static bool
written_out(fit_match *m, const gs_expr *e, bs_value *out) {
  bs_value items[GS_MAX_RANK];
  if (e->kind == GS_X_LITERAL) {
    *out = e->literal;
    return true;
  }
  if (e->kind != GS_X_CALL || e->n_args > GS_MAX_RANK)
    return false;
  for (uint32_t k = 0; k < e->n_args; k++) {
    if (e->args[k]->kind != GS_X_LITERAL)
      return false;
    items[k] = e->args[k]->literal;
  }
  *out = bs_list(m->session->ctx.values, items, e->n_args);
  return true;
}

/* A node that bounds what it is over as the declared operator does, in other
 * words; the operand's class, or EG_NO_CLASS. */
static eg_class
find_bounds(fit_match *m, const fit_node *n, eg_class c) {
  static const gs_compute bounding[] = {GS_C_RELU, GS_C_CLIP};
  bounds want, have;
  bs_value spec;
  if (!n->spec || !written_out(m, n->spec, &spec) ||
      !bounds_of(values_of(m), spec, n->dtype, &want))
    return EG_NO_CLASS;
  for (uint32_t k = 0; k < sizeof bounding / sizeof *bounding; k++) {
    eg_class kid = find_compute(m, c, bounding[k], &spec);
    if (kid.i != UINT32_MAX && bounds_of(values_of(m), spec, n->dtype, &have) &&
        have.low == want.low && have.high == want.high)
      return kid;
  }
  return EG_NO_CLASS;
}

static eg_class
find_operator(fit_match *m, const fit_node *n, eg_class c) {
  bs_value spec;
  eg_class kid = find_compute(m, c, n->op, &spec);
  if (kid.i != UINT32_MAX && (!n->spec || same_operator(m, n->spec, spec)))
    return kid;
  return find_bounds(m, n, c);
}

/* ---- nodes ---- */

static void
later_items(walk *w, uint32_t node, eg_class tuple, const rl_index *x) {
  assert(node < w->m->f->n_nodes);
  const fit_node *n = &w->m->f->node[node];
  const gs_type *type = fit_class_type(w->m, tuple);
  bool swap = n->swap >= 0 && w->swaps >> n->swap & 1;
  for (uint32_t k = 0; k < n->n_kids && !w->failed; k++) {
    rl_index y = *x;
    rl_row item = {.item = swap ? n->n_kids - 1 - k : k};
    if (y.rank == GS_MAX_RANK) {
      w->failed = true;
      return;
    }
    rl_index_insert(&y, type->access, &item);
    later(w, n->kid[k], node, tuple, &y);
  }
}

static bool
has_items(const walk *w, uint32_t node, eg_class tuple) {
  const gs_type *type = fit_class_type(w->m, tuple);
  return type->rank > type->access &&
         type->dim[type->access] == w->m->f->node[node].n_kids;
}

/* A sum of products spelled as a dot product: both nodes at once. */
static bool
take_dot(walk *w, uint32_t sum, uint32_t product, eg_class c,
         const rl_index *x) {
  assert(sum < w->m->f->n_nodes && product < w->m->f->n_nodes);
  const fit_node *s = &w->m->f->node[sum], *p = &w->m->f->node[product];
  bs_value spec;
  if (s->op != GS_C_REDUCE_SUM || p->is_operand || p->reduces ||
      p->op != GS_C_MUL || p->dtype != s->dtype ||
      fit_class_type(w->m, c)->dtype != s->dtype)
    return false;
  eg_class kid = find_compute(w->m, c, GS_C_DOT_PROD, &spec);
  if (kid.i == UINT32_MAX || !has_items(w, product, kid))
    return false;
  const gs_type *type = fit_class_type(w->m, kid);
  rl_index y = *x;
  rl_digits_push(&w->m->digits, type, type->access + 1u, type->rank, s->group,
                 &y);
  later_items(w, product, kid, &y);
  return true;
}

/* What a reduction is over. */
static bool
take_reduction(walk *w, uint32_t node, uint32_t next, eg_class c,
               const rl_index *x) {
  assert(node < w->m->f->n_nodes);
  const fit_node *n = &w->m->f->node[node];
  bs_value spec;
  if (fit_class_type(w->m, c)->dtype != n->dtype)
    return false;
  eg_class kid = find_compute(w->m, c, n->op, &spec);
  if (kid.i == UINT32_MAX)
    return false;
  const gs_type *type = fit_class_type(w->m, kid);
  rl_index y = *x;
  rl_digits_push(&w->m->digits, type, type->access, type->rank, n->group, &y);
  later(w, next, node, kid, &y);
  return true;
}

static bool
is_associative(const fit_node *n) {
  return gs_compute_table[n->op].is_associative;
}

/* Without a reduction the one element is what it is over. */
static void
walk_reduction(walk *w, const place *at) {
  const fit_node *n = &w->m->f->node[at->node];
  trail t;
  set_out(&t, at);
  do {
    if (take_dot(w, at->node, n->kid[0], t.cls, &t.x) ||
        take_reduction(w, at->node, n->kid[0], t.cls, &t.x))
      return;
  } while (go_down(w->m, &t));
  if (is_associative(n))
    later(w, n->kid[0], at->node, at->cls, &at->x);
  else
    w->failed = true;
}

static bool
take_operator(walk *w, uint32_t node, eg_class c, const rl_index *x) {
  assert(node < w->m->f->n_nodes);
  const fit_node *n = &w->m->f->node[node];
  gs_compute_kind kind = gs_compute_table[n->op].kind;
  if (fit_class_type(w->m, c)->dtype != n->dtype)
    return false;
  eg_class kid = find_operator(w->m, n, c);
  if (kid.i == UINT32_MAX)
    return false;
  if (kind != GS_FOLD && kind != GS_SELECT) {
    later(w, n->kid[0], node, kid, x);
    return true;
  }
  if (!has_items(w, node, kid))
    return false;
  later_items(w, node, kid, x);
  return true;
}

static const fit_node *
parent_of(const walk *w, const place *at) {
  return at->parent == UINT32_MAX ? NULL : &w->m->f->node[at->parent];
}

/* A dtype whose values the other one holds. */
static bool
is_held_by(gs_dtype small, gs_dtype large) {
  return gs_sum_dtype(small) == large && small != large;
}

/* Products of a sum are exact in its dtype, whatever dtype the factors have:
 * a cast of a factor to it changes nothing. */
static bool
skips_cast(walk *w, const place *at) {
  const fit_node *n = &w->m->f->node[at->node], *up = parent_of(w, at);
  gs_dtype have = fit_class_type(w->m, at->cls)->dtype;
  if (n->op != GS_C_CAST || !up || up->op != GS_C_MUL || !up->of_dot ||
      have == n->dtype || !is_held_by(have, n->dtype) || up->dtype != n->dtype)
    return false;
  later(w, n->kid[0], at->node, at->cls, &at->x);
  return true;
}

static void
found_leaf(walk *w, uint32_t operand, const trail *t) {
  assert(operand < FIT_OPERANDS);
  w->m->leaf[operand] = t->cls;
  w->m->index[operand] = t->x;
  w->m->has_leaf[operand] = true;
}

/* The cast of an operand that stands below views through which digits tell
 * nothing: the operand is these views of what is cast. */
static bool
take_cast_below(walk *w, uint32_t node, trail *t) {
  const fit_node *n = &w->m->f->node[node], *kid;
  if (n->op != GS_C_CAST || fit_class_type(w->m, t->cls)->dtype != n->dtype)
    return false;
  kid = &w->m->f->node[n->kid[0]];
  if (!kid->is_operand ||
      !fit_uncast(w->m, kid->dtype, &t->cls, &w->m->uncast[kid->operand]))
    return false;
  found_leaf(w, kid->operand, t);
  return true;
}

static void
walk_operator(walk *w, const place *at) {
  const fit_node *up = parent_of(w, at);
  trail t;
  if (skips_cast(w, at))
    return;
  set_out(&t, at);
  do {
    if (take_operator(w, at->node, t.cls, &t.x) ||
        (up && up->reduces && is_associative(up) &&
         (take_dot(w, at->parent, at->node, t.cls, &t.x) ||
          take_reduction(w, at->parent, at->node, t.cls, &t.x))))
      return;
  } while (go_down(w->m, &t));
  w->failed = !take_cast_below(w, at->node, &t);
}

/* ---- operands ---- */

/* What is cast to the dtype of a product for its sake, or to one between, is
 * read as it is. */
static bool
ignores_cast(const walk *w, const place *at, eg_class c) {
  const fit_node *n = &w->m->f->node[at->node], *up = parent_of(w, at);
  gs_dtype have = fit_class_type(w->m, c)->dtype;
  return up && up->of_dot && is_held_by(n->dtype, up->dtype) &&
         (have == up->dtype || is_held_by(have, up->dtype)) &&
         gs_dtype_holds(have, n->dtype);
}

static bool
undo_cast(const walk *w, const place *at, eg_class *c) {
  eg_class kid = ignores_cast(w, at, *c)
                     ? fit_uncast_once(w->m, *c, w->m->f->node[at->node].dtype)
                     : EG_NO_CLASS;
  if (kid.i == UINT32_MAX)
    return false;
  *c = kid;
  return true;
}

/* An operand that is reduced over may be a reduction of that kind itself, or
 * what that one is over. */
static bool
goes_on(const walk *w, const place *at) {
  const fit_node *up = parent_of(w, at);
  return w->swaps >> w->m->f->n_swaps & 1 && up && up->reduces &&
         is_associative(up);
}

/* Through a cast that is ignored, or a view of what is no array itself. */
static bool
go_on(const walk *w, const place *at, trail *t) {
  bool fits =
      fit_class_type(w->m, t->cls)->dtype == w->m->f->node[at->node].dtype;
  if (!fits && undo_cast(w, at, &t->cls))
    return true;
  return (!fits || goes_on(w, at) || !fit_is_array(w->m, t->cls)) &&
         go_down(w->m, t);
}

static void
walk_operand(walk *w, const place *at) {
  const fit_node *n = &w->m->f->node[at->node];
  trail t;
  set_out(&t, at);
  do {
    if (goes_on(w, at) && take_reduction(w, at->parent, at->node, t.cls, &t.x))
      return;
  } while (go_on(w, at, &t));
  if (fit_class_type(w->m, t.cls)->dtype != n->dtype &&
      !(ignores_cast(w, at, t.cls) &&
        fit_uncast(w->m, n->dtype, &t.cls, &w->m->uncast[n->operand]))) {
    w->failed = true;
    return;
  }
  found_leaf(w, n->operand, &t);
}

static void
walk_place(walk *w, const place *at) {
  const fit_node *n = &w->m->f->node[at->node];
  if (n->is_operand)
    walk_operand(w, at);
  else if (n->reduces)
    walk_reduction(w, at);
  else
    walk_operator(w, at);
}

/* Whether the operators are there; what they are over is in leaves then. */
static bool
walk_once(fit_match *m, uint32_t swaps) {
  walk *w = bs_calloc(m->session->ctx.heap, 1, sizeof *w);
  rl_digits_clear(&m->digits);
  memset(m->has_leaf, 0, sizeof m->has_leaf);
  memset(m->slots, 0xff, sizeof m->slots);
  m->several = 0;
  for (uint32_t k = 0; k < FIT_OPERANDS; k++)
    m->uncast[k].n = 0;
  m->type = *fit_class_type(m, m->root);
  m->result = (rl_index){0};
  rl_digits_push(&m->digits, &m->type, 0, m->type.rank, 0, &m->result);
  w->m = m;
  w->swaps = swaps;
  later(w, 0, UINT32_MAX, m->root, &m->result);
  while (w->n && !w->failed && !m->digits.failed) {
    place at = w->waiting[--w->n];
    walk_place(w, &at);
  }
  bool ok = !w->failed && !m->digits.failed;
  bs_free(m->session->ctx.heap, w);
  return ok;
}

static bool
sees_the_same(fit_match *m) {
  bool ok = true;
  for (uint32_t k = 0; k < m->f->n_seen && ok; k++)
    ok = fit_is_same(m, k);
  return ok;
}

/* An operand that stands in the meaning twice may only be found as one if a
 * class on the way down is taken as another of its nodes. */
static bool
walk_others(fit_match *m, uint32_t swaps) {
  uint32_t several = m->several < MOST_TURNS ? m->several : MOST_TURNS;
  bool found = false;
  for (uint32_t i = 0; i < several * MOST_PAST && !found; i++) {
    m->turn = i / MOST_PAST;
    m->past = 1 + i % MOST_PAST;
    found = walk_once(m, swaps) && sees_the_same(m);
  }
  return found;
}

bool
fit_walk(fit_match *m, uint32_t swaps) {
  m->turn = UINT32_MAX;
  if (!walk_once(m, swaps))
    return false;
  if (!sees_the_same(m) && !walk_others(m, swaps))
    return false;
  for (uint32_t k = 0; k < m->f->n_seen; k++)
    rl_index_normalise(&m->digits, &m->index[k]);
  rl_index_normalise(&m->digits, &m->result);
  return !m->digits.failed;
}
