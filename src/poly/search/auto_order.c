/* SPDX-License-Identifier: MIT */
/* auto_order.c - the loop that runs along memory, innermost.
 *
 * Where another loop around a reduction costs far fewer lines (auto_lines.c)
 * than the innermost one, it is put there: the sums of a block of its
 * iterations are kept side by side, and the block runs inside the reduction.
 *
 *   for i { s = 0; for k { s += a[k, i] }; x[i] = s }
 *   for io { for ii { s[ii] = 0 }
 *            for k { for ii { s[ii] += a[k, io * B + ii] } }
 *            for ii { x[io * B + ii] = s[ii] } }
 *
 * A short reduction is left alone: it will be written out (auto_inner.c), and
 * then the loop around it is innermost, its sum in a register.
 *
 * Before that, what is computed point by point and read by such a reduction
 * in the same points, elsewhere as well, moves into its loops. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/search/chooser.h"
#include <assert.h>
#include <string.h>

static void
cost_of_loops(const po_program *p, const po_stmt *s, uint32_t n, double *cost) {
  for (uint32_t d = 0; d < n; d++)
    cost[d] = 0;
  for (uint32_t k = 0; k <= s->n_exprs; k++) {
    double lines[PO_MAX_DEPTH];
    if (po_access_lines(p, s, k, n, lines))
      for (uint32_t d = 0; d < n; d++)
        cost[d] += lines[d];
  }
}

/* ---- which loop ---- */

/* The children of a loop but one are statements. */
static bool
has_one_loop(const po_program *p, uint32_t loop) {
  uint32_t loops = 0;
  for (uint32_t k = po_node(p, loop)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next)
    loops += po_node(p, k)->kind != PO_LEAF;
  return loops == 1;
}

/* The depth of the loop that should be innermost around a reduction; n - 1
 * where the one that is may stay. */
static uint32_t
best_depth(const po_program *p, const po_stmt *s, const uint32_t *loops,
           uint32_t n) {
  assert(n >= 1);
  double cost[PO_MAX_DEPTH];
  uint32_t best = n - 1;
  cost_of_loops(p, s, n, cost);
  for (uint32_t d = n - 1; d-- > 0;) {
    if (!po_is_plain(p, loops[d]) || !has_one_loop(p, loops[d]))
      break;
    if (cost[d] < cost[best])
      best = d;
  }
  return cost[best] * GS_ORDER_GAIN < cost[n - 1] ? best : n - 1;
}

/* Nothing but a short reduction stands between loops[d] and the statement. */
static bool
is_short_below(const po_program *p, const po_stmt *s, const uint32_t *loops,
               uint32_t n, uint32_t d) {
  int64_t product = 1;
  for (uint32_t k = n; k-- > d + 1;) {
    int64_t count = po_most_iterations(p, loops[k]);
    if (count < 1 || count > GS_ORDER_VALUES / product ||
        !po_is_summed_over(p, s->leaf, loops[k]))
      return false;
    product *= count;
  }
  return true;
}

/* ---- the exchange ---- */

static void
make_serial(po_chooser *c, uint32_t loop) {
  if (po_node(po_now(c), loop)->mark == PO_SERIAL)
    return;
  po_step_call call = po_step("serial");
  call.args[0] = po_loop_arg(loop);
  po_attempt(c, &call, NULL);
}

/* How many sums to keep: the whole loop, or parts of it of equal length and
 * of whole lines; enough of them for the cores. */
static int64_t
block_of(const po_program *p, int64_t extent) {
  assert(extent >= 1);
  int64_t cores = gs_cores(p->target);
  int64_t parts = (extent + GS_ORDER_SUMS - 1) / GS_ORDER_SUMS;
  if (parts < cores || parts < 2) /* threads share blocks, not one's sums */
    parts = cores < 2 ? 2 : cores;
  int64_t size = po_line_part(p, extent, parts);
  return size < extent ? size : extent;
}

/* Locals that an iteration of the loop makes anew get a place for each
 * iteration of a block; where some other is in the way, the exchange will be
 * refused. */
static void
keep_side_by_side(po_chooser *c, uint32_t loop, int64_t block) {
  for (uint32_t k = 0; k < po_now(c)->arrays.len; k++) {
    const po_array *a = &po_now(c)->arrays.data[k];
    bool used = false, folded = false;
    for (uint32_t d = 0; d < a->rank; d++)
      folded |= a->fold[d] == 1;
    for (uint32_t j = 0;
         a->role == PO_LOCAL && folded && j < po_now(c)->stmts.len; j++) {
      const po_stmt *s = &po_now(c)->stmts.data[j];
      used |=
          po_stmt_accesses(s, k) && po_nest_is_below(po_now(c), s->leaf, loop);
    }
    if (!used)
      continue;
    po_step_call call = po_step("double_buffer");
    call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = k};
    call.args[1] = po_loop_arg(loop);
    call.args[2] = (po_arg){.kind = PO_ARG_INT, .number = block};
    po_attempt(c, &call, NULL);
  }
}

/* loops[d] goes below loops[n - 1], in blocks. */
static bool
exchange(po_chooser *c, uint32_t *loops, uint32_t n, uint32_t d) {
  assert(d < n);
  uint32_t order[PO_MAX_DEPTH], m = 0;
  int64_t min, extent;
  for (uint32_t k = d; k < n; k++)
    make_serial(c, loops[k]);
  int64_t block = po_most_iterations(po_now(c), loops[d]);
  if (po_constant_range(po_now(c), loops[d], &min, &extent) && !min)
    block = block_of(po_now(c), extent);
  else
    extent = block;
  if (block < 2 || block > GS_ORDER_SUMS)
    return false;
  keep_side_by_side(c, loops[d], block);
  if (block < extent) {
    int64_t factors[2] = {-1, block};
    po_step_call split = po_step("split");
    split.args[0] = po_loop_arg(loops[d]);
    split.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = factors, .n = 2};
    if (!po_attempt(c, &split, NULL) || split.n_made != 2)
      return false;
    loops[d] = split.made[1];
  }
  for (uint32_t k = d + 1; k < n; k++)
    order[m++] = loops[k];
  order[m++] = loops[d];
  po_step_call call = po_step("reorder");
  call.args[0] = (po_arg){.kind = PO_ARG_LOOPS, .nodes = order, .n = m};
  return po_attempt(c, &call, NULL);
}

static void
order_around(po_chooser *c, uint32_t stmt) {
  assert(stmt < po_now(c)->stmts.len);
  const po_program *p = po_now(c);
  const po_stmt *s = &p->stmts.data[stmt];
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  if (s->kind != PO_UPDATE || n < 2 || !po_may_change(p, po_root_of(p, stmt)))
    return;
  int64_t instances = po_likely_instances(p, stmt);
  if (instances >= 0 && instances < GS_ORDER_INSTANCES)
    return;
  uint32_t d = best_depth(p, s, loops, n);
  if (d == n - 1 || is_short_below(p, s, loops, n, d))
    return;
  po_program *old = po_copy(p);
  if (exchange(c, loops, n, d)) {
    po_free(old);
    po_lay_out_now(c);
    return;
  }
  po_restore(c, old);
  po_lay_out_now(c);
}

void
po_order_loops(po_chooser *c) {
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped; k++)
    order_around(c, k);
}

/* ---- points of an array that others read, too ---- */

/* The only statement of an array, alone in its nest. */
static uint32_t
lone_writer(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  uint32_t found = PO_NO_NODE, loops[PO_MAX_DEPTH];
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array) {
      if (found != PO_NO_NODE)
        return PO_NO_NODE;
      found = k;
    }
  if (found == PO_NO_NODE)
    return found;
  const po_stmt *s = &p->stmts.data[found];
  uint32_t n = po_nest_loops(p, s->leaf, loops), node = s->leaf;
  for (uint32_t d = n; d-- > 0; node = loops[d])
    if (po_only_child(p, loops[d]) != node || !po_is_plain(p, loops[d]))
      return PO_NO_NODE;
  return s->kind == PO_ASSIGN && n == s->n_iters && n == s->n_outer &&
                 po_may_change(p, po_root_of(p, found))
             ? found
             : PO_NO_NODE;
}

/* order[d]: the loop of the writer, by depth, that runs over the elements that
 * the reader's loop d runs over; false where the reader does not read exactly
 * one element an iteration, all of them in all. */
static bool
match_loops(const po_program *p, const po_stmt *writer, const po_stmt *reader,
            uint32_t array, uint32_t n, uint32_t *order) {
  int64_t to[PO_MAX_DEPTH], from[PO_MAX_DEPTH];
  uint32_t loops[2][PO_MAX_DEPTH];
  bool taken[PO_MAX_DEPTH] = {false};
  const po_expr *read = NULL;
  for (uint32_t j = 0; j < reader->n_exprs; j++)
    if (reader->exprs[j].kind == PO_READ && reader->exprs[j].array == array) {
      if (read)
        return false;
      read = &reader->exprs[j];
    }
  if (!read || po_nest_loops(p, writer->leaf, loops[0]) != n ||
      po_nest_loops(p, reader->leaf, loops[1]) != n ||
      !po_strides_of(p, writer, writer->write, array, to) ||
      !po_strides_of(p, reader, read->index, array, from))
    return false;
  for (uint32_t d = 0; d < n; d++) {
    int64_t min, count, other;
    order[d] = n;
    if (!po_is_plain(p, loops[1][d]) ||
        !po_constant_range(p, loops[1][d], &min, &count) || min)
      return false;
    for (uint32_t k = 0; k < n && order[d] == n; k++)
      if (!taken[k] && from[d] && to[k] == from[d] &&
          po_constant_range(p, loops[0][k], &min, &other) && !min &&
          other == count)
        order[d] = k;
    if (order[d] == n)
      return false;
    taken[order[d]] = true;
  }
  return true;
}

static bool
is_sorted(const uint32_t *order, uint32_t n) {
  for (uint32_t d = 0; d < n; d++)
    if (order[d] != d)
      return false;
  return true;
}

/* Brings the writer's loops into the reader's order and joins them. */
static bool
join(po_chooser *c, uint32_t writer, uint32_t reader, const uint32_t *order,
     uint32_t n) {
  uint32_t loops[PO_MAX_DEPTH], wanted[PO_MAX_DEPTH];
  po_nest_loops(po_now(c), po_now(c)->stmts.data[writer].leaf, loops);
  for (uint32_t d = 0; d < n; d++) {
    make_serial(c, loops[d]);
    wanted[d] = loops[order[d]];
  }
  po_step_call move = po_step("reorder");
  move.args[0] = (po_arg){.kind = PO_ARG_LOOPS, .nodes = wanted, .n = n};
  if (!is_sorted(order, n) && !po_attempt(c, &move, NULL))
    return false;
  po_nest_loops(po_now(c), po_now(c)->stmts.data[reader].leaf, loops);
  for (uint32_t d = 0; d < n; d++)
    make_serial(c, loops[d]);
  po_step_call call = po_step("simple_compute_at");
  call.args[0] =
      (po_arg){.kind = PO_ARG_STMT, .stmt = writer, .array = PO_NO_NODE};
  call.args[1] = po_loop_arg(loops[n - 1]);
  return po_attempt(c, &call, NULL);
}

/* A reduction that reads the array point by point, the first, or the last;
 * PO_NO_NODE. */
static uint32_t
find_reduction(const po_program *p, uint32_t array, uint32_t writer, bool last,
               uint32_t *order) {
  assert(writer < p->stmts.len);
  uint32_t found = PO_NO_NODE, one[PO_MAX_DEPTH];
  uint32_t n = p->stmts.data[writer].n_iters;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *reader = &p->stmts.data[k];
    if (reader->kind != PO_UPDATE || reader->n_iters != reader->n_outer + 1 ||
        !po_may_change(p, po_root_of(p, k)) ||
        !match_loops(p, &p->stmts.data[writer], reader, array, n, one))
      continue;
    memcpy(order, one, n * sizeof *order);
    found = k;
    if (!last)
      break;
  }
  return found;
}

/* again: readers compute the value themselves, so that the last of them may
 * take the array's own loops. */
static bool
join_reduction(po_chooser *c, uint32_t array, bool again) {
  const po_program *p = po_now(c);
  uint32_t writer = lone_writer(p, array), order[PO_MAX_DEPTH];
  uint32_t reader = writer == PO_NO_NODE
                        ? PO_NO_NODE
                        : find_reduction(p, array, writer, again, order);
  if (reader == PO_NO_NODE)
    return false;
  po_program *old = po_copy(p);
  po_step_call call = po_step("compute_inline");
  call.args[0] = po_writers_arg(p, array);
  bool ok = !again || po_attempt(c, &call, NULL);
  ok = ok && join(c, writer, reader, order, old->stmts.data[writer].n_iters);
  if (ok) {
    po_free(old);
  } else {
    po_restore(c, old);
  }
  po_lay_out_now(c);
  return ok;
}

void
po_join_reductions(po_chooser *c) {
  for (uint32_t k = 0; k < po_now(c)->arrays.len && !c->stopped; k++) {
    po_role role = po_now(c)->arrays.data[k].role;
    if (role != PO_WORKSPACE && role != PO_OUTPUT)
      continue;
    if (!po_is_made_again(c, k) || !join_reduction(c, k, true))
      join_reduction(c, k, false);
  }
}
