/* SPDX-License-Identifier: MIT */
/* auto_rows.c - rows of stages in turn.
 *
 * The rows of what a nest computes are cut into strips, over which threads are
 * spread.  In a strip every iteration makes one row of the result and, before
 * it, the rows of what it is made of that no row before needed: a producer
 * joins the loop over rows by `roll`, and of its array as many rows are kept
 * as are alive (`fold_storage`).  So a row is used while it is in the nearest
 * cache, rows run along memory, and only the rims between strips are computed
 * twice; with tiles, whole arrays of the tile stand between the stages.
 *
 * This pays where stages have windows over rows, each iteration needs one new
 * row of every producer, and the rows that are alive fit into the first cache,
 * or at least half of the second one; rows may be cut for that.  Where a result
 * is written through the caches, it is the second one at once: rows that are
 * whole follow each other in memory, and what is asked for ahead of the end of
 * one is the next.  Where any of it does not hold, the nest is left for
 * tiles. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/schedule/schedule_layout.h"
#include "poly/loops/storage.h"
#include <assert.h>

/* ---- how a producer follows the loop ---- */

/* In dimension d of the array, the statement writes the row whose number is the
 * loop's value, up to a constant. */
static bool
writes_row(const po_program *p, const po_stmt *stmt, uint32_t d,
           uint32_t depth) {
  isl_map *index =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  index = isl_map_intersect_domain(index, isl_set_copy(stmt->domain));
  isl_set *apart = po_index_from_loop(
      stmt, index, p->arrays.data[stmt->array].rank, d, depth);
  bool one = isl_set_is_singleton(apart) == isl_bool_true;
  isl_set_free(apart);
  return one;
}

/* The dimension of the array that all who write it make row by row; its rank
 * where there is none. */
static uint32_t
rows_of(const po_program *p, uint32_t array, uint32_t depth) {
  assert(array < p->arrays.len);
  uint32_t rank = p->arrays.data[array].rank;
  for (uint32_t d = 0; d < rank; d++) {
    bool all = !p->arrays.data[array].fold[d];
    for (uint32_t k = 0; all && k < p->stmts.len; k++)
      if (p->stmts.data[k].array == array)
        all = writes_row(p, &p->stmts.data[k], d, depth);
    if (all)
      return d;
  }
  return rank;
}

static bool
roll_array(po_chooser *c, uint32_t array, uint32_t loop) {
  if (!po_join_array(c, "roll", array, loop))
    return false;
  uint32_t d = rows_of(po_now(c), array, po_nest_depth(po_now(c), loop));
  if (d == po_now(c)->arrays.data[array].rank)
    return false;
  po_step_call call = po_step("fold_storage");
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = d};
  return po_attempt(c, &call, NULL);
}

/* ---- whether it pays ---- */

int64_t
po_bytes_alive(const po_program *p, uint32_t loop, uint32_t *windows) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  int64_t sum = 0;
  *windows = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    bool below = false;
    for (uint32_t j = 0; j < p->stmts.len && !below; j++)
      below = p->stmts.data[j].array == k &&
              po_nest_is_below(p, p->stmts.data[j].leaf, loop);
    if (a->role != PO_LOCAL || !below)
      continue;
    for (uint32_t d = 0; d < a->rank; d++)
      if (a->fold[d] > 1 && a->fold[d] < a->dim[d]) {
        ++*windows;
        break;
      }
    if (__builtin_add_overflow(sum, po_bytes(a), &sum))
      return INT64_MAX;
  }
  return sum;
}

int64_t
po_bytes_of_cache(const po_program *p, uint32_t level) {
  assert(level >= 1);
  int64_t bytes = gs_cache_bytes(p->target, level);
  return bytes > level ? bytes / level : 1; /* a target may have a byte */
}

int64_t
po_line_part(const po_program *p, int64_t extent, int64_t parts) {
  assert(extent >= 1 && parts >= 1);
  int64_t part = bs_ceil_div(extent, parts);
  return bs_round_up(part,
                     gs_line_elements(p->target, gs_dtype_table[GS_F32].bytes));
}

/* ---- strips ---- */

/* Each core gets as many strips as the others: with static shares, one strip
 * more for some would be what all wait for.  Four, so that other numbers of
 * threads have even shares, too, but more where rows are many, and fewer where
 * they are few: what neighbours compute twice is much of a short strip.  A
 * target of one core may not know of more; there, strips may be shorter. */
static int64_t
rows_of_strip(const po_program *p, int64_t rows) {
  assert(rows >= 1);
  int64_t cores = gs_cores(p->target);
  int64_t most = cores * GS_STRIP_MOST, strips = 4;
  int64_t least = cores > 1 ? GS_STRIP_SHORT : GS_STRIP_LEAST;
  if ((rows - 1) / most >= strips)
    strips = (rows - 1) / most + 1;
  while (strips > 1 && (rows - 1) / (strips * cores) + 1 < least)
    strips--;
  int64_t n = (rows - 1) / (strips * cores) + 1;
  n = n < GS_STRIP_LEAST ? GS_STRIP_LEAST : n;
  return n > rows ? rows : n;
}

/* Cuts the last two of n loops into strips and, where width is less than the
 * row, parts of rows; loops over which what joins the nest is the same go
 * below the rows.  The loop over rows; PO_NO_NODE. */
static uint32_t
make_strips(po_chooser *c, uint32_t root, const uint32_t *loops, uint32_t n,
            int64_t width) {
  assert(n >= 2);
  uint32_t order[PO_MAX_DEPTH], n_order = 0, outer = n - 2;
  int64_t size[2] = {
      rows_of_strip(po_now(c), po_extent_of(po_now(c), loops[n - 2])), width};
  bool shared[PO_MAX_DEPTH] = {false}, any = false;
  for (uint32_t k = 0; k < outer; k++)
    any |= shared[k] = po_is_shared_by(po_now(c), root, k);
  bool whole = width >= po_extent_of(po_now(c), loops[n - 1]);
  int64_t factors[2] = {-1, size[0]};
  po_step_call call = po_step(whole ? "split" : "tile");
  if (whole) {
    call.args[0] = po_loop_arg(loops[n - 2]);
    call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = factors, .n = 2};
  } else {
    call.args[0] = po_loops_arg(loops + n - 2, 2);
    call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = size, .n = 2};
  }
  if (!po_attempt(c, &call, NULL) || call.n_made < (whole ? 2u : 4u))
    return PO_NO_NODE;
  uint32_t rows = call.made[whole ? 1 : 2];
  if (!any)
    return rows;
  for (uint32_t k = 0; k < outer; k++)
    if (!shared[k])
      order[n_order++] = loops[k];
  uint32_t at = n_order + (whole ? 1 : 2);
  for (uint32_t k = 0; k < (whole ? 2u : 3u); k++)
    order[n_order++] = call.made[k];
  for (uint32_t k = 0; k < outer; k++)
    if (shared[k])
      order[n_order++] = loops[k];
  uint32_t leaf = po_nest_first_leaf(po_now(c), rows);
  po_step_call move = po_step("reorder");
  move.args[0] = po_loops_arg(order, n_order);
  if (!po_attempt(c, &move, NULL))
    return PO_NO_NODE;
  po_nest_loops(po_now(c), leaf, order);
  return order[at];
}

/* One try; the bytes that are alive where all joined, else -1. */
static int64_t
try_rows(po_chooser *c, uint32_t after, int64_t width, uint32_t *made) {
  uint32_t root = po_last_root(po_now(c), after), loops[PO_MAX_DEPTH], windows;
  uint32_t n = po_result_loops(po_now(c), root, loops);
  po_make_serial(c, root);
  uint32_t rows = make_strips(c, root, loops, n, width);
  *made = rows;
  if (rows == PO_NO_NODE)
    return -1;
  root = po_last_root(po_now(c), after);
  if (!po_fuse_into(c, root, rows, roll_array))
    return -1;
  int64_t bytes = po_bytes_alive(po_now(c), rows, &windows);
  return windows ? bytes : -1;
}

/* ---- loops along rows that become one ---- */

static bool
reads_below(const po_program *p, uint32_t loop, uint32_t array) {
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop))
    if (po_stmt_reads(&p->stmts.data[po_node(p, k)->stmt], array))
      return true;
  return false;
}

/* Both read some array that is no constant: rows of it are loaded once. */
static bool
read_alike(const po_program *p, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role != PO_CONSTANT && reads_below(p, a, k) &&
        reads_below(p, b, k))
      return true;
  return false;
}

/* Both are all of an iteration, of a result that is written through the caches:
 * one loop then asks for all that it reads and writes. */
static bool
are_all(const po_program *p, uint32_t a, uint32_t b) {
  return gs_stores_through_caches(p->target) &&
         po_node(p, po_node(p, a)->parent)->first == a &&
         po_node(p, b)->next == PO_NO_NODE;
}

/* The second reads rows that the first makes, of which one is the last one: its
 * values stay in registers. What the first reads is no input: such a loop waits
 * for memory, and is better left alone (codegen/fetch.c) where there are others
 * that may ask for what it reads. */
static bool
feeds(const po_program *p, uint32_t a, uint32_t b) {
  assert(a != b);
  bool any = false, all = are_all(p, a, b);
  for (uint32_t k = 0; k < p->arrays.len && !all; k++)
    if (p->arrays.data[k].role == PO_INPUT && reads_below(p, a, k))
      return false;
  for (uint32_t k = po_nest_first_leaf(p, a); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, a)) {
    const po_stmt *s = &p->stmts.data[po_node(p, k)->stmt];
    any |=
        po_is_folded(&p->arrays.data[s->array]) && reads_below(p, b, s->array);
  }
  return any;
}

/* Some iterations of the loops around run only one of the two. */
static bool
run_apart(const po_program *p, uint32_t a, uint32_t b) {
  isl_set *x = isl_map_domain(po_nest_range_in(p, a));
  isl_set *y = isl_map_domain(po_nest_range_in(p, b));
  bool same = isl_set_is_equal(x, y) == isl_bool_true;
  isl_set_free(x);
  isl_set_free(y);
  return !same;
}

static void
merge_rows(po_chooser *c, uint32_t rows) {
  uint32_t a = po_node(po_now(c), rows)->first;
  while (a != PO_NO_NODE && !c->stopped) {
    const po_program *p = po_now(c);
    uint32_t b = po_node(p, a)->next;
    po_step_call call = po_step("merge"), apart = po_step("separate");
    call.args[0] = po_loop_arg(a);
    call.args[1] = po_loop_arg(b);
    bool wanted = b != PO_NO_NODE && po_node(p, a)->kind == PO_LOOP &&
                  po_node(p, b)->kind == PO_LOOP &&
                  (read_alike(p, a, b) || feeds(p, a, b));
    bool uneven = wanted && run_apart(p, a, b);
    if (!wanted || !po_attempt(c, &call, NULL)) {
      a = b;
      continue;
    }
    apart.args[0] = po_loop_arg(call.made[0]);
    if (uneven)
      po_attempt(c, &apart, NULL);
    a = call.made[0];
  }
}

/* ---- widths ---- */

/* Marks the arrays that what a nest reads is made from. */
static uint32_t
mark_producers(const po_program *p, uint32_t root, bool *made) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (!made[s->array] && po_root_of(p, k) != root)
      continue;
    for (uint32_t j = 0; j < s->n_exprs; j++) {
      uint32_t array = s->exprs[j].array;
      if (s->exprs[j].kind != PO_READ || made[array] ||
          (p->arrays.data[array].role != PO_WORKSPACE &&
           p->arrays.data[array].role != PO_LOCAL))
        continue;
      made[array] = true;
      n++;
    }
  }
  return n;
}

/* Bytes of the rows that may be alive where they are whole: to find out how
 * many are takes as long as all of the rest. */
static int64_t
guess_bytes(const po_program *p, uint32_t root, int64_t row) {
  int64_t sum = 0;
  bool *made = bs_calloc(p->ctx.heap, p->arrays.len + 1, sizeof *made);
  while (mark_producers(p, root, made))
    continue;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (made[k] && p->arrays.data[k].role == PO_WORKSPACE)
      sum += GS_GUESS_ROWS * gs_dtype_table[p->arrays.data[k].dtype].bytes;
  bs_free(p->ctx.heap, made);
  return __builtin_mul_overflow(sum, row, &sum) ? INT64_MAX : sum;
}

/* As wide as the first cache allows, else half of the second one, in equal
 * parts of whole lines; 0: too narrow. bytes: of whole rows. */
static int64_t
width_for(const po_program *p, int64_t row, int64_t bytes, uint32_t level) {
  for (; level <= 2; level++) {
    int64_t parts = (bytes - 1) / po_bytes_of_cache(p, level) + 1;
    int64_t width = po_line_part(p, row, parts);
    if (parts == 1 || width >= row)
      return row;
    if (width >= GS_ROW_PART)
      return width;
  }
  return 0;
}

void
po_take_back(po_chooser *c, const po_program *old) {
  po_restore(c, po_copy(old));
  po_lay_out_now(c);
}

bool
po_fuse_in_rows(po_chooser *c, uint32_t after) {
  uint32_t loops[PO_MAX_DEPTH];
  const po_program *p = po_now(c);
  uint32_t n = po_result_loops(p, po_last_root(p, after), loops);
  if (c->options->fuse != PO_FUSE_POST_TILE || c->options->n_tiles || n < 2)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (po_extent_of(p, loops[k]) < 1)
      return false;
  int64_t row = po_extent_of(p, loops[n - 1]);
  if (row < GS_ROW_SHORT)
    return false;
  po_program *old = po_copy(p);
  uint32_t rows, root = po_last_root(p, after);
  int64_t room = po_bytes_of_cache(p, 2), bytes;
  int64_t width = width_for(p, row, guess_bytes(p, root, row),
                            gs_stores_through_caches(p->target) ? 2 : 1);
  if (!width)
    width = GS_ROW_PART;
  bytes = try_rows(c, after, width, &rows);
  if (bytes > room && width > GS_ROW_PART) {
    po_take_back(c, old);
    width = width_for(old, width, bytes, 2);
    bytes = width ? try_rows(c, after, width, &rows) : -1;
  }
  bool fits = bytes >= 0 && bytes <= room;
  if (!fits)
    po_take_back(c, old);
  po_free(old);
  if (!fits)
    return false;
  if (c->n_rows < sizeof c->rows / sizeof *c->rows)
    c->rows[c->n_rows++] = rows;
  merge_rows(c, rows);
  return true;
}
