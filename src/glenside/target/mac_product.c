/* SPDX-License-Identifier: MIT */
/* mac_product.c - what a multiply-accumulate instruction is for, with a
 * meaning.
 *
 * A test of it needs sizes, operands and what they mean: those of a product of
 * matrices, declared as an instruction of any sizes.  Its own shape stands in
 * the condition, so that sizes around that are tried. */
#include "glenside/target/target_parse.h"

/* The dtype of both factors that needs the fewest offsets. */
static bool
find_dtype(const gs_mac *mac, gs_dtype *out) {
  static const gs_dtype dtypes[] = {GS_I8,   GS_U8,  GS_I32,
                                    GS_BF16, GS_F32, GS_F64};
  int fewest = 3;
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    int64_t offset[2];
    if (!gs_mac_takes(mac, dtypes[k], dtypes[k], mac->sum, offset))
      continue;
    int offsets = (offset[0] != 0) + (offset[1] != 0);
    if (offsets < fewest)
      *out = dtypes[k];
    fewest = offsets < fewest ? offsets : fewest;
  }
  return fewest < 3;
}

const gs_instr *
gs_mac_product(const gs_context *ctx, const gs_mac *mac) {
  gs_target t = {.name = ""};
  gs_dtype dtype;
  if (!find_dtype(mac, &dtype))
    return NULL;
  const char *name = gs_dtype_table[dtype].name;
  const char *text = bs_arena_printf(
      ctx->arena,
      "(instr product (operands (x ((m) (k)) %s) (y ((n) (k)) %s))"
      " (result ((m n) ()) %s)"
      " (semantics (compute dotProd (cartProd x y)))"
      " (where (or (= m %lld) (= n %lld) (= k %lld) (> k 0)))"
      " (emit \"{result}\"))",
      name, name, gs_dtype_table[mac->sum].name, (long long)mac->m,
      (long long)mac->n, (long long)mac->k);
  bool ok = target_parse_text(ctx, &t, mac->name, text);
  const gs_instr *out = ok ? t.instrs.data[0] : NULL;
  bs_vec_done(ctx->heap, &t.instrs);
  return out;
}
