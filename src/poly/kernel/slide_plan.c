/* SPDX-License-Identifier: MIT */
/* slide_plan.c - tiles for reductions over windows.
 *
 * Vectors lie along the loop whose elements of c are neighbours.  A tile has
 * rows of another loop, the more of whose elements windows share the better;
 * its price is the cycles of its loads, products and instructions, whichever
 * takes longest.  Vectors may be shorter than the target's, where a row is. */
#include "glenside/target/machine.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "base/whole.h"
#include "glenside/target/tuned.h"
#include <assert.h>
#include <math.h>

/* ---- runs of tiles ---- */

/* No element of a window is missing in a tile. */
static bool
is_whole(const po_slide *c, uint32_t loop, int64_t from, int64_t size) {
  assert(loop < c->n && size >= 1);
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    for (int64_t at = from; at < from + size && at < c->extent[loop]; at++)
      if (!po_tap_is_there(c, loop, at, tap, 0) ||
          !po_tap_is_there(c, loop, at, tap, c->extent[tap] - 1))
        return false;
  return true;
}

static bool
add_run(po_run *runs, uint32_t *n, po_run run) {
  if (*n == PO_MAX_RUNS)
    return false;
  runs[(*n)++] = run;
  return true;
}

/* A tile that is whole goes on with the run of those before it. */
static bool
add_whole(po_run *runs, uint32_t *n, int64_t at, int64_t size) {
  assert(size >= 1);
  for (uint32_t k = 0; k < *n; k++)
    if (!runs[k].border && runs[k].to + size == at) {
      runs[k].to = at;
      return true;
    } else if (!runs[k].border && runs[k].last < 0) {
      runs[k].last = at;
      return true;
    }
  return add_run(runs, n, (po_run){at, at, size, -1, false});
}

uint32_t
po_find_runs(const po_slide *c, uint32_t loop, int64_t size,
             po_run runs[PO_MAX_RUNS]) {
  assert(size > 0);
  int64_t extent = loop == PO_NO_LOOP ? 1 : c->extent[loop];
  uint32_t n = 0;
  for (int64_t p = 0; p < extent; p += size) {
    int64_t at = p + size > extent && extent > size ? extent - size : p;
    bool whole = loop == PO_NO_LOOP || is_whole(c, loop, at, size);
    if (whole ? !add_whole(runs, &n, at, size)
              : !add_run(runs, &n, (po_run){at, at, size, -1, true}))
      return 0;
  }
  return n;
}

/* ---- which taps ---- */

/* The loop whose borders name the tap, or PO_NO_LOOP; false: there are two. */
static bool
border_of(const po_slide *c, uint32_t tap, uint32_t *loop) {
  assert(tap < c->n);
  *loop = PO_NO_LOOP;
  for (uint32_t k = 0; k < c->n_borders; k++) {
    if (c->borders[k].tap != tap)
      continue;
    if (*loop != PO_NO_LOOP && *loop != c->borders[k].loop)
      return false;
    *loop = c->borders[k].loop;
  }
  return true;
}

/* How unlike the steps of a tap and of a loop are; of equal ones it is 1. */
static double
unlike(const po_slide *c, uint32_t tap, uint32_t loop) {
  assert(tap < c->n && loop < c->n);
  double t = fabs((double)c->x.at.factor[tap]);
  double l = fabs((double)c->x.at.factor[loop]);
  return t > 0 ? fmax(t / l, l / t) : INFINITY;
}

/* The tap that moves x as the loop of rows does. */
static uint32_t
shared_tap(const po_slide *c) {
  uint32_t best = PO_NO_LOOP;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++) {
    uint32_t border;
    border_of(c, tap, &border);
    if (border == c->down)
      return tap;
    if (border == PO_NO_LOOP &&
        unlike(c, tap, c->down) <
            (best == PO_NO_LOOP ? 8 : unlike(c, best, c->down)))
      best = tap;
  }
  return best;
}

/* Taps whose elements are lanes of the same vectors, or whose place in a tile
 * must be known. */
static bool
is_written_out(const po_slide *c, uint32_t tap) {
  uint32_t border;
  border_of(c, tap, &border);
  return tap == c->shared || border == c->along ||
         (border == PO_NO_LOOP &&
          unlike(c, tap, c->along) * c->x.at.factor[c->along] < c->lanes);
}

static int64_t
count_taps(const po_slide *c, bool unrolled) {
  int64_t n = 1;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++)
    if (c->unrolled[tap] == unrolled)
      n *= c->extent[tap] <= GS_SLIDE_LINES ? c->extent[tap] : GS_SLIDE_LINES;
  return n;
}

/* Borders of an unrolled tap must be those of the tile's loops, and one loop
 * of the tile has one such tap for each. */
static bool
choose_taps(po_slide *c) {
  uint32_t border, n = 0;
  c->shared = c->down == PO_NO_LOOP ? PO_NO_LOOP : shared_tap(c);
  for (uint32_t tap = c->n_outer; tap < c->n; tap++) {
    if (!border_of(c, tap, &border))
      return false;
    c->unrolled[tap] = is_written_out(c, tap);
    n += border != PO_NO_LOOP && border == c->down;
    if (c->unrolled[tap] && border != PO_NO_LOOP && border != c->along &&
        border != c->down)
      return false;
  }
  return n <= 1 && count_taps(c, true) <= GS_SLIDE_TAPS;
}

/* The sum of an element runs in the order of its loops. */
static bool
keeps_order(const po_slide *c) {
  bool unrolled = false;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++) {
    if ((unrolled && !c->unrolled[tap]) || (unrolled && tap == c->shared))
      return false;
    unrolled |= c->unrolled[tap];
  }
  return true;
}

/* ---- rows that are held ---- */

int64_t
po_results_in(const po_slide *c, int64_t v) {
  assert(v >= 0 && c->along < c->n && c->lanes);
  int64_t rest = c->extent[c->along] - v * c->lanes;
  return rest < c->lanes ? rest : c->lanes;
}

po_held
po_held_row(const po_slide *c) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (int64_t i = 0; i < c->extent[c->along]; i++)
    for (int64_t k = 0; k < c->extent[c->across]; k++) {
      int64_t at = i * c->x.at.factor[c->along] + k * c->x.at.factor[c->across];
      if (!po_tap_is_there(c, c->along, i, c->across, k))
        continue;
      first = at < first ? at : first;
      last = at > last ? at : last;
    }
  return (po_held){first, first <= last ? last - first + 1 : 0};
}

/* The one tap that is written out and that rows do not share; PO_NO_LOOP: there
 * are several, or none. */
static uint32_t
tap_across(const po_slide *c) {
  uint32_t found = PO_NO_LOOP;
  for (uint32_t tap = c->n_outer; tap < c->n; tap++) {
    if (!po_is_in_row(c, tap) || c->extent[tap] < 2)
      continue;
    if (found != PO_NO_LOOP || c->x.at.factor[tap] <= 0)
      return PO_NO_LOOP;
    found = tap;
  }
  return found;
}

static int64_t
held_vectors(const po_slide *c) {
  return bs_ceil_div(po_held_row(c).n, c->lanes);
}

/* A row of results is up to two vectors, and so is what it is made of. */
static bool
may_hold(po_slide *c) {
  c->across = tap_across(c);
  if (c->across == PO_NO_LOOP || c->down == PO_NO_LOOP ||
      c->extent[c->along] > (int64_t)GS_SLIDE_HELD * c->lanes ||
      (c->y.index && c->y.at.factor[c->along]))
    return false;
  int64_t n = held_vectors(c);
  return n >= 1 && n <= GS_SLIDE_HELD;
}

/* ---- halves ---- */

/* Combinations of the taps that are written out and that rows do not share. */
static int64_t
taps_of_row(const po_slide *c) {
  int64_t taps = count_taps(c, true);
  return c->shared == PO_NO_LOOP ? taps : taps / c->extent[c->shared];
}

/* The first two taps read the two halves as they are: it is the third that
 * gains. */
static bool
may_halve(const po_slide *c) {
  return c->x.at.factor[c->along] == 2 && taps_of_row(c) > 2 &&
         !(c->y.index && c->y.at.factor[c->along]) &&
         c->lanes * gs_dtype_table[c->dtype].bytes >= GS_SLIDE_PICKED;
}

/* ---- prices ---- */

static int64_t
tiles_of(const po_slide *c, uint32_t loop, int64_t size) {
  assert(size >= 1);
  return loop == PO_NO_LOOP ? 1 : bs_ceil_div(c->extent[loop], size);
}

static int64_t
shared_taps(const po_slide *c) {
  return c->shared == PO_NO_LOOP ? 1 : c->extent[c->shared];
}

/* Places along the loop of rows that a tile reads. */
static int64_t
places(const po_slide *c) {
  if (c->shared == PO_NO_LOOP)
    return c->rows;
  int64_t row = llabs(c->x.at.factor[c->down]);
  int64_t tap = llabs(c->x.at.factor[c->shared]);
  int64_t extent = c->extent[c->shared];
  if (!tap || row % tap)
    return c->rows * extent;
  int64_t step = row / tap < extent ? row / tap : extent;
  return (c->rows - 1) * step + extent;
}

/* Loads of x in a tile. */
static int64_t
loads_of(const po_slide *c) {
  return places(c) * taps_of_row(c) * c->vectors;
}

/* Loads of weights in a tile: of those that stay in registers beside the sums,
 * which one vector of results after the other uses; of one element for all
 * lanes, for all tiles of a loop. */
static double
weights_of(const gs_target *t, const po_slide *c) {
  double sums = (double)c->rows * c->vectors;
  double taps = (double)count_taps(c, true);
  bool held = taps + sums + 1 <= gs_vector_registers(t);
  if (!c->y.index)
    return 0;
  if (c->y.at.factor[c->along])
    return taps * (held ? c->vectors : sums);
  return held ? taps / 4 : taps;
}

bool
po_crosses_lines(const po_slide *c) {
  for (uint32_t k = 0; k < c->n; k++)
    if (k != c->along && c->x.at.factor[k] % c->lanes != 0)
      return true;
  return false;
}

/* How much more a load takes that a line of the cache ends in. */
static double
crossing(const gs_target *t, const po_slide *c) {
  double bytes = (double)c->lanes * gs_dtype_table[c->dtype].bytes;
  return po_crosses_lines(c)
             ? GS_SLIDE_CROSSING * bytes / (double)gs_first_cache(t).line
             : 0;
}

/* One load for each vector of a row, one pick for each vector of a tap but that
 * in the middle; picks are done by one of the two units for products. */
static double
cycles_of_held(const gs_target *t, const po_slide *c) {
  double sums = (double)c->rows * c->vectors;
  double products = sums * (double)count_taps(c, true);
  double loads = (double)(places(c) * held_vectors(c));
  double picks = (double)(places(c) * c->vectors * (c->extent[c->across] - 1));
  double weights = weights_of(t, c);
  double all =
      products + loads + picks + weights + GS_SLIDE_SUM * sums + GS_SLIDE_START;
  return fmax(fmax((products + picks) / GS_SLIDE_UNITS, picks),
              fmax((loads * (1 + crossing(t, c)) + weights) / GS_SLIDE_UNITS,
                   all / GS_SLIDE_ISSUE)) *
         (double)count_taps(c, false);
}

static double
cycles_of_tile(const gs_target *t, const po_slide *c) {
  if (c->across != PO_NO_LOOP)
    return cycles_of_held(t, c);
  double sums = (double)c->rows * c->vectors,
         taps = (double)count_taps(c, true);
  double products = sums * taps, loads = (double)loads_of(c);
  double moved = c->x.at.factor[c->along] == 1 ? 1 : GS_SLIDE_MOVED;
  if (c->halved)
    moved = GS_SLIDE_HALVED;
  double weights = weights_of(t, c);
  double all =
      products + loads * moved + weights + GS_SLIDE_SUM * sums + GS_SLIDE_START;
  double accesses =
      loads * ((c->halved ? 1 : fmin(moved, 2)) + crossing(t, c)) + weights;
  return fmax(fmax(products, accesses) / GS_SLIDE_UNITS, all / GS_SLIDE_ISSUE) *
         (double)count_taps(c, false);
}

static double
cycles_of(const gs_target *t, const po_slide *c) {
  double tiles = (double)tiles_of(c, c->along, c->lanes * c->vectors) *
                 (double)tiles_of(c, c->down, c->rows);
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (k != c->along && k != c->down)
      tiles *= (double)c->extent[k];
  return tiles * cycles_of_tile(t, c);
}

double
po_cycles_by_rows(const gs_target *t, const po_slide *c, po_slide *room) {
  *room = *c;
  room->rows = room->vectors = 1;
  room->across = PO_NO_LOOP;
  room->halved = false;
  return cycles_of(t, room);
}

/* Of all tiles that have code of their own. */
static bool
is_short(const po_slide *c) {
  po_run runs[PO_MAX_RUNS];
  int64_t n = po_find_runs(c, c->down, c->rows, runs);
  n *= po_find_runs(c, c->along, c->lanes * c->vectors, runs);
  int64_t sums = (int64_t)c->rows * c->vectors;
  return n && n * (sums * count_taps(c, true) + loads_of(c) + sums) <=
                  GS_SLIDE_LINES;
}

/* ---- the choice ---- */

static uint32_t
loop_of_vectors(const po_slide *c) {
  for (uint32_t k = 0; k < c->n_outer; k++)
    if (c->c.factor[k] == 1)
      return k;
  return PO_NO_LOOP;
}

/* Vectors of x are loaded as they lie, or every other element of two; y has one
 * element for all lanes or one for each. */
static bool
has_vectors(const po_slide *c) {
  int64_t x = c->x.at.factor[c->along], y = c->y.at.factor[c->along];
  if ((x != 1 && x != 2) || (y != 0 && y != 1))
    return false;
  for (uint32_t k = 0; k < c->n_borders; k++)
    if (y && c->borders[k].loop == c->along)
      return false;
  return true;
}

typedef struct choosing {
  const gs_target *target;
  bool strict;
  const po_contract_choice *fixed;
  po_slide *best, *now; /* too large for a stack */
} choosing;

static bool
fits_registers(const choosing *x) {
  const po_slide *c = x->now;
  int64_t registers = gs_vector_registers(x->target);
  int64_t held = c->across != PO_NO_LOOP ? held_vectors(c)
                 : c->halved             ? 2 * (int64_t)c->vectors
                                         : 0;
  return (int64_t)c->rows * c->vectors + GS_SLIDE_SPARE + held <= registers;
}

static bool
is_as_fixed(const choosing *x) {
  const po_contract_choice *fixed = x->fixed;
  return !fixed || ((!fixed->mr || x->now->rows == fixed->mr) &&
                    (!fixed->nv || x->now->vectors == fixed->nv));
}

static void
try_size(const choosing *x) {
  po_slide *c = x->now;
  if (!fits_registers(x) || !is_as_fixed(x) ||
      (c->down == PO_NO_LOOP ? c->rows > 1 : c->rows > c->extent[c->down]) ||
      !is_short(c))
    return;
  c->cycles = cycles_of(x->target, c);
  if (x->best->cycles <= 0 || c->cycles < x->best->cycles)
    *x->best = *c;
}

static void
try_held(const choosing *x) {
  po_slide *c = x->now;
  c->halved = false;
  c->vectors = (uint32_t)bs_ceil_div(c->extent[c->along], c->lanes);
  for (c->rows = 1; c->rows <= GS_SLIDE_ROWS; c->rows++)
    try_size(x);
}

/* Of what does as well, rows that are held. */
static void
try_sizes(const choosing *x) {
  po_slide *c = x->now;
  if (may_hold(c))
    try_held(x);
  c->across = PO_NO_LOOP;
  c->halved = may_halve(c);
  for (c->vectors = 1; c->vectors <= GS_SLIDE_VECTORS; c->vectors++)
    if (c->vectors == 1 ||
        (int64_t)c->vectors * c->lanes <= c->extent[c->along])
      for (c->rows = 1; c->rows <= GS_SLIDE_ROWS; c->rows++)
        try_size(x);
}

/* Of loops that do as well, the innermost. */
static void
try_loops(const choosing *x) {
  po_slide *c = x->now;
  for (uint32_t k = c->n_outer; k != UINT32_MAX; k--) {
    c->down = k ? k - 1 : PO_NO_LOOP;
    if ((k && (c->down == c->along || c->extent[c->down] < 2)) ||
        !choose_taps(c) || (x->strict && !keeps_order(c)))
      continue;
    try_sizes(x);
  }
}

/* Sums that one place of the loop of rows is added to. */
static int64_t
sums_of_place(const po_slide *c) {
  int64_t rows = bs_ceil_div((int64_t)c->rows * shared_taps(c), places(c));
  return rows * (c->y.index && c->y.at.factor[c->along] ? 1 : c->vectors);
}

/* Each addition to a sum waits for the one before it: where few sums take turns
 * and windows are large, each is two, if registers are left for that. */
static void
choose_sides(const gs_target *t, bool strict, po_slide *c) {
  int64_t registers = gs_vector_registers(t);
  int64_t sums = 2 * (int64_t)c->rows * c->vectors;
  if (c->across != PO_NO_LOOP)
    sums += held_vectors(c);
  bool pays = count_taps(c, true) >= GS_SLIDE_CHAIN &&
              sums_of_place(c) < GS_SLIDE_SUMS &&
              sums + GS_SLIDE_SPARE <= registers;
  c->sides = pays && !strict && c->body != PO_SLIDE_OTHER ? 2 : 1;
}

bool
po_plan_slide(const gs_target *t, bool strict, const po_contract_choice *fixed,
              po_slide *c, po_slide *room) {
  assert(c != room);
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  choosing x = {t, strict, fixed, c, room};
  c->along = loop_of_vectors(c);
  c->cycles = 0;
  if (c->along == PO_NO_LOOP || !has_vectors(c))
    return false;
  c->across = PO_NO_LOOP;
  *room = *c;
  for (int64_t size = t->vector_bytes; size >= 16; size /= 2) {
    room->lanes = (uint32_t)(size / bytes);
    if (room->lanes >= 2 && room->lanes < 2 * c->extent[c->along])
      try_loops(&x);
  }
  if (c->cycles > 0)
    choose_sides(t, strict, c);
  return c->cycles > 0;
}
