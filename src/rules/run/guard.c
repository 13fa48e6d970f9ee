/* SPDX-License-Identifier: MIT */
/* guard.c - conditions evaluated: one match, all its alternatives.
 *
 * The places in its loops (steps.c) live between the calls that the engine
 * makes for one match.  A match may take MAX_STEPS steps, all its alternatives
 * together; what comes later is left out, so that no condition can hold up a
 * run.  The slots of the match are kept here, since the engine shows them
 * afresh at each call. */
#include "rules/instr/fit.h"
#include <assert.h>
#include <string.h>

#define MAX_STEPS 100000

void
rl_guard_init(rl_guard *g, bs_heap *heap, rl_session *session,
              const rl_condition *c, const rl_compiled *rule) {
  *g = (rl_guard){.session = session, .condition = c, .rule = rule};
  g->slots = bs_calloc(heap, c->n_slots + 1u, sizeof *g->slots);
  rl_steps_init(&g->steps, heap, session->ctx.values, c, g->slots);
  uint32_t nodes = 1;
  for (uint32_t k = 0; rule && k < rule->rule.n_right; k++)
    if (rule->right[k].term.n > nodes)
      nodes = rule->right[k].term.n;
  g->types = bs_calloc(heap, nodes, sizeof *g->types);
}

void
rl_guard_done(rl_guard *g, bs_heap *heap) {
  bs_free(heap, g->slots);
  rl_steps_done(&g->steps, heap);
  bs_free(heap, g->made);
  bs_free(heap, g->types);
}

static bool
next_alternative(rl_guard *g, const gs_env *env, bool first) {
  uint32_t n = g->condition->n, k = first ? 0 : n;
  if (first)
    g->taken = 0;
  else if (!rl_steps_back(&g->steps, &k))
    return false;
  while (k < n) {
    if (++g->taken > MAX_STEPS)
      return false;
    if (rl_steps_take(&g->steps, env, k))
      k++;
    else if (!rl_steps_back(&g->steps, &k))
      return false;
  }
  return true;
}

/* --- limits of the language ----------------------------------------------- */

static bool
type_node(rl_guard *g, eg_graph *graph, const eg_term *term, uint32_t k,
          gs_fault *fault) {
  const eg_term_node *n = &term->nodes[k];
  assert(n->is_slot ? n->slot < g->condition->n_slots
                    : n->n_kids <= GS_MAX_NESTING);
  rl_session *s = g->session;
  const gs_type *kids[GS_MAX_NESTING];
  gs_type type;
  if (n->is_slot) {
    const rl_facts *f = rl_facts_of(graph, (eg_class){g->slots[n->slot]});
    g->types[k] = rl_type_of(s, f->type);
    return true;
  }
  if (n->n_kids > GS_MAX_NESTING)
    return false;
  for (uint32_t j = 0; j < n->n_kids; j++)
    kids[j] = g->types[n->kids[j]];
  bs_value attr = eg_attr_build(s->ctx.values, &n->attr, g->slots);
  if (!gs_infer(s->ctx.values, s->target, n->op, attr, kids, n->n_kids, &type,
                fault))
    return false;
  g->types[k] = rl_type_of(s, gs_type_intern(s->ctx.values, &type));
  return true;
}

/* False when a term would pass a limit.  Other faults are not looked for: the
 * e-graph finds them, and they are the rule's. */
static bool
within_limits(rl_guard *g, eg_graph *graph, const rl_template *right) {
  gs_fault fault = {0};
  for (uint32_t k = 0; k < right->term.n; k++)
    if (!type_node(g, graph, &right->term, k, &fault))
      return !fault.code || !rl_is_limit(&fault);
  return true;
}

static bool
all_within_limits(rl_guard *g, eg_graph *graph) {
  for (uint32_t k = 0; g->rule && k < g->rule->rule.n_right; k++)
    if (g->rule->right[k].may_grow &&
        !within_limits(g, graph, &g->rule->right[k]))
      return false;
  return true;
}

eg_guard_result
rl_guard_ask(void *guard, eg_graph *graph, uint32_t *slots,
             uint32_t alternative) {
  assert(((rl_guard *)guard)->condition);
  rl_guard *g = guard;
  size_t size = g->condition->n_slots * sizeof *slots;
  bool first = alternative == 0;
  if (g->rule && g->rule->fit)
    return fit_ask(g, graph, slots, alternative);
  if (first)
    memcpy(g->slots, slots, size);
  gs_env env = rl_env(g->session, graph, g->slots, g->condition->n_slots);
  do {
    if (!next_alternative(g, &env, first))
      return EG_GUARD_END;
    first = false;
  } while (!all_within_limits(g, graph));
  memcpy(slots, g->slots, size);
  return EG_GUARD_EMIT;
}
