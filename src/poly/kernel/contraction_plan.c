/* SPDX-License-Identifier: MIT */
/* contraction_plan.c - sizes of a contraction's loops for a target.
 *
 * Every kernel of mr x nv vectors that fits into the registers is priced by
 * the cycles an iteration of k takes: multiply-adds as the target says, nearly
 * two loads a cycle, and at least the latency of an addition; to them come
 * those of a panel's start and end.  Both ways of giving roles to the operands
 * are tried, with what packing and storing cost. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_plan.h"
#include "poly/kernel/contraction_taps.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the kernel ---- */

/* Cycles that a panel takes for k iterations. */
static double
panel_cycles(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  assert(mr >= 0 && nv >= 1);
  double cycles = GS_FMA_LATENCY;
  cycles = fmax(cycles, (double)(mr * nv) * c->product);
  cycles = fmax(cycles, GS_LOAD * (double)(mr + nv));
  if (po_image_of_x(c))
    cycles =
        fmax(cycles, GS_LINE_FETCH * (po_lines_of(c, mr) +
                                      (double)(nv * c->lanes * bytes_of(c)) /
                                          (double)c->cache_line));
  return (cycles + GS_LOAD_TRAFFIC * ((double)nv + (double)mr / 4)) * k +
         GS_PANEL_START + GS_PANEL_STORE * (double)(mr * nv);
}

/* Rows after which panels of mr rows begin anew; 0: those cannot be. */
static int64_t
line_of(const po_contraction *c, int64_t mr) {
  return po_image_of_x(c) ? po_line_of(c, mr) : size_of(c, PO_DIM_M);
}

/* Cycles of the sums in all panels of m x n, where lines have so many rows. */
static double
sweep_lines(const po_contraction *c, int64_t mr, int64_t nv, double k,
            int64_t line) {
  assert(mr >= 1 && nv >= 1 && line >= 1);
  if (po_has_open_lines(c))
    mr = bs_ceil_div(line, bs_ceil_div(line, mr));
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t rest = line % mr, vectors = bs_ceil_div(n, c->lanes);
  k *= po_part_inside(c, mr, nv);
  double across = (double)(vectors / nv) * panel_cycles(c, mr, nv, k);
  double tail = (double)(vectors / nv) * panel_cycles(c, rest, nv, k);
  if (vectors % nv) {
    across += panel_cycles(c, mr, vectors % nv, k);
    tail += panel_cycles(c, rest, vectors % nv, k);
  }
  return (double)m / (double)line *
         ((double)(line / mr) * across + (rest ? tail : 0));
}

static double
sweep_cycles(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  return sweep_lines(c, mr, nv, k, line_of(c, mr));
}

/* The mean for lines of any length up to the longest. */
static double
sweep_any(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  int64_t longest = line_of(c, mr);
  double sum = 0;
  for (int64_t part = 1; part <= PO_LENGTHS; part++)
    sum += sweep_lines(c, mr, nv, k, bs_ceil_div(longest * part, PO_LENGTHS));
  return sum / PO_LENGTHS;
}

/* ---- packing and storing ---- */

static int64_t
stride_of(const po_cdim *d, bool x) {
  return x ? d->x : d->y;
}

/* Cycles to pack all of x or y once; see contract_pack.c. */
static double
pack_cycles(const po_contraction *c, bool x) {
  po_dim_role role = x ? PO_DIM_M : PO_DIM_N;
  const po_coperand *operand = x ? &c->x : &c->y;
  const po_cdim *own = last_of(c, role), *k = last_of(c, PO_DIM_K);
  int64_t width = x ? c->mr : (int64_t)c->nv * c->lanes;
  int64_t step = own ? llabs(stride_of(own, x)) : 0;
  double n = (double)size_of(c, role) * (double)size_of(c, PO_DIM_K);
  if (llabs(stride_of(k, x)) < step)
    return n * (stride_of(k, x) == 1 ? GS_PACK_TURNED : GS_PACK_SINGLE) *
           (operand->n_guards ? GS_PACK_GUARDED : 1);
  double run = (double)min64(width, own ? own->extent : 1);
  return n * ((step == 1   ? GS_PACK_RUNS
               : step == 2 ? GS_PACK_EVERY
                           : GS_PACK_SINGLE) +
              GS_PACK_RUN_START / run);
}

static double
store_cycles(const gs_target *t, const po_contraction *c) {
  const po_cdim *m = last_of(c, PO_DIM_M), *n = last_of(c, PO_DIM_N);
  double elements = (double)size_of(c, PO_DIM_M) * (double)size_of(c, PO_DIM_N);
  if (n && n->c == 1)
    return 0;
  int64_t blocks =
      bs_ceil_div(c->dims[PO_DIM_K].d[0].extent, po_depth_of(t, c, c->nv));
  return elements * ((m && m->c == 1 ? GS_STORE_TURNED : GS_STORE_SINGLE) +
                     GS_STORE_WAITS * (double)(blocks - 1));
}

/* ---- the roles of the operands ---- */

bool
po_x_can_be_direct(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K], *m = &c->dims[PO_DIM_M];
  return !c->x.n_guards && k->n == 1 && m->n <= 1 && k->d[0].x == 1;
}

/* All rows fall into the same few sets of the first cache. */
static bool
x_aliases(const po_contraction *c) {
  const po_cdims *m = &c->dims[PO_DIM_M];
  return m->n && m->d[0].x * bytes_of(c) % GS_ALIASING_BYTES == 0;
}

bool
po_y_can_be_direct(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  return !c->y.n_guards && !c->ragged[PO_DIM_N] && k->n == 1 && n->n == 1 &&
         n->d[0].y == 1 && n->d[0].extent % c->lanes == 0 && k->d[0].y > 0;
}

bool
po_y_is_direct(const po_contraction *c, const gs_target *t) {
  const po_cdim *k = &c->dims[PO_DIM_K].d[0];
  int64_t first = gs_cache_bytes(t, 1), row = k->y * bytes_of(c);
  return po_y_can_be_direct(c) && row <= GS_AHEAD_NEAR &&
         row * k->extent <= first * 2;
}

static bool
is_sized(const po_contraction *c) {
  return c->sized[PO_DIM_O] || c->sized[PO_DIM_M] || c->sized[PO_DIM_N] ||
         c->sized[PO_DIM_K];
}

/* Windows of y can be read from a copy of its image, at all sizes; x has none
 * then. */
static bool
may_copy_image(po_contraction *c) {
  return (!is_sized(c) || c->images[1][1]) && !po_image_of_x(c) &&
         po_find_windows(c, false);
}

/* Cycles for y to reach the kernel by the cheapest of the ways that copy it for
 * a tile, or by none. */
static double
place_y(const gs_target *t, po_contraction *c, double cycles) {
  double packed = pack_cycles(c, false), direct = GS_ALIASING_FAR * cycles;
  if (direct < packed &&
      po_stays_in_place(c, gs_cache_bytes(t, 2), po_depth_of(t, c, c->nv))) {
    c->y_mode = PO_DIRECT;
    return direct;
  }
  double windows = may_copy_image(c) ? po_window_cycles(c, true) : packed;
  if (windows < packed)
    c->y_mode = PO_WINDOWS;
  return fmin(windows, packed);
}

/* Cycles for x to reach the kernel. */
static double
place_x(po_contraction *c, double cycles) {
  double packed = pack_cycles(c, true);
  double aliasing = x_aliases(c) ? GS_ALIASING * cycles : 0;
  if (po_image_of_x(c))
    return po_window_cycles(c, true);
  c->x_mode =
      po_x_can_be_direct(c) && aliasing <= packed ? PO_DIRECT : PO_BLOCK;
  return c->x_mode == PO_DIRECT ? aliasing : packed;
}

/* Cycles for y to reach the kernel as it is said, or by the cheapest way. */
static double
reach_y(const gs_target *t, int fixed, po_contraction *c, double cycles) {
  c->y_mode = po_y_is_direct(c, t) ? PO_DIRECT : PO_BLOCK;
  double best = c->y_mode == PO_BLOCK ? place_y(t, c, cycles) : 0;
  if (fixed != PO_ANY_MODE)
    c->y_mode = (po_cmode)fixed;
  return best;
}

static double
reach_x(int fixed, po_contraction *c, double cycles) {
  double best = place_x(c, cycles);
  if (fixed != PO_ANY_MODE)
    c->x_mode = (po_cmode)fixed;
  return best;
}

/* ---- the whole ---- */

/* How the operands of a plan are reached: constant: what is packed beforehand,
 * x and y; image: x is read from one. */
typedef struct pricing {
  const gs_target *target;
  const bool *constant;
  const po_contract_choice *fixed;
  bool image;
} pricing;

/* Of the kernel that stands in c, in all of m x n. */
static int64_t
panels_of(const po_contraction *c) {
  assert(c->mr && c->nv);
  return bs_ceil_div(size_of(c, PO_DIM_M), c->mr) *
         bs_ceil_div(size_of(c, PO_DIM_N), (int64_t)c->nv * c->lanes);
}

/* Cycles that taps written one after the other take where no register is left
 * beside sums and operands, for k iterations of all panels. */
static double
crowded_cycles(const gs_target *t, const po_contraction *c, double k) {
  int64_t registers = (int64_t)c->mr * c->nv + c->nv + 2;
  if (registers <= gs_vector_registers(t) || !po_leaves_out_padding(c))
    return 0;
  return GS_KERNEL_CROWDED * k * (double)panels_of(c);
}

/* Cycles of all sums by the kernel that stands in c. */
static double
sum_cycles(const gs_target *t, const po_contraction *c) {
  int64_t blocks =
      bs_ceil_div(c->dims[PO_DIM_K].d[0].extent, po_depth_of(t, c, c->nv));
  double k = (double)size_of(c, PO_DIM_K) / (double)blocks;
  double sums = po_has_open_lines(c) ? sweep_any(c, c->mr, c->nv, k)
                                     : sweep_cycles(c, c->mr, c->nv, k);
  return (sums + crowded_cycles(t, c, k)) * (double)blocks;
}

/* Cycles of all there is to do with that kernel. */
static double
cycles_of(const pricing *p, po_contraction *c) {
  c->x_mode = p->image ? PO_WINDOWS : PO_DIRECT;
  double sums = sum_cycles(p->target, c), cycles = sums;
  if (p->constant[0])
    c->x_mode = PO_BEFORE;
  else
    cycles += reach_x(p->fixed->x_mode, c, sums);
  if (p->constant[1])
    c->y_mode = PO_BEFORE;
  else
    cycles += reach_y(p->target, p->fixed->y_mode, c, cycles);
  return cycles + store_cycles(p->target, c);
}

static bool
is_kernel(const pricing *p, const po_contraction *c, int64_t mr, int64_t nv) {
  int64_t registers = max64(gs_vector_registers(p->target), 4);
  const po_contract_choice *fixed = p->fixed;
  return mr * nv + nv + 1 <= registers && mr <= size_of(c, PO_DIM_M) &&
         nv <= bs_ceil_div(size_of(c, PO_DIM_N), c->lanes) &&
         (!fixed->mr || mr == fixed->mr) && (!fixed->nv || nv == fixed->nv);
}

/* Takes that kernel; false where it is none. */
static bool
take_kernel(const pricing *p, po_contraction *c, uint32_t mr, uint32_t nv) {
  assert(mr && nv);
  c->x_mode = p->image ? PO_WINDOWS : PO_DIRECT;
  c->line = line_of(c, mr);
  c->mr = mr;
  c->nv = nv;
  return mr <= c->line && is_kernel(p, c, mr, nv);
}

/* Cycles that tell kernels apart: those of the sums and, where y has an image,
 * of the panels that do not lie within one of its rows.  What packing takes is
 * nearly the same for all of them. */
static double
own_cycles(const pricing *p, po_contraction *c) {
  bool images = !p->image && !p->constant[1] && may_copy_image(c);
  double sums = sum_cycles(p->target, c);
  return images ? sums + reach_y(p->target, p->fixed->y_mode, c, sums) : sums;
}

/* The cheapest of the kernels that fit, of those that are not fixed otherwise,
 * and how operands reach it; c->cycles is infinite where there is none. */
static void
choose_kernel(const pricing *p, po_contraction *c) {
  uint32_t mr = 1, nv = 1;
  double best = INFINITY;
  for (uint32_t v = 1; v <= GS_KERNEL_VECTORS; v++)
    for (uint32_t r = 1; r <= GS_KERNEL_ROWS; r++) {
      double cycles = take_kernel(p, c, r, v) ? own_cycles(p, c) : INFINITY;
      if (cycles < best * GS_KERNEL_BETTER) {
        best = cycles;
        mr = r;
        nv = v;
      }
    }
  c->cycles = take_kernel(p, c, mr, nv) ? cycles_of(p, c) : INFINITY;
}

/* ---- a plan at other sizes ---- */

bool
po_x_lies(const po_contraction *c) {
  const po_cdims *m = &c->dims[PO_DIM_M];
  int64_t row = m->n ? m->d[0].x : 0;
  return (row * bytes_of(c)) % GS_ALIASING_BYTES != 0 ||
         size_of(c, PO_DIM_N) <= GS_ALIASING_COLUMNS;
}

bool
po_y_lies(const po_contraction *c, const gs_target *t) {
  const po_cdim *k = &c->dims[PO_DIM_K].d[0];
  int64_t row = k->y * bytes_of(c), first = gs_cache_bytes(t, 1);
  return size_of(c, PO_DIM_N) % c->lanes == 0 &&
         ((row <= GS_AHEAD_NEAR && row * k->extent <= 2 * first) ||
          size_of(c, PO_DIM_M) <= c->mr);
}

/* Calls find the operand where the kernel reads it. */
static bool
is_at_hand(po_cmode mode) {
  return mode == PO_DIRECT || mode == PO_BEFORE;
}

/* An image of x is copied for each tile of columns. */
static double
image_cycles(const po_contraction *c, bool for_all_sizes) {
  assert(c->nc >= 1);
  return (double)bs_ceil_div(size_of(c, PO_DIM_N), c->nc) *
         po_window_cycles(c, for_all_sizes);
}

double
po_contraction_cycles(const gs_target *t, const po_contraction *c) {
  int64_t blocks = bs_ceil_div(c->dims[PO_DIM_K].d[0].extent, c->kc);
  double k = (double)size_of(c, PO_DIM_K) / (double)blocks;
  double cycles = sweep_cycles(c, c->mr, c->nv, k) * (double)blocks;
  bool x_lies = is_at_hand(c->x_mode) || (c->x_may_lie && po_x_lies(c));
  bool y_lies = is_at_hand(c->y_mode) || (c->y_may_lie && po_y_lies(c, t));
  if (c->ragged[PO_DIM_N])
    cycles += GS_SIZED_PANEL * (double)(panels_of(c) * blocks);
  double of_y = y_lies                    ? 0
                : c->y_mode == PO_WINDOWS ? po_window_cycles(c, false)
                                          : pack_cycles(c, false);
  double of_x = x_lies             ? 0
                : po_image_of_x(c) ? image_cycles(c, false)
                                   : pack_cycles(c, true);
  return cycles + of_x + of_y + store_cycles(t, c);
}

/* ---- ways ---- */

static const po_contract_choice NOTHING = {.x_mode = PO_ANY_MODE,
                                           .y_mode = PO_ANY_MODE};

typedef struct ways {
  const gs_target *target;
  const bool *constant;
  const po_contract_choice *fixed;
  const po_contraction *found;
  po_contraction *now, *best;
  bs_text *why; /* the last way was none, or NULL */
} ways;

static bool
is_asked_for(const ways *w, bool swap, bool image) {
  const po_contract_choice *fixed = w->fixed;
  return (fixed->order == PO_ANY_ORDER ||
          swap == (fixed->order == PO_SWAPPED)) &&
         (fixed->x_mode == PO_ANY_MODE ||
          image == (fixed->x_mode == PO_WINDOWS));
}

/* Windows of an operand are found, where they are said to be read. */
static bool
has_windows(const ways *w, po_contraction *c, bool of_x) {
  bool found = po_find_windows(c, of_x);
  if (!found && w->why) {
    bs_text_clear(w->why);
    bs_putf(w->why, "windows of %c cannot be read from a copy of its image",
            of_x ? 'x' : 'y');
  }
  return found;
}

/* An operand without loops of its own, a vector, has no panels: it is x, and is
 * read where it lies. */
static bool
has_panels(const po_contraction *c) {
  return c->dims[PO_DIM_N].n && (c->dims[PO_DIM_M].n || c->x_mode == PO_DIRECT);
}

/* The factors as they are or in each other's place, x read from an image or
 * not; kept where that is the best so far. */
static void
try_way(ways *w, bool swap, bool image) {
  const bool own[2] = {w->constant[swap], w->constant[!swap]};
  po_contraction *c = w->now;
  *c = *w->found;
  c->swapped = swap;
  if (swap)
    po_swap_factors(c);
  if (!po_choice_admits(w->target, w->fixed, c, w->why) ||
      (image && ((is_sized(c) && !c->images[0][0]) || own[0] ||
                 !has_windows(w, c, true))) ||
      (w->fixed->y_mode == PO_WINDOWS && !own[1] && !has_windows(w, c, false)))
    return;
  choose_kernel(&(pricing){w->target, own, w->fixed, image}, c);
  if (!isfinite(c->cycles) || !has_panels(c) ||
      !po_choose_blocks(w->target, w->fixed, c) ||
      (w->fixed != &NOTHING && !po_choice_fits(w->fixed, c, w->why)))
    return;
  if (image)
    c->cycles += image_cycles(c, true) - po_window_cycles(c, true);
  if (c->cycles < w->best->cycles)
    *w->best = *c;
}

bool
po_plan_contraction(const gs_target *t, const bool constant[2],
                    const po_contract_choice *fixed, po_contraction *c,
                    po_contraction room[2], bs_text *why) {
  po_contraction *found = &room[0];
  *found = *c;
  found->lanes = (uint32_t)max64(t->vector_bytes / bytes_of(c), 1);
  found->product = gs_multiply_add_cycles(t);
  found->cache_line = gs_first_cache(t).line;
  found->cache_ways = gs_first_cache(t).ways;
  found->chosen = fixed && fixed->as == PO_AS_KERNEL;
  c->cycles = INFINITY;
  ways w = {.target = t,
            .constant = constant,
            .fixed = fixed ? fixed : &NOTHING,
            .found = found,
            .now = &room[1],
            .best = c,
            .why = why};
  if (why)
    bs_text_clear(why);
  for (uint32_t way = 0; way < 4; way++)
    if (is_asked_for(&w, way & 1, way >> 1))
      try_way(&w, way & 1, way >> 1);
  if (why && !*bs_text_str(why))
    bs_put(why, "no kernel of this form fits the operands");
  return isfinite(c->cycles);
}
