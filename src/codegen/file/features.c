/* SPDX-License-Identifier: MIT */
/* features.c - functions compiled for more than the compiler was told of.
 *
 * C whose vectors are wider than the registers that the compiler may use keeps
 * its sums in memory, tens of times slower.  A file says itself what it was
 * made for, so that its speed does not hang on a flag. */
#include "codegen/file/codegen_file.h"
#include <assert.h>

void
cg_put_features(const gs_variant *v, bs_text *out) {
  assert(v && v->features && *v->features);
  bs_putf(out,
          "#if defined(__clang__)\n"
          "#pragma clang attribute push( \\\n"
          "    __attribute__((target(\"%s\"))), \\\n"
          "    apply_to = function)\n"
          "#else\n"
          "#pragma GCC push_options\n"
          "#pragma GCC target(\"%s\")\n"
          "#endif\n",
          v->features, v->features);
}

void
cg_put_features_end(bs_text *out) {
  bs_put(out, "#if defined(__clang__)\n"
              "#pragma clang attribute pop\n"
              "#else\n"
              "#pragma GCC pop_options\n"
              "#endif\n");
}

/* NULL: any processor has such vectors. */
static const gs_variant *
wide(const gs_target *t) {
  const gs_variant *v = t ? gs_variant_of_vectors(t->vector_bytes) : NULL;
  return v && *v->features ? v : NULL;
}

void
cg_put_wide(const gs_target *t, bs_text *out) {
  const gs_variant *v = wide(t);
  if (!v)
    return;
  bs_putf(out,
          "/* Made for vectors of %lld bytes, whatever flags say, but for\n"
          " * GLEN_NARROW. */\n"
          "#if defined(__GNUC__) && defined(__x86_64__) && !defined(%s) && \\\n"
          "    !defined(GLEN_NARROW)\n"
          "#define GLEN_WIDE\n",
          (long long)v->vector_bytes,
          v->vector_bytes > 32 ? "__AVX512F__" : "__AVX2__");
  cg_put_features(v, out);
  bs_put(out, "#endif\n\n");
}

void
cg_put_wide_end(const gs_target *t, bs_text *out) {
  if (!wide(t))
    return;
  bs_put(out, "\n#if defined(GLEN_WIDE)\n");
  cg_put_features_end(out);
  bs_put(out, "#undef GLEN_WIDE\n#endif\n");
}

#if defined(__GNUC__) && defined(__x86_64__)
static bool
has_vectors(int64_t bytes) {
  return bytes > 32
             ? __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
             : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static bool
has_vectors(int64_t bytes) {
  (void)bytes;
  return true;
}
#endif

const char *
cg_narrow_flag(const gs_target *t) {
  const gs_variant *v = wide(t);
  return v && !has_vectors(v->vector_bytes) ? "-DGLEN_NARROW" : NULL;
}
