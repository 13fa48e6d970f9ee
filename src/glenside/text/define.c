/* SPDX-License-Identifier: MIT */
/* define.c - definitions, as they are written: a head, parameters with their
 * sorts, and items.
 *
 *   (define (NAME PARAMETER...) ["WHAT"] ITEM... TERM)
 *   PARAMETER = NAME[:SORT] | (NAME[:SORT] [DEFAULT])
 *   ITEM = (let NAME[:SORT] TERM|EXPRESSION) | (needs CONDITION "TEXT")
 *        | (case CONDITION TERM)
 *
 * A parameter in parentheses is given by name, `:NAME value`, or left out.  The
 * definitions that come with the language are a text in that form,
 * definitions.glen; a program reads them where one of its heads is no operator.
 */
#include "definitions.h"
#include "glenside/text/define.h"
#include "glenside/text/parse.h"
#include <assert.h>
#include <string.h>

enum { MOST_PARAMETERS = 32, MOST_VARIABLES = 64 };

static const struct {
  const char *name;
  gs_sort sort;
  const char *what;
} sorts[] = {
    {"term", GS_SORT_CLASS, "a term"},
    {"int", GS_SORT_INT, "an integer, such as 1"},
    {"number", GS_SORT_REAL, "a number, such as 0.5"},
    {"list", GS_SORT_LIST, "a number, or a list such as (shape 2 3)"},
    {"name", GS_SORT_SYM, "a word"},
    {"dtype", GS_SORT_DTYPE, "a dtype, such as f32"},
    {"op", GS_SORT_OP, "a compute operator, such as relu"},
    {"bool", GS_SORT_BOOL, "true or false"},
};

static const char *
sort_word(gs_sort sort) {
  for (size_t k = 0; k < sizeof sorts / sizeof *sorts; k++)
    if (sorts[k].sort == sort)
      return sorts[k].name;
  return "term";
}

/* --- what is written ------------------------------------------------------ */

/* NAME or NAME:SORT; false with a diagnostic. */
static bool
add_variable(gs_parser *x, parse_definition *d, uint32_t node) {
  const char *text = parse_symbol(x, node), *colon;
  bs_span span = parse_at(x, node)->span;
  gs_sort sort = GS_SORT_CLASS;
  if (!text || text[0] == ':')
    return bs_error(x->ctx->diags, span, "bad-name",
                    "expected NAME or NAME:SORT, found %s",
                    parse_describe(x, node));
  colon = strchr(text, ':');
  size_t known = 0, n = sizeof sorts / sizeof *sorts;
  while (colon && known < n && strcmp(sorts[known].name, colon + 1) != 0)
    known++;
  if (known == n) {
    bs_error(x->ctx->diags, span, "bad-name", "there is no sort `%.60s`",
             colon + 1);
    bs_hint(x->ctx->diags, "one of term, int, number, list, name, dtype, op, "
                           "bool");
    return false;
  }
  if (colon)
    sort = sorts[known].sort;
  const char *name = bs_arena_printf(x->ctx->arena, "%.*s",
                                     colon ? (int)(colon - text) : 200, text);
  if (gs_scope_find(&d->scope, name) >= 0)
    return bs_error(x->ctx->diags, span, "duplicate-name",
                    "`%.60s` is named twice here", name);
  if (d->scope.vars.len >= MOST_VARIABLES)
    return bs_error(x->ctx->diags, span, "bad-form",
                    "a definition names at most %d values", MOST_VARIABLES);
  gs_scope_add(x->ctx, &d->scope, name, sort, span);
  return true;
}

static bool
add_parameter(gs_parser *x, parse_definition *d, uint32_t node,
              uint32_t *preset) {
  const bs_sx *sx = parse_at(x, node);
  if (d->n_params >= MOST_PARAMETERS)
    return bs_error(x->ctx->diags, sx->span, "bad-form",
                    "a definition has at most %d parameters", MOST_PARAMETERS);
  if (sx->kind != BS_SX_LIST) {
    if (d->n_places < d->n_params)
      return bs_error(x->ctx->diags, sx->span, "bad-form",
                      "parameters that are given by name come after all "
                      "others");
    d->n_places++;
    d->n_params++;
    return add_variable(x, d, node);
  }
  if (!sx->count || sx->count > 2)
    return bs_error(x->ctx->diags, sx->span, "bad-form",
                    "a parameter that is given by name is written "
                    "(NAME:SORT DEFAULT)");
  *preset = parse_at(x, node + 1)->next;
  d->n_params++;
  return add_variable(x, d, node + 1);
}

static bool
add_parameters(gs_parser *x, parse_definition *d) {
  uint32_t *defaults = BS_NEWS(x->ctx->arena, uint32_t, MOST_PARAMETERS);
  memset(defaults, 0, MOST_PARAMETERS * sizeof *defaults);
  d->defaults = defaults;
  for (uint32_t k = parse_at(x, d->header + 1)->next; k;
       k = parse_at(x, k)->next)
    if (!add_parameter(x, d, k,
                       &defaults[d->n_params % (uint32_t)MOST_PARAMETERS]))
      return false;
  return true;
}

/* An item before the last: a let is a variable more. */
static bool
check_item(gs_parser *x, parse_definition *d, uint32_t node) {
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  bool let = head && !strcmp(head, "let");
  bool known =
      let || (head && (!strcmp(head, "needs") || !strcmp(head, "case")));
  if (parse_at(x, node)->kind == BS_SX_STRING &&
      parse_at(x, d->header)->next == node)
    return true;
  if (!known || parse_at(x, node)->count != 3) {
    bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-form",
             "expected an item of a definition, found %s",
             parse_describe(x, node));
    bs_hint(x->ctx->diags, "(let NAME TERM), (needs CONDITION \"TEXT\") or "
                           "(case CONDITION TERM), and at the end one term");
    return false;
  }
  uint32_t second = parse_at(x, node + 1)->next;
  uint32_t third = parse_at(x, second)->next;
  if (!strcmp(head, "needs") && parse_at(x, third)->kind != BS_SX_STRING)
    return bs_error(x->ctx->diags, parse_at(x, third)->span, "bad-form",
                    "expected a text that says what is needed, found %s",
                    parse_describe(x, third));
  return !let || add_variable(x, d, second);
}

static bool
check_items(gs_parser *x, parse_definition *d) {
  for (uint32_t k = parse_at(x, d->header)->next; k;) {
    uint32_t next = parse_at(x, k)->next;
    if (next && !check_item(x, d, k))
      return false;
    k = next;
  }
  return true;
}

static const parse_definition *
find(const gs_parser *x, const char *name, bool built_in) {
  for (uint32_t k = 0; k < x->definitions.len; k++) {
    const parse_definition *d = &x->definitions.data[k];
    if (d->built_in == built_in &&
        !strcmp(bs_as_sym(x->ctx->values, d->name), name))
      return d;
  }
  return NULL;
}

static bool
check_name(gs_parser *x, uint32_t node, bool built_in) {
  const char *name = parse_symbol(x, node);
  bs_span span = parse_at(x, node)->span;
  gs_op op;
  if (!name || name[0] == ':')
    return bs_error(x->ctx->diags, span, "bad-name",
                    "expected the name of what is defined, found %s",
                    parse_describe(x, node));
  if (gs_op_find(name, &op))
    return bs_error(x->ctx->diags, span, "duplicate-name",
                    "`%.60s` is an operator and cannot be redefined", name);
  const parse_definition *first = find(x, name, built_in);
  if (!first)
    return true;
  bs_error(x->ctx->diags, span, "duplicate-name", "`%.60s` is defined twice",
           name);
  bs_note(x->ctx->diags, parse_at(x, first->header)->span,
          "the first definition is here");
  return false;
}

void
parse_define(gs_parser *x, uint32_t list, bool built_in) {
  assert(parse_at(x, list)->kind == BS_SX_LIST);
  parse_definition d = {.list = list, .built_in = built_in};
  d.header = parse_at(x, list)->count > 2 ? parse_at(x, list + 1)->next : 0;
  if (!d.header || parse_at(x, d.header)->kind != BS_SX_LIST ||
      !parse_at(x, d.header)->count) {
    bs_error(x->ctx->diags, parse_at(x, list)->span, "bad-form",
             "a definition has a head, its name and parameters in "
             "parentheses, and a term");
    bs_hint(x->ctx->diags, "write (define (NAME PARAMETER...) TERM)");
    return;
  }
  if (!check_name(x, d.header + 1, built_in))
    return;
  d.name = parse_at(x, d.header + 1)->value;
  if (add_parameters(x, &d) && check_items(x, &d))
    bs_push(x->ctx->heap, &x->definitions, d);
  else
    bs_vec_done(x->ctx->heap, &d.scope.vars);
}

void
parse_definitions_done(gs_parser *x) {
  for (uint32_t k = 0; k < x->definitions.len; k++)
    bs_vec_done(x->ctx->heap, &x->definitions.data[k].scope.vars);
  bs_vec_done(x->ctx->heap, &x->definitions);
}

const parse_definition *
parse_find_definition(const gs_parser *x, const char *name) {
  const parse_use *around = x->env ? &x->uses.data[x->env - 1] : NULL;
  bool own = !around || !x->definitions.data[around->definition].built_in;
  const parse_definition *d = own ? find(x, name, false) : NULL;
  return d ? d : find(x, name, true);
}

void
parse_put_usage(bs_text *out, const parse_definition *d) {
  const gs_var *vars = d->scope.vars.data;
  for (uint32_t k = 0; k < d->n_params; k++) {
    const char *word = sort_word(vars[k].sort);
    if (k >= d->n_places)
      bs_putf(out, " [:%s %s]", vars[k].name, word);
    else if (vars[k].sort == GS_SORT_CLASS)
      bs_putf(out, " %s", vars[k].name);
    else
      bs_putf(out, " %s:%s", vars[k].name, word);
  }
}

/* "where a and b are each an integer", of the parameters of one sort; false:
 * there are none. */
static bool
put_sort(bs_text *out, const parse_definition *d, size_t sort,
         const char *before) {
  const gs_var *vars = d->scope.vars.data;
  uint32_t n = 0, put = 0;
  for (uint32_t k = 0; k < d->n_params; k++)
    n += vars[k].sort == sorts[sort].sort;
  for (uint32_t k = 0; k < d->n_params; k++)
    if (vars[k].sort == sorts[sort].sort) {
      bs_putf(out, "%s %s",
              !put           ? before
              : put + 1 == n ? " and"
                             : ",",
              vars[k].name);
      put++;
    }
  if (n)
    bs_putf(out, " %s %s", n == 1 ? "is" : "are each", sorts[sort].what);
  return n > 0;
}

void
parse_put_call(bs_text *out, const parse_definition *d) {
  const gs_var *vars = d->scope.vars.data;
  for (uint32_t k = 0; k < d->n_params; k++)
    bs_putf(out, k < d->n_places ? " %s" : " [:%s ...]", vars[k].name);
  bs_putc(out, ')');
  bool any = false;
  for (size_t k = 0; k < sizeof sorts / sizeof *sorts; k++)
    if (sorts[k].sort != GS_SORT_CLASS)
      any |= put_sort(out, d, k, any ? ";" : ", where");
}

/* --- those that come with the language ------------------------------------ */

static bool
means_something_else(const gs_parser *x, const char *head) {
  static const char *const words[] = {"tensor",   "const", "let",    "output",
                                      "define",   "shape", "stride", "list",
                                      "dilation", "over",  "size"};
  gs_op op;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (!strcmp(words[k], head))
      return true;
  (void)x;
  return gs_op_find(head, &op);
}

/* Is there a head that no operator has?  Each name is asked about once. */
static bool
are_wanted(const gs_parser *x) {
  BS_VEC(bool) known = {0};
  bool wanted = false;
  for (uint32_t k = 1; k < x->sx.nodes.len && !wanted; k++) {
    const char *head = bs_sx_head(&x->sx, x->ctx->values, k);
    uint32_t symbol = head ? parse_at(x, k + 1)->value.i : 0;
    while (head && known.len <= symbol)
      bs_push(x->ctx->heap, &known, false);
    if (!head || known.data[symbol])
      continue;
    known.data[symbol] = true;
    wanted = !means_something_else(x, head);
  }
  bs_vec_done(x->ctx->heap, &known);
  return wanted;
}

/* The text is a source like any other, so that a fault can be shown in it. */
static uint32_t
own_source(gs_parser *x) {
  static const char path[] = GS_DEFINITIONS_PATH;
  bs_diags *diags = x->ctx->diags;
  for (uint32_t k = 0; k < diags->sources.len; k++)
    if (!diags->sources.data[k].unused &&
        !strcmp(diags->sources.data[k].path, path))
      return k + 1;
  return bs_source_add(diags, path, definitions_glen,
                       sizeof definitions_glen - 1);
}

/* Puts the nodes of the text behind those of the file. */
static uint32_t
append_nodes(gs_parser *x, const bs_sexps *own) {
  uint32_t base = x->sx.nodes.len - 1;
  for (uint32_t k = 1; k < own->nodes.len; k++) {
    bs_sx node = own->nodes.data[k];
    node.next += node.next ? base : 0;
    bs_push(x->ctx->heap, &x->sx.nodes, node);
  }
  return base;
}

void
parse_built_in(gs_parser *x) {
  if (are_wanted(x))
    parse_language(x);
}

void
parse_language(gs_parser *x) {
  bs_sexps own;
  if (!bs_sexp_read(x->ctx->heap, x->ctx->values, x->ctx->diags, own_source(x),
                    &own))
    return;
  uint32_t base = append_nodes(x, &own);
  for (uint32_t k = 0; k < own.roots.len; k++)
    parse_define(x, base + own.roots.data[k], true);
  bs_sexps_done(x->ctx->heap, &own);
}
