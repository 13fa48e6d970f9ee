/* SPDX-License-Identifier: MIT */
/* derive_where.c - the condition of a derived rule: what binds a variable
 * before what takes it. */
#include "rules/instr/derive.h"
#include <assert.h>
#include <string.h>

void
rl_add_conjunct(deriver *d, const char *text, const uint8_t *uses,
                int defines) {
  assert(text && defines < (int)d->scope.vars.len);
  conjunct c = {.text = text, .uses = uses, .defines = defines};
  bs_push(d->ctx->heap, &d->conjuncts, c);
}

void
rl_bind_operand(deriver *d, const gs_operand *o, const chain *c) {
  const stage *top = &c->stages[c->n];
  bs_arena *arena = d->ctx->arena;
  rl_add_conjunct(d,
                  bs_arena_printf(arena,
                                  "(= (access-rank ?%s) %u) (= (rank ?%s) %u) "
                                  "(= (dtype ?%s) %s)",
                                  o->name, top->access, o->name, top->rank,
                                  o->name, gs_dtype_table[o->dtype].name),
                  NULL, -1);
  for (uint32_t k = 0; k < top->rank; k++) {
    const size *x = &top->dim[k];
    const char *dim = bs_arena_printf(arena, "(dim ?%s %u)", o->name, k);
    rl_add_conjunct(d, bs_arena_printf(arena, "(= %s %s)", x->text, dim),
                    x->plain < 0 ? x->uses : NULL, x->plain);
    bs_last(&d->conjuncts).whole = x;
    bs_last(&d->conjuncts).dim = dim;
  }
}

void
rl_add_condition(deriver *d, const gs_expr *e) {
  if (e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), "and"))
    for (uint32_t k = 0; k < e->n_args; k++)
      rl_add_condition(d, e->args[k]);
  else
    rl_add_conjunct(d, rl_expr_text(d, e), rl_uses_of(d, e), -1);
}

bool
rl_are_bound(const deriver *d, const uint8_t *uses) {
  for (uint32_t k = 0; uses && k < d->scope.vars.len; k++)
    if (uses[k] && !d->bound[k])
      return false;
  return true;
}

static void
put_conjunct(deriver *d, conjunct *c, bs_text *out) {
  bs_putf(out, "\n    %s", c->text);
  c->done = true;
  if (c->defines >= 0)
    d->bound[c->defines] = 1;
}

/* The one factor that is not known, a variable; NULL when it is not so. */
static const size *
unknown_factor(const deriver *d, const size *s) {
  const size *unknown = NULL;
  for (uint32_t k = 0; k < s->n_factors; k++) {
    const size *f = &s->factors[k];
    if (rl_are_bound(d, f->uses))
      continue;
    if (unknown || f->plain < 0)
      return NULL;
    unknown = f;
  }
  return unknown;
}

/* A product with one unknown factor tells it; that it divides is then tested
 * by the conjunct itself. */
static bool
solve(deriver *d, const conjunct *c, bs_text *out) {
  const size *f = c->whole && !c->done ? unknown_factor(d, c->whole) : NULL;
  if (!f)
    return false;
  bs_putf(out, "\n    (= %s (/ %s (*", f->text, c->dim);
  for (uint32_t k = 0; k < c->whole->n_factors; k++)
    if (&c->whole->factors[k] != f)
      bs_putf(out, " %s", c->whole->factors[k].text);
  bs_put(out, " 1)))");
  d->bound[f->plain] = 1;
  return true;
}

static bool
put_ready(deriver *d, bs_text *out) {
  bool more = false;
  for (uint32_t k = 0; k < d->conjuncts.len; k++) {
    conjunct *c = &d->conjuncts.data[k];
    if (c->done || !rl_are_bound(d, c->uses))
      continue;
    put_conjunct(d, c, out);
    more = true;
  }
  for (uint32_t k = 0; k < d->conjuncts.len && !more; k++)
    more = solve(d, &d->conjuncts.data[k], out);
  return more;
}

void
rl_put_conjuncts(deriver *d, bs_text *out) {
  while (put_ready(d, out))
    continue;
  for (uint32_t k = 0; k < d->conjuncts.len; k++)
    if (!d->conjuncts.data[k].done)
      bs_putf(out, "\n    %s", d->conjuncts.data[k].text);
}
