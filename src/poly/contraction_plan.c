/* contraction_plan.c - sizes of a contraction's loops for a target.
 *
 * Every kernel of mr x nv vectors that fits into the registers is priced by
 * the cycles an iteration of k takes: multiply-adds and loads at two a cycle,
 * and at least the latency of an addition.  Both ways of giving roles to the
 * operands are tried, with what packing and storing cost.  Then
 *
 *   kc   so that a panel of y, kc x nv vectors, stays in the first cache;
 *   nc   so that a packed block of y stays in the second;
 *   mb   rows of x that stay in the second beside it;
 *   mc   all rows, unless more tiles are needed to occupy the cores. */
#include "poly/affine.h"
#include "poly/contraction.h"
#include <math.h>

#define MAX_MR 14
#define MAX_NV 4
/* Bytes on a thread's stack for a packed block. */
#define MAX_BLOCK   (256 * 1024)
#define FMA_LATENCY 4.0
/* Part of the time lost where rows share sets of the first cache. */
#define ALIASING 0.1
/* Cycles an operand of a panel costs beyond its load. */
#define TRAFFIC 0.25
/* Cycles an element: packed along a row, across rows; stored one by one. */
#define PACK_LINE    0.4
#define PACK_ACROSS  1.6
#define STORE_ACROSS 2.0

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

/* ---- the kernel ---- */

/* Cycles that one iteration of k takes in a panel. */
static double
panel_cycles(int64_t mr, int64_t nv) {
  double cycles = FMA_LATENCY;
  cycles = fmax(cycles, (double)(mr * nv) / 2);
  cycles = fmax(cycles, (double)(mr + nv) / 2);
  return cycles + TRAFFIC * (double)(mr + nv);
}

/* ... in all panels of m x n. */
static double
sweep_cycles(int64_t m, int64_t n, int64_t mr, int64_t nv, int64_t lanes) {
  int64_t vectors = ceil_div(n, lanes);
  double across = (double)(vectors / nv) * panel_cycles(mr, nv);
  double tail = (double)(vectors / nv) * panel_cycles(m % mr, nv);
  if (vectors % nv) {
    across += panel_cycles(mr, vectors % nv);
    tail += panel_cycles(m % mr, vectors % nv);
  }
  return (double)(m / mr) * across + (m % mr ? tail : 0);
}

static double
choose_kernel(const gs_target *t, po_contraction *c, int64_t m, int64_t n) {
  int64_t registers = max64(t->vector_registers, 4);
  double best = INFINITY;
  for (int64_t nv = 1; nv <= MAX_NV; nv++)
    for (int64_t mr = 1; mr <= MAX_MR && mr <= m; mr++) {
      if (mr * nv + nv + 1 > registers || nv > ceil_div(n, c->lanes))
        continue;
      double cycles = sweep_cycles(m, n, mr, nv, c->lanes);
      if (cycles < best * 0.999) {
        best = cycles;
        c->mr = (uint32_t)mr;
        c->nv = (uint32_t)nv;
      }
    }
  return best;
}

/* ---- the roles of the operands ---- */

static int64_t
stride_of(const po_cdims *dims, bool x) {
  const po_cdim *d = dims->n ? &dims->d[dims->n - 1] : NULL;
  return !d ? 0 : x ? d->x : d->y;
}

/* Rows of x can be read where they lie: one linear walk along k. */
static bool
x_can_be_direct(const po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K], *m = &c->dims[PO_DIM_M];
  return !c->x.n_guards && k->n == 1 && m->n <= 1 && k->d[0].x == 1;
}

/* All rows fall into the same few sets of the first cache. */
static bool
x_aliases(const po_contraction *c, int64_t bytes) {
  const po_cdims *m = &c->dims[PO_DIM_M];
  return m->n && m->d[0].x * bytes % 4096 == 0;
}

static bool
y_is_direct(const po_contraction *c, const gs_target *t, int64_t bytes) {
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  if (c->y.n_guards || k->n != 1 || n->n != 1 || n->d[0].y != 1 ||
      n->d[0].extent % c->lanes)
    return false;
  int64_t first = t->caches.len ? t->caches.data[0].bytes : 32768;
  int64_t row = k->d[0].y * bytes;
  return row > 0 && row <= 1024 && row * k->d[0].extent <= first * 2;
}

static double
estimate(const gs_target *t, po_contraction *c) {
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  int64_t k = po_cdims_size(&c->dims[PO_DIM_K]);
  c->y_mode = y_is_direct(c, t, bytes) ? PO_DIRECT : PO_BLOCK;
  double cycles = choose_kernel(t, c, m, n) * (double)k;
  double pack_x = PACK_ACROSS * (double)m * (double)k;
  double aliasing = x_aliases(c, bytes) ? ALIASING * cycles : 0;
  c->x_mode = x_can_be_direct(c) && aliasing <= pack_x ? PO_DIRECT : PO_BLOCK;
  cycles += c->x_mode == PO_DIRECT ? aliasing : pack_x;
  if (c->y_mode == PO_BLOCK)
    cycles +=
        (stride_of(&c->dims[PO_DIM_N], false) == 1 ? PACK_LINE : PACK_ACROSS) *
        (double)n * (double)k;
  const po_cdims *dims = &c->dims[PO_DIM_N];
  if (!dims->n || dims->d[dims->n - 1].c != 1)
    cycles += STORE_ACROSS * (double)m * (double)n;
  return cycles;
}

/* The same with the factors changed: m becomes n. */
static void
swap_roles(po_contraction *c) {
  po_coperand x = c->x;
  c->x = c->y;
  c->y = x;
  po_cdims m = c->dims[PO_DIM_M];
  c->dims[PO_DIM_M] = c->dims[PO_DIM_N];
  c->dims[PO_DIM_N] = m;
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; k < c->dims[role].n; k++) {
      po_cdim *d = &c->dims[role].d[k];
      int64_t swap = d->x;
      d->x = d->y;
      d->y = swap;
    }
  po_coperand *operands[] = {&c->x, &c->y};
  for (uint32_t o = 0; o < 2; o++)
    for (uint32_t g = 0; g < operands[o]->n_guards; g++)
      for (uint32_t k = 0; k < PO_MAX_DIMS; k++) {
        int64_t swap = operands[o]->guards[g].factor[PO_DIM_M][k];
        operands[o]->guards[g].factor[PO_DIM_M][k] =
            operands[o]->guards[g].factor[PO_DIM_N][k];
        operands[o]->guards[g].factor[PO_DIM_N][k] = swap;
      }
}

/* ---- blocks ---- */

static int64_t
cache_bytes(const gs_target *t, uint32_t level, int64_t otherwise) {
  return t->caches.len > level ? t->caches.data[level].bytes : otherwise;
}

static void
choose_blocks(const gs_target *t, po_contraction *c) {
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  int64_t first = cache_bytes(t, 0, 32768), second = cache_bytes(t, 1, 262144);
  int64_t m = max64(po_cdims_size(&c->dims[PO_DIM_M]), 1);
  int64_t n = max64(po_cdims_size(&c->dims[PO_DIM_N]), 1);
  const po_cdims *k = &c->dims[PO_DIM_K];
  int64_t outer = po_cdims_size(&c->dims[PO_DIM_O]);
  int64_t inner = po_cdims_size(k) / k->d[0].extent;
  int64_t panel = (int64_t)c->nv * c->lanes;

  int64_t depth = max64(first / (panel * bytes), 256);
  int64_t parts = ceil_div(k->d[0].extent, max64(depth / inner, 1));
  c->kc = ceil_div(k->d[0].extent, parts);

  int64_t row = c->kc * inner * bytes;
  int64_t block = min64(MAX_BLOCK, second / 2);
  int64_t widest = max64(block / row / panel * panel, panel);
  if (c->y_mode == PO_DIRECT)
    widest = round_up(n, panel);
  int64_t cores = max64(t->cores, 1);
  int64_t tiles = ceil_div(n, widest);
  if (tiles * outer > 1 && outer % cores && tiles % cores)
    tiles = round_up(tiles, cores);
  c->nc = round_up(ceil_div(n, tiles), panel);
  tiles = ceil_div(n, c->nc) * outer;
  int64_t chunks = tiles < cores ? ceil_div(cores, tiles) : 1;
  c->mc = min64(round_up(ceil_div(m, chunks), c->mr), round_up(m, c->mr));
  c->mb = max64(min64(MAX_BLOCK, second / 4) / row / c->mr, 1) * c->mr;
  if (c->x_mode == PO_BLOCK && c->mb > c->mc)
    c->mb = c->mc;
}

void
po_plan_contraction(const gs_target *t, po_contraction *c) {
  c->lanes =
      (uint32_t)max64(t->vector_bytes / gs_dtype_table[c->dtype].bytes, 1);
  c->cycles = estimate(t, c);
  po_contraction other = *c;
  swap_roles(&other);
  other.cycles = estimate(t, &other);
  if (other.cycles < c->cycles)
    *c = other;
  /* Packed once where packing for every tile would repeat much. */
  choose_blocks(t, c);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  bool invariant = !c->dims[PO_DIM_O].n;
  if (c->x_mode == PO_BLOCK && invariant && n > c->nc)
    c->x_mode = PO_WHOLE;
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

static void
add_packed(po_program *p, po_contraction *c) {
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  po_array packed = {
      .name = bs_arena_printf(&p->arena, "glen_packed%u", p->arrays.len),
      .role = PO_WORKSPACE,
      .dtype = c->dtype,
      .rank = 1,
      .dim = {round_up(m, c->mr) * po_cdims_size(&c->dims[PO_DIM_K])},
      .term = GS_NO_TERM,
      .packed = true};
  c->packed = p->arrays.len;
  bs_push(p->ctx.heap, &p->arrays, packed);
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

static bool
plan_group(po_program *p, const uint32_t *stmts, uint32_t n,
           po_contraction *out) {
  if (n < 2 || n > 3)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!is_as_lowered(p, &p->stmts.data[stmts[k]]))
      return false;
  if (!po_find_contraction(p, stmts[0], stmts[1],
                           n == 3 ? stmts[2] : UINT32_MAX, out) ||
      !is_worth_it(out))
    return false;
  po_plan_contraction(p->target, out);
  return true;
}

void
po_plan_contractions(po_program *p, const po_groups *groups) {
  while (p->arrays.len && p->arrays.data[p->arrays.len - 1].packed)
    p->arrays.len--;
  bs_clear(&p->contractions);
  for (uint32_t k = 0; k < groups->list.len && !p->plain; k++) {
    const po_group *group = &groups->list.data[k];
    po_contraction c;
    if (!plan_group(p, groups->stmts.data + group->first, group->n, &c))
      continue;
    if (c.x_mode == PO_WHOLE)
      add_packed(p, &c);
    const po_contraction *kept = bs_arena_copy(&p->arena, &c, sizeof c);
    bs_push(p->ctx.heap, &p->contractions, kept);
  }
}

const po_contraction *
po_contraction_of(const po_program *p, const po_groups *groups,
                  const po_group *group) {
  uint32_t first = groups->stmts.data[group->first];
  uint32_t lo = 0, hi = p->contractions.len;
  if (group->n < 2 || group->n > 3)
    return NULL;
  for (uint32_t k = lo; k < hi; k++)
    if (p->contractions.data[k]->init == first)
      return p->contractions.data[k];
  return NULL;
}
