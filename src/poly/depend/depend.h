/* SPDX-License-Identifier: MIT */
/* depend.h - dependences between instances, and whether a schedule keeps them.
 *
 * Flow dependences are value based (last write before a read), anti and output
 * dependences memory based; all by isl_union_access_info over the *original*
 * order, kept with the program.  Between updates of one element by the same
 * associative and commutative operator there is a *reduction* dependence: such
 * instances may run in any order, but not at the same time; integers always,
 * floating point unless the program was lowered strictly.
 *
 * Elements of an array with folded dimensions (loops.h) are distinct here;
 * that no two of them that share memory are alive at once is checked apart. */
#ifndef POLY_DEPEND_H
#define POLY_DEPEND_H

#include "poly/loops/loops.h"

typedef enum po_dep_kind {
  PO_FLOW,
  PO_ANTI,
  PO_OUTPUT_DEP,
  PO_REDUCTION,
  PO_DEP_KINDS
} po_dep_kind;

extern const char *const po_dep_names[PO_DEP_KINDS];

/* Of one array, or of all. */
typedef struct po_deps {
  isl_union_map *of[PO_DEP_KINDS]; /* { source instance -> sink instance } */
} po_deps;

/* One pair that a schedule would run in the wrong order. */
typedef struct po_violation {
  po_dep_kind kind;
  const char *array;  /* through which */
  const char *source; /* "S[3,5]" (program's arena) */
  const char *sink;
  const char *loop;  /* that has a mark which does not allow it; NULL: none */
  bool fold;         /* because elements share a place */
  const char *sizes; /* " at n = 5", where the program has sizes; or NULL */
  int64_t pairs, violated; /* how many in all, at these; -1: not counted */
} po_violation;

/* The program's dependences through an array under its present schedule, made
 * when they are first asked for and kept until the statements change
 * (po_forget_dependences: from there on the program's own order is the one to
 * keep).  NULL with a diagnostic when isl gives up. */
const po_deps *po_dependences_through(po_program *, uint32_t array);
/* The dependences through all arrays. */
const po_deps *po_dependences(po_program *);
void po_forget_dependences(po_program *);
/* Copies what was made for an array, if it was, of a program whose
 * dependences are the same. */
void po_take_dependences(po_program *, const po_program *from, uint32_t array);

/* { S[i] -> T[j] }: all pairs whose source does not run before its sink. */
__isl_give isl_map *po_not_before(const po_program *, const po_stmt *source,
                                  const po_stmt *sink);
/* What of the order is known to be as it was: through the arrays array[], and
 * of pairs of statements. */
typedef struct po_known_order {
  const bool *array;
  bool (*pair)(const void *data, uint32_t source, uint32_t sink);
  const void *data;
} po_known_order;

/* Whether what is not known to be in order is. */
bool po_rest_is_in_order(po_program *, const po_known_order *,
                         po_violation *out);
/* No dependence between different iterations of a loop, those around being
 * equal.  reductions_too: reduction dependences count.  `out` NULL: nobody asks
 * for the pair. */
bool po_loop_is_parallel(po_program *, uint32_t loop, bool reductions_too,
                         po_violation *out);
/* Whether the iterations are free of each other within one block of `lanes`
 * (floor(t / lanes) equal). */
bool po_loop_is_vector(po_program *, uint32_t loop, uint32_t lanes,
                       po_violation *out);
/* No two elements that a folded array keeps in one place are alive at once. */
bool po_folds_are_legal(po_program *, uint32_t array, po_violation *out);
/* Whether the mark of a loop is, or those of the loops from `top` down are. */
bool po_mark_is_legal(po_program *, uint32_t loop, po_violation *out);
bool po_marks_are_legal(po_program *, uint32_t top, po_violation *out);
/* All of the above that the marks of the nest and the folds ask for. */
bool po_program_is_legal(po_program *, po_violation *out);
/* As a sentence that names the pair, without its end. */
void po_put_violation(const po_violation *, bs_text *out);

/* Fills a violation from pairs { source -> sink } known to be wrong
 * out of all those of a kind; takes both. */
void po_describe(po_program *, po_dep_kind, __isl_take isl_union_map *wrong,
                 __isl_take isl_union_map *all, po_violation *out);

#endif
