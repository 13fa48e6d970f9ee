/* SPDX-License-Identifier: MIT */
/* ragged.c - vectors of which the call alone knows how many lanes count. */
#include "codegen/contract/contract.h"

/* What can be copied lane by lane, or at once where all of them count. */
static void
put_function(const cg_contract *x, const char *name, const char *parameters,
             const char *to, const char *from) {
  cg_write(x->w, "static inline void\n%s_%s(%s, %s n) {", x->name, name,
           parameters, x->e->index);
  cg_write(x->w, "if (n >= %u) {", x->c->lanes);
  cg_write(x->w, "*(%s_v *)%s = *(const %s_v *)%s;", x->name, to, x->name,
           from);
  cg_write(x->w, "return;");
  cg_write(x->w, "}");
  cg_write(x->w, "for (%s t = 0; t < n; t++)", x->e->index);
  cg_write(x->w, "to[t] = from[t];");
  cg_close_function(x->e, x->w);
}

void
cg_put_ragged_functions(const cg_contract *x) {
  bs_arena *arena = &x->e->arena;
  const char *parameters =
      bs_arena_printf(arena, "%s *to, const %s *from", x->type, x->type);
  put_function(x, "part", parameters, "to", "from");
}

/* By way of memory, which holds the lanes. */
void
cg_put_ragged(const cg_contract *x, const char *sum, const char *place,
              int64_t column, int transfer) {
  const char *left =
      bs_arena_printf(&x->e->arena, "n - %lld", (long long)column);
  cg_write(x->w, "{");
  cg_write(x->w, "%s_v part = {0};", x->name);
  if (transfer != CG_SUMS_STORE)
    cg_write(x->w, "%s_part((%s *)&part, c + %s, %s);", x->name, x->type, place,
             left);
  if (transfer == CG_SUMS_LOAD) {
    cg_write(x->w, "%s = part;", sum);
  } else {
    cg_write(x->w, "part %s %s;", transfer == CG_SUMS_ADD ? "+=" : "=", sum);
    cg_write(x->w, "%s_part(c + %s, (const %s *)&part, %s);", x->name, place,
             x->type, left);
  }
  cg_write(x->w, "}");
}
