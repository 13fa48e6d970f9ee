/* SPDX-License-Identifier: MIT */
/* api_layout.c - layouts of a program's arrays, and orders of its loops, chosen
 * by cost. */
#include "api/api.h"
#include "poly/datalayout/datalayout.h"
#include "poly/schedule/primitive.h"

static const po_layout_cost costs[] = {[GLEN_LAYOUT_DOC] = PO_COST_DOC,
                                       [GLEN_LAYOUT_AUTOKERNEL] =
                                           PO_COST_AUTOKERNEL,
                                       [GLEN_LAYOUT_LINES] = PO_COST_LINES};

static bool
knows_cost(glen_context *ctx, glen_layout_cost cost) {
  if (cost == GLEN_LAYOUT_NONE ||
      (unsigned)cost >= sizeof costs / sizeof *costs)
    return bs_error(&ctx->diags, BS_NOWHERE, "no-such-cost",
                    "there is no layout cost with the number %u",
                    (unsigned)cost);
  return true;
}

/* The search for layouts, then the commands since the first n of the
 * program's script and those that give it the layouts. */
static const char *
write_search(glen_context *ctx, po_layout_model *m, const po_program *p,
             uint32_t n, const po_layout_search *found, bs_text *out) {
  po_layout_put_trace(m, found, out);
  for (uint32_t k = n; k < p->script.len; k++)
    bs_putf(out, "%s\n", p->script.data[k]);
  po_layout_put_script(m, p, found, out);
  return api_string(ctx, out);
}

const char *
glen_layout(glen_context *ctx, const glen_loops *loops, glen_layout_cost by,
            const int64_t *widths, uint32_t n_widths, bool keep_order) {
  API_ENTER_STAGE(ctx, "the search for layouts", 1, NULL);
  po_layout_model model;
  po_layout_search found;
  const char *text = NULL;
  bs_text out;
  if (!api_knows_sizes(ctx, loops->loops, "a layout") || !knows_cost(ctx, by))
    return NULL;
  po_program *p = po_copy(loops->loops);
  uint32_t n = p->script.len;
  bs_text_init(&out, &ctx->heap);
  po_lay_out(p);
  if (!keep_order)
    po_layout_order_loops(&p, costs[by], widths, n_widths, &out);
  po_layout_model_init(&model, &ctx->heap, p->isl);
  if (po_layout_model_of(p, &model)) {
    po_layout_find(&model, costs[by], widths, n_widths, &found);
    text = write_search(ctx, &model, p, n, &found, &out);
    po_layout_search_done(&model, &found);
  } else {
    bs_stage_check(&ctx->heap); /* a limit is the reason, where one was met */
    bs_error(&ctx->diags, BS_NOWHERE, "layout",
             "what the program reads is too complex to be priced");
  }
  po_layout_model_done(&model);
  po_free(p);
  return text;
}

/* The rest of the time is for the code. */
static const double OF_SCHEDULE = 0.6;

/* Some seconds' worth. */
enum { MOST_PRICED = 400 };

/* The cheapest of some layouts; the program's arrays lie so from there on. */
static void
give_found(glen_context *ctx, po_program **p, po_layout_model *model,
           po_layout_cost cost, const int64_t *widths, uint32_t n_widths) {
  po_layout_search found;
  po_layout_leave_some(model);
  model->most = MOST_PRICED;
  po_layout_find(model, cost, widths, n_widths, &found);
  po_layout_give(p, model, &found);
  if (found.stopped)
    bs_warning(&ctx->diags, BS_NOWHERE, "layout-limit",
               "the program is too large to try every layout: the best of "
               "those tried was taken");
  po_layout_search_done(model, &found);
}

bool
glen_give_layouts(glen_context *ctx, glen_loops *loops, glen_layout_cost by,
                  const int64_t *widths, uint32_t n_widths) {
  API_ENTER_STAGE(ctx, "the search for layouts", OF_SCHEDULE, false);
  po_layout_model model;
  po_program **p = &loops->loops;
  if (!api_knows_sizes(ctx, *p, "a layout") || !knows_cost(ctx, by))
    return false;
  if (!loops->original)
    loops->original = po_copy(*p);
  po_lay_out(*p);
  po_layout_model_init(&model, &ctx->heap, (*p)->isl);
  if (po_layout_model_of(*p, &model))
    give_found(ctx, p, &model, costs[by], widths, n_widths);
  else
    bs_warning(&ctx->diags, BS_NOWHERE, "layout",
               "what the program reads is too complex to be priced: arrays "
               "keep their layouts");
  po_layout_model_done(&model);
  return true;
}
