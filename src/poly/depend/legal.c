/* SPDX-License-Identifier: MIT */
/* legal.c - whether the nest keeps the dependences; see depend.h.
 *
 * The order of two instances is read off the tree: the loops around both
 * statements, then their places below the innermost of them.  So a question
 * about a dependence S -> T becomes one about the values of a few loops, and
 * no time longer than that is ever built. */
#include "poly/depend/depend.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/union_map.h>
#include <isl/val.h>

/* ---- questions, one dependence map at a time ---- */

typedef struct question {
  const po_program *p;
  uint32_t loop;               /* PO_NO_NODE: about the order of all */
  uint32_t lanes;              /* of a vector; 0: all iterations */
  const po_known_order *known; /* NULL: nothing is */
  isl_union_map *wrong;
  unsigned long *bound; /* of isl's operations, see po_limit_of_many */
} question;

/* floor(value / lanes), of loop value d of n. */
static __isl_give isl_aff *
block(isl_ctx *isl, uint32_t n, uint32_t d, uint32_t lanes) {
  assert(lanes >= 1 && d < n);
  isl_aff *aff = po_index(isl, n, d, 1, 0);
  aff = isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, (long)lanes));
  return isl_aff_floor(aff);
}

/* Pairs in different iterations of the loop (of one vector), those of the
 * loops around it being equal. */
static __isl_give isl_map *
across(const question *q, const po_stmt *source, const po_stmt *sink) {
  isl_ctx *isl = q->p->isl;
  uint32_t d = po_nest_depth(q->p, q->loop), n = d + 1;
  isl_space *space = isl_space_map_from_set(po_space(isl, n));
  isl_map *values = isl_map_universe(isl_space_copy(space));
  for (uint32_t k = 0; k < d; k++)
    values = isl_map_equate(values, isl_dim_in, (int)k, isl_dim_out, (int)k);
  isl_map *same = isl_map_equate(isl_map_universe(space), isl_dim_in, (int)d,
                                 isl_dim_out, (int)d);
  values = isl_map_subtract(values, same);
  if (q->lanes) {
    isl_map *to = isl_map_from_aff(block(isl, n, d, q->lanes));
    isl_map *back = isl_map_reverse(isl_map_copy(to));
    isl_map *together = isl_map_apply_range(to, back);
    values = isl_map_intersect(values, together);
  }
  return po_related(source, sink, n, values);
}

static isl_stat
ask(__isl_take isl_map *map, void *user) {
  question *q = user;
  const po_program *p = q->p;
  uint32_t s = po_stmt_named(p, isl_map_get_tuple_name(map, isl_dim_in));
  uint32_t t = po_stmt_named(p, isl_map_get_tuple_name(map, isl_dim_out));
  if (s >= p->stmts.len || t >= p->stmts.len) {
    isl_map_free(map);
    return isl_stat_error;
  }
  const po_stmt *source = &p->stmts.data[s], *sink = &p->stmts.data[t];
  if (q->known && q->known->pair(q->known->data, s, t)) {
    isl_map_free(map);
    return isl_stat_ok;
  }
  if (q->loop != PO_NO_NODE && !(po_nest_is_below(p, source->leaf, q->loop) &&
                                 po_nest_is_below(p, sink->leaf, q->loop))) {
    isl_map_free(map);
    return isl_stat_ok;
  }
  isl_map *wrong = q->loop == PO_NO_NODE ? po_not_before(p, source, sink)
                                         : across(q, source, sink);
  map = isl_map_intersect(map, wrong);
  isl_bool none = isl_map_is_empty(map);
  if (none == isl_bool_false)
    q->wrong = isl_union_map_union(q->wrong, isl_union_map_from_map(map));
  else
    isl_map_free(map);
  return none == isl_bool_error ? isl_stat_error : isl_stat_ok;
}

/* Nothing is wrong so far. */
static question
question_of(po_program *p, uint32_t loop, uint32_t lanes,
            const po_known_order *known, unsigned long *bound) {
  return (question){p,
                    loop,
                    lanes,
                    known,
                    isl_union_map_empty(isl_space_params_alloc(p->isl, 0)),
                    bound};
}

static bool
is_made_below(const po_program *p, uint32_t loop, uint32_t array) {
  assert(array < p->arrays.len);
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop))
    if (p->stmts.data[po_node(p, k)->stmt].array == array)
      return true;
  return false;
}

/* Whether a question about the array is answered without isl. */
static bool
is_known(const question *q, uint32_t array) {
  return q->known
             ? q->known->array[array]
             : q->loop != PO_NO_NODE && !is_made_below(q->p, q->loop, array);
}

/* Of one array; false where isl gave up. */
static bool
ask_through(po_program *p, question *q, uint32_t array, uint32_t kind) {
  assert(kind < PO_DEP_KINDS);
  const po_deps *deps = po_dependences_through(p, array);
  if (!deps)
    return false;
  po_limit limit = po_limit_of_many(p, PO_QUESTION, q->bound);
  bool ok = isl_union_map_foreach_map(deps->of[kind], ask, q) == isl_stat_ok;
  return (po_unlimit(&limit) && ok) ||
         bs_error(p->ctx.diags, BS_NOWHERE, "too-complex",
                  "the order of instances: the integer set library gave up");
}

static void
describe(po_program *p, po_dep_kind kind, question *q, po_violation *out) {
  const po_deps *all = out ? po_dependences(p) : NULL;
  if (all)
    po_describe(p, kind, q->wrong, isl_union_map_copy(all->of[kind]), out);
  else
    isl_union_map_free(q->wrong);
}

static bool
answer(po_program *p, uint32_t loop, uint32_t lanes, bool reductions,
       const po_known_order *known, po_violation *out) {
  if (out)
    *out = (po_violation){.pairs = -1, .violated = -1};
  uint32_t n = reductions ? PO_DEP_KINDS : PO_REDUCTION;
  unsigned long bound = 0;
  for (uint32_t kind = 0; kind < n; kind++) {
    question q = question_of(p, loop, lanes, known, &bound);
    for (uint32_t a = 0; a < p->arrays.len; a++)
      if (!is_known(&q, a) && !ask_through(p, &q, a, kind)) {
        isl_union_map_free(q.wrong);
        return false;
      }
    if (isl_union_map_is_empty(q.wrong) == isl_bool_true) {
      isl_union_map_free(q.wrong);
      continue;
    }
    describe(p, (po_dep_kind)kind, &q, out);
    return false;
  }
  return true;
}

/* ---- places that iterations share ---- */

static bool
is_inside(const po_program *p, uint32_t node, uint32_t loop) {
  return node == loop || po_nest_is_below(p, node, loop);
}

/* Every iteration of the loop, or every thread or block that runs some, has
 * an array of its own.  It is declared around all that use it (node), or
 * further out where loops carry values: none that has a mark does. */
static bool
is_own(const po_program *p, uint32_t k, uint32_t node, uint32_t loop) {
  const po_array *array = &p->arrays.data[k];
  const po_nest_node *l = po_node(p, loop);
  if (array->role != PO_LOCAL || node == PO_NO_NODE)
    return false;
  if (l->mark == PO_BIND &&
      (array->scope != PO_SHARED || l->bind < PO_THREAD_X))
    return true;
  if (!is_inside(p, node, loop))
    return false;
  return l->mark != PO_SERIAL && l->mark != PO_UNROLL
             ? !po_is_handed_on(p, k, loop)
             : is_inside(p, po_local_node(p, k, node), loop);
}

/* Of the accesses those by statements below the loop; takes them. */
static __isl_give isl_union_map *
only_below(const po_program *p, uint32_t loop, isl_union_map *accesses) {
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop))
    all = isl_union_set_add_set(
        all, isl_set_universe(
                 isl_set_get_space(p->stmts.data[po_node(p, k)->stmt].domain)));
  return isl_union_map_intersect_domain(accesses, all);
}

/* { S[i] -> T[j] } below the loop that use one place of a folded array, S to
 * write it. */
static __isl_give isl_union_map *
pairs_at_a_place(const po_program *p, uint32_t loop, uint32_t array) {
  po_accesses a = po_accesses_of(p, array);
  a.reads = only_below(p, loop, a.reads);
  a.updates = only_below(p, loop, a.updates);
  a.writes = only_below(p, loop, a.writes);
  isl_union_map *writes = isl_union_map_union(a.writes, a.updates);
  writes = po_to_places(p, array, writes);
  isl_union_map *all = isl_union_map_union(po_to_places(p, array, a.reads),
                                           isl_union_map_copy(writes));
  return isl_union_map_apply_range(writes, isl_union_map_reverse(all));
}

/* No two iterations (of one vector) use one place for different elements. */
static bool
places_are_apart(po_program *p, uint32_t loop, uint32_t lanes,
                 po_violation *out) {
  uint32_t *node = BS_NEWS(&p->arena, uint32_t, p->arrays.len + 1);
  po_find_common_nodes(p, node);
  unsigned long bound = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    if (!po_is_folded(array) || !is_made_below(p, loop, k) ||
        is_own(p, k, node[k], loop))
      continue;
    question q = question_of(p, loop, lanes, NULL, &bound);
    po_limit limit = po_limit_of_many(p, PO_QUESTION, q.bound);
    isl_union_map *pairs = pairs_at_a_place(p, loop, k);
    bool ok = isl_union_map_foreach_map(pairs, ask, &q) == isl_stat_ok;
    ok = po_unlimit(&limit) && ok;
    bool wrong = ok && isl_union_map_is_empty(q.wrong) == isl_bool_false;
    if (wrong && out) {
      po_describe(p, PO_OUTPUT_DEP, q.wrong, pairs, out);
      out->array = array->name;
      out->fold = true;
      return false;
    }
    isl_union_map_free(q.wrong);
    isl_union_map_free(pairs);
    if (wrong)
      return false;
    if (!ok)
      return bs_error(p->ctx.diags, BS_NOWHERE, "too-complex",
                      "places of %s: the integer set library gave up",
                      array->name);
  }
  return true;
}

/* The legality gate.  Whether the nest runs every source before its sink;
 * reductions in any order.  On false `out` holds one violated pair (or, when
 * isl gave up, a diagnostic was given and out->source is NULL). */
static bool
order_is_legal(po_program *p, po_violation *out) {
  return po_rest_is_in_order(p, NULL, out);
}

bool
po_rest_is_in_order(po_program *p, const po_known_order *known,
                    po_violation *out) {
  return answer(p, PO_NO_NODE, 0, false, known, out);
}

bool
po_loop_is_parallel(po_program *p, uint32_t loop, bool reductions_too,
                    po_violation *out) {
  assert(loop < p->nest.nodes.len && po_node(p, loop)->kind == PO_LOOP);
  /* Updates of one reduction share the place of its result. */
  return answer(p, loop, 0, reductions_too, NULL, out) &&
         (!reductions_too || places_are_apart(p, loop, 0, out));
}

bool
po_loop_is_vector(po_program *p, uint32_t loop, uint32_t lanes,
                  po_violation *out) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  return answer(p, loop, lanes, true, NULL, out) &&
         places_are_apart(p, loop, lanes, out);
}

/* ---- all ---- */

void
po_put_violation(const po_violation *v, bs_text *out) {
  if (v->fold && v->loop)
    bs_putf(out,
            "iterations of loop %s would use one place of %s for different "
            "elements: ",
            v->loop, v->array);
  else if (v->fold)
    bs_putf(out,
            "elements of %s that share a place are needed at once: ", v->array);
  else if (v->loop)
    bs_putf(out, "iterations of loop %s depend on each other: ", v->loop);
  else
    bs_put(out, "the order of instances would be wrong: ");
  bs_putf(out, "%s dependence through %s, %s -> %s%s", po_dep_names[v->kind],
          v->array, v->source, v->sink, v->sizes ? v->sizes : "");
  if (v->violated >= 0 && v->pairs >= 0)
    bs_putf(out, " (%lld of %lld pairs)", (long long)v->violated,
            (long long)v->pairs);
}

bool
po_mark_is_legal(po_program *p, uint32_t loop, po_violation *out) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  switch (po_node(p, loop)->mark) {
  case PO_PARALLEL:
  case PO_BIND:
    return po_loop_is_parallel(p, loop, true, out);
  case PO_VECTORIZE:
    return po_loop_is_vector(p, loop, po_node(p, loop)->lanes, out);
  case PO_SERIAL:
  case PO_UNROLL:
    break;
  }
  return true;
}

bool
po_marks_are_legal(po_program *p, uint32_t top, po_violation *out) {
  assert(top < p->nest.nodes.len);
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (po_node(p, k)->kind == PO_LOOP && !po_mark_is_legal(p, k, out)) {
      out->loop = po_node(p, k)->name;
      return false;
    }
  return true;
}

bool
po_program_is_legal(po_program *p, po_violation *out) {
  if (!order_is_legal(p, out))
    return false;
  for (uint32_t k = 0; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP && !po_mark_is_legal(p, k, out)) {
      out->loop = po_node(p, k)->name;
      return false;
    }
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (!po_folds_are_legal(p, k, out))
      return false;
  return true;
}
