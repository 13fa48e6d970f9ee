/* SPDX-License-Identifier: MIT */
/* lint_growth.c - rules that feed themselves without end.
 *
 * A rule whose right side has the operator of its left may match what it made.
 * Whether it ends all the same -- because something becomes smaller, or is
 * there already -- is seen by running it alone on a few small terms that it
 * matches: what still grows after ROUNDS iterations is told.
 *
 * Most rules need no run: the terms that one makes of a term are finitely many
 * when they are no larger, and made of nothing but its own parts. */
#include "rules/lint/lint_internal.h"
#include "rules/test/test_sample.h"
#include <string.h>

enum {
  ROUNDS = 16,
  NODES = 800,
  PROGRAMS = 2,  /* on which a rule is run */
  ATTEMPTS = 12, /* at making one of them */
  ELEMENTS = 64, /* of a term */
  SHARED = 64,   /* nodes of a side that is weighed */
  MOST_TIMES = 1 << 16
};

typedef struct run_args {
  const rl_linter *l;
  const rl_rules *rules; /* with this rule alone */
  const rl_compiled *c;
  bs_heap heap;
  bs_arena arena;
  uint64_t state;
  bool fired, grows;
  uint32_t rounds, nodes;
} run_args;

/* Could the term's root be matched by the left side? */
static bool
may_match(const gs_skeleton *left, const gs_sk_node *n) {
  const gs_sk_node *root = &left->nodes[left->n - 1];
  if (n->hole)
    return false;
  if (root->hole)
    return true;
  if (root->op != n->op || root->n_attrs != n->n_attrs)
    return false;
  for (uint32_t k = 0; k < n->n_attrs; k++) {
    const gs_expr *a = root->attrs[k], *b = n->attrs[k];
    if (a && b && a->kind == GS_X_LITERAL && b->kind == GS_X_LITERAL &&
        !bs_same(a->literal, b->literal))
      return false;
  }
  return true;
}

static bool
may_feed(const rl_compiled *c, const gs_skeleton *left) {
  for (uint32_t k = 0; k < c->rule.n_right; k++) {
    const gs_skeleton *right = c->right[k].skeleton;
    for (uint32_t i = 0; i < right->n; i++)
      if (may_match(left, &right->nodes[i]))
        return true;
  }
  return false;
}

/* --- what is made of its own parts ---------------------------------------- */

/* How often each node stands in the term; nodes may be shared. */
typedef struct weights {
  uint32_t of[SHARED];
  uint32_t nodes; /* of those that are no variables */
} weights;

static bool
weigh(const gs_skeleton *s, weights *w) {
  memset(w, 0, sizeof *w);
  if (!s->n || s->n > SHARED)
    return false;
  w->of[s->n - 1] = 1;
  for (uint32_t k = s->n; k-- > 0;) {
    const gs_sk_node *n = &s->nodes[k];
    w->nodes += n->hole ? 0 : w->of[k];
    if (w->of[k] > MOST_TIMES)
      return false;
    for (uint32_t i = 0; !n->hole && i < n->n_kids; i++)
      w->of[n->kids[i]] += w->of[k];
  }
  return true;
}

static uint32_t
times(const gs_skeleton *s, const weights *w, uint32_t slot) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < s->n; k++)
    sum += s->nodes[k].hole && s->nodes[k].slot == slot ? w->of[k] : 0;
  return sum;
}

/* Is it written out, or a variable of the pattern?  Expressions nest no deeper
 * than GS_MAX_NESTING. */
static bool
is_own(const rl_compiled *c, const gs_expr *e) {
  if (!e || e->kind == GS_X_LITERAL)
    return true;
  if (e->kind == GS_X_VAR)
    return e->slot < c->n_bound;
  if (strcmp(gs_function_name(e->function), "list") != 0)
    return false;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!is_own(c, e->args[k]))
      return false;
  return true;
}

static bool
has_own_attributes(const rl_compiled *c, const gs_sk_node *n) {
  for (uint32_t k = 0; k < n->n_attrs; k++)
    if (!is_own(c, n->attrs[k]))
      return false;
  return true;
}

/* Is the right side no larger than the left one, and of its parts alone? */
static bool
is_bounded(const rl_compiled *c) {
  const gs_skeleton *left = c->rule.left, *right = c->rule.right[0];
  weights l, r;
  if (c->n_parts != 1 || c->rule.n_right != 1 || !weigh(left, &l) ||
      !weigh(right, &r) || r.nodes > l.nodes)
    return false;
  for (uint32_t k = 0; k < right->n; k++) {
    const gs_sk_node *n = &right->nodes[k];
    if (n->hole ? n->slot >= c->n_bound ||
                      times(right, &r, n->slot) > times(left, &l, n->slot)
                : !has_own_attributes(c, n))
      return false;
  }
  return true;
}

/* --- a run ---------------------------------------------------------------- */

/* A program whose output the rule matches. */
static bool
make_program(run_args *a, const gs_context *ctx, gs_program **out) {
  gs_term root;
  rl_sample s = {
      .ctx = ctx, .state = a->state, .dtype = GS_F32, .max_elements = ELEMENTS};
  s.p = *out = gs_program_new(ctx, a->rules->target);
  bool ok = rl_sample_left(&s, a->c, &root);
  a->state = rl_random(&s);
  if (ok)
    gs_add_output(s.p, "out", root, BS_NOWHERE);
  return ok;
}

static void
run_body(run_args *a, const gs_context *ctx, const gs_program *p) {
  rl_options o = {0};
  rl_run run;
  uint32_t n;
  eg_run_defaults(&o.run);
  o.run.iterations = ROUNDS;
  o.run.nodes = NODES;
  o.run.seconds = 0;
  if (rl_start(ctx, p, a->rules, &o, false, &run) &&
      rl_go(&run, &o, NULL, true)) {
    const eg_iteration *its = eg_runner_iterations(run.runner, &n);
    uint64_t applied = 0;
    for (uint32_t k = 0; k < n; k++)
      applied += its[k].applied;
    a->fired |= applied > 0;
    a->grows =
        run.stop == EG_STOP_NODES || (run.stop == EG_STOP_ITERATIONS && n > 1 &&
                                      its[n - 1].nodes > its[n - 2].nodes);
    a->rounds = n;
    a->nodes = eg_count_nodes(run.graph);
  }
  rl_run_done(&run);
}

static void
try_program(void *arg) {
  run_args *a = arg;
  bs_diags diags;
  bs_arena_init(&a->arena, &a->heap);
  bs_diags_init(&diags, &a->heap);
  gs_context ctx = {&a->heap, &a->arena, a->l->ctx->values, &diags};
  gs_program *p;
  if (make_program(a, &ctx, &p))
    run_body(a, &ctx, p);
}

/* On memory of its own, which is given back even when there is no more. */
static void
run_once(run_args *a) {
  bs_heap_init_child(&a->heap, a->l->ctx->heap, 0);
  a->fired = a->grows = false;
  bool whole = bs_protect(&a->heap, try_program, a);
  bs_heap_done(&a->heap);
  if (!whole)
    bs_out_of_memory(a->l->ctx->heap);
}

/* One rule, and on demand those that only make smaller. */
typedef struct few_rules {
  rl_rules rules;
  BS_VEC(rl_compiled *) list;
  uint32_t alone; /* how many of the list are the rule itself */
} few_rules;

static void
take_alone(const rl_linter *l, const rl_rules *all, rl_compiled *c,
           rl_compiled *back, few_rules *out) {
  bs_heap *heap = l->ctx->heap;
  *out = (few_rules){.rules = *all, .alone = back ? 2 : 1};
  bs_push(heap, &out->list, c);
  if (back)
    bs_push(heap, &out->list, back);
  out->rules.compiled.data = out->list.data;
  out->rules.compiled.len = out->alone;
}

static void
add_cleanup(const rl_linter *l, few_rules *out) {
  for (uint32_t k = 0; k < l->list.len; k++)
    for (int way = 0; way < 2; way++) {
      rl_compiled *other = l->list.data[k].compiled[way];
      if (other && other->rule.kind == RL_CLEANUP &&
          other != out->list.data[0] &&
          (out->alone < 2 || other != out->list.data[1]))
        bs_push(l->ctx->heap, &out->list, other);
    }
  out->rules.compiled.data = out->list.data;
}

static bool
grows(const rl_linter *l, const rl_rules *all, rl_compiled *c,
      rl_compiled *back, run_args *out) {
  few_rules few;
  bool is = false;
  take_alone(l, all, c, back, &few);
  *out = (run_args){.l = l, .rules = &few.rules, .c = c, .state = 1};
  for (uint32_t k = 0, fired = 0; k < ATTEMPTS && fired < PROGRAMS; k++) {
    uint64_t state = out->state;
    few.rules.compiled.len = few.alone;
    run_once(out);
    fired += out->fired;
    if (!out->grows)
      continue;
    if (few.list.len == few.alone)
      add_cleanup(l, &few);
    few.rules.compiled.len = few.list.len;
    out->state = state;
    run_once(out);
    is = out->grows;
    if (is)
      break;
  }
  bs_vec_done(l->ctx->heap, &few.list);
  return is;
}

static void
report(const rl_linter *l, const rl_written *w, const run_args *a) {
  bs_diags *d = l->ctx->diags;
  bs_warning(d, w->form->span, "feeds-itself",
             "'%s' still grows after %u iterations on small shapes (%u "
             "e-nodes), with no rules other than cleanup",
             w->form->name, a->rounds, a->nodes);
  bs_hint(d, "a rule that matches what it makes needs a condition that ends "
             "it, for example a size above a parameter");
}

static void
check_rule(const rl_linter *l, const rl_written *w) {
  run_args a;
  for (int k = 0; k < RL_VARIANTS; k++) {
    rl_compiled *c = rl_variant_of(l, w, k, 0);
    rl_compiled *back = rl_variant_of(l, w, k, 1);
    if (!c || !(may_feed(c, c->rule.left) ||
                (back && may_feed(back, back->rule.left))))
      continue;
    if (is_bounded(c) && (!back || is_bounded(back)))
      continue;
    if (grows(l, l->variants[k], c, back, &a)) {
      report(l, w, &a);
      return;
    }
  }
}

void
rl_lint_growth(rl_linter *l) {
  for (uint32_t k = 0; k < l->list.len; k++)
    if (!l->list.data[k].has_limit)
      check_rule(l, &l->list.data[k]);
}
