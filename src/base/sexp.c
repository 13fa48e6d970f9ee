/* SPDX-License-Identifier: MIT */
/* sexp.c - the S-expression reader.
 *
 * The source is checked for balance first, so that reading cannot meet an end
 * in the wrong place.  Then one pass appends nodes in pre-order.  There is no
 * stack: while a list is open its `next` holds the list around it and its
 * `value` the index of its last item; both get their proper content when the
 * list is closed. */
#include "base/sexp.h"
#include "base/balance.h"
#include "base/characters.h"
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

typedef struct reader {
  bs_heap *heap;
  bs_values *values;
  bs_diags *diags;
  bs_sexps *out;
  const char *text;
  uint32_t source, size, at;
  uint32_t open;  /* the innermost open list, or 0 */
  bs_text string; /* a string being unescaped */
  bool ok;
} reader;

static uint32_t
add_node(reader *r, bs_sx_kind kind, uint32_t lo, uint32_t hi, bs_value value) {
  uint32_t node = r->out->nodes.len;
  bs_push(r->heap, &r->out->nodes,
          (bs_sx){.kind = kind, .span = {r->source, lo, hi}, .value = value});
  if (!r->open) {
    bs_push(r->heap, &r->out->roots, node);
    return node;
  }
  bs_sx *list = &r->out->nodes.data[r->open];
  if (list->count++)
    r->out->nodes.data[list->value.i].next = node;
  list->value.i = node;
  return node;
}

static void
open_list(reader *r) {
  uint32_t node = add_node(r, BS_SX_LIST, r->at, r->at + 1, BS_NIL);
  r->out->nodes.data[node].next = r->open;
  r->open = node;
  r->at++;
}

static void
close_list(reader *r) {
  bs_sx *list = &r->out->nodes.data[r->open];
  r->open = list->next;
  list->next = 0;
  list->value = BS_NIL;
  list->span.hi = ++r->at;
}

static bool
bad_escape(reader *r, uint32_t at, uint32_t size) {
  bs_span span = {r->source, at, at + size};
  bs_error(r->diags, span, "bad-escape", "unknown escape in a string");
  bs_hint(r->diags, "escapes are \\\" \\\\ \\n \\t and \\x01 to \\x7f");
  return false;
}

static int
hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `at` is that of a backslash; it is moved behind the escape. */
static bool
unescape(reader *r, uint32_t *at) {
  static const char names[] = "\"\\nt", meanings[] = "\"\\\n\t";
  uint32_t start = *at;
  char name = r->text[start + 1];
  const char *known = strchr(names, name);
  *at = start + 2;
  if (known && name) {
    bs_putc(&r->string, meanings[known - names]);
    return true;
  }
  if (name != 'x') {
    *at = start + 1 + bs_utf8_length(&r->text[start + 1], r->size - start - 1);
    return bad_escape(r, start, *at - start);
  }
  int high = hex_digit(r->text[start + 2]);
  int low = high < 0 ? -1 : hex_digit(r->text[start + 3]);
  int code = low < 0 ? 0 : 16 * high + low;
  if (code < 1 || code > 0x7f)
    return bad_escape(r, start, 2);
  bs_putc(&r->string, (char)code);
  *at = start + 4;
  return true;
}

static void
read_string(reader *r) {
  bool closed;
  uint32_t start = r->at;
  r->at = bs_string_end(r->text, r->size, start, &closed);
  uint32_t last = r->at - 1;
  bs_text_clear(&r->string);
  for (uint32_t at = start + 1; at < last;) {
    const char *from = r->text + at;
    const char *escape = memchr(from, '\\', last - at);
    uint32_t plain = escape ? (uint32_t)(escape - from) : last - at;
    bs_putn(&r->string, from, plain);
    at += plain;
    if (escape && !unescape(r, &at))
      r->ok = false;
  }
  bs_value value = bs_symn(r->values, bs_text_str(&r->string), r->string.len);
  add_node(r, BS_SX_STRING, start, r->at, value);
}

static bool
spells(const char *s, uint32_t n, const char *word) {
  return n == strlen(word) && !memcmp(s, word, n);
}

static void
add_word(reader *r, uint32_t lo) {
  const char *s = r->text + lo;
  uint32_t n = r->at - lo;
  if (spells(s, n, "true") || spells(s, n, "false"))
    add_node(r, BS_SX_BOOL, lo, r->at, bs_bool(r->values, n == 4));
  else
    add_node(r, BS_SX_SYM, lo, r->at, bs_symn(r->values, s, n));
}

static void
refuse_number(reader *r, uint32_t lo) {
  bs_error(r->diags, (bs_span){r->source, lo, r->at}, "number-range",
           "this number is out of range");
  bs_hint(r->diags, "integers have 64 bits; reals are doubles, written with "
                    "at most 1000 characters");
  r->ok = false;
}

static void
read_token(reader *r) {
  uint32_t lo = r->at;
  while (r->at < r->size && bs_class_of(r->text[r->at]) == BS_TOKEN)
    r->at++;
  int64_t integer;
  double real;
  switch (bs_read_number(r->text + lo, r->at - lo, &integer, &real)) {
  case BS_INTEGER:
    add_node(r, BS_SX_INT, lo, r->at, bs_int(r->values, integer));
    break;
  case BS_REAL:
    add_node(r, BS_SX_REAL, lo, r->at, bs_real(r->values, real));
    break;
  case BS_TOO_LARGE:
    refuse_number(r, lo);
    break;
  case BS_NO_NUMBER:
    add_word(r, lo);
    break;
  }
}

static void
skip_comment(reader *r) {
  const char *end = memchr(r->text + r->at, '\n', r->size - r->at);
  r->at = end ? (uint32_t)(end - r->text) : r->size;
}

static void
step(reader *r) {
  switch (bs_class_of(r->text[r->at])) {
  case BS_OPEN:
    open_list(r);
    break;
  case BS_CLOSE:
    close_list(r);
    break;
  case BS_QUOTE:
    read_string(r);
    break;
  case BS_COMMENT:
    skip_comment(r);
    break;
  case BS_TOKEN:
    read_token(r);
    break;
  case BS_SPACE:
  case BS_CONTROL:
    r->at++;
    break;
  }
}

bool
bs_sexp_read(bs_heap *heap, bs_values *values, bs_diags *diags, uint32_t source,
             bs_sexps *out) {
  assert(source <= diags->sources.len);
  *out = (bs_sexps){0};
  if (!source || !bs_balanced(diags, source))
    return false;
  const bs_source *from = &diags->sources.data[source - 1];
  reader r = {.heap = heap,
              .values = values,
              .diags = diags,
              .out = out,
              .text = from->text,
              .source = source,
              .size = from->size,
              .at = bs_utf8_begin(from->text, from->size),
              .ok = true};
  bs_text_init(&r.string, heap);
  bs_push(heap, &out->nodes, (bs_sx){.kind = BS_SX_LIST});
  while (r.at < r.size)
    step(&r);
  bs_text_done(&r.string);
  if (!r.ok)
    bs_sexps_done(heap, out);
  return r.ok;
}

void
bs_sexps_done(bs_heap *heap, bs_sexps *sexps) {
  bs_vec_done(heap, &sexps->nodes);
  bs_vec_done(heap, &sexps->roots);
}

const char *
bs_sx_symbol(const bs_sexps *sexps, const bs_values *values, uint32_t node) {
  const bs_sx *x = bs_sx_at(sexps, node);
  return node && x->kind == BS_SX_SYM ? bs_as_sym(values, x->value) : NULL;
}

const char *
bs_sx_head(const bs_sexps *sexps, const bs_values *values, uint32_t node) {
  assert(node < sexps->nodes.len);
  const bs_sx *list = &sexps->nodes.data[node];
  if (list->kind != BS_SX_LIST || !list->count)
    return NULL;
  const bs_sx *head = list + 1;
  return head->kind == BS_SX_SYM ? bs_as_sym(values, head->value) : NULL;
}

bool
bs_sx_is_form(const bs_sexps *sexps, const bs_values *values, uint32_t node,
              const char *head) {
  const char *have = node ? bs_sx_head(sexps, values, node) : NULL;
  return have && !strcmp(have, head);
}

uint32_t
bs_sx_item(const bs_sexps *sexps, uint32_t list, uint32_t index) {
  assert(list < sexps->nodes.len);
  if (index >= sexps->nodes.data[list].count)
    return 0;
  uint32_t item = list + 1;
  while (index--)
    item = sexps->nodes.data[item].next;
  return item;
}

/* The index behind the last node of an expression. */
static uint32_t
end_of(const bs_sexps *sexps, uint32_t node) {
  assert(node < sexps->nodes.len);
  for (uint64_t left = 1; left; left--)
    left += sexps->nodes.data[node++].count;
  return node;
}

/* In reverse pre-order a list comes after its items; these lie in order on
 * top of a stack that grows downwards. */
bs_value
bs_sx_value(bs_heap *heap, bs_values *values, const bs_sexps *sexps,
            uint32_t node) {
  uint32_t end = end_of(sexps, node);
  bs_value *bottom = bs_calloc(heap, end - node, sizeof *bottom);
  bs_value *top = bottom + (end - node);
  for (uint32_t i = end; i-- > node;) {
    const bs_sx *n = &sexps->nodes.data[i];
    bs_value value = n->value;
    if (n->kind == BS_SX_LIST) {
      value = bs_list(values, top, n->count);
      top += n->count;
    }
    *--top = value;
  }
  /* One value is left, that of the node. */
  assert(top < bottom + (end - node));
  bs_value result = *top;
  bs_free(heap, bottom);
  return result;
}
