/* SPDX-License-Identifier: MIT */
/* group.c - runs of children of the root that share locals.
 *
 * A local is declared in a function, so that all of its uses must be in one:
 * children of the root between the first and the last use of a local belong
 * together.  After lowering every child of the root is a group, but for what
 * reduces to one element, which has no loop around it.  A contraction or a
 * slide has the statement with it that is computed where its sums are
 * stored. */
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include <assert.h>

/* last[array]: the last child of the root that uses the local, by its number
 * among its siblings. */
static void
use_local(const po_program *p, uint32_t array, uint32_t child, uint32_t *last) {
  assert(array < p->arrays.len);
  if (p->arrays.data[array].role == PO_LOCAL && last[array] < child)
    last[array] = child;
}

static void
use_locals(const po_program *p, const po_stmt *stmt, uint32_t child,
           uint32_t *last) {
  use_local(p, stmt->array, child, last);
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
      use_local(p, stmt->exprs[j].array, child, last);
}

/* The formula that a kernel with this first statement computes, too, or
 * PO_NO_NODE. */
static uint32_t
formula_of(const po_program *p, uint32_t stmt) {
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (p->contractions.data[k]->init == stmt)
      return p->contractions.data[k]->formula;
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->init == stmt)
      return p->slides.data[k]->formula;
  return UINT32_MAX;
}

/* The last child that a group with this statement must reach. */
static uint32_t
reach(const po_program *p, uint32_t k, const uint32_t *last,
      const uint32_t *number) {
  assert(k < p->stmts.len);
  const po_stmt *stmt = &p->stmts.data[k];
  uint32_t end = 0, formula = formula_of(p, k);
  if (formula != UINT32_MAX)
    end = number[po_nest_root(p, p->stmts.data[formula].leaf)];
  if (p->arrays.data[stmt->array].role == PO_LOCAL && last[stmt->array] > end)
    end = last[stmt->array];
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *e = &stmt->exprs[j];
    if ((e->kind == PO_READ || e->kind == PO_GATHER) &&
        p->arrays.data[e->array].role == PO_LOCAL && last[e->array] > end)
      end = last[e->array];
  }
  return end;
}

void
po_find_groups(const po_program *p, po_groups *out) {
  bs_heap *heap = p->ctx.heap;
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t *last = bs_calloc(heap, p->arrays.len, sizeof *last);
  uint32_t *number = bs_calloc(heap, p->nest.nodes.len, sizeof *number);
  *out = (po_groups){0};
  uint32_t n = 0;
  for (uint32_t k = nodes[0].first; k != PO_NO_NODE; k = nodes[k].next)
    number[k] = ++n;
  for (uint32_t k = po_nest_next_leaf(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, 0))
    use_locals(p, &p->stmts.data[nodes[k].stmt], number[po_nest_root(p, k)],
               last);
  uint32_t end = 0, child = PO_NO_NODE;
  for (uint32_t k = po_nest_next_leaf(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, 0)) {
    uint32_t here = po_nest_root(p, k);
    if (here != child && number[here] > end)
      bs_push(heap, &out->list,
              (po_group){.node = here, .first = out->stmts.len});
    child = here;
    bs_last(&out->list).last = here;
    bs_last(&out->list).n++;
    uint32_t to = reach(p, nodes[k].stmt, last, number);
    end = to > end ? to : end;
    bs_push(heap, &out->stmts, nodes[k].stmt);
  }
  assert(out->stmts.len == p->stmts.len);
  bs_free(heap, last);
  bs_free(heap, number);
}

void
po_groups_done(const po_program *p, po_groups *groups) {
  bs_vec_done(p->ctx.heap, &groups->list);
  bs_vec_done(p->ctx.heap, &groups->stmts);
}
