/* SPDX-License-Identifier: MIT */
/* widen.c - operands of long products in the type of their sums.
 *
 * Elements of i8, u8 and bf16 are converted where they are read.  The kernel of
 * sums of products (contraction.h) has vectors of one type, and would convert
 * an element each time that it is read; so where each is read many times, its
 * array is converted first.  Measured, products of 512 cubed on a Cascade Lake
 * core: i8 5.8 ms instead of 15, bf16 2.1 instead of 8.  Where the target has
 * an instruction that multiplies them as they are (mac.c), and no slower than
 * vectors of the sums' type do, they stay so. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/lower/lower.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>

static bool
is_narrow(const po_reads *operand, gs_dtype sum) {
  assert(sum < GS_DTYPE_COUNT);
  return gs_dtype_table[operand->dtype].bytes < gs_dtype_table[sum].bytes;
}

/* Whether an array is what it was whenever it is read. */
static bool
lasts(const po_lowering *low, uint32_t array) {
  assert(array < low->out->arrays.len);
  po_role role = low->out->arrays.data[array].role;
  return role == PO_INPUT || role == PO_CONSTANT;
}

/* Its elements are all there by now: results may share an array with others,
 * as the parts of a concatenation do. */
static bool
is_complete(const po_lowering *low, uint32_t array) {
  assert(array < low->out->arrays.len);
  const po_array *a = &low->out->arrays.data[array];
  if (lasts(low, array))
    return true;
  isl_set *left = po_box(low->isl, a->dim, a->rank);
  for (uint32_t k = 0; k < low->out->stmts.len; k++) {
    const po_stmt *s = &low->out->stmts.data[k];
    if (s->array != array || !s->write)
      continue;
    isl_map *write = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->write));
    write = isl_map_intersect_domain(write, isl_set_copy(s->domain));
    left = isl_set_subtract(left, isl_set_reset_tuple_id(isl_map_range(write)));
  }
  bool all = isl_set_is_empty(left) == isl_bool_true;
  isl_set_free(left);
  return all;
}

/* All arrays that the operand's pieces lie in may and should be converted. */
static bool
is_profitable(const po_lowering *low, const po_reads *operand,
              int64_t products) {
  for (uint32_t k = 0; k < operand->list.len; k++) {
    const po_read *read = &operand->list.data[k];
    const po_array *a = &low->out->arrays.data[read->array];
    if (!read->constant &&
        (po_elements(a) > products / GS_WIDEN_READS ||
         (a->role == PO_CONSTANT && po_elements(a) <= GS_WIDEN_WEIGHTS) ||
         !is_complete(low, read->array)))
      return false;
  }
  return true;
}

static void
forget_results(po_lowering *low) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < low->widened.len; k++)
    if (lasts(low, low->widened.data[k].from))
      low->widened.data[n++] = low->widened.data[k];
  low->widened.len = n;
}

/* The array converted, once. */
static uint32_t
widened(po_lowering *low, uint32_t array, gs_dtype dtype, gs_term term) {
  for (uint32_t k = 0; k < low->widened.len; k++)
    if (low->widened.data[k].from == array &&
        low->out->arrays.data[low->widened.data[k].to].dtype == dtype)
      return low->widened.data[k].to;
  const po_array from = low->out->arrays.data[array];
  uint32_t first = low->out->stmts.len;
  uint32_t to = po_new_temporary(low, PO_WORKSPACE, dtype, from.dim, from.rank,
                                 GS_NO_TERM);
  po_pool_reserve(&low->scratch, 2);
  isl_set *box =
      po_keep_set(&low->scratch, po_box(low->isl, from.dim, from.rank));
  isl_multi_aff *same =
      po_keep_multi_aff(&low->scratch, po_identity(low->isl, from.rank));
  po_read read = {.array = array, .map = same};
  po_target target = {to, same};
  po_body body = {.low = low};
  po_put_unary(&body, GS_C_CAST, dtype, po_put_read(&body, from.dtype, &read));
  po_add_stmt(&body, PO_ASSIGN, 0, box, from.rank, &target, term);
  po_add_nest(low, first, from.rank, false);
  bs_push(low->heap, &low->widened, (po_widened){array, to});
  return to;
}

/* Products of floats a cycle, by vectors. */
static double
rate_of_vectors(const gs_target *t, gs_dtype sum) {
  return gs_operations_a_cycle(t, GS_RATE_FUSED, sum) / 2;
}

/* The target multiplies them as they are, and as fast as it does vectors of
 * their sums' type: some cores take four times as long for an instruction on
 * bf16, which does twice the products, as for one on f32. */
static bool
has_instruction(const po_lowering *low, const po_reads *operands, uint32_t n,
                gs_dtype sum) {
  const po_program *p = low->out;
  if (n != 2 || p->plain || !p->target || (sum != GS_I32 && p->strict_fp))
    return false;
  double rate =
      gs_multiplies(p->target, operands[0].dtype, operands[1].dtype, sum);
  return rate > 0 && (sum == GS_I32 || rate >= rate_of_vectors(p->target, sum));
}

void
po_widen_operands(po_lowering *low, po_reads *operands, uint32_t n,
                  gs_dtype sum, int64_t products, gs_term term) {
  assert(n >= 1 && sum < GS_DTYPE_COUNT);
  bool narrow = false;
  if (po_has_sizes(low->out) || products < GS_WIDEN_PRODUCTS ||
      po_recurs_in(low, term) || /* not all of it may be there */
      has_instruction(low, operands, n, sum))
    return;
  for (uint32_t k = 0; k < n; k++) {
    if (is_narrow(&operands[k], sum) &&
        !is_profitable(low, &operands[k], products))
      return;
    narrow |= is_narrow(&operands[k], sum);
  }
  forget_results(low);
  for (uint32_t k = 0; k < n && narrow; k++) {
    if (!is_narrow(&operands[k], sum))
      continue;
    for (uint32_t j = 0; j < operands[k].list.len; j++) {
      po_read *read = &operands[k].list.data[j];
      if (!read->constant)
        read->array = widened(low, read->array, sum, term);
    }
    operands[k].dtype = sum;
  }
}
