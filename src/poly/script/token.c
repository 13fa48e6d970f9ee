/* SPDX-License-Identifier: MIT */
/* token.c - the tokens of a .sched script.
 *
 * Line ends matter, but not inside brackets.  Comments run from # to the end
 * of the line. */
#include "base/typographic.h"
#include "poly/script/token.h"
#include "base/utf8.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

typedef struct reader {
  bs_heap *heap;
  bs_arena *arena;
  bs_diags *diags;
  uint32_t file, at, depth; /* depth: of open brackets */
  const char *text;
  uint32_t size;
  po_sched_tokens *out;
} reader;

static bool
is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static const char *
copy(reader *r, uint32_t lo, uint32_t hi) {
  char *word = bs_arena_alloc(r->arena, hi - lo + 1);
  memcpy(word, r->text + lo, hi - lo);
  word[hi - lo] = '\0';
  return word;
}

static void
push(reader *r, po_sched_token_kind kind, uint32_t lo, const char *word,
     int64_t number) {
  bs_push(r->heap, &r->out->list,
          (po_sched_token){kind, {r->file, lo, r->at}, number, word});
}

static bool
fault(reader *r, uint32_t lo, const char *what) {
  uint32_t hi = r->at > lo ? r->at : lo + 1;
  return bs_error(r->diags, (bs_span){r->file, lo, hi}, "syntax", "%s", what);
}

static bool
read_number(reader *r) {
  uint32_t lo = r->at++;
  while (r->at < r->size && is_word(r->text[r->at]))
    r->at++;
  int64_t number = 0;
  double real;
  if (bs_read_number(r->text + lo, r->at - lo, &number, &real) != BS_INTEGER) {
    const char *word = copy(r, lo, r->at);
    fault(r, lo, "this is no integer");
    if (strstr(word, ".."))
      bs_hint(r->diags, "a script has commands on loops; loops themselves are "
                        "written in a .loops file");
    return false;
  }
  push(r, PO_ST_NUMBER, lo, copy(r, lo, r->at), number);
  return true;
}

static bool
read_text(reader *r) {
  uint32_t lo = r->at++;
  while (r->at < r->size && r->text[r->at] != '"' && r->text[r->at] != '\n')
    r->at++;
  if (r->at == r->size || r->text[r->at] != '"')
    return fault(r, lo, "the text does not end on its line");
  r->at++;
  push(r, PO_ST_TEXT, lo, copy(r, lo + 1, r->at - 1), 0);
  return true;
}

/* s[C].tile(..) is how schedules of TVM and Halide are written. */
static bool
no_meaning(reader *r, uint32_t lo) {
  const char *foreign = bs_typographic(r->text + lo, r->size - lo);
  fault(r, lo, "this character has no meaning here");
  if (foreign)
    bs_hint(r->diags, "%s", foreign);
  if (r->text[lo] == '.')
    bs_hint(r->diags, "a command begins with its name and takes names of "
                      "loops: tile [i, j] [32, 32]");
  else if (strchr("/;%-", r->text[lo]))
    bs_hint(r->diags, "a comment begins with #, and a command ends with its "
                      "line");
  return false;
}

static bool
read_mark(reader *r) {
  uint32_t lo = r->at++;
  char c = r->text[lo];
  if (!c || !strchr("[]{}(),=<>!", c))
    return no_meaning(r, lo);
  if (strchr("=<>!", c) && r->at < r->size && r->text[r->at] == '=')
    r->at++;
  else if (c == '!')
    return fault(r, lo, "! is only part of !=");
  if (c == '[' || c == '(')
    r->depth++;
  if ((c == ']' || c == ')') && r->depth > 0)
    r->depth--;
  push(r, PO_ST_MARK, lo, copy(r, lo, r->at), 0);
  return true;
}

static bool
read_one(reader *r) {
  char c = r->text[r->at];
  if (c == '#') {
    while (r->at < r->size && r->text[r->at] != '\n')
      r->at++;
    return true;
  }
  if (c == '\n' || c == ';') {
    uint32_t lo = r->at++;
    if (c == ';' || r->depth == 0)
      push(r, PO_ST_END, lo, "", 0);
    return true;
  }
  if (isspace((unsigned char)c)) {
    r->at++;
    return true;
  }
  if (isdigit((unsigned char)c) || c == '-')
    return read_number(r);
  if (c == '"')
    return read_text(r);
  if (!is_word(c) || c == '.')
    return read_mark(r);
  uint32_t lo = r->at;
  while (r->at < r->size && is_word(r->text[r->at]))
    r->at++;
  push(r, PO_ST_WORD, lo, copy(r, lo, r->at), 0);
  return true;
}

bool
po_read_tokens(bs_heap *heap, bs_arena *arena, bs_diags *diags, uint32_t source,
               po_sched_tokens *out) {
  assert(source && source <= diags->sources.len);
  const bs_source *s = &diags->sources.data[source - 1];
  uint32_t begin = bs_utf8_begin(s->text, s->size);
  reader r = {heap, arena, diags, source, begin, 0, s->text, s->size, out};
  while (r.at < r.size)
    if (!read_one(&r))
      return false;
  push(&r, PO_ST_END, r.at, "", 0);
  return true;
}

void
po_sched_tokens_done(bs_heap *heap, po_sched_tokens *tokens) {
  bs_vec_done(heap, &tokens->list);
}
