/* guard.c - conditions evaluated: one match, all its alternatives.
 *
 * The loops of a condition are an odometer: its state lives between the calls
 * that the engine makes for one match.  A match may take MAX_STEPS steps, all
 * its alternatives together; what comes later is left out, so that no condition
 * can hold up a run.  The slots of the match are kept here,
 * since the engine shows them afresh at each call. */
#include "rules/internal.h"
#include <string.h>

#define MAX_STEPS 100000

void
rl_guard_init(rl_guard *g, bs_heap *heap, rl_session *session,
              const rl_condition *c, const rl_compiled *rule) {
  *g = (rl_guard){.session = session, .condition = c, .rule = rule};
  g->slots = bs_calloc(heap, c->n_slots + 1u, sizeof *g->slots);
  g->items = bs_calloc(heap, c->n + 1u, sizeof *g->items);
  g->at = bs_calloc(heap, c->n + 1u, sizeof *g->at);
  uint32_t nodes = 1;
  for (uint32_t k = 0; rule && k < rule->rule.n_right; k++)
    if (rule->right[k].term.n > nodes)
      nodes = rule->right[k].term.n;
  g->types = bs_calloc(heap, nodes, sizeof *g->types);
}

void
rl_guard_done(rl_guard *g, bs_heap *heap) {
  bs_free(heap, g->slots);
  bs_free(heap, g->items);
  bs_free(heap, g->at);
  bs_free(heap, g->types);
}

/* --- one step ------------------------------------------------------------- */

static bool
are_ones(const bs_values *values, bs_value v) {
  uint32_t n = bs_kind_of(values, v) == BS_KIND_LIST ? bs_len(values, v) : 0;
  for (uint32_t k = 0; k < n; k++) {
    bs_value item = bs_item(values, v, k);
    if (bs_kind_of(values, item) != BS_KIND_INT || bs_as_int(values, item) != 1)
      return false;
  }
  return bs_kind_of(values, v) == BS_KIND_LIST;
}

/* The next item of a loop; false when there is none. */
static bool
advance(rl_guard *g, uint32_t k) {
  const bs_values *values = g->session->ctx.values;
  bs_value list = {g->items[k]};
  if (g->at[k] >= bs_len(values, list))
    return false;
  g->slots[g->condition->steps[k].slot] = bs_item(values, list, g->at[k]++).i;
  return true;
}

bool
rl_guard_take(rl_guard *g, const gs_env *env, uint32_t k) {
  const rl_step *s = &g->condition->steps[k];
  bs_value v;
  switch (s->kind) {
  case RL_TEST:
    return gs_expr_test(s->expr, env);
  case RL_ONES:
    return are_ones(env->values, (bs_value){g->slots[s->slot]});
  case RL_DEFINE:
    if (!gs_expr_eval(s->expr, env, &v))
      return false;
    break;
  case RL_ATTR:
    if (!gs_skeleton_attr(s->node, env, &v))
      return false;
    v = gs_canonical_attr(env->values, s->node->op, v);
    break;
  case RL_FOR:
    if (!gs_expr_eval(s->expr, env, &v))
      return false;
    g->items[k] = v.i;
    g->at[k] = 0;
    return advance(g, k);
  }
  g->slots[s->slot] = v.i;
  return true;
}

bool
rl_guard_back(rl_guard *g, uint32_t *k) {
  while ((*k)-- > 0)
    if (g->condition->steps[*k].kind == RL_FOR && advance(g, *k)) {
      (*k)++;
      return true;
    }
  return false;
}

static bool
next_alternative(rl_guard *g, const gs_env *env, bool first) {
  uint32_t n = g->condition->n, k = first ? 0 : n;
  if (first)
    g->steps = 0;
  else if (!rl_guard_back(g, &k))
    return false;
  while (k < n) {
    if (++g->steps > MAX_STEPS)
      return false;
    if (rl_guard_take(g, env, k))
      k++;
    else if (!rl_guard_back(g, &k))
      return false;
  }
  return true;
}

/* --- limits of the language ----------------------------------------------- */

static bool
type_node(rl_guard *g, eg_graph *graph, const eg_term *term, uint32_t k,
          gs_fault *fault) {
  const eg_term_node *n = &term->nodes[k];
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
  rl_guard *g = guard;
  size_t size = g->condition->n_slots * sizeof *slots;
  bool first = alternative == 0;
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
