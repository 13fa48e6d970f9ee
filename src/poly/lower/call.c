/* SPDX-License-Identifier: MIT */
/* call.c - instruction calls: operands found in place, or packed.
 *
 * A call takes pointers.  Where its template mentions the stride of a
 * dimension, neighbours along it may lie any distance apart; other dimensions
 * must lie as in a dense row-major array.  An operand that does not lie so, or
 * that consists of several pieces, is packed into the workspace first.  An
 * operand with a declared layout is looked at through that view. */
#include "poly/lower/lower.h"
#include "poly/loops/operand.h"
#include <string.h>

typedef struct calling {
  po_lowering *low;
  gs_term term;
  const gs_node *node;
  const gs_instr *instr;
  uint32_t *slots;
  gs_type *types; /* of the operands */
  const gs_type **kids;
} calling;

static const gs_instr *
instr_of(const po_lowering *low, gs_term call) {
  const bs_values *values = low->source->ctx.values;
  bs_value name = bs_item(values, gs_at(low->source, call)->attr, 0);
  const gs_target *target = low->source->target;
  return gs_find_instr(target ? target : low->out->target,
                       bs_as_sym(values, name));
}

static bool
fits(const gs_instr *instr, uint32_t k, const int64_t *stride,
     const int64_t *dim, uint32_t rank) {
  return po_stray_dimension(po_mentioned_strides(instr, k), stride, dim,
                            rank) == rank;
}

bool
po_call_result_fits(const po_lowering *low, gs_term call, const int64_t *stride,
                    const gs_type *type) {
  const gs_instr *instr = instr_of(low, call);
  return fits(instr, instr->n_operands, stride, type->dim, type->rank);
}

/* A place in memory; a size of 1 has the stride of a dense array. */
static bool
place(po_lowering *low, uint32_t array, __isl_keep isl_multi_aff *map,
      const int64_t *dim, uint32_t rank, po_operand *out) {
  int64_t dense[GS_MAX_RANK];
  *out = (po_operand){.array = array, .rank = rank};
  memcpy(out->dim, dim, rank * sizeof *dim);
  if (!po_strided(map, &low->out->arrays.data[array], &out->offset,
                  out->stride))
    return false;
  po_strides(dim, rank, dense);
  for (uint32_t d = 0; d < rank; d++)
    if (dim[d] == 1)
      out->stride[d] = dense[d];
  return true;
}

static bool
find_in_place(const calling *c, uint32_t k, const po_reads *reads,
              po_operand *out) {
  if (reads->list.len != 1 || reads->list.data[0].constant)
    return false;
  const po_read *read = &reads->list.data[0];
  return place(c->low, read->array, read->map, reads->dim, reads->rank, out) &&
         fits(c->instr, k, out->stride, reads->dim, reads->rank);
}

/* ---- packing ---- */

/* A copy made for an earlier call serves later ones of the same operand. */
static uint32_t
find_packed(const calling *c, uint32_t k) {
  const po_lowering *low = c->low;
  bool layout = c->instr->operands[k].layout;
  uint32_t at = low->packed_of[c->node->kids[k].i];
  for (; at; at = low->packed.data[at - 1].next) {
    const po_packed *packed = &low->packed.data[at - 1];
    if (!layout && !packed->instr)
      return packed->array;
    if (layout && packed->instr == c->instr && packed->operand == k &&
        bs_same(packed->attr, c->node->attr))
      return packed->array;
  }
  return UINT32_MAX;
}

static uint32_t
pack(const calling *c, uint32_t k, const po_reads *reads) {
  po_lowering *low = c->low;
  uint32_t array = find_packed(c, k);
  if (array != UINT32_MAX)
    return array;
  array = po_pack(low, reads, c->term);
  uint32_t *head = &low->packed_of[c->node->kids[k].i];
  bool layout = c->instr->operands[k].layout;
  po_packed packed = {.array = array,
                      .instr = layout ? c->instr : NULL,
                      .operand = k,
                      .attr = c->node->attr,
                      .next = *head};
  bs_push(low->heap, &low->packed, packed);
  *head = low->packed.len;
  return array;
}

static void
place_packed(const calling *c, uint32_t k, const po_reads *reads,
             po_operand *out) {
  *out = (po_operand){.array = pack(c, k, reads), .rank = reads->rank};
  memcpy(out->dim, reads->dim, sizeof out->dim);
  po_strides(reads->dim, reads->rank, out->stride);
}

static void
find_operand(const calling *c, uint32_t k, po_operand *out) {
  po_lowering *low = c->low;
  const po_view *view = &low->views.of[c->node->kids[k].i];
  const gs_operand *operand = &c->instr->operands[k];
  po_reads reads = operand->layout ? po_reads_laid_out(low, view, c->instr, k,
                                                       c->kids, c->slots)
                                   : po_reads_all(low, view, &c->types[k]);
  if (!find_in_place(c, k, &reads, out))
    place_packed(c, k, &reads, out);
  po_reads_done(low, &reads);
}

static bool
bind(calling *c) {
  const gs_program *source = c->low->source;
  bs_arena *arena = &c->low->out->arena;
  uint32_t n = c->node->n_kids;
  gs_type result;
  gs_fault fault = {0};
  c->types = BS_NEWS(arena, gs_type, n + 1);
  c->kids = BS_NEWS(arena, const gs_type *, n + 1);
  c->slots = BS_NEWS(arena, uint32_t, c->instr->scope.vars.len + 1);
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(source, c->node->kids[k], &c->types[k]);
    c->kids[k] = &c->types[k];
  }
  if (gs_instr_bind(source->ctx.values, c->instr, c->node->attr, c->kids, n,
                    c->slots, &result, &fault))
    return true;
  c->low->failed = true;
  return bs_error(source->ctx.diags, c->node->span, fault.code, "%s",
                  fault.message);
}

void
po_emit_call(po_lowering *low, gs_term term) {
  calling c = {.low = low,
               .term = term,
               .node = gs_at(low->source, term),
               .instr = instr_of(low, term)};
  if (!bind(&c))
    return;
  uint32_t n = c.instr->n_operands;
  po_operand *operands = BS_NEWS(&low->out->arena, po_operand, n + 1);
  for (uint32_t k = 0; k < n; k++)
    find_operand(&c, k, &operands[k]);
  gs_type result;
  gs_type_at(low->source, term, &result);
  const po_home *home = po_home_of(low, term);
  place(low, home->array, home->map, result.dim, result.rank, &operands[n]);
  uint32_t first = low->out->stmts.len;
  po_add_call(low, &(po_stmt){.kind = PO_CALL,
                              .array = home->array,
                              .instr = c.instr,
                              .slots = c.slots,
                              .operands = operands,
                              .term = term});
  po_add_nest(low, first, 0, false);
}
