/* SPDX-License-Identifier: MIT */
/* report.c - why a run stopped: the rule that broke the type law, and both
 * terms it would have made equal.
 *
 * The e-graph refuses the union, so the two classes still stand apart and each
 * can show its smallest term. */
#include "rules/rule/rule_internal.h"
#include <string.h>

#define TERM_BUDGET 60 /* nodes printed of one term */

/* --- the smallest terms --------------------------------------------------- */

static double
size_of(const eg_graph *g, eg_node node, const double *best) {
  uint32_t n;
  const eg_class *kids = eg_kids(g, node, &n);
  double sum = 1;
  for (uint32_t k = 0; k < n; k++)
    sum += best[eg_find(g, kids[k]).i];
  return sum;
}

/* One pass of relaxation; true when something became smaller. */
static bool
relax(const eg_graph *g, double *best, eg_node *choice) {
  bool changed = false;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    uint32_t n;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t k = 0; k < n; k++) {
      double size = size_of(g, nodes[k], best);
      if (size >= best[c.i])
        continue;
      best[c.i] = size;
      choice[c.i] = nodes[k];
      changed = true;
    }
  }
  return changed;
}

eg_node *
rl_smallest(bs_heap *heap, const eg_graph *g, uint32_t *n) {
  *n = eg_class_ids(g);
  double *best = bs_alloc(heap, (*n + (size_t)1) * sizeof *best);
  eg_node *choice = bs_alloc(heap, (*n + (size_t)1) * sizeof *choice);
  for (uint32_t k = 0; k < *n; k++) {
    best[k] = 1e300;
    choice[k] = EG_NO_NODE;
  }
  while (relax(g, best, choice))
    continue;
  bs_free(heap, best);
  return choice;
}

/* --- printing ------------------------------------------------------------- */

typedef struct writer {
  bs_text *out;
  const gs_context *ctx;
  const eg_graph *graph;
  const eg_node *choice;
  uint32_t n, budget;
} writer;

static void write_class(writer *, eg_class);

/* The children as texts, so that the language's printer sets the brackets.
 * The budget bounds the depth. */
static void
write_node(writer *w, uint32_t op, bs_value attr, const eg_class *kids,
           uint32_t n) {
  bs_heap *heap = w->ctx->heap;
  bs_text *texts = bs_calloc(heap, n + (size_t)1, sizeof *texts);
  const char **strings = bs_calloc(heap, n + (size_t)1, sizeof *strings);
  bs_text *out = w->out;
  for (uint32_t k = 0; k < n; k++) {
    bs_text_init(&texts[k], heap);
    w->out = &texts[k];
    write_class(w, kids[k]);
    strings[k] = bs_text_str(&texts[k]);
  }
  w->out = out;
  bool named = op == GS_TENSOR || op == GS_CONST;
  if (named)
    bs_put_value(out, w->ctx->values, bs_item(w->ctx->values, attr, 0));
  else
    gs_print_node(w->ctx, (gs_op)op, attr, strings, n, out);
  for (uint32_t k = 0; k < n; k++)
    bs_text_done(&texts[k]);
  bs_free(heap, texts);
  bs_free(heap, strings);
}

static void
write_class(writer *w, eg_class c) {
  c = eg_find(w->graph, c);
  eg_node node = c.i < w->n ? w->choice[c.i] : EG_NO_NODE;
  if (node.i == UINT32_MAX || !w->budget) {
    bs_put(w->out, "...");
    return;
  }
  w->budget--;
  uint32_t n;
  const eg_class *kids = eg_kids(w->graph, node, &n);
  write_node(w, eg_op(w->graph, node), eg_attr(w->graph, node), kids, n);
}

void
rl_put_class(bs_text *out, const gs_context *ctx, const eg_graph *g, eg_class c,
             const eg_node *choice, uint32_t n, uint32_t budget) {
  writer w = {out, ctx, g, choice, n, budget};
  write_class(&w, c);
}

/* --- the report ----------------------------------------------------------- */

static void
put_class_type(bs_text *out, const rl_run *run, eg_class c) {
  gs_type type;
  gs_type_read(run->session->ctx.values, rl_facts_of(run->graph, c)->type,
               &type);
  gs_put_type(out, &type);
}

static const rl_rule *
guilty(const rl_run *run, uint32_t rule) {
  if (rule < rl_count(run->rules))
    return rl_at(run->rules, rule);
  uint32_t applied = eg_runner_fault_rule(run->runner);
  return applied < rl_count(run->rules) ? rl_at(run->rules, applied) : NULL;
}

static void
note_term(const rl_run *run, eg_class c, const eg_node *choice, uint32_t n,
          const char *what) {
  const gs_context *ctx = &run->session->ctx;
  bs_text text;
  bs_text_init(&text, ctx->heap);
  rl_put_class(&text, ctx, run->graph, c, choice, n, TERM_BUDGET);
  bs_note(ctx->diags, BS_NOWHERE, "%s: %s", what, bs_text_str(&text));
  bs_text_done(&text);
}

static void
put_value_fact(bs_text *out, const rl_run *run, eg_class c) {
  bs_put_value(out, run->session->ctx.values,
               rl_facts_of(run->graph, c)->constant);
}

/* Types that differ, or else values that are known and differ. */
static void
report_merge(const rl_run *run, const eg_node *choice, uint32_t n) {
  const gs_context *ctx = &run->session->ctx;
  eg_class a, b;
  eg_reason why;
  bs_text x, y;
  eg_fault_merge(run->graph, &a, &b, &why);
  const rl_rule *rule = guilty(run, why.rule);
  bool types = !bs_same(rl_facts_of(run->graph, a)->type,
                        rl_facts_of(run->graph, b)->type);
  bs_text_init(&x, ctx->heap);
  bs_text_init(&y, ctx->heap);
  (types ? put_class_type : put_value_fact)(&x, run, a);
  (types ? put_class_type : put_value_fact)(&y, run, b);
  bs_error(ctx->diags, rule ? rule->span : BS_NOWHERE, "unsound-rule",
           types ? "rule %s equated %s with %s"
                 : "rule %s equated a term of value %s with one of value %s",
           rule ? rule->name : "?", bs_text_str(&x), bs_text_str(&y));
  note_term(run, a, choice, n, "left side");
  note_term(run, b, choice, n, "right side");
  bs_text_done(&x);
  bs_text_done(&y);
}

static void
report_node(const rl_run *run, const eg_node *choice, uint32_t n) {
  rl_session *s = run->session;
  const rl_rule *rule = guilty(run, UINT32_MAX);
  const gs_fault *fault = &s->refused.fault;
  bs_error(s->ctx.diags, rule ? rule->span : BS_NOWHERE, "ill-typed-rule",
           "rule %s built an ill-typed term: %s", rule ? rule->name : "?",
           s->refused.set ? fault->message : "it cannot be built");
  if (!s->refused.set)
    return;
  if (fault->hint[0])
    bs_hint(s->ctx.diags, "%s", fault->hint);
  bs_text text;
  bs_text_init(&text, s->ctx.heap);
  writer w = {&text, &s->ctx, run->graph, choice, n, TERM_BUDGET};
  write_node(&w, s->refused.op, s->refused.attr, s->refused.kids,
             s->refused.n_kids);
  bs_note(s->ctx.diags, BS_NOWHERE, "the term: %s", bs_text_str(&text));
  bs_text_done(&text);
}

void
rl_report_fault(const rl_run *run) {
  bs_heap *heap = run->session->ctx.heap;
  uint32_t n;
  eg_node *choice = rl_smallest(heap, run->graph, &n);
  eg_fault_kind kind = eg_fault(run->graph);
  if (kind == EG_FAULT_MERGE)
    report_merge(run, choice, n);
  else if (kind == EG_FAULT_NODE)
    report_node(run, choice, n);
  else
    bs_error(run->session->ctx.diags, BS_NOWHERE, "too-large",
             "the e-graph is full");
  bs_free(heap, choice);
}
