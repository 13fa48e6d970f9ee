/* SPDX-License-Identifier: MIT */
/* contraction_blocks.c - tiles and blocks of a contraction for a target.
 *
 *   kc   so that a panel of y, kc x nv vectors, stays in the first cache, or is
 *        twice as long where the second is large beside that, four times where
 *        y is packed whole and x by blocks;
 *   nc   so that a block of y stays in the second;
 *   mb   rows of x that stay in the second beside it, equal blocks;
 *   mc   all rows, unless more tiles are needed to occupy the cores.
 *
 * Where y is packed whole for many rows, its panels come one after the other
 * from the third cache, each for all rows of a block of x: nc is as wide as
 * the share of a core there, and the cores divide the rows, so that each packs
 * its own rows of x, once, and reads them from its second cache. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_plan.h"
#include <assert.h>

/* Rows of a block, whatever is asked for. */
#define MOST_ROWS (1 << 20)

/* Iterations of the outermost k loop in equal blocks whose panels of y take at
 * most so many bytes. */
static int64_t
depth_within(const po_contraction *c, int64_t nv, int64_t bytes) {
  assert(c->dims[PO_DIM_K].n && nv > 0 && c->lanes > 0);
  int64_t extent = c->dims[PO_DIM_K].d[0].extent;
  int64_t depth = max64(bytes / (nv * c->lanes * bytes_of(c)), 256);
  int64_t parts = bs_ceil_div(extent, max64(depth / inner_of(c), 1));
  return bs_ceil_div(extent, parts);
}

/* A panel of y may come from the second cache, of which a vector is used mr
 * times: the sums of fewer blocks are added to c. */
int64_t
po_depth_of(const gs_target *t, const po_contraction *c, int64_t nv) {
  int64_t first = gs_cache_bytes(t, 1), second = gs_cache_bytes(t, 2);
  return depth_within(c, nv, max64(first, min64(2 * first, second / 16)));
}

/* Bytes of a block of rows of x, beside which panels of y go by in the second
 * cache. */
static int64_t
block_of_rows(const gs_target *t, const po_contraction *c) {
  int64_t third = gs_cache_bytes(t, 2) / 3;
  return c->x_mode == PO_BLOCK ? min64(GS_KERNEL_BLOCK_X, third) : third;
}

/* Where y is packed whole and x block by block, panels of x come from there as
 * well, and a block less is a pass less over c and over the rows of x: as long
 * as a block of x has a few panels. */
static int64_t
depth_of_packed(const gs_target *t, const po_contraction *c) {
  int64_t first = gs_cache_bytes(t, 1), second = gs_cache_bytes(t, 2);
  int64_t most = block_of_rows(t, c) /
                 (GS_KERNEL_LEAST_PANELS * (int64_t)c->mr) * c->nv * c->lanes;
  int64_t bytes = min64(min64(4 * first, second / 8), most);
  return max64(depth_within(c, c->nv, bytes), c->kc);
}

/* Sums that cannot be added to c by whole vectors wait, unless the first ones
 * are added as well. */
static bool
must_wait(const po_contraction *c) {
  const po_cdim *n = last_of(c, PO_DIM_N);
  return !c->adds && c->kc < c->dims[PO_DIM_K].d[0].extent && !(n && n->c == 1);
}

/* A core packs its own columns of y alone, where they are enough to give each
 * as many panels, and rows of x need no packing for each. */
static bool
shares_columns(const po_contraction *c, int64_t panels, int64_t cores) {
  assert(cores >= 1);
  bool copies = c->y_mode == PO_BLOCK || c->y_mode == PO_WINDOWS;
  return copies && c->x_mode != PO_BLOCK &&
         (panels % cores == 0 || panels >= GS_KERNEL_UNEVEN * cores);
}

int64_t
po_unit_of(const po_contraction *c) {
  return c->line < size_of(c, PO_DIM_M) ? c->line : c->mr;
}

/* The time that cores take for `size`, cut at multiples of `unit`, beside that
 * for equal shares. */
static double
unevenness(int64_t size, int64_t unit, int64_t cores) {
  assert(size > 0 && unit > 0 && cores > 0);
  int64_t most = bs_ceil_div(bs_ceil_div(size, unit), cores) * unit;
  return (double)(most * cores) / (double)size;
}

/* Columns of a tile, at most `widest`; a number of tiles that the cores can
 * share, where there are several, packing is shared by that, or rows cannot be
 * shared as evenly. */
static void
choose_columns(const gs_target *t, po_contraction *c, int64_t widest) {
  int64_t n = size_of(c, PO_DIM_N), outer = size_of(c, PO_DIM_O);
  int64_t panel = (int64_t)c->nv * c->lanes, cores = gs_cores(t);
  int64_t tiles = bs_ceil_div(n, widest);
  bool shares = shares_columns(c, bs_ceil_div(n, panel), cores) ||
                unevenness(n, panel, cores) <
                    unevenness(size_of(c, PO_DIM_M), po_unit_of(c), cores);
  if ((tiles * outer > 1 || shares) && outer % cores && tiles % cores)
    tiles = bs_round_up(tiles, cores);
  c->nc = bs_round_up(bs_ceil_div(n, tiles), panel);
}

/* Packed once where packing for every tile would repeat much. */
static void
pack_once(po_contraction *c) {
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t most = (int64_t)GS_KERNEL_WHOLE / bytes_of(c) / size_of(c, PO_DIM_K);
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
  assert(row > 0);
  int64_t n = size_of(c, PO_DIM_N);
  return c->y_mode == PO_BLOCK && !c->dims[PO_DIM_O].n &&
         size_of(c, PO_DIM_M) >= GS_KERNEL_MANY_ROWS &&
         n * row > GS_KERNEL_BLOCK &&
         n <= (int64_t)GS_KERNEL_WHOLE / bytes_of(c) / size_of(c, PO_DIM_K);
}

/* Columns of a tile at most; row: bytes of one of its columns. */
static int64_t
widest_of(const gs_target *t, const po_contraction *c, int64_t row) {
  assert(row > 0);
  int64_t panel = (int64_t)c->nv * c->lanes;
  int64_t block = gs_cache_bytes(t, 2) / 2;
  bool once = po_image_of_x(c) && po_is_packed_whole(c->y_mode);
  if (once || (c->y_mode == PO_DIRECT && po_y_is_direct(c, t)))
    return bs_round_up(size_of(c, PO_DIM_N), panel);
  if (c->y_mode == PO_BLOCK || c->y_mode == PO_WINDOWS)
    block = min64(GS_KERNEL_BLOCK, block);
  if (c->y_mode == PO_WHOLE)
    block = max64(gs_third_cache_share(t) / 2, block);
  return max64(block / row / panel * panel, panel);
}

/* Columns of a tile; row: bytes of one. */
static void
choose_width(const gs_target *t, po_contraction *c, int64_t row) {
  assert(row > 0);
  int64_t bytes = bytes_of(c), unit = po_unit_of(c);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t panel = (int64_t)c->nv * c->lanes, widest = widest_of(t, c, row);
  if (c->waits) {
    int64_t rows =
        po_image_of_x(c) ? max64(unit, min64(m, GS_KERNEL_FEW_ROWS)) : unit;
    widest = max64(min64(widest, GS_KERNEL_SUMS / bytes / rows / panel * panel),
                   panel);
  }
  if (c->y_mode == PO_WHOLE)
    c->nc = bs_round_up(bs_ceil_div(n, bs_ceil_div(n, widest)), panel);
  else
    choose_columns(t, c, widest);
}

/* Rows of a tile, whose columns are chosen. */
static void
choose_height(const gs_target *t, po_contraction *c) {
  int64_t bytes = bytes_of(c), cores = gs_cores(t), unit = po_unit_of(c);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  int64_t tiles = bs_ceil_div(n, c->nc) * size_of(c, PO_DIM_O);
  int64_t chunks = tiles < cores ? bs_ceil_div(cores, tiles) : 1;
  if (c->y_mode == PO_WHOLE && tiles % cores)
    chunks = cores;
  c->mc =
      min64(bs_round_up(bs_ceil_div(m, chunks), unit), bs_round_up(m, unit));
  if (!c->waits)
    return;
  int64_t most = max64(GS_KERNEL_SUMS / bytes / c->nc / unit * unit, unit);
  int64_t parts = bs_ceil_div(m, min64(c->mc, most));
  if (tiles * parts > 1 && tiles % cores)
    parts = bs_round_up(parts, cores);
  c->mc = bs_round_up(bs_ceil_div(m, parts), unit);
}

/* Rows whose image is copied at once, at most those of a tile. */
static bool
choose_image_rows(po_contraction *c) {
  int64_t unit = po_unit_of(c);
  c->mb = c->mc;
  while (c->mb > unit && !po_image_fits(c, GS_KERNEL_BLOCK))
    c->mb = bs_round_up(c->mb / 2, unit);
  return po_image_fits(c, GS_KERNEL_BLOCK) &&
         (!c->waits || c->mc * c->nc * bytes_of(c) <= GS_KERNEL_SUMS);
}

/* Rows of x that stay in the second cache; row: bytes of one. */
static void
choose_rows(const gs_target *t, po_contraction *c, int64_t row) {
  assert(row > 0 && c->mr);
  c->mb = max64(block_of_rows(t, c) / row / c->mr, 1) * c->mr;
  if (c->x_mode == PO_BLOCK && c->mb > c->mc)
    c->mb = c->mc;
  if (c->mb < c->mc)
    c->mb = bs_round_up(bs_ceil_div(c->mc, bs_ceil_div(c->mc, c->mb)), c->mr);
}

/* Of x, in what is multiplied by a panel of y at a time; at least one. */
static int64_t
full_panels(const po_contraction *c) {
  int64_t rows = min64(min64(c->mb, c->mc), size_of(c, PO_DIM_M));
  int64_t line = max64(min64(c->line, rows), min64(c->mr, rows));
  return max64(line / c->mr * (rows / line), 1);
}

/* Panels of y that were packed for many rows come from beyond the second cache
 * where they are multiplied once, or where it does not hold all of those that
 * the next tile needs again: each is asked for while the panels of x, so many,
 * are multiplied by the one before. */
static void
choose_later(const gs_target *t, po_contraction *c) {
  int64_t depth = size_of(c, PO_DIM_K) * bytes_of(c);
  int64_t width = (int64_t)c->nv * c->lanes * bytes_of(c);
  int64_t panels = full_panels(c);
  bool far =
      size_of(c, PO_DIM_M) <= c->mc || c->nc * depth > gs_cache_bytes(t, 2) / 2;
  bool asks = far && po_is_packed_whole(c->y_mode) &&
              c->nc > c->nv * c->lanes && panels <= GS_KERNEL_PANELS;
  c->later = asks ? bs_ceil_div(width, panels) : 0;
}

/* Whole and windows where those are better, unless it is said how the operands
 * reach the kernel. */
static void
choose_modes(const po_contract_choice *fixed, po_contraction *c) {
  po_cmode x = c->x_mode, y = c->y_mode;
  if (c->y_mode == PO_WINDOWS && !po_image_fits(c, GS_KERNEL_BLOCK))
    c->y_mode = PO_BLOCK;
  pack_once(c);
  if (fixed->x_mode != PO_ANY_MODE)
    c->x_mode = x;
  if (fixed->y_mode != PO_ANY_MODE)
    c->y_mode = y;
}

/* What is fixed, as a multiple of what tiles are made of; else what was chosen.
 */
static int64_t
as_fixed(int64_t fixed, int64_t unit, int64_t chosen, int64_t most) {
  assert(unit >= 1);
  return fixed ? bs_round_up(min64(fixed, most), unit) : chosen;
}

/* Bytes of a row of x or a column of y in a block. */
static int64_t
row_bytes(const po_contraction *c) {
  return c->kc * inner_of(c) * bytes_of(c);
}

bool
po_choose_blocks(const gs_target *t, const po_contract_choice *fixed,
                 po_contraction *c) {
  c->kc = fixed->kc ? fixed->kc : po_depth_of(t, c, c->nv);
  if (fixed->y_mode == PO_ANY_MODE && pays_whole(c, row_bytes(c)))
    c->y_mode = PO_WHOLE;
  if (!fixed->kc && c->x_mode == PO_BLOCK && po_is_packed_whole(c->y_mode))
    c->kc = depth_of_packed(t, c);
  int64_t row = row_bytes(c);
  c->waits = must_wait(c);
  choose_width(t, c, row);
  c->nc = as_fixed(fixed->nc, (int64_t)c->nv * c->lanes, c->nc,
                   size_of(c, PO_DIM_N));
  choose_height(t, c);
  c->mc = as_fixed(fixed->mc, po_unit_of(c), c->mc, size_of(c, PO_DIM_M));
  choose_modes(fixed, c);
  if (!po_image_of_x(c))
    choose_rows(t, c, row);
  else if (!choose_image_rows(c) && !fixed->mb)
    return false;
  c->mb = as_fixed(fixed->mb, po_image_of_x(c) ? po_unit_of(c) : c->mr, c->mb,
                   MOST_ROWS);
  choose_later(t, c);
  return true;
}
