/* layout.c - layouts of a program's inputs, chosen by cost. */
#include "api/api.h"
#include "poly/datalayout/datalayout.h"
#include <string.h>

typedef struct layout_args {
  glen_context *ctx;
  const glen_loops *loops;
  const char *cost;
  const int64_t *widths;
  uint32_t n_widths;
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

static void
write_search(layout_args *a, po_layout_model *m, po_layout_cost cost) {
  po_layout_search found;
  bs_text out;
  po_layout_find(m, cost, a->widths, a->n_widths, &found);
  bs_text_init(&out, &a->ctx->heap);
  po_layout_put_trace(m, &found, &out);
  po_layout_put_script(m, a->loops->loops, &found, &out);
  po_layout_search_done(m, &found);
  a->text = api_string(a->ctx, &out);
}

static void
layout_body(void *arg) {
  layout_args *a = arg;
  po_layout_cost cost;
  po_layout_model model;
  if (!find_cost(a->ctx, a->cost, &cost))
    return;
  po_layout_model_init(&model, &a->ctx->heap, a->loops->loops->isl);
  if (po_layout_model_of(a->loops->loops, &model))
    write_search(a, &model, cost);
  else
    bs_error(&a->ctx->diags, BS_NOWHERE, "layout",
             "what the program reads is too complex to be priced");
  po_layout_model_done(&model);
}

const char *
glen_layout(glen_context *ctx, const glen_loops *loops, const char *cost,
            const int64_t *widths, uint32_t n_widths) {
  layout_args a = {.ctx = ctx,
                   .loops = loops,
                   .cost = cost,
                   .widths = widths,
                   .n_widths = n_widths};
  return api_enter(ctx, layout_body, &a) ? a.text : NULL;
}
