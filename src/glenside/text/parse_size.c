/* SPDX-License-Identifier: MIT */
/* parse_size.c - sizes that a program declares, and where integers may be made
 * of them.
 *
 * A size is a variable of the expressions that stand where the program is
 * written, not of the bodies of definitions.  One that a number is given for
 * has that value; any other has a number of sizes.h. */
#include "glenside/type/sizes.h"
#include "glenside/text/parse.h"
#include <string.h>

/* ---- what is declared ---- */

static bool
need_int(gs_parser *x, uint32_t node, int64_t least, int64_t *out) {
  const bs_sx *sx = parse_at(x, node);
  *out = bs_as_int(x->ctx->values, sx->value); /* of no integer: 0 */
  if (sx->kind == BS_SX_INT && *out >= least && *out <= GS_MAX_ELEMENTS)
    return true;
  bs_error(x->ctx->diags, sx->span, "number-range",
           "expected a number from %lld to 2^40, found %s", (long long)least,
           parse_describe(x, node));
  parse_hint_number(x->ctx, sx, true);
  return false;
}

/* The least and the greatest multiple are the bounds. */
static bool
read_bounds(gs_parser *x, uint32_t name, gs_size *size) {
  uint32_t least = parse_at(x, name)->next, most = parse_at(x, least)->next;
  uint32_t multiple = parse_at(x, most)->next;
  size->multiple = 1;
  if (!need_int(x, least, 1, &size->least) ||
      !need_int(x, most, size->least, &size->most) ||
      (multiple && !need_int(x, multiple, 1, &size->multiple)))
    return false;
  return gs_fit_bounds(size) ||
         bs_error(x->ctx->diags, parse_at(x, multiple)->span, "number-range",
                  "there is no multiple of %lld between the bounds of %s",
                  (long long)size->multiple, size->name);
}

/* It becomes the name of a parameter in C. */
static bool
read_name(gs_parser *x, uint32_t node, const char **out) {
  const char *s = *out = parse_symbol(x, node);
  bs_span span = parse_at(x, node)->span;
  size_t n = 0;
  for (; s && ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
               (n && s[n] >= '0' && s[n] <= '9') || (n && s[n] == '_'));)
    n++;
  if (!s || !n || s[n] || n > 60) {
    bs_error(x->ctx->diags, span, "bad-name",
             "expected the name of a size, "
             "found %s",
             parse_describe(x, node));
    bs_hint(x->ctx->diags, "a letter, then letters, digits and `_`");
    return false;
  }
  if (gs_is_reserved(s) || gs_function_find(s) >= 0)
    return bs_error(x->ctx->diags, span, "bad-name",
                    "`%.60s` means something else in expressions", s);
  parse_binding *b = parse_find(x, parse_at(x, node)->value);
  if (b->span.file == span.file && b->span.lo == span.lo)
    return true;
  bs_error(x->ctx->diags, span, "duplicate-name", "`%.60s` is defined twice",
           s);
  bs_note(x->ctx->diags, b->span, "the first definition is here");
  return false;
}

static const gs_given_size *
given(const gs_parser *x, const char *name) {
  for (uint32_t k = 0; k < x->n_given; k++)
    if (!strcmp(x->given[k].name, name))
      return &x->given[k];
  return NULL;
}

static bool
is_within(gs_parser *x, const gs_size *s, int64_t n) {
  if (gs_size_holds(s, n))
    return true;
  bs_error(x->ctx->diags, s->span, "size-range",
           "%s = %lld is not within its bounds", s->name, (long long)n);
  if (s->multiple > 1)
    bs_hint(x->ctx->diags, "a multiple of %lld from %lld to %lld",
            (long long)s->multiple, (long long)s->least, (long long)s->most);
  else
    bs_hint(x->ctx->diags, "a number from %lld to %lld", (long long)s->least,
            (long long)s->most);
  return false;
}

static void
declare(gs_parser *x, uint32_t name) {
  gs_size size = {.span = parse_at(x, name)->span};
  gs_number n;
  if (!read_name(x, name, &size.name))
    return;
  if (x->sizes.vars.len == GS_MOST_SIZES) {
    bs_error(x->ctx->diags, size.span, "too-large", "more than %d sizes",
             GS_MOST_SIZES);
    return;
  }
  /* After a fault it is some number, so that its uses are not told. */
  const gs_given_size *known = given(x, size.name);
  bool fine = read_bounds(x, name, &size) &&
              (!known || is_within(x, &size, known->value));
  n = !fine ? 1 : known ? known->value : gs_open_size(x->p, &size);
  gs_scope_add(x->ctx, &x->sizes, size.name, GS_SORT_INT, size.span);
  bs_push(x->ctx->heap, &x->size_values, bs_int(x->ctx->values, n).i);
}

/* ---- the file ---- */

static void
refuse_name(gs_parser *x, const char *name) {
  const char *names[GS_MOST_SIZES];
  uint32_t n = x->sizes.vars.len;
  for (uint32_t k = 0; k < n; k++)
    names[k] = x->sizes.vars.data[k].name;
  bs_error(x->ctx->diags, BS_NOWHERE, "unknown-name",
           "the program has no size named %s", name);
  if (n)
    bs_hint_names(x->ctx->diags, name, names, n);
  else
    bs_hint(x->ctx->diags, "it declares none; (size %.40s 1 1024) does", name);
}

static void
check_given(gs_parser *x) {
  for (uint32_t k = 0; k < x->n_given; k++) {
    bool has = parse_is_size(x, x->given[k].name);
    if (has && x->given[k].taken)
      *x->given[k].taken = true;
    if (!has && !x->given[k].taken && !x->ctx->diags->errors)
      refuse_name(x, x->given[k].name);
  }
}

/* Numbers so large stand for what sizes make. */
static void
check_integers(gs_parser *x) {
  for (uint32_t k = 0; x->p->sizes && k < x->sx.nodes.len; k++) {
    const bs_sx *sx = &x->sx.nodes.data[k];
    int64_t n =
        sx->kind == BS_SX_INT ? bs_as_int(x->ctx->values, sx->value) : 0;
    if (n >= GS_MOST_PLAIN || n <= -GS_MOST_PLAIN)
      bs_error(x->ctx->diags, sx->span, "number-range",
               "in a program with sizes, integers must be below 2^59");
  }
}

void
parse_sizes(gs_parser *x) {
  for (uint32_t k = 0; k < x->sx.roots.len; k++) {
    uint32_t root = x->sx.roots.data[k];
    const char *head = bs_sx_head(&x->sx, x->ctx->values, root);
    uint32_t n = parse_at(x, root)->count;
    if (head && !strcmp(head, "size") && (n == 4 || n == 5))
      declare(x, parse_at(x, root + 1)->next);
  }
  check_given(x);
  check_integers(x);
}
