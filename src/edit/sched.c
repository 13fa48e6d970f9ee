/* SPDX-License-Identifier: MIT */
/* sched.c - schedule scripts (.sched), which are lines, not lists.
 *
 * Every command that does not exist is told.  When all exist, and there is a
 * program beside the script that is named alike (x.sched, x.glen), the script
 * is run on its loops: so a name that is unknown, or a change that would break
 * a dependence, is told as you type.  Where there is none, arguments are not
 * looked at. */
#include "edit/edit.h"
#include "poly/loops/loops.h"
#include "poly/schedule/primitive.h"
#include "poly/script/token.h"
#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TERMS = 300 }; /* of a program that is scheduled while one types */

/* --- the program beside ----------------------------------------------------
 */

static bool
is_overlay(const bs_diags *diags, const char *path) {
  for (uint32_t k = 0; k < diags->overlays.len; k++)
    if (!strcmp(diags->overlays.data[k].path, path))
      return true;
  return false;
}

static po_program *
program_beside(ed_document *d) {
  size_t stem = strlen(d->path) - strlen(".sched");
  const char *path =
      bs_arena_printf(d->ctx->arena, "%.*s.glen", (int)stem, d->path);
  po_options options = {0};
  if (!is_overlay(d->ctx->diags, path) && access(path, R_OK))
    return NULL;
  const gs_target *target = d->target ? d->target : gs_target_default(d->ctx);
  gs_program *p = gs_parse_file(d->ctx, target, path);
  if (!p || p->nodes.len > MOST_TERMS)
    return NULL;
  return po_lower(p, target, &options);
}

/* --- commands --------------------------------------------------------------
 */

typedef struct line {
  uint32_t lo, hi; /* tokens */
  uint32_t command;
} line;

static bool
is_mark(const po_sched_token *t, const char *mark) {
  return t->kind == PO_ST_MARK && !strcmp(t->word, mark);
}

static bool
is_statement(const char *word) {
  static const char *const words[] = {"assert", "print", "try", "else"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (!strcmp(words[k], word))
      return true;
  return false;
}

/* The next command from token *at on, behind the names it defines. */
static bool
next_line(const po_sched_tokens *t, uint32_t *at, line *out) {
  const po_sched_token *list = t->list.data;
  while (*at < t->list.len &&
         (list[*at].kind == PO_ST_END || list[*at].kind == PO_ST_MARK))
    ++*at;
  if (*at == t->list.len)
    return false;
  *out = (line){*at, *at, *at};
  bool names = list[*at].kind == PO_ST_WORD && !is_statement(list[*at].word);
  for (uint32_t k = *at; names && list[k].kind != PO_ST_END; k++)
    if (is_mark(&list[k], "=") && k + 1 < t->list.len &&
        out->command == out->lo && list[k + 1].kind == PO_ST_WORD)
      out->command = k + 1;
  while (list[out->hi].kind != PO_ST_END && !is_mark(&list[out->hi], "{") &&
         !is_mark(&list[out->hi], "}"))
    out->hi++;
  if (out->command >= out->hi)
    out->command = out->lo;
  *at = out->hi;
  return true;
}

static bool
check_command(ed_document *d, const po_sched_token *t) {
  const char *names[64];
  uint32_t n = 0;
  if (t->kind != PO_ST_WORD || is_statement(t->word) ||
      po_primitive_find(t->word))
    return true;
  bs_error(d->ctx->diags, t->span, "unknown-command", "there is no command %s",
           t->word);
  for (; n < po_n_primitives && n < 64; n++)
    names[n] = po_primitives[n].name;
  const char *near = bs_nearest(t->word, names, n);
  if (near)
    bs_meant(d->ctx->diags, "", near);
  return false;
}

/* `a, b = split i`: a and b are symbols. */
static void
add_names(ed_document *d, const po_sched_tokens *t, const line *l) {
  const po_sched_token *list = t->list.data;
  bs_span form = list[l->lo].span;
  form.hi = list[l->hi > l->lo ? l->hi - 1 : l->lo].span.hi;
  for (uint32_t k = l->lo; k + 1 < l->command; k += 2) {
    ed_symbol s = {.name = list[k].word,
                   .head = list[l->command].word,
                   .name_span = list[k].span,
                   .form = form};
    if (list[k].kind == PO_ST_WORD)
      bs_push(d->ctx->heap, &d->symbols, s);
  }
}

static void
run_script(ed_document *d, uint32_t source) {
  bs_text printed;
  po_program *p = program_beside(d);
  if (!p)
    return;
  bs_text_init(&printed, d->ctx->heap);
  po_run_script(&p, source, &printed);
  bs_text_done(&printed);
  po_free(p);
}

void
ed_read_sched(ed_document *d) {
  po_sched_tokens tokens = {0};
  uint32_t source = d->raw, at = 0;
  line l;
  bool ok = po_read_tokens(d->ctx->heap, d->ctx->arena, d->ctx->diags, source,
                           &tokens);
  bool known = ok;
  while (ok && next_line(&tokens, &at, &l)) {
    add_names(d, &tokens, &l);
    known &= check_command(d, &tokens.list.data[l.command]);
  }
  if (known)
    run_script(d, source);
  po_sched_tokens_done(d->ctx->heap, &tokens);
}

/* --- at a place ------------------------------------------------------------
 */

static bool
is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The word at a place; false in a comment. */
static bool
word_at(const ed_document *d, uint32_t at, bs_span *out) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  uint32_t lo = at, hi = at, start = at;
  while (start && s->text[start - 1] != '\n')
    start--;
  if (memchr(s->text + start, '#', at - start))
    return false;
  while (lo > start && is_word_byte(s->text[lo - 1]))
    lo--;
  while (hi < s->size && is_word_byte(s->text[hi]))
    hi++;
  *out = (bs_span){d->raw, lo, hi};
  return true;
}

static const char *
text_of(const ed_document *d, bs_span span) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  return bs_arena_printf(d->ctx->arena, "%.*s", (int)(span.hi - span.lo),
                         s->text + span.lo);
}

/* The last definition before the place. */
static const ed_symbol *
defined(const ed_document *d, const char *name, uint32_t at) {
  const ed_symbol *found = NULL;
  for (uint32_t k = 0; k < d->symbols.len; k++)
    if (!strcmp(d->symbols.data[k].name, name) &&
        d->symbols.data[k].name_span.lo <= at)
      found = &d->symbols.data[k];
  return found;
}

bool
ed_hover_sched(const ed_document *d, uint32_t at, bs_text *out, bs_span *what) {
  if (!word_at(d, at, what) || what->lo == what->hi)
    return false;
  const char *word = text_of(d, *what);
  const po_primitive *p = po_primitive_find(word);
  const ed_symbol *s = p ? NULL : defined(d, word, at);
  if (p)
    bs_putf(out, "```\n%s\n```\n\n%s", p->usage, p->effect);
  else if (s)
    bs_putf(out, "```\n%s\n```", text_of(d, s->form));
  return p || s;
}

bool
ed_definition_sched(const ed_document *d, uint32_t at, const char **path,
                    bs_span *out) {
  bs_span word;
  const ed_symbol *s =
      word_at(d, at, &word) ? defined(d, text_of(d, word), at) : NULL;
  if (!s)
    return false;
  *path = d->path;
  *out = s->name_span;
  return true;
}

/* Commands where one may stand: first on a line, or behind '='. */
static bool
wants_command(const ed_document *d, uint32_t lo) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  while (lo && (s->text[lo - 1] == ' ' || s->text[lo - 1] == '\t'))
    lo--;
  return !lo || strchr("\n;{=", s->text[lo - 1]);
}

void
ed_complete_sched(const ed_document *d, uint32_t at, ed_completions *out) {
  bs_span word;
  *out = (ed_completions){.replaced = {d->raw, at, at}};
  if (!word_at(d, at, &word))
    return;
  out->replaced.lo = word.lo;
  if (wants_command(d, word.lo)) {
    for (uint32_t k = 0; k < po_n_primitives; k++)
      bs_push(d->ctx->heap, &out->list,
              (ed_completion){po_primitives[k].name, "form",
                              po_primitives[k].usage, po_primitives[k].effect});
    return;
  }
  for (uint32_t k = 0; k < d->symbols.len; k++)
    if (d->symbols.data[k].form.hi < at)
      bs_push(d->ctx->heap, &out->list,
              (ed_completion){d->symbols.data[k].name, "name",
                              text_of(d, d->symbols.data[k].form), ""});
}
