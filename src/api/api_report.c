/* SPDX-License-Identifier: MIT */
/* api_report.c - a result as people and as programs read it.
 *
 * The text form is itself a .glen program: what is not the program stands in
 * comments.  Without `seconds` it depends on the input alone. */
#include "api/api.h"
#include "base/json.h"
#include "egraph/export.h"
#include "rules/explain/naming.h"

#include <math.h>
#include <string.h>

enum { MAX_BREAKDOWN = 10 };

static const char *const kind_names[] = {[RL_EXPLORATORY] = "exploratory",
                                         [RL_COMPOSITION] = "composition",
                                         [RL_CLEANUP] = "cleanup",
                                         [RL_LOWERING] = "lowering",
                                         [RL_ALGEBRA] = "algebra"};

/* ---- text ---- */

static void
put_costs(bs_text *text, const glen_summary *s) {
  bs_putf(text, "; cost     %.6g cycles, was %.6g", s->cost_after,
          s->cost_before);
  if (s->cost_after > 0 && isfinite(s->cost_before))
    bs_putf(text, " (%.3gx)", s->cost_before / s->cost_after);
  api_put_optimality(s, text);
  bs_putc(text, '\n');
}

static void
put_line(const gs_program *p, const ex_line *line, bs_text *text) {
  const ex_cost *c = &line->cost;
  const gs_node *node = gs_at(p, line->term);
  bs_put(text, gs_op_table[node->op].name);
  if (node->op == GS_COMPUTE || node->op == GS_CALL) {
    bs_putc(text, ' ');
    bs_put_value(text, p->ctx.values, bs_item(p->ctx.values, node->attr, 0));
  }
  gs_type type;
  gs_type_at(p, line->term, &type);
  bs_put(text, " : ");
  gs_put_type(text, &type);
  bs_putf(text, "  (arithmetic %.3g, memory %.3g, call %.3g)\n", c->arithmetic,
          c->memory, c->call);
}

/* Terms that read alike stand in one line with their number. */
static void
put_breakdown(const glen_result *r, bs_text *text) {
  bs_heap *heap = text->heap;
  const gs_program *p = r->program.program;
  double total;
  ex_line *lines = bs_alloc(heap, p->nodes.len * sizeof *lines + 1);
  uint32_t n = ex_breakdown(p, r->target, r->limit, &r->prepacked, lines,
                            &total),
           k = 0;
  bs_text one, next;
  bs_text_init(&one, heap);
  bs_text_init(&next, heap);
  for (uint32_t shown = 0; k < n && shown < MAX_BREAKDOWN; shown++) {
    double cost = ex_cost_total(&lines[k].cost);
    uint32_t first = k;
    if (cost < 1)
      break;
    bs_text_clear(&one);
    put_line(p, &lines[k], &one);
    do {
      bs_text_clear(&next);
      if (++k < n)
        put_line(p, &lines[k], &next);
    } while (k < n && !strcmp(bs_text_str(&one), bs_text_str(&next)));
    bs_putf(text, ";   %12.6g  ", cost * (k - first));
    if (k - first > 1)
      bs_putf(text, "%u x ", k - first);
    bs_put(text, bs_text_str(&one));
  }
  if (k < n)
    bs_putf(text, ";   ... and %u cheaper terms\n", n - k);
  bs_text_done(&one);
  bs_text_done(&next);
  bs_free(heap, lines);
}

static void
put_rules(const glen_result *r, bs_text *text) {
  bs_putf(text, "; rules    %u led to this program%s%s\n", r->n_used_rules,
          r->n_used_rules ? ":" : ": ",
          r->n_used_rules ? "" : api_as_written(r));
  for (uint32_t k = 0; k < r->n_used_rules; k++) {
    const rl_rule *rule = r->used_rules[k];
    bs_putf(text, ";   %s  ", rule->name);
    bs_put_place(&r->ctx->diags, rule->span, text);
    if (rule->intent && *rule->intent)
      bs_putf(text, "  %s", rule->intent);
    bs_putc(text, '\n');
  }
}

static const char *
text_of(glen_context *ctx, const glen_result *result, const glen_report *what) {
  const glen_summary *s = &result->summary;
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  gs_print(result->program.program, true, &text);
  bs_putc(&text, '\n');
  api_put_phases(result, &text);
  put_costs(&text, s);
  put_breakdown(result, &text);
  put_rules(result, &text);
  api_put_verified(result, &text);
  if (what->seconds)
    bs_putf(&text,
            "; seconds  %.3f: search %.3f, apply %.3f, rebuild %.3f, extract "
            "%.3f; %.1f MiB\n",
            s->seconds, s->search_s, s->apply_s, s->rebuild_s, s->extract_s,
            (double)s->bytes / (1 << 20));
  if (what->stats)
    api_put_stats(result, what->seconds, &text);
  return api_string(ctx, &text);
}

/* ---- JSON ---- */

static void
json_rules(const glen_result *r, bs_json *j) {
  bs_json_array(j, "rules");
  for (uint32_t k = 0; k < r->n_used_rules; k++) {
    const rl_rule *rule = r->used_rules[k];
    bs_text place;
    bs_text_init(&place, &r->ctx->heap);
    bs_put_place(&r->ctx->diags, rule->span, &place);
    bs_json_object(j, NULL);
    bs_json_string(j, "name", rule->name);
    bs_json_string(j, "kind", kind_names[rule->kind]);
    bs_json_string(j, "place", bs_text_str(&place));
    bs_json_end(j);
    bs_text_done(&place);
  }
  bs_json_end(j);
}

static void
json_seconds(bs_json *j, const glen_summary *s) {
  bs_json_object(j, "seconds");
  bs_json_real(j, "total", s->seconds);
  bs_json_real(j, "search", s->search_s);
  bs_json_real(j, "apply", s->apply_s);
  bs_json_real(j, "rebuild", s->rebuild_s);
  bs_json_real(j, "extract", s->extract_s);
  bs_json_end(j);
}

static const char *
json_of(glen_context *ctx, const glen_result *result, const glen_report *what) {
  const glen_summary *s = &result->summary;
  bs_text text, program;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_text_init(&program, &ctx->heap);
  gs_print(result->program.program, false, &program);
  bs_json_init(&j, &text, 2);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_string(&j, "stop", s->stop);
  api_json_phases(result, &j);
  bs_json_int(&j, "iterations", s->iterations);
  bs_json_int(&j, "nodes", s->nodes);
  bs_json_int(&j, "classes", s->classes);
  bs_json_int(&j, "bytes", (int64_t)s->bytes);
  bs_json_real(&j, "cost_before", s->cost_before);
  bs_json_real(&j, "cost_after", s->cost_after);
  bs_json_real(&j, "bound", s->bound);
  bs_json_bool(&j, "optimal", s->optimal);
  api_json_verified(result, &j);
  json_rules(result, &j);
  if (what->seconds)
    json_seconds(&j, s);
  if (what->stats)
    api_json_stats(result, what->seconds, &j);
  bs_json_string(&j, "program", bs_text_str(&program));
  bs_json_end(&j);
  bs_putc(&text, '\n');
  bs_text_done(&program);
  return api_string(ctx, &text);
}

const char *
glen_result_report(glen_context *ctx, const glen_result *result,
                   const glen_report *what) {
  API_ENTER(ctx, "");
  return what->json ? json_of(ctx, result, what) : text_of(ctx, result, what);
}

const char *
glen_result_text(glen_context *ctx, const glen_result *result, bool seconds) {
  return glen_result_report(ctx, result, &(glen_report){.seconds = seconds});
}

const char *
glen_result_json(glen_context *ctx, const glen_result *result, bool seconds) {
  return glen_result_report(ctx, result,
                            &(glen_report){.seconds = seconds, .json = true});
}

/* ---- the e-graph ---- */

const char *
glen_result_egraph_json(glen_context *ctx, const glen_result *result) {
  API_ENTER(ctx, "");
  bs_text text;
  eg_naming naming;
  rl_naming(&result->gs, &naming);
  bs_text_init(&text, &ctx->heap);
  eg_put_json(result->run.graph, &naming, result->run.outputs,
              result->run.n_outputs, &text);
  return api_string(ctx, &text);
}

const char *
glen_result_dot(glen_context *ctx, const glen_result *result,
                uint32_t max_classes) {
  API_ENTER(ctx, "");
  bs_text text;
  eg_naming naming;
  rl_naming(&result->gs, &naming);
  bs_text_init(&text, &ctx->heap);
  eg_put_dot(result->run.graph, &naming, result->run.outputs,
             result->run.n_outputs, max_classes, &text);
  return api_string(ctx, &text);
}
