/* SPDX-License-Identifier: MIT */
/* provenance.c - which rules led to a choice of nodes.
 *
 * The e-graph keeps, for each node, the rule that made it and the node its
 * match was rooted at.  What else was matched is found again: the rule's
 * pattern is searched in the class of that root, and a match over older nodes
 * whose right side has the node is taken for its cause. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct trail {
  const rl_run *run;
  uint8_t *seen_rule;
  BS_VEC(uint8_t) seen_node;
  BS_VEC(eg_node) todo;
  const rl_rule **out;
  uint32_t n, max;
} trail;

/* The search for the match that made a node. */
typedef struct cause {
  trail *t;
  eg_node node;
  const rl_compiled *rule;
  rl_guard *guard;
  uint32_t *slots;
  bool found;
} cause;

static bool
is_node(const eg_graph *g, eg_node node, uint32_t op, bs_value attr,
        const eg_class *kids, uint32_t n) {
  uint32_t own;
  if (eg_op(g, node) != op || !bs_same(eg_attr(g, node), attr))
    return false;
  const eg_class *have = eg_kids(g, node, &own);
  for (uint32_t k = 0; k < n && own == n; k++)
    if (eg_find(g, have[k]).i != eg_find(g, kids[k]).i)
      return false;
  return own == n;
}

/* The node itself; EG_NO_NODE when the graph has none like it. */
static eg_node
find_node(const eg_graph *g, uint32_t op, bs_value attr, const eg_class *kids,
          uint32_t n) {
  uint32_t count;
  eg_class c = eg_lookup(g, op, attr, kids, n);
  if (c.i == UINT32_MAX)
    return EG_NO_NODE;
  const eg_node *nodes = eg_class_nodes(g, c, &count);
  for (uint32_t k = 0; k < count; k++)
    if (is_node(g, nodes[k], op, attr, kids, n))
      return nodes[k];
  return EG_NO_NODE;
}

/* Calls f for each node that a term has under the slots; false when one is
 * not in the graph or f says so. */
static bool
each_node(cause *c, const eg_term *term, const uint32_t *slots,
          bool (*f)(cause *, eg_node)) {
  const eg_graph *g = c->t->run->graph;
  bs_heap *heap = c->t->run->heap;
  eg_class *made = bs_alloc(heap, term->n * sizeof *made);
  bool ok = true;
  for (uint32_t k = 0; k < term->n && ok; k++) {
    const eg_term_node *n = &term->nodes[k];
    eg_class kids[GS_MAX_NESTING];
    if (n->is_slot) {
      made[k] = (eg_class){slots[n->slot]};
      continue;
    }
    for (uint32_t j = 0; j < n->n_kids; j++)
      kids[j] = made[n->kids[j]];
    bs_value attr =
        eg_attr_build(c->t->run->session->ctx.values, &n->attr, slots);
    eg_node node = find_node(g, n->op, attr, kids, n->n_kids);
    ok = node.i != UINT32_MAX && f(c, node);
    if (ok)
      made[k] = eg_class_of(g, node);
  }
  bs_free(heap, made);
  return ok;
}

static bool
is_older(cause *c, eg_node node) {
  return node.i < c->node.i;
}

static bool
note(cause *c, eg_node node) {
  bs_push(c->t->run->heap, &c->t->todo, node);
  return true;
}

/* Stops (false) at the node that is looked for. */
static bool
is_another(cause *c, eg_node node) {
  c->found |= node.i == c->node.i;
  return !c->found;
}

static bool
makes_node(cause *c, const uint32_t *slots) {
  for (uint32_t k = 0; k < c->rule->rule.n_right && !c->found; k++)
    each_node(c, &c->rule->right[k].term, slots, is_another);
  return c->found;
}

/* Does the match, in any of its alternatives, make the node? */
static bool
match_makes_node(cause *c, const uint32_t *slots) {
  const rl_condition *condition = c->rule->condition;
  size_t bound = c->rule->n_bound * sizeof *slots;
  for (uint32_t k = 0; !c->found; k++) {
    memset(c->slots, 0xff, c->rule->n_slots * sizeof *c->slots);
    memcpy(c->slots, slots, bound);
    if (condition &&
        rl_guard_ask(c->guard, c->t->run->graph, c->slots, k) != EG_GUARD_EMIT)
      break;
    if (makes_node(c, c->slots) || !condition || !condition->n_for)
      break;
  }
  return c->found;
}

static bool
try_match(void *ctx, eg_class root, eg_node root_node, const uint32_t *slots) {
  cause *c = ctx;
  (void)root;
  (void)root_node;
  for (uint32_t k = 0; k < c->rule->n_parts; k++)
    if (!each_node(c, &c->rule->parts[k], slots, is_older))
      return true;
  if (!match_makes_node(c, slots))
    return true;
  for (uint32_t k = 0; k < c->rule->n_parts; k++)
    each_node(c, &c->rule->parts[k], slots, note);
  return false;
}

static eg_node
older_in(const eg_graph *g, eg_class c, eg_node than) {
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(g, eg_find(g, c), &n);
  return n && nodes[0].i < than.i ? nodes[0] : EG_NO_NODE;
}

/* A variable alone matches a class, not a node: the oldest node there was, of
 * the class itself or of what the node was built on. */
eg_node
rl_came_from(const eg_graph *g, eg_node node) {
  eg_origin o = eg_origin_of(g, node);
  uint32_t n;
  if (o.rule == EG_BY_CLIENT)
    return EG_NO_NODE;
  if (o.root.i != UINT32_MAX)
    return o.root.i < node.i ? o.root : EG_NO_NODE;
  const eg_class *kids = eg_kids(g, node, &n);
  eg_node from = older_in(g, eg_class_of(g, node), node);
  return from.i == UINT32_MAX && n ? older_in(g, kids[0], node) : from;
}

/* A right side that is a variable has no node of its own: what an instruction
 * means is looked for again for each match, and no match is known to have made
 * the node. */
static bool
can_make_nodes(const rl_compiled *rule) {
  for (uint32_t k = 0; k < rule->rule.n_right; k++)
    for (uint32_t i = 0; i < rule->right[k].term.n; i++)
      if (!rule->right[k].term.nodes[i].is_slot)
        return true;
  return false;
}

static void
push_cause(trail *t, eg_node node, uint32_t id) {
  assert(id < t->run->rules->compiled.len);
  const eg_graph *g = t->run->graph;
  const rl_compiled *rule = t->run->rules->compiled.data[id];
  cause c = {.t = t, .node = node, .rule = rule, .guard = &t->run->guards[id]};
  eg_node from = rl_came_from(g, node);
  if (from.i == UINT32_MAX)
    return;
  c.slots = bs_calloc(t->run->heap, rule->n_slots + (size_t)1, sizeof *c.slots);
  if (can_make_nodes(rule))
    eg_search_class(g, rule->pattern, eg_class_of(g, from), try_match, &c);
  bs_free(t->run->heap, c.slots);
  bs_push(t->run->heap, &t->todo, from);
}

static bool
first_visit(trail *t, eg_node node) {
  while (t->seen_node.len <= node.i)
    bs_push(t->run->heap, &t->seen_node, 0);
  bool first = !t->seen_node.data[node.i];
  t->seen_node.data[node.i] = 1;
  return first;
}

static void
follow(trail *t, eg_node node) {
  bs_push(t->run->heap, &t->todo, node);
  while (t->todo.len) {
    node = bs_pop(&t->todo);
    eg_origin o = eg_origin_of(t->run->graph, node);
    if (!first_visit(t, node) || o.rule >= t->run->n_rules)
      continue;
    if (!t->seen_rule[o.rule] && t->n < t->max)
      t->out[t->n++] = rl_at(t->run->rules, o.rule);
    t->seen_rule[o.rule] = 1;
    push_cause(t, node, o.rule);
  }
}

uint32_t
rl_rules_used(const rl_run *run, const eg_node *choice, const rl_rule **out,
              uint32_t max) {
  rl_walk w;
  trail t = {.run = run, .out = out, .max = max};
  bool ok = true;
  rl_walk_init(&w, run, choice);
  t.seen_rule = bs_calloc(run->heap, run->n_rules + (size_t)1, 1);
  for (uint32_t c; (c = rl_walk_next(&w, &ok)) != UINT32_MAX;)
    follow(&t, choice[c]);
  bs_free(run->heap, t.seen_rule);
  bs_vec_done(run->heap, &t.seen_node);
  bs_vec_done(run->heap, &t.todo);
  rl_walk_done(&w);
  return t.n;
}
