/* SPDX-License-Identifier: MIT */
/* kernel_slide.h - reductions over small windows, with nothing contracted.
 *
 * A slide is
 *
 *   c[o] = formula(fold over k of body(x[o, k], y[o, k]))
 *
 * where every loop moves c, or is reduced over, and nothing is used again but
 * what windows share: depthwise convolutions and pools of any layout, strides
 * and dilations.  Addresses are linear; conditions name one loop of the window
 * and one of the result each (the padding).  x may lie in the array of c,
 * before or behind it, as pools do that write what a concat puts side by side.
 *
 * A tile is `rows` of one loop times `vectors` of the loop along which c lies
 * side by side.  Each element has a lane of a named local; what is loaded is
 * used for all rows that it belongs to.  Where a row of x is a vector or two,
 * it is loaded once and held, and the lanes of each tap are picked from it.
 * Where results lie two elements of x apart, what lies under a vector of them
 * is halved once into its even and its odd elements, and taps further on move
 * the lanes of a half.
 * Tiles at the borders have code of their own: there it is known which elements
 * of a window are missing. */
#ifndef POLY_SLIDE_H
#define POLY_SLIDE_H

#include "poly/kernel/reduction.h"

#define PO_NO_LOOP UINT32_MAX

/* constant + outer * index of `loop` + inner * index of `tap` >= 0 */
typedef struct po_border {
  uint32_t loop, tap;
  int64_t constant, outer, inner;
} po_border;

/* What the body reads; PO_NO_LOOP: there is no such operand. */
typedef struct po_sliding {
  uint32_t array;
  isl_pw_multi_aff *index; /* of the reads that are this operand */
  po_walk at;
  int64_t first, last; /* elements that loads may touch */
} po_sliding;

typedef enum po_slide_body {
  PO_SLIDE_SUM,     /* x is added */
  PO_SLIDE_PRODUCT, /* x times y is added */
  PO_SLIDE_OTHER    /* by a function of one lane */
} po_slide_body;

typedef struct po_slide {
  gs_dtype dtype;
  uint32_t init, update, store; /* statements; store UINT32_MAX: none */
  uint32_t formula, sums;       /* as those of a contraction */
  po_slide_body body;
  uint32_t n, n_outer; /* loops: those of the result, then the window's */
  int64_t extent[PO_MAX_DIMS];
  po_sliding x, y;
  uint32_t array; /* c */
  po_walk c;
  uint32_t n_extras;
  po_cextra extras[PO_MAX_EXTRAS];
  po_walk extra[PO_MAX_EXTRAS];
  uint32_t n_borders;
  po_border borders[PO_MAX_GUARDS];
  /* The loop whose every index has a part of the array for itself, in which
   * what is read lies apart from the results; or PO_NO_LOOP. */
  uint32_t parts;

  /* ---- the plan ---- */
  uint32_t lanes, vectors, rows;
  uint32_t along, down; /* loops of vectors and of rows, or PO_NO_LOOP */
  uint32_t shared;      /* the tap that rows share elements by */
  uint32_t across; /* rows of x are held: the tap along them; or PO_NO_LOOP */
  bool halved;     /* taps of a row share vectors of every other element */
  bool unrolled[PO_MAX_DIMS]; /* taps that a tile writes out */
  uint32_t sides;             /* parts of each sum, added up side by side */
  double cycles;              /* estimate, one core */
  bool chosen;                /* as a schedule says */
  /* Threads share the rows of a plane: there are few planes. */
  bool by_rows;
  /* Nothing is saved by going over x and c together with others: what the loops
   * of a tile run over stays in the second cache, or tiles save more. */
  bool apart;
} po_slide;

/* kernel_slide.c: whether statements init, update and store (or UINT32_MAX) are
 * one, whose results the formula (or UINT32_MAX) alone reads. */
bool po_find_slide(po_program *, uint32_t init, uint32_t update, uint32_t store,
                   uint32_t formula, po_slide *out);
/* slide_plan.c: chooses loops and sizes of tiles for the target; false where
 * there are none. strict: sums keep their order; fixed: what a schedule says of
 * rows and vectors, or NULL; room: for one more. */
struct po_contract_choice;
bool po_plan_slide(const gs_target *, bool strict,
                   const struct po_contract_choice *fixed, po_slide *,
                   po_slide *room);
/* slide_plan.c: the estimate where no row shares with others what it loads, as
 * in loops over its rows in turn with those of others; room: for a copy. */
double po_cycles_by_rows(const gs_target *, const po_slide *, po_slide *room);
/* Whether a formula takes so long that it has a loop of its own, over the
 * results of all tiles. */
bool po_is_costly_formula(const po_stmt *);
/* Where rows of x are held: elements of one, from the place of a window's first
 * tap at the first result on. */
typedef struct po_held {
  int64_t first, n;
} po_held;
po_held po_held_row(const po_slide *);
/* Vectors of x begin anywhere: a line of the cache may end in one. */
bool po_crosses_lines(const po_slide *);
/* Results in vector v of a tile. */
int64_t po_results_in(const po_slide *, int64_t v);
/* Elements that are missing change nothing where they are what the fold starts
 * from: of a sum zeros, of the largest the lowest. */
bool po_has_filler(const po_program *, const po_slide *);
/* Whether all conditions on this tap hold for an index of its loop. */
bool po_tap_is_there(const po_slide *, uint32_t loop, int64_t at, uint32_t tap,
                     int64_t k);

/* The tap is written out, and rows do not share elements by it: places of it
 * lie in one row of x. */
static inline bool
po_is_in_row(const po_slide *c, uint32_t tap) {
  return tap >= c->n_outer && c->unrolled[tap] && tap != c->shared;
}

/* Elements of windows in all results: what is added up, or compared. */
static inline double
po_taps_of(const po_slide *c) {
  double n = 1;
  for (uint32_t k = 0; k < c->n; k++)
    n *= (double)c->extent[k];
  return n;
}

/* A run of tiles along a loop that have the same code: those from `from` to
 * `to`, `step` apart, and one more at `last` (or -1).  Of a border there is one
 * tile. */
typedef struct po_run {
  int64_t from, to, step, last;
  bool border;
} po_run;
#define PO_MAX_RUNS 12
/* The runs of tiles of `size` along the loop; 0: there are too many. The last
 * tile reaches back where it would reach beyond the end. */
uint32_t po_find_runs(const po_slide *, uint32_t loop, int64_t size,
                      po_run runs[PO_MAX_RUNS]);

/* slide_program.c: finds and plans those of a program's groups that are no
 * contraction and that the schedule left as they were lowered.  Makes p->slides
 * anew. */
void po_plan_slides(po_program *, const po_groups *);
/* That of the statement that updates, or NULL. */
const po_slide *po_slide_of_update(const po_program *, uint32_t update);
/* That of a group, or NULL. */
const po_slide *po_slide_of(const po_program *, const po_groups *,
                            const po_group *);

#endif
