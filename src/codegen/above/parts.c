/* SPDX-License-Identifier: MIT */
/* parts.c - macros for the first lanes of a vector, to memory and from there.
 *
 * Of a number of bytes that is no power of two compilers make two or three
 * moves, and shuffles between them; processors with masks need one.  The SOME
 * of them are for a number that is not known, and call what they are given
 * where there are no masks. */
#include "codegen/above/above_table.h"
#include <assert.h>

/* Vectors that masks are used for, where the compiler may. */
static const struct part {
  cg_helper id, some;
  gs_dtype dtype;
  uint32_t lanes;
  /* The macro of the processor's feature, the names that both gcc and clang
   * give its moves, and their types of vectors and of masks. */
  const char *feature, *put, *get, *vector, *mask;
} parts[] = {
#define PART(type, lanes, feature, element, bytes, move, mask)                 \
  {                                                                            \
    CG_PARTS_##type##_##lanes, CG_SOME_##type##_##lanes, GS_##type, lanes,     \
        feature, "__builtin_ia32_store" move "_mask",                          \
        "__builtin_ia32_load" move "_mask",                                    \
        "__attribute__((vector_size(" bytes "))) " element, mask               \
  }
    PART(F32, 16, "__AVX512F__", "float", "64", "ups512", "unsigned short"),
    PART(F64, 8, "__AVX512F__", "double", "64", "upd512", "unsigned char"),
    PART(I32, 16, "__AVX512F__", "int", "64", "dqusi512", "unsigned short"),
    PART(F32, 8, "__AVX512VL__", "float", "32", "ups256", "unsigned char"),
    PART(F64, 4, "__AVX512VL__", "double", "32", "upd256", "unsigned char"),
    PART(I32, 8, "__AVX512VL__", "int", "32", "dqusi256", "unsigned char"),
#undef PART
};

enum { N_PARTS = sizeof parts / sizeof *parts };

cg_helper
cg_parts_of(gs_dtype dtype, uint32_t lanes) {
  assert(dtype < GS_DTYPE_COUNT);
  for (uint32_t k = 0; k < N_PARTS; k++)
    if (parts[k].dtype == dtype && parts[k].lanes == lanes)
      return parts[k].id;
  return CG_NO_HELPER;
}

static const struct part *
part_of(cg_helper id) {
  const struct part *p = parts;
  while (p->id != id && p->some != id)
    p++;
  return p;
}

const char *
cg_name_of_parts(bs_arena *arena, cg_helper id) {
  const struct part *p = part_of(id);
  return bs_arena_printf(arena, "%s_%u", gs_dtype_table[p->dtype].c_type,
                         p->lanes);
}

/* The compilers' own names are used instead of those of <immintrin.h>, which
 * takes them three times as long to read as a kernel takes to compile. */
static void
put_macros(const struct part *p, bs_text *out) {
  const char *type = gs_dtype_table[p->dtype].c_type;
  unsigned n = p->lanes;
  bs_putf(out,
          "#if defined(__GNUC__) && defined(%s)\n"
          "#define GLEN_PUT_%s_%u(p, v, n) \\\n"
          "  %s( \\\n"
          "      (void *)(p), (%s)(v), (%s)((1u << (n)) - 1))\n"
          "#define GLEN_GET_%s_%u(v, p, n) \\\n"
          "  v = (__typeof__(v))%s( \\\n"
          "      (const void *)(p), (%s){0}, (%s)((1u << (n)) - 1))\n"
          "#else\n",
          p->feature, type, n, p->put, p->vector, p->mask, type, n, p->get,
          p->vector, p->mask);
  bs_putf(out,
          "#define GLEN_PUT_%s_%u(p, v, n) memcpy(p, &(v), sizeof *(p) * (n))\n"
          "#define GLEN_GET_%s_%u(v, p, n) memcpy(&(v), p, sizeof *(p) * (n))\n"
          "#endif\n\n",
          type, n, type, n);
}

/* Of a number that is not known: a function that is given does it where there
 * are no masks.  It is given the address of a copy, so that what that is a copy
 * of stays in a register. */
static void
put_some_macros(const struct part *p, bs_text *out) {
  const char *type = gs_dtype_table[p->dtype].c_type;
  unsigned n = p->lanes;
  bs_putf(out,
          "#if defined(__GNUC__) && defined(%s)\n"
          "#define GLEN_PUT_SOME_%s_%u(p, v, n, put) GLEN_PUT_%s_%u(p, v, n)\n"
          "#define GLEN_GET_SOME_%s_%u(v, p, n, get) GLEN_GET_%s_%u(v, p, n)\n"
          "#else\n"
          "#define GLEN_PUT_SOME_%s_%u(p, v, n, put) \\\n"
          "  do { \\\n"
          "    const __typeof__(v) glen_part = (v); \\\n"
          "    put(p, (const %s *)&glen_part, n); \\\n"
          "  } while (0)\n"
          "#define GLEN_GET_SOME_%s_%u(v, p, n, get) get((%s *)&(v), p, n)\n"
          "#endif\n\n",
          p->feature, type, n, type, n, type, n, type, n, type, n, type, type,
          n, type);
}

void
cg_put_parts(const cg_above *above, cg_helper helper, bs_text *out) {
  (void)above;
  bs_put(out, "/* The first n lanes. */\n");
  put_macros(part_of(helper), out);
}

void
cg_put_some(const cg_above *above, cg_helper helper, bs_text *out) {
  (void)above;
  put_some_macros(part_of(helper), out);
}

static void
put_undefined(const struct part *p, const char *put, const char *get,
              bs_text *out) {
  const char *type = gs_dtype_table[p->dtype].c_type;
  bs_putf(out, "#undef %s_%s_%u\n#undef %s_%s_%u\n", put, type, p->lanes, get,
          type, p->lanes);
}

void
cg_put_parts_again(const cg_above *above, bs_text *out) {
  for (uint32_t k = 0; k < N_PARTS; k++) {
    const struct part *p = &parts[k];
    if (!cg_needs_helper(above->needs, p->id))
      continue;
    put_undefined(p, "GLEN_PUT", "GLEN_GET", out);
    put_macros(p, out);
    if (!cg_needs_helper(above->needs, p->some))
      continue;
    put_undefined(p, "GLEN_PUT_SOME", "GLEN_GET_SOME", out);
    put_some_macros(p, out);
  }
}
