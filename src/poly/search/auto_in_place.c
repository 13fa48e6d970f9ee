/* SPDX-License-Identifier: MIT */
/* auto_in_place.c - rows that are written where the oldest one was.
 *
 * Of the rows that are kept of a stage (auto_rows.c), an iteration makes the
 * newest and reads all of them, so that the oldest one and the newest need
 * places of their own.  Where it reads them at the point alone that it makes,
 * what is made may take the place of the oldest value there, once that was
 * read: the first part of the reduction over rows goes before the write.  A row
 * less is kept; and a line that is written was just read, where otherwise it
 * would have come from the second cache to be written.  That is for targets
 * whose results are written through the caches, where it was measured. */
#include "glenside/target/machine.h"
#include "poly/search/chooser.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>

/* The dimension of which some rows are kept; the array's rank. */
static uint32_t
kept_rows(const po_array *a) {
  uint32_t d = 0;
  while (a->role == PO_LOCAL && d < a->rank &&
         (a->fold[d] < 2 || a->fold[d] >= a->dim[d]))
    d++;
  return a->role == PO_LOCAL ? d : a->rank;
}

/* The one statement that writes an array, by an assignment. */
static uint32_t
only_writer(const po_program *p, uint32_t array) {
  uint32_t writer = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (p->stmts.data[k].array != array)
      continue;
    if (writer != PO_NO_NODE || p->stmts.data[k].kind != PO_ASSIGN)
      return PO_NO_NODE;
    writer = k;
  }
  return writer;
}

/* The loop below `loop`, and right below it, that a statement is in. */
static uint32_t
child_above(const po_program *p, uint32_t loop, uint32_t leaf) {
  uint32_t node = leaf;
  while (po_node(p, node)->parent != loop)
    node = po_node(p, node)->parent;
  return node;
}

/* The one loop below that of the writer in which the array is read, behind the
 * write. */
static uint32_t
only_reader(const po_program *p, uint32_t array, uint32_t writer) {
  assert(writer < p->stmts.len);
  uint32_t leaf = p->stmts.data[writer].leaf, reader = PO_NO_NODE;
  uint32_t loop = po_node(p, leaf)->parent;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (!po_stmt_reads(s, array))
      continue;
    if (reader != PO_NO_NODE || k == writer ||
        !po_nest_is_below(p, s->leaf, loop))
      return PO_NO_NODE;
    reader = child_above(p, loop, s->leaf);
  }
  if (reader == PO_NO_NODE || po_node(p, reader)->kind != PO_LOOP)
    return PO_NO_NODE;
  uint32_t behind = po_node(p, leaf)->next;
  while (behind != PO_NO_NODE && behind != reader)
    behind = po_node(p, behind)->next;
  return behind;
}

/* All accesses of an iteration of the writer's loop are of one point of a row:
 * but for dimension d, they have the same index. */
static bool
is_of_one_point(const po_program *p, uint32_t array, uint32_t writer,
                uint32_t d) {
  assert(writer < p->stmts.len);
  const po_stmt *w = &p->stmts.data[writer];
  uint32_t n = po_nest_depth(p, w->leaf);
  isl_map *all = po_accessed_in(
      w, n, isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(w->write)));
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (po_stmt_reads(&p->stmts.data[k], array))
      all = isl_map_union(all, po_reads_in(p, k, array, n));
  all = isl_map_project_out(all, isl_dim_out, d, 1);
  bool one = isl_map_is_single_valued(all) == isl_bool_true;
  isl_map_free(all);
  return one;
}

/* The write goes behind what is read of the oldest row; whether fewer are
 * kept then.  Meanwhile all are: whether places are free would be asked after
 * each step. */
static bool
write_later(po_chooser *c, uint32_t array, uint32_t d, uint32_t writer,
            uint32_t reader) {
  assert(d < po_now(c)->arrays.data[array].rank);
  assert(writer != reader);
  int64_t kept = po_now(c)->arrays.data[array].fold[d];
  po_step_call peel = po_step("peel"), move = po_step("put_after");
  po_step_call fold = po_step("fold_storage");
  fold.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  fold.args[1] = (po_arg){.kind = PO_ARG_INT, .number = d};
  fold.args[2] = (po_arg){.kind = PO_ARG_INT,
                          .number = po_now(c)->arrays.data[array].dim[d]};
  if (!po_attempt(c, &fold, NULL))
    return false;
  fold.args[2] = (po_arg){.kind = PO_ARG_END};
  peel.args[0] = po_loop_arg(reader);
  peel.args[1] = (po_arg){.kind = PO_ARG_INT, .number = 1};
  if (!po_attempt(c, &peel, NULL) || peel.n_made < 2)
    return false;
  move.args[0] =
      (po_arg){.kind = PO_ARG_NODE, .node = po_now(c)->stmts.data[writer].leaf};
  move.args[1] = (po_arg){.kind = PO_ARG_NODE, .node = peel.made[0]};
  return po_attempt(c, &move, NULL) && po_attempt(c, &fold, NULL) &&
         po_now(c)->arrays.data[array].fold[d] < kept;
}

void
po_write_in_place(po_chooser *c) {
  if (!gs_stores_through_caches(po_now(c)->target))
    return;
  for (uint32_t k = 0; k < po_now(c)->arrays.len && !c->stopped; k++) {
    const po_program *p = po_now(c);
    uint32_t d = kept_rows(&p->arrays.data[k]);
    if (d == p->arrays.data[k].rank || po_is_rigid(p, k))
      continue;
    uint32_t writer = only_writer(p, k);
    uint32_t reader =
        writer == PO_NO_NODE ? PO_NO_NODE : only_reader(p, k, writer);
    if (reader == PO_NO_NODE || !is_of_one_point(p, k, writer, d))
      continue;
    po_program *old = po_copy(p);
    if (!write_later(c, k, d, writer, reader))
      po_take_back(c, old);
    po_free(old);
  }
}
