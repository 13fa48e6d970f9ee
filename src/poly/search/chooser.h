/* SPDX-License-Identifier: MIT */
/* chooser.h - what the parts of the automatic schedule share.
 *
 *   auto.c          tiling, then fusion
 *   auto_facts.c    what is asked of a program and its nests
 *   auto_step.c     commands that may be refused
 *   auto_join.c     producers that join the nest of their one consumer
 *   auto_threads.c  loops over threads
 *   auto_width.c    producers that have too few parallel loops for a consumer
 *   auto_rows.c     rows of stages in turn, as far as they are needed
 *   auto_in_place.c rows that are written where the oldest one was
 *   auto_interleave.c  stages of a row in turn, part by part
 *   auto_divide.c   parts of an array that several nests read
 *   auto_point.c    what joins its consumer point by point, before tiling
 *   auto_parts.c    formulas of arrays that are computed in parts
 *   auto_lines.c    the cache lines that an access costs
 *   auto_slant.c    sweeps over time in slanted tiles
 *   auto_order.c    reductions along memory
 *   auto_blocks.c   blocks of what is read and written along different loops
 *   auto_groups.c   neighbours in memory that lie in several rows elsewhere
 *   auto_inline.c   formulas in the place of arrays
 *   auto_inner.c    short reductions written out, borders apart, vectors */
#ifndef POLY_SCHEDULE_CHOOSER_H
#define POLY_SCHEDULE_CHOOSER_H

#include "poly/search/auto.h"
#include "poly/schedule/change.h"
#include <assert.h>

typedef struct po_chooser {
  po_program **program;
  const po_auto_options *options;
  double max_recompute;
  isl_ctx *isl;
  bool stopped;   /* a limit was reached */
  uint32_t width; /* parallel loops of the nest that others join, before it is
                     tiled (auto_width.c) */
  uint32_t n_left, n_fused; /* nests that were too large, and others */
  bool strained; /* fusing reached a limit: what can be left is left */
  bool repeats;  /* some instance of what joined last runs more than once */
  bool thin;     /* tiles are as few rows as are worth their loops */
  /* Loops over rows of stages in turn (auto_rows.c). */
  uint32_t rows[16], n_rows;
} po_chooser;

static inline po_program *
po_now(const po_chooser *c) {
  return *c->program;
}

/* The program becomes the older one, which is taken. */
static inline void
po_restore(po_chooser *c, po_program *old) {
  po_free(*c->program);
  *c->program = old;
}

/* auto_step.c: what isl or a step complains about from here on is forgotten;
 * whether it ended because a limit was reached is kept.  Gives back ok. */
typedef struct po_moment {
  uint32_t len, errors, warnings;
  bool dropped, unread;
} po_moment;

po_moment po_be_quiet(po_chooser *);
bool po_speak_again(po_chooser *, const po_moment *, bool ok);
/* auto_step.c: applies a step; what it complains about is forgotten.  undo: the
 * program before it, which is then the caller's. */
bool po_attempt(po_chooser *, po_step_call *, po_program **undo);
/* auto_threads.c: false where it may not be parallel. */
bool po_mark_parallel(po_chooser *, uint32_t loop);
/* po_lay_out, after a step that changed statements. */
void po_lay_out_now(po_chooser *);
po_step_call po_step(const char *name);
po_arg po_loop_arg(uint32_t node);
/* All statements that write an array. */
po_arg po_writers_arg(const po_program *, uint32_t array);
/* The child of the root above a statement. */
static inline uint32_t
po_root_of(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  return po_nest_root(p, p->stmts.data[stmt].leaf);
}
/* The nest has neither calls nor what runs as a kernel. */
bool po_may_change(const po_program *, uint32_t root);
/* The plan of po_lay_out has kernels that no other nest is to be run with. */
bool po_has_kernels(const po_program *);

/* Instances of the statements that write an array, in all; those of them that
 * were different ones before they were moved.  -1 where not known. */
int64_t po_instances_of(const po_program *, uint32_t array);
int64_t po_distinct_of(const po_program *now, const po_program *old,
                       uint32_t array);
/* Takes the marks off all loops of a nest. */
void po_make_serial(po_chooser *, uint32_t root);

/* The command `how` (compute_at, roll) for all that writes the array; taken
 * back where too much would be computed again. */
bool po_join_array(po_chooser *, const char *how, uint32_t array,
                   uint32_t loop);
/* Joins the arrays that some nest computes for `root` only, last first, to the
 * loop `place`; whether all of them were. */
typedef bool po_joining(po_chooser *, uint32_t array, uint32_t loop);
bool po_fuse_into(po_chooser *, uint32_t root, uint32_t place, po_joining *);
/* Is there any? */
bool po_is_joined(const po_chooser *, uint32_t root);

/* A loop that is serial or parallel, and nothing else. */
static inline bool
po_is_plain(const po_program *p, uint32_t loop) {
  const po_nest_node *n = po_node(p, loop);
  return n->kind == PO_LOOP && (n->mark == PO_SERIAL || n->mark == PO_PARALLEL);
}

/* Loops from a child of the root down while each is an only child. */
uint32_t po_chain_of(const po_program *, uint32_t root, uint32_t *loops);
/* The loops over results that all of a nest is inside of, outermost first. */
uint32_t po_result_loops(const po_program *, uint32_t root, uint32_t *loops);
/* -1 where it depends on other loops. */
int64_t po_extent_of(const po_program *, uint32_t loop);
/* Some array that is to join the nest is read by all iterations of the loop
 * alike. */
bool po_is_shared_by(const po_program *, uint32_t root, uint32_t depth);
po_arg po_loops_arg(const uint32_t *nodes, uint32_t n);
/* The child of the root before this one; PO_NO_NODE: the last one. */
uint32_t po_last_root(const po_program *, uint32_t before);

/* auto_rows.c: the nest before `after`, where it pays; false: it is as it was
 */
bool po_fuse_in_rows(po_chooser *, uint32_t after);
/* The program becomes a copy of an older one. */
void po_take_back(po_chooser *, const po_program *old);
/* Bytes of the arrays that are kept in the loop over rows; windows: those of
 * several rows.  What rows may take of a cache. */
int64_t po_bytes_alive(const po_program *, uint32_t loop, uint32_t *windows);
int64_t po_bytes_of_cache(const po_program *, uint32_t level);
/* One of so many equal parts of an extent, of whole lines of floats. */
int64_t po_line_part(const po_program *, int64_t extent, int64_t parts);
/* auto_in_place.c */
void po_write_in_place(po_chooser *);
/* auto_interleave.c */
void po_interleave_rows(po_chooser *);

/* auto_facts.c: nothing there keeps formulas from becoming longer. */
bool po_may_inline(const po_program *, uint32_t root);
/* What is there is computed where a kernel stores its results. */
bool po_is_formula(const po_program *, uint32_t root);
/* auto_inline.c */
void po_inline_points(po_chooser *);
/* Calls a function: one of which there are vectors, or one of which there are
 * none. */
bool po_calls(const po_stmt *, bool vectors);
/* Together, what makes an array and what reads it would lose the vectors that
 * one of them has: the other one calls a function of which there are none. */
bool po_takes_vectors(const po_program *, uint32_t array);
/* Readers of the output had better compute it from inputs than read it from
 * memory: fewer bytes are in use, at the price of some operations. */
bool po_is_made_again(const po_chooser *, uint32_t array);

/* auto_point.c */
void po_join_points(po_chooser *);
/* auto_parts.c: several assignments compute parts of the array: at one point
 * each of them would be a test, and none a loop over its own part */
bool po_is_in_parts(const po_program *, uint32_t array);
/* What reads such an array point by point joins each of its parts. */
void po_join_parts(po_chooser *);
/* auto_order.c: points of an array join a reduction that reads them, others
 * too; loops that run along memory go innermost */
void po_join_reductions(po_chooser *);
void po_order_loops(po_chooser *);
/* auto_lines.c: { [loops around the statement] -> [address] } of an access, as
 * coefficients; false where it is not one affine function. */
bool po_strides_of(const po_program *, const po_stmt *,
                   __isl_keep isl_pw_multi_aff *index, uint32_t array,
                   int64_t *stride);
/* Elements by which an iteration of each loop around the statement moves an
 * access, of a function in pieces by the one that most loops move: on the
 * average, and while its quotients stay; false where it is no function. */
bool po_likely_strides(const po_program *, const po_stmt *,
                       __isl_keep isl_pw_multi_aff *index, uint32_t array,
                       double average[PO_MAX_DEPTH], double near[PO_MAX_DEPTH]);
/* lines[d]: what access k (an expression, or n_exprs: the write) costs an
 * iteration of loop d of the n around the statement, were it innermost; false
 * where k is no access. */
bool po_access_lines(const po_program *, const po_stmt *, uint32_t k,
                     uint32_t n, double *lines);
/* auto_divide.c */
void po_divide_arrays(po_chooser *);
void po_trim_arrays(po_chooser *);
/* auto_slant.c */
void po_slant_sweeps(po_chooser *);
/* auto_blocks.c */
void po_block_loops(po_chooser *);
/* auto_groups.c */
void po_group_neighbours(po_chooser *);
/* auto_threads.c */
void po_parallelise(po_chooser *);
/* Instances of all statements of a nest; whether threads would pay for it. */
double po_work_in(const po_program *, uint32_t root);
bool po_threads_are_profitable(const po_program *, uint32_t root);
/* auto_width.c: result loops of a nest whose iterations are independent. */
uint32_t po_width_of(const po_program *, uint32_t root);
/* A producer's nest may join a consumer with m parallel loops: not m > n, and
 * no parallel loop joins a consumer without any. */
bool po_keeps_width(const po_chooser *, uint32_t producer, uint32_t m);
/* auto_inner.c */
void po_finish_inner_loops(po_chooser *);
/* The loop runs over what the statement reduces. */
bool po_is_summed_over(const po_program *, uint32_t leaf, uint32_t loop);

#endif
