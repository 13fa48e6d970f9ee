/* SPDX-License-Identifier: MIT */
/* auto_groups.c - neighbours in memory that lie in several rows elsewhere.
 *
 * What puts each of k neighbours into a row of its own, or makes neighbours of
 * the elements of k rows, reads or writes every k-th element along its
 * innermost loop.  With the k of them in one iteration they are whole vectors,
 * which the compiler turns over in registers:
 *
 *   for c { for i { y[c, i] = x[k i + c] } }
 *   for i { y[0, i] = x[k i]; y[1, i] = x[k i + 1]; ... }
 *
 *   for i { y[i] = x[i % k, i / k] }
 *   for i { y[k i] = x[0, i]; y[k i + 1] = x[1, i]; ... }
 *
 * So the loop over the rows goes innermost, or the loop over neighbours is
 * split by k; auto_inner.c writes it out. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/search/chooser.h"
#include <isl/aff.h>
#include <isl/val.h>

/* Neighbours that are worth a group. */
static bool
is_group(int64_t k) {
  return k >= 2 && k <= GS_GROUP_MOST;
}

/* ---- one row of neighbours from several ---- */

/* The iterator that the innermost loop counts, of which its value may be a
 * remainder by whole groups of k; n_iters where it is no such loop. */
static uint32_t
counted(const po_stmt *s, uint32_t n, int64_t k) {
  isl_multi_aff *time = po_simplify_on(isl_multi_aff_copy(s->time), s->domain);
  isl_aff *aff = isl_multi_aff_get_aff(time, (int)n - 1);
  isl_multi_aff_free(time);
  isl_size divisions = isl_aff_dim(aff, isl_dim_div);
  uint32_t i = s->n_iters;
  for (uint32_t d = 0; d < s->n_iters; d++)
    if (po_int_or(isl_aff_get_coefficient_val(aff, isl_dim_in, (int)d), 0) == 1)
      i = i == s->n_iters ? d : UINT32_MAX;
  for (isl_size j = 0; j < divisions; j++) {
    isl_aff *part = isl_aff_get_div(aff, (int)j);
    if (po_int_or(isl_aff_get_denominator_val(part), 1) % k)
      i = UINT32_MAX;
    isl_aff_free(part);
  }
  isl_aff_free(aff);
  return i < s->n_iters ? i : s->n_iters;
}

/* The k of floor((i + ...) / k) in an address, and its i, an iterator; 0. */
static int64_t
divisor_of(__isl_keep isl_aff *address, uint32_t j, uint32_t n_iters,
           uint32_t *i) {
  isl_aff *part = isl_aff_get_div(address, (int)j);
  isl_val *times = isl_aff_get_coefficient_val(address, isl_dim_div, (int)j);
  int64_t k = 0;
  for (*i = 0; *i < n_iters && !isl_val_is_zero(times); ++*i) {
    isl_val *of = isl_aff_get_coefficient_val(part, isl_dim_in, (int)*i);
    k = isl_val_get_num_si(of) == 1 ? isl_val_get_den_si(of) : 0;
    isl_val_free(of);
    if (is_group(k))
      break;
    k = 0;
  }
  isl_val_free(times);
  isl_aff_free(part);
  return k;
}

static int64_t
period_in(const po_program *p, const po_stmt *s, uint32_t n,
          const po_expr *read) {
  if (isl_pw_multi_aff_isa_multi_aff(read->index) != isl_bool_true)
    return 0;
  isl_multi_aff *index =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(read->index));
  isl_aff *address = po_linear(index, p->arrays.data[read->array].dim);
  isl_size divisions = isl_aff_dim(address, isl_dim_div);
  int64_t k = 0;
  for (isl_size j = 0; j < divisions && !k; j++) {
    uint32_t i;
    k = divisor_of(address, (uint32_t)j, s->n_iters, &i);
    if (k && counted(s, n, k) != i)
      k = 0;
  }
  isl_aff_free(address);
  isl_multi_aff_free(index);
  return k;
}

/* What the innermost of n loops goes by in groups of, in the address that the
 * statement reads; 0. */
static int64_t
period_of(const po_program *p, const po_stmt *s, uint32_t n) {
  int64_t k = 0;
  for (uint32_t j = 0; j < s->n_exprs && !k; j++)
    if (s->exprs[j].kind == PO_READ)
      k = period_in(p, s, n, &s->exprs[j]);
  return k;
}

static bool
split_by_period(po_chooser *c, const uint32_t *loops, uint32_t n, int64_t k) {
  int64_t digits[2] = {-1, k};
  po_step_call call = po_step("split");
  call.args[0] = po_loop_arg(loops[n - 1]);
  call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = digits, .n = 2};
  return po_attempt(c, &call, NULL);
}

/* ---- several rows of one ---- */

/* How many of the n loops, from the innermost one outwards, hold nothing but
 * the statement and may change places. */
static uint32_t
loops_around(const po_program *p, const po_stmt *s, const uint32_t *loops,
             uint32_t n) {
  uint32_t many = 0;
  for (uint32_t node = s->leaf; many < n; node = loops[n - ++many])
    if (po_only_child(p, loops[n - 1 - many]) != node ||
        !po_is_plain(p, loops[n - 1 - many]))
      break;
  return many;
}

/* The depth of the loop over rows along which a read goes by one element, where
 * it goes by a few along the innermost loop; n. */
static uint32_t
depth_of_rows(const po_program *p, const po_stmt *s, const uint32_t *loops,
              uint32_t n) {
  int64_t stride[PO_MAX_DEPTH];
  uint32_t many = loops_around(p, s, loops, n);
  if (many < 2 || n != s->n_iters)
    return n;
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    if (s->exprs[j].kind != PO_READ ||
        !po_strides_of(p, s, s->exprs[j].index, s->exprs[j].array, stride) ||
        !is_group(stride[n - 1]))
      continue;
    for (uint32_t d = n - many; d + 1 < n; d++)
      if (stride[d] == 1 && is_group(po_extent_of(p, loops[d])))
        return d;
  }
  return n;
}

static bool
sink(po_chooser *c, const uint32_t *loops, uint32_t n, uint32_t d) {
  uint32_t order[PO_MAX_DEPTH], m = 0;
  for (uint32_t k = d + 1; k < n; k++)
    order[m++] = loops[k];
  order[m++] = loops[d];
  po_step_call call = po_step("reorder");
  call.args[0] = po_loops_arg(order, m);
  return po_attempt(c, &call, NULL);
}

/* ---- both ---- */

static void
group_around(po_chooser *c, uint32_t stmt) {
  const po_program *p = po_now(c);
  const po_stmt *s = &p->stmts.data[stmt];
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  if (s->kind != PO_ASSIGN || n < 1 || s->n_iters != s->n_outer ||
      !po_may_change(p, po_root_of(p, stmt)) ||
      po_only_child(p, loops[n - 1]) != s->leaf ||
      po_node(p, loops[n - 1])->mark != PO_SERIAL)
    return;
  int64_t k = period_of(p, s, n);
  uint32_t d = k ? n : depth_of_rows(p, s, loops, n);
  if (k ? po_most_iterations(p, loops[n - 1]) < 2 * k : d == n)
    return;
  if (k ? split_by_period(c, loops, n, k) : sink(c, loops, n, d))
    po_lay_out_now(c);
}

void
po_group_neighbours(po_chooser *c) {
  if (c->options->levels > 1) /* lanes of a block have registers of their own */
    return;
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped; k++)
    group_around(c, k);
}
