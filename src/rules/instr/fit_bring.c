/* SPDX-License-Identifier: MIT */
/* fit_bring.c - whether what a call reads or writes can stay where it is.
 *
 * What lies in dram is named by strides as far as the template mentions them;
 * what lies in a memory is brought there, or back, by instructions of which the
 * same is true. */
#include "rules/instr/fit.h"
#include <assert.h>

static uint32_t
mentioned(const gs_instr *i, uint32_t k) {
  uint32_t mask = 0;
  gs_emit_piece piece;
  for (const char *at = i->emit; gs_emit_next(i, &at, &piece);)
    if (piece.kind == GS_EMIT_STRIDE && piece.operand == k)
      mask |= 1u << piece.dim;
  return mask;
}

/* A dimension whose stride is not mentioned lies as in a dense array. */
static bool
lies_so(uint32_t mask, const int64_t *dim, const int64_t *stride,
        uint32_t rank) {
  int64_t dense = 1;
  for (uint32_t d = rank; d-- > 0; dense *= dim[d])
    if (dim[d] > 1 && !(mask >> d & 1) && stride[d] != dense)
      return false;
  return true;
}

/* The last dimensions are those of the move; of others each index is a move. */
static bool
moves_so(const gs_instr *i, bool load, const int64_t *dim,
         const int64_t *stride, uint32_t rank) {
  int64_t at_dim[GS_MAX_RANK], at_stride[GS_MAX_RANK];
  uint32_t n = i->result.rank;
  for (uint32_t d = 0; d < n; d++) {
    uint32_t to = gs_move_dim(i, !load, d);
    bool has = d + rank >= n, repeats = i->repeats >> d & 1;
    at_dim[to] = has && !repeats ? dim[d + rank - n] : 1;
    at_stride[to] = has ? stride[d + rank - n] : 1;
    if (has && repeats && dim[d + rank - n] > 1 && at_stride[to])
      return false;
  }
  return lies_so(mentioned(i, load ? 0 : 1), at_dim, at_stride, n);
}

/* Brings operands of the dtype to the memory, or results away, as they are or
 * converted. */
static bool
is_for(const gs_target *t, uint32_t j, const gs_operand *o, bool load) {
  assert(j < t->instrs.len);
  const gs_instr *i = t->instrs.data[j];
  if (load)
    return gs_is_on_way(t, j, o->dtype, 0, o->memory);
  if (i->converts)
    return i->operands[0].dtype == o->dtype &&
           i->operands[0].memory == o->memory;
  return i->moves && i->result.dtype == o->dtype && !i->result.memory;
}

bool
fit_can_bring(const gs_target *t, const gs_instr *instr, uint32_t k,
              const int64_t *dim, const int64_t *stride, uint32_t rank) {
  assert(k <= instr->n_operands && rank <= GS_MAX_RANK);
  bool load = k < instr->n_operands;
  const gs_operand *o = load ? &instr->operands[k] : &instr->result;
  if (!o->memory)
    return lies_so(mentioned(instr, k), dim, stride, rank);
  if (load && !gs_hops(t, o->dtype, 0, o->memory))
    return true; /* another call leaves it there, so that no copy would help */
  for (uint32_t j = 0; j < t->instrs.len; j++)
    if (is_for(t, j, o, load) &&
        moves_so(t->instrs.data[j], load, dim, stride, rank))
      return true;
  return false;
}

bool
fit_can_come(const fit_match *m, const gs_operand *o, const int64_t *dim) {
  const gs_target *t = m->session->target;
  bool any = !o->memory || !gs_hops(t, o->dtype, 0, o->memory);
  for (uint32_t j = 0; j < t->instrs.len && !any; j++)
    any = is_for(t, j, o, true) &&
          gs_takes_tile(m->session->ctx.values, t->instrs.data[j], o->dtype,
                        dim, o->rank);
  return any;
}
