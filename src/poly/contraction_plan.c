/* contraction_plan.c - sizes of a contraction's loops for a target.
 *
 * Every kernel of mr x nv vectors that fits into the registers is priced by
 * the cycles an iteration of k takes: multiply-adds and loads at two a cycle,
 * and at least the latency of an addition; to them come those of a panel's
 * start and end.  Both ways of giving roles to the operands are tried, with
 * what packing and storing cost.  Then
 *
 *   kc   so that a panel of y, kc x nv vectors, stays in the first cache;
 *   nc   so that a block of y stays in the second;
 *   mb   rows of x that stay in the second beside it;
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
/* Bytes on a thread's stack for a packed block, for sums that wait; in the
 * workspace for an operand packed whole. */
#define MAX_BLOCK (256 * 1024)
#define MAX_SUMS  (128 * 1024)
#define MANY_ROWS 1024
#define MAX_WHOLE (INT64_C(256) << 20)
/* Panels a core, from which on one more or less is no matter. */
#define UNEVEN      4
#define FMA_LATENCY 4.0
/* Part of the time lost where rows share sets of the first cache. */
#define ALIASING 0.1
/* ... where rows of y are far apart. */
#define FAR 0.03
/* Cycles an operand of a panel costs beyond its load. */
#define TRAFFIC 0.25
/* Cycles of a panel: its call, and a vector of its sums put into c. */
#define PANEL_START 40.0
#define PANEL_STORE 2.0
/* Cycles an element: packed in runs, turned over, one by one; those of a run;
 * stored turned over, one by one. */
#define PACK_RUNS    0.2
#define PACK_EVERY   0.5
#define PACK_TURNED  0.5
#define PACK_SINGLE  1.6
#define RUN_START    12.0
#define STORE_TURNED 0.5
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

/* Iterations of the outermost k loop in a block: equal ones. */
static int64_t
depth_of(const gs_target *t, const po_contraction *c, int64_t nv) {
  int64_t extent = c->dims[PO_DIM_K].d[0].extent;
  int64_t panel = nv * c->lanes * bytes_of(c);
  int64_t depth = max64(cache_bytes(t, 0, 32768) / panel, 256);
  int64_t parts = ceil_div(extent, max64(depth / inner_of(c), 1));
  return ceil_div(extent, parts);
}

/* Cycles that a panel takes for k iterations. */
static double
panel_cycles(int64_t mr, int64_t nv, double k) {
  double cycles = FMA_LATENCY;
  cycles = fmax(cycles, (double)(mr * nv) / 2);
  cycles = fmax(cycles, (double)(mr + nv) / 2);
  return (cycles + TRAFFIC * (double)nv) * k + PANEL_START +
         PANEL_STORE * (double)(mr * nv);
}

/* ... in all panels of m x n. */
static double
sweep_cycles(const po_contraction *c, int64_t mr, int64_t nv, double k) {
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t vectors = ceil_div(n, c->lanes);
  double across = (double)(vectors / nv) * panel_cycles(mr, nv, k);
  double tail = (double)(vectors / nv) * panel_cycles(m % mr, nv, k);
  if (vectors % nv) {
    across += panel_cycles(mr, vectors % nv, k);
    tail += panel_cycles(m % mr, vectors % nv, k);
  }
  return (double)(m / mr) * across + (m % mr ? tail : 0);
}

static double
choose_kernel(const gs_target *t, po_contraction *c) {
  int64_t registers = max64(t->vector_registers, 4);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  double best = INFINITY;
  for (int64_t nv = 1; nv <= MAX_NV; nv++)
    for (int64_t mr = 1; mr <= MAX_MR && mr <= m; mr++) {
      if (mr * nv + nv + 1 > registers || nv > ceil_div(n, c->lanes))
        continue;
      int64_t blocks =
          ceil_div(c->dims[PO_DIM_K].d[0].extent, depth_of(t, c, nv));
      double k = (double)size_of(c, PO_DIM_K) / (double)blocks;
      double cycles = sweep_cycles(c, mr, nv, k) * (double)blocks;
      if (cycles < best * 0.999) {
        best = cycles;
        c->mr = (uint32_t)mr;
        c->nv = (uint32_t)nv;
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
store_cycles(const po_contraction *c) {
  const po_cdim *m = last_of(c, PO_DIM_M), *n = last_of(c, PO_DIM_N);
  double elements = (double)size_of(c, PO_DIM_M) * (double)size_of(c, PO_DIM_N);
  if (n && n->c == 1)
    return 0;
  return elements * (m && m->c == 1 ? STORE_TURNED : STORE_SINGLE);
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
  double windows = po_find_windows(c) ? po_window_cycles(c) : packed;
  if (windows < packed)
    c->y_mode = PO_WINDOWS;
  return fmin(windows, packed);
}

/* constant: what is packed beforehand, x and y. */
static double
estimate(const gs_target *t, const bool constant[2], po_contraction *c) {
  double cycles = choose_kernel(t, c);
  double pack_x = pack_cycles(c, true);
  double aliasing = x_aliases(c) ? ALIASING * cycles : 0;
  c->y_mode = constant[1]         ? PO_BEFORE
              : y_is_direct(c, t) ? PO_DIRECT
                                  : PO_BLOCK;
  c->x_mode = constant[0]                                ? PO_BEFORE
              : x_can_be_direct(c) && aliasing <= pack_x ? PO_DIRECT
                                                         : PO_BLOCK;
  if (c->x_mode != PO_BEFORE)
    cycles += c->x_mode == PO_DIRECT ? aliasing : pack_x;
  if (c->y_mode == PO_BLOCK)
    cycles += place_y(t, c, cycles);
  return cycles + store_cycles(c);
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

/* Columns of a tile, at most `widest`; a number of tiles that the cores can
 * share, where there are several or packing is shared by that. */
static void
choose_columns(const gs_target *t, po_contraction *c, int64_t widest) {
  int64_t n = size_of(c, PO_DIM_N), outer = size_of(c, PO_DIM_O);
  int64_t panel = (int64_t)c->nv * c->lanes, cores = max64(t->cores, 1);
  int64_t tiles = ceil_div(n, widest);
  bool shares = shares_columns(c, ceil_div(n, panel), cores);
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
  if (c->y_mode == PO_DIRECT && y_is_direct(c, t))
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
  int64_t bytes = bytes_of(c), cores = max64(t->cores, 1);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t panel = (int64_t)c->nv * c->lanes, widest = widest_of(t, c, row);
  if (c->waits)
    widest =
        max64(min64(widest, MAX_SUMS / bytes / c->mr / panel * panel), panel);
  if (c->y_mode == PO_WHOLE)
    c->nc = round_up(ceil_div(n, ceil_div(n, widest)), panel);
  else
    choose_columns(t, c, widest);
  int64_t tiles = ceil_div(n, c->nc) * size_of(c, PO_DIM_O);
  int64_t chunks = tiles < cores ? ceil_div(cores, tiles) : 1;
  if (c->y_mode == PO_WHOLE && tiles % cores)
    chunks = cores;
  c->mc = min64(round_up(ceil_div(m, chunks), c->mr), round_up(m, c->mr));
  if (c->waits)
    c->mc =
        max64(min64(c->mc, MAX_SUMS / bytes / c->nc / c->mr * c->mr), c->mr);
}

static void
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
  int64_t rows = cache_bytes(t, 1, 262144) / 4;
  rows = c->x_mode == PO_BLOCK ? min64(MAX_BLOCK, rows) : rows;
  c->mb = max64(rows / row / c->mr, 1) * c->mr;
  if (c->x_mode == PO_BLOCK && c->mb > c->mc)
    c->mb = c->mc;
}

void
po_plan_contraction(const gs_target *t, const bool constant[2],
                    po_contraction *c) {
  bool swapped[2] = {constant[1], constant[0]};
  c->lanes = (uint32_t)max64(t->vector_bytes / bytes_of(c), 1);
  c->cycles = estimate(t, constant, c);
  po_contraction other = *c;
  po_swap_factors(&other);
  other.cycles = estimate(t, swapped, &other);
  if (other.cycles < c->cycles)
    *c = other;
  choose_blocks(t, c);
}

/* ---- of a program ---- */

/* Below this the kernel is not worth its code. */
#define LEAST_PRODUCTS 4096

static bool
is_worth_it(const po_contraction *c) {
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  int64_t k = po_cdims_size(&c->dims[PO_DIM_K]);
  return m > 1 && n > 1 && (double)m * (double)n * (double)k >= LEAST_PRODUCTS;
}

/* The array of an operand that is packed whole. */
static uint32_t
add_packed(po_program *p, const po_contraction *c, bool x) {
  int64_t panel = (int64_t)c->nv * c->lanes;
  int64_t rows = x ? round_up(size_of(c, PO_DIM_M), c->mr)
                   : round_up(size_of(c, PO_DIM_N), panel);
  po_array packed = {
      .name = bs_arena_printf(&p->arena, "glen_packed%u", p->arrays.len),
      .role = (x ? c->x_mode : c->y_mode) == PO_BEFORE ? PO_PREPACKED
                                                       : PO_WORKSPACE,
      .dtype = c->dtype,
      .rank = 1,
      .dim = {rows * size_of(c, PO_DIM_K)},
      .term = GS_NO_TERM,
      .packed = true};
  bs_push(p->ctx.heap, &p->arrays, packed);
  return p->arrays.len - 1;
}

/* Each loop runs over one index, in order, and has no mark but parallel. */
static bool
is_as_lowered(const po_program *p, const po_stmt *s) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  for (uint32_t k = 0; k < n; k++)
    if (p->nest.nodes.data[loops[k]].mark > PO_PARALLEL)
      return false;
  if (n != s->n_iters)
    return false;
  isl_multi_aff *identity = po_identity(p->isl, n);
  isl_multi_aff *time =
      isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(s->time), isl_dim_in);
  time = isl_multi_aff_reset_tuple_id(time, isl_dim_out);
  bool same = isl_multi_aff_plain_is_equal(time, identity) == isl_bool_true;
  isl_multi_aff_free(time);
  isl_multi_aff_free(identity);
  return same;
}

/* One packed array serves all of the outer loops: there must be none. */
static bool
is_constant(const po_program *p, const po_contraction *c, uint32_t array) {
  const po_array *a = &p->arrays.data[array];
  return (a->prepack || a->before) && !c->dims[PO_DIM_O].n;
}

/* formula: a statement that may be computed where sums are stored. */
static bool
plan_group(po_program *p, const uint32_t *stmts, uint32_t n, uint32_t formula,
           po_contraction *out) {
  if (n < 2 || n > 3)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!is_as_lowered(p, &p->stmts.data[stmts[k]]))
      return false;
  uint32_t store = n == 3 ? stmts[2] : UINT32_MAX;
  bool found = formula != UINT32_MAX &&
               po_find_contraction(p, stmts[0], stmts[1], store, formula, out);
  found = found ||
          po_find_contraction(p, stmts[0], stmts[1], store, UINT32_MAX, out);
  if (!found || !is_worth_it(out))
    return false;
  const bool constant[2] = {is_constant(p, out, out->x.array),
                            is_constant(p, out, out->y.array)};
  po_plan_contraction(p->target, constant, out);
  return true;
}

/* The statement of the next group, where it is alone and as it was lowered. */
static uint32_t
formula_behind(const po_program *p, const po_groups *groups, uint32_t k) {
  const po_group *next = &groups->list.data[k] + 1;
  if (k + 1 == groups->list.len || next->n != 1)
    return UINT32_MAX;
  uint32_t stmt = groups->stmts.data[next->first];
  return is_as_lowered(p, &p->stmts.data[stmt]) ? stmt : UINT32_MAX;
}

void
po_plan_contractions(po_program *p, const po_groups *groups) {
  while (p->arrays.len && p->arrays.data[p->arrays.len - 1].packed)
    p->arrays.len--;
  bs_clear(&p->contractions);
  for (uint32_t k = 0; k < groups->list.len && !p->plain; k++) {
    const po_group *group = &groups->list.data[k];
    po_contraction c;
    if (!plan_group(p, groups->stmts.data + group->first, group->n,
                    formula_behind(p, groups, k), &c))
      continue;
    if (po_is_packed_whole(c.x_mode))
      c.packed_x = add_packed(p, &c, true);
    if (po_is_packed_whole(c.y_mode))
      c.packed_y = add_packed(p, &c, false);
    const po_contraction *kept = bs_arena_copy(&p->arena, &c, sizeof c);
    bs_push(p->ctx.heap, &p->contractions, kept);
  }
}

const po_contraction *
po_contraction_of(const po_program *p, const po_groups *groups,
                  const po_group *group) {
  uint32_t first = groups->stmts.data[group->first];
  uint32_t lo = 0, hi = p->contractions.len;
  if (group->n < 2 || group->n > 4)
    return NULL;
  for (uint32_t k = lo; k < hi; k++)
    if (p->contractions.data[k]->init == first)
      return p->contractions.data[k];
  return NULL;
}
