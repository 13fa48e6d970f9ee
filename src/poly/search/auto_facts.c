/* SPDX-License-Identifier: MIT */
/* auto_facts.c - what the automatic schedule asks of a program and its
 * nests. */
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/search/chooser.h"
#include <assert.h>

/* ---- instances ---- */

int64_t
po_instances_of(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (p->stmts.data[k].array != array)
      continue;
    int64_t n = po_likely_instances(p, k);
    if (n < 0 || __builtin_add_overflow(sum, n, &sum))
      return -1;
  }
  return sum;
}

int64_t
po_distinct_of(const po_program *p, const po_program *old, uint32_t array) {
  assert(array < p->arrays.len);
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    uint32_t was = po_stmt_named(old, s->name);
    if (s->array != array)
      continue;
    uint32_t n = was < old->stmts.len ? old->stmts.data[was].n_iters : 0;
    isl_set *own = isl_set_copy(s->domain);
    if (n < s->n_iters)
      own = isl_set_project_out(own, isl_dim_set, 0, s->n_iters - n);
    int64_t count = po_likely_points(p, own);
    if (count < 0 || __builtin_add_overflow(sum, count, &sum))
      return -1;
  }
  return sum;
}

/* ---- nests ---- */

static bool
has_call(const po_program *p, uint32_t root) {
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root))
    if (po_node(p, k)->kind == PO_LEAF &&
        p->stmts.data[po_node(p, k)->stmt].kind == PO_CALL)
      return true;
  return false;
}

/* Nests that run as contractions, or as slides that gain nothing from others,
 * by the plan of po_lay_out. */
static bool
is_kernel(const po_program *p, uint32_t root) {
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (po_root_of(p, p->contractions.data[k]->update) == root)
      return true;
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->apart &&
        po_root_of(p, p->slides.data[k]->update) == root)
      return true;
  return false;
}

static bool
is_at(const po_program *p, uint32_t stmt, uint32_t root) {
  return stmt != UINT32_MAX && po_root_of(p, stmt) == root;
}

bool
po_is_formula(const po_program *p, uint32_t root) {
  assert(root < p->nest.nodes.len);
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (is_at(p, p->contractions.data[k]->formula, root))
      return true;
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->apart && is_at(p, p->slides.data[k]->formula, root))
      return true;
  return false;
}

bool
po_has_kernels(const po_program *p) {
  for (uint32_t k = 0; k < p->slides.len; k++)
    if (p->slides.data[k]->apart)
      return true;
  return p->contractions.len > 0;
}

bool
po_may_inline(const po_program *p, uint32_t root) {
  return root != PO_NO_NODE && !has_call(p, root) && !is_kernel(p, root);
}

bool
po_may_change(const po_program *p, uint32_t root) {
  return po_may_inline(p, root) && !po_is_formula(p, root);
}

uint32_t
po_last_root(const po_program *p, uint32_t before) {
  return before == PO_NO_NODE ? po_node(p, 0)->last : po_node(p, before)->prev;
}

/* ---- loops ---- */

uint32_t
po_chain_of(const po_program *p, uint32_t root, uint32_t *loops) {
  assert(root < p->nest.nodes.len);
  uint32_t n = 0;
  for (uint32_t k = root;
       k != PO_NO_NODE && po_node(p, k)->kind == PO_LOOP && n < PO_MAX_DEPTH;
       k = po_only_child(p, k))
    loops[n++] = k;
  return n;
}

/* How many of the first n loops all statements below run over as outer loops:
 * indices of results, not of reductions. */
static uint32_t
outer_of(const po_program *p, uint32_t root, uint32_t n) {
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root))
    if (po_node(p, k)->kind == PO_LEAF) {
      const po_stmt *s = &p->stmts.data[po_node(p, k)->stmt];
      if (s->n_outer < n)
        n = s->n_outer;
    }
  return n;
}

uint32_t
po_result_loops(const po_program *p, uint32_t root, uint32_t *loops) {
  return outer_of(p, root, po_chain_of(p, root, loops));
}

int64_t
po_extent_of(const po_program *p, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  int64_t min, count;
  return po_likely_range(p, loop, &min, &count) ? count : -1;
}

bool
po_is_shared_by(const po_program *p, uint32_t root, uint32_t depth) {
  assert(root < p->nest.nodes.len);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    for (uint32_t j = 0; j < s->n_exprs && po_root_of(p, k) == root; j++) {
      const po_expr *e = &s->exprs[j];
      if (e->kind == PO_READ && p->arrays.data[e->array].role == PO_WORKSPACE &&
          depth < s->n_iters &&
          !isl_pw_multi_aff_involves_dims(e->index, isl_dim_in, depth, 1))
        return true;
    }
  }
  return false;
}
