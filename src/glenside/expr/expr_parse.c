/* SPDX-License-Identifier: MIT */
/* expr_parse.c - the parser of expressions.
 *
 * An expression is parsed against the sort that its place wants.  Sorts are
 * inferred in one pass: a variable of unknown sort takes the first sort that a
 * place demands of it, and a later place with another demand is an error.  A
 * class never stands where a value is wanted, nor the other way round: the two
 * are different numbers in a slot.
 *
 * Calls of literals are folded, so `(list 1 0)` and `(* 2 $q)` are literals
 * to everybody else. */
#include "glenside/expr/expr_functions.h"
#include "glenside/type/elsewhere.h"
#include <assert.h>
#include <string.h>

static gs_sort
sort_of_value(const bs_values *values, bs_value v) {
  switch (bs_kind_of(values, v)) {
  case BS_KIND_INT:
    return GS_SORT_INT;
  case BS_KIND_REAL:
    return GS_SORT_REAL;
  case BS_KIND_BOOL:
    return GS_SORT_BOOL;
  case BS_KIND_LIST:
    return GS_SORT_LIST;
  case BS_KIND_NIL:
  case BS_KIND_SYM:
  default:
    return GS_SORT_SYM;
  }
}

typedef struct parser {
  const gs_context *ctx;
  const bs_sexps *sexps;
  gs_scope *scope;
} parser;

/* What a place wants.  ALIKE: anything, terms too. */
typedef struct want {
  gs_sort sort;
  bool number; /* an integer or a real */
  bool alike;
  bool term_or_list;
} want;

static const gs_expr *parse(const parser *, uint32_t node, want, int depth);

static const bs_sx *
at(const parser *p, uint32_t node) {
  assert(node < p->sexps->nodes.len);
  return &p->sexps->nodes.data[node];
}

static const char *
article(gs_sort sort) {
  return strchr("aeiou", gs_sort_name(sort)[0]) ? "an" : "a";
}

static const gs_expr *
mismatch(const parser *p, bs_span span, want w, gs_sort found) {
  const char *wanted = w.term_or_list ? "term or list"
                       : w.number     ? "number"
                                      : gs_sort_name(w.sort);
  bs_error(p->ctx->diags, span, "sort-mismatch",
           "expected %s %s, but this is %s %s",
           strchr("aeiou", wanted[0]) ? "an" : "a", wanted, article(found),
           gs_sort_name(found));
  return NULL;
}

/* May a value of this (known) sort stand where w is wanted? */
static bool
fits(gs_sort found, want w) {
  if (w.alike)
    return true;
  if (w.term_or_list)
    return found == GS_SORT_CLASS || found == GS_SORT_LIST ||
           found == GS_SORT_ANY;
  if (found == GS_SORT_CLASS || w.sort == GS_SORT_CLASS)
    return found == w.sort;
  if (w.number)
    return found == GS_SORT_INT || found == GS_SORT_REAL ||
           found == GS_SORT_ANY;
  return found == GS_SORT_ANY || w.sort == GS_SORT_ANY || found == w.sort ||
         (w.sort == GS_SORT_REAL && found == GS_SORT_INT);
}

static const gs_expr *
literal(const parser *p, uint32_t node, bs_value v, gs_sort sort, want w) {
  if (!fits(sort, w))
    return mismatch(p, at(p, node)->span, w, sort);
  return gs_expr_literal(p->ctx, v, sort, at(p, node)->span);
}

static const gs_expr *
variable(const parser *p, int slot, bs_span span, want w) {
  gs_var *var = &p->scope->vars.data[slot];
  bool fixes = w.sort != GS_SORT_ANY && !w.alike && !w.number;
  if (var->sort == GS_SORT_ANY && fixes)
    var->sort = w.sort;
  if (!fits(var->sort, w))
    return mismatch(p, span, w, var->sort);
  gs_expr *e = BS_NEW(p->ctx->arena, gs_expr);
  *e = (gs_expr){.kind = GS_X_VAR,
                 .sort = var->sort,
                 .span = span,
                 .slot = (uint32_t)slot};
  return e;
}

static const gs_expr *
unknown_variable(const parser *p, const char *name, bs_span span) {
  const gs_scope *scope = p->scope;
  const char *mark = scope->question_marks ? "?" : "";
  name += name[0] == '?';
  const char **names =
      BS_NEWS(p->ctx->arena, const char *, scope->vars.len + 1);
  for (uint32_t k = 0; k < scope->vars.len; k++)
    names[k] = scope->vars.data[k].name;
  const char *near = bs_nearest(name, names, scope->vars.len);
  bs_error(p->ctx->diags, span, "unknown-variable",
           "the variable '%s%s' is not bound", mark, name);
  if (near)
    bs_meant(p->ctx->diags, "'",
             bs_arena_printf(p->ctx->arena, "%s%s", mark, near));
  else if (*name >= '0' && *name <= '9')
    bs_hint(p->ctx->diags, "numbers are written without a unit");
  return NULL;
}

static const gs_expr *
named_variable(const parser *p, const char *name, bs_span span, want w) {
  int slot = gs_scope_find(p->scope, name);
  if (slot < 0 && !p->scope->open)
    return unknown_variable(p, name, span);
  if (slot < 0)
    slot = gs_scope_add(p->ctx, p->scope, name, GS_SORT_ANY, span);
  return variable(p, slot, span, w);
}

/* A copy of an expression that is marked as set by a parameter; NULL for
 * NULL. */
static const gs_expr *
set_by_parameter(const parser *p, const gs_expr *e) {
  if (!e)
    return e;
  gs_expr *marked = BS_NEW(p->ctx->arena, gs_expr);
  *marked = *e;
  marked->settable = true;
  return marked;
}

static const gs_expr *
parameter(const parser *p, uint32_t node, const char *name, want w) {
  bs_value v = BS_NIL;
  if (p->scope->param)
    v = p->scope->param(p->scope->ctx, name);
  if (v.i)
    return set_by_parameter(
        p, literal(p, node, v, sort_of_value(p->ctx->values, v), w));
  bs_error(p->ctx->diags, at(p, node)->span, "unknown-param",
           "there is no parameter '%s'", name);
  bs_hint(p->ctx->diags, "declare it: (param %s DEFAULT \"what it is\")", name);
  return NULL;
}

/* An operator's symbol, which must stand alone to be one; where no operator is
 * called for, as in a list, that of one with parameters is a mere name. */
static const gs_expr *
operator_name(const parser *p, uint32_t node, gs_compute op, bool any) {
  assert(op < GS_COMPUTE_COUNT);
  const bs_sx *x = at(p, node);
  size_t n = strlen(gs_compute_table[op].params);
  if (!n || any)
    return gs_expr_literal(p->ctx, x->value, n ? GS_SORT_SYM : GS_SORT_OP,
                           x->span);
  bs_error(p->ctx->diags, x->span, "wrong-arity", "'%s' needs %zu %s: (%s%s)",
           gs_compute_table[op].name, BS_COUNTED(n, "parameter"),
           gs_compute_table[op].name, n == 1 ? " .." : " .. ..");
  return NULL;
}

/* A name that is no variable: an operator, a dtype, a pad kind, ... */
static const gs_expr *
symbol(const parser *p, uint32_t node, const char *name, want w) {
  const bs_sx *x = at(p, node);
  gs_dtype dtype;
  gs_compute op;
  bool any = w.sort == GS_SORT_ANY;
  if (w.sort == GS_SORT_SYM)
    return gs_expr_literal(p->ctx, x->value, GS_SORT_SYM, x->span);
  if ((any || w.sort == GS_SORT_DTYPE) && gs_dtype_find(name, &dtype))
    return gs_expr_literal(p->ctx, x->value, GS_SORT_DTYPE, x->span);
  if ((any || w.sort == GS_SORT_OP) && gs_compute_find(name, &op))
    return operator_name(p, node, op, any);
  if (any && gs_is_kind_name(name))
    return gs_expr_literal(p->ctx, x->value, GS_SORT_SYM, x->span);
  bs_error(p->ctx->diags, x->span, "unknown-name", "expected %s %s, found '%s'",
           strchr("aeiou", *gs_sort_name(w.sort)) ? "an" : "a",
           gs_sort_name(w.sort), name);
  if (p->scope->question_marks)
    gs_hint_variable(p->ctx->diags, name);
  return NULL;
}

static const gs_expr *
parse_symbol(const parser *p, uint32_t node, want w) {
  const char *name = bs_as_sym(p->ctx->values, at(p, node)->value);
  const gs_scope *scope = p->scope;
  if (name[0] == '$' && name[1])
    return parameter(p, node, name + 1, w);
  if (scope->question_marks && name[0] == '?' && name[1])
    return named_variable(p, name, at(p, node)->span, w);
  int slot = w.sort == GS_SORT_CLASS && scope->question_marks && scope->named
                 ? scope->named(scope->ctx, name)
                 : -1;
  if (slot >= 0)
    return variable(p, slot, at(p, node)->span, w);
  if (scope->question_marks)
    return symbol(p, node, name, w);
  bool reserved = w.sort == GS_SORT_SYM || w.sort == GS_SORT_DTYPE ||
                  w.sort == GS_SORT_OP || gs_is_reserved(name);
  if (gs_scope_find(scope, name) < 0 && reserved)
    return symbol(p, node, name, w);
  return named_variable(p, name, at(p, node)->span, w);
}

/* --- calls ---------------------------------------------------------------- */

static want
want_of_letter(char letter) {
  switch (letter) {
  case 'i':
    return (want){.sort = GS_SORT_INT};
  case 'n':
    return (want){.sort = GS_SORT_ANY, .number = true};
  case 'r':
    return (want){.sort = GS_SORT_REAL};
  case 'b':
    return (want){.sort = GS_SORT_BOOL};
  case 'l':
    return (want){.sort = GS_SORT_LIST};
  case 's':
    return (want){.sort = GS_SORT_SYM};
  case 't':
    return (want){.sort = GS_SORT_DTYPE};
  case 'o':
    return (want){.sort = GS_SORT_OP};
  case 'c':
    return (want){.sort = GS_SORT_CLASS};
  case 'x':
    return (want){.term_or_list = true};
  case 'e':
    return (want){.alike = true};
  default:
    return (want){.sort = GS_SORT_ANY};
  }
}

static bool
arity_ok(const gs_function_info *f, uint32_t n) {
  if (n < f->min_args || n > f->max_args)
    return false;
  return !strchr(f->args, '|') || n == f->min_args || n == f->max_args;
}

static const gs_expr *
wrong_arity(const parser *p, uint32_t node, const gs_function_info *f,
            uint32_t n) {
  const char *text;
  bs_arena *arena = p->ctx->arena;
  if (f->min_args == f->max_args)
    text = bs_arena_printf(arena, "%d", f->min_args);
  else if (strchr(f->args, '|'))
    text = bs_arena_printf(arena, "%d or %d", f->min_args, f->max_args);
  else if (n > f->max_args)
    text = bs_arena_printf(arena, "at most %d", f->max_args);
  else
    text = bs_arena_printf(arena, "at least %d", f->min_args);
  bs_error(p->ctx->diags, at(p, node)->span, "wrong-arity",
           "'%s' takes %s argument%s, found %u", f->name, text,
           !strcmp(text, "1") ? "" : "s", n);
  bs_hint(p->ctx->diags, "%s: %s", f->name, f->doc);
  return NULL;
}

static gs_sort
number_sort(const gs_expr *const *args, uint32_t n) {
  gs_sort sort = GS_SORT_INT;
  for (uint32_t k = 0; k < n; k++) {
    if (args[k]->sort == GS_SORT_REAL)
      return GS_SORT_REAL;
    if (args[k]->sort != GS_SORT_INT)
      sort = GS_SORT_ANY;
  }
  return sort;
}

/* Of an integer and a real number it is a real number. */
static gs_sort
either_sort(gs_sort a, gs_sort b) {
  bool numbers = (a == GS_SORT_INT && b == GS_SORT_REAL) ||
                 (a == GS_SORT_REAL && b == GS_SORT_INT);
  return a == b ? a : numbers ? GS_SORT_REAL : GS_SORT_ANY;
}

static gs_sort
result_sort(const gs_function_info *f, const gs_expr *const *args, uint32_t n) {
  if (f->result == 'n')
    return number_sort(args, n);
  if (f->result == 'u')
    return either_sort(args[1]->sort, args[2]->sort);
  return want_of_letter(f->result).sort;
}

/* `and` and `or` are tried anyway: one literal may decide them. */
static bool
foldable(int function, const gs_expr *const *args, uint32_t n) {
  if (function == GS_F_AND || function == GS_F_OR)
    return true;
  for (uint32_t k = 0; k < n; k++)
    if (args[k]->kind != GS_X_LITERAL)
      return false;
  return true;
}

/* Drops `true` from an `and` and `false` from an `or`, as parameters leave them
 * behind; the number of arguments left. */
static uint32_t
drop_neutral(const parser *p, int function, const gs_expr **args, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < n; k++) {
    bool neutral =
        args[k]->kind == GS_X_LITERAL &&
        bs_as_bool(p->ctx->values, args[k]->literal) == (function == GS_F_AND);
    if (!neutral)
      args[kept++] = args[k];
  }
  return kept;
}

static bool
any_settable(const gs_expr *const *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (args[k]->kind == GS_X_LITERAL && args[k]->settable)
      return true;
  return false;
}

/* A finished call; a literal when all its arguments are and it is defined. */
static const gs_expr *
call(const parser *p, uint32_t node, int function, gs_sort sort,
     const gs_expr **args, uint32_t n, want w) {
  bs_span span = at(p, node)->span;
  if (!fits(sort, w))
    return mismatch(p, span, w, sort);
  gs_expr *e = BS_NEW(p->ctx->arena, gs_expr);
  *e = (gs_expr){.kind = GS_X_CALL,
                 .sort = sort,
                 .span = span,
                 .function = (uint16_t)function,
                 .n_args = (uint16_t)n,
                 .args = args};
  gs_env env = {.values = p->ctx->values};
  bs_value v;
  if (!foldable(function, args, n))
    return e;
  bool settable = any_settable(args, n);
  if (!gs_expr_eval(e, &env, &v)) {
    bool logic = function == GS_F_AND || function == GS_F_OR;
    uint32_t kept = logic ? drop_neutral(p, function, args, n) : n;
    e->n_args = (uint16_t)kept;
    e->settable = kept < n && settable;
    if (kept != 1 || n == 1)
      return e;
    return e->settable ? set_by_parameter(p, args[0]) : args[0];
  }
  if (sort == GS_SORT_ANY)
    sort = sort_of_value(p->ctx->values, v);
  const gs_expr *folded = literal(p, node, v, sort, w);
  return settable ? set_by_parameter(p, folded) : folded;
}

/* Of arguments that must be alike, one that says what they are gives the sort
 * to those that do not. */
static bool
unify(const parser *p, const gs_expr **args, uint32_t n) {
  gs_sort sort = GS_SORT_ANY;
  for (uint32_t k = 0; k < n && sort == GS_SORT_ANY; k++)
    sort = args[k]->sort;
  want w = {.sort = sort, .number = sort == GS_SORT_REAL};
  for (uint32_t k = 0; k < n && sort != GS_SORT_ANY; k++) {
    bool numbers = (sort == GS_SORT_INT || sort == GS_SORT_REAL) &&
                   args[k]->sort == GS_SORT_REAL;
    if (numbers)
      continue;
    if (args[k]->kind == GS_X_VAR)
      args[k] = variable(p, (int)args[k]->slot, args[k]->span, w);
    else if (!fits(args[k]->sort, w))
      args[k] = mismatch(p, args[k]->span, w, args[k]->sort);
    if (!args[k])
      return false;
  }
  return true;
}

/* The sort of a name among arguments that must be alike: the first argument
 * that is no bare name tells. */
static want
want_alike(const parser *p, uint32_t node, const gs_expr *const *args,
           uint32_t k) {
  bool bare_name = at(p, node)->kind == BS_SX_SYM;
  for (uint32_t j = 0; bare_name && j < k; j++)
    if (args[j]->sort == GS_SORT_SYM)
      return (want){.sort = GS_SORT_SYM};
  return (want){.alike = true};
}

static bool
parse_args(const parser *p, uint32_t first, const gs_function_info *f,
           const gs_expr **args, uint32_t n, int depth) {
  uint32_t node = first;
  bool ok = true;
  for (uint32_t k = 0; k < n; k++, node = at(p, node)->next) {
    char letter = gs_function_letter(f, k);
    want w = letter == 'e' && ok ? want_alike(p, node, args, k)
                                 : want_of_letter(letter);
    args[k] = parse(p, node, w, depth + 1);
    ok &= args[k] != NULL;
  }
  return ok && (f->args[0] != 'e' || unify(p, args, n));
}

/* (shape ?a) of one term is a fact, of anything else a list */
static bool
is_shape_of_term(const parser *p, uint32_t first, uint32_t n) {
  if (n != 1 || at(p, first)->kind != BS_SX_SYM)
    return false;
  const char *name = bs_as_sym(p->ctx->values, at(p, first)->value);
  int slot = gs_scope_find(p->scope, name);
  bool marked = name[0] == '?' || !p->scope->question_marks;
  return marked && slot >= 0 && p->scope->vars.data[slot].sort == GS_SORT_CLASS;
}

static int
function_of_head(const parser *p, const char *head, uint32_t first,
                 uint32_t n) {
  if (!strcmp(head, "stride") || !strcmp(head, "dilation"))
    return GS_F_LIST;
  if (!strcmp(head, "shape") && !is_shape_of_term(p, first, n))
    return GS_F_LIST;
  return gs_function_find(head);
}

/* A list of any length whose items are all plain integers. */
static const gs_expr *
integer_list(const parser *p, uint32_t node, uint32_t first, uint32_t n,
             want w) {
  int64_t *items = BS_NEWS(p->ctx->arena, int64_t, (size_t)n + 1);
  uint32_t k = 0;
  for (uint32_t x = first; k < n; x = at(p, x)->next, k++) {
    if (at(p, x)->kind != BS_SX_INT)
      return NULL;
    items[k] = bs_as_int(p->ctx->values, at(p, x)->value);
  }
  return literal(p, node, bs_ints(p->ctx->values, items, n), GS_SORT_LIST, w);
}

static bool
only_integers(const parser *p, uint32_t first, uint32_t n) {
  for (uint32_t k = 0, x = first; k < n; k++, x = at(p, x)->next)
    if (at(p, x)->kind != BS_SX_INT)
      return false;
  return true;
}

static const gs_expr *
parse_function(const parser *p, uint32_t node, int function, uint32_t first,
               uint32_t n, want w, int depth) {
  const gs_function_info *f = gs_function_at((uint16_t)function);
  if (function == GS_F_LIST && n <= GS_MAX_LIST && only_integers(p, first, n))
    return integer_list(p, node, first, n, w);
  if (!arity_ok(f, n))
    return wrong_arity(p, node, f, n);
  const gs_expr **args = BS_NEWS(p->ctx->arena, const gs_expr *, n + 1);
  if (!parse_args(p, first, f, args, n, depth) ||
      !gs_check_words(p->ctx, function, args, n))
    return NULL;
  return call(p, node, function, result_sort(f, args, n), args, n, w);
}

/* (clip LO HI), (cast DTYPE): a list headed by the operator's name */
static const gs_expr *
parse_operator(const parser *p, uint32_t node, gs_compute op, want w,
               int depth) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[op];
  uint32_t n = at(p, node)->count - 1, head = node + 1;
  size_t expected = strlen(info->params);
  if (n != expected) {
    bs_error(p->ctx->diags, at(p, node)->span, "wrong-arity",
             "'%s' takes %zu %s, found %u", info->name,
             BS_COUNTED(expected, "parameter"), n);
    return NULL;
  }
  const gs_expr **args = BS_NEWS(p->ctx->arena, const gs_expr *, n + 1);
  args[0] = gs_expr_literal(p->ctx, at(p, head)->value, GS_SORT_SYM,
                            at(p, head)->span);
  bool ok = true;
  for (uint32_t k = 0, x = at(p, head)->next; k < n; k++, x = at(p, x)->next) {
    bool dtype = info->params[k] == 't';
    args[k + 1] = parse(
        p, x, (want){.sort = dtype ? GS_SORT_DTYPE : GS_SORT_REAL}, depth + 1);
    ok &= args[k + 1] != NULL;
  }
  return ok ? call(p, node, GS_F_LIST, GS_SORT_OP, args, n + 1, w) : NULL;
}

static const gs_expr *
unknown_function(const parser *p, uint32_t node, const char *head) {
  const char *names[GS_FUNCTION_COUNT];
  for (uint16_t k = 0; k < GS_FUNCTION_COUNT; k++)
    names[k] = gs_function_name(k);
  const char *near = bs_nearest(head, names, GS_FUNCTION_COUNT);
  bs_error(p->ctx->diags, at(p, node + 1)->span, "unknown-function",
           "there is no function '%s'", head);
  if (near)
    bs_meant(p->ctx->diags, "'", near);
  else
    bs_hint(p->ctx->diags, "conditions are about types and attributes, such as "
                           "(= (rank ?x) 2): docs/RULES.md lists functions");
  return NULL;
}

static const gs_expr *
parse_list(const parser *p, uint32_t node, want w, int depth) {
  const char *head = bs_sx_head(p->sexps, p->ctx->values, node);
  gs_compute op;
  if (depth >= GS_MAX_NESTING) {
    bs_error(p->ctx->diags, at(p, node)->span, "too-deep",
             "the expression is nested more than %d deep", GS_MAX_NESTING);
    return NULL;
  }
  if (!head) {
    bs_error(p->ctx->diags, at(p, node)->span, "not-an-expression",
             "a function's name is expected after '('");
    return NULL;
  }
  uint32_t n = at(p, node)->count - 1;
  uint32_t first = n ? at(p, node + 1)->next : 0;
  int function = function_of_head(p, head, first, n);
  if (function >= 0)
    return parse_function(p, node, function, first, n, w, depth);
  if (gs_compute_find(head, &op) && gs_compute_table[op].params[0])
    return parse_operator(p, node, op, w, depth);
  return unknown_function(p, node, head);
}

static const gs_expr *
parse(const parser *p, uint32_t node, want w, int depth) {
  const bs_sx *x = at(p, node);
  switch (x->kind) {
  case BS_SX_LIST:
    return parse_list(p, node, w, depth);
  case BS_SX_SYM:
    return parse_symbol(p, node, w);
  case BS_SX_STRING:
    return literal(p, node, x->value, GS_SORT_SYM, w);
  case BS_SX_INT:
  case BS_SX_REAL:
  case BS_SX_BOOL:
  default:
    return literal(p, node, x->value, sort_of_value(p->ctx->values, x->value),
                   w);
  }
}

const gs_expr *
gs_expr_parse_as(const gs_context *ctx, const bs_sexps *sexps, uint32_t node,
                 gs_scope *scope, gs_sort wanted) {
  assert(node < sexps->nodes.len && wanted <= GS_SORT_TYPE);
  parser p = {ctx, sexps, scope};
  return parse(&p, node, (want){.sort = wanted}, 0);
}

const gs_expr *
gs_expr_parse(const gs_context *ctx, const bs_sexps *sexps, uint32_t node,
              gs_scope *scope) {
  return gs_expr_parse_as(ctx, sexps, node, scope, GS_SORT_ANY);
}
