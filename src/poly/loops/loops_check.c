/* SPDX-License-Identifier: MIT */
/* loops_check.c - see loops_check.h. */
#include "poly/loops/loops_check.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops_sizes.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
  const po_program *p;
  bs_text *why;
} checker;

static bool
broken(checker *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  bs_putv(c->why, format, args);
  va_end(args);
  return false;
}

/* ---- 1: the tree ---- */

static bool
is_node(const checker *c, uint32_t node) {
  return node < c->p->nest.nodes.len && po_node(c->p, node)->kind != PO_FREE;
}

/* Children of a node, at most as many as there are nodes. */
static bool
check_children(checker *c, uint32_t parent) {
  const po_nest_node *up = po_node(c->p, parent);
  uint32_t last = PO_NO_NODE, n = 0;
  for (uint32_t k = up->first; k != PO_NO_NODE; k = po_node(c->p, k)->next) {
    if (!is_node(c, k) || n++ > c->p->nest.nodes.len)
      return broken(c, "node %u has a child that does not exist, %u", parent,
                    k);
    if (po_node(c->p, k)->parent != parent || po_node(c->p, k)->prev != last)
      return broken(c, "node %u does not link back to %u", k, parent);
    last = k;
  }
  return up->last == last ||
         broken(c, "node %u has another last child than %u", parent, last);
}

static bool
reaches_root(const checker *c, uint32_t node) {
  uint32_t steps = 0;
  while (node && is_node(c, node) && steps++ <= c->p->nest.nodes.len)
    node = po_node(c->p, node)->parent;
  return !node;
}

static bool
check_tree(checker *c) {
  const po_nest *nest = &c->p->nest;
  if (!nest->nodes.len || nest->nodes.data[0].kind != PO_ROOT)
    return broken(c, "node 0 is not the root");
  for (uint32_t k = 0; k < nest->nodes.len; k++)
    if (is_node(c, k) && !check_children(c, k))
      return false;
  return true;
}

/* ---- 2 and 3: leaves and names ---- */

static bool
check_leaf(checker *c, uint32_t stmt) {
  const po_stmt *s = &c->p->stmts.data[stmt];
  if (!is_node(c, s->leaf) || po_node(c->p, s->leaf)->kind != PO_LEAF ||
      po_node(c->p, s->leaf)->stmt != stmt)
    return broken(c, "%s is not the statement of its leaf", s->name);
  return reaches_root(c, s->leaf) ||
         broken(c, "%s does not stand in the tree", s->name);
}

typedef BS_VEC(const char *) names;

static int
compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of one kind, which are given up. */
static bool
are_apart(checker *c, names *list, const char *kind) {
  bool ok = true;
  if (list->len)
    qsort(list->data, list->len, sizeof *list->data, compare);
  for (uint32_t k = 1; ok && k < list->len; k++)
    if (!strcmp(list->data[k - 1], list->data[k]))
      ok = broken(c, "two %s are %s", kind, list->data[k]);
  bs_vec_done(c->p->ctx.heap, list);
  return ok;
}

static bool
check_names(checker *c) {
  const po_program *p = c->p;
  bs_heap *heap = p->ctx.heap;
  names stmts = {0}, arrays = {0}, loops = {0};
  for (uint32_t k = 0; k < p->stmts.len; k++)
    bs_push(heap, &stmts, p->stmts.data[k].name);
  if (!are_apart(c, &stmts, "statements"))
    return false;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    bs_push(heap, &arrays, p->arrays.data[k].name);
  if (!are_apart(c, &arrays, "arrays"))
    return false;
  for (uint32_t k = 0; k != PO_NO_NODE; k = po_nest_next(p, k, 0))
    if (po_node(c->p, k)->kind == PO_LOOP)
      bs_push(heap, &loops, po_node(c->p, k)->name);
  return are_apart(c, &loops, "loops");
}

/* ---- 4 and 5: times and domains ---- */

static bool
check_time(checker *c, const po_stmt *s) {
  uint32_t depth = po_nest_depth(c->p, s->leaf);
  if (!s->time)
    return !depth || broken(c, "%s has no time", s->name);
  if (isl_multi_aff_dim(s->time, isl_dim_out) != (isl_size)depth)
    return broken(c, "the time of %s has %d functions, there are %u loops",
                  s->name, (int)isl_multi_aff_dim(s->time, isl_dim_out), depth);
  return isl_multi_aff_dim(s->time, isl_dim_in) == (isl_size)s->n_iters ||
         broken(c, "the time of %s is not of its instances", s->name);
}

static bool
check_domain(checker *c, const po_stmt *s) {
  if (isl_set_dim(s->domain, isl_dim_set) != (isl_size)s->n_iters)
    return broken(c, "the domain of %s has %d indices, there are %u iterators",
                  s->name, (int)isl_set_dim(s->domain, isl_dim_set),
                  s->n_iters);
  return isl_set_is_bounded(s->domain) != isl_bool_false ||
         broken(c, "the domain of %s is not bounded", s->name);
}

/* ---- 6 and 7: bodies and accesses ---- */

/* False where isl says so; what it does not know may hold. */
static bool
lies_within(const po_program *p, const po_stmt *s,
            __isl_keep isl_pw_multi_aff *index, const po_array *array) {
  isl_map *access = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
  access = isl_map_intersect_domain(access, isl_set_copy(s->domain));
  isl_set *touched = isl_set_reset_tuple_id(isl_map_range(access));
  isl_set *box = po_elements_of(p, array);
  bool ok = isl_set_is_subset(touched, box) != isl_bool_false;
  isl_set_free(touched);
  isl_set_free(box);
  return ok;
}

/* Every instance of the statement has an index. */
static bool
is_total(const po_stmt *s, __isl_keep isl_pw_multi_aff *index) {
  isl_set *has = isl_pw_multi_aff_domain(isl_pw_multi_aff_copy(index));
  bool ok = isl_set_is_subset(s->domain, has) != isl_bool_false;
  isl_set_free(has);
  return ok;
}

static bool
check_access(checker *c, const po_stmt *s, uint32_t array,
             __isl_keep isl_pw_multi_aff *index) {
  const po_program *p = c->p;
  if (array >= p->arrays.len)
    return broken(c, "%s names something that is not an array", s->name);
  const po_array *a = &p->arrays.data[array];
  if (isl_pw_multi_aff_dim(index, isl_dim_out) != (isl_size)a->rank ||
      isl_pw_multi_aff_dim(index, isl_dim_in) != (isl_size)s->n_iters)
    return broken(c, "%s has an access of %s with another number of indices",
                  s->name, a->name);
  if (!is_total(s, index))
    return broken(c, "instances of %s have no element of %s", s->name, a->name);
  return lies_within(p, s, index, a) ||
         broken(c, "instances of %s are beyond the ends of %s", s->name,
                a->name);
}

static bool
check_expr(checker *c, const po_stmt *s, uint32_t k) {
  const po_expr *e = &s->exprs[k];
  for (uint32_t j = 0; j < e->n_kids; j++)
    if (e->kids[j] >= k)
      return broken(c, "expression %u of %s comes before its operands", k,
                    s->name);
  if (e->kind != PO_READ && e->kind != PO_GATHER)
    return true;
  return (e->index ||
          broken(c, "a read of %s has no index",
                 e->array < c->p->arrays.len ? c->p->arrays.data[e->array].name
                                             : "?")) &&
         check_access(c, s, e->array, e->index);
}

static bool
check_operands(checker *c, const po_stmt *s) {
  for (uint32_t k = 0; k <= s->instr->n_operands; k++)
    if (s->operands[k].array >= c->p->arrays.len)
      return broken(c, "operand %u of %s names something that is not an array",
                    k, s->name);
  return true;
}

/* ---- 8, and all of a statement ---- */

static bool
check_kind(checker *c, const po_stmt *s) {
  if (s->kind == PO_CALL)
    return (s->instr && s->operands) ||
           broken(c, "%s calls no instruction", s->name);
  if (!s->n_exprs)
    return broken(c, "%s has no body", s->name);
  bool folds =
      s->op < GS_COMPUTE_COUNT && gs_compute_table[s->op].fold != GS_FOLD_NONE;
  return s->kind != PO_UPDATE || folds ||
         broken(c, "%s updates by no operator", s->name);
}

static bool
check_stmt(checker *c, const po_stmt *s) {
  if (!check_kind(c, s) || !check_domain(c, s) || !check_time(c, s))
    return false;
  if (s->kind == PO_CALL && !check_operands(c, s))
    return false;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (!check_expr(c, s, k))
      return false;
  return s->kind == PO_CALL || check_access(c, s, s->array, s->write);
}

bool
po_check(const po_program *p, bs_text *why) {
  checker c = {p, why};
  bs_text_clear(why);
  if (!check_tree(&c))
    return false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (!check_leaf(&c, k))
      return false;
  if (!check_names(&c))
    return false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (!check_stmt(&c, &p->stmts.data[k]))
      return false;
  return true;
}

bool
po_verify(const po_program *p, const char *after) {
#ifdef NDEBUG
  (void)p;
  (void)after;
  return true;
#else
  bs_text why;
  bs_text_init(&why, p->ctx.heap);
  po_limit limit = po_limit_operations(p, PO_QUESTION);
  bool ok = po_check(p, &why);
  po_unlimit(&limit);
  if (!ok)
    bs_error(p->ctx.diags, BS_NOWHERE, "broken-loops",
             "after %s the loop program is broken: %s", after,
             bs_text_str(&why));
  bs_text_done(&why);
  return ok;
#endif
}
