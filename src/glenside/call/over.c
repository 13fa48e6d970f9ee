/* SPDX-License-Identifier: MIT */
/* over.c - the iteration space of a call, read, and its types. */
#include "glenside/call/over.h"
#include <assert.h>
#include <string.h>

enum { MOST_OPERANDS = 32 };

bs_value
gs_over_item(const bs_values *values, bs_value attr) {
  uint32_t n =
      bs_kind_of(values, attr) == BS_KIND_LIST ? bs_len(values, attr) : 0;
  bs_value last = n > 1 ? bs_item(values, attr, n - 1) : BS_NIL;
  return bs_kind_of(values, last) == BS_KIND_LIST ? last : BS_NIL;
}

static bool
bad(gs_fault *fault, int item, const char *what) {
  return gs_fail(fault, "bad-over", -1, item, "%s", what);
}

static const char *
word(const bs_values *values, bs_value list, uint32_t k) {
  bs_value v = bs_item(values, list, k);
  return bs_kind_of(values, v) == BS_KIND_SYM ? bs_as_sym(values, v) : NULL;
}

static bool
note_operand(const gs_instr *instr, const char *name, uint32_t *has, int item,
             gs_fault *fault) {
  for (uint32_t k = 0; name && k < instr->n_operands && k < MOST_OPERANDS; k++)
    if (!strcmp(instr->operands[k].name, name)) {
      if (*has >> k & 1)
        return bad(fault, item, "a dimension names an operand twice");
      *has |= 1u << k;
      return true;
    }
  return gs_fail(fault, "bad-over", -1, item,
                 "a dimension names its operands; %s has no '%.60s'",
                 instr->name, name ? name : "...");
}

/* (each SIZE OPERAND...) or (sum SIZE OPERAND...) */
static bool
read_dimension(const bs_values *values, const gs_instr *instr, bs_value list,
               bool sum, int item, gs_over *out, gs_fault *fault) {
  bs_value size = bs_item(values, list, 1);
  uint32_t d = out->n++;
  if (bs_len(values, list) < 2 || bs_kind_of(values, size) != BS_KIND_INT ||
      bs_as_int(values, size) < 1)
    return bad(fault, item, "a dimension needs a size of at least 1");
  out->size[d] = bs_as_int(values, size);
  out->sum[d] = sum;
  out->has[d] = 0;
  for (uint32_t k = 2; k < bs_len(values, list); k++)
    if (!note_operand(instr, word(values, list, k), &out->has[d], item, fault))
      return false;
  return out->has[d] || bad(fault, item,
                            "a dimension that no operand has changes nothing: "
                            "name the operands that have it");
}

static bool
read_item(const bs_values *values, const gs_instr *instr, bs_value list,
          int item, gs_over *out, gs_fault *fault) {
  const char *head =
      bs_kind_of(values, list) == BS_KIND_LIST && bs_len(values, list)
          ? word(values, list, 0)
          : NULL;
  if (head && !strcmp(head, "into")) {
    if (out->into || bs_len(values, list) != 2 || !word(values, list, 1))
      return bad(fault, item, "(into NAME) can be given only once");
    out->into = word(values, list, 1);
    return true;
  }
  bool sum = head && !strcmp(head, "sum");
  if (!sum && (!head || strcmp(head, "each")))
    return bad(fault, item,
               "over takes (each SIZE OPERAND...), (sum SIZE OPERAND...) and "
               "(into INSTR)");
  if (out->n == GS_MAX_RANK)
    return bad(fault, item, "over has more dimensions than a term may have");
  return read_dimension(values, instr, list, sum, item, out, fault);
}

bool
gs_over_read(const bs_values *values, const gs_instr *instr, bs_value attr,
             gs_over *out, gs_fault *fault) {
  bs_value over = gs_over_item(values, attr);
  bool sums = false;
  *out = (gs_over){0};
  assert(instr);
  if (!over.i)
    return true;
  int item = (int)bs_len(values, attr) - 1;
  for (uint32_t k = 0; k < bs_len(values, over); k++)
    if (!read_item(values, instr, bs_item(values, over, k), item, out, fault))
      return false;
  for (uint32_t d = 0; d < out->n; d++)
    sums |= out->sum[d];
  if (!out->n)
    return bad(fault, item, "over needs a dimension");
  if (out->into && !sums)
    return bad(fault, item,
               "nothing is summed, so there is nothing to go on "
               "from: leave (into ...) out");
  if (sums && gs_sum_dtype(instr->result.dtype) != instr->result.dtype)
    return gs_fail(fault, "bad-over", -1, item,
                   "the result of %s is of dtype %s, whose sums are of %s",
                   instr->name, gs_dtype_table[instr->result.dtype].name,
                   gs_dtype_table[gs_sum_dtype(instr->result.dtype)].name);
  return true;
}

/* ---- types ---- */

bool
gs_over_tile(const gs_over *over, uint32_t k, const gs_type *whole,
             gs_type *tile, gs_fault *fault) {
  assert(over->n <= GS_MAX_RANK && whole->access <= whole->rank);
  uint32_t n = 0;
  for (uint32_t d = 0; d < over->n; d++) {
    if (k >= MOST_OPERANDS || !(over->has[d] >> k & 1))
      continue;
    if (n >= whole->access || whole->dim[n] != over->size[d])
      return gs_fail(fault, "type-mismatch", (int)k, -1,
                     "dimension %u of this operand is dimension %u of over, of "
                     "size %lld",
                     n, d, (long long)over->size[d]);
    n++;
  }
  *tile = *whole;
  tile->access -= (uint8_t)n;
  tile->rank -= (uint8_t)n;
  memset(tile->dim, 0, sizeof tile->dim);
  memcpy(tile->dim, whole->dim + n, tile->rank * sizeof *tile->dim);
  return true;
}

bool
gs_over_whole(const gs_over *over, const gs_type *tile, gs_type *whole,
              gs_fault *fault) {
  assert(over->n <= GS_MAX_RANK && gs_is_type(tile));
  assert(over->n + tile->rank <= 2 * GS_MAX_RANK);
  gs_type made = {.dtype = tile->dtype};
  for (uint32_t d = 0; d < over->n; d++)
    if (!over->sum[d])
      made.dim[made.rank++] = over->size[d];
  made.access = (uint8_t)(made.rank + tile->access);
  if (made.rank + tile->rank > GS_MAX_RANK)
    return gs_fail(fault, "rank-limit", -1, -1,
                   "a term has at most %d dimensions", GS_MAX_RANK);
  memcpy(made.dim + made.rank, tile->dim, tile->rank * sizeof *tile->dim);
  made.rank += tile->rank;
  *whole = made;
  return true;
}

static double
count(const gs_over *over, bool sums) {
  double n = 1;
  for (uint32_t d = 0; d < over->n; d++)
    if (sums || !over->sum[d])
      n *= (double)over->size[d];
  return n;
}

double
gs_over_calls(const gs_over *over) {
  return count(over, true);
}

double
gs_over_sums(const gs_over *over) {
  return count(over, false);
}

/* ---- in terms of access patterns ---- */

static gs_term
add_ints(gs_program *p, gs_op op, const int64_t *list, uint32_t n, gs_term kid,
         gs_fault *fault) {
  bs_value item = bs_ints(p->ctx.values, list, n);
  return gs_add(p, op, bs_list(p->ctx.values, &item, 1), &kid, 1, BS_NOWHERE,
                fault);
}

static gs_term
add_int(gs_program *p, gs_op op, int64_t x, gs_term kid, gs_fault *fault) {
  bs_value item = bs_int(p->ctx.values, x);
  return gs_add(p, op, bs_list(p->ctx.values, &item, 1), &kid, 1, BS_NOWHERE,
                fault);
}

gs_term
gs_over_spread(const gs_over *over, uint32_t k, gs_program *p, gs_term t,
               gs_fault *fault) {
  assert(k < GS_MAX_INSTR_VARS);
  gs_type type;
  bool same = true;
  for (uint32_t d = 0; d < over->n && gs_term_ok(t); d++)
    if (!(over->has[d] >> k & 1)) {
      t = add_int(p, GS_INSERT_AXIS, d, t, fault);
      same &= over->size[d] == 1;
    }
  if (!gs_term_ok(t) || same)
    return t;
  gs_type_at(p, t, &type);
  for (uint32_t d = 0; d < over->n; d++)
    type.dim[d] = over->size[d];
  return add_ints(p, GS_BROADCAST, type.dim, type.rank, t, fault);
}

static gs_term
sum_items(gs_program *p, gs_term t, gs_fault *fault) {
  bs_value op = bs_sym(p->ctx.values, gs_compute_table[GS_C_REDUCE_SUM].name);
  return gs_add(p, GS_COMPUTE, bs_list(p->ctx.values, &op, 1), &t, 1,
                BS_NOWHERE, fault);
}

/* All dimensions, those of sums behind the others; returns how many sums. */
static uint32_t
order_sums_last(const gs_over *over, uint32_t rank, int64_t *order) {
  uint32_t n = 0, sums = 0;
  for (uint32_t d = 0; d < rank; d++)
    if (d >= over->n || !over->sum[d])
      order[n++] = d;
  for (uint32_t d = 0; d < over->n; d++)
    if (over->sum[d]) {
      order[n + sums] = d;
      sums++;
    }
  return sums;
}

gs_term
gs_over_reduce(const gs_over *over, gs_program *p, gs_term t, gs_fault *fault) {
  assert(over->n <= GS_MAX_RANK);
  int64_t order[GS_MAX_RANK];
  gs_type type;
  gs_type_at(p, t, &type);
  uint32_t sums = order_sums_last(over, type.rank, order);
  uint32_t n = type.rank - sums;
  if (!sums)
    return t;
  uint32_t access = type.access - sums;
  t = add_ints(p, GS_TRANSPOSE, order, type.rank, t, fault);
  t = gs_term_ok(t) ? add_int(p, GS_ACCESS, n, t, fault) : t;
  t = gs_term_ok(t) ? sum_items(p, t, fault) : t;
  if (!gs_term_ok(t) || access == n)
    return t;
  return add_int(p, GS_ACCESS, access, t, fault);
}
