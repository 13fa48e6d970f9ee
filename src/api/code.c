/* SPDX-License-Identifier: MIT */
/* code.c - a program lowered to loops and emitted as C. */
#include "api/api.h"
#include "codegen/device/device.h"
#include "poly/search/auto.h"
#include <string.h>

static glen_loops *
lower(glen_context *ctx, const glen_program *program, const glen_target *target,
      bool strict_fp, bool nets) {
  API_ENTER_STAGE(ctx, "lowering", 1, NULL);
  po_options options = {.strict_fp = strict_fp, .max_pieces = API_MAX_PIECES};
  po_program *p = po_lower(program->program, target->target, &options);
  if (p && nets && po_is_too_large(p)) {
    po_free(p);
    options.chains = true;
    p = po_lower(program->program, target->target, &options);
  }
  if (!p) {
    api_blame_limit(&frame);
    return NULL;
  }
  glen_loops *loops = BS_NEW(&ctx->arena, glen_loops);
  *loops = (glen_loops){.ctx = ctx,
                        .loops = p,
                        .variant = target->variant,
                        .sizes = program->sizes,
                        .n_sizes = program->n_sizes};
  return loops;
}

glen_loops *
glen_lower(glen_context *ctx, const glen_program *program,
           const glen_target *target, bool strict_fp) {
  return lower(ctx, program, target, strict_fp, false);
}

glen_loops *
api_lower_net(glen_context *ctx, const glen_program *program,
              const glen_target *target, bool strict_fp) {
  return lower(ctx, program, target, strict_fp, true);
}

bool
api_know_input(glen_context *ctx, const gs_program *p, const char *name) {
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (!strcmp(p->inputs.data[k].name, name))
      return true;
  bs_error(&ctx->diags, BS_NOWHERE, "unknown-input",
           "the program has no input named %s", name);
  api_hint_inputs(ctx, p);
  return false;
}

void
api_free_parts(glen_loops *loops) {
  while (loops->n_keys)
    glen_loops_free(loops->parts[--loops->n_keys]);
}

void
glen_loops_free(glen_loops *loops) {
  if (loops && loops->loops) {
    po_free(loops->loops);
    po_free(loops->original);
    loops->loops = loops->original = NULL;
    while (loops->n_variants)
      glen_loops_free(loops->owned[--loops->n_variants]);
    api_free_parts(loops);
  }
}

const char *
glen_loops_text(glen_context *ctx, const glen_loops *loops) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  po_print_with_origins(loops->loops, &text);
  return api_string(ctx, &text);
}

const char *
glen_loops_tree(glen_context *ctx, const glen_loops *loops) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  po_print_schedule_tree(loops->loops, &text);
  return api_string(ctx, &text);
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
    return "it has no feature that the one before lacks";
  return NULL;
}

void
api_make_room(po_program *p, const po_program *of) {
  p->workspace_bytes = most(p->workspace_bytes, of->workspace_bytes);
  p->workspace_least = most(p->workspace_least, of->workspace_least);
  p->prepacked_bytes = most(p->prepacked_bytes, of->prepacked_bytes);
}

bool
glen_dispatch(glen_context *ctx, glen_loops *loops, const char *name,
              glen_loops *variant) {
  API_ENTER_STAGE(ctx, "code generation", 1, false);
  const gs_variant *v = gs_find_variant(name);
  po_program *p = loops->loops;
  const po_program *of = variant->loops;
  const char *why = why_no_variant(loops, v);
  if (why) {
    bs_error(&ctx->diags, BS_NOWHERE, "bad-variant",
             "%s cannot be the next variant: %s", name, why);
    return false;
  }
  api_make_room(p, of);
  loops->owned[loops->n_variants] = variant;
  loops->variants[loops->n_variants++] =
      (cg_variant){v, of, {variant->n_keys, variant->keys}};
  return true;
}

static cg_options
emit_options(const glen_loops *loops, const char *name) {
  return (cg_options){.name = cg_identifier(loops->loops, name),
                      .openmp = true,
                      .fused = loops->fused,
                      .variants = loops->variants,
                      .n_variants = loops->n_variants,
                      .keys = {loops->n_keys, loops->keys}};
}

bool
glen_emit_c(glen_context *ctx, const glen_loops *loops, const char *name,
            const char *header_file, const char **c, const char **h) {
  API_ENTER_STAGE(ctx, "code generation", 1, false);
  cg_options options = emit_options(loops, name);
  options.header = header_file;
  bs_text code, header;
  bs_text_init(&code, &ctx->heap);
  bs_text_init(&header, &ctx->heap);
  if (!cg_emit_c(loops->loops, &options, &code, &header)) {
    api_blame_limit(&frame);
    return false;
  }
  *c = api_string(ctx, &code);
  *h = api_string(ctx, &header);
  return true;
}

const char *
glen_emit_cuda(glen_context *ctx, const glen_loops *loops, const char *name) {
  API_ENTER_STAGE(ctx, "code generation", 1, NULL);
  cg_options options = emit_options(loops, name);
  bs_text text;
  if (!api_knows_sizes(ctx, loops->loops, "CUDA"))
    return NULL;
  bs_text_init(&text, &ctx->heap);
  bool ok = cg_emit_cuda(loops->loops, &options, &text);
  const char *code = api_string(ctx, &text);
  return ok ? code : NULL;
}

bool
glen_emit_opencl(glen_context *ctx, const glen_loops *loops, const char *name,
                 const char **kernels, const char **host) {
  API_ENTER_STAGE(ctx, "code generation", 1, false);
  cg_options options = emit_options(loops, name);
  bs_text code, functions;
  if (!api_knows_sizes(ctx, loops->loops, "OpenCL"))
    return false;
  bs_text_init(&code, &ctx->heap);
  bs_text_init(&functions, &ctx->heap);
  bool ok = cg_emit_opencl(loops->loops, &options, &code, &functions);
  *kernels = api_string(ctx, &code);
  *host = api_string(ctx, &functions);
  return ok;
}

const char *
glen_manifest(glen_context *ctx, const glen_loops *loops, const char *name) {
  API_ENTER(ctx, "");
  cg_options options = emit_options(loops, name);
  bs_text text;
  if (!api_knows_sizes(ctx, loops->loops, "a manifest"))
    return "";
  bs_text_init(&text, &ctx->heap);
  cg_emit_manifest(loops->loops, &options, &text);
  return api_string(ctx, &text);
}

const char *
glen_function_name(glen_context *ctx, const glen_loops *loops,
                   const char *name) {
  API_ENTER(ctx, "");
  return emit_options(loops, name).name;
}
