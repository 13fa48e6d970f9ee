/* SPDX-License-Identifier: MIT */
/* expr_bounds.c - what a condition says of one variable, read off its parts
 * that must all hold. */
#include "glenside/expr/expr.h"

static bool
is_variable(const gs_expr *e, uint32_t slot) {
  return e->kind == GS_X_VAR && e->slot == slot;
}

bool
gs_expr_is_int(const bs_values *values, const gs_expr *e, int64_t *out) {
  if (!e || e->kind != GS_X_LITERAL ||
      bs_kind_of(values, e->literal) != BS_KIND_INT)
    return false;
  *out = bs_as_int(values, e->literal);
  return true;
}

static bool
is_size(const bs_values *values, const gs_expr *e, int64_t *out) {
  return gs_expr_is_int(values, e, out) && *out > 0;
}

bool
gs_expr_fixes(const bs_values *values, const gs_expr *where, uint32_t slot,
              int64_t *out) {
  for (uint32_t k = 0; gs_expr_is_call(where, "and") && k < where->n_args; k++)
    if (gs_expr_fixes(values, where->args[k], slot, out))
      return true;
  if (!gs_expr_is_call(where, "=") || where->n_args != 2)
    return false;
  for (uint32_t k = 0; k < 2; k++)
    if (is_variable(where->args[k], slot) &&
        is_size(values, where->args[1 - k], out))
      return true;
  return false;
}

bool
gs_expr_bounds(const bs_values *values, const gs_expr *where, uint32_t slot,
               int64_t *out) {
  for (uint32_t k = 0; gs_expr_is_call(where, "and") && k < where->n_args; k++)
    if (gs_expr_bounds(values, where->args[k], slot, out))
      return true;
  return gs_expr_is_call(where, "<=") && where->n_args == 2 &&
         is_variable(where->args[0], slot) &&
         is_size(values, where->args[1], out);
}
