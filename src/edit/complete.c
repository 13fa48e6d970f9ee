/* SPDX-License-Identifier: MIT */
/* complete.c - what may be written at a place.
 *
 * Behind a '(' stand heads: forms at the top, operators and instructions in
 * terms, functions too in rules and targets.  Elsewhere stand names.  What is
 * offered is not cut down to what was typed so far: editors do that. */
#include "edit/edit.h"
#include <string.h>

enum { MOST_VARIABLES = 200 };

typedef struct completer {
  const ed_document *document;
  ed_completions *out;
  uint32_t at;
} completer;

static void
offer(completer *x, const char *label, const char *kind, const char *detail,
      const char *doc) {
  bs_push(x->document->ctx->heap, &x->out->list,
          (ed_completion){label, kind, detail, doc});
}

static void
offer_word(completer *x, const char *word, const char *around) {
  ed_word_info info;
  if (ed_word_find(x->document, word, around, &info))
    offer(x, word, info.kind, info.usage, info.doc);
}

/* --- heads ---------------------------------------------------------------- */

static void
offer_forms(completer *x, const char *within) {
  const ed_language *l = x->document->language;
  for (uint32_t k = 0; k < l->n_forms; k++) {
    const ed_form *f = &l->forms[k];
    if (within ? f->within && !strcmp(f->within, within) : !f->within)
      offer(x, f->head, "form", f->usage, "");
  }
}

static void
offer_instructions(completer *x, const gs_target *t) {
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    offer_word(x, t->instrs.data[k]->name, "");
}

static void
offer_operators(completer *x) {
  const ed_document *d = x->document;
  for (int k = 0; k < GS_OP_COUNT; k++)
    if (gs_op_table[k].kids || d->rules)
      offer_word(x, gs_op_table[k].name, "");
  for (uint32_t k = 0; k < d->definitions.len; k++) {
    const gs_definition *own = &d->definitions.data[k];
    if (gs_find_definition(&d->definitions, own->name) == own)
      offer_word(x, own->name, "");
  }
  offer_instructions(x, d->target);
  offer_instructions(x, d->described);
}

static void
offer_list_heads(completer *x) {
  static const char *const heads[] = {"shape", "stride", "dilation", "list"};
  for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
    offer(x, heads[k], "form",
          bs_arena_printf(x->document->ctx->arena, "(%s n...)", heads[k]), "");
}

static void
offer_functions(completer *x) {
  gs_op op;
  for (uint16_t k = 0; k < gs_function_count(); k++) {
    const gs_function_info *f = gs_function_at(k);
    if (!gs_op_find(f->name, &op))
      offer(x, f->name, "function", ed_function_usage(x->document, f), f->doc);
  }
}

static void
offer_computes(completer *x, bool with_params) {
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    if ((gs_compute_table[k].params[0] != 0) == with_params)
      offer_word(x, gs_compute_table[k].name, "compute");
}

static void
complete_head(completer *x, const ed_cursor *c) {
  const ed_document *d = x->document;
  const char *around = ed_head(d, c, 1);
  if (c->frames.len <= 1) {
    offer_forms(x, NULL);
    if (!strcmp(d->language->suffix, ".glen"))
      offer(x, "output", "form", "(output NAME)", "");
    else
      offer(x, "include", "form", "(include \"path\")", "");
    if (d->rules)
      offer(x, "run", "form", "(run STEP)", "the strategy named main");
    return;
  }
  if (!strcmp(around, "compute")) {
    offer_computes(x, true);
    if (c->frames.data[c->frames.len - 2].item <= 2)
      return;
  }
  offer_forms(x, around);
  offer_operators(x);
  offer_list_heads(x);
  if (d->rules || d->described)
    offer_functions(x);
}

/* --- names ---------------------------------------------------------------- */

static const char *
name_detail(const ed_document *d, const ed_symbol *s) {
  gs_type type;
  for (uint32_t k = 0; d->program && k < d->places.list.len; k++) {
    const gs_place *p = &d->places.list.data[k];
    if (p->span.lo == s->name_span.lo && ed_is_own(d, s->name_span)) {
      gs_type_at(d->program, p->term, &type);
      return ed_type_text(d, &type, false);
    }
  }
  return s->head;
}

/* What is seen here and, in a program, defined before. */
static void
offer_names(completer *x, const ed_cursor *c) {
  const ed_document *d = x->document;
  for (uint32_t k = 0; k < d->symbols.len; k++) {
    const ed_symbol *s = &d->symbols.data[k];
    bool own = ed_is_own(d, s->form);
    bool seen =
        !s->scope.file || (own && s->scope.lo <= x->at && x->at <= s->scope.hi);
    bool before = !d->program || (own && s->form.lo < c->form);
    if (!seen || !before || !strcmp(s->head, "test") ||
        !strcmp(s->head, "instr") || !strcmp(s->head, "define"))
      continue;
    bool value = !strcmp(s->head, "param") || !strcmp(s->head, "set") ||
                 !strcmp(s->head, "default");
    offer(x, value ? bs_arena_printf(d->ctx->arena, "$%s", s->name) : s->name,
          "name", name_detail(d, s), "");
  }
}

static bool
offered(const completer *x, const char *label) {
  for (uint32_t k = 0; k < x->out->list.len; k++)
    if (!strcmp(x->out->list.data[k].label, label))
      return true;
  return false;
}

/* The variables that the form has used so far. */
static void
offer_variables(completer *x, const ed_cursor *c) {
  const ed_document *d = x->document;
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  uint32_t at = c->form;
  bs_span word;
  while (d->language->variables && ed_next_word(d, &at, c->lo, &word)) {
    if (s->text[word.lo] != '?' || x->out->list.len > MOST_VARIABLES)
      continue;
    const char *label = bs_arena_printf(
        d->ctx->arena, "%.*s", (int)(word.hi - word.lo), s->text + word.lo);
    if (!offered(x, label))
      offer(x, label, "variable", "of this rule", "");
  }
}

static void
offer_dtypes(completer *x) {
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    offer_word(x, gs_dtype_table[k].name, "");
}

static void
complete_name(completer *x, const ed_cursor *c) {
  const char *head = ed_head(x->document, c, 0);
  uint32_t item = c->frames.len ? bs_last(&c->frames).item : 0;
  if (!strcmp(head, "compute") && item == 1) {
    offer_computes(x, false);
    return;
  }
  if (!strcmp(head, "cast") || !strcmp(head, "tensor") ||
      !strcmp(head, "const")) {
    if (item > 1 || !strcmp(head, "cast"))
      offer_dtypes(x);
    return;
  }
  for (int k = 0; k < GS_PADDING_COUNT && item == 2 && !strcmp(head, "pad");
       k++)
    offer(x, gs_padding_names[k], "constant", "pad kind", "");
  if ((!strcmp(head, "let") || !strcmp(head, "rule")) && item == 1)
    return;
  offer_variables(x, c);
  offer_names(x, c);
}

void
ed_complete(const ed_document *d, uint32_t at, ed_completions *out) {
  completer x = {d, out, at};
  ed_cursor c;
  *out = (ed_completions){0};
  if (d->language->questions) {
    d->language->questions->complete(d, at, out);
    return;
  }
  ed_look(d, at, &c);
  out->replaced = (bs_span){d->raw, c.lo, at};
  if (!c.comment && !c.string) {
    bool head = c.frames.len && bs_last(&c.frames).item == 0;
    if (head)
      complete_head(&x, &c);
    else if (c.frames.len)
      complete_name(&x, &c);
  }
  ed_cursor_done(d, &c);
}
