/* SPDX-License-Identifier: MIT */
/* parse_attr.c - attributes: integers, lists with their heads, pad kinds,
 * compute operators, dtypes.
 *
 * Only the written form is checked here; whether the value suits the term is
 * gs_infer's to say. */
#include "glenside/type/elsewhere.h"
#include "glenside/text/define.h"
#include "glenside/text/parse.h"
#include "glenside/type/sizes.h"
#include <assert.h>
#include <string.h>

const char *
parse_symbol(const gs_parser *x, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  return sx->kind == BS_SX_SYM ? bs_as_sym(x->ctx->values, sx->value) : NULL;
}

const char *
parse_nearest(const char *word, const char *const *names, uint32_t n) {
  return strlen(word) < 3 ? NULL : bs_nearest(word, names, n);
}

static const char *
describe_real(const gs_parser *x, double real) {
  bs_text text;
  bs_text_init(&text, x->ctx->heap);
  bs_put(&text, "the real ");
  bs_put_real(&text, real);
  const char *s = bs_arena_strdup(x->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return s;
}

const char *
parse_describe(const gs_parser *x, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  const bs_values *values = x->ctx->values;
  bs_arena *arena = x->ctx->arena;
  switch (sx->kind) {
  case BS_SX_LIST: {
    const char *head = bs_sx_head(&x->sx, values, node);
    if (!sx->count)
      return "an empty list";
    return head ? bs_arena_printf(arena, "a list headed by `%.60s`", head)
                : "a list without a head";
  }
  case BS_SX_SYM:
    return bs_arena_printf(arena, "`%.60s`", bs_as_sym(values, sx->value));
  case BS_SX_INT:
    return bs_arena_printf(arena, "the integer %lld",
                           (long long)bs_as_int(values, sx->value));
  case BS_SX_REAL:
    return describe_real(x, bs_as_real(values, sx->value));
  case BS_SX_BOOL:
    return bs_as_bool(values, sx->value) ? "`true`" : "`false`";
  case BS_SX_STRING:
    return "a string";
  }
  return "something else";
}

bool
parse_is_plain_name(const char *s) {
  bool first = true;
  size_t n = strlen(s);
  for (; *s; s++, first = false) {
    bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
    bool digit = *s >= '0' && *s <= '9';
    if (!letter && *s != '_' && (first || (!digit && *s != '-' && *s != '.')))
      return false;
  }
  return n > 0 && n <= 200;
}

/* Sizes are the variables of what is written outside of definitions. */
bool
parse_is_size(const gs_parser *x, const char *name) {
  return name && gs_scope_find(&x->sizes, name) >= 0;
}

bool
parse_is_sized(const gs_parser *x, uint32_t node) {
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  if (!x->sizes.vars.len)
    return false;
  if (parse_at(x, node)->kind == BS_SX_SYM)
    return parse_is_size(x, parse_symbol(x, node));
  return head && gs_function_find(head) >= 0;
}

static bool
parse_int(gs_parser *x, const char *what, uint32_t node, bs_value *out) {
  const bs_sx *sx = parse_at(x, node);
  if (sx->kind == BS_SX_INT) {
    *out = sx->value;
    return true;
  }
  if (parse_is_sized(x, node))
    return parse_value(x, GS_SORT_INT, node, out);
  bs_error(x->ctx->diags, sx->span, "bad-attribute", "expected %s, found %s",
           what, parse_describe(x, node));
  parse_hint_number(x->ctx, sx, true);
  return false;
}

/* What stands where an element of a list is expected, and is no integer. */
static void
hint_element(gs_parser *x, const char *head, uint32_t node) {
  const char *name = parse_symbol(x, node);
  if (name && strpbrk(name, ",[]"))
    bs_hint(x->ctx->diags, "separate the elements by spaces only: (%s 4 8)",
            head);
  else if (name && !x->env && !strcmp(head, "shape") &&
           (parse_is_plain_name(name) || !strcmp(name, "?")))
    bs_hint(
        x->ctx->diags,
        "a size that is only known when the code is called is declared first: "
        "(size %.60s 1 1024)",
        strcmp(name, "None") && strcmp(name, "?") ? name : "n");
}

static bool
is_dtype(const char *word) {
  for (int k = 0; word && k < GS_DTYPE_COUNT; k++)
    if (!strcmp(word, gs_dtype_table[k].name))
      return true;
  return false;
}

/* (HEAD n...) */
static bool
parse_list(gs_parser *x, const char *head, uint32_t node, bs_value *out) {
  const bs_sx *sx = parse_at(x, node);
  const char *found = bs_sx_head(&x->sx, x->ctx->values, node);
  if (!found || strcmp(found, head)) {
    bs_error(x->ctx->diags, sx->span, "bad-attribute",
             "expected a list (%s ...), found %s", head,
             parse_describe(x, node));
    if (sx->kind == BS_SX_LIST && sx->count &&
        parse_at(x, node + 1)->kind == BS_SX_INT)
      bs_hint(
          x->ctx->diags, "a list needs a head: (%s %lld ...)", head,
          (long long)bs_as_int(x->ctx->values, parse_at(x, node + 1)->value));
    else if (!strcmp(head, "shape") && is_dtype(parse_symbol(x, node)))
      bs_hint(x->ctx->diags,
              "the shape comes before the dtype: (tensor NAME "
              "(shape 4 8) %s)",
              parse_symbol(x, node));
    return false;
  }
  bool fine = true;
  bs_clear(&x->items);
  for (uint32_t k = parse_at(x, node + 1)->next; k; k = parse_at(x, k)->next) {
    bs_value v = BS_NIL;
    if (!parse_int(x, "an integer", k, &v)) {
      hint_element(x, head, k);
      fine = false;
    }
    bs_push(x->ctx->heap, &x->items, v);
  }
  if (fine)
    *out = bs_list(x->ctx->values, x->items.data, x->items.len);
  return fine;
}

/* One of `n` names. */
static bool
parse_choice(gs_parser *x, const char *code, const char *what,
             const char *const *names, uint32_t n, uint32_t node,
             bs_value *out) {
  const char *name = parse_symbol(x, node);
  for (uint32_t k = 0; name && k < n; k++)
    if (!strcmp(name, names[k])) {
      *out = parse_at(x, node)->value;
      return true;
    }
  bs_error(x->ctx->diags, parse_at(x, node)->span, code,
           name ? "unknown %s %s" : "expected a %s, found %s", what,
           parse_describe(x, node));
  const char *near = name ? parse_nearest(name, names, n) : NULL;
  bs_text all;
  bs_text_init(&all, x->ctx->heap);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&all, "%s%s", k ? ", " : "", names[k]);
  bool elsewhere = name && gs_hint_elsewhere(x->ctx->diags, GS_AS_DTYPE, name);
  if (!elsewhere && near)
    bs_meant(x->ctx->diags, "`", near);
  else if (parse_at(x, node)->kind == BS_SX_STRING)
    bs_hint(x->ctx->diags, "it is written without quotes; one of %s",
            bs_text_str(&all));
  else if (!elsewhere)
    bs_hint(x->ctx->diags, "one of %s", bs_text_str(&all));
  bs_text_done(&all);
  return false;
}

static bool
parse_pad_kind(gs_parser *x, uint32_t node, bs_value *out) {
  return parse_choice(x, "bad-attribute", "pad kind", gs_padding_names,
                      GS_PADDING_COUNT, node, out);
}

static bool
parse_dtype(gs_parser *x, uint32_t node, bs_value *out) {
  const char *names[GS_DTYPE_COUNT];
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    names[k] = gs_dtype_table[k].name;
  return parse_choice(x, "unknown-dtype", "dtype", names, GS_DTYPE_COUNT, node,
                      out);
}

/* Operators compute with it, so that it is known. */
static bool
is_plain(gs_parser *x, uint32_t node, bs_value v) {
  if (bs_kind_of(x->ctx->values, v) != BS_KIND_INT || !x->p->sizes ||
      !gs_is_sized(bs_as_int(x->ctx->values, v)))
    return true;
  bs_span span = parse_at(x, node)->span;
  parse_blame(x, "open-size", "a parameter of an operator depends on sizes",
              span);
  return false;
}

bool
parse_parameter(gs_parser *x, char letter, uint32_t node, bs_value *out) {
  const bs_sx *sx = parse_at(x, node);
  if (x->env)
    return parse_value(x, letter == 't' ? GS_SORT_DTYPE : GS_SORT_REAL, node,
                       out) &&
           is_plain(x, node, *out);
  if (letter == 't')
    return parse_dtype(x, node, out);
  *out = sx->value;
  if (sx->kind == BS_SX_INT || sx->kind == BS_SX_REAL)
    return true;
  bs_error(x->ctx->diags, sx->span, "bad-attribute",
           "expected a number, found %s", parse_describe(x, node));
  parse_hint_number(x->ctx, sx, false);
  return false;
}

static bool
known_compute(gs_parser *x, uint32_t node, bool list, gs_compute *out) {
  const char *name = parse_symbol(x, node);
  const char *names[GS_COMPUTE_COUNT];
  gs_op op;
  if (name && gs_compute_find(name, out))
    return true;
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    names[k] = gs_compute_table[k].name;
  bs_error(x->ctx->diags, parse_at(x, node)->span, "unknown-compute",
           name ? "unknown compute operator %s"
                : "expected a compute operator, found %s",
           parse_describe(x, node));
  const char *near = name ? parse_nearest(name, names, GS_COMPUTE_COUNT) : NULL;
  if (name && gs_hint_elsewhere(x->ctx->diags, GS_AS_COMPUTE, name))
    return false;
  if (name && (parse_find_definition(x, name) || gs_is_defined(x->ctx, name))) {
    bs_hint(x->ctx->diags,
            "`%.60s` is a definition, which is written without compute: (%.60s "
            "...)",
            name, name);
    return false;
  }
  if (near)
    bs_meant(x->ctx->diags, "`", near);
  else if (name && gs_op_find(name, &op) && !list)
    bs_hint(x->ctx->diags, "`%s` is not a computation; write %s", name,
            gs_op_usage(op));
  else
    bs_hint(x->ctx->diags, "compute takes the operator first: (compute "
                           "reduceSum a), (compute (clip 0 6) a)");
  return false;
}

/* relu, or (clip 0 6) */
static bool
parse_compute(gs_parser *x, uint32_t node, bs_value *out) {
  const bs_sx *sx = parse_at(x, node);
  bool list = sx->kind == BS_SX_LIST && sx->count > 0;
  uint32_t head = list ? node + 1 : node, n = list ? sx->count - 1 : 0;
  bs_value items[8];
  gs_compute op;
  bool fine = true;
  if (!known_compute(x, head, list, &op))
    return false;
  const gs_compute_info *info = &gs_compute_table[op];
  uint32_t want = (uint32_t)strlen(info->params);
  if (n != want) {
    bs_error(x->ctx->diags, sx->span, "wrong-arity", "%s takes %u %s, found %u",
             info->name, BS_COUNTED(want, "parameter"), n);
    if (want)
      bs_hint(x->ctx->diags, "write (compute (%s%s) a)", info->name,
              op == GS_C_CAST   ? " f32"
              : op == GS_C_CLIP ? " lo hi"
                                : " x");
    return false;
  }
  items[0] = parse_at(x, head)->value;
  uint32_t at = parse_at(x, head)->next;
  for (uint32_t k = 0; k < want; k++, at = parse_at(x, at)->next)
    fine &= parse_parameter(x, info->params[k], at, &items[k + 1]);
  if (fine)
    *out = want ? bs_list(x->ctx->values, items, want + 1) : items[0];
  return fine;
}

static bool
parse_name(gs_parser *x, uint32_t node, bs_value *out) {
  *out = parse_at(x, node)->value;
  if (parse_at(x, node)->kind == BS_SX_SYM)
    return true;
  return bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-attribute",
                  "expected a name, found %s", parse_describe(x, node));
}

/* (each 4 a b), (sum 4 a b), (into NAME): what they say is gs_infer's to
 * judge. */
static bool
parse_over_item(gs_parser *x, uint32_t node, bs_value *out) {
  const bs_sx *sx = parse_at(x, node);
  bs_value items[64];
  uint32_t n = 0;
  if (sx->kind != BS_SX_LIST || !sx->count || sx->count > 64)
    return bs_error(x->ctx->diags, sx->span, "bad-attribute",
                    "expected (each SIZE OPERAND...), (sum SIZE OPERAND...) or "
                    "(into INSTR), found %s",
                    parse_describe(x, node));
  for (uint32_t k = node + 1; k && n < sx->count; k = parse_at(x, k)->next) {
    const bs_sx *item = parse_at(x, k);
    if (item->kind != BS_SX_SYM && item->kind != BS_SX_INT)
      return bs_error(x->ctx->diags, item->span, "bad-attribute",
                      "expected a size or a name, found %s",
                      parse_describe(x, k));
    items[n++] = item->value;
  }
  *out = bs_list(x->ctx->values, items, n);
  return true;
}

/* (over ...), behind the parameters of a call */
static bool
parse_over(gs_parser *x, uint32_t node, bs_value *out) {
  bs_value items[GS_MAX_RANK + 1];
  uint32_t n = 0;
  bool fine = true;
  if (parse_at(x, node)->count > GS_MAX_RANK + 2)
    return bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-attribute",
                    "over has more than %d items", GS_MAX_RANK + 1);
  for (uint32_t k = parse_at(x, node + 1)->next; k; k = parse_at(x, k)->next)
    fine &= parse_over_item(x, k, &items[n++]);
  if (fine)
    *out = bs_list(x->ctx->values, items, n);
  return fine;
}

static bool
is_over(const gs_parser *x, gs_op op, uint32_t item, uint32_t node) {
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  return op == GS_CALL && item && head && !strcmp(head, "over");
}

/* What an attribute is where a body computes it; a name stands for itself. */
static gs_sort
sort_of(char letter) {
  switch (letter) {
  case 'k':
    return GS_SORT_SYM;
  case 'o':
    return GS_SORT_OP;
  case 't':
    return GS_SORT_DTYPE;
  default:
    return gs_letter_is_list(letter) ? GS_SORT_LIST : GS_SORT_INT;
  }
}

bool
parse_attr(gs_parser *x, gs_op op, uint32_t item, uint32_t node,
           bs_value *out) {
  assert(op < GS_OP_COUNT);
  const char *letters = gs_op_table[op].attrs;
  size_t n = strlen(letters);
  if (is_over(x, op, item, node))
    return parse_over(x, node, out);
  char letter = item < n ? letters[item] : letters[n - 1];
  if (x->env && letter != 's')
    return parse_value(x, sort_of(letter), node, out);
  if (gs_letter_is_list(letter))
    return parse_list(x, gs_list_head(op, item), node, out);
  switch (letter) {
  case 'd':
    return parse_int(x, "a dimension", node, out);
  case 'g':
    return parse_int(x, "a place between dimensions, an integer", node, out);
  case 'k':
    return parse_pad_kind(x, node, out);
  case 'o':
    return parse_compute(x, node, out);
  case 't':
    return parse_dtype(x, node, out);
  case 's':
    return parse_name(x, node, out);
  default:
    return parse_int(x, "an integer", node, out);
  }
}
