/* SPDX-License-Identifier: MIT */
/* auto_divide.c - arrays of several live-out nests.
 *
 * The third algorithm of the paper: what two nests read of an array is computed
 * once where it meets; where it does not, each of them gets its own part
 * (`divide`), which can then join its tiles.  What nobody reads is left out of
 * what stays in nests of its own (`trim`): in tiles it is not computed
 * anyway. */
#include "glenside/target/tuned.h"
#include "poly/loops/bounds.h"
#include "poly/loops/loops_sizes.h"
#include "poly/search/chooser.h"
#include <isl/map.h>

/* Nests that read an array and do not make it, two at most. */
static uint32_t
readers_of(const po_program *p, uint32_t array, bool *fixed) {
  uint32_t first = PO_NO_NODE, n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (!po_stmt_reads(&p->stmts.data[k], array) ||
        p->stmts.data[k].array == array)
      continue;
    uint32_t root = po_root_of(p, k);
    *fixed |= !po_may_change(p, root);
    if (n < 2 && root != first)
      n++;
    first = n == 1 ? root : first;
  }
  return n;
}

/* The statements that make it may be changed. */
static bool
is_free(const po_program *p, uint32_t array) {
  bool any = false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array) {
      any = true;
      if (!po_may_change(p, po_root_of(p, k)))
        return false;
    }
  return any && p->arrays.data[array].role == PO_WORKSPACE;
}

static void
attempt(po_chooser *c, const char *how, uint32_t array) {
  po_step_call call = po_step(how);
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  if (po_attempt(c, &call, NULL))
    po_lay_out_now(c);
}

void
po_divide_arrays(po_chooser *c) {
  for (uint32_t k = po_now(c)->arrays.len; k-- > 0 && !c->stopped;) {
    bool fixed = false;
    if (is_free(po_now(c), k) && readers_of(po_now(c), k, &fixed) > 1 && !fixed)
      attempt(c, "divide", k);
  }
}

/* ---- trim ---- */

/* One piece, whose bounds say it all. */
static bool
is_plain_set(__isl_keep isl_set *set) {
  isl_basic_set_list *pieces = isl_set_get_basic_set_list(set);
  isl_basic_set *one = isl_basic_set_list_n_basic_set(pieces) == 1
                           ? isl_basic_set_list_get_basic_set(pieces, 0)
                           : NULL;
  bool plain = one && isl_basic_set_dim(one, isl_dim_div) == 0;
  isl_basic_set_free(one);
  isl_basic_set_list_free(pieces);
  return plain;
}

static bool
has_plain_domains(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array &&
        !is_plain_set(p->stmts.data[k].domain))
      return false;
  return true;
}

/* A rim that nobody reads is not worth a test in a loop: it takes the vectors
 * from all the others. */
static bool
is_rim(po_chooser *c, const po_program *old, uint32_t array) {
  return (double)po_instances_of(po_now(c), array) >
         GS_TRIM_GAIN * (double)po_instances_of(old, array);
}

static bool
trim_array(po_chooser *c, uint32_t array) {
  po_step_call call = po_step("trim");
  bool plain = has_plain_domains(po_now(c), array);
  po_program *old = NULL;
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  if (!po_attempt(c, &call, &old))
    return false;
  if (plain && !has_plain_domains(po_now(c), array) && is_rim(c, old, array)) {
    po_restore(c, old);
    return false;
  }
  po_free(old);
  po_lay_out_now(c);
  return true;
}

/* The least and the most of function d of a statement's time; none where sizes
 * are open, or there are no instances. */
static bool
reach_of(const po_program *p, uint32_t stmt, uint32_t d, int64_t *lo,
         int64_t *hi) {
  const po_stmt *s = &p->stmts.data[stmt];
  isl_aff *of = isl_multi_aff_get_aff(s->time, (int)d);
  isl_set *values =
      isl_set_apply(isl_set_copy(s->domain), isl_map_from_aff(of));
  bool ok = !po_has_sizes(p) && po_bounds(values, 0, lo, hi);
  isl_set_free(values);
  return ok;
}

/* For how many of the loops around it a statement has a test: those that run
 * for others when it is over, or did not begin. */
static uint32_t
tests_of(const po_program *p, uint32_t stmt) {
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t n = po_nest_loops(p, p->stmts.data[stmt].leaf, loops), tests = 0;
  for (uint32_t d = 0; d < n; d++) {
    int64_t lo, hi, min, count;
    tests += po_value_range(p, loops[d], &min, &count) &&
             reach_of(p, stmt, d, &lo, &hi) &&
             (lo > min || hi < min + count - 1);
  }
  return tests;
}

/* In the nests that make an array. */
static uint32_t
tests_around(const po_program *p, uint32_t array) {
  uint32_t tests = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (p->stmts.data[k].array != array)
      continue;
    uint32_t root = po_root_of(p, k);
    for (uint32_t leaf = po_nest_first_leaf(p, root); leaf != PO_NO_NODE;
         leaf = po_nest_next_leaf(p, leaf, root))
      tests += tests_of(p, po_node(p, leaf)->stmt);
  }
  return tests;
}

/* All that may be trimmed, but what is kept whole.  Of that the rims that cost
 * tests, as others in their loops did not shrink as far, are kept whole from
 * then on; whether there were any. */
static bool
trim_but(po_chooser *c, const po_program *old, bool *whole) {
  bs_heap *heap = po_now(c)->ctx.heap;
  uint32_t n = old->arrays.len;
  bool *trimmed = bs_calloc(heap, n + (size_t)1, sizeof *trimmed), any = false;
  for (uint32_t k = n; k-- > 0 && !c->stopped;)
    trimmed[k] = !whole[k] && is_free(po_now(c), k) && trim_array(c, k);
  for (uint32_t k = 0; k < n && !c->stopped; k++)
    if (trimmed[k] && is_rim(c, old, k) &&
        tests_around(po_now(c), k) > tests_around(old, k))
      whole[k] = any = true;
  bs_free(heap, trimmed);
  return any;
}

void
po_trim_arrays(po_chooser *c) {
  bs_heap *heap = po_now(c)->ctx.heap;
  bool *whole =
      bs_calloc(heap, po_now(c)->arrays.len + (size_t)1, sizeof *whole);
  po_program *old = po_copy(po_now(c));
  while (trim_but(c, old, whole))
    po_take_back(c, old);
  po_free(old);
  bs_free(heap, whole);
}
