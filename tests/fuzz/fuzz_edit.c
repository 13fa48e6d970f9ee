/* SPDX-License-Identifier: MIT */
/* A document with any text, in each language: read, and asked everything that
 * an editor asks, at many places; the first byte chooses the language.  Then
 * all of it with half of the memory. */
#include "common.h"
#include "edit/edit.h"
#include "rules/format/format.h"

static common of_all;

/* What stands at a place is one of the places that mean the same. */
static void
ask_uses(const ed_document *d, uint32_t at, uint32_t size) {
  ed_use use;
  ed_references all;
  bool here = false;
  if (!ed_use_at(d, NULL, at, &use))
    return;
  require(use.span.lo <= at && at <= use.span.hi && use.span.hi <= size);
  require(use.span.lo <= use.name.lo && use.name.hi <= use.span.hi);
  ed_refuses(d, &use, "other");
  if (!ed_references_to(d, &use, &all))
    return;
  for (uint32_t k = 0; k < all.len; k++)
    here |= all.data[k].span.lo == use.span.lo;
  require(here);
  bs_vec_done(d->ctx->heap, &all);
}

static void
ask(const ed_document *d, uint32_t at, uint32_t size) {
  bs_text text;
  bs_span span;
  const char *path;
  ed_completions found;
  bs_text_init(&text, d->ctx->heap);
  if (ed_hover(d, at, &text, &span))
    require(span.lo <= at && at <= span.hi && span.hi <= size);
  bs_text_done(&text);
  if (ed_definition(d, at, &path, &span))
    require(path && span.lo <= span.hi);
  ask_uses(d, at, size);
  ed_complete(d, at, &found);
  require(found.replaced.lo <= at);
  bs_vec_done(d->ctx->heap, &found.list);
}

static void
all_of_it(void *arg) {
  static const char *const paths[] = {"a.glen", "a.rules", "a.target",
                                      "a.sched"};
  const input *whole = arg;
  const char *path = paths[(unsigned char)whole->bytes[0] % 4];
  const input rest = {whole->heap, whole->bytes + 1, whole->size - 1};
  const input *in = &rest;
  bs_arena arena;
  bs_diags diags;
  bs_text text;
  gs_context ctx = context_over(&of_all, in->heap, &arena, &diags);
  bs_overlay_set(&diags, path, in->bytes, in->size);
  ed_document *d = ed_open(&ctx, of_all.target, path);
  if (!d)
    return;
  for (uint32_t k = 0; k < d->findings.len; k++)
    require(!ed_is_own(d, d->findings.data[k].span) ||
            d->findings.data[k].span.hi <= in->size);
  for (uint32_t k = 0; k < d->findings.len; k++) {
    bs_span place;
    if (ed_fix_place(d, &d->findings.data[k], &place))
      require(place.lo < place.hi && place.hi <= in->size);
  }
  uint32_t size = (uint32_t)in->size, step = size / 16 + 1;
  for (uint32_t at = 0; at <= size; at += step)
    ask(d, at, size);
  bs_text_init(&text, in->heap);
  rl_format(&ctx, d->raw, &text);
  bs_text_done(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  /* Files are not read, and the lint has a fuzzer of its own. */
  if (!size || memmem(bytes, size, "include", 7) ||
      memmem(bytes, size, "prelude-file", 12) ||
      memmem(bytes, size, ":target", 7))
    return 0;
  renew(&of_all);
  read_twice_below(&of_all.heap, all_of_it, bytes, size, 0);
  return 0;
}
