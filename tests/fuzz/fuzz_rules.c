/* SPDX-License-Identifier: MIT */
/* The parser of rule files on any bytes: rules, or diagnostics.
 *
 * Rules that are well-formed run for a few iterations on a small program; they
 * may break the law, which must be told.  Then all of it is done once more with
 * half of the memory.  A fourth of the inputs, by their lengths, have the
 * instruction of a small target, whose rules cost more than all else. */
#include "common.h"
#include "rules/rule/saturate.h"
#include "rules/rule/test.h"

static const char program_text[] =
    "(tensor x (shape 4 6) f32) (const k (shape 2 6) f32 0 0 0 0 0 0 1 1 1 1 1"
    " 1) (let p (pad (access x 1) zero 0 1 1))"
    "(let m (compute relu (compute dotProd (cartProd p (access k 1)))))"
    "(let w (windows (transpose m (list 1 0)) (shape) (stride)))"
    "(let s (compute reduceMax (slice (access m 1) 0 1 5)))"
    "(output m) (output w) (output s)";

static common of_all;

/* Files are not read: a text that could name one is passed over. */
static bool
names_a_file(const char *bytes, size_t size) {
  return memmem(bytes, size, "include", 7) || memmem(bytes, size, ":target", 7);
}

static void
run_rules(const gs_context *ctx, const rl_rules *rules, const gs_target *t) {
  uint32_t source =
      bs_source_add(ctx->diags, "p", program_text, sizeof program_text - 1);
  gs_program *p = gs_parse(ctx, t, source);
  rl_options o = {0};
  rl_run run;
  require(p != NULL);
  eg_run_defaults(&o.run);
  o.run.iterations = 4;
  o.run.nodes = 400;
  o.run.seconds = 1;
  uint32_t before = ctx->diags->errors;
  bool ok = rl_saturate(ctx, p, rules, &o, &run);
  require(ok == (ctx->diags->errors == before));
  require(ok == (run.stop != EG_STOP_FAULT));
  require(!eg_check(run.graph));
  rl_run_done(&run);
}

static void
all_of_it(void *arg) {
  input *in = arg;
  bs_arena arena;
  bs_diags diags;
  gs_context ctx = context_over(&of_all, in->heap, &arena, &diags);
  const gs_target *t = in->size % 4 ? NULL : of_all.target;
  uint32_t source = bs_source_add(&diags, "r", in->bytes, in->size);
  rl_rules *rules = rl_new(&ctx, t);
  bool ok = source && rl_load_source(rules, source);
  ok = source && rl_finish(rules) && ok;
  require(ok == (diags.errors == 0));
  if (ok)
    run_rules(&ctx, rules, t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (names_a_file((const char *)bytes, size))
    return 0;
  renew(&of_all);
  read_twice_below(&of_all.heap, all_of_it, bytes, size, 0);
  return 0;
}
