/* SPDX-License-Identifier: MIT */
/* hover.c - what is known of what stands at a place, as Markdown.
 *
 * Of a program: the type of the innermost term that holds the place.  Of
 * rules and targets: what a name was given as.  And of any word of the
 * languages: how it is written. */
#include "edit/edit.h"
#include "rules/test/example.h"
#include <string.h>

enum { LONGEST_FORM = 1200 }; /* bytes of a definition shown */

static void
fence(bs_text *out, const char *s, size_t n) {
  bs_put(out, out->len ? "\n\n```glen\n" : "```glen\n");
  bs_putn(out, s, n);
  bs_put(out, "\n```");
}

static void
sentence(bs_text *out, const char *s) {
  if (*s)
    bs_putf(out, "%s%s", out->len ? "\n\n" : "", s);
}

/* --- types of terms ------------------------------------------------------- */

/* The innermost place that holds the offset, or NULL. */
static const gs_place *
place_at(const ed_document *d, uint32_t at) {
  const gs_place *best = NULL;
  for (uint32_t k = 0; k < d->places.list.len; k++) {
    const gs_place *p = &d->places.list.data[k];
    if (p->span.lo <= at && at <= p->span.hi &&
        (!best || p->span.hi - p->span.lo < best->span.hi - best->span.lo))
      best = p;
  }
  return best;
}

static bool
hover_term(const ed_document *d, uint32_t at, const char *word, bs_text *out,
           bs_span *what) {
  const gs_place *p = d->program ? place_at(d, at) : NULL;
  if (!p)
    return false;
  gs_type type;
  gs_type_at(d->program, p->term, &type);
  const gs_node *node = gs_at(d->program, p->term);
  bs_text line;
  bs_text_init(&line, d->ctx->heap);
  bool named = *word && (ed_resolve(d, word, at) ||
                         gs_find_definition(&d->definitions, word));
  bs_putf(&line, "%s : ", named ? word : gs_op_table[node->op].name);
  gs_put_type(&line, &type);
  fence(out, bs_text_str(&line), line.len);
  bs_text_done(&line);
  const char *text = ed_type_text(d, &type, true);
  sentence(out, strstr(text, " - ") + 3);
  *what = p->span;
  return true;
}

/* --- names ---------------------------------------------------------------- */

static void
put_definition(const ed_document *d, const ed_symbol *s, bs_text *out) {
  const bs_source *source = &d->ctx->diags->sources.data[s->form.file - 1];
  uint32_t n = s->form.hi - s->form.lo;
  const char *text = source->text + s->form.lo;
  if (n > LONGEST_FORM) {
    n = LONGEST_FORM;
    while (n && text[n] != '\n')
      n--;
  }
  fence(out, text, n);
  if (n < s->form.hi - s->form.lo)
    bs_put(out, "\n\n...");
}

static bool
hover_name(const ed_document *d, const char *word, uint32_t at, bs_text *out) {
  const ed_symbol *s = ed_resolve(d, word, at);
  if (!s)
    return false;
  if (!d->program)
    put_definition(d, s, out);
  if (!ed_is_own(d, s->form))
    sentence(out, bs_arena_printf(
                      d->ctx->arena, "defined in %s",
                      d->ctx->diags->sources.data[s->form.file - 1].path));
  return true;
}

/* The sort that a rule's variable has. */
static bool
hover_variable(const ed_document *d, const ed_cursor *c, const char *word,
               bs_text *out) {
  if (!d->rules || word[0] != '?')
    return false;
  for (uint32_t k = 0; k < rl_count(d->rules); k++) {
    const rl_rule *r = rl_at(d->rules, k);
    int slot =
        ed_is_own(d, r->span) && r->span.lo > c->form && r->span.lo < c->lo
            ? gs_scope_find(&r->scope, word)
            : -1;
    if (slot < 0)
      continue;
    gs_sort sort = r->scope.vars.data[slot].sort;
    const char *text =
        bs_arena_printf(d->ctx->arena, "%s : %s", word,
                        sort == GS_SORT_CLASS ? "term" : gs_sort_name(sort));
    bs_text_clear(out);
    fence(out, text, strlen(text));
    sentence(out, bs_arena_printf(d->ctx->arena, "in the rule %s", r->name));
  }
  return out->len != 0;
}

/* --- types in a rule -------------------------------------------------------
 */

/* The node of the left side that is named so, or the innermost that holds the
 * place; or -1. */
static int
left_node(const rl_rule *r, const char *word, uint32_t at) {
  int best = -1, slot = word[0] == '?' ? gs_scope_find(&r->scope, word) : -1;
  if (slot >= 0 && r->scope.vars.data[slot].sort != GS_SORT_CLASS)
    return -1;
  for (uint32_t k = 0; k < r->left->n; k++) {
    const gs_sk_node *n = &r->left->nodes[k];
    if (n->hole && (int)n->slot == slot)
      return (int)k;
    if (n->span.lo <= at && at <= n->span.hi &&
        (best < 0 ||
         n->span.hi - n->span.lo <
             r->left->nodes[best].span.hi - r->left->nodes[best].span.lo))
      best = (int)k;
  }
  return slot < 0 ? best : -1;
}

/* Sizes of a rule are open: the type in one small instance stands for them.
 * Of a rule that goes both ways each side is the left one once. */
static void
hover_example(const ed_document *d, const ed_cursor *c, const char *word,
              uint32_t at, bs_text *out) {
  const rl_rule *last = NULL;
  for (uint32_t k = 0; k < rl_count(d->rules); k++) {
    const rl_rule *r = rl_at(d->rules, k);
    if (ed_is_own(d, r->span) && r->span.lo > c->form && r->span.lo < at)
      last = r;
  }
  for (uint32_t k = 0; last && k < rl_count(d->rules); k++) {
    const rl_rule *r = rl_at(d->rules, k);
    rl_example example;
    int node = r->span.lo == last->span.lo && ed_is_own(d, r->span)
                   ? left_node(r, word, at)
                   : -1;
    if (node < 0 || !rl_find_example(d->ctx, d->rules, r, &example) ||
        !example.known[node])
      continue;
    sentence(out,
             bs_arena_printf(d->ctx->arena, "for instance `%s`",
                             ed_type_text(d, &example.types[node], false)));
    return;
  }
}

static void
hover_word(const ed_document *d, const char *word, const char *around,
           bool head, bs_text *out) {
  ed_word_info info;
  const ed_form *form =
      head ? ed_find_form(d->language, word, *around ? around : NULL) : NULL;
  if (form) {
    fence(out, form->usage, strlen(form->usage));
  } else if (ed_word_find(d, word, around, &info)) {
    fence(out, info.usage, strlen(info.usage));
    sentence(out, info.doc);
  }
}

bool
ed_hover(const ed_document *d, uint32_t at, bs_text *out, bs_span *what) {
  ed_cursor c;
  if (d->language->questions)
    return d->language->questions->hover(d, at, out, what);
  ed_look(d, at, &c);
  const char *word = ed_word(d, &c);
  bool head = c.frames.len && bs_last(&c.frames).lo == c.lo;
  *what = (bs_span){d->raw, c.lo, c.hi};
  if (!c.comment && !c.string) {
    bool term = hover_term(d, at, word, out, what);
    bool name = !head && (hover_variable(d, &c, word, out) ||
                          hover_name(d, word, at, out));
    if (head && d->rules && !term)
      name = hover_name(d, word, at, out);
    if (!name && *word)
      hover_word(d, word, ed_head(d, &c, head ? 1 : 0), head, out);
    if (d->rules && *word)
      hover_example(d, &c, word, at, out);
  }
  ed_cursor_done(d, &c);
  return out->len != 0;
}
