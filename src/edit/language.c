/* SPDX-License-Identifier: MIT */
/* language.c - the languages: how a file of each is read, and what its forms
 * define.  A language more is one line in `languages`. */
#include "base/file.h"
#include "edit/edit.h"
#include "rules/lint/lint.h"
#include <assert.h>
#include <string.h>

enum { MOST_FINDINGS = 500 };

bool
ed_is_own(const ed_document *d, bs_span span) {
  const bs_diags *diags = d->ctx->diags;
  assert(span.file <= diags->sources.len);
  return span.file && !strcmp(diags->sources.data[span.file - 1].path, d->path);
}

/* --- findings ------------------------------------------------------------- */

/* What is said of a form whose parentheses do not match follows from that. */
static bool
in_damage(const ed_document *d, bs_span span) {
  for (uint32_t k = 0; k < d->damaged.len; k++)
    if (span.lo >= d->damaged.data[k].lo && span.lo < d->damaged.data[k].hi)
      return true;
  return false;
}

static uint32_t
own_errors(const ed_document *d, uint32_t from, uint32_t to) {
  uint32_t n = 0;
  for (uint32_t k = from; k < to; k++) {
    const bs_diag *x = &d->ctx->diags->list.data[k];
    n += x->severity == BS_ERROR && ed_is_own(d, x->span);
  }
  return n;
}

static bool
is_note(const bs_diag *x) {
  return x->severity == BS_NOTE && !x->code;
}

/* The findings [from, to) that are about this text; notes go with theirs. */
static void
take_findings(ed_document *d, uint32_t from, uint32_t to, bool damage) {
  bool taken = false;
  for (uint32_t k = from; k < to; k++) {
    const bs_diag *x = &d->ctx->diags->list.data[k];
    if (!is_note(x))
      taken = ed_is_own(d, x->span) && (damage || !in_damage(d, x->span)) &&
              d->findings.len < MOST_FINDINGS;
    if (taken)
      bs_push(d->ctx->heap, &d->findings, *x);
  }
}

/* An error that has no place here, but keeps this file from being read: of an
 * included file, for instance. */
static void
take_foreign(ed_document *d, uint32_t from, uint32_t to) {
  const bs_diags *diags = d->ctx->diags;
  if (own_errors(d, from, to))
    return;
  for (uint32_t k = from; k < to; k++) {
    bs_diag x = diags->list.data[k];
    if (x.severity != BS_ERROR)
      continue;
    if (x.span.file)
      x.message =
          bs_arena_printf(d->ctx->arena, "in %s: %s",
                          diags->sources.data[x.span.file - 1].path, x.message);
    x.span = (bs_span){d->raw, 0, 0};
    bs_push(d->ctx->heap, &d->findings, x);
    return;
  }
}

static void
take_all(ed_document *d, uint32_t from) {
  uint32_t to = d->ctx->diags->list.len;
  take_findings(d, from, to, false);
  take_foreign(d, from, to);
}

/* --- programs and targets ------------------------------------------------- */

static void
read_program(ed_document *d) {
  uint32_t from = d->ctx->diags->list.len;
  uint32_t source = bs_source_read(d->ctx->diags, d->path, BS_NOWHERE);
  if (source)
    d->program = gs_parse_places(d->ctx, d->target, source, &d->places);
  if (source)
    gs_list_definitions(d->ctx, source, &d->definitions);
  take_all(d, from);
}

static void
read_target(ed_document *d) {
  uint32_t from = d->ctx->diags->list.len;
  d->described = gs_target_parse_file(d->ctx, d->path);
  take_all(d, from);
}

static void
read_sched(ed_document *d) {
  uint32_t from = d->ctx->diags->list.len;
  ed_read_sched(d);
  take_all(d, from);
}

/* --- rules ---------------------------------------------------------------- */

static rl_rules *
read_rules_with(ed_document *d, const char *directory) {
  rl_rules *rules = rl_new(d->ctx, d->target);
  bool ok = rl_load(rules, d->path);
  if (directory)
    rl_load(rules, directory);
  if (ok || directory)
    rl_finish(rules);
  return rules;
}

static const char *
directory_of(const ed_document *d) {
  const char *slash = strrchr(d->path, '/');
  if (!slash)
    return NULL;
  char *path = bs_arena_strdup(d->ctx->arena, d->path);
  path[slash - d->path + (slash == d->path)] = '\0';
  return bs_is_dir(path) ? path : NULL;
}

/* A file that uses names of other files is read with those beside it, as
 * `--rules DIRECTORY` does, when that leaves fewer errors. */
static void
read_rules(ed_document *d) {
  const bs_diags *diags = d->ctx->diags;
  uint32_t from = diags->list.len;
  d->rules = read_rules_with(d, NULL);
  uint32_t alone = diags->list.len, to = alone;
  uint32_t errors = own_errors(d, from, alone);
  const char *directory = errors ? directory_of(d) : NULL;
  if (directory) {
    rl_rules *together = read_rules_with(d, directory);
    if (own_errors(d, alone, diags->list.len) < errors) {
      d->rules = together;
      from = alone;
      to = diags->list.len;
    }
  }
  rl_lint_counts counts;
  uint32_t lint = diags->list.len;
  rl_lint(d->ctx, d->rules, false, &counts);
  take_findings(d, from, to, false);
  take_findings(d, lint, diags->list.len, false);
  if (!d->findings.len)
    take_foreign(d, from, to);
}

/* --- the table ------------------------------------------------------------ */

static const ed_form glen_forms[] = {
    {"tensor", NULL, "(tensor NAME (shape n...) DTYPE)"},
    {"const", NULL, "(const NAME (shape n...) DTYPE v...)"},
    {"let", NULL, "(let NAME TERM)"},
    {"define", NULL, "(define (NAME PARAMETER...) [\"what\"] ITEM... TERM)"},
};

static const ed_form rules_forms[] = {
    {"rule", NULL, "(rule NAME :kind KIND \"intent\" LEFT => RIGHT :where C)"},
    {"rule", "ruleset", "(rule NAME LEFT => RIGHT)"},
    {"param", NULL, "(param NAME DEFAULT \"doc\")"},
    {"ruleset", NULL, "(ruleset NAME ITEM...)"},
    {"strategy", NULL, "(strategy NAME STEP)"},
    {"test", NULL, "(test NAME (program ...) CLAUSE...)"},
    {"tensor", "program", "(tensor NAME (shape n...) DTYPE)"},
    {"const", "program", "(const NAME (shape n...) DTYPE v...)"},
    {"let", "program", "(let NAME TERM)"},
};

static const ed_form target_forms[] = {
    {"target", NULL, "(target NAME item...)"},
    {"instr", NULL,
     "(instr NAME \"intent\" (params ..) (operands ..) (result ..) "
     "(semantics ..) (where ..) (cost ..) (queue NAME) (emit ..))"},
    {"memory", "target",
     "(memory NAME (bytes N) (row BYTES) (banks N) (align BYTES))"},
    {"set", "target", "(set NAME VALUE)"},
    {"default", "target", "(default NAME VALUE)"},
};

#define FORMS(table) table, sizeof table / sizeof *table

static const ed_questions sched_questions = {
    ed_hover_sched, ed_definition_sched, ed_complete_sched};

static const ed_language languages[] = {
    {".glen", FORMS(glen_forms), false, read_program, NULL},
    {".rules", FORMS(rules_forms), true, read_rules, NULL},
    {".target", FORMS(target_forms), false, read_target, NULL},
    {".sched", NULL, 0, false, read_sched, &sched_questions},
};

const ed_language *
ed_language_of(const char *path) {
  size_t n = strlen(path);
  for (size_t k = 0; k < sizeof languages / sizeof *languages; k++) {
    size_t m = strlen(languages[k].suffix);
    if (n > m && !strcmp(path + n - m, languages[k].suffix))
      return &languages[k];
  }
  return NULL;
}

const ed_form *
ed_find_form(const ed_language *language, const char *head,
             const char *within) {
  for (uint32_t k = 0; k < language->n_forms; k++) {
    const ed_form *f = &language->forms[k];
    bool placed = within ? f->within && !strcmp(f->within, within) : !f->within;
    if (placed && !strcmp(f->head, head))
      return f;
  }
  return NULL;
}

/* --- opening -------------------------------------------------------------- */

ed_document *
ed_open(const gs_context *ctx, const gs_target *target, const char *path) {
  const ed_language *language = ed_language_of(path);
  if (!language) {
    bs_error(ctx->diags, BS_NOWHERE, "unknown-language",
             "'%s' is not a .glen, .rules, .target or .sched file", path);
    return NULL;
  }
  uint32_t raw = bs_source_read(ctx->diags, path, BS_NOWHERE);
  if (!raw)
    return NULL;
  ed_document *d = BS_NEW(ctx->arena, ed_document);
  *d = (ed_document){.ctx = ctx,
                     .target = target,
                     .language = language,
                     .path = ctx->diags->sources.data[raw - 1].path,
                     .raw = raw};
  ctx->diags->limit = MOST_FINDINGS;
  uint32_t from = ctx->diags->list.len;
  if (!language->questions)
    ed_repair(d);
  take_findings(d, from, ctx->diags->list.len, true);
  language->read(d);
  ed_collect_symbols(d);
  return d;
}
