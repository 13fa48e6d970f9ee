/* SPDX-License-Identifier: MIT */
/* code.c - a program lowered to loops and emitted as C. */
#include "api/api.h"
#include "codegen/cuda/cuda.h"
#include "poly/search/auto.h"
#include <string.h>

typedef struct code_args {
  glen_context *ctx;
  const glen_program *program;
  const glen_target *target;
  bool strict_fp, nets;
  glen_loops *loops;
  glen_loops *variant;
  const char *name, *header_file;
  const char *first, *second;
  bool ok;
} code_args;

enum { MAX_PIECES = 64 };

static void
lower_body(void *arg) {
  code_args *a = arg;
  po_options options = {.strict_fp = a->strict_fp, .max_pieces = MAX_PIECES};
  po_program *p = po_lower(a->program->program, a->target->target, &options);
  if (p && a->nets && po_is_too_large(p)) {
    po_free(p);
    options.chains = true;
    p = po_lower(a->program->program, a->target->target, &options);
  }
  if (!p)
    return;
  a->loops = BS_NEW(&a->ctx->arena, glen_loops);
  *a->loops = (glen_loops){.ctx = a->ctx,
                           .loops = p,
                           .sizes = a->program->sizes,
                           .n_sizes = a->program->n_sizes};
}

static glen_loops *
lower(code_args a) {
  glen_context *ctx = a.ctx;
  if (!api_enter_stage(ctx, "lowering", 1, lower_body, &a) || !a.loops)
    api_blame_limit(ctx);
  return a.loops;
}

glen_loops *
glen_lower(glen_context *ctx, const glen_program *program,
           const glen_target *target, bool strict_fp) {
  return lower((code_args){.ctx = ctx,
                           .program = program,
                           .target = target,
                           .strict_fp = strict_fp});
}

glen_loops *
api_lower_net(glen_context *ctx, const glen_program *program,
              const glen_target *target, bool strict_fp) {
  return lower((code_args){.ctx = ctx,
                           .program = program,
                           .target = target,
                           .strict_fp = strict_fp,
                           .nets = true});
}

static bool
unknown_input(glen_context *ctx, const gs_program *p, const char *name) {
  bs_error(&ctx->diags, BS_NOWHERE, "unknown-input",
           "the program has no input named %s", name);
  bs_text names;
  bs_text_init(&names, &ctx->heap);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    bs_putf(&names, "%s%s", k ? ", " : "", p->inputs.data[k].name);
  bs_hint(&ctx->diags, "its inputs are: %s", bs_text_str(&names));
  bs_text_done(&names);
  return false;
}

bool
api_know_input(glen_context *ctx, const gs_program *p, const char *name) {
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (!strcmp(p->inputs.data[k].name, name))
      return true;
  return unknown_input(ctx, p, name);
}

void
glen_loops_free(glen_loops *loops) {
  if (loops && loops->loops) {
    po_free(loops->loops);
    po_free(loops->original);
    loops->loops = loops->original = NULL;
    while (loops->n_variants)
      glen_loops_free(loops->owned[--loops->n_variants]);
  }
}

static void
loops_text_body(void *arg) {
  code_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  po_print_with_origins(a->loops->loops, &text);
  a->first = api_string(a->ctx, &text);
}

const char *
glen_loops_text(glen_context *ctx, const glen_loops *loops) {
  code_args a = {.ctx = ctx, .loops = (glen_loops *)loops, .first = ""};
  api_enter(ctx, loops_text_body, &a);
  return a.first;
}

static void
tree_body(void *arg) {
  code_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  po_print_schedule_tree(a->loops->loops, &text);
  a->first = api_string(a->ctx, &text);
}

const char *
glen_loops_tree(glen_context *ctx, const glen_loops *loops) {
  code_args a = {.ctx = ctx, .loops = (glen_loops *)loops, .first = ""};
  api_enter(ctx, tree_body, &a);
  return a.first;
}

static int64_t
most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static const char *
why_no_variant(const glen_loops *of, const gs_variant *v) {
  const cg_variant *last = of->variants + of->n_variants - 1;
  if (!v || !*v->features)
    return "it is not one of avx2, avx512";
  if (of->n_variants == GLEN_MAX_VARIANTS)
    return "there are too many";
  if (of->n_variants && last->of->vector_bytes >= v->vector_bytes)
    return "it has no more than the one before";
  return NULL;
}

static void
dispatch_body(void *arg) {
  code_args *a = arg;
  const gs_variant *v = gs_find_variant(a->name);
  po_program *p = a->loops->loops;
  const po_program *of = a->variant->loops;
  const char *why = why_no_variant(a->loops, v);
  a->ok = !why;
  if (why) {
    bs_error(&a->ctx->diags, BS_NOWHERE, "bad-variant",
             "%s cannot be the next variant: %s", a->name, why);
    return;
  }
  p->workspace_bytes = most(p->workspace_bytes, of->workspace_bytes);
  p->workspace_least = most(p->workspace_least, of->workspace_least);
  p->prepacked_bytes = most(p->prepacked_bytes, of->prepacked_bytes);
  a->loops->owned[a->loops->n_variants] = a->variant;
  a->loops->variants[a->loops->n_variants++] = (cg_variant){v, of};
}

bool
glen_dispatch(glen_context *ctx, glen_loops *loops, const char *name,
              glen_loops *variant) {
  code_args a = {.ctx = ctx, .loops = loops, .name = name, .variant = variant};
  return api_enter_stage(ctx, "code generation", 1, dispatch_body, &a) && a.ok;
}

static cg_options
emit_options(const code_args *a) {
  return (cg_options){.name = cg_identifier(a->loops->loops, a->name),
                      .header = a->header_file,
                      .openmp = true,
                      .fused = a->loops->fused,
                      .variants = a->loops->variants,
                      .n_variants = a->loops->n_variants};
}

static void
emit_body(void *arg) {
  code_args *a = arg;
  cg_options options = emit_options(a);
  bs_text c, h;
  bs_text_init(&c, &a->ctx->heap);
  bs_text_init(&h, &a->ctx->heap);
  a->ok = cg_emit_c(a->loops->loops, &options, &c, &h);
  a->first = api_string(a->ctx, &c);
  a->second = api_string(a->ctx, &h);
}

bool
glen_emit_c(glen_context *ctx, const glen_loops *loops, const char *name,
            const char *header_file, const char **c, const char **h) {
  code_args a = {.ctx = ctx,
                 .loops = (glen_loops *)loops,
                 .name = name,
                 .header_file = header_file};
  if (!api_enter_stage(ctx, "code generation", 1, emit_body, &a) || !a.ok)
    return api_blame_limit(ctx);
  *c = a.first;
  *h = a.second;
  return true;
}

static void
cuda_body(void *arg) {
  code_args *a = arg;
  cg_options options = emit_options(a);
  bs_text text;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "CUDA"))
    return;
  bs_text_init(&text, &a->ctx->heap);
  a->ok = cg_emit_cuda(a->loops->loops, &options, &text);
  a->first = api_string(a->ctx, &text);
}

const char *
glen_emit_cuda(glen_context *ctx, const glen_loops *loops, const char *name) {
  code_args a = {.ctx = ctx, .loops = (glen_loops *)loops, .name = name};
  return api_enter_stage(ctx, "code generation", 1, cuda_body, &a) && a.ok
             ? a.first
             : NULL;
}

static void
manifest_body(void *arg) {
  code_args *a = arg;
  cg_options options = emit_options(a);
  bs_text text;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a manifest"))
    return;
  bs_text_init(&text, &a->ctx->heap);
  cg_emit_manifest(a->loops->loops, &options, &text);
  a->first = api_string(a->ctx, &text);
}

const char *
glen_manifest(glen_context *ctx, const glen_loops *loops, const char *name) {
  code_args a = {
      .ctx = ctx, .loops = (glen_loops *)loops, .name = name, .first = ""};
  api_enter(ctx, manifest_body, &a);
  return a.first;
}
