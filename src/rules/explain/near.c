/* SPDX-License-Identifier: MIT */
/* near.c - the nearest misses of a rule.
 *
 * Where the whole pattern matches, the condition is run without stopping at a
 * test that fails: all that fail are told, of the alternative with the fewest.
 * Where it matches nowhere, each class is scored for each node of the pattern,
 * from the leaves up: a point for the operator, one for the attribute, and
 * those of the children; the class with the most is walked down to the first
 * part that is missing.  Variables that occur twice are not compared there. */
#include "rules/explain/near.h"
#include "rules/rule/rule_internal.h"
#include "rules/explain/near_text.h"
#include <assert.h>
#include <string.h>

enum {
  MOST_MATCHES = 20000,
  MOST_ALTERNATIVES = 2000,
  TEXT_BUDGET = 24,
  MOST_TEXT = 160
};

typedef struct nearing {
  const gs_context *ctx;
  const rl_run *run;
  const rl_compiled *rule;
  rl_guard guard;
  uint32_t *slots;
  const uint8_t *within; /* by class; NULL: all */
  uint32_t max;
  rl_nearness *out;
  eg_node *smallest;
  uint32_t n_classes;
  gs_term *term_of; /* by class: the largest term of the program in it */
} nearing;

/* --- classes in words ----------------------------------------------------- */

static void
find_terms(nearing *n) {
  const rl_session *s = n->run->session;
  bs_heap *heap = n->ctx->heap;
  n->smallest = rl_smallest(heap, n->run->graph, &n->n_classes);
  n->term_of = bs_alloc(heap, (n->n_classes + (size_t)1) * sizeof *n->term_of);
  for (uint32_t c = 0; c <= n->n_classes; c++)
    n->term_of[c] = GS_NO_TERM;
  for (uint32_t k = 0; k < s->program->nodes.len; k++)
    if (s->class_of[k].i != UINT32_MAX) {
      eg_class c = eg_find(n->run->graph, s->class_of[k]);
      if (c.i < n->n_classes)
        n->term_of[c.i] = (gs_term){k};
    }
}

static gs_term
term_at(const nearing *n, eg_class c) {
  return c.i < n->n_classes ? n->term_of[c.i] : GS_NO_TERM;
}

static void
set_place(const nearing *n, rl_near *miss) {
  gs_term t = term_at(n, miss->at);
  miss->given = gs_term_ok(t);
  miss->span =
      miss->given ? gs_at(n->run->session->program, t)->span : BS_NOWHERE;
}

/* Too much of a term is no help. */
static const char *
in_brief(const nearing *n, const bs_text *text) {
  if (text->len <= MOST_TEXT)
    return bs_arena_strdup(n->ctx->arena, text->len ? text->data : "");
  return bs_arena_printf(n->ctx->arena, "%.*s ...", MOST_TEXT, text->data);
}

static const char *
class_text(const nearing *n, eg_class c) {
  bs_text text;
  bs_text_init(&text, n->ctx->heap);
  gs_term t = term_at(n, c);
  if (gs_term_ok(t))
    gs_print_term(n->run->session->program, t, &text);
  else
    rl_put_class(&text, n->ctx, n->run->graph, c, n->smallest, n->n_classes,
                 TEXT_BUDGET);
  const char *out = in_brief(n, &text);
  bs_text_done(&text);
  return out;
}

/* --- the list ------------------------------------------------------------- */

/* Fewer missing parts, then fewer conditions that nothing can be done about,
 * then fewer conditions, then a term of the program. */
static bool
is_nearer(const rl_near *a, const rl_near *b) {
  uint32_t x = a->total - a->matched, y = b->total - b->matched;
  if (x != y)
    return x < y;
  x = a->n_needs - a->n_hints;
  y = b->n_needs - b->n_hints;
  if (x != y)
    return x < y;
  if (a->n_needs != b->n_needs)
    return a->n_needs < b->n_needs;
  return a->given && !b->given;
}

/* Two misses for the same reasons are told once. */
static bool
says_same(const rl_near *a, const rl_near *b) {
  if (a->n_needs != b->n_needs ||
      a->total - a->matched != b->total - b->matched)
    return false;
  for (uint32_t k = 0; k < a->n_needs; k++)
    if (strcmp(a->needs[k].wanted, b->needs[k].wanted) ||
        strcmp(a->needs[k].have, b->needs[k].have))
      return false;
  return a->n_needs > 0;
}

static void
keep(nearing *n, const rl_near *miss) {
  rl_nearness *out = n->out;
  for (uint32_t k = 0; k < out->n; k++)
    if (says_same(&out->list[k], miss)) {
      if (is_nearer(miss, &out->list[k]))
        out->list[k] = *miss;
      return;
    }
  uint32_t at = out->n;
  while (at > 0 && is_nearer(miss, &out->list[at - 1]))
    at--;
  if (at == n->max)
    return;
  uint32_t last = out->n < n->max ? out->n++ : n->max - 1;
  memmove(&out->list[at + 1], &out->list[at], (last - at) * sizeof *out->list);
  out->list[at] = *miss;
}

/* --- conditions ----------------------------------------------------------- */

static uint32_t
count_nodes(const eg_term *t) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->n; k++)
    n += t->nodes[k].is_slot ? 0 : 2;
  return n;
}

/* Runs one alternative from step *k on and notes what fails.  What is not even
 * defined ends it. */
static void
run_steps(nearing *n, const gs_env *env, uint32_t *k, uint32_t *failed,
          uint32_t *n_failed) {
  const rl_condition *c = n->rule->condition;
  for (; *k < c->n; ++*k) {
    if (rl_steps_take(&n->guard.steps, env, *k))
      continue;
    if (*n_failed < RL_NEEDS)
      failed[*n_failed] = *k;
    ++*n_failed;
    if (c->steps[*k].kind != RL_TEST && c->steps[*k].kind != RL_ONES) {
      *n_failed += c->n - *k;
      return;
    }
  }
}

typedef struct tried {
  uint32_t failed[RL_NEEDS], n_failed;
} tried;

/* The alternative of a match with the fewest failures; its slots are left in
 * n->slots. */
static tried
try_condition(nearing *n, const uint32_t *slots) {
  const rl_condition *c = n->rule->condition;
  rl_guard *g = &n->guard;
  size_t size = c->n_slots * sizeof *slots;
  tried best = {.n_failed = UINT32_MAX};
  memset(g->slots, 0xff, size);
  memcpy(g->slots, slots, n->rule->n_bound * sizeof *slots);
  gs_env env = rl_env(n->run->session, n->run->graph, g->slots, c->n_slots);
  uint32_t k = 0;
  for (uint32_t i = 0; i < MOST_ALTERNATIVES && best.n_failed; i++) {
    tried t = {.n_failed = 0};
    run_steps(n, &env, &k, t.failed, &t.n_failed);
    if (t.n_failed < best.n_failed) {
      best = t;
      memcpy(n->slots, g->slots, size);
    }
    k = k < c->n ? k : c->n;
    if (!rl_steps_back(&g->steps, &k))
      break;
  }
  return best;
}

/* The instruction that the rule was derived from, or NULL. */
static const gs_instr *
instr_of(const nearing *n) {
  const char *name = n->rule->rule.name;
  const gs_target *t = n->run->rules->target;
  size_t len = strcspn(name, ".");
  return t ? gs_find_instr(
                 t, bs_arena_printf(n->ctx->arena, "%.*s", (int)len, name))
           : NULL;
}

static void
tell_needs(nearing *n, const tried *t, rl_near *miss) {
  const rl_condition *c = n->rule->condition;
  gs_env env = rl_env(n->run->session, n->run->graph, n->slots, c->n_slots);
  for (uint32_t k = 0; k < t->n_failed && miss->n_needs < RL_NEEDS; k++) {
    const rl_step *s = &c->steps[t->failed[k]];
    rl_need *need = &miss->needs[miss->n_needs];
    if (rl_tell_need(n->ctx, &n->rule->rule.scope, instr_of(n), &env, s,
                     need)) {
      miss->n_needs++;
      miss->n_hints += need->hint != NULL;
    }
    if (s->kind != RL_TEST && s->kind != RL_ONES)
      return;
  }
}

/* Is the class one that misses are looked for in? */
static bool
is_asked(const nearing *n, eg_class c) {
  return !n->within || n->within[c.i];
}

static bool
on_match(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  nearing *n = ctx;
  if (!is_asked(n, eg_find(n->run->graph, root)))
    return true;
  uint32_t total = count_nodes(&n->rule->parts[0]);
  rl_near miss = {.rule = &n->rule->rule,
                  .at = eg_find(n->run->graph, root),
                  .matched = total,
                  .total = total};
  (void)node;
  tried t = {.n_failed = 0};
  if (n->rule->condition) {
    miss.n_steps = n->rule->condition->n;
    t = try_condition(n, slots);
  }
  n->out->matches++;
  n->out->applying += !t.n_failed;
  set_place(n, &miss);
  miss.applies = !t.n_failed;
  if (t.n_failed)
    tell_needs(n, &t, &miss);
  if (t.n_failed ? miss.n_needs > 0 : n->out->applying == 1) {
    miss.text = class_text(n, miss.at);
    keep(n, &miss);
  }
  return n->out->matches < MOST_MATCHES;
}

/* --- patterns ------------------------------------------------------------- */

/* Is the value one that the pattern takes, variables aside? */
static bool
attr_fits(const bs_values *values, const eg_attr_pattern *a, bs_value v) {
  if (a->kind == EG_ATTR_VALUE)
    return bs_same(a->value, v);
  if (a->kind != EG_ATTR_LIST)
    return true;
  if (bs_kind_of(values, v) != BS_KIND_LIST || bs_len(values, v) != a->n)
    return false;
  /* Lists nest no deeper than the rule's text. */
  for (uint32_t k = 0; k < a->n; k++)
    if (!attr_fits(values, &a->items[k], bs_item(values, v, k)))
      return false;
  return true;
}

typedef struct scores {
  const nearing *n;
  const eg_term *t;
  uint16_t *of; /* node of the pattern x class */
} scores;

static uint16_t *
score_at(const scores *s, uint32_t node, eg_class c) {
  return &s->of[(size_t)node * s->n->n_classes + c.i];
}

/* What a node of the e-graph gives to a node of the pattern. */
static uint16_t
score_node(const scores *s, uint32_t at, eg_node node) {
  const eg_graph *g = s->n->run->graph;
  const eg_term_node *p = &s->t->nodes[at];
  uint32_t arity;
  const eg_class *kids = eg_kids(g, node, &arity);
  if (eg_op(g, node) != p->op || arity != p->n_kids)
    return 0;
  uint32_t score = 1 + attr_fits(s->n->ctx->values, &p->attr, eg_attr(g, node));
  for (uint32_t k = 0; k < arity; k++)
    score += *score_at(s, p->kids[k], eg_find(g, kids[k]));
  return (uint16_t)(score > UINT16_MAX ? UINT16_MAX : score);
}

static eg_node
best_node(const scores *s, uint32_t at, eg_class c) {
  uint32_t n, best = 0;
  const eg_node *nodes = eg_class_nodes(s->n->run->graph, c, &n);
  eg_node out = EG_NO_NODE;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t score = score_node(s, at, nodes[k]);
    if (score <= best)
      continue;
    best = score;
    out = nodes[k];
  }
  return out;
}

static void
score_all(scores *s) {
  const eg_graph *g = s->n->run->graph;
  for (uint32_t at = 0; at < s->t->n; at++) {
    if (s->t->nodes[at].is_slot)
      continue;
    for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
         c = eg_next_class(g, c)) {
      eg_node node = best_node(s, at, c);
      if (node.i != UINT32_MAX)
        *score_at(s, at, c) = score_node(s, at, node);
    }
  }
}

static const char *
pattern_text(const nearing *n, uint32_t at) {
  const gs_skeleton *left = n->rule->rule.left;
  const gs_skeleton part = {left->nodes, at + 1};
  bs_text text;
  bs_text_init(&text, n->ctx->heap);
  gs_put_skeleton(&text, n->ctx->values, &n->rule->rule.scope, &part);
  const char *out = bs_arena_strdup(n->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* The first part that is missing, from the root down. */
static void
tell_missing(const scores *s, rl_near *miss) {
  const nearing *n = s->n;
  const eg_graph *g = n->run->graph;
  BS_VEC(uint32_t) nodes = {0};
  BS_VEC(eg_class) classes = {0};
  bs_push(n->ctx->heap, &nodes, s->t->n - 1);
  bs_push(n->ctx->heap, &classes, miss->at);
  while (nodes.len && !miss->expected) {
    uint32_t at = bs_pop(&nodes), arity;
    eg_class c = bs_pop(&classes);
    const eg_term_node *p = &s->t->nodes[at];
    if (p->is_slot)
      continue;
    eg_node node = best_node(s, at, c);
    if (node.i == UINT32_MAX ||
        !attr_fits(n->ctx->values, &p->attr, eg_attr(g, node))) {
      miss->expected = pattern_text(n, at);
      miss->found = class_text(n, c);
      break;
    }
    const eg_class *kids = eg_kids(g, node, &arity);
    for (uint32_t k = arity; k-- > 0;) {
      bs_push(n->ctx->heap, &nodes, p->kids[k]);
      bs_push(n->ctx->heap, &classes, eg_find(g, kids[k]));
    }
  }
  bs_vec_done(n->ctx->heap, &nodes);
  bs_vec_done(n->ctx->heap, &classes);
}

static void
match_in_part(nearing *n) {
  const eg_graph *g = n->run->graph;
  scores s = {.n = n, .t = &n->rule->parts[0]};
  uint32_t total = count_nodes(s.t), root = s.t->n - 1;
  s.of =
      bs_calloc(n->ctx->heap, (size_t)s.t->n * n->n_classes + 1, sizeof *s.of);
  score_all(&s);
  rl_near best = {.at = EG_NO_CLASS};
  for (eg_class c = eg_first_class(g);
       c.i != UINT32_MAX && !s.t->nodes[root].is_slot;
       c = eg_next_class(g, c)) {
    rl_near miss = {.rule = &n->rule->rule,
                    .at = c,
                    .matched = *score_at(&s, root, c),
                    .total = total};
    set_place(n, &miss);
    if (miss.matched && is_asked(n, c) &&
        (best.at.i == UINT32_MAX || is_nearer(&miss, &best)))
      best = miss;
  }
  if (best.at.i != UINT32_MAX) {
    best.text = class_text(n, best.at);
    tell_missing(&s, &best);
    keep(n, &best);
  }
  bs_free(n->ctx->heap, s.of);
}

/* --- from outside --------------------------------------------------------- */

void
rl_nearest(const gs_context *ctx, const rl_run *run, const rl_rule *rule,
           uint32_t max, rl_nearness *out) {
  rl_nearest_within(ctx, run, rule, NULL, max, out);
}

void
rl_nearest_within(const gs_context *ctx, const rl_run *run, const rl_rule *rule,
                  const uint8_t *within, uint32_t max, rl_nearness *out) {
  nearing n = {.ctx = ctx,
               .within = within,
               .run = run,
               .rule = (const rl_compiled *)(const void *)rule,
               .max = max,
               .out = out};
  bs_heap *heap = ctx->heap;
  *out = (rl_nearness){.list = BS_NEWS(ctx->arena, rl_near, max + (size_t)1)};
  find_terms(&n);
  n.slots = bs_calloc(heap, n.rule->n_slots + (size_t)1, sizeof *n.slots);
  if (n.rule->condition)
    rl_guard_init(&n.guard, heap, run->session, n.rule->condition, n.rule);
  eg_search(run->graph, n.rule->pattern, on_match, &n);
  if (!out->matches && max)
    match_in_part(&n);
  if (n.rule->condition)
    rl_guard_done(&n.guard, heap);
  bs_free(heap, n.slots);
  bs_free(heap, n.smallest);
  bs_free(heap, n.term_of);
}

static bool
calls(const rl_rules *rules, const rl_rule *rule, const char *name) {
  const bs_values *values = rules->ctx.values;
  for (uint32_t r = 0; r < rule->n_right; r++)
    for (uint32_t k = 0; k < rule->right[r]->n; k++) {
      const gs_sk_node *n = &rule->right[r]->nodes[k];
      if (!n->hole && n->op == GS_CALL && n->n_attrs && n->attrs[0] &&
          n->attrs[0]->kind == GS_X_LITERAL &&
          !strcmp(bs_as_sym(values, n->attrs[0]->literal), name))
        return true;
    }
  return false;
}

uint32_t
rl_rules_for(const rl_rules *rules, const char *name, const rl_rule **out,
             uint32_t max) {
  assert(out || !max);
  uint32_t n = 0;
  for (uint32_t k = 0; k < rules->compiled.len && n < max; k++) {
    const rl_rule *rule = rl_at(rules, k);
    if (!strcmp(rule->name, name) || calls(rules, rule, name))
      out[n++] = rule;
  }
  return n;
}
