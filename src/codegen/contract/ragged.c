/* SPDX-License-Identifier: MIT */
/* ragged.c - vectors of which the call alone knows how many lanes count.
 *
 * Processors with masks move these lanes at once (above/parts.c); for others
 * there are functions, which move half a vector, a quarter and so on, as the
 * bits of their number say. */
#include "codegen/contract/contract.h"
#include <assert.h>

/* NAME_put and NAME_get(to, from, n): n lanes, from 1 to all of them. */
static void
put_function(const cg_contract *x, const char *name) {
  const char *index = x->e->index;
  cg_write(x->w, "static inline void\n%s_%s(%s *to, const %s *from, %s n) {",
           x->name, name, x->type, x->type, index);
  cg_write(x->w, "if (n == %u) {", x->c->lanes);
  cg_write(x->w, "*(%s_v *)to = *(const %s_v *)from;", x->name, x->name);
  cg_write(x->w, "return;");
  cg_write(x->w, "}");
  cg_write(x->w, "%s t = 0;", index);
  cg_put_bits(x);
  cg_write(x->w, "for (; t < n; t++)");
  cg_write(x->w, "to[t] = from[t];");
  cg_close_function(x->e, x->w);
}

void
cg_put_ragged_functions(const cg_contract *x) {
  put_function(x, "put");
  put_function(x, "get");
}

void
cg_put_left(const cg_contract *x, int64_t columns) {
  assert(columns >= x->c->lanes);
  long long before = columns - x->c->lanes;
  cg_write(x->w, "const %s " CG_LEFT " = n < %lld ? n - %lld : %u;",
           x->e->index, (long long)columns, before, x->c->lanes);
  cg_write(x->w, "(void)" CG_LEFT ";");
}

/* Macros that move lanes take the function for processors without masks. */
static void
hand_over(const cg_contract *x) {
  bs_arena *arena = &x->e->arena;
  x->w->function.handed[0] = bs_arena_printf(arena, "%s_put", x->name);
  x->w->function.handed[1] = bs_arena_printf(arena, "%s_get", x->name);
}

/* Masks may have taken the place of the functions. */
void
cg_put_ragged_uses(const cg_contract *x) {
  hand_over(x);
  cg_write(x->w, "(void)%s_put;", x->name);
  cg_write(x->w, "(void)%s_get;", x->name);
}

void
cg_put_get(const cg_contract *x, const char *vector, const char *from) {
  cg_helper parts = cg_parts_of(x->c->dtype, x->c->lanes);
  cg_write(x->w, "%s_v %s = {0};", x->name, vector);
  hand_over(x);
  if (parts)
    cg_write(x->w, "GLEN_GET_SOME_%s(%s, %s, " CG_LEFT ", %s_get);",
             cg_name_of_parts(&x->e->arena, parts), vector, from, x->name);
  else
    cg_write(x->w, "%s_get((%s *)&%s, %s, " CG_LEFT ");", x->name, x->type,
             vector, from);
}

static void
put_put(const cg_contract *x, const char *vector, const char *to) {
  cg_helper parts = cg_parts_of(x->c->dtype, x->c->lanes);
  hand_over(x);
  if (parts)
    cg_write(x->w, "GLEN_PUT_SOME_%s(%s, %s, " CG_LEFT ", %s_put);",
             cg_name_of_parts(&x->e->arena, parts), to, vector, x->name);
  else
    cg_write(x->w,
             "{ const %s_v part = %s; %s_put(%s, (const %s *)&part, " CG_LEFT
             "); }",
             x->name, vector, x->name, to, x->type);
}

void
cg_put_ragged(const cg_contract *x, const char *sum, const char *place,
              int transfer) {
  assert(transfer >= CG_SUMS_LOAD && transfer <= CG_SUMS_FINISH);
  const char *at = bs_arena_printf(&x->e->arena, "c + %s", place);
  if (transfer == CG_SUMS_LOAD || transfer == CG_SUMS_ADD) {
    cg_write(x->w, "{");
    cg_put_get(x, "part", at);
    cg_write(x->w, "%s %s part;", sum, transfer == CG_SUMS_ADD ? "+=" : "=");
    cg_write(x->w, "}");
  }
  if (transfer != CG_SUMS_LOAD)
    put_put(x, sum, at);
}
