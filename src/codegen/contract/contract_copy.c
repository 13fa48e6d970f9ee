/* SPDX-License-Identifier: MIT */
/* contract_copy.c - the functions that packing is made of.
 *
 * Copies of short runs whose length is not known: whole vectors, then halves of
 * them, the last of which overlaps what was copied before.
 *
 * Blocks of `lanes` x `lanes` elements are turned over in registers: in stage d
 * = lanes / 2, .., 2, 1 rows i and i + d exchange their off-diagonal blocks of
 * d x d (Eklundh, "A fast computer method for matrix transposing", 1972).
 * Compilers without __builtin_shufflevector copy element by element. */
#include "codegen/contract/contract.h"
#include <assert.h>

bool
cg_can_turn(int64_t lanes) {
  return lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16;
}

void
cg_put_turn(const cg_contract *x) {
  assert(cg_can_turn(x->c->lanes));
  int64_t lanes = x->c->lanes;
  for (int64_t d = lanes / 2; d; d /= 2)
    for (int64_t i = 0; i < lanes; i++)
      if (!(i & d))
        cg_write(x->w, "GLEN_TURN%lldX%lld(t%lld, t%lld);", (long long)lanes,
                 (long long)d, (long long)i, (long long)(i + d));
}

/* Rows first .. of the panel, at most a vector of them. */
static void
put_turned_block(const cg_contract *x, int64_t first, int64_t width) {
  assert(first >= 0 && first < width);
  int64_t lanes = x->c->lanes;
  int64_t rows = width - first < lanes ? width - first : lanes;
  long long bytes = rows * gs_dtype_table[x->c->dtype].bytes;
  cg_write(x->w, "{");
  for (int64_t r = 0; r < lanes; r++) {
    if (r < rows)
      cg_write(x->w, "%s_v t%lld = *(const %s_v *)(row[%lld] + at);", x->name,
               (long long)r, x->name, (long long)(first + r));
    else
      cg_write(x->w, "%s_v t%lld = {0};", x->name, (long long)r);
  }
  cg_put_turn(x);
  for (int64_t j = 0; j < lanes; j++) {
    long long place = j * width + first;
    if (rows == lanes)
      cg_write(x->w, "*(%s_v *)(to + %lld) = t%lld;", x->name, place,
               (long long)j);
    else
      cg_write(x->w, "memcpy(to + %lld, &t%lld, %lld);", place, (long long)j,
               bytes);
  }
  cg_write(x->w, "}");
}

void
cg_put_turn_function(const cg_contract *x, char letter, int64_t width) {
  assert(width > 0 && (letter == 'x' || letter == 'y'));
  const char *index = x->e->index;
  cg_write(x->w,
           "static inline void\n%s_turn_%c(const %s *const *row, %s at, "
           "%s *restrict to) {",
           x->name, letter, x->type, index, x->type);
  cg_write(x->w, "#ifdef GLEN_TURNS");
  for (int64_t first = 0; first < width; first += x->c->lanes)
    put_turned_block(x, first, width);
  cg_write(x->w, "#else");
  cg_write(x->w, "for (int j = 0; j < %u; j++)", x->c->lanes);
  cg_write(x->w, "for (int r = 0; r < %lld; r++)", (long long)width);
  cg_write(x->w, "to[%lld * j + r] = row[r][at + j];", (long long)width);
  cg_write(x->w, "#endif");
  cg_close_function(x->e, x->w);
}

void
cg_put_bits(const cg_contract *x) {
  assert(x->c->lanes && !(x->c->lanes & (x->c->lanes - 1)));
  size_t bytes = gs_dtype_table[x->c->dtype].bytes;
  for (uint32_t part = x->c->lanes / 2; part > 1; part /= 2) {
    cg_write(x->w, "if (n & %u) {", part);
    cg_write(x->w, "memcpy(to + t, from + t, %zu);", part * bytes);
    cg_write(x->w, "t += %u;", part);
    cg_write(x->w, "}");
  }
}

/* Less than a vector, of which the call alone knows how many: two runs that
 * overlap, or one element, for a loop over them becomes a call of memmove. */
static void
put_overlapping(const cg_contract *x) {
  size_t bytes = (size_t)gs_dtype_table[x->c->dtype].bytes;
  for (unsigned half = x->c->lanes / 2; half > 1; half /= 2) {
    cg_write(x->w, "if (n >= %u) {", half);
    cg_write(x->w, "memcpy(to, from, %zu);", half * bytes);
    cg_write(x->w, "memcpy(to + n - %u, from + n - %u, %zu);", half, half,
             half * bytes);
    cg_write(x->w, "return;");
    cg_write(x->w, "}");
  }
  cg_write(x->w, "to[0] = from[0];");
}

/* Held, lest the compiler calls memcpy for a few vectors. */
static void
put_vectors(const cg_contract *x) {
  cg_write(x->w, "for (; t + %u <= n; t += %u) {", x->c->lanes, x->c->lanes);
  cg_write(x->w, "%s_v part = *(const %s_v *)(from + t);", x->name, x->name);
  if (cg_fits_register(x))
    cg_write(x->w, "GLEN_HOLD(part);");
  cg_write(x->w, "*(%s_v *)(to + t) = part;", x->name);
  cg_write(x->w, "}");
  cg_write(x->w, "if (t == n)");
  cg_write(x->w, "return;");
  uint32_t lanes = x->c->lanes;
  cg_write(x->w, "if (n >= %u) {", lanes);
  cg_write(x->w, "memcpy(to + n - %u, from + n - %u, %zu);", lanes, lanes,
           lanes * (size_t)gs_dtype_table[x->c->dtype].bytes);
  cg_write(x->w, "return;");
  cg_write(x->w, "}");
  if (x->over)
    put_overlapping(x);
  else
    cg_put_bits(x);
}

/* Two vectors hold the elements of one; they overlap by one element, so that
 * none behind the last is read. */
static void
put_halved(const cg_contract *x, const char *t) {
  uint32_t lanes = x->c->lanes;
  cg_write(x->w, "const %s_v a = *(const %s_v *)(from + 2 * (%s));", x->name,
           x->name, t);
  cg_write(x->w, "const %s_v b = *(const %s_v *)(from + 2 * (%s) + %u);",
           x->name, x->name, t, lanes - 1);
  cg_add(x->w, "*(%s_v *)(to + (%s)) = __builtin_shufflevector(a, b", x->name,
         t);
  for (uint32_t j = 0; j < lanes; j++)
    cg_add(x->w, "%s%u", j % 8 ? ", " : ",\n        ",
           2 * j < lanes ? 2 * j : 2 * j + 1);
  cg_write(x->w, ");");
}

/* Rows of a constant array may be shorter than a vector, and gcc 12 warns of
 * what would be read of them then, though nothing is. */
static void
put_every_other(const cg_contract *x) {
  uint32_t lanes = x->c->lanes;
  cg_write(x->w, "#ifdef GLEN_TURNS");
  cg_write(x->w, "GLEN_HIDE(from);");
  cg_write(x->w, "for (; t + %u <= n; t += %u) {", lanes, lanes);
  put_halved(x, "t");
  cg_write(x->w, "}");
  cg_write(x->w, "if (t < n && n >= %u) {", lanes);
  put_halved(x, bs_arena_printf(&x->e->arena, "n - %u", lanes));
  cg_write(x->w, "return;");
  cg_write(x->w, "}");
  cg_write(x->w, "#endif");
}

void
cg_put_copy_function(const cg_contract *x, int64_t stride) {
  assert(stride > 0);
  const char *index = x->e->index;
  cg_write(x->w,
           "static inline void\n%s_copy%lld(const %s *restrict from, "
           "%s *restrict to, %s n) {",
           x->name, (long long)stride, x->type, x->type, index);
  cg_write(x->w, "%s t = 0;", index);
  bool vectors = stride == 1 && cg_can_turn(x->c->lanes);
  if (vectors)
    put_vectors(x);
  if (stride == 2 && cg_can_turn(x->c->lanes))
    put_every_other(x);
  if (!vectors || !x->over) {
    cg_write(x->w, "for (; t < n; t++)");
    cg_write(x->w, "to[t] = from[%lld * t];", (long long)stride);
  }
  cg_close_function(x->e, x->w);
}
