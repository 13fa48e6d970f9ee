/* SPDX-License-Identifier: MIT */
/* change.h - what the primitives share: edits of the tree, names, blocks. */
#ifndef POLY_SCHEDULE_CHANGE_H
#define POLY_SCHEDULE_CHANGE_H

#include "poly/loops/access.h"
#include "poly/schedule/primitive.h"

/* A loop is run as another one is. */
static inline void
po_run_as(po_nest_node *to, const po_nest_node *from) {
  to->mark = from->mark;
  to->lanes = from->lanes;
  to->tail = from->tail;
  to->bind = from->bind;
  to->axis = from->axis;
  to->separate = from->separate;
}

/* ---- schedule_tree.c: none of these looks at dependences ---- */

/* The only child; PO_NO_NODE where there are none or several. */
uint32_t po_only_child(const po_program *, uint32_t node);
/* A loop around all children of `loop`, below it. */
uint32_t po_insert_loop(po_program *, uint32_t loop, const char *name);
/* All children of `from` become those of `to`, before a child of it. */
void po_move_children(po_program *, uint32_t from, uint32_t to,
                      uint32_t before);
/* Distributes the loops from `top` (a loop above `node`) down to node's parent
 * over their children, so that on the way from top to node every one is an
 * only child: what stands before and after gets loops of its own. */
void po_isolate(po_program *, uint32_t node, uint32_t top);
/* The name of result k: what was asked for, else a fresh one like `wish`.
 * NULL with a diagnostic when another loop has it.  Loops to be replaced must
 * have been given up before (po_give_up_name). */
const char *po_result_name(po_program *, const po_step_call *, uint32_t k,
                           const char *wish);
/* Of the first n results, where none was asked for the stem and a number; no
 * two are equal.  False with a diagnostic. */
bool po_result_names(po_program *, const po_step_call *, uint32_t n,
                     const char *stem, const char **names);
void po_give_up_name(po_program *, uint32_t loop);
/* reorder.c: the children of loop b come into loop a, behind its own.  Result k
 * of the call is the name, a's own where none was asked for. */
bool po_join_loops(po_program *, po_step_call *, uint32_t k, uint32_t a,
                   uint32_t b);
void po_name_loop(po_program *, uint32_t loop, const char *name);
void po_made(po_step_call *, uint32_t node);

/* Statements that are moved together: all writers of an array, or one. */
typedef struct po_block {
  uint32_t stmts[64];
  uint32_t n;
} po_block;

bool po_block_of(const po_program *, const po_step_call *, const po_arg *,
                 po_block *);
bool po_in_block(const po_block *, uint32_t stmt);
/* The innermost node that holds all of a block. */
uint32_t po_block_node(const po_program *, const po_block *);
/* A statement below `top` that is none of the block's; PO_NO_NODE. */
uint32_t po_foreign(const po_program *, const po_block *, uint32_t top);

/* Smallest value and number of values of a loop where neither depends on the
 * loops around it; false otherwise. */
bool po_constant_range(const po_program *, uint32_t loop, int64_t *min,
                       int64_t *count);
/* The range of a loop as po_constant_range gives it, but at the greatest sizes
 * where some are open. */
bool po_likely_range(const po_program *, uint32_t loop, int64_t *min,
                     int64_t *count);
/* Its smallest value and how many there are from that to its largest, over all
 * iterations of the loops around; false where there is no such. */
bool po_value_range(const po_program *, uint32_t loop, int64_t *min,
                    int64_t *count);
/* The most iterations of a loop in one of those around it, from its first to
 * its last value; -1 where isl gives up. */
int64_t po_most_iterations(const po_program *, uint32_t loop);

/* "serial", "parallel", ... */
extern const char *const po_mark_names[];
extern const char *const po_bind_names[];
/* Refuses for a loop that is not run serially. */
bool po_needs_serial(const po_program *, const po_step_call *, uint32_t loop);

/* binding.c: refuses where a loop that was marked for cores, blocks or threads
 * cannot be run by them; where any bound one cannot. */
bool po_binding_holds(po_program *, const po_step_call *, uint32_t loop);
bool po_bindings_hold(const po_program *before, po_program *after,
                      const po_step_call *);
/* schedule_contract.c: refuses where a sum would no longer run as the kernel
 * that was chosen for it; the commands that choose what kernels run as now. */
bool po_kernels_hold(po_program *, const po_step_call *);
void po_print_contracts(po_program *, bs_text *out);
/* barrier.c: refuses where not all threads of a block reach a barrier equally
 * often. */
bool po_barriers_are_met(const po_program *, const po_step_call *);

/* partition.c: the copy, put before a node, of a node and what is below it with
 * those instances for which the outermost n loops have these values
 * { [t0, ..., t(n-1)] }; a copied loop, with this name, is returned.  The same
 * instances alone stay below the node.  Refuses for calls. */
bool po_may_copy(const po_program *, const po_step_call *, uint32_t node);
uint32_t po_copy_part(po_program *, uint32_t node, uint32_t before,
                      const char *name, uint32_t n, __isl_keep isl_set *values);
void po_keep_part(po_program *, uint32_t node, uint32_t n,
                  __isl_keep isl_set *values);
/* split.c, reorder.c: as the primitives, for those made of them. */
bool po_split_loop(po_program *, po_step_call *, uint32_t loop,
                   const int64_t *factors, uint32_t n, const char *const *names,
                   uint32_t *made);
bool po_reorder_loops(po_program *, po_step_call *, const uint32_t *loops,
                      uint32_t n);

/* command.c: the command in normal form, its names as they are before the
 * step; then the names of what it made, put in front of it and kept. */
void po_put_command(const po_program *before, const po_step_call *, bs_text *);
void po_log_command(po_program *after, const po_step_call *, const char *right);

/* resolve.c: names in scripts.  False with a diagnostic that lists what might
 * have been meant. */
bool po_find_loop(const po_program *, const char *name, bs_span, uint32_t *out);
bool po_find_stmt(const po_program *, const char *name, bs_span, po_arg *out);
bool po_find_array(const po_program *, const char *name, bs_span,
                   uint32_t *out);
bool po_find_node(const po_program *, const char *name, bs_span, po_arg *out);

/* show.c: the nest as loops in which elements are named by the loops around,
 * for people; the loops; the dependences. */
void po_print_nest(const po_program *, bs_text *out);
void po_print_dependences(po_program *, bs_text *out);

#define X(name) PO_APPLY(name);
#include "poly/schedule/primitives.inc"
#include <assert.h>
#undef X

#endif
