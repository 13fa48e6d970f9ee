/* SPDX-License-Identifier: MIT */
/* fate.c - what became of one rule in a run, from its statistics: what was
 * searched and applied is counted by the engine while it happens, so nothing is
 * inferred from what the rule would do to the e-graph at the end. */
#include "api/fate.h"

#include <string.h>

static uint32_t
index_of(const glen_result *r, const rl_rule *rule) {
  uint32_t k = 0;
  while (k < r->run.n_rules && rl_at(r->run.rules, k) != rule)
    k++;
  return k;
}

/* The first phase with the rule in it that a limit kept from running. */
static void
find_phase(const rl_run *run, uint32_t rule, api_fate *out) {
  for (uint32_t k = 0; k < run->n_phases && !out->phase; k++) {
    const rl_phase *p = &run->phases[k];
    if (p->cut == EG_STOP_SATURATED || !rl_phase_has(run, p, rule))
      continue;
    out->phase = p->name;
    out->cut = p->cut;
  }
}

static bool
is_used(const glen_result *r, const rl_rule *rule, uint32_t index) {
  for (uint32_t k = 0; k < r->n_used_rules; k++)
    if (r->used_rules[k] == rule)
      return true;
  return r->steps_of && r->steps_of[index];
}

/* By what is asked of floats, and by nobody's name for it. */
static bool
is_left_out(const glen_result *r, uint32_t rule) {
  return r->run.exact && rl_has_floats(r->input) &&
         !rl_is_exact(r->run.rules, rule);
}

static const char *
word_of(const glen_result *r, uint32_t rule, api_fate *f) {
  const rl_run *run = &r->run;
  const eg_rule_stats *s = &eg_runner_stats(run->runner)[rule];
  if (!run->allowed[rule])
    return is_left_out(r, rule) ? "inexact" : "disabled";
  if (!s->searches)
    return "never ran";
  if (!s->matches)
    return "never matched";
  if (!s->applied)
    return s->refused ? "condition false" : "limited";
  if (f->chosen)
    return "chosen";
  return s->nodes + s->unions ? "dearer" : "known";
}

void
api_fate_of(const glen_result *r, const rl_rule *rule, const rl_nearness *near,
            api_fate *out) {
  uint32_t k = index_of(r, rule);
  *out = (api_fate){.applying = near->applying,
                    .applied = eg_runner_stats(r->run.runner)[k].applied,
                    .cut = r->run.stop,
                    .chosen = is_used(r, rule, k)};
  find_phase(&r->run, k, out);
  out->word = word_of(r, k, out);
}

static void
put_never_ran(const glen_result *r, const api_fate *f, bs_text *out) {
  if (f->phase)
    bs_putf(out, "  it never ran: the %s cut off the phase %s\n",
            eg_stop_name(f->cut), f->phase);
  else if (r->run.n_phases)
    bs_put(out, "  it never ran: it is in no phase of the strategy\n");
  else
    bs_putf(out, "  it never ran: the %s was reached first\n",
            eg_stop_name(f->cut));
  if (f->applying)
    bs_putf(out, "  it would apply %llu %s to what was explored\n",
            BS_COUNTED((unsigned long long)f->applying, "time"));
}

static const struct {
  const char *word, *text;
} lines[] = {
    {"disabled", "  it was disabled\n"},
    {"inexact", "  it was left out: it may round floats in another way\n"},
    {"never matched", "  its pattern never matched\n"},
    {"condition false", "  it matched, but its condition never held\n"},
    {"limited", "  it matched, but a limit was reached before it was "
                "applied\n"},
};

/* "its rule applied 3 times". */
static void
put_applied(const glen_result *r, const api_fate *f, bs_text *out) {
  bool optimal = r->summary.optimal;
  bs_putf(out, "  its rule applied %llu %s; ",
          BS_COUNTED((unsigned long long)f->applied, "time"));
  if (f->chosen)
    bs_put(out, "it led to what was chosen\n");
  else if (!strcmp(f->word, "known"))
    bs_put(out, "everything that it says was already known without it\n");
  else if (optimal)
    bs_put(out, "what was chosen costs no more\n");
  else
    bs_put(out, "nothing cheaper with it was found\n");
}

void
api_put_fate(const glen_result *r, const api_fate *f, bs_text *out) {
  if (!strcmp(f->word, "never ran")) {
    put_never_ran(r, f, out);
    return;
  }
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
    if (!strcmp(lines[k].word, f->word)) {
      bs_put(out, lines[k].text);
      return;
    }
  put_applied(r, f, out);
}
