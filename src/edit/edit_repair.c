/* SPDX-License-Identifier: MIT */
/* edit_repair.c - a text that can be read, from one that is being written.
 *
 * Where parentheses or strings do not match, the text is cut into forms: one
 * begins wherever a line starts with '('.  Each is checked alone.  A ')' that
 * closes nothing is blanked out; of a form that does not end, only `(HEAD NAME`
 * is kept, closed, and the rest blanked out: so what it defines stays known,
 * and every byte after it stands where it stood. */
#include "base/balance.h"
#include "base/characters.h"
#include "base/utf8.h"
#include "edit/edit.h"
#include <string.h>

enum { MOST_BYTES = 1 << 24 }; /* read again and again in one form */

typedef struct repairer {
  ed_document *document;
  bs_diags scratch; /* of the forms looked at */
  char *text;       /* a copy, being repaired */
  uint32_t size;
} repairer;

static uint32_t
next_form(const repairer *m, uint32_t from) {
  const char *at = m->text + from, *end = m->text + m->size;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
    at++;
    if (at < end && *at == '(')
      return (uint32_t)(at - m->text);
  }
  return m->size;
}

static void
blank(repairer *m, uint32_t lo, uint32_t hi) {
  for (uint32_t at = lo; at < hi; at++)
    if (m->text[at] != '\n' && m->text[at] != '\r')
      m->text[at] = ' ';
}

static uint32_t
skip(const repairer *m, uint32_t at, uint32_t hi, bs_class class) {
  while (at < hi && bs_class_of(m->text[at]) == class)
    at++;
  return at;
}

/* Keeps `(HEAD NAME`, and closes it when there is room. */
static void
keep_name(repairer *m, uint32_t lo, uint32_t hi) {
  uint32_t head = skip(m, lo, hi, BS_OPEN);
  uint32_t end = skip(m, head, hi, BS_TOKEN);
  uint32_t name = skip(m, end, hi, BS_SPACE);
  uint32_t last = skip(m, name, hi, BS_TOKEN);
  if (head != lo + 1 || end == head || last == name || last >= hi) {
    blank(m, lo, hi);
    return;
  }
  blank(m, last, hi);
  m->text[last] = ')';
}

static void
report(repairer *m, const bs_diag *d, uint32_t lo) {
  bs_diags *diags = m->document->ctx->diags;
  bs_span span = {m->document->raw, lo + d->span.lo, lo + d->span.hi};
  bs_error(diags, span, d->code, "%s", d->message);
  if (strcmp(d->code, "unclosed-paren"))
    bs_hint(diags, "%s", d->hint ? d->hint : "");
}

/* One fault of the form [lo, hi) is told and removed. */
static void
repair_fault(repairer *m, const bs_diag *d, uint32_t lo, uint32_t hi) {
  report(m, d, lo);
  if (!strcmp(d->code, "unclosed-paren") || !strcmp(d->code, "unclosed-string"))
    keep_name(m, lo, hi);
  else
    blank(m, lo + d->span.lo, lo + d->span.hi);
}

static void
repair_form(repairer *m, uint32_t lo, uint32_t hi) {
  bool damaged = false;
  for (uint64_t tries = 0;; tries++) {
    uint32_t before = m->scratch.list.len;
    uint32_t part = bs_source_add(&m->scratch, "", m->text + lo, hi - lo);
    if (bs_balanced(&m->scratch, part))
      break;
    damaged = true;
    m->scratch.dropped = false;
    if (tries * (hi - lo) > MOST_BYTES || m->scratch.list.len == before) {
      blank(m, lo, hi);
      break;
    }
    repair_fault(m, &m->scratch.list.data[before], lo, hi);
  }
  if (damaged)
    bs_push(m->document->ctx->heap, &m->document->damaged,
            (bs_span){m->document->raw, lo, hi});
}

void
ed_repair(ed_document *d) {
  bs_diags *diags = d->ctx->diags;
  const bs_source *raw = &diags->sources.data[d->raw - 1];
  repairer m = {.document = d, .size = raw->size};
  bs_diags_init(&m.scratch, d->ctx->heap);
  m.scratch.limit = UINT32_MAX;
  uint32_t whole = bs_source_add(&m.scratch, "", raw->text, raw->size);
  if (!bs_balanced(&m.scratch, whole)) {
    m.text = bs_arena_copy(d->ctx->arena, raw->text, raw->size + 1);
    for (uint32_t lo = 0, hi; lo < m.size; lo = hi) {
      hi = next_form(&m, lo);
      repair_form(&m, lo, hi);
    }
    bs_overlay_set(diags, d->path, m.text, m.size);
  }
  bs_arena_done(&m.scratch.arena);
  bs_vec_done(d->ctx->heap, &m.scratch.list);
  bs_vec_done(d->ctx->heap, &m.scratch.sources);
}
