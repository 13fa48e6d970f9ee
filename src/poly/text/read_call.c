/* SPDX-License-Identifier: MIT */
/* read_call.c - calls of instructions.
 *
 *   OPERAND = call NAME { VALUE, ... } ( OPERAND, ... )
 *   OPERAND: ARRAY + OFFSET [ DIM by STRIDE, ... ]
 *            ARRAY [ E, ... ] over [ DIM by STRIDE, ... ]
 *
 * The values are those of the instruction's parameters and dimensions; where
 * no operand has a layout of its own they are bound anew and compared. */
#include "poly/text/text_read.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define MAX_STRIDE GS_MAX_ELEMENTS

/* Every element is one of the array. */
static bool
check_reach(po_reader *r, const po_operand *o, uint32_t from) {
  assert(o->array < r->p->arrays.len);
  const po_array *array = &r->p->arrays.data[o->array];
  int64_t last = o->offset;
  bool fits = true;
  for (uint32_t d = 0; d < o->rank; d++) {
    int64_t step;
    fits = fits &&
           !__builtin_mul_overflow(o->dim[d] - 1, o->stride[d], &step) &&
           !__builtin_add_overflow(last, step, &last);
  }
  for (uint32_t d = 0; d < array->rank; d++)
    fits = fits && !array->fold[d] && !array->pad[d];
  fits = fits && last < gs_prod(array->dim, array->rank);
  return fits || bs_error(r->ctx.diags, po_span_from(r, from), "out-of-bounds",
                          "the operand reaches beyond the array");
}

/* [ DIM by STRIDE, ... ] */
static bool
read_dimensions(po_reader *r, po_operand *out) {
  bool more;
  if (!po_need_symbol(r, "["))
    return false;
  more = !po_is_symbol(r, "]");
  while (more) {
    uint32_t d = out->rank++;
    if (d == GS_MAX_RANK)
      return bs_error(r->ctx.diags, po_span_here(r), "rank",
                      "operands have at most %d dimensions", GS_MAX_RANK);
    if (!po_need_int(r, 1, GS_MAX_ELEMENTS, &out->dim[d]) ||
        !po_need_word(r, "by") ||
        !po_need_int(r, 0, MAX_STRIDE, &out->stride[d]) ||
        !po_take_symbol(r, ",", &more))
      return false;
  }
  return po_need_symbol(r, "]");
}

/* What follows the array's name; start: the first element, where it was read
 * already. */
static bool
read_place(po_reader *r, const po_stmt *stmt, uint32_t array,
           __isl_keep isl_multi_aff *start, po_operand *out, uint32_t from) {
  *out = (po_operand){.array = array};
  if (!start && po_is_symbol(r, "+"))
    return po_next_token(r) &&
           po_need_int(r, 0, GS_MAX_ELEMENTS, &out->offset) &&
           read_dimensions(r, out) && check_reach(r, out, from);
  if (!start && !po_read_index(r, array, &start))
    return false;
  out->base = po_named_access(r, stmt, array, start);
  return po_need_word(r, "over") && read_dimensions(r, out);
}

static bool
read_operand(po_reader *r, const po_stmt *stmt, po_operand *out) {
  uint32_t array, from = r->now.lo;
  return po_need_array(r, &array) &&
         read_place(r, stmt, array, NULL, out, from);
}

static bool
find_instr(po_reader *r, const gs_instr **out) {
  char name[128] = "";
  size_t n = r->now.hi - r->now.lo;
  if (r->now.kind != PO_T_NAME)
    return po_syntax(r, "an instruction");
  if (n < sizeof name)
    memcpy(name, r->text + r->now.lo, n);
  *out = r->target ? gs_find_instr(r->target, name) : NULL;
  return *out ? po_next_token(r)
              : bs_error(r->ctx.diags, po_span_here(r), "unknown-name",
                         "the target has no instruction `%s`", name);
}

/* A whole one is held as an integer, as operators hold theirs. */
static bool
read_number(po_reader *r, uint32_t *out) {
  bool minus;
  if (!po_take_symbol(r, "-", &minus))
    return false;
  if (r->now.kind != PO_T_INT && r->now.kind != PO_T_REAL)
    return po_syntax(r, "a number");
  double v = minus ? -r->now.real : r->now.real;
  bool whole = r->now.kind == PO_T_INT && fabs(v) < 0x1p53;
  *out =
      whole ? bs_int(r->ctx.values, (int64_t)v).i : bs_real(r->ctx.values, v).i;
  return po_next_token(r);
}

static bool
read_slots(po_reader *r, const gs_instr *instr, uint32_t *slots) {
  for (uint32_t k = 0; k < instr->scope.vars.len; k++) {
    bool none;
    int64_t value;
    if ((k && !po_need_symbol(r, ",")) || !po_take_word(r, "_", &none))
      return false;
    if (none)
      continue;
    if (instr->scope.vars.data[k].sort == GS_SORT_REAL) {
      if (!read_number(r, &slots[k]))
        return false;
      continue;
    }
    if (!po_need_int(r, -GS_MAX_ELEMENTS, GS_MAX_ELEMENTS, &value))
      return false;
    slots[k] = bs_int(r->ctx.values, value).i;
  }
  return true;
}

static bool
fits_declared(const gs_operand *declared, const po_operand *o,
              const po_array *array) {
  uint32_t rank = declared->layout ? declared->layout_rank : declared->rank;
  return array->dtype == declared->dtype && (!rank || o->rank == rank);
}

static bool
check_operands(po_reader *r, const gs_instr *instr, const po_operand *operands,
               uint32_t from) {
  for (uint32_t k = 0; k <= instr->n_operands; k++) {
    const gs_operand *declared =
        k < instr->n_operands ? &instr->operands[k] : &instr->result;
    const po_array *array = &r->p->arrays.data[operands[k].array];
    if (!fits_declared(declared, &operands[k], array))
      return bs_error(r->ctx.diags, po_span_from(r, from), "type-mismatch",
                      "operand %u of %s has another type", k, instr->name);
  }
  return true;
}

static void
type_of(const po_reader *r, const gs_operand *declared, const po_operand *o,
        gs_type *out) {
  *out = (gs_type){.access = declared->access,
                   .rank = (uint8_t)o->rank,
                   .dtype = r->p->arrays.data[o->array].dtype};
  memcpy(out->dim, o->dim, sizeof out->dim);
}

/* Binding the operands' types gives the very values and result. */
static bool
check_binding(po_reader *r, const gs_instr *instr, const uint32_t *slots,
              const po_operand *operands, uint32_t from) {
  uint32_t n = instr->n_operands, n_slots = instr->scope.vars.len;
  gs_type *types = BS_NEWS(&r->arena, gs_type, n + 1), result;
  const gs_type **kids = BS_NEWS(&r->arena, const gs_type *, n + 1);
  bs_value *items = BS_NEWS(&r->arena, bs_value, instr->n_params + 1);
  uint32_t *bound = BS_NEWS(&r->arena, uint32_t, n_slots + 1);
  gs_fault fault = {0};
  for (uint32_t k = 0; k < n; k++) {
    if (instr->operands[k].layout)
      return true;
    type_of(r, &instr->operands[k], &operands[k], &types[k]);
    kids[k] = &types[k];
  }
  items[0] = bs_sym(r->ctx.values, instr->name);
  for (uint32_t k = 0; k < instr->n_params; k++)
    items[1 + k] = slots[k] ? (bs_value){slots[k]} : bs_int(r->ctx.values, 0);
  bs_value attr = bs_list(r->ctx.values, items, instr->n_params + 1);
  bool ok = gs_instr_bind(r->ctx.values, instr, attr, kids, n, bound, &result,
                          &fault);
  for (uint32_t k = 0; ok && k < n_slots; k++)
    ok = !slots[k] || slots[k] == bound[k];
  ok = ok && result.rank == operands[n].rank &&
       !memcmp(result.dim, operands[n].dim, result.rank * sizeof *result.dim);
  return ok || bs_error(r->ctx.diags, po_span_from(r, from), "type-mismatch",
                        "the values of %s are not those of its operands",
                        instr->name);
}

bool
po_read_call(po_reader *r, uint32_t array, isl_multi_aff *start, po_stmt *out) {
  po_operand result;
  const gs_instr *instr = NULL;
  uint32_t from = r->now.lo;
  if (!read_place(r, out, array, start, &result, from) ||
      !po_need_symbol(r, "=") || !po_need_word(r, "call") ||
      !find_instr(r, &instr) || !po_need_symbol(r, "{"))
    return false;
  uint32_t *slots = BS_NEWS(&r->p->arena, uint32_t, instr->scope.vars.len + 1);
  po_operand *operands =
      BS_NEWS(&r->p->arena, po_operand, instr->n_operands + 1);
  operands[instr->n_operands] = result;
  if (!read_slots(r, instr, slots) || !po_need_symbol(r, "}") ||
      !po_need_symbol(r, "("))
    return false;
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if ((k && !po_need_symbol(r, ",")) || !read_operand(r, out, &operands[k]))
      return false;
  out->kind = PO_CALL;
  out->array = array;
  out->instr = instr;
  out->slots = slots;
  out->operands = operands;
  return po_need_symbol(r, ")") && check_operands(r, instr, operands, from) &&
         check_binding(r, instr, slots, operands, from);
}
