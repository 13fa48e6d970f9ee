/* SPDX-License-Identifier: MIT */
/* phases.c - a strategy run: its phases one after the other, each within its
 * share of the limits.
 *
 * Half of what is free of a limit when a pass begins is shared out among all
 * phases, those that lower counting for several: a phase may use what it needs,
 * but leaves their shares to those behind it, and one that is cut off does not
 * end the strategy.  So what was found is lowered, whatever the limit.  Where
 * phases were cut off and room is left in the end, a further pass goes on from
 * the first of them. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <math.h>

enum {
  MOST_PASSES = 8,
  LEAST_ROOM = 16 /* a pass begins with a 16th of each limit free */
};

typedef struct runner {
  rl_run *run;
  const eg_run_options *limits;
  uint8_t *enabled;   /* scratch, by rule */
  uint64_t *quiet_at; /* by rule: what had been made when it had no more */
} runner;

/* How a step ended. */
typedef struct outcome {
  eg_stop stop;
  bool ended; /* at a limit: the phase stops */
  bool quiet; /* each step in it had nothing left to do */
} outcome;

static const outcome nothing_to_do = {EG_STOP_SATURATED, false, true};

/* --- steps ---------------------------------------------------------------- */

/* What the rules have made so far. */
static uint64_t
work(const runner *r) {
  const eg_rule_stats *stats = eg_runner_stats(r->run->runner);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < r->run->n_rules; k++)
    sum += stats[k].nodes + stats[k].unions;
  return sum;
}

static void
note_quiet(runner *r) {
  uint64_t made = work(r);
  for (uint32_t k = 0; k < r->run->n_rules; k++)
    if (r->enabled[k])
      r->quiet_at[k] = made;
}

static outcome
run_mask(runner *r, const uint8_t *mask, uint32_t iterations) {
  uint32_t before, after;
  for (uint32_t k = 0; k < r->run->n_rules; k++)
    r->enabled[k] = mask[k] && r->run->allowed[k];
  eg_runner_iterations(r->run->runner, &before);
  eg_stop stop = eg_run_some(r->run->runner, r->enabled, iterations);
  eg_runner_iterations(r->run->runner, &after);
  bool quiet = stop == EG_STOP_SATURATED;
  bool whole =
      stop == EG_STOP_ITERATIONS && iterations && after - before >= iterations;
  if (quiet)
    note_quiet(r);
  return (outcome){stop, !quiet && !whole, quiet};
}

static outcome run_plan(runner *, const rl_plan *);

/* The steps once, in order; the last one tells how it stopped. */
static outcome
run_round(runner *r, const rl_plan *p) {
  assert(p->n_kids);
  outcome o = nothing_to_do;
  bool quiet = true;
  for (uint32_t k = 0; k < p->n_kids && !o.ended; k++) {
    o = run_plan(r, p->kids[k]);
    quiet &= o.quiet;
  }
  o.quiet = quiet;
  return o;
}

/* A round that made nothing, and where no rule waits for a ban to end. */
static bool
run_quiet_round(runner *r, const rl_plan *p, outcome *o) {
  uint64_t before = work(r);
  *o = run_round(r, p);
  return o->quiet && work(r) == before;
}

/* A single set saturates inside the engine. */
static outcome
run_saturate(runner *r, const rl_plan *p) {
  outcome o;
  if (p->n_kids == 1 && p->kids[0]->kind == RL_RUN_ONCE)
    return run_mask(r, p->kids[0]->mask, 0);
  while (!run_quiet_round(r, p, &o) && !o.ended)
    continue;
  return o;
}

static outcome
run_repeat(runner *r, const rl_plan *p) {
  outcome o = nothing_to_do;
  for (int64_t k = 0; k < p->times; k++)
    if (run_quiet_round(r, p, &o) || o.ended)
      break;
  return o;
}

static outcome
run_plan(runner *r, const rl_plan *p) {
  switch (p->kind) {
  case RL_RUN_ONCE:
    return run_mask(r, p->mask, 1);
  case RL_RUN_SEQ:
    return run_round(r, p);
  case RL_RUN_REPEAT:
    return run_repeat(r, p);
  case RL_RUN_SATURATE:
  default:
    return run_saturate(r, p);
  }
}

/* --- shares --------------------------------------------------------------- */

/* What the limits are on. */
typedef struct used {
  uint32_t iterations, nodes;
  size_t bytes;
  double seconds;
} used;

static used
used_so_far(const runner *r) {
  const rl_run *run = r->run;
  used u = {.nodes = eg_count_nodes(run->graph),
            .bytes = run->heap->used,
            .seconds = eg_runner_seconds(run->runner)};
  eg_runner_iterations(run->runner, &u.iterations);
  return u;
}

/* How much of a limit a phase leaves, of what was free at the pass's begin:
 * `behind` of twice `weight` parts.  Phases that lower leave less, where they
 * cannot leave a fraction of an iteration. */
static double
level(double limit, double begin, double part, bool whole, bool lowers) {
  double keep = limit > begin ? (limit - begin) * part : 0;
  if (whole)
    keep = lowers ? floor(keep) : ceil(keep);
  return limit - keep;
}

/* The limits while phase `k` runs. */
static used
share(const runner *r, const used *begin, uint32_t k) {
  const rl_run *run = r->run;
  const eg_run_options *o = r->limits;
  uint32_t behind = 0, all = 0;
  for (uint32_t i = 0; i < run->n_phases; i++) {
    all += run->phases[i].weight;
    behind += i > k ? run->phases[i].weight : 0;
  }
  assert(all > 0);
  double part = 0.5 * behind / all;
  bool lowers = run->phases[k].lowers;
  return (used){
      (uint32_t)level(o->iterations, begin->iterations, part, true, lowers),
      (uint32_t)level(o->nodes, begin->nodes, part, true, lowers),
      (size_t)level((double)o->bytes, (double)begin->bytes, part, true, lowers),
      level(o->seconds, begin->seconds, part, false, lowers)};
}

/* The limit that leaves a phase nothing; EG_STOP_SATURATED: none. */
static eg_stop
exhausted(const runner *r, const used *now, const used *most) {
  const eg_run_options *o = r->limits;
  if (o->iterations && now->iterations >= most->iterations)
    return EG_STOP_ITERATIONS;
  if (o->nodes && now->nodes > most->nodes)
    return EG_STOP_NODES;
  if (o->bytes && now->bytes > most->bytes)
    return EG_STOP_BYTES;
  if (o->seconds > 0 && now->seconds >= most->seconds)
    return EG_STOP_TIME;
  return EG_STOP_SATURATED;
}

static bool
has_room(double limit, double now) {
  return !(limit > 0) || limit - now > limit / LEAST_ROOM;
}

static bool
has_room_for_pass(const runner *r) {
  const eg_run_options *o = r->limits;
  used now = used_so_far(r);
  return has_room(o->iterations, now.iterations) &&
         has_room(o->nodes, now.nodes) &&
         has_room((double)o->bytes, (double)now.bytes) &&
         has_room(o->seconds, now.seconds);
}

/* --- phases --------------------------------------------------------------- */

/* Nobody asked for less of these; they end everything. */
static bool
ends_all(eg_stop stop) {
  return stop == EG_STOP_INTERRUPT || stop == EG_STOP_CLIENT ||
         stop == EG_STOP_FAULT;
}

static eg_stop
run_phase(runner *r, const used *begin, uint32_t k) {
  assert(k < r->run->n_phases);
  rl_run *run = r->run;
  rl_phase *phase = &run->phases[k];
  used most = share(r, begin, k), now = used_so_far(r);
  uint32_t before = now.iterations;
  phase->cut = exhausted(r, &now, &most);
  if (phase->cut == EG_STOP_SATURATED) {
    eg_runner_limit(run->runner, most.iterations, most.nodes, most.bytes,
                    most.seconds);
    outcome o = run_plan(r, phase->plan);
    phase->ran = true;
    phase->cut = o.ended ? o.stop : EG_STOP_SATURATED;
  }
  now = used_so_far(r);
  phase->iterations += now.iterations - before;
  phase->nodes = now.nodes;
  return phase->cut;
}

static eg_stop
run_pass(runner *r, uint32_t first) {
  assert(first <= r->run->n_phases);
  used begin = used_so_far(r);
  eg_stop stop = EG_STOP_SATURATED;
  for (uint32_t k = first; k < r->run->n_phases && !ends_all(stop); k++)
    stop = run_phase(r, &begin, k);
  return stop;
}

/* The first phase that was cut off; n_phases: none. */
static uint32_t
first_cut(const rl_run *run) {
  uint32_t k = 0;
  while (k < run->n_phases && run->phases[k].cut == EG_STOP_SATURATED)
    k++;
  return k;
}

/* Ends where nothing is cut off, no room is left, or a pass made nothing. */
static eg_stop
run_passes(runner *r) {
  uint32_t first = 0;
  eg_stop stop = EG_STOP_SATURATED;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    uint64_t before = work(r);
    stop = run_pass(r, first);
    first = first_cut(r->run);
    if (ends_all(stop) || first == r->run->n_phases || work(r) == before ||
        !has_room_for_pass(r))
      break;
  }
  if (ends_all(stop) || first == r->run->n_phases)
    return stop;
  return r->run->phases[first].cut;
}

/* Has no allowed rule anything to add to the graph as it is now? */
static bool
is_saturated(const runner *r) {
  uint64_t made = work(r);
  for (uint32_t k = 0; k < r->run->n_rules; k++)
    if (r->run->allowed[k] && r->quiet_at[k] != made)
      return false;
  return true;
}

static void
count_rules(rl_run *run) {
  const eg_rule_stats *stats = eg_runner_stats(run->runner);
  for (uint32_t k = 0; k < run->n_rules; k++) {
    run->n_allowed += run->allowed[k];
    run->n_never_ran += run->allowed[k] && !stats[k].searches;
  }
}

void
rl_run_phases(rl_run *run, const eg_run_options *limits) {
  bs_heap *heap = run->heap;
  runner r = {.run = run, .limits = limits};
  r.enabled = bs_calloc(heap, run->n_rules + (size_t)1, 1);
  r.quiet_at = bs_alloc(heap, (run->n_rules + (size_t)1) * sizeof *r.quiet_at);
  for (uint32_t k = 0; k < run->n_rules; k++)
    r.quiet_at[k] = UINT64_MAX;
  run->stop =
      run->n_phases ? run_passes(&r) : run_mask(&r, run->allowed, 0).stop;
  if (run->stop == EG_STOP_SATURATED && !is_saturated(&r)) {
    run->stop = EG_STOP_ITERATIONS;
    run->finished = true;
  }
  count_rules(run);
  bs_free(heap, r.quiet_at);
  bs_free(heap, r.enabled);
}
