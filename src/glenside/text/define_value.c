/* SPDX-License-Identifier: MIT */
/* define_value.c - what stands in the body of a definition: variables that are
 * terms, attributes that are expressions over the others; and faults, which
 * are told where the definition is used. */
#include "glenside/text/parse.h"
#include "glenside/type/sizes.h"
#include <assert.h>
#include <string.h>

static const parse_definition *
definition_of(const gs_parser *x, const parse_use *u) {
  return &x->definitions.data[u->definition];
}

const parse_use *
parse_outermost(const gs_parser *x) {
  const parse_use *u = &x->uses.data[x->env - 1];
  while (u->env)
    u = &x->uses.data[u->env - 1];
  return u;
}

/* "x is ((8), (16)) f32, y is ((8), ()) f32" */
static void
put_operands(const gs_parser *x, const parse_use *u, bs_text *out) {
  const parse_definition *d = definition_of(x, u);
  for (uint32_t k = 0; k < d->n_params; k++) {
    uint32_t term = x->slots.data[u->slots + k];
    gs_type type;
    if (d->scope.vars.data[k].sort != GS_SORT_CLASS || term == UINT32_MAX)
      continue;
    gs_type_at(x->p, (gs_term){term}, &type);
    bs_putf(out, "%s%s is ", out->len ? ", " : "", d->scope.vars.data[k].name);
    gs_put_type_of(out, x->p->sizes, &type);
  }
}

void
parse_blame(gs_parser *x, const char *code, const char *message, bs_span body) {
  parse_blame_hint(x, code, message, "", body);
}

void
parse_blame_hint(gs_parser *x, const char *code, const char *message,
                 const char *hint, bs_span body) {
  assert(x->env && x->env <= x->uses.len);
  const parse_use *u = parse_outermost(x);
  const parse_definition *d = definition_of(x, u);
  bs_diags *diags = x->ctx->diags;
  bs_text operands;
  bs_text_init(&operands, x->ctx->heap);
  put_operands(x, u, &operands);
  if (hint[0])
    bs_putf(&operands, "%s%s", operands.len ? "; " : "", hint);
  bs_error(diags, parse_at(x, u->list)->span, code, "%s: %s",
           bs_as_sym(x->ctx->values, d->name), message);
  if (operands.len)
    bs_hint(diags, "%s", bs_text_str(&operands));
  if (!definition_of(x, &x->uses.data[x->env - 1])->built_in)
    bs_note(diags, body, "it is asked for here");
  bs_text_done(&operands);
}

/* --- terms ---------------------------------------------------------------- */

gs_term
parse_variable(gs_parser *x, uint32_t node) {
  assert(x->env && x->env <= x->uses.len);
  assert(parse_at(x, node)->kind == BS_SX_SYM);
  const parse_use *u = &x->uses.data[x->env - 1];
  const parse_definition *d = definition_of(x, u);
  const char *name = parse_symbol(x, node);
  bs_span span = parse_at(x, node)->span;
  int slot = gs_scope_find(&d->scope, name);
  if (slot < 0) {
    bs_error(x->ctx->diags, span, "unknown-name", "unknown name `%.60s`", name);
    bs_hint(x->ctx->diags, "a definition can use its parameters and the "
                           "names of its own lets");
    return GS_NO_TERM;
  }
  uint32_t held = x->slots.data[u->slots + (uint32_t)slot];
  if (d->scope.vars.data[slot].sort != GS_SORT_CLASS)
    bs_error(x->ctx->diags, span, "sort-mismatch",
             "expected a term, but `%.60s` is a value", name);
  else if (held == UINT32_MAX)
    parse_blame(x, "unknown-name",
                bs_arena_printf(x->ctx->arena, "`%.60s` is not given", name),
                span);
  else
    return (gs_term){held};
  return GS_NO_TERM;
}

/* --- expressions ---------------------------------------------------------- */

static bs_value
type_of(void *parser, uint32_t term) {
  const gs_parser *x = parser;
  return gs_at(x->p, (gs_term){term})->type;
}

static gs_env
environment(gs_parser *x) {
  gs_env env = {.values = x->ctx->values,
                .facts = x,
                .type_of = type_of,
                .sizes = x->p->sizes};
  if (env.sizes)
    env.sizes->open = env.sizes->told = false;
  if (!x->env) {
    env.n_slots = x->size_values.len;
    env.slots = x->size_values.data;
    return env;
  }
  const parse_use *u = &x->uses.data[x->env - 1];
  env.n_slots = definition_of(x, u)->scope.vars.len;
  env.slots = x->slots.data + u->slots;
  return env;
}

/* The variables are known: a scope that is not open adds none, and each has
 * its sort. */
static const gs_expr *
expression(gs_parser *x, gs_sort sort, uint32_t node) {
  if (!x->env)
    return gs_expr_parse_as(x->ctx, &x->sx, node, &x->sizes, sort);
  uint32_t at = x->uses.data[x->env - 1].definition;
  return gs_expr_parse_as(x->ctx, &x->sx, node, &x->definitions.data[at].scope,
                          sort);
}

/* One number stands for a list of it. */
static bool
alone_in_list(gs_parser *x, gs_sort sort, uint32_t node, bs_value *out) {
  bool alone = sort == GS_SORT_LIST && parse_at(x, node)->kind == BS_SX_INT;
  if (alone)
    *out = bs_list(x->ctx->values, &parse_at(x, node)->value, 1);
  return alone;
}

/* Both operands of a use may ask for the same. */
static bool
was_told(const gs_parser *x, bs_span span) {
  const bs_diags *diags = x->ctx->diags;
  const bs_diag *last =
      diags->list.len ? &diags->list.data[diags->list.len - 1] : NULL;
  span = x->env ? parse_at(x, parse_outermost(x)->list)->span : span;
  return last && last->code && !strcmp(last->code, "open-size") &&
         last->span.file == span.file && last->span.lo == span.lo;
}

/* An expression over sizes that has no answer for all of them. */
static void
blame_sizes(gs_parser *x, const char *message, bs_span span) {
  const gs_sizes *s = x->p->sizes;
  bs_text text;
  if (was_told(x, span))
    return;
  bs_text_init(&text, x->ctx->heap);
  bs_put(&text, message);
  if (s->told) {
    bs_put(&text, ", as at ");
    gs_put_sizes_at(&text, s, s->at);
  }
  if (x->env)
    parse_blame(x, "open-size", bs_text_str(&text), span);
  else
    bs_error(x->ctx->diags, span, "open-size", "%s", bs_text_str(&text));
  bs_text_done(&text);
}

bool
parse_value(gs_parser *x, gs_sort sort, uint32_t node, bs_value *out) {
  assert(sort <= GS_SORT_TYPE);
  if (alone_in_list(x, sort, node, out))
    return true;
  const gs_expr *e = expression(x, sort, node);
  gs_env env = environment(x);
  if (!e)
    return false;
  if (gs_expr_eval(e, &env, out))
    return true;
  bs_span span = parse_at(x, node)->span;
  if (env.sizes && env.sizes->open)
    blame_sizes(x, "what it stands for depends on sizes", span);
  else if (x->env)
    parse_blame(x, "undefined", "an attribute of it has no value", span);
  else
    bs_error(x->ctx->diags, span, "undefined", "this has no value");
  return false;
}

bool
parse_holds(gs_parser *x, uint32_t node, bool needed, bool *out) {
  const gs_expr *e = expression(x, GS_SORT_BOOL, node);
  gs_env env = environment(x);
  bs_value v = BS_NIL;
  if (!e)
    return false;
  bool known = gs_expr_eval(e, &env, &v);
  *out = known && bs_as_bool(x->ctx->values, v);
  if (known || !needed || !env.sizes || !env.sizes->open)
    return true;
  blame_sizes(x, "what it stands for depends on sizes",
              parse_at(x, node)->span);
  return false;
}
