/* SPDX-License-Identifier: MIT */
/* part.c - the first lanes of a vector, to memory and from there.
 *
 * Of a number of bytes that is no power of two compilers make two or three
 * moves, and shuffles between them; processors with masks need one. */
#include "codegen/contract/contract.h"

/* Vectors that masks are used for, where the compiler may. */
static const struct part {
  gs_dtype dtype;
  uint32_t lanes;
  const char *feature, *prefix, *suffix, *type, *mask;
} parts[] = {
    {GS_F32, 16, "__AVX512F__", "_mm512", "ps", "__m512", "__mmask16"},
    {GS_F64, 8, "__AVX512F__", "_mm512", "pd", "__m512d", "__mmask8"},
    {GS_I32, 16, "__AVX512F__", "_mm512", "epi32", "__m512i", "__mmask16"},
    {GS_F32, 8, "__AVX512VL__", "_mm256", "ps", "__m256", "__mmask8"},
    {GS_F64, 4, "__AVX512VL__", "_mm256", "pd", "__m256d", "__mmask8"},
    {GS_I32, 8, "__AVX512VL__", "_mm256", "epi32", "__m256i", "__mmask8"},
};

enum { N_PARTS = sizeof parts / sizeof *parts };

/* N_PARTS: none. */
static uint32_t
part_of(const cg_contract *x, int64_t width) {
  uint32_t k = 0;
  bool one_move = !(width & (width - 1));
  while (k < N_PARTS && (one_move || parts[k].dtype != x->c->dtype ||
                         parts[k].lanes != x->c->lanes))
    k++;
  return k;
}

static const char *
name_of(cg_emitter *e, uint32_t k) {
  return bs_arena_printf(&e->arena, "%s_%u",
                         gs_dtype_table[parts[k].dtype].c_type, parts[k].lanes);
}

void
cg_put_part(const cg_contract *x, const char *sum, int64_t place,
            cg_transfer way, int64_t width, uint32_t indent) {
  long long bytes = width * gs_dtype_table[x->c->dtype].bytes, at = place;
  uint32_t k = part_of(x, width);
  cg_emitter *e = x->e;
  const char *to = bs_arena_printf(&e->arena, "c + %lld", at);
  const char *get, *put;
  if (k < N_PARTS) {
    e->uses_parts |= 1u << k;
    get = bs_arena_printf(&e->arena, "GLEN_GET_%s(%s, %s, %lld);",
                          name_of(e, k), way == CG_SUMS_ADD ? "part" : sum, to,
                          (long long)width);
    put = bs_arena_printf(&e->arena, "GLEN_PUT_%s(%s, %s, %lld);",
                          name_of(e, k), to, sum, (long long)width);
  } else {
    get = bs_arena_printf(&e->arena, "memcpy(&%s, %s, %lld);",
                          way == CG_SUMS_ADD ? "part" : sum, to, bytes);
    put = bs_arena_printf(&e->arena, "memcpy(%s, &%s, %lld);", to, sum, bytes);
  }
  if (way == CG_SUMS_ADD)
    cg_line(x->out, indent, "{ %s_v part = {0}; %s %s += part; %s }", x->name,
            get, sum, put);
  else
    cg_line(x->out, indent, "%s", way == CG_SUMS_LOAD ? get : put);
}

void
cg_put_part_includes(const cg_emitter *e, bs_text *out) {
  if (e->uses_parts)
    bs_put(out, "#if defined(__GNUC__) && defined(__x86_64__)\n"
                "#include <immintrin.h>\n#endif\n\n");
}

void
cg_put_part_macros(cg_emitter *e, bool again, bs_text *out) {
  for (uint32_t k = 0; k < N_PARTS; k++) {
    const struct part *p = &parts[k];
    const char *name = name_of(e, k);
    if (!(e->uses_parts >> k & 1))
      continue;
    if (again)
      bs_putf(out, "#undef GLEN_PUT_%s\n#undef GLEN_GET_%s\n", name, name);
    else
      bs_put(out, "/* The first n lanes. */\n");
    bs_putf(out,
            "#if defined(%s)\n"
            "#define GLEN_PUT_%s(p, v, n) \\\n"
            "  %s_mask_storeu_%s(p, (%s)((1u << (n)) - 1), (%s)(v))\n"
            "#define GLEN_GET_%s(v, p, n) \\\n"
            "  v = (__typeof__(v))%s_maskz_loadu_%s((%s)((1u << (n)) - 1), p)\n"
            "#else\n"
            "#define GLEN_PUT_%s(p, v, n) memcpy(p, &(v), sizeof *(p) * (n))\n"
            "#define GLEN_GET_%s(v, p, n) memcpy(&(v), p, sizeof *(p) * (n))\n"
            "#endif\n\n",
            p->feature, name, p->prefix, p->suffix, p->mask, p->type, name,
            p->prefix, p->suffix, p->mask, name, name);
  }
}
