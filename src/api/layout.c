/* SPDX-License-Identifier: MIT */
/* layout.c - layouts of a program's arrays, and orders of its loops, chosen by
 * cost. */
#include "api/api.h"
#include "poly/datalayout/datalayout.h"
#include "poly/schedule/primitive.h"
#include <string.h>

typedef struct layout_args {
  glen_context *ctx;
  const glen_loops *loops;
  glen_loops *changed;
  const char *cost;
  const int64_t *widths;
  uint32_t n_widths;
  bool keep_order;
  const char *text;
} layout_args;

static bool
find_cost(glen_context *ctx, const char *name, po_layout_cost *out) {
  for (uint32_t k = 0; k < po_n_layout_costs; k++)
    if (!strcmp(name, po_layout_cost_names[k])) {
      *out = (po_layout_cost)k;
      return true;
    }
  bs_error(&ctx->diags, BS_NOWHERE, "no-such-cost",
           "there is no cost of layouts called %s", name);
  return false;
}

/* The search for layouts, then the commands since the first n of the
 * program's script and those that give it the layouts. */
static void
write_search(layout_args *a, po_layout_model *m, const po_program *p,
             uint32_t n, po_layout_cost cost, bs_text *out) {
  po_layout_search found;
  po_layout_find(m, cost, a->widths, a->n_widths, &found);
  po_layout_put_trace(m, &found, out);
  for (uint32_t k = n; k < p->script.len; k++)
    bs_putf(out, "%s\n", p->script.data[k]);
  po_layout_put_script(m, p, &found, out);
  po_layout_search_done(m, &found);
  a->text = api_string(a->ctx, out);
}

static void
layout_body(void *arg) {
  layout_args *a = arg;
  po_layout_cost cost;
  po_layout_model model;
  bs_text out;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a layout") ||
      !find_cost(a->ctx, a->cost, &cost))
    return;
  po_program *p = po_copy(a->loops->loops);
  uint32_t n = p->script.len;
  bs_text_init(&out, &a->ctx->heap);
  po_lay_out(p);
  if (!a->keep_order)
    po_layout_order_loops(&p, cost, a->widths, a->n_widths, &out);
  po_layout_model_init(&model, &a->ctx->heap, p->isl);
  if (po_layout_model_of(p, &model))
    write_search(a, &model, p, n, cost, &out);
  else
    bs_error(&a->ctx->diags, BS_NOWHERE, "layout",
             "what the program reads is too complex to be priced");
  po_layout_model_done(&model);
  po_free(p);
}

const char *
glen_layout(glen_context *ctx, const glen_loops *loops, const char *cost,
            const int64_t *widths, uint32_t n_widths, bool keep_order) {
  layout_args a = {.ctx = ctx,
                   .loops = loops,
                   .cost = cost,
                   .widths = widths,
                   .n_widths = n_widths,
                   .keep_order = keep_order};
  return api_enter_stage(ctx, "the search for layouts", 1, layout_body, &a)
             ? a.text
             : NULL;
}

/* The rest of the time is for the code. */
static const double OF_SCHEDULE = 0.6;

/* Some seconds' worth. */
enum { MOST_PRICED = 400 };

static void
give_body(void *arg) {
  layout_args *a = arg;
  po_layout_cost cost;
  po_layout_model model;
  po_program **p = &a->changed->loops;
  if (!api_knows_sizes(a->ctx, *p, "a layout"))
    return;
  if (!find_cost(a->ctx, a->cost, &cost))
    return;
  if (!a->changed->original)
    a->changed->original = po_copy(*p);
  po_lay_out(*p);
  po_layout_model_init(&model, &a->ctx->heap, (*p)->isl);
  if (po_layout_model_of(*p, &model)) {
    po_layout_search found;
    po_layout_leave_some(&model);
    model.most = MOST_PRICED;
    po_layout_find(&model, cost, a->widths, a->n_widths, &found);
    po_layout_give(p, &model, &found);
    if (found.stopped)
      bs_warning(&a->ctx->diags, BS_NOWHERE, "layout-limit",
                 "the program is too large to try every layout: the best of "
                 "those tried was taken");
    po_layout_search_done(&model, &found);
  } else {
    bs_warning(&a->ctx->diags, BS_NOWHERE, "layout",
               "what the program reads is too complex to be priced: arrays "
               "lie as they did");
  }
  po_layout_model_done(&model);
  a->text = "";
}

bool
glen_give_layouts(glen_context *ctx, glen_loops *loops, const char *cost,
                  const int64_t *widths, uint32_t n_widths) {
  layout_args a = {.ctx = ctx,
                   .changed = loops,
                   .cost = cost,
                   .widths = widths,
                   .n_widths = n_widths};
  return api_enter_stage(ctx, "the search for layouts", OF_SCHEDULE, give_body,
                         &a) &&
         a.text;
}
