/* SPDX-License-Identifier: MIT */
/* memory_join.c - calls that go on with what another nest summed.
 *
 * A sum whose length no tile divides is one of most of its items, and calls of
 * a nest of its own that add what is left to it.  So are two products that are
 * added.  The first nest would store its sums and the second one load them
 * again.  Where nobody else reads them, both are one nest instead: its further
 * calls run behind the last call of a sum, whose place they share.
 *
 *   for each: { for sum: call -> array }     for each: { for sum: call -> sum,
 *   for each: more (array) -> result     =>             at the last: more }
 */
#include "poly/memory/memory_part.h"
#include "poly/loops/affine.h"
#include "glenside/call/over.h"
#include <assert.h>
#include <string.h>

typedef struct joining {
  po_program *p;
  uint32_t sums, more;       /* the nests, children of the root */
  const po_calls *x, *y;     /* their calls */
  const po_value *begins;    /* of y: what its calls add to */
  uint32_t dim[GS_MAX_RANK]; /* of y's loops: those of x that they become */
} joining;

/* ---- what can be joined ---- */

/* The calls add to sums in a memory that lowering left in an array, and read
 * that for nothing else. */
static bool
find_begins(joining *j) {
  const po_calls *y = j->y;
  for (uint32_t k = 0; k < y->n_values; k++) {
    const po_value *v = &y->value[k];
    if (!v->memory || !v->loaded || !v->written || v->to == v->array ||
        j->p->arrays.data[v->array].role != PO_WORKSPACE)
      continue;
    if (j->begins)
      return false;
    j->begins = v;
  }
  for (uint32_t k = 0; k < y->n_values && j->begins; k++)
    if (&y->value[k] != j->begins && y->value[k].array == j->begins->array)
      return false;
  return j->begins != NULL;
}

/* The one other nest that names the sums, which stands before it. */
static bool
find_sums(joining *j) {
  const po_nest_node *nodes = j->p->nest.nodes.data;
  bool behind = false;
  j->sums = PO_NO_NODE;
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE;
       top = nodes[top].next) {
    behind |= top == j->more;
    if (top == j->more || !po_nest_names(j->p, top, j->begins->array))
      continue;
    if (behind || j->sums != PO_NO_NODE)
      return false;
    j->sums = top;
  }
  return j->sums != PO_NO_NODE;
}

/* The sums can wait until the second nest, and be made while it runs: nothing
 * up to its end is written over what they are made from. */
static bool
can_wait(const joining *j) {
  assert(j->sums != PO_NO_NODE && j->begins);
  const po_program *p = j->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  for (uint32_t top = nodes[j->sums].next; top != nodes[j->more].next;
       top = nodes[top].next)
    for (uint32_t leaf = po_nest_first_leaf(p, top); leaf != PO_NO_NODE;
         leaf = po_nest_next_leaf(p, leaf, top))
      if (po_nest_names(p, j->sums, p->stmts.data[nodes[leaf].stmt].array))
        return false;
  return true;
}

/* Each loop of the second nest is one of the first that is as long, in the same
 * order; all that are no sums are. */
static bool
match_loops(joining *j) {
  const po_calls *x = j->x, *y = j->y;
  uint32_t d = 0;
  for (uint32_t k = 0; k < y->n; k++, d++) {
    while (d < x->n && x->sum[d] && (!y->sum[k] || x->size[d] != y->size[k]))
      d++;
    if (d == x->n || x->size[d] != y->size[k] || x->sum[d] != y->sum[k])
      return false;
    j->dim[k] = d;
  }
  for (; d < x->n; d++)
    if (!x->sum[d])
      return false;
  return true;
}

/* { loops of the first nest -> loops of the second } */
static __isl_give isl_multi_aff *
loops_of_more(const joining *j) {
  isl_ctx *isl = j->p->isl;
  uint32_t n = j->x->n;
  assert(j->y->n <= n);
  isl_multi_aff *at = isl_multi_aff_zero(po_map_space(isl, n, j->y->n));
  for (uint32_t k = 0; k < j->y->n; k++)
    at = isl_multi_aff_set_aff(at, (int)k, po_index(isl, n, j->dim[k], 1, 0));
  return at;
}

/* A function of the second nest's loops as one of the first one's. */
static isl_pw_multi_aff *
widened(const joining *j, __isl_keep isl_pw_multi_aff *base) {
  po_program *p = j->p;
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_pullback_multi_aff(isl_pw_multi_aff_copy(base),
                                                    loops_of_more(j)));
}

/* The calls go on with the tiles that those of the first nest leave, which are
 * whole sums. */
static bool
find_tiles(const joining *j) {
  const po_value *begins = j->begins;
  isl_pw_multi_aff *base = widened(j, begins->base);
  for (uint32_t k = 0; k < j->x->n_values; k++) {
    const po_value *v = &j->x->value[k];
    if (v->stored && v->to == begins->array && v->memory == begins->memory &&
        po_is_one_place(&v->to_tile, v->to_base, &begins->tile, base))
      return true;
  }
  return false;
}

/* Each call adds to what lies in its place, or is the first there. */
static bool
all_add(const po_calls *c) {
  const po_program *p = c->p;
  gs_accumulation by;
  for (uint32_t k = 0; k < c->n_stmts; k++) {
    const gs_instr *i = p->stmts.data[c->stmts[k]].instr;
    if (i->onto &&
        (!gs_accumulates(p->ctx.values, i, i, &by) || by.onto + 1 != i->onto))
      return false;
  }
  return true;
}

/* Where the second nest has sums, calls of both take turns, so that they have
 * to add, and floats have another order. */
static bool
may_take_turns(const joining *j) {
  for (uint32_t k = 0; k < j->y->n; k++)
    if (j->y->sum[k])
      return all_add(j->x) && all_add(j->y) &&
             (!j->p->strict_fp ||
              gs_dtype_table[j->begins->tile.dtype].integer);
  return true;
}

/* ---- one nest ---- */

static bool
is_met(const joining *j, uint32_t d) {
  for (uint32_t k = 0; k < j->y->n; k++)
    if (j->dim[k] == d)
      return true;
  return false;
}

/* Instances of the second nest run at the end of the sums that it does not
 * have. */
static isl_set *
domain_of(const joining *j, const po_stmt *s) {
  po_program *p = j->p;
  const po_calls *x = j->x;
  isl_set *set = isl_set_reset_tuple_id(isl_set_copy(s->domain));
  set = isl_set_preimage_multi_aff(set, loops_of_more(j));
  for (uint32_t d = 0; d < x->n; d++)
    if (!is_met(j, d))
      set = isl_set_intersect(
          set, po_slab(p->isl, x->n, d, x->size[d] - 1, x->size[d] - 1));
  return po_keep_set(
      &p->pool, isl_set_set_tuple_id(set, isl_id_alloc(p->isl, s->name, NULL)));
}

static isl_multi_aff *
time_of(const joining *j, const po_stmt *s) {
  po_program *p = j->p;
  isl_multi_aff *time = po_identity(p->isl, j->x->n);
  return po_keep_multi_aff(
      &p->pool, isl_multi_aff_set_tuple_id(
                    time, isl_dim_in, isl_id_alloc(p->isl, s->name, NULL)));
}

static isl_pw_multi_aff *
base_of(const joining *j, const po_stmt *s, const po_operand *o) {
  po_program *p = j->p;
  isl_pw_multi_aff *base = widened(j, po_base_of(p, s, o));
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(
      &p->pool,
      isl_pw_multi_aff_set_tuple_id(isl_pw_multi_aff_copy(base), isl_dim_in,
                                    isl_id_alloc(p->isl, s->name, NULL)));
}

static void
rewrite(const joining *j, po_stmt *s) {
  po_program *p = j->p;
  const po_stmt *like = &p->stmts.data[j->x->stmts[0]];
  assert(s->kind == PO_CALL && like->n_iters == j->x->n);
  uint32_t n = s->instr->n_operands + 1;
  po_operand *operands = BS_NEWS(&p->arena, po_operand, n);
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = s->operands[k];
    operands[k].base = base_of(j, s, &s->operands[k]);
  }
  po_pool_reserve(&p->pool, 2);
  s->operands = operands;
  s->domain = domain_of(j, s);
  s->time = time_of(j, s);
  s->iters = like->iters;
  s->n_iters = like->n_iters;
  s->n_outer = like->n_outer;
  s->counted = NULL;
}

/* Where nodes stood. */
typedef struct places {
  uint32_t behind_sums, inner; /* of the second nest */
  po_stmt *stmts;              /* as they were */
} places;

static uint32_t
inner_of(const joining *j, const po_calls *c) {
  const po_program *p = j->p;
  return p->nest.nodes.data[p->stmts.data[c->stmts[0]].leaf].parent;
}

/* The leaves of the second nest move below a node. */
static void
move_calls(const joining *j, uint32_t to) {
  po_program *p = j->p;
  for (uint32_t k = 0; k < j->y->n_stmts; k++) {
    uint32_t leaf = p->stmts.data[j->y->stmts[k]].leaf;
    po_nest_detach(p, leaf);
    po_nest_attach(p, leaf, to, PO_NO_NODE);
  }
}

/* The first nest moves to where the second one stands, whose calls become its
 * last ones. */
static void
join(const joining *j, places *was) {
  po_program *p = j->p;
  uint32_t n = j->y->n_stmts;
  assert(n && po_node(p, j->sums)->parent == 0 &&
         po_node(p, j->more)->parent == 0);
  *was = (places){.behind_sums = p->nest.nodes.data[j->sums].next,
                  .inner = inner_of(j, j->y),
                  .stmts = BS_NEWS(&p->arena, po_stmt, n)};
  po_nest_detach(p, j->sums);
  po_nest_attach(p, j->sums, 0, j->more);
  for (uint32_t k = 0; k < n; k++) {
    was->stmts[k] = p->stmts.data[j->y->stmts[k]];
    rewrite(j, &p->stmts.data[j->y->stmts[k]]);
  }
  move_calls(j, inner_of(j, j->x));
}

static void
part_again(const joining *j, const places *was) {
  po_program *p = j->p;
  assert(po_node(p, j->sums)->parent == 0);
  for (uint32_t k = 0; k < j->y->n_stmts; k++)
    p->stmts.data[j->y->stmts[k]] = was->stmts[k];
  move_calls(j, was->inner);
  po_nest_detach(p, j->sums);
  po_nest_attach(p, j->sums, 0, was->behind_sums);
}

/* Both have to fit into the memories at a time. */
static bool
has_room(const joining *j) {
  po_calls *both = BS_NEW(&j->p->arena, po_calls);
  bool in;
  return po_list_calls(j->p, j->sums, both) &&
         po_find_routes(both, &in) == both->n_values && po_fits_plainly(both);
}

static void
try_nest(po_program *p, uint32_t more) {
  joining j = {.p = p, .more = more};
  po_calls *x = BS_NEW(&p->arena, po_calls), *y = BS_NEW(&p->arena, po_calls);
  places was;
  j.x = x;
  j.y = y;
  if (!po_list_calls(p, more, y) || !y->n || !find_begins(&j) ||
      !find_sums(&j) || !can_wait(&j) || !po_list_calls(p, j.sums, x) ||
      !match_loops(&j) || !find_tiles(&j) || !may_take_turns(&j))
    return;
  join(&j, &was);
  if (has_room(&j))
    po_nest_remove(p, more);
  else
    part_again(&j, &was);
}

void
po_join_sums(po_program *p) {
  uint32_t next, top = p->nest.nodes.data[0].first;
  for (; top != PO_NO_NODE; top = next) {
    next = p->nest.nodes.data[top].next;
    try_nest(p, top);
  }
}
