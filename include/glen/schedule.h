/* SPDX-License-Identifier: MIT */
/* schedule.h - the commands of schedules, one function each.
 *
 * A part of glen.h.  Each function is the command of its name in schedule
 * scripts (docs/SCHEDULES.md says what each does, with examples) and may be
 * called by turns with scripts.  Loops, statements and arrays are named as
 * there: a loop as "i" or "C.i", a node is a loop or a statement.
 *
 * A command is checked, and either changes the loops or is refused: then the
 * function returns false with a diagnostic, and the loops are as they were. If
 * the reason is a pair of instances, glen_violated gives it. */
#ifndef GLEN_SCHEDULE_H
#define GLEN_SCHEDULE_H

#include <glen/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The loops that a command makes.  The caller may set the first n names, and
 * these loops are called so, with a warning if there are fewer; afterwards, all
 * n that were made are there, as strings of the context.  NULL in the place of
 * a glen_made: nobody asks. */
#define GLEN_MAX_MADE 16
typedef struct glen_made {
  uint32_t n;
  const char *names[GLEN_MAX_MADE];
} glen_made;

/* A pair of instances that a refused command would have run in the wrong order,
 * or at the same time, or of which one would have got another value. */
typedef struct glen_violation {
  size_t size;            /* of this struct, as the caller has it */
  const char *dependence; /* "flow", "anti", "output" or "reduction" */
  const char *array;      /* through which one depends on the other */
  const char *source,
      *sink;         /* "S[30,32]", which has to run first; "S[31,31]" */
  const char *loop;  /* whose mark does not allow it, or NULL */
  const char *sizes; /* " at n = 5", where sizes of the program are open, or
                        NULL */
  int64_t violated, pairs; /* so many of so many; -1: not counted */
} glen_violation;

/* Of the last call on these loops of a function below, valid until diagnostics
 * are cleared; false where it was not refused for a pair. */
GLEN_API bool glen_violated(const glen_loops *, glen_violation *out);

/* Stands for a number that may be left out. */
#define GLEN_LEFT_OUT INT64_MIN

/* ---- loops ---- */

/* A factor may be -1: it follows from the others. */
GLEN_API bool glen_loops_split(glen_context *, glen_loops *, const char *loop,
                               const int64_t *factors, uint32_t n, glen_made *);
GLEN_API bool glen_loops_fuse(glen_context *, glen_loops *,
                              const char *const *loops, uint32_t n,
                              glen_made *);
/* sizes: n as well. */
GLEN_API bool glen_loops_tile(glen_context *, glen_loops *,
                              const char *const *loops, const int64_t *sizes,
                              uint32_t n, glen_made *);
GLEN_API bool glen_loops_reorder(glen_context *, glen_loops *,
                                 const char *const *loops, uint32_t n);
GLEN_API bool glen_loops_fission(glen_context *, glen_loops *, const char *loop,
                                 const char *node, glen_made *);
GLEN_API bool glen_loops_merge(glen_context *, glen_loops *, const char *loop,
                               const char *next, glen_made *);
/* levels may be left out. */
GLEN_API bool glen_loops_compute_with(glen_context *, glen_loops *,
                                      const char *loop, const char *other,
                                      int64_t levels, glen_made *);
GLEN_API bool glen_loops_put_after(glen_context *, glen_loops *,
                                   const char *node, const char *other);
/* skews: NULL, or n as well. */
GLEN_API bool glen_loops_interleave(glen_context *, glen_loops *,
                                    const char *const *loops, uint32_t n,
                                    int64_t size, const int64_t *skews,
                                    glen_made *);
GLEN_API bool glen_loops_simple_compute_at(glen_context *, glen_loops *,
                                           const char *stmt, const char *loop);
GLEN_API bool glen_loops_shift(glen_context *, glen_loops *, const char *stmt,
                               const char *loop, int64_t by);
GLEN_API bool glen_loops_skew(glen_context *, glen_loops *, const char *loop,
                              const char *outer, int64_t by, glen_made *);
GLEN_API bool glen_loops_enclose(glen_context *, glen_loops *, const char *node,
                                 const char *map, glen_made *);
GLEN_API bool glen_loops_serial(glen_context *, glen_loops *, const char *loop);
GLEN_API bool glen_loops_unroll(glen_context *, glen_loops *, const char *loop);
GLEN_API bool glen_loops_parallel(glen_context *, glen_loops *,
                                  const char *loop);
/* tail: "peel", "mask" or NULL. */
GLEN_API bool glen_loops_vectorize(glen_context *, glen_loops *,
                                   const char *loop, int64_t lanes,
                                   const char *tail);
/* axis: "blockIdx.x", "threadIdx.y", ... */
GLEN_API bool glen_loops_bind(glen_context *, glen_loops *, const char *loop,
                              const char *axis);
GLEN_API bool glen_loops_sync_threads(glen_context *, glen_loops *,
                                      const char *node, bool after);
GLEN_API bool glen_loops_separate(glen_context *, glen_loops *,
                                  const char *loop);
GLEN_API bool glen_loops_peel(glen_context *, glen_loops *, const char *loop,
                              int64_t n, glen_made *);
GLEN_API bool glen_loops_partition(glen_context *, glen_loops *,
                                   const char *loop, const int64_t *values,
                                   uint32_t n, glen_made *);

/* ---- statements ---- */

GLEN_API bool glen_loops_specialise(glen_context *, glen_loops *,
                                    const char *node, const char *condition,
                                    glen_made *);
GLEN_API bool glen_loops_divide(glen_context *, glen_loops *,
                                const char *array);
GLEN_API bool glen_loops_trim(glen_context *, glen_loops *, const char *array);
GLEN_API bool glen_loops_compute_inline(glen_context *, glen_loops *,
                                        const char *stmt);
GLEN_API bool glen_loops_reverse_compute_inline(glen_context *, glen_loops *,
                                                const char *stmt);
GLEN_API bool glen_loops_compute_at(glen_context *, glen_loops *,
                                    const char *stmt, const char *loop);
/* fill: "before", "first" or NULL. */
GLEN_API bool glen_loops_roll(glen_context *, glen_loops *, const char *stmt,
                              const char *loop, const char *fill);
GLEN_API bool glen_loops_reverse_compute_at(glen_context *, glen_loops *,
                                            const char *stmt, const char *loop);
GLEN_API bool glen_loops_rfactor(glen_context *, glen_loops *, const char *loop,
                                 int64_t axis, glen_made *);
GLEN_API bool glen_loops_privatise(glen_context *, glen_loops *,
                                   const char *loop, int64_t parts,
                                   glen_made *);
GLEN_API bool glen_loops_decompose_reduction(glen_context *, glen_loops *,
                                             const char *stmt,
                                             const char *loop);
GLEN_API bool glen_loops_pad_einsum(glen_context *, glen_loops *,
                                    const char *stmt, const int64_t *factors,
                                    uint32_t n);
/* parameters: NULL where the instruction has none. */
GLEN_API bool glen_loops_tensorize(glen_context *, glen_loops *,
                                   const char *loop, const char *instruction,
                                   const int64_t *parameters, uint32_t n);

/* How a sum of products runs.  NULL, 0: left to glen. */
typedef struct glen_contract {
  size_t size;       /* of this struct, as the caller has it */
  const char *as;    /* "kernel", "tiles" or "loops" */
  const char *swap;  /* "true" or "false" */
  const char *x, *y; /* "direct", "block", "whole" or "windows" */
  int64_t rows, vectors, depth, tile_rows, tile_columns, block_rows;
} glen_contract;

/* NULL leaves all to glen. */
GLEN_API bool glen_loops_contract(glen_context *, glen_loops *,
                                  const char *stmt, const glen_contract *);

/* ---- memory ---- */

/* scope: "global", "local", "shared" or "register"; at: a loop, or NULL. */
GLEN_API bool glen_loops_cache_read(glen_context *, glen_loops *,
                                    const char *stmt, const char *array,
                                    const char *scope, const char *at);
GLEN_API bool glen_loops_cache_write(glen_context *, glen_loops *,
                                     const char *stmt, const char *scope,
                                     const char *at);
GLEN_API bool glen_loops_pack(glen_context *, glen_loops *, const char *stmt,
                              const char *array, const char *layout,
                              const char *scope, const char *at);
GLEN_API bool glen_loops_set_buffer(glen_context *, glen_loops *,
                                    const char *array, const char *scope);
GLEN_API bool glen_loops_transform_layout(glen_context *, glen_loops *,
                                          const char *array,
                                          const char *layout);
GLEN_API bool glen_loops_storage_align(glen_context *, glen_loops *,
                                       const char *array, int64_t dim,
                                       int64_t factor, int64_t offset);
/* places may be left out in these three. */
GLEN_API bool glen_loops_fold_storage(glen_context *, glen_loops *,
                                      const char *array, int64_t dim,
                                      int64_t places);
GLEN_API bool glen_loops_double_buffer(glen_context *, glen_loops *,
                                       const char *array, const char *loop,
                                       int64_t places);
GLEN_API bool glen_loops_pipeline(glen_context *, glen_loops *,
                                  const char *stmt, const char *loop,
                                  int64_t ahead);

#ifdef __cplusplus
}
#endif

#endif
