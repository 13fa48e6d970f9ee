/* SPDX-License-Identifier: MIT */
/* above_memory.c - functions of generated code for stores past the caches, and
 * for what is asked for ahead. */
#include "codegen/above/above_table.h"

/* Whole lines only: part of one would be slower than an ordinary store. */
void
cg_put_stream(const cg_above *above, cg_helper helper, bs_text *out) {
  static const struct {
    const char *macro, *store, *type, *load;
    unsigned bytes;
  } kinds[] = {
      {"__AVX512F__", "_mm512_stream_si512", "__m512i", "_mm512_loadu_si512",
       64},
      {"__AVX__", "_mm256_stream_si256", "__m256i", "_mm256_loadu_si256", 32},
      {"__SSE2__", "_mm_stream_si128", "__m128i", "_mm_loadu_si128", 16}};
  (void)above;
  (void)helper;
  bs_put(out, "/* To memory past the caches: whole lines of it need not be "
              "read first. */\n"
              "static inline void\n"
              "glen_stream(void *to, const void *from, size_t bytes) {\n"
              "  unsigned char *t = (unsigned char *)to;\n"
              "  const unsigned char *f = (const unsigned char *)from;\n"
              "  size_t k = (size_t)(0 - (uintptr_t)to) % 64;\n"
              "  k = k < bytes ? k : bytes;\n"
              "  memcpy(t, f, k);\n");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bs_putf(out, "#%s defined(%s)\n  for (; bytes - k >= 64; k += 64) {\n",
            k ? "elif" : "if", kinds[k].macro);
    for (unsigned at = 0; at < 64; at += kinds[k].bytes)
      bs_putf(out,
              "    %s((%s *)(void *)(t + k + %u),\n"
              "        %s((const %s *)(const void *)(f + k + %u)));\n",
              kinds[k].store, kinds[k].type, at, kinds[k].load, kinds[k].type,
              at);
    bs_put(out, "  }\n");
  }
  bs_put(out, "#endif\n"
              "  memcpy(t + k, f + k, bytes - k);\n}\n\n"
              "/* What was stored so is seen by others from here on. */\n"
              "static inline void\nglen_fence(void) {\n"
              "#if defined(__SSE2__)\n  _mm_sfence();\n#endif\n}\n\n");
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
