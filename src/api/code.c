/* code.c - a program lowered to loops and emitted as C. */
#include "api/api.h"
#include "codegen/cuda.h"

typedef struct code_args {
  glen_context *ctx;
  const glen_program *program;
  const glen_target *target;
  bool strict_fp;
  glen_loops *loops;
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
  if (!p)
    return;
  a->loops = BS_NEW(&a->ctx->arena, glen_loops);
  *a->loops = (glen_loops){.ctx = a->ctx, .loops = p};
}

glen_loops *
glen_lower(glen_context *ctx, const glen_program *program,
           const glen_target *target, bool strict_fp) {
  code_args a = {
      .ctx = ctx, .program = program, .target = target, .strict_fp = strict_fp};
  return api_enter(ctx, lower_body, &a) ? a.loops : NULL;
}

static void
prepack_body(void *arg) {
  code_args *a = arg;
  po_program *p = a->loops->loops;
  a->ok = po_prepack(p, a->name);
  if (a->ok) {
    po_lay_out(p);
    return;
  }
  bs_error(&a->ctx->diags, BS_NOWHERE, "unknown-input",
           "the program has no input named %s", a->name);
  bs_text names;
  bs_text_init(&names, &a->ctx->heap);
  for (uint32_t k = 0; k < p->source->inputs.len; k++)
    bs_putf(&names, "%s%s", k ? ", " : "", p->source->inputs.data[k].name);
  bs_hint(&a->ctx->diags, "its inputs are: %s", bs_text_str(&names));
  bs_text_done(&names);
}

bool
glen_prepack(glen_context *ctx, glen_loops *loops, const char *input) {
  code_args a = {.ctx = ctx, .loops = loops, .name = input};
  return api_enter(ctx, prepack_body, &a) && a.ok;
}

void
glen_loops_free(glen_loops *loops) {
  if (loops && loops->loops) {
    po_free(loops->loops);
    po_free(loops->original);
    loops->loops = loops->original = NULL;
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

static cg_options
emit_options(const code_args *a) {
  return (cg_options){.name = cg_identifier(&a->ctx->arena, a->name),
                      .header = a->header_file,
                      .openmp = true};
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
  if (!api_enter(ctx, emit_body, &a) || !a.ok)
    return false;
  *c = a.first;
  *h = a.second;
  return true;
}

static void
cuda_body(void *arg) {
  code_args *a = arg;
  cg_options options = emit_options(a);
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  a->ok = cg_emit_cuda(a->loops->loops, &options, &text);
  a->first = api_string(a->ctx, &text);
}

const char *
glen_emit_cuda(glen_context *ctx, const glen_loops *loops, const char *name) {
  code_args a = {.ctx = ctx, .loops = (glen_loops *)loops, .name = name};
  return api_enter(ctx, cuda_body, &a) && a.ok ? a.first : NULL;
}

static void
manifest_body(void *arg) {
  code_args *a = arg;
  cg_options options = emit_options(a);
  bs_text text;
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
