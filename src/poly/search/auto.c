/* SPDX-License-Identifier: MIT */
/* auto.c - tiling, then fusion, as a sequence of primitives.
 *
 *   inline    what computes an array point by point and is read once a point
 *   hosts     from the last statement to the first: an array with consumers in
 *             one nest only joins that nest; others are nests of their own
 *   tile      the innermost parallel loops of every nest that others join
 *   fuse      the producers, last first, below the tile loops
 *   parallel  the outermost loop that allows it
 *
 * Contractions and calls stay as they are and nothing joins them.  A step that
 * is refused, or that computes too much again, is taken back: the original
 * program is kept until the step was looked at. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/search/auto.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops_sizes.h"
#include "poly/search/chooser.h"
#include <assert.h>
#include <string.h>

const char *const po_fuse_names[4] = {"min", "smart", "max", "post-tile"};

typedef po_chooser chooser;

static po_program *
now(const chooser *c) {
  return po_now(c);
}

/* ---- tiles ---- */

/* A tile of a few arrays should be in half of the second cache. */
static int64_t
elements_in_cache(const po_program *p) {
  int64_t bytes = gs_cache_bytes(p->target, 2);
  return bytes / (2 * GS_TILE_ARRAYS * gs_dtype_table[GS_F32].bytes);
}

/* Lines of a tile of rows that compute nothing again for each other. */
static int64_t
thin_lines(const po_program *p, uint32_t loop, int64_t row) {
  bool open = po_has_sizes(p) && po_nest_extent(p, loop) < 0;
  return GS_TILE_THIN * (open ? GS_TILE_OPEN : 1) /
         (row > 0 ? row : GS_TILE_ROW);
}

/* The long, contiguous axis stays whole or becomes rows of some length; as
 * much of it as the cache has room for. */
static void
choose_tiles(const chooser *c, const uint32_t *loops, uint32_t n,
             int64_t *tile) {
  assert(n >= 1);
  const po_program *p = now(c);
  const po_auto_options *o = c->options;
  int64_t row = po_extent_of(p, loops[n - 1]);
  int64_t most = elements_in_cache(p) / (c->thin ? 1 : GS_TILE_LINES);
  most = most < GS_TILE_ROW ? GS_TILE_ROW : most;
  int64_t parts = (row + most - 1) / most;
  if (parts > 1) /* equal ones, of whole cache lines */
    row = po_line_part(p, row, parts);
  int64_t lines = c->thin ? thin_lines(p, loops[n - 1], row) : GS_TILE_LINES;
  lines = lines < 1 ? 1 : lines > GS_TILE_LINES ? GS_TILE_LINES : lines;
  for (uint32_t k = 0; k < n; k++) {
    int64_t extent = po_extent_of(p, loops[k]), size = lines;
    if (o->n_tiles)
      size = o->tiles[k + o->n_tiles >= n ? k + o->n_tiles - n : 0];
    else if (k + 1 == n)
      size = row > 0 ? row : GS_TILE_ROW;
    tile[k] = extent > 0 && size > extent ? extent : size;
  }
}

/* Loops over which what joins the nest is the same go inside the tile, where
 * it is computed once for all of them.  loops: tile loops at `at`, points
 * after them, stmt: of the nest; the innermost tile loop. */
static uint32_t
sink_shared(chooser *c, uint32_t stmt, uint32_t *loops, uint32_t at,
            uint32_t tiled, const bool *shared) {
  uint32_t order[PO_MAX_DEPTH], n = 0, kept = 0;
  for (uint32_t k = 0; k < at; k++)
    if (!shared[k]) {
      order[n++] = loops[k];
      kept++;
    }
  for (uint32_t k = 0; k < tiled; k++)
    order[n++] = loops[at + k];
  for (uint32_t k = 0; k < at; k++)
    if (shared[k])
      order[n++] = loops[k];
  if (kept < at) {
    po_step_call call = po_step("reorder");
    call.args[0] = po_loops_arg(order, n);
    if (!po_attempt(c, &call, NULL))
      return loops[at + tiled - 1];
    po_chain_of(now(c), po_root_of(now(c), stmt), loops);
  }
  return loops[kept + tiled - 1];
}

/* Tiles the last two result loops of a nest (or the one); the innermost tile
 * loop, or PO_NO_NODE. */
static uint32_t
tile_nest(chooser *c, uint32_t root) {
  uint32_t loops[PO_MAX_DEPTH], n = po_result_loops(now(c), root, loops);
  uint32_t want = c->options->n_tiles ? c->options->n_tiles : 2;
  uint32_t tiled = n < want ? n : want, at = n - tiled;
  int64_t tile[PO_MAX_DEPTH];
  bool shared[PO_MAX_DEPTH] = {false};
  if (!n)
    return PO_NO_NODE;
  for (uint32_t k = 0; k < n; k++)
    if (po_extent_of(now(c), loops[k]) < 1)
      return PO_NO_NODE;
  uint32_t stmt = 0;
  while (po_root_of(now(c), stmt) != root)
    stmt++;
  for (uint32_t k = 0; k < at; k++)
    shared[k] = po_is_shared_by(now(c), root, k);
  choose_tiles(c, loops + at, tiled, tile);
  po_step_call call = po_step("tile");
  call.args[0] = po_loops_arg(loops + at, tiled);
  call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = tile, .n = tiled};
  if (!po_attempt(c, &call, NULL) || call.n_made < tiled)
    return PO_NO_NODE;
  for (uint32_t k = 0; k < tiled; k++)
    loops[at + k] = call.made[k];
  return sink_shared(c, stmt, loops, at, tiled, shared);
}

/* ---- fusion ---- */

/* What a nest that others join is joined at. */
static uint32_t
place_in(chooser *c, uint32_t root) {
  uint32_t loops[PO_MAX_DEPTH], n = po_result_loops(now(c), root, loops);
  switch (c->options->fuse) {
  case PO_FUSE_POST_TILE:
    po_make_serial(c, root);
    return tile_nest(c, root);
  case PO_FUSE_SMART:
    return n ? loops[n - 1] : PO_NO_NODE;
  case PO_FUSE_MAX:
    return n ? loops[0] : PO_NO_NODE;
  case PO_FUSE_MIN:
  default:
    return PO_NO_NODE;
  }
}

static bool
fuse_array(chooser *c, uint32_t array, uint32_t loop) {
  return po_join_array(c, "compute_at", array, loop);
}

/* ---- phases, each with a limit ---- */

/* Operations of isl for one phase, at most, where the program's weight is 1:
 * those of `max`, which is there to compare with and gives isl the largest
 * sets, take longest.  Pipelines need 10,000 to 50,000 for each of their
 * statements. */
static const unsigned long most_operations[4] = {[PO_FUSE_SMART] = 8000000,
                                                 [PO_FUSE_MAX] = 1300000,
                                                 [PO_FUSE_POST_TILE] = 8000000};
enum { FIRST_OPERATIONS = 1000000, OPERATIONS_OF_STMT = 60000 };

/* What is fused is asked of relations from one statement to another, which have
 * the divisions of both; where loops are joined as they are, half of the
 * other's cancel.  The bound of `max` has that in it. */
static unsigned long
bound_of_fusing(const po_program *p, po_fuse fuse) {
  unsigned long most =
      FIRST_OPERATIONS + (unsigned long)OPERATIONS_OF_STMT * p->stmts.len;
  if (most > most_operations[fuse])
    most = most_operations[fuse];
  unsigned long divisions = po_divisions_of(p);
  if (fuse != PO_FUSE_MAX)
    divisions += fuse == PO_FUSE_POST_TILE ? divisions : divisions / 2;
  return most / po_weight(divisions) + 1;
}

static const po_fuse simpler[4] = {
    [PO_FUSE_MAX] = PO_FUSE_SMART, [PO_FUSE_POST_TILE] = PO_FUSE_SMART};

/* operations: where the caller's options set no bound.  A phase that was cut
 * off may have left no plan of kernels, which are to stay in this one. */
static void
begin_phase(chooser *c, unsigned long operations) {
  unsigned long most = c->options->max_operations;
  po_bind_isl(c->isl, now(c)->ctx.heap, 0);
  isl_ctx_reset_error(c->isl);
  if (c->stopped)
    po_lay_out_now(c);
  c->stopped = false;
  if (!most)
    most = operations;
  isl_ctx_reset_error(c->isl);
  po_bind_isl(c->isl, now(c)->ctx.heap, most);
}

static bool
end_phase(chooser *c) {
  c->stopped |= po_is_exhausted(c->isl);
  po_bind_isl(c->isl, now(c)->ctx.heap, 0);
  isl_ctx_reset_error(c->isl);
  return !c->stopped;
}

/* ---- nests, one by one ---- */

static uint32_t
statements_in(const po_program *p, uint32_t root) {
  uint32_t n = 0;
  for (uint32_t k = po_nest_first_leaf(p, root); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, root))
    n++;
  return n;
}

/* The last nest before `after` in tiles, with what joins them; how many
 * statements it has then. */
static uint32_t
join_in_tiles(chooser *c, uint32_t after) {
  c->repeats = false;
  uint32_t place = place_in(c, po_last_root(now(c), after));
  uint32_t root = po_last_root(now(c), after); /* tiling made new nodes */
  if (place != PO_NO_NODE)
    po_fuse_into(c, root, place, fuse_array);
  return statements_in(now(c), po_last_root(now(c), after));
}

static bool
is_short(const po_program *p, uint32_t loop) {
  int64_t most = po_most_iterations(p, loop);
  return most >= 0 && most < GS_VECTOR_ITERATIONS;
}

/* An access goes from line to line in the innermost loop and along lines in
 * another one: it wants several iterations of that while they are there.  Short
 * loops do not count, since those of a window are written out. */
static bool
walks_across(const po_program *p, const po_stmt *s) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  double lines[PO_MAX_DEPTH];
  while (n && is_short(p, loops[n - 1]))
    n--;
  for (uint32_t k = 0; n && k <= s->n_exprs; k++)
    if (po_access_lines(p, s, k, n, lines) && lines[n - 1] >= 1)
      for (uint32_t d = 0; d + 1 < n; d++)
        if (lines[d] > 0 && lines[d] < 1)
          return true;
  return false;
}

static bool
any_walks_across(const po_program *p, uint32_t root) {
  for (uint32_t k = po_nest_first_leaf(p, root); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, root))
    if (walks_across(p, &p->stmts.data[po_node(p, k)->stmt]))
      return true;
  return false;
}

/* Tiles are of many rows for neighbours that compute the same again.  Where
 * none do, what a few rows hand on stays in the first cache, and a longer row
 * need not be cut.  Kept where no less joins; the number of statements. */
static uint32_t
try_thin_tiles(chooser *c, uint32_t after, const po_program *untiled,
               uint32_t n) {
  if (c->options->fuse != PO_FUSE_POST_TILE || c->options->n_tiles ||
      c->repeats || c->stopped)
    return n;
  po_program *thick = *c->program;
  *c->program = po_copy(untiled);
  po_lay_out_now(c);
  c->thin = true;
  uint32_t joined = join_in_tiles(c, after);
  c->thin = false;
  if (joined >= n && !c->repeats && !c->stopped &&
      !any_walks_across(now(c), po_last_root(now(c), after))) {
    po_free(thick);
    return joined;
  }
  po_restore(c, thick);
  po_lay_out_now(c);
  return n;
}

/* Tiles that nothing joined are rows cut for nothing: they are taken back. */
static void
fuse_in_tiles(chooser *c, uint32_t after) {
  po_program *untiled = po_copy(now(c));
  uint32_t alone = statements_in(now(c), po_last_root(now(c), after));
  uint32_t n = join_in_tiles(c, after);
  n = try_thin_tiles(c, after, untiled, n);
  if (!c->stopped && n == alone) {
    po_restore(c, untiled);
    po_lay_out_now(c);
  } else {
    po_free(untiled);
  }
}

/* What may join the last nest before `after` joins it; false: nothing may. */
static bool
fuse_nest(chooser *c, uint32_t after) {
  uint32_t root = po_last_root(now(c), after);
  bool may = po_may_change(now(c), root);
  c->width = may ? po_width_of(now(c), root) : 0;
  if (!may || !po_is_joined(c, root))
    return false;
  if (!po_fuse_in_rows(c, after) && !c->stopped)
    fuse_in_tiles(c, after);
  return true;
}

/* How often a limit may be reached in one nest, before the others are left to
 * themselves. */
enum { MOST_TOO_LARGE = 3 };

/* A nest that is too large for the way is left as it was, or fused by a simpler
 * one; the others are not held to that. */
static void
fuse_nest_within(chooser *c, uint32_t after) {
  const po_auto_options *options = c->options;
  po_auto_options simple = *options;
  simple.fuse = PO_FUSE_SMART;
  for (int tries = 0; tries < 2; tries++) {
    po_program *old = po_copy(now(c));
    uint32_t n_rows = c->n_rows;
    bool any = fuse_nest(c, after);
    if (!c->stopped) {
      c->n_fused += any && !tries;
      po_free(old);
      break;
    }
    po_restore(c, old);
    c->n_rows = n_rows;
    c->n_left += !tries;
    begin_phase(c, bound_of_fusing(now(c), options->fuse) / 4);
    c->options = &simple;
  }
  c->options = options;
}

/* Nests from the last to the first: a node keeps its number through the steps
 * that leave it alone, and a nest that is tiled keeps its place. */
static void
fuse_nests(chooser *c) {
  uint32_t after = PO_NO_NODE;
  for (;;) {
    uint32_t root = po_last_root(now(c), after);
    if (root == PO_NO_NODE || c->stopped || c->n_left == MOST_TOO_LARGE)
      return;
    uint32_t left = c->n_left;
    fuse_nest_within(c, after);
    if (c->n_left > left)
      begin_phase(c, bound_of_fusing(now(c), c->options->fuse) / 4);
    after = po_last_root(now(c), after);
  }
}

static bool
fuse_by(chooser *c) {
  begin_phase(c, bound_of_fusing(now(c), PO_FUSE_SMART));
  c->n_rows = 0;
  po_join_parts(c);
  po_inline_points(c);
  po_join_points(c);
  po_join_reductions(c);
  po_divide_arrays(c);
  c->n_left = c->n_fused = 0;
  c->strained = c->stopped;
  begin_phase(c, bound_of_fusing(now(c), c->options->fuse) /
                     (c->strained ? 4 : 1));
  fuse_nests(c);
  c->strained |= c->n_left > 0;
  c->stopped |= c->strained && !c->n_fused;
  return end_phase(c);
}

static void
trim(chooser *c) {
  begin_phase(c, bound_of_fusing(now(c), c->options->fuse));
  po_trim_arrays(c);
  end_phase(c);
}

static void
slant(chooser *c) {
  if (c->options->fuse != PO_FUSE_POST_TILE)
    return;
  begin_phase(c, po_bound(now(c), most_operations[PO_FUSE_POST_TILE]));
  po_slant_sweeps(c);
  end_phase(c);
}

static bool
finish(chooser *c) {
  begin_phase(c, po_bound(now(c), most_operations[c->options->fuse]));
  now(c)->settled = true; /* what runs as tiles of windows stays as it is */
  if (now(c)->slides.len)
    po_lay_out_now(c);
  po_order_loops(c);
  po_group_neighbours(c);
  po_block_loops(c);
  po_parallelise(c);
  po_finish_inner_loops(c);
  po_write_in_place(c);
  po_interleave_rows(c);
  return end_phase(c);
}

po_auto_result
po_schedule_automatically(po_program **program,
                          const po_auto_options *options) {
  po_auto_options tried = *options;
  chooser c = {.program = program,
               .options = &tried,
               .isl = (*program)->isl,
               .max_recompute = options->max_recompute > 0
                                    ? options->max_recompute
                                    : GS_RECOMPUTE};
  if ((*program)->stmts.len > PO_MOST_SCHEDULED)
    tried.fuse = PO_FUSE_MIN;
  po_lay_out(now(&c));
  while (tried.fuse != PO_FUSE_MIN) {
    po_program *original = po_copy(now(&c));
    bool whole = fuse_by(&c);
    po_program *rest = whole ? original : now(&c);
    if (!whole) {
      *program = original;
      if (tried.dropped)
        tried.dropped->len = 0;
      tried.fuse = simpler[tried.fuse];
      c.n_rows = 0;
      po_lay_out(now(&c));
    }
    po_free(rest);
    if (whole)
      break;
    c.n_left = 0;
  }
  if (tried.fuse != PO_FUSE_MIN && !c.strained)
    trim(&c);
  if (!c.strained)
    slant(&c);
  bool finished = tried.fuse == PO_FUSE_MIN || finish(&c);
  po_lay_out(now(&c));
  return (po_auto_result){tried.fuse, finished, c.n_left};
}
