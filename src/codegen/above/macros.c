/* SPDX-License-Identifier: MIT */
/* macros.c - includes and macros that depend on the target. */
#include "codegen/above/above_table.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>

/* Which thread of how many: a local too large for a stack has room in the
 * workspace for a team of this size. */
void
cg_put_team_macros(const cg_above *above, cg_helper helper, bs_text *out) {
  (void)above;
  (void)helper;
  bs_putf(out,
          "#ifdef _OPENMP\n#include <omp.h>\n"
          "#define GLEN_THREAD omp_get_thread_num()\n"
          "#define GLEN_TEAM \\\n"
          "  (omp_get_max_threads() < %d ? omp_get_max_threads() : %d)\n"
          "#else\n#define GLEN_THREAD 0\n#endif\n\n",
          PO_MAX_TEAM, PO_MAX_TEAM);
}

/* What an instruction of the target needs included. */
static void
put_headers_of(const gs_mac *mac, bs_text *out) {
  if (!mac->headers)
    return;
  const char *when = mac->processor ? mac->processor : mac->when;
  if (when)
    bs_putf(out, "#if %s\n", when);
  for (const char *at = mac->headers; *at;) {
    int n = (int)strcspn(at, " \n");
    if (n)
      bs_putf(out, "#include <%.*s>\n", n, at);
    at += n + (at[n] != 0);
  }
  bs_put(out, when ? "#endif\n\n" : "\n");
}

void
cg_put_mac_headers(const cg_above *above, cg_helper helper, bs_text *out) {
  assert(!above->needs->macs || above->target);
  (void)helper;
  for (uint32_t k = 0; k < GS_MAX_MACS && above->needs->macs >> k; k++)
    if (above->needs->macs >> k & 1)
      put_headers_of(above->target->macs.data[k], out);
}

/* gcc would load a vector again for each of its uses, where it is free to. */
void
cg_put_hold(const cg_above *above, cg_helper helper, bs_text *out) {
  assert(above->target && above->target->vector_bytes > 0);
  int64_t bytes = above->target->vector_bytes;
  const char *feature = bytes > 32   ? "__AVX512F__"
                        : bytes > 16 ? "__AVX__"
                                     : "__SSE2__";
  (void)helper;
  bs_putf(out,
          "/* The vector is in a register. */\n"
          "#if defined(__GNUC__) && !defined(__clang__) && defined(%s)\n"
          "#define GLEN_HOLD(v) __asm__(\"\" : \"+v\"(v))\n"
          "#else\n"
          "#define GLEN_HOLD(v) (void)(v)\n"
          "#endif\n",
          feature);
}

void
cg_put_vectors_again(const cg_above *above, bs_text *out) {
  if (!cg_needs_helper(above->needs, CG_HOLD))
    return;
  bs_put(out, "#undef GLEN_HOLD\n");
  cg_put_hold(above, CG_HOLD, out);
  bs_putc(out, '\n');
  cg_put_parts_again(above, out);
}
