/* SPDX-License-Identifier: MIT */
/* form_hints.c - what to write instead of a form that is not one: hints for
 * those who have just begun. */
#include "glenside/text/parse.h"
#include <assert.h>
#include <string.h>

bool
parse_heads_term(const gs_parser *x, const char *word) {
  gs_op op;
  gs_compute compute;
  return gs_op_find(word, &op) || gs_compute_find(word, &compute) ||
         parse_find_definition(x, word);
}

/* A list stands where the name of an output is expected. */
static void
hint_list(gs_parser *x, uint32_t node, const char *head) {
  bs_diags *diags = x->ctx->diags;
  const char *name = parse_at(x, node)->count > 1
                         ? parse_symbol(x, bs_sx_item(&x->sx, node, 1))
                         : NULL;
  if (!strcmp(head, "let") && name)
    bs_hint(diags,
            "end the let before the output: (let %.60s TERM), then "
            "(output %.60s)",
            name, name);
  else if (parse_at(x, node)->count == 1)
    bs_hint(diags, "a name is written without parentheses: (output %.60s)",
            head);
  else
    bs_hint(diags,
            "give the term a name first: (let NAME (%.60s ...)), then "
            "(output NAME)",
            head);
}

void
parse_hint_output(gs_parser *x, uint32_t node) {
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  if (head)
    hint_list(x, node, head);
  else if (parse_at(x, node)->kind == BS_SX_STRING)
    bs_hint(x->ctx->diags, "a name is written without quotes: (output NAME)");
  else
    bs_hint(x->ctx->diags, "give a term a name: (let NAME TERM), then (output "
                           "NAME)");
}

/* Does an item begin with a bracket, as lists of other languages do? */
static bool
has_brackets(gs_parser *x, uint32_t form) {
  for (uint32_t k = 1; k < parse_at(x, form)->count; k++) {
    const char *word = parse_symbol(x, bs_sx_item(&x->sx, form, k));
    if (word && word[0] == '[')
      return true;
  }
  return false;
}

/* The word with which a term begins that lacks its parentheses, or NULL. */
static const char *
bare_head(gs_parser *x, uint32_t form) {
  uint32_t node = bs_sx_item(&x->sx, form, 2);
  const char *word = parse_symbol(x, node);
  bool is_name = word && parse_find(x, parse_at(x, node)->value);
  return word && !is_name && parse_is_plain_name(word) ? word : NULL;
}

/* (let y = ...) */
static bool
is_equals(const gs_parser *x, uint32_t form) {
  const char *word = parse_symbol(x, bs_sx_item(&x->sx, form, 2));
  return word && (!strcmp(word, "=") || !strcmp(word, ":=") ||
                  !strcmp(word, "<-") || !strcmp(word, "->"));
}

void
parse_hint_form(gs_parser *x, uint32_t form, const char *usage) {
  assert(parse_at(x, form)->kind == BS_SX_LIST);
  bs_diags *diags = x->ctx->diags;
  const char *head = bs_sx_head(&x->sx, x->ctx->values, form);
  uint32_t n = parse_at(x, form)->count;
  const char *bare = !strcmp(head, "let") && n > 3 ? bare_head(x, form) : NULL;
  if (has_brackets(x, form))
    bs_hint(diags, "a list is written in parentheses, with a head: (shape 4 "
                   "8)");
  else if (!strcmp(head, "output") && n > 2)
    bs_hint(diags, "each result has an output of its own: (output NAME)");
  else if (!strcmp(head, "let") && n > 3 && is_equals(x, form))
    bs_hint(diags, "a let has no sign between name and term: (let NAME TERM)");
  else if (bare)
    bs_hint(diags, "a term is written in parentheses: (let NAME (%.60s ...))",
            bare);
  else
    bs_hint(diags, "write %s", usage);
}

/* The name behind a mark with which other languages quote it, or NULL. */
const char *
parse_unquoted(const char *name) {
  return strchr("'`,:", name[0]) && parse_is_plain_name(name + 1) ? name + 1
                                                                  : NULL;
}

void
parse_hint_unknown(gs_parser *x, const char *name) {
  if (parse_unquoted(name))
    bs_meant(x->ctx->diags, "`", parse_unquoted(name));
  else if (name[0] == '?')
    bs_hint(x->ctx->diags, "variables such as ?a are for rules only");
  else if (name[strlen(name) - 1] == ',')
    bs_hint(x->ctx->diags, "separate operands by spaces only: (add a b)");
  else if (parse_heads_term(x, name))
    bs_hint(x->ctx->diags,
            "it is an operator, which its operands follow: "
            "(%.60s ...)",
            name);
  else if (parse_is_plain_name(name))
    bs_hint(x->ctx->diags,
            "(tensor %.60s (shape 4 8) f32) declares an input of that name, "
            "and (let %.60s TERM) gives it to a term",
            name, name);
}
