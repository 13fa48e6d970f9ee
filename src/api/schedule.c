/* SPDX-License-Identifier: MIT */
/* schedule.c - loop programs read from text, and scheduled by scripts. */
#include "api/api.h"
#include "poly/loops/sizes.h"
#include "poly/search/auto.h"
#include "poly/schedule/primitive.h"
#include "poly/strategy/strategy.h"
#include <string.h>

typedef struct schedule_args {
  glen_context *ctx;
  const glen_target *target;
  glen_loops *loops;
  glen_program *program;
  const char *path, *what;
  po_auto_options options;
  const char *const *sizes;
  uint32_t n_sizes;
  bool explain, strict_fp, ok;
  const char *text;
} schedule_args;

static void
load_body(void *arg) {
  schedule_args *a = arg;
  const po_given_size *sizes;
  if (!api_read_sizes(a->ctx, &a->ctx->arena, a->sizes, a->n_sizes, &sizes))
    return;
  uint32_t source = bs_source_read(&a->ctx->diags, a->path, BS_NOWHERE);
  po_program *p = source ? po_read_loops_at(&a->ctx->gs, a->target->target,
                                            source, sizes, a->n_sizes)
                         : NULL;
  if (!p)
    return;
  p->strict_fp |= a->strict_fp;
  a->loops = BS_NEW(&a->ctx->arena, glen_loops);
  *a->loops = (glen_loops){
      .ctx = a->ctx, .loops = p, .sizes = sizes, .n_sizes = a->n_sizes};
}

glen_loops *
glen_loops_load(glen_context *ctx, const glen_target *target, const char *path,
                bool strict_fp) {
  return glen_loops_load_at(ctx, target, path, strict_fp, NULL, 0);
}

glen_loops *
glen_loops_load_at(glen_context *ctx, const glen_target *target,
                   const char *path, bool strict_fp, const char *const *sizes,
                   uint32_t n_sizes) {
  schedule_args a = {.ctx = ctx,
                     .target = target,
                     .path = path,
                     .strict_fp = strict_fp,
                     .sizes = sizes,
                     .n_sizes = n_sizes};
  if (!api_enter_stage(ctx, "reading", 1, load_body, &a) || !a.loops)
    api_blame_limit(ctx);
  return a.loops;
}

static void
program_body(void *arg) {
  schedule_args *a = arg;
  a->program = BS_NEW(&a->ctx->arena, glen_program);
  a->program->program = (gs_program *)a->loops->loops->source;
}

const glen_program *
glen_loops_program(glen_context *ctx, const glen_loops *loops) {
  schedule_args a = {.ctx = ctx, .loops = (glen_loops *)loops};
  return api_enter(ctx, program_body, &a) ? a.program : NULL;
}

static void
keep_original(glen_loops *loops) {
  if (!loops->original)
    loops->original = po_copy(loops->loops);
}

static void
script_body(void *arg) {
  schedule_args *a = arg;
  bs_text out;
  keep_original(a->loops);
  bs_text_init(&out, &a->ctx->heap);
  uint32_t source = bs_source_read(&a->ctx->diags, a->path, BS_NOWHERE);
  a->ok =
      source && (a->explain ? po_explain_script(&a->loops->loops, source, &out)
                            : po_run_script(&a->loops->loops, source, &out));
  if (a->ok)
    po_lay_out(a->loops->loops);
  a->text = api_string(a->ctx, &out);
}

bool
glen_schedule(glen_context *ctx, glen_loops *loops, const char *path,
              bool explain, const char **printed) {
  schedule_args a = {
      .ctx = ctx, .loops = loops, .path = path, .explain = explain, .text = ""};
  bool in = api_enter_stage(ctx, "scheduling", 1, script_body, &a);
  *printed = a.text;
  return (in && a.ok) || api_blame_limit(ctx);
}

/* The rest of the time is for the code. */
static const double OF_SCHEDULE = 0.6;

/* Where the limits of the command, not those of the work, were the reason. */
static bool
warn_of_limit(glen_context *ctx, const po_auto_result *done) {
  bs_reason why = ctx->governor.stage.over;
  if (why)
    bs_warning(&ctx->diags, BS_NOWHERE, bs_reason_code(why),
               "%s: the fused schedule was left out, %s was taken",
               bs_reason_name(why), po_fuse_names[done->fuse]);
  return why != BS_GOES_ON;
}

/* Where the program is worth it; where a limit was reached, loops without
 * threads are worse than those as lowered. */
static void
auto_if_worth(schedule_args *a) {
  a->ok = true;
  if (po_has_sizes(a->loops->loops) || !po_is_worth_fusing(a->loops->loops))
    return;
  keep_original(a->loops);
  a->options.fuse = PO_FUSE_POST_TILE;
  po_auto_result done =
      po_schedule_automatically(&a->loops->loops, &a->options);
  a->loops->fused =
      a->loops->loops->script.len ? po_fuse_names[done.fuse] : NULL;
  if (done.finished && done.fuse != PO_FUSE_MIN)
    return;
  done.fuse = PO_FUSE_MIN;
  warn_of_limit(a->ctx, &done);
  po_free(a->loops->loops);
  a->loops->loops = po_copy(a->loops->original);
  po_lay_out(a->loops->loops);
  a->loops->fused = NULL;
}

static void
auto_body(void *arg) {
  schedule_args *a = arg;
  uint32_t way = 0, n = sizeof po_fuse_names / sizeof *po_fuse_names;
  if (!strcmp(a->what, "auto")) {
    auto_if_worth(a);
    return;
  }
  while (way < n && strcmp(a->what, po_fuse_names[way]))
    way++;
  if (way == n) {
    bs_error(&a->ctx->diags, BS_NOWHERE, "no-such-fusion",
             "there is no way to fuse called %s", a->what);
    bs_hint(&a->ctx->diags, "auto, min, smart, max or post-tile");
    return;
  }
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a chosen schedule"))
    return;
  a->options.fuse = (po_fuse)way;
  keep_original(a->loops);
  po_auto_result done =
      po_schedule_automatically(&a->loops->loops, &a->options);
  if (done.fuse != a->options.fuse && !warn_of_limit(a->ctx, &done))
    bs_warning(&a->ctx->diags, BS_NOWHERE, "schedule-limit",
               "the program is too large to be fused by %s: %s was taken",
               a->what, po_fuse_names[done.fuse]);
  if (done.n_left)
    bs_warning(&a->ctx->diags, BS_NOWHERE, "schedule-limit",
               "%u nest%s too large to be fused by %s: smart was taken there",
               done.n_left, done.n_left == 1 ? " is" : "s or more are",
               a->what);
  if (!done.finished)
    bs_warning(&a->ctx->diags, BS_NOWHERE, "schedule-limit",
               "the program is too large: some loops are neither unrolled "
               "nor run by threads");
  a->ok = true;
}

/* What --explain says of fusion. */
static void
tell_dropped(schedule_args *a) {
  bs_text out;
  bs_text_init(&out, &a->ctx->heap);
  double most = a->options.max_recompute > 0 ? a->options.max_recompute : 1.5;
  for (uint32_t k = 0; k < a->options.dropped->len; k++) {
    const po_dropped *d = &a->options.dropped->data[k];
    bs_putf(
        &out,
        "%s stays where it is: in its consumer's tiles it would be computed "
        "%.3g times, and %.3g are allowed (--recompute)\n",
        d->array, d->times, most);
  }
  a->text = api_string(a->ctx, &out);
}

static void
explained_body(void *arg) {
  schedule_args *a = arg;
  po_dropped_list dropped = {0};
  a->options.dropped = &dropped;
  auto_body(a);
  tell_dropped(a);
  bs_vec_done(&a->ctx->heap, &dropped);
}

bool
api_fuse(glen_context *ctx, glen_loops *loops, const char *way,
         const glen_code_options *o, const char **told) {
  schedule_args a = {.ctx = ctx, .loops = loops, .what = way, .text = ""};
  a.options.max_recompute = o->recompute;
  for (uint32_t k = 0; k < o->n_tiles && k < GS_MAX_RANK; k++)
    if (o->tiles[k] > 0)
      a.options.tiles[a.options.n_tiles++] = o->tiles[k];
  bool ok = api_enter_stage(ctx, "scheduling", OF_SCHEDULE,
                            o->explain ? explained_body : auto_body, &a);
  *told = a.text;
  return ok && a.ok;
}

bool
glen_schedule_auto(glen_context *ctx, glen_loops *loops, const char *fuse,
                   const int64_t *tiles, uint32_t n_tiles) {
  glen_code_options o = {.tiles = tiles, .n_tiles = n_tiles};
  const char *told;
  return api_fuse(ctx, loops, fuse, &o, &told);
}

static void
copy_body(void *arg) {
  schedule_args *a = arg;
  glen_loops *copy = BS_NEW(&a->ctx->arena, glen_loops);
  *copy = (glen_loops){
      .ctx = a->ctx,
      .loops = po_copy(a->loops->loops),
      .original = a->loops->original ? po_copy(a->loops->original) : NULL};
  po_lay_out(copy->loops);
  a->loops = copy;
  a->ok = true;
}

glen_loops *
glen_loops_copy(glen_context *ctx, const glen_loops *loops) {
  schedule_args a = {.ctx = ctx, .loops = (glen_loops *)loops};
  return api_enter(ctx, copy_body, &a) && a.ok ? a.loops : NULL;
}

static void
bind_body(void *arg) {
  schedule_args *a = arg;
  a->ok = api_knows_sizes(a->ctx, a->loops->loops, "CUDA");
  if (a->ok)
    po_bind_automatically(&a->loops->loops);
}

bool
glen_bind(glen_context *ctx, glen_loops *loops) {
  schedule_args a = {.ctx = ctx, .loops = loops};
  return api_enter_stage(ctx, "scheduling", 1, bind_body, &a) && a.ok;
}

static void
print_body(void *arg) {
  schedule_args *a = arg;
  bs_text out;
  bs_text_init(&out, &a->ctx->heap);
  const po_program *now = a->loops->loops, *was = a->loops->original;
  bool counts = !strcmp(a->what, "axes") || !strcmp(a->what, "results");
  if (counts && !api_knows_sizes(a->ctx, now, "--print"))
    return;
  a->ok = strcmp(a->what, "fused")
              ? po_print_what(a->loops->loops, a->what, &out)
              : po_print_fused(was ? was : now, now, &out);
  a->text = api_string(a->ctx, &out);
}

const char *
glen_schedule_print(glen_context *ctx, glen_loops *loops, const char *what) {
  schedule_args a = {.ctx = ctx, .loops = loops, .what = what};
  return api_enter(ctx, print_body, &a) && a.ok ? a.text : NULL;
}

static void
help_body(void *arg) {
  schedule_args *a = arg;
  bs_text out;
  bs_text_init(&out, &a->ctx->heap);
  for (uint32_t k = 0; k < po_n_primitives; k++)
    bs_putf(&out, "  %s\n      %s\n", po_primitives[k].usage,
            po_primitives[k].effect);
  a->text = api_string(a->ctx, &out);
}

const char *
glen_schedule_help(glen_context *ctx) {
  schedule_args a = {.ctx = ctx, .text = ""};
  api_enter(ctx, help_body, &a);
  return a.text;
}
