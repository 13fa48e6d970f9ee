/* SPDX-License-Identifier: MIT */
/* nest.h - the schedule of a loop program: a tree of loops and statements.
 *
 * The root and every loop have an ordered list of children; a leaf is one
 * statement, and every statement stands in exactly one leaf.  A statement has
 * a *time*: one quasi-affine function of its instance for every loop on its
 * way down from the root, outermost first.  A loop of the tree runs over the
 * union of the values that these functions take for the statements below it.
 * Instances run in the lexicographic order of
 *
 *   (place among siblings, loop value, place, loop value, ..., place).
 *
 * No bounds are stored: they follow from domains and times, so that a change
 * of the schedule is a change of times or of the tree and can be checked
 * against the dependences (depend.h) without regard to how it was made.
 *
 * Instances that a transformation introduces (recomputed producers, copies)
 * are statements of their own; their domains begin with the indices of the
 * loops they were put under, so that times are total functions on them. */
#ifndef POLY_NEST_H
#define POLY_NEST_H

#include "base/vec.h"
#include "poly/loops/pool.h"
#include <isl/union_map.h>

typedef struct po_program po_program;

#define PO_NO_NODE UINT32_MAX
/* Loops around a statement; nodes on a way down. */
#define PO_MAX_DEPTH 64

typedef enum po_node_kind {
  PO_ROOT, /* node 0 */
  PO_LOOP,
  PO_LEAF,
  PO_SYNC, /* a barrier of the threads of a block */
  PO_FREE  /* not in use */
} po_node_kind;

/* What a loop is run as. */
typedef enum po_mark {
  PO_SERIAL,
  PO_PARALLEL,  /* OpenMP threads */
  PO_VECTORIZE, /* `lanes` iterations at once */
  PO_UNROLL,    /* written out; the number of iterations is constant */
  PO_BIND       /* an index of CUDA's grid or block */
} po_mark;

typedef enum po_bind_axis {
  PO_BLOCK_X,
  PO_BLOCK_Y,
  PO_BLOCK_Z,
  PO_THREAD_X,
  PO_THREAD_Y,
  PO_THREAD_Z
} po_bind_axis;

/* What a vector loop does with iterations that do not fill a vector. */
typedef enum po_tail { PO_TAIL_PEEL, PO_TAIL_MASK } po_tail;

typedef struct po_nest_node {
  po_node_kind kind;
  uint32_t parent, first, last, next, prev; /* PO_NO_NODE: none */
  /* PO_LOOP */
  const char *name; /* unique among the program's loops; in p->arena */
  po_mark mark;
  uint32_t lanes; /* PO_VECTORIZE */
  po_tail tail;
  po_bind_axis bind;
  uint32_t axis; /* id in p->axes; PO_NO_NODE: none */
  bool no_axis;  /* it was asked for: no fixed range, or no room for it */
  /* Full tiles of it get code of their own, without minima in bounds. */
  bool separate;
  /* PO_LEAF */
  uint32_t stmt;
} po_nest_node;

typedef struct po_nest {
  BS_VEC(po_nest_node) nodes; /* [0] is the root */
} po_nest;

/* ---- the tree (nest.c); none of these looks at dependences ---- */

void po_nest_init(po_program *);
/* Appends to / inserts before a sibling (PO_NO_NODE: as the last child). */
uint32_t po_nest_add_loop(po_program *, uint32_t parent, uint32_t before,
                          const char *name);
uint32_t po_nest_add_leaf(po_program *, uint32_t parent, uint32_t before,
                          uint32_t stmt);
uint32_t po_nest_add_sync(po_program *, uint32_t parent, uint32_t before);
/* Takes a node with what is below it out of the tree / puts it elsewhere. */
void po_nest_detach(po_program *, uint32_t node);
void po_nest_attach(po_program *, uint32_t node, uint32_t parent,
                    uint32_t before);
/* Detached nodes and all below become PO_FREE. Loops left without children
 * are removed by po_nest_prune, up to the root. */
void po_nest_remove(po_program *, uint32_t node);
void po_nest_prune(po_program *, uint32_t parent);

/* The loops around a node (itself excluded), outermost first; their number. */
uint32_t po_nest_loops(const po_program *, uint32_t node,
                       uint32_t loops[PO_MAX_DEPTH]);
uint32_t po_nest_depth(const po_program *, uint32_t node);
/* The innermost node that holds both. */
uint32_t po_nest_common(const po_program *, uint32_t a, uint32_t b);
bool po_nest_is_below(const po_program *, uint32_t node, uint32_t above);
/* Pre-order walk of what is below `top` (itself first): PO_NO_NODE at the end.
 * Start with node = top. */
uint32_t po_nest_next(const po_program *, uint32_t node, uint32_t top);
/* Leaves in order: the first after `node`, the first of all. */
uint32_t po_nest_next_leaf(const po_program *, uint32_t node, uint32_t top);
uint32_t po_nest_first_leaf(const po_program *, uint32_t top);
/* The child of the root that a node is below or is; PO_NO_NODE of the root
 * and of a node that is in no tree. */
uint32_t po_nest_root(const po_program *, uint32_t node);
/* The loop with this name; PO_NO_NODE. */
uint32_t po_nest_find(const po_program *, const char *name);
/* `wish`, or with _1, _2, ... where a loop has that name already. */
const char *po_nest_fresh(po_program *, const char *wish);

/* Replaces the functions [at, at + n_old) of the time of every statement below
 * `loop` (whose function stands at `at` = depth of the loop) by `made` applied
 * to them: { [t_at, ..., t_at+n_old-1] -> [...] }.  The caller edits the tree
 * to match. */
void po_nest_retime(po_program *, uint32_t below, uint32_t at, uint32_t n_old,
                    __isl_take isl_multi_aff *made);

/* ---- as isl objects (nest_isl.c, loops_count.c); kept by the caller's pool
 * ---- */

/* { S[i] -> [place, t0, place, t1, ..., place, 0...] }, of equal lengths, for
 * the statements that use an array; PO_NO_NODE: for all. */
__isl_give isl_union_map *po_time_around(const po_program *, uint32_t array);
/* Values of a loop: { [t] } over all / for given outer loops:
 * { [t_outer...] -> [t] }. */
__isl_give isl_set *po_nest_range(const po_program *, uint32_t loop);
__isl_give isl_map *po_nest_range_in(const po_program *, uint32_t loop);
/* A statement without instances, as compute_at leaves where none is needed, or
 * a loop that has none below it. */
bool po_nest_is_idle(const po_program *, uint32_t node);
/* po_nest_range_in with all values between the first and the last one; takes
 * it. */
__isl_give isl_map *po_without_gaps(__isl_take isl_map *);
/* The number of values, where it does not depend on outer loops and they are
 * 0 .. n - 1; else -1. */
int64_t po_nest_extent(const po_program *, uint32_t loop);
/* The schedule tree of what is below a child of the root: bands of one member,
 * each under a mark named after its loop. */
__isl_give isl_schedule *po_nest_schedule(const po_program *, uint32_t top);
/* The number of instances of a statement, exactly; -1 beyond 2^62 or when isl
 * gives up. */
int64_t po_count_instances(const po_program *, uint32_t stmt);
/* The number of instances of a statement, or of points of a set, at the
 * greatest sizes where some are open; -1 as of po_count_instances. */
int64_t po_likely_instances(const po_program *, uint32_t stmt);
int64_t po_likely_points(const po_program *, __isl_take isl_set *);
/* About as many, and quickly: those of the box around them. */
double po_estimate_instances(const po_program *, uint32_t stmt);
/* The number of points of any bounded set, exactly; or -1. */
int64_t po_count_points(__isl_take isl_set *);
/* Counts points, of which at most `walk` are walked over one by one. */
int64_t po_count_points_within(__isl_take isl_set *, int64_t walk);

#endif
