/* SPDX-License-Identifier: MIT */
/* expr.c - sorts, scopes, reserved names, and the text of expressions. */
#include "glenside/expr/expr_functions.h"
#include <assert.h>
#include <string.h>

/* --- sorts ---------------------------------------------------------------- */

static const char *const sort_names[] = {
    [GS_SORT_ANY] = "value",   [GS_SORT_CLASS] = "term",
    [GS_SORT_INT] = "integer", [GS_SORT_BOOL] = "boolean",
    [GS_SORT_REAL] = "number", [GS_SORT_LIST] = "list",
    [GS_SORT_SYM] = "name",    [GS_SORT_DTYPE] = "dtype",
    [GS_SORT_OP] = "operator", [GS_SORT_TYPE] = "type",
};

const char *
gs_sort_name(gs_sort sort) {
  return sort <= GS_SORT_TYPE ? sort_names[sort] : "?";
}

/* --- scopes --------------------------------------------------------------- */

static const char *
bare(const gs_scope *scope, const char *name) {
  return name + (scope->question_marks && name[0] == '?');
}

int
gs_scope_find(const gs_scope *scope, const char *name) {
  name = bare(scope, name);
  if (scope->question_marks && !strcmp(name, "_"))
    return -1;
  for (uint32_t k = 0; k < scope->vars.len; k++)
    if (!strcmp(scope->vars.data[k].name, name))
      return (int)k;
  return -1;
}

int
gs_scope_add(const gs_context *ctx, gs_scope *scope, const char *name,
             gs_sort sort, bs_span span) {
  assert(name && scope->vars.len < INT32_MAX);
  name = bs_arena_strdup(ctx->arena, bare(scope, name));
  bs_push(ctx->heap, &scope->vars, (gs_var){name, sort, span});
  return (int)scope->vars.len - 1;
}

/* --- names ---------------------------------------------------------------- */

/* Names of pad kinds and of kinds of operators. */
bool
gs_is_kind_name(const char *name) {
  static const char *const names[] = {"reduce",      "dot",    "fold",
                                      "elementwise", "cast",   "softmax",
                                      "select",      "gather", "lookup"};
  gs_padding padding;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(names[k], name))
      return true;
  return gs_padding_find(name, &padding);
}

bool
gs_is_reserved(const char *name) {
  gs_dtype dtype;
  gs_compute op;
  return gs_dtype_find(name, &dtype) || gs_compute_find(name, &op) ||
         gs_is_kind_name(name);
}

/* --- reading and printing ------------------------------------------------- */

const gs_expr *
gs_expr_literal(const gs_context *ctx, bs_value v, gs_sort sort, bs_span span) {
  assert(v.i);
  gs_expr *e = BS_NEW(ctx->arena, gs_expr);
  *e =
      (gs_expr){.kind = GS_X_LITERAL, .sort = sort, .span = span, .literal = v};
  return e;
}

const gs_expr *
gs_expr_call(const gs_context *ctx, const char *function, gs_sort sort,
             const gs_expr *const *args, uint32_t n, bs_span span) {
  assert(gs_function_find(function) >= 0 && n <= GS_MAX_ARGUMENTS);
  gs_expr *e = BS_NEW(ctx->arena, gs_expr);
  *e = (gs_expr){.kind = GS_X_CALL,
                 .sort = sort,
                 .span = span,
                 .function = (uint16_t)gs_function_find(function),
                 .n_args = (uint16_t)n,
                 .args = bs_arena_copy(ctx->arena, args, n * sizeof *args)};
  return e;
}

/* The prover asks this many million times, and nearly all names differ in their
 * first letter. */
bool
gs_expr_is_call(const gs_expr *e, const char *function) {
  if (!e || e->kind != GS_X_CALL)
    return false;
  const char *name = gs_function_name(e->function);
  return *name == *function && !strcmp(name, function);
}

bool
gs_expr_same(const gs_expr *a, const gs_expr *b) {
  if (!a || !b)
    return a == b;
  bool same = a->kind == b->kind && bs_same(a->literal, b->literal) &&
              a->slot == b->slot && a->function == b->function &&
              a->n_args == b->n_args;
  for (uint32_t k = 0; same && k < a->n_args; k++)
    same = gs_expr_same(a->args[k], b->args[k]);
  return same;
}

void
gs_expr_vars(const gs_expr *e, void (*f)(void *, uint32_t, bs_span),
             void *arg) {
  if (e->kind == GS_X_VAR)
    f(arg, e->slot, e->span);
  for (uint32_t k = 0; k < e->n_args; k++)
    gs_expr_vars(e->args[k], f, arg);
}

void
gs_put_quoted(bs_text *out, const char *s) {
  bs_putc(out, '"');
  for (; *s; s++) {
    char escape = *s == '\n' ? 'n' : *s == '\t' ? 't' : *s;
    if (escape != *s || *s == '"' || *s == '\\')
      bs_putf(out, "\\%c", escape);
    else
      bs_putc(out, *s);
  }
  bs_putc(out, '"');
}

/* A name that would not read back as one, bare, is quoted. */
static void
put_name(bs_text *out, const char *name, bool in_list) {
  gs_compute op;
  gs_dtype dtype;
  bool is_operator = gs_compute_find(name, &op);
  bool bare = in_list ? gs_is_reserved(name)
                      : gs_is_kind_name(name) && !is_operator &&
                            !gs_dtype_find(name, &dtype);
  if (bare)
    bs_put(out, name);
  else
    gs_put_quoted(out, name);
}

static void
put_literal(bs_text *out, const bs_values *values, bs_value v, gs_sort sort,
            int depth) {
  bs_kind kind = bs_kind_of(values, v);
  bool name = sort == GS_SORT_SYM || sort == GS_SORT_ANY;
  if (kind == BS_KIND_SYM && name) {
    put_name(out, bs_as_sym(values, v), sort == GS_SORT_ANY);
    return;
  }
  if (kind != BS_KIND_LIST || sort == GS_SORT_OP || depth > GS_MAX_NESTING) {
    bs_put_value(out, values, v);
    return;
  }
  bs_put(out, "(list");
  for (uint32_t k = 0; k < bs_len(values, v); k++) {
    bs_putc(out, ' ');
    put_literal(out, values, bs_item(values, v, k), GS_SORT_ANY, depth + 1);
  }
  bs_putc(out, ')');
}

static void
put_args(bs_text *out, const bs_values *values, const gs_scope *scope,
         const gs_expr *e, uint32_t first) {
  for (uint32_t k = first; k < e->n_args; k++) {
    bs_putc(out, ' ');
    gs_put_expr(out, values, scope, e->args[k]);
  }
  bs_putc(out, ')');
}

static void
put_call(bs_text *out, const bs_values *values, const gs_scope *scope,
         const gs_expr *e) {
  bool is_operator = e->sort == GS_SORT_OP && e->function == GS_F_LIST;
  bs_putc(out, '(');
  if (is_operator)
    bs_put_value(out, values, e->args[0]->literal);
  else
    bs_put(out, gs_function_name(e->function));
  put_args(out, values, scope, e, is_operator);
}

void
gs_put_expr(bs_text *out, const bs_values *values, const gs_scope *scope,
            const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    put_literal(out, values, e->literal, e->sort, 0);
  else if (e->kind == GS_X_CALL)
    put_call(out, values, scope, e);
  else
    bs_putf(out, "%s%s", scope->question_marks ? "?" : "",
            scope->vars.data[e->slot].name);
}
