/* SPDX-License-Identifier: MIT */
/* lanes.c - macros that move lanes of vectors. */
#include "codegen/above/above_table.h"
#include <assert.h>

static const cg_helper turns[] = {CG_TURN_2, CG_TURN_4, CG_TURN_8, CG_TURN_16};

static void
put_indices(bs_text *out, int64_t lanes, int64_t d, bool low) {
  for (int64_t j = 0; j < lanes; j++) {
    bool first = !(j & d);
    int64_t from =
        low ? (first ? j : lanes + j - d) : (first ? j + d : lanes + j);
    bs_putf(out, "%s%lld", j % 8 ? ", " : ", \\\n      ", (long long)from);
  }
}

static int64_t
lanes_of(cg_helper turn) {
  int64_t lanes = 2;
  for (uint32_t k = 0; turns[k] != turn; k++)
    lanes *= 2;
  return lanes;
}

void
cg_put_turn_macros(const cg_above *above, cg_helper helper, bs_text *out) {
  int64_t lanes = lanes_of(helper);
  /* Rows exchange halves of blocks again and again. */
  assert(lanes > 1 && !(lanes & (lanes - 1)));
  (void)above;
  bs_put(out, "/* Rows exchange blocks. */\n");
  for (int64_t d = lanes / 2; d; d /= 2) {
    bs_putf(out,
            "#define GLEN_TURN%lldX%lld(a, b) do { \\\n"
            "    __typeof__(a) low = __builtin_shufflevector(a, b",
            (long long)lanes, (long long)d);
    put_indices(out, lanes, d, true);
    bs_put(out, "); \\\n    b = __builtin_shufflevector(a, b");
    put_indices(out, lanes, d, false);
    bs_put(out, "); \\\n    a = low; \\\n  } while (0)\n");
  }
  bs_putc(out, '\n');
}
