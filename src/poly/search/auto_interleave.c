/* SPDX-License-Identifier: MIT */
/* auto_interleave.c - stages of a row in turn, part by part.
 *
 * Where rows are whole (auto_rows.c), those that are alive in an iteration may
 * be more than the first cache has room for: each loop along the row then
 * reads from the second one what the loop before it has just written.  The
 * loops of an iteration run in parts of a row, of a few lines of each array, in
 * turn (`interleave`); a stage that reads to the right of the point that it
 * makes runs later by as much.  Skews and parts are of whole lines, so that
 * vectors begin where they did: by a few elements less than that it costs more
 * than it gains. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/search/chooser.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <isl/ilp.h>

/* Loops of an iteration. */
enum { MOST_LOOPS = 8 };

typedef struct row {
  uint32_t loop[MOST_LOOPS], n;
  int64_t first, last[MOST_LOOPS]; /* values */
  int64_t skew[MOST_LOOPS];
  int64_t line, part; /* elements */
} row;

/* What an iteration of the first n loops around accesses of an array below a
 * loop, writing or reading: { [o] -> A[x] }; NULL: nothing. */
static __isl_give isl_map *
accessed_below(const po_program *p, uint32_t loop, uint32_t array, uint32_t n,
               bool writes) {
  isl_map *all = NULL;
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop)) {
    uint32_t stmt = po_node(p, k)->stmt;
    const po_stmt *s = &p->stmts.data[stmt];
    isl_map *some = NULL;
    if (writes && s->array == array)
      some = po_accessed_in(
          s, n, isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->write)));
    else if (!writes && po_stmt_reads(s, array))
      some = po_reads_in(p, stmt, array, n);
    if (some)
      all = all ? isl_map_union(all, some) : some;
  }
  return all;
}

/* How many iterations further the first loop must be than the second, for what
 * it writes of the array: 0 at least; false where that is not known. */
static bool
distance(const po_program *p, uint32_t a, uint32_t b, uint32_t array,
         int64_t *most) {
  assert(a != b);
  uint32_t n = po_nest_depth(p, a) + 1;
  *most = 0;
  isl_map *made = accessed_below(p, a, array, n, true);
  isl_map *used = made ? accessed_below(p, b, array, n, false) : NULL;
  if (!used) {
    isl_map_free(made);
    return true;
  }
  isl_map *pairs = isl_map_apply_range(used, isl_map_reverse(made));
  for (uint32_t d = 0; d + 1 < n; d++)
    pairs = isl_map_equate(pairs, isl_dim_in, (int)d, isl_dim_out, (int)d);
  isl_set *apart = isl_map_deltas(pairs);
  bool none = isl_set_is_empty(apart) == isl_bool_true;
  int64_t far = 0;
  bool known =
      none ||
      po_int(isl_set_dim_max_val(isl_set_copy(apart), (int)n - 1), &far);
  isl_set_free(apart);
  *most = far > 0 ? far : 0;
  return known;
}

/* ---- the loops ---- */

static bool
is_long(const po_program *p, uint32_t loop, const row *r) {
  int64_t min, count;
  return po_value_range(p, loop, &min, &count) &&
         count >= GS_PART_LEAST * r->part;
}

/* All of an iteration, each a serial loop that is long enough. */
static bool
find_loops(const po_program *p, uint32_t rows, row *r) {
  for (uint32_t k = po_node(p, rows)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next) {
    int64_t min, count;
    if (r->n == MOST_LOOPS || po_node(p, k)->kind != PO_LOOP ||
        po_node(p, k)->mark != PO_SERIAL || !is_long(p, k, r) ||
        !po_value_range(p, k, &min, &count))
      return false;
    if (!r->n || min < r->first)
      r->first = min;
    r->last[r->n] = min + count - 1;
    r->loop[r->n++] = k;
  }
  return r->n > 1;
}

static bool
find_skews(const po_program *p, row *r) {
  for (uint32_t b = 1; b < r->n; b++)
    for (uint32_t a = 0; a < b; a++)
      for (uint32_t k = 0; k < p->arrays.len; k++) {
        int64_t far = 0;
        if (!distance(p, r->loop[a], r->loop[b], k, &far) || far > r->part / 2)
          return false;
        int64_t skew = r->skew[a] + (far + r->line - 1) / r->line * r->line;
        r->skew[b] = skew > r->skew[b] ? skew : r->skew[b];
      }
  return true;
}

/* As long as may be; but that some loops alone would have a part more than the
 * others, at the end, is code of its own. */
static int64_t
size_of_parts(const row *r) {
  for (int64_t size = r->part; size >= r->part / 2; size -= r->line) {
    bool same = true;
    for (uint32_t k = 1; k < r->n; k++)
      same &= (r->last[k] + r->skew[k] - r->first) / size ==
              (r->last[0] + r->skew[0] - r->first) / size;
    if (same)
      return size;
  }
  return r->part;
}

/* ---- loops over planes of a row ---- */

static bool
swap_loops(po_chooser *c, uint32_t inner, uint32_t outer) {
  assert(inner != outer);
  uint32_t order[2] = {inner, outer};
  po_step_call call = po_step("reorder");
  call.args[0] = po_loops_arg(order, 2);
  return po_attempt(c, &call, NULL);
}

/* A short loop that has a long one for its only child, which is to be in parts
 * with it inside, changes places with it: nodes stay, what they are is changed.
 * Those that did. */
static bool
put_rows_outside(po_chooser *c, uint32_t rows, const row *r, uint32_t *swapped,
                 uint32_t *n) {
  for (uint32_t k = po_node(po_now(c), rows)->first; k != PO_NO_NODE;
       k = po_node(po_now(c), k)->next) {
    const po_program *p = po_now(c);
    uint32_t below = po_node(p, k)->kind == PO_LOOP && !is_long(p, k, r)
                         ? po_only_child(p, k)
                         : PO_NO_NODE;
    if (below == PO_NO_NODE || po_node(p, below)->kind != PO_LOOP ||
        !is_long(p, below, r))
      continue;
    if (*n == MOST_LOOPS || !swap_loops(c, below, k))
      return false;
    swapped[(*n)++] = k;
  }
  return true;
}

static bool
put_back(po_chooser *c, const uint32_t *swapped, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!swap_loops(c, po_only_child(po_now(c), swapped[k]), swapped[k]))
      return false;
  return true;
}

/* ---- the step ---- */

/* Of the smallest elements that the loops write: what is whole lines of these
 * is of all. */
static int64_t
least_bytes(const po_program *p, uint32_t rows) {
  int64_t least = gs_first_cache(p->target).line;
  for (uint32_t k = po_nest_first_leaf(p, rows); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, rows)) {
    uint32_t array = p->stmts.data[po_node(p, k)->stmt].array;
    int64_t bytes = gs_dtype_table[p->arrays.data[array].dtype].bytes;
    least = bytes < least ? bytes : least;
  }
  return least;
}

static bool
interleave(po_chooser *c, uint32_t rows) {
  int64_t bytes = least_bytes(po_now(c), rows);
  row r = {.line = gs_line_elements(po_now(c)->target, bytes),
           .part = GS_PART_BYTES / bytes};
  uint32_t swapped[MOST_LOOPS], n = 0;
  if (!put_rows_outside(c, rows, &r, swapped, &n) ||
      !find_loops(po_now(c), rows, &r) || !find_skews(po_now(c), &r))
    return false;
  po_step_call call = po_step("interleave");
  call.args[0] = po_loops_arg(r.loop, r.n);
  call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = size_of_parts(&r)};
  call.args[2] = (po_arg){.kind = PO_ARG_INTS, .numbers = r.skew, .n = r.n};
  return po_attempt(c, &call, NULL) && put_back(c, swapped, n);
}

void
po_interleave_rows(po_chooser *c) {
  if (!gs_stores_through_caches(po_now(c)->target))
    return;
  for (uint32_t k = 0; k < c->n_rows && !c->stopped; k++) {
    uint32_t windows;
    const po_program *p = po_now(c);
    if (po_bytes_alive(p, c->rows[k], &windows) <= po_bytes_of_cache(p, 1))
      continue;
    po_program *old = po_copy(p);
    if (!interleave(c, c->rows[k]))
      po_take_back(c, old);
    po_free(old);
  }
}
