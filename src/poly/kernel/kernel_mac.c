/* SPDX-License-Identifier: MIT */
/* kernel_mac.c - contractions on multiply-accumulate instructions of the
 * target.
 *
 * An instruction adds to m x n sums the products of a fragment of m x k
 * elements of x and one of n x k of y (glenside/target/mac.h).  Both operands
 * are packed into panels of fragments, `mr` of x side by side and `nv` of y,
 * for all of k; the kernel holds mr x nv accumulators.  Which operand is x, the
 * order of the loops of k, the sides of the kernel and the tile are chosen by
 * the cycles that instructions, packing and storing take.
 *
 * Integers may be summed in any order, and floats come here only where they
 * may: the loops of k are put in an order in which the innermost one fills
 * groups of k and can be packed fast. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_plan.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Bytes of a row's sum. */
#define ROW_SUM 4

int64_t
po_panel_width(const po_contraction *c, bool x) {
  assert(c->mr);
  const gs_mac *mac = c->mac.mac;
  return x ? c->mr * (mac ? mac->m : 1)
           : c->nv * (mac ? mac->n : (int64_t)c->lanes);
}

bool
po_mac_sums_rows(const po_contraction *c, bool x) {
  return c->mac.offset[x] != 0;
}

bool
po_mac_begins_with_sums(const po_contraction *c) {
  return c->mac.mac->text[GS_MAC_LOAD] && po_mac_sums_rows(c, false) &&
         !po_mac_sums_rows(c, true);
}

int64_t
po_mac_panel(const po_contraction *c, bool x) {
  assert(c->mac.mac);
  return po_panel_width(c, x) * (x && c->mac.row ? c->mac.row : c->mac.depth);
}

/* ---- the loops of k ---- */

/* Loop j of k becomes the innermost. */
static void
put_last(po_contraction *c, uint32_t j) {
  assert(j < c->dims[PO_DIM_K].n);
  po_cdims *k = &c->dims[PO_DIM_K];
  po_cdim d = k->d[j];
  po_coperand *operands[] = {&c->x, &c->y};
  for (uint32_t i = j; i + 1 < k->n; i++)
    k->d[i] = k->d[i + 1];
  k->d[k->n - 1] = d;
  for (uint32_t o = 0; o < 2; o++)
    for (uint32_t g = 0; g < operands[o]->n_guards; g++) {
      int64_t *factor = operands[o]->guards[g].factor[PO_DIM_K];
      int64_t own = factor[j];
      for (uint32_t i = j; i + 1 < k->n; i++)
        factor[i] = factor[i + 1];
      factor[k->n - 1] = own;
    }
}

static int64_t
depth_of(const po_contraction *c) {
  int64_t all = size_of(c, PO_DIM_K), last = last_of(c, PO_DIM_K)->extent;
  int64_t k = c->mac.mac->k;
  return c->mac.flat ? bs_round_up(all, k) : all / last * bs_round_up(last, k);
}

static bool
guards_name(const po_coperand *operand, uint32_t k) {
  for (uint32_t g = 0; g < operand->n_guards; g++)
    if (operand->guards[g].factor[PO_DIM_K][k])
      return true;
  return false;
}

static bool
guards_name_last(const po_contraction *c, const po_coperand *operand) {
  return guards_name(operand, c->dims[PO_DIM_K].n - 1);
}

uint32_t
po_mac_line_of(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K];
  uint32_t first = k->n - 1;
  while (first && k->d[first - 1].x == k->d[first].x * k->d[first].extent &&
         !guards_name(&c->x, first))
    first--;
  return first;
}

po_mac_way
po_mac_way_of(const po_contraction *c, bool x) {
  assert(c->dims[PO_DIM_K].n);
  const po_cdim *own = last_of(c, x ? PO_DIM_M : PO_DIM_N);
  const po_cdim *k = last_of(c, PO_DIM_K);
  int64_t along = llabs(x ? k->x : k->y);
  int64_t across = own ? llabs(x ? own->x : own->y) : INT64_MAX;
  if (c->mac.flat || guards_name_last(c, x ? &c->x : &c->y))
    return PO_MAC_SINGLE;
  return along < across ? PO_MAC_ROWS : PO_MAC_RUNS;
}

static int64_t
lane_bytes(const po_contraction *c, bool x) {
  const gs_mac *mac = c->mac.mac;
  return gs_lane_table[x ? mac->x.lane : mac->y.lane].bytes;
}

/* Bytes from a row to the next: lines, an odd number of them, so that rows that
 * are read side by side do not meet in few sets of the cache. */
static int64_t
row_bytes(const po_contraction *c, int64_t bytes) {
  assert(c->cache_line > 0);
  int64_t lines = bs_ceil_div(bytes, c->cache_line);
  return lines < 2 ? bytes : (lines | 1) * c->cache_line;
}

/* Rows of a fragment are k elements side by side, and so are those of memory:
 * they may stay as they are. */
static bool
holds_rows(const po_contraction *c) {
  return gs_mac_takes_rows(c->mac.mac) &&
         (c->mac.flat || po_mac_way_of(c, true) == PO_MAC_ROWS);
}

/* Rows of x are in memory as a kernel reads them: whole fragments, equally far
 * apart, and nothing is to be known of their sums. */
static bool
lies_as_read(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K];
  const gs_mac *mac = c->mac.mac;
  return holds_rows(c) && k->n == 1 && k->d[0].x == 1 &&
         k->d[0].extent % mac->k == 0 && size_of(c, PO_DIM_M) % mac->m == 0 &&
         !c->x.n_guards && c->dims[PO_DIM_M].n <= 1 && !c->mac.offset[0] &&
         !po_mac_sums_rows(c, true) &&
         gs_dtype_table[c->factor[0]].bytes == lane_bytes(c, true);
}

static int64_t
row_of(const po_contraction *c) {
  const po_cdim *m = last_of(c, PO_DIM_M);
  int64_t bytes = lane_bytes(c, true);
  if (!holds_rows(c))
    return 0;
  if (c->x_mode == PO_DIRECT)
    return m ? m->x : c->mac.depth;
  return row_bytes(c, c->mac.depth * bytes) / bytes;
}

/* ---- cycles ---- */

/* Rows copied as they lie. */
static double
copy_cycles(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K];
  double rows = (double)size_of(c, PO_DIM_M), runs = rows;
  uint32_t n = c->mac.flat ? po_mac_line_of(c) : k->n - 1;
  for (uint32_t d = 0; d < n; d++)
    runs *= (double)k->d[d].extent;
  double element = k->d[k->n - 1].x == 1 ? GS_MAC_PACK_LINE : GS_MAC_PACK_APART;
  return rows * (double)c->mac.depth * element + runs * GS_MAC_PACK_RUN_START;
}

static double
pack_cycles(const po_contraction *c, bool x) {
  const po_cdim *own = last_of(c, x ? PO_DIM_M : PO_DIM_N);
  const po_cdim *k = last_of(c, PO_DIM_K);
  double n = (double)size_of(c, x ? PO_DIM_M : PO_DIM_N) * (double)c->mac.depth;
  if (x && c->mac.row)
    return copy_cycles(c);
  switch (po_mac_way_of(c, x)) {
  case PO_MAC_RUNS:
    return n * (own && (x ? own->x : own->y) == 1 ? GS_MAC_PACK_RUN
                                                  : GS_MAC_PACK_APART);
  case PO_MAC_ROWS:
    return n * ((x ? k->x : k->y) == 1 ? GS_MAC_PACK_ROW : GS_MAC_PACK_APART);
  case PO_MAC_SINGLE:
    break;
  }
  return n * GS_MAC_PACK_SINGLE;
}

static double
store_cycles(const po_contraction *c) {
  const po_cdim *n = last_of(c, PO_DIM_N);
  return (double)size_of(c, PO_DIM_M) * (double)size_of(c, PO_DIM_N) *
         (n && n->c == 1 ? GS_MAC_STORE_ACROSS : GS_MAC_STORE_SINGLE);
}

/* A panel of mr x nv accumulators. */
static double
panel_cycles(const po_contraction *c, int64_t mr, int64_t nv) {
  assert(c->mac.mac && c->mac.depth > 0);
  double groups = (double)c->mac.depth / (double)c->mac.mac->k;
  double group =
      fmax((double)(mr * nv) * c->mac.mac->cycles, GS_LOAD * (double)(mr + nv));
  group = fmax(group, GS_MAC_LATENCY);
  return mr && nv ? group * groups + GS_MAC_PANEL_START : 0;
}

/* All panels of fragments m x n. */
static double
sweep_cycles(const po_contraction *c, int64_t mr, int64_t nv) {
  int64_t m = bs_ceil_div(size_of(c, PO_DIM_M), c->mac.mac->m);
  int64_t n = bs_ceil_div(size_of(c, PO_DIM_N), c->mac.mac->n);
  double full = (double)(m / mr), across = (double)(n / nv);
  return full *
             (across * panel_cycles(c, mr, nv) + panel_cycles(c, mr, n % nv)) +
         across * panel_cycles(c, m % mr, nv) + panel_cycles(c, m % mr, n % nv);
}

/* ---- sides ---- */

static bool
measure_panel(po_contraction *c, bool x) {
  int64_t width = po_panel_width(c, x), bytes = 0;
  int64_t row = x && c->mac.row ? c->mac.row : c->mac.depth;
  if (__builtin_mul_overflow(row, width * lane_bytes(c, x), &bytes))
    return false;
  bytes += po_mac_sums_rows(c, x) ? width * ROW_SUM : 0;
  c->mac.panel[!x] = bs_round_up(bytes, 64);
  return (x ? c->x_mode : c->y_mode) == PO_BLOCK
             ? c->mac.panel[!x] <= GS_KERNEL_BLOCK
             : c->mac.panel[!x] <= (int64_t)GS_KERNEL_WHOLE;
}

/* With panels of both operands, which must not be too large. */
static bool
take_sides(po_contraction *c, uint32_t mr, uint32_t nv) {
  assert(mr && nv);
  c->mr = mr;
  c->nv = nv;
  return measure_panel(c, true) && measure_panel(c, false);
}

/* Sides that the instruction has registers for, and the caller may have fixed.
 */
static bool
may_be_sides(const po_contraction *c, const po_contract_choice *fixed,
             int64_t mr, int64_t nv) {
  return mr * nv <= c->mac.mac->accumulators &&
         (!fixed || !fixed->mr || fixed->mr == mr) &&
         (!fixed || !fixed->nv || fixed->nv == nv);
}

/* The sides of the kernel; infinite where none are possible. */
static double
choose_sides(const po_contract_choice *fixed, po_contraction *c) {
  const gs_mac *mac = c->mac.mac;
  uint32_t rows = 0, vectors = 0;
  double best = INFINITY;
  for (int64_t mr = 1; mr <= min64(GS_MAC_KERNEL_X, mac->x.held); mr++)
    for (int64_t nv = 1; nv <= min64(GS_MAC_KERNEL_Y, mac->y.held); nv++) {
      if (!may_be_sides(c, fixed, mr, nv) ||
          !take_sides(c, (uint32_t)mr, (uint32_t)nv))
        continue;
      double cycles = sweep_cycles(c, mr, nv);
      if (cycles < best * GS_KERNEL_BETTER) {
        best = cycles;
        rows = c->mr;
        vectors = c->nv;
      }
    }
  if (isfinite(best))
    take_sides(c, rows, vectors);
  return best;
}

/* ---- panels and tiles ---- */

/* Bytes of all panels of the operand. */
static double
all_bytes(const po_contraction *c, bool x) {
  int64_t panels =
      bs_ceil_div(size_of(c, x ? PO_DIM_M : PO_DIM_N), po_panel_width(c, x));
  return (double)panels * (double)c->mac.panel[!x];
}

/* Rows, or columns, whose panels take at most so many bytes, and at least one
 * panel; equal parts of all. */
static int64_t
part_of(const po_contraction *c, bool x, int64_t bytes, int64_t shares) {
  assert(shares >= 1);
  int64_t width = po_panel_width(c, x);
  int64_t panels = bs_ceil_div(size_of(c, x ? PO_DIM_M : PO_DIM_N), width);
  int64_t most = max64(bytes / c->mac.panel[!x], 1);
  int64_t parts = bs_ceil_div(panels, most);
  parts = min64(bs_round_up(parts, shares), panels);
  return bs_ceil_div(panels, parts) * width;
}

/* Rows of the operand that are cut into parts, of which each is packed once and
 * stays in the second cache beside what it meets. */
static void
cut_rows(const gs_target *t, po_contraction *c, bool x, int64_t shares) {
  int64_t most = min64(gs_cache_bytes(t, 2) / 3, GS_KERNEL_BLOCK);
  int64_t *rows = x ? &c->mc : &c->nc;
  *rows = part_of(c, x, most, shares);
}

/* The operand is all there in each tile: packed before, or for all tiles. */
static void
keep_whole(po_contraction *c, bool x) {
  int64_t size = size_of(c, x ? PO_DIM_M : PO_DIM_N);
  int64_t *rows = x ? &c->mc : &c->nc;
  po_cmode *mode = x ? &c->x_mode : &c->y_mode;
  *rows = bs_round_up(size, po_panel_width(c, x));
  if (*mode == PO_BLOCK)
    *mode = PO_WHOLE;
}

/* Neither stays in the second cache as a whole while the other goes by: a part
 * of the larger one does, and of the other a part for each of its own.  Where
 * all of the smaller one fits beside it, it is not cut. */
static void
cut_both(const gs_target *t, po_contraction *c, bool large) {
  int64_t cache = gs_cache_bytes(t, 2);
  int64_t *rows[] = {&c->nc, &c->mc};
  bool fits = all_bytes(c, !large) <= (double)(cache / 4);
  *rows[large] = part_of(c, large, cache / 2, fits ? gs_cores(t) : 1);
  *rows[!large] = part_of(c, !large, cache / 4, 1);
  if (c->x_mode == PO_BLOCK)
    c->x_mode = PO_WHOLE;
  if (c->y_mode == PO_BLOCK)
    c->y_mode = PO_WHOLE;
}

/* That which is packed before, or takes fewer bytes, is there whole, so that
 * the other one is packed part by part, once.  Where outer loops give each
 * iteration operands of its own, both are packed for a tile. */
static void
choose_tiles(const gs_target *t, po_contraction *c) {
  int64_t cores = gs_cores(t), outer = size_of(c, PO_DIM_O);
  int64_t shares = outer % cores ? cores : 1;
  bool x = c->x_mode == PO_BEFORE, y = c->y_mode == PO_BEFORE;
  if (x != y && !c->dims[PO_DIM_O].n &&
      all_bytes(c, x) > (double)(gs_cache_bytes(t, 2) / 2) &&
      all_bytes(c, !x) <= (double)GS_KERNEL_WHOLE) {
    cut_both(t, c, x);
    return;
  }
  if (x == y)
    x = c->x_mode != PO_DIRECT && all_bytes(c, true) < all_bytes(c, false);
  if (!c->dims[PO_DIM_O].n && all_bytes(c, x) <= (int64_t)GS_KERNEL_WHOLE) {
    keep_whole(c, x);
    cut_rows(t, c, !x, shares);
    return;
  }
  cut_rows(t, c, false, shares);
  cut_rows(t, c, true, 1);
}

/* ---- ways ---- */

typedef struct ways {
  const gs_target *target;
  const bool *constant;
  const po_contract_choice *fixed;
  const po_contraction *found;
  po_contraction *now, *best;
} ways;

static double
operand_cycles(const po_contraction *c, bool x, po_cmode mode) {
  double elements =
      (double)size_of(c, x ? PO_DIM_M : PO_DIM_N) * (double)c->mac.depth;
  double sums = po_mac_sums_rows(c, x) ? elements * GS_MAC_ROW_SUMMED : 0;
  return mode == PO_BEFORE || mode == PO_DIRECT ? 0 : pack_cycles(c, x) + sums;
}

/* The factors in that order on that instruction, loop `last` of k innermost, or
 * all of them as one where there is no such loop. */
static void
try_way(const ways *w, const gs_mac *mac, bool swap, uint32_t last) {
  po_contraction *c = w->now;
  *c = *w->found;
  c->swapped = swap;
  if (swap)
    po_swap_factors(c);
  c->mac.mac = mac;
  c->mac.flat = last == c->dims[PO_DIM_K].n;
  if (!gs_mac_takes(mac, c->factor[0], c->factor[1], c->dtype, c->mac.offset))
    return;
  if (!c->mac.flat)
    put_last(c, last);
  c->mac.depth = depth_of(c);
  c->x_mode = w->constant[swap] ? PO_BEFORE
              : lies_as_read(c) ? PO_DIRECT
                                : PO_BLOCK;
  c->y_mode = w->constant[!swap] ? PO_BEFORE : PO_BLOCK;
  c->cache_line = gs_first_cache(w->target).line;
  c->cache_ways = gs_first_cache(w->target).ways;
  c->mac.row = row_of(c);
  c->cycles = choose_sides(w->fixed, c);
  if (!isfinite(c->cycles))
    return;
  c->lanes = (uint32_t)mac->n;
  c->product = mac->cycles;
  choose_tiles(w->target, c);
  c->cycles += operand_cycles(c, true, c->x_mode) +
               operand_cycles(c, false, c->y_mode) + store_cycles(c);
  if (c->cycles < w->best->cycles)
    *w->best = *c;
}

static bool
refused(bs_text *why) {
  if (why) {
    bs_text_clear(why);
    bs_put(why, "its factors are multiplied by an instruction of the target, "
                "of which rows and vectors of accumulators can be chosen, as "
                "many as there are, and swap");
  }
  return false;
}

/* What cannot be said of such a kernel. */
static bool
is_fixed_otherwise(const po_contract_choice *fixed) {
  return fixed &&
         (fixed->kc || fixed->mc || fixed->nc || fixed->mb ||
          fixed->x_mode != PO_ANY_MODE || fixed->y_mode != PO_ANY_MODE);
}

bool
po_plan_mac(const gs_target *t, const bool constant[2],
            const po_contract_choice *fixed, po_contraction *c,
            po_contraction room[2], bs_text *why) {
  ways w = {t, constant, fixed, &room[0], &room[1], c};
  if (gs_multiplies(t, c->factor[0], c->factor[1], c->dtype) == 0)
    return false;
  if (is_fixed_otherwise(fixed))
    return refused(why);
  room[0] = *c;
  room[0].chosen = fixed && fixed->as == PO_AS_KERNEL;
  c->cycles = INFINITY;
  for (uint32_t i = 0; i < t->macs.len; i++)
    for (uint32_t swap = 0; swap < 2; swap++)
      for (uint32_t k = 0; k <= c->dims[PO_DIM_K].n; k++)
        if (!fixed || fixed->order == PO_ANY_ORDER ||
            swap == (fixed->order == PO_SWAPPED))
          try_way(&w, t->macs.data[i], swap, k);
  if (isfinite(c->cycles))
    return true;
  *c = room[0];
  return refused(why);
}
