/* SPDX-License-Identifier: MIT */
/* run_strategy.c - sets of rules as masks, strategies as plans.
 *
 * A set is the union of its items; sets of sets are resolved by a fixpoint, so
 * cycles do no harm.  Plans are trees no deeper than GS_MAX_NESTING, the
 * strategies that a step names included.  plan.c lists their phases, phases.c
 * runs them. */
#include "rules/rule/rule_internal.h"
#include <inttypes.h>
#include <string.h>

/* --- sets ----------------------------------------------------------------- */

/* NAME means both directions of NAME, NAME~fwd the first alone: the indices of
 * these rules, and how many there are. */
static uint32_t
rules_of(const rl_rules *rules, const char *name, uint32_t of[2]) {
  bs_arena *arena = rules->ctx.arena;
  size_t n = strlen(name);
  bool forward = n > 4 && !strcmp(name + n - 4, "~fwd");
  const char *own =
      forward ? bs_arena_printf(arena, "%.*s", (int)n - 4, name) : name;
  uint32_t count = 0;
  of[0] = rl_index_of(rules, own);
  count += of[0] != BS_NO_ENTRY;
  if (!forward)
    of[count] = rl_index_of(rules, bs_arena_printf(arena, "%s~rev", name));
  return count + (!forward && of[count] != BS_NO_ENTRY);
}

static const rl_set *
find_set(const rl_rules *rules, const char *name) {
  uint32_t k = bs_map_get(&rules->set_named, bs_sym(rules->ctx.values, name).i);
  return k == BS_NO_ENTRY ? NULL : &rules->sets.data[k];
}

static uint8_t *
mask_new(const rl_rules *rules) {
  return BS_NEWS(rules->ctx.arena, uint8_t, rules->compiled.len + (size_t)1);
}

/* A mask of the rules of one name; NULL when there is none. */
static const uint8_t *
rule_mask(const rl_rules *rules, const char *name) {
  uint32_t of[2], n = rules_of(rules, name, of);
  uint8_t *mask = n ? mask_new(rules) : NULL;
  for (uint32_t k = 0; k < n; k++)
    mask[of[k]] = 1;
  return mask;
}

const uint8_t *
rl_mask_find(const rl_rules *rules, const char *name) {
  const rl_set *set = find_set(rules, name);
  rl_kind kind;
  if (set)
    return set->mask;
  if (!strcmp(name, "all"))
    return rules->all_mask;
  if (rl_kind_find(name, &kind))
    return rules->kind_masks[kind];
  return rule_mask(rules, name);
}

bool
rl_unknown_set(const rl_rules *rules, bs_span span, const char *name) {
  uint32_t n = 0;
  const char **names =
      BS_NEWS(rules->ctx.arena, const char *,
              rules->sets.len + (size_t)rules->compiled.len + 1);
  for (uint32_t k = 0; k < rules->sets.len; k++)
    names[n++] = rules->sets.data[k].name;
  for (uint32_t k = 0; k < rules->compiled.len; k++)
    names[n++] = rules->compiled.data[k]->rule.name;
  bs_error(rules->ctx.diags, span, "unknown-ruleset",
           "there is no ruleset or rule named '%s'", name);
  rl_suggest(rules, name, names, n);
  return false;
}

static void
builtin_masks(rl_rules *rules) {
  rules->all_mask = mask_new(rules);
  for (int kind = 0; kind <= RL_ALGEBRA; kind++)
    rules->kind_masks[kind] = mask_new(rules);
  for (uint32_t k = 0; k < rules->compiled.len; k++) {
    rules->all_mask[k] = 1;
    rules->kind_masks[rules->compiled.data[k]->rule.kind][k] = 1;
  }
}

/* mask := mask or more; true when that changed it. */
static bool
mask_add(uint8_t *mask, const uint8_t *more, uint32_t n) {
  bool changed = false;
  for (uint32_t k = 0; k < n; k++) {
    changed |= more[k] && !mask[k];
    mask[k] |= more[k];
  }
  return changed;
}

/* Is it a rule's name, and of nothing else? */
static bool
is_plain(const rl_rules *rules, const char *name) {
  uint32_t of[2];
  rl_kind kind;
  return !find_set(rules, name) && strcmp(name, "all") &&
         !rl_kind_find(name, &kind) && rules_of(rules, name, of);
}

/* A set may list all rules by name: no mask is made for each. */
static bool
add_rules(const rl_rules *rules, rl_set *set, const char *name, bool *changed) {
  uint32_t of[2], n = rules_of(rules, name, of);
  for (uint32_t k = 0; k < n; k++) {
    *changed |= !set->mask[of[k]];
    set->mask[of[k]] = 1;
  }
  return true;
}

static bool
add_item(rl_rules *rules, rl_set *set, uint32_t node, bool *changed) {
  const rl_file *f = &rules->forms.files.data[set->form.file];
  const char *name = rl_symbol(rules, f, node);
  if (!name)
    return true;
  if (is_plain(rules, name))
    return add_rules(rules, set, name, changed);
  const uint8_t *more = rl_mask_find(rules, name);
  if (!more)
    return rl_unknown_set(rules, rl_sx(f, node)->span, name);
  *changed |= mask_add(set->mask, more, rules->compiled.len);
  return true;
}

static bool
add_items(rl_rules *rules, rl_set *set, bool *changed) {
  const rl_file *f = &rules->forms.files.data[set->form.file];
  uint32_t name = bs_sx_item(&f->sx, set->form.node, 1);
  bool ok = true;
  for (uint32_t x = rl_sx(f, name)->next; x; x = rl_sx(f, x)->next)
    ok &= add_item(rules, set, x, changed);
  return ok;
}

bool
rl_resolve_sets(rl_rules *rules) {
  bool ok = true, changed = true;
  builtin_masks(rules);
  for (uint32_t k = 0; k < rules->sets.len; k++)
    rules->sets.data[k].mask = mask_new(rules);
  for (uint32_t k = 0; k < rules->compiled.len; k++)
    if (rules->compiled.data[k]->set)
      rules->sets.data[rules->compiled.data[k]->set - 1].mask[k] = 1;
  while (changed && ok) {
    changed = false;
    for (uint32_t k = 0; k < rules->sets.len; k++)
      ok &= add_items(rules, &rules->sets.data[k], &changed);
  }
  return ok;
}

/* --- plans ---------------------------------------------------------------- */

typedef struct planner {
  rl_rules *rules;
  const rl_file *file;
  rl_strategy *strategy;
} planner;

static const rl_plan *plan(const planner *, uint32_t node, int depth);
static const rl_plan *plan_of(rl_rules *, rl_strategy *, int depth);

static const bs_sx *
at(const planner *p, uint32_t node) {
  return rl_sx(p->file, node);
}

static rl_plan *
plan_new(const planner *p, rl_run_kind kind) {
  rl_plan *out = BS_NEW(p->rules->ctx.arena, rl_plan);
  out->kind = kind;
  out->times = 1;
  return out;
}

/* The files that a strategy speaks of by the names it uses. */
static void
know_files(const planner *p, const char *name) {
  const rl_rules *rules = p->rules;
  const rl_set *set = find_set(rules, name);
  if (set)
    p->strategy->knows[set->form.file] = 1;
  for (uint32_t k = 0; k < rules->rule_forms.len && !set; k++)
    if (!strcmp(rules->rule_forms.data[k].name, name))
      p->strategy->knows[rules->rule_forms.data[k].file] = 1;
}

/* A strategy that a step names, as a part of the plan. */
static const rl_plan *
plan_strategy(const planner *p, uint32_t node, rl_strategy *s, int depth) {
  if (s->planning) {
    bs_error(p->rules->ctx.diags, at(p, node)->span, "strategy-cycle",
             "the strategy '%s' runs itself", s->name);
    return NULL;
  }
  const rl_plan *out = plan_of(p->rules, s, depth + 1);
  for (uint32_t k = 0; k < p->rules->forms.files.len && out; k++)
    p->strategy->knows[k] |= s->knows[k];
  return out;
}

static const rl_plan *
plan_name(const planner *p, uint32_t node, int depth) {
  const char *name = rl_symbol(p->rules, p->file, node);
  rl_plan *out = plan_new(p, RL_RUN_ONCE);
  if (!name) {
    bs_error(p->rules->ctx.diags, at(p, node)->span, "bad-step",
             "a step is the name of a ruleset, of a strategy, 'all', or one "
             "of (seq ..), (repeat N ..), (saturate ..)");
    if (at(p, node)->kind == BS_SX_INT)
      bs_hint(p->rules->ctx.diags, "such as (repeat %" PRId64 " all)",
              bs_as_int(p->rules->ctx.values, at(p, node)->value));
    return NULL;
  }
  out->name = name;
  out->mask = rl_mask_find(p->rules, name);
  for (uint32_t k = 0; k < p->rules->strategies.len && !out->mask; k++)
    if (!strcmp(p->rules->strategies.data[k].name, name))
      return plan_strategy(p, node, &p->rules->strategies.data[k], depth);
  if (!out->mask)
    rl_unknown_set(p->rules, at(p, node)->span, name);
  know_files(p, name);
  return out->mask ? out : NULL;
}

static const rl_plan *
plan_kids(const planner *p, uint32_t list, uint32_t first, rl_plan *out,
          int depth) {
  bs_diags *d = p->rules->ctx.diags;
  bool ok = true;
  if (!first) {
    bs_error(d, at(p, list)->span, "bad-step", "a step is expected in here");
    return NULL;
  }
  const rl_plan **kids =
      BS_NEWS(p->rules->ctx.arena, const rl_plan *, at(p, list)->count);
  for (uint32_t x = first; x; x = at(p, x)->next) {
    kids[out->n_kids] = plan(p, x, depth + 1);
    ok &= kids[out->n_kids++] != NULL;
  }
  out->kids = kids;
  return ok ? out : NULL;
}

static const rl_plan *
plan_repeat(const planner *p, uint32_t node, int depth) {
  rl_plan *out = plan_new(p, RL_RUN_REPEAT);
  uint32_t times = bs_sx_item(&p->file->sx, node, 1);
  if (times && rl_integer(p->rules, p->file, times, &out->times) &&
      out->times >= 0)
    return plan_kids(p, node, at(p, times)->next, out, depth);
  bs_error(p->rules->ctx.diags, at(p, times ? times : node)->span, "bad-step",
           "'repeat' takes a number of times and steps");
  return NULL;
}

static const rl_plan *
unknown_step(const planner *p, uint32_t node, const char *head) {
  static const char *const names[] = {"seq", "repeat", "saturate"};
  bs_error(p->rules->ctx.diags, at(p, node)->span, "bad-step",
           "there is no step '%s'", head ? head : "()");
  if (head)
    rl_suggest(p->rules, head, names, 3);
  return NULL;
}

static const rl_plan *
plan(const planner *p, uint32_t node, int depth) {
  if (depth > GS_MAX_NESTING) {
    bs_error(p->rules->ctx.diags, at(p, node)->span, "too-deep",
             "steps are nested more than %d deep", GS_MAX_NESTING);
    return NULL;
  }
  if (at(p, node)->kind != BS_SX_LIST)
    return plan_name(p, node, depth);
  const char *head = bs_sx_head(&p->file->sx, p->rules->ctx.values, node);
  if (!head)
    return unknown_step(p, node, NULL);
  if (!strcmp(head, "repeat"))
    return plan_repeat(p, node, depth);
  bool seq = !strcmp(head, "seq");
  if (!seq && strcmp(head, "saturate"))
    return unknown_step(p, node, head);
  return plan_kids(p, node, at(p, node + 1)->next,
                   plan_new(p, seq ? RL_RUN_SEQ : RL_RUN_SATURATE), depth);
}

/* What a known file includes is known. */
static void
know_includes(const rl_rules *rules, uint8_t *knows) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < rules->forms.includes.len; k++) {
      const gs_include *i = &rules->forms.includes.data[k];
      if (!knows[i->from] || knows[i->to])
        continue;
      knows[i->to] = 1;
      changed = true;
    }
  }
}

/* The plan of a strategy, made where it is first asked for. */
static const rl_plan *
plan_of(rl_rules *rules, rl_strategy *s, int depth) {
  planner p = {rules, &rules->forms.files.data[s->form.file], s};
  uint32_t count = at(&p, s->form.node)->count;
  if (s->plan || s->faulty)
    return s->plan;
  s->planning = true;
  s->knows = BS_NEWS(rules->ctx.arena, uint8_t, rules->forms.files.len);
  s->knows[s->form.file] = 1;
  s->plan = plan(&p, bs_sx_item(&p.file->sx, s->form.node, count - 1), depth);
  know_includes(rules, s->knows);
  s->planning = false;
  s->faulty = !s->plan;
  return s->plan;
}

bool
rl_parse_strategies(rl_rules *rules) {
  bool ok = true;
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    ok &= plan_of(rules, &rules->strategies.data[k], 0) != NULL;
  return ok;
}

const rl_strategy *
rl_find_strategy(const rl_rules *rules, const char *name) {
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    if (!strcmp(rules->strategies.data[k].name, name))
      return &rules->strategies.data[k];
  return NULL;
}
