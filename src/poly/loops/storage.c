/* SPDX-License-Identifier: MIT */
/* storage.c - see storage.h. */
#include "poly/loops/storage.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/loops/memo.h"
#include "poly/loops/operand.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/uses.h"
#include <assert.h>
#include <isl/space.h>
#include <isl/val.h>

int64_t
po_elements(const po_array *array) {
  assert(array->rank <= GS_MAX_RANK);
  int64_t place[GS_MAX_RANK], n = 1;
  po_places(array, place);
  for (uint32_t d = 0; d < array->rank; d++)
    if (__builtin_mul_overflow(n, place[d], &n))
      return INT64_MAX;
  return n;
}

int64_t
po_bytes(const po_array *array) {
  assert(array->dtype < GS_DTYPE_COUNT);
  int64_t n;
  if (__builtin_mul_overflow(po_elements(array),
                             (int64_t)gs_dtype_table[array->dtype].bytes, &n))
    return INT64_MAX;
  return n;
}

isl_pw_aff *
po_place_along(const po_array *array, uint32_t d, isl_pw_multi_aff *index) {
  assert(d < array->rank);
  isl_pw_aff *at = isl_pw_multi_aff_get_pw_aff(index, (int)d);
  int64_t fold = array->fold[d];
  if (!fold || fold >= array->dim[d])
    return at;
  isl_ctx *isl = isl_pw_aff_get_ctx(at);
  return isl_pw_aff_mod_val(at, isl_val_int_from_si(isl, fold));
}

isl_pw_aff *
po_address(const po_array *array, isl_pw_multi_aff *index) {
  if (po_lies_by_sizes(array))
    return NULL;
  assert(isl_pw_multi_aff_dim(index, isl_dim_out) == (isl_size)array->rank);
  isl_ctx *isl = isl_pw_multi_aff_get_ctx(index);
  isl_space *space = isl_space_domain(isl_pw_multi_aff_get_space(index));
  isl_pw_aff *sum = isl_pw_aff_from_aff(
      isl_aff_zero_on_domain(isl_local_space_from_space(space)));
  int64_t place[GS_MAX_RANK], step = 1;
  po_places(array, place);
  for (uint32_t d = array->rank; d-- > 0;) {
    if (array->fold[d] != 1) {
      isl_pw_aff *at = po_place_along(array, d, index);
      at = isl_pw_aff_scale_val(at, isl_val_int_from_si(isl, step));
      sum = isl_pw_aff_add(sum, at);
    }
    step *= place[d];
  }
  return sum;
}

/* ---- locals ---- */

static void
join(const po_program *p, uint32_t array, uint32_t leaf, uint32_t *node) {
  if (p->arrays.data[array].role != PO_LOCAL)
    return;
  uint32_t here = p->nest.nodes.data[leaf].parent;
  node[array] =
      node[array] == PO_NO_NODE ? here : po_nest_common(p, node[array], here);
}

/* ---- locals whose values outlive an iteration ---- */

typedef enum use { ANY, READ, SET } use;

/* An array that is asked about, and the statements that name it. */
typedef struct asked {
  const po_program *p;
  uint32_t array;
  const uint32_t *stmts;
  uint32_t n;
} asked;

static asked
asked_of(const po_program *p, const po_uses *uses, uint32_t array) {
  uint32_t from = uses->from[array];
  return (asked){p, array, uses->stmts + from, uses->from[array + 1] - from};
}

static const po_stmt *
user(const asked *a, uint32_t k) {
  return &a->p->stmts.data[a->stmts[k]];
}

/* { A[x] -> [t0, ..., t(n-1)] } of what a statement accesses, joined to
 * others. */
static __isl_give isl_map *
add_elements(__isl_take isl_map *all, const po_stmt *stmt, uint32_t n,
             __isl_take isl_map *one) {
  one = isl_map_intersect_domain(one, isl_set_copy(stmt->domain));
  one =
      isl_map_apply_domain(one, isl_map_from_multi_aff(po_outer_time(stmt, n)));
  one = isl_map_reverse(one);
  return all ? isl_map_union(all, one) : one;
}

static __isl_give isl_map *
add_use(__isl_take isl_map *all, const po_stmt *stmt, uint32_t n,
        __isl_keep isl_pw_multi_aff *index) {
  return add_elements(all, stmt, n,
                      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index)));
}

/* What a call in loops reads of an array, and sets. */
static __isl_give isl_map *
add_operands(__isl_take isl_map *all, const po_program *p, const po_stmt *s,
             uint32_t n, uint32_t array, use which) {
  for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++) {
    use does = j == s->instr->n_operands ? SET : READ;
    if (s->operands[j].array == array && (which == ANY || which == does))
      all = add_elements(all, s, n, po_operand_map(p, s, &s->operands[j]));
  }
  return all;
}

/* What an update does, both reads and sets; but for itself it sets nothing. */
static bool
is_use(const po_stmt *s, use which) {
  return which == ANY || (s->kind == PO_UPDATE) == (which == READ);
}

/* NULL where a call outside of loops or a look-up uses the array, or nothing
 * does. */
static __isl_give isl_map *
iterations_of(const asked *a, uint32_t n, use which) {
  const uint32_t array = a->array;
  isl_map *all = NULL;
  for (uint32_t k = 0; k < a->n; k++) {
    const po_stmt *s = user(a, k);
    bool whole = false;
    for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++)
      whole |= s->operands[j].array == array && !s->operands[j].base;
    for (uint32_t j = 0; j < s->n_exprs; j++)
      whole |= s->exprs[j].kind == PO_GATHER && s->exprs[j].array == array;
    if (whole)
      return isl_map_free(all);
    all = add_operands(all, a->p, s, n, array, which);
    if (s->array == array && s->write && is_use(s, which))
      all = add_use(all, s, n, s->write);
    for (uint32_t j = 0; j < s->n_exprs && which != SET; j++)
      if (s->exprs[j].kind == PO_READ && s->exprs[j].array == array)
        all = add_use(all, s, n, s->exprs[j].index);
  }
  return all;
}

static bool
is_run_in_order(const po_nest_node *n) {
  return n->kind == PO_LOOP && (n->mark == PO_SERIAL || n->mark == PO_UNROLL);
}

/* With the values of indices that have one only in the domain put in. */
static __isl_give isl_aff *
with_fixed(__isl_take isl_aff *aff, __isl_keep isl_set *domain) {
  isl_size n = isl_aff_dim(aff, isl_dim_in);
  for (int k = 0; k < n; k++) {
    if (isl_aff_coefficient_sgn(aff, isl_dim_in, k) == 0)
      continue;
    isl_val *one =
        isl_set_plain_get_val_if_fixed(domain, isl_dim_set, (unsigned)k);
    if (isl_val_is_int(one) != isl_bool_true) {
      isl_val_free(one);
      continue;
    }
    one = isl_val_mul(one, isl_aff_get_coefficient_val(aff, isl_dim_in, k));
    aff = isl_aff_set_coefficient_si(aff, isl_dim_in, k, 0);
    aff = isl_aff_add_constant_val(aff, one);
  }
  return aff;
}

/* The function for dimension d of the index of an access less that of the loop,
 * where it is a number (*less). */
static bool
is_value_of_loop(const po_stmt *stmt, uint32_t depth,
                 __isl_keep isl_pw_multi_aff *index, uint32_t d,
                 int64_t *less) {
  if (isl_pw_multi_aff_isa_multi_aff(index) != isl_bool_true)
    return false;
  isl_multi_aff *whole =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(index));
  isl_aff *rest = isl_aff_sub(isl_multi_aff_get_aff(whole, (int)d),
                              isl_multi_aff_get_aff(stmt->time, (int)depth));
  rest = with_fixed(rest, stmt->domain);
  bool is = isl_aff_is_cst(rest) == isl_bool_true &&
            po_int(isl_aff_get_constant_val(rest), less);
  isl_aff_free(rest);
  isl_multi_aff_free(whole);
  return is;
}

/* An access at this index is at the loop's value in dimension d, shifted as
 * the accesses before it, of which there may be none. */
static bool
goes_on(const po_stmt *s, uint32_t depth, __isl_keep isl_pw_multi_aff *index,
        uint32_t d, int64_t *shift, bool *any) {
  int64_t less;
  if (!is_value_of_loop(s, depth, index, d, &less) || (*any && less != *shift))
    return false;
  *shift = less;
  *any = true;
  return true;
}

/* Operands do not move along a dimension before one that is folded. */
static bool
may_move_along(const po_array *array, uint32_t d) {
  for (uint32_t r = d; r < array->rank; r++)
    if (array->fold[r])
      return false;
  return true;
}

static bool
call_goes_on(const asked *a, const po_stmt *s, uint32_t depth, uint32_t d,
             int64_t *shift, bool *any) {
  bool moves = may_move_along(&a->p->arrays.data[a->array], d);
  for (uint32_t j = 0; j <= s->instr->n_operands; j++)
    if (s->operands[j].array == a->array &&
        (moves || !goes_on(s, depth, s->operands[j].base, d, shift, any)))
      return false;
  return true;
}

/* Dimension d of every access is the loop's value, shifted alike. */
static bool
is_indexed_by(const asked *a, uint32_t depth, uint32_t d) {
  int64_t shift = 0;
  bool any = false;
  for (uint32_t k = 0; k < a->n; k++) {
    const po_stmt *s = user(a, k);
    if (s->instr && !call_goes_on(a, s, depth, d, &shift, &any))
      return false;
    if (!s->instr && s->array == a->array &&
        !goes_on(s, depth, s->write, d, &shift, &any))
      return false;
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if (s->exprs[j].kind == PO_GATHER && s->exprs[j].array == a->array)
        return false;
      else if (s->exprs[j].kind == PO_READ && s->exprs[j].array == a->array &&
               !goes_on(s, depth, s->exprs[j].index, d, &shift, &any))
        return false;
  }
  return any;
}

/* What says so without a relation: an element names the iteration that it is
 * used in. */
static bool
names_iterations(const asked *a, uint32_t depth) {
  for (uint32_t d = 0; d < a->p->arrays.data[a->array].rank; d++)
    if (is_indexed_by(a, depth, d))
      return true;
  return false;
}

/* The index of an instance whose value is the loop's, while the loops around
 * it do not depend on it; n_iters: there is none. */
static uint32_t
index_of_loop(const po_stmt *s, uint32_t depth) {
  isl_aff *time = isl_multi_aff_get_aff(s->time, (int)depth);
  isl_multi_aff *around = po_outer_time(s, depth);
  uint32_t v = 0;
  while (v < s->n_iters &&
         isl_aff_involves_dims(time, isl_dim_in, v, 1) != isl_bool_true)
    v++;
  if (v < s->n_iters &&
      isl_multi_aff_involves_dims(around, isl_dim_in, v, 1) != isl_bool_false)
    v = s->n_iters;
  isl_aff_free(time);
  isl_multi_aff_free(around);
  return v;
}

/* Two instances that follow each other along an index are both run. */
static bool
goes_further(const po_stmt *s, uint32_t v) {
  isl_space *space = isl_set_get_space(s->domain);
  isl_multi_aff *next =
      isl_multi_aff_identity_on_domain_space(isl_space_copy(space));
  isl_aff *along =
      isl_aff_add_constant_si(isl_multi_aff_get_aff(next, (int)v), 1);
  next = isl_multi_aff_set_aff(next, (int)v, along);
  isl_space_free(space);
  isl_set *both = isl_set_preimage_multi_aff(isl_set_copy(s->domain), next);
  both = isl_set_intersect(both, isl_set_copy(s->domain));
  bool further = isl_set_is_empty(both) == isl_bool_false;
  isl_set_free(both);
  return further;
}

/* An access is to one place in two iterations of the loop. */
static bool
stays(const po_stmt *s, uint32_t depth, __isl_keep isl_pw_multi_aff *index) {
  uint32_t v = index ? index_of_loop(s, depth) : s->n_iters;
  return v < s->n_iters &&
         isl_pw_multi_aff_involves_dims(index, isl_dim_in, v, 1) ==
             isl_bool_false &&
         goes_further(s, v);
}

/* What says without a relation that an element is used in two iterations. */
static bool
stays_somewhere(const asked *a, uint32_t depth) {
  for (uint32_t k = 0; k < a->n; k++) {
    const po_stmt *s = user(a, k);
    for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++)
      if (s->operands[j].array == a->array &&
          stays(s, depth, s->operands[j].base))
        return true;
    if (!s->instr && s->array == a->array && stays(s, depth, s->write))
      return true;
  }
  return false;
}

/* What a question about uses of an array in iterations of the first n loops
 * around them depends on. */
static void
ask_of_uses(const asked *a, po_memo_question question, uint32_t n,
            po_memo_key *key) {
  enum { WRITTEN = 1, UPDATED, LOOKED_UP, CALLED, CALLED_FOR };
  const uint32_t array = a->array;
  po_memo_ask(key, question, n);
  for (uint32_t k = 0; k < a->n; k++) {
    const po_stmt *s = user(a, k);
    for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++)
      if (s->operands[j].array == array)
        po_memo_of(key, s->domain, s->time, s->operands[j].base,
                   j == s->instr->n_operands ? CALLED_FOR : CALLED);
    if (s->array == array)
      po_memo_of(key, s->domain, s->time, s->write,
                 s->kind == PO_UPDATE ? UPDATED : WRITTEN);
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if (s->exprs[j].array == array &&
          (s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER))
        po_memo_of(key, s->domain, s->time, s->exprs[j].index,
                   s->exprs[j].kind == PO_GATHER ? LOOKED_UP : 0);
  }
}

/* Some element is used in two iterations of the loop of this depth around all
 * uses, those around it being equal. */
static bool
find_carried(const asked *a, uint32_t depth) {
  if (names_iterations(a, depth))
    return false;
  if (stays_somewhere(a, depth))
    return true;
  isl_map *when = iterations_of(a, depth + 1, ANY);
  if (!when)
    return false;
  isl_size rank = isl_map_dim(when, isl_dim_in);
  when = isl_map_reset_tuple_id(when, isl_dim_in);
  when = isl_map_move_dims(when, isl_dim_in, rank < 0 ? 0 : (unsigned)rank,
                           isl_dim_out, 0, depth);
  when = isl_map_coalesce(when);
  isl_bool one = isl_map_is_single_valued(when);
  isl_map_free(when);
  return one != isl_bool_true;
}

/* Some element is read in an iteration of the first n loops in which nothing
 * sets it: an iteration before did. */
static bool
find_handed_on(const asked *a, uint32_t n) {
  uint32_t named = 0;
  while (named < n && names_iterations(a, named))
    named++;
  if (named == n) /* what is read there was set there or nowhere */
    return false;
  isl_map *read = iterations_of(a, n, READ);
  isl_map *set = iterations_of(a, n, SET);
  isl_bool all = read && set ? isl_map_is_subset(read, set) : isl_bool_true;
  isl_map_free(read);
  isl_map_free(set);
  return all != isl_bool_true;
}

/* By a limit on isl both say yes, which is not to be remembered. */
static bool
ask(const asked *a, po_memo_question question, uint32_t n) {
  po_memo_key key;
  ask_of_uses(a, question, n, &key);
  const po_memo_answer *known = po_memo_find(a->p->memo, &key);
  if (known)
    return known->yes;
  bool yes =
      question == PO_MEMO_CARRIED ? find_carried(a, n) : find_handed_on(a, n);
  if (isl_ctx_last_error(a->p->isl) == isl_error_none)
    po_memo_put(a->p->memo, &key, (po_memo_answer){.yes = yes});
  return yes;
}

/* Threads and lanes have locals of their own. */
static bool
is_carried_by(const asked *a, uint32_t loop) {
  return ask(a, PO_MEMO_CARRIED, po_nest_depth(a->p, loop));
}

static bool
hands_on(const asked *a, uint32_t loop) {
  return ask(a, PO_MEMO_HANDED_ON, po_nest_depth(a->p, loop) + (loop != 0));
}

/* Vectors run in order, too, if not their lanes. */
static bool
may_hand_on(const po_nest_node *n) {
  return is_run_in_order(n) || (n->kind == PO_LOOP && n->mark == PO_VECTORIZE);
}

static bool
is_handed_on(const asked *a, uint32_t loop) {
  const po_nest_node *nodes = a->p->nest.nodes.data;
  for (uint32_t k = loop; k; k = nodes[k].parent)
    if (may_hand_on(&nodes[k]) && hands_on(a, k))
      return true;
  return false;
}

bool
po_is_handed_on(const po_program *p, uint32_t array, uint32_t loop) {
  assert(array < p->arrays.len && loop < p->nest.nodes.len);
  po_uses uses;
  po_find_uses(p, &uses);
  asked a = asked_of(p, &uses, array);
  bool is = is_handed_on(&a, loop);
  po_uses_done(p, &uses);
  return is;
}

/* What has one place in each iteration needs no look. */
static bool
is_scalar(const po_array *a) {
  for (uint32_t d = 0; d < a->rank; d++)
    if (a->fold[d] != 1)
      return false;
  return true;
}

/* Elements of a scalar, and of what loops with a mark hold, have one place in
 * an iteration: what matters is whether values outlive it. */
static uint32_t
local_node(const asked *a, uint32_t node) {
  const po_nest_node *nodes = a->p->nest.nodes.data;
  bool by_value = node != PO_NO_NODE && is_scalar(&a->p->arrays.data[a->array]);
  if (node == PO_NO_NODE || (by_value && !hands_on(a, node)))
    return node;
  for (uint32_t k = node; nodes[k].kind == PO_LOOP; k = nodes[k].parent) {
    by_value |= !is_run_in_order(&nodes[k]);
    if (may_hand_on(&nodes[k]) &&
        (by_value ? hands_on(a, k) : is_carried_by(a, k)))
      node = nodes[k].parent;
  }
  return node;
}

uint32_t
po_local_node(const po_program *p, uint32_t array, uint32_t node) {
  assert(array < p->arrays.len);
  po_uses uses;
  po_find_uses(p, &uses);
  asked a = asked_of(p, &uses, array);
  node = local_node(&a, node);
  po_uses_done(p, &uses);
  return node;
}

void
po_find_common_nodes(const po_program *p, uint32_t *node) {
  assert(node || !p->arrays.len);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    node[k] = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    join(p, stmt->array, stmt->leaf, node);
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
        join(p, stmt->exprs[j].array, stmt->leaf, node);
    for (uint32_t j = 0; stmt->instr && j < stmt->instr->n_operands; j++)
      join(p, stmt->operands[j].array, stmt->leaf, node);
  }
}

void
po_find_local_nodes(const po_program *p, uint32_t *node) {
  assert(node || !p->arrays.len);
  po_uses uses;
  po_find_uses(p, &uses);
  po_find_common_nodes(p, node);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    asked a = asked_of(p, &uses, k);
    node[k] = local_node(&a, node[k]);
  }
  po_uses_done(p, &uses);
}

bool
po_is_in_parallel(const po_program *p, uint32_t loop) {
  assert(loop == PO_NO_NODE || loop < p->nest.nodes.len);
  const po_nest_node *nodes = p->nest.nodes.data;
  for (; loop != PO_NO_NODE; loop = nodes[loop].parent)
    if (nodes[loop].kind == PO_LOOP && nodes[loop].mark == PO_PARALLEL)
      return true;
  return false;
}
