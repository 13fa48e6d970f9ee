/* SPDX-License-Identifier: MIT */
/* print_text.c - the pieces of printed programs: attributes, literals, words.
 *
 * Attributes are printed from the letters of op.h, so whatever parse_attr.c
 * reads is what stands here. */
#include "glenside/text/text_print.h"
#include "glenside/program/scan.h"
#include "glenside/type/sizes.h"
#include "glenside/array/tensor.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
print_newline(print_out *o, uint32_t indent) {
  bs_putc(o->text, '\n');
  o->line = o->text->len;
  for (uint32_t k = 0; k < indent; k++)
    bs_putc(o->text, ' ');
}

/* Nothing but blanks stands before on this line, or a blank just before. */
static bool
after_blank(const print_out *o) {
  size_t n = o->text->len;
  return !n || o->text->data[n - 1] == ' ' || o->text->data[n - 1] == '\n';
}

void
print_words(print_out *o, const char *words, uint32_t indent, size_t tail) {
  words += strspn(words, " ");
  while (*words) {
    size_t len = strcspn(words, " ");
    const char *next = words + len + strspn(words + len, " ");
    size_t end = print_column(o) + 1 + len + (*next ? 0 : tail);
    if (!after_blank(o) && end > PRINT_WIDTH)
      print_newline(o, indent);
    else if (!after_blank(o))
      bs_putc(o->text, ' ');
    bs_putn(o->text, words, len);
    words = next;
  }
}

/* Attributes
 * ---------------------------------------------------------------- */

/* An instruction's name may be the head unless an operator has the name. */
static bool
call_is_sugared(const bs_values *values, bs_value attr) {
  gs_op op;
  return !gs_op_find(bs_as_sym(values, bs_item(values, attr, 0)), &op);
}

const char *
print_head(const bs_values *values, gs_op op, bs_value attr) {
  assert(op < GS_OP_COUNT);
  if (op == GS_CALL && call_is_sugared(values, attr))
    return bs_as_sym(values, bs_item(values, attr, 0));
  return gs_op_table[op].name;
}

bool
print_attrs_first(gs_op op) {
  assert(op < GS_OP_COUNT);
  return gs_op_table[op].attrs_first || !gs_op_table[op].kids;
}

static void
put_item(const bs_values *values, const gs_sizes *sizes, bs_value item,
         bs_text *out) {
  if (sizes && bs_kind_of(values, item) == BS_KIND_INT)
    gs_put_number_term(out, sizes, bs_as_int(values, item));
  else
    bs_put_value(out, values, item);
}

static void
put_list(const bs_values *values, const gs_sizes *sizes, const char *head,
         bs_value list, bs_text *out) {
  bs_putf(out, " (%s", head);
  for (uint32_t k = 0; k < bs_len(values, list); k++) {
    bs_putc(out, ' ');
    put_item(values, sizes, bs_item(values, list, k), out);
  }
  bs_putc(out, ')');
}

static bool
all_ones(const bs_values *values, bs_value list) {
  bool ones = true;
  for (uint32_t k = 0; k < bs_len(values, list); k++)
    ones &= bs_as_int(values, bs_item(values, list, k)) == 1;
  return ones;
}

void
print_attrs(const bs_values *values, const gs_sizes *sizes, gs_op op,
            bs_value attr, bs_text *out) {
  assert(op < GS_OP_COUNT);
  uint32_t n =
      bs_kind_of(values, attr) == BS_KIND_LIST ? bs_len(values, attr) : 0;
  uint32_t from = op == GS_CALL && n && call_is_sugared(values, attr);
  for (uint32_t k = from; k < n; k++) {
    bs_value item = bs_item(values, attr, k);
    const char *head = gs_list_head(op, k);
    if (op == GS_CALL && bs_kind_of(values, item) == BS_KIND_LIST)
      head = "over";
    if (op == GS_WINDOWS && k == 2 && all_ones(values, item))
      continue;
    if (op == GS_SCAN) {
      bs_putc(out, ' ');
      gs_put_step(out, values, attr);
      continue;
    }
    if (head) {
      put_list(values, sizes, head, item, out);
      continue;
    }
    bs_putc(out, ' ');
    put_item(values, sizes, item, out);
  }
}

/* Literals
 * ------------------------------------------------------------------ */

static bool
reads_back(gs_dtype dtype, double text, const void *bits) {
  uint64_t room[8] = {0};
  gs_tensor one = {
      .dtype = dtype, .rank = 1, .dim = {1}, .elements = 1, .data = room};
  gs_tensor_set(&one, 0, text);
  return !memcmp(room, bits, gs_dtype_table[dtype].bytes);
}

/* The double of fewest digits that rounds to the element; printing and reading
 * happen in the same locale, so the locale does not matter. */
static double
shortest(gs_dtype dtype, double v, const void *bits) {
  char digits[40];
  for (int n = 1; n < 17; n++) {
    snprintf(digits, sizeof digits, "%.*e", n - 1, v);
    double d = strtod(digits, NULL);
    if (reads_back(dtype, d, bits))
      return d;
  }
  return v;
}

void
print_literal(const gs_constant *c, int64_t element, bs_text *out) {
  assert(element >= 0 && element < gs_elements(&c->type));
  const gs_dtype_info *info = &gs_dtype_table[c->type.dtype];
  const char *bits = (const char *)c->data + element * info->bytes;
  uint64_t room[8] = {0};
  memcpy(room, bits, info->bytes);
  gs_tensor one = {.dtype = c->type.dtype,
                   .rank = 1,
                   .dim = {1},
                   .elements = 1,
                   .data = room};
  double v = gs_tensor_get(&one, 0);
  bool whole = fabs(v) < 1e15 && v == floor(v) && !(v == 0 && signbit(v));
  if (whole || info->integer)
    bs_putf(out, "%lld", (long long)v);
  else
    bs_put_real(out, isfinite(v) ? shortest(c->type.dtype, v, bits) : v);
}
