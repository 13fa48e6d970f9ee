/* SPDX-License-Identifier: MIT */
/* above_memory.c - functions of generated code for stores past the caches, and
 * for what is asked for ahead. */
#include "codegen/above/above_table.h"

/* Whole lines only: part of one would be slower than an ordinary store. gcc and
 * clang name the stores differently; <immintrin.h> has one name for both, but
 * takes longer to read than most functions take to compile. */
void
cg_put_stream(const cg_above *above, cg_helper helper, bs_text *out) {
  static const struct {
    const char *macro, *store;
    unsigned bytes;
  } kinds[] = {{"__AVX512F__", "__builtin_ia32_movntdq512", 64},
               {"__AVX__", "__builtin_ia32_movntdq256", 32},
               {"__SSE2__", "__builtin_ia32_movntdq", 16}};
  (void)above;
  (void)helper;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    bs_putf(out,
            "#%s defined(%s)\n"
            "typedef long long glen_past __attribute__((vector_size(%u)));\n"
            "#define GLEN_PAST(to, v) %s(to, v)\n",
            k ? "elif" : "if", kinds[k].macro, kinds[k].bytes, kinds[k].store);
  bs_put(out,
         "#endif\n"
         "#if defined(__clang__)\n"
         "#undef GLEN_PAST\n"
         "#define GLEN_PAST(to, v) __builtin_nontemporal_store(v, to)\n"
         "#endif\n\n"
         "/* To memory past the caches: whole lines of it need not be "
         "read first. */\n"
         "static inline void\n"
         "glen_stream(void *to, const void *from, size_t bytes) {\n"
         "  unsigned char *t = (unsigned char *)to;\n"
         "  const unsigned char *f = (const unsigned char *)from;\n"
         "  size_t k = (size_t)(0 - (uintptr_t)to) % 64;\n"
         "  k = k < bytes ? k : bytes;\n"
         "  memcpy(t, f, k);\n"
         "#if defined(__SSE2__)\n"
         "  for (; bytes - k >= 64; k += 64)\n"
         "    for (size_t at = k; at < k + 64; at += sizeof(glen_past)) {\n"
         "      glen_past v;\n"
         "      memcpy(&v, f + at, sizeof v);\n"
         "      GLEN_PAST((glen_past *)(void *)(t + at), v);\n"
         "    }\n"
         "#endif\n"
         "  memcpy(t + k, f + k, bytes - k);\n}\n\n"
         "/* What was stored so is seen by others from here on. */\n"
         "static inline void\nglen_fence(void) {\n"
         "#if defined(__SSE2__)\n  __builtin_ia32_sfence();\n#endif\n}\n\n");
}

static void
put_fetch_helper(const char *index, const char *suffix, const char *level,
                 bs_text *out) {
  bs_putf(out,
          "static inline void\n"
          "glen_prefetch%s(const void *array, %s first, %s n, %s bytes,\n"
          "              ptrdiff_t ahead) {\n"
          "#if defined(__GNUC__)\n"
          "  const uintptr_t from = (uintptr_t)array +\n"
          "      (uintptr_t)first * (uintptr_t)bytes + (uintptr_t)ahead;\n"
          "  for (uintptr_t k = 0; k < (uintptr_t)n * (uintptr_t)bytes; "
          "k += 64)\n"
          "    __builtin_prefetch((const void *)(from + k)%s);\n"
          "#else\n  (void)array, (void)first, (void)n, (void)bytes, "
          "(void)ahead;\n"
          "#endif\n}\n\n",
          suffix, index, index, index, level);
}

/* No pointer is formed: the place may be past the end of the array. */
void
cg_put_fetch(const cg_above *above, cg_helper helper, bs_text *out) {
  const char *index = above->index;
  bool writes = cg_needs_helper(above->needs, CG_PREFETCH_WRITE);
  (void)helper;
  bs_putf(out,
          "/* n elements of so many bytes from `first` on, so many bytes\n"
          " * further: they are read soon, or in the next row%s. */\n",
          writes ? ", or\n * written soon" : "");
  put_fetch_helper(index, "", "", out);
  put_fetch_helper(index, "_row", ", 0, 2", out);
  if (writes)
    put_fetch_helper(index, "_write", ", 1", out);
}
