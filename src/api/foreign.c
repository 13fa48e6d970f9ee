/* SPDX-License-Identifier: MIT */
/* foreign.c - extraction from an e-graph that another program saved. */
#include "api/api.h"
#include "extract/negative.h"

typedef struct foreign_args {
  glen_context *ctx;
  const char *path, *extractor;
  double seconds;
  bool json;
  const char *out;
} foreign_args;

/* The rest is for the answer. */
static const double OF_TIME = 0.9;

static bool
solve(foreign_args *a, const ex_problem *problem, ex_solution *out) {
  bs_diags *diags = &a->ctx->diags;
  ex_options options = {.seconds = a->seconds, .interrupt = &a->ctx->interrupt};
  ex_method method;
  if (!ex_method_find(a->extractor, &method))
    return bs_error(diags, BS_NOWHERE, "unknown-extractor",
                    "there is no extractor named %s", a->extractor);
  if (!ex_method_is_there(method))
    return bs_error(diags, BS_NOWHERE, "missing-feature",
                    "the extractor %s needs CBC, which is not there",
                    a->extractor);
  if (ex_method_trees(method) && ex_has_negative(problem)) {
    bs_error(diags, BS_NOWHERE, "negative-cost",
             "costs below zero have no cheapest tree: a term may be used again "
             "and again");
    bs_hint(diags, "take --extractor dag or exact");
    return false;
  }
  if (!ex_solve(problem, method, &options, out))
    return bs_error(diags, BS_NOWHERE, "infeasible",
                    "no acyclic term exists for the roots of %s", a->path);
  return true;
}

static void
foreign_body(void *arg) {
  foreign_args *a = arg;
  bs_heap *heap = &a->ctx->heap;
  bs_stage_begin(&a->ctx->governor, "extraction", OF_TIME, 1);
  ex_problem problem;
  ex_solution solution;
  uint32_t source = bs_source_read(&a->ctx->diags, a->path, BS_NOWHERE);
  if (!source || !ex_import_json(heap, &a->ctx->diags, source, &problem))
    return;
  if (solve(a, &problem, &solution)) {
    bs_text text;
    bs_text_init(&text, heap);
    ex_put_solution(&problem, &solution, a->json, &text);
    a->out = api_string(a->ctx, &text);
    ex_solution_done(&problem, &solution);
  }
  ex_problem_done(&problem);
}

const char *
glen_extract_foreign(glen_context *ctx, const char *path, const char *extractor,
                     double seconds, bool json) {
  foreign_args a = {ctx, path, extractor, seconds, json, NULL};
  ctx->interrupt = 0;
  return api_enter_listening(ctx, foreign_body, &a) ? a.out : NULL;
}
