/* SPDX-License-Identifier: MIT */
/* call.c - instruction calls: operands found in place, or packed.
 *
 * A call takes pointers.  Where its template mentions the stride of a
 * dimension, neighbours along it may lie any distance apart; other dimensions
 * must lie as in a dense row-major array.  An operand that does not lie so, or
 * that consists of several pieces, is packed into the workspace first.  An
 * operand with a declared layout is looked at through that view. */
#include "poly/lower/call.h"
#include "poly/loops/operand.h"
#include <assert.h>
#include <string.h>

/* The dimensions of over that operand k has. */
static uint32_t
over_leads(const gs_over *over, uint32_t k) {
  uint32_t n = 0;
  for (uint32_t d = 0; d < over->n; d++)
    n += over->has[d] >> k & 1;
  return n;
}

/* A place in memory; a size of 1 has the stride of a dense array. */
static bool
place(po_lowering *low, uint32_t array, __isl_keep isl_multi_aff *map,
      const int64_t *dim, uint32_t rank, po_operand *out) {
  assert(rank <= GS_MAX_RANK);
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

/* The dimensions that one call sees lie as the template takes them. */
static bool
fits_call(const po_calling *c, const gs_instr *instr, uint32_t k, uint32_t of,
          const po_operand *o) {
  assert(over_leads(&c->over, of) <= o->rank);
  uint32_t n = over_leads(&c->over, of);
  return po_call_fits(c->low, instr, k, o->stride + n, o->dim + n, o->rank - n);
}

/* The address of an element of the operand, if all lie as the first piece. */
static __isl_give isl_aff *
address_of(const po_calling *c, const po_operand *o) {
  isl_ctx *isl = c->low->isl;
  isl_aff *at = po_index(isl, o->rank, o->rank, 0, o->offset);
  for (uint32_t k = 0; k < o->rank; k++)
    at = isl_aff_add(at, po_index(isl, o->rank, k, o->stride[k], 0));
  return at;
}

static bool
lies_with(const po_calling *c, const po_read *read, const po_operand *first) {
  const po_array *a = &c->low->out->arrays.data[first->array];
  if (read->constant || read->array != first->array)
    return false;
  isl_aff *by = isl_aff_sub(po_linear(read->map, a->dim), address_of(c, first));
  isl_set *there = isl_set_from_basic_set(isl_aff_zero_basic_set(by));
  isl_set *shown = isl_set_intersect(
      isl_set_copy(read->set), po_box(c->low->isl, first->dim, first->rank));
  bool same = isl_set_is_subset(shown, there) == isl_bool_true;
  isl_set_free(shown);
  isl_set_free(there);
  return same;
}

/* Whether all pieces are read from one array, as if they were one. */
static bool
are_one(const po_calling *c, const po_reads *reads, const po_operand *like) {
  bool one = true;
  for (uint32_t k = 0; k < reads->list.len && one; k++)
    one = lies_with(c, &reads->list.data[k], like);
  return one;
}

/* The map of all pieces, from the address that they have in common. */
static isl_multi_aff *
map_of_address(const po_calling *c, const po_operand *o) {
  po_lowering *low = c->low;
  const po_array *a = &low->out->arrays.data[o->array];
  int64_t all = gs_prod(a->dim, a->rank);
  isl_multi_aff *map = isl_multi_aff_pullback_multi_aff(
      po_reshape(low->isl, &all, 1, a->dim, a->rank),
      isl_multi_aff_from_aff(address_of(c, o)));
  po_pool_reserve(&low->scratch, 1);
  return po_keep_multi_aff(&low->scratch, po_simplify_multi(map, o->dim));
}

static bool
place_read(const po_calling *c, uint32_t k, const po_reads *reads,
           const po_read *read, po_operand *out) {
  assert(k < c->instr->n_operands);
  return !read->constant &&
         place(c->low, read->array, read->map, reads->dim, reads->rank, out) &&
         fits_call(c, c->instr, k, k, out);
}

static bool
find_in_place(const po_calling *c, uint32_t k, const po_reads *reads,
              po_placed *out) {
  const po_read *all = reads->list.data;
  if (reads->list.len == 1) {
    out->map = all[0].map;
    return place_read(c, k, reads, &all[0], &out->at);
  }
  for (uint32_t i = 0; i < reads->list.len; i++)
    if (place_read(c, k, reads, &all[i], &out->at) &&
        are_one(c, reads, &out->at)) {
      out->map = map_of_address(c, &out->at);
      return true;
    }
  return false;
}

/* ---- packing ---- */

/* A copy made for an earlier call serves later ones of the same operand. */
static uint32_t
find_packed(const po_calling *c, uint32_t k) {
  assert(k < c->node->n_kids);
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
pack(const po_calling *c, uint32_t k, const po_reads *reads) {
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

static po_placed
place_packed(const po_calling *c, uint32_t k, const po_reads *reads) {
  po_lowering *low = c->low;
  po_placed out = {.at = {.array = pack(c, k, reads), .rank = reads->rank}};
  memcpy(out.at.dim, reads->dim, sizeof out.at.dim);
  po_strides(reads->dim, reads->rank, out.at.stride);
  po_pool_reserve(&low->scratch, 1);
  out.map =
      po_keep_multi_aff(&low->scratch, po_identity(low->isl, reads->rank));
  return out;
}

po_placed
po_find_operand(const po_calling *c, uint32_t k, const gs_instr *also,
                uint32_t also_k) {
  assert(k < c->node->n_kids);
  po_lowering *low = c->low;
  const po_view *view = &low->views.of[c->node->kids[k].i];
  const gs_operand *operand = &c->instr->operands[k];
  po_placed out;
  po_reads reads = operand->layout ? po_reads_laid_out(low, view, c->instr, k,
                                                       c->kids, c->slots)
                                   : po_reads_all(low, view, &c->types[k]);
  if (!find_in_place(c, k, &reads, &out) ||
      (also && !fits_call(c, also, also_k, k, &out.at)))
    out = place_packed(c, k, &reads);
  po_reads_done(low, &reads);
  return out;
}

po_placed
po_place_result(const po_calling *c) {
  const po_placement *placement = po_placement_of(c->low, c->term);
  const gs_type *type = &c->types[c->node->n_kids];
  po_placed out = {.map = placement->map};
  place(c->low, placement->array, placement->map, type->dim, type->rank,
        &out.at);
  return out;
}

static bool
bind(po_calling *c) {
  const gs_program *source = c->low->source;
  bs_arena *arena = &c->low->out->arena;
  uint32_t n = c->node->n_kids;
  gs_fault fault = {0};
  c->types = BS_NEWS(arena, gs_type, n + 1);
  c->kids = BS_NEWS(arena, const gs_type *, n + 1);
  c->slots = BS_NEWS(arena, uint32_t, c->instr->scope.vars.len + 1);
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(source, c->node->kids[k], &c->types[k]);
    c->kids[k] = &c->types[k];
  }
  if (gs_instr_bind(source->ctx.values, c->instr, c->node->attr, c->kids, n,
                    c->slots, &c->types[n], &fault) &&
      gs_over_read(source->ctx.values, c->instr, c->node->attr, &c->over,
                   &fault))
    return true;
  c->low->failed = true;
  return bs_error(source->ctx.diags, c->node->span, fault.code, "%s",
                  fault.message);
}

static void
emit_one(const po_calling *c) {
  po_lowering *low = c->low;
  uint32_t n = c->instr->n_operands;
  po_operand *operands = BS_NEWS(&low->out->arena, po_operand, n + 1);
  for (uint32_t k = 0; k < n; k++)
    operands[k] = po_find_operand(c, k, NULL, 0).at;
  operands[n] = po_place_result(c).at;
  uint32_t first = low->out->stmts.len;
  po_add_call(low,
              &(po_stmt){.kind = PO_CALL,
                         .array = operands[n].array,
                         .instr = c->instr,
                         .slots = c->slots,
                         .operands = operands,
                         .term = c->term},
              NULL, NULL);
  po_add_nest(low, first, 0, false);
}

void
po_emit_call(po_lowering *low, gs_term term) {
  assert(gs_at(low->source, term)->op == GS_CALL);
  po_calling c = {.low = low,
                  .term = term,
                  .node = gs_at(low->source, term),
                  .instr = po_instr_of(low, term)};
  if (!bind(&c))
    return;
  if (c.over.n || po_overwritten(c.instr) < c.instr->n_operands)
    po_emit_call_over(&c);
  else
    emit_one(&c);
}
