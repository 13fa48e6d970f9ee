/* SPDX-License-Identifier: MIT */
/* parts.c - macros for the first lanes of a vector, to memory and from there.
 *
 * Of a number of bytes that is no power of two compilers make two or three
 * moves, and shuffles between them; processors with masks need one. */
#include "codegen/above/table.h"

/* Vectors that masks are used for, where the compiler may. */
static const struct part {
  cg_helper id;
  gs_dtype dtype;
  uint32_t lanes;
  const char *feature, *prefix, *suffix, *type, *mask;
} parts[] = {
    {CG_PARTS_F32_16, GS_F32, 16, "__AVX512F__", "_mm512", "ps", "__m512",
     "__mmask16"},
    {CG_PARTS_F64_8, GS_F64, 8, "__AVX512F__", "_mm512", "pd", "__m512d",
     "__mmask8"},
    {CG_PARTS_I32_16, GS_I32, 16, "__AVX512F__", "_mm512", "epi32", "__m512i",
     "__mmask16"},
    {CG_PARTS_F32_8, GS_F32, 8, "__AVX512VL__", "_mm256", "ps", "__m256",
     "__mmask8"},
    {CG_PARTS_F64_4, GS_F64, 4, "__AVX512VL__", "_mm256", "pd", "__m256d",
     "__mmask8"},
    {CG_PARTS_I32_8, GS_I32, 8, "__AVX512VL__", "_mm256", "epi32", "__m256i",
     "__mmask8"},
};

enum { N_PARTS = sizeof parts / sizeof *parts };

cg_helper
cg_parts_of(gs_dtype dtype, uint32_t lanes) {
  for (uint32_t k = 0; k < N_PARTS; k++)
    if (parts[k].dtype == dtype && parts[k].lanes == lanes)
      return parts[k].id;
  return CG_NO_HELPER;
}

static const struct part *
part_of(cg_helper id) {
  const struct part *p = parts;
  while (p->id != id)
    p++;
  return p;
}

const char *
cg_name_of_parts(bs_arena *arena, cg_helper id) {
  const struct part *p = part_of(id);
  return bs_arena_printf(arena, "%s_%u", gs_dtype_table[p->dtype].c_type,
                         p->lanes);
}

static void
put_macros(const struct part *p, bs_text *out) {
  const char *type = gs_dtype_table[p->dtype].c_type;
  unsigned n = p->lanes;
  bs_putf(out,
          "#if defined(%s)\n"
          "#define GLEN_PUT_%s_%u(p, v, n) \\\n"
          "  %s_mask_storeu_%s(p, (%s)((1u << (n)) - 1), (%s)(v))\n"
          "#define GLEN_GET_%s_%u(v, p, n) \\\n"
          "  v = (__typeof__(v))%s_maskz_loadu_%s((%s)((1u << (n)) - 1), p)\n"
          "#else\n"
          "#define GLEN_PUT_%s_%u(p, v, n) memcpy(p, &(v), sizeof *(p) * (n))\n"
          "#define GLEN_GET_%s_%u(v, p, n) memcpy(&(v), p, sizeof *(p) * (n))\n"
          "#endif\n\n",
          p->feature, type, n, p->prefix, p->suffix, p->mask, p->type, type, n,
          p->prefix, p->suffix, p->mask, type, n, type, n);
}

void
cg_put_parts(const cg_above *above, cg_helper helper, bs_text *out) {
  (void)above;
  bs_put(out, "/* The first n lanes. */\n");
  put_macros(part_of(helper), out);
}

void
cg_put_parts_again(const cg_above *above, bs_text *out) {
  for (uint32_t k = 0; k < N_PARTS; k++) {
    const struct part *p = &parts[k];
    const char *type = gs_dtype_table[p->dtype].c_type;
    if (!cg_needs_helper(above->needs, p->id))
      continue;
    bs_putf(out, "#undef GLEN_PUT_%s_%u\n#undef GLEN_GET_%s_%u\n", type,
            p->lanes, type, p->lanes);
    put_macros(p, out);
  }
}
