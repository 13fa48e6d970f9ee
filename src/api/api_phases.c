/* SPDX-License-Identifier: MIT */
/* api_phases.c - what a run did, phase by phase: in the report, as JSON, and
 * the warning that a limit cut something off.
 *
 * "Saturated" is said where no rule that was allowed adds anything to the
 * e-graph as it is; after a strategy, how many rules never ran. */
#include "api/api.h"

#include <string.h>

enum { MOST_NAMES = 4 }; /* of phases, in a warning */

static const struct {
  eg_stop stop;
  const char *option;
} raised_by[] = {
    {EG_STOP_ITERATIONS, "--iter-limit"},
    {EG_STOP_NODES, "--node-limit"},
    {EG_STOP_BYTES, "--memory-limit"},
    {EG_STOP_TIME, "--time-limit"},
};

static const char *
option_of(eg_stop stop) {
  for (size_t k = 0; k < sizeof raised_by / sizeof *raised_by; k++)
    if (raised_by[k].stop == stop)
      return raised_by[k].option;
  return NULL;
}

static bool
used_up_matches(const rl_run *run) {
  const eg_rule_stats *stats = eg_runner_stats(run->runner);
  for (uint32_t k = 0; k < run->n_rules; k++) {
    uint64_t limit = run->engine_rules[k].match_limit;
    if (limit && stats[k].applied >= limit)
      return true;
  }
  return false;
}

void
api_note_stop(glen_result *r) {
  bool quiet = r->run.stop == EG_STOP_SATURATED || r->run.finished;
  r->limited = quiet && used_up_matches(&r->run);
  r->summary.stop = r->limited        ? "match limit"
                    : r->run.finished ? "strategy ended"
                                      : eg_stop_name(r->run.stop);
}

/* No rule that was allowed adds anything. */
static bool
is_saturated(const glen_result *r) {
  return r->run.stop == EG_STOP_SATURATED && !r->limited;
}

/* "tiles, pads" of the phases that ended at this limit, at most so many; how
 * many they are. */
static uint32_t
put_cut(const rl_run *run, eg_stop stop, uint32_t most, bs_text *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < run->n_phases; k++) {
    if (run->phases[k].cut != stop)
      continue;
    if (n < most)
      bs_putf(out, "%s%s", n ? ", " : "", run->phases[k].name);
    n++;
  }
  bs_put(out, n > most ? ", ..." : "");
  return n;
}

static void
warn_cut_regions(glen_result *r, const char *option) {
  const api_regions *regions = r->regions;
  bs_warning(&r->ctx->diags, BS_NOWHERE, "cut-off",
             "the %s cut off %u of %u different regions, so there may be a "
             "cheaper program: %s raises it",
             eg_stop_name(r->run.stop), regions->cut, regions->different,
             option);
}

void
api_warn_cut(glen_result *r) {
  bs_diags *d = &r->ctx->diags;
  const char *option = option_of(r->run.stop);
  bs_text cut;
  if (!option || r->run.finished)
    return;
  if (r->regions) {
    warn_cut_regions(r, option);
    return;
  }
  bs_text_init(&cut, &r->ctx->heap);
  uint32_t n = put_cut(&r->run, r->run.stop, MOST_NAMES, &cut);
  if (n)
    bs_warning(d, BS_NOWHERE, "cut-off",
               "the %s cut off %u of %u phases (%s), so there may be a "
               "cheaper program: %s raises it",
               eg_stop_name(r->run.stop), n, r->run.n_phases, bs_text_str(&cut),
               option);
  else
    bs_warning(d, BS_NOWHERE, "cut-off",
               "the %s cut off the rules, so there may be a cheaper program: "
               "%s raises it",
               eg_stop_name(r->run.stop), option);
  bs_text_done(&cut);
}

/* ---- in reports ---- */

void
api_put_phases(const glen_result *r, bs_text *text) {
  const rl_run *run = &r->run;
  const glen_summary *s = &r->summary;
  bs_putf(text, "; stop     %s: %u %s, %u %s, %u %s\n", s->stop,
          BS_COUNTED(s->iterations, "iteration"),
          BS_COUNTED(s->nodes, "e-node"),
          BS_COUNTED_AS(s->classes, "e-class", "e-classes"));
  if (r->regions)
    bs_putf(text, "; regions  %u, of which %u differ\n", r->regions->count,
            r->regions->different);
  if (run->n_never_ran)
    bs_putf(text, ";          %u of %u %s never ran\n", run->n_never_ran,
            BS_COUNTED(run->n_allowed, "rule"));
  for (size_t k = 0; k < sizeof raised_by / sizeof *raised_by; k++) {
    bs_text cut;
    bs_text_init(&cut, &r->ctx->heap);
    if (put_cut(run, raised_by[k].stop, UINT32_MAX, &cut))
      bs_putf(text, ";          %s cut off: %s\n",
              eg_stop_name(raised_by[k].stop), bs_text_str(&cut));
    bs_text_done(&cut);
  }
}

void
api_json_phases(const glen_result *r, bs_json *j) {
  const rl_run *run = &r->run;
  bs_json_bool(j, "saturated", is_saturated(r));
  if (r->regions) {
    bs_json_object(j, "regions");
    bs_json_int(j, "count", r->regions->count);
    bs_json_int(j, "different", r->regions->different);
    bs_json_int(j, "cut_off", r->regions->cut);
    bs_json_end(j);
  }
  bs_json_int(j, "rules_enabled", run->n_allowed);
  bs_json_int(j, "rules_never_ran", run->n_never_ran);
  bs_json_array(j, "phases");
  for (uint32_t k = 0; k < run->n_phases; k++) {
    const rl_phase *p = &run->phases[k];
    bs_json_object(j, NULL);
    bs_json_string(j, "name", p->name);
    bs_json_bool(j, "ran", p->ran);
    if (p->cut != EG_STOP_SATURATED)
      bs_json_string(j, "cut_off_by", eg_stop_name(p->cut));
    bs_json_int(j, "iterations", p->iterations);
    bs_json_int(j, "nodes", p->nodes);
    bs_json_end(j);
  }
  bs_json_end(j);
}

/* What the extraction is known to be, of what was explored alone. */
void
api_put_optimality(const glen_summary *s, bs_text *text) {
  double gap = s->cost_after - s->bound;
  bool tie = gap <= 1e-6 * s->cost_after;
  if (s->optimal)
    bs_put(text, ", proved optimal for this e-graph");
  else if (tie)
    bs_put(text, ", optimal for this e-graph up to ties");
  else if (s->bound > 0)
    bs_putf(text, ", at most %.2g %% above the optimum of this e-graph",
            100 * gap / s->bound);
}

/* --- a program as it was written ------------------------------------------ */

typedef struct pair {
  gs_term was, is;
} pair;

typedef struct comparison {
  const gs_program *was, *is;
  bs_heap *heap;
  uint32_t *met; /* by term of `was`: 1 + that of `is` */
  BS_VEC(pair) todo;
} comparison;

/* Terms that are equal are one in a program, so each has one counterpart. */
static bool
same_node(comparison *c, pair p) {
  const gs_node *x = gs_at(c->was, p.was), *y = gs_at(c->is, p.is);
  if (c->met[p.was.i])
    return c->met[p.was.i] == p.is.i + 1;
  c->met[p.was.i] = p.is.i + 1;
  if (x->op != y->op || x->n_kids != y->n_kids || !bs_same(x->attr, y->attr))
    return false;
  for (uint32_t k = 0; k < x->n_kids; k++)
    bs_push(c->heap, &c->todo, ((pair){x->kids[k], y->kids[k]}));
  return true;
}

static bool
same_program(bs_heap *heap, const gs_program *was, const gs_program *is) {
  comparison c = {.was = was, .is = is, .heap = heap};
  bool same = was->outputs.len == is->outputs.len;
  c.met = bs_calloc(heap, was->nodes.len + (size_t)1, sizeof *c.met);
  for (uint32_t k = 0; same && k < was->outputs.len; k++)
    bs_push(heap, &c.todo,
            ((pair){was->outputs.data[k].term, is->outputs.data[k].term}));
  while (same && c.todo.len)
    same = same_node(&c, bs_pop(&c.todo));
  bs_vec_done(heap, &c.todo);
  bs_free(heap, c.met);
  return same;
}

const char *
api_as_written(const glen_result *r) {
  const glen_summary *s = &r->summary;
  bool best = s->optimal || s->cost_after - s->bound <= 1e-6 * s->cost_after;
  if (!same_program(&r->ctx->heap, r->input, r->program.program))
    return "terms of the program were found equal; --stats says by which "
           "rules";
  return !best              ? "nothing cheaper was found"
         : !is_saturated(r) ? "nothing that was explored is cheaper"
                            : "the program was best as written";
}
