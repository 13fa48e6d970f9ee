/* SPDX-License-Identifier: MIT */
/* read_hint.c - what a faulty loop program was perhaps meant to say: hints for
 * the diagnostic added last, from what was expected and what stands there. */
#include "base/typographic.h"
#include "glenside/type/elsewhere.h"
#include "poly/text/text_read.h"
#include <assert.h>
#include <string.h>

#define LOOP "a loop is written for i in 0..64 { ... }"

static bool
is_found(const po_reader *r, const char *found) {
  if (!strcmp(found, "NAME"))
    return r->now.kind == PO_T_NAME;
  if (!strcmp(found, "OP="))
    return r->now.kind == PO_T_SYMBOL && r->text[r->now.hi - 1] == '=';
  return !*found || po_is_symbol(r, found);
}

/* A word that nothing begins with. */
static void
hint_opener(const po_reader *r) {
  static const char *const openers[] = {
      "size",   "input",    "output", "constant", "workspace", "local",
      "memory", "parallel", "unroll", "bind",     "separate",  "for"};
  char word[24] = "";
  uint32_t n = r->now.hi - r->now.lo;
  if (n < sizeof word)
    memcpy(word, r->text + r->now.lo, n);
  const char *near =
      bs_nearest(word, openers, sizeof openers / sizeof *openers);
  if (near)
    bs_meant(r->ctx.diags, "`", near);
  else
    bs_hint(r->ctx.diags,
            "declarations begin with size, input, output, constant, workspace, "
            "local or memory, loops with for, and statements with their name: "
            "S: B[i] = A[i]");
}

bool
po_hint_syntax(const po_reader *r, const char *expected) {
  static const struct {
    const char *expected, *found, *hint; /* found "": anything */
  } hints[] = {
      {"`:`", "OP=", "a statement has a name: S: B[i] = A[i]"},
      {"`:`", "NAME", "an array is declared as A: f32[64, 48]"},
      {"a loop", "", LOOP},
      {"`in`", "", LOOP},
      {"`..`", "",
       "bounds are LOWER..UPPER, of which the upper one is excluded: for i in "
       "0..64"},
      {"`{`", "", "what a loop runs stands in braces: for i in 0..64 { ... }"},
      {"a loop or a statement", "[",
       "the dimensions stand in one pair of brackets: f32[4, 8]"},
      {"a loop or a statement", "/", "a comment begins with #"},
      {"a loop or a statement", "}", "no loop is open here"},
      {"a loop or a statement", "(",
       "forms in parentheses are for files that end in .glen"},
  };
  for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
    if (!strcmp(hints[k].expected, expected) && is_found(r, hints[k].found)) {
      bs_hint(r->ctx.diags, "%s", hints[k].hint);
      return false;
    }
  if (!strcmp(expected, "a loop or a statement") && is_found(r, "NAME"))
    hint_opener(r);
  return false;
}

bool
po_hint_character(const po_reader *r, char c) {
  const char *foreign =
      bs_typographic(r->text + r->now.lo, r->size - r->now.lo);
  static const struct {
    char c;
    const char *hint;
  } hints[] = {
      {';',
       "a statement ends without a semicolon, and a comment begins with #"},
      {'&', "conditions are joined by `and`"},
      {'|', "conditions are joined by `or`"},
      {'!', "for two sides that differ write `i < 3 or i > 3`"},
  };
  if (foreign)
    bs_hint(r->ctx.diags, "%s", foreign);
  for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
    if (hints[k].c == c)
      bs_hint(r->ctx.diags, "%s", hints[k].hint);
  return false;
}

/* The word that stands here, in the reader's arena. */
static const char *
word_here(po_reader *r) {
  return bs_arena_printf(&r->arena, "%.*s", (int)(r->now.hi - r->now.lo),
                         r->text + r->now.lo);
}

static bool
is_array(po_reader *r, const char *word) {
  return po_find_entry(r, PO_E_ARRAY, word, strlen(word)) != UINT32_MAX;
}

bool
po_hint_index(po_reader *r) {
  const char *names[PO_MAX_LOOPS + PO_MAX_SIZES], *word = word_here(r);
  uint32_t n = 0;
  for (uint32_t k = 0; k < r->n_names; k++)
    names[n++] = r->names[k];
  for (uint32_t k = 0; k < r->n_numbers; k++)
    names[n++] = r->numbers[k].name;
  if (!strcmp(word, "range"))
    bs_hint(r->ctx.diags, "a loop runs over LOWER..UPPER: for i in 0..4");
  else if (is_array(r, word))
    bs_hint(r->ctx.diags,
            "indices and bounds do not depend on elements of arrays; gather "
            "reads an element at a place that is computed");
  else
    bs_hint_names(r->ctx.diags, word, names, n);
  return false;
}

bool
po_hint_function(po_reader *r) {
  const char *names[GS_COMPUTE_COUNT], *word = word_here(r);
  for (uint32_t k = 0; k < GS_COMPUTE_COUNT; k++)
    names[k] = gs_compute_table[k].name;
  if (is_array(r, word))
    bs_hint(r->ctx.diags, "an element is written %.60s[i]", word);
  else
    bs_hint_names(r->ctx.diags, word, names, GS_COMPUTE_COUNT);
  return false;
}

bool
po_hint_array(po_reader *r) {
  uint32_t n = r->p->arrays.len;
  const char **names = bs_arena_alloc(&r->arena, (n + 1) * sizeof *names);
  for (uint32_t k = 0; k < n; k++)
    names[k] = r->p->arrays.data[k].name;
  bs_hint_names(r->ctx.diags, word_here(r), names, n);
  return false;
}

bool
po_hint_dtype(po_reader *r) {
  const char *names[GS_DTYPE_COUNT], *word = word_here(r);
  for (uint32_t k = 0; k < GS_DTYPE_COUNT; k++)
    names[k] = gs_dtype_table[k].name;
  if (r->now.kind == PO_T_NAME &&
      !gs_hint_elsewhere(r->ctx.diags, GS_AS_DTYPE, word))
    bs_hint_names(r->ctx.diags, word, names, GS_DTYPE_COUNT);
  return false;
}

bool
po_hint_dimension(const po_reader *r) {
  if (r->now.kind == PO_T_NAME)
    bs_hint(r->ctx.diags,
            "a size that is only known when the code is called is declared "
            "before everything else: size %.*s: 1 to 1024",
            (int)(r->now.hi - r->now.lo < 40 ? r->now.hi - r->now.lo : 40),
            r->text + r->now.lo);
  return false;
}

bool
po_hint_element(const po_reader *r, const po_array *a,
                __isl_take isl_set *beyond) {
  isl_point *at = po_has_sizes(r->p)
                      ? (isl_set_free(beyond), NULL)
                      : isl_set_sample_point(isl_set_lexmin(beyond));
  bs_text text;
  bs_text_init(&text, r->ctx.heap);
  for (uint32_t d = 0; at && d < a->rank; d++) {
    isl_val *v = isl_point_get_coordinate_val(at, isl_dim_set, (int)d);
    bs_putf(&text, "%s%lld", d ? ", " : "", (long long)po_int_or(v, 0));
  }
  if (at && isl_point_is_void(at) == isl_bool_false)
    bs_hint(r->ctx.diags, "there is no element %.60s[%s]", a->name,
            bs_text_str(&text));
  isl_point_free(at);
  bs_text_done(&text);
  return false;
}
