/* SPDX-License-Identifier: MIT */
/* explain_check.c - steps replayed on their terms alone.
 *
 * The e-graph of a check holds just the terms of one step and its substitution,
 * so each class is one term, and what its lemmas say is equal.  The rule's own
 * pattern, condition and right side must then give the step. */
#include "rules/explain/explain.h"
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct checking {
  const gs_context *ctx;
  const rl_compiled *rule;
  const gs_program *p;
  const rl_link *link;
  rl_session *session;
  eg_graph *graph;
  rl_guard guard;
  uint32_t *slots;
  eg_class left, right;
  bool matched, applied, found;
} checking;

/* --- places --------------------------------------------------------------- */

static bool
same_but_for(const gs_program *p, gs_term a, gs_term b, uint32_t kid) {
  const gs_node *x = gs_at(p, a), *y = gs_at(p, b);
  if (x->op != y->op || !bs_same(x->attr, y->attr) || x->n_kids != y->n_kids ||
      kid >= x->n_kids)
    return false;
  for (uint32_t k = 0; k < x->n_kids; k++)
    if (k != kid && x->kids[k].i != y->kids[k].i)
      return false;
  return true;
}

static bool
is_in_place(const gs_program *p, const rl_link *l) {
  gs_term a = l->whole, b = l->next;
  for (uint32_t k = 0; k < l->n_path; k++) {
    if (!same_but_for(p, a, b, l->path[k]))
      return false;
    a = gs_at(p, a)->kids[l->path[k]];
    b = gs_at(p, b)->kids[l->path[k]];
  }
  return a.i == l->before.i && b.i == l->after.i;
}

/* --- the e-graph of a step ------------------------------------------------ */

static void
mark(uint8_t *wanted, gs_term t) {
  if (gs_term_ok(t))
    wanted[t.i] = 1;
}

static void
mark_all(checking *c, const rl_explanation *x, uint8_t *wanted) {
  const rl_link *l = c->link;
  mark(wanted, l->before);
  mark(wanted, l->after);
  mark(wanted, l->root);
  for (uint32_t s = 0; s < l->n_slots; s++)
    if (l->is_term[s] && l->slots[s] < c->p->nodes.len)
      wanted[l->slots[s]] = 1;
  for (uint32_t k = 0; k < l->n_lemmas; k++) {
    mark(wanted, x->lemmas[l->first_lemma + k].from);
    mark(wanted, x->lemmas[l->first_lemma + k].to);
  }
  for (uint32_t k = c->p->nodes.len; k-- > 0;) {
    const gs_node *n = &c->p->nodes.data[k];
    for (uint32_t j = 0; wanted[k] && j < n->n_kids; j++)
      wanted[n->kids[j].i] = 1;
  }
}

static void
add_terms(checking *c, const rl_explanation *x) {
  bs_heap *heap = c->ctx->heap;
  rl_session *s = c->session;
  uint32_t n = c->p->nodes.len;
  uint8_t *wanted = bs_calloc(heap, n + (size_t)1, 1);
  mark_all(c, x, wanted);
  s->class_of = bs_alloc(heap, (n + (size_t)1) * sizeof *s->class_of);
  for (uint32_t k = 0; k < n; k++) {
    const gs_node *node = &c->p->nodes.data[k];
    eg_class few[8], *kids = few;
    s->class_of[k] = EG_NO_CLASS;
    if (!wanted[k])
      continue;
    if (node->n_kids > 8)
      kids = bs_alloc(heap, node->n_kids * sizeof *kids);
    for (uint32_t i = 0; i < node->n_kids; i++)
      kids[i] = s->class_of[node->kids[i].i];
    s->class_of[k] = eg_add(c->graph, node->op, node->attr, kids, node->n_kids);
    if (kids != few)
      bs_free(heap, kids);
  }
  bs_free(heap, wanted);
}

static eg_class
class_of(const checking *c, gs_term t) {
  return gs_term_ok(t) ? eg_find(c->graph, c->session->class_of[t.i])
                       : EG_NO_CLASS;
}

static void
take_lemmas(checking *c, const rl_explanation *x) {
  for (uint32_t k = 0; k < c->link->n_lemmas; k++) {
    const rl_chain *lemma = &x->lemmas[c->link->first_lemma + k];
    eg_union(c->graph, class_of(c, lemma->from), class_of(c, lemma->to),
             (eg_reason){EG_BY_CLIENT, 0});
  }
  eg_rebuild(c->graph);
}

/* --- the rule ------------------------------------------------------------- */

/* The class of a right side, if the graph has it. */
static eg_class
right_class(const checking *c, const eg_term *t) {
  eg_class *made = bs_alloc(c->ctx->heap, t->n * sizeof *made);
  for (uint32_t k = 0; k < t->n; k++) {
    const eg_term_node *n = &t->nodes[k];
    eg_class kids[GS_MAX_NESTING];
    made[k] = EG_NO_CLASS;
    if (n->is_slot) {
      made[k] = eg_find(c->graph, (eg_class){c->slots[n->slot]});
    } else if (n->n_kids <= GS_MAX_NESTING) {
      for (uint32_t j = 0; j < n->n_kids; j++)
        kids[j] = made[n->kids[j]];
      bs_value attr = eg_attr_build(c->ctx->values, &n->attr, c->slots);
      made[k] = eg_lookup(c->graph, n->op, attr, kids, n->n_kids);
    }
  }
  eg_class out = made[t->n - 1];
  bs_free(c->ctx->heap, made);
  return out;
}

static void
compare(checking *c, eg_class root) {
  const rl_template *t = &c->rule->right[c->link->result];
  eg_class left = t->target == UINT32_MAX
                      ? root
                      : eg_find(c->graph, (eg_class){c->slots[t->target]});
  c->applied = true;
  c->found |= left.i == c->left.i && right_class(c, &t->term).i == c->right.i;
}

static bool
on_match(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  checking *c = ctx;
  const rl_condition *condition = c->rule->condition;
  (void)node;
  c->matched = true;
  memset(c->slots, 0xff, (c->rule->n_slots + (size_t)1) * sizeof *c->slots);
  memcpy(c->slots, slots, c->rule->n_bound * sizeof *slots);
  if (!condition)
    compare(c, root);
  for (uint32_t k = 0; condition && !c->found; k++) {
    eg_guard_result r = rl_guard_ask(&c->guard, c->graph, c->slots, k);
    if (r == EG_GUARD_EMIT)
      compare(c, root);
    if (r == EG_GUARD_END || !condition->n_for)
      break;
  }
  return !c->found;
}

static void
replay(checking *c) {
  const rl_link *l = c->link;
  c->left = class_of(c, l->forward ? l->before : l->after);
  c->right = class_of(c, l->forward ? l->after : l->before);
  c->slots =
      bs_calloc(c->ctx->heap, c->rule->n_slots + (size_t)1, sizeof *c->slots);
  if (c->rule->condition)
    rl_guard_init(&c->guard, c->ctx->heap, c->session, c->rule->condition,
                  c->rule);
  eg_search_class(c->graph, c->rule->pattern, class_of(c, l->root), on_match,
                  c);
  if (c->rule->condition)
    rl_guard_done(&c->guard, c->ctx->heap);
  bs_free(c->ctx->heap, c->slots);
}

static const char *
verdict(const checking *c) {
  return c->found     ? NULL
         : c->applied ? "the rule gives something else here"
         : c->matched ? "the condition of the rule does not hold here"
                      : "the left side of the rule does not match here";
}

const char *
rl_check_link(const gs_context *ctx, const rl_rules *rules,
              const rl_explanation *x, const rl_link *link) {
  checking c = {.ctx = ctx, .p = x->program, .link = link};
  eg_options options;
  if (!is_in_place(c.p, link))
    return "the step changes more than its place";
  if (!link->rule || !gs_term_ok(link->root))
    return "the step has no rule";
  c.rule = (const rl_compiled *)(const void *)link->rule;
  c.session = rl_session_new(ctx, rules->target, c.p);
  rl_session_options(c.session, &options);
  c.graph = eg_new(ctx->heap, ctx->values, &options);
  add_terms(&c, x);
  take_lemmas(&c, x);
  if (eg_fault(c.graph) == EG_FINE)
    replay(&c);
  eg_free(c.graph);
  rl_session_free(c.session);
  return verdict(&c);
}

const char *
rl_check_chain(const gs_context *ctx, const rl_rules *rules,
               const rl_explanation *x, const rl_chain *chain, uint32_t *step) {
  assert(chain->links || !chain->n);
  gs_term at = chain->from;
  for (*step = 0; *step < chain->n; ++*step) {
    const rl_link *l = &chain->links[*step];
    if (l->whole.i != at.i)
      return "the chain is broken";
    const char *wrong = rl_check_link(ctx, rules, x, l);
    if (wrong)
      return wrong;
    at = l->next;
  }
  return at.i == chain->to.i ? NULL : "the chain ends elsewhere";
}

const char *
rl_check_explanation(const gs_context *ctx, const rl_rules *rules,
                     const rl_explanation *x) {
  uint32_t step;
  const char *wrong = NULL;
  for (uint32_t k = 0; k < x->n_chains && !wrong; k++)
    wrong = rl_check_chain(ctx, rules, x, &x->chains[k], &step);
  for (uint32_t k = 0; k < x->n_lemmas && !wrong; k++)
    wrong = x->lemmas[k].found
                ? rl_check_chain(ctx, rules, x, &x->lemmas[k], &step)
                : "an equality that a step rests on has no chain";
  return wrong;
}
