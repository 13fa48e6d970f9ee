/* SPDX-License-Identifier: MIT */
/* api_explain.c - why are two programs equal?  Both are put into one e-graph,
 * which grows until their outputs meet; then the chain is read off and
 * checked. */
#include "api/object.h"
#include "api/api_explain.h"
#include "base/file.h"

#include <string.h>

typedef struct explain_args {
  glen_context *ctx;
  const gs_program *a, *b;
  const glen_rules *rules;
  const glen_target *target;
  const glen_saturate_options *options;
  rl_run run;
  api_object *object; /* of what goes with the answer */
  gs_program *both;
} explain_args;

void
glen_explain_defaults(glen_explain_options *out) {
  *out = (glen_explain_options){.max_steps = 50000, .shown = 40};
}

/* ---- both programs in one ---- */

static gs_term
same_constant(explain_args *e, const gs_program *from, const gs_node *n) {
  const bs_values *values = e->ctx->gs.values;
  const char *name = bs_as_sym(values, bs_item(values, n->attr, 0));
  const gs_constant *c = gs_find_constant(from, name);
  const gs_constant *have = gs_find_constant(e->both, name);
  if (!have)
    return gs_copy_constant(from, n->attr, e->both, n->span);
  size_t bytes =
      (size_t)gs_elements(&c->type) * gs_dtype_table[c->type.dtype].bytes;
  if (gs_type_equal(&have->type, &c->type) &&
      !memcmp(have->data, c->data, bytes))
    return gs_copy_constant(from, n->attr, e->both, n->span);
  bs_error(&e->ctx->diags, n->span, "two-constants",
           "the programs have different constants named %s", name);
  return GS_NO_TERM;
}

/* Adds the terms of a program; term i becomes map[i].  False with a
 * diagnostic. */
static bool
add_program(explain_args *e, const gs_program *from, gs_term *map) {
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    const gs_node *n = &from->nodes.data[k];
    map[k] = n->op == GS_CONST ? same_constant(e, from, n)
                               : gs_add_like(e->both, n, map);
    if (!gs_term_ok(map[k]))
      return false;
  }
  return true;
}

static bool
add_side(explain_args *e, const gs_program *from, const char *side) {
  bs_heap *heap = &e->ctx->heap;
  gs_term *map = bs_alloc(heap, (from->nodes.len + (size_t)1) * sizeof *map);
  bool ok = add_program(e, from, map);
  for (uint32_t k = 0; ok && k < from->outputs.len; k++) {
    const gs_named *o = &from->outputs.data[k];
    const char *name =
        bs_arena_printf(e->both->ctx.arena, "%s %u %s", side, k, o->name);
    gs_add_output(e->both, name, map[o->term.i], o->span);
  }
  bs_free(heap, map);
  return ok;
}

static bool
join_programs(explain_args *e) {
  e->both = gs_program_new(api_object_context(e->object), e->target->target);
  for (uint32_t k = 0; k < e->a->inputs.len; k++) {
    const gs_named *input = &e->a->inputs.data[k];
    gs_type type;
    gs_type_at(e->a, input->term, &type);
    gs_add_tensor(e->both, input->name, &type, input->span);
  }
  return add_side(e, e->a, "from") && add_side(e, e->b, "to");
}

/* ---- the run ---- */

static bool
outputs_met(const rl_run *run, const eg_graph *g) {
  uint32_t n = run->n_outputs / 2;
  for (uint32_t k = 0; k < n; k++)
    if (eg_find(g, run->outputs[k]).i != eg_find(g, run->outputs[n + k]).i)
      return false;
  return true;
}

static bool
until_met(void *ctx, const eg_graph *g, const eg_iteration *it) {
  explain_args *e = ctx;
  const glen_saturate_options *o = e->options;
  if (o->progress) {
    glen_progress p = {
        .iteration = it->index + 1, .nodes = it->nodes, .classes = it->classes};
    o->progress(o->progress_ctx, &p);
  }
  return !outputs_met(&e->run, g);
}

/* ---- the answer ---- */

static void
write_answer(glen_context *ctx, const api_explained *e, glen_explained *out) {
  bs_text text, json;
  bs_text_init(&text, &ctx->heap);
  bs_text_init(&json, &ctx->heap);
  api_put_explained(e, &text);
  api_json_explained(e, &json);
  out->equal = e->equal;
  out->checked = e->equal && !e->wrong;
  for (uint32_t k = 0; k < e->x->n_chains; k++)
    out->steps += e->x->chains[k].n;
  out->text = api_string(ctx, &text);
  out->json = api_string(ctx, &json);
}

static void
answer(glen_context *ctx, const rl_rules *rules, const rl_run *run,
       const gs_program *a, const gs_program *b,
       const glen_explain_options *how, glen_explained *out) {
  rl_explanation x;
  api_explained e = {
      .ctx = ctx, .rules = rules, .a = a, .b = b, .x = &x, .run = run};
  e.shown = how->all_steps ? UINT32_MAX : how->shown;
  e.json_steps = how->json_steps;
  api_object *object = api_object_take(ctx);
  const gs_context *own = api_object_context(object);
  double t = bs_now();
  e.equal = rl_explain(own, run, a, b, how->max_steps, &x);
  out->seconds = bs_now() - t;
  if (e.equal)
    e.wrong = rl_check_explanation(own, rules, &x);
  write_answer(ctx, &e, out);
  api_object_free(object);
}

/* Saturates what was joined, and answers if the outputs met or not. */
static bool
explain_joined(explain_args *e, const rl_options *how_run,
               const glen_explain_options *how, glen_explained *out) {
  glen_context *ctx = e->ctx;
  const rl_rules *rules = e->rules->rules;
  bool ok = rl_saturate(&ctx->gs, e->both, rules, how_run, &e->run);
  if (ok)
    answer(ctx, rules, &e->run, e->a, e->b, how, out);
  else if (e->run.stop == EG_STOP_FAULT && e->run.graph)
    ctx->failure = GLEN_REFUTED;
  rl_run_done(&e->run);
  return ok;
}

bool
glen_explain(glen_context *ctx, const glen_program *a, const glen_program *b,
             const glen_rules *rules, const glen_target *target,
             const glen_saturate_options *options,
             const glen_explain_options *how, glen_explained *out) {
  glen_saturate_options own;
  explain_args e = {.ctx = ctx,
                    .a = a->program,
                    .b = b->program,
                    .rules = rules,
                    .target = target,
                    .options = &own};
  *out = (glen_explained){.text = "", .json = ""};
  ctx->interrupt = 0;
  if (!api_saturate_options(ctx, options, &own))
    return false;
  API_ENTER_LISTENING(ctx, false);
  if (!api_has_numbers(ctx, a->program, "explaining") ||
      !api_has_numbers(ctx, b->program, "explaining"))
    return false;
  rl_options run = api_run_options(ctx, &own, true, until_met, &e);
  e.object = api_object_take(ctx);
  bool ok = join_programs(&e) && explain_joined(&e, &run, how, out);
  api_object_free(e.object);
  return ok;
}

bool
glen_result_explain(glen_context *ctx, const glen_result *result,
                    const glen_explain_options *how, glen_explained *out) {
  *out = (glen_explained){.text = "", .json = ""};
  API_ENTER(ctx, false);
  answer(ctx, result->run.rules, &result->run, result->input,
         result->program.program, how, out);
  return true;
}
