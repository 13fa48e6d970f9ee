/* SPDX-License-Identifier: MIT */
/* auto_width.c - how many loops of a nest could run by threads, and what may
 * join what for that.
 *
 * The test m > n of the paper's algorithms 1 and 2.  m is the number of
 * parallel dimensions of the consumer's tile band, of which only so many count
 * as the target has levels of parallel work: one for threads, two for blocks
 * and threads.  n is that of the producer.  Where m > n the producer is left
 * untiled, in loops of its own: what one tile after the other needs of it
 * would tie the tiles together, or be computed in each.  A consumer without
 * any parallel loop is not tiled: what joined it would lose its own. */
#include "poly/loops/affine.h"
#include "poly/search/chooser.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>

static bool
is_gathered(const po_stmt *s, uint32_t array) {
  for (uint32_t j = 0; j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_GATHER && s->exprs[j].array == array)
      return true;
  return false;
}

/* { [o] -> A[x] }: what iterations of the first n loops of a nest write of an
 * array, and what they write or read; false where no statement of it writes
 * the array, or one looks it up anywhere. */
static bool
accesses_in(const po_program *p, uint32_t root, uint32_t array, uint32_t n,
            isl_union_map **writes, isl_union_map **all) {
  *writes = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  *all = isl_union_map_copy(*writes);
  bool gathered = false;
  for (uint32_t k = po_nest_first_leaf(p, root); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, root)) {
    uint32_t stmt = po_node(p, k)->stmt;
    const po_stmt *s = &p->stmts.data[stmt];
    gathered |= is_gathered(s, array);
    if (s->array == array) {
      isl_map *at = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->write));
      at = isl_map_intersect_domain(at, isl_set_copy(s->domain));
      *writes = isl_union_map_union(
          *writes, isl_union_map_from_map(po_accessed_in(s, n, at)));
    }
    isl_union_map *prefix = isl_union_map_from_map(po_prefix(s, n));
    *all = isl_union_map_union(
        *all, isl_union_map_apply_range(isl_union_map_reverse(prefix),
                                        po_reads_of(p, stmt, array)));
  }
  *all = isl_union_map_union(*all, isl_union_map_copy(*writes));
  return !gathered;
}

/* Takes the dimensions out of `free` in which iterations that use one element,
 * one of them writing it, are apart. */
static void
take_out_carried(const po_program *p, uint32_t root, uint32_t array, uint32_t n,
                 bool *free) {
  isl_union_map *writes, *all;
  bool known = accesses_in(p, root, array, n, &writes, &all);
  isl_union_map *pairs =
      isl_union_map_apply_range(writes, isl_union_map_reverse(all));
  isl_union_set *deltas = isl_union_map_deltas(pairs);
  isl_set *apart = isl_union_set_extract_set(deltas, po_space(p->isl, n));
  isl_union_set_free(deltas);
  for (uint32_t d = 0; d < n; d++) {
    isl_set *zero = po_slab(p->isl, n, d, 0, 0);
    free[d] =
        free[d] && known && isl_set_is_subset(apart, zero) == isl_bool_true;
    isl_set_free(zero);
  }
  isl_set_free(apart);
}

uint32_t
po_width_of(const po_program *p, uint32_t root) {
  assert(root < p->nest.nodes.len);
  uint32_t loops[PO_MAX_DEPTH], n = po_result_loops(p, root, loops), width = 0;
  bool free[PO_MAX_DEPTH], *done;
  for (uint32_t d = 0; d < n; d++)
    free[d] = po_extent_of(p, loops[d]) != 1;
  done = bs_calloc(p->ctx.heap, p->arrays.len, sizeof *done);
  for (uint32_t k = po_nest_first_leaf(p, root); n && k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, root)) {
    uint32_t array = p->stmts.data[po_node(p, k)->stmt].array;
    if (!done[array])
      take_out_carried(p, root, array, n, free);
    done[array] = true;
  }
  bs_free(p->ctx.heap, done);
  for (uint32_t d = 0; d < n; d++)
    width += free[d];
  return width;
}

bool
po_keeps_width(const po_chooser *c, uint32_t producer, uint32_t m) {
  uint32_t levels = c->options->levels ? c->options->levels : 1;
  uint32_t n = po_width_of(po_now(c), producer);
  return m ? (m < levels ? m : levels) <= n : !n;
}
