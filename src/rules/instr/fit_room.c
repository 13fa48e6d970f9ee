/* SPDX-License-Identifier: MIT */
/* fit_room.c - which sizes of a call its memories have room for. */
#include "rules/instr/fit.h"
#include <assert.h>
#include <string.h>

/* Far more than any memory has. */
enum { MOST_BITS = 40 };

bool
fit_has_room(const gs_context *ctx, const fit_instr *f, const int64_t *size) {
  const gs_instr *instr = f->instr;
  uint32_t slots[GS_MAX_INSTR_VARS];
  gs_env env = {
      .values = ctx->values, .slots = slots, .n_slots = instr->scope.vars.len};
  memcpy(slots, f->fixed_slots, sizeof slots);
  for (uint32_t j = 0; j < f->n_ids; j++)
    if (f->id[j].named)
      slots[f->id[j].slot] = bs_int(ctx->values, size[j]).i;
  for (uint32_t k = 0; k < instr->n_rooms; k++) {
    bs_value bytes;
    if (gs_expr_eval(instr->rooms[k].bytes, &env, &bytes) &&
        bs_as_int(ctx->values, bytes) > instr->rooms[k].most)
      return false;
  }
  return true;
}

/* The largest size of one digit, of those up to a power of two, that leaves
 * room while the others are as small as they may be. */
static int64_t
largest(const gs_context *ctx, const fit_instr *f, uint32_t id) {
  assert(id < f->n_ids);
  int64_t size[FIT_IDS], v = 0;
  for (uint32_t j = 0; j < f->n_ids; j++)
    size[j] = f->id[j].fixed ? f->id[j].fixed : 1;
  for (uint32_t bit = MOST_BITS; bit-- > 0;) {
    size[id] = v + ((int64_t)1 << bit);
    if (fit_has_room(ctx, f, size))
      v = size[id];
  }
  return v;
}

void
fit_find_room(const gs_context *ctx, fit_instr *f) {
  const gs_instr *instr = f->instr;
  memset(f->fixed_slots, 0xff, sizeof f->fixed_slots);
  for (uint32_t k = 0; k < instr->scope.vars.len; k++) {
    int64_t v;
    if (gs_expr_fixes(ctx->values, instr->where, k, &v))
      f->fixed_slots[k] = bs_int(ctx->values, v).i;
  }
  for (uint32_t j = 0; j < f->n_ids && instr->n_rooms; j++)
    if (f->id[j].named && !f->id[j].fixed)
      f->id[j].room = largest(ctx, f, j);
}
