/* strategy.c - sets of rules as masks, strategies as plans, plans run.
 *
 * A set is the union of its items; sets of sets are resolved by a fixpoint, so
 * cycles do no harm.  Plans are trees no deeper than GS_MAX_NESTING. */
#include "rules/internal.h"
#include <string.h>

/* --- sets ----------------------------------------------------------------- */

/* NAME means both directions of NAME, NAME~fwd the first alone. */
static bool
is_rule_of(const rl_rules *rules, uint32_t k, const char *name) {
  const char *own = rules->compiled.data[k]->rule.name;
  size_t n = strlen(name);
  bool forward = n > 4 && !strcmp(name + n - 4, "~fwd");
  if (forward)
    n -= 4;
  return !strncmp(own, name, n) &&
         (!own[n] || (!forward && !strcmp(own + n, "~rev")));
}

static const rl_set *
find_set(const rl_rules *rules, const char *name) {
  for (uint32_t k = 0; k < rules->sets.len; k++)
    if (!strcmp(rules->sets.data[k].name, name))
      return &rules->sets.data[k];
  return NULL;
}

static uint8_t *
mask_new(const rl_rules *rules) {
  return BS_NEWS(rules->ctx.arena, uint8_t, rules->compiled.len + (size_t)1);
}

/* A mask of the rules of one name; NULL when there is none. */
static const uint8_t *
rule_mask(const rl_rules *rules, const char *name) {
  uint8_t *mask = NULL;
  for (uint32_t k = 0; k < rules->compiled.len; k++) {
    if (!is_rule_of(rules, k, name))
      continue;
    if (!mask)
      mask = mask_new(rules);
    mask[k] = 1;
  }
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

static bool
add_item(rl_rules *rules, rl_set *set, uint32_t node, bool *changed) {
  const rl_file *f = &rules->files.data[set->form.file];
  const char *name = rl_symbol(rules, f, node);
  if (!name)
    return true;
  const uint8_t *more = rl_mask_find(rules, name);
  if (!more)
    return rl_unknown_set(rules, rl_sx(f, node)->span, name);
  *changed |= mask_add(set->mask, more, rules->compiled.len);
  return true;
}

static bool
add_items(rl_rules *rules, rl_set *set, bool *changed) {
  const rl_file *f = &rules->files.data[set->form.file];
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
} planner;

static const rl_plan *plan(const planner *, uint32_t node, int depth);

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

static const rl_plan *
plan_name(const planner *p, uint32_t node) {
  const char *name = rl_symbol(p->rules, p->file, node);
  rl_plan *out = plan_new(p, RL_RUN_ONCE);
  if (!name) {
    bs_error(p->rules->ctx.diags, at(p, node)->span, "bad-step",
             "a step is the name of a ruleset, 'all', or one of (seq ..), "
             "(repeat N ..), (saturate ..)");
    return NULL;
  }
  out->mask = rl_mask_find(p->rules, name);
  if (!out->mask)
    rl_unknown_set(p->rules, at(p, node)->span, name);
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
    return plan_name(p, node);
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

bool
rl_parse_strategies(rl_rules *rules) {
  bool ok = true;
  for (uint32_t k = 0; k < rules->strategies.len; k++) {
    rl_strategy *s = &rules->strategies.data[k];
    planner p = {rules, &rules->files.data[s->form.file]};
    uint32_t count = at(&p, s->form.node)->count;
    s->plan = plan(&p, bs_sx_item(&p.file->sx, s->form.node, count - 1), 0);
    ok &= s->plan != NULL;
  }
  return ok;
}

const rl_strategy *
rl_find_strategy(const rl_rules *rules, const char *name) {
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    if (!strcmp(rules->strategies.data[k].name, name))
      return &rules->strategies.data[k];
  return NULL;
}

/* --- running -------------------------------------------------------------- */

/* How a step ended. */
typedef struct outcome {
  eg_stop stop;
  bool ended; /* at a limit: the whole strategy stops */
  bool quiet; /* each step in it had nothing left to do */
} outcome;

static outcome
run_mask(const rl_runner *r, const uint8_t *mask, uint32_t iterations) {
  uint32_t done;
  for (uint32_t k = 0; k < r->n_rules; k++)
    r->enabled[k] = mask[k] && r->allowed[k];
  eg_stop stop = eg_run_some(r->engine, r->enabled, iterations);
  eg_runner_iterations(r->engine, &done);
  bool limit = r->iterations && done >= r->iterations;
  bool quiet = stop == EG_STOP_SATURATED;
  bool ended = !quiet && (stop != EG_STOP_ITERATIONS || limit);
  return (outcome){stop, ended, quiet};
}

/* What the rules have made so far. */
static uint64_t
work(const rl_runner *r) {
  const eg_rule_stats *stats = eg_runner_stats(r->engine);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < r->n_rules; k++)
    sum += stats[k].nodes + stats[k].unions;
  return sum;
}

static outcome run(const rl_runner *, const rl_plan *);

/* The steps once, in order; the last one tells how it stopped. */
static outcome
run_round(const rl_runner *r, const rl_plan *p) {
  outcome o = {EG_STOP_SATURATED, false, true};
  bool quiet = true;
  for (uint32_t k = 0; k < p->n_kids && !o.ended; k++) {
    o = run(r, p->kids[k]);
    quiet &= o.quiet;
  }
  o.quiet = quiet;
  return o;
}

/* A round that made nothing, and where no rule waits for a ban to end. */
static bool
run_quiet_round(const rl_runner *r, const rl_plan *p, outcome *o) {
  uint64_t before = work(r);
  *o = run_round(r, p);
  return o->quiet && work(r) == before;
}

/* A single set saturates inside the engine. */
static outcome
run_saturate(const rl_runner *r, const rl_plan *p) {
  outcome o;
  if (p->n_kids == 1 && p->kids[0]->kind == RL_RUN_ONCE)
    return run_mask(r, p->kids[0]->mask, 0);
  while (!run_quiet_round(r, p, &o) && !o.ended)
    continue;
  return o;
}

static outcome
run_repeat(const rl_runner *r, const rl_plan *p) {
  outcome o = {EG_STOP_SATURATED, false, true};
  for (int64_t k = 0; k < p->times; k++)
    if (run_quiet_round(r, p, &o) || o.ended)
      break;
  return o;
}

static outcome
run(const rl_runner *r, const rl_plan *p) {
  switch (p->kind) {
  case RL_RUN_ONCE:
    return run_mask(r, p->mask, 1);
  case RL_RUN_SEQ:
    return run_round(r, p);
  case RL_RUN_REPEAT:
    return run_repeat(r, p);
  default:
    return run_saturate(r, p);
  }
}

eg_stop
rl_run_plan(const rl_runner *r, const rl_plan *p, bool *finished) {
  outcome o = run(r, p);
  *finished = !o.ended && o.stop == EG_STOP_ITERATIONS;
  return o.stop;
}
