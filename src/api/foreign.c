/* SPDX-License-Identifier: MIT */
/* foreign.c - extraction from an e-graph that another program saved. */
#include "api/api.h"
#include "extract/negative.h"

typedef struct foreign_args {
  glen_context *ctx;
  const char *path;
  glen_extractor extractor;
  double seconds;
} foreign_args;

/* The rest is for the answer. */
static const double OF_TIME = 0.9;

static bool
solve(foreign_args *a, const ex_problem *problem, ex_solution *out) {
  bs_diags *diags = &a->ctx->diags;
  ex_options options = {.seconds = a->seconds, .interrupt = &a->ctx->interrupt};
  ex_method method;
  if (!api_find_method(a->ctx, a->extractor, &method))
    return false;
  if (ex_method_trees(method) && ex_has_negative(problem)) {
    bs_error(diags, BS_NOWHERE, "negative-cost",
             "costs below zero have no cheapest tree: a term may be used again "
             "and again");
    bs_hint(diags, "use --extractor dag or exact");
    return false;
  }
  if (!ex_solve(problem, method, &options, out))
    return bs_error(diags, BS_NOWHERE, "infeasible",
                    "no acyclic term exists for the roots of %s", a->path);
  return true;
}

const char *
glen_extract_foreign(glen_context *ctx, const char *path,
                     glen_extractor extractor, double seconds, bool json) {
  foreign_args a = {ctx, path, extractor, seconds};
  ctx->interrupt = 0;
  API_ENTER_LISTENING(ctx, NULL);
  bs_stage_begin(&ctx->governor, "extraction", OF_TIME, 1);
  ex_problem problem;
  ex_solution solution;
  const char *out = NULL;
  uint32_t source = bs_source_read(&ctx->diags, path, BS_NOWHERE);
  if (!source || !ex_import_json(&ctx->heap, &ctx->diags, source, &problem))
    return NULL;
  if (solve(&a, &problem, &solution)) {
    bs_text text;
    bs_text_init(&text, &ctx->heap);
    ex_put_solution(&problem, &solution, json, &text);
    out = api_string(ctx, &text);
    ex_solution_done(&problem, &solution);
  }
  ex_problem_done(&problem);
  return out;
}
