/* contraction_plan.c - sizes of a contraction's loops for a target.
 *
 * Every kernel of mr x nv vectors that fits into the registers is priced by
 * the cycles an iteration of k takes: multiply-adds as the target says, nearly
 * two loads a cycle, and at least the latency of an addition; to them come
 * those of a panel's start and end.  Both ways of giving roles to the operands
 * are tried, with what packing and storing cost.  Then
 *
 *   kc   so that a panel of y, kc x nv vectors, stays in the first cache, or is
 *        twice as long where the second is large beside that;
 *   nc   so that a block of y stays in the second;
 *   mb   rows of x that stay in the second beside it, equal blocks;
 *   mc   all rows, unless more tiles are needed to occupy the cores.
 *
 * Where y is packed whole for many rows, its panels come one after the other
 * from the third cache, each for all rows of a block of x: nc is as wide as
 * the share of a core there, and the cores divide the rows, so that each packs
 * its own rows of x, once, and reads them from its second cache. */
#include "poly/affine.h"
#include "poly/contraction.h"
#include <math.h>
#include <stdlib.h>

#define MAX_MR 14
#define MAX_NV 4
/* Bytes on a thread's stack for a packed block of y or an image, for one of x,
 * for sums that wait; in the workspace for an operand packed whole. */
#define MAX_BLOCK (256 * 1024)
#define MAX_ROWS  (384 * 1024)
#define MAX_SUMS  (128 * 1024)
#define MANY_ROWS 1024
/* Rows that share a copy of an image, rather than columns that do not. */
#define FEW_ROWS  64
#define MAX_WHOLE (INT64_C(256) << 20)
/* Panels a core, from which on one more or less is no matter. */
#define UNEVEN      4
#define FMA_LATENCY 4.0
/* Panels of x, with more of which the first one's wait for y is no matter. */
#define MANY_PANELS 32
/* Part of the time lost where rows share sets of the first cache. */
#define ALIASING 0.1
/* ... where rows of y are far apart. */
#define FAR 0.03
/* Cycles of a load: where products wait for them, they are not quite two a
 * cycle. */
#define LOAD 0.6
/* Cycles a vector of a panel costs beyond its load, or four elements. */
#define TRAFFIC 0.25
/* Cycles between lines from the second cache, where an image of x is read. */
#define LINE_FETCH 3.5
#define LINE_BYTES 64
/* Cycles of a panel: its call, and a vector of its sums put into c. */
#define PANEL_START 40.0
#define PANEL_STORE 2.0
/* Cycles an element: packed in runs, turned over, one by one; those of a run;
 * stored turned over, one by one; waiting for another block of k. */
#define PACK_RUNS    0.2
#define PACK_EVERY   0.5
#define PACK_TURNED  0.5
#define PACK_SINGLE  1.6
#define RUN_START    12.0
#define STORE_TURNED 0.5
#define STORE_WAITS  0.25
#define STORE_SINGLE 2.0

static int64_t
round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

static int64_t
ceil_div(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

static int64_t
min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t
max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t
cache_bytes(const gs_target *t, uint32_t level, int64_t otherwise) {
  return t->caches.len > level ? t->caches.data[level].bytes : otherwise;
}

static int64_t
size_of(const po_contraction *c, po_dim_role role) {
  return max64(po_cdims_size(&c->dims[role]), 1);
}

/* Iterations of k in one of its outermost loop. */
static int64_t
inner_of(const po_contraction *c) {
  return size_of(c, PO_DIM_K) / c->dims[PO_DIM_K].d[0].extent;
}

static int64_t
bytes_of(const po_contraction *c) {
  return gs_dtype_table[c->dtype].bytes;
}

/* ---- the kernel ---- */

/* Iterations of the outermost k loop in a block: equal ones.  A panel of y may
 * come from the second cache, of which a vector is used mr times: the sums of
 * fewer blocks are added to c. */
static int64_t
depth_of(const gs_target *t, const po_contraction *c, int64_t nv) {
  int64_t extent = c->dims[PO_DIM_K].d[0].extent;
  int64_t panel = nv * c->lanes * bytes_of(c);
  int64_t first = cache_bytes(t, 0, 32768), second = cache_bytes(t, 1, 262144);
  int64_t depth =
      max64(max64(first, min64(2 * first, second / 16)) / panel, 256);
  int64_t parts = ceil_div(extent, max64(depth / inner_of(c), 1));
  return ceil_div(extent, parts);
}

/* Cycles of a vector of products, added up. */
static double
product_cycles(const gs_target *t) {
  double floats = (double)t->vector_bytes / 4;
  double cycles = t->flops_per_cycle > 0 ? 2 * floats / t->flops_per_cycle : 0;
  return fmin(fmax(cycles, 0.5), 2);
}

/* Cycles that a panel takes for k iterations. */
static double
panel_cycles(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  double cycles = FMA_LATENCY;
  cycles = fmax(cycles, (double)(mr * nv) * c->product);
  cycles = fmax(cycles, LOAD * (double)(mr + nv));
  if (po_image_of_x(c))
    cycles = fmax(cycles, LINE_FETCH * (po_lines_of(c, mr) +
                                        (double)(nv * c->lanes * bytes_of(c)) /
                                            LINE_BYTES));
  return (cycles + TRAFFIC * ((double)nv + (double)mr / 4)) * k + PANEL_START +
         PANEL_STORE * (double)(mr * nv);
}

/* Rows after which panels of mr rows begin anew; 0: those cannot be. */
static int64_t
line_of(const po_contraction *c, int64_t mr) {
  return po_image_of_x(c) ? po_line_of(c, mr) : size_of(c, PO_DIM_M);
}

/* ... in all panels of m x n. */
static double
sweep_cycles(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t line = line_of(c, mr), rest = line % mr;
  int64_t vectors = ceil_div(n, c->lanes);
  double across = (double)(vectors / nv) * panel_cycles(c, mr, nv, k);
  double tail = (double)(vectors / nv) * panel_cycles(c, rest, nv, k);
  if (vectors % nv) {
    across += panel_cycles(c, mr, vectors % nv, k);
    tail += panel_cycles(c, rest, vectors % nv, k);
  }
  return (double)(m / line) *
         ((double)(line / mr) * across + (rest ? tail : 0));
}

static double
choose_kernel(const gs_target *t, po_contraction *c) {
  int64_t registers = max64(t->vector_registers, 4);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  double best = INFINITY;
  for (int64_t nv = 1; nv <= MAX_NV; nv++)
    for (int64_t mr = 1; mr <= MAX_MR && mr <= m; mr++) {
      if (mr * nv + nv + 1 > registers || nv > ceil_div(n, c->lanes) ||
          !line_of(c, mr))
        continue;
      int64_t blocks =
          ceil_div(c->dims[PO_DIM_K].d[0].extent, depth_of(t, c, nv));
      double k = (double)size_of(c, PO_DIM_K) / (double)blocks;
      double cycles = sweep_cycles(c, mr, nv, k) * (double)blocks;
      if (cycles < best * 0.999) {
        best = cycles;
        c->mr = (uint32_t)mr;
        c->nv = (uint32_t)nv;
        c->line = line_of(c, mr);
      }
    }
  return best;
}

/* ---- packing and storing ---- */

static int64_t
stride_of(const po_cdim *d, bool x) {
  return x ? d->x : d->y;
}

static const po_cdim *
last_of(const po_contraction *c, po_dim_role role) {
  const po_cdims *dims = &c->dims[role];
  return dims->n ? &dims->d[dims->n - 1] : NULL;
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
    return n * (stride_of(k, x) == 1 ? PACK_TURNED : PACK_SINGLE) *
           (operand->n_guards ? 1.5 : 1);
  double run = (double)min64(width, own ? own->extent : 1);
  return n * ((step == 1   ? PACK_RUNS
               : step == 2 ? PACK_EVERY
                           : PACK_SINGLE) +
              RUN_START / run);
}

static double
store_cycles(const gs_target *t, const po_contraction *c) {
  const po_cdim *m = last_of(c, PO_DIM_M), *n = last_of(c, PO_DIM_N);
  double elements = (double)size_of(c, PO_DIM_M) * (double)size_of(c, PO_DIM_N);
  if (n && n->c == 1)
    return 0;
  int64_t blocks =
      ceil_div(c->dims[PO_DIM_K].d[0].extent, depth_of(t, c, c->nv));
  return elements * ((m && m->c == 1 ? STORE_TURNED : STORE_SINGLE) +
                     STORE_WAITS * (double)(blocks - 1));
}

/* ---- the roles of the operands ---- */

/* Rows of x can be read where they lie: one linear walk along k. */
static bool
x_can_be_direct(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K], *m = &c->dims[PO_DIM_M];
  return !c->x.n_guards && k->n == 1 && m->n <= 1 && k->d[0].x == 1;
}

/* All rows fall into the same few sets of the first cache. */
static bool
x_aliases(const po_contraction *c) {
  const po_cdims *m = &c->dims[PO_DIM_M];
  return m->n && m->d[0].x * bytes_of(c) % 4096 == 0;
}

static bool
y_is_direct(const po_contraction *c, const gs_target *t) {
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  if (c->y.n_guards || k->n != 1 || n->n != 1 || n->d[0].y != 1 ||
      n->d[0].extent % c->lanes)
    return false;
  int64_t first = cache_bytes(t, 0, 32768);
  int64_t row = k->d[0].y * bytes_of(c);
  return row > 0 && row <= 1024 && row * k->d[0].extent <= first * 2;
}

/* Cycles for y to reach the kernel by the cheapest of the ways that copy it for
 * a tile, or by none. */
static double
place_y(const gs_target *t, po_contraction *c, double cycles) {
  double packed = pack_cycles(c, false), direct = FAR * cycles;
  if (direct < packed &&
      po_stays_in_place(c, cache_bytes(t, 1, 262144), depth_of(t, c, c->nv))) {
    c->y_mode = PO_DIRECT;
    return direct;
  }
  bool images = !po_image_of_x(c) && po_find_windows(c, false);
  double windows = images ? po_window_cycles(c) : packed;
  if (windows < packed)
    c->y_mode = PO_WINDOWS;
  return fmin(windows, packed);
}

/* Cycles for x to reach the kernel. */
static double
place_x(po_contraction *c, double cycles) {
  double packed = pack_cycles(c, true);
  double aliasing = x_aliases(c) ? ALIASING * cycles : 0;
  if (po_image_of_x(c))
    return po_window_cycles(c);
  c->x_mode = x_can_be_direct(c) && aliasing <= packed ? PO_DIRECT : PO_BLOCK;
  return c->x_mode == PO_DIRECT ? aliasing : packed;
}

/* constant: what is packed beforehand, x and y; x_mode says whether x is read
 * from an image. */
static double
estimate(const gs_target *t, const bool constant[2], po_contraction *c) {
  double cycles = choose_kernel(t, c);
  c->y_mode = constant[1]         ? PO_BEFORE
              : y_is_direct(c, t) ? PO_DIRECT
                                  : PO_BLOCK;
  if (constant[0])
    c->x_mode = PO_BEFORE;
  else
    cycles += place_x(c, cycles);
  if (c->y_mode == PO_BLOCK)
    cycles += place_y(t, c, cycles);
  return cycles + store_cycles(t, c);
}

/* ---- blocks ---- */

/* Sums that cannot be added to c by whole vectors wait. */
static bool
must_wait(const po_contraction *c) {
  const po_cdim *n = last_of(c, PO_DIM_N);
  return c->kc < c->dims[PO_DIM_K].d[0].extent && !(n && n->c == 1);
}

/* A core packs its own columns of y alone, where they are enough to give each
 * as many panels, and rows of x need no packing for each. */
static bool
shares_columns(const po_contraction *c, int64_t panels, int64_t cores) {
  bool copies = c->y_mode == PO_BLOCK || c->y_mode == PO_WINDOWS;
  return copies && c->x_mode != PO_BLOCK &&
         (panels % cores == 0 || panels >= UNEVEN * cores);
}

/* Rows of which tiles and blocks are made. */
static int64_t
unit_of(const po_contraction *c) {
  return c->line < size_of(c, PO_DIM_M) ? c->line : c->mr;
}

/* The time that cores take for `size`, cut at multiples of `unit`, beside that
 * for equal shares. */
static double
unevenness(int64_t size, int64_t unit, int64_t cores) {
  int64_t most = ceil_div(ceil_div(size, unit), cores) * unit;
  return (double)(most * cores) / (double)size;
}

/* Columns of a tile, at most `widest`; a number of tiles that the cores can
 * share, where there are several, packing is shared by that, or rows cannot be
 * shared as evenly. */
static void
choose_columns(const gs_target *t, po_contraction *c, int64_t widest) {
  int64_t n = size_of(c, PO_DIM_N), outer = size_of(c, PO_DIM_O);
  int64_t panel = (int64_t)c->nv * c->lanes, cores = max64(t->cores, 1);
  int64_t tiles = ceil_div(n, widest);
  bool shares = shares_columns(c, ceil_div(n, panel), cores) ||
                unevenness(n, panel, cores) <
                    unevenness(size_of(c, PO_DIM_M), unit_of(c), cores);
  if ((tiles * outer > 1 || shares) && outer % cores && tiles % cores)
    tiles = round_up(tiles, cores);
  c->nc = round_up(ceil_div(n, tiles), panel);
}

/* Packed once where packing for every tile would repeat much. */
static void
pack_once(po_contraction *c) {
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t most = MAX_WHOLE / bytes_of(c) / size_of(c, PO_DIM_K);
  if (c->dims[PO_DIM_O].n)
    return;
  if (c->x_mode == PO_BLOCK && n > c->nc && m <= most)
    c->x_mode = PO_WHOLE;
  if (c->y_mode == PO_BLOCK && m > c->mc && n <= most)
    c->y_mode = PO_WHOLE;
}

/* What is used by many rows may as well be written once more, for blocks that
 * fill the second cache. */
static bool
pays_whole(const po_contraction *c, int64_t row) {
  int64_t n = size_of(c, PO_DIM_N);
  return c->y_mode == PO_BLOCK && !c->dims[PO_DIM_O].n &&
         size_of(c, PO_DIM_M) >= MANY_ROWS && n * row > MAX_BLOCK &&
         n <= MAX_WHOLE / bytes_of(c) / size_of(c, PO_DIM_K);
}

/* Columns of a tile at most; row: bytes of one of its columns. */
static int64_t
widest_of(const gs_target *t, const po_contraction *c, int64_t row) {
  int64_t panel = (int64_t)c->nv * c->lanes;
  int64_t block = cache_bytes(t, 1, 262144) / 2;
  bool once = po_image_of_x(c) && po_is_packed_whole(c->y_mode);
  if (once || (c->y_mode == PO_DIRECT && y_is_direct(c, t)))
    return round_up(size_of(c, PO_DIM_N), panel);
  if (c->y_mode == PO_BLOCK || c->y_mode == PO_WINDOWS)
    block = min64(MAX_BLOCK, block);
  if (c->y_mode == PO_WHOLE)
    block = max64(cache_bytes(t, 2, 0) / 2 / max64(t->cores, 1), block);
  return max64(block / row / panel * panel, panel);
}

/* Columns, then rows of a tile. */
static void
choose_tiles(const gs_target *t, po_contraction *c, int64_t row) {
  int64_t bytes = bytes_of(c), cores = max64(t->cores, 1), unit = unit_of(c);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t panel = (int64_t)c->nv * c->lanes, widest = widest_of(t, c, row);
  if (c->waits) {
    int64_t rows = po_image_of_x(c) ? max64(unit, min64(m, FEW_ROWS)) : unit;
    widest =
        max64(min64(widest, MAX_SUMS / bytes / rows / panel * panel), panel);
  }
  if (c->y_mode == PO_WHOLE)
    c->nc = round_up(ceil_div(n, ceil_div(n, widest)), panel);
  else
    choose_columns(t, c, widest);
  int64_t tiles = ceil_div(n, c->nc) * size_of(c, PO_DIM_O);
  int64_t chunks = tiles < cores ? ceil_div(cores, tiles) : 1;
  if (c->y_mode == PO_WHOLE && tiles % cores)
    chunks = cores;
  c->mc = min64(round_up(ceil_div(m, chunks), unit), round_up(m, unit));
  if (!c->waits)
    return;
  int64_t most = max64(MAX_SUMS / bytes / c->nc / unit * unit, unit);
  int64_t parts = ceil_div(m, min64(c->mc, most));
  if (tiles * parts > 1 && tiles % cores)
    parts = round_up(parts, cores);
  c->mc = round_up(ceil_div(m, parts), unit);
}

/* Rows whose image is copied at once, at most those of a tile. */
static bool
choose_image_rows(po_contraction *c) {
  int64_t unit = unit_of(c);
  c->mb = c->mc;
  while (c->mb > unit && !po_image_fits(c, MAX_BLOCK))
    c->mb = round_up(c->mb / 2, unit);
  return po_image_fits(c, MAX_BLOCK) &&
         (!c->waits || c->mc * c->nc * bytes_of(c) <= MAX_SUMS);
}

/* Rows of x that stay in the second cache; row: bytes of one. */
static void
choose_rows(const gs_target *t, po_contraction *c, int64_t row) {
  int64_t rows = cache_bytes(t, 1, 262144) / 3;
  rows = c->x_mode == PO_BLOCK ? min64(MAX_ROWS, rows) : rows;
  c->mb = max64(rows / row / c->mr, 1) * c->mr;
  if (c->x_mode == PO_BLOCK && c->mb > c->mc)
    c->mb = c->mc;
  if (c->mb < c->mc)
    c->mb = round_up(ceil_div(c->mc, ceil_div(c->mc, c->mb)), c->mr);
}

/* Panels of y that were packed for many rows come from beyond the second cache
 * where it does not hold all of a tile's, each while the panels of x, so many,
 * are multiplied by the one before.  Where x is an image, its own windows,
 * asked for ahead, leave no room for that. */
static void
choose_later(const gs_target *t, po_contraction *c) {
  int64_t row = c->kc * inner_of(c) * bytes_of(c);
  int64_t width = (int64_t)c->nv * c->lanes * bytes_of(c);
  int64_t rows = min64(c->mb, c->mc), line = min64(c->line, rows);
  int64_t panels = ceil_div(line, c->mr) * ceil_div(rows, line);
  bool far = po_is_packed_whole(c->y_mode) && !po_image_of_x(c) &&
             c->nc > c->nv * c->lanes &&
             c->nc * row > cache_bytes(t, 1, 262144) / 2;
  c->later = far && panels <= MANY_PANELS ? ceil_div(width, panels) : 0;
}

/* False where the image of x is too large. */
static bool
choose_blocks(const gs_target *t, po_contraction *c) {
  c->kc = depth_of(t, c, c->nv);
  int64_t row = c->kc * inner_of(c) * bytes_of(c);
  if (pays_whole(c, row))
    c->y_mode = PO_WHOLE;
  c->waits = must_wait(c);
  choose_tiles(t, c, row);
  if (c->y_mode == PO_WINDOWS && !po_image_fits(c, MAX_BLOCK))
    c->y_mode = PO_BLOCK;
  pack_once(c);
  if (po_image_of_x(c)) {
    if (!choose_image_rows(c))
      return false;
  } else {
    choose_rows(t, c, row);
  }
  choose_later(t, c);
  return true;
}

/* The factors as they are or in each other's place, x read from an image or
 * not; kept where that is the best so far. */
static void
try_way(const gs_target *t, const bool constant[2], bool swap, bool image,
        const po_contraction *found, po_contraction *best) {
  const bool own[2] = {constant[swap], constant[!swap]};
  po_contraction c = *found;
  if (swap)
    po_swap_factors(&c);
  if (image && (own[0] || !po_find_windows(&c, true)))
    return;
  c.x_mode = image ? PO_WINDOWS : PO_DIRECT;
  c.cycles = estimate(t, own, &c);
  if (!choose_blocks(t, &c))
    return;
  if (image)
    c.cycles += (double)(ceil_div(size_of(&c, PO_DIM_N), c.nc) - 1) *
                po_window_cycles(&c);
  if (c.cycles < best->cycles)
    *best = c;
}

void
po_plan_contraction(const gs_target *t, const bool constant[2],
                    po_contraction *c) {
  po_contraction found = *c;
  found.lanes = (uint32_t)max64(t->vector_bytes / bytes_of(c), 1);
  found.product = product_cycles(t);
  c->cycles = INFINITY;
  for (uint32_t way = 0; way < 4; way++)
    try_way(t, constant, way & 1, way >> 1, &found, c);
}
