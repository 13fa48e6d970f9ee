/* SPDX-License-Identifier: MIT */
/* strategy_keys.h - several codes of a program with sizes, each for a part of
 * them.
 *
 * A part is a box: every size has bounds of its own in it, and may be a
 * multiple of more.  A tiling key numbers the parts in the order in which a
 * call looks for one that holds its sizes; the last is the program itself, for
 * whatever the others do not hold.  The same program is lowered once for each:
 * narrower bounds give kernels and blocks for these sizes, and a part of a
 * single point is code for numbers. */
#ifndef POLY_STRATEGY_KEYS_H
#define POLY_STRATEGY_KEYS_H

#include "glenside/type/sizes.h"
#include "poly/loops/loops.h"

enum { PO_MOST_KEYS = 16 };

/* What one code is said to cost at sizes, in cycles of one core. */
typedef struct po_key_price {
  bool holds; /* these sizes are in its part */
  double cycles;
} po_key_price;

typedef struct po_key {
  gs_size part[GS_MOST_SIZES];
  const gs_program *program; /* for that part */
} po_key;

typedef struct po_keys {
  uint32_t n; /* beside the last one, which is the program */
  po_key list[PO_MOST_KEYS];
} po_keys;

/* At most `most` keys of a program with sizes, by price at sampled sizes; what
 * is made lives as long as the program.  False with a diagnostic where the
 * program has no code for all sizes. */
bool po_choose_keys(const gs_program *, const gs_target *, const po_options *,
                    uint32_t most, po_keys *out);
/* A program, or one for a part, with what options say to pack before calls;
 * NULL with a diagnostic where it has no code. */
po_program *po_lower_part(const gs_program *, const gs_target *,
                          const po_options *);
/* Of sizes `at`, those that the program for the part still has. */
void po_sizes_left(const gs_size *part, uint32_t n_sizes, const int64_t *at,
                   int64_t *left);
/* The first key that holds these sizes; n: the program itself. */
uint32_t po_key_at(const po_keys *, uint32_t n_sizes, const int64_t *at);
/* The prices of one call: of each key, of the program itself, and of code for
 * the sizes of the call alone. */
typedef struct po_key_prices {
  po_key_price of[PO_MOST_KEYS + 2];
} po_key_prices;

/* At the sizes of each of n calls, which stand in `at` one after the other.
 * False as above. */
bool po_price_keys(const gs_program *, const gs_target *, const po_options *,
                   const po_keys *, uint32_t n, const int64_t *at,
                   po_key_prices *prices);

#endif
