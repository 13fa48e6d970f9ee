/* SPDX-License-Identifier: MIT */
/* rule_general.c - a rule proved for all sizes, in all forms up to a rank.
 *
 * The forms are listed (symbolic_forms.h), not met by chance, and each is
 * proved by itself (symbolic.h).  The rank is the largest whose forms are not
 * too many; it must be one beyond which the rule tells ranks apart no more
 * (uniform.c). The first form that is not proved ends the attempt. */
#include "prove/rule/asking.h"
#include "prove/symbolic/symbolic_forms.h"
#include "prove/symbolic/symbolic.h"
#include <assert.h>

/* Forms, combinations tried for them, and operations of isl for each. */
#define MAX_FORMS          1500
#define MOST_FORMS         8000 /* to the rank that the rule tells apart */
#define MAX_TRIES          350000
#define OPERATIONS_OF_FORM 1000000
#define ENOUGH             4 /* the rank */

typedef struct general {
  pv_asking *pr;
  bs_heap heap; /* of the forms */
  bs_arena arena;
  bs_diags diags;
  gs_context ctx;
  pv_listing listing;
  sy_memo *systems;
  uint32_t rank, n; /* what is asked for, and how many forms there are */
} general;

typedef struct question {
  general *g;
  pv_form form;
  bs_heap heap;
  bool proved, numbers;
  const char *why;
} question;

static bool
count_form(void *arg, const gs_program *p, const uint32_t *slots,
           uint64_t any) {
  (void)arg;
  (void)any;
  (void)p;
  (void)slots;
  return true;
}

static void
ask_form(void *arg) {
  question *q = arg;
  q->proved = pv_prove_form(&q->form, &q->heap, &q->numbers, &q->why);
}

/* What the form says of a variable: of a size or a literal, which may be any,
 * nothing. */
static void
put_slot(bs_text *out, const question *q, uint32_t slot, bool fixed) {
  assert(slot < q->g->pr->rule->scope.vars.len);
  const bs_values *values = q->g->ctx.values;
  const gs_var *v = &q->g->pr->rule->scope.vars.data[slot];
  bs_value held = {q->form.slots[slot]};
  bool is_term = v->sort == GS_SORT_CLASS;
  gs_type t;
  if (held.i == UINT32_MAX || v->name[0] == '(')
    return;
  bool is_list = !is_term && bs_kind_of(values, held) == BS_KIND_LIST;
  if (!is_term && !is_list && !fixed)
    return;
  bs_putf(out, "%s?%s ", out->len ? ", " : "", v->name);
  if (is_term) {
    gs_type_at(q->form.p, (gs_term){held.i}, &t);
    bs_putf(out, "of rank %u split at %u, %s", t.rank, t.access,
            gs_dtype_table[t.dtype].name);
  } else if (fixed) {
    bs_put_value(out, values, held);
  } else {
    bs_putf(out, "of %u %s", BS_COUNTED(bs_len(values, held), "item"));
  }
}

/* Which form is not proved. */
static void
blame(question *q) {
  bs_text out;
  bs_text_init(&out, &q->heap);
  uint64_t fixed = pv_form_fixes(&q->form, &q->heap);
  for (uint32_t k = 0; k < q->g->pr->rule->scope.vars.len; k++)
    put_slot(&out, q, k, k < PV_RULE_SLOTS && fixed >> k & 1);
  pv_not_general(q->g->pr, "not shown for all sizes with %s: %s",
                 bs_text_str(&out), q->why ? q->why : "memory ran out");
}

static bool
prove_form(void *arg, const gs_program *p, const uint32_t *slots,
           uint64_t any) {
  general *g = arg;
  pv_asking *pr = g->pr;
  question q = {.g = g,
                .form = {.rules = pr->rules,
                         .rule = pr->rule,
                         .p = p,
                         .slots = slots,
                         .max_operations = OPERATIONS_OF_FORM,
                         .any = any,
                         .systems = g->systems,
                         .counts = &pr->out->work,
                         .any_order = &pr->any_order,
                         .rounded = &pr->rounded,
                         .applies = &pr->applies}};
  bs_heap_init_child(&q.heap, pr->ctx->heap, (size_t)1 << 28);
  bool ok = bs_protect(&q.heap, ask_form, &q) && q.proved;
  pr->out->forms++;
  pr->out->general_forms += ok;
  if (!ok && !g->listing.alike)
    blame(&q);
  else if (ok && q.numbers)
    pv_not_general(pr, "numbers that its lists name are not all seen");
  bs_heap_done(&q.heap);
  return ok && !q.numbers;
}

/* The largest rank whose forms are not too many; beyond ENOUGH only as far as
 * the rule tells ranks apart. */
static void
choose_rank(general *g, uint32_t reach) {
  static const uint32_t ranks[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
  for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
    uint32_t n;
    if (g->rank >= ENOUGH && g->rank >= reach)
      return;
    g->listing.rank = ranks[k];
    g->listing.max_forms = g->rank < reach ? MOST_FORMS : MAX_FORMS;
    g->listing.found = count_form;
    if (!pv_list_forms(&g->listing, &n))
      return;
    g->rank = ranks[k];
    g->n = n;
  }
}

static bool
is_candidate(general *g) {
  const pv_asking *pr = g->pr;
  uint32_t *slots = bs_alloc(&g->heap, (pr->rule->scope.vars.len + 1) * 4);
  for (uint32_t k = 0; k <= pr->rule->scope.vars.len; k++)
    slots[k] = UINT32_MAX;
  gs_program *p = gs_program_new(&g->ctx, rl_target(pr->rules));
  pv_form form = {.rules = pr->rules, .rule = pr->rule, .p = p, .slots = slots};
  uint64_t key;
  return pv_form_key(&form, &g->heap, &key);
}

/* Is there an operator that may stand for others? */
static bool
has_operator(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && s->nodes[k].op == GS_COMPUTE &&
        s->nodes[k].attrs[0]->kind == GS_X_VAR)
      return true;
  return false;
}

/* With operators that are alike as one.  False: it did not do, and nothing is
 * said. */
static bool
prove_alike(general *g, uint32_t reach) {
  uint32_t n;
  g->listing.alike = true;
  choose_rank(g, reach);
  g->listing.max_forms = MOST_FORMS;
  g->listing.found = prove_form;
  g->listing.rank = g->rank;
  if (g->n && g->rank >= reach && pv_list_forms(&g->listing, &n))
    return true;
  g->listing.alike = false;
  g->rank = g->n = 0;
  g->pr->out->forms = g->pr->out->general_forms = 0;
  g->pr->applies = false;
  return false;
}

static void
prove_apart(general *g, uint32_t reach) {
  pv_asking *pr = g->pr;
  uint32_t n;
  choose_rank(g, reach);
  if (!g->n || g->rank < reach) {
    pv_not_general(pr, "its forms are too many to be listed to rank %u", reach);
    return;
  }
  g->listing.rank = g->rank;
  g->listing.max_forms = MOST_FORMS;
  g->listing.found = prove_form;
  if (!pv_list_forms(&g->listing, &n))
    pv_not_general(pr, "its forms are not understood");
}

static void
ask_all(void *arg) {
  general *g = arg;
  pv_asking *pr = g->pr;
  bs_arena_init(&g->arena, &g->heap);
  bs_diags_init(&g->diags, &g->heap);
  g->ctx = (gs_context){&g->heap, &g->arena, pr->ctx->values, &g->diags};
  uint32_t reach = pv_rank_reach(&g->ctx, pr->rule);
  g->listing = (pv_listing){.ctx = &g->ctx,
                            .rules = pr->rules,
                            .rule = pr->rule,
                            .max_tries = MAX_TRIES,
                            .max_forms = MOST_FORMS,
                            .arg = g,
                            .counts = &pr->out->work};
  if (!is_candidate(g)) {
    pv_not_general(pr, "its operators are not understood for all sizes");
    return;
  }
  if (reach == UINT32_MAX) {
    pv_not_general(pr, "it computes with ranks, axes or lengths");
    return;
  }
  g->systems = sy_memo_new(&g->heap);
  if (has_operator(pr->rule->left) && prove_alike(g, reach))
    return;
  prove_apart(g, reach);
}

void
pv_prove_generally(pv_asking *pr) {
  general g = {.pr = pr};
  bs_heap_init_child(&g.heap, pr->ctx->heap, (size_t)1 << 28);
  if (!bs_protect(&g.heap, ask_all, &g))
    pv_not_general(pr, "memory ran out");
  bs_heap_done(&g.heap);
  pr->out->rank = g.rank;
}
