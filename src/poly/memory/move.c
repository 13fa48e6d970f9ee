/* SPDX-License-Identifier: MIT */
/* move.c - see move.h. */
#include "glenside/target/machine.h"
#include "poly/memory/move.h"
#include "poly/loops/affine.h"
#include "poly/loops/operand.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct finding {
  const gs_context *ctx;
  const gs_target *target;
  bs_arena *arena;
  const po_tile *tile;
  const uint32_t *like; /* slots with the parameters of a call; or NULL */
} finding;

/* What the tile has for its dimension that is number d of the instruction's. */
static int64_t
piece_at(const po_tile *t, const gs_instr *i, const int64_t *piece,
         uint32_t d) {
  uint32_t missing = i->result.rank > t->rank ? i->result.rank - t->rank : 0;
  uint32_t skipped = i->result.rank > t->rank ? 0 : t->rank - i->result.rank;
  return d < missing ? 1 : piece[d - missing + skipped];
}

static int64_t
stride_at(const po_tile *t, const gs_instr *i, uint32_t d) {
  return piece_at(t, i, t->stride, d);
}

static bool
admits(const finding *f, const gs_instr *i, const int64_t *piece,
       uint32_t *slots) {
  int64_t dim[GS_MAX_RANK];
  for (uint32_t d = 0; d < i->result.rank; d++)
    dim[gs_move_dim(i, true, d)] = piece_at(f->tile, i, piece, d);
  return gs_bind_piece(f->ctx->values, i, f->tile->dtype, dim, f->like, slots);
}

/* What the instruction repeats is the same along the dimension. */
static bool
repeats_so(const finding *f, const gs_instr *i, const int64_t *piece) {
  for (uint32_t d = 0; d < i->result.rank; d++)
    if (i->repeats >> d & 1 && piece_at(f->tile, i, piece, d) > 1 &&
        stride_at(f->tile, i, d))
      return false;
  return true;
}

/* The side that lies in dram has its strides where the template takes them. */
static bool
lies_so(const finding *f, const gs_instr *i, const int64_t *piece) {
  bool load = !i->operands[0].memory;
  int64_t stride[GS_MAX_RANK], dim[GS_MAX_RANK];
  uint32_t n = i->result.rank;
  if (!load && i->result.memory)
    return true;
  for (uint32_t d = 0; d < n; d++) {
    uint32_t at = gs_move_dim(i, !load, d);
    dim[at] = i->repeats >> d & 1 ? 1 : piece_at(f->tile, i, piece, d);
    stride[at] = stride_at(f->tile, i, d);
  }
  return po_stray_dimension(po_mentioned_strides(i, load ? 0 : 1), stride, dim,
                            n) == n;
}

/* Elements from one index of each dimension to the next, of a dense array in a
 * memory. */
static void
memory_strides(const gs_memory *m, gs_dtype dtype, const int64_t *dim,
               uint32_t rank, int64_t *stride) {
  int64_t n = 1;
  for (uint32_t d = rank; d-- > 0;) {
    stride[d] = n;
    n *= d + 1 == rank ? gs_memory_pitch(m, dtype, dim[d]) : dim[d];
  }
}

/* On one side, in a memory, the piece is told by where it begins: so its rows
 * are as far apart as if it lay there alone, unless the template has a stride
 * for them. */
static bool
lies_alone(const finding *f, const gs_instr *i, const int64_t *piece,
           uint32_t side) {
  const po_tile *t = f->tile;
  const gs_operand *o = side ? &i->result : &i->operands[0];
  const gs_memory *m = gs_memory_at(f->target, o->memory);
  int64_t dim[GS_MAX_RANK], stride[GS_MAX_RANK], alone[GS_MAX_RANK];
  uint32_t mentioned = po_mentioned_strides(i, side);
  bool ok = true;
  if (!m)
    return true;
  memory_strides(m, t->dtype, t->dim, t->rank, stride);
  for (uint32_t d = 0; d < o->rank; d++)
    dim[gs_move_dim(i, side, d)] = piece_at(t, i, piece, d);
  memory_strides(m, t->dtype, dim, o->rank, alone);
  for (uint32_t d = 0; d < o->rank && ok; d++) {
    uint32_t at = gs_move_dim(i, side, d);
    ok = dim[at] == 1 || mentioned >> at & 1 ||
         piece_at(t, i, stride, d) == alone[at];
  }
  return ok;
}

/* A template that is told a row takes what begins there. */
static bool
begins_rows(const finding *f, const gs_instr *i, const int64_t *piece) {
  const po_tile *t = f->tile;
  uint32_t last = t->rank - 1, memory = i->result.memory;
  gs_emit_piece at;
  bool told = false;
  for (const char *s = i->emit; gs_emit_next(i, &s, &at);)
    told |= at.kind == GS_EMIT_ROW;
  const gs_memory *m =
      gs_memory_at(f->target, memory ? memory : i->operands[0].memory);
  return !told || !t->rank || !m || piece[last] == t->dim[last] ||
         piece[last] * gs_dtype_table[t->dtype].bytes % m->row == 0;
}

static double
cycles_of(const finding *f, const gs_instr *i, const uint32_t *slots,
          const int64_t *piece) {
  const po_tile *t = f->tile;
  double pieces = 1, bytes = gs_dtype_table[t->dtype].bytes;
  for (uint32_t d = 0; d < t->rank; d++) {
    pieces *= (double)t->dim[d] / (double)piece[d];
    bytes *= (double)piece[d];
  }
  return pieces * gs_instr_cost(i, f->ctx->values, slots, "cycles",
                                bytes / gs_bytes_a_cycle(f->target, INFINITY));
}

/* The cheapest pieces for the instruction. */
static bool
try_instr(const finding *f, const gs_instr *i, po_move *out) {
  const po_tile *t = f->tile;
  int64_t piece[GS_MAX_RANK];
  uint32_t slots[GS_MAX_INSTR_VARS];
  uint32_t first = t->rank > i->result.rank ? t->rank - i->result.rank : 0;
  bool found = false;
  for (uint32_t d = 0; d < t->rank; d++)
    piece[d] = d < first ? 1 : t->dim[d];
  do {
    if (!repeats_so(f, i, piece) || !lies_so(f, i, piece) ||
        !begins_rows(f, i, piece) || !lies_alone(f, i, piece, 0) ||
        !lies_alone(f, i, piece, 1) || !admits(f, i, piece, slots))
      continue;
    double cycles = cycles_of(f, i, slots, piece);
    if (out->instr && cycles >= out->cycles)
      continue;
    *out = (po_move){.instr = i, .cycles = cycles};
    memcpy(out->piece, piece, t->rank * sizeof *piece);
    out->slots =
        bs_arena_copy(f->arena, slots, (i->scope.vars.len + 1) * sizeof *slots);
    found = true;
  } while (gs_next_piece(t->dim + first, t->rank - first, piece + first));
  return found;
}

static bool
next_move(const finding *f, uint32_t from, uint32_t to, po_move *out) {
  *out = (po_move){0};
  for (uint32_t k = 0; k < f->target->instrs.len; k++)
    if (gs_is_on_way(f->target, k, f->tile->dtype, from, to))
      try_instr(f, f->target->instrs.data[k], out);
  return out->instr != NULL;
}

bool
po_find_route(const gs_context *ctx, const gs_target *target, bs_arena *arena,
              const po_tile *tile, uint32_t from, uint32_t to, po_route *out) {
  assert(from <= target->memories.len && to <= target->memories.len);
  finding f = {ctx, target, arena, tile, NULL};
  *out = (po_route){.memory = {from}};
  while (out->memory[out->n] != to) {
    uint32_t n = out->n;
    if (n == PO_MOST_HOPS || !next_move(&f, out->memory[n], to, &out->move[n]))
      return false;
    out->memory[n + 1] = out->move[n].instr->result.memory;
    out->n++;
  }
  return true;
}

bool
po_find_conversion(const gs_context *ctx, const gs_target *target,
                   bs_arena *arena, const po_tile *tile, const gs_instr *instr,
                   const uint32_t *like, po_route *out) {
  finding f = {ctx, target, arena, tile, like};
  uint32_t between = instr->result.memory;
  *out = (po_route){.n = between ? 2 : 1,
                    .memory = {instr->operands[0].memory, between, 0}};
  if (!try_instr(&f, instr, &out->move[0]))
    return false;
  return !between || (instr->result.dtype == tile->dtype &&
                      next_move(&f, between, 0, &out->move[1]) &&
                      !out->move[1].instr->result.memory);
}

/* Whether an instruction that converts takes the tile out of the memory. */
static bool
can_convert(const gs_context *ctx, const gs_target *target, const po_tile *tile,
            uint32_t memory) {
  po_route route;
  for (uint32_t k = 0; k < target->instrs.len; k++) {
    const gs_instr *i = target->instrs.data[k];
    if (i->converts && i->operands[0].memory == memory &&
        i->operands[0].dtype == tile->dtype && !i->n_params &&
        po_find_conversion(ctx, target, ctx->arena, tile, i, NULL, &route))
      return true;
  }
  return false;
}

bool
po_can_bring(const gs_context *ctx, const gs_target *target,
             const gs_instr *instr, uint32_t k, const int64_t *stride,
             const int64_t *dim, uint32_t rank) {
  assert(rank <= GS_MAX_RANK && k <= instr->n_operands);
  bool result = k == instr->n_operands;
  const gs_operand *o = result ? &instr->result : &instr->operands[k];
  po_tile tile = {.dtype = o->dtype, .rank = rank};
  po_route route;
  if (!result && o->memory && !gs_hops(target, o->dtype, 0, o->memory))
    return true; /* another call leaves it there, so that no copy would help */
  memcpy(tile.dim, dim, rank * sizeof *dim);
  memcpy(tile.stride, stride, rank * sizeof *stride);
  return po_find_route(ctx, target, ctx->arena, &tile, result ? o->memory : 0,
                       result ? 0 : o->memory, &route) ||
         (result && can_convert(ctx, target, &tile, o->memory));
}
