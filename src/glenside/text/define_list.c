/* SPDX-License-Identifier: MIT */
/* define_list.c - the definitions of a program and of the language, listed. */
#include "glenside/text/define.h"
#include "glenside/text/parse.h"
#include <string.h>

/* A text before the term says what it is. */
static const char *
what_of(const gs_parser *x, const parse_definition *d) {
  uint32_t node = parse_at(x, d->header)->next;
  return node && parse_at(x, node)->kind == BS_SX_STRING
             ? bs_as_sym(x->ctx->values, parse_at(x, node)->value)
             : "";
}

static gs_definition
describe(const gs_parser *x, const parse_definition *d) {
  bs_text usage;
  const char *name = bs_as_sym(x->ctx->values, d->name);
  bs_text_init(&usage, x->ctx->heap);
  bs_putf(&usage, "(%s", name);
  parse_put_usage(&usage, d);
  bs_putc(&usage, ')');
  gs_definition out = {.name = name,
                       .usage =
                           bs_arena_strdup(x->ctx->arena, bs_text_str(&usage)),
                       .what = what_of(x, d),
                       .name_span = parse_at(x, d->header + 1)->span,
                       .form = parse_at(x, d->list)->span,
                       .built_in = d->built_in};
  bs_text_done(&usage);
  return out;
}

static void
read_own(gs_parser *x) {
  for (uint32_t k = 0; k < x->sx.roots.len; k++) {
    uint32_t root = x->sx.roots.data[k];
    const char *head = bs_sx_head(&x->sx, x->ctx->values, root);
    if (head && !strcmp(head, "define"))
      parse_define(x, root, false);
  }
}

bool
gs_is_defined(const gs_context *ctx, const char *name) {
  gs_parser x = {.ctx = ctx};
  bs_moment before = bs_moment_of(ctx->diags);
  bs_push(ctx->heap, &x.sx.nodes, (bs_sx){0}); /* none has the number 0 */
  parse_language(&x);
  bool found = parse_find_definition(&x, name) != NULL;
  parse_definitions_done(&x);
  bs_sexps_done(ctx->heap, &x.sx);
  bs_go_back(ctx->diags, before);
  return found;
}

void
gs_list_definitions(const gs_context *ctx, uint32_t source,
                    gs_definitions *out) {
  gs_parser x = {.ctx = ctx};
  bs_moment before = bs_moment_of(ctx->diags);
  *out = (gs_definitions){0};
  if (bs_sexp_read(ctx->heap, ctx->values, ctx->diags, source, &x.sx)) {
    read_own(&x);
    parse_language(&x);
    for (uint32_t k = 0; k < x.definitions.len; k++)
      bs_push(ctx->heap, out, describe(&x, &x.definitions.data[k]));
  }
  parse_definitions_done(&x);
  bs_sexps_done(ctx->heap, &x.sx);
  bs_go_back(ctx->diags, before);
}

const gs_definition *
gs_find_definition(const gs_definitions *all, const char *name) {
  for (uint32_t k = 0; k < all->len; k++)
    if (!strcmp(all->data[k].name, name))
      return &all->data[k];
  return NULL;
}
