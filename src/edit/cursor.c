/* SPDX-License-Identifier: MIT */
/* cursor.c - what stands at a place of a text that may be damaged.
 *
 * The raw text is read from the beginning of the form up to the place, with a
 * stack of the lists that are open there.  In a text whose parentheses match,
 * a form begins at depth 0; else wherever a line starts with '('. */
#include "base/balance.h"
#include "base/characters.h"
#include "edit/edit.h"
#include <assert.h>
#include <string.h>

typedef struct walker {
  const ed_document *document;
  const char *text;
  uint32_t size, at;
  ed_cursor *cursor;
} walker;

static uint32_t
form_start(const walker *w, uint32_t place) {
  if (!w->document->damaged.len)
    return 0;
  for (uint32_t at = place < w->size ? place + 1 : w->size; at-- > 0;)
    if (w->text[at] == '(' && (!at || w->text[at - 1] == '\n'))
      return at;
  return 0;
}

/* A list or word begins: it is one item more of the list around it. */
static void
count_item(walker *w, uint32_t lo, uint32_t hi) {
  ed_cursor *c = w->cursor;
  if (!c->frames.len)
    return;
  ed_frame *f = &bs_last(&c->frames);
  if (!f->item && hi > lo) {
    f->lo = lo;
    f->hi = hi;
  }
  f->item++;
}

static void
open_list(walker *w) {
  ed_cursor *c = w->cursor;
  if (!c->frames.len)
    c->form = w->at;
  count_item(w, 0, 0);
  bs_push(w->document->ctx->heap, &c->frames,
          (ed_frame){.open = w->at, .item = 0});
  w->at++;
}

static uint32_t
token_end(const walker *w) {
  uint32_t end = w->at;
  while (end < w->size && bs_class_of(w->text[end]) == BS_TOKEN)
    end++;
  return end;
}

static void
take_word(walker *w, uint32_t place) {
  uint32_t end = token_end(w);
  if (end >= place && w->at <= place) {
    w->cursor->lo = w->at;
    w->cursor->hi = end;
    if (w->cursor->frames.len) { /* a head is its list's head, too */
      ed_frame *f = &bs_last(&w->cursor->frames);
      if (!f->item) {
        f->lo = w->at;
        f->hi = end;
      }
    }
  } else {
    count_item(w, w->at, end);
  }
  w->at = end;
}

static void
take_string(walker *w, uint32_t place) {
  bool closed;
  uint32_t end = bs_string_end(w->text, w->size, w->at, &closed);
  if (place > w->at && (place < end || !closed)) {
    w->cursor->string = true;
    w->cursor->lo = w->at;
    w->cursor->hi = end;
  } else {
    count_item(w, w->at, w->at);
  }
  w->at = end;
}

static void
take_comment(walker *w, uint32_t place) {
  const char *end = memchr(w->text + w->at, '\n', w->size - w->at);
  uint32_t stop = end ? (uint32_t)(end - w->text) : w->size;
  w->cursor->comment = place > w->at && place <= stop;
  w->at = stop;
}

void
ed_look(const ed_document *d, uint32_t place, ed_cursor *out) {
  assert(d->raw && d->raw <= d->ctx->diags->sources.len);
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  walker w = {.document = d, .text = s->text, .size = s->size, .cursor = out};
  *out = (ed_cursor){.lo = place, .hi = place};
  w.at = form_start(&w, place);
  while (w.at < w.size && (w.at < place || out->lo == out->hi)) {
    bs_class class = bs_class_of(w.text[w.at]);
    if (w.at >= place && class != BS_TOKEN)
      break;
    switch (class) {
    case BS_OPEN:
      open_list(&w);
      break;
    case BS_CLOSE:
      if (out->frames.len)
        out->frames.len--;
      w.at++;
      break;
    case BS_QUOTE:
      take_string(&w, place);
      break;
    case BS_COMMENT:
      take_comment(&w, place);
      break;
    case BS_TOKEN:
      take_word(&w, place);
      break;
    case BS_SPACE:
    case BS_CONTROL:
    default:
      w.at++;
    }
  }
}

void
ed_cursor_done(const ed_document *d, ed_cursor *c) {
  bs_vec_done(d->ctx->heap, &c->frames);
}

static const char *
text_of(const ed_document *d, uint32_t lo, uint32_t hi) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  return bs_arena_printf(d->ctx->arena, "%.*s", (int)(hi - lo), s->text + lo);
}

const char *
ed_word(const ed_document *d, const ed_cursor *c) {
  return c->string || c->comment ? "" : text_of(d, c->lo, c->hi);
}

const char *
ed_head(const ed_document *d, const ed_cursor *c, uint32_t up) {
  if (up >= c->frames.len)
    return "";
  const ed_frame *f = &c->frames.data[c->frames.len - 1 - up];
  return text_of(d, f->lo, f->hi);
}

/* --- words of a form ------------------------------------------------------ */

bool
ed_next_word(const ed_document *d, uint32_t *at, uint32_t limit, bs_span *out) {
  assert(d->raw && d->raw <= d->ctx->diags->sources.len);
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  walker w = {.document = d, .text = s->text, .size = s->size, .at = *at};
  bool closed;
  while (w.at < limit && w.at < w.size) {
    bs_class class = bs_class_of(w.text[w.at]);
    if (class == BS_TOKEN) {
      *out = (bs_span){d->raw, w.at, token_end(&w)};
      *at = out->hi;
      return true;
    }
    if (class == BS_QUOTE) {
      w.at = bs_string_end(w.text, w.size, w.at, &closed);
    } else if (class == BS_COMMENT) {
      const char *end = memchr(w.text + w.at, '\n', w.size - w.at);
      w.at = end ? (uint32_t)(end - w.text) : w.size;
    } else {
      w.at++;
    }
  }
  return false;
}

bool
ed_first_in_form(const ed_document *d, const ed_cursor *c, const char *word,
                 bs_span *out) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  uint32_t at = c->form;
  size_t n = strlen(word);
  while (ed_next_word(d, &at, c->hi, out))
    if (out->hi - out->lo == n && !memcmp(s->text + out->lo, word, n))
      return true;
  return false;
}
