/* SPDX-License-Identifier: MIT */
/* schedule.c - loop programs read from text, and scheduled by scripts. */
#include "glenside/target/tuned.h"
#include "api/api.h"
#include "poly/loops/loops_sizes.h"
#include "poly/search/auto.h"
#include "poly/schedule/primitive.h"
#include "poly/strategy/strategy.h"
#include <string.h>

glen_loops *
glen_loops_load(glen_context *ctx, const glen_target *target, const char *path,
                bool strict_fp) {
  return glen_loops_load_at(ctx, target, path, strict_fp, NULL, 0);
}

glen_loops *
glen_loops_load_at(glen_context *ctx, const glen_target *target,
                   const char *path, bool strict_fp, const char *const *sizes,
                   uint32_t n_sizes) {
  API_ENTER_STAGE(ctx, "reading", 1, NULL);
  po_given_size *given;
  if (!api_read_sizes(ctx, &ctx->arena, sizes, n_sizes, &given))
    return NULL;
  uint32_t source = bs_source_read(&ctx->diags, path, BS_NOWHERE);
  po_program *p =
      source ? po_read_loops(&ctx->gs, target->target, source, given, n_sizes)
             : NULL;
  if (!p) {
    api_blame_limit(&frame);
    return NULL;
  }
  p->strict_fp |= strict_fp;
  glen_loops *loops = BS_NEW(&ctx->arena, glen_loops);
  *loops =
      (glen_loops){.ctx = ctx, .loops = p, .sizes = given, .n_sizes = n_sizes};
  return loops;
}

const glen_program *
glen_loops_program(glen_context *ctx, const glen_loops *loops) {
  API_ENTER(ctx, NULL);
  glen_program *program = BS_NEW(&ctx->arena, glen_program);
  program->program = loops->loops->source;
  return program;
}

void
api_keep_original(glen_loops *loops) {
  if (!loops->original)
    loops->original = po_copy(loops->loops);
}

bool
glen_schedule(glen_context *ctx, glen_loops *loops, const char *path,
              bool explain, const char **printed) {
  *printed = "";
  API_ENTER_STAGE(ctx, "scheduling", 1, false);
  bs_text out;
  api_keep_original(loops);
  bs_text_init(&out, &ctx->heap);
  uint32_t source = bs_source_read(&ctx->diags, path, BS_NOWHERE);
  bool ok = source && (explain ? po_explain_script(&loops->loops, source, &out)
                               : po_run_script(&loops->loops, source, &out));
  if (ok) {
    api_free_parts(loops);
    po_lay_out(loops->loops);
  } else {
    api_blame_limit(&frame);
  }
  *printed = api_string(ctx, &out);
  return ok;
}

/* The rest of the time is for the code. */
static const double OF_SCHEDULE = 0.6;

/* "for avx2: ", where loops are scheduled for several kinds of processors. */
static const char *
for_which(glen_context *ctx, const glen_loops *loops) {
  return loops->variant
             ? bs_arena_printf(&ctx->arena, "for %s: ", loops->variant)
             : "";
}

/* Where the limits of the command, not those of the work, were the reason. */
static bool
warn_of_limit(glen_context *ctx, const glen_loops *loops,
              const po_auto_result *done) {
  bs_reason why = ctx->governor.stage.over;
  if (why)
    bs_warning(&ctx->diags, BS_NOWHERE, bs_reason_code(why),
               "%s%s: the fused schedule was given up, and %s was used",
               for_which(ctx, loops), bs_reason_name(why),
               po_fuse_names[done->fuse]);
  return why != BS_GOES_ON;
}

bool
api_fuse_unasked(po_program **program, po_auto_options *options,
                 po_auto_result *done, po_program **lowered) {
  *done = (po_auto_result){.fuse = PO_FUSE_MIN};
  *lowered = NULL;
  options->fuse = po_profitable_fusion(*program);
  if (options->fuse == PO_FUSE_MIN)
    return true;
  *lowered = po_copy(*program);
  options->unasked = true;
  *done = po_schedule_automatically(program, options);
  if (done->finished && done->fuse != PO_FUSE_MIN)
    return true;
  po_free(*program);
  *program = po_copy(*lowered);
  po_lay_out(*program);
  done->fuse = PO_FUSE_MIN;
  return false;
}

static void
fuse_if_profitable(glen_context *ctx, glen_loops *loops,
                   po_auto_options *options) {
  po_auto_result done;
  po_program *lowered;
  if (!api_fuse_unasked(&loops->loops, options, &done, &lowered))
    warn_of_limit(ctx, loops, &done);
  if (loops->original && lowered)
    po_free(lowered);
  else if (lowered)
    loops->original = lowered;
  loops->fused = done.fuse != PO_FUSE_MIN && loops->loops->script.len
                     ? po_fuse_names[done.fuse]
                     : NULL;
}

/* What the schedule lacks of what was asked for. */
static void
warn_of_rest(glen_context *ctx, const glen_loops *loops, po_fuse asked,
             const po_auto_result *done) {
  const char *name = po_fuse_names[asked], *which = for_which(ctx, loops);
  if (done->fuse != asked && !warn_of_limit(ctx, loops, done))
    bs_warning(&ctx->diags, BS_NOWHERE, "schedule-limit",
               "%sthe program is too large to be fused by %s: %s was taken",
               which, name, po_fuse_names[done->fuse]);
  if (done->n_left)
    bs_warning(&ctx->diags, BS_NOWHERE, "schedule-limit",
               "%s%u %s too large to be fused by %s: %s", which,
               BS_COUNTED_AS(done->n_left, "nest is", "nests or more are"),
               po_fuse_names[done->fuse],
               done->fuse == PO_FUSE_SMART
                   ? "some loops may be left as they are"
                   : "smart was taken there");
  if (!done->finished)
    bs_warning(&ctx->diags, BS_NOWHERE, "schedule-limit",
               "%sthe program is too large: some loops are neither unrolled "
               "nor run by threads",
               which);
}

static const po_fuse ways[] = {[GLEN_FUSE_MIN] = PO_FUSE_MIN,
                               [GLEN_FUSE_SMART] = PO_FUSE_SMART,
                               [GLEN_FUSE_MAX] = PO_FUSE_MAX,
                               [GLEN_FUSE_POST_TILE] = PO_FUSE_POST_TILE};

static bool
fuse(glen_context *ctx, glen_loops *loops, glen_fusion way,
     po_auto_options *options) {
  if (way == GLEN_FUSE_NONE)
    return true;
  if (way == GLEN_FUSE_AUTO) {
    fuse_if_profitable(ctx, loops, options);
    return true;
  }
  if ((unsigned)way >= sizeof ways / sizeof *ways)
    return bs_error(&ctx->diags, BS_NOWHERE, "no-such-fusion",
                    "there is no fusion with the number %u", (unsigned)way);
  options->fuse = ways[way];
  api_keep_original(loops);
  po_auto_result done = po_schedule_automatically(&loops->loops, options);
  warn_of_rest(ctx, loops, options->fuse, &done);
  return true;
}

/* What --explain says of fusion. */
static const char *
tell_dropped(glen_context *ctx, const po_auto_options *options) {
  bs_text out;
  bs_text_init(&out, &ctx->heap);
  double most =
      options->max_recompute > 0 ? options->max_recompute : GS_RECOMPUTE;
  for (uint32_t k = 0; k < options->dropped->len; k++) {
    const po_dropped *d = &options->dropped->data[k];
    bs_putf(
        &out,
        "%s stays where it is: in its consumer's tiles it would be computed "
        "%.3g times, and %.3g are allowed (--recompute)\n",
        d->array, d->times, most);
  }
  return api_string(ctx, &out);
}

bool
api_fuse(glen_context *ctx, glen_loops *loops, glen_fusion way,
         const glen_code_options *o, const char **told) {
  *told = "";
  API_ENTER_STAGE(ctx, "scheduling", OF_SCHEDULE, false);
  po_dropped_list dropped = {0};
  po_auto_options options = {.max_recompute = o->recompute,
                             .dropped = o->explain ? &dropped : NULL};
  for (uint32_t k = 0; k < o->n_tiles && k < GS_MAX_RANK; k++)
    if (o->tiles[k] > 0)
      options.tiles[options.n_tiles++] = o->tiles[k];
  bool ok = fuse(ctx, loops, way, &options);
  if (o->explain)
    *told = tell_dropped(ctx, &options);
  bs_vec_done(&ctx->heap, &dropped);
  return ok;
}

bool
glen_schedule_auto(glen_context *ctx, glen_loops *loops, glen_fusion way,
                   const int64_t *tiles, uint32_t n_tiles) {
  glen_code_options o = {.tiles = tiles, .n_tiles = n_tiles};
  const char *told;
  return api_fuse(ctx, loops, way, &o, &told);
}

static glen_loops *
copy_for(glen_context *ctx, const glen_loops *loops, const gs_target *target) {
  glen_loops *copy = BS_NEW(&ctx->arena, glen_loops);
  *copy = (glen_loops){.ctx = ctx,
                       .loops = po_copy_for(loops->loops, target),
                       .original =
                           loops->original ? po_copy(loops->original) : NULL,
                       .variant = loops->variant,
                       .sizes = loops->sizes,
                       .n_sizes = loops->n_sizes};
  po_lay_out(copy->loops);
  return copy;
}

glen_loops *
glen_loops_copy(glen_context *ctx, const glen_loops *loops) {
  API_ENTER(ctx, NULL);
  return copy_for(ctx, loops, loops->loops->target);
}

glen_loops *
api_loops_for(glen_context *ctx, const glen_loops *loops,
              const glen_target *target) {
  API_ENTER_STAGE(ctx, "lowering", 1, NULL);
  assert(!loops->original && !loops->n_variants);
  glen_loops *copy = copy_for(ctx, loops, target->target);
  copy->variant = target->variant;
  return copy;
}

bool
glen_bind(glen_context *ctx, glen_loops *loops) {
  API_ENTER_STAGE(ctx, "scheduling", 1, false);
  if (!api_knows_sizes(ctx, loops->loops, "code for a device"))
    return false;
  po_bind_automatically(&loops->loops);
  return true;
}

const char *
glen_schedule_print(glen_context *ctx, glen_loops *loops, glen_printed what) {
  API_ENTER(ctx, NULL);
  const po_program *now = loops->loops, *was = loops->original;
  const char *word = api_printed_word(what);
  if (what == GLEN_PRINT_AXES && !api_knows_sizes(ctx, now, "--print"))
    return NULL;
  bs_text out;
  bs_text_init(&out, &ctx->heap);
  bool ok = what == GLEN_PRINT_FUSED
                ? po_print_fused(was ? was : now, now, &out)
                : word && po_print_named(loops->loops, word, &out);
  const char *text = api_string(ctx, &out);
  if (!word)
    bs_error(&ctx->diags, BS_NOWHERE, "not-printed",
             "nothing of number %u is printed of loops", (unsigned)what);
  return ok ? text : NULL;
}

const char *
glen_schedule_help(glen_context *ctx) {
  API_ENTER(ctx, "");
  bs_text out;
  bs_text_init(&out, &ctx->heap);
  for (uint32_t k = 0; k < po_n_primitives; k++)
    bs_putf(&out, "  %s\n      %s\n", po_primitives[k].usage,
            po_primitives[k].effect);
  return api_string(ctx, &out);
}
