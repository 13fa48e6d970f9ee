/* SPDX-License-Identifier: MIT */
/* strategy.h - whole schedules of a program, each as a script, with a price.
 *
 * A strategy is one ScheduleResult: how every nest is fused, cut, ordered,
 * written out and spread over threads.  It is kept as the script of primitives
 * that makes it, so that whatever is chosen can be printed, edited and
 * replayed; two strategies with the same script are one.  The first is always
 * the program as it stands.
 *
 * Prices are predictions (strategy_cost.c): what is chosen by them is a guess
 * that measuring may correct. */
#ifndef POLY_STRATEGY_STRATEGY_H
#define POLY_STRATEGY_STRATEGY_H

#include "poly/search/auto.h"

/* Made of a program that `--fuse` may have fused, before threads and vectors
 * are given: none, or one of these. */
typedef enum po_variant {
  PO_AS_IT_IS,
  PO_VECTORS,    /* the innermost loops in vectors of the target */
  PO_WIDE,       /* in vectors of twice as many lanes */
  PO_WRITTEN,    /* innermost loops cut by four, the parts written out */
  PO_CONTIGUOUS, /* loops along which arrays are contiguous go innermost; sums
                    of products run as loops */
  PO_JAMMED,     /* that, and four rows at a time */
  PO_AXES,       /* the impl graph that the cost of axes chooses */
  PO_VARIANTS
} po_variant;

extern const char *const po_variant_names[PO_VARIANTS];

typedef struct po_strategy {
  const char *name; /* "post-tile 32,256 vectors", unique */
  const char *script;
  double cost;         /* cycles; of the program under it */
  po_program *program; /* that program; NULL once it was taken */
} po_strategy;

typedef struct po_strategies {
  bs_arena *arena;
  BS_VEC(po_strategy) list;
  uint32_t cheapest;
} po_strategies;

/* At most `most` of them, the more promising first; NULL or a flag that ends
 * the search when it is set.  Texts are in the arena. */
void po_make_strategies(const po_program *, uint32_t most,
                        const volatile int *interrupt, bs_arena *,
                        po_strategies *out);
void po_strategies_done(po_strategies *);
/* The strategies with their prices, the cheapest marked. */
void po_print_strategies(const po_strategies *, bs_text *out);

/* results.c: each with its groups, an array. */
void po_json_strategies(const po_strategies *, bs_text *out);

/* variant.c: what a variant does is left out where a primitive refuses it. */
void po_apply_variant(po_program **, po_variant);
/* axes.c: every nest as its cheapest impl graph says (docs/IMPLGRAPH.md). */
typedef struct po_chooser po_chooser;
void po_apply_axes(po_chooser *);
/* gpu.c: loops become blocks and threads, where none is yet. */
void po_bind_automatically(po_program **);
/* strategy_cost.c: cycles of a scheduled program on its target. */
double po_predict_cycles(po_program *);
/* Cycles of the nests that have no statement of any of these terms. */
double po_predict_others(po_program *, const gs_term *, uint32_t n);

#endif
