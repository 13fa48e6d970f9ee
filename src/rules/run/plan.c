/* SPDX-License-Identifier: MIT */
/* plan.c - the phases that a strategy has, before they are run.
 *
 * The steps of sequences are the phases, whatever their nesting.  Rules of
 * files that no strategy knows have a phase of their own, `others`: first, so
 * that all the others see what they make, and again before the first phase that
 * lowers, so that they see what the others made. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

enum { LOWERING_WEIGHT = 4, MOST_NAME = 60 };

typedef struct lister {
  rl_run *run;
  uint8_t *mask; /* scratch, by rule */
  BS_VEC(rl_phase) list;
} lister;

/* Plans are trees no deeper than GS_MAX_NESTING. */
static void
add_masks(const rl_plan *p, uint8_t *mask, uint32_t n) {
  for (uint32_t k = 0; p->mask && k < n; k++)
    mask[k] |= p->mask[k];
  for (uint32_t k = 0; k < p->n_kids; k++)
    add_masks(p->kids[k], mask, n);
}

static void
put_names(const rl_plan *p, bs_text *out) {
  if (p->name && out->len < MOST_NAME)
    bs_putf(out, "%s%s", out->len ? " " : "", p->name);
  for (uint32_t k = 0; k < p->n_kids; k++)
    put_names(p->kids[k], out);
}

static bool
lowers(lister *l, const rl_plan *p) {
  const rl_run *run = l->run;
  bool any = false;
  memset(l->mask, 0, run->n_rules);
  add_masks(p, l->mask, run->n_rules);
  for (uint32_t k = 0; k < run->n_rules; k++)
    any |= l->mask[k] && run->allowed[k] &&
           rl_at(run->rules, k)->kind == RL_LOWERING;
  return any;
}

static void
add_phase(lister *l, const rl_plan *p) {
  rl_run *run = l->run;
  assert(p->mask || p->n_kids);
  const gs_context *ctx = &run->session->ctx;
  bs_text name;
  bs_text_init(&name, ctx->heap);
  put_names(p, &name);
  rl_phase phase = {.name = bs_arena_strdup(ctx->arena, bs_text_str(&name)),
                    .plan = p,
                    .lowers = lowers(l, p)};
  phase.weight = phase.lowers ? LOWERING_WEIGHT : 1;
  bs_text_done(&name);
  bs_push(run->heap, &l->list, phase);
  add_masks(p, run->planned, run->n_rules);
}

/* `others`: what is put before the first phase that lowers; NULL: nothing, or
 * it has been. */
static void
add_phases(lister *l, const rl_plan *p, const rl_plan **others) {
  for (uint32_t k = 0; p->kind == RL_RUN_SEQ && k < p->n_kids; k++)
    add_phases(l, p->kids[k], others);
  if (p->kind == RL_RUN_SEQ)
    return;
  if (*others && lowers(l, p)) {
    add_phase(l, *others);
    *others = NULL;
  }
  add_phase(l, p);
}

static bool
has_rule(const rl_plan *p, uint32_t rule) {
  bool has = p->mask && p->mask[rule];
  for (uint32_t k = 0; k < p->n_kids && !has; k++)
    has = has_rule(p->kids[k], rule);
  return has;
}

bool
rl_phase_has(const rl_run *run, const rl_phase *phase, uint32_t rule) {
  assert(phase->plan);
  assert(rule < run->n_rules);
  return run->allowed[rule] && has_rule(phase->plan, rule);
}

/* --- rules that a strategy does not know ---------------------------------- */

/* By rule: the index of its file; UINT32_MAX for those that were derived. */
static uint32_t *
files_of_rules(const rl_run *run) {
  const rl_rules *rules = run->rules;
  uint32_t *file = bs_alloc(run->heap, (run->n_rules + (size_t)1) * 4), at = 0;
  for (uint32_t k = 0; k < run->n_rules; k++) {
    uint32_t source = rl_at(rules, k)->span.file, n = 0;
    for (; n < rules->forms.files.len &&
           rules->forms.files.data[at].source != source;
         n++)
      at = (at + 1) % rules->forms.files.len;
    file[k] = n < rules->forms.files.len ? at : UINT32_MAX;
  }
  return file;
}

static bool
known_to_any(const rl_rules *rules, uint32_t file) {
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    if (rules->strategies.data[k].knows[file])
      return true;
  return false;
}

/* The phase of the rules that no strategy knows; NULL: there is none. */
static const rl_plan *
plan_others(lister *l, const rl_plan *plan, const uint32_t *file) {
  const rl_run *run = l->run;
  bs_arena *arena = run->session->ctx.arena;
  uint8_t *mask = BS_NEWS(arena, uint8_t, run->n_rules + (size_t)1);
  bool any = false;
  memset(l->mask, 0, run->n_rules);
  add_masks(plan, l->mask, run->n_rules);
  for (uint32_t k = 0; k < run->n_rules; k++) {
    mask[k] = !l->mask[k] && run->allowed[k] && file[k] != UINT32_MAX &&
              !known_to_any(run->rules, file[k]);
    any |= mask[k];
  }
  rl_plan *once = BS_NEW(arena, rl_plan), *all = BS_NEW(arena, rl_plan);
  const rl_plan **kid = BS_NEW(arena, const rl_plan *);
  *kid = once;
  *once = (rl_plan){RL_RUN_ONCE, "others", mask, 1, NULL, 0};
  *all = (rl_plan){RL_RUN_SATURATE, NULL, NULL, 1, kid, 1};
  return any ? all : NULL;
}

/* Files of another strategy were not meant to run with this one, which who gave
 * them may not know. */
static void
warn_of_files(const rl_run *run, const rl_strategy *s, const uint32_t *file) {
  const rl_rules *rules = run->rules;
  size_t n = rules->forms.files.len + (size_t)1;
  uint32_t *rules_of = bs_calloc(run->heap, n, sizeof *rules_of);
  uint8_t *used = bs_calloc(run->heap, n, 1);
  for (uint32_t k = 0; k < run->n_rules; k++) {
    if (file[k] == UINT32_MAX)
      continue;
    used[file[k]] |= run->planned[k];
    rules_of[file[k]] += run->allowed[k];
  }
  for (uint32_t f = 0; f < rules->forms.files.len; f++)
    if (rules_of[f] && !used[f] && !s->knows[f])
      bs_warning(run->session->ctx.diags, BS_NOWHERE, "rules-left-out",
                 "the strategy '%s' runs none of the %u %s of %s; choose "
                 "another one with --strategy, or have one run this file",
                 s->name, BS_COUNTED(rules_of[f], "rule"),
                 rules->forms.files.data[f].path);
  bs_free(run->heap, used);
  bs_free(run->heap, rules_of);
}

void
rl_list_phases(rl_run *run, const rl_strategy *s, bool alone, bool quiet) {
  assert(s->plan);
  lister l = {.run = run};
  l.mask = bs_calloc(run->heap, run->n_rules + (size_t)1, 1);
  uint32_t *file = files_of_rules(run);
  const rl_plan *others = alone ? NULL : plan_others(&l, s->plan, file);
  if (others)
    add_phase(&l, others);
  add_phases(&l, s->plan, &others);
  if (!alone && !quiet)
    warn_of_files(run, s, file);
  run->phases = l.list.data;
  run->n_phases = l.list.len;
  bs_free(run->heap, file);
  bs_free(run->heap, l.mask);
}
