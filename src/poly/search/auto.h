/* SPDX-License-Identifier: MIT */
/* auto.h - a schedule chosen for the target, as a script of primitives.
 *
 * Tiling, then fusion, after Zhao and Di, "Optimizing the memory hierarchy by
 * compositing automatic transformations on computations and data" (MICRO
 * 2020): what produces live-out arrays is tiled first; then every producer is
 * moved below the tile loop of its consumers, computing for each tile exactly
 * the instances that the tile needs (overlapped tiles arise by themselves), its
 * array becoming a local of the tile.  An array that two live-out nests need is
 * computed once and stays where it is.
 *
 * Everything is done by commands of primitive.h, each checked against the
 * dependences: po_print_script prints them, and replaying them gives the same
 * nest.  What a command refuses is left out. */
#ifndef POLY_SCHEDULE_AUTO_H
#define POLY_SCHEDULE_AUTO_H

#include "poly/loops/loops.h"

typedef enum po_fuse {
  PO_FUSE_MIN,      /* every array by loops of its own */
  PO_FUSE_SMART,    /* into the consumer's loops where nothing is recomputed */
  PO_FUSE_MAX,      /* into the outermost loop, whatever is recomputed */
  PO_FUSE_POST_TILE /* below the consumer's tiles */
} po_fuse;

extern const char *const po_fuse_names[4]; /* "min", "smart", ... */

/* A producer that the bound on what is computed again left where it was. */
typedef struct po_dropped {
  char array[64]; /* its name, or the beginning of a long one */
  double times;   /* instances over those needed, had it joined its consumer */
} po_dropped;

typedef BS_VEC(po_dropped) po_dropped_list;

typedef struct po_auto_options {
  po_fuse fuse;
  /* Sizes of tiles, for the innermost loops, outermost of them first; 0 of
   * them: chosen for the target. */
  int64_t tiles[GS_MAX_RANK];
  uint32_t n_tiles;
  uint32_t levels;          /* of parallel work: 1 for threads, 2 for blocks and
                               threads; 0: 1 */
  bool unasked;             /* nobody asked for it: what is done has to pay in
                               small programs, too */
  double max_recompute;     /* instances over those of the original; 0: 1.5 */
  po_dropped_list *dropped; /* what that left out is added; or NULL */
  unsigned long max_operations; /* of isl, for fusion and for what follows
                                   it, each; 0: a few seconds' worth */
} po_auto_options;

typedef struct po_auto_result {
  po_fuse fuse; /* what was done: something simpler where a limit was reached */
  bool finished;   /* else not all loops have marks that they could have */
  uint32_t n_left; /* nests that were too large and are fused in a simpler way,
                      or not at all; 3: and perhaps others */
} po_auto_result;

/* Statements of a program beyond which it is left alone: each step looks at
 * all dependences. */
enum { PO_MOST_SCHEDULED = 400 };

/* Replaces *program by a scheduled one.  Where isl's operations reach their
 * limit, the program is taken as it was and a simpler way tried: smart after
 * max and post-tile, min after smart. */
po_auto_result po_schedule_automatically(po_program **,
                                         const po_auto_options *);

/* auto_profit.c: the way to fuse a program for which a run does enough for the
 * time that scheduling it takes, --fuse auto; PO_FUSE_MIN: it does not. */
po_fuse po_profitable_fusion(const po_program *);
/* It has so many statements, for what a run does, that --fuse auto leaves it
 * alone. */
bool po_is_too_large(const po_program *);

/* fused_tree.c: the schedule tree as isl writes it, with `extension` nodes for
 * the instances that tiles need of statements that were moved into them, and
 * marks `skipped` where these stood.  False with a diagnostic. */
bool po_print_fused(const po_program *before, const po_program *after,
                    bs_text *out);

#endif
