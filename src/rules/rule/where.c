/* SPDX-License-Identifier: MIT */
/* where.c - the clauses :where and :for, put into the order they are run in.
 *
 * A conjunct becomes a step as soon as its variables are bound: a definition
 * when it is (= ?new EXPR), else a test.  Only when none can, the next :for
 * begins.  So tests stand before the loops that they do not need.  The outcome
 * does not depend on the order, since all conjuncts must hold; the author's
 * order is checked all the same, for the reader's sake, but not in the reverse
 * direction of a rule, which he did not write. */
#include "rules/rule/rule_internal.h"
#include <string.h>

static const bs_sx *
at(const rl_clauses *c, uint32_t node) {
  return rl_sx(c->file, node);
}

static bs_diags *
diags(const rl_clauses *c) {
  return c->ctx->diags;
}

bool
rl_is_variable(const char *name) {
  return name && name[0] == '?' && name[1];
}

static const char *
variable_at(const rl_rules *rules, const rl_file *f, uint32_t node) {
  const char *name = node ? rl_symbol(rules, f, node) : NULL;
  return rl_is_variable(name) ? name : NULL;
}

/* --- what is bound -------------------------------------------------------- */

bool
rl_is_bound(const gs_scope *scope, const char *name) {
  for (uint32_t k = 0; k < scope->n_lets; k++)
    if (!strcmp(scope->lets[k].name, name))
      return true;
  return gs_scope_find(scope, name) >= 0;
}

static void
unbound(const rl_rules *rules, const gs_scope *scope, bs_span span,
        const char *name, const char *where) {
  const gs_context *ctx = &rules->ctx;
  const char **names = BS_NEWS(ctx->arena, const char *, scope->vars.len + 1);
  for (uint32_t k = 0; k < scope->vars.len; k++)
    names[k] = scope->vars.data[k].name;
  /* Names of one letter are all near each other. */
  const char *near =
      name[2] ? bs_nearest(name + 1, names, scope->vars.len) : NULL;
  bs_error(ctx->diags, span, "unbound-variable",
           "%s uses '%s', which nothing binds", where, name);
  if (!strcmp(name, "?_"))
    bs_hint(ctx->diags, "?_ is a new variable each time; give it a name");
  else if (near)
    bs_meant(ctx->diags, "'", bs_arena_printf(ctx->arena, "?%s", near));
  else
    bs_hint(ctx->diags,
            "bind it on the left side, by :for, or by (= %s ...) in :where",
            name);
}

bool
rl_check_bound(const rl_rules *rules, const rl_file *f, const gs_scope *scope,
               uint32_t node, const char *where) {
  uint32_t end = rl_end(f, node);
  bool ok = true;
  for (; node < end; node++) {
    const char *name = variable_at(rules, f, node);
    if (name && !rl_is_bound(scope, name)) {
      unbound(rules, scope, rl_sx(f, node)->span, name, where);
      ok = false;
    }
  }
  return ok;
}

static bool
all_bound(const rl_clauses *c, uint32_t node) {
  uint32_t end = rl_end(c->file, node);
  for (; node < end; node++) {
    const char *name = variable_at(c->rules, c->file, node);
    if (name && !rl_is_bound(c->scope, name))
      return false;
  }
  return true;
}

/* --- definitions ---------------------------------------------------------- */

typedef struct definition {
  uint32_t target, expr; /* nodes; target 0: it is none */
} definition;

/* (= A B), or none */
static definition
equation(const rl_clauses *c, uint32_t node) {
  const char *head = bs_sx_head(&c->file->sx, c->ctx->values, node);
  definition d = {0, 0};
  if (!head || strcmp(head, "=") || at(c, node)->count != 3)
    return d;
  d.target = bs_sx_item(&c->file->sx, node, 1);
  d.expr = bs_sx_item(&c->file->sx, node, 2);
  return d;
}

static bool
is_loop_variable(const rl_clauses *c, const char *name) {
  for (uint32_t k = 0; k < c->fors.len; k++) {
    uint32_t v = bs_sx_first(&c->file->sx, c->fors.data[k]);
    if (v && !strcmp(variable_at(c->rules, c->file, v), name))
      return true;
  }
  return false;
}

static bool
is_target(const rl_clauses *c, uint32_t node) {
  const char *name = variable_at(c->rules, c->file, node);
  return name && strcmp(name, "?_") && !rl_is_bound(c->scope, name) &&
         !is_loop_variable(c, name);
}

/* The definition that a conjunct makes under what is bound now. */
static definition
definition_of(const rl_clauses *c, uint32_t node) {
  definition d = equation(c, node), swapped = {d.expr, d.target};
  if (d.target && is_target(c, d.target) && all_bound(c, d.expr))
    return d;
  if (d.target && is_target(c, swapped.target) && all_bound(c, swapped.expr))
    return swapped;
  return (definition){0, 0};
}

/* --- the author's order --------------------------------------------------- */

static bool
defined_later(const rl_clauses *c, uint32_t conjunct, const char *name) {
  for (uint32_t k = conjunct + 1; k < c->conjuncts.len; k++) {
    definition d = equation(c, c->conjuncts.data[k]);
    const char *target = variable_at(c->rules, c->file, d.target);
    if (target && !strcmp(target, name))
      return true;
  }
  return false;
}

static void
used_early(const rl_clauses *c, uint32_t conjunct, uint32_t node) {
  const char *name = variable_at(c->rules, c->file, node);
  if (!defined_later(c, conjunct, name)) {
    unbound(c->rules, c->scope, at(c, node)->span, name, "the condition");
    return;
  }
  bs_error(diags(c), at(c, node)->span, "used-before-definition",
           "'%s' is used before it is defined", name);
  bs_hint(diags(c), "put (= %s ...) before this", name);
}

/* Counts the variable at `node` as bound in `scope`. */
static void
bind_on(const rl_clauses *c, gs_scope *scope, uint32_t node) {
  gs_scope_add(c->ctx, scope, variable_at(c->rules, c->file, node), GS_SORT_ANY,
               at(c, node)->span);
}

/* Reads the conjuncts in the order they were written, on a copy of the scope.
 * A variable that was complained about counts as bound from then on. */
static bool
check_order(rl_clauses *c) {
  const gs_context *ctx = c->ctx;
  gs_scope *real = c->scope, copy = *c->scope;
  bool ok = true;
  copy.vars.data = bs_alloc(ctx->heap, real->vars.cap * sizeof(gs_var) + 1);
  memcpy(copy.vars.data, real->vars.data, real->vars.len * sizeof(gs_var));
  c->scope = &copy;
  for (uint32_t k = 0; k < c->fors.len; k++)
    bind_on(c, &copy, c->fors.data[k] + 1);
  for (uint32_t k = 0; k < c->conjuncts.len; k++) {
    uint32_t node = c->conjuncts.data[k], end = rl_end(c->file, node);
    uint32_t target = definition_of(c, node).target;
    for (; node < end; node++) {
      const char *name = variable_at(c->rules, c->file, node);
      if (!name || rl_is_bound(&copy, name) || is_loop_variable(c, name))
        continue;
      if (node != target) {
        used_early(c, k, node);
        ok = false;
      }
      gs_scope_add(ctx, &copy, name, GS_SORT_ANY, at(c, node)->span);
    }
  }
  c->scope = real;
  bs_vec_done(ctx->heap, &copy.vars);
  return ok;
}

/* --- steps ---------------------------------------------------------------- */

void
rl_add_where(rl_clauses *c, uint32_t cond) {
  bs_heap *heap = c->ctx->heap;
  BS_VEC(uint32_t) stack = {0};
  bs_push(heap, &stack, cond);
  while (stack.len) {
    uint32_t node = bs_pop(&stack), from = stack.len;
    const char *head = bs_sx_head(&c->file->sx, c->ctx->values, node);
    if (!head || strcmp(head, "and")) {
      bs_push(heap, &c->conjuncts, node);
      continue;
    }
    for (uint32_t x = at(c, node + 1)->next; x; x = at(c, x)->next)
      bs_push(heap, &stack, x);
    for (uint32_t i = from, j = stack.len; i + 1 < j; i++, j--) {
      uint32_t swap = stack.data[i];
      stack.data[i] = stack.data[j - 1];
      stack.data[j - 1] = swap;
    }
  }
  bs_vec_done(heap, &stack);
}

static bool
add_step(rl_clauses *c, rl_step_kind kind, uint32_t target, uint32_t expr) {
  static const gs_sort wanted[] = {[RL_TEST] = GS_SORT_BOOL,
                                   [RL_DEFINE] = GS_SORT_ANY,
                                   [RL_FOR] = GS_SORT_LIST};
  const gs_context *ctx = c->ctx;
  rl_step step = {.kind = kind};
  step.expr = gs_expr_parse_as(ctx, &c->file->sx, expr, c->scope, wanted[kind]);
  if (kind != RL_TEST) {
    gs_sort sort =
        kind == RL_DEFINE && step.expr ? step.expr->sort : GS_SORT_ANY;
    const char *name = variable_at(c->rules, c->file, target);
    step.slot =
        (uint32_t)gs_scope_add(ctx, c->scope, name, sort, at(c, target)->span);
  }
  bs_push(ctx->heap, &c->steps, step);
  return step.expr != NULL;
}

/* Takes item k out of a list of nodes. */
#define TAKE(list, k)                                                          \
  do {                                                                         \
    memmove((list)->data + (k), (list)->data + (k) + 1,                        \
            ((list)->len - (k)-1) * sizeof *(list)->data);                     \
    (list)->len--;                                                             \
  } while (0)

/* The first conjunct that can be a step; false when there is none. */
static bool
take_conjunct(rl_clauses *c, bool *ok) {
  for (uint32_t k = 0; k < c->conjuncts.len; k++) {
    uint32_t node = c->conjuncts.data[k];
    definition d = definition_of(c, node);
    if (!d.target && !all_bound(c, node))
      continue;
    TAKE(&c->conjuncts, k);
    *ok &= d.target ? add_step(c, RL_DEFINE, d.target, d.expr)
                    : add_step(c, RL_TEST, 0, node);
    return true;
  }
  return false;
}

static bool
take_for(rl_clauses *c, bool *ok) {
  for (uint32_t k = 0; k < c->fors.len; k++) {
    uint32_t var = c->fors.data[k] + 1, list = at(c, var)->next;
    if (!all_bound(c, list))
      continue;
    TAKE(&c->fors, k);
    *ok &= add_step(c, RL_FOR, var, list);
    return true;
  }
  return false;
}

/* (?v LIST), with a new variable */
static bool
check_for(const rl_clauses *c, uint32_t node) {
  const bs_sx *x = at(c, node);
  uint32_t var = bs_sx_first(&c->file->sx, node);
  const char *name = variable_at(c->rules, c->file, var);
  if (x->kind != BS_SX_LIST || x->count != 2 || !name || !strcmp(name, "?_")) {
    bs_error(diags(c), x->span, "bad-form",
             "':for' takes a variable and a list");
    bs_hint(diags(c), ":for (?d (axes ?a))");
    return false;
  }
  if (!rl_is_bound(c->scope, name))
    return true;
  return bs_error(diags(c), at(c, var)->span, "duplicate-variable",
                  "'%s' is bound already", name);
}

static bool
check_fors(rl_clauses *c) {
  bool ok = true;
  for (uint32_t k = 0; k < c->fors.len;) {
    uint32_t node = c->fors.data[k];
    if (check_for(c, node)) {
      k++;
      continue;
    }
    TAKE(&c->fors, k);
    ok = false;
  }
  return ok;
}

static bool
report_rest(const rl_clauses *c) {
  const char *where =
      c->reverse ? "from right to left, the condition" : "the condition";
  for (uint32_t k = 0; k < c->conjuncts.len; k++)
    rl_check_bound(c->rules, c->file, c->scope, c->conjuncts.data[k], where);
  for (uint32_t k = 0; k < c->fors.len; k++)
    rl_check_bound(c->rules, c->file, c->scope,
                   at(c, c->fors.data[k] + 1)->next, "':for'");
  return !c->conjuncts.len && !c->fors.len;
}

bool
rl_order_clauses(rl_clauses *c) {
  bool ok = check_fors(c);
  if (!c->reverse && !check_order(c))
    return false;
  while (take_conjunct(c, &ok) || take_for(c, &ok))
    continue;
  return report_rest(c) && ok;
}
